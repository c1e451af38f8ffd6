"""The settings of a server."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """How a server is run.

    `address`, `metrics_address`: HOST:PORT to listen on (IPv6 hosts in brackets); with port 0 the system chooses one.
    No metrics are served if `metrics_address` is None. `workers`: calls handled at a time. `grace`: seconds that calls
    in flight get to finish when the server stops. `max_message_bytes`: the largest request; a larger one is answered
    RESOURCE_EXHAUSTED.
    """

    address: str = "127.0.0.1:50051"
    metrics_address: str | None = "127.0.0.1:9464"
    workers: int = 8
    grace: float = 10.0
    max_message_bytes: int = 4 * 1024 * 1024


def split_address(address: str) -> tuple[str, int]:
    """HOST:PORT as host (an IPv6 one without its brackets) and port. Raises ValueError."""
    host, colon, port = address.rpartition(":")
    if not (colon and host and port.isascii() and port.isdigit() and int(port) <= 65535):
        raise ValueError(f"an address is HOST:PORT with a port from 0 to 65535, not {address!r}")
    return host.removeprefix("[").removesuffix("]"), int(port)
