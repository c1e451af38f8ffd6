"""Features of a table besides moves: hints, undo, bots to watch, and the reason why a move is illegal."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect
from tools.over import over

from .person import Person
from .player import NEWEST, TURN
from .test_page_games import GAMES

pytestmark = pytest.mark.long

# Finds a card that can be tried but not played.
WRONG = ".stage:not(:has(.picked)) .item[aria-disabled=true][data-pick^='card:']"
DEALS = 12
# Returns a legal action by its dense id.
_ACTION = """async ([id, wanted]) => {
  const { legalActions } = await (await import("./session.js")).Session.open(id).look(0);
  return legalActions.find((each) => each.id === wanted);
}"""
# Clicks all elements that a selector finds, and returns their number.
_CLICK_ALL = """(selector) => {
  const found = [...document.querySelectorAll(selector)];
  for (const one of found) one.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  return found.length;
}"""


@over("game", GAMES)
def test_a_hint_can_be_played(visit: Callable[..., Person], game: str) -> None:
    person = visit()
    page = person.page
    person.deal(game)
    person.await_turn()
    ply = person.ply
    page.locator("[data-tool=hint]").click()
    page.wait_for_selector(".hinted")
    wanted = page.locator(".prompt").inner_text().removeprefix("Hint: ")
    keys = set(page.locator(".stage .hinted").evaluate_all("(found) => found.map(({ dataset }) => dataset.pick)"))
    while person.ply == ply:
        named = page.locator(".bar .choices button[data-action]").get_by_text(wanted, exact=True)
        if named.count():
            named.click()
        else:
            left = [key for key in keys if page.locator(f'.pickable[data-pick="{key}"]:not(.picked)').count()]
            assert left, f"{wanted}: the hint points at a thing that cannot be picked"
            person.pick(f'.pickable[data-pick="{left[0]}"]:not(.picked)')
        page.wait_for_selector(NEWEST, state="attached")


def test_a_hint_points_at_a_button_too(visit: Callable[..., Person]) -> None:
    person = visit()
    page = person.page
    person.deal("momistigri")
    person.await_turn()
    passing = page.locator(".bar .choices button[data-action]").get_by_text("Pass", exact=True)
    action = page.evaluate(_ACTION, [person.table, int(passing.get_attribute("data-action") or "")])
    page.route(
        "**/chatiere.v1.TableService/SuggestMove", lambda route: route.fulfill(json={"suggestion": {"action": action}})
    )
    page.locator("[data-tool=hint]").click()
    expect(page.locator(".prompt")).to_have_text("Hint: Pass")
    expect(passing).to_have_class("hinted")
    expect(page.locator(".stage .hinted")).to_have_count(0)


def test_a_decision_can_be_taken_back(visit: Callable[..., Person]) -> None:
    person = visit()
    page = person.page
    person.deal("discat")
    person.await_turn()
    ply, hand = person.ply, labels(person)
    assert not page.locator("[data-tool=undo]").is_visible() or ply > 0
    person.move()
    person.await_turn()
    assert labels(person) != hand
    page.locator("[data-tool=undo]").click()
    person.await_turn()
    assert person.ply == ply
    assert labels(person) == hand
    person.move()
    assert person.ply > ply


def test_a_table_that_is_taken_back_cannot_be_played(visit: Callable[..., Person]) -> None:
    person = visit()
    page = person.page
    person.deal("discat")
    person.await_turn()
    ply = person.ply
    person.move()
    person.await_turn()
    page.route("**/chatiere.v1.TableService/Look", lambda route: None)
    page.locator("[data-tool=undo]").click()
    assert person.ply == ply
    # The old table is shown until the new table arrives.
    assert page.evaluate(_CLICK_ALL, ".stage .pickable, .bar .choices button") > 0
    assert page.locator(".picked").count() == 0
    # The held responses are released.
    page.unroute_all()
    person.await_turn()
    assert person.ply == ply
    person.move()
    assert person.ply > ply


def labels(person: Person) -> list[str]:
    found: list[str] = person.page.locator(".stage .item[aria-label]").evaluate_all(
        "(found) => found.map((each) => each.getAttribute('aria-label'))"
    )
    return found


def test_undo_is_not_offered_where_other_people_play(visit: Callable[..., Person]) -> None:
    host = visit()
    host.deal("discat", "me", "link", trust="next")
    host.page.wait_for_selector(".invitation")
    guest = visit()
    assert host.shared is not None
    guest.open_link(host.shared)
    guest.page.locator(".invitation button.primary").click()
    guest.page.wait_for_selector(".invitation .share")
    assert guest.shared is not None
    host.open_link(guest.shared)
    host.page.locator(".invitation > button.primary").click()
    actor, other = host, guest
    for _ in range(4):
        actor.settle()
        if actor.can_act:
            actor.move()
            actor.settle()
        assert not actor.page.locator("[data-tool=undo]").is_visible()
        assert actor.shared is not None
        actor, other = other, actor
        actor.open_link(other.shared or "")


def test_bots_can_be_watched_and_stopped(visit: Callable[..., Person]) -> None:
    person = visit(pace="brisk")
    page = person.page
    person.open("new/chat_perche")
    bots = page.locator("[name=seat-0] optgroup").nth(1).locator("option")
    bot = bots.first.get_attribute("value") or ""
    person.deal("chat_perche", bot, bot)
    pause = page.locator("[data-tool=pause]")
    pause.click()
    assert pause.inner_text() == "Continue"
    # A move that was already sent still takes effect.
    page.wait_for_selector(NEWEST)
    plies = []
    for _ in range(3):
        # The page has as much time here as the service needs for several moves.
        page.evaluate(
            "async (id) => { const session = (await import('./session.js')).Session.open(id);"
            " for (let each = 0; each < 50; each++) await session.look(undefined); }",
            person.table,
        )
        plies.append(person.ply)
    assert plies[1] == plies[2]
    page.evaluate("localStorage.setItem('pace', 'none')")
    pause.click()
    page.wait_for_selector(".notice.end")
    assert person.ply > plies[2]
    assert not page.locator(TURN).count()


@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("game", ["chatpentiers", "discat"])
def test_the_reason_why_a_move_is_illegal(visit: Callable[..., Person], game: str, language: str) -> None:
    """The reason comes from the service, in the player's language."""
    person = visit(language=language)
    for _ in range(DEALS):
        person.deal(game)
        person.await_turn()
        while not person.is_over:
            if person.page.locator(WRONG).count():
                ply = person.ply
                with person.page.expect_response("**/chatiere.v1.TableService/Move") as answer:
                    person.pick(WRONG)
                details = [each["debug"] for each in answer.value.json()["details"]]
                (details_in_language,) = [each for each in details if "locale" in each]
                assert details_in_language["locale"] == language
                text = details_in_language["message"]
                expect(person.page.locator(".bar .refusal")).to_have_text(f"{text[0].upper()}{text[1:]}.")
                assert any(each.get("reason") == "ILLEGAL_ACTION" for each in details)
                person.refused.clear()
                # The illegal move has not changed the game.
                assert person.ply == ply
                person.step()
                expect(person.page.locator(".bar .refusal")).to_be_hidden()
                return
            person.step()
    raise AssertionError("no move was illegal")
