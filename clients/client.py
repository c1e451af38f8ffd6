"""The client of GameService."""

from collections.abc import Callable, Sequence
from typing import SupportsIndex

import grpc

from chatiere.clients.calls import game_requests
from chatiere.clients.calls.game_requests import DEFAULT_TIMEOUT, MethodRequest, ResponseMessage
from chatiere.clients.transport.channel_client import ChannelClient
from chatiere.v1.game_pb2 import Action, GameInfo, Include, Options, Position, Score, State, View
from chatiere.v1.game_service_pb2 import ListLegalActionsResponse
from chatiere.v1.game_service_pb2_grpc import GameServiceStub


class Client(ChannelClient):
    """Asks a Chatière service, one call at a time; may be used from many threads.

    The service stores nothing: a State, which you keep and hand along, is the whole game. No call changes the state
    that it is given. The messages are those of chatiere.v1 (`from chatiere.v1.game_pb2 import State, Action, …`),
    where every field is explained.

    Every method takes a `timeout` in seconds, in place of the client's own, and raises ChatiereError with the reasons
    that it names; its subclass TransportError where the service cannot be reached, or not in time. While the service is
    UNAVAILABLE, gRPC itself tries a call up to five times within the timeout: that is safe, as all calls are pure.
    Numbers may be of any type of integers, NumPy's too. One that its field cannot hold (a negative seat, say) is a
    ValueError, what is no integer a TypeError.

    Use it in a `with` statement, or close it.
    """

    def __init__(
        self,
        target: str | Sequence[str] | grpc.Channel,
        *,
        timeout: float = DEFAULT_TIMEOUT,
        credentials: grpc.ChannelCredentials | None = None,
        token: str | None = None,
        new_request_id: Callable[[], str] | None = None,
    ) -> None:
        """See ChannelClient."""
        super().__init__(target, timeout=timeout, credentials=credentials, token=token, new_request_id=new_request_id)
        self._stub = GameServiceStub(self.channel)  # type: ignore[no-untyped-call]  # generated without types

    def _send(self, request: MethodRequest[ResponseMessage], timeout: float | None) -> ResponseMessage:
        response: ResponseMessage = self._call(getattr(self._stub, request.method), request.message, timeout)
        return response

    def list_games(self, *, timeout: float | None = None) -> list[GameInfo]:
        """The games that the service has, by name, and what there is to know of each before playing it."""
        return list(self._send(game_requests.list_games(), timeout).games)

    def new_game(
        self,
        game: str,
        players: SupportsIndex,
        *,
        options: Options | None = None,
        seed: SupportsIndex | None = None,
        game_number: SupportsIndex = 0,
        explicit_chance: bool = False,
        include: Include | None = None,
        timeout: float | None = None,
    ) -> Position:
        """Begin a game.

        `game`: a name of `list_games`. `players`: how many seats, GameInfo.min_players … max_players.
        `options`: those of that game; absent, all have their defaults.
        `seed`, `game_number`: 0 … 2**64 - 1, of sampled chance; the same two and the same moves give the same game,
        everywhere. Without a seed the service takes a random one. A game number needs a seed.
        `explicit_chance`: the game stops at every chance event, for you to resolve (`apply` with an outcome), and takes
        no seed.
        `include`: what the answer should hold beside the state, whose turn it is and what happened.

        Returns the position at the first decision; with explicit chance, at the first chance event or decision.

        Reasons: UNKNOWN_GAME, INVALID_PLAYERS, INVALID_OPTION, INVALID_SEED, INVALID_SEAT (of `include`).
        """
        request = game_requests.new_game(game, players, options, seed, game_number, explicit_chance, include)
        return self._send(request, timeout).position

    def list_legal_actions(self, state: State, *, timeout: float | None = None) -> ListLegalActionsResponse:
        """What may be done at a state.

        Returns whose turn it is; at a decision the legal actions, by ascending id; at a chance event the outcomes that
        can come and their weights, ascending. At the end of a game both are empty.

        Reasons: INVALID_STATE, UNSUPPORTED_RULES_VERSION, MISSING_FIELD.
        """
        return self._send(game_requests.list_legal_actions(state), timeout)

    def apply(
        self,
        state: State,
        action: SupportsIndex | Action | None = None,
        *,
        outcome: SupportsIndex | None = None,
        include: Include | None = None,
        timeout: float | None = None,
    ) -> Position:
        """Make a move: give either the action of the seat that is to decide, or the outcome of a pending chance event.

        `action`: a dense id, or an Action (one of the legal ones as it came, or one with its typed part only).
        `outcome`: ChanceOutcome.outcome of what comes; only with explicit chance.
        `include`: what the answer should hold beside the state, whose turn it is and what happened.

        Returns the next position; `state` stays as it is.

        Reasons: INVALID_STATE, UNSUPPORTED_RULES_VERSION, MISSING_FIELD, INVALID_ACTION, ACTION_MISMATCH,
        ILLEGAL_ACTION (metadata: actor, move, rule), IMPOSSIBLE_OUTCOME, CHANCE_PENDING, NO_CHANCE_PENDING, GAME_OVER,
        INVALID_SEAT (of `include`). TypeError if both or neither of action and outcome are given.
        """
        return self._send(game_requests.apply(state, action, outcome, include), timeout).position

    def get_score(self, state: State, *, timeout: float | None = None) -> Score:
        """What the seats have, in the game's own points, or would have if the game stopped now, and how it came about.

        Winners, ranks and returns are there once the game is over.

        Reasons: INVALID_STATE, UNSUPPORTED_RULES_VERSION, MISSING_FIELD.
        """
        return self._send(game_requests.get_score(state), timeout).score

    def get_view(self, state: State, seat: SupportsIndex | None = None, *, timeout: float | None = None) -> View:
        """What a seat (0 … players - 1) may know of a state; without a seat, what a spectator may.

        Reasons: INVALID_STATE, UNSUPPORTED_RULES_VERSION, MISSING_FIELD, INVALID_SEAT.
        """
        return self._send(game_requests.get_view(state, seat), timeout).view

    def resample(
        self,
        state: State,
        seat: SupportsIndex,
        *,
        seed: SupportsIndex | None = None,
        game_number: SupportsIndex = 0,
        timeout: float | None = None,
    ) -> State:
        """A state drawn uniformly from those that agree with all that a seat (0 … players - 1) knows of this one.

        `seed`, `game_number`: 0 … 2**64 - 1; the same two draw the same state. Without a seed the service takes a
        random one. A state with sampled chance goes on with the stream of the two: its future is not the given state's.

        Reasons: INVALID_STATE, UNSUPPORTED_RULES_VERSION, MISSING_FIELD, INVALID_SEAT, INVALID_SEED.
        """
        return self._send(game_requests.resample(state, seat, seed, game_number), timeout).state
