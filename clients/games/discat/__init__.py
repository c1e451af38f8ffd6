"""Discat."""

from chatiere.clients.game_support import BotMaker, GameSupport
from chatiere.clients.games.discat.bots import LargestGroupBatchBot, LargestGroupBot
from chatiere.clients.games.discat.table import break_down, draw_table

SUPPORT = GameSupport(
    name="discat",
    bots={"largest": BotMaker(lambda seed: LargestGroupBot(), LargestGroupBatchBot)},
    draw_table=draw_table,
    break_down=break_down,
)
