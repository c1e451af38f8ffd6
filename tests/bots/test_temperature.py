"""Mistakes of bots: actions drawn with probabilities that depend on their values."""

import numpy as np
import pytest
from tools.over import over_names

from chatiere import bots, engine
from chatiere.bots import Decisions
from chatiere.bots.flat import FlatBot
from chatiere.bots.temperature import draw_actions

from .support import GAMES, Host

SEARCHING = ("flat:playouts=60", "ismcts:simulations=60")


def decisions(counts: list[int], seed: int = 1) -> Decisions:
    """Return decisions with these numbers of legal actions. The ids of the actions are 10, 11, …"""
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.uint32)
    nothing = np.empty((0, 0), np.uint8)
    return Decisions(
        game=engine.game(GAMES[0]),
        players=2,
        actors=np.zeros(len(counts), np.int8),
        legal_offsets=offsets,
        legal_ids=np.concatenate([np.arange(10, 10 + count) for count in counts]).astype(np.uint16),
        luck=np.random.default_rng(seed).integers(2**64, size=len(counts), dtype=np.uint64),
        observations=nothing,
        drawn=nothing,
    )


def drawn(values: list[float], temperature: int, count: int = 20_000) -> np.ndarray:
    """Return how often each action is drawn in `count` decisions whose actions have these values."""
    asked = decisions([len(values)] * count)
    best = np.full(count, 10, np.uint16)
    found = draw_actions(asked, best, np.tile(np.array(values), count), temperature)
    return np.bincount(found - 10, minlength=len(values)) / count


def test_a_loss_of_one_temperature_halves_the_probability() -> None:
    # The losses are 0, 1, 2 and 3 temperatures.
    assert drawn([0.75, 0.5, 0.25, 0.0], 25) == pytest.approx([8 / 15, 4 / 15, 2 / 15, 1 / 15], abs=0.02)
    # Fractions of a temperature are rounded down to quarters.
    assert drawn([0.5, 0.44], 20) == pytest.approx([0.543, 0.457], abs=0.02)
    # At a higher temperature, losses have less effect.
    assert drawn([1, -1], 1000)[1] > drawn([1, -1], 100)[1] > drawn([1, -1], 30)[1] > 0


def test_hopeless_and_untried_actions_are_not_drawn() -> None:
    assert drawn([0.9, np.nan, 0.9, -1.0], 5).tolist() == [
        pytest.approx(0.5, abs=0.02),
        0,
        pytest.approx(0.5, abs=0.02),
        0,
    ]


def test_without_values_or_temperature_actions_are_unchanged() -> None:
    asked = decisions([3, 1, 2])
    best = np.array([12, 10, 11], np.uint16)
    values = np.array([np.nan, np.nan, np.nan, np.nan, 0.0, -1.0])
    assert draw_actions(asked, best, values, 0).tolist() == best.tolist()
    found = draw_actions(asked, best, values, 1)
    assert found.tolist() == [12, 10, 10]
    assert found.dtype == np.uint16


@over_names
@pytest.mark.parametrize("spec", SEARCHING)
def test_mistakes_depend_only_on_luck(name: str, spec: str) -> None:
    players = engine.game(name).min_players
    host, bot = Host(name, players, 6, 3), bots.get(f"{spec},temperature=300", name, players)
    sure = bots.get(spec, name, players)
    differ = 0
    for _ in range(6):
        rows = np.arange(len(host.positions.actors))
        judged, again = (bot.judge(host.decisions(bot, rows)) for _ in range(2))
        assert judged.actions.tolist() == again.actions.tolist()
        # The choices are the same if the decisions are made one at a time.
        assert judged.actions.tolist() == [host.choose(bot, [row])[0] for row in rows.tolist()]
        without = sure.judge(host.decisions(sure, rows))
        # The results of the search are unchanged.
        assert np.array_equal(judged.values, without.values, equal_nan=True)
        assert np.array_equal(judged.shares, without.shares)
        differ += int(np.count_nonzero(judged.actions != without.actions))
        host.step(judged.actions)
    assert differ > 0


@pytest.mark.parametrize("spec", SEARCHING)
@pytest.mark.parametrize("value", ["1001", "-1", "0.5"])
def test_temperatures_out_of_range_are_refused(spec: str, value: str) -> None:
    message = f"bot {spec[: spec.index(':')]}: temperature must be a whole number from 0 to 1000, not '{value}'"
    with pytest.raises(ValueError, match=f"^{message}$"):
        bots.get(f"{spec},temperature={value}", GAMES[0], 2)
    with pytest.raises(ValueError, match=r"^temperature must be from 0 to 1000, not 1001$"):
        FlatBot(10, temperature=1001)
