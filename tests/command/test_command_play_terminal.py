"""chatiere play --human in a pseudo-terminal."""

import os
import random
import re
import signal
from pathlib import Path

import pytest
from tools.over import over_names

from chatiere import engine
from chatiere.clients import records

from .pseudo_terminal import Person, numbers

pytestmark = pytest.mark.long

CLEAR = "\x1b[2J\x1b[3J"


@over_names
def test_a_person_plays_a_whole_game_and_saves_it(address: str, tmp_path: Path, name: str) -> None:
    rules = engine.game(name)
    seat, path = rules.min_players - 1, tmp_path / "game.chatiere"
    chosen = random.Random(7)
    with Person("play", "--game", name, "--human", seat, "--bots", "random", "--address", address) as person:
        shown = person.prompt()
        made = 0
        while numbers(shown):
            assert shown.endswith(f", seat {seat}>")
            shown = person.enters(str(chosen.choice(numbers(shown))))
            made += 1
        assert "\nResult\n" in shown
        assert f"Saved in {path}." in person.enters(f"save {path}").replace("\n    ", " ").replace("\n", "")
        person.leaves("quit\r")
    record = records.read_record(path)
    assert re.findall(r"The seed was (\d+)\.", shown) == [str(record.stream.seed)]
    assert list(record.seat_names) == ["human" if each == seat else "random" for each in range(rules.min_players)]
    # The person made exactly the decisions of that seat.
    position = rules.new_game(record.players, seed=record.stream.seed)
    decisions = []
    for action in record.actions:
        decisions.append(position.current_player())
        position.apply(action)
    assert position.is_terminal()
    assert decisions.count(seat) == made > 0


def discat(address: str, *arguments: object) -> tuple[object, ...]:
    return "play", "--game", "discat", "--players", 3, "--human", 0, "--seed", 3, "--address", address, *arguments


def test_lines_are_completed(address: str) -> None:
    with Person(*discat(address, "--bots", "random")) as person:
        person.prompt()
        # The menu shows the completions of a part of a label, and Tab inserts one.
        person.types("59 wi")
        person.shows("play 59 with 19 on top")
        person.types("\t")
        assert "seat 0 plays 59 with 19 on top" in person.enters("")
        person.types("hel")
        person.shows("help")
        person.types("\t")
        assert "undo all moves since" in person.enters("")
        # The up arrow recalls the line.
        person.types("\x1b[A")
        assert "undo all moves since" in person.enters("")
        person.leaves("quit\r")


@pytest.mark.parametrize("key", ["\x03", "\x04"])
def test_control_c_and_control_d_leave(address: str, tmp_path: Path, key: str) -> None:
    path = tmp_path / "a game"
    with Person(*discat(address)) as person:
        person.prompt()
        assert "The game was not saved." in person.leaves(key)
    with Person(*discat(address)) as person:
        person.prompt()
        person.enters(f"save {path}")
        output = person.leaves(key).replace("\n    ", " ")
        assert f"To continue: chatiere play --resume '{path}'" in output
    with Person("play", "--resume", path, "--address", address) as person:
        assert person.prompt().endswith(", seat 0>")
        assert "not in the file" not in person.leaves(key)


def test_control_c_leaves_while_a_bot_searches(address: str) -> None:
    bot = "ismcts:milliseconds=600000"
    with Person("play", "--game", "discat", "--human", 1, "--bots", bot, "--seed", 1) as person:
        # The bot begins, and would search for ten minutes.
        person.shows("seat 0 begins")
        os.kill(person.pid, signal.SIGINT)
        assert "The game was not saved." in person.ends()


def test_people_who_take_turns_see_only_their_own_hands(address: str) -> None:
    seated = ("--players", 3, "--human", 0, "--human", 2, "--bots", "random", "--seed", 3)
    with Person("play", "--game", "discat", *seated, "--address", address) as person:
        before = None
        asked = person.prompt()
        for _ in range(12):
            if asked.endswith("when no one else can see the screen>"):
                seat = int(re.findall(r"Seat (\d), press", asked)[0])
                assert seat != before
                # The other person's screen is cleared, and the next hand is hidden until its owner confirms.
                assert person.screen.split(CLEAR)[-1].count("hand") == 0
                asked = person.enters("")
                before = seat
            hands = re.findall(r"seat (\d)  hand (.*?)  bonus", person.screen.split(CLEAR)[-1])
            assert {int(each) for each, hand in hands if "?" not in hand and hand.strip() != "empty"} == {before}
            asked = person.enters("1")
        person.leaves("\x04")


def test_without_prompt_toolkit_the_extra_to_install_is_named(tmp_path: Path, address: str) -> None:
    (tmp_path / "prompt_toolkit.py").write_text("raise ImportError\n")
    path = f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    person = Person(*discat(address), environment={"PYTHONPATH": path})
    with person, pytest.raises(AssertionError, match="pip install 'chatiere\\[play\\]'"):
        person.prompt()
