"""A person who plays in any browser without knowing the rules."""

import json
from abc import ABC, abstractmethod
from typing import Any

# Runs in every document before the page's code.
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

# Finds the newest table once it is drawn.
NEWEST = ".stage[aria-busy=false]"
# Finds what a person can pick or push in their turn.
TURN = f"{NEWEST} .pickable, {NEWEST} ~ .bar .choices button[data-action]"
# A number of picks that no decision reaches.
_MOST_PICKS = 100
# Finds the message at the end of a game.
END = ".notice.end:not([hidden])"

# `pointOf` brings an element into view, and returns a point at which a click finds it. `settledPointOf` also requires
# that the point was there in the previous frame, since conditions are evaluated again in each frame. (A condition that
# is a promise is evaluated only once.)
_POINT = """const pointOf = (one) => {
  one.scrollIntoView({ block: "center", behavior: "instant" });
  const { x, y, width, height } = one.getBoundingClientRect();
  const grid = Array.from({ length: 64 }, (_, at) => [at % 8 + 0.5, (at >> 3) + 0.5]);
  for (const [across, down] of [[4, 4], ...grid]) {
    // The click of a tap is at whole pixels.
    const point = { x: Math.round(x + (width * across) / 8), y: Math.round(y + (height * down) / 8) };
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
# Chooses a thing that can be picked or pushed, and returns its point. Returns true if the game is over.
_CHOOSE = f"""(index) => {{
  if (document.querySelector("{END}")) return true;
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
# Returns the page's state. For each thing that can be picked or pushed, the state contains its place, and the thing
# that covers its middle.
STATE = f"""() => JSON.stringify({{
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

# These functions read the tables that the page has kept from the page's own store.
_NEWEST = "async (id) => (await import('./store.js')).tableOf(id).newest"
# A condition is evaluated again only if it is not a promise.
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
_TEXTS = "(selector) => [...document.querySelectorAll(selector)].map((one) => one.innerText)"

_IS_SHOWN = "(selector) => document.querySelector(selector)?.checkVisibility() ?? false"
_IS_HIDDEN = "(selector) => !document.querySelector(selector)?.checkVisibility()"
_IS_THERE = "(selector) => document.querySelector(selector) !== null"


def beginning(**settings: str | None) -> str:
    """Return the script that runs in every document before the page's code. It does not set settings of None."""
    chosen = {"pace": "none", "animation": "off", "language": "en", "theme": "light", **settings}
    given = {name: value for name, value in chosen.items() if value is not None}
    return _INIT.replace("SETTINGS", json.dumps(given))


class Player(ABC):
    """A person with the page in some browser. `function` arguments are JavaScript functions of one argument."""

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self._played = 0

    @abstractmethod
    def open(self, fragment: str) -> None:
        """Open a part of the page by its address."""

    @abstractmethod
    def evaluate(self, function: str, arg: Any = None) -> Any:
        """Call a function in the page. Return its result, or the value of the promise that it returns."""

    @abstractmethod
    def await_true(self, function: str, arg: Any = None) -> Any:
        """Call a function in each frame until its result is true. Return that result.

        After a time limit, raise an AssertionError that describes the page's state.
        """

    @abstractmethod
    def click_at(self, x: float, y: float) -> None:
        """Click a point of the visible part of the page."""

    @abstractmethod
    def write(self, selector: str, text: str) -> None:
        """Replace the text in the field that `selector` finds, and press Enter."""

    @abstractmethod
    def state(self) -> str:
        """Describe the visible page, and the browser's error messages."""

    def await_shown(self, selector: str) -> None:
        self.await_true(_IS_SHOWN, selector)

    def await_hidden(self, selector: str) -> None:
        self.await_true(_IS_HIDDEN, selector)

    def open_link(self, link: str) -> None:
        """Open a link sent by another person."""
        assert link.startswith(f"{self.origin}/#/")
        self.open(link.removeprefix(f"{self.origin}/#/"))

    def await_kept(self, condition: str, arg: Any = None) -> None:
        """Wait until a condition holds. It is a function of the page's own store and `arg`."""
        self.await_true(_KEPT.replace("CONDITION", condition), arg)

    @property
    def is_over(self) -> bool:
        return bool(self.evaluate(_IS_THERE, END))

    def await_turn(self) -> None:
        """Wait until there is a thing to pick, or the game is over."""
        self.await_true(_IS_THERE, f"{TURN}, {END}")

    def step(self) -> None:
        """Pick a thing, or push the button of a move; then wait until another thing can be picked."""
        self._choose_one()
        self.await_turn()

    def move(self) -> None:
        """Make a decision with all of its steps. Afterwards it can be the turn of any player."""
        ply = self.ply
        for _ in range(_MOST_PICKS):
            self._choose_one()
            self.await_true(_IS_THERE, NEWEST)
            if self.ply != ply:
                return
        raise AssertionError(f"{_MOST_PICKS} picks did not make a decision\n{self.state()}")

    @property
    def ply(self) -> int:
        """The ply of the newest table of the shown game."""
        newest: int = self.evaluate(_NEWEST, self.table)
        return newest

    @property
    def table(self) -> str:
        """The id of the shown table."""
        fragment: str = self.evaluate("() => location.hash")
        return fragment.rpartition("/")[2]

    def tables(self) -> list[str]:
        """Return the tables of the shown game at all plies that this browser has."""
        found: list[str] = self.evaluate(_TABLES, self.table)
        return found

    def texts(self, selector: str) -> list[str]:
        """Return the texts of all elements that `selector` finds."""
        found: list[str] = self.evaluate(_TEXTS, selector)
        return found

    def pick(self, selector: str) -> None:
        """Click the element that `selector` finds, at a point where a click reaches it."""
        point = self.await_true(_FIND_POINT, selector)
        self.click_at(point["x"], point["y"])

    def play_to_the_end(self) -> None:
        self.await_turn()
        while not self.is_over:
            self.step()

    def choose(self, number: int) -> None:
        """Set the number that determines the next choices."""
        self._played = number

    def _choose_one(self) -> None:
        """Pick a thing, or push the button of a move."""
        self._act()
        self._played += 1

    def _act(self) -> None:
        """Pick or push in the way that this player uses."""
        self.click()

    def _point(self) -> tuple[float, float]:
        """Return the point of a thing that can be picked or pushed."""
        found = self.await_true(_CHOOSE, self._played)
        assert found is not True, "the game is over"
        return found["x"], found["y"]

    def click(self) -> None:
        """Click a thing that can be picked or pushed."""
        self.click_at(*self._point())
