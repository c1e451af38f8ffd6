"""Bots that the operator added: callers can name these and the package's bots, but cannot load code."""

from pathlib import Path
from typing import Any

import pytest
from tables.support import Host

from chatiere import bots
from chatiere.engine import Game
from chatiere.service.base.errors import Refusal
from chatiere.service.base.settings import SettingError, Settings
from chatiere.v1 import bot_service_pb2 as pb
from chatiere.v1 import table_service_pb2

from .support import Door, refusal, running
from .test_service_bots import begun, bot_stub

AGENT = """\
from chatiere.bots import Bot


class Agent(Bot):
    is_reproducible = True

    def __init__(self, place=0):
        self.place = place

    def choose(self, decisions):
        return decisions.legal_ids[decisions.legal_offsets[:-1] + self.place]


class Timed(Agent):
    is_reproducible = False


class Searching(Agent):
    budget = 50
"""
# Names that a request might try. `mybot.py` is in the server's folder.
CODE = ["os:system", "mybot.py:Agent", "./mybot.py:Agent", "mybot:Agent", "theirs", "theirs:place=0"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the server's folder. It has a bot in a file. A package with another bot is installed but not added."""
    (tmp_path / "mybot.py").write_text(AGENT)
    information = tmp_path / "theirs-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text("[chatiere.bots]\ntheirs = mybot:Agent\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def settings(*added: str, **others: Any) -> Settings:
    return Settings(address="127.0.0.1:0", bots=added, **others)


@pytest.mark.usefixtures("folder")
def test_callers_can_list_and_use_added_bots(door: Door, game: Game) -> None:
    assert "theirs" in bots.names(game)
    with running(settings("agent=mybot.py:Agent", "searching=mybot.py:Searching"), door) as server:
        stub = bot_stub(server.channel)
        listed = stub.ListBots(pb.ListBotsRequest(game=game.name)).bots
        assert [bot.name for bot in listed] == [*(bot.name for bot in bots.infos(game)), "agent", "searching"]
        assert (listed[-1].title, listed[-1].description, list(listed[-1].parameters)) == ("searching", "", [])
        position = begun(server.stub, game)
        found = stub.Suggest(pb.SuggestRequest(state=position.state, bot="agent"))
        assert found.action == position.legal_actions[0]
        for bot in [*CODE, "agent:place=1"]:
            refused = refusal(stub.Suggest, pb.SuggestRequest(state=position.state, bot=bot))
            assert (refused.reason, refused.field) == ("INVALID_BOT", "bot")
            name = bot.partition(":")[0]
            told = "bot agent: unknown parameter" if name == "agent" else f"unknown bot {name!r} for {game.name}; "
            assert refused.message.startswith(f"bot: {told}")


@pytest.mark.usefixtures("folder")
def test_an_entry_point_is_available_if_it_is_named(game: Game) -> None:
    with running(settings("theirs")) as server:
        state = begun(server.stub, game).state
        assert bot_stub(server.channel).Suggest(pb.SuggestRequest(state=state, bot="theirs")).action


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("added", "words"),
    [
        ("agent=nofile.py:Agent", "no such file: nofile.py"),
        ("agent=os:system", "system is not a subclass of chatiere.bots.Bot"),
        ("agent=mybot.py:Agent:plaice=1", "got an unexpected keyword argument 'plaice'"),
        ("random=mybot.py:Agent", "there is already a bot 'random'"),
        ("Agent=mybot.py:Agent", "must be of lower-case letters"),
    ],
)
def test_a_bot_that_cannot_be_added_stops_the_start(added: str, words: str) -> None:
    with pytest.raises(SettingError, match=f"^bots: .*{words}"), running(settings(added)):
        pass


def seats_with(bot: str, players: int) -> list[table_service_pb2.TableSeat]:
    return [table_service_pb2.TableSeat(bot=bot), *([table_service_pb2.TableSeat()] * (players - 1))]


@pytest.mark.usefixtures("folder")
def test_a_bot_at_a_sealed_table_declares_itself_reproducible(game: Game) -> None:
    added = ("agent=mybot.py:Agent", "timed=mybot.py:Timed", "searching=mybot.py:Searching")
    host = Host(settings=settings(*added))

    def new_table(bot: str) -> bytes:
        none = table_service_pb2.ACKNOWLEDGEMENT_NONE
        players = game.min_players
        found = host.new_table(game=game.name, players=players, seats=seats_with(bot, players), acknowledgement=none)
        return found.table

    for bot in ("agent", "searching"):
        assert new_table(bot)
    for bot, words in [("timed", "needs to declare itself reproducible, not 'timed'"), *((bot, "") for bot in CODE)]:
        with pytest.raises(Refusal) as raised:
            new_table(bot)
        assert (raised.value.reason.name, raised.value.field) == ("INVALID_BOT", "seats[0].bot")
        assert (words or f"unknown bot {bot.partition(':')[0]!r}") in str(raised.value)
