"""Gymnasium: one seat against bots, as an environment and as a vector environment.

Importing this module registers every game under a name with the version of its rules, for example chatiere/discat-v1.

env = gymnasium.make("chatiere.envs.gymnasium:chatiere/discat-v1", players=3, opponents="random")
observation, info = env.reset(seed=7)
action = env.action_space.sample(info["action_mask"])
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

try:
    import gymnasium
except ImportError as error:
    raise ImportError("chatiere.envs.gymnasium needs Gymnasium: pip install chatiere[gymnasium]") from error

from gymnasium.envs.registration import EnvSpec
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.spaces import Discrete
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from chatiere import engine
from chatiere.drawing import draw
from chatiere.engine import Game
from chatiere.engine.core.integers import integer_in, must_be, require_integer
from chatiere.envs.seat_game import SeatGame
from chatiere.envs.seat_games import SeatGames
from chatiere.envs.seating import Opponents, read_seating
from chatiere.envs.spaces import masked_observation_space, observation_space

# Wrappers that collect frames read `render_fps`, the number of frames per second.
_METADATA: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 1}
# The value of `info["illegal_action"]` if no action was illegal.
_NONE = -1


class _Spec(EnvSpec):
    # Gymnasium's own error message names only the object's type.
    def to_json(self) -> str:
        for name, value in self.kwargs.items():
            try:
                json.dumps(value)
            except TypeError:
                message = f"{name}={value!r} cannot be written as JSON; give bots by name, and other arguments by value"
                raise ValueError(message) from None
        return super().to_json()


class _WithSpec:
    # The base class of the environments. `gymnasium.make` and `make_vec` set `spec`.
    _spec: EnvSpec | None = None

    @property
    def spec(self) -> EnvSpec | None:
        """The arguments with which Gymnasium made the environment. None if it was made without Gymnasium."""
        return self._spec

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:
        if spec is not None:
            spec = _Spec(**{field.name: getattr(spec, field.name) for field in fields(spec) if field.init})
        self._spec = spec


class SeatEnv(_WithSpec, gymnasium.Env[Any, np.int64]):
    """One seat of a game against bots. An episode is a game, and a step is a decision of the seat.

    - Observation: uint8 (observation_length,), the seat's knowledge, in the layout of the game's description. With
      mask_in_observation, a dict with this array as `observation`, and `action_mask` as in `info`.
    - Action: a dense id.
    - Reward: 0 until the game is over, then the seat's return. The return is players / w - 1 for each of w winners, and
      -1 for every other seat.

    Every `info` has two items:

    - `action_mask`: int8 (num_actions,), 1 for each legal action. All 0 at the end. Each `info` has a new array.
    - `illegal_action`: int64, the action if it was illegal, otherwise -1. An illegal action ends the episode with the
      reward -1.

    With illegal="raise", an illegal action raises EngineError, a ValueError that names the rule. The game is unchanged.

    No game is truncated. The rare games that end before the seat's first decision are skipped.

    An episode depends only on the seed and the actions, because the seed also determines the bots' choices.
    """

    metadata: dict[str, Any] = _METADATA

    def __init__(
        self,
        game: str,
        players: SupportsIndex | None = None,
        *,
        seat: SupportsIndex = 0,
        opponents: Opponents = "random",
        options: Mapping[str, Any] | None = None,
        illegal: str = "lose",
        mask_in_observation: bool = False,
        render_mode: str | None = None,
    ) -> None:
        """Create an environment. `reset` begins a game.

        Args:
            game: The name of the game.
            players: The number of players. None means the smallest number that the game allows.
            seat: The seat to play, 0 … players - 1.
            opponents: A bot for all other seats, or a list with a bot for each other seat, clockwise from the left of
                `seat`. A bot is given as a Bot, or as a name that chatiere.bots.get accepts ("flat:playouts=500").
            options: The game's options, by the names in the rules file. Options that are not set have their defaults.
            illegal: The effect of an illegal action, "lose" or "raise".
            mask_in_observation: True to make observations dicts that also contain the mask.
            render_mode: "ansi", or None for no rendering.

        Raises:
            EngineError: UNKNOWN_GAME, INVALID_PLAYERS, INVALID_SEAT, INVALID_OPTION.
            ValueError: If another argument is invalid.
        """
        seating = read_seating(game, players, seat, opponents, options, illegal)
        self.render_mode = _read_render_mode(render_mode)
        self.observation_space = _observation_space(seating.game, mask_in_observation)
        self._num_actions = seating.game.num_distinct_actions
        self.action_space = Discrete(self._num_actions)
        self._mask_in_observation = mask_in_observation
        self._seat = seating.seat
        self._game = SeatGame(seating)
        self._has_begun = False
        self._is_closed = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin a game and return the observation and the info of the seat's first decision.

        Args:
            seed: 0 or more. None continues with the random numbers of the last seed, or of a random seed if there was
                no seed yet.
            options: Ignored, because the game has the constructor's options.
        """
        _require_open(self._is_closed)
        super().reset(seed=_read_seed("seed", seed))
        self._game.begin(self.np_random)
        self._has_begun = True
        return self._seen(_NONE)

    def step(self, action: SupportsIndex) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Apply an action.

        Returns:
            The observation, the reward, `terminated` (True if the game is over), `truncated` (always False), and the
            info.

        Raises:
            ResetNeeded: If no game is in progress.
            ValueError: If the action is not in the action space.
            EngineError: If the action is illegal, with illegal="raise".
        """
        _require_open(self._is_closed)
        game = self._game
        _require_begun(not game.over)
        number = integer_in(action, 0, self._num_actions - 1)
        if number is None:
            raise ValueError(must_be("action", action, 0, self._num_actions - 1))
        observation, info = self._seen(number if game.act(number) else _NONE)
        return observation, game.returned, game.over, False, info

    def render(self) -> str | None:
        """Return the seat's view of the table as text with ANSI styles. Without a render mode, warn and return None.

        Raises:
            ResetNeeded: If `reset` was not called yet.
        """
        _require_open(self._is_closed)
        _require_begun(self._has_begun)
        return draw(self._game.position, self._seat) if _may_render(self.render_mode) else None

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the mask of the legal actions, bool (num_actions,), for MaskablePPO of sb3-contrib.

        Raises:
            ResetNeeded: If `reset` was not called yet.
        """
        _require_open(self._is_closed)
        _require_begun(self._has_begun)
        return self._mask().view(np.bool_)

    def close(self) -> None:
        """Close the environment. It can no longer be used."""
        self._is_closed = True

    def _mask(self) -> NDArray[np.int8]:
        mask = np.zeros(self._num_actions, np.int8)
        mask[self._game.legal_actions] = 1
        return mask

    def _seen(self, illegal_action: int) -> tuple[Any, dict[str, Any]]:
        # Copy the observation, because bytes are read-only.
        observation = np.frombuffer(self._game.position.observation(self._seat), np.uint8).copy()
        mask = self._mask()
        info = {"action_mask": mask, "illegal_action": np.int64(illegal_action)}
        if self._mask_in_observation:
            return {"observation": observation, "action_mask": mask.copy()}, info
        return observation, info


