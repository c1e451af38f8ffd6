"""OpenSpiel behind BatchService.Play: `python -m loadtest.bench.openspiel_server PORT`.

The server uses Chatière's messages, so that the same client can call it. States are serialised OpenSpiel states, each
followed by a 0 byte. Every step reads, advances and writes the states, as a stateless service must. The server supports
only the features that the benchmarks need: legal actions and restarts, but no faults of items.
"""

import random
import signal
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from prometheus_client import CollectorRegistry

from chatiere.engine.core.cancellation import Cancellation
from chatiere.engine.wire import Buffer
from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import Settings
from chatiere.service.exchange.fair_threads import FairThreads
from chatiere.service.exchange.methods import StreamMethod, UnknownMethod
from chatiere.service.guards.chain import Guards, Method
from chatiere.service.guards.connections import connections_of
from chatiere.service.ports.fast.routes import fast_port
from chatiere.service.ports.methods import PLAY
from chatiere.v1.batch_service_pb2 import (
    NewGamesRequest,
    NewGamesResponse,
    PlayRequest,
    PlayResponse,
    Positions,
    StepRequest,
    StepResponse,
)
from loadtest.bench import peers
from loadtest.bench.servers import LOOPBACK


class Batches:
    """The requests NewGames and Step of Play, for OpenSpiel's games."""

    def __init__(self) -> None:
        """Load the games of `peers`."""
        self._games = {name: peers.load(name) for name in peers.NAMES}
        self._random = random.Random(7)

    def new_games(self, request: NewGamesRequest) -> NewGamesResponse:
        """Start a game for each seed. The values of the seeds are ignored."""
        game = self._games[request.setup.game]
        states = [self._begin(game) for _ in range(len(request.seeds) // 8)]
        return NewGamesResponse(positions=_describe(states, [False] * len(states)))

    def step(self, request: StepRequest) -> StepResponse:
        """Make a move in each game. Restart games that end."""
        game = self._games[request.setup.game]
        states = []
        ended = []
        texts = request.states.split(b"\0")[:-1]
        for text, move in zip(texts, np.frombuffer(request.moves, "<u2").tolist(), strict=True):
            state = game.deserialize_state(text.decode())
            state.apply_action(move)
            peers.resolve_chance(state, self._random)
            ended.append(state.is_terminal())
            states.append(self._begin(game) if ended[-1] else state)
        return StepResponse(positions=_describe(states, ended))

    def play(self, data: memoryview, cancellation: Cancellation, hold: Callable[[int], None]) -> list[Buffer]:
        """Handle a stream's request, in wire format."""
        request = PlayRequest.FromString(bytes(data))
        if request.WhichOneof("request") == "new_games":
            response = PlayResponse(tag=request.tag, new_games=self.new_games(request.new_games))
        else:
            response = PlayResponse(tag=request.tag, step=self.step(request.step))
        return [response.SerializeToString()]

    def _begin(self, game: Any) -> Any:
        state = game.new_initial_state()
        peers.resolve_chance(state, self._random)
        return state


def _describe(states: list[Any], ended: list[bool]) -> Positions:
    legal = [state.legal_actions() for state in states]
    offsets = np.zeros(len(states) + 1, "<u4")
    np.cumsum([len(actions) for actions in legal], out=offsets[1:])
    return Positions(
        states=b"".join(state.serialize().encode() + b"\0" for state in states),
        actors=np.array([state.current_player() for state in states], "<i1").tobytes(),
        legal_offsets=offsets.tobytes(),
        legal_ids=np.array([action for actions in legal for action in actions], "<u2").tobytes(),
        final=np.array(ended, "<u1").tobytes(),
    )


def main(port: str) -> None:
    """Serve until killed."""
    # Use Chatière's fast door.
    settings, metrics = Settings(), Metrics(CollectorRegistry())
    pool = FairThreads("batches", settings.batch_threads)
    play = StreamMethod(PLAY, Method(metrics, "bidi_stream", PLAY), lambda _: Batches().play, pool)
    server = fast_port(
        settings,
        f"{LOOPBACK}:{port}",
        Guards(settings, metrics),
        (),
        play,
        UnknownMethod(Method(metrics, "unknown", "/unknown/unknown")),
        share_port=False,
        connections=connections_of(1),
    )
    server.start()
    signal.pause()


if __name__ == "__main__":
    main(*sys.argv[1:])
