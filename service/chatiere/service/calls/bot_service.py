"""The methods of BotService: each reads its request and returns its response, both in wire format.

They know nothing of gRPC. They raise EngineError and Refusal with field paths that begin in the request, DecodeError
for a request that cannot be parsed, and Cancelled once their cancellation says so.
"""

import secrets
from collections.abc import Callable
from functools import cache

import numpy as np

from chatiere import bots, engine
from chatiere.bots import Bot, Judgement, Registry
from chatiere.bots.hosting import decisions_at, judge, luck
from chatiere.bots.ladder import ladder
from chatiere.engine import EngineError, Game, Position, Reason
from chatiere.engine.core.batch import Cancellation
from chatiere.engine.core.languages import catalogue
from chatiere.engine.wire import Buffer, written
from chatiere.service.base.errors import Refusal, ServiceReason
from chatiere.service.base.languages import spoken
from chatiere.service.base.settings import SettingError, Settings
from chatiere.service.calls import conversion
from chatiere.service.calls.analysis_service import OF_SIMULATION, AnalysisService
from chatiere.service.calls.game_service import position_of
from chatiere.service.calls.requests import numbers_of, opener, parse
from chatiere.v1 import bot_service_pb2 as pb
from chatiere.v1 import game_service_pb2

_open_suggest, _SUGGEST = opener(pb.SuggestRequest), numbers_of(pb.SuggestRequest)
# Reserves a number of bytes for a call. Raises Refusal.
Hold = Callable[[int], None]
_LEGAL_ACTIONS = game_service_pb2.ListLegalActionsResponse.LEGAL_ACTIONS_FIELD_NUMBER


class BotService:
    """BotService, within the limits of a server's settings."""

    def __init__(self, settings: Settings) -> None:
        """Take limits and bots from `settings`. Raises SettingError."""
        self._registry = registry_of(settings)
        self._max_playouts = settings.max_playouts
        self._methods: dict[str, Callable[[Buffer, Cancellation, Hold], bytes]] = {
            "list_bots": self._list_bots,
            "suggest": self._suggest,
            "analyse": AnalysisService(settings).analyse,
        }

    def answer(self, name: str, data: Buffer, cancellation: Cancellation, hold: Hold) -> list[Buffer]:
        """Return the response, as a single piece, to a request of a method, whose name is in snake case.

        `hold`: reserves memory for a search.
        """
        return [self._methods[name](data, cancellation, hold)]

    def _list_bots(self, data: Buffer, cancellation: Cancellation, hold: Hold) -> bytes:
        game = engine.game(parse(pb.ListBotsRequest, data).game)
        return _listed(self._registry, game, spoken(), self._max_playouts)

    def _suggest(self, data: Buffer, cancellation: Cancellation, hold: Hold) -> bytes:
        request = _open_suggest(bytes(data))
        position = position_of(request)
        try:
            position.require_decision()
        except EngineError as error:
            error.lies_below("state")
            conversion.name_game(error, position.game)
            raise
        spec = request.text(_SUGGEST.bot)
        bot = bot_of(self._registry, spec, position.game, position.num_players(), self._max_playouts, "bot")
        seed = request.number(_SUGGEST.seed) if request.has_number(_SUGGEST.seed) else secrets.randbits(64)
        return suggestion(position, bot, seed, cancellation, hold).SerializeToString()


def registry_of(settings: Settings) -> Registry:
    """Return the bots that requests may name: those of the package, and those of the settings. Raises SettingError."""
    try:
        return Registry(settings.bots)
    except ValueError as error:
        raise SettingError("bots", str(error)) from error


@cache
def _listed(registry: Registry, game: Game, language: str, most: int) -> bytes:
    # `most`: the games that a bot may play out for a decision.
    say = catalogue(bots.__name__, language)
    response = pb.ListBotsResponse()
    for info in registry.infos(game):
        bot = response.bots.add(
            name=info.name, title=say(f"{info.name}.title", info.title), description=say(info.name, info.description)
        )
        for each in info.parameters:
            key = f"{info.name}.{each.name}"
            bot.parameters.add(
                name=each.name,
                title=say(f"{key}.title", each.title),
                description=say(key, each.description),
                lowest=each.lowest,
                highest=min(each.highest, most) if each.counts_games else each.highest,
                default_value=each.default,
            )
        if info.seconds is not None:
            bot.typical_time.FromNanoseconds(round(info.seconds * 1e9))
    for rung in ladder(game):
        numbers = range(game.min_players, game.max_players + 1)
        if all(registry.get(rung.bot_for(players), game, players).budget <= most for players in numbers):
            offered = response.ladder.add(
                name=rung.name,
                title=say(f"ladder.{rung.name}", rung.title),
                bot=rung.bot,
                strength=rung.strength,
                bots_by_players={int(players): bot for players, bot in rung.bots_by_players.items()},
            )
            offered.typical_time.FromNanoseconds(round(rung.seconds * 1e9))
    return response.SerializeToString()


def bot_of(
    registry: Registry, spec: str, game: Game, players: int, most: int, field: str, version: int | None = None
) -> Bot:
    """Return the bot that a request's field describes. `most`: the games that it may play out for a decision.

    `version`: of the package's bots; None: the newest.

    Raises Refusal (MISSING_FIELD, INVALID_BOT) and EngineError (BATCH_TOO_LARGE).
    """
    if not spec:
        raise Refusal(
            ServiceReason.MISSING_FIELD,
            f"the request names no bot; known bots: {', '.join(registry.names(game))}",
            field=field,
            metadata={"game": game.name},
        )
    try:
        bot = registry.get(spec, game, players, version)
    except ValueError as error:
        raise Refusal(ServiceReason.INVALID_BOT, str(error), field=field, metadata={"game": game.name}) from error
    if bot.budget > most and bot.is_reproducible:
        raise EngineError(
            Reason.BATCH_TOO_LARGE,
            f"this service lets a bot play out at most {most} games, not {bot.budget}",
            field=field,
            metadata={"game": game.name, "limit": str(most), "asked": str(bot.budget)},
        )
    return bot


def memory_of(bot: Bot) -> int:
    """Return the bytes that a decision of a bot takes at most."""
    return OF_SIMULATION * bot.budget


def suggestion(
    position: Position,
    bot: Bot,
    seed: int,
    cancellation: Cancellation,
    hold: Hold,
    *,
    hides_forced: bool = False,
) -> pb.SuggestResponse:
    """Return what a bot suggests at a decision.

    `seed`: of its random choices. `hides_forced`: as in Decisions. Raises Refusal and Cancelled.
    """
    hold(memory_of(bot))
    number = int(luck(seed, [0], [0])[0])
    return _response(position, judge(bot, decisions_at(position, bot, number, cancellation, hides_forced=hides_forced)))


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
