"""A vector environment for self-play: many games at a time as NumPy arrays.

with VectorEnv("localhost:50051", "discat", 2, num_envs=2048, observations=True) as env:
    batch = env.reset(seed=7)
    while learning:
        batch = env.step(batch.random_actions())
"""

import threading
import time
from collections import deque
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, Literal, NamedTuple, SupportsIndex

import grpc
import numpy as np
from numpy.typing import NDArray

from chatiere.clients.batch_client import BatchClient
from chatiere.clients.calls import batch_requests
from chatiere.clients.calls.batch_requests import BatchRequest, Stepped
from chatiere.clients.calls.errors import ChatiereError, TransportError, pause_before
from chatiere.clients.calls.game_requests import DEFAULT_TIMEOUT
from chatiere.clients.calls.kept_batch import KeptBatch
from chatiere.clients.client import Client
from chatiere.clients.transport.batch_stream import BatchStream
from chatiere.clients.transport.fast_call import IS_BUILT
from chatiere.clients.transport.fast_stream import FastStream
from chatiere.clients.transport.shared_call import PREFIX
from chatiere.engine.core import choices
from chatiere.engine.core.integers import unsigned
from chatiere.envs.batch import Batch, Positions
from chatiere.envs.batch_env import BatchEnv, FeatureForm, Rows, no_moves
from chatiere.v1.batch_service_pb2 import BatchSetup, Columns, Restart
from chatiere.v1.game_pb2 import GameInfo, Options


