"""The fixture `game` for tests of properties of all games, with each game as its value."""

from tools.over import game as game
