"""User-defined bots: programs and command lines can load them, but requests cannot."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tools.over import over_names

from chatiere import bots, engine
from chatiere.arena.matches import Results, play_many
from chatiere.bots import Bot, Decisions, Judgement, Registry, hosting
from chatiere.envs import TableEnv
from chatiere.envs.gymnasium import SeatEnv

from .support import GAMES, All, Host

AGENT = """\
from dataclasses import dataclass

from beside import PLACE
from chatiere.bots import Bot


@dataclass
class Sizes:
    depth: int


class Agent(Bot):
    title = "Last"
    description = "Plays the last legal action."
    is_reproducible = True

    def __init__(self, depth=1, weight=0.5, name=""):
        if depth < 1:
            raise ValueError("depth must be 1 or more")
        self.given = Sizes(depth), weight, name

    def choose(self, decisions):
        return decisions.legal_ids[decisions.legal_offsets[1:] - PLACE]


class Abstract(Bot):
    pass


class Needing(Bot):
    def __init__(self, weights):
        self.weights = weights

    def choose(self, decisions):
        return None


LIMIT = 3
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with mybot.py. After the test, remove all modules that were imported from it."""
    (tmp_path / "mybot.py").write_text(AGENT)
    (tmp_path / "beside.py").write_text("PLACE = 1\n")
    (tmp_path / "broken.py").write_text("import chatiere\n\nLIMIT = LIMIT + 1\n")
    (tmp_path / "unwritten.py").write_text("class Agent(:\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "beside", raising=False)
    return tmp_path


@pytest.fixture
def package(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install a package with two bots, one of which has an entry point that cannot be loaded."""
    information = folder / "theirs-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(
        "[chatiere.bots]\ntheirs = theirs_package:Agent\nlost = nowhere:Agent\nrandom = nowhere:Agent\n"
        "limit = mybot:LIMIT\n"
    )
    (folder / "theirs_package.py").write_text(AGENT)
    monkeypatch.syspath_prepend(folder)
    for module in ("theirs_package", "mybot"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    return folder


@over_names
def test_a_bot_in_a_file_plays(folder: Path, name: str) -> None:
    game = engine.game(name)
    seated = [bots.get(spec, name, game.min_players) for spec in ("mybot.py:Agent", "random")]
    results = Results.of(20, game.min_players, 2)
    with TableEnv(game.name, game.min_players, num_envs=20, games=20) as env:
        for batch, actions in play_many(env, seated, 7):
            results.add(batch.ended)
            own = (batch.game_numbers + batch.actors.astype(np.uint64)) % 2 == 0
            last = batch.legal_ids[batch.legal_offsets[1:] - 1] if len(batch) else actions
            assert (actions[own] == last[own]).all()
    assert (results.lengths > 0).all()


def test_a_bot_in_a_file_is_an_opponent(folder: Path) -> None:
    env = SeatEnv(game=GAMES[0], opponents="mybot.py:Agent:depth=2")
    _, info = env.reset(seed=1)
    over = False
    while not over:
        _, _, over, _, info = env.step(int(np.flatnonzero(info["action_mask"])[0]))
    with pytest.raises(ValueError, match=r"^opponents: bot mybot\.py:Nobody: mybot\.py has no Nobody; its bots: "):
        SeatEnv(game=GAMES[0], opponents="mybot.py:Nobody")


def test_parameters_are_numbers_or_text(folder: Path) -> None:
    for source in ("mybot.py", f"{folder}/mybot.py", "./mybot.py"):
        bot = bots.get(f"{source}:Agent:depth=3,weight=1e-2,name=a:b=c", GAMES[0], 2)
        sizes, weight, name = bot.given  # type: ignore[attr-defined]
        assert (sizes.depth, weight, name) == (3, 0.01, "a:b=c")
        assert type(bot) is type(bots.get("mybot.py:Agent", GAMES[0], 2))
    listed = "random,mybot.py:Agent:depth=3,name=x,mybot.py:Agent"
    assert bots.split(listed) == ["random", "mybot.py:Agent:depth=3,name=x", "mybot.py:Agent"]


def test_bots_are_found_in_modules_and_by_entry_points(package: Path) -> None:
    for spec in ("theirs_package:Agent", "theirs_package:Agent:depth=2", "theirs", "theirs:depth=2"):
        bot = bots.get(spec, GAMES[0], 2)
        assert type(bot).__module__ == "theirs_package"
        assert bot.given[0].depth == (2 if "=" in spec else 1)  # type: ignore[attr-defined]
    assert bots.names(GAMES[0])[-3:] == ["limit", "lost", "theirs"]
    # Names of the package's own bots take precedence.
    assert type(bots.get("random", GAMES[0], 2)).__module__ == "chatiere.bots.random"
    with pytest.raises(
        ValueError, match=r"^unknown bot 'their' for .*, lost, theirs; one of your own is FILE\.py:CLASS"
    ):
        bots.get("their", GAMES[0], 2)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("nofile.py:Agent", "bot nofile.py:Agent: no such file: nofile.py"),
        ("beside.py:Agent", "bot beside.py:Agent: beside.py has no Agent; its bots: none"),
        ("mybot.py:agent", "bot mybot.py:agent: mybot.py has no agent; its bots: Agent, "),
        ("mybot.py:LIMIT", "bot mybot.py:LIMIT: LIMIT is not a subclass of chatiere.bots.Bot"),
        ("mybot.py:Sizes", "bot mybot.py:Sizes: Sizes is not a subclass of chatiere.bots.Bot"),
        ("mybot.py:Abstract", "bot mybot.py:Abstract: Abstract does not define choose"),
        ("mybot.py:Needing", "bot mybot.py:Needing: missing a required argument: 'weights'"),
        ("mybot.py:Agent:dept=3", "bot mybot.py:Agent:dept=3: got an unexpected keyword argument 'dept'"),
        ("mybot.py:Agent:depth", "bot mybot.py:Agent:depth: 'depth' is not NAME=VALUE"),
        ("mybot.py:Agent:", "bot mybot.py:Agent:: '' is not NAME=VALUE"),
        ("mybot.py:Agent:depth=1,depth=2", "bot mybot.py:Agent:depth=1,depth=2: depth is given twice"),
        (
            "mybot.py:Agent:depth=0",
            "bot mybot.py:Agent:depth=0 cannot be made: ValueError: depth must be 1 or more (mybot.py, line 19)",
        ),
        (
            "broken.py:Agent",
            "bot broken.py:Agent: broken.py cannot be loaded: NameError: name 'LIMIT' is not defined "
            "(broken.py, line 3)",
        ),
        ("nowhere:Agent", "bot nowhere:Agent: no such module: nowhere; a class in a file is FILE.py:CLASS"),
        ("chatiere.nowhere:Agent", "bot chatiere.nowhere:Agent: no such module: chatiere.nowhere"),
        ("os:system", "bot os:system: system is not a subclass of chatiere.bots.Bot"),
        ("lost", "bot lost: nowhere:Agent cannot be loaded: ModuleNotFoundError: No module named 'nowhere'"),
        ("limit", "bot limit: mybot:LIMIT is not a subclass of chatiere.bots.Bot"),
    ],
)
@pytest.mark.usefixtures("package")
def test_invalid_bots_are_refused(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=r"^bot ") as raised:
        bots.get(spec, GAMES[0], 2)
    assert str(raised.value).startswith(message)
    assert "\n" not in str(raised.value)


