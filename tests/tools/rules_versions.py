"""Versions of rules that a test adds to a game or removes from it, as in builds before and after a release."""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

from chatiere.engine import Game
from chatiere.engine.core.game import Kernel
from chatiere.service.calls import game_service


@contextmanager
def playing(game: Game, oldest: int, newest: int) -> Iterator[None]:
    """Let the engine support these versions of a game's rules. Its kernel plays unknown versions as the newest."""
    operations = import_module(f"chatiere.engine.games.{game.name}.kernel").OPERATIONS
    before = game.rules_versions
    _set_versions(operations, oldest, newest)
    try:
        yield
    finally:
        _set_versions(operations, before[0], before[-1])


def _set_versions(operations: Kernel, oldest: int, newest: int) -> None:
    # A Kernel begins with Python's object header and a pointer to the operations. These begin with the game's number
    # and the two versions.
    assert Kernel.__basicsize__ >= object.__basicsize__ + ctypes.sizeof(ctypes.c_void_p)
    pointer = ctypes.c_void_p.from_address(id(operations) + object.__basicsize__).value
    assert pointer is not None
    versions = (ctypes.c_uint8 * 3).from_address(pointer)
    versions[1], versions[2] = oldest, newest
    # ListGames' response is cached.
    game_service._written_info.cache_clear()
