"""The package's networks in integers, trained by `chatiere train`: one file for each game and number of players.

docs/training.md lists the command and the strength of each network.
"""

import gzip
from functools import cache
from pathlib import Path

from chatiere.bots.network_file import NetworkFile
from chatiere.engine import Game

TRAINED = "trained"
"""The name of the package's network for a game and a number of players."""
_FOLDER = Path(__file__).with_name("networks")


def is_trained(game: Game, players: int) -> bool:
    """Return True if the package has a network for a game and a number of players."""
    return _path(game, players).is_file()


def trained(game: Game, players: int) -> NetworkFile:
    """Return the package's network for a game and a number of players. Raises ValueError if there is no network."""
    if not is_trained(game, players):
        raise ValueError(f"there is no trained network for {game.name} with {players} players")
    return _read(_path(game, players))


def network_of(name: str, game: Game, players: int) -> NetworkFile:
    """Return the network in a file, or the package's network for a game and number of players if `name` is `trained`.

    Args:
        name: The path of the file, or `trained`.
        game: The game.
        players: The number of players.

    Raises:
        ValueError: If the package has no network for the game and number of players, or the file is not a network.
        OSError: If the file cannot be read.
    """
    return trained(game, players) if name == TRAINED else NetworkFile.read(name)


def _path(game: Game, players: int) -> Path:
    return _FOLDER / f"{game.name}-{players}.net.gz"


@cache
def _read(path: Path) -> NetworkFile:
    return NetworkFile.from_bytes(gzip.decompress(path.read_bytes()))
