"""Games with other names: no result shows an original name, and a client plays by the words that it reads."""

import random
import re
from functools import cache
from typing import Any

import pytest
from tools.over import NAMES, over, over_names

from chatiere import engine
from chatiere.engine.core.game_info import game_info, pieces_info
from chatiere.envs.text import TextEnv
from chatiere.mcp.tools import Result
from chatiere.text import Obfuscation
from chatiere.text.obfuscation import MAX_SEED

from .support import RELAYS, begun, succeeded, tools

LANGUAGES = ("en", "fr")
# Words in the names of cards that also occur with other meanings.
COMMON = """
adverse adverses and card carte cartes case cases cloison cloisons colour couleur deux départ des est falls les nes
opponent own sans ses start starting step steps the tombe tourné toutes turned two wall walls
"""
NAME = re.compile(r"[^\W\d_]{3,}|\b[1-9][a-e]\b")
# The numbers in labels and drawings of Discat that are not cards.
NUMBERS = re.compile(
    r"(seat|siège) \d+|\(\d+ (times|fois)\)|(pile|bonus) +\d+, \d+|(pile|bonus) +\d+|^[\d-]+\.|: \d+ left", re.MULTILINE
)


@cache
def original_names(game: str) -> tuple[list[str], set[str]]:
    """Return the names of a game, and the words that name its cards and its colours, in both languages."""
    words: set[str] = set()
    for language in LANGUAGES:
        for piece in pieces_info(engine.game(game), language)["pieces"]:
            if piece["kind"] in ("card", "colour"):
                words |= {*NAME.findall(piece["name"].lower())} - {*COMMON.split()}
    return [game, *(game_info(engine.game(game), language)["title"] for language in LANGUAGES)], words


def require_other_names(game: str, text: str, handle: str) -> None:
    text = text.replace(handle, "")
    titles, words = original_names(game)
    for title in titles:
        assert title not in text
    assert words.isdisjoint(NAME.findall(text.lower()))
    if game == "discat" and re.search("Totals by seat|Totaux par siège", text) and "## " not in text:
        listed = [line for line in text.splitlines() if re.match(r"- |\d+[-.]|  [> ] seat|  (to play|has)", line)]
        assert not re.search(r"\b\d", NUMBERS.sub("", "\n".join(listed)))


def everything(handle: str, relay: str, action: str) -> list[Result]:
    """Return the results of all tools for a seat, including errors."""
    calls: list[tuple[str, dict[str, Any]]] = [
        ("look", {}),
        ("rules", {}),
        ("rules", {"whole": True}),
        ("suggest", {"bot": "flat:playouts=2"}),
        ("explain", {"about": action}),
        ("explain", {"about": "points"}),
        ("move", {"action": "nothing"}),
        ("move", {"action": 999}),
        ("suggest", {"bot": "nobody"}),
        ("record", {}),
    ]
    return [
        tools(relay).call(name, {"handle": handle} | arguments | ({"language": language} if name != "record" else {}))
        for name, arguments in calls
        for language in LANGUAGES
    ]


@over_names
@over("relay", RELAYS)
def test_no_result_shows_an_original_name_and_a_client_plays_by_words(name: str, relay: str) -> None:
    choices = random.Random(name)
    told, moves = begun(name, relay=relay, obfuscate=choices.randrange(MAX_SEED)), 0
    while not told.data["over"]:
        handle = told.data["handle"]
        if relay == "memory":
            assert len(handle) <= 64
        require_other_names(name, f"{told.text}\n{told.data}", handle)
        language = choices.choice(LANGUAGES)
        asked = tools(relay).call("suggest", {"handle": handle, "bot": "random", "language": language})
        words = succeeded(asked).data["action"]
        if moves in (3, 20):
            for each in everything(handle, relay, words):
                require_other_names(name, f"{each.text}\n{each.data}", handle)
        told = succeeded(tools(relay).call("move", {"handle": handle, "action": words, "language": language}))
        moves += 1
    require_other_names(name, told.text, told.data["handle"])
    record = tools(relay).call("record", {"handle": told.data["handle"]})
    require_other_names(name, record.text, told.data["handle"])
    assert name != "discat" or not re.search(r"^\d.*# .*\b\d", record.text, re.MULTILINE)
    assert (
        name != "discat" or record.is_error or re.search(r"^over  # seats? .* totals -?\d", record.text, re.MULTILINE)
    )


@over_names
def test_an_environment_with_other_names_is_played_by_words(name: str) -> None:
    env, plain = TextEnv(name, obfuscate=5), TextEnv(name)
    told, same = env.reset(seed=3), plain.reset(seed=3)
    while not env.is_over:
        require_other_names(name, told.text, "\n")
        assert told.reward == same.reward
        refused = env.step("no such action")
        require_other_names(name, refused.text, "\n")
        words = refused.text.partition(" 1. ")[2].partition("; 2. ")[0]
        told, same = env.step(words), plain.step("1")
        assert not told.is_refused
    assert plain.is_over
    assert told.reward == same.reward


def test_the_handle_without_its_seed_shows_the_original_names() -> None:
    handle = begun("discat", obfuscate=7).data["handle"]
    assert handle.endswith(".7")
    looked = succeeded(tools().call("look", {"handle": handle.removesuffix(".7")}))
    assert looked.data["game"] == "discat"


@pytest.mark.parametrize("seed", [0, 1, 7, 54, 1103, 2410, MAX_SEED])
def test_names_are_different_and_depend_on_the_seed_only(seed: int) -> None:
    for name in NAMES:
        one, cards = Obfuscation(name, seed), pieces_info(engine.game(name))["pieces"]
        labels = [each["name"] for each in cards if each["kind"] in ("card", "colour")]
        told = [one.label(label) for label in labels]
        assert len({*told}) == len({*labels})
        assert told == [Obfuscation(name, seed).label(label) for label in labels]
        # Replacing names a second time changes nothing.
        assert [one.text(each) for each in told] == told


def test_a_seed_has_bounds() -> None:
    for seed in (-1, MAX_SEED + 1):
        result = tools().call("new_table", {"game": "discat", "obfuscate": seed})
        assert result.text == f"INVALID_ARGUMENT: obfuscate must be from 0 to {MAX_SEED}"
        with pytest.raises(ValueError, match="seed must be from 0"):
            Obfuscation("discat", seed)
    handle = begun("discat").data["handle"]
    assert tools().call("look", {"handle": f"{handle}.{MAX_SEED + 1}"}).text.startswith("INVALID_TABLE: ")
