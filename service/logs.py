"""Logging of a server: one line an event on standard error.

Lines never hold states, actions, seeds or anything else of a game.
"""

import logging
import time

from pythonjsonlogger.json import JsonFormatter

from chatiere.service.config import Settings


def configure_logging(settings: Settings) -> None:
    """Log as the settings say, with times in UTC."""
    formatter: logging.Formatter
    if settings.log_format == "json":
        # What a line is about (a call's method, status …) is added to these by its `extra`.
        formatter = JsonFormatter(
            ("levelname", "processName", "name", "message"),
            rename_fields={"levelname": "level", "processName": "process", "name": "logger"},
            timestamp="time",
        )
    else:
        line = "%(asctime)s.%(msecs)03dZ %(levelname)s %(processName)s %(name)s: %(message)s"
        formatter = logging.Formatter(line, "%Y-%m-%dT%H:%M:%S")
        formatter.converter = time.gmtime
    handler = logging.StreamHandler()
    handler.setFormatter(formatter)
    logging.basicConfig(level=settings.log_level.upper(), handlers=[handler])
