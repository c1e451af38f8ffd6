"""Momistigri."""

from chatiere.clients.game_support import GameSupport
from chatiere.clients.games.momistigri.table import break_down, draw_table

SUPPORT = GameSupport(name="momistigri", draw_table=draw_table, break_down=break_down)
