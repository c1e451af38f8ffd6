"""The base class of objects that are used in a `with` statement."""

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class Closing(ABC):
    """An object whose `close` is called at the end of a `with` statement."""

    @abstractmethod
    def close(self) -> None:
        """Release the resources that the object holds."""

    def __enter__(self) -> Self:
        """Return the object itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the object."""
        self.close()
