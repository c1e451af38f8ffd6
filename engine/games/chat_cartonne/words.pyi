from collections.abc import Mapping

from chatiere.engine.core.errors import FaultText

FAULTS: Mapping[int, FaultText]
KINDS: tuple[tuple[str, str], ...]
