"""The games in verifiers. In each game of the taskset, a model plays one seat against bots, in words.

verifiers finds a taskset by the name of a top-level module. Therefore write a module `my_games.py` with one line:

from chatiere.envs.verifiers import GamesEnv, GamesTaskset, __all__

vf-eval my_games --env.taskset.game discat --env.taskset.opponents largest
"""

import asyncio
from collections.abc import Iterator
from itertools import count
from typing import Any

from chatiere.envs.text import TextEnv

try:
    import verifiers.v1 as vf
except ImportError as error:
    raise ImportError("chatiere.envs.verifiers needs verifiers: pip install chatiere[verifiers]") from error

__all__ = ["GamesEnv", "GamesTaskset"]


# verifiers is not installed where types are checked.
class GamesConfig(vf.TasksetConfig):  # type: ignore[misc]
    """The arguments of `TextEnv`, as options of verifiers' commands."""

    game: str = "discat"
    """The name of the game."""
    players: int | None = None
    """See TextEnv."""
    seat: int = 0
    """See TextEnv."""
    opponents: str = "random"
    """The bot at all other seats."""
    language: str = "en"
    """See TextEnv."""
    numbered: bool = True
    """See TextEnv."""
    attempts: int = 3
    """See TextEnv."""


class GameData(vf.TaskData):  # type: ignore[misc]
    """The data of a task."""

    arguments: dict[str, Any]
    """The arguments of `TextEnv`."""
    seed: int
    """The seed of the game."""


class GameTask(vf.Task[GameData, vf.State, vf.TaskConfig]):  # type: ignore[misc]
    """The task of playing one game."""


class GamesEnvConfig(vf.EnvConfig):  # type: ignore[misc]
    """The configuration of `GamesEnv`."""

    player: vf.AgentConfig = vf.AgentConfig()
    """The model that plays the seat."""


class GamesEnv(vf.Env[GamesEnvConfig]):  # type: ignore[misc]
    """The environment that plays one game for each task. The reward `returned` is the seat's return.

    An unfinished game is lost.
    """

    async def run(self, task: GameTask, agents: Any) -> None:
        """Play a game. Each reply of the model is an action, and the next message is the response of `TextEnv`."""
        # Use threads, because bots may need a long time and other games must continue.
        env = await asyncio.to_thread(TextEnv, **task.data.arguments)
        await asyncio.to_thread(env.reset, task.data.seed)
        returned = -1.0
        async with agents.player.interaction(task) as interaction:
            segment = await interaction.turn()
            while not segment.terminated:
                told = await asyncio.to_thread(env.step, segment.last_reply)
                if told.is_over:
                    returned = told.reward
                    break
                segment = await interaction.turn(told.text)
        interaction.trace.record_reward("returned", returned)


class GamesTaskset(vf.Taskset[GameTask, GamesConfig]):  # type: ignore[misc]
    """One game for each seed, from seed 0 on."""

    INFINITE = True

    def load(self) -> Iterator[GameTask]:
        """Generate a task for each seed."""
        config = self.config
        arguments = {name: getattr(config, name) for name in GamesConfig.__annotations__}
        env = TextEnv(**arguments)
        for seed in count():
            name = f"{config.game}#{seed}"
            data = GameData(name=name, prompt=env.reset(seed).text, arguments=arguments, seed=seed)
            yield GameTask(data, config.task)
