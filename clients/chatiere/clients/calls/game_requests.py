"""Functions that build requests to GameService and BotService, for the synchronous and the asyncio client."""

from collections.abc import Sequence
from typing import Generic, NamedTuple, SupportsIndex, TypeVar, cast

from google.protobuf.message import Message

from chatiere.clients.calls.errors import ChatiereError
from chatiere.engine.core.integers import unsigned
from chatiere.v1.bot_service_pb2 import (
    AnalyseRequest,
    AnalyseResponse,
    ListBotsRequest,
    ListBotsResponse,
    SuggestRequest,
    SuggestResponse,
)
from chatiere.v1.game_pb2 import Action, Include, Options, State
from chatiere.v1.game_service_pb2 import (
    ApplyRequest,
    ApplyResponse,
    GetPositionRequest,
    GetPositionResponse,
    GetRulesRequest,
    GetRulesResponse,
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
    ReplayRequest,
    ReplayResponse,
    ResampleRequest,
    ResampleResponse,
    RulesAudience,
)
from chatiere.v1.record_pb2 import GameRecord

DEFAULT_TIMEOUT = 10.0
"""The default timeout of a call in seconds, including retries."""

ResponseMessage = TypeVar("ResponseMessage", bound=Message)


class MethodRequest(NamedTuple, Generic[ResponseMessage]):
    """A request to be sent: the name of a method that returns a ResponseMessage, and the request message."""

    method: str
    message: Message


def list_games(
    games: Sequence[str], pieces: bool, observation: bool, phrases: bool
) -> MethodRequest[ListGamesResponse]:
    """Build a ListGames request."""
    if isinstance(games, str):
        raise TypeError(f"games is a sequence of names, not the one name {games!r}")
    request = ListGamesRequest(games=games, pieces=pieces, observation=observation, phrases=phrases)
    return MethodRequest("ListGames", request)


def get_rules(
    game: str, players: SupportsIndex, options: Options | None, audience: RulesAudience
) -> MethodRequest[GetRulesResponse]:
    """Build a GetRules request."""
    request = GetRulesRequest(game=game, players=unsigned("players", players, 32), options=options, audience=audience)
    return MethodRequest("GetRules", request)


def new_game(
    game: str,
    players: SupportsIndex,
    options: Options | None,
    seed: SupportsIndex | None,
    game_number: SupportsIndex,
    explicit_chance: bool,
    include: Include | None,
) -> MethodRequest[NewGameResponse]:
    """Build a NewGame request."""
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
    """Build a ListLegalActions request."""
    return MethodRequest("ListLegalActions", ListLegalActionsRequest(state=state))


def action_message(action: SupportsIndex | Action) -> Action:
    """Return an action as a message; a number is a dense id."""
    return action if isinstance(action, Action) else Action(id=unsigned("action", action, 32))


def apply(
    state: State,
    action: SupportsIndex | Action | None,
    outcome: SupportsIndex | None,
    seat: SupportsIndex | None,
    include: Include | None,
) -> MethodRequest[ApplyResponse]:
    """Build an Apply request. If `action` is a number, it is a dense id."""
    if (action is None) == (outcome is None):
        raise TypeError("apply takes either an action or an outcome")
    action = None if action is None else action_message(action)
    outcome = None if outcome is None else unsigned("outcome", outcome, 32)
    mover = None if seat is None else unsigned("seat", seat, 32)
    request = ApplyRequest(state=state, action=action, outcome=outcome, seat=mover, include=include)
    return MethodRequest("Apply", request)


def get_position(state: State, include: Include | None) -> MethodRequest[GetPositionResponse]:
    """Build a GetPosition request."""
    return MethodRequest("GetPosition", GetPositionRequest(state=state, include=include))


def get_score(state: State) -> MethodRequest[GetScoreResponse]:
    """Build a GetScore request."""
    return MethodRequest("GetScore", GetScoreRequest(state=state))


