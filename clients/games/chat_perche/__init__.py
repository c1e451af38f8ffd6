"""Chat perché."""

from chatiere.clients.game_support import GameSupport

SUPPORT = GameSupport(name="chat_perche", bots={})
