"""The settings of a server."""

import ipaddress
import re
from dataclasses import dataclass, field
from pathlib import Path

from chatiere import engine
from chatiere.bots.registry import read_added, versions
from chatiere.engine import EngineError, Game

LOG_LEVELS = ("debug", "info", "warning", "error")
LOG_FORMATS = ("text", "json")
MEMORY = "memory"
# The kinds of URL that Redis's client connects to.
_REDIS = re.compile(r"(?:rediss?|unix)://.+", re.DOTALL)
# Among `web_origins`: all.
ANY_ORIGIN = "*"
# As browsers write them: lower case, without the scheme's own port, a path or a slash at the end.
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?")
_HOST = re.compile(r"[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?")
# A path that gRPC reads as it stands, within what the system allows.
_UNIX = re.compile(r"unix:(/[A-Za-z0-9._/@+:~-]{1,106})")


class SettingError(ValueError):
    """A setting that is invalid or cannot be applied; `setting`: its name in Settings."""

    def __init__(self, setting: str, message: str) -> None:
        """Refuse `setting`."""
        super().__init__(f"{setting}: {message}")
        self.setting = setting
        self.message = message


@dataclass(frozen=True)
class Settings:
    """The settings of a server. Raises SettingError for invalid ones.

    Addresses: HOST:PORT, an IPv6 host in brackets; with port 0 the system chooses one. `address` and `fast_address` may
    be unix:/PATH, a Unix socket for this machine alone, if there is one worker.

    - `address`: gRPC.
    - `fast_address`: all methods of GameService and BatchService, and health, for a tenth of gRPC's processor time (see
      `ports/fast/`); without TLS. None: no such port.
    - `web_address`: the unary methods of GameService, BotService and TableService, and RoomService, for browsers, over
      HTTP/1.1: Connect, gRPC-Web and JSON (see `ports/web/`). None: no such port.
    - `metrics_address`: metrics for Prometheus, over HTTP. None: no such port.

    Limits. Each worker counts for itself; a connection stays with one worker. Calls above a limit get
    RESOURCE_EXHAUSTED, with the time after which to try again.

    - `workers`: processes that share the port.
    - `max_calls`: unary calls of each service that a worker has in flight, waiting ones included; and, separately,
      calls whose request has not arrived yet.
    - `max_streams`: streams (Play, reflection) that a worker holds open.
    - `max_calls_per_client`: calls of one client that are handled at a time; 0: no limit. A client is the name of its
      token or, without tokens, its network address.
    - `max_rate_per_client`: calls per second of one client; 0: no limit.
    - `max_message_bytes`: the largest request.
    - `max_fast_cost`: what the frames of a connection at `fast_address` may cost a second (see docs/operations.md)
      before it is read more slowly; while the worker is short of processor time, those of all connections of an
      address. `max_fast_debt`: how far a connection may get ahead of that before it ends.
    - `batch_threads`: unary calls of BatchService that a worker handles at a time, and as many requests of streams, in
      threads of their own, so that other calls never wait for them.
    - `max_undelivered_bytes`: memory of requests in flight and responses that clients have not taken yet, together; one
      call alone always passes.
    - `max_batch_items`, `max_playouts` (of all items together), `max_answer_bytes` (of a response's columns): the
      largest call of BatchService; larger ones get BATCH_TOO_LARGE. So do bots with more than `max_playouts` for a
      suggestion.
    - `max_table_playouts`: games that a bot may play out for a decision at a sealed table, at most
      `max_playouts`.

    Times, in seconds.

    - `request_timeout`: for a unary call's request to arrive, and for a handshake.
    - `stream_idle_timeout`: for a stream's first request to arrive, for the next one, and for its client to take a
      response; 0: no limit. When all `max_streams` are taken, streams that wait for these give way to new ones.
    - `default_deadline`: for a unary call without a deadline.
    - `max_deadline`: for any unary call; then it ends with DEADLINE_EXCEEDED.
    - `grace`: for calls in flight to finish when the server stops.
    - `hang_timeout`: after which a worker whose serving loop stands still is killed and replaced.

    Rooms (see docs/tables.md). A client may have half of each; when one is full, the client that has most gives way.

    - `relay`: RoomService, with rooms in the memory of the one worker ("memory"), or in Redis for all workers and
      servers with the same address (redis://…, rediss://… with TLS, unix://…), which may have a password. None: no such
      service.
    - `max_rooms`, `max_followers` (of all rooms), `max_room_bytes` (that all rooms take): what is kept.
    - `room_lifetime`: seconds for which a room is kept that nobody follows and to which nobody posts.

    Access. All files are reread when they change.

    - `tls_certificate`, `tls_key`: PEM files of the server's certificate chain and its key; None: no TLS.
    - `client_ca`: a PEM file of the authorities that must sign clients' certificates; None: clients need none.
    - `tokens`: a file of bearer tokens (see `guards/tokens.py`); None: clients need none.
    - `table_keys`: a file of the keys of sealed tables (see `tables/keys.py`); None: a random key, so that no table
      outlives the server.
    - `open_tables`: TableService and RoomService need no token. They then need a limit per client, which is one per
      address for calls without a token.
    - `web_origins`: the origins (SCHEME://HOST or SCHEME://HOST:PORT) whose pages may call at `web_address`, beside its
      own; `*` stands for all, and only for a service without tokens.
    - `web_hosts`: the names, beside `localhost` and that in `web_address`, by which browsers may ask for `web_address`;
      literal IP addresses always may. Else a page elsewhere could call, once its name leads to this machine.
    - `web_frame_ancestors`: the origins whose pages may have a record in a frame (see docs/page.md); `*`: all.
    - `insecure`: at addresses that other machines can reach, let all of them call. Otherwise such an address needs TLS
      or tokens; `fast_address`, which has no TLS, needs tokens.
    - `reflection`, `channelz`: serve these services.

    Rules.

    - `rules_versions`: GAME=VERSION, the versions of the rules under which new games begin, instead of the newest (see
      docs/versions.md). Games under any version that is played are played on.

    Bots.

    - `bots_version`: the version of the package's bots that decide at sealed tables, instead of the newest (see
      docs/versions.md).
    - `bots`: NAME=BOT or NAME, the bots that callers may name beside those of the package: a class in a file or a
      module (NAME=FILE.py:CLASS, NAME=MODULE:CLASS, with parameters :PARAMETER=VALUE,…), or an entry point of an
      installed package, by its name. Each worker loads and makes each of them once; a server whose bots cannot be
      loaded does not start.

    Logs and traces.

    - `log_level`: debug, info, warning or error. `log_format`: text or json.
    - `log_calls`: log calls that succeed or are cancelled, too, at level info; those that fail are logged as warnings.
    - `traces`: trace calls by OpenTelemetry, which its own environment variables configure.
    """

    address: str = "127.0.0.1:50051"
    fast_address: str | None = None
    web_address: str | None = None
    metrics_address: str | None = "127.0.0.1:9464"
    workers: int = 1
    max_calls: int = 1000
    max_streams: int = 1000
    max_calls_per_client: int = 0
    max_rate_per_client: float = 0.0
    # Twice the size of the largest batch of the largest states.
    max_message_bytes: int = 16 * 1024 * 1024
    # A few times what the fastest clients reach with calls; a worker needs a fifth of its time for that much.
    max_fast_cost: int = 100_000_000
    max_fast_debt: int = 100_000_000
    batch_threads: int = 8
    max_batch_items: int = 16_384
    max_playouts: int = 1_000_000
    # A second or two, in the slowest game.
    max_table_playouts: int = 10_000
    # 4,096 observations of the largest game, and those of every seat for some hundred games that end at one step.
    max_answer_bytes: int = 128 * 1024 * 1024
    max_undelivered_bytes: int = 192 * 1024 * 1024
    request_timeout: float = 10.0
    stream_idle_timeout: float = 600.0
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
        """Raise SettingError for invalid settings."""
        self._check_addresses()
        at_least_1 = ("workers", "max_calls", "max_streams", "max_message_bytes", "batch_threads")
        for name in (*at_least_1, "max_batch_items", "max_playouts", "max_table_playouts"):
            _require(name, getattr(self, name) >= 1, "must be 1 or more")
        for name in ("max_answer_bytes", "max_undelivered_bytes", "max_fast_cost", "max_fast_debt", "max_rooms"):
            _require(name, getattr(self, name) >= 1, "must be 1 or more")
        for name in ("max_calls_per_client", "max_rate_per_client", "stream_idle_timeout", "grace"):
            _require(name, getattr(self, name) >= 0, "must be 0 or more")
        for name in ("max_followers", "max_room_bytes"):
            _require(name, getattr(self, name) >= 1, "must be 1 or more")
        _require("room_lifetime", self.room_lifetime > 0, "must be more than 0")
        is_known = self.relay in (None, MEMORY) or bool(_REDIS.fullmatch(self.relay or ""))
        # Without its value, which may have a password.
        _require("relay", is_known, "must be memory or an address of Redis (redis://…, rediss://…, unix://…)")
        needs_one = self.relay == MEMORY and self.workers > 1
        _require("relay", not needs_one, "memory needs workers=1, as each would have rooms of its own; or use Redis")
        _require("request_timeout", self.request_timeout > 0, "must be more than 0")
        _require("hang_timeout", self.hang_timeout >= 1, "must be 1 or more")
        _require("default_deadline", self.default_deadline > 0, "must be more than 0")
        _require("max_deadline", self.max_deadline >= self.default_deadline, "must not be less than default_deadline")
        _require("tls_key", self.tls_certificate is None or self.tls_key is not None, "tls_certificate needs it")
        _require("tls_certificate", self.tls_key is None or self.tls_certificate is not None, "tls_key needs it")
        _require("tls_certificate", self.client_ca is None or self.tls_certificate is not None, "client_ca needs it")
        if self.open_tables:
            limits = self.max_calls_per_client or self.max_rate_per_client
            _require("open_tables", self.tokens is not None, "without tokens every service is open")
            _require("open_tables", bool(limits), "needs max_calls_per_client or max_rate_per_client")
        for name in ("web_origins", "web_frame_ancestors"):
            for origin in getattr(self, name):
                _require(name, origin == ANY_ORIGIN or bool(_ORIGIN.fullmatch(origin)), _not_an_origin(origin))
            _require(name, not getattr(self, name) or self.web_address is not None, "needs web_address")
        any_with_tokens = ANY_ORIGIN in self.web_origins and self.tokens is not None
        _require("web_origins", not any_with_tokens, "with tokens, name the origins: * would let in every page")
        for host in self.web_hosts:
            _require("web_hosts", bool(_HOST.fullmatch(host)), f"a host must be a name in lower case, not {host!r}")
        _require("web_hosts", not self.web_hosts or self.web_address is not None, "needs web_address")
        if self.tokens is None and not self.insecure:
            for name in self.open_addresses:
                needs = "--tokens (it has no TLS)" if name == "fast_address" else "--tokens or --tls-certificate"
                message = f"other machines can reach it: it needs {needs}, or --insecure to let all of them call"
                raise SettingError(name, message)
        self._check_rules_versions()
        played = versions()
        message = f"unsupported version {self.bots_version}; supported: {', '.join(map(str, played))}"
        _require("bots_version", self.bots_version in (None, *played), message)
        for bot in self.bots:
            try:
                read_added(bot)
            except ValueError as error:
                raise SettingError("bots", str(error)) from error
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

    @property
    def open_addresses(self) -> dict[str, str]:
        """The addresses that other machines can reach without TLS, by the names of their settings."""
        addresses = {"fast_address": self.fast_address}
        if not self.tls_certificate:
            addresses |= {"address": self.address, "web_address": self.web_address}
        return {name: address for name, address in addresses.items() if address and not _is_loopback(address)}


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
    """Return the path of a Unix socket's address, unix:/PATH; None: it is another kind. Raises ValueError."""
    if not address.startswith("unix:"):
        return None
    if (found := _UNIX.fullmatch(address)) is None:
        raise ValueError(f"a Unix socket must be unix:/PATH, 107 letters, digits and ._/@+:~- at most, not {address!r}")
    return found[1]


def with_port(address: str, port: int) -> str:
    """Return an address with another port."""
    return f"{address.rpartition(':')[0]}:{port}"


def _not_an_origin(text: str) -> str:
    return f"an origin must be SCHEME://HOST or SCHEME://HOST:PORT in lower case, not {text!r}"


def _require(name: str, holds: bool, message: str) -> None:
    if not holds:
        raise SettingError(name, message)
