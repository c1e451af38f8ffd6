"""Functions for programs that host bots: they turn positions into decisions without hidden information."""

import hashlib
from collections.abc import Callable
from functools import cache
from typing import Protocol, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chatiere.bots.bot import Bot, BotError, Decisions, Judgement
from chatiere.engine import Game, Position, Table
from chatiere.engine.core.cancellation import Cancellation
from chatiere.engine.core.choices import scramble
from chatiere.engine.core.integers import must_be, require_integer, shown

Resample = Callable[[NDArray[np.uint8], NDArray[np.int8], int], NDArray[np.uint8]]
"""A function that draws a state for each pair of a state and a seat, like `Table.resample`.

Its arguments are the states (k, packed_size), the seats (k,) and a seed."""

# The maximum number of legal actions that an error message lists.
_MAX_TOLD = 20


def judge(bot: Bot, decisions: Decisions) -> Judgement:
    """Let a bot judge decisions. Raises BotError if it chooses or rates an illegal action, or skips a decision."""
    judgement = bot.judge(decisions)
    if not isinstance(judgement, Judgement):
        raise BotError(f"judge of {type(bot).__name__} must return a Judgement, not {shown(judgement)}")
    return Judgement(
        _checked(bot, judgement.actions, decisions),
        _ratings(bot, "values", judgement.values, decisions),
        _ratings(bot, "shares", judgement.shares, decisions),
    )


def choose(bot: Bot, decisions: Decisions) -> NDArray[np.uint16]:
    """Let a bot choose. Raises BotError if it does not choose a legal action for each decision."""
    return _checked(bot, bot.choose(decisions), decisions)


def _checked(bot: Bot, actions: object, decisions: Decisions) -> NDArray[np.uint16]:
    chosen = np.asarray(actions)
    if chosen.shape != (len(decisions),) or chosen.dtype.kind not in "iu":
        found = f"{chosen.dtype} {chosen.shape}"
        raise BotError(f"{type(bot).__name__} must choose integers of the shape {(len(decisions),)}, not {found}")
    is_chosen = decisions.legal_ids == np.repeat(chosen, decisions.legal_counts())
    # This count is sufficient, because the legal ids of a decision are distinct.
    if np.count_nonzero(is_chosen) != len(decisions):
        row = int(np.argmin(np.logical_or.reduceat(is_chosen, decisions.legal_offsets[:-1])))
        legal = decisions.legal_ids[slice(*decisions.legal_offsets[row : row + 2])].tolist()
        told = ", ".join(map(str, legal[:_MAX_TOLD])) + ", …" * (len(legal) > _MAX_TOLD)
        raise BotError(
            f"{type(bot).__name__} chose action {chosen[row]} for seat {decisions.actors[row]} at decision {row} of "
            f"{len(decisions)}, which has the legal actions {told}"
        )
    return chosen.astype(np.uint16, copy=False)


def _ratings(bot: Bot, name: str, given: object, decisions: Decisions) -> NDArray[np.float64]:
    ratings = np.asarray(given)
    if ratings.size and (ratings.shape != decisions.legal_ids.shape or ratings.dtype.kind not in "fiu"):
        wanted, found = f"numbers of the shape {decisions.legal_ids.shape}", f"{ratings.dtype} {ratings.shape}"
        raise BotError(f"{name} of {type(bot).__name__} must be {wanted}, or none, not {found}")
    return ratings.astype(np.float64, copy=False)


class Positions(Protocol):
    """Positions at which bots have to decide, for example a Batch."""

    @property
    def actors(self) -> NDArray[np.int8]:
        """int8 (n,): the seat to decide."""

    @property
    def legal_offsets(self) -> NDArray[np.uint32]:
        """uint32 (n + 1,), as in Decisions."""

    @property
    def legal_ids(self) -> NDArray[np.uint16]:
        """uint16 (legal_offsets[n],), as in Decisions."""

    @property
    def observations(self) -> NDArray[np.uint8]:
        """uint8 (n, observation_length): the actor's observation."""

    @property
    def states(self) -> NDArray[np.uint8]:
        """uint8 (n, packed_size): the packed states."""


