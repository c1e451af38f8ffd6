"""Many games at a time between bots, their results, and a recording for training."""

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple, Self, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from chatiere import engine
from chatiere.bots import Bot, hosting
from chatiere.envs.batch import Batch, Ended
from chatiere.envs.batch_env import BatchEnv
from chatiere.v1.game_pb2 import GameInfo


def bots_of(game_numbers: NDArray[np.uint64], seats: NDArray[np.int8], bots: int) -> NDArray[np.uint64]:
    """Return the indices of the bots that play the given seats: `bots` bots take turns, shifted by one seat each game.

    So each of them plays every seat equally often.
    """
    return (game_numbers + seats.astype(np.uint64)) % np.uint64(bots)


def play_many(env: BatchEnv, bots: Sequence[Bot], seed: SupportsIndex) -> Iterator[tuple[Batch, NDArray[np.uint16]]]:
    """Play all games of an environment that was given a number of games, assigning bots to seats as in `bots_of`.

    `seed`: of the games and of the bots, 0 … 2**64 - 1. If a bot needs observations, the environment must have them.
    Yields each batch with the chosen actions; the last batch has no positions.
    """
    batch = env.reset(seed)
    while len(batch):
        actions = _choose(env, batch, bots)
        yield batch, actions
        batch = env.step(actions)
    yield batch, np.empty(0, np.uint16)


def _choose(env: BatchEnv, batch: Batch, bots: Sequence[Bot]) -> NDArray[np.uint16]:
    game = engine.game(batch.info.name)
    luck = hosting.luck(batch.seed, batch.game_numbers, batch.decisions)
    chosen = bots_of(batch.game_numbers, batch.actors, len(bots))
    actions = np.empty(len(batch), np.uint16)
    for number, bot in enumerate(bots):
        rows = np.flatnonzero(chosen == number)
        if len(rows):
            decisions = hosting.decisions_of(batch, rows, bot, game, env.players, luck[rows], env.resample)
            actions[rows] = bot.choose(decisions)
    return actions


@dataclass(frozen=True)
class Results:
    """The results of G games, indexed by game number."""

    bots: NDArray[np.uint16]
    """uint16 (G, players): the bot that played each seat, as in `bots_of`."""
    lengths: NDArray[np.uint32]
    """uint32 (G,): the number of decisions."""
    returns: NDArray[np.float32]
    """float32 (G, players): players / w - 1 for each of w winners, -1 for the other seats."""
    totals: NDArray[np.int32]
    """int32 (G, players): each seat's score, in the game's own points."""

    @classmethod
    def of(cls, games: int, players: int, bots: int) -> Self:
        """Return zeros for `games` games between `bots` bots, still to be played."""
        numbers, seats = np.arange(games, dtype=np.uint64), np.arange(players, dtype=np.int8)
        return cls(
            bots=bots_of(numbers[:, None], seats, bots).astype(np.uint16),
            lengths=np.zeros(games, np.uint32),
            returns=np.zeros((games, players), np.float32),
            totals=np.zeros((games, players), np.int32),
        )

    def add(self, ended: Ended) -> None:
        """Add games that ended."""
        self.lengths[ended.game_numbers] = ended.lengths
        self.returns[ended.game_numbers] = ended.returns
        self.totals[ended.game_numbers] = ended.totals

    def wins(self, bot: int) -> NDArray[np.float64]:
        """Return the bot's share of the win, 0 to 1, in each game where it had a seat: float64 (k,)."""
        seats = self.bots == bot
        players = seats.shape[1]
        # A winner's return is players / w - 1.
        shares: NDArray[np.float64] = ((self.returns.astype(np.float64) + 1) / players * seats).sum(axis=1)
        of_bot: NDArray[np.float64] = shares[seats.any(axis=1)]
        return of_bot


