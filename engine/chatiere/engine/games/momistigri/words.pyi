from collections.abc import Mapping
from types import SimpleNamespace

from chatiere.engine.core.description import Piece
from chatiere.engine.core.errors import FaultText

FAULTS: Mapping[int, FaultText]
ENDS: Mapping[int, str]
PIECES: tuple[Piece, ...]
IDS: SimpleNamespace
SIZES: SimpleNamespace
