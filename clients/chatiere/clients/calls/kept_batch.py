"""A batch whose states the service keeps for a stream, with the requests that restore it from the client's own copy."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from chatiere.clients.calls import batch_requests
from chatiere.clients.calls.batch_requests import BatchRequest, Stepped, on_stream
from chatiere.envs.batch import Positions
from chatiere.v1.batch_service_pb2 import BatchSetup, Columns, Restart

# The number of moves after which the states are returned. The requests for this number of moves take about as much
# memory as the states.
_MOVES = 256


class KeptBatch:
    """The batch of some environments, kept under a number of a stream. If the stream is lost, `requests` restore it."""

    def __init__(self, number: int, envs: NDArray[np.intp], request: BatchRequest[Positions]) -> None:
        """Create the batch from a request for new games."""
        self._number = number
        self._envs = envs
        # The states returned with the last response; None: the service keeps newer ones.
        self._states: NDArray[np.uint8] | None = None
        self.requests: list[BatchRequest[Any]] = [on_stream(request, keep=number)]
        """The requests that lead from states known to the client to the batch that the stream keeps now."""

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
        """Return the positions without their states. States that were returned are remembered for `step`."""
        if positions.states.size:
            self._states = positions.states
        return positions._replace(states=positions.states[:0, :0])
