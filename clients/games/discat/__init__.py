"""Discat."""

from chatiere.clients.games.discat.bots import LargestGroupBot
from chatiere.clients.games.discat.table import break_down, draw_table
from chatiere.clients.room import Room

ROOM = Room(
    name="discat",
    bots={"largest": lambda seed: LargestGroupBot()},
    draw_table=draw_table,
    break_down=break_down,
)
