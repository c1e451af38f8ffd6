"""Requests to pause, and to end, work in progress."""

from __future__ import annotations

from typing import Any

import pytest

from chatiere import engine
from chatiere.bots.hosting import decisions_at, judge
from chatiere.bots.ismcts import IsmctsBot
from chatiere.bots.registry import Registry
from chatiere.engine.core.batch import Table
from chatiere.engine.core.cancellation import Cancellation, Cancelled
from chatiere.engine.core.columns import Columns

GAME = engine.game("discat")
ITEMS = 5


class Polite(Cancellation):
    """A Cancellation that requests a pause at every opportunity, and counts the pauses."""

    def __init__(self) -> None:
        self.times = 0
        self.ask_to_give_way()

    def give_way(self) -> None:
        self.times += 1
        self.ask_to_give_way()


def work_of(name: str, cancellation: Cancellation | None) -> Any:
    """Do a kind of work, and return its result."""
    table, position = Table(GAME, 2), GAME.new_game(2, seed=1)
    states = position.pack() * ITEMS
    if name == "new_games":
        return table.new_games(seeds=list(range(ITEMS)), columns=Columns(observations=True), cancellation=cancellation)
    if name == "step":
        return table.step(states, [position.legal_actions()[0]] * ITEMS, cancellation=cancellation)
    if name == "playout":
        return table.playout(states, 3, seed=1, cancellation=cancellation)
    if name == "evaluate":
        return table.evaluate(states, 1, 1, seed=1, cancellation=cancellation)
    if name == "score":
        return table.score(states, cancellation=cancellation)
    if name == "resample":
        return table.resample(states, [0] * ITEMS, seed=1, cancellation=cancellation)
    if name == "observe":
        return table.observe(states, [0] * ITEMS, cancellation=cancellation)
    bot = IsmctsBot(simulations=20, advised=True) if name == "advised search" else Registry().get(name, GAME, 2)
    judgement = judge(bot, decisions_at(position, bot, 7, cancellation))
    return judgement.actions.tolist(), judgement.values.tobytes(), judgement.shares.tobytes()


NAMES = [
    *("new_games", "step", "playout", "evaluate", "score", "resample", "observe"),
    *("advised search", "ismcts:simulations=20", "flat:playouts=200", "ismcts:simulations=20,net=trained"),
]


@pytest.mark.parametrize("name", NAMES)
def test_work_gives_way_often_and_finds_the_same(name: str) -> None:
    cancellation = Polite()
    assert work_of(name, cancellation) == work_of(name, None)
    assert cancellation.times >= ITEMS


class Ending(Polite):
    """A Cancellation that is cancelled in the last of several pauses."""

    def __init__(self, last: int) -> None:
        super().__init__()
        self._last = last

    def give_way(self) -> None:
        super().give_way()
        if self.times == self._last:
            self.cancel()


@pytest.mark.parametrize("name", NAMES)
def test_work_cancelled_while_it_gives_way_ends(name: str) -> None:
    whole = Polite()
    work_of(name, whole)
    for last in range(1, whole.times + 1):
        cancellation = Ending(last)
        with pytest.raises(Cancelled):
            work_of(name, cancellation)
        # There may be one more pause, because Python code checks a second time before it raises the error.
        assert last <= cancellation.times <= last + 1
        with pytest.raises(Cancelled):
            cancellation.check()


def test_work_that_was_not_asked_to_does_not_give_way() -> None:
    class Never(Cancellation):
        def give_way(self) -> None:
            raise AssertionError

    cancellation = Never()
    work_of("playout", cancellation)
    cancellation.check()
    assert not cancellation.cancelled