def luck(seed: SupportsIndex, game_numbers: ArrayLike, decisions: ArrayLike) -> NDArray[np.uint64]:
    """Return a random number for each decision, for `Decisions.luck`.

    The result depends only on the arguments. Without the seed, the other arguments cannot be inferred from the result.

    Args:
        seed: The bots' seed, 0 … 2**64 - 1.
        game_numbers: (n,), the number of each game.
        decisions: (n,), the number of decisions in each game so far.

    Returns:
        uint64 (n,).

    Raises:
        ValueError: If the seed is out of range.
    """
    keys = _keys(_checked_seed(seed))
    words = scramble(np.asarray(game_numbers, np.uint64) ^ keys[0])
    words = scramble(words + keys[1] + np.asarray(decisions, np.uint64))
    found: NDArray[np.uint64] = words ^ keys[2]
    return found


def _checked_seed(seed: SupportsIndex) -> int:
    number = require_integer("seed", seed)
    if not 0 <= number < 2**64:
        raise ValueError(must_be("seed", number, 0, 2**64 - 1))
    return number


@cache
def _keys(seed: int) -> NDArray[np.uint64]:
    # Secret numbers are added before, between and after the steps, because `scramble` without them can be inverted.
    return np.frombuffer(hashlib.sha256(f"luck of bots {seed}".encode()).digest(), "<u8")


def decisions_of(
    positions: Positions,
    rows: NDArray[np.intp],
    bot: Bot,
    game: Game,
    players: int,
    luck: NDArray[np.uint64],
    resample: Resample,
) -> Decisions:
    """Return a bot's decisions at some rows of positions.

    Args:
        positions: The positions.
        rows: (k,), the rows, ascending.
        bot: The bot.
        game: The game of all positions.
        players: The number of players.
        luck: (k,), a random number for each decision, as from the function `luck`.
        resample: The function that draws the worlds. It is called only if the bot needs worlds.
    """
    counts = np.diff(positions.legal_offsets)
    chosen = np.zeros(len(counts), np.bool_)
    chosen[rows] = True
    offsets = np.zeros(len(rows) + 1, np.uint32)
    np.cumsum(counts[rows], out=offsets[1:])
    actors = positions.actors[rows]
    nothing = np.empty((0, 0), np.uint8)
    drawn = nothing
    if bot.needs_worlds:
        # Any seed that is independent of the game is suitable. The worlds drawn from these states have separate seeds,
        # and depend only on luck and the actor's knowledge.
        states = resample(positions.states[rows], actors, int(luck[0]))
        worlds, _ = Table(game, players).resample(states.data, actors, seeds=luck)
        drawn = np.frombuffer(worlds, np.uint8).reshape(len(rows), game.packed_size)
    return Decisions(
        game=game,
        players=players,
        actors=actors,
        legal_offsets=offsets,
        legal_ids=positions.legal_ids[np.repeat(chosen, counts)],
        luck=luck,
        observations=positions.observations[rows] if bot.needs_observations else nothing,
        drawn=drawn,
    )


def decisions_at(
    position: Position,
    bot: Bot,
    luck: SupportsIndex,
    cancellation: Cancellation | None = None,
    *,
    hides_forced: bool = False,
) -> Decisions:
    """Return a bot's decision at one position. A seat has to decide there.

    Args:
        position: The position.
        bot: The bot.
        luck: A random number, 0 … 2**64 - 1, independent of the game.
        cancellation: See Decisions.
        hides_forced: See Decisions.
    """
    actor = position.current_player()
    legal_ids = np.array(position.legal_actions(), np.uint16)
    nothing = np.empty((0, 0), np.uint8)
    world = position.resample(actor, luck)
    return Decisions(
        game=position.game,
        players=position.num_players(),
        actors=np.array([actor], np.int8),
        legal_offsets=np.array([0, len(legal_ids)], np.uint32),
        legal_ids=legal_ids,
        luck=np.array([luck], np.uint64),
        observations=_row(world.observation(actor)) if bot.needs_observations else nothing,
        drawn=_row(world.pack()) if bot.needs_worlds else nothing,
        cancellation=cancellation,
        hides_forced=hides_forced,
    )


def _row(data: bytes) -> NDArray[np.uint8]:
    return np.frombuffer(data, np.uint8)[None]
