"""Many games at a time. In each game, the caller decides for one seat, and bots decide for the other seats."""

from collections.abc import Sequence
from typing import NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from chatiere.bots.hosting import choose, decisions_of
from chatiere.drawing import draw
from chatiere.engine import Columns, EngineError, Position, Table
from chatiere.engine.core.choices import scramble
from chatiere.engine.core.columns import PositionColumns
from chatiere.envs.seating import Seating, refusal


class SeatGames:
    """`count` places for games with sampled chance. Each game waits for a decision by its seat, or is over.

    The bots play between the seat's decisions. A game depends only on the numbers of its generator and the seat's
    actions. Other games have no effect on it.
    """

    masks: NDArray[np.int8]
    """int8 (count, num_actions): 1 for each action that is legal for the seat. All 0 if the game is over."""
    over: NDArray[np.bool_]
    """bool (count,): True where the game is over, or has not begun."""
    returns: NDArray[np.float64]
    """float64 (count,): the seat's return if the game is over, 0 otherwise."""

    def __init__(self, seating: Seating, count: int) -> None:
        """Create `count` places, 1 or more, without games."""
        self.seating = seating
        self.game = seating.game
        self._seat, self._bot_of = seating.seat, np.array(seating.bot_of)
        self._table = Table(self.game, seating.players)
        needs_observations = any(bot.needs_observations for bot in seating.bots)
        self._columns = Columns(legal=True, scores=True, observations=needs_observations)
        self._states = np.zeros((count, self.game.packed_size), np.uint8)
        self._decisions = np.zeros(count, np.uint32)
        self._luck_keys = np.zeros((count, 2), np.uint64)
        self.masks = np.zeros((count, self.game.num_distinct_actions), np.int8)
        self.over = np.ones(count, np.bool_)
        self.returns = np.zeros(count)

    def begin(self, rows: NDArray[np.intp], generators: Sequence[np.random.Generator]) -> None:
        """Begin games at `rows` and play until the seat has to decide.

        Args:
            rows: The places at which to begin.
            generators: A generator for every place, from which the game's seed and the luck of its bots are drawn.
        """
        # Replace a game that ends before the seat's first decision, because a learner cannot learn from it.
        while len(rows):
            seeds = np.array([generators[row].integers(0, 2**64, 3, np.uint64) for row in rows])
            columns = self._table.new_games(self.seating.options, seeds=seeds[:, 0].copy().data, columns=self._columns)
            self._luck_keys[rows] = seeds[:, 1:]
            self._decisions[rows] = 0
            self._play(rows, columns)
            rows = rows[self.over[rows]]

    def act(self, rows: NDArray[np.intp], actions: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Apply an action of the seat at each of `rows`, and play until its next decision or the end.

        Args:
            rows: The places at which to act.
            actions: The dense id of the action at each of `rows`.

        Returns:
            bool (len(rows),): True where an illegal action lost the game.

        Raises:
            EngineError: ILLEGAL_ACTION, unless illegal actions lose the game. The games are unchanged.
        """
        illegal: NDArray[np.bool_] = self.masks[rows, actions] == 0
        if not self.seating.illegal_loses and illegal.any():
            first = int(np.argmax(illegal))
            self._refuse(int(rows[first]), int(actions[first]))
        lost, going_on = rows[illegal], rows[~illegal]
        self.masks[lost] = 0
        self.over[lost] = True
        self.returns[lost] = self.seating.lowest_return
        if len(going_on):
            self._play(going_on, self._step(going_on, actions[~illegal].astype(np.uint16)))
        return illegal

    def observations(self) -> NDArray[np.uint8]:
        """Return the seat's observation of each game: uint8 (count, observation_length). All games must have begun."""
        count = len(self._states)
        observations, _ = self._table.observe(self._states.data, np.full(count, self._seat, np.uint8).data)
        return np.frombuffer(observations, np.uint8).reshape(count, -1).copy()

    def draw(self, row: int) -> str:
        """Return the table of a game as the seat sees it. The game must have begun."""
        return draw(self._position(row), self._seat)

    def _play(self, rows: NDArray[np.intp], columns: PositionColumns) -> None:
        # `columns` has the positions at `rows`. Each round stores the positions, and makes a decision in each game
        # where a bot has to decide. A game is marked as over while bots play, so that it cannot continue after a bot
        # has failed.
        while True:
            reached = _Reached.of(columns, len(rows))
            own = reached.actors == self._seat
            self._states[rows] = reached.states
            self.over[rows] = ~own
            self.returns[rows] = np.where(reached.final, reached.returns[:, self._seat], 0)
            self.masks[rows] = 0
            where = np.repeat(np.arange(len(rows)), np.diff(reached.legal_offsets))
            shown = own[where]
            self.masks[rows[where[shown]], reached.legal_ids[shown]] = 1
            others = np.flatnonzero(~own & ~reached.final)
            if not len(others):
                return
            actions = self._choose(rows, others, reached)
            rows = rows[others]
            columns = self._step(rows, actions)

    def _choose(self, rows: NDArray[np.intp], others: NDArray[np.intp], reached: "_Reached") -> NDArray[np.uint16]:
        # Return the bots' actions at the indices `others` of `rows`.
        actions = np.empty(len(others), np.uint16)
        playing = self._bot_of[reached.actors[others]]
        for number, bot in enumerate(self.seating.bots):
            chosen = playing == number
            if chosen.any():
                places = others[chosen]
                keys = self._luck_keys[rows[places]]
                luck = scramble(keys[:, 0] + self._decisions[rows[places]]) ^ keys[:, 1]
                decisions = decisions_of(reached, places, bot, self.game, self._table.players, luck, self._resample)
                actions[chosen] = choose(bot, decisions)
        return actions

    def _step(self, rows: NDArray[np.intp], actions: NDArray[np.uint16]) -> PositionColumns:
        self._decisions[rows] += 1
        # No action can be refused, because the actions of bots were checked.
        columns, _ = self._table.step(self._states[rows].data, actions.data, columns=self._columns)
        return columns

    def _resample(self, states: NDArray[np.uint8], seats: NDArray[np.int8], seed: int) -> NDArray[np.uint8]:
        worlds, _ = self._table.resample(states.data, seats.astype(np.uint8).data, seed=seed)
        return np.frombuffer(worlds, np.uint8).reshape(states.shape)

    def _position(self, row: int) -> Position:
        return self._table.position(self._states.data, row)

    def _refuse(self, row: int, action: int) -> NoReturn:
        try:
            self._position(row).apply(action)
        except EngineError as error:
            raise refusal(error, f"actions[{row}]", action) from None
        raise AssertionError("the action is legal")


class _Reached(NamedTuple):
    # Positions with columns as in Batch. `final` is True where the game is over, and `returns` is (n, players).
    actors: NDArray[np.int8]
    legal_offsets: NDArray[np.uint32]
    legal_ids: NDArray[np.uint16]
    observations: NDArray[np.uint8]
    states: NDArray[np.uint8]
    final: NDArray[np.bool_]
    returns: NDArray[np.float32]

    @classmethod
    def of(cls, columns: PositionColumns, count: int) -> "_Reached":
        return cls(
            np.frombuffer(columns.actors, np.int8),
            np.frombuffer(columns.legal_offsets, np.uint32),
            np.frombuffer(columns.legal_ids, np.uint16),
            np.frombuffer(columns.observations, np.uint8).reshape(count, -1),
            np.frombuffer(columns.states, np.uint8).reshape(count, -1),
            np.frombuffer(columns.final, np.bool_),
            np.frombuffer(columns.returns, np.float32).reshape(count, -1),
        )
