"""Bots: each is given its seat's view and legal actions, as a person would be."""

import random
from collections.abc import Mapping, Sequence
from operator import index
from typing import SupportsIndex

import numpy as np
from numpy.typing import NDArray

from chatiere.clients.game_support import BatchBot, Bot, BotMaker
from chatiere.clients.games import GAME_SUPPORT
from chatiere.envs.batch import Batch
from chatiere.v1.game_pb2 import Action, GameInfo, View


class RandomBot:
    """A bot for any game that chooses uniformly among the legal actions. The same seed makes the same choices."""

    def __init__(self, seed: str) -> None:
        """Create a bot with its own random generator; the seed is any text."""
        self._random = random.Random(seed)

    def choose(self, view: View, legal_actions: Sequence[Action]) -> Action:
        """See Bot.choose."""
        # random() is the only method of random.Random that is guaranteed not to change between versions of Python.
        return legal_actions[int(self._random.random() * len(legal_actions))]


class RandomBatchBot:
    """A bot for any game, many at a time, that chooses uniformly among the legal actions by `Batch.luck`."""

    needs_observations = False

    def choose(self, batch: Batch, rows: NDArray[np.intp]) -> NDArray[np.uint16]:
        """See BatchBot.choose."""
        return batch.random_actions()[rows]


def _makers(game: str) -> Mapping[str, BotMaker]:
    own = GAME_SUPPORT[game].bots if game in GAME_SUPPORT else {}
    return {"random": BotMaker(RandomBot, lambda info: RandomBatchBot()), **own}


def bot_names(game: str) -> list[str]:
    """Return the names of the bots that play a game: those for any game, then its own."""
    return list(_makers(game))


def make_bots(game: str, names: Sequence[str], players: SupportsIndex, seed: SupportsIndex) -> list[Bot]:
    """Make a bot for each seat of a game, taking the names (of `bot_names`) in turn. Raise KeyError for an unknown bot.

    Each seat has its own random numbers: bots of one name choose independently, and the same arguments make the same
    bots.
    """
    makers = _makers(game)
    return [makers[names[seat % len(names)]].single(f"{index(seed)} {seat}") for seat in range(players)]


def make_batch_bot(info: GameInfo, name: str) -> BatchBot:
    """Make the bot of a name (of `bot_names`) for many games at a time. Raise KeyError for an unknown bot."""
    return _makers(info.name)[name].batch(info)
