"""The page's privacy: requests, what it stores, and the policy that holds for it."""

from collections.abc import Callable
from urllib.parse import urlsplit

import pytest

from .person import Person
from .test_page_games import GAMES

VIOLATIONS = {
    "a request to another origin": "fetch('https://example.org/').catch(() => undefined)",
    "a style of an attribute": "document.body.setAttribute('style', 'color: red')",
    "a script of an attribute": "document.body.setAttribute('onclick', 'alert(1)')",
    "a script from elsewhere": "document.body.append(Object.assign(document.createElement('script'), {src: 'https://example.org/'}))",
    "an error": "setTimeout(() => { throw new Error('made by the test'); })",
}


@pytest.mark.parametrize("game", GAMES)
def test_all_is_kept_in_local_storage_alone(visit: Callable[..., Person], game: str) -> None:
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
    assert page.evaluate("navigator.serviceWorker.getRegistrations().then(({ length }) => length)") == 0
    # The address that is asked for never names the table; only bodies of calls hold it.
    assert any(text in (request.post_data or "") for request in person.requests)
    for request in person.requests:
        assert person.table not in request.url
        assert not request.headers.get("referer")
        assert urlsplit(request.url).path.startswith("/chatiere.v1.") == (request.method == "POST")


@pytest.mark.parametrize("violation", VIOLATIONS)
def test_what_must_not_happen_would_be_noticed(visit: Callable[..., Person], violation: str) -> None:
    person = visit()
    person.open("")
    kind = "weberror" if violation == "an error" else "console"
    with person.context.expect_event(kind, lambda _: person.errors != []):
        person.page.evaluate(f"() => {{ {VIOLATIONS[violation]}; }}")
    # Nothing more comes of it.
    person.page.close()
    person.errors.clear()
    person.requests.clear()


def test_other_pages_cannot_frame_it(visit: Callable[..., Person]) -> None:
    person = visit()
    person.open("")
    answer = person.context.request.get(person.origin)
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["referrer-policy"] == "no-referrer"
