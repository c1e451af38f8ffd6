"""Both languages have the same keys. The page uses all keys, and shows no text of the other language."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from tools.french import misplaced
from tools.over import over

from chatiere import engine
from chatiere.service.base.scripts import words_in

from .person import Person
from .test_page_games import GAMES, SOME

pytestmark = pytest.mark.long

WEB = Path(__file__).parents[2] / "web"
# Typical times of a decision. The page shows a bot's move for 1.1 seconds.
SECONDS_OF_A_PERSON, SECONDS_OF_A_BOT = 10, 2
FILES = {path: path.read_text() for path in WEB.rglob("*.js")}
# A game's own texts are used in its own files, and the page's texts in all other files.
OWN = {game: "".join(text for path, text in FILES.items() if path.parent.name == game) for game in GAMES}
CLICKS = (WEB / "clicks.js").read_text()
PAGE = "".join(text for path, text in FILES.items() if path.parent.name not in ("words", *GAMES))


def words_of(folder: str) -> Mapping[str, Mapping[str, Any]]:
    """Return the texts in a folder of the page, by language and key."""
    return words_in((WEB / folder / "words.js").read_text("utf-8"))


def forms(text: str | dict[str, str]) -> list[str]:
    """Return all forms of a text, for example singular and plural."""
    return [text] if isinstance(text, str) else list(text.values())


def places(text: str) -> list[str]:
    return sorted(set(re.findall(r"\{\w+\}", text)))


@pytest.mark.parametrize("game", ["", *GAMES])
def test_both_languages_have_the_same_texts(game: str) -> None:
    words = words_of(f"games/{game}" if game else "words")
    english, french = words["en"], words["fr"]
    assert english.keys() == french.keys()
    for key, text in english.items():
        assert type(text) is type(french[key])
        for one, other in zip(forms(text), forms(french[key]), strict=True):
            assert places(one) == places(other), key
            assert one.strip(), key
            assert other.strip(), key
    source = OWN[game] if game else PAGE
    # The code contains a whole key, or its beginning, to which a number or a name is appended.
    begun = set(re.findall(r"`([\w-]+)\$\{", source))
    # What a click means is decided by one module for all games, with the game's texts.
    used = re.sub(r'^\s*"[\w-]+":', "", source, flags=re.MULTILINE) + CLICKS
    unused = [key for key in english if f'"{key}"' not in used and not any(map(key.startswith, begun))]
    assert unused == []
    if game:
        asked = set(re.findall(r"\bt\(\s*\"([\w-]+)\"", source))
        assert asked <= english.keys()


def visible(person: Person) -> set[str]:
    """Return all texts that a person sees or that a screen reader reads out."""
    found: list[str] = person.page.evaluate(
        """() => {
          const texts = [];
          const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
          while (walk.nextNode()) texts.push(walk.currentNode.data.trim());
          for (const each of document.querySelectorAll("*")) {
            for (const name of ["aria-label", "title", "label", "placeholder", "alt"]) {
              texts.push(each.getAttribute(name)?.trim() ?? "");
            }
          }
          return texts;
        }"""
    )
    return {text for text in found if text}


@over("game", SOME)
def test_a_french_page_has_no_english(visit: Callable[..., Person], game: str) -> None:
    person = visit(language="fr")
    seen: set[str] = set()
    person.open("")
    every = [words_of(each) for each in ("words", f"games/{game}")]
    english = {
        text
        for words in every
        for each in words["en"].values()
        for text in forms(each)
        if each not in words["fr"].values() and not places(text)
    }
    seen |= visible(person)
    person.open(f"new/{game}")
    seen |= visible(person)
    person.deal(game)
    person.await_turn()
    for _ in range(8):
        if not person.is_over:
            seen |= visible(person)
            person.step()
    person.open(f"record/{game}/9")
    person.page.wait_for_selector(".log p")
    seen |= visible(person)
    assert not seen & english
    assert [text for text in seen if misplaced(text)] == []
    assert person.page.evaluate("document.documentElement.lang") == "fr"
    # Every text has a translation. Otherwise its key would be shown.
    keys = {key for words in every for key in words["en"] if "-" in key}
    assert not seen & keys
    # No text lacks a value.
    assert not [text for text in seen if re.search(r"\{\w+\}|undefined|NaN|\[object", text)]


@pytest.mark.parametrize(("asked", "found"), [("en-GB", "en-GB"), ("fr-CA", "en")])
def test_times_follow_the_browser_s_locale(visit: Callable[..., Person], asked: str, found: str) -> None:
    person = visit()
    person.open("")
    person.evaluate("(value) => Object.defineProperty(navigator, 'languages', { value })", [asked, "de"])
    assert person.evaluate("async () => (await import('./settings.js')).locale()") == found


def loaded(person: Person) -> set[str]:
    """Return the languages whose texts the person's browser has requested."""
    return {found[1] for each in person.requests if (found := re.search(r"/words\.(\w+)\.js$", each.url))}


