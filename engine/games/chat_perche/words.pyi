from collections.abc import Mapping
from types import SimpleNamespace

from chatiere.engine.core.description import Piece
from chatiere.engine.core.errors import FaultText

SIZES: SimpleNamespace
IDS: SimpleNamespace
FAULTS: Mapping[int, FaultText]
PIECES: tuple[Piece, ...]
ENDS: Mapping[int, str]
CARD_NAMES: tuple[str, ...]
