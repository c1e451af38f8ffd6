"""The methods of BotService. They convert requests to responses, both in wire format.

They are independent of gRPC. They raise EngineError and Refusal with field paths from the request, DecodeError for a
request that cannot be parsed, and Cancelled when they are cancelled.
"""

import secrets
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from chatiere import bots, engine
from chatiere.bots import Bot, Judgement, Registry
from chatiere.bots.hosting import decisions_at, judge, luck
from chatiere.bots.ladder import ladder
from chatiere.engine import EngineError, Game, Position, Reason
from chatiere.engine.core.cancellation import Cancellation
from chatiere.engine.core.languages import catalogue
from chatiere.engine.wire import Buffer, written
from chatiere.service.base.errors import Refusal, ServiceReason
from chatiere.service.base.languages import spoken
from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import SettingError, Settings
from chatiere.service.calls import conversion
from chatiere.service.calls.analysis_service import AnalysisService
from chatiere.service.calls.game_service import position_of
from chatiere.service.calls.requests import Opener, numbers_of, parse
from chatiere.service.calls.searches import Searches
from chatiere.v1 import bot_service_pb2 as pb
from chatiere.v1 import game_service_pb2

_open_suggest, _SUGGEST = Opener(pb.SuggestRequest).open, numbers_of(pb.SuggestRequest)
# A function that reserves a number of bytes for a call. Raises Refusal.
Hold = Callable[[int], None]
_LEGAL_ACTIONS = game_service_pb2.ListLegalActionsResponse.LEGAL_ACTIONS_FIELD_NUMBER


class Bounds(NamedTuple):
    """The maximum budgets of bots."""

    playouts: int
    """The maximum number of playouts for a decision."""
    milliseconds: int
    """The maximum time in milliseconds for a decision of a bot with a time limit."""


class BotService:
    """BotService, within the limits of a server's settings."""

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        """Create the service with the limits and bots in `settings`. `metrics` count searches. Raises SettingError."""
        self._registry = registry_of(settings)
        self._bounds = bounds_of(settings)
        self._searches = Searches(metrics)
        self._methods: dict[str, Callable[[Buffer, Cancellation, Hold], bytes]] = {
            "list_bots": self._list_bots,
            "suggest": self._suggest,
            "analyse": AnalysisService(settings, self._searches).analyse,
        }

    def answer(self, name: str, data: Buffer, cancellation: Cancellation, hold: Hold) -> list[Buffer]:
        """Handle a request.

        Args:
            name: The name of the method in snake case.
            data: The request in wire format.
            cancellation: Cancels the work.
            hold: Reserves memory for the response. The trees of searches have separate limits.

        Returns:
            The response as a single piece.
        """
        return [self._methods[name](data, cancellation, hold)]

    def _list_bots(self, data: Buffer, cancellation: Cancellation, hold: Hold) -> bytes:
        game = engine.game(parse(pb.ListBotsRequest, data).game)
        return _listed(self._registry, game, spoken(), self._bounds)

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
        bot = bot_of(self._registry, spec, position.game, position.num_players(), self._bounds, "bot")
        seed = request.number(_SUGGEST.seed) if request.has_number(_SUGGEST.seed) else secrets.randbits(64)
        return suggestion(self._searches, position, bot, seed, cancellation).SerializeToString()


def bounds_of(settings: Settings) -> Bounds:
    """Return the maximum budgets in the settings. The time limit of a bot is the time limit of calls."""
    return Bounds(settings.max_playouts, int(1000 * settings.max_deadline))


def registry_of(settings: Settings) -> Registry:
    """Return the bots that requests may name: the package's bots, and those in the settings. Raises SettingError."""
    try:
        return Registry(settings.bots)
    except ValueError as error:
        raise SettingError("bots", str(error)) from error


@cache
def _listed(registry: Registry, game: Game, language: str, bounds: Bounds) -> bytes:
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
                highest=min(each.highest, getattr(bounds, each.bound)) if each.bound else each.highest,
                default_value=each.default,
            )
        if info.seconds is not None:
            bot.typical_time.FromNanoseconds(round(info.seconds * 1e9))
    for rung in ladder(game):
        numbers = range(game.min_players, game.max_players + 1)
        if all(registry.get(rung.bot_for(players), game, players).budget <= bounds.playouts for players in numbers):
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
    registry: Registry, spec: str, game: Game, players: int, bounds: Bounds, field: str, version: int | None = None
) -> Bot:
    """Return the bot described by a request's field.

    Args:
        registry: The known bots.
        spec: The description of the bot.
        game: The game.
        players: The number of players.
        bounds: The maximum budgets.
        field: The path of the field, for errors.
        version: The version of the package's bots, or None for the newest.

    Raises:
        Refusal: If the bot is missing or invalid (MISSING_FIELD, INVALID_BOT).
        EngineError: If the bot's budget exceeds the maximum (BATCH_TOO_LARGE).
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
        rungs = {rung.name: rung.bot_for(players) for rung in ladder(game)}
        on_ladder = (
            f"{spec!r} is the name of a rung of ListBots.ladder: send the rung's bot, such as {rungs.get(spec)!r}"
        )
        message = on_ladder if spec in rungs else str(error)
        raise Refusal(ServiceReason.INVALID_BOT, message, field=field, metadata={"game": game.name}) from error
    if bot.milliseconds is not None:
        asked, most, words = bot.milliseconds, bounds.milliseconds, "take at most {} ms, not {}"
    else:
        asked, most, words = bot.budget, bounds.playouts, "play out at most {} games, not {}"
    if asked > most:
        raise EngineError(
            Reason.BATCH_TOO_LARGE,
            f"this service lets a bot {words.format(most, asked)}",
            field=field,
            metadata={"game": game.name, "limit": str(most), "asked": str(asked)},
        )
    return bot


def suggestion(
    searches: Searches,
    position: Position,
    bot: Bot,
    seed: int,
    cancellation: Cancellation,
    *,
    hides_forced: bool = False,
) -> pb.SuggestResponse:
    """Return the bot's suggestion for a decision.

    Args:
        searches: The counter of the search's processor time.
        position: The position of the decision.
        bot: The bot.
        seed: The seed of the bot's random choices.
        cancellation: Cancels the search.
        hides_forced: See Decisions.

    Raises:
        Cancelled: If the search was cancelled.
    """
    number = int(luck(seed, [0], [0])[0])
    with searches.measured(position.game):
        judgement = judge(bot, decisions_at(position, bot, number, cancellation, hides_forced=hides_forced))
    return _response(position, judgement)


def _response(position: Position, judgement: Judgement) -> pb.SuggestResponse:
    legal = game_service_pb2.ListLegalActionsResponse.FromString(
        written(conversion.of(position).put_legal_actions, _LEGAL_ACTIONS, position)
    ).legal_actions
    chosen = int(judgement.actions[0])
    (action,) = (each for each in legal if each.id == chosen)
    response = pb.SuggestResponse(seat=position.current_player(), action=action)
    # `values` and `shares` are either both empty or both complete.
    for each, value, share in zip(legal, judgement.values, judgement.shares, strict=False):
        response.ratings.add(id=each.id, value=None if np.isnan(value) else value, share=share)
    return response
