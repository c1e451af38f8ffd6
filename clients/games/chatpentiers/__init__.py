"""Chatpentiers."""

from chatiere.clients.game_support import GameSupport

SUPPORT = GameSupport(name="chatpentiers", bots={})
