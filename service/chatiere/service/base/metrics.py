"""The metrics of a server. They have gRPC for Go's names and label values, because dashboards for gRPC expect them."""

from google.rpc import code_pb2
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

_METHOD = ("grpc_type", "grpc_service", "grpc_method")
# Most calls take much less than a millisecond.
_SECONDS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
_ITEMS = (1, 4, 16, 64, 256, 1024, 4096, 16384)
# The codes that gRPC for Go does not spell as the capitalised words of their names.
_CODES = {code_pb2.OK: "OK", code_pb2.CANCELLED: "Canceled"}


def code_label(code: int) -> str:
    """Return the spelling of a google.rpc.Code in the label grpc_code, for example "InvalidArgument"."""
    return _CODES.get(code) or "".join(word.capitalize() for word in code_pb2.Code.Name(code).split("_"))


class Metrics:
    """Counters, gauges and histograms. Each server has a registry, because a process may have several servers."""

    def __init__(self, registry: CollectorRegistry) -> None:
        """Register the metrics of a server in `registry`."""
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
        self.incidents = Counter(
            "chatiere_incidents_total",
            "Calls that failed because of an error in the service; each has an incident id in the log.",
            registry=registry,
        )
        # With "livesum", the gauges of dead workers do not count. Otherwise their last values would be added forever.
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
        self.max_held_bytes = Gauge(
            "chatiere_max_held_bytes",
            "The limit of chatiere_held_bytes, of all workers together (--max-undelivered-bytes).",
            registry=registry,
            multiprocess_mode="livesum",
        )
        self.search_bytes = Gauge(
            "chatiere_search_bytes",
            "Bytes of the trees of searches; updated once a second.",
            registry=registry,
            multiprocess_mode="livesum",
        )
        self.search_seconds = Counter(
            "chatiere_search_seconds_total",
            "Processor time of searches, by game: suggestions, analyses and the moves of bots at sealed tables.",
            ("game",),
            registry=registry,
        )
        self.log_lines_dropped = Counter(
            "chatiere_log_lines_dropped_total",
            "Lines that workers did not log, because the log was not read; updated once a second.",
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
            "Workers that use the old files (tokens, table_keys, certificates), because the new ones are invalid.",
            ("files",),
            registry=registry,
            multiprocess_mode="livesum",
        )
        self.certificate_expiry = Gauge(
            "chatiere_certificate_expiry_timestamp_seconds",
            "Time when the first of the certificates in a file in use expires, in seconds since 1970.",
            ("file",),
            registry=registry,
            multiprocess_mode="livemin",
        )
        self.rooms = Gauge(
            "chatiere_rooms",
            "Rooms that are kept; with Redis, the rooms of each worker's followers.",
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
            "Posts to rooms, by kind (table, reply, name, emote) and outcome.",
            ("kind", "outcome"),
            registry=registry,
        )
        self.rooms_dropped = Counter(
            "chatiere_rooms_dropped_total",
            "Rooms that were deleted, by reason: unused for a long time (idle), or to make room for others (full).",
            ("reason",),
            registry=registry,
        )
        self.relay_away = Gauge(
            "chatiere_relay_away",
            "Instances of Redis that cannot be reached, counted by each worker; calls of their rooms are refused.",
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
            "Processor time that the engine spends on a batch.",
            ("game", "method"),
            registry=registry,
            buckets=_SECONDS,
        )
