"""The games in TextArena. Importing this module registers `chatiere/<game>-v<rules version>` for every game.

import chatiere.envs.textarena
import textarena as ta

env = ta.make("chatiere/discat-v1")
env.reset(num_players=2, seed=7)
done = False
while not done:
    player, told = env.get_observation()
    done, info = env.step(answer(told))
rewards, game_info = env.close()
"""

import secrets
from collections.abc import Mapping
from typing import Any

from chatiere import engine
from chatiere.engine import EventLog
from chatiere.text import UnclearActionError, describe, read_action
from chatiere.text.describing import event_labels

try:
    import textarena as ta
    from textarena.envs.registration import register_with_versions
except ImportError as error:
    raise ImportError("chatiere.envs.textarena needs TextArena: pip install chatiere[textarena]") from error

_PROMPT = "You are Player {seat} in a game of {title}. Answer with the number or the words of a legal action."


class GameEnv(ta.Env):  # type: ignore[misc]  # TextArena is not installed where types are checked
    """A game in words, in which each player decides for the seat of the same number.

    A reward is the seat's return: players / w - 1 for each of w winners, and -1 for other seats. An observation
    contains only information that the seat may know. Other players do not see what a player writes.
    """

    def __init__(
        self,
        game: str,
        *,
        options: Mapping[str, Any] | None = None,
        language: str = "en",
        numbered: bool = True,
        attempts: int = 3,
        rules: str = "",
    ) -> None:
        """Create an environment. `reset` begins a game.

        Args:
            game: The name of the game.
            options: The game's options, by name. None uses the defaults.
            language: The language of the labels: "en" or "fr".
            numbered: False to omit the list of legal actions.
            attempts: The number of actions that may be misunderstood at a decision. The last one loses the game, and
                the other players share the win.
            rules: A text at the beginning of each prompt, such as the rules.

        Raises:
            EngineError: UNKNOWN_GAME.
        """
        self._game, self._options, self._attempts = engine.game(game), options, attempts
        self._language, self._numbered, self._rules = language, numbered, rules

    def reset(self, num_players: int, seed: int | None = None) -> None:
        """Begin a game.

        Args:
            num_players: The number of players.
            seed: 0 or more. None draws a seed.

        Raises:
            EngineError: INVALID_PLAYERS, INVALID_OPTION, INVALID_SEED.
        """
        drawn = secrets.randbits(64) if seed is None else seed
        self._position = self._game.new_game(num_players, self._options, seed=drawn)
        # Pass no seed, because TextArena's states would seed Python's global random generator with it.
        self.state = ta.MinimalMultiPlayerState(num_players, error_allowance=self._attempts - 1)
        self.state.reset(player_prompt_function=self._prompt)
        self._ask()

    def step(self, action: str) -> tuple[bool, dict[str, Any]]:
        """Apply an action of the current player. Return True if the game is over, and TextArena's info."""
        state, seat, is_applied = self.state, self.state.current_player_id, False
        state.add_observation(action, ta.ObservationType.PLAYER_ACTION, from_id=seat, to_id=seat)
        try:
            chosen = read_action(action, self._position)
        except UnclearActionError as error:
            if state.set_invalid_move(str(error)):
                share = 1 / (state.num_players - 1)
                rewards = {each: -1.0 if each == seat else share for each in range(state.num_players)}
                state.set_game_outcome(rewards, f"Player {seat} has lost by {self._attempts} unclear actions.")
        else:
            events = EventLog()
            self._position.apply(chosen, events)
            is_applied = True
            for each in range(state.num_players):
                told = "\n".join(event_labels(self._position, each, events, self._language))
                if told:
                    state.add_observation(told, ta.ObservationType.GAME_ACTION_DESCRIPTION, to_id=each)
            if self._position.is_terminal():
                end = describe(self._position, seat, language=self._language).splitlines()[-1]
                state.set_game_outcome(dict(enumerate(map(float, self._position.returns()))), end)
        # TextArena counts the turn for the current player, so the next player is set afterwards.
        found: tuple[bool, dict[str, Any]] = state.step()
        if is_applied and not state.done:
            self._ask()
        return found

    def _prompt(self, player_id: int, game_state: object) -> str:
        prompt = _PROMPT.format(seat=player_id, title=self._game.description.title)
        return f"{self._rules}\n\n{prompt}" if self._rules else prompt

    def _ask(self) -> None:
        seat = self._position.current_player()
        self.state.manually_set_current_player_id(seat, force=True)
        text = describe(self._position, seat, language=self._language, numbered=self._numbered)
        self.state.add_observation(text, ta.ObservationType.GAME_BOARD, to_id=seat)


for _each in engine.games():
    register_with_versions(
        f"chatiere/{_each.name}-v{_each.rules_version}",
        GameEnv,
        wrappers={"default": [ta.wrappers.LLMObservationWrapper]},
        game=_each.name,
    )
