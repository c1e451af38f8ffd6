from collections.abc import Mapping
from types import SimpleNamespace

from chatiere.engine.core.errors import FaultText

FAULTS: Mapping[int, FaultText]
ENDS: Mapping[int, str]
IDS: SimpleNamespace
SIZES: SimpleNamespace
KINDS: tuple[tuple[str, str], ...]
PATTERN_NAMES: tuple[tuple[str, str], ...]
