"""Chat Cartonne."""

from chatiere.clients.games.chat_cartonne.bots import BuilderBot
from chatiere.clients.games.chat_cartonne.table import break_down, draw_table
from chatiere.clients.room import Room

ROOM = Room(
    name="chat_cartonne",
    bots={"builder": lambda seed: BuilderBot()},
    draw_table=draw_table,
    break_down=break_down,
)
