from collections.abc import Iterator, Sequence
from typing import NamedTuple, overload

from typing_extensions import disjoint_base

class Event(NamedTuple):
    kind: int
    seat: int | None
    seen_by: frozenset[int] | None
    values: tuple[int, ...]

@disjoint_base
class EventLog(Sequence[Event]):
    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, place: int, /) -> Event: ...
    @overload
    def __getitem__(self, place: slice, /) -> list[Event]: ...
    def __iter__(self) -> Iterator[Event]: ...
