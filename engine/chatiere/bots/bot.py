"""The interface of bots: the decisions that a bot receives, and the base class of bots.

This bot always plays Discat's first legal action:

    class First(Bot):
        def choose(self, decisions):
            return decisions.legal_ids[decisions.legal_offsets[:-1]]
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chatiere.engine import Game, Table
from chatiere.engine.core import choices
from chatiere.engine.core.cancellation import Cancellation
from chatiere.engine.core.integers import require_integer, unsigned

# The maximum number of worlds drawn in one call, large enough that the overhead of a call does not matter.
_WORLDS_AT_ONCE = 4096


@dataclass(frozen=True)
class Decisions:
    """n decisions for a bot to make. Each contains only the knowledge of the actor, the seat whose turn it is.

    The number n ranges from one to thousands. Decisions do not contain true states, seeds of games or game numbers.
    From these, a bot could compute all hidden information and future chance outcomes.
    """

    game: Game
    """The game of all decisions."""
    players: int
    """The number of players in each game."""
    actors: NDArray[np.int8]
    """int8 (n,): the actor."""
    legal_offsets: NDArray[np.uint32]
    """uint32 (n + 1,): decision i has the legal actions legal_ids[legal_offsets[i]:legal_offsets[i + 1]]."""
    legal_ids: NDArray[np.uint16]
    """uint16 (legal_offsets[n],): the dense ids of the legal actions, one or more for each decision, ascending."""
    luck: NDArray[np.uint64]
    """uint64 (n,): the bot's own random numbers, uniform over 0 … 2**64 - 1.

    They do not depend on how games are batched, and do not reveal the games' seed and numbers.
    """
    observations: NDArray[np.uint8]
    """uint8 (n, observation_length): the actor's observation. Empty unless the bot needs observations."""
    drawn: NDArray[np.uint8]
    """uint8 (n, packed_size): a world for each decision, from which `worlds` draws further worlds. It depends only on
    the decision's `luck` and the actor's knowledge. Empty unless the bot needs worlds."""
    cancellation: Cancellation | None = None
    """The handle that cancels the choice. `worlds` then raises Cancelled. None means that the choice cannot be
    cancelled."""
    hides_forced: bool = False
    """True if the duration of a choice must not reveal whether there was more than one legal action."""

    def __len__(self) -> int:
        """Return the number of decisions."""
        return len(self.actors)

    def legal_counts(self) -> NDArray[np.uint32]:
        """Return the number of legal actions of each decision, 1 or more: uint32 (n,)."""
        return np.diff(self.legal_offsets)

    def worth_a_search(self) -> NDArray[np.intp]:
        """Return the rows to search: decisions with several legal actions, or all decisions if `hides_forced`."""
        return np.flatnonzero(self.legal_counts() > (0 if self.hides_forced else 1))

    def legal_mask(self) -> NDArray[np.bool_]:
        """Return a mask that is True for legal actions: bool (n, game.num_distinct_actions)."""
        return choices.legal_mask(self.legal_offsets, self.legal_ids, self.game.num_distinct_actions)

    def random_actions(self) -> NDArray[np.uint16]:
        """Choose a legal action for each decision by its `luck`, uniformly to within 2**-32: uint16 (n,)."""
        return choices.random_actions(self.legal_offsets, self.legal_ids, self.luck)

    def best_actions(self, values: NDArray[np.generic]) -> NDArray[np.uint16]:
        """Return the legal action with the highest value for each decision. Among equals, return the first.

        Args:
            values: A value for each of `legal_ids`.

        Returns:
            uint16 (n,).
        """
        return choices.best_actions(self.legal_offsets, self.legal_ids, values)

    def worlds(self, rows: ArrayLike, count: SupportsIndex, first: SupportsIndex = 0) -> NDArray[np.uint8]:
        """Draw worlds: states that the actor cannot distinguish from the true state.

        Worlds are drawn uniformly and independently. The seed of a decision's worlds depends only on the decision's
        `luck`, so that other decisions do not affect these worlds. With sampled chance, each world has its own
        random stream.

        Args:
            rows: (k,), the indices of the decisions.
            count: The number of worlds for each decision, 1 or more.
            first: The number of the first world.

        Returns:
            The packed states, uint8 (k, count, packed_size). Each decision has the worlds with the numbers `first` …
            `first + count - 1`.

        Raises:
            ValueError: If `count` is below 1, or the bot's `needs_worlds` is False.
            Cancelled: If the choice was cancelled.
        """
        if not self.drawn.size:
            raise ValueError("the bot gets no worlds, as its needs_worlds is False")
        rows, count, first = np.asarray(rows), require_integer("count", count), unsigned("first", first, 64)
        if count < 1:
            raise ValueError(f"count must be 1 or more, not {count}")
        table, numbers = Table(self.game, self.players), np.uint64(first) + np.arange(count, dtype=np.uint64)
        found = np.empty((len(rows), count, self.game.packed_size), np.uint8)
        at_once = max(1, _WORLDS_AT_ONCE // count)
        for place in range(0, len(rows), at_once):
            some = rows[place : place + at_once]
            # The hidden parts of `drawn` are redrawn, so the results depend only on the actor's knowledge.
            worlds, _ = table.resample(
                np.repeat(self.drawn[some], count, axis=0).data,
                np.repeat(self.actors[some], count),
                seeds=np.repeat(choices.scramble(self.luck[some]), count),
                game_numbers=np.tile(numbers, len(some)),
                cancellation=self.cancellation,
            )
            found[place : place + at_once] = np.frombuffer(worlds, np.uint8).reshape(len(some), *found.shape[1:])
        return found


@dataclass(frozen=True)
class Judgement:
    """The actions that a bot chose for n decisions, and its ratings of the legal actions."""

    actions: NDArray[np.uint16]
    """uint16 (n,): the chosen dense ids."""
    values: NDArray[np.float64]
    """float64 (legal_offsets[n],), for each of `Decisions.legal_ids`: the return that the bot expects, from -1 to
    players - 1. NaN if the bot did not try the action. Empty if the bot does not judge actions."""
    shares: NDArray[np.float64]
    """float64 (legal_offsets[n],), for each of `Decisions.legal_ids`: the action's share of the search. The shares of a
    decision sum to 1. Empty if the bot does not search."""

    def chosen_values(self, decisions: Decisions) -> NDArray[np.float64]:
        """Return the value of each chosen action, float64 (n,). NaN for an action without a value."""
        if not self.values.size:
            return np.full(len(decisions), np.nan)
        chosen = decisions.legal_ids == np.repeat(self.actions, decisions.legal_counts())
        found: NDArray[np.float64] = self.values[chosen]
        return found


class BotError(ValueError):
    """A bot broke the contract of Bot, for example by choosing an illegal action."""


class Forfeit(BotError):
    """A bot failed at some decisions. An arena counts their games as lost by the bot; other hosts end with the error.

    Attributes:
        rows: intp (k,), the indices of these decisions.
        judgement: The bot's judgement of the other decisions. At the decisions that failed, it has any legal action.
    """

    def __init__(self, reason: str, rows: NDArray[np.intp], judgement: Judgement) -> None:
        """Create the error. `reason`: its text."""
        super().__init__(reason)
        self.rows, self.judgement = rows, judgement


class Bot(ABC):
    """The base class of bots. A bot can play any seat. For each decision, it has only the actor's knowledge.

    A bot keeps no state between calls to `choose`. It chooses the same actions for the same decisions, whether it gets
    one or many decisions at a time, in process or over the service.
    """

    title = ""
    """The bot's displayed name in English, for a bot in the registry. Catalogues have translations."""
    description = ""
    """A description of how the bot plays, in English. Catalogues have translations."""
    needs_observations = False
    """True if the bot needs `Decisions.observations`."""
    needs_worlds = False
    """True if the bot needs `Decisions.worlds`."""
    budget = 0
    """The number of games that the bot plays, at least in part, for each decision. 0 if the bot does not search."""
    milliseconds: int | None = None
    """The duration of a call to `choose` in milliseconds if the bot has a time limit. Otherwise None."""
    is_reproducible = False
    """True if the same decisions always get the same actions, that is, if the bot depends only on `Decisions`.

    Data sets and sealed tables accept only bots for which this is true."""

    @abstractmethod
    def choose(self, decisions: Decisions) -> NDArray[np.uint16]:
        """Choose a legal action for each decision, by its dense id: uint16 (n,).

        Bots that choose at random should use `Decisions.luck`, so that games can be repeated.
        """

    def judge(self, decisions: Decisions) -> Judgement:
        """Choose an action for each decision, and rate the legal actions. Bots that search override this method."""
        nothing = np.empty(0, np.float64)
        return Judgement(self.choose(decisions), nothing, nothing)


class SearchBot(Bot):
    """The base class of bots that judge actions by searching worlds."""

    needs_worlds = True

    @abstractmethod
    def judge(self, decisions: Decisions) -> Judgement:
        """See Bot.judge."""

    def choose(self, decisions: Decisions) -> NDArray[np.uint16]:
        """See Bot.choose."""
        return self.judge(decisions).actions
