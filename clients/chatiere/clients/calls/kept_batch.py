"""A batch whose states the service keeps for a stream, and the way to them from the client's own copy."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from chatiere.clients.calls import batch_requests
from chatiere.clients.calls.batch_requests import BatchRequest, Stepped, on_stream
from chatiere.envs.batch import Positions
from chatiere.v1.batch_service_pb2 import BatchSetup, Columns, Restart

# The moves after which the states come back: of so many a batch's memory is about that of its states.
_MOVES = 256


class KeptBatch:
    """The batch of some environments under a number of a stream, which may be lost: `requests` leads to it again."""

    def __init__(self, number: int, envs: NDArray[np.intp], request: BatchRequest[Positions]) -> None:
        """Begin with a request for new games."""
        self._number = number
        self._envs = envs
        # As they came back with the last response; None: the service keeps newer ones.
        self._states: NDArray[np.uint8] | None = None
        self.requests: list[BatchRequest[Any]] = [on_stream(request, keep=number)]
        """The requests, since the client had the states itself, that lead to what the stream keeps now."""

    def step(
        self, setup: BatchSetup, envs: NDArray[np.intp], moves: memoryview, columns: Columns, restart: Restart
    ) -> BatchRequest[Stepped]:
        """Return the request for a move in each of the environments that go on."""
        rows = None if len(envs) == len(self._envs) else np.searchsorted(self._envs, envs)
        self._envs = envs
        if self._states is not None:
            states = self._states if rows is None else self._states[rows]
            self._states, self.requests = None, []
            stepped = batch_requests.step(setup, states, moves, columns=columns, restart=restart)
            request = on_stream(stepped, keep=self._number)
        else:
            keep = 0 if len(self.requests) >= _MOVES else self._number
            stepped = batch_requests.step(setup, b"", moves, columns=columns, restart=restart)
            request = on_stream(stepped, keep=keep, take=self._number, rows=rows)
        self.requests.append(request)
        return request

    def without_states(self, positions: Positions) -> Positions:
        """Return what came of the last request without the states, which are for `step` if they came back."""
        if positions.states.size:
            self._states = positions.states
        return positions._replace(states=positions.states[:0, :0])
