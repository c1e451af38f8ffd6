from collections.abc import Iterable

from typing_extensions import disjoint_base

from chatiere.engine.wire import Reader

@disjoint_base
class Form:
    def __init__(self, fields: Iterable[tuple[int, Form | int | None, bool, int, Iterable[int]]]) -> None: ...
    def open(self, data: bytes) -> Reader | None: ...
