"""A person with Chromium who plays by clicks, by taps or by the keyboard."""

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Literal, Self
from urllib.parse import urlsplit

from playwright.sync_api import Browser, ConsoleMessage, Error, Locator, Request, Response, TimeoutError, expect

from .player import END, NEWEST, STATE, TURN, Player, beginning

Way = Literal["clicks", "keys", "taps"]
SIZES: dict[Way, tuple[int, int]] = {"clicks": (1280, 860), "keys": (1280, 860), "taps": (360, 740)}
# The time limit in milliseconds of any step in Chromium.
PATIENCE = 90_000
expect.set_options(timeout=PATIENCE)
# The time limit in milliseconds for reading the state of a page on which a step timed out.
_PATIENCE_TELLING = 5_000
ARROWS = ("ArrowRight", "ArrowLeft", "ArrowUp", "ArrowDown")
# A number of key presses that is sufficient to reach any element of the page.
FAR = 400

# Finds the field with a link to send.
_SHARE = f"{NEWEST} ~ .notice:not([hidden]) .share"
_SECRETS = """async () => {
  const { listTables, listInvitations } = await import("./store.js");
  const seats = listTables().map(({ seats }) => seats);
  return [...seats, ...listInvitations().map(({ secrets }) => secrets)].flatMap(Object.values);
}"""

_FOCUSED = "() => document.activeElement?.matches({0}) ?? false"


