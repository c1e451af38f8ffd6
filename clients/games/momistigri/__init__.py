"""Momistigri."""

from chatiere.clients.games.momistigri.table import break_down, draw_table
from chatiere.clients.room import Room

ROOM = Room(
    name="momistigri",
    bots={},
    draw_table=draw_table,
    break_down=break_down,
)
