"""Pictures of each game, the lobby and a live game, written to build/pages/ and compared with docs/pictures/.

After a change to the games' appearance, this command replaces the committed pictures:
`CHATIERE_UPDATE_GOLDEN=1 python -m pytest tests/page/test_page_pictures.py`.
"""

import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest
from PIL import Image, ImageChops, ImageStat
from playwright.sync_api import expect
from tools.over import over

from .live import await_ply, await_table, come, deal, newest, opened_room, play
from .person import Person
from .test_page_games import GAMES

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
MADE = ROOT / "build" / "pages"
GOLDEN = ROOT / "docs" / "pictures"
UPDATE = "CHATIERE_UPDATE_GOLDEN" in os.environ
WIDTHS = (360, 768, 1280)
# The ply at which each sample is shown in its picture.
PLIES = {"chatpentiers": 42, "momistigri": 20, "discat": 20, "chat_cartonne": 40, "chat_perche": 30}
# Properties of the committed pictures.
SCALED = 640
COLOURS = 256
MAX_BYTES = 60_000
# The numbers of columns and rows of the parts that are compared, and the maximum mean difference of their colours (from
# 0 to 255). A missing drawing causes at least twice this difference.
PARTS = (32, 20)
DIFFERENCE = 2
# A game of three players: its name, the players, and the number of decisions before the picture. The players' phones
# are shown side by side.
LIVE, NAMES, PLIES_LIVE = "discat", ("Anna", "Ben", "Chloé"), 7
PHONE, GAP, WIDE = 400, 16, 960


def show(person: Person, part: str) -> None:
    """Open the lobby, or a game's sample at a position in its middle."""
    if part == "lobby":
        person.open("")
    else:
        person.open(f"record/{part}/{PLIES[part]}/0")
        expect(person.page.locator(".slider output")).to_contain_text(f"{PLIES[part]} of ")
        person.page.wait_for_selector(".stage .item")


def taken(person: Person, whole: bool = False) -> Image.Image:
    return Image.open(io.BytesIO(person.page.screenshot(full_page=whole))).convert("RGB")


def difference(one: Image.Image, other: Image.Image) -> float:
    """Return the mean difference between the colours of the parts of two pictures."""
    small = [each.convert("RGB").resize(PARTS, Image.Resampling.BOX) for each in (one, other)]
    means = ImageStat.Stat(ImageChops.difference(*small)).mean
    return sum(means) / len(means)


@pytest.mark.whole_page
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("part", ["lobby", *GAMES])
def test_pictures_are_kept(
    visit: Callable[..., Person], part: str, width: int, theme: Literal["light", "dark"]
) -> None:
    person = visit(width=width, theme=theme)
    show(person, part)
    picture = taken(person, whole=True)
    assert picture.width == width
    MADE.mkdir(parents=True, exist_ok=True)
    picture.save(MADE / f"{part}-{width}-{theme}.png")


@over("game", GAMES)
def test_a_game_looks_as_in_the_docs(visit: Callable[..., Person], game: str) -> None:
    person = visit()
    show(person, game)
    picture = taken(person)
    MADE.mkdir(parents=True, exist_ok=True)
    picture.save(MADE / f"{game}.png")
    path = GOLDEN / f"{game}.png"
    if UPDATE:
        GOLDEN.mkdir(exist_ok=True)
        small = picture.resize((SCALED, picture.height * SCALED // picture.width), Image.Resampling.LANCZOS)
        small.quantize(COLOURS, kmeans=2).save(path, optimize=True)
    assert path.stat().st_size <= MAX_BYTES
    with Image.open(path) as kept:
        assert kept.width == SCALED
        assert kept.width / kept.height == pytest.approx(picture.width / picture.height, rel=0.02)
        assert difference(kept, picture) < DIFFERENCE
        # The comparison would notice a missing drawing.
        person.page.evaluate("document.querySelector('.drawing').style.visibility = 'hidden'")
        assert difference(kept, taken(person)) > 2 * DIFFERENCE


def beside(people: list[Person]) -> Image.Image:
    """Return the screens of all people, side by side."""
    pictures = [taken(person) for person in people]
    wide = sum(picture.width + GAP for picture in pictures) - GAP
    whole = Image.new("RGB", (wide, pictures[0].height), "white")
    for number, picture in enumerate(pictures):
        whole.paste(picture, (number * (picture.width + GAP), 0))
    return whole


@pytest.mark.whole_page
def test_a_live_game_among_three_is_in_the_docs(visit: Callable[..., Person]) -> None:
    people = [visit(width=PHONE) for _ in NAMES]
    link = opened_room(people[0], LIVE, len(people), NAMES[0])
    for person, name in zip(people[1:], NAMES[1:], strict=True):
        come(person, link, name)
    for person in people:
        expect(person.page.locator(".room .seats li")).to_have_count(len(people))
        expect(person.page.locator(".room .seats")).to_contain_text(NAMES[-1])
        expect(person.page.locator(".room .seats")).not_to_contain_text("away")
    pictures = {"live_room": beside(people)}
    deal(people[0], len(people))
    await_table(*people)
    play(people, PLIES_LIVE)
    for person in people:
        await_ply(person, newest(people))
        person.page.evaluate("scrollTo(0, 0)")
    pictures["live_game"] = beside(people)
    MADE.mkdir(parents=True, exist_ok=True)
    for name, picture in pictures.items():
        picture.save(MADE / f"{name}.png")
        path = GOLDEN / f"{name}.png"
        if UPDATE:
            small = picture.resize((WIDE, picture.height * WIDE // picture.width), Image.Resampling.LANCZOS)
            small.quantize(COLOURS, kmeans=2).save(path, optimize=True)
        # Each deal differs, and so does its picture.
        assert path.stat().st_size <= 2 * MAX_BYTES
        with Image.open(path) as kept:
            assert kept.width == WIDE
            assert kept.width / kept.height == pytest.approx(picture.width / picture.height, rel=0.02)
