"""The interface of bots: decisions as their seats know them, and what chooses.

A bot that plays Discat's first legal action:

    class First(Bot):
        def choose(self, decisions):
            return decisions.legal_ids[decisions.legal_offsets[:-1]]
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chatiere.engine import Game, Table
from chatiere.engine.core import choices
from chatiere.engine.core.integers import require_integer


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
    worlds."""

    def __len__(self) -> int:
        """Return the number of decisions."""
        return len(self.actors)

    def legal_counts(self) -> NDArray[np.uint32]:
        """Return the number of legal actions of each decision, 1 or more: uint32 (n,)."""
        return np.diff(self.legal_offsets)

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
        packed_size): of each decision those with the numbers `first` … `first + count - 1`. A number always brings the
        same world. With sampled chance each world goes on with a random stream of its own.

        Raises ValueError for a count below 1, and if the bot did not say that it needs worlds.
        """
        if not self.drawn.size:
            raise ValueError("the bot gets no worlds, as its needs_worlds is False")
        table, size = Table(self.game, self.players), self.game.packed_size
        rows, count = np.asarray(rows), require_integer("count", count)
        if count < 1:
            raise ValueError(f"count must be 1 or more, not {count}")
        found = np.empty((len(rows), count, size), np.uint8)
        # What is hidden in `drawn` is drawn anew: the results depend only on what the actor knows.
        for place, row in enumerate(rows):
            states = np.repeat(self.drawn[row, None], count, axis=0)
            seats = np.full(count, self.actors[row], np.uint8)
            seed = int(choices.scramble(self.luck[row, None])[0])
            worlds, _ = table.resample(states.data, seats.data, seed=seed, first_game_number=first)
            found[place] = np.frombuffer(worlds, np.uint8).reshape(count, size)
        return found


class Bot(ABC):
    """A player of any seat, that knows of each decision only what its actor knows.

    A bot keeps nothing from one call of `choose` to the next: the same decisions get the same actions, one at a time or
    many, in process or over the service.
    """

    needs_observations = False
    """True if it needs `Decisions.observations`."""
    needs_worlds = False
    """True if it needs `Decisions.worlds`."""

    @abstractmethod
    def choose(self, decisions: Decisions) -> NDArray[np.uint16]:
        """Choose a legal action for each decision, by its dense id: uint16 (n,).

        Bots that choose at random use `Decisions.luck`, so that games can be repeated.
        """


class Searched(NamedTuple):
    """What bots chose at n decisions, and what searches found out there."""

    actions: NDArray[np.uint16]
    """uint16 (n,): the dense ids of the chosen actions."""
    visit_shares: NDArray[np.float32]
    """float32, one for each of `legal_ids`: its share of the search's visits, which add up to 1 for a decision."""
    values: NDArray[np.float32]
    """float32 (n,): the return that the actor can expect; not a number where there was no search."""


class SearchBot(Bot):
    """A bot that tells what its search found out: data sets of self-play have that, too."""

    @abstractmethod
    def search(self, decisions: Decisions) -> Searched:
        """Choose as `choose` does, and tell why.

        Where there is no search, as with a single legal action, the value is not a number, and the shares mean nothing.
        """

    def choose(self, decisions: Decisions) -> NDArray[np.uint16]:
        """See Bot.choose."""
        return self.search(decisions).actions
