"""The settings of a server."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """How a server is run.

    `address`, `metrics_address`: HOST:PORT to listen on (IPv6 hosts in brackets); with port 0 the system chooses one.
    No metrics are served if `metrics_address` is None. `workers`: calls handled at a time. `grace`: seconds that calls
    in flight get to finish when the server stops. `max_message_bytes`: the largest request; a larger one is answered
    RESOURCE_EXHAUSTED.

    Of BatchService: `batch_workers`: calls handled at a time, on threads of their own, so that others never wait for
    them; a stream holds one as long as it lasts. `max_batch_items`, `max_playouts` (items × playouts of each) and
    `max_answer_bytes` (of the columns of an answer): what asks for more is answered BATCH_TOO_LARGE.
    """

    address: str = "127.0.0.1:50051"
    metrics_address: str | None = "127.0.0.1:9464"
    workers: int = 8
    grace: float = 10.0
    # Twice what the largest batch of the largest states needs.
    max_message_bytes: int = 16 * 1024 * 1024
    batch_workers: int = 32
    max_batch_items: int = 16_384
    max_playouts: int = 1_000_000
    # 4,096 observations of the largest game, and of some hundred games that end at one step, every seat's.
    max_answer_bytes: int = 128 * 1024 * 1024


def split_address(address: str) -> tuple[str, int]:
    """HOST:PORT as host (an IPv6 one without its brackets) and port. Raises ValueError."""
    host, colon, port = address.rpartition(":")
    if not (colon and host and port.isascii() and port.isdigit() and int(port) <= 65535):
        raise ValueError(f"an address is HOST:PORT with a port from 0 to 65535, not {address!r}")
    return host.removeprefix("[").removesuffix("]"), int(port)
