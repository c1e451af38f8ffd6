"""A person with WebKit who plays by clicks, through WebDriver (https://www.w3.org/TR/webdriver2/)."""

import json
import os
import shutil
import signal
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from service.process import wait_until
from tools.patience import PATIENCE

from .person import SIZES
from .player import STATE, Player, beginning

_DRIVER, _XVFB = shutil.which("WebKitWebDriver"), shutil.which("Xvfb")

_ENTER = "\ue007"

# Values are passed as JSON.
_CALL = """const [arg, done] = arguments;
Promise.resolve((FUNCTION)(JSON.parse(arg))).then(
  (found) => done({ found: JSON.stringify(found) }), (error) => done({ error: String(error) }));"""
_AWAIT = """const [arg, done] = arguments;
const ask = () => {
  const found = (FUNCTION)(JSON.parse(arg));
  if (found) done({ found: JSON.stringify(found) });
  else requestAnimationFrame(ask);
};
ask();"""
# Collects errors until the document is loaded again.
_LISTEN = """window.errors = [];
addEventListener("error", ({ message }) => errors.push(message));
addEventListener("unhandledrejection", ({ reason }) => errors.push(String(reason)));
addEventListener("securitypolicyviolation", ({ violatedDirective }) => errors.push(violatedDirective));"""
_OPENED = "() => document.querySelector('main:not([aria-busy]) > *') !== null"


class Session:
    """A session of WebDriver with the browser that a driver starts."""

    def __init__(self, url: str) -> None:
        self._url = f"{url}/session"
        self._url += "/" + self.call("", capabilities={})["sessionId"]

    def call(self, command: str, **params: Any) -> Any:
        """Return the result of a command. Raise an AssertionError if it fails."""
        request = urllib.request.Request(
            f"{self._url}{command}", json.dumps(params).encode(), {"content-type": "application/json"}
        )
        try:
            with urllib.request.urlopen(request, timeout=2 * PATIENCE) as response:
                return json.load(response)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{command}: {error.read().decode()}") from None

    def close(self) -> None:
        """End the session, and the browser."""
        with urllib.request.urlopen(urllib.request.Request(self._url, method="DELETE"), timeout=PATIENCE):
            pass


@contextmanager
def _running(*command: str, **options: Any) -> Iterator[None]:
    process = subprocess.Popen(command, start_new_session=True, **options)
    try:
        yield
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextmanager
def _display() -> Iterator[str]:
    # The virtual screen gets a number that is not in use.
    assert _XVFB is not None
    told, tells = os.pipe()
    with _running(_XVFB, "-displayfd", str(tells), "-screen", "0", "1600x1200x24", pass_fds=(tells,)):
        os.close(tells)
        with open(told) as number:
            yield f":{number.readline().strip()}"


@contextmanager
def webkit(folder: Path) -> Iterator[Session]:
    """Run WebKit. It keeps all its data in an empty folder."""
    assert _DRIVER is not None
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with ExitStack() as stack:
        display = stack.enter_context(_display())
        environment = os.environ | {"HOME": str(folder), "DISPLAY": display, "XDG_RUNTIME_DIR": str(folder)}
        log = stack.enter_context((folder / "log").open("w"))
        options = {"stdout": log, "stderr": log, "env": environment}
        stack.enter_context(_running(_DRIVER, f"--port={port}", **options))
        url = f"http://127.0.0.1:{port}"
        wait_until(lambda: _listens(f"{url}/status"), "WebKit's driver listens")
        session = Session(url)
        stack.callback(session.close)
        yield session


def _listens(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE):
            return True
    except urllib.error.URLError:
        return False


class WebKitPlayer(Player):
    """A person who uses WebKit."""

    def __init__(self, session: Session, address: str) -> None:
        super().__init__(f"http://{address}")
        self._session = session
        milliseconds = int(1000 * PATIENCE)
        session.call("/timeouts", script=milliseconds, pageLoad=milliseconds)
        width, height = SIZES["clicks"]
        session.call("/window/rect", width=width, height=height)
        # The script that runs before the page needs the page's origin.
        session.call("/url", url=f"{self.origin}/#/")
        session.call("/execute/sync", script=beginning(), args=[])
        session.call("/refresh")
        session.call("/execute/sync", script=_LISTEN, args=[])

    def errors(self) -> list[str]:
        """Return the errors, including violations of the page's policy."""
        found: list[str] = self.evaluate("() => window.errors")
        return found

    def open(self, fragment: str) -> None:
        self._session.call("/url", url=f"{self.origin}/#/{fragment}")
        self.await_true(_OPENED)

    def evaluate(self, function: str, arg: Any = None) -> Any:
        return self._call(_CALL, function, arg)

    def await_true(self, function: str, arg: Any = None) -> Any:
        try:
            return self._call(_AWAIT, function, arg)
        except AssertionError as error:
            raise AssertionError(f"{error} in {function}, {arg!r}\n{self.state()}") from error

    def state(self) -> str:
        try:
            return f"page: {self.evaluate(STATE)}"
        except AssertionError as error:
            return f"the page does not tell what it shows: {error}"

    def _call(self, caller: str, function: str, arg: Any) -> Any:
        script = caller.replace("FUNCTION", function)
        told = self._session.call("/execute/async", script=script, args=[json.dumps(arg)])
        assert "error" not in told, told["error"]
        return json.loads(told["found"]) if told.get("found") is not None else None

    def click_at(self, x: float, y: float) -> None:
        moves = [{"type": "pointerMove", "x": round(x), "y": round(y), "duration": 0}]
        presses = [{"type": kind, "button": 0} for kind in ("pointerDown", "pointerUp")]
        pointer = {"type": "pointer", "id": "mouse", "actions": moves + presses}
        self._session.call("/actions", actions=[pointer])

    def write(self, selector: str, text: str) -> None:
        self.evaluate("(selector) => document.querySelector(selector).select()", selector)
        keys = [{"type": kind, "value": key} for key in [*text, _ENTER] for kind in ("keyDown", "keyUp")]
        self._session.call("/actions", actions=[{"type": "key", "id": "keyboard", "actions": keys}])
