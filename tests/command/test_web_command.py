"""chatiere web: a page on the user's machine. Its tables survive a restart."""

import base64
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from service.support import PATIENCE

from chatiere.command import web
from chatiere.service.base.settings import SettingError, Settings

from .conftest import Run

pytestmark = pytest.mark.long

# A shell that runs the tests in the background makes them ignore Ctrl-C.
_COMMAND = (
    sys.executable,
    "-c",
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    "from chatiere.command import main; main(prog_name='chatiere')",
    "web",
)
_TABLES = "/chatiere.v1.TableService/"


@contextmanager
def page(*arguments: str, environment: dict[str, str] | None = None) -> Iterator[httpx.Client]:
    """Run `chatiere web`, yield a client for its URL, and interrupt it. It must succeed without further output."""
    command = (*_COMMAND, "--address", "127.0.0.1:0", *arguments)
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True
    ) as process:
        try:
            assert process.stdout is not None
            line = re.fullmatch(r"Play at (http://127\.0\.0\.1:\d+/) \(Ctrl-C to stop\)\n", process.stdout.readline())
            assert line
            with httpx.Client(base_url=line[1], trust_env=False, timeout=PATIENCE) as client:
                yield client
            process.send_signal(signal.SIGINT)
            assert process.communicate(timeout=PATIENCE) == ("", "")
            assert process.returncode == 0
        finally:
            process.kill()


def refused(environment: dict[str, str], *arguments: str) -> str:
    """Run `chatiere web`. It must not start. Return its error output."""
    done = subprocess.run((*_COMMAND, *arguments), capture_output=True, text=True, env=environment, timeout=PATIENCE)
    assert (done.returncode, done.stdout) == (2, "")
    return done.stderr


