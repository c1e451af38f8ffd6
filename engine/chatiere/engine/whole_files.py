"""Files that are written whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


def part_of(path: Path) -> Path:
    """Return where a file lies while it is written. Readers of a folder of Parquet files pass over such names."""
    return path.with_name(f".{path.name}.part")


def write_whole(path: Path, content: bytes) -> None:
    """Write a file. Raises OSError, which names it, and leaves no half of it.

    After a crash of the machine, too, it has its old content or the new one.
    """
    part = part_of(path)
    try:
        with _named_errors(path):
            with part.open("wb") as file:
                _save(file, content)
            part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def append(path: Path, line: bytes) -> None:
    """Write a line at the end of a file. Raises OSError, which names it."""
    with _named_errors(path), path.open("ab") as file:
        _save(file, line)


def _save(file: BinaryIO, content: bytes) -> None:
    file.write(content)
    file.flush()
    os.fsync(file.fileno())


@contextmanager
def _named_errors(path: Path) -> Iterator[None]:
    # The error of a full disk does not name the file.
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, f"cannot write the file: {error.strerror}", str(path)) from error
