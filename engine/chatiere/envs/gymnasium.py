"""Gymnasium: one seat against bots, as an environment and as a vector environment.

Importing this module registers every game: chatiere/discat-v1 and so on, with the version of its rules.

env = gymnasium.make("chatiere.envs.gymnasium:chatiere/discat-v1", players=3, opponents="random")
observation, info = env.reset(seed=7)
action = env.action_space.sample(info["action_mask"])
"""

from collections.abc import Mapping, Sequence
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

try:
    import gymnasium
except ImportError as error:
    raise ImportError("chatiere.envs.gymnasium needs Gymnasium: pip install chatiere[gymnasium]") from error

from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.spaces import Box, Discrete
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from chatiere import engine
from chatiere.engine import Game
from chatiere.engine.core.integers import integer_in, must_be, require_integer
from chatiere.envs.seat_games import Opponents, SeatGames

# Wrappers that collect frames ask for their number a second.
_METADATA: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 1}
_ONE = np.zeros(1, np.intp)


class SeatEnv(gymnasium.Env[NDArray[np.uint8], np.int64]):
    """One seat of a game, the others played by bots. An episode is a game, a step a decision of the seat.

    Observation: uint8 (observation_length,), what the seat knows, as laid out in the game's description. Action: a
    dense id. Reward: 0 until the game is over, then the seat's return: players / w - 1 for each of w winners, -1 for
    the other seats. Nothing is truncated. A game that ends before the seat has decided anything, which is rare, is
    passed over.

    `info["action_mask"]`: int8 (num_actions,), 1 for each legal action, all 0 at the end; a new array each time. An
    illegal action ends the episode with -1, and `info["illegal_action"]` is that action; with illegal="raise" it
    raises EngineError, a ValueError, which names the rule, and changes nothing.

    An episode depends only on the seed and the actions: the bots' choices come from the seed, too.
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
        render_mode: str | None = None,
    ) -> None:
        """Set the game, its seats and its options.

        `game`: its name. `players`: the number of seats; None: the fewest. `seat`: the one to play, 0 … players - 1.
        `opponents`: a bot for all other seats, or a list of bots, clockwise from the left of `seat` on; each a Bot, or
        what chatiere.bots.get makes one of ("flat:playouts=500"). `options`: by the names of the rules file; those
        absent have their defaults. `illegal`: what an illegal action does, "lose" or "raise".

        Raises EngineError: UNKNOWN_GAME, INVALID_PLAYERS, INVALID_SEAT, INVALID_OPTION; ValueError: another argument.
        """
        self._games = SeatGames(game, players, seat, opponents, options, illegal, 1)
        self.render_mode = _read_render_mode(render_mode)
        self.observation_space = _observation_space(self._games.game)
        self.action_space = Discrete(self._games.game.num_distinct_actions)
        self._has_begun = False
        self._is_closed = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.uint8], dict[str, Any]]:
        """Begin a game and return the observation and the info of the seat's first decision.

        `seed`: 0 or more; None goes on with the last seed's random numbers, at first with random ones. `options` are
        ignored: the game's are the constructor's.
        """
        _require_open(self._is_closed)
        super().reset(seed=seed)
        self._games.begin(_ONE, [self.np_random])
        self._has_begun = True
        return self._games.observations()[0], {"action_mask": self._games.masks[0].copy()}

    def step(self, action: SupportsIndex) -> tuple[NDArray[np.uint8], float, bool, bool, dict[str, Any]]:
        """Apply an action; return observation, reward, whether the game is over, False (truncated) and info.

        Raises ResetNeeded: no game is under way; ValueError: the action is not in the action space; EngineError: it is
        illegal, with illegal="raise".
        """
        _require_open(self._is_closed)
        _require_begun(not self._games.over[0])
        largest = self._games.game.num_distinct_actions - 1
        number = integer_in(action, 0, largest)
        if number is None:
            raise ValueError(must_be("action", action, 0, largest))
        (is_illegal,) = self._games.act(_ONE, np.array([number]))
        info: dict[str, Any] = {"action_mask": self._games.masks[0].copy()}
        if is_illegal:
            info["illegal_action"] = number
        return self._games.observations()[0], float(self._games.returns[0]), bool(self._games.over[0]), False, info

    def render(self) -> str | None:
        """Return the table as the seat sees it, as text with ANSI styles; None, with a warning, without a render mode.

        Raises ResetNeeded before the first reset.
        """
        _require_open(self._is_closed)
        _require_begun(self._has_begun)
        return self._games.draw(0) if _may_render(self.render_mode) else None

    def close(self) -> None:
        """Close the environment, which can't be used any more."""
        self._is_closed = True


