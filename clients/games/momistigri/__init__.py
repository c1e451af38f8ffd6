"""Momistigri."""

from chatiere.clients.game_support import Room
from chatiere.clients.games.momistigri.table import break_down, draw_table

ROOM = Room(
    name="momistigri",
    bots={},
    draw_table=draw_table,
    break_down=break_down,
)
