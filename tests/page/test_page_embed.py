"""A record in a frame of another page: permission, size and use."""

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FrameLocator, Response, expect
from service.process import served
from tools.over import over

from .person import Person
from .test_page_axe import RUN, SERIOUS, axe  # noqa: F401
from .test_page_games import GAMES, SOME
from .test_page_words import words_of

pytestmark = pytest.mark.long

# The maximum number of bytes that are sent before a record is shown.
MAX_SENT = 60_000
WORD = """async (game) => {
  const { recordWord } = await import("./record_word.js");
  const { readRecord } = await import("./shared/records.js");
  return recordWord(readRecord(await (await fetch(`samples/${game}.chatiere`)).text()));
}"""
# Every run tests the game with the largest files. `make page` tests all games.
HEAVIEST_FIRST = [
    pytest.param(game, marks=() if game == "chat_cartonne" else pytest.mark.whole_page)
    for game in sorted(GAMES, key=lambda game: game != "chat_cartonne")
]
PICTURE = "main svg[role=img]"
PLY = 20


class Outer(ThreadingHTTPServer):
    """A server with another origin. Its only page has a frame."""

    html = ""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), OuterPage)
        self.origin = f"http://127.0.0.1:{self.server_port}"


class OuterPage(BaseHTTPRequestHandler):
    server: Outer

    def do_GET(self) -> None:
        body = self.server.html.encode()
        self.send_response(200)
        self.send_header("content-type", "text/html; charset=utf-8")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Disable the log."""


@pytest.fixture(scope="module")
def outer() -> Iterator[Outer]:
    with Outer() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def word_of(person: Person, game: str) -> str:
    """Return the record that is in the link to a sample."""
    person.page.goto(f"{person.origin}/missing")
    word: str = person.evaluate(WORD, game)
    person.refused.clear()
    return word


def open_frame(person: Person, outer: Outer) -> FrameLocator:
    """Open the page with a record of Discat in its frame."""
    address = f"{person.origin}/embed.html#/{word_of(person, 'discat')}/{PLY}"
    outer.html = f"<!doctype html><title>Outer</title><iframe src='{address}' width=640 height=520></iframe>"
    person.page.goto(f"{outer.origin}/")
    return person.page.frame_locator("iframe")


def test_a_named_page_shows_a_record(chromium: Browser, outer: Outer) -> None:
    with (
        served("--web-frame-ancestors", outer.origin, door="web") as server,
        Person(chromium, server.address) as person,
    ):
        frame = open_frame(person, outer)
        expect(frame.locator(PICTURE)).to_be_visible()
        output = frame.locator("output")
        expect(output).to_have_text(f"{PLY} of 42")
        frame.get_by_role("button", name="One move forward").click()
        expect(output).to_have_text(f"{PLY + 1} of 42")
        frame.get_by_role("slider").focus()
        person.page.keyboard.press("End")
        expect(output).to_have_text("42 of 42")
        expect(frame.locator(".told")).to_contain_text("Score: ")
        link = frame.get_by_role("link")
        assert (link.get_attribute("href") or "").endswith("/42")
        person.requests = [each for each in person.requests if not each.url.startswith(outer.origin)]
        # Browsers also request an icon.
        person.refused.clear()


def test_other_pages_do_not_show_a_record(visit: Callable[..., Person], outer: Outer) -> None:
    person = visit()
    with person.context.expect_event("console", lambda message: "frame-ancestors 'none'" in message.text):
        open_frame(person, outer)
    person.errors.clear()
    person.requests.clear()
    person.refused.clear()


@over("game", HEAVIEST_FIRST)
def test_an_embedded_record_is_small(visit: Callable[..., Person], game: str) -> None:
    person = visit()
    page = person.page
    word = word_of(person, game)
    answers: list[Response] = []
    person.context.on("response", lambda response: answers.append(response))
    # Load all files again, even cached ones.
    page.context.new_cdp_session(page).send("Network.setCacheDisabled", {"cacheDisabled": True})
    page.goto(f"{person.origin}/embed.html#/{word}/{PLY}/fr")
    page.wait_for_selector(PICTURE)
    sent = {answer.url: answer.request.sizes()["responseBodySize"] for answer in answers}
    assert len(sent) > 20
    assert sum(sent.values()) <= MAX_SENT, sent
    # Frames in other pages may have no storage, so the page does not load these files.
    assert not [url for url in sent if url.endswith(("/settings.js", "/store.js"))]


@over("game", SOME)
def test_an_embedded_record_is_narrow_and_accessible(visit: Callable[..., Person], axe: str, game: str) -> None:  # noqa: F811
    person = visit(width=320)
    page = person.page
    page.goto(f"{person.origin}/embed.html#/{word_of(person, game)}/{PLY}/fr")
    page.wait_for_selector(PICTURE)
    assert page.evaluate("document.documentElement.lang") == "fr"
    expect(page.locator("output")).to_contain_text(f"{PLY} sur ")
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    page.evaluate(axe)
    found = page.evaluate(RUN)
    assert [each["id"] for each in found["violations"] if each["impact"] in SERIOUS] == []


def test_an_invalid_record_is_reported(visit: Callable[..., Person]) -> None:
    person = visit()
    for word in ("", "discat", "~AAAA"):
        person.page.goto("about:blank")
        person.page.goto(f"{person.origin}/embed.html#/{word}")
        expect(person.page.get_by_role("alert")).to_have_text("The record can't be shown: there is none in the address")


def test_both_languages_have_the_same_texts() -> None:
    words = words_of("embed")
    assert words["en"].keys() == words["fr"].keys()
    source = (Path(__file__).parents[2] / "web/embed/embed.js").read_text()
    assert [key for key in words["en"] if f't("{key}"' not in source] == []
