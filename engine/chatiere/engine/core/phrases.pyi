from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from typing_extensions import disjoint_base

from chatiere.engine.core.description import Description, Piece
from chatiere.engine.core.errors import FaultText

COMMON: Final[Mapping[str, str]]

@disjoint_base
class Phrases:
    def __init__(
        self,
        package: str,
        templates: Mapping[str, str],
        events: Mapping[int, tuple[str, ...]],
        ends: Sequence[tuple[str, str]],
        faults: Iterable[FaultText],
        kinds: Mapping[str, str],
        pieces: Iterable[Piece],
        values: Mapping[int, Sequence[str]] | None = None,
        lists: Sequence[str] = (),
    ) -> None: ...
    def number(self, key: str) -> int: ...
    def text(self, key: str, language: str) -> str: ...
    def infos(self, language: str) -> list[dict[str, Any]]: ...

def phrases_of(description: Description) -> Phrases: ...
