"""Logging of a server: one line per event on standard error.

Lines never contain states, actions, seeds or anything else of a game.
"""

import logging
import re
import time
from typing import TextIO

from pythonjsonlogger.json import JsonFormatter

from chatiere.service.process.settings import Settings

# The lines of gRPC's core: level and day, time, thread, file, as in "E1122 06:43:37.453844   15207 port.cc:83] words".
_CORE_LINE = re.compile(r"([IWEF])\d{4} [\d:.]+ +\d+ ([^ \]]+)\] (.*)")
_LEVELS = {"I": logging.INFO, "W": logging.WARNING, "E": logging.ERROR, "F": logging.CRITICAL}


def configure_logging(settings: Settings, stream: TextIO | None = None) -> None:
    """Set up logging by the settings, with times in UTC; to standard error if there is no `stream`."""
    formatter: logging.Formatter
    if settings.log_format == "json":
        # A line's `extra` adds facts to these, such as a call's method and status.
        formatter = JsonFormatter(
            ("levelname", "processName", "name", "message"),
            rename_fields={"levelname": "level", "processName": "process", "name": "logger"},
            timestamp="time",
        )
    else:
        line = "%(asctime)s.%(msecs)03dZ %(levelname)s %(processName)s %(name)s: %(message)s"
        formatter = logging.Formatter(line, "%Y-%m-%dT%H:%M:%S")
        formatter.converter = time.gmtime
    handler = logging.StreamHandler(stream)
    handler.setFormatter(formatter)
    logging.basicConfig(level=settings.log_level.upper(), handlers=[handler])


def log_line(process: str, line: str) -> None:
    """Log a line that a process wrote to standard error outside its own logging: gRPC's core, a crash."""
    core = _CORE_LINE.fullmatch(line)
    if core:
        logger, level, line = logging.getLogger("grpc"), _LEVELS[core[1]], f"{core[2]}: {core[3]}"
    else:
        logger, level = logging.getLogger("stderr"), logging.ERROR
    if logger.isEnabledFor(level):
        record = logger.makeRecord(logger.name, level, "", 0, line, (), None)
        record.processName = process
        logger.handle(record)
