"""One room a game, for its bots and the drawing of its table. A new room is one line here."""

from chatiere.clients.games import chat_cartonne, chat_perche, chatpentiers, discat, momistigri

_GAMES = (chat_cartonne, chat_perche, chatpentiers, discat, momistigri)

ROOMS = {game.ROOM.name: game.ROOM for game in _GAMES}
