"""The largest request of each method."""

_KIB, _MIB = 1024, 1024 * 1024

MAX_REQUEST_BYTES: dict[str, int | None] = {
    # A state takes 1 KB, as JSON 13; the record of the longest game that may be takes 16 KB, as JSON 120.
    "/chatiere.v1.GameService/": 64 * _KIB,
    "/chatiere.v1.GameService/Replay": 256 * _KIB,
    "/chatiere.v1.BotService/": 64 * _KIB,
    "/chatiere.v1.BotService/Analyse": 256 * _KIB,
    # A table takes 1 KB. Those of the longest game that may be take 2.4 MB, as JSON 3.2.
    "/chatiere.v1.TableService/": 16 * _KIB,
    "/chatiere.v1.TableService/GetRecord": 4 * _MIB,
    "/chatiere.v1.RoomService/": 16 * _KIB,
    "/chatiere.v1.BatchService/": None,
    # Health, reflection, channelz.
    "/": 16 * _KIB,
}
"""Bytes, by method, by service or, of all others, under "/"; None: as large as the settings allow."""


def largest_request(path: str, max_message_bytes: int) -> int:
    """Return the bytes of a method's largest request. `max_message_bytes`: the settings'."""
    for name in (path, path[: path.rindex("/") + 1], "/"):
        if name in MAX_REQUEST_BYTES:
            return min(MAX_REQUEST_BYTES[name] or max_message_bytes, max_message_bytes)
    raise KeyError(path)
