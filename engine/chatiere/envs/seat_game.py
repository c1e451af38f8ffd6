"""A game in which the caller decides for one seat and bots decide for the others: a faster SeatGames for one game."""

import numpy as np

from chatiere.bots.hosting import choose, decisions_at
from chatiere.bots.random import RandomBot
from chatiere.engine import EngineError, EventLog, Position
from chatiere.envs.seating import Seating, refusal

_WORD = 2**64 - 1


class SeatGame:
    """A game with sampled chance that waits for a decision of its seat, or is over. SeatGames plays the same games."""

    position: Position
    """The position. It is not set before `begin`."""
    legal_actions: list[int]
    """The seat's legal actions, ascending. Empty if the game is over."""
    over: bool
    """True if the game is over, or has not begun."""
    events: EventLog | None = None
    """Receives the events of all decisions. None means that events are not recorded."""
    returned: float
    """The seat's return if the game is over, otherwise 0."""

    def __init__(self, seating: Seating) -> None:
        """Store the seating. `begin` begins a game."""
        self.seating = seating
        self.legal_actions = []
        self.over = True
        self.returned = 0.0
        self._luck_keys = (0, 0)

    def begin(self, generator: np.random.Generator) -> None:
        """Begin a game and play until the seat has to decide.

        Args:
            generator: The generator from which the game's seed and the luck of the bots are drawn.
        """
        game, players, options, *_ = self.seating
        # Replace a game that ends before the seat's first decision, because a learner cannot learn from it.
        self.over = True
        while self.over:
            seed, *luck_keys = generator.integers(0, 2**64, 3, np.uint64).tolist()
            self.position = game.new_game(players, options, seed=seed)
            self._luck_keys = luck_keys[0], luck_keys[1]
            self._play()

    def act(self, action: int) -> bool:
        """Apply an action of the seat, and play until the seat's next decision or the end of the game.

        Args:
            action: The dense id of the action.

        Returns:
            True if the action was illegal and lost the game.

        Raises:
            EngineError: ILLEGAL_ACTION, unless illegal actions lose the game. The game is unchanged.
        """
        try:
            self.position.apply(action, self.events)
        except EngineError as error:
            if not self.seating.illegal_loses:
                raise refusal(error, "action", action) from None
            self.over, self.legal_actions, self.returned = True, [], self.seating.lowest_return
            return True
        self._play()
        return False

    def _play(self) -> None:
        # The game is marked as over while bots play, so that it cannot continue after a bot has failed.
        position = self.position
        self.over, self.legal_actions, self.returned = True, [], 0.0
        while (actor := position.current_player()) != self.seating.seat:
            if actor < 0:
                # Round the return to float32, as in batches.
                self.returned = float(np.float32(position.returns()[self.seating.seat]))
                return
            bot = self.seating.bots[self.seating.bot_of[actor]]
            luck = _scramble(self._luck_keys[0] + position.ply()) ^ self._luck_keys[1]
            if type(bot) is RandomBot:
                # Make the same choice as the bot would, without arrays for a single decision.
                legal = position.legal_actions()
                position.apply(legal[(luck >> 32) * len(legal) >> 32], self.events)
            else:
                position.apply(choose(bot, decisions_at(position, bot, luck))[0], self.events)
        self.over, self.legal_actions = False, position.legal_actions()


def _scramble(word: int) -> int:
    # Compute `choices.scramble` for one number.
    word = (word + 0x9E3779B97F4A7C15) & _WORD
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & _WORD
    return word ^ (word >> 31)
