"""Chatpentiers."""

from chatiere.clients.games.chatpentiers.table import break_down, draw_table
from chatiere.clients.room import Room

ROOM = Room(name="chatpentiers", bots={}, draw_table=draw_table, break_down=break_down)
