"""The package's networks: their names and their strength."""

import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from tools.over import over

from chatiere import bots, engine
from chatiere.arena.matches import Results, play_many
from chatiere.bots import IntegerNetworkBot, Registry, trained
from chatiere.bots.loading import file_of
from chatiere.bots.network_file import NetworkFile
from chatiere.envs import TableEnv

from .support import TABLES, Host

SHIPPED = [("chat_perche", 2), ("discat", 2), ("momistigri", 3)]
FOLDER = Path(trained.__file__).with_name("networks")


def test_the_folder_contains_exactly_the_listed_networks() -> None:
    found = sorted(FOLDER.iterdir())
    assert [path.name for path in found] == [f"{game}-{players}.net.gz" for game, players in SHIPPED]
    assert sum(path.stat().st_size for path in found) < 1_500_000
    for game, players in SHIPPED:
        file = trained.trained(engine.game(game), players)
        assert isinstance(file, NetworkFile)
        file.require(engine.game(game), players)


@over(("game", "players"), SHIPPED)
def test_requests_and_programs_can_name_them_for_a_search(game: str, players: int) -> None:
    spec = "ismcts:simulations=20,net=trained"
    bot = Registry().get(spec, game, players)
    assert bot.is_reproducible
    decisions = Host(game, players, 20, 7).decisions(bot, np.arange(20))
    chosen = bot.choose(decisions).tolist()
    for other in (bots.get(spec, game, players), pickle.loads(pickle.dumps(bot))):
        assert other.choose(decisions).tolist() == chosen
    assert bots.get("ismcts:simulations=20", game, players).choose(decisions).tolist() != chosen


@over(("game", "players"), SHIPPED)
def test_each_network_by_itself_wins_nine_games_of_ten_against_random(game: str, players: int) -> None:
    seated = [bots.get("net:trained", game, players), bots.get("random", game, players)]
    results = Results.of(400, players, 2)
    with TableEnv(game, players, num_envs=400, games=400, observations=True) as env:
        for batch, _ in play_many(env, seated, 3):
            results.add(batch.ended)
    assert results.wins(0).mean() > 0.9


@over(("game", "players"), [table for table in TABLES if table not in SHIPPED])
def test_other_tables_have_no_trained_network(game: str, players: int) -> None:
    assert not trained.is_trained(engine.game(game), players)
    for get in (bots.get, Registry().get):
        message = f"^there is no trained network for {game} with {players} players$"
        with pytest.raises(ValueError, match=message):
            get("ismcts:net=trained", game, players)
    with pytest.raises(ValueError, match=message):
        bots.get("net:trained", game, players)


def test_programs_can_name_a_network_by_itself() -> None:
    bot = bots.get("net:trained:temperature=0.5", "discat", 2)
    assert isinstance(bot, IntegerNetworkBot)
    assert bots.split("net:trained:temperature=0.5,net:trained,largest")[1:] == ["net:trained", "largest"]
    assert file_of("net:trained") is None
    with pytest.raises(ValueError, match=r"^bot net:trained:depth=2: got an unexpected keyword argument 'depth'$"):
        bots.get("net:trained:depth=2", "discat", 2)
    with pytest.raises(ValueError, match=r"^unknown bot 'net' for discat"):
        Registry().get("net:trained", "discat", 2)
    with pytest.raises(ValueError, match=r"^bot net:trained: no such file: trained$"):
        Registry(["strong=net:trained"])


def test_no_other_bot_can_have_the_name() -> None:
    with pytest.raises(ValueError, match=re.escape("there is already a bot 'trained'")):
        Registry(["trained=chatiere.bots.random:RandomBot"])
