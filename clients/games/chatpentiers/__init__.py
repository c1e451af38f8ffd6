"""Chatpentiers."""

from chatiere.clients.game_support import GameSupport
from chatiere.clients.games.chatpentiers.table import break_down, draw_table

SUPPORT = GameSupport(name="chatpentiers", draw_table=draw_table, break_down=break_down)
