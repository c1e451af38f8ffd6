"""The data that the supervisor sends to a new worker.

The supervisor imports this module instead of `worker`, because `worker` imports the whole server.
"""

from pathlib import Path
from typing import NamedTuple

from chatiere.service.base.settings import Settings


class Order(NamedTuple):
    """The data that a worker needs to start."""

    settings: Settings
    """The settings, with the ports shared by all workers."""
    number: int
    metrics: Path
    """The directory of the MetricsFiles."""
    lock: int
    """The file descriptor of the lock on the directory of the metrics. It stays open."""
    log: int
    """The file descriptor for the log."""
    table_key: bytes
    """The key of sealed tables, the same for all workers. Not used if the settings have a key file."""
