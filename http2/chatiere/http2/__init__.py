"""gRPC over HTTP/2 with libnghttp2 (https://nghttp2.org), for the service's `--fast-address` and for streaming clients.

`connection.h` and `endpoint.h` are plain C; `server` and `client` expose them to Python. The modules are built only if
pkg-config finds the library.
"""

from importlib.util import find_spec


def is_built() -> bool:
    """Return whether this installation has `server` and `client`."""
    return find_spec("chatiere.http2.server") is not None
