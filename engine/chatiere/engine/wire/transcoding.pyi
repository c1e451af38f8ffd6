from collections.abc import Callable, Iterable

from typing_extensions import disjoint_base

@disjoint_base
class Transcoder:
    def __init__(
        self,
        fields: Iterable[
            tuple[
                int,
                str,
                str,
                str | dict[str, int] | Transcoder | Callable[[bytes], bytes] | None,
                bool,
                str | None,
                Iterable[int],
            ]
        ],
    ) -> None: ...
    def to_json(self, message: bytes) -> bytes | None: ...
    def from_json(self, text: bytes) -> bytes | None: ...
