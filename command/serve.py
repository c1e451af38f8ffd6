"""chatiere serve."""

from pathlib import Path
from typing import Any

import click

from chatiere.command.common import Address, CommandError
from chatiere.service.config import LOG_FORMATS, LOG_LEVELS, SettingError, Settings
from chatiere.service.supervisor import serve

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_NUMBER = click.IntRange(min=1)
_NUMBER_OR_NONE = click.IntRange(min=0)
_SECONDS = click.FloatRange(min=0)


class _MetricsAddress(Address):
    """HOST:PORT or off."""

    name = "HOST:PORT|off"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return value if value == "off" else super().convert(value, param, ctx)


def _setting(name: str, kind: click.ParamType[Any] | None, text: str, flags: str | None = None) -> click.Option:
    # An option for a setting, with its default.
    return click.Option(
        [flags or f"--{name.replace('_', '-')}", name],
        type=kind,
        default=getattr(Settings(), name),
        show_default=True,
        show_envvar=True,
        help=text,
    )


# The options in the order of --help, which are the settings in the order of Settings.
_OPTIONS = (
    _setting("address", Address(), "Where to serve gRPC. Port 0 takes a free port; the log says which."),
    _setting(
        "play_address",
        Address(),
        "Where to serve streams of batches (BatchService.Play) apart, for half the processor time, and without TLS.",
    ),
    _setting("metrics_address", _MetricsAddress(), "Where to serve metrics for Prometheus over HTTP."),
    _setting("workers", _NUMBER, "Processes that share the port. As many as cores is right for many single calls."),
    _setting("max_calls", _NUMBER, "Calls that a worker has at a time, waiting ones included; more are refused."),
    _setting("max_streams", _NUMBER, "Streams that a worker holds open at a time; more are refused."),
    _setting(
        "max_calls_per_client",
        _NUMBER_OR_NONE,
        "Calls that a worker handles for one client (the name of its token, else its address) at a time; 0: no limit.",
    ),
    _setting("max_rate_per_client", _SECONDS, "Calls a second that a worker takes from one client; 0: no limit."),
    _setting("max_message_bytes", _NUMBER, "The largest request."),
    _setting("batch_threads", _NUMBER, "Calls of BatchService that a worker handles at a time; more wait."),
    _setting("max_batch_items", _NUMBER, "Items of a batch at most."),
    _setting("max_playouts", _NUMBER, "Playouts of a batch at most: items times playouts of each."),
    _setting("max_answer_bytes", _NUMBER, "Bytes of the columns of a batch's answer at most."),
    _setting("max_undelivered_bytes", _NUMBER, "Bytes of requests under way and answers not yet taken, at most."),
    _setting("request_timeout", _SECONDS, "Seconds in which a call's request must come."),
    _setting("default_deadline", _SECONDS, "Seconds that a call without a deadline gets."),
    _setting("max_deadline", _SECONDS, "Seconds that a call gets at most, whatever its deadline."),
    _setting("grace", _SECONDS, "Seconds that calls in flight get to finish on SIGTERM."),
    _setting(
        "hang_timeout",
        click.FloatRange(min=1),
        "Seconds after which a worker whose serving loop stands still is killed and replaced.",
    ),
    _setting("tls_certificate", _FILE, "PEM file of the certificate chain, for TLS; read again when it changes."),
    _setting("tls_key", _FILE, "PEM file of the certificate's key."),
    _setting("client_ca", _FILE, "PEM file of the authorities that clients' certificates must come from (mutual TLS)."),
    _setting("tokens", _FILE, "File of bearer tokens (see chatiere token); read again when it changes."),
    _setting("reflection", None, "Whether the API tells of itself.", "--reflection/--no-reflection"),
    _setting("channelz", None, "Whether gRPC tells of its connections.", "--channelz/--no-channelz"),
    _setting("log_level", click.Choice(LOG_LEVELS), "The least that is logged; info has a line a call."),
    _setting("log_format", click.Choice(LOG_FORMATS), "How it is logged, on standard error."),
    _setting(
        "traces", None, "Whether calls are traced by OpenTelemetry; OTEL_… variables say how.", "--traces/--no-traces"
    ),
)


@click.command("serve", params=list(_OPTIONS), context_settings={"auto_envvar_prefix": "CHATIERE"})
def command(**settings: Any) -> None:
    """Serve the games over gRPC.

    On SIGTERM or Ctrl-C the server finishes the calls under way and stops; docs/operations.md tells more.
    """
    if settings["metrics_address"] == "off":
        settings["metrics_address"] = None
    try:
        serve(Settings(**settings))
    except SettingError as error:
        raise CommandError(f"--{error.setting.replace('_', '-')}: {error.message}") from error
