"""The settings of a server."""

import ipaddress
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from chatiere import engine
from chatiere.engine import EngineError, Game

LOG_LEVELS = ("debug", "info", "warning", "error")
LOG_FORMATS = ("text", "json")
MEMORY = "memory"
# The maximum number of workers for each processor, unless `oversubscribe` is set.
_WORKERS_PER_PROCESSOR = 4
# The kinds of URL that the Redis client accepts.
_REDIS = re.compile(r"(?:rediss?|unix)://.+", re.DOTALL)
# The value of `web_origins` that allows all origins.
ANY_ORIGIN = "*"
# An origin in the form that browsers send: in lower case, without the scheme's default port, path and trailing slash.
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?")
_HOST = re.compile(r"[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?")
# The address of a Unix socket. gRPC does not decode these characters, and systems limit the length of the path.
MAX_PATH = 107
"""The maximum length of the path of a Unix socket."""
_UNIX = re.compile(rf"unix:(/[A-Za-z0-9._/@+:~-]{{1,{MAX_PATH - 1}}})")


class Range(NamedTuple):
    """The allowed values of a number: from `least` to `most`, and also 0 if `or_zero` is set."""

    least: float
    most: float
    or_zero: bool = False


# Times have to fit into 31 bits as milliseconds. The sizes of messages have to fit into gRPC's 31 bits, and other sizes
# into the memory of a large machine.
_COUNT, _WORK = Range(1, 1_000_000), Range(1, 10**12)
_SECONDS = Range(0.001, 1_000_000)
_SECONDS_OR_ZERO = Range(0.001, 1_000_000, or_zero=True)
_MESSAGE, _MEMORY = Range(1, 2**30), Range(1, 2**40)

RANGES = {
    "workers": Range(1, 1024),
    "max_calls": _COUNT,
    "max_streams": _COUNT,
    "max_calls_per_client": Range(1, 1_000_000, or_zero=True),
    "max_rate_per_client": Range(0.001, 1_000_000, or_zero=True),
    "max_message_bytes": _MESSAGE,
    "max_fast_cost": _WORK,
    "max_fast_debt": _WORK,
    "batch_threads": Range(1, 256),
    "max_batch_items": Range(1, 2**24),
    "max_playouts": _WORK,
    "max_table_playouts": _WORK,
    "max_answer_bytes": _MESSAGE,
    "max_undelivered_bytes": _MEMORY,
    "request_timeout": _SECONDS,
    "stream_idle_timeout": _SECONDS_OR_ZERO,
    "max_connection_age": _SECONDS_OR_ZERO,
    "connection_age_grace": _SECONDS_OR_ZERO,
    "default_deadline": _SECONDS,
    "max_deadline": _SECONDS,
    "grace": _SECONDS_OR_ZERO,
    "hang_timeout": Range(1, 1_000_000),
    "max_rooms": _COUNT,
    "max_followers": _COUNT,
    "max_room_bytes": _MEMORY,
    "room_lifetime": Range(0.001, 366 * 86_400),
}
"""The allowed values of each setting that is a number."""


class SettingError(ValueError):
    """A setting is invalid or cannot be applied. `setting` is its name in Settings."""

    def __init__(self, setting: str, message: str) -> None:
        """Report that `setting` is invalid."""
        super().__init__(f"{setting}: {message}")
        self.setting = setting
        self.message = message


