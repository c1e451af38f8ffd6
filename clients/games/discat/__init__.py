"""Discat."""

from chatiere.clients.game_support import BotMaker, GameSupport
from chatiere.clients.games.discat.bots import LargestGroupBatchBot, LargestGroupBot

SUPPORT = GameSupport(
    name="discat",
    bots={"largest": BotMaker(lambda seed: LargestGroupBot(), LargestGroupBatchBot)},
)
