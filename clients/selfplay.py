"""A vector environment for self-play: many games at a time as NumPy arrays, over a stream of BatchService.

with VectorEnv("localhost:50051", "discat", 2, num_envs=2048, observations=True) as env:
    batch = env.reset(seed=7)
    while learning:
        batch = env.step(batch.random_actions())
"""

import math
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any, NamedTuple, SupportsIndex

import grpc
import numpy as np
from numpy.typing import ArrayLike, NDArray

from chatiere.clients.batch_client import BatchClient
from chatiere.clients.calls import batch_requests
from chatiere.clients.calls.batch_requests import BatchRequest, Positions, Stepped
from chatiere.clients.calls.errors import ChatiereError, TransportError
from chatiere.clients.calls.game_requests import DEFAULT_TIMEOUT, unsigned
from chatiere.clients.client import Client
from chatiere.clients.transport.batch_stream import BatchStream
from chatiere.clients.transport.closing import Closing
from chatiere.clients.transport.fast_call import IS_BUILT
from chatiere.clients.transport.fast_stream import FastStream
from chatiere.engine.core.integers import require_integer
from chatiere.v1.batch_service_pb2 import Columns, Restart, Table
from chatiere.v1.game_pb2 import GameInfo, Options


@dataclass(frozen=True)
class Ended:
    """The e games that the last actions ended."""

    envs: NDArray[np.intp]
    """intp (e,): their environments."""
    game_numbers: NDArray[np.uint64]
    """uint64 (e,): their game numbers."""
    lengths: NDArray[np.uint32]
    """uint32 (e,): their numbers of decisions."""
    returns: NDArray[np.float32]
    """float32 (e, players): players / w - 1 for each of w winners, -1 for the other seats."""
    totals: NDArray[np.int32]
    """int32 (e, players): each seat's score, in the game's own points."""
    observations: NDArray[np.uint8]
    """uint8 (e, players, observation_length): each seat's observation at the end; empty unless requested."""


@dataclass(frozen=True)
class Batch:
    """n positions to decide at, and the games that ended on the way to them.

    Where a game ended, its environment has begun the next one, which the row describes; `ended` describes the one that
    ended. Arrays may be views into a response of the service: copy what you keep for long.
    """

    info: GameInfo
    """The service's description of the game."""
    seed: int
    """The seed of the games."""
    envs: NDArray[np.intp]
    """intp (n,): the environments, ascending."""
    game_numbers: NDArray[np.uint64]
    """uint64 (n,): their game numbers, all different."""
    decisions: NDArray[np.uint32]
    """uint32 (n,): the number of decisions in the game so far."""
    actors: NDArray[np.int8]
    """int8 (n,): the seat to decide."""
    legal_offsets: NDArray[np.uint32]
    """uint32 (n + 1,): row i has the legal actions legal_ids[legal_offsets[i]:legal_offsets[i + 1]]."""
    legal_ids: NDArray[np.uint16]
    """uint16 (legal_offsets[n],): the dense ids of the legal actions, ascending in each row."""
    observations: NDArray[np.uint8]
    """uint8 (n, observation_length): the actor's observation, as laid out in `info`; empty unless requested."""
    states: NDArray[np.uint8]
    """uint8 (n, packed_size): the packed states, including hidden cards: for search, not for bots."""
    ended: Ended
    """The games ended by the last actions of this batch's environments."""

    def __len__(self) -> int:
        """Return the number of positions."""
        return len(self.actors)

    def legal_counts(self) -> NDArray[np.uint32]:
        """Return the number of legal actions of each position, 1 or more: uint32 (n,)."""
        return np.diff(self.legal_offsets)

    def legal_mask(self) -> NDArray[np.bool_]:
        """Return a mask that is True for legal actions: bool (n, info.num_actions)."""
        mask = np.zeros((len(self), self.info.num_actions), np.bool_)
        mask[np.repeat(np.arange(len(self)), self.legal_counts()), self.legal_ids] = True
        return mask

    def luck(self) -> NDArray[np.uint64]:
        """Return a random number for each position, uniform over 0 … 2**64 - 1: uint64 (n,).

        It depends only on the seed, the game number and the number of decisions so far, not on how games are batched.
        """
        return _mixed(_mixed(_key(self.seed) + self.game_numbers) + self.decisions)

    def random_actions(self) -> NDArray[np.uint16]:
        """Choose a legal action for each position by its `luck`, uniformly to within 2**-32: uint16 (n,)."""
        place = (self.luck() >> np.uint64(32)) * self.legal_counts() >> np.uint64(32)
        return self.legal_ids[self.legal_offsets[:-1] + place]

    def best_actions(self, values: NDArray[np.generic]) -> NDArray[np.uint16]:
        """Return the legal action of the highest value for each position, the first of equal ones: uint16 (n,).

        `values`: one for each of `legal_ids`.
        """
        first = self.legal_offsets[:-1]
        best = np.maximum.reduceat(values, first)
        places = np.flatnonzero(values == np.repeat(best, self.legal_counts()))
        return self.legal_ids[places[np.searchsorted(places, first)]]


