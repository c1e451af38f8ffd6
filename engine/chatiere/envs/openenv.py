"""The games as OpenEnv environments. A client plays one seat of a game against bots, in words.

A server can play many episodes at the same time:

import uvicorn
from chatiere.envs.openenv import create_app

uvicorn.run(create_app("discat", opponents="largest"), port=8000)
"""

from functools import partial
from importlib.metadata import version
from typing import Any
from uuid import uuid4

from chatiere import engine
from chatiere.envs.text import TextEnv, Told

try:
    from openenv.core.env_server import http_server
    from openenv.core.env_server.interfaces import Environment
    from openenv.core.env_server.types import Action, EnvironmentMetadata, Observation, State
except ImportError as error:
    raise ImportError("chatiere.envs.openenv needs OpenEnv: pip install chatiere[openenv]") from error


class TextAction(Action):  # type: ignore[misc]  # OpenEnv is not installed where types are checked
    """An action in words."""

    text: str
    """A number from the list of legal actions, or words (see `chatiere.text.read_action`)."""


class TextObservation(Observation):  # type: ignore[misc]
    """A response of `TextEnv`. `reward` is 0 until `done` is true, and then the seat's return."""

    text: str
    """See `Told.text`."""
    is_refused: bool
    """True if the action was not understood. See `Told.is_refused`."""


class SeatEnvironment(Environment):  # type: ignore[misc]
    """A seat of a game against bots, as an environment of OpenEnv. An episode is a game of `TextEnv`."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, game: str, **arguments: Any) -> None:
        """Create an environment. `reset` begins an episode.

        Args:
            game: The name of the game.
            arguments: Further arguments of TextEnv.

        Raises:
            EngineError: See TextEnv.
            ValueError: See TextEnv.
        """
        super().__init__()
        self._game = engine.game(game)
        self._env = TextEnv(game, **arguments)
        self._state = State()

    def reset(self, seed: int | None = None, episode_id: str | None = None) -> TextObservation:
        """Begin an episode.

        Args:
            seed: 0 or more. See TextEnv.reset.
            episode_id: The episode's name in `state`. None draws a name.
        """
        told = self._env.reset(seed)
        self._state = State(episode_id=episode_id or str(uuid4()), step_count=0)
        return self._observation(told)

    def step(self, action: TextAction, timeout_s: float | None = None) -> TextObservation:
        """Apply an action.

        Args:
            action: The action.
            timeout_s: Ignored.

        Raises:
            ValueError: If no episode is in progress.
        """
        told = self._env.step(action.text)
        self._state.step_count += 1
        return self._observation(told)

    @property
    def state(self) -> State:
        """The episode's name and number of steps. The state contains no information about the game."""
        return self._state

    def get_metadata(self) -> EnvironmentMetadata:
        """Return the name and a description of the environment."""
        title = self._game.description.title
        return EnvironmentMetadata(
            name=f"chatiere-{self._game.name}",
            description=f"One seat of a game of {title} against bots, in words.",
            version=version("chatiere"),
        )

    def _observation(self, told: Told) -> TextObservation:
        return TextObservation(text=told.text, is_refused=told.is_refused, reward=told.reward, done=told.is_over)


def create_app(game: str, *, sessions: int = 64, **arguments: Any) -> Any:
    """Return an application for an ASGI server, such as uvicorn. Each session has its own environment.

    Args:
        game: The name of the game.
        sessions: The number of sessions that may be open at the same time.
        arguments: Further arguments of TextEnv. Clients cannot change them.

    Raises:
        EngineError: See TextEnv.
        ValueError: See TextEnv.
    """
    TextEnv(game, **arguments)
    return http_server.create_app(
        partial(SeatEnvironment, game, **arguments),
        TextAction,
        TextObservation,
        env_name=f"chatiere-{game}",
        max_concurrent_envs=sessions,
    )
