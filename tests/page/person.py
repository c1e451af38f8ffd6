"""Somebody with a browser, who plays by clicks, by taps or by the keyboard, and knows no rule of any game."""

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Literal, Self
from urllib.parse import urlsplit

from playwright.sync_api import Browser, ConsoleMessage, Error, Locator, Page, Request, Response, TimeoutError

Way = Literal["clicks", "keys", "taps"]
SIZES: dict[Way, tuple[int, int]] = {"clicks": (1280, 860), "keys": (1280, 860), "taps": (360, 740)}
# Milliseconds that Chromium has for anything.
PATIENCE = 90_000
# Milliseconds that it has to tell what a page shows on which something did not come in time.
_PATIENCE_TELLING = 5_000
ARROWS = ("ArrowRight", "ArrowLeft", "ArrowUp", "ArrowDown")
# More keys than it takes to reach anything on the page.
FAR = 400

# Runs in every document before the page does.
_INIT = """(() => {
  if (!location.protocol.startsWith("http")) return;
  for (const [name, value] of Object.entries(SETTINGS)) {
    if (localStorage.getItem(name) === null) localStorage.setItem(name, value);
  }
  window.clicked = 0;
  window.pointed = 0;
  addEventListener("click", () => window.clicked++, true);
  addEventListener("pointerdown", () => window.pointed++, true);
  addEventListener("securitypolicyviolation", (event) => console.error("policy: " + event.violatedDirective));
})()"""

# A table on the screen that is the newest.
NEWEST = ".stage[aria-busy=false]"
# The things that can be picked or pushed at somebody's turn.
TURN = f"{NEWEST} .pickable, {NEWEST} ~ .bar .choices button[data-action]"
# The end of a game, or a link to send.
_END = ".notice.end:not([hidden])"
_SHARE = f"{NEWEST} ~ .notice:not([hidden]) .share"

# Brings an element into view, and returns a point at which a click finds it; `settledPointOf`, if it was there a frame
# ago, too: what is waited for is asked again in each frame, unless it is a promise, which counts whatever comes of it.
_POINT = """const pointOf = (one) => {
  one.scrollIntoView({ block: "center", behavior: "instant" });
  const { x, y, width, height } = one.getBoundingClientRect();
  const grid = Array.from({ length: 64 }, (_, at) => [at % 8 + 0.5, (at >> 3) + 0.5]);
  for (const [across, down] of [[4, 4], ...grid]) {
    const point = { x: x + (width * across) / 8, y: y + (height * down) / 8 };
    const found = document.elementFromPoint(point.x, point.y);
    const { pick } = one.dataset;
    if (pick === undefined ? one.contains(found) : found?.closest(".item")?.dataset.pick === pick) return point;
  }
  return null;
};
const settledPointOf = (one) => {
  const [before, point] = [window.settling, pointOf(one)];
  const isSettled = point && before?.one === one && before.x === point.x && before.y === point.y;
  window.settling = isSettled ? undefined : { one, ...point };
  return isSettled ? point : null;
};"""
_FIND_POINT = f"""(selector) => {{
  {_POINT}
  const one = document.querySelector(selector);
  return one && settledPointOf(one);
}}"""
# Chooses one of what can be picked, and returns its point; true if the game is over.
_CHOOSE = f"""(index) => {{
  if (document.querySelector("{_END}")) return true;
  {_POINT}
  const find = (selector) => [...document.querySelectorAll(selector)];
  const [pickable, pushable] = {json.dumps(TURN.split(", "))}.map(find);
  const primary = pushable.filter((one) => one.matches(".primary"));
  const items = pickable.filter((one) => !one.matches(".picked"));
  const all = [...(items.length ? items : pickable), ...pushable];
  const start = (index * 101) % (all.length || 1);
  const wanted = index % 2 && primary.length ? primary : [...all.slice(start), ...all.slice(0, start)];
  for (const one of wanted) {{
    if (pointOf(one)) return settledPointOf(one);
  }}
  return null;
}}"""
# The page's state; of each thing that can be picked or pushed, its place, and the thing over its middle.
_STATE = f"""() => JSON.stringify({{
  url: location.href,
  scroll: [scrollX, scrollY, innerWidth, innerHeight],
  stage: document.querySelector(".stage")?.outerHTML.match(/^<[^>]*>/)[0],
  text: document.body.innerText.slice(0, 3000),
  choices: [...document.querySelectorAll({json.dumps(TURN)})].map((one) => {{
    const {{ x, y, width, height }} = one.getBoundingClientRect();
    const over = document.elementFromPoint(x + width / 2, y + height / 2);
    const tag = (each) => each?.outerHTML.match(/^<[^>]*>/)[0];
    return [tag(one), [x, y, width, height].map(Math.round), tag(over?.closest(".item") ?? over)];
  }}),
}})"""