def observation_part(info: GameInfo, name: str) -> slice:
    """Return the slice of an observation that has the part of that name. Raise KeyError if there is no such part.

    ObservationLayout reads all parts, by the kinds of their numbers.
    """
    for part in info.observation:
        if part.name == name:
            return slice(part.offset, part.offset + math.prod(part.shape))
    raise KeyError(name)


class VectorEnv(Closing):
    """`num_envs` environments, each of which plays one game after another, with sampled chance.

    The environments are split into `batches` batches. While you decide for one batch, the requests of all others are in
    flight: the service works on them meanwhile. So `step` takes the actions for the last batch and returns the next one
    that is ready, of other environments. With batches=1 it is the same one each time, and client and service wait for
    each other.

    Environment e plays the game numbers first_game + e, first_game + e + num_envs, first_game + e + 2 × num_envs … of
    the seed. A game depends only on its seed, its number and the actions, so the same seed gives the same games
    whatever the number of environments and batches.

    With `games`, only so many game numbers from `first_game` on are played: an environment without further games drops
    out of its batch, and after the last game `step` returns a batch without positions. Without `games`, they never run
    out. (The first games to end are shorter than average, so take a fixed number of games to measure by.)

    If the stream breaks, the environment opens another one and repeats its requests.

    With `fast_address` the stream is a FastStream, which takes less than half of the client's processor time. If it
    breaks and no other can be opened, the environment goes on over the channel, and stays there.

    Raises ChatiereError as BatchClient does: at construction UNKNOWN_GAME, INVALID_PLAYERS; at reset INVALID_OPTION; at
    step ILLEGAL_ACTION, INVALID_ACTION and TransportError. Use it in a `with` statement, or close it.
    """

    def __init__(
        self,
        target: str | grpc.Channel,
        game: str,
        players: SupportsIndex,
        *,
        num_envs: SupportsIndex = 1024,
        batches: SupportsIndex = 2,
        games: SupportsIndex | None = None,
        first_game: SupportsIndex = 0,
        options: Options | None = None,
        observations: bool = False,
        timeout: float = DEFAULT_TIMEOUT,
        fast_address: str | None = None,
        fast_token: str | None = None,
    ) -> None:
        """Open a stream to a service.

        `target`: as of Client. `game`, `players`: as of Client.new_game. `num_envs`: the number of environments in all
        batches together. `batches`: 1 … num_envs. `games`: the number of games to play; None: no end. `first_game`:
        the first game number; the last one may be 2**64 - 1. `options`: the options of all games; those absent have
        their defaults. `observations`: True to get observations. `timeout`: the seconds that a request may take. `fast_address`: "HOST:PORT" of a server of the same service, best its
        fast address, to which the stream goes on a connection of its own, without TLS: for a server nearby, on a
        network that you trust. None, or where the package was built without libnghttp2: the stream goes over the
        channel. `fast_token`: the bearer token for `fast_address`, if it requires one.
        """
        self.players = unsigned("players", players, 32)
        self.num_envs = require_integer("num_envs", num_envs)
        self._batches = require_integer("batches", batches)
        self._games = None if games is None else require_integer("games", games)
        if not 1 <= self._batches <= self.num_envs:
            raise ValueError("batches must be from 1 to num_envs")
        if self._games is not None and self._games < 1:
            raise ValueError("games must be 1 or more")
        self._first_game = unsigned("first_game", first_game, 64)
        if self._games is not None and self._first_game + self._games > 2**64:
            raise ValueError("first_game + games must not be above 2**64")
        self._timeout = timeout
        self._table = Table(game=game, players=self.players)
        self._options = options
        self._columns = Columns(legal=True, scores=True, observations=observations)
        self._restart = Restart(options=options, stride=self.num_envs)
        self._client = BatchClient(target, timeout=timeout)
        self._fast_address = fast_address
        self._fast_token = fast_token
        try:
            self.info = self._ask_info()
            self._stream: BatchStream | FastStream
            if fast_address is None or not IS_BUILT:
                self._stream = self._client.stream()
            else:
                self._stream = FastStream(fast_address, timeout=timeout, token=fast_token)
        except ChatiereError:
            self._client.close()
            raise
        self._seed = 0
        self._last: Batch | None = None
        self._in_flight: deque[_Submitted] = deque()

    def reset(self, seed: SupportsIndex = 0) -> Batch:
        """Begin all environments anew, with the games of a seed (0 … 2**64 - 1), and return the first batch."""
        self._seed = unsigned("seed", seed, 64)
        self._in_flight.clear()
        if self._stream.is_over:
            self._reopen()
        begun = self.num_envs if self._games is None else min(self.num_envs, self._games)
        for envs in np.array_split(np.arange(begun), min(self._batches, begun)):
            rows = _Rows(envs, envs.astype(np.uint64) + np.uint64(self._first_game), np.zeros(len(envs), np.uint32))
            seeds = np.full(len(envs), self._seed, np.uint64)
            request = batch_requests.new_games(
                self._table, seeds, rows.game_numbers, options=self._options, columns=self._columns
            )
            self._submit(rows, request)
        return self._receive()

    def step(self, actions: ArrayLike) -> Batch:
        """Apply an action at each position of the last batch, and return the next batch.

        `actions`: (n,), dense ids. An error in one of them is raised when the next batch of the same environments is
        due, with its row as metadata `item`; after that, call `reset`.
        """
        last, actions = self._last, np.asarray(actions)
        if last is None or not len(last):
            raise ValueError("no positions to act at: reset the environment")
        if actions.shape != (len(last),):
            raise ValueError(f"actions must have the shape {(len(last),)}, not {actions.shape}")
        request = batch_requests.step(self._table, last.states, actions, columns=self._columns, restart=self._restart)
        self._submit(_Rows(last.envs, last.game_numbers, last.decisions), request)
        return self._receive()

    def close(self) -> None:
        """Close the stream, and the channel if it is the environment's own."""
        self._stream.close()
        self._client.close()

    def _ask_info(self) -> GameInfo:
        client = Client(self._client.channel, timeout=self._timeout)
        # Lets the service check game, players and options.
        client.new_game(self._table.game, self._table.players, options=self._options, seed=0)
        return next(info for info in client.list_games() if info.name == self._table.game)

    def _receive(self) -> Batch:
        # The next batch with positions; one without only when nothing is in flight any more.
        self._last = None
        ended: list[Ended] = []
        while True:
            rows, result = self._next_result()
            batch = self._batch(rows, result)
            if len(batch) or not self._in_flight:
                break
            ended.append(batch.ended)
        if ended:
            batch = replace(batch, ended=_joined([*ended, batch.ended]))
        self._last = batch
        return batch

    def _submit(self, rows: "_Rows", request: BatchRequest[Any]) -> None:
        self._in_flight.append(_Submitted(rows, request, self._stream.submit(request)))

    def _next_result(self) -> tuple["_Rows", Positions | Stepped]:
        try:
            try:
                return self._in_flight[0].rows, self._in_flight[0].future.result(self._timeout)
            except TransportError:
                self._reopen()
                return self._in_flight[0].rows, self._in_flight[0].future.result(self._timeout)
        except TimeoutError:
            message = f"no response on the stream within {self._timeout:g} s"
            raise TransportError(grpc.StatusCode.DEADLINE_EXCEEDED, message) from None
        finally:
            self._in_flight.popleft()

    def _open_after(self, last: BatchStream | FastStream) -> BatchStream | FastStream:
        # The channel retries, and finds other servers of the service: it takes over if a FastStream cannot connect, or
        # has never had a response.
        if isinstance(last, FastStream) and self._fast_address is not None and last.has_answered:
            with suppress(TransportError):
                return FastStream(self._fast_address, timeout=self._timeout, token=self._fast_token)
        return self._client.stream()

    def _reopen(self) -> None:
        # Nothing is lost with a stream: the same requests go over another one.
        self._stream.close()
        self._stream = self._open_after(self._stream)
        submitted, self._in_flight = self._in_flight, deque()
        for rows, request, _ in submitted:
            self._submit(rows, request)

    def _batch(self, rows: "_Rows", result: Positions | Stepped) -> Batch:
        envs, game_numbers, decisions = rows
        if isinstance(result, Stepped):
            result.faults.raise_first()
            positions = result.positions
            decisions = decisions + np.uint32(1)
        else:
            positions = result
        over = np.flatnonzero(positions.final)
        ended = Ended(
            envs=envs[over],
            game_numbers=game_numbers[over],
            lengths=decisions[over],
            returns=positions.returns[over],
            totals=positions.totals[over],
            observations=positions.final_observations,
        )
        if len(over):
            game_numbers = game_numbers.copy()
            game_numbers[over] += np.uint64(self.num_envs)
            decisions[over] = 0
        batch = Batch(
            info=self.info,
            seed=self._seed,
            envs=envs,
            game_numbers=game_numbers,
            decisions=decisions,
            actors=positions.actors,
            legal_offsets=positions.legal_offsets,
            legal_ids=positions.legal_ids,
            observations=positions.observations,
            states=positions.states,
            ended=ended,
        )
        if len(over) and self._games is not None:
            # A number after 2**64 - 1 has wrapped around, as this difference does.
            going_on = game_numbers - np.uint64(self._first_game) < self._games
            if not going_on.all():
                return _only(batch, going_on)
        return batch


