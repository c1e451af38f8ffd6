"""Momistigri."""

from chatiere.clients.game_support import GameSupport

SUPPORT = GameSupport(
    name="momistigri",
    bots={},
)
