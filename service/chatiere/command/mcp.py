"""chatiere mcp."""

import socket
from importlib.metadata import version
from pathlib import Path

import click
import grpc

from chatiere.clients import CHANNEL_OPTIONS
from chatiere.command.common import LOOPBACK, Address, CommandError, ServerAddress
from chatiere.mcp.backend import Backend, LocalBackend, RemoteBackend
from chatiere.mcp.server import PATH, create_server, http_app, serve_http, serve_stdio
from chatiere.mcp.tools import Tools
from chatiere.service.base.settings import MEMORY, SettingError, Settings, split_address

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_NONE = "none"


@click.command("mcp", context_settings={"auto_envvar_prefix": "CHATIERE_MCP"})
@click.option(
    "--address", type=Address(), help="Serve streamable HTTP at this address. Default: standard input and output."
)
@click.option("--service", type=ServerAddress(), help="Use a running service. Default: play in this process.")
@click.option("--service-token", show_envvar=True, help="The bearer token for --service.")
@click.option(
    "--relay",
    default=MEMORY,
    show_default=True,
    help="Where games are kept: memory, redis://HOST:PORT for several servers, or none. With none, a handle contains "
    "the sealed table itself. With --service, the rooms of the service keep the games, unless this is none.",
)
@click.option("--table-keys", type=_FILE, help="The file of the keys of sealed tables; the same for all servers.")
@click.option("--tokens", type=_FILE, help="The file of bearer tokens for --address (see chatiere token).")
@click.option("--tls-certificate", type=_FILE, help="The PEM file of the certificate chain for --address.")
@click.option("--tls-key", type=_FILE, help="The PEM file of the certificate's private key.")
@click.option(
    "--max-calls-per-client",
    type=int,
    default=0,
    show_default=True,
    help="The maximum number of calls that one client at --address may have in progress. A client is identified by the "
    "name of its token, or by its address. 0: no limit.",
)
@click.option(
    "--max-rate-per-client",
    type=float,
    default=0.0,
    show_default=True,
    help="The maximum number of calls per second from one client at --address. 0: no limit.",
)
@click.option("--insecure", is_flag=True, help="Allow all calls at an address that other machines can reach.")
def command(
    address: str | None,
    service: str | None,
    service_token: str | None,
    relay: str,
    table_keys: Path | None,
    tokens: Path | None,
    tls_certificate: Path | None,
    tls_key: Path | None,
    max_calls_per_client: int,
    max_rate_per_client: float,
    insecure: bool,
) -> None:
    """Let language models play, by the tools of an MCP server (see docs/mcp.md)."""
    try:
        settings = Settings(
            address=address or f"{LOOPBACK}:0",
            relay=None if relay == _NONE else relay,
            table_keys=table_keys,
            tokens=tokens,
            tls_certificate=tls_certificate,
            tls_key=tls_key,
            max_calls_per_client=max_calls_per_client,
            max_rate_per_client=max_rate_per_client,
            insecure=insecure,
        )
        server = create_server(Tools(_backend(settings, service, service_token)), version("chatiere"))
        if address is None:
            serve_stdio(server)
            return
        host, port = split_address(address)
        app = http_app(server, host, settings)
        listening = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except SettingError as error:
        raise CommandError(f"--{error.setting.replace('_', '-')}: {error.message}") from error
    except OSError as error:
        raise CommandError(f"--address: cannot listen at {address}: {error.strerror}") from error
    scheme, port = "https" if tls_certificate else "http", listening.getsockname()[1]
    click.echo(f"MCP at {scheme}://{address.rpartition(':')[0]}:{port}{PATH} (Ctrl-C to stop)")
    serve_http(app, listening, tls_certificate, tls_key)


def _backend(settings: Settings, service: str | None, token: str | None) -> Backend:
    if service is None:
        return LocalBackend(settings)
    channel = grpc.insecure_channel(service, options=CHANNEL_OPTIONS)
    return RemoteBackend(channel, token, keeps_rooms=settings.relay is not None)
