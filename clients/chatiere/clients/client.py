"""The synchronous client of GameService and BotService."""

from collections.abc import Sequence
from typing import SupportsIndex, Unpack

import grpc

from chatiere.clients.calls import game_requests
from chatiere.clients.calls.errors import ChatiereError
from chatiere.clients.calls.game_requests import MethodRequest, ResponseMessage
from chatiere.clients.transport.channel import ClientOptions
from chatiere.clients.transport.channel_client import ChannelClient
from chatiere.v1.bot_service_pb2 import AnalysedDecision, ListBotsResponse, SuggestResponse
from chatiere.v1.bot_service_pb2_grpc import BotServiceStub
from chatiere.v1.game_pb2 import Action, GameInfo, Include, Options, Position, Score, State, View
from chatiere.v1.game_service_pb2 import (
    RULES_AUDIENCE_PLAYERS,
    GetRulesResponse,
    ListLegalActionsResponse,
    RulesAudience,
)
from chatiere.v1.game_service_pb2_grpc import GameServiceStub
from chatiere.v1.record_pb2 import GameRecord


class Client(ChannelClient):
    """A thread-safe client for single games.

    The service is stateless. A State contains the whole game. Keep the state, and pass it to each call. Calls do not
    change a state that is passed to them. The messages are defined in chatiere.v1 (`from chatiere.v1.game_pb2 import
    State, Action, …`), where every field is documented.

    Every method has an argument `timeout` in seconds that overrides the client's timeout. Methods raise ChatiereError
    with one of the listed reasons. They raise its subclass TransportError if the service cannot be reached or does not
    respond in time. While the service is UNAVAILABLE, gRPC makes a call up to five times within the timeout. This is
    safe because all calls are pure. gRPC does not retry a call that fails after its response has begun to arrive, for
    instance because the connection broke. Repeat the call yourself in this case. Numbers may have any integer type,
    including NumPy's. A number that is out of range for its field, for example a negative seat, raises ValueError. A
    value that is not an integer raises TypeError.

    Use the client in a `with` statement, or close it:

        >>> from chatiere.clients import Client
        >>> from chatiere.v1.game_pb2 import Include
        >>> with Client(address) as client:  # such as "127.0.0.1:50051"
        ...     position = client.new_game("discat", 2, seed=7, include=Include(legal_actions=True))
        ...     after = client.apply(position.state, position.legal_actions[0])
        >>> position.ply, after.ply
        (0, 1)
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
        """Return the descriptions of some games, or of all games, sorted by name.

        Args:
            games: The names of the games. Empty means all games.
            pieces: True to include the pieces and their fields. Otherwise, these parts of GameInfo are empty.
            observation: True to include the layout of observations. Otherwise, the layout is empty.
            phrases: True to include the templates of labels. Otherwise, there are no templates.
            timeout: The time limit of the call in seconds, including retries. None means the client's timeout.

        Raises:
            ChatiereError: UNKNOWN_GAME.
        """
        return list(self._send(game_requests.list_games(games, pieces, observation, phrases), timeout).games)

    def get_rules(
        self,
        game: str,
        *,
        players: SupportsIndex = 0,
        options: Options | None = None,
        audience: RulesAudience = RULES_AUDIENCE_PLAYERS,
        timeout: float | None = None,
    ) -> GetRulesResponse:
        """Return the rules of a game as Markdown, with the options that differ from their defaults.

        Args:
            game: A name from `list_games`.
            players: The number of players. 0 means any number.
            options: The options in force. Options that are not set have their defaults.
            audience: RULES_AUDIENCE_PLAYERS for a sheet in the client's language, or RULES_AUDIENCE_AUTHORS for the
                specification in English. The metadata `rule` of errors contains headings of the specification.
            timeout: The time limit of the call in seconds, including retries. None means the client's timeout.

        Raises:
            ChatiereError: UNKNOWN_GAME, INVALID_PLAYERS, INVALID_OPTION, MALFORMED_REQUEST (an unknown audience).
        """
        return self._send(game_requests.get_rules(game, players, options, audience), timeout)

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
        """Start a game.

        Args:
            game: A name from `list_games`.
            players: The number of players, GameInfo.min_players … max_players.
            options: The game's options. Options that are not set have their defaults.
            seed: The seed of sampled chance, 0 … 2**64 - 1. None means a random seed. The same seed, game number and
                moves always give the same game.
            game_number: A number that distinguishes games with the same seed, 0 … 2**64 - 1. If it is not 0, a seed is
                required.
            explicit_chance: True to stop at every chance event. You then call `apply` with an outcome. Not allowed with
                a seed.
            include: The parts of the response in addition to the state, the turn and the events.
            timeout: The time limit of the call in seconds, including retries. None means the client's timeout.

        Returns:
            The position at the first decision. With explicit chance, the position at the first chance event or
            decision.

        Raises:
            ChatiereError: UNKNOWN_GAME, INVALID_PLAYERS, INVALID_OPTION, INVALID_SEED, INVALID_SEAT (in `include`).
        """
        request = game_requests.new_game(game, players, options, seed, game_number, explicit_chance, include)
        return self._send(request, timeout).position

    def list_legal_actions(self, state: State, *, timeout: float | None = None) -> ListLegalActionsResponse:
        """List the legal actions or the chance outcomes in a state.

        Returns:
            The turn. At a decision, the response also has the legal actions in ascending order of their ids. At a
            chance event, it has the possible outcomes in ascending order, with their weights. Both lists are empty when
            the game is over.

        Raises:
            ChatiereError: INVALID_STATE, UNSUPPORTED_RULES_VERSION, MISSING_FIELD.
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
        """Make a move: an action of the deciding seat, or the outcome of a pending chance event.

        Args:
            state: The state. It is not changed.
            action: A dense id, or an Action. A legal action may be passed as received. An Action with only the typed
                part is also accepted.
            outcome: The ChanceOutcome.outcome of a pending chance event. Only with explicit chance.
            seat: The seat that sends the action. It must be the deciding seat. None means no check.
            include: The parts of the response in addition to the state, the turn and the events.
            timeout: The time limit of the call in seconds, including retries. None means the client's timeout.

        Returns:
            The next position.

        Raises:
            ChatiereError: INVALID_STATE, UNSUPPORTED_RULES_VERSION, MISSING_FIELD, INVALID_ACTION, ACTION_MISMATCH,
                ILLEGAL_ACTION (metadata: actor, move, rule, rule_key), WRONG_TURN (`seat` is not to decide),
                IMPOSSIBLE_OUTCOME, CHANCE_PENDING, NO_CHANCE_PENDING, GAME_OVER, INVALID_SEAT (`seat`, or in
                `include`).
            TypeError: Not exactly one of `action` and `outcome` is given.
        """
        return self._send(game_requests.apply(state, action, outcome, seat, include), timeout).position

    def get_position(self, state: State, include: Include | None = None, *, timeout: float | None = None) -> Position:
        """Return the position of a state, with the parts requested by `include`. The position has no events.

        Raises:
            ChatiereError: INVALID_STATE, UNSUPPORTED_RULES_VERSION, MISSING_FIELD, INVALID_SEAT (in `include`).
        """
        return self._send(game_requests.get_position(state, include), timeout).position

    def get_score(self, state: State, *, timeout: float | None = None) -> Score:
        """Return the scores as if the game ended now, in the game's own points and with a breakdown.

        Winners, ranks and returns are set only when the game is over.

        Raises:
            ChatiereError: INVALID_STATE, UNSUPPORTED_RULES_VERSION, MISSING_FIELD.
        """
        return self._send(game_requests.get_score(state), timeout).score

    def get_view(self, state: State, seat: SupportsIndex | None = None, *, timeout: float | None = None) -> View:
        """Return the view of a state for a seat (0 … players - 1), or for a spectator if `seat` is None.

        Raises:
            ChatiereError: INVALID_STATE, UNSUPPORTED_RULES_VERSION, MISSING_FIELD, INVALID_SEAT.
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
        """Draw a state uniformly from all states consistent with a seat's knowledge.

        Args:
            state: The state. A resampled state with sampled chance continues the random stream of `seed` and
                `game_number`, not the stream of this state.
            seat: The seat whose knowledge determines the draw, 0 … players - 1.
            seed: The seed of the draw, 0 … 2**64 - 1. None means a random seed. The same seed and game number draw the
                same state.
            game_number: A number that distinguishes draws with the same seed, 0 … 2**64 - 1.
            timeout: The time limit of the call in seconds, including retries. None means the client's timeout.

        Raises:
            ChatiereError: INVALID_STATE, UNSUPPORTED_RULES_VERSION, MISSING_FIELD, INVALID_SEAT, INVALID_SEED.
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
        """Replay a record (see chatiere.clients.records) and return the positions in a range of it.

        If the range is too long for one response, the method makes several calls, each within `timeout`.

        Args:
            record: The record.
            from_ply: The first position, given by the number of decisions before it: 0 … the number of actions in the
                record.
            to_ply: The last position, given in the same way. None means the last position of the record.
            include: The parts of each position in addition to the state, the turn and the events since the previous
                position.
            timeout: The time limit of the call in seconds, including retries. None means the client's timeout.

        Raises:
            ChatiereError: UNKNOWN_GAME, UNSUPPORTED_RULES_VERSION, INVALID_PLAYERS, INVALID_OPTION, INVALID_RECORD,
                INVALID_RANGE, INVALID_ACTION, ILLEGAL_ACTION and IMPOSSIBLE_OUTCOME (metadata: ply), INVALID_SEAT (in
                `include`), BATCH_TOO_LARGE (a single position is too large), MISSING_FIELD.
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

    def list_bots(self, game: str, *, timeout: float | None = None) -> ListBotsResponse:
        """Return the bots that play a game, and the ladder: the bots to offer to people, weakest first.

        In `bots`, the bots for any game come before the bots for this game.

        Raises:
            ChatiereError: UNKNOWN_GAME.
        """
        return self._send(game_requests.list_bots(game), timeout)

    def suggest(
        self, state: State, bot: str, *, seed: SupportsIndex | None = None, timeout: float | None = None
    ) -> SuggestResponse:
        """Return a bot's suggestion for the seat to act, with ratings of the legal actions.

        The bot uses only information that this seat may know.

        Args:
            state: The state, at a decision.
            bot: The bot's name and parameters, for example "ismcts:simulations=500".
            seed: The seed of the bot's random choices, 0 … 2**64 - 1. None means a random seed.
            timeout: The time limit of the call in seconds, including retries. None means the client's timeout.

        Raises:
            ChatiereError: INVALID_STATE, UNSUPPORTED_RULES_VERSION, MISSING_FIELD, CHANCE_PENDING, GAME_OVER,
                INVALID_BOT, BATCH_TOO_LARGE.
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
        """Judge the decisions in a range of a record. The tree search knows only what the deciding seat knew.

        If the range is too long for one response, the method makes several calls, each within `timeout`. To show
        progress, analyse one range after another with the same seed. The service needs about ten seconds for a thousand
        decisions with a thousand simulations each.

        Args:
            record: The record.
            from_ply: The first decision, given by the number of decisions before it: 0 … the number of actions in the
                record.
            to_ply: The end of the range, exclusive, given in the same way. None means the end of the record.
            simulations: The number of simulations for each decision, 1 … 1,000,000. None means 1,000.
            seed: The seed of the analysis, 0 … 2**64 - 1. The same seed gives the same analysis. None means a random
                seed.
            timeout: The time limit of the call in seconds, including retries. None means the client's timeout.

        Raises:
            ChatiereError: The reasons of `replay` except INVALID_SEAT; INVALID_BATCH (the number of simulations is out
                of range); BATCH_TOO_LARGE (a single decision exceeds the limit).
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
