"""Records: samples, the slider, the record of a person's own game, and invalid files and links."""

import base64
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from playwright.sync_api import expect
from tools.over import over

from chatiere.command import main

from .person import Person
from .test_page_games import GAMES

pytestmark = pytest.mark.long

SLIDER = ".slider input[type=range]"
BAD_LINKS = [
    "table/abc",
    "table/" + base64.urlsafe_b64encode(b"no table, but long enough to be one").decode().rstrip("="),
    "seat/abc/def",
    "invitation/abc",
    "reply/abc",
    "play/abc",
    "new/tarot",
    "record/own",
]
BAD_RECORDS = {
    "text.chatiere": "this is no record",
    "text.json": '{"half": ',
    "other.json": '{"half": 1}',
    "illegal.json": '{"game": "discat", "rulesVersion": 1, "players": 2, "stream": {"seed": "1"}, "actions": [9999]}',
}


@over("game", GAMES)
def test_a_sample_with_its_slider(visit: Callable[..., Person], game: str) -> None:
    person = visit()
    page = person.page
    person.open(f"record/{game}")
    slider, count = page.locator(SLIDER), page.locator(".slider output")
    last = int(slider.get_attribute("max") or "")
    expect(count).to_have_text(f"0 of {last}")
    slider.focus()
    for key, ply in (("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", last), ("Home", 0)):
        page.keyboard.press(key)
        expect(count).to_have_text(f"{ply} of {last}")
    page.keyboard.press("End")
    expect(page.locator(".scores .rank")).to_have_count(page.locator(".scores .seat").count())
    page.get_by_role("button", name="One move back").click()
    expect(count).to_have_text(f"{last - 1} of {last}")
    page.locator(".replay select").select_option("0")
    expect(page.locator(".scores .seat small").first).to_have_text("you")
    page.get_by_role("button", name="Play", exact=True).click()
    expect(count).to_have_text(f"{last} of {last}")


def test_a_cat_that_wakes_opens_its_eyes(visit: Callable[..., Person]) -> None:
    person = visit()
    drawn = []
    for ply, state in ((45, "asleep"), (46, "woken")):
        person.open(f"record/chat_cartonne/{ply}/0")
        cat = person.page.locator(f".stage .item[aria-label*='cat, {state}, column 15, row 12']")
        expect(cat).to_have_count(1)
        drawn.append(cat.inner_html())
    # Closed eyes are lines, and open eyes are ellipses.
    assert drawn[0].count("<ellipse") < drawn[1].count("<ellipse")


def test_the_record_of_a_game_is_saved_verified_and_opened(visit: Callable[..., Person], tmp_path: Path) -> None:
    person = visit()
    page = person.page
    person.deal("discat")
    person.play_to_the_end()
    ply = person.ply
    with page.expect_download() as download:
        page.get_by_role("button", name="Save the record").click()
    file = tmp_path / download.value.suggested_filename
    download.value.save_as(file)
    verified = CliRunner().invoke(main, ["verify", str(file)])
    assert verified.exit_code == 0, verified.output
    page.get_by_role("button", name="Look at the record").click()
    expect(page.locator(".slider output")).to_have_text(f"0 of {ply}")
    person.open("")
    page.locator(".elsewhere [type=file]").set_input_files(file)
    expect(page.locator(".slider output")).to_have_text(f"0 of {ply}")
    # The page then opens another record.
    page.go_back()
    page.locator(".elsewhere [type=file]").set_input_files(
        Path(__file__).parents[2] / "docs" / "games" / "momistigri.chatiere"
    )
    expect(page.locator("[data-game=momistigri] .slider output")).to_be_visible()


@pytest.mark.parametrize("name", BAD_RECORDS)
def test_an_invalid_record_is_reported(visit: Callable[..., Person], tmp_path: Path, name: str) -> None:
    person = visit()
    file = tmp_path / name
    file.write_text(BAD_RECORDS[name])
    person.may_be_refused = True
    person.open("")
    person.page.locator(".elsewhere [type=file]").set_input_files(file)
    refusal = person.page.locator(".elsewhere > .refusal:not(:empty), .failed p, .bar .refusal:not([hidden])").first
    expect(refusal).not_to_be_empty()
    person.open("")


@pytest.mark.parametrize("link", BAD_LINKS)
def test_a_dead_link_is_reported(visit: Callable[..., Person], link: str) -> None:
    person = visit()
    person.may_be_refused = True
    person.open(link)
    expect(person.page.locator(".failed p").first).not_to_be_empty()
    # The page still works.
    person.page.get_by_role("link", name="All games").click()
    expect(person.page.locator(".games")).to_be_visible()


def test_pasted_text_that_is_not_a_link_is_reported(visit: Callable[..., Person]) -> None:
    person = visit()
    person.open("")
    person.page.locator(".paste [name=link]").fill("hello")
    person.page.locator(".paste button").click()
    expect(person.page.locator(".paste .refusal")).to_have_text("That is not a link to a table.")
