"""The package's networks: how they are named, and what they are worth."""

import pickle
import re
from pathlib import Path

import numpy as np
import pytest

from chatiere import bots, engine
from chatiere.arena.matches import Results, play_many
from chatiere.bots import IntegerNetworkBot, Registry, trained
from chatiere.bots.network_file import NetworkFile
from chatiere.envs import TableEnv

from .support import TABLES, Host

# With the game's own bot, and how much the network alone wins against it at least, in a few games.
SHIPPED = {
    ("chat_perche", 2): ("climber", 0.75),
    ("discat", 2): ("largest", 0.65),
    ("momistigri", 3): ("discarding", 0.65),
}
FOLDER = Path(trained.__file__).with_name("networks")


def test_the_files_are_the_networks_that_there_are() -> None:
    found = sorted(FOLDER.iterdir())
    assert [path.name for path in found] == [f"{game}-{players}.net.gz" for game, players in sorted(SHIPPED)]
    assert sum(path.stat().st_size for path in found) < 1_500_000
    for game, players in SHIPPED:
        file = trained.trained(engine.game(game), players)
        assert isinstance(file, NetworkFile)
        file.require(engine.game(game), players)


@pytest.mark.parametrize(("game", "players"), SHIPPED)
def test_requests_and_programs_name_them_for_a_search(game: str, players: int) -> None:
    spec = "ismcts:simulations=20,net=trained"
    bot = Registry().get(spec, game, players)
    assert bot.is_reproducible
    decisions = Host(game, players, 20, 7).decisions(bot, np.arange(20))
    chosen = bot.choose(decisions).tolist()
    for other in (bots.get(spec, game, players), pickle.loads(pickle.dumps(bot))):
        assert other.choose(decisions).tolist() == chosen
    assert bots.get("ismcts:simulations=20", game, players).choose(decisions).tolist() != chosen


@pytest.mark.parametrize(("game", "players"), SHIPPED)
def test_alone_each_beats_the_games_own_bot(game: str, players: int) -> None:
    opponent, least = SHIPPED[game, players]
    seated = [IntegerNetworkBot(trained.trained(engine.game(game), players)), bots.get(opponent, game, players)]
    results = Results.of(400, players, 2)
    with TableEnv(game, players, num_envs=400, games=400, observations=True) as env:
        for batch, _ in play_many(env, seated, 3):
            results.add(batch.ended)
    assert results.wins(0).mean() > least


@pytest.mark.parametrize(("game", "players"), [table for table in TABLES if table not in SHIPPED])
def test_there_is_none_for_other_tables(game: str, players: int) -> None:
    assert not trained.is_trained(engine.game(game), players)
    for get in (bots.get, Registry().get):
        message = f"^there is no trained network for {game} with {players} players$"
        with pytest.raises(ValueError, match=message):
            get("ismcts:net=trained", game, players)


def test_no_other_bot_has_the_name() -> None:
    with pytest.raises(ValueError, match=re.escape("there already is a bot 'trained'")):
        Registry(["trained=chatiere.bots.random:RandomBot"])
