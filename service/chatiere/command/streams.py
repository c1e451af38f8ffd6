"""The standard streams of the command, if they are missing or cannot be written."""

import errno
import io
import os
import sys

import click

_INPUT, _OUTPUT, _ERRORS = range(3)


class OutputError(click.ClickException):
    """Standard output cannot be written: printed as "Error: …", exit code 2."""

    exit_code = 2


class _Output(io.FileIO):
    """Standard output. Its failures raise OutputError, so that they are not confused with other OSErrors."""

    _is_lost = False

    def write(self, data: object) -> int:
        # After an error, discard the contents of buffers without raising another error.
        if self._is_lost:
            return memoryview(data).nbytes  # type: ignore[arg-type]
        try:
            return super().write(data)  # type: ignore[arg-type]
        except OSError as error:
            self._is_lost = True
            if error.errno == errno.EPIPE:
                # The reader has stopped reading.
                raise click.exceptions.Exit(1) from error
            reason = "it is closed" if error.errno == errno.EBADF else error.strerror
            raise OutputError(f"cannot write to standard output: {reason}") from error


def prepare() -> None:
    """Open standard streams that the process was started without, and report output that cannot be written.

    If a stream is closed (`<&-`), the system would otherwise give its descriptor to the next socket, and libraries
    would use this socket as the stream. An opened input is empty, opened error output is discarded, and writing to an
    opened output raises OutputError.
    """
    _open_closed()
    if sys.stdin is None:
        sys.stdin = os.fdopen(_INPUT, closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(_ERRORS, "w", closefd=False)
    if sys.stdout is sys.__stdout__:
        before = sys.stdout or os.fdopen(_OUTPUT, "w", closefd=False)
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(_Output(_OUTPUT, "w", closefd=False)),
            encoding=before.encoding,
            errors=before.errors,
            line_buffering=before.line_buffering,
        )


def _open_closed() -> None:
    for number in (_INPUT, _OUTPUT, _ERRORS):
        try:
            os.fstat(number)
        except OSError:
            # `os.open` returns the lowest free descriptor. Open output for reading, so that writing fails.
            opened = os.open(os.devnull, os.O_WRONLY if number == _ERRORS else os.O_RDONLY)
            assert opened == number
            os.set_inheritable(number, True)
