"""Chat Cartonne."""

from chatiere.clients.game_support import BotMaker, GameSupport
from chatiere.clients.games.chat_cartonne.bots import BuilderBatchBot, BuilderBot
from chatiere.clients.games.chat_cartonne.table import break_down, draw_table

SUPPORT = GameSupport(
    name="chat_cartonne",
    bots={"builder": BotMaker(lambda seed: BuilderBot(), BuilderBatchBot)},
    draw_table=draw_table,
    break_down=break_down,
)
