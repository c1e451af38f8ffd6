"""One room a game. A new room is one line here (and its import)."""

from chatiere.engine.core.room import Room
from chatiere.engine.games import chat_cartonne, chat_perche, chatpentiers, discat, momistigri

ROOMS: tuple[Room, ...] = (chat_cartonne, chat_perche, chatpentiers, discat, momistigri)
