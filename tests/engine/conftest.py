"""The fixture `game` for tests of the engine's core, with each game as its value."""

from tools.over import game as game
