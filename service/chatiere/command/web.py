"""chatiere web."""

import os
import tempfile
from pathlib import Path

import click

from chatiere.command.common import LOOPBACK, Address, CommandError, Several
from chatiere.service.base.settings import SettingError, Settings, split_address
from chatiere.service.process.supervisor import serve
from chatiere.service.tables.new_key import new_key

# The hosts that stand for all addresses of the machine. Browsers cannot request them.
_ANY = ("0.0.0.0", "::")


@click.command("web")
@click.option(
    "--address",
    type=Address(),
    default=f"{LOOPBACK}:8080",
    show_default=True,
    help="The address of the page. Port 0 means a free port. With 0.0.0.0:8080, other machines can also play.",
)
@click.option(
    "--web-hosts",
    type=Several("NAME"),
    default=(),
    help="Host names that the page accepts in requests, in addition to localhost and IP addresses.",
)
@click.option(
    "--table-keys",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file of the keys of tables, which is created if it is missing. Default: table-keys in the data folder "
    "(~/.local/share/chatiere). Anyone who has this file can see all cards.",
)
def command(address: str, web_hosts: tuple[str, ...], table_keys: Path | None) -> None:
    """Play in the browser: serve the page on this machine.

    The command prints the URL of the page, and serves the page until Ctrl-C. Tables are stored in the players'
    browsers. They can be continued when the page is served again with the same keys.
    """
    path = table_keys or _data_folder() / "table-keys"
    try:
        _make_keys(path)
    except OSError as error:
        raise CommandError(f"--table-keys: cannot create {path}: {error.strerror}") from error
    try:
        settings = Settings(
            address=f"{LOOPBACK}:0",
            web_address=address,
            web_hosts=web_hosts,
            # Anyone who can reach the page may play.
            insecure=True,
            metrics_address=None,
            table_keys=path,
            relay="memory",
            log_level="error",
        )
        serve(settings, ready=_tell)
    except SettingError as error:
        if error.setting in ("table_keys", "web_hosts"):
            raise CommandError(f"--{error.setting.replace('_', '-')}: {error.message}") from error
        is_taken = error.setting == "web_address" and isinstance(error.__cause__, OSError)
        raise CommandError(error.message + "; choose another with --address" * is_taken) from error


def _tell(settings: Settings) -> None:
    assert settings.web_address is not None
    host, port = split_address(settings.web_address)
    place = f"localhost:{port}" if host in _ANY else settings.web_address
    click.echo(f"Play at http://{place}/ (Ctrl-C to stop)")
    for open_address in settings.open_addresses.values():
        click.echo(f"Warning: unencrypted, and anyone who can reach {open_address} may call", err=True)


def _data_folder() -> Path:
    # A relative path is ignored (https://specifications.freedesktop.org/basedir-spec).
    base = Path(os.environ.get("XDG_DATA_HOME", ""))
    return (base if base.is_absolute() else Path.home() / ".local" / "share") / "chatiere"


def _make_keys(path: Path) -> None:
    """Create a file with one key, unless the file exists. Raises OSError."""
    if path.exists():
        return
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Creating a link is atomic: the file is complete, and only one of several processes can create it.
    descriptor, made = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(descriptor, "w") as file:
            print(new_key().hex(), file=file)
        os.link(made, path)
    except FileExistsError:
        pass
    finally:
        os.unlink(made)