class SeatVectorEnv(VectorEnv[NDArray[np.uint8], NDArray[np.int64], NDArray[Any]]):
    """`num_envs` games of SeatEnv at a time, all stepped together: faster than as many SeatEnvs.

    Observations, rewards and infos are those of gymnasium.vector.SyncVectorEnv over SeatEnv, seed for seed: each game
    has random numbers of its own. So is the autoreset mode, AutoresetMode.NEXT_STEP: where a game is over, the next
    step ignores the action and begins another game, with reward 0.
    """

    metadata: dict[str, Any] = _METADATA | {"autoreset_mode": AutoresetMode.NEXT_STEP}

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
        render_mode: str | None = None,
    ) -> None:
        """Set the games. `num_envs`: how many at a time, 1 or more; the other arguments are those of SeatEnv."""
        self.num_envs = require_integer("num_envs", num_envs)
        if self.num_envs < 1:
            raise ValueError(f"num_envs must be 1 or more, not {self.num_envs}")
        self._games = SeatGames(game, players, seat, opponents, options, illegal, self.num_envs)
        self.render_mode = _read_render_mode(render_mode)
        self.single_observation_space = _observation_space(self._games.game)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.single_action_space = Discrete(self._games.game.num_distinct_actions)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._generators: list[np.random.Generator] = []

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.uint8], dict[str, Any]]:
        """Begin all games anew and return the observations and infos of their first decisions.

        `seed`: of the first game, those of the others follow it; or a seed for each; None as in SeatEnv. `options` are
        ignored, but for "reset_mask": ValueError, since this autoreset mode leaves nothing to reset by hand.
        """
        _require_open(self.closed)
        if options and "reset_mask" in options:
            raise ValueError("options: no reset_mask with AutoresetMode.NEXT_STEP, where step begins the next games")
        self._generators = self._next_generators(seed)
        self._games.begin(np.arange(self.num_envs), self._generators)
        return self._games.observations(), self._info()

    def step(
        self, actions: ArrayLike
    ) -> tuple[NDArray[np.uint8], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Apply an action in each game; return observations, rewards, where games are over, where truncated, and infos.

        `actions`: integers (num_envs,). Raises ResetNeeded before the first reset; ValueError: not such actions;
        EngineError: an illegal one, with illegal="raise". If an action is refused, no game has changed.
        """
        _require_open(self.closed)
        _require_begun(bool(self._generators))
        numbers = self._read_actions(actions)
        ended = self._games.over.copy()
        rows = np.flatnonzero(~ended)
        is_illegal = np.zeros(self.num_envs, np.bool_)
        is_illegal[rows] = self._games.act(rows, numbers[rows])
        self._games.begin(np.flatnonzero(ended), self._generators)
        info = self._info()
        if is_illegal.any():
            info |= {"illegal_action": np.where(is_illegal, numbers, 0), "_illegal_action": is_illegal}
        truncated = np.zeros(self.num_envs, np.bool_)
        return self._games.observations(), self._games.returns.copy(), self._games.over.copy(), truncated, info

    def render(self) -> tuple[str, ...] | None:
        """Return the table of each game, as SeatEnv does."""
        _require_open(self.closed)
        _require_begun(bool(self._generators))
        return tuple(map(self._games.draw, range(self.num_envs))) if _may_render(self.render_mode) else None

    def _next_generators(self, seed: int | Sequence[int | None] | None) -> list[np.random.Generator]:
        if seed is None:
            seeds: Sequence[int | None] = [None] * self.num_envs
        elif isinstance(seed, Sequence):
            seeds = seed
        else:
            first = require_integer("seed", seed)
            seeds = range(first, first + self.num_envs)
        if len(seeds) != self.num_envs:
            raise ValueError(f"seed must be an integer or a list of {self.num_envs}, not of {len(seeds)}")
        # Those without a seed go on where they are.
        old: Sequence[np.random.Generator | None] = self._generators or [None] * self.num_envs
        return [
            going_on if going_on and each is None else seeding.np_random(each)[0]
            for going_on, each in zip(old, seeds, strict=True)
        ]

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

    def _info(self) -> dict[str, Any]:
        # Gymnasium's form: each key has one with _ before it, for the games that it holds for.
        return {"action_mask": self._games.masks.copy(), "_action_mask": np.ones(self.num_envs, np.bool_)}


# Quoted, as Box takes no type argument before Gymnasium 1.4.
def _observation_space(game: Game) -> "Box[np.uint8]":
    return Box(0, 255, (game.observation_length,), np.uint8)


def _read_render_mode(render_mode: str | None) -> str | None:
    modes = _METADATA["render_modes"]
    if render_mode is not None and render_mode not in modes:
        raise ValueError(f"render_mode must be None or {' or '.join(map(repr, modes))}, not {render_mode!r}")
    return render_mode


def _may_render(render_mode: str | None) -> bool:
    if render_mode is None:
        gymnasium.logger.warn('render needs a render mode: make the environment with render_mode="ansi"')
    return render_mode is not None


def _require_open(is_closed: bool) -> None:
    if is_closed:
        raise ClosedEnvironmentError("the environment is closed")


def _require_begun(has_begun: bool) -> None:
    if not has_begun:
        raise ResetNeeded("no game is under way: call reset first")


for _game in engine.games():
    gymnasium.register(
        f"chatiere/{_game.name}-v{_game.rules_version}",
        entry_point=f"{__name__}:{SeatEnv.__name__}",
        vector_entry_point=f"{__name__}:{SeatVectorEnv.__name__}",
        kwargs={"game": _game.name},
    )
