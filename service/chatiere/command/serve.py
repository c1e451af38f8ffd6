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
    # Return the option for a setting, with the default of the setting.
    return click.Option(
        [flags or f"--{name.replace('_', '-')}", name],
        type=kind,
        default=getattr(Settings(), name),
        show_default=True,
        show_envvar=True,
        help=text,
    )


def _number(name: str, text: str) -> click.Option:
    # Return the option for a setting that is a number, with the range of the setting.
    least, most, or_zero = RANGES[name]
    lowest = 0 if or_zero else least
    is_whole = isinstance(getattr(Settings(), name), int)
    kind = click.IntRange(int(lowest), int(most)) if is_whole else click.FloatRange(lowest, most)
    return _setting(name, kind, text)


# The options, in the order of --help and of Settings.
_OPTIONS = (
    _setting(
        "address",
        ServerAddress(),
        "The address for gRPC. Port 0 means a free port, which is logged. At a Unix socket, the server's user and "
        "group may call.",
    ),
    _setting(
        "fast_address",
        ServerAddress(),
        "The address of a second port for gRPC, with a tenth of the processor time and without TLS.",
    ),
    _setting(
        "web_address",
        Address(),
        "The address of a port for browsers, with Connect, gRPC-Web and JSON; needs chatiere[web].",
    ),
    _setting("metrics_address", _MetricsAddress(), "The address for Prometheus metrics over HTTP."),
    _number("workers", "The number of processes that share the port. For many single calls, use one per processor."),
    _setting(
        "oversubscribe",
        None,
        "Allow more than four workers per processor, up to 1,024.",
        "--oversubscribe/--no-oversubscribe",
    ),
    _number("max_calls", "The maximum number of calls in flight per worker, including waiting calls."),
    _number("max_streams", "The maximum number of open streams per worker."),
    _number(
        "max_calls_per_client",
        "The maximum number of calls in flight of one client per worker. The name of its token, or its address, "
        "identifies a client. 0: no limit.",
    ),
    _number("max_rate_per_client", "The maximum number of calls per second of one client per worker; 0: no limit."),
    _number("max_message_bytes", "The maximum size of a request, in bytes."),
    _number(
        "max_fast_cost",
        "The maximum cost per second of a connection's frames at --fast-address; frames above it wait (see "
        "docs/operations.md).",
    ),
    _number("max_fast_debt", "The cost by which a connection may exceed --max-fast-cost before it is closed."),
    _number(
        "batch_threads",
        "The maximum number of long calls that a worker runs at the same time, but at most one per core. Other long "
        "calls take turns.",
    ),
    _number("max_batch_items", "The maximum number of items in a batch."),
    _number("max_playouts", "The maximum number of playouts of a batch, or of a bot for a suggestion."),
    _number("max_table_playouts", "The maximum number of playouts of a bot for a decision at a sealed table."),
    _number("max_answer_bytes", "The maximum size of the columns in the response to a batch, in bytes."),
    _number(
        "max_undelivered_bytes",
        "The maximum total size of requests in flight, and of responses that clients have not received, in bytes.",
    ),
    _number("request_timeout", "The seconds within which a call's request must arrive, or a handshake must end."),
    _number(
        "stream_idle_timeout",
        "The seconds that a stream may wait for its client's next request; 0: no limit.",
    ),
    _number(
        "max_connection_age",
        "The seconds, within 10 %, after which gRPC clients are asked to reconnect; 0: no limit.",
    ),
    _number(
        "connection_age_grace",
        "The seconds that calls and streams on such an old connection have to finish; 0: no limit.",
    ),
    _number("default_deadline", "The deadline, in seconds, of calls whose client sets no deadline."),
    _number("max_deadline", "The maximum deadline of a call, in seconds. Longer deadlines are shortened."),
    _number("grace", "The seconds that calls in flight have to finish after SIGTERM."),
    _number(
        "hang_timeout",
        "The seconds after which a worker whose serving loop hangs is killed and replaced.",
    ),
    _setting(
        "relay",
        click.STRING,
        "Serve rooms, in which players see each other's moves immediately. memory stores them in the memory of the "
        "only worker. redis://HOST:PORT stores them in Redis, for several workers or servers, and needs "
        "chatiere[redis]. Commas separate several instances of Redis, each of which stores a part of the rooms.",
    ),
    _number("max_rooms", "The maximum number of rooms. One client may have half of them."),
    _number("max_followers", "The maximum number of followers of rooms. One client may have half of them."),
    _number("max_room_bytes", "The maximum size of all rooms together, in bytes. One client may use half of it."),
    _number("room_lifetime", "The seconds after which an unused room is deleted."),
    _setting("tls_certificate", _FILE, "The PEM file of the certificate chain, for TLS; reread when it changes."),
    _setting("tls_key", _FILE, "The PEM file of the certificate's private key."),
    _setting("client_ca", _FILE, "The PEM file of the authorities for clients' certificates (mutual TLS)."),
    _setting("tokens", _FILE, "The file of bearer tokens (see chatiere token); reread when it changes."),
    _setting(
        "table_keys", _FILE, "The file of the keys of sealed tables (see docs/tables.md); reread when it changes."
    ),
    _setting(
        "open_tables",
        None,
        "Let clients without a token call TableService and RoomService, with limits per address.",
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
        "Allow all calls at addresses that other machines can reach. Otherwise such addresses need TLS or tokens.",
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
        "Additional bots for callers: a class in a file or a module, or an entry point (see docs/bots.md). The server "
        "executes their code. Callers cannot name code.",
    ),
    _setting("log_level", click.Choice(LOG_LEVELS), "The minimum level of messages in the log."),
    _setting("log_format", click.Choice(LOG_FORMATS), "The format of the log, on standard error."),
    _setting(
        "log_calls",
        None,
        "Also log successful and cancelled calls, at level info. Failed calls are always logged, as warnings.",
        "--log-calls/--no-log-calls",
    ),
    _setting("traces", None, "Trace calls with OpenTelemetry, configured by OTEL_… variables.", "--traces/--no-traces"),
)


@click.command("serve", params=list(_OPTIONS), context_settings={"auto_envvar_prefix": "CHATIERE"})
def command(**settings: Any) -> None:
    """Serve the games over gRPC.

    On SIGTERM or Ctrl-C, the server finishes the calls in flight and stops. See docs/operations.md.
    """
    if settings["metrics_address"] == "off":
        settings["metrics_address"] = None
    try:
        serve(Settings(**settings))
    except SettingError as error:
        raise CommandError(f"--{error.setting.replace('_', '-')}: {error.message}") from error
