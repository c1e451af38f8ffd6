"""Chatpentiers."""

from chatiere.clients.game_support import Room
from chatiere.clients.games.chatpentiers.table import break_down, draw_table

ROOM = Room(name="chatpentiers", bots={}, draw_table=draw_table, break_down=break_down)