def get_view(state: State, seat: SupportsIndex | None) -> MethodRequest[GetViewResponse]:
    """Build a GetView request."""
    viewer = None if seat is None else unsigned("seat", seat, 32)
    return MethodRequest("GetView", GetViewRequest(state=state, seat=viewer))


def resample(
    state: State, seat: SupportsIndex, seed: SupportsIndex | None, game_number: SupportsIndex
) -> MethodRequest[ResampleResponse]:
    """Build a Resample request."""
    request = ResampleRequest(
        state=state,
        seat=unsigned("seat", seat, 32),
        seed=None if seed is None else unsigned("seed", seed, 64),
        game_number=unsigned("game_number", game_number, 64),
    )
    return MethodRequest("Resample", request)


def replay(
    record: GameRecord, from_ply: SupportsIndex, to_ply: SupportsIndex | None, include: Include | None
) -> MethodRequest[ReplayResponse]:
    """Build a Replay request."""
    request = ReplayRequest(
        record=record,
        from_ply=unsigned("from_ply", from_ply, 32),
        to_ply=None if to_ply is None else unsigned("to_ply", to_ply, 32),
        include=include,
    )
    return MethodRequest("Replay", request)


def shorter_stretches(
    request: MethodRequest[ReplayResponse], error: ChatiereError
) -> tuple[MethodRequest[ReplayResponse], MethodRequest[ReplayResponse]]:
    """Split a Replay request whose response would be too large: a part that fits, and the rest. Raise other errors."""
    whole = cast(ReplayRequest, request.message)
    last = int(error.metadata.get("last_ply", -1)) if error.reason == "BATCH_TOO_LARGE" else -1
    if last < whole.from_ply:
        raise error
    first, rest = ReplayRequest(), ReplayRequest()
    first.CopyFrom(whole)
    first.to_ply = last
    rest.CopyFrom(whole)
    rest.from_ply = last + 1
    return MethodRequest("Replay", first), MethodRequest("Replay", rest)


def list_bots(game: str) -> MethodRequest[ListBotsResponse]:
    """Build a ListBots request."""
    return MethodRequest("ListBots", ListBotsRequest(game=game))


def suggest(state: State, bot: str, seed: SupportsIndex | None) -> MethodRequest[SuggestResponse]:
    """Build a Suggest request."""
    request = SuggestRequest(state=state, bot=bot, seed=None if seed is None else unsigned("seed", seed, 64))
    return MethodRequest("Suggest", request)


def analyse(
    record: GameRecord,
    from_ply: SupportsIndex,
    to_ply: SupportsIndex | None,
    simulations: SupportsIndex | None,
    seed: SupportsIndex | None,
) -> MethodRequest[AnalyseResponse]:
    """Build an Analyse request."""
    request = AnalyseRequest(
        record=record,
        from_ply=unsigned("from_ply", from_ply, 32),
        to_ply=None if to_ply is None else unsigned("to_ply", to_ply, 32),
        simulations=None if simulations is None else unsigned("simulations", simulations, 32),
        seed=None if seed is None else unsigned("seed", seed, 64),
    )
    return MethodRequest("Analyse", request)


def shorter_analyses(
    request: MethodRequest[AnalyseResponse], error: ChatiereError
) -> tuple[MethodRequest[AnalyseResponse], MethodRequest[AnalyseResponse]]:
    """Split an Analyse request that exceeds the limits: a part within them, and the rest. Raise other errors."""
    whole = cast(AnalyseRequest, request.message)
    last = int(error.metadata.get("last_ply", 0)) if error.reason == "BATCH_TOO_LARGE" else 0
    if last <= whole.from_ply:
        raise error
    first, rest = AnalyseRequest(), AnalyseRequest()
    first.CopyFrom(whole)
    first.to_ply = last
    rest.CopyFrom(whole)
    rest.from_ply = last
    return MethodRequest("Analyse", first), MethodRequest("Analyse", rest)