_Request = BatchRequest[Positions] | BatchRequest[Stepped]


class _Submitted(NamedTuple):
    rows: "_Rows"
    request: _Request
    future: Future[Positions] | Future[Stepped]


class _Rows(NamedTuple):
    # As in Batch, before the actions.
    envs: NDArray[np.intp]
    game_numbers: NDArray[np.uint64]
    decisions: NDArray[np.uint32]


def _only(batch: Batch, rows: NDArray[np.bool_]) -> Batch:
    # The batch with only some rows, and with all games that ended.
    counts = batch.legal_counts()
    offsets = np.zeros(np.count_nonzero(rows) + 1, np.uint32)
    np.cumsum(counts[rows], out=offsets[1:])
    return replace(
        batch,
        envs=batch.envs[rows],
        game_numbers=batch.game_numbers[rows],
        decisions=batch.decisions[rows],
        actors=batch.actors[rows],
        legal_offsets=offsets,
        legal_ids=batch.legal_ids[np.repeat(rows, counts)],
        observations=batch.observations[rows] if batch.observations.size else batch.observations,
        states=batch.states[rows],
    )


def _joined(parts: Sequence[Ended]) -> Ended:
    return Ended(
        **{field.name: np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Ended)}
    )


@cache
def _key(seed: int) -> np.uint64:
    key: np.uint64 = _mixed(np.array([seed], np.uint64))[0]
    return key


def _mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    # A step of SplitMix64 (https://prng.di.unimi.it/splitmix64.c); unsigned numbers wrap around.
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
