"""Versions of rules that a test adds to a game, or takes from it, as builds before and after a release differ."""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

from chatiere.engine import Game
from chatiere.engine.core.position import Kernel
from chatiere.service.calls import game_service


@contextmanager
def playing(game: Game, oldest: int, newest: int) -> Iterator[None]:
    """Let the engine play these versions of a game's rules: as the newest, those that its kernel does not know."""
    operations = import_module(f"chatiere.engine.games.{game.name}.kernel").OPERATIONS
    before = game.rules_versions
    _set_versions(operations, oldest, newest)
    try:
        yield
    finally:
        _set_versions(operations, before[0], before[-1])


def _set_versions(operations: Kernel, oldest: int, newest: int) -> None:
    # A Kernel begins with Python's header of an object and a pointer to the operations, and these with the game's
    # number and the two versions.
    assert Kernel.__basicsize__ >= object.__basicsize__ + ctypes.sizeof(ctypes.c_void_p)
    pointer = ctypes.c_void_p.from_address(id(operations) + object.__basicsize__).value
    assert pointer is not None
    versions = (ctypes.c_uint8 * 3).from_address(pointer)
    versions[1], versions[2] = oldest, newest
    # What ListGames says is kept.
    game_service._written_info.cache_clear()
