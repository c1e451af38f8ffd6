from collections.abc import Mapping
from types import SimpleNamespace

from chatiere.engine.core.description import Name, Piece
from chatiere.engine.core.errors import FaultText

SIZES: SimpleNamespace
IDS: SimpleNamespace
FAULTS: Mapping[int, FaultText]
ENDS: Mapping[int, str]
PIECES: tuple[Piece, ...]
COLOURS_IN_WORDS: tuple[Name, ...]
