"""Logging of a server: one line an event on standard error.

Lines never hold states, actions, seeds or anything else of a game.
"""

import logging
import time


def configure_logging() -> None:
    """Log from INFO upwards, with times in UTC."""
    handler = logging.StreamHandler()
    formatter = logging.Formatter("%(asctime)s.%(msecs)03dZ %(levelname)s %(name)s: %(message)s", "%Y-%m-%dT%H:%M:%S")
    formatter.converter = time.gmtime
    handler.setFormatter(formatter)
    logging.basicConfig(level=logging.INFO, handlers=[handler])
