"""The page's requests, stored data and security policy protect privacy."""

import base64
from collections.abc import Callable
from urllib.parse import urlsplit

import pytest
from service.web.test_web_pages import SERVED
from tools.over import over

from .person import Person
from .test_page_games import GAMES
from .test_page_offline import prepared

pytestmark = pytest.mark.long

# Returns all stored data, as paths and texts.
_KEPT = """async () => {
  const found = [];
  for (const name of await caches.keys()) {
    const cache = await caches.open(name);
    for (const { url } of await cache.keys()) {
      const { body } = await cache.match(url);
      const plain = name === "chatiere kept" ? body.pipeThrough(new DecompressionStream("gzip")) : body;
      found.push([new URL(url).pathname, await new Response(plain).text()]);
    }
  }
  return found;
}"""
VIOLATIONS = {
    "a request to another origin": "fetch('https://example.org/').catch(() => undefined)",
    "a style of an attribute": "document.body.setAttribute('style', 'color: red')",
    "a script of an attribute": "document.body.setAttribute('onclick', 'alert(1)')",
    "a script from elsewhere": "document.body.append(Object.assign(document.createElement('script'), {src: 'https://example.org/'}))",
}


@over("game", GAMES)
def test_a_game_is_kept_only_in_local_storage(visit: Callable[..., Person], game: str) -> None:
    person = visit()
    page = person.page
    person.deal(game)
    person.await_turn()
    for _ in range(6):
        if not person.is_over:
            person.step()
    text = person.tables()[0]
    assert person.context.cookies() == []
    assert page.evaluate("sessionStorage.length") == 0
    assert page.evaluate("indexedDB.databases()") == []
    assert page.evaluate("caches.keys()") == []
    # Only the bodies of calls contain a table. The requested addresses do not.
    assert any(text in (request.post_data or "") for request in person.requests)
    for request in person.requests:
        assert person.table not in request.url
        assert not request.headers.get("referer")
        assert urlsplit(request.url).path.startswith("/chatiere.v1.") == (request.method == "POST")


def test_data_for_offline_use_contains_nothing_of_a_game(visit: Callable[..., Person]) -> None:
    """One worker keeps the page's files, and the responses that are the same for all users."""
    person = visit(keeps_page=True)
    prepared(person)
    person.deal("discat")
    person.await_turn()
    for _ in range(3):
        if not person.is_over:
            person.step()
    kept = person.evaluate(_KEPT)
    files = {path for path, _ in kept if not path.startswith("/kept/")}
    assert files == {f"/{name}" for name in SERVED if name != "sw.js" and not name.startswith("icon")}
    answers = {path.rpartition("/")[0] for path, _ in kept if path.startswith("/kept/")}
    services = {f"/kept/games-en/GameService/{method}" for method in ("ListGames", "Replay")}
    assert answers == {"/kept/games-en", *services}
    secrets = [base64.urlsafe_b64encode(secret).decode().rstrip("=") for secret in person.secrets()]
    for hidden in (*person.tables(), *secrets, person.table):
        assert [path for path, text in kept if hidden in text] == []
    assert person.evaluate("navigator.serviceWorker.getRegistrations().then(({ length }) => length)") == 1


@pytest.mark.parametrize("violation", VIOLATIONS)
def test_the_policy_prevents_the_page_from(visit: Callable[..., Person], violation: str) -> None:
    person = visit()
    person.open("")
    with person.context.expect_event("console", lambda message: message.text.startswith("policy: ")):
        person.page.evaluate(f"() => {{ {VIOLATIONS[violation]}; }}")
    # The violation has no further effect.
    person.page.close()
    person.errors.clear()
    person.requests.clear()
