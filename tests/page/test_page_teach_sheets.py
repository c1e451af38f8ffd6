"""Rule sheets: they have all sections in each language, pictures, and an example with the engine's score."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect
from tools.over import over

from .person import Person
from .test_page_games import GAMES
from .test_page_words import places, words_of

pytestmark = pytest.mark.long

WEB = Path(__file__).parents[2] / "web"
SECTIONS = {
    "en": ["What it is about", "A turn", "What is special", "The end", "The score", "An example"],
    "fr": ["But du jeu", "Le tour de jeu", "Les cas particuliers", "La fin", "Le score", "Un exemple"],
}


def opened(person: Person, game: str) -> Locator:
    """Open the rule sheet of a game from the lobby."""
    person.open("")
    person.page.locator(f"[data-game={game}] a[href='rules/{game}.html']").click()
    sheet = person.page.locator("dialog.rules .rule-sheet")
    expect(sheet).to_be_visible()
    return sheet


@pytest.mark.parametrize("language", SECTIONS)
@over("game", GAMES)
def test_a_sheet_is_complete(visit: Callable[..., Person], game: str, language: str) -> None:
    person = visit(language=language, width=390)
    sheet = opened(person, game)
    expect(sheet.locator("h2")).to_have_text(SECTIONS[language])
    for section in sheet.locator("section").all():
        expect(section.locator("p").first).not_to_be_empty()
    # The sheet has pictures with their texts, and the table of the example.
    expect(sheet.locator("figure svg.row > g").nth(1)).to_be_visible()
    for figure in sheet.locator("figure").all():
        expect(figure.locator("figcaption")).not_to_be_empty()
    expect(sheet.locator("svg.still")).to_be_visible()
    assert not re.search(r"\{\w+\}|undefined|NaN", sheet.inner_text())
    # All texts of the catalogue are shown.
    words = words_of(f"lessons/{game}")
    assert words["en"].keys() == words["fr"].keys()
    for key, text in words[language].items():
        assert places(text) == places(words["en"][key])
        if re.match(r"(aim|turn|specials|end|score|example)-", key) and not places(text):
            expect(sheet.get_by_text(text, exact=True)).to_be_visible()
    # The page is no wider than the screen.
    assert person.page.evaluate("document.documentElement.scrollWidth") <= 390


@over("game", GAMES)
def test_the_example_has_the_engines_score(visit: Callable[..., Person], game: str) -> None:
    # The samples end with the engine's scores. Replaying the samples checks the scores.
    ended = re.search(r"# seat (\d) won; totals ([\d -]+)$", (WEB / f"samples/{game}.chatiere").read_text().rstrip())
    assert ended
    totals = [int(each) for each in ended[2].split()]
    example = opened(visit(), game).locator("[data-section=example]")
    said = example.locator("p").last.inner_text()
    numbers = [int(each) for each in re.findall(r"-?\d+", said)]
    assert numbers[-1] == totals[int(ended[1])] == sum(numbers[:-1])
    shown = example.locator(".totals td.total").all_inner_texts()
    assert sorted(map(int, shown)) == sorted(totals)


@pytest.mark.parametrize(("language", "sign"), [("en", "Tie-break"), ("fr", "Départage")])
def test_points_that_only_break_ties_are_named_so(visit: Callable[..., Person], language: str, sign: str) -> None:
    sheet = opened(visit(language=language), "chat_cartonne")
    expect(sheet.locator("[data-section=example] .totals th").filter(has_text=sign)).to_be_visible()
    expect(sheet.locator("[data-section=score]")).to_contain_text(sign)


# Adds a round to each row of the table, and a long name. Returns the cells of which a part is outside of the table or
# covered by another cell.
_HIDDEN_CELLS = """() => {
  const table = document.querySelector(".rule-sheet .totals");
  for (const row of table.querySelectorAll("tbody tr")) {
    const part = row.querySelector("[data-part]");
    part.after(part.cloneNode(true));
    row.querySelector("th").append(" Maximilienne-Antoinette");
  }
  table.scrollIntoView({ block: "center" });
  const { left, right } = table.getBoundingClientRect();
  return [...table.querySelectorAll("tbody :is(th, td)")].filter((cell) => {
    const box = cell.getBoundingClientRect();
    const seen = document.elementFromPoint((box.left + box.right) / 2, (box.top + box.bottom) / 2);
    return box.left < left || box.right > right || cell.scrollWidth > cell.clientWidth + 1 || !cell.contains(seen);
  }).map((cell) => cell.textContent);
}"""


@pytest.mark.parametrize("width", [320, 390])
@over("game", GAMES)
def test_the_table_of_totals_fits_a_phone(visit: Callable[..., Person], game: str, width: int) -> None:
    person = visit(language="fr", width=width)
    opened(person, game)
    assert person.page.evaluate(_HIDDEN_CELLS) == []