@pytest.mark.usefixtures("folder")
def test_a_file_that_is_not_python_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"^bot unwritten\.py:Agent: unwritten\.py cannot be loaded: SyntaxError: .*line 1\)$"
    ):
        bots.get("unwritten.py:Agent", GAMES[0], 2)


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize(
    "spec", ["os:system", "mybot.py:Agent", "./mybot.py:Agent", "theirs_package:Agent", "theirs", "agent:depth=3"]
)
def test_a_registry_does_not_load_bots_that_were_not_added(spec: str) -> None:
    before = set(sys.modules)
    for registry in (Registry(), Registry(["agent=mybot.py:Agent"])):
        with pytest.raises(ValueError, match=r"^(unknown bot '|bot agent: unknown parameter 'depth'; it has none$)"):
            registry.get(spec, GAMES[0], 2)
    assert "theirs_package" not in set(sys.modules) - before


@pytest.mark.usefixtures("package")
def test_added_bots_have_the_given_names() -> None:
    registry = Registry(["agent=mybot.py:Agent:depth=3", "theirs", "other=theirs:depth=2"])
    for name in GAMES:
        players = engine.game(name).min_players
        assert registry.names(name) == [*Registry().names(name), "agent", "theirs", "other"]
        info = registry.infos(name)[-3]
        assert (info.title, info.description, info.parameters, info.seconds) == (
            "Last",
            "Plays the last legal action.",
            (),
            None,
        )
        made = [registry.get(bot, name, players) for bot in ("agent", "theirs", "other")]
        assert [bot.given[0].depth for bot in made] == [3, 1, 2]  # type: ignore[attr-defined]
        # Each bot is created only once.
        assert registry.get("agent", name, players) is made[0]
    assert (registry.is_added("agent"), registry.is_added("random")) == (True, False)


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize(
    ("added", "message"),
    [
        (["Agent=mybot.py:Agent"], "the name of a bot to add must be of lower-case letters, digits and _, not 'Agent'"),
        (["mybot.py:Agent"], "the name of a bot to add must be of lower-case letters, digits and _, not 'mybot.py:Ag"),
        (["=mybot.py:Agent"], "the name of a bot to add must be of lower-case letters, digits and _, not ''"),
        (["random=mybot.py:Agent"], "there is already a bot 'random'"),
        (["largest=mybot.py:Agent"], "there is already a bot 'largest'"),
        (["agent=mybot.py:Agent", "agent=theirs"], "there is already a bot 'agent'"),
        (["agent=nofile.py:Agent"], "bot nofile.py:Agent: no such file: nofile.py"),
        (["agent=os:system"], "bot os:system: system is not a subclass of chatiere.bots.Bot"),
        (["agent=random"], "a bot to add must be NAME=FILE.py:CLASS, "),
        (["their"], "a bot to add must be NAME=FILE.py:CLASS, "),
        ([""], "the name of a bot to add must be "),
    ],
)
def test_invalid_additions_are_refused(added: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=r"^(the name|there|bot|a bot) ") as raised:
        Registry(added)
    assert str(raised.value).startswith(message)


