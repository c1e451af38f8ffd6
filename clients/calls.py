"""What the sync and the asyncio client share: how each call's request is built."""

from typing import Generic, NamedTuple, TypeVar

from google.protobuf.message import Message

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

Response = TypeVar("Response", bound=Message)


class Call(NamedTuple, Generic[Response]):
    """A call to be made: a method of the service, which answers with a Response, and its request."""

    method: str
    request: Message


def list_games() -> Call[ListGamesResponse]:
    """ListGames."""
    return Call("ListGames", ListGamesRequest())


def new_game(
    game: str,
    players: int,
    options: Options | None,
    seed: int | None,
    game_number: int,
    explicit_chance: bool,
    include: Include | None,
) -> Call[NewGameResponse]:
    """NewGame."""
    request = NewGameRequest(
        game=game,
        players=players,
        options=options,
        seed=seed,
        game_number=game_number,
        explicit_chance=explicit_chance,
        include=include,
    )
    return Call("NewGame", request)


def list_legal_actions(state: State) -> Call[ListLegalActionsResponse]:
    """ListLegalActions."""
    return Call("ListLegalActions", ListLegalActionsRequest(state=state))


def apply(
    state: State, action: int | Action | None, outcome: int | None, include: Include | None
) -> Call[ApplyResponse]:
    """Apply; a bare number is a dense id."""
    if (action is None) == (outcome is None):
        raise TypeError("apply takes either an action or an outcome")
    if isinstance(action, int):
        action = Action(id=action)
    return Call("Apply", ApplyRequest(state=state, action=action, outcome=outcome, include=include))


def get_score(state: State) -> Call[GetScoreResponse]:
    """GetScore."""
    return Call("GetScore", GetScoreRequest(state=state))


def get_view(state: State, seat: int | None) -> Call[GetViewResponse]:
    """GetView."""
    return Call("GetView", GetViewRequest(state=state, seat=seat))


def resample(state: State, seat: int, seed: int | None, game_number: int) -> Call[ResampleResponse]:
    """Resample."""
    return Call("Resample", ResampleRequest(state=state, seat=seat, seed=seed, game_number=game_number))
