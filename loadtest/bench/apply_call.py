"""The call to Apply that the rows for single calls use, with one request for each game."""

from typing import NamedTuple

import numpy as np

from chatiere.engine import Game
from chatiere.engine.wire import fill
from chatiere.service.calls import conversion, game_service
from chatiere.v1.game_service_pb2 import ApplyRequest


class Call(NamedTuple):
    """A request, and the size of its response."""

    request: bytes
    response_size: int


def apply_request(game: Game, players: int) -> ApplyRequest:
    """Return a request for Apply with legal actions, at the decision of a random game with the median response size."""
    rng = np.random.default_rng(7)
    position = game.new_game(players, seed=7)
    requests: list[tuple[int, int, ApplyRequest]] = []
    while not position.is_terminal():
        actions = position.legal_actions()
        action = actions[rng.integers(len(actions))]
        request = ApplyRequest()
        fill(request.state, conversion.of(position).put_state, position)
        request.action.id = action
        request.include.legal_actions = True
        requests.append((len(response_to(request)), len(requests), request))
        position.apply(action)
    return sorted(requests)[len(requests) // 2][2]


def response_to(request: ApplyRequest) -> bytes:
    """Return the response to a request for Apply."""
    response, _ = game_service.apply(request.SerializeToString())
    return response


def apply_call(game: Game, players: int) -> Call:
    """Return a call that sends the result of `apply_request`."""
    request = apply_request(game, players)
    return Call(request.SerializeToString(), len(response_to(request)))