class Person(Player):
    """A person's browser, with its own local storage and settings.

    `storage` is another browser's data (`kept`). With `keeps_page` the browser loads all files of the page, and stores
    them for offline use. At the end, the test fails if there were errors, violations of the page's policy, requests to
    other origins, or refused calls (unless these are expected: `may_be_refused`).
    """

    def __init__(
        self,
        chromium: Browser,
        address: str,
        *,
        way: Way = "clicks",
        width: int | None = None,
        language: str = "en",
        theme: Literal["light", "dark"] = "light",
        storage: Any = None,
        keeps_page: bool = False,
        **settings: str | None,
    ) -> None:
        super().__init__(f"http://{address}")
        self.way = way
        size = SIZES[way]
        self.context = chromium.new_context(
            viewport={"width": width or size[0], "height": size[1]},
            has_touch=way == "taps",
            storage_state=storage,
            service_workers="allow" if keeps_page else "block",
        )
        self.context.set_default_timeout(PATIENCE)
        self.context.add_init_script(beginning(language=language, theme=theme, **settings))
        # The browser's messages and requests.
        self.errors: list[str] = []
        self.refused: list[Response] = []
        self.requests: list[Request] = []
        self.context.on("console", lambda message: self._note(message))
        self.context.on("weberror", lambda error: self.errors.append(str(error.error)))
        self.context.on("request", lambda request: self.requests.append(request))
        self.context.on("response", self._note_refusal)
        self.page = self.context.new_page()
        self.may_be_refused = False
        """True while a test expects calls to be refused."""

    def _note_refusal(self, response: Response) -> None:
        if response.status >= 400:
            self.refused.append(response)

    def _note(self, message: ConsoleMessage) -> None:
        # Refused calls are recorded separately.
        if message.type == "error" and not message.text.startswith("Failed to load resource"):
            self.errors.append(message.text)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        try:
            if kind is None:
                self.check()
        finally:
            self.context.close()

    def check(self) -> None:
        """Check that there were no errors, no unexpected refusals, and no requests to other origins."""
        assert self.errors == []
        # The page makes these calls to check whether the service made a received table.
        refused = [] if self.may_be_refused else [(each.url, each.text()) for each in self.refused]
        assert [each for each in refused if "NOT_ACKNOWLEDGED" not in each[1]] == []
        for request in self.requests:
            url = urlsplit(request.url)
            assert f"{url.scheme}://{url.netloc}" == self.origin or url.scheme == "blob", request.url
            assert url.query == ""

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Turn a timeout into an AssertionError that describes the page's state."""
        try:
            yield
        except TimeoutError as error:
            raise AssertionError(f"{error.message}\n{self.state()}") from error

    def state(self) -> str:
        try:
            told = self.page.wait_for_function(STATE, timeout=_PATIENCE_TELLING).json_value()
        except Error as error:
            told = f"the page does not tell what it shows: {error.message}"
        pending = [each.url for each in self.requests if each.timing["responseEnd"] < 0 and not each.failure]
        refused = [f"{each.status} {each.url}" for each in self.refused]
        return f"page: {told}\npending requests: {pending}\nrefused: {refused}\nerrors: {self.errors}"

    def evaluate(self, function: str, arg: Any = None) -> Any:
        return self.page.evaluate(function, arg)

    def await_true(self, function: str, arg: Any = None) -> Any:
        with self.telling():
            return self.page.wait_for_function(function, arg=arg).json_value()

    def click_at(self, x: float, y: float) -> None:
        self.page.mouse.click(x, y)

    def write(self, selector: str, text: str) -> None:
        field = self.page.locator(selector)
        with self.telling():
            field.fill(text)
            field.press("Enter")

    def open(self, fragment: str) -> None:
        url = f"{self.origin}/#/{fragment}"
        self.page.evaluate("document.querySelector('main')?.firstElementChild?.classList.add('before')")
        if self.page.url == url:
            self.page.reload()
        else:
            self.page.goto(url)
        self.page.locator("main:not([aria-busy]) > :not(.before)").first.wait_for()

    def kept(self) -> Any:
        """Return all data of this browser, so that another browser can start with it."""
        return self.context.storage_state()

    def deal(self, game: str, *seats: str, trust: Literal["none", "next"] | None = None) -> None:
        """Begin a game. `seats` are the values to choose in the seats' lists. The value "" stands for the default.

        Without `seats`, the game has the default for the fewest players.
        """
        self.open(f"new/{game}")
        if seats:
            self.page.locator("[name=players]").select_option(str(len(seats)))
            for seat, value in enumerate(seats):
                if value:
                    self.page.locator(f"[name=seat-{seat}]").select_option(value)
        if trust:
            self.page.locator(f"[name=trust][value={trust}]").check()
        self.page.locator(".new-game button.primary").click()

    def looking_seat(self) -> int:
        """Return the seat from which the person sees the table."""
        seats = self.page.locator(".scores .seat small").all_inner_texts()
        return next(seat for seat, text in enumerate(seats) if text in ("you", "vous"))

    @property
    def can_act(self) -> bool:
        return self.page.locator(TURN).count() > 0

    def settle(self) -> None:
        """Wait until it is this person's turn, there is a link to send, or the game is over."""
        with self.telling():
            self.page.locator(f"{TURN}, {_SHARE}, {END}").first.wait_for()

    @property
    def shared(self) -> str | None:
        """The link that the page asks the person to send, if any."""
        field = self.page.locator(".notice:not([hidden]) .share input, .sheet .share input")
        return field.input_value() if field.count() else None

    def secrets(self) -> list[bytes]:
        """Return the secrets of seats and invitations that this browser keeps."""
        found = self.page.evaluate(_SECRETS)
        return [base64.urlsafe_b64decode(secret + "=" * (-len(secret) % 4)) for secret in found]

    def _act(self) -> None:
        {"clicks": self.click, "taps": self.tap, "keys": self._press}[self.way]()

    def tap(self) -> None:
        """Tap a thing that can be picked or pushed."""
        point = self._point()
        clicked = self.page.evaluate("window.clicked")
        self.page.touchscreen.tap(*point)
        # The browser turns the tap into a click with a delay.
        with self.telling():
            self.page.wait_for_function("(before) => window.clicked > before", arg=clicked)

    def _press(self) -> None:
        is_complete = self.page.locator(".bar .choices button.primary").count() > 0
        if is_complete and self._played % 2:
            self.tab_to(".bar .choices button.primary")
        else:
            for number in range(self._played % 3):
                self.page.keyboard.press(ARROWS[(self._played + number) % len(ARROWS)])
            self.tab_to(".stage .pickable:not(.picked), .bar .choices button[data-action]")
        self.page.keyboard.press("Enter")

    def tab_to(self, selector: str) -> Locator:
        """Press Tab until the focus is on an element that `selector` finds. Return the element."""
        for _ in range(FAR):
            if self.page.evaluate(_FOCUSED.format(json.dumps(selector))):
                return self.page.locator(":focus")
            self.page.keyboard.press("Tab")
        raise AssertionError(f"the focus does not reach {selector}")