@pytest.mark.usefixtures("folder")
def test_a_bot_that_returns_no_actions_is_named() -> None:
    bot = bots.get("mybot.py:Needing:weights=1", GAMES[0], 2)
    position = engine.game(GAMES[0]).new_game(2, seed=1)
    with pytest.raises(bots.BotError, match=r"^Needing must choose integers of the shape \(1,\), not object \(\)$"):
        hosting.judge(bot, hosting.decisions_at(position, bot, 5))


class Judging(Bot):
    """A bot that returns a given action and given ratings."""

    def __init__(self, action: int, **ratings: Any) -> None:
        self.action = action
        self.ratings = {"values": np.empty(0), "shares": np.empty(0)} | ratings

    def choose(self, decisions: Decisions) -> Any:
        return np.full(len(decisions), self.action)

    def judge(self, decisions: Decisions) -> Any:
        return Judgement(self.choose(decisions), **self.ratings)


def illegally(action: int, row: int) -> Any:
    return pytest.raises(bots.BotError, match=rf"^Judging chose action {action} for seat . at decision {row} of 8, ")


@pytest.mark.parametrize("action", [-1, 199, 2**16, 2**16 + 3, 2**63 - 1])
def test_a_bot_that_chooses_an_unknown_action_is_named(action: int) -> None:
    decisions = Host("discat", 2, 8, seed=1).decisions(Judging(action), range(8))
    for ask in (hosting.choose, hosting.judge):
        with illegally(action, 0):
            ask(Judging(action), decisions)


def test_a_bot_that_chooses_an_illegal_action_is_named() -> None:
    host = Host("discat", 2, 8, seed=1)
    host.step(host.choose(All(), range(8)))
    mask = host.decisions(Judging(0), range(8)).legal_mask()
    mixed = int(np.flatnonzero(mask.any(axis=0) & ~mask.all(axis=0))[0])
    with illegally(mixed, int(np.argmin(mask[:, mixed]))):
        hosting.choose(Judging(mixed), host.decisions(Judging(mixed), range(8)))
    chosen = hosting.choose(Judging(mixed), host.decisions(Judging(mixed), [int(np.argmax(mask[:, mixed]))]))
    assert chosen.dtype == np.uint16
    assert chosen.tolist() == [mixed]


def test_ratings_have_a_number_for_each_legal_action() -> None:
    position = engine.game("discat").new_game(2, seed=1)
    action, count = position.legal_actions()[0], len(position.legal_actions())
    for name in ("values", "shares"):
        for wrong in (np.zeros(count + 1), np.zeros((1, count)), np.full(count, "0.5")):
            bot = Judging(action, **{name: wrong})
            message = rf"^{name} of Judging must be numbers of the shape \({count},\), or none, not "
            with pytest.raises(bots.BotError, match=message):
                hosting.judge(bot, hosting.decisions_at(position, bot, 5))
        right = Judging(action, **{name: [0.5] * count})
        judgement = hosting.judge(right, hosting.decisions_at(position, right, 5))
        assert getattr(judgement, name).tolist() == [0.5] * count
    right.judge = lambda _: None  # type: ignore[method-assign, assignment]
    with pytest.raises(bots.BotError, match=r"^judge of Judging must return a Judgement, not None$"):
        hosting.judge(right, hosting.decisions_at(position, right, 5))


def test_bots_are_reproducible_only_if_they_declare_it() -> None:
    for name in GAMES:
        for bot in bots.names(name):
            assert bots.get(bot, name, engine.game(name).min_players).is_reproducible
    assert not bots.get("ismcts:milliseconds=1", GAMES[0], 2).is_reproducible
    assert not bots.Bot.is_reproducible
