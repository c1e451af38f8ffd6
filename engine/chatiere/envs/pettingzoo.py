"""The games as PettingZoo environments that step one seat at a time (AEC).

Importing this module registers every game under a name with the version of its rules, for example chatiere/discat-v1.
pettingzoo.make("aec", "chatiere/discat-v1", players=3) then makes the environment.

    from chatiere.envs import pettingzoo

    env = pettingzoo.env("discat", players=3, render_mode="ansi")
    env.reset(seed=7)
    for agent in env.agent_iter():
        observation, reward, termination, truncation, info = env.last()
        over = termination or truncation
        env.step(None if over else env.action_space(agent).sample(observation["action_mask"]))

Needs PettingZoo: pip install chatiere[pettingzoo].
"""

from collections.abc import Mapping
from copy import deepcopy
from secrets import randbits
from typing import Any, Self, SupportsIndex, TypedDict

import numpy as np
from numpy.typing import NDArray

try:
    import pettingzoo
    from gymnasium import logger, spaces
    from pettingzoo import AECEnv
    from pettingzoo.utils import wrappers
except ImportError as error:
    raise ImportError("chatiere.envs.pettingzoo needs PettingZoo: pip install chatiere[pettingzoo]") from error

from chatiere import engine
from chatiere.drawing import draw
from chatiere.engine import Position
from chatiere.envs.spaces import masked_observation_space


class Observation(TypedDict):
    """A seat's observation and the mask of its legal actions."""

    observation: NDArray[np.uint8]
    """The observation of the game's description, (observation_length,)."""
    action_mask: NDArray[np.int8]
    """1 for each legal dense id, (num_distinct_actions,). All 0 unless the seat has to act."""


def env(
    game: str,
    players: SupportsIndex | None = None,
    options: Mapping[str, Any] | None = None,
    render_mode: str | None = None,
) -> AECEnv[str, Observation, SupportsIndex | None]:
    """Return a raw_env in PettingZoo's usual wrappers.

    An illegal action ends the game. The seat's reward is then -1, and the rewards of all other seats are 0. Calls
        before `reset`
    raise an error, and `step` after the end only warns. An action outside of the action space raises AssertionError.

    Args:
        game: See raw_env.
        players: See raw_env.
        options: See raw_env.
        render_mode: See raw_env.

    Raises:
        EngineError: See raw_env.
        ValueError: See raw_env.
    """
    wrapped = wrappers.TerminateIllegalWrapper(raw_env(game, players, options, render_mode), illegal_reward=-1)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(wrapped))


