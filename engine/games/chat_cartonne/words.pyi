from collections.abc import Mapping

from chatiere.engine.core.errors import FaultText

FAULTS: Mapping[int, FaultText]
EVENT_LABELS: tuple[str, ...]
KINDS: tuple[tuple[str, str], ...]

def card_name(kind: int, turned: bool) -> str: ...
def cell_name(cell: int) -> str: ...
