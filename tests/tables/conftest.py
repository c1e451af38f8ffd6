"""Fixtures for the tests of sealed tables."""

from tools.over import game as game