def test_the_language_is_chosen_on_the_page(visit: Callable[..., Person]) -> None:
    person = visit()
    page = person.page
    person.open("new/discat")
    page.locator(".settings summary").click()
    page.locator("[name=language]").select_option("fr")
    page.get_by_role("button", name="Distribuer").wait_for()
    assert page.evaluate("document.documentElement.lang") == "fr"
    expect(page.locator("[name=language]")).to_be_focused()
    page.reload()
    page.get_by_role("button", name="Distribuer").wait_for()


def test_a_language_whose_texts_are_not_all_loaded_is_not_used(visit: Callable[..., Person]) -> None:
    person = visit()
    page = person.page
    person.open("today")
    page.route("**/yours/words.fr.js", lambda route: route.abort())
    page.locator(".settings summary").click()
    page.locator("[name=language]").select_option("fr")
    expect(page.locator(".trouble")).to_be_visible()
    person.errors.clear()
    assert page.evaluate("document.documentElement.lang") == "en"
    person.open("new/discat")
    page.get_by_role("button", name="Deal", exact=True).wait_for()


def test_a_page_without_texts_reports_the_error(visit: Callable[..., Person]) -> None:
    person = visit()
    person.page.route("**/words/words.en.js", lambda route: route.abort())
    person.page.goto(f"{person.origin}/")
    expect(person.page.locator(".trouble")).to_be_visible()
    person.errors.clear()


@pytest.mark.parametrize("language", ["en", "fr"])
def test_only_the_texts_of_the_language_are_sent(visit: Callable[..., Person], language: str) -> None:
    person = visit(language=language)
    for part in ("", "learn/discat", "today", "yours", "puzzle/discat"):
        person.open(part)
    person.page.goto(f"{person.origin}/#/")
    person.page.locator("[data-game=discat] a[href='rules/discat.html']").click()
    expect(person.page.locator("dialog.rules")).to_be_visible()
    assert loaded(person) == {language}


def test_the_lobby_offers_each_language_by_its_own_name(visit: Callable[..., Person]) -> None:
    person = visit()
    page = person.page
    person.open("")
    choice = page.get_by_role("group", name="Language").get_by_role("button")
    expect(choice).to_have_text(["English", "Français"])
    choice.nth(1).click()
    expect(page.locator(".elsewhere h2")).to_have_text("Liens et fichiers reçus")
    expect(page.get_by_role("button", name="Français")).to_be_focused()
    person.open("")
    assert page.evaluate("document.documentElement.lang") == "fr"


@pytest.mark.parametrize(("asked", "spoken"), [("fr", "fr"), ("qq", "en")])
def test_the_address_can_choose_the_language(visit: Callable[..., Person], asked: str, spoken: str) -> None:
    person = visit()
    page = person.page
    page.goto(f"{person.origin}/?lang={asked}#/new/discat")
    page.wait_for_selector(".new-game")
    assert page.evaluate("document.documentElement.lang") == spoken
    # Links that the player shares do not choose a language.
    assert page.url == f"{person.origin}/#/new/discat"
    assert loaded(person) == {spoken}
    person.requests.clear()


def test_the_lobby_states_how_long_a_game_takes() -> None:
    """The stated time is half to twice the time of a game against bots with the measured number of decisions."""
    balance = (WEB.parent / "docs/rules/balance.md").read_text("utf-8")
    words = words_of("words")["en"]
    # The rows of each game begin with the smallest number of players. The games have the order of their names.
    row = r"^\| ([^|]+), (\d) \|.*\n\| \| `flat:playouts=100` \| [^|]+\| [^|]+\| (\d+)"
    medians: dict[str, float] = {}
    for title, _, median in re.findall(row, balance, re.MULTILINE):
        medians.setdefault(title, float(median))
    for game, decisions in zip(engine.games(), medians.values(), strict=True):
        own = decisions / game.min_players
        minutes = (own * SECONDS_OF_A_PERSON + (decisions - own) * SECONDS_OF_A_BOT) / 60
        stated = int(re.findall(r"about (\d+) minutes against bots", words[f"about-{game.name}"])[0])
        assert minutes / 2 <= stated <= 2 * minutes, game.name
