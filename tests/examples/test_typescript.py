"""The host in TypeScript: built from the output of `chatiere protos`, it plays every game to its end."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from tools.node_modules import install
from tools.over import each

from chatiere import engine
from chatiere.command import main
from chatiere.engine.core.game_info import game_info

pytestmark = pytest.mark.long

EXAMPLE = Path(__file__).parents[2] / "examples/typescript"
# The folders that readers of the example's README create.
MADE = ("api", "build", "generated", "node_modules")
# The games and numbers of players in the order in which the host plays them.
TABLES = [(game, players) for game in engine.games() for players in range(game.min_players, game.max_players + 1)]
REFUSED = re.compile(r"^refused \((\w+) (\S*) at action\.\S+\), (\w\w): (.+)$", re.M)


def run(folder: Path, *command: str) -> str:
    # The Python environment contains buf.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        command, cwd=folder, env=os.environ | {"PATH": path}, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the example and compile it."""
    modules = install(EXAMPLE)
    folder = tmp_path_factory.mktemp("example") / "typescript"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns(*MADE))
    (folder / "node_modules").symlink_to(modules)
    assert CliRunner().invoke(main, ["protos", str(folder / "api")]).exit_code == 0
    run(folder, "npm", "run", "generate")
    run(folder, "npm", "run", "build")
    return folder


@pytest.fixture(scope="module")
def played(built: Path, address: str) -> list[str]:
    """Return the host's output for each game."""
    return run(built, "npm", "--silent", "start", "--", address).split("\n=== ")[1:]


@pytest.mark.slow
def test_the_host_plays_all_games_with_all_numbers_of_players(played: list[str]) -> None:
    titles = [text.splitlines()[0] for text in played]
    assert titles == [
        f"{game_info(game, 'fr' if players % 2 else 'en')['title']}, {players} players" for game, players in TABLES
    ]


@pytest.fixture(params=each("table", range(len(TABLES))), ids=[f"{game.name} {players}" for game, players in TABLES])
def table(request: pytest.FixtureRequest, played: list[str]) -> tuple[int, str]:
    """Return the number of players and the output for a game."""
    return TABLES[request.param][1], played[request.param]


@pytest.mark.slow
def test_every_game_ends_with_winners(table: tuple[int, str]) -> None:
    players, text = table
    ((totals, winners),) = re.findall(r"^the end, .*: totals ([-\d ]+), won by seat (.+)$", text, re.M)
    assert len(totals.split()) == players
    assert {int(seat) for seat in winners.split(" and ")} <= set(range(players))


@pytest.mark.slow
def test_every_screen_is_drawn_after_every_move(table: tuple[int, str]) -> None:
    players, text = table
    ((plies, screens),) = re.findall(r"^over after (\d+) plies, (\d+) screens drawn", text, re.M)
    assert int(plies) > 0
    assert int(screens) == (int(plies) + 1) * (players + 1)


@pytest.mark.slow
def test_the_end_has_a_reason(table: tuple[int, str]) -> None:
    assert re.search(r"^over after .* screens drawn: \S+", table[1], re.M)


@pytest.mark.slow
def test_refusals_are_in_two_languages(table: tuple[int, str]) -> None:
    english, french = REFUSED.findall(table[1])
    assert (english[2], french[2]) == ("en", "fr")
    assert english[:2] == french[:2]
    assert english[3] != french[3]


def test_the_host_plays_one_table(built: Path, address: str) -> None:
    assert run(built, "npm", "--silent", "start", "--", address, "discat", "6").count("\n=== ") == 1


def test_a_missing_address_prints_the_usage(built: Path) -> None:
    command = ["node", "build/src/main.js"]
    done = subprocess.run(command, cwd=built, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (2, "usage: node build/src/main.js HOST:PORT [GAME [PLAYERS]]\n")
