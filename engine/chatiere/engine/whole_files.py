"""Functions that write files atomically, that is, completely or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


def part_of(path: Path) -> Path:
    """Return the temporary path at which a file is written. Programs that read folders of Parquet files ignore it."""
    return path.with_name(f".{path.name}.part")


def write_whole(path: Path, content: bytes) -> None:
    """Write a file atomically.

    Even after a crash of the machine, the file has either its old or its new content.

    Args:
        path: The path of the file.
        content: The content of the file.

    Raises:
        OSError: If the file cannot be written. The error names the file, and the file is unchanged.
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
    """Append a line to a file. Raises OSError with the name of the file."""
    with _named_errors(path), path.open("ab") as file:
        _save(file, line)


def _save(file: BinaryIO, content: bytes) -> None:
    file.write(content)
    file.flush()
    os.fsync(file.fileno())


@contextmanager
def _named_errors(path: Path) -> Iterator[None]:
    # Add the file's name to errors, because the error for a full disk does not contain it.
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, f"cannot write the file: {error.strerror}", str(path)) from error
