"""The synchronous client of GameService and BotService."""

from collections.abc import Sequence
from typing import SupportsIndex, Unpack

import grpc

from chatiere.clients.calls import game_requests
from chatiere.clients.calls.errors import ChatiereError
from chatiere.clients.calls.game_requests import MethodRequest, ResponseMessage
from chatiere.clients.transport.channel import ClientOptions
from chatiere.clients.transport.channel_client import ChannelClient
from chatiere.v1.bot_service_pb2 import AnalysedDecision, BotInfo, SuggestResponse
from chatiere.v1.bot_service_pb2_grpc import BotServiceStub
from chatiere.v1.game_pb2 import Action, GameInfo, Include, Options, Position, Score, State, View
from chatiere.v1.game_service_pb2 import ListLegalActionsResponse
from chatiere.v1.game_service_pb2_grpc import GameServiceStub
from chatiere.v1.record_pb2 import GameRecord


class Client(ChannelClient):
    """A client for single games, one call after another; may be used from several threads.

    The service stores nothing: a State, which you keep and pass with each call, is the whole game. No call changes the
    state that it is given. The messages are those of chatiere.v1 (`from chatiere.v1.game_pb2 import State, Action, …`),
    where every field is documented.

    Every method takes a `timeout` in seconds, which replaces the client's own. It raises ChatiereError for the reasons
    that it lists, and the subclass TransportError if the service cannot be reached, or not in time. While the service
    is UNAVAILABLE, gRPC retries a call up to five times within the timeout, which is safe because all calls are pure.
    Numbers may be of any integer type, including NumPy's. ValueError is raised for one that its field cannot hold (such
    as a negative seat), TypeError for anything but an integer.

    Use it in a `with` statement, or close it.
    """

    def __init__(self, target: str | Sequence[str] | grpc.Channel, **options: Unpack[ClientOptions]) -> None:
        """See ChannelClient."""
        super().__init__(target, **options)
        self._stub = GameServiceStub(self.channel)
        self._bot_stub = BotServiceStub(self.channel)

    def _send(self, request: MethodRequest[ResponseMessage], timeout: float | None) -> ResponseMessage:
        stub = self._stub if hasattr(self._stub, request.method) else self._bot_stub
        response: ResponseMessage = self._call(getattr(stub, request.method), request.message, timeout)
        return response

    def list_games(
        self,
        games: Sequence[str] = (),
        *,
        pieces: bool = False,
        observation: bool = False,
        phrases: bool = False,
        timeout: float | None = None,
    ) -> list[GameInfo]:
        """Return the descriptions of the games that are named, or of all, sorted by name.

        `pieces`, `observation`, `phrases`: the large parts of a GameInfo that are wanted; the others are empty.

        Reasons: UNKNOWN_GAME.
        """
        return list(self._send(game_requests.list_games(games, pieces, observation, phrases), timeout).games)

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

        `game`: a name from `list_games`. `players`: the number of seats, GameInfo.min_players … max_players.
        `options`: the game's options; those absent have their defaults.
        `seed`, `game_number`: 0 … 2**64 - 1, for sampled chance; the same two and the same moves give the same game
        everywhere. Without a seed the service takes a random one. A game number needs a seed.
        `explicit_chance`: the game stops at every chance event for you to resolve (`apply` with an outcome), and takes
        no seed.
        `include`: the parts of the response beside the state, the turn and the events.

        Returns the position at the first decision; with explicit chance, at the first chance event or decision.

        Reasons: UNKNOWN_GAME, INVALID_PLAYERS, INVALID_OPTION, INVALID_SEED, INVALID_SEAT (of `include`).
        """
        request = game_requests.new_game(game, players, options, seed, game_number, explicit_chance, include)
        return self._send(request, timeout).position

    def list_legal_actions(self, state: State, *, timeout: float | None = None) -> ListLegalActionsResponse:
        """List the legal actions, or the chance outcomes, at a state.

        Returns the turn; at a decision the legal actions, by ascending id; at a chance event the possible outcomes,
        ascending, with their weights. At the end of a game both lists are empty.

        Reasons: INVALID_STATE, UNSUPPORTED_RULES_VERSION, MISSING_FIELD.
        """
        return self._send(game_requests.list_legal_actions(state), timeout)

    def apply(
        self,
        state: State,
        action: SupportsIndex | Action | None = None,
        *,
        outcome: SupportsIndex | None = None,
        seat: SupportsIndex | None = None,
        include: Include | None = None,
        timeout: float | None = None,
    ) -> Position:
        """Make a move: either an action of the seat to decide, or the outcome of a pending chance event.

        `action`: a dense id, or an Action (a legal one as received, or one with only its typed part).
        `outcome`: a ChanceOutcome.outcome; only with explicit chance.
        `seat`: the seat in whose name the action is sent; None: whose turn it is.
        `include`: the parts of the response beside the state, the turn and the events.

        Returns the next position; `state` is unchanged.

        Reasons: INVALID_STATE, UNSUPPORTED_RULES_VERSION, MISSING_FIELD, INVALID_ACTION, ACTION_MISMATCH,
        ILLEGAL_ACTION (metadata: actor, move, rule, rule_key), WRONG_TURN (of `seat`), IMPOSSIBLE_OUTCOME,
        CHANCE_PENDING, NO_CHANCE_PENDING, GAME_OVER, INVALID_SEAT (of `seat` or `include`). TypeError unless exactly
        one of action and outcome is given.
        """
        return self._send(game_requests.apply(state, action, outcome, seat, include), timeout).position

    def get_position(self, state: State, include: Include | None = None, *, timeout: float | None = None) -> Position:
        """Return a state with the parts that `include` asks for, as if a move had just led there, but without events.

        Reasons: INVALID_STATE, UNSUPPORTED_RULES_VERSION, MISSING_FIELD, INVALID_SEAT (of `include`).
        """
        return self._send(game_requests.get_position(state, include), timeout).position

    def get_score(self, state: State, *, timeout: float | None = None) -> Score:
        """Return the scores, in the game's own points, as if the game ended now, with a breakdown.

        Winners, ranks and returns are set once the game is over.

        Reasons: INVALID_STATE, UNSUPPORTED_RULES_VERSION, MISSING_FIELD.
        """
        return self._send(game_requests.get_score(state), timeout).score

    def get_view(self, state: State, seat: SupportsIndex | None = None, *, timeout: float | None = None) -> View:
        """Return the view of a state for a seat (0 … players - 1), or for a spectator if `seat` is None.

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
        """Draw a state uniformly from those consistent with what a seat (0 … players - 1) knows of this one.

        `seed`, `game_number`: 0 … 2**64 - 1; the same two draw the same state. Without a seed the service takes a
        random one. A state with sampled chance goes on with the stream of the two, not with the given state's.

        Reasons: INVALID_STATE, UNSUPPORTED_RULES_VERSION, MISSING_FIELD, INVALID_SEAT, INVALID_SEED.
        """
        return self._send(game_requests.resample(state, seat, seed, game_number), timeout).state

    def replay(
        self,
        record: GameRecord,
        from_ply: SupportsIndex = 0,
        to_ply: SupportsIndex | None = None,
        *,
        include: Include | None = None,
        timeout: float | None = None,
    ) -> list[Position]:
        """Play a record again (chatiere.clients.records), and return the positions of a stretch of it.

        A stretch too long for one response takes several calls, each within `timeout`.

        `from_ply`, `to_ply`: the first and the last position, by the number of decisions before it, 0 … the number of
        the record's actions; None: that number.
        `include`: the parts of each position beside the state, the turn and the events since the position before.

        Reasons: UNKNOWN_GAME, UNSUPPORTED_RULES_VERSION, INVALID_PLAYERS, INVALID_OPTION, INVALID_RECORD,
        INVALID_RANGE, INVALID_ACTION, ILLEGAL_ACTION and IMPOSSIBLE_OUTCOME (metadata: ply), INVALID_SEAT (of
        `include`), BATCH_TOO_LARGE (a single position is), MISSING_FIELD.
        """
        positions: list[Position] = []
        request = game_requests.replay(record, from_ply, to_ply, include)
        while True:
            try:
                return positions + list(self._send(request, timeout).positions)
            except ChatiereError as error:
                first, rest = game_requests.shorter_stretches(request, error)
            positions += self._send(first, timeout).positions
            request = rest

    def list_bots(self, game: str, *, timeout: float | None = None) -> list[BotInfo]:
        """Return the bots that play a game: those for any game, then its own.

        Reasons: UNKNOWN_GAME.
        """
        return list(self._send(game_requests.list_bots(game), timeout).bots)

    def suggest(
        self, state: State, bot: str, *, seed: SupportsIndex | None = None, timeout: float | None = None
    ) -> SuggestResponse:
        """Ask a bot for an action of the seat to act, and how good each legal action looked.

        The bot knows what that seat may know. `bot`: its name and parameters, such as "ismcts:simulations=500".
        `seed`: of its random choices, 0 … 2**64 - 1; None: the service takes a random one.

        Reasons: INVALID_STATE, UNSUPPORTED_RULES_VERSION, MISSING_FIELD, CHANCE_PENDING, GAME_OVER, INVALID_BOT,
        BATCH_TOO_LARGE.
        """
        return self._send(game_requests.suggest(state, bot, seed), timeout)

    def analyse(
        self,
        record: GameRecord,
        from_ply: SupportsIndex = 0,
        to_ply: SupportsIndex | None = None,
        *,
        simulations: SupportsIndex | None = None,
        seed: SupportsIndex | None = None,
        timeout: float | None = None,
    ) -> list[AnalysedDecision]:
        """Judge the decisions of a stretch of a record by a tree search, each from what its seat could know.

        A stretch too long for one response takes several calls, each within `timeout`. To show progress, ask for
        stretch after stretch with the same seed.

        `from_ply`, `to_ply`: the first decision, and the one before which the stretch ends, by the number of decisions
        before it, 0 … the number of the record's actions; None: that number.
        `simulations`: of each decision, 1 … 1,000,000; None: 1,000. A thousand decisions with a thousand each take the
        service some ten seconds.
        `seed`: 0 … 2**64 - 1; the same one gives the same analysis. None: the service takes a random one.

        Reasons: those of `replay` but INVALID_SEAT, INVALID_BATCH (simulations out of range), BATCH_TOO_LARGE (a single
        decision is).
        """
        decisions: list[AnalysedDecision] = []
        request = game_requests.analyse(record, from_ply, to_ply, simulations, seed)
        while True:
            try:
                return decisions + list(self._send(request, timeout).decisions)
            except ChatiereError as error:
                first, rest = game_requests.shorter_analyses(request, error)
            decisions += self._send(first, timeout).decisions
            request = rest
