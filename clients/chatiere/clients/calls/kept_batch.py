"""A batch whose states the service keeps for a stream, and the requests that restore the batch."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from chatiere.clients.calls import batch_requests
from chatiere.clients.calls.batch_requests import BatchRequest, Stepped, on_stream
from chatiere.envs.batch import Positions
from chatiere.v1.batch_service_pb2 import BatchSetup, Columns, Restart

# The number of moves after which the service returns the states. The requests for this number of moves need about the
# same amount of memory as the states.
_MOVES = 256


class KeptBatch:
    """A batch that the service keeps for a stream under a number. `requests` restore it if the stream is lost."""

    def __init__(self, number: int, envs: NDArray[np.intp], request: BatchRequest[Positions]) -> None:
        """Create the batch from a request for new games."""
        self._number = number
        self._envs = envs
        # The states that the last response contained. None if the service has newer states.
        self._states: NDArray[np.uint8] | None = None
        self.requests: list[BatchRequest[Any]] = [on_stream(request, keep=number)]
        """The requests that produce the stream's current batch, from new games or from states that the client has."""

    def step(
        self, setup: BatchSetup, envs: NDArray[np.intp], moves: memoryview, columns: Columns, restart: Restart
    ) -> BatchRequest[Stepped]:
        """Return the request for a move in each of the environments that continue."""
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
        """Return the positions without their states. If the response contained states, store them for `step`."""
        if positions.states.size:
            self._states = positions.states
        return positions._replace(states=positions.states[:0, :0])
