"""Bots: each is handed its seat's view and legal actions, as a player would be."""

import random
from collections.abc import Mapping, Sequence
from operator import index
from typing import SupportsIndex

import numpy as np
from numpy.typing import NDArray

from chatiere.clients.game_support import BatchBot, Bot, BotMaker
from chatiere.clients.games import GAME_SUPPORT
from chatiere.clients.selfplay import Batch
from chatiere.v1.game_pb2 import Action, GameInfo, View


class RandomBot:
    """Plays any game: every legal action is as likely as another. The same seed makes the same choices."""

    def __init__(self, seed: str) -> None:
        """A bot with a random generator of its own; the seed is any text."""
        self._random = random.Random(seed)

    def choose(self, view: View, legal_actions: Sequence[Action]) -> Action:
        """See Bot.choose."""
        # Of all that random.Random offers, only random() is promised to stay the same over Python's versions.
        return legal_actions[int(self._random.random() * len(legal_actions))]


class RandomBatchBot:
    """Plays any game, many at a time: every legal action is as likely as another. Seeds of games make its choices."""

    needs_observations = False

    def choose(self, batch: Batch, rows: NDArray[np.intp]) -> NDArray[np.uint16]:
        """See BatchBot.choose."""
        return batch.random_actions()[rows]


def _makers(game: str) -> Mapping[str, BotMaker]:
    own = GAME_SUPPORT[game].bots if game in GAME_SUPPORT else {}
    return {"random": BotMaker(RandomBot, lambda info: RandomBatchBot()), **own}


def bot_names(game: str) -> list[str]:
    """The names of the bots that play a game: those for any game, then its own."""
    return list(_makers(game))


def make_bots(game: str, names: Sequence[str], players: SupportsIndex, seed: SupportsIndex) -> list[Bot]:
    """A bot for each seat of a game, taking the names (of `bot_names`) in turn; KeyError where there is no such bot.

    Seats have luck of their own: bots of one name choose apart, and the same arguments make the same bots.
    """
    makers = _makers(game)
    return [makers[names[seat % len(names)]].single(f"{index(seed)} {seat}") for seat in range(players)]


def make_batch_bot(info: GameInfo, name: str) -> BatchBot:
    """The bot of that name (of `bot_names`) for many games at a time; KeyError where there is no such bot."""
    return _makers(info.name)[name].batch(info)
