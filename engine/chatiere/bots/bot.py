"""The interface of bots: decisions as their seats know them, and what chooses.

A bot that plays Discat's first legal action:

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
from chatiere.engine.core.batch import Cancellation
from chatiere.engine.core.integers import require_integer, unsigned

# Worlds drawn in one call: enough that calls cost nothing beside them.
_WORLDS_AT_ONCE = 4096


@dataclass(frozen=True)
class Decisions:
    """n decisions to make, one or thousands, with what each actor may know, and nothing else.

    So there are no true states here, no seeds of games and no game numbers: who knew these could work out everything
    that is hidden, and what chance will bring.
    """

    game: Game
    """The game, the same for all."""
    players: int
    """The number of players, the same for all."""
    actors: NDArray[np.int8]
    """int8 (n,): the seat to decide."""
    legal_offsets: NDArray[np.uint32]
    """uint32 (n + 1,): decision i has the legal actions legal_ids[legal_offsets[i]:legal_offsets[i + 1]]."""
    legal_ids: NDArray[np.uint16]
    """uint16 (legal_offsets[n],): the dense ids of the legal actions, one or more for each decision, ascending."""
    luck: NDArray[np.uint64]
    """uint64 (n,): the bot's own random numbers, uniform over 0 … 2**64 - 1.

    They stay the same however games are batched, and tell nothing of the games' seed and numbers.
    """
    observations: NDArray[np.uint8]
    """uint8 (n, observation_length): the actor's observation; empty unless the bot needs observations."""
    drawn: NDArray[np.uint8]
    """uint8 (n, packed_size): a world for each decision, of which `worlds` makes others; empty unless the bot needs
    worlds. It depends on nothing but the decision's `luck` and what its actor knows."""
    cancellation: Cancellation | None = None
    """The cancellation of the choice: `worlds` then raises Cancelled. None: it can't be cancelled."""
    hides_forced: bool = False
    """True if nobody may learn from the time that a choice takes whether there was one."""

    def __len__(self) -> int:
        """Return the number of decisions."""
        return len(self.actors)

    def legal_counts(self) -> NDArray[np.uint32]:
        """Return the number of legal actions of each decision, 1 or more: uint32 (n,)."""
        return np.diff(self.legal_offsets)

    def worth_a_search(self) -> NDArray[np.intp]:
        """Return the decisions to search at: those with several legal actions, or all if forced ones are hidden."""
        return np.flatnonzero(self.legal_counts() > (0 if self.hides_forced else 1))

    def legal_mask(self) -> NDArray[np.bool_]:
        """Return a mask that is True for legal actions: bool (n, game.num_distinct_actions)."""
        return choices.legal_mask(self.legal_offsets, self.legal_ids, self.game.num_distinct_actions)

    def random_actions(self) -> NDArray[np.uint16]:
        """Choose a legal action for each decision by its `luck`, uniformly to within 2**-32: uint16 (n,)."""
        return choices.random_actions(self.legal_offsets, self.legal_ids, self.luck)

    def best_actions(self, values: NDArray[np.generic]) -> NDArray[np.uint16]:
        """Return the legal action of the highest value for each decision, the first of equal ones: uint16 (n,).

        `values`: one for each of `legal_ids`.
        """
        return choices.best_actions(self.legal_offsets, self.legal_ids, values)

    def worlds(self, rows: ArrayLike, count: SupportsIndex, first: SupportsIndex = 0) -> NDArray[np.uint8]:
        """Draw worlds: states that the actor cannot tell from the true one, uniformly and independently.

        `rows`: (k,), the decisions. `count`: how many for each, 1 or more. Returns packed states, uint8 (k, count,
        packed_size): of each decision those with the numbers `first` … `first + count - 1`. Each decision has a seed of
        its own, from its `luck`: a number always brings the same world, whichever other decisions there are. With
        sampled chance each world goes on with a random stream of its own.

        Raises ValueError for a count below 1, and if the bot did not say that it needs worlds; Cancelled.
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
            # What is hidden in `drawn` is drawn anew: the results depend only on what the actor knows.
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
    """The actions that a bot chose for n decisions, and how good it found the legal ones."""

    actions: NDArray[np.uint16]
    """uint16 (n,): the chosen dense ids."""
    values: NDArray[np.float64]
    """float64 (legal_offsets[n],), for each of `Decisions.legal_ids`: the return that the bot expects, from -1 to
    players - 1; NaN: it did not try the action. Empty if it does not judge actions."""
    shares: NDArray[np.float64]
    """float64 (legal_offsets[n],), for each of `Decisions.legal_ids`: the share of the search that it got; those of a
    decision sum to 1. Empty if the bot does not search."""

    def chosen_values(self, decisions: Decisions) -> NDArray[np.float64]:
        """Return the value of each chosen action: float64 (n,); NaN without one."""
        if not self.values.size:
            return np.full(len(decisions), np.nan)
        chosen = decisions.legal_ids == np.repeat(self.actions, decisions.legal_counts())
        found: NDArray[np.float64] = self.values[chosen]
        return found


class BotError(ValueError):
    """A bot did not choose as bots have to."""


class Bot(ABC):
    """A player of any seat, that knows of each decision only what its actor knows.

    A bot keeps nothing from one call of `choose` to the next: the same decisions get the same actions, one at a time or
    many, in process or over the service.
    """

    title = ""
    """Its name for people, in English: of bots that the registry knows. Catalogues have it in other languages."""
    description = ""
    """How it plays, in English, likewise."""
    needs_observations = False
    """True if it needs `Decisions.observations`."""
    needs_worlds = False
    """True if it needs `Decisions.worlds`."""
    budget = 0
    """The games that it plays out, at least in part, for a decision; 0 if it does not search."""
    is_reproducible = False
    """True if the same decisions always get the same actions, as all do that depend on nothing but `Decisions`.

    Data sets and sealed tables take no others."""

    @abstractmethod
    def choose(self, decisions: Decisions) -> NDArray[np.uint16]:
        """Choose a legal action for each decision, by its dense id: uint16 (n,).

        Bots that choose at random use `Decisions.luck`, so that games can be repeated.
        """

    def judge(self, decisions: Decisions) -> Judgement:
        """Choose, and tell how good the legal actions look; bots that search do."""
        nothing = np.empty(0, np.float64)
        return Judgement(self.choose(decisions), nothing, nothing)


class SearchBot(Bot):
    """A bot that judges actions by worlds."""

    needs_worlds = True

    @abstractmethod
    def judge(self, decisions: Decisions) -> Judgement:
        """See Bot.judge."""

    def choose(self, decisions: Decisions) -> NDArray[np.uint16]:
        """See Bot.choose."""
        return self.judge(decisions).actions
