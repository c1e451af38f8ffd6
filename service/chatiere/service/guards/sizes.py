"""The limits on the metadata of a call and on the requests to each method."""

_KIB, _MIB = 1024, 1024 * 1024

MAX_METADATA = 16 * _KIB
"""The maximum size of a call's metadata in bytes, at all doors (as in http2/connection.h)."""
OF_FIELD = 32
"""The number of bytes that each field of metadata counts for beyond its name and value (RFC 9113, section 6.5.2)."""

MAX_REQUEST_BYTES: dict[str, int | None] = {
    # A state has 1 KB, or 13 KB as JSON. The record of the longest possible game has 16 KB, or 120 KB as JSON.
    "/chatiere.v1.GameService/": 64 * _KIB,
    "/chatiere.v1.GameService/Replay": 256 * _KIB,
    "/chatiere.v1.BotService/": 64 * _KIB,
    "/chatiere.v1.BotService/Analyse": 256 * _KIB,
    # A table has 1 KB. The tables of the longest possible game have 2.4 MB, or 3.2 MB as JSON.
    "/chatiere.v1.TableService/": 16 * _KIB,
    "/chatiere.v1.TableService/Amend": 256 * _KIB,
    "/chatiere.v1.TableService/GetRecord": 4 * _MIB,
    "/chatiere.v1.RoomService/": 16 * _KIB,
    "/chatiere.v1.BatchService/": None,
    # Health, reflection, channelz.
    "/": 16 * _KIB,
}
"""The maximum size of a request in bytes, by method or service. "/" means all other methods.

None means the limit in the settings.
"""


def largest_request(path: str, max_message_bytes: int) -> int:
    """Return the maximum size of a method's requests in bytes. `max_message_bytes`: the limit in the settings."""
    for name in (path, path[: path.rindex("/") + 1], "/"):
        if name in MAX_REQUEST_BYTES:
            return min(MAX_REQUEST_BYTES[name] or max_message_bytes, max_message_bytes)
    raise KeyError(path)