def called(client: httpx.Client, method: str, request: dict[str, Any]) -> dict[str, Any]:
    """Call a method of TableService with JSON."""
    answer = client.post(_TABLES + method, json=request)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Environment variables that set an empty folder for data."""
    return {"XDG_DATA_HOME": str(tmp_path), "GRPC_VERBOSITY": "NONE"}


def test_a_table_survives_a_restart(tmp_path: Path, environment: dict[str, str]) -> None:
    with page(environment=environment) as client:
        root = client.get("/")
        assert root.headers["content-type"] == "text/html; charset=utf-8"
        seats = [{}, {"bot": "random"}]
        asked = {"game": "discat", "players": 2, "seats": seats, "acknowledgement": "ACKNOWLEDGEMENT_NONE"}
        made = called(client, "NewTable", asked)
        look = {"table": made["table"], "secret": made["secrets"][0]["secret"]}
        before = called(client, "Look", look)
        assert before["update"]["view"]
    keys = tmp_path / "chatiere" / "table-keys"
    assert keys.stat().st_mode & 0o777 == 0o600
    text = keys.read_text()
    with page(environment=environment) as client:
        assert called(client, "Look", look) == before
    assert keys.read_text() == text
    assert list(keys.parent.iterdir()) == [keys]


def test_keys_can_be_elsewhere(tmp_path: Path, environment: dict[str, str]) -> None:
    keys = tmp_path / "new" / "keys"
    with page("--table-keys", str(keys), environment=environment) as client:
        assert client.get("/").status_code == 200
    assert re.fullmatch("[0-9a-f]{64}\n", keys.read_text())
    assert not (tmp_path / "chatiere").exists()


def test_a_port_in_use_is_named(environment: dict[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        error = refused(environment, "--address", address)
    assert error == f"Error: cannot listen on {address}: Address already in use; choose another with --address\n"


Served = Callable[[Settings], None]


@pytest.fixture
def serves(monkeypatch: pytest.MonkeyPatch) -> Callable[[Served], None]:
    """Return serves(act). It replaces the server.

    The command calls `act` with its settings, and is ready immediately.
    """

    def serves_by(act: Served) -> None:
        def serve(settings: Settings, ready: Served) -> None:
            act(settings)
            ready(settings)

        monkeypatch.setattr(web, "serve", serve)

    return serves_by


@pytest.mark.parametrize(
    ("address", "url"),
    [
        (None, "http://127.0.0.1:8080/"),
        ("0.0.0.0:80", "http://localhost:80/"),
        ("[::]:80", "http://localhost:80/"),
        ("here:80", "http://here:80/"),
    ],
)
def test_a_browser_can_open_the_url(
    run: Run, serves: Callable[[Served], None], environment: dict[str, str], address: str | None, url: str
) -> None:
    served: list[Settings] = []
    serves(served.append)
    result = run("web", *(("--address", address) if address else ()), env=environment)
    assert result.stdout == f"Play at {url} (Ctrl-C to stop)\n"
    (settings,) = served
    assert (settings.address, settings.metrics_address, settings.fast_address) == ("127.0.0.1:0", None, None)
    warned = [] if address is None else [f"Warning: unencrypted, and anyone who can reach {address} may call"]
    assert result.stderr.splitlines() == warned


def test_other_names_of_the_machine_can_be_given(
    run: Run, serves: Callable[[Served], None], environment: dict[str, str]
) -> None:
    served: list[Settings] = []
    serves(served.append)
    run("web", "--web-hosts", "here.local, here", env=environment)
    assert served[0].web_hosts == ("here.local", "here")
    result = run("web", "--web-hosts", "http://here", env=environment)
    assert result.stderr == "Error: --web-hosts: a host must be a name in lower case, not 'http://here'\n"


def test_without_a_folder_for_data_the_keys_are_in_the_home_folder(
    run: Run, serves: Callable[[Served], None], tmp_path: Path
) -> None:
    served: list[Settings] = []
    serves(served.append)
    for nowhere in (None, "", "relative"):
        assert run("web", env={"HOME": str(tmp_path), "XDG_DATA_HOME": nowhere}).exit_code == 0
    (path,) = {settings.table_keys for settings in served}
    assert path == tmp_path / ".local" / "share" / "chatiere" / "table-keys"


def test_a_setting_that_the_server_refuses_is_reported(
    run: Run, serves: Callable[[Served], None], environment: dict[str, str]
) -> None:
    def refuse(settings: Settings) -> None:
        raise SettingError("web_address", "missing packages: pip install 'chatiere[web]'")

    serves(refuse)
    result = run("web", env=environment)
    assert (result.exit_code, result.stderr) == (2, "Error: missing packages: pip install 'chatiere[web]'\n")


def test_bad_keys_are_named(environment: dict[str, str], tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text("nonsense\n")
    error = refused(environment, "--address", "127.0.0.1:0", "--table-keys", str(keys))
    assert error.startswith(f"Error: --table-keys: {keys}, line 1: not a key")
    assert keys.read_text() == "nonsense\n"


def test_keys_that_cannot_be_made_are_named(run: Run, environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    keys = tmp_path / "file" / "keys"
    result = run("web", "--table-keys", keys, env=environment)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"Error: --table-keys: cannot create {keys}: ")


def test_keys_created_by_another_process_are_kept(
    run: Run,
    serves: Callable[[Served], None],
    environment: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keys = tmp_path / "keys"

    def slower() -> bytes:
        keys.write_text("first")
        return bytes(32)

    monkeypatch.setattr(web, "new_key", slower)
    serves(lambda settings: None)
    assert run("web", "--table-keys", keys, env=environment).exit_code == 0
    assert keys.read_text() == "first"
    assert list(tmp_path.iterdir()) == [keys]


def test_the_page_s_server_has_rooms(environment: dict[str, str]) -> None:
    posted = {
        "room": base64.b64encode(bytes(16)).decode(),
        "secret": base64.b64encode(bytes(16)).decode(),
        "name": "Anna",
    }
    with page(environment=environment) as client:
        answer = client.post("/chatiere.v1.RoomService/Post", json=posted)
    assert answer.json()["taken"]
