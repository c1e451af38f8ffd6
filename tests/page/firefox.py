"""A person with Firefox who plays by clicks, through WebDriver BiDi (https://w3c.github.io/webdriver-bidi/)."""

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from service.process import wait_until
from tools.patience import PATIENCE
from websocket import WebSocketTimeoutException, create_connection

from .person import SIZES
from .player import STATE, Player, beginning

_PATH = shutil.which("firefox-esr") or shutil.which("firefox")

# With these settings Firefox resolves only addresses of this machine, and sends no requests to other machines.
_PREFERENCES = """user_pref("network.dns.disabled", true);
user_pref("network.proxy.type", 0);
"""
_ENTER = "\ue007"

# Values are passed as JSON.
_CALL = "async (arg) => JSON.stringify(await (FUNCTION)(JSON.parse(arg)))"
_AWAIT = """async (arg) => {
  for (;;) {
    const found = (FUNCTION)(JSON.parse(arg));
    if (found) return JSON.stringify(found);
    await new Promise(requestAnimationFrame);
  }
}"""
_FOCUS = """(selector) => {
  const field = document.querySelector(selector);
  field?.select();
  return field !== null && document.activeElement === field;
}"""
_OPENED = "() => document.querySelector('main:not([aria-busy]) > *') !== null"


class Session:
    """A session of WebDriver BiDi with the browser that listens at a URL."""

    def __init__(self, url: str) -> None:
        # Firefox accepts no connections from other origins.
        self._socket = create_connection(f"{url}/session", timeout=PATIENCE, suppress_origin=True)
        self._calls = 0
        self.events: list[dict[str, Any]] = []
        """The events that arrived before the latest response."""
        self.call("session.new", capabilities={})

    def call(self, method: str, **params: Any) -> Any:
        """Return the result of a command. Raise an AssertionError if it fails, or does not end in time."""
        self._calls += 1
        self._socket.send(json.dumps({"id": self._calls, "method": method, "params": params}))
        try:
            while (message := json.loads(self._socket.recv())).get("id") != self._calls:
                self.events.append(message)
        except WebSocketTimeoutException:
            raise AssertionError(f"{method} does not end") from None
        assert message["type"] == "success", f"{method}: {message}"
        return message["result"]

    def close(self) -> None:
        self._socket.close()


@contextmanager
def firefox(folder: Path) -> Iterator[Session]:
    """Run Firefox. It keeps all its data in an empty folder."""
    assert _PATH is not None
    (folder / "user.js").write_text(_PREFERENCES)
    log = folder / "log"
    command = (_PATH, "--headless", "--profile", str(folder), "--remote-debugging-port", "0")
    environment = os.environ | {"HOME": str(folder)}
    with log.open("w") as written:
        process = subprocess.Popen(command, stdout=written, stderr=written, env=environment, start_new_session=True)

    def url() -> str | None:
        found = re.search(r"WebDriver BiDi listening on (ws://\S+)\n", log.read_text())
        assert process.poll() is None, f"Firefox has ended:\n{log.read_text()}"
        return found and found[1]

    try:
        with closing(Session(wait_until(url, "Firefox listens"))) as session:
            yield session
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


class FirefoxPlayer(Player):
    """A person who uses Firefox."""

    def __init__(self, session: Session, address: str) -> None:
        super().__init__(f"http://{address}")
        self._session = session
        session.call("session.subscribe", events=["log.entryAdded"])
        session.call("script.addPreloadScript", functionDeclaration=f"() => {{ {beginning()} }}")
        self._context = session.call("browsingContext.getTree")["contexts"][0]["context"]
        width, height = SIZES["clicks"]
        session.call("browsingContext.setViewport", context=self._context, viewport={"width": width, "height": height})

    def errors(self) -> list[str]:
        """Return the errors in the console, where the page reports violations of its policy."""
        # All earlier events arrive before the response to this call.
        self.evaluate("() => true")
        entries = [event["params"] for event in self._session.events if event.get("method") == "log.entryAdded"]
        return [entry["text"] for entry in entries if entry["level"] == "error"]

    def open(self, fragment: str) -> None:
        url = f"{self.origin}/#/{fragment}"
        self._session.call("browsingContext.navigate", context=self._context, url=url, wait="complete")
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
            return f"page: {self.evaluate(STATE)}\nerrors: {self.errors()}"
        except AssertionError as error:
            return f"the page does not tell what it shows: {error}"

    def _call(self, caller: str, function: str, arg: Any) -> Any:
        told = self._session.call(
            "script.callFunction",
            functionDeclaration=caller.replace("FUNCTION", function),
            arguments=[{"type": "string", "value": json.dumps(arg)}],
            awaitPromise=True,
            target={"context": self._context},
        )
        assert told["type"] == "success", told["exceptionDetails"]["text"]
        value = told["result"].get("value")
        return None if value is None else json.loads(value)

    def click_at(self, x: float, y: float) -> None:
        moves = [{"type": "pointerMove", "x": x, "y": y}]
        presses = [{"type": kind, "button": 0} for kind in ("pointerDown", "pointerUp")]
        self._perform({"type": "pointer", "id": "mouse", "actions": moves + presses})

    def write(self, selector: str, text: str) -> None:
        self.await_true(_FOCUS, selector)
        keys = [{"type": kind, "value": key} for key in [*text, _ENTER] for kind in ("keyDown", "keyUp")]
        self._perform({"type": "key", "id": "keyboard", "actions": keys})

    def _perform(self, actions: dict[str, Any]) -> None:
        self._session.call("input.performActions", context=self._context, actions=[actions])
