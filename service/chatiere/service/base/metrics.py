"""The metrics of a server, under the names and label values that dashboards for gRPC expect (those of gRPC for Go)."""

from google.rpc import code_pb2
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

_METHOD = ("grpc_type", "grpc_service", "grpc_method")
# Most calls take well below a millisecond.
_SECONDS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
_ITEMS = (1, 4, 16, 64, 256, 1024, 4096, 16384)
# Go's spelling, where it differs from the code's words capitalised.
_CODES = {code_pb2.OK: "OK", code_pb2.CANCELLED: "Canceled"}


def code_label(code: int) -> str:
    """Return a code of google.rpc.Code as the label grpc_code spells it, such as "InvalidArgument"."""
    return _CODES.get(code) or "".join(word.capitalize() for word in code_pb2.Code.Name(code).split("_"))


class Metrics:
    """Counters and durations, registered so that several servers can live in one process."""

    def __init__(self, registry: CollectorRegistry) -> None:
        """Register the metrics of one server in `registry`."""
        self.started = Counter(
            "grpc_server_started_total", "Calls that reached the server's methods.", _METHOD, registry=registry
        )
        self.handled = Counter(
            "grpc_server_handled_total", "Calls that ended, by status.", (*_METHOD, "grpc_code"), registry=registry
        )
        self.handling_seconds = Histogram(
            "grpc_server_handling_seconds",
            "Duration of calls, from their headers to the response.",
            _METHOD,
            registry=registry,
            buckets=_SECONDS,
        )
        # A dead worker's gauges are removed instead of adding up for ever.
        self.in_flight = Gauge(
            "chatiere_calls_in_flight",
            "Calls that reached the server's methods and have not ended.",
            ("grpc_type",),
            registry=registry,
            multiprocess_mode="livesum",
        )
        self.half_open = Gauge(
            "chatiere_calls_half_open",
            "Unary calls whose request has not arrived yet; updated once a second.",
            registry=registry,
            multiprocess_mode="livesum",
        )
        self.held_bytes = Gauge(
            "chatiere_held_bytes",
            "Bytes reserved for requests in flight and responses not yet delivered; updated once a second.",
            registry=registry,
            multiprocess_mode="livesum",
        )
        self.log_lines_dropped = Counter(
            "chatiere_log_lines_dropped_total",
            "Lines that workers did not log, as nobody read the log; updated once a second.",
            registry=registry,
        )
        self.tasks = Gauge(
            "chatiere_tasks",
            "Tasks of the serving loops, of calls and of connections; updated once a second.",
            registry=registry,
            multiprocess_mode="livesum",
        )
        self.rejected_files = Gauge(
            "chatiere_rejected_files",
            "Workers that use the old files (tokens, table_keys, certificates), as the new ones are invalid.",
            ("files",),
            registry=registry,
            multiprocess_mode="livesum",
        )
        self.certificate_expiry = Gauge(
            "chatiere_certificate_expiry_timestamp_seconds",
            "When the first of the certificates in a file in use ends, in seconds since 1970.",
            ("file",),
            registry=registry,
            multiprocess_mode="livemin",
        )
        self.rooms = Gauge(
            "chatiere_rooms",
            "Rooms that are kept; with Redis, those of each worker's followers.",
            registry=registry,
            multiprocess_mode="livesum",
        )
        self.room_followers = Gauge(
            "chatiere_room_followers",
            "Followers of rooms.",
            registry=registry,
            multiprocess_mode="livesum",
        )
        self.room_posts = Counter(
            "chatiere_room_posts_total",
            "Posts to rooms, by kind (table, reply, name), and whether the room took them.",
            ("kind", "outcome"),
            registry=registry,
        )
        self.rooms_dropped = Counter(
            "chatiere_rooms_dropped_total",
            "Rooms that were forgotten, by reason: nobody had used them for long (idle), or they gave way (full).",
            ("reason",),
            registry=registry,
        )
        self.relay_away = Gauge(
            "chatiere_relay_away",
            "Workers that cannot reach Redis, which keeps rooms, and refuse calls of RoomService.",
            registry=registry,
            multiprocess_mode="livesum",
        )
        self.moves_applied = Counter(
            "chatiere_moves_applied_total",
            "Actions and chance outcomes applied, one by one and in batches, by game.",
            ("game",),
            registry=registry,
        )
        self.playout_moves = Counter(
            "chatiere_playout_moves_total",
            "Decisions made in random playouts, evaluations included, by game.",
            ("game",),
            registry=registry,
        )
        self.batch_items = Histogram(
            "chatiere_batch_items",
            "Items per batch.",
            ("game", "method"),
            registry=registry,
            buckets=_ITEMS,
        )
        self.kernel_seconds = Histogram(
            "chatiere_kernel_seconds",
            "Time that the engine worked on a batch.",
            ("game", "method"),
            registry=registry,
            buckets=_SECONDS,
        )
