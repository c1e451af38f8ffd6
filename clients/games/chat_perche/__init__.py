"""Chat perché."""

from chatiere.clients.game_support import GameSupport
from chatiere.clients.games.chat_perche.table import break_down, draw_table

SUPPORT = GameSupport(name="chat_perche", draw_table=draw_table, break_down=break_down)
