"""One room a game, for its bots and the drawing of its table. A new room is one line here."""

from chatiere.clients.games import discat

ROOMS = {room.name: room for room in (discat.ROOM,)}
