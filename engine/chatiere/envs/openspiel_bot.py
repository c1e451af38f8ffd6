"""Bots of Chatière for OpenSpiel: a `pyspiel.Bot` around any bot. Needs the extra `chatiere[openspiel]`.

from open_spiel.python.algorithms import evaluate_bots

game = pyspiel.load_game("chatiere_discat(players=2)")
players = [OpenSpielBot(game, "largest"), OpenSpielBot(game, "ismcts:simulations=100")]
evaluate_bots.evaluate_bots(game.new_initial_state(), players, np.random)
"""

from typing import SupportsIndex

from chatiere import bots
from chatiere.bots import Bot
from chatiere.bots.hosting import decisions_at, judge, luck
from chatiere.envs.openspiel import ChatiereGame, ChatiereState, pyspiel  # type: ignore[attr-defined]


class OpenSpielBot(pyspiel.Bot):  # type: ignore[misc]  # pyspiel has no types
    """A bot for any seat of a game. The bot sees only the acting seat's knowledge."""

    def __init__(self, game: ChatiereGame, bot: str | Bot, seed: SupportsIndex = 1) -> None:
        """Create a bot.

        Args:
            game: The game.
            bot: A Bot, or a name that chatiere.bots.get accepts.
            seed: The seed of the bot's random choices, 0 … 2**64 - 1. The choices also depend on the number of
                restarts, so that games differ.

        Raises:
            ValueError: See chatiere.bots.get.
            EngineError: See chatiere.bots.get.
        """
        super().__init__()
        name = game.get_type().short_name.removeprefix("chatiere_")
        self._bot = bot if isinstance(bot, Bot) else bots.get(bot, name, game.num_players())
        self._seed = seed
        self._restarts = 0

    def restart(self) -> None:
        """Begin another game."""
        self._restarts += 1

    def restart_at(self, state: ChatiereState) -> None:
        """Begin another game at a given state."""
        self._restarts += 1

    def inform_action(self, state: ChatiereState, player_id: int, action: int) -> None:
        """Do nothing, because the state passed to `step` includes the other players' actions."""

    def step(self, state: ChatiereState) -> int:
        """Return the dense id of the action that the bot chooses for the acting seat.

        Raises:
            EngineError: CHANCE_PENDING, GAME_OVER.
            BotError: If the bot does not choose a legal action, or returns an invalid judgement.
        """
        position = state._course.position
        position.require_decision()
        number = luck(self._seed, [self._restarts], [len(state.history())])[0]
        return int(judge(self._bot, decisions_at(position, self._bot, int(number))).actions[0])
