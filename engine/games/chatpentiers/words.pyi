from collections.abc import Mapping

from chatiere.engine.core.errors import FaultText

FAULTS: Mapping[int, FaultText]
COLOUR_NAMES: tuple[str, ...]

def card_name(card: int) -> str: ...