# The tables that the page has kept, by its own store.
_NEWEST = "async (id) => (await import('./store.js')).tableOf(id).newest"
# Only what is no promise is asked again.
_KEPT = """(arg) => {
  if (window.store) return (CONDITION)(window.store, arg);
  import("./store.js").then((store) => (window.store = store));
  return false;
}"""
_TABLES = """async (id) => {
  const { tableOf, plyOf } = await import("./store.js");
  const all = Array.from({ length: tableOf(id).newest + 1 }, (_, ply) => plyOf(id, ply));
  return all.filter((text) => text !== undefined);
}"""
_SECRETS = """async () => {
  const { listTables, listInvitations } = await import("./store.js");
  const seats = listTables().map(({ seats }) => seats);
  return [...seats, ...listInvitations().map(({ secrets }) => secrets)].flatMap(Object.values);
}"""

_FOCUSED = "() => document.activeElement?.matches({0}) ?? false"


class Person:
    """A person's browser: its own local storage, settings and eyes.

    `storage`: what another one's browser had kept (`kept`). What must never happen in anybody's browser is found at the
    end: errors, violations of the page's policy, requests to other origins, refused calls that no test has expected
    (`may_be_refused`).
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
        **settings: str | None,
    ) -> None:
        self.origin = f"http://{address}"
        self.way = way
        chosen = {"pace": "none", "animation": "off", "language": language, "theme": theme, **settings}
        settings = {name: value for name, value in chosen.items() if value is not None}
        size = SIZES[way]
        self.context = chromium.new_context(
            viewport={"width": width or size[0], "height": size[1]},
            has_touch=way == "taps",
            storage_state=storage,
        )
        self.context.set_default_timeout(PATIENCE)
        self.context.add_init_script(_INIT.replace("SETTINGS", json.dumps(settings)))
        # The browser's messages and requests.
        self.errors: list[str] = []
        self.refused: list[Response] = []
        self.requests: list[Request] = []
        self.context.on("console", lambda message: self._note(message))
        self.context.on("weberror", lambda error: self.errors.append(str(error.error)))
        self.context.on("request", lambda request: self.requests.append(request))
        self.context.on("response", self._note_refusal)
        self.page = self.context.new_page()
        self._played = 0
        self.may_be_refused = False
        """True if a test expects calls to be refused."""

    def _note_refusal(self, response: Response) -> None:
        if response.status >= 400:
            self.refused.append(response)

    def _note(self, message: ConsoleMessage) -> None:
        # Refused calls are noted themselves.
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
        """Check that nothing has happened that never must."""
        assert self.errors == []
        # The page asks so whether the service has made a table that somebody sent.
        refused = [] if self.may_be_refused else [(each.url, each.text()) for each in self.refused]
        assert [each for each in refused if "NOT_ACKNOWLEDGED" not in each[1]] == []
        for request in self.requests:
            url = urlsplit(request.url)
            assert f"{url.scheme}://{url.netloc}" == self.origin or url.scheme == "blob", request.url
            assert url.query == ""

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Let what does not come in time raise an AssertionError that tells what the page shows instead."""
        try:
            yield
        except TimeoutError as error:
            raise AssertionError(f"{error.message}\n{self._state()}") from error

    def _state(self) -> str:
        try:
            told = self.page.wait_for_function(_STATE, timeout=_PATIENCE_TELLING).json_value()
        except Error as error:
            told = f"the page does not tell what it shows: {error.message}"
        pending = [each.url for each in self.requests if each.timing["responseEnd"] < 0 and not each.failure]
        refused = [f"{each.status} {each.url}" for each in self.refused]
        return f"page: {told}\npending requests: {pending}\nrefused: {refused}\nerrors: {self.errors}"

    def await_kept(self, condition: str, arg: Any = None, page: Page | None = None) -> None:
        """Wait until a condition holds of what the page has kept, by its own store: a function of the store and `arg`.

        `page`: another window of this browser.
        """
        with self.telling():
            (page or self.page).wait_for_function(_KEPT.replace("CONDITION", condition), arg=arg)

    def open(self, fragment: str) -> None:
        """Open a part of the page by its address."""
        url = f"{self.origin}/#/{fragment}"
        self.page.evaluate("document.querySelector('main')?.firstElementChild?.classList.add('before')")
        if self.page.url == url:
            self.page.reload()
        else:
            self.page.goto(url)
        self.page.wait_for_selector("main:not([aria-busy]) > :not(.before)")

    def open_link(self, link: str) -> None:
        """Open a link that somebody sent."""
        assert link.startswith(f"{self.origin}/#/")
        self.open(link.removeprefix(f"{self.origin}/#/"))

    def kept(self) -> Any:
        """Return all that this browser has kept, for another one."""
        return self.context.storage_state()

    def deal(self, game: str, *seats: str, trust: Literal["none", "next"] | None = None) -> None:
        """Begin a game with `seats`, values of their lists; without them the page's own choice for the fewest players.

        The value "" stands for that choice as well.
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
        """Return the seat as which the table is seen."""
        seats = self.page.locator(".scores .seat small").all_inner_texts()
        return next(seat for seat, text in enumerate(seats) if text in ("you", "vous"))

    @property
    def is_over(self) -> bool:
        return self.page.locator(_END).count() > 0

    @property
    def can_act(self) -> bool:
        return self.page.locator(TURN).count() > 0

    def await_turn(self) -> None:
        """Wait until there is something to pick, or the game is over."""
        with self.telling():
            self.page.wait_for_selector(f"{TURN}, {_END}", state="attached")

    def step(self) -> None:
        """Pick something, or push a button for a move, and wait until something else can be picked."""
        self._choose_one()
        self.await_turn()

    def move(self) -> None:
        """Make a decision, by as many steps as it takes; the turn is somebody else's then, or this person's again."""
        ply = self.ply
        while self.ply == ply:
            self._choose_one()
            with self.telling():
                self.page.wait_for_selector(NEWEST, state="attached")

    @property
    def ply(self) -> int:
        """The ply of the newest table of the game that is shown."""
        newest: int = self.page.evaluate(_NEWEST, self.table)
        return newest

    @property
    def table(self) -> str:
        """The id of the table that is shown."""
        return self.page.url.rpartition("/")[2]

    def tables(self) -> list[str]:
        """Return the tables of the game that is shown, of all plies that are here."""
        found: list[str] = self.page.evaluate(_TABLES, self.table)
        return found

    def settle(self) -> None:
        """Wait until it is this person's turn, or there is a link to send, or the game is over."""
        with self.telling():
            self.page.wait_for_selector(f"{TURN}, {_SHARE}, {_END}")

    @property
    def shared(self) -> str | None:
        """The link that the page asks to send, if it does."""
        field = self.page.locator(".notice:not([hidden]) .share input, .sheet .share input")
        return field.input_value() if field.count() else None

    def secrets(self) -> list[bytes]:
        """Return the secrets that this browser keeps, of seats and of invitations."""
        found = self.page.evaluate(_SECRETS)
        return [base64.urlsafe_b64decode(secret + "=" * (-len(secret) % 4)) for secret in found]

    def pick(self, selector: str) -> None:
        """Click or tap what `selector` finds, where a click finds it."""
        with self.telling():
            point = self.page.wait_for_function(_FIND_POINT, arg=selector).json_value()
        self.page.mouse.click(point["x"], point["y"])

    def play_to_the_end(self) -> None:
        self.await_turn()
        while not self.is_over:
            self.step()

    def choose(self, number: int) -> None:
        """Begin the choice of what to pick elsewhere."""
        self._played = number

    def _choose_one(self) -> None:
        """Pick something, or push a button for a move."""
        {"clicks": self.click, "taps": self._tap, "keys": self._press}[self.way]()
        self._played += 1

    def _point(self) -> tuple[float, float]:
        """Return the point of something that can be picked or pushed."""
        with self.telling():
            found = self.page.wait_for_function(_CHOOSE, arg=self._played).json_value()
        assert found is not True, "the game is over"
        return found["x"], found["y"]

    def click(self) -> None:
        """Click something that can be picked or pushed."""
        self.page.mouse.click(*self._point())

    def _tap(self) -> None:
        point = self._point()
        clicked = self.page.evaluate("window.clicked")
        self.page.touchscreen.tap(*point)
        # The browser makes a click of it after a while.
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
        """Press Tab until the focus is on one of `selector`; return it."""
        for _ in range(FAR):
            if self.page.evaluate(_FOCUSED.format(json.dumps(selector))):
                return self.page.locator(":focus")
            self.page.keyboard.press("Tab")
        raise AssertionError(f"the focus does not come to {selector}")
