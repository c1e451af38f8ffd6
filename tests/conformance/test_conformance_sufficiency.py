"""Every game: an observation contains everything that its seat can infer with certainty, as measured by resampling.

Pairs of different histories are made by exchanging moves of one game. If both histories give a seat the same
observation, resampling for the seat must draw the same worlds, byte for byte. Resampling draws from all worlds
consistent with the seat's knowledge. This test therefore detects information that resampling uses but an observation
does not contain. Games are cut before their end, because no information is hidden there.

The environment variable CHATIERE_HISTORIES sets the number of pairs for each game (2,000 if unset).
"""

import os
import random
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from chatiere.engine import CHANCE_PLAYER, Game, Position

from .support import begin, liked_move, moves_of, random_likings

# These tests run mostly Python. All compiled code that they run is also run under the sanitizers by other tests.
pytestmark = pytest.mark.release_only

PAIRS = int(os.environ.get("CHATIERE_HISTORIES", "2000"))
# The number of cuts in each game, and the number of exchanges tried among the last moves at each cut.
CUTS = 8
SWAPS = 30
WINDOW = 40
SEEDS = (1, 2)


class Move(NamedTuple):
    """A move, identified by its label, because a dense id may refer to a slot of a hand instead of to a card."""

    mover: int
    label: str


def named(position: Position, move: int) -> Move:
    """Return a dense id or outcome at a position as a Move."""
    mover = position.current_player()
    return Move(mover, (position.outcome_label if mover == CHANCE_PLAYER else position.action_label)(move))


def played(position: Position, moves: list[Move]) -> tuple[list[Move], Position] | None:
    """Make all moves from a position, each time the first possible move. None if a move is never possible."""
    end, rest, made = position.clone(), moves.copy(), []
    while rest:
        possible = {named(end, move): move for move in moves_of(end)}
        move = next((move for move in rest if move in possible), None)
        if move is None:
            return None
        end.apply(possible[move])
        rest.remove(move)
        made.append(move)
    return made, end


def swapped(moves: list[Move], choices: random.Random) -> list[Move]:
    """Return the moves with the first and a later move exchanged, usually two decisions of one seat."""
    alike = [at for at, move in enumerate(moves) if at and move.mover == moves[0].mover]
    other = choices.choice(alike if alike and choices.random() < 0.8 else range(1, len(moves)))
    return [moves[other], *moves[1:other], moves[0], *moves[other + 1 :]]


def ends_of_histories(game: Game, players: int, choices: random.Random) -> Iterator[tuple[Position, Position]]:
    """Yield, without end, the last positions of two different histories that consist of the same moves."""
    while True:
        line = [begin(game, players, choices, sampled=False)]
        history: list[Move] = []
        likings = random_likings(game, choices)
        while not line[-1].is_terminal():
            move = liked_move(line[-1], likings, choices)
            history.append(named(line[-1], move))
            line.append(line[-1].child(move))
        for _ in range(CUTS):
            end = choices.randrange(2, len(history))
            for _ in range(SWAPS):
                start = choices.randrange(max(0, end - WINDOW), end - 1)
                if history[start].mover == CHANCE_PLAYER and choices.random() < 0.8:
                    continue
                found = played(line[start], swapped(history[start:end], choices))
                if found is not None and found[0] != history[start:end]:
                    yield line[end], found[1]


def test_equal_observations_give_equal_worlds(game: Game, capsys: pytest.CaptureFixture[str]) -> None:
    choices = random.Random(f"sufficiency {game.name}")
    tables = [ends_of_histories(game, players, choices) for players in range(game.min_players, game.max_players + 1)]
    met = different = 0
    while met < PAIRS:
        for table in tables:
            one, other = next(table)
            for seat in range(one.num_players()):
                if one.observation(seat) == other.observation(seat):
                    met += 1
                    different += one != other
                    for seed in SEEDS:
                        # The bytes can be compared, because chance is explicit and they contain no stream.
                        assert one.resample(seat, seed).pack() == other.resample(seat, seed).pack(), (one, other, seat)
    with capsys.disabled():
        print(f"\n{game.name}: {met} pairs of equal observations, {different} in different states", end=" ")
