"""Chat Cartonne."""

from chatiere.clients.game_support import BotMaker, Room
from chatiere.clients.games.chat_cartonne.bots import BuilderBatchBot, BuilderBot
from chatiere.clients.games.chat_cartonne.table import break_down, draw_table

ROOM = Room(
    name="chat_cartonne",
    bots={"builder": BotMaker(lambda seed: BuilderBot(), BuilderBatchBot)},
    draw_table=draw_table,
    break_down=break_down,
)