class Recording:
    """A recording of every decision in the games of `play_many`, to be written to a file for training."""

    def __init__(self, *, observations: bool) -> None:
        """Begin an empty recording. `observations`: True to record observations."""
        self._observations = observations
        self._chunks: list[_Chunk] = []

    def add(self, batch: Batch, actions: NDArray[np.uint16]) -> None:
        """Add a batch and the actions chosen there."""
        chunk = _Chunk(
            game_numbers=batch.game_numbers,
            decisions=batch.decisions,
            actors=batch.actors,
            actions=actions,
            observations=batch.observations if self._observations else _NONE,
            legal_counts=batch.legal_counts(),
            legal_ids=batch.legal_ids,
        )
        # A view into a response would keep the whole response in memory, including states.
        columns: list[NDArray[Any]] = [column if column.flags.owndata else column.copy() for column in chunk]
        self._chunks.append(_Chunk(*columns))

    def save(self, file: BinaryIO, info: GameInfo, seed: int, bot_names: Sequence[str], results: Results) -> None:
        """Write all games to a compressed .npz, game after game: G games, M decisions.

        - `game`, `rules_version`, `seed`, `bot_names`: the game and the bots; game i has the game number i, and the
          default options unless the environment had others;
        - `bots`, `lengths`, `returns`, `totals`: as in Results;
        - `offsets`, int64 (G + 1,): game i has the decisions offsets[i]:offsets[i + 1];
        - `actors`, int8 (M,): the seats that decided;
        - `actions`, uint16 (M,): the dense ids of the actions that they chose;
        - `legal_offsets`, int64 (M + 1,), `legal_ids`, uint16 (legal_offsets[M],): at decision m the legal dense ids
          legal_ids[legal_offsets[m]:legal_offsets[m + 1]], ascending;
        - `observations`, uint8 (M, observation_length): their observations, if recorded.
        """
        columns = _Chunk(*(np.concatenate(column) for column in zip(*self._chunks, strict=True)))
        order = np.lexsort((columns.decisions, columns.game_numbers))
        arrays = {
            "game": np.array(info.name),
            "rules_version": np.array(info.rules_version),
            "seed": np.array(seed, np.uint64),
            "bot_names": np.array(bot_names),
            **vars(results),
            "offsets": _offsets(results.lengths),
            "actors": columns.actors[order],
            "actions": columns.actions[order],
            "legal_offsets": _offsets(columns.legal_counts[order]),
            "legal_ids": _reordered(columns.legal_ids, columns.legal_counts, order),
            **({"observations": columns.observations[order]} if self._observations else {}),
        }
        np.savez_compressed(file, **arrays)


_NONE = np.empty((0, 0), np.uint8)


class _Chunk(NamedTuple):
    game_numbers: NDArray[np.uint64]
    decisions: NDArray[np.uint32]
    actors: NDArray[np.int8]
    actions: NDArray[np.uint16]
    observations: NDArray[np.uint8]
    legal_counts: NDArray[np.uint32]
    legal_ids: NDArray[np.uint16]


def _offsets(lengths: NDArray[np.uint32]) -> NDArray[np.int64]:
    # The offsets of consecutive lists of these lengths, and the end of the last one.
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])


def _reordered(values: NDArray[np.uint16], lengths: NDArray[np.uint32], order: NDArray[np.intp]) -> NDArray[np.uint16]:
    # Consecutive lists of these lengths, in another order.
    begins, after = _offsets(lengths), _offsets(lengths[order])
    moved = np.repeat(begins[order] - after[:-1], lengths[order])
    return values[np.arange(len(values)) + moved]


def wilson_interval(rate: float, count: int) -> tuple[float, float]:
    """Return the 95 % score interval (E. B. Wilson, 1927) of a rate observed in `count` games.

    It also holds for shared wins: values between 0 and 1 vary no more than wins and losses of the same mean.
    """
    z = statistics.NormalDist().inv_cdf(0.975)
    middle = rate + z * z / (2 * count)
    half = z * math.sqrt(rate * (1 - rate) / count + z * z / (4 * count * count))
    scale = 1 + z * z / count
    return max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale)
