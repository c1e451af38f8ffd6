from collections.abc import Mapping

from chatiere.engine.core.errors import FaultText

FAULTS: Mapping[int, FaultText]
CARD_NAMES: tuple[str, ...]

def card_name(kind: int) -> str: ...
