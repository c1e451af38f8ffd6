"""What the sync and the asyncio client share: how each call's request is built."""

from typing import Generic, NamedTuple, SupportsIndex, TypeVar

from google.protobuf.message import Message

from chatiere.engine.core.integers import must_be, require_integer
from chatiere.v1.game_pb2 import Action, Include, Options, State
from chatiere.v1.game_service_pb2 import (
    ApplyRequest,
    ApplyResponse,
    GetScoreRequest,
    GetScoreResponse,
    GetViewRequest,
    GetViewResponse,
    ListGamesRequest,
    ListGamesResponse,
    ListLegalActionsRequest,
    ListLegalActionsResponse,
    NewGameRequest,
    NewGameResponse,
    ResampleRequest,
    ResampleResponse,
)

DEFAULT_TIMEOUT = 10.0
"""Seconds that a call may take, retries included, unless it is told otherwise."""

ResponseMessage = TypeVar("ResponseMessage", bound=Message)


class MethodRequest(NamedTuple, Generic[ResponseMessage]):
    """A call to be made: a method of the service, which answers with a Response, and its request."""

    method: str
    message: Message


def unsigned(name: str, value: SupportsIndex, bits: int) -> int:
    """A number for an unsigned field of so many bits, as an int. Raises TypeError; ValueError where it does not fit."""
    number = require_integer(name, value)
    if not 0 <= number < 2**bits:
        raise ValueError(must_be(name, number, 0, 2**bits - 1))
    return number


def list_games() -> MethodRequest[ListGamesResponse]:
    """ListGames."""
    return MethodRequest("ListGames", ListGamesRequest())


def new_game(
    game: str,
    players: SupportsIndex,
    options: Options | None,
    seed: SupportsIndex | None,
    game_number: SupportsIndex,
    explicit_chance: bool,
    include: Include | None,
) -> MethodRequest[NewGameResponse]:
    """NewGame."""
    request = NewGameRequest(
        game=game,
        players=unsigned("players", players, 32),
        options=options,
        seed=None if seed is None else unsigned("seed", seed, 64),
        game_number=unsigned("game_number", game_number, 64),
        explicit_chance=explicit_chance,
        include=include,
    )
    return MethodRequest("NewGame", request)


def list_legal_actions(state: State) -> MethodRequest[ListLegalActionsResponse]:
    """ListLegalActions."""
    return MethodRequest("ListLegalActions", ListLegalActionsRequest(state=state))


def apply(
    state: State, action: SupportsIndex | Action | None, outcome: SupportsIndex | None, include: Include | None
) -> MethodRequest[ApplyResponse]:
    """Apply; a bare number is a dense id."""
    if (action is None) == (outcome is None):
        raise TypeError("apply takes either an action or an outcome")
    if action is not None and not isinstance(action, Action):
        action = Action(id=unsigned("action", action, 32))
    outcome = None if outcome is None else unsigned("outcome", outcome, 32)
    return MethodRequest("Apply", ApplyRequest(state=state, action=action, outcome=outcome, include=include))


def get_score(state: State) -> MethodRequest[GetScoreResponse]:
    """GetScore."""
    return MethodRequest("GetScore", GetScoreRequest(state=state))


def get_view(state: State, seat: SupportsIndex | None) -> MethodRequest[GetViewResponse]:
    """GetView."""
    viewer = None if seat is None else unsigned("seat", seat, 32)
    return MethodRequest("GetView", GetViewRequest(state=state, seat=viewer))


def resample(
    state: State, seat: SupportsIndex, seed: SupportsIndex | None, game_number: SupportsIndex
) -> MethodRequest[ResampleResponse]:
    """Resample."""
    request = ResampleRequest(
        state=state,
        seat=unsigned("seat", seat, 32),
        seed=None if seed is None else unsigned("seed", seed, 64),
        game_number=unsigned("game_number", game_number, 64),
    )
    return MethodRequest("Resample", request)