class raw_env(AECEnv[str, Observation, SupportsIndex | None]):  # type: ignore[misc]  # PettingZoo has no types
    """A game as an AECEnv without wrappers, with sampled chance.

    The agents are "seat_0", "seat_1" and so on, and actions are dense ids. Rewards are 0 until the game ends, and then
    equal the returns.
    """

    def __init__(
        self,
        game: str,
        players: SupportsIndex | None = None,
        options: Mapping[str, Any] | None = None,
        render_mode: str | None = None,
    ) -> None:
        """Create an environment. `reset` begins a game.

        Args:
            game: The name of the game.
            players: The number of players. None means the smallest number that the game allows.
            options: The game's options, by the names in the rules file. Options that are not set have their defaults.
            render_mode: "ansi", or None for no rendering.

        Raises:
            EngineError: UNKNOWN_GAME, INVALID_PLAYERS, INVALID_OPTION.
            ValueError: If another argument is invalid.
        """
        super().__init__()
        if render_mode not in (None, "ansi"):
            raise ValueError(f'render_mode must be None or "ansi", not {render_mode!r}')
        self.render_mode = render_mode
        self._game = engine.game(game)
        self._players = self._game.read_players(self._game.min_players if players is None else players)
        # Store the options that a new game has read: a copy that is known to be valid.
        self._options = self._game.new_game(self._players, options).options()
        self.metadata = {
            "name": f"chatiere_{self._game.name}_v{self._game.rules_version}",
            "render_modes": ["ansi"],
            "is_parallelizable": False,
        }
        self._num_actions = self._game.num_distinct_actions
        self.possible_agents = [f"seat_{seat}" for seat in range(self._players)]
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        # Each agent has its own space, because a space samples with its own generator.
        self.observation_spaces = {agent: masked_observation_space(self._game) for agent in self.possible_agents}
        self.action_spaces = {agent: spaces.Discrete(self._num_actions) for agent in self.possible_agents}
        self.agents: list[str] = []
        self._position: Position | None = None
        self._seed: SupportsIndex | None = None
        self._game_number = 0

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return an independent copy. It shares the observation spaces, because they are large and do not change."""
        memo[id(self.observation_spaces)] = self.observation_spaces
        copied = type(self).__new__(type(self))
        memo[id(self)] = copied
        for name, value in vars(self).items():
            setattr(copied, name, deepcopy(value, memo))
        return copied

    def observation_space(self, agent: str) -> spaces.Dict:
        """Return the space of an agent's observations, the same object each time."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """Return the space of an agent's actions, the same object each time."""
        return self.action_spaces[agent]

    def reset(self, seed: SupportsIndex | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Begin a game.

        Args:
            seed: 0 … 2**64 - 1. The same seed begins the same game. Each call without a seed begins a different game.
                After a call with a seed, these games are reproducible.
            options: Ignored, because the game has the constructor's options.

        Raises:
            EngineError: INVALID_SEED.
        """
        if seed is not None:
            first, number = seed, 0
        elif self._seed is None:
            first, number = randbits(64), 0
        else:
            first, number = self._seed, self._game_number + 1
        self._position = self._game.new_game(self._players, self._options, seed=first, game_number=number)
        self._seed, self._game_number = first, number
        self.agents = self.possible_agents.copy()
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = self.possible_agents[self._position.current_player()]

    def observe(self, agent: str) -> Observation:
        """Return an agent's observation, in new arrays.

        Raises:
            ValueError: If the agent is unknown, or there is no game.
        """
        seat = self._seats.get(agent)
        if seat is None:
            raise ValueError(f"unknown agent {agent!r}; the agents are {', '.join(self.possible_agents)}")
        position = self._current()
        mask = np.zeros(self._num_actions, np.int8)
        if position.current_player() == seat and not self.terminations.get(agent, True):
            mask[position.legal_actions()] = 1
        # Copy the observation, because bytes are read-only.
        return {"observation": np.frombuffer(position.observation(seat), np.uint8).copy(), "action_mask": mask}

    def step(self, action: SupportsIndex | None) -> None:
        """Make the move of `agent_selection`. If an error is raised, the game is unchanged.

        Args:
            action: The dense id of the action. None for an agent whose game is over. The agent is then removed.

        Raises:
            EngineError: INVALID_ACTION, ILLEGAL_ACTION.
            TypeError: If the action is not a number.
            ValueError: If there is no game, or an action is given for an agent whose game is over.
        """
        if not self.agents:
            raise ValueError("all agents have left, or no game has begun: call reset first")
        if self.terminations[self.agent_selection]:
            self._was_dead_step(action)
            return
        if action is None:
            raise ValueError(f"{self.agent_selection} has to act: None is for agents whose game is over")
        position = self._current()
        position.apply(action)
        seat = position.current_player()
        if seat >= 0:
            # Rewards are accumulated only at the end, because they do not change before.
            self.agent_selection = self.possible_agents[seat]
            return
        self.rewards = dict(zip(self.agents, position.returns(), strict=True))
        self.terminations = dict.fromkeys(self.agents, True)
        self._accumulate_rewards()
        self._deads_step_first()

    def render(self) -> str | None:
        """Return the table as the seat of `agent_selection` sees it. Without a render_mode, warn and return None."""
        if self.render_mode is None:
            logger.warn("You are calling render method without specifying any render mode.")
            return None
        return draw(self._current(), self._seats[self.agent_selection])

    def close(self) -> None:
        """Discard the game. `reset` begins another game."""
        self.agents = []
        self._position = None

    def _current(self) -> Position:
        if self._position is None:
            raise ValueError("no game has begun: call reset first")
        return self._position


for _game in engine.games():
    pettingzoo.register(
        "aec",
        f"chatiere/{_game.name}-v{_game.rules_version}",
        entry_point=f"{__name__}:{env.__name__}",
        kwargs={"game": _game.name},
    )
