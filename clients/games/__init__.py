"""One room a game, for its bots and the drawing of its table. A new room is one line here."""

from chatiere.clients.games import chat_perche, chatpentiers, discat, momistigri

ROOMS = {room.name: room for room in (chat_perche.ROOM, chatpentiers.ROOM, discat.ROOM, momistigri.ROOM)}
