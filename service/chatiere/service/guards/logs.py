"""The log of a server on standard error, with one line per event.

Log lines never contain states, actions, seeds or other information about a game.
"""

import logging
import os
import re
import sys
import threading
import time
from collections import deque

from prometheus_client import Counter
from pythonjsonlogger.json import JsonFormatter

from chatiere.service.base.settings import Settings

# A line of gRPC's core: level and date, time, thread, file, as in "E1122 06:43:37.453844 15207 port.cc:83] words".
_CORE_LINE = re.compile(r"([IWEF])\d{4} [\d:.]+ +\d+ ([^ \]]+)\] (.*)")
_LEVELS = {"I": logging.INFO, "W": logging.WARNING, "E": logging.ERROR, "F": logging.CRITICAL}


# The maximum size in bytes of the lines that wait to be written, and the maximum time in seconds that
# `flush` waits.
_MAX_WAITING, _PATIENCE = 2**20, 1.0


class LogHandler(logging.Handler):
    """A handler that never blocks its callers: a separate thread writes the lines.

    The reader of the log may be slow or stop reading. Lines that exceed the buffer are then dropped and counted.
    """

    def __init__(self, descriptor: int) -> None:
        """Write to a file descriptor."""
        super().__init__()
        self.dropped = 0
        """The number of lines dropped so far."""
        self._descriptor = descriptor
        self._reported = 0
        self._lines: deque[bytes] = deque()
        self._size = 0
        self._changed = threading.Condition()
        # The thread is a daemon thread, because it cannot be stopped while it writes.
        threading.Thread(target=self._run, name="log", daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        """See logging.Handler.emit."""
        try:
            line = self._line(record)
        except Exception:
            self.handleError(record)
            return
        with self._changed:
            if self._size + len(line) > _MAX_WAITING:
                self.dropped += 1
                return
            self._lines.append(line)
            self._size += len(line)
            self._changed.notify_all()

    def flush(self) -> None:
        """Wait until all lines are written, but for at most one second."""
        with self._changed:
            self._changed.wait_for(lambda: not self._lines, _PATIENCE)

    def _line(self, record: logging.LogRecord) -> bytes:
        return f"{self.format(record)}\n".encode(errors="backslashreplace")

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._lines)
                line = self._lines[0]
            self._write(line)
            with self._changed:
                self._lines.popleft()
                self._size -= len(line)
                self._changed.notify_all()
                dropped = 0 if self._lines else self.dropped - self._reported
                self._reported += dropped
            if dropped:
                words = "the log was not read: dropped %d lines"
                record = logging.LogRecord(__name__, logging.WARNING, "", 0, words, (dropped,), None)
                self._write(self._line(record))

    def _write(self, line: bytes) -> None:
        # Do not use a file object: while the log is not read, the object would hold its lock, even at the end of the
        # process.
        try:
            while line:
                line = line[os.write(self._descriptor, line) :]
        except OSError:
            # The disk is full or the reader has exited. The error cannot be reported anywhere.
            pass


class DroppedLines:
    """The metric of the log lines that this process has dropped."""

    def __init__(self, counter: Counter) -> None:
        """Add to `counter`."""
        self._counter = counter
        self._counted = 0

    def update(self) -> None:
        """Count the lines dropped since the last update."""
        dropped = sum(each.dropped for each in logging.root.handlers if isinstance(each, LogHandler))
        self._counter.inc(dropped - self._counted)
        self._counted = dropped


def configure_logging(settings: Settings, descriptor: int | None = None) -> None:
    """Configure logging by the settings, with times in UTC. `descriptor`: the file to write; None: standard error."""
    if descriptor is None:
        descriptor = os.dup(sys.stderr.fileno())
    formatter: logging.Formatter
    if settings.log_format == "json":
        # The argument `extra` of a logging call adds fields, for example a call's method and status.
        formatter = JsonFormatter(
            ("levelname", "processName", "name", "message"),
            rename_fields={"levelname": "level", "processName": "process", "name": "logger"},
            timestamp="time",
        )
    else:
        line = "%(asctime)s.%(msecs)03dZ %(levelname)s %(processName)s %(name)s: %(message)s"
        formatter = logging.Formatter(line, "%Y-%m-%dT%H:%M:%S")
        formatter.converter = time.gmtime
    handler = LogHandler(descriptor)
    handler.setFormatter(formatter)
    logging.basicConfig(level=settings.log_level.upper(), handlers=[handler])


def log_line(process: str, line: str) -> None:
    """Log a line that a process wrote to standard error directly: a message of gRPC's core, or of a crash."""
    core = _CORE_LINE.fullmatch(line)
    if core:
        logger, level, line = logging.getLogger("grpc"), _LEVELS[core[1]], f"{core[2]}: {core[3]}"
    else:
        logger, level = logging.getLogger("stderr"), logging.ERROR
    if logger.isEnabledFor(level):
        record = logger.makeRecord(logger.name, level, "", 0, line, (), None)
        record.processName = process
        logger.handle(record)
