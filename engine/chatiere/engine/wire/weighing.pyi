from collections.abc import Iterable

from typing_extensions import disjoint_base

@disjoint_base
class Scales:
    def __init__(self, fields: Iterable[tuple[int, Scales | int | None, bool, int]]) -> None: ...
    def weigh(self, data: bytes | memoryview, max_elements: int = ..., max_memory: int = ...) -> tuple[int, int]: ...
