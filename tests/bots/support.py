"""Positions for tests of bots, in this process."""

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from chatiere import bots, engine
from chatiere.bots import Bot, Decisions, hosting
from chatiere.engine import Columns, Table
from chatiere.engine.core.columns import PositionColumns

GAMES = [game.name for game in engine.games()]
TABLES = [(game.name, players) for game in engine.games() for players in range(game.min_players, game.max_players + 1)]
# Bots with small budgets, for the bots that have a budget.
_SMALL = {"flat": "flat:playouts=8", "ismcts": "ismcts:simulations=8"}
SPECS = {name: [_SMALL.get(bot, bot) for bot in bots.names(name)] for name in GAMES}
# The games' own bots.
SIMPLE = {name: bots.names(name)[3:] for name in GAMES}


class Positions(NamedTuple):
    """n positions of games in progress, in the form that a host uses."""

    game_numbers: np.ndarray
    decisions: np.ndarray
    actors: np.ndarray
    legal_offsets: np.ndarray
    legal_ids: np.ndarray
    observations: np.ndarray
    states: np.ndarray


class Host:
    """Games with one seed, numbered from 0, after the same number of decisions. Games that are over are removed."""

    def __init__(self, name: str, players: int, games: int, seed: int) -> None:
        self.table = Table(engine.game(name), players)
        self.seed = seed
        self.returns = np.zeros((games, players), np.float32)
        self._columns = Columns(legal=True, scores=True, observations=True)
        self._decisions = 0
        numbers = np.arange(games, dtype=np.uint64)
        begun = self.table.new_games(seeds=np.full(games, seed, np.uint64), game_numbers=numbers, columns=self._columns)
        self.positions = self._read(numbers, begun)

    def step(self, actions: np.ndarray) -> None:
        """Apply an action at each position."""
        stepped, faults = self.table.step(self.positions.states, actions, columns=self._columns)
        assert not faults.items
        self._decisions += 1
        self.positions = self._read(self.positions.game_numbers, stepped)

    def _read(self, numbers: np.ndarray, found: PositionColumns) -> Positions:
        final = np.frombuffer(found.final, np.uint8) > 0
        returns = np.frombuffer(found.returns, np.float32).reshape(len(final), -1)
        self.returns[numbers[final].astype(int)] = returns[final]
        offsets = np.frombuffer(found.legal_offsets, np.uint32)
        counts = np.diff(offsets)[~final]
        game = self.table.game
        return Positions(
            game_numbers=numbers[~final],
            decisions=np.full(len(counts), self._decisions),
            actors=np.frombuffer(found.actors, np.int8)[~final],
            legal_offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.uint32),
            # Games that are over have no legal actions.
            legal_ids=np.frombuffer(found.legal_ids, np.uint16),
            observations=np.frombuffer(found.observations, np.uint8).reshape(-1, game.observation_length)[~final],
            states=np.frombuffer(found.states, np.uint8).reshape(-1, game.packed_size)[~final],
        )

    def resample(self, states: np.ndarray, seats: np.ndarray, seed: int) -> np.ndarray:
        """Draw a world for each state, as the call Resample does."""
        worlds, faults = self.table.resample(states, seats.astype(np.uint8), seed=seed)
        assert not faults.items
        return np.frombuffer(worlds, np.uint8).reshape(states.shape)

    def luck(self) -> np.ndarray:
        """Return the bots' luck at the positions."""
        return hosting.luck(self.seed, self.positions.game_numbers, self.positions.decisions)

    def decisions(self, bot: Bot, rows: Sequence[int] | np.ndarray) -> Decisions:
        """Return the decisions that a bot gets for some of the positions. `rows` must be ascending."""
        rows = np.asarray(rows)
        return hosting.decisions_of(
            self.positions, rows, bot, self.table.game, self.table.players, self.luck()[rows], self.resample
        )

    def choose(self, bot: Bot, rows: Sequence[int] | np.ndarray) -> np.ndarray:
        """Return a bot's choices for some of the positions. `rows` must be ascending."""
        return bot.choose(self.decisions(bot, rows))


class All(Bot):
    """A bot that requests all available data and plays at random."""

    needs_observations = needs_worlds = True

    def choose(self, decisions: Decisions) -> np.ndarray:
        return decisions.random_actions()


def play(name: str, players: int, specs: Sequence[str], games: int, seed: int) -> np.ndarray:
    """Play games in this process. Return each bot's share of the wins. Bot (g + s) mod n plays seat s of game g."""
    host = Host(name, players, games, seed)
    seated = [bots.get(spec, name, players) for spec in specs]
    while len(host.positions.actors):
        places = (host.positions.game_numbers + host.positions.actors.astype(np.uint64)) % np.uint64(len(specs))
        actions = np.empty(len(places), np.uint16)
        for number, bot in enumerate(seated):
            rows = np.flatnonzero(places == number)
            if len(rows):
                actions[rows] = host.choose(bot, rows)
        host.step(actions)
    seats = (np.arange(games)[:, None] + np.arange(players)) % len(specs)
    shares = (host.returns + 1) / players
    return np.array([(shares * (seats == number)).sum() / games for number in range(len(specs))])


def only(decisions: Decisions, **changed: Any) -> Decisions:
    """Return decisions with some of their columns replaced."""
    return dataclasses.replace(decisions, **changed)
