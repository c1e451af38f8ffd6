"""A seat of a game against bots, played in words: observations and actions are text, as for language models.

from chatiere.envs.text import TextEnv

env = TextEnv("discat", opponents="largest")
told = env.reset(seed=7)
while not env.is_over:
    told = env.step(answer(told.text))
print(told.reward)
"""

from collections.abc import Mapping
from typing import Any, NamedTuple, SupportsIndex

import numpy as np

from chatiere.engine import EventLog
from chatiere.engine.core.integers import require_integer
from chatiere.envs.seat_game import SeatGame
from chatiere.envs.seating import Opponents, read_seating
from chatiere.text import Obfuscation, UnclearActionError, describe, read_action
from chatiere.text.describing import event_labels


class Told(NamedTuple):
    """The answer of an environment."""

    text: str
    """The events since the seat's last decision, the table as the seat sees it, and the decision to make; or the
    reason why an action was not understood."""
    reward: float
    """0 until the game is over, then the seat's return: players / w - 1 for each of w winners, otherwise -1."""
    is_over: bool
    """True if the game is over."""
    is_refused: bool
    """True if the action was not understood. The game is then unchanged, unless it is over."""


class TextEnv:
    """One seat of a game against bots, in words. An episode is a game, and a step is a decision of the seat.

    An action is a number from the list of legal actions, or words (see `chatiere.text.read_action`). A game depends
    only on the seed and the actions. Environments share nothing and may be used side by side, also in threads.
    """

    def __init__(
        self,
        game: str,
        players: SupportsIndex | None = None,
        *,
        seat: SupportsIndex = 0,
        opponents: Opponents = "random",
        options: Mapping[str, Any] | None = None,
        language: str = "en",
        numbered: bool = True,
        attempts: SupportsIndex = 3,
        obfuscate: int | None = None,
    ) -> None:
        """Create an environment. `reset` begins a game.

        Args:
            game: The name of the game.
            players: See SeatEnv.
            seat: See SeatEnv.
            opponents: See SeatEnv.
            options: See SeatEnv.
            language: The language of the labels: "en" or "fr".
            numbered: False to omit the list of legal actions.
            attempts: The number of actions, one or more, that may be misunderstood at a decision. The last one loses
                the game.
            obfuscate: A seed of other names for the game, its cards and colours (see `chatiere.text.Obfuscation`).

        Raises:
            EngineError: UNKNOWN_GAME, INVALID_PLAYERS, INVALID_SEAT, INVALID_OPTION.
            ValueError: If another argument is invalid.
        """
        seating = read_seating(game, players, seat, opponents, options, "raise")
        self._attempts = require_integer("attempts", attempts)
        if self._attempts < 1:
            raise ValueError(f"attempts must be 1 or more, not {self._attempts}")
        self._game = SeatGame(seating)
        self._obfuscation = None if obfuscate is None else Obfuscation(game, obfuscate)
        self._language, self._numbered = language, numbered
        self._generator = np.random.default_rng()
        self._refusals = 0

    @property
    def is_over(self) -> bool:
        """True if the game is over, or has not begun."""
        return self._game.over

    def reset(self, seed: int | None = None) -> Told:
        """Begin a game.

        Args:
            seed: 0 or more. None continues with the random numbers of the last seed.
        """
        if seed is not None:
            self._generator = np.random.default_rng(seed)
        self._game.events = EventLog()
        self._game.begin(self._generator)
        return self._told()

    def step(self, action: str) -> Told:
        """Apply an action in words.

        Raises:
            ValueError: If no game is in progress.
        """
        game = self._game
        if game.over:
            raise ValueError("no game is in progress: call reset")
        try:
            chosen = read_action(action, game.position, self._obfuscation)
        except UnclearActionError as error:
            self._refusals += 1
            if self._refusals < self._attempts:
                return Told(f"{error}", 0.0, is_over=False, is_refused=True)
            game.over, game.returned = True, game.seating.lowest_return
            return Told(
                f"{error}\nThat was the last attempt: the game is lost.", game.returned, is_over=True, is_refused=True
            )
        game.events = EventLog()
        game.act(chosen)
        return self._told()

    def _told(self) -> Told:
        self._refusals = 0
        game, seat = self._game, self._game.seating.seat
        events = event_labels(game.position, seat, game.events or EventLog(), self._language, self._obfuscation)
        text = describe(
            game.position, seat, events, self._language, numbered=self._numbered, obfuscation=self._obfuscation
        )
        return Told(text, game.returned, game.over, is_refused=False)
