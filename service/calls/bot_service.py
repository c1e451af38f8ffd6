"""The methods of BotService: each reads its request and returns its response, both in wire format.

They know nothing of gRPC. They raise EngineError and Refusal with field paths that begin in the request, DecodeError
for a request that cannot be parsed, and Cancelled once their cancellation says so.
"""

import secrets
from collections.abc import Callable

import numpy as np

from chatiere import bots, engine
from chatiere.bots import Bot, Judgement
from chatiere.bots.hosting import decisions_at, luck
from chatiere.engine import EngineError, Position, Reason
from chatiere.engine.core.batch import Cancellation
from chatiere.engine.wire import Buffer, written
from chatiere.service.calls import conversion
from chatiere.service.calls.errors import Refusal, ServiceReason
from chatiere.service.calls.game_service import position_of
from chatiere.service.calls.requests import numbers_of, opener, parse
from chatiere.service.process.settings import Settings
from chatiere.v1 import bot_service_pb2 as pb
from chatiere.v1 import game_service_pb2

_open_suggest, _SUGGEST = opener(pb.SuggestRequest), numbers_of(pb.SuggestRequest)
# Bytes that a tree search takes at most for a simulation.
_OF_SIMULATION = 160
# Reserves a number of bytes for a call. Raises Refusal.
Hold = Callable[[int], None]
_LEGAL_ACTIONS = game_service_pb2.ListLegalActionsResponse.LEGAL_ACTIONS_FIELD_NUMBER


class BotService:
    """BotService, within the limits of a server's settings."""

    def __init__(self, settings: Settings) -> None:
        """Take limits from `settings`."""
        self._max_playouts = settings.max_playouts
        self._methods: dict[str, Callable[[Buffer, Cancellation, Hold], bytes]] = {
            "list_bots": self._list_bots,
            "suggest": self._suggest,
        }

    def answer(self, name: str, data: Buffer, cancellation: Cancellation, hold: Hold) -> list[Buffer]:
        """Return the response, as a single piece, to a request of a method, whose name is in snake case.

        `hold`: reserves memory for a search.
        """
        return [self._methods[name](data, cancellation, hold)]

    def _list_bots(self, data: Buffer, cancellation: Cancellation, hold: Hold) -> bytes:
        game = engine.game(parse(pb.ListBotsRequest, data).game)
        return pb.ListBotsResponse(
            bots=[
                pb.BotInfo(
                    name=name,
                    parameters=[
                        pb.BotParameterInfo(
                            name=each.name, lowest=each.lowest, highest=each.highest, default_value=each.default
                        )
                        for each in bots.parameters(name, game)
                    ],
                )
                for name in bots.names(game)
            ]
        ).SerializeToString()

    def _suggest(self, data: Buffer, cancellation: Cancellation, hold: Hold) -> bytes:
        request = _open_suggest(bytes(data))
        position = position_of(request)
        try:
            position.require_decision()
        except EngineError as error:
            error.lies_below("state")
            conversion.name_game(error, position.game)
            raise
        bot = self._bot(request.text(_SUGGEST.bot), position)
        hold(_OF_SIMULATION * bot.budget)
        seed = request.number(_SUGGEST.seed) if request.has_number(_SUGGEST.seed) else secrets.randbits(64)
        decisions = decisions_at(position, bot, int(luck(seed, [0], [0])[0]), cancellation)
        return _response(position, bot.judge(decisions)).SerializeToString()

    def _bot(self, spec: str, position: Position) -> Bot:
        game = position.game
        if not spec:
            raise Refusal(
                ServiceReason.MISSING_FIELD,
                f"the request names no bot; known bots: {', '.join(bots.names(game))}",
                field="bot",
                metadata={"game": game.name},
            )
        try:
            bot = bots.get(spec, game, position.num_players())
        except ValueError as error:
            raise Refusal(ServiceReason.INVALID_BOT, str(error), field="bot", metadata={"game": game.name}) from error
        if bot.budget > self._max_playouts and bot.is_reproducible:
            raise EngineError(
                Reason.BATCH_TOO_LARGE,
                f"this service lets a bot play out at most {self._max_playouts} games, not {bot.budget}",
                field="bot",
                metadata={"game": game.name, "limit": str(self._max_playouts), "asked": str(bot.budget)},
            )
        return bot


def _response(position: Position, judgement: Judgement) -> pb.SuggestResponse:
    legal = game_service_pb2.ListLegalActionsResponse.FromString(
        written(conversion.of(position).put_legal_actions, _LEGAL_ACTIONS, position)
    ).legal_actions
    chosen = int(judgement.actions[0])
    (action,) = (each for each in legal if each.id == chosen)
    response = pb.SuggestResponse(seat=position.current_player(), action=action)
    # Either both are empty, or neither.
    for each, value, share in zip(legal, judgement.values, judgement.shares, strict=False):
        response.ratings.add(id=each.id, value=None if np.isnan(value) else value, share=share)
    return response