class SeatVectorEnv(_WithSpec, VectorEnv[Any, NDArray[np.int64], NDArray[Any]]):
    """`num_envs` games of SeatEnv, stepped together. This is faster than stepping separate SeatEnvs.

    With the same seeds, gymnasium.vector.SyncVectorEnv over SeatEnv gives the same observations, rewards and infos.
    Each game has its own random numbers. The autoreset modes for games that are over or truncated are also the same:

    - AutoresetMode.NEXT_STEP: the next step ignores the game's action and begins another game, with reward 0.
    - AutoresetMode.SAME_STEP: the same step begins another game. `infos["final_obs"]`, an array of observations and
      None, and `infos["final_info"]` describe the end of the last game.
    - AutoresetMode.DISABLED: `reset(options={"reset_mask": …})` begins new games. Until then, `step` raises
      ResetNeeded.
    """

    metadata: dict[str, Any] = _METADATA

    def __init__(
        self,
        game: str,
        players: SupportsIndex | None = None,
        *,
        num_envs: SupportsIndex = 1,
        seat: SupportsIndex = 0,
        opponents: Opponents = "random",
        options: Mapping[str, Any] | None = None,
        illegal: str = "lose",
        mask_in_observation: bool = False,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        max_episode_steps: SupportsIndex | None = None,
        render_mode: str | None = None,
    ) -> None:
        """Create a vector environment. `reset` begins the games.

        Args:
            game: See SeatEnv.
            players: See SeatEnv.
            num_envs: The number of games at a time, 1 or more.
            seat: See SeatEnv.
            opponents: See SeatEnv.
            options: See SeatEnv.
            illegal: See SeatEnv.
            mask_in_observation: See SeatEnv.
            autoreset_mode: A mode or its value, "NextStep", "SameStep" or "Disabled".
            max_episode_steps: The number of steps after which a game is truncated, 1 or more. None means that no game
                is truncated.
            render_mode: See SeatEnv.
        """
        self.num_envs = _read_count("num_envs", num_envs)
        self._max_episode_steps = (
            None if max_episode_steps is None else _read_count("max_episode_steps", max_episode_steps)
        )
        self._games = SeatGames(read_seating(game, players, seat, opponents, options, illegal), self.num_envs)
        self.render_mode = _read_render_mode(render_mode)
        self._autoreset_mode = _read_autoreset_mode(autoreset_mode)
        self.metadata = _METADATA | {"autoreset_mode": self._autoreset_mode}
        self.single_observation_space = _observation_space(self._games.game, mask_in_observation)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.single_action_space = Discrete(self._games.game.num_distinct_actions)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._mask_in_observation = mask_in_observation
        self._generators: list[np.random.Generator] = []
        self._elapsed = np.zeros(self.num_envs, np.int64)
        self._truncated = np.zeros(self.num_envs, np.bool_)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Restart all games and return the observations and infos of their first decisions.

        Args:
            seed: An integer is the first game's seed, and the following games have consecutive seeds. A list has a seed
                for each game. SeatEnv.reset describes the meaning of None.
            options: Ignored, except for "reset_mask", bool (num_envs,), with AutoresetMode.DISABLED. Only the games
                where the mask is True, at least one, are restarted.

        Raises:
            ValueError: If the seed or the mask is invalid.
            TypeError: If the mask is not a NumPy array of bool.
            ResetNeeded: If a game that the mask excludes has not begun.
        """
        _require_open(self.closed)
        chosen = np.ones(self.num_envs, np.bool_)
        if options and "reset_mask" in options:
            chosen = self._read_reset_mask(options["reset_mask"])
            _require_begun(bool(self._generators) or bool(chosen.all()))
        self._generators = self._next_generators(seed, chosen)
        self._begin(np.flatnonzero(chosen))
        return self._observations(), self._info(chosen, np.full(self.num_envs, _NONE))

    def step(
        self, actions: ArrayLike
    ) -> tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Apply an action in each game. If an action is refused, no game has changed.

        Args:
            actions: (num_envs,), the dense ids of the actions.

        Returns:
            The observations, the rewards, `terminated` (True where the game is over), `truncated` (True where the game
            is truncated), and the infos.

        Raises:
            ResetNeeded: If `reset` was not called yet, or a game is over with AutoresetMode.DISABLED.
            ValueError: If an action is invalid.
            EngineError: If an action is illegal, with illegal="raise".
        """
        _require_open(self.closed)
        _require_begun(bool(self._generators))
        numbers = self._read_actions(actions)
        ended = self._games.over | self._truncated
        if self._autoreset_mode is AutoresetMode.DISABLED:
            _require_begun(not ended.any())
        rows = np.flatnonzero(~ended)
        is_illegal = np.zeros(self.num_envs, np.bool_)
        is_illegal[rows] = self._games.act(rows, numbers[rows])
        illegal_actions = np.where(is_illegal, numbers, _NONE)
        self._elapsed[rows] += 1
        self._begin(np.flatnonzero(ended))
        if self._max_episode_steps is not None:
            self._truncated = self._elapsed >= self._max_episode_steps
        rewards, terminated, truncated = self._games.returns.copy(), self._games.over.copy(), self._truncated.copy()
        final: dict[str, Any] = {}
        ended = terminated | truncated
        if self._autoreset_mode is AutoresetMode.SAME_STEP and ended.any():
            final = self._final_info(ended, illegal_actions)
            illegal_actions[ended] = _NONE
            self._begin(np.flatnonzero(ended))
        info = self._info(np.ones(self.num_envs, np.bool_), illegal_actions)
        return self._observations(), rewards, terminated, truncated, final | info

    def render(self) -> tuple[str, ...] | None:
        """Return the table of each game, as SeatEnv does."""
        _require_open(self.closed)
        _require_begun(bool(self._generators))
        return tuple(map(self._games.draw, range(self.num_envs))) if _may_render(self.render_mode) else None

    def _begin(self, rows: NDArray[np.intp]) -> None:
        self._games.begin(rows, self._generators)
        self._elapsed[rows] = 0
        self._truncated[rows] = False

    def _next_generators(
        self, seed: int | Sequence[int | None] | None, chosen: NDArray[np.bool_]
    ) -> list[np.random.Generator]:
        if seed is None:
            seeds: Sequence[int | None] = [None] * self.num_envs
        elif isinstance(seed, Sequence):
            seeds = [_read_seed(f"seed[{place}]", each) for place, each in enumerate(seed)]
        else:
            first = require_integer("seed", seed)
            seeds = range(first, first + self.num_envs)
        if len(seeds) != self.num_envs:
            raise ValueError(f"seed must be an integer or a list of {self.num_envs}, not of {len(seeds)}")
        # Games without a seed, and games that are not restarted, keep their generators.
        old: Sequence[np.random.Generator | None] = self._generators or [None] * self.num_envs
        return [
            going_on if going_on and (each is None or not is_chosen) else seeding.np_random(each)[0]
            for going_on, each, is_chosen in zip(old, seeds, chosen, strict=True)
        ]

    def _read_reset_mask(self, mask: object) -> NDArray[np.bool_]:
        if self._autoreset_mode is not AutoresetMode.DISABLED:
            raise ValueError(f"options: no reset_mask with {self._autoreset_mode}, where step begins the next games")
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
            found = f"one of {mask.dtype}" if isinstance(mask, np.ndarray) else type(mask).__name__
            raise TypeError(f"options: reset_mask must be a NumPy array of bool, not {found}")
        if mask.shape != (self.num_envs,):
            raise ValueError(f"options: reset_mask must have the shape {(self.num_envs,)}, not {mask.shape}")
        if not mask.any():
            raise ValueError("options: reset_mask must be True for at least one game")
        return mask

    def _read_actions(self, actions: ArrayLike) -> NDArray[np.int64]:
        numbers = np.asarray(actions)
        if numbers.shape != (self.num_envs,) or numbers.dtype.kind not in "iu":
            found = f"{numbers.dtype} {numbers.shape}"
            raise ValueError(f"actions must be integers of the shape {(self.num_envs,)}, not {found}")
        largest = self._games.game.num_distinct_actions - 1
        wrong = np.flatnonzero((numbers < 0) | (numbers > largest))
        if len(wrong):
            raise ValueError(must_be(f"actions[{wrong[0]}]", int(numbers[wrong[0]]), 0, largest))
        return numbers.astype(np.int64)

    def _observations(self) -> Any:
        observations = self._games.observations()
        if not self._mask_in_observation:
            return observations
        return {"observation": observations, "action_mask": self._games.masks.copy()}

    def _info(self, chosen: NDArray[np.bool_], illegal_actions: NDArray[np.int64]) -> dict[str, Any]:
        # This is Gymnasium's format. The key with the prefix _ marks the games that have a value. The other games have
        # 0.
        return {
            "action_mask": self._games.masks * chosen[:, None],
            "_action_mask": chosen.copy(),
            "illegal_action": illegal_actions * chosen,
            "_illegal_action": chosen.copy(),
        }

    def _final_info(self, ended: NDArray[np.bool_], illegal_actions: NDArray[np.int64]) -> dict[str, Any]:
        observations = self._observations()
        final = np.full(self.num_envs, None, object)
        for row in np.flatnonzero(ended):
            if self._mask_in_observation:
                final[row] = {key: array[row] for key, array in observations.items()}
            else:
                final[row] = observations[row]
        return {
            "final_obs": final,
            "_final_obs": ended.copy(),
            "final_info": self._info(ended, illegal_actions),
            "_final_info": ended.copy(),
        }


