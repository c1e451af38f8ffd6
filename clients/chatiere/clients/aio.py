"""The client of GameService for asyncio."""

from collections.abc import Sequence
from typing import SupportsIndex, Unpack

import grpc

from chatiere.clients.calls import game_requests
from chatiere.clients.calls.errors import ChatiereError
from chatiere.clients.calls.game_requests import MethodRequest, ResponseMessage
from chatiere.clients.transport.aio_channel_client import AsyncChannelClient
from chatiere.clients.transport.channel import ClientOptions
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


class AsyncClient(AsyncChannelClient):
    """The asyncio version of `Client`. Methods, arguments, results, errors and retries are the same.

    Create it in a running event loop. Use it in an `async with` statement, or close it.
    """

    def __init__(self, target: str | Sequence[str] | grpc.aio.Channel, **options: Unpack[ClientOptions]) -> None:
        """See AsyncChannelClient."""
        super().__init__(target, **options)
        self._stub = GameServiceStub(self.channel)
        self._bot_stub = BotServiceStub(self.channel)

    async def _send(self, request: MethodRequest[ResponseMessage], timeout: float | None) -> ResponseMessage:
        stub = self._stub if hasattr(self._stub, request.method) else self._bot_stub
        response: ResponseMessage = await self._call(getattr(stub, request.method), request.message, timeout)
        return response

    async def list_games(
        self,
        games: Sequence[str] = (),
        *,
        pieces: bool = False,
        observation: bool = False,
        phrases: bool = False,
        timeout: float | None = None,
    ) -> list[GameInfo]:
        """See Client.list_games."""
        request = game_requests.list_games(games, pieces, observation, phrases)
        return list((await self._send(request, timeout)).games)

    async def get_rules(
        self,
        game: str,
        *,
        players: SupportsIndex = 0,
        options: Options | None = None,
        audience: RulesAudience = RULES_AUDIENCE_PLAYERS,
        timeout: float | None = None,
    ) -> GetRulesResponse:
        """See Client.get_rules."""
        return await self._send(game_requests.get_rules(game, players, options, audience), timeout)

    async def new_game(
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
        """See Client.new_game."""
        request = game_requests.new_game(game, players, options, seed, game_number, explicit_chance, include)
        return (await self._send(request, timeout)).position

    async def list_legal_actions(self, state: State, *, timeout: float | None = None) -> ListLegalActionsResponse:
        """See Client.list_legal_actions."""
        return await self._send(game_requests.list_legal_actions(state), timeout)

    async def apply(
        self,
        state: State,
        action: SupportsIndex | Action | None = None,
        *,
        outcome: SupportsIndex | None = None,
        seat: SupportsIndex | None = None,
        include: Include | None = None,
        timeout: float | None = None,
    ) -> Position:
        """See Client.apply."""
        return (await self._send(game_requests.apply(state, action, outcome, seat, include), timeout)).position

    async def get_position(
        self, state: State, include: Include | None = None, *, timeout: float | None = None
    ) -> Position:
        """See Client.get_position."""
        return (await self._send(game_requests.get_position(state, include), timeout)).position

    async def get_score(self, state: State, *, timeout: float | None = None) -> Score:
        """See Client.get_score."""
        return (await self._send(game_requests.get_score(state), timeout)).score

    async def get_view(self, state: State, seat: SupportsIndex | None = None, *, timeout: float | None = None) -> View:
        """See Client.get_view."""
        return (await self._send(game_requests.get_view(state, seat), timeout)).view

    async def resample(
        self,
        state: State,
        seat: SupportsIndex,
        *,
        seed: SupportsIndex | None = None,
        game_number: SupportsIndex = 0,
        timeout: float | None = None,
    ) -> State:
        """See Client.resample."""
        return (await self._send(game_requests.resample(state, seat, seed, game_number), timeout)).state

    async def replay(
        self,
        record: GameRecord,
        from_ply: SupportsIndex = 0,
        to_ply: SupportsIndex | None = None,
        *,
        include: Include | None = None,
        timeout: float | None = None,
    ) -> list[Position]:
        """See Client.replay."""
        positions: list[Position] = []
        request = game_requests.replay(record, from_ply, to_ply, include)
        while True:
            try:
                return positions + list((await self._send(request, timeout)).positions)
            except ChatiereError as error:
                first, rest = game_requests.shorter_stretches(request, error)
            positions += (await self._send(first, timeout)).positions
            request = rest

    async def list_bots(self, game: str, *, timeout: float | None = None) -> ListBotsResponse:
        """See Client.list_bots."""
        return await self._send(game_requests.list_bots(game), timeout)

    async def suggest(
        self, state: State, bot: str, *, seed: SupportsIndex | None = None, timeout: float | None = None
    ) -> SuggestResponse:
        """See Client.suggest."""
        return await self._send(game_requests.suggest(state, bot, seed), timeout)

    async def analyse(
        self,
        record: GameRecord,
        from_ply: SupportsIndex = 0,
        to_ply: SupportsIndex | None = None,
        *,
        simulations: SupportsIndex | None = None,
        seed: SupportsIndex | None = None,
        timeout: float | None = None,
    ) -> list[AnalysedDecision]:
        """See Client.analyse."""
        decisions: list[AnalysedDecision] = []
        request = game_requests.analyse(record, from_ply, to_ply, simulations, seed)
        while True:
            try:
                return decisions + list((await self._send(request, timeout)).decisions)
            except ChatiereError as error:
                first, rest = game_requests.shorter_analyses(request, error)
            decisions += (await self._send(first, timeout)).decisions
            request = rest
