"""Chat Cartonne."""

from chatiere.clients.games.chat_cartonne.bots import BuilderBatchBot, BuilderBot
from chatiere.clients.games.chat_cartonne.table import break_down, draw_table
from chatiere.clients.room import BotMaker, Room

ROOM = Room(
    name="chat_cartonne",
    bots={"builder": BotMaker(lambda seed: BuilderBot(), BuilderBatchBot)},
    draw_table=draw_table,
    break_down=break_down,
)
