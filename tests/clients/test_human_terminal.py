"""The terminal interface for people: its output, and the reading of typed words."""

import random
from collections.abc import Callable, Iterator
from typing import Any

import click
import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tools.over import over_names

from chatiere import bots, engine
from chatiere.clients import Client, TransportError
from chatiere.drawing import DRAWINGS
from chatiere.terminal.human_match import HumanMatch
from chatiere.terminal.human_terminal import HumanTerminal, Move, find, fit
from chatiere.terminal.line_input import LineInput
from chatiere.v1.game_pb2 import TURN_KIND_DECISION, Action, GameInfo, Include, Position
from chatiere.v1.record_pb2 import GameRecord, RecordStream

pytestmark = pytest.mark.long

SEED = 12345678901234567890
LEAK = "LEAKED"


class Poisoned:
    """A client whose positions contain LEAKED wherever a person must not look."""

    def __init__(self, client: Client, people: list[int]) -> None:
        self._client = client
        self._people = people

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def new_game(self, *arguments: Any, **options: Any) -> Position:
        return self._poisoned(self._client.new_game(*arguments, **options))

    def apply(self, *arguments: Any, **options: Any) -> Position:
        return self._poisoned(self._client.apply(*arguments, **options))

    def _poisoned(self, position: Position) -> Position:
        assert [viewer.seat for viewer in position.updates] == self._people
        for event in position.events:
            event.label = LEAK
        decides = position.turn.kind == TURN_KIND_DECISION
        if decides and position.turn.seat not in self._people:
            for action in position.legal_actions:
                action.label = LEAK
        if decides:
            position.score.totals[:] = [-987654] * len(position.score.totals)
        return position


class Typed(LineInput):
    """Input from a program, one line for each prompt."""

    is_terminal = True

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines
        self.completions: list[str] = []

    def read(self, prompt: str, complete: Callable[[str], Any], seat: int) -> str:
        click.echo(prompt)
        self.completions += complete("p")
        return next(self._lines, "quit")


def info_of(client: Client, name: str) -> GameInfo:
    return next(info for info in client.list_games() if info.name == name)


def begun(client: Any, name: str, players: int, people: list[int], bot: str = "random") -> HumanMatch:
    record = GameRecord(game=name, rules_version=1, players=players, stream=RecordStream(seed=SEED))
    made = bots.get(bot, name, players)
    return HumanMatch(client, record, {seat: made for seat in range(players) if seat not in people})


@over_names
@pytest.mark.parametrize("count", [1, 2])
def test_only_information_of_the_people_is_shown(
    client: Client, name: str, count: int, capsys: pytest.CaptureFixture[str]
) -> None:
    players = engine.game(name).max_players
    people = list(range(players))[-count:]
    match = begun(Poisoned(client, people), name, players, people)
    lines = Typed(iter(["hint", *["1", "moves", "table", "2", "undo", "3"] * 60]))
    HumanTerminal(match, info_of(client, name), ["bot"] * players, lines).run()
    shown = capsys.readouterr().out
    assert shown.count("\n") > 100
    assert LEAK not in shown
    assert LEAK not in lines.completions
    assert "987654" not in shown
    # The seed must not be shown before the end, because it reveals all hidden information.
    assert str(SEED) not in shown.split("\nResult\n")[0]


@over_names
def test_worlds_that_a_seat_cannot_distinguish_look_the_same_to_it(client: Client, name: str) -> None:
    players = engine.game(name).max_players
    include = Include(legal_actions=True)
    position = client.new_game(name, players, seed=1, include=include)
    chosen, differ = random.Random(1), 0
    while position.turn.kind == TURN_KIND_DECISION:
        seat = chosen.randrange(players)
        world = client.resample(position.state, seat, seed=5)
        tables = [
            DRAWINGS[name].draw_table([getattr(client.get_view(state, seat), name)] * players)
            for state in (position.state, world)
        ]
        assert tables[0] == tables[1]
        every = [
            DRAWINGS[name].draw_table([getattr(client.get_view(state, each), name) for each in range(players)])
            for state in (position.state, world)
        ]
        differ += every[0] != every[1]
        position = client.apply(position.state, chosen.choice(position.legal_actions), include=include)
    assert differ


def unreachable() -> TransportError:
    return TransportError(grpc.StatusCode.UNAVAILABLE, "gone")


@pytest.mark.parametrize("person", [0, 1])
def test_a_game_survives_an_outage_of_the_service(
    client: Client, person: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    match = begun(client, "discat", 2, [person])
    apply, failures = Client.apply, iter([True])

    def fail_once(self: Client, *arguments: Any, **options: Any) -> Position:
        if next(failures, False):
            raise unreachable()
        return apply(self, *arguments, **options)

    monkeypatch.setattr(Client, "apply", fail_once)
    bot_begins = match.seat != person
    typed = ["", "1"] if bot_begins else ["1", "1"]
    HumanTerminal(match, info_of(client, "discat"), ["random"] * 2, Typed(iter(typed))).run()
    shown = capsys.readouterr().out
    assert ("Enter tries again." if bot_begins else "The game is unchanged") in shown
    assert f"seat {person} plays" in shown
    assert match.decisions >= 2


def moves(*labels: str) -> list[Move]:
    return [Move(number, Action(label=label)) for number, label in enumerate(labels, 1)]


def test_actions_found_by_words() -> None:
    offered = moves("play 4", "play 4 with 5 on top", "play 45", "stop", "lay a cat at 7 (column 1)")

    def found(text: str, *, unfinished: bool = False) -> list[int]:
        return [move.number for move in find(text, offered, unfinished=unfinished)]

    assert found("play 4") == [1]
    assert found("PLAY 4 on") == [2]
    assert found("4 with") == [2]
    assert found("play") == [1, 2, 3]
    assert found("st") == [4]
    assert found("column 1") == [5]
    assert found("5 4") == []
    assert found("45") == [3]
    assert found("at") == [5]
    assert found("") == found("()") == []
    # An unfinished word can still become a longer word.
    assert found("play 4", unfinished=True) == [1, 2, 3]
    assert found("p", unfinished=True) == [1, 2, 3]
    assert found("la c", unfinished=True) == [5]
    assert found("x", unfinished=True) == []


@given(st.lists(st.text("ab12[] ", min_size=1, max_size=12), min_size=1, max_size=20), st.integers(20, 80))
def test_lines_are_broken_only_at_spaces(words: list[str], width: int) -> None:
    line = "  " + " ".join(click.style(word, fg="red") if "a" in word else word for word in words)
    parts = list(fit(line, width))
    assert "".join(parts).replace(" ", "") == line.replace(" ", "")
    for part in parts:
        assert len(click.unstyle(part).rstrip()) <= width or len(click.unstyle(part).split()) == 1