def _observation_space(game: Game, mask_in_observation: bool) -> gymnasium.Space[Any]:
    return masked_observation_space(game) if mask_in_observation else observation_space(game)


def _read_count(name: str, value: SupportsIndex) -> int:
    number = require_integer(name, value)
    if number < 1:
        raise ValueError(f"{name} must be 1 or more, not {number}")
    return number


def _read_autoreset_mode(mode: AutoresetMode | str) -> AutoresetMode:
    try:
        return AutoresetMode(mode)
    except ValueError:
        values = [known.value for known in AutoresetMode]
        raise ValueError(f"autoreset_mode must be one of {values}, not {mode!r}") from None


def _read_render_mode(render_mode: str | None) -> str | None:
    modes = _METADATA["render_modes"]
    if render_mode is not None and render_mode not in modes:
        raise ValueError(f"render_mode must be None or {' or '.join(map(repr, modes))}, not {render_mode!r}")
    return render_mode


def _may_render(render_mode: str | None) -> bool:
    if render_mode is None:
        gymnasium.logger.warn('render needs a render mode: make the environment with render_mode="ansi"')
    return render_mode is not None


def _read_seed(name: str, seed: int | None) -> int | None:
    # Gymnasium accepts booleans as seeds, so require an integer here.
    return None if seed is None else require_integer(name, seed)


def _require_open(is_closed: bool) -> None:
    if is_closed:
        raise ClosedEnvironmentError("the environment is closed")


def _require_begun(has_begun: bool) -> None:
    if not has_begun:
        raise ResetNeeded("no game is under way: call reset first")


def _max_episode_steps(game: Game) -> int:
    # This number is above the number of decisions in the longest game with any options, so that no game is truncated.
    players = range(game.min_players, game.max_players + 1)
    return 1 + max(game.limits_of_any_options(number).max_game_length for number in players)


for _game in engine.games():
    gymnasium.register(
        f"chatiere/{_game.name}-v{_game.rules_version}",
        entry_point=f"{__name__}:{SeatEnv.__name__}",
        vector_entry_point=f"{__name__}:{SeatVectorEnv.__name__}",
        max_episode_steps=_max_episode_steps(_game),
        kwargs={"game": _game.name},
    )
