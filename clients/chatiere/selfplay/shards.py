"""Play the games of a data set, one shard at a time."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from chatiere import bots, engine
from chatiere.arena.matches import Searched, search_many
from chatiere.bots import Bot
from chatiere.engine.wire import fill
from chatiere.envs import Batch, TableEnv
from chatiere.selfplay.dataset import DataSetError, Recipe
from chatiere.selfplay.shard_file import GameRange, Recording
from chatiere.v1.game_pb2 import Options

if TYPE_CHECKING:
    # VectorEnv needs the extra `client`. It is not imported at run time here, because games in this process do not need
    # the extra.
    from chatiere.clients.vector_env import VectorEnv


@dataclass(frozen=True)
class ShardPlayer:
    """A player of the games of a recipe, in this process or over a service. It can be sent to other processes.

    The player creates the bots and contains them when it is sent, so other processes need neither the bots' files nor
    files that the bots have read.

    Raises:
        ValueError: A bot cannot be created.
    """

    recipe: Recipe
    address: str | None = None
    """The service's address, HOST:PORT or unix:/PATH. None means this process."""
    batch: int = 1024
    """The maximum number of games in a request. Without a service, the number of games played at a time."""
    in_flight: int = 2
    """The maximum number of requests in flight to the service, each with different games."""
    bots: tuple[Bot, ...] = field(init=False)
    """The recipe's bots."""

    def __post_init__(self) -> None:
        """Create the bots."""
        recipe = self.recipe
        made = tuple(bots.get(spec, recipe.game, recipe.players) for spec in recipe.bots)
        object.__setattr__(self, "bots", made)

    def play_batches(self, games: GameRange, *, observations: bool) -> Iterator[tuple[Batch, Searched]]:
        """Play a range of games as `search_many` does.

        Args:
            games: The range.
            observations: True to include observations even if no bot needs them.

        Raises:
            DataSetError: The service has another version of the rules.
        """
        observations = observations or any(bot.needs_observations for bot in self.bots)
        with self._open(games, observations=observations) as env:
            yield from search_many(env, self.bots, self.recipe.seed, self.recipe.exploration)

    def play(self, games: GameRange, report: Callable[[int], object] | None = None) -> bytes:
        """Play a shard and return it as a Parquet file. Errors are as for `play_batches`.

        Args:
            games: The range.
            report: A function that is called with the number of games that have just ended.
        """
        recording = Recording(games)
        for batch, searched in self.play_batches(games, observations=True):
            recording.add(batch, searched)
            if report is not None:
                report(len(batch.ended.envs))
        return recording.shard()

    def _open(self, games: GameRange, *, observations: bool) -> "TableEnv | VectorEnv":
        recipe = self.recipe
        if self.address is None:
            return TableEnv(
                recipe.game,
                recipe.players,
                num_envs=min(self.batch, games.length),
                games=games.length,
                first_game=games.first,
                options=recipe.options,
                observations=observations,
            )
        from chatiere.clients.vector_env import VectorEnv

        options = Options()
        own = getattr(options, recipe.game)
        own.SetInParent()
        fill(own, engine.codec(recipe.game).put_options, recipe.options)
        env = VectorEnv(
            self.address,
            recipe.game,
            recipe.players,
            num_envs=min(self.batch * self.in_flight, games.length),
            batches=min(self.in_flight, games.length),
            games=games.length,
            first_game=games.first,
            options=options,
            states=any(bot.needs_worlds for bot in self.bots),
            observations=observations,
        )
        found, wanted = env.info.rules_version, engine.game(recipe.game).rules_version
        if found != wanted:
            env.close()
            raise DataSetError(f"the service at {self.address} plays rules version {found}, not {wanted}")
        return env
