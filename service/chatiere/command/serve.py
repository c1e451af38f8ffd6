"""chatiere serve."""

from pathlib import Path
from typing import Any

import click

from chatiere.command.common import AddedBots, Address, CommandError, ServerAddress, Several
from chatiere.service.base.settings import LOG_FORMATS, LOG_LEVELS, RANGES, SettingError, Settings
from chatiere.service.process.supervisor import serve

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


class _MetricsAddress(Address):
    """The type of a parameter HOST:PORT or off."""

    name = "HOST:PORT|off"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return value if value == "off" else super().convert(value, param, ctx)


def _setting(name: str, kind: click.ParamType[Any] | None, text: str, flags: str | None = None) -> click.Option:
    # Return the option for a setting, with its default.
    return click.Option(
        [flags or f"--{name.replace('_', '-')}", name],
        type=kind,
        default=getattr(Settings(), name),
        show_default=True,
        show_envvar=True,
        help=text,
    )


def _number(name: str, text: str) -> click.Option:
    # Return the option for a number, with its range.
    least, most, or_zero = RANGES[name]
    lowest = 0 if or_zero else least
    is_whole = isinstance(getattr(Settings(), name), int)
    kind = click.IntRange(int(lowest), int(most)) if is_whole else click.FloatRange(lowest, most)
    return _setting(name, kind, text)