class VectorEnv(BatchEnv):
    """A BatchEnv whose games are played by the service, over a stream of BatchService.

    While you choose actions for one batch, the service works on the requests of all other batches. With batches=1,
    client and service wait for each other.

    If the stream breaks, the environment opens another stream and repeats the requests in flight, within the timeout of
    a request.

    With states=False, the service keeps the states for the stream. The stream then carries little more than moves and
    legal actions. Every 256 moves, the service returns the states, and the environment sends them again. The stream may
    be lost, or the service may drop states if it is short of memory. The environment then continues from the last
    returned states and repeats the later requests.

    A copy, also by pickle, opens another stream and continues independently with the same games. The pickle contains
    `fast_token`.

    With `fast_address`, the stream is a FastStream, which uses less than half as much of the client's processor time as
    a stream over a channel. If the FastStream breaks and no other can be opened, the environment uses the channel from
    then on.

    Raises ChatiereError as BatchClient does. The constructor raises UNKNOWN_GAME and INVALID_PLAYERS, `reset` raises
    INVALID_OPTION and the reasons for which it refuses states, and `step` raises ILLEGAL_ACTION, INVALID_ACTION and
    TransportError. An error in an action is raised when the next batch of the same environments is due, with the row of
    the action as metadata `item`. Call `reset` afterwards.
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
        seed: SupportsIndex = 0,
        states: bool = True,
        observations: bool = False,
        mask: bool | Literal["bits"] = False,
        features: FeatureForm | None = None,
        compact: bool = False,
        timeout: float = DEFAULT_TIMEOUT,
        fast_address: str | None = None,
        fast_token: str | None = None,
    ) -> None:
        """Open a stream to a service.

        Args:
            target: See Client. "shm:/PATH" means "unix:/PATH" with the same `fast_address`, "shm:/PATH".
            game: See Client.new_game.
            players: See Client.new_game.
            num_envs: The total number of environments in all batches.
            batches: The number of batches, 1 … num_envs.
            games: The number of games to play. None means no limit.
            first_game: The first game number.
            options: The options of all games. Options that are not set have their defaults.
            seed: The seed of `reset` without a seed.
            states: False if batches need no states.
            observations: True to get observations.
            mask: True to get a mask of the legal actions, "bits" to get the mask as bits. The client computes the mask.
            features: "float32", "float16" or "packed" to get observations and their features in this form. The client
                computes the features.
            compact: True to get the features of compact observations (CompactObservations), for games with large
                boards.
            timeout: The time limit of a request, in seconds.
            fast_address: "HOST:PORT", "unix:/PATH" or "shm:/PATH" of a server of the same service; see FastStream. The
                stream uses a separate connection without TLS, so the server should be nearby on a trusted network.
                With None, or if the package was built without libnghttp2, the stream uses the channel.
            fast_token: The bearer token for `fast_address`, if it requires one.
        """
        super().__init__(num_envs, batches, games, first_game, seed, mask, features, compact)
        self.players = unsigned("players", players, 32)
        self._timeout = timeout
        self._setup = BatchSetup(game=game, players=self.players)
        self._options = options
        self._columns = Columns(legal=True, final_scores=True, observations=observations or features is not None)
        self._restart = Restart(options=options, stride=self.num_envs)
        self._client = BatchClient(target, timeout=timeout)
        if fast_address is None and isinstance(target, str) and target.startswith(PREFIX):
            fast_address = target
        self._fast_address = fast_address
        self._fast_token = fast_token
        try:
            self._describe(self._ask_info())
            self._stream = self._open()
        except (ChatiereError, ValueError):
            self._client.close()
            raise
        self._has_states = states
        self._closing = threading.Event()
        self._in_flight: deque[_Submitted] = deque()
        # The last batch returned, if the service keeps its states.
        self._kept: KeptBatch | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for copies and pickle, with the requests in flight instead of the stream.

        Raises:
            ValueError: The environment is closed.
            TypeError: The environment has a channel of the caller.
        """
        self._require_open()
        state = super().__getstate__()
        del state["_stream"], state["_closing"]
        return state | {"_in_flight": [(each.rows, each.request, each.kept) for each in self._in_flight]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Open another stream, and send the requests in flight again."""
        super().__setstate__(state)
        self._closing = threading.Event()
        self._stream = self._open()
        self._in_flight = deque(
            self._again(_Submitted(rows, request, kept, Future())) for rows, request, kept in state["_in_flight"]
        )

    def resample(self, states: NDArray[np.uint8], seats: NDArray[np.int8], seed: SupportsIndex) -> NDArray[np.uint8]:
        """See BatchEnv.resample. Raises ChatiereError as BatchClient.resample does."""
        return self._client.resample(self._setup, states, seats, seed).states

    def close(self) -> None:
        """Close the stream. Also close the channel if the environment opened it."""
        super().close()
        self._closing.set()
        self._stream.close()
        self._client.close()

    def _drop_batches(self) -> None:
        self._in_flight.clear()
        if self._stream.is_over:
            self._reopen()

    def _begin(self, rows: Rows, seeds: NDArray[np.uint64]) -> None:
        request = batch_requests.new_games(
            self._setup, seeds, rows.game_numbers, options=self._options, columns=self._columns
        )
        self._submit_first(rows, request)

    def _require_decisions(self, states: NDArray[np.uint8]) -> None:
        for envs in self._split(self.num_envs):
            positions, _ = self._client.step(self._setup, states[envs], no_moves(len(envs)))
            for item in envs[positions.actors < 0][:1].tolist():
                # Evaluate fails for the reason for which no seat has to decide.
                faults = self._client.evaluate(self._setup, states[item : item + 1], 1, 1, 0).faults
                faults.items[0].item = item
                faults.raise_first()

    def _place(self, rows: Rows, states: NDArray[np.uint8]) -> None:
        self._submit_first(rows, batch_requests.positions(self._setup, states, columns=self._columns))

    def _submit_first(self, rows: Rows, request: BatchRequest[Positions]) -> None:
        # Submit the request for the first positions of a batch.
        if self._has_states:
            self._submit(rows, request)
        else:
            kept = KeptBatch(len(self._in_flight) + 1, rows.envs, request)
            self._submit(rows, kept.requests[0], kept)

    def _move(self, batch: Batch, actions: memoryview) -> None:
        rows = Rows(batch.envs, batch.game_numbers, batch.decisions + np.uint32(1))
        if self._kept is None:
            request = batch_requests.step(
                self._setup, batch.states, actions, columns=self._columns, restart=self._restart
            )
            self._submit(rows, request)
        else:
            request = self._kept.step(self._setup, batch.envs, actions, self._columns, self._restart)
            self._submit(rows, request, self._kept)

    def _next(self) -> tuple[Rows, Positions]:
        rows, result = self._next_result()
        if isinstance(result, Stepped):
            result.faults.raise_first()
            result = result.positions
        if self._kept is not None:
            result = self._kept.without_states(result)
        mask = self._new_mask(len(result.actors))
        if mask is not None:
            choices.legal_mask(result.legal_offsets, result.legal_ids, self.info.num_actions, mask)
            result = result._replace(mask=mask)
        return rows, result

    def _is_last(self) -> bool:
        return not self._in_flight

    def _ask_info(self) -> GameInfo:
        client = Client(self._client.channel, timeout=self._timeout)
        # Make the service check game, players and options.
        client.new_game(self._setup.game, self._setup.players, options=self._options, seed=0)
        (info,) = client.list_games([self._setup.game], observation=True)
        return info

    def _submit(self, rows: Rows, request: BatchRequest[Any], kept: KeptBatch | None = None) -> None:
        self._in_flight.append(_Submitted(rows, request, kept, self._stream.submit(request)))

    def _next_result(self) -> tuple[Rows, Positions | Stepped]:
        end, attempt = time.monotonic() + self._timeout, 0
        result: Positions | Stepped | None = None
        try:
            while result is None:
                try:
                    result = self._in_flight[0].future.result(self._timeout)
                except ChatiereError as error:
                    if not isinstance(error, TransportError) and not error.lost_batch:
                        raise
                    # The first retry is immediate, regardless of the error.
                    pause = pause_before(attempt, error) if attempt else 0.0
                    if pause is None or time.monotonic() + pause > end or self._closing.wait(pause):
                        raise
                    attempt += 1
                    if error.lost_batch:
                        self._in_flight[0] = self._again(self._in_flight[0])
                    else:
                        self._reopen()
        except TimeoutError:
            # The next reset opens another stream.
            self._stream.close()
            message = f"no response on the stream within {self._timeout:g} s"
            raise TransportError(grpc.StatusCode.DEADLINE_EXCEEDED, message) from None
        finally:
            rows, _, self._kept, _ = self._in_flight.popleft()
        return rows, result

    def _open(self) -> BatchStream | FastStream:
        address = self._fast_address
        if address is None or not (IS_BUILT or address.startswith(PREFIX)):
            return self._client.stream()
        return FastStream(address, timeout=self._timeout, token=self._fast_token)

    def _open_after(self, last: BatchStream | FastStream) -> BatchStream | FastStream:
        # Use the channel if a FastStream cannot connect or never received a response: the channel retries and finds
        # other servers of the service.
        if isinstance(last, FastStream) and self._fast_address is not None and last.has_answered:
            with suppress(TransportError):
                return FastStream(self._fast_address, timeout=self._timeout, token=self._fast_token)
        return self._client.stream()

    def _reopen(self) -> None:
        # No state is lost with a stream, because the same requests are sent over another stream.
        self._stream.close()
        self._stream = self._open_after(self._stream)
        if self._closing.is_set():
            self._stream.close()
        self._in_flight = deque(map(self._again, self._in_flight))

    def _again(self, submitted: "_Submitted") -> "_Submitted":
        # Submit a request to the new stream. If the old stream kept the batch, resubmit all requests that produce
        # the batch. The last of them is the request itself.
        rows, request, kept, _ = submitted
        for one in [request] if kept is None else kept.requests:
            future = self._stream.submit(one)
        return _Submitted(rows, request, kept, future)


_Request = BatchRequest[Positions] | BatchRequest[Stepped]


class _Submitted(NamedTuple):
    rows: Rows
    request: _Request
    kept: KeptBatch | None
    future: Future[Positions] | Future[Stepped]
