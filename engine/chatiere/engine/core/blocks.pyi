from typing_extensions import Buffer, disjoint_base

@disjoint_base
class Block(Buffer):
    def __len__(self) -> int: ...

@disjoint_base
class BlockPool:
    def __init__(self, most: int = 4) -> None: ...
    def take(self, size: int, writable: bool = False) -> Block: ...
