"""Looking up bots by their names."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tools.over import over_names

from chatiere import bots, engine
from chatiere.bots.flat import FlatBot
from chatiere.engine import EngineError

from .support import GAMES


@over_names
def test_every_game_has_random_and_searching_bots(name: str) -> None:
    assert bots.names(name)[:3] == ["random", "flat", "ismcts"]
    assert bots.names(name) == bots.names(engine.game(name))
    assert len(set(bots.names(name))) == len(bots.names(name))
    for bot in bots.names(name):
        assert isinstance(bots.get(bot, name, engine.game(name).min_players), bots.Bot)


def test_a_parameter_reaches_the_bot() -> None:
    for spec, playouts in (("flat", 1000), ("flat:playouts=1", 1), ("flat:playouts=1000000", 1_000_000)):
        bot = bots.get(spec, engine.game(GAMES[0]), engine.game(GAMES[0]).max_players)
        assert isinstance(bot, FlatBot)
        assert bot.budget == playouts
    both = bots.get("ismcts:milliseconds=600000,simulations=7", GAMES[0], 2)
    assert (both.budget, both.milliseconds) == (7, 600_000)


@over_names
@pytest.mark.parametrize("spec", ["", "cheater", "Random", "random ", "playouts=3", "cheater:playouts=3"])
def test_the_refusal_of_an_unknown_bot_lists_the_known_bots(name: str, spec: str) -> None:
    with pytest.raises(ValueError, match=f"^unknown bot '{spec.split(':')[0]}' for {name}; known bots: random, "):
        bots.get(spec, name, engine.game(name).min_players)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("flat:", "bot flat: '' is not PARAMETER=NUMBER"),
        ("flat:playouts", "bot flat: 'playouts' is not PARAMETER=NUMBER"),
        ("flat:playouts=3,", "bot flat: '' is not PARAMETER=NUMBER"),
        ("flat:rollouts=3", "bot flat: unknown parameter 'rollouts'; known parameters: playouts, temperature"),
        ("random:playouts=3", "bot random: unknown parameter 'playouts'; it has none"),
        ("flat:playouts=3,playouts=4", "bot flat: playouts is given twice"),
    ],
)
def test_invalid_parameters_are_refused(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        bots.get(spec, GAMES[0], 2)


@pytest.mark.parametrize(
    "value", ["", "0", "-1", "1.5", "1e3", "many", "1000001", "1000000000", "9" * 5000, "٣", "+3", " 3", "3_0", "=3"]
)
def test_budgets_out_of_range_are_refused(value: str) -> None:
    with pytest.raises(ValueError, match=r"^bot flat: playouts must be a whole number from 1 to 1000000, not '"):
        bots.get(f"flat:playouts={value}", GAMES[0], 2)


def test_unknown_games_and_numbers_of_players_are_refused() -> None:
    with pytest.raises(EngineError, match="unknown game 'tarock'"):
        bots.get("random", "tarock", 2)
    with pytest.raises(EngineError, match="unknown game 'tarock'"):
        bots.names("tarock")
    for players in (-1, 0, 99, 2**64):
        with pytest.raises(EngineError, match="players must be an integer from "):
            bots.get("random", GAMES[0], players)


@given(st.text(alphabet="flat:playouts=,random0123456789 é"))
def test_any_text_is_either_a_bot_or_refused(spec: str) -> None:
    for each in bots.split(spec):
        try:
            bots.get(each, GAMES[0], 2)
        except ValueError as error:
            assert str(error).startswith(("unknown bot ", "bot "))


@pytest.mark.parametrize(
    ("text", "specs"),
    [
        ("random", ["random"]),
        ("random,flat", ["random", "flat"]),
        ("flat:playouts=500,random", ["flat:playouts=500", "random"]),
        ("flat:a=1,b=2,random,flat:a=3", ["flat:a=1,b=2", "random", "flat:a=3"]),
        ("flat:a=1,flat:b=2", ["flat:a=1", "flat:b=2"]),
        ("a=1", ["a=1"]),
        ("random,", ["random", ""]),
        ("", [""]),
        ('"cmd:play a,b",random', ["cmd:play a,b", "random"]),
        ('random,"cmd:play x=1,y",flat:a=1', ["random", "cmd:play x=1,y", "flat:a=1"]),
        ('"cmd:play ""a,b"""', ['cmd:play "a,b"']),
        ('cmd:play "a" b,random', ['cmd:play "a" b', "random"]),
        ('"random,flat', ['"random', "flat"]),
        ('random,""', ["random", ""]),
    ],
)
def test_lists_of_bots_are_split_at_commas_outside_parameters(text: str, specs: list[str]) -> None:
    assert bots.split(text) == specs


def test_bots_need_neither_grpc_nor_protobuf() -> None:
    program = "import sys, chatiere.bots.hosting; sys.exit(sorted({'grpc', 'google.protobuf'} & set(sys.modules)) or 0)"
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_names_that_are_imported_later_are_listed() -> None:
    program = "from chatiere import bots; print({*bots.__all__} <= {*dir(bots)}, 'numpy' in sys.modules, bots.Registry)"
    found = subprocess.run((sys.executable, "-c", f"import sys; {program}"), capture_output=True, text=True, check=True)
    assert found.stdout == "True False <class 'chatiere.bots.registry.Registry'>\n"
