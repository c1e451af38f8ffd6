"""The page in Chromium: the time until a table is first drawn, and from the response to a move until it is drawn."""

import shutil
import statistics
from importlib.util import find_spec
from typing import Any

from chatiere.engine import Game
from loadtest.bench.bounds import bound_of
from loadtest.bench.measure import BenchPlan, Result, Row
from loadtest.bench.servers import chatiere, web_door_built

# The maximum times that people should wait for the first drawing of a table and for the drawing of a move, in
# milliseconds.
TABLE, MOVE = 1000.0, 100.0
# The maximum number of moves per round whose drawings are timed.
MOVES = 40
# The timeout of all operations in Chromium, in milliseconds.
_PATIENCE = 60_000

# A script that records the times at which drawings reached the screen, in milliseconds since the navigation.
_NOTE = """(() => {
  if (!location.protocol.startsWith("http")) return;
  localStorage.setItem("pace", "none");
  performance.setResourceTimingBufferSize(10000);
  window.drawn = [];
  new MutationObserver((records) => {
    const isDrawn = records.some(({ target }) => target instanceof Element
      && (target.closest(".stage, .bar") || target.matches("main")));
    if (isDrawn && document.querySelector(".stage .item")) {
      requestAnimationFrame(() => setTimeout(() => window.drawn.push(performance.now())));
    }
  }).observe(document, { childList: true, subtree: true });
})()"""

# A function that makes moves from the list of all moves, one after another, and returns the time between each response
# of Move and the drawing of the move.
_PLAY = """async (moves) => {
  const calls = () =>
    performance.getEntriesByType("resource").filter(({ name }) => name.endsWith("TableService/Move"));
  const next = () => new Promise((resolve) => setTimeout(resolve, 5));
  for (let made = 0; calls().length < moves && !document.querySelector(".notice.end"); made++) {
    const list = document.querySelector(".all-actions:not([hidden])");
    if (list) list.open = true;
    await next();
    const buttons = document.querySelectorAll(".all-actions:not([hidden])[open] li button");
    if (buttons.length) {
      const before = calls().length;
      buttons[(made * 7) % buttons.length].click();
      while (calls().length === before) await next();
    }
  }
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 50)));
  return calls().flatMap(({ responseEnd }) => {
    const drawn = window.drawn.find((time) => time >= responseEnd);
    return drawn === undefined ? [] : [drawn - responseEnd];
  });
}"""


def measure(plan: BenchPlan) -> Result:
    """Measure both times for each game, in browsers with an empty cache."""
    chromium = shutil.which("chromium")
    if chromium is None or find_spec("playwright") is None or not web_door_built():
        needed = "Chromium, Playwright and the packages of chatiere[web]"
        return Result(tables={f"The page: not measured without {needed}": []})
    from playwright.sync_api import sync_playwright

    result = Result()
    with (
        chatiere() as server,
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=chromium) as browser,
    ):
        for game, players in plan.games.items():
            tables, moves = _times(browser, f"http://{server.web_address}", game, players, plan.rounds)
            for row, bound, times, most in (
                ("page, first drawing of a table", "page_table", tables, TABLE),
                ("page, drawing of a move", "page_move", moves, MOVE),
            ):
                result.rows.append(
                    Row(
                        row=row,
                        game=game.name,
                        unit="ms",
                        ours=statistics.median(times),
                        peer=most,
                        bound=bound_of(bound).bound,
                        peer_name="what people are to wait at most",
                        at_most=True,
                    )
                )
    return result


def _times(browser: Any, origin: str, game: Game, players: int, rounds: int) -> tuple[list[float], list[float]]:
    # Return the milliseconds until each round's table was drawn, and until each of the round's moves was drawn.
    tables: list[float] = []
    moves: list[float] = []
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{origin}/#/new/{game.name}")
        page.locator("[name=players]").select_option(str(players))
        page.locator(".new-game button.primary").click()
        page.wait_for_url("**/#/play/*")
        kept, url = context.storage_state(), page.url
    for _ in range(rounds):
        with browser.new_context(storage_state=kept) as context:
            context.set_default_timeout(_PATIENCE)
            context.add_init_script(_NOTE)
            page = context.new_page()
            page.goto(url)
            page.wait_for_function("() => window.drawn.length > 0")
            tables.append(page.evaluate("window.drawn[0]"))
            moves += page.evaluate(_PLAY, MOVES)
    return tables, moves