# The options in the order of --help, which is that of Settings.
_OPTIONS = (
    _setting(
        "address",
        ServerAddress(),
        "The address for gRPC. Port 0 means a free port, which is logged. On a Unix socket the server's group may "
        "call.",
    ),
    _setting(
        "fast_address",
        ServerAddress(),
        "The address of a second port for all methods, with a tenth of the processor time; no TLS.",
    ),
    _setting(
        "web_address",
        Address(),
        "The address of a port for browsers, with Connect, gRPC-Web and JSON; needs chatiere[web].",
    ),
    _setting("metrics_address", _MetricsAddress(), "The address for Prometheus metrics over HTTP."),
    _number("workers", "Processes that share the port. For many single calls, use one per processor."),
    _setting(
        "oversubscribe",
        None,
        "Allow more than four workers per processor, up to 1,024.",
        "--oversubscribe/--no-oversubscribe",
    ),
    _number("max_calls", "Calls in flight per worker, including waiting ones; more are refused."),
    _number("max_streams", "Open streams per worker; more are refused."),
    _number(
        "max_calls_per_client",
        "Calls in flight per worker for one client (the name of its token, or its address); 0: no limit.",
    ),
    _number("max_rate_per_client", "Calls per second that a worker accepts from one client; 0: no limit."),
    _number("max_message_bytes", "The largest size of a request, in bytes."),
    _number(
        "max_fast_cost",
        "The cost per second of a connection's frames at --fast-address; frames above it wait (see "
        "docs/operations.md).",
    ),
    _number("max_fast_debt", "The excess over that cost at which such a connection is ended."),
    _number(
        "batch_threads",
        "Long calls that a worker runs at a time, at most one per core; others take turns.",
    ),
    _number("max_batch_items", "The largest number of items in a batch."),
    _number("max_playouts", "The largest number of playouts of a batch, or of a bot for a suggestion."),
    _number("max_table_playouts", "The largest number of playouts of a bot at a sealed table."),
    _number("max_answer_bytes", "The largest size of the columns of a batch's response, in bytes."),
    _number(
        "max_undelivered_bytes",
        "The largest total size of requests in flight and responses not yet taken, in bytes.",
    ),
    _number("request_timeout", "Seconds for a call's request to arrive, or for a handshake."),
    _number(
        "stream_idle_timeout",
        "Seconds that a stream may wait for its client's next request; 0: no limit.",
    ),
    _number(
        "max_connection_age",
        "Seconds after which gRPC clients are asked to reconnect, within 10 %; 0: no limit.",
    ),
    _number(
        "connection_age_grace",
        "Seconds for calls and streams on such an old connection to finish; 0: no limit.",
    ),
    _number("default_deadline", "The deadline in seconds of calls without one."),
    _number("max_deadline", "The longest deadline of a call, in seconds; longer ones are shortened."),
    _number("grace", "Seconds for calls in flight to finish after SIGTERM."),
    _number(
        "hang_timeout",
        "Seconds after which a worker whose serving loop hangs is killed and replaced.",
    ),
    _setting(
        "relay",
        click.STRING,
        "Serve rooms, in which players see each other's moves immediately. memory keeps them in the memory of the only "
        "worker; redis://HOST:PORT in Redis, for several workers or servers, and needs chatiere[redis]. Commas "
        "separate several instances of Redis, each of which keeps its share of the rooms.",
    ),
    _number("max_rooms", "The largest number of rooms; one client may have half of them."),
    _number("max_followers", "The largest number of followers of rooms; one client may have half of them."),
    _number("max_room_bytes", "The largest size of all rooms in memory, in bytes; one client may have half of it."),
    _number("room_lifetime", "Seconds for which an unused room is kept."),
    _setting("tls_certificate", _FILE, "PEM file of the certificate chain, for TLS; reread when it changes."),
    _setting("tls_key", _FILE, "PEM file of the certificate's key."),
    _setting("client_ca", _FILE, "PEM file of the authorities for clients' certificates (mutual TLS)."),
    _setting("tokens", _FILE, "File of bearer tokens (see chatiere token); reread when it changes."),
    _setting("table_keys", _FILE, "File of the keys of sealed tables (see docs/tables.md); reread when it changes."),
    _setting(
        "open_tables",
        None,
        "Let clients without a token call TableService and RoomService, limited by address.",
        "--open-tables/--no-open-tables",
    ),
    _setting(
        "web_origins",
        Several("ORIGIN"),
        "Other origins whose pages may call --web-address; * for all, only without tokens.",
    ),
    _setting(
        "web_hosts",
        Several("NAME"),
        "Host names that --web-address accepts in requests, in addition to localhost and IP addresses.",
    ),
    _setting(
        "web_frame_ancestors",
        Several("ORIGIN"),
        "Origins whose pages may show a record of --web-address in a frame; * for all (see docs/page.md).",
    ),
    _setting(
        "insecure",
        None,
        "Let anyone call at addresses that other machines can reach; otherwise these need TLS or tokens.",
        "--insecure/--no-insecure",
    ),
    _setting("reflection", None, "Serve gRPC's server reflection.", "--reflection/--no-reflection"),
    _setting("channelz", None, "Serve channelz, gRPC's statistics of connections.", "--channelz/--no-channelz"),
    _setting(
        "rules_versions",
        Several("GAME=VERSION"),
        "The versions of the rules under which new games begin, instead of the newest (see docs/versions.md).",
    ),
    _setting(
        "bots_version",
        click.IntRange(min=1),
        "The version of the bots that decide at sealed tables, instead of the newest (see docs/versions.md).",
    ),
    _setting(
        "bots",
        AddedBots(),
        "Further bots for callers: a class in a file or a module, or an entry point (see docs/bots.md). Their code is "
        "executed; calls cannot name code.",
    ),
    _setting("log_level", click.Choice(LOG_LEVELS), "The lowest level to log."),
    _setting("log_format", click.Choice(LOG_FORMATS), "The format of the log, on standard error."),
    _setting(
        "log_calls",
        None,
        "Also log successful and cancelled calls, at level info; failed calls are always logged, as warnings.",
        "--log-calls/--no-log-calls",
    ),
    _setting("traces", None, "Trace calls with OpenTelemetry, configured by OTEL_… variables.", "--traces/--no-traces"),
)


@click.command("serve", params=list(_OPTIONS), context_settings={"auto_envvar_prefix": "CHATIERE"})
def command(**settings: Any) -> None:
    """Serve the games over gRPC.

    On SIGTERM or Ctrl-C the server finishes the calls in flight and stops; see docs/operations.md.
    """
    if settings["metrics_address"] == "off":
        settings["metrics_address"] = None
    try:
        serve(Settings(**settings))
    except SettingError as error:
        raise CommandError(f"--{error.setting.replace('_', '-')}: {error.message}") from error
