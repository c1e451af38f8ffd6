from collections.abc import Mapping
from types import SimpleNamespace

from chatiere.engine.core.errors import FaultText

SIZES: SimpleNamespace
IDS: SimpleNamespace
FAULTS: Mapping[int, FaultText]
ENDS: Mapping[int, str]
COLOURS: tuple[str, ...]
BRANCH_NAMES: tuple[str, ...]
SPACE_NAMES: tuple[str, ...]
CARD_NAMES: tuple[str, ...]
