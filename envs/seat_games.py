"""Games in which one seat decides for itself and bots decide for the others, many at a time."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, NoReturn, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from chatiere import engine
from chatiere.engine import TERMINAL_PLAYER, Columns, EngineError, Position, Reason, Table
from chatiere.engine.core.batch import PositionColumns
from chatiere.engine.core.integers import integer_in, must_be
from chatiere.envs.render import draw

_COLUMNS = Columns(legal=True, scores=True)
_ON_ILLEGAL = ("lose", "raise")


class SeatGames:
    """`count` places for games with sampled chance, each of which waits for its seat's decision or is over.

    Between the seat's decisions the bots play. A game depends only on what its generator gives and on the seat's
    actions, not on the other places.
    """

    masks: NDArray[np.int8]
    """int8 (count, num_actions): 1 for each action that is legal for the seat; all 0 where the game is over."""
    over: NDArray[np.bool_]
    """bool (count,): whether the game is over, or has not begun."""
    returns: NDArray[np.float64]
    """float64 (count,): the seat's return where the game is over, 0 elsewhere."""

    def __init__(
        self,
        game: str,
        players: SupportsIndex | None,
        seat: SupportsIndex,
        opponents: str | Sequence[str],
        options: Mapping[str, Any] | None,
        illegal: str,
        count: int,
    ) -> None:
        """Make the places, without games. The arguments are those of SeatEnv; `count`: 1 or more.

        Raises EngineError: UNKNOWN_GAME, INVALID_PLAYERS, INVALID_SEAT, INVALID_OPTION; ValueError: another argument.
        """
        self.game = engine.game(game)
        self._table = Table(self.game, self.game.min_players if players is None else players)
        self._options = options
        self._lowest_return = self.game.limits(self._table.players, options).min_utility
        self._seat = _read_seat(seat, self._table.players)
        _check_opponents(opponents, self._table.players)
        if illegal not in _ON_ILLEGAL:
            raise ValueError(f"illegal must be {' or '.join(map(repr, _ON_ILLEGAL))}, not {illegal!r}")
        self._illegal_loses = illegal == "lose"
        self._states = np.zeros((count, self.game.packed_size), np.uint8)
        self._decisions = np.zeros(count, np.uint32)
        self._luck_keys = np.zeros(count, np.uint64)
        self.masks = np.zeros((count, self.game.num_distinct_actions), np.int8)
        self.over = np.ones(count, np.bool_)
        self.returns = np.zeros(count)

    def begin(self, rows: NDArray[np.intp], generators: Sequence[np.random.Generator]) -> None:
        """Begin games at `rows` and play until the seat has to decide.

        `generators`: one for each place of all; each gives the seeds of its game and of the bots there.
        """
        # In a game that ends before the seat's first decision there is nothing to learn: another takes its place.
        while len(rows):
            seeds = np.array([generators[row].integers(0, 2**64, 2, np.uint64) for row in rows])
            columns = self._table.new_games(self._options, seeds=seeds[:, 0].copy().data, columns=_COLUMNS)
            self._luck_keys[rows] = seeds[:, 1]
            self._decisions[rows] = 0
            self.over[rows] = False
            self.returns[rows] = 0
            self._play(rows, columns)
            rows = rows[self.over[rows]]

    def act(self, rows: NDArray[np.intp], actions: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Apply an action of the seat at each of `rows`, and play until its next decision, or to the end.

        Return bool (len(rows),): where an illegal action has lost the game. Raises EngineError, if illegal actions do
        not lose: ILLEGAL_ACTION; nothing is changed.
        """
        illegal: NDArray[np.bool_] = self.masks[rows, actions] == 0
        if not self._illegal_loses and illegal.any():
            first = int(np.argmax(illegal))
            self._refuse(int(rows[first]), int(actions[first]))
        lost, going_on = rows[illegal], rows[~illegal]
        self.masks[lost] = 0
        self.over[lost] = True
        self.returns[lost] = self._lowest_return
        if len(going_on):
            self._play(going_on, self._step(going_on, actions[~illegal].astype(np.uint16)))
        return illegal

    def observations(self) -> NDArray[np.uint8]:
        """Return what the seat knows in each game: uint8 (count, observation_length). All must have begun."""
        count = len(self._states)
        observations, _ = self._table.observe(self._states.data, np.full(count, self._seat, np.uint8).data)
        return np.frombuffer(observations, np.uint8).reshape(count, -1).copy()

    def draw(self, row: int) -> str:
        """Return the table of a game as the seat sees it. The game must have begun."""
        return draw(self._position(row), self._seat)

    def _play(self, rows: NDArray[np.intp], columns: PositionColumns) -> None:
        # `columns`: the positions at `rows`. Each round keeps them, and makes a decision where a bot has to.
        while True:
            actors = np.frombuffer(columns.actors, np.int8)
            self._states[rows] = np.frombuffer(columns.states, np.uint8).reshape(len(rows), -1)
            self._end_games(rows, actors == TERMINAL_PLAYER, columns)
            legal = _Legal(np.frombuffer(columns.legal_offsets, np.uint32), np.frombuffer(columns.legal_ids, np.uint16))
            self._show_legal(rows, actors == self._seat, legal)
            others = np.flatnonzero((actors >= 0) & (actors != self._seat))
            if not len(others):
                return
            rows = rows[others]
            columns = self._step(rows, self._choose(rows, legal.at(others)))

    def _end_games(self, rows: NDArray[np.intp], over: NDArray[np.bool_], columns: PositionColumns) -> None:
        returns = np.frombuffer(columns.returns, np.float32).reshape(len(rows), -1)
        self.over[rows[over]] = True
        self.returns[rows[over]] = returns[over, self._seat]

    def _show_legal(self, rows: NDArray[np.intp], own: NDArray[np.bool_], legal: "_Legal") -> None:
        shown = legal.at(np.flatnonzero(own))
        self.masks[rows] = 0
        self.masks[np.repeat(rows[own], shown.counts()), shown.ids] = 1

    def _step(self, rows: NDArray[np.intp], actions: NDArray[np.uint16]) -> PositionColumns:
        self._decisions[rows] += 1
        columns, _ = self._table.step(self._states[rows].data, actions.data, columns=_COLUMNS)
        return columns

    def _choose(self, rows: NDArray[np.intp], legal: "_Legal") -> NDArray[np.uint16]:
        luck = _mixed(self._luck_keys[rows] + self._decisions[rows])
        places = (luck >> np.uint64(32)) * legal.counts() >> np.uint64(32)
        return legal.ids[legal.offsets[:-1] + places]

    def _position(self, row: int) -> Position:
        return self._table.position(self._states.data, row)

    def _refuse(self, row: int, action: int) -> NoReturn:
        field = "action" if len(self._states) == 1 else f"actions[{row}]"
        try:
            self._position(row).apply(action)
        except EngineError as error:
            message = f"{field} {action} is illegal: {error.message} ({error.rule})"
            raise EngineError(error.reason, message, field=field, rule=error.rule, metadata=error.metadata) from None
        raise AssertionError("the action is legal")


class _Legal(NamedTuple):
    # The legal actions of positions; the one at place i has ids[offsets[i]:offsets[i + 1]].
    offsets: NDArray[np.uint32]
    ids: NDArray[np.uint16]

    def counts(self) -> NDArray[np.uint32]:
        return np.diff(self.offsets)

    def at(self, places: NDArray[np.intp]) -> "_Legal":
        counts = self.counts()[places]
        offsets = np.zeros(len(places) + 1, np.uint32)
        np.cumsum(counts, out=offsets[1:])
        ids = np.repeat(self.offsets[places] - offsets[:-1], counts) + np.arange(offsets[-1], dtype=np.uint32)
        return _Legal(offsets, self.ids[ids])


def _read_seat(seat: SupportsIndex, players: int) -> int:
    number = integer_in(seat, 0, players - 1)
    if number is None:
        raise EngineError(Reason.INVALID_SEAT, must_be("seat", seat, 0, players - 1), field="seat")
    return number


def _mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    # A step of SplitMix64 (https://prng.di.unimi.it/splitmix64.c); unsigned numbers wrap around.
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def _check_opponents(opponents: str | Sequence[str], players: int) -> None:
    others = players - 1
    names = [opponents] * others if isinstance(opponents, str) else opponents
    if not isinstance(names, Sequence) or len(names) != others:
        raise ValueError(f"opponents must be one bot or a list of {others}, one for each other seat, not {opponents!r}")
    for name in names:
        if name != "random":
            raise ValueError(f"opponents: unknown bot {name!r}; known bots: random")