@dataclass(frozen=True)
class Settings:
    """The settings of a server. The constructor raises SettingError for invalid settings; RANGES limits the numbers.

    Addresses are HOST:PORT, with an IPv6 host in brackets. With port 0, the system chooses a port. If there is only one
    worker, `address` and `fast_address` may be unix:/PATH, a Unix socket for clients on this machine.

    - `address`: the address for gRPC.
    - `fast_address`: the address of the fast door, which serves all methods of GameService and BatchService, and
      health, with a tenth of gRPC's processor time and without TLS (see `ports/fast/`). None for no such port.
    - `web_address`: the address for browsers over HTTP/1.1, with Connect, gRPC-Web and JSON (see `ports/web/`). It
      serves the unary methods of GameService, BotService and TableService, and RoomService. None for no such port.
    - `metrics_address`: the address for Prometheus metrics over HTTP. None for no such port.

    Limits apply to each worker separately. All calls on a connection are served by one worker. Calls above a limit fail
    with RESOURCE_EXHAUSTED, and the status has the time after which to try again.

    - `workers`: the number of processes that share the port; at most four for each processor that this process may use.
      `oversubscribe`: allow up to 1,024 workers regardless of the number of processors.
    - `max_calls`: the maximum number of unary calls of each service in flight, including waiting calls. Calls whose
      request has not arrived yet are counted separately, with the same maximum.
    - `max_streams`: the maximum number of open streams (Play, reflection).
    - `max_calls_per_client`: the maximum number of calls of one client that are handled at the same time, or 0 for no
      limit. A client is identified by the name of its token or, without tokens, by its network address.
    - `max_rate_per_client`: the maximum number of calls per second of one client, or 0 for no limit.
    - `max_message_bytes`: the maximum size of a request, in bytes.
    - `max_fast_cost`: the cost per second of a connection's frames at `fast_address` (see docs/operations.md) above
      which the worker reads the connection more slowly. While the worker is short of processor time, the limit applies
      to all connections of an address together. `max_fast_debt`: the cost by which a connection may exceed this limit
      before the worker closes it.
    - `batch_threads`: the maximum number of long calls (batches, searches, replays, requests on streams) that run at
      the same time, but at most one per core. It is also the maximum number of long calls in progress on a connection.
      Long calls take turns on the processor. The turns are shared fairly among clients, and among a client's
      connections. Therefore short calls never wait for long ones.
    - `max_undelivered_bytes`: the maximum memory, in bytes, of requests in flight and of responses that clients have
      not received yet. A single large call is always allowed. In addition, a quarter of this size is reserved for small
      calls. The states that streams keep may use three quarters of the memory, and are dropped when calls need it. The
      trees of searches do not count.
    - `max_batch_items`, `max_playouts` (of all items together), `max_answer_bytes` (of a response's columns): the
      limits on a call to BatchService. Larger calls fail with BATCH_TOO_LARGE, and so do suggestions of bots that need
      more than `max_playouts` playouts or more time than `max_deadline`.
    - `max_table_playouts`: the maximum number of playouts of a bot for a decision at a sealed table, at most
      `max_playouts`.

    Times are in seconds.

    - `request_timeout`: the time within which the request of a unary call must arrive and a handshake must end.
    - `stream_idle_timeout`: the time within which each request of a stream must arrive, and within which the client
      must receive a response, or 0 for no limit. When `max_streams` streams are open, a new stream ends a stream that
      waits for its client.
    - `max_connection_age`: the age, within 10 %, at which a connection asks its gRPC client to use another one, so that
      connections spread over new workers and servers, or 0 for no limit. `connection_age_grace`: the time within which
      calls on the old connection, including streams, must then end, or 0 for no limit.
    - `default_deadline`: the time limit of a unary call whose client sets no deadline.
    - `max_deadline`: the maximum time of any unary call, after which the call ends with DEADLINE_EXCEEDED.
    - `grace`: the time within which calls in flight must end when the server stops.
    - `hang_timeout`: the time after which a worker whose serving loop is blocked is killed and replaced.

    Rooms (see docs/tables.md). One client may use half of each limit. When a limit is reached, rooms of the client that
    uses the most are deleted.

    - `relay`: enables RoomService, and determines where the rooms are stored. "memory" stores them in the memory of the
      only worker. A URL of Redis (redis://…, rediss://… with TLS, unix://…) stores them in Redis for all workers and
      servers with the same URL. The URL may contain a password. Several URLs, separated by commas, distribute the
      rooms over several instances of Redis. None for no such service.
    - `max_rooms`, `max_followers` (of all rooms), `max_room_bytes` (of all rooms together): the limits.
    - `room_lifetime`: the time in seconds after which a room without followers and posts is deleted.

    Access. All files are reread when they change.

    - `tls_certificate`, `tls_key`: PEM files of the server's certificate chain and its private key, or None for no TLS.
    - `client_ca`: a PEM file of the authorities that must sign clients' certificates; None to require no certificates.
    - `tokens`: a file of bearer tokens (see `guards/tokens.py`); None to require no tokens.
    - `table_keys`: a file of the keys of sealed tables (see `tables/keys.py`). None for a random key; no table can then
      be used after the server stops.
    - `open_tables`: require no token for TableService and RoomService. A limit per client is then required. For
      calls without a token, it applies to each address.
    - `web_origins`: the origins (SCHEME://HOST or SCHEME://HOST:PORT) whose pages may call `web_address`, in addition
      to its own, or `*` for all origins (only for a service without tokens).
    - `web_hosts`: the host names in requests that `web_address` accepts, in addition to `localhost` and its own name.
      IP addresses are always accepted. Refusing other names prevents calls from other sites' pages by DNS rebinding.
    - `web_frame_ancestors`: the origins whose pages may show a record in a frame (see docs/page.md), or `*` for all.
    - `insecure`: allow calls from all machines that can reach an address. Without it, an address that is not local
      needs TLS or tokens, and `fast_address`, which has no TLS, needs tokens.
    - `reflection`, `channelz`: enable these services.

    Rules.

    - `rules_versions`: GAME=VERSION, the versions of the rules under which new games begin, instead of the newest (see
      docs/versions.md). Games that began under another supported version continue under that version.

    Bots.

    - `bots_version`: the version of the package's bots that decide at sealed tables, instead of the newest (see
      docs/versions.md).
    - `bots`: bots that callers may use in addition to those of the package. Each is a class in a file or a module
      (NAME=FILE.py:CLASS or NAME=MODULE:CLASS, with parameters :PARAMETER=VALUE,…), or the NAME of an installed
      package's entry point. Each worker loads and creates each bot once. The server does not start if a bot cannot be
      loaded.

    Logs and traces.

    - `log_level`: debug, info, warning or error. `log_format`: text or json.
    - `log_calls`: also log calls that succeed or are cancelled, at level info; failed calls are logged as warnings.
    - `traces`: trace calls with OpenTelemetry, which is configured by its own environment variables.
    """

    address: str = "127.0.0.1:50051"
    fast_address: str | None = None
    web_address: str | None = None
    metrics_address: str | None = "127.0.0.1:9464"
    workers: int = 1
    oversubscribe: bool = False
    max_calls: int = 1000
    max_streams: int = 1000
    max_calls_per_client: int = 0
    max_rate_per_client: float = 0.0
    # Twice the size of the largest batch of the largest states.
    max_message_bytes: int = 16 * 1024 * 1024
    # This is several times the cost that the fastest clients reach with calls. It is a fifth of a worker's time.
    max_fast_cost: int = 100_000_000
    max_fast_debt: int = 100_000_000
    batch_threads: int = 8
    max_batch_items: int = 16_384
    max_playouts: int = 1_000_000
    # These playouts take a second or two in the slowest game.
    max_table_playouts: int = 10_000
    # This is enough for 4,096 observations of the largest game, and for all seats' observations of about a hundred
    # games that end in one step.
    max_answer_bytes: int = 128 * 1024 * 1024
    max_undelivered_bytes: int = 192 * 1024 * 1024
    request_timeout: float = 10.0
    stream_idle_timeout: float = 600.0
    max_connection_age: float = 300.0
    connection_age_grace: float = 0.0
    default_deadline: float = 60.0
    max_deadline: float = 600.0
    grace: float = 10.0
    hang_timeout: float = 30.0
    relay: str | None = field(default=None, repr=False)
    max_rooms: int = 10_000
    max_followers: int = 10_000
    max_room_bytes: int = 256 * 1024 * 1024
    room_lifetime: float = 86_400.0
    tls_certificate: Path | None = None
    tls_key: Path | None = None
    client_ca: Path | None = None
    tokens: Path | None = None
    table_keys: Path | None = None
    open_tables: bool = False
    web_origins: tuple[str, ...] = ()
    web_hosts: tuple[str, ...] = ()
    web_frame_ancestors: tuple[str, ...] = ()
    insecure: bool = False
    reflection: bool = True
    channelz: bool = False
    rules_versions: tuple[str, ...] = ()
    bots_version: int | None = None
    bots: tuple[str, ...] = ()
    log_level: str = "info"
    log_format: str = "text"
    log_calls: bool = False
    traces: bool = False

    def __post_init__(self) -> None:
        """Check the settings. Raises SettingError."""
        self._check_addresses()
        self._check_numbers()
        addresses = self.redis_addresses
        is_known = self.relay in (None, MEMORY) or (bool(addresses) and all(map(_REDIS.fullmatch, addresses)))
        # Do not quote the value in the message, because it may contain a password.
        message = "must be memory or an address of Redis (redis://…, rediss://…, unix://…), or several with commas"
        _require("relay", is_known, message)
        needs_one = self.relay == MEMORY and self.workers > 1
        _require("relay", not needs_one, "memory needs workers=1, as workers do not share rooms; or use Redis")
        _require("max_deadline", self.max_deadline >= self.default_deadline, "must not be less than default_deadline")
        _require("tls_key", self.tls_certificate is None or self.tls_key is not None, "required by tls_certificate")
        _require("tls_certificate", self.tls_key is None or self.tls_certificate is not None, "required by tls_key")
        _require("tls_certificate", self.client_ca is None or self.tls_certificate is not None, "required by client_ca")
        if self.open_tables:
            limits = self.max_calls_per_client or self.max_rate_per_client
            _require("open_tables", self.tokens is not None, "requires tokens: without them every service is open")
            _require("open_tables", bool(limits), "requires max_calls_per_client or max_rate_per_client")
        for name in ("web_origins", "web_frame_ancestors"):
            for origin in getattr(self, name):
                _require(name, origin == ANY_ORIGIN or bool(_ORIGIN.fullmatch(origin)), _not_an_origin(origin))
            _require(name, not getattr(self, name) or self.web_address is not None, "needs web_address")
        any_with_tokens = ANY_ORIGIN in self.web_origins and self.tokens is not None
        _require("web_origins", not any_with_tokens, "* is not allowed with tokens: name the origins")
        for host in self.web_hosts:
            _require("web_hosts", bool(_HOST.fullmatch(host)), f"a host must be a name in lower case, not {host!r}")
        _require("web_hosts", not self.web_hosts or self.web_address is not None, "needs web_address")
        if self.tokens is None and not self.insecure:
            for name in self.open_addresses:
                needs = "--tokens (this port has no TLS)" if name == "fast_address" else "--tokens or --tls-certificate"
                message = f"other machines can reach this address: use {needs}, or --insecure to let all of them call"
                raise SettingError(name, message)
        self._check_rules_versions()
        if self.bots or self.bots_version is not None:
            self._check_bots()
        _require("log_level", self.log_level in LOG_LEVELS, f"must be one of {', '.join(LOG_LEVELS)}")
        _require("log_format", self.log_format in LOG_FORMATS, f"must be one of {', '.join(LOG_FORMATS)}")

    def rules_version(self, game: Game) -> int:
        """Return the version of the rules under which new games begin."""
        named = (each.partition("=") for each in self.rules_versions)
        return next((int(version) for name, _, version in named if name == game.name), game.rules_version)

    def _check_addresses(self) -> None:
        for name in ("address", "fast_address", "web_address", "metrics_address"):
            if (address := getattr(self, name)) is None:
                continue
            try:
                is_unix = name in ("address", "fast_address") and unix_path(address) is not None
                if not is_unix:
                    split_address(address)
            except ValueError as error:
                raise SettingError(name, str(error)) from error
            message = f"must be 1 with {address}: the system does not spread a Unix socket's connections"
            _require("workers", not is_unix or self.workers == 1, message)

    def _check_numbers(self) -> None:
        for name, (least, most, or_zero) in RANGES.items():
            value = getattr(self, name)
            holds = least <= value <= most or (or_zero and value == 0)
            _require(name, holds, f"must be from {least} to {most}{', or 0' if or_zero else ''}")
        count = processors()
        most_workers = _WORKERS_PER_PROCESSOR * count
        message = f"must be {most_workers} or less, as this process may use {count} processors; or oversubscribe"
        _require("workers", self.oversubscribe or self.workers <= most_workers, message)

    def _check_rules_versions(self) -> None:
        named = set()
        for each in self.rules_versions:
            name, _, version = each.partition("=")
            try:
                game = engine.game(name)
            except EngineError as error:
                raise SettingError("rules_versions", f"must be GAME=VERSION, not {each!r}: {error.message}") from error
            played = [str(number) for number in game.rules_versions]
            message = f"unsupported version {version!r} of {name}; supported: {', '.join(played)}"
            _require("rules_versions", version in played, message)
            _require("rules_versions", name not in named, f"{name} is named twice")
            named.add(name)

    def _check_bots(self) -> None:
        # The supervisor imports the bots only if a setting names them.
        from chatiere.bots.registry import read_added, versions

        played = versions()
        message = f"unsupported version {self.bots_version}; supported: {', '.join(map(str, played))}"
        _require("bots_version", self.bots_version in (None, *played), message)
        for bot in self.bots:
            try:
                read_added(bot)
            except ValueError as error:
                raise SettingError("bots", str(error)) from error

    @property
    def redis_addresses(self) -> tuple[str, ...]:
        """The URLs in `relay`, if it is not "memory"."""
        return tuple(each.strip() for each in (self.relay or "").split(",") if each.strip())

    @property
    def open_addresses(self) -> dict[str, str]:
        """The addresses that other machines can reach without TLS, by the names of their settings."""
        addresses = {"fast_address": self.fast_address}
        if not self.tls_certificate:
            addresses |= {"address": self.address, "web_address": self.web_address}
        return {name: address for name, address in addresses.items() if address and not _is_loopback(address)}


def processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _is_loopback(address: str) -> bool:
    if unix_path(address) is not None:
        return True
    host, _ = split_address(address)
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def split_address(address: str) -> tuple[str, int]:
    """Split HOST:PORT into host (IPv6 without its brackets) and port. Raises ValueError."""
    host, colon, port = address.rpartition(":")
    if not (colon and host and port.isascii() and port.isdigit() and int(port) <= 65535):
        raise ValueError(f"an address must be HOST:PORT with a port from 0 to 65535, not {address!r}")
    return host.removeprefix("[").removesuffix("]"), int(port)


def unix_path(address: str) -> str | None:
    """Return the path of a Unix socket's address (unix:/PATH), or None for other addresses. Raises ValueError."""
    if not address.startswith("unix:"):
        return None
    if (found := _UNIX.fullmatch(address)) is None:
        raise ValueError(
            f"a Unix socket must be unix:/PATH, at most {MAX_PATH} letters, digits and ._/@+:~-, not {address!r}"
        )
    return found[1]


def with_port(address: str, port: int) -> str:
    """Return the address with a different port."""
    return f"{address.rpartition(':')[0]}:{port}"


def _not_an_origin(text: str) -> str:
    return f"an origin must be SCHEME://HOST or SCHEME://HOST:PORT in lower case, not {text!r}"


def _require(name: str, holds: bool, message: str) -> None:
    if not holds:
        raise SettingError(name, message)
