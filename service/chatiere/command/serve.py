"""chatiere serve."""

from pathlib import Path
from typing import Any

import click

from chatiere.command.common import AddedBots, Address, CommandError, ServerAddress, Several
from chatiere.service.base.settings import LOG_FORMATS, LOG_LEVELS, SettingError, Settings
from chatiere.service.process.supervisor import serve

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_NUMBER = click.IntRange(min=1)
_NUMBER_OR_NONE = click.IntRange(min=0)
_SECONDS = click.FloatRange(min=0)
_MORE_THAN_0 = click.FloatRange(min=0, min_open=True)


class _MetricsAddress(Address):
    """The type of a parameter HOST:PORT or off."""

    name = "HOST:PORT|off"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return value if value == "off" else super().convert(value, param, ctx)


def _setting(name: str, kind: click.ParamType[Any] | None, text: str, flags: str | None = None) -> click.Option:
    # The option of a setting, with its default.
    return click.Option(
        [flags or f"--{name.replace('_', '-')}", name],
        type=kind,
        default=getattr(Settings(), name),
        show_default=True,
        show_envvar=True,
        help=text,
    )


# The options in the order of --help, which is that of Settings.
_OPTIONS = (
    _setting(
        "address",
        ServerAddress(),
        "The address of gRPC. Port 0 takes a free port, which is logged; at a Unix socket the server's group may call.",
    ),
    _setting(
        "fast_address",
        ServerAddress(),
        "The address of a second port for all methods: a tenth of the processor time, no TLS.",
    ),
    _setting(
        "web_address",
        Address(),
        "The address of a port for browsers: Connect, gRPC-Web and JSON; needs chatiere[web].",
    ),
    _setting("metrics_address", _MetricsAddress(), "The address of metrics for Prometheus over HTTP."),
    _setting("workers", _NUMBER, "Processes that share the port. For many single calls, use one per core."),
    _setting("max_calls", _NUMBER, "Calls in flight per worker, including waiting ones; more are refused."),
    _setting("max_streams", _NUMBER, "Open streams per worker; more are refused."),
    _setting(
        "max_calls_per_client",
        _NUMBER_OR_NONE,
        "Calls in flight per worker for one client (the name of its token, or its address); 0: no limit.",
    ),
    _setting("max_rate_per_client", _SECONDS, "Calls per second that a worker accepts from one client; 0: no limit."),
    _setting("max_message_bytes", _NUMBER, "The largest size of a request, in bytes."),
    _setting(
        "max_fast_cost",
        _NUMBER,
        "The cost per second of a connection's frames at --fast-address; frames above it wait (see "
        "docs/operations.md).",
    ),
    _setting("max_fast_debt", _NUMBER, "The excess over that cost at which such a connection ends."),
    _setting("batch_threads", _NUMBER, "Calls of BatchService that a worker handles at a time; others wait."),
    _setting("max_batch_items", _NUMBER, "The largest number of items in a batch."),
    _setting("max_playouts", _NUMBER, "The largest number of playouts of a batch, or of a bot for a suggestion."),
    _setting("max_table_playouts", _NUMBER, "The largest number of playouts of a bot at a sealed table."),
    _setting("max_answer_bytes", _NUMBER, "The largest size of the columns of a batch's response, in bytes."),
    _setting(
        "max_undelivered_bytes",
        _NUMBER,
        "The largest total size of requests in flight and responses not yet taken, in bytes.",
    ),
    _setting("request_timeout", _MORE_THAN_0, "Seconds within which a call's request must arrive, or a handshake end."),
    _setting(
        "stream_idle_timeout",
        click.FloatRange(min=0),
        "Seconds that a stream may wait for its client's next request; 0: no limit.",
    ),
    _setting("default_deadline", _MORE_THAN_0, "The deadline of calls that have none, in seconds."),
    _setting("max_deadline", _MORE_THAN_0, "The longest deadline of a call, in seconds; longer ones are shortened."),
    _setting("grace", _SECONDS, "Seconds for calls in flight to finish after SIGTERM."),
    _setting(
        "hang_timeout",
        click.FloatRange(min=1),
        "Seconds after which a worker whose serving loop hangs is killed and replaced.",
    ),
    _setting(
        "relay",
        click.STRING,
        "Serve rooms, in which players see each other's moves as they come. memory keeps them in the memory of the one "
        "worker; redis://HOST:PORT in Redis, for several workers or servers, and needs chatiere[redis].",
    ),
    _setting("max_rooms", _NUMBER, "The largest number of rooms; one client may have half of them."),
    _setting("max_followers", _NUMBER, "The largest number of followers of rooms; one client may have half of them."),
    _setting(
        "max_room_bytes", _NUMBER, "The largest size of all rooms in memory, in bytes; one client may have half of it."
    ),
    _setting("room_lifetime", _MORE_THAN_0, "Seconds for which an unused room is kept."),
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
        "The other origins whose pages may call at --web-address; * for all, without tokens only.",
    ),
    _setting(
        "web_hosts",
        Several("NAME"),
        "The names by which browsers may ask for --web-address, beside localhost and IP addresses.",
    ),
    _setting(
        "web_frame_ancestors",
        Several("ORIGIN"),
        "The origins whose pages may have a record of --web-address in a frame; * for all (see docs/page.md).",
    ),
    _setting(
        "insecure",
        None,
        "Let anybody call at addresses that other machines can reach; otherwise these need TLS or tokens.",
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
        _NUMBER,
        "The version of the bots that decide at sealed tables, instead of the newest (see docs/versions.md).",
    ),
    _setting(
        "bots",
        AddedBots(),
        "Further bots for callers: a class in a file or a module, or an entry point (see docs/bots.md). Their code is "
        "run; a call never names code.",
    ),
    _setting("log_level", click.Choice(LOG_LEVELS), "The lowest level to log."),
    _setting("log_format", click.Choice(LOG_FORMATS), "The format of the log, on standard error."),
    _setting(
        "log_calls",
        None,
        "Log a line per call, at level info; without it only those that fail are logged, as warnings.",
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
