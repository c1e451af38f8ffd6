"""The host in TypeScript: made from what `chatiere protos` writes, it plays every game to its end."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from node_modules import install

from chatiere import engine
from chatiere.command import main
from chatiere.engine import Game

EXAMPLE = Path(__file__).parents[2] / "examples/typescript"
# What the README of the examples has the reader make.
MADE = ("api", "build", "generated", "node_modules")
TABLES = [
    pytest.param(game, players, id=f"{game.name} {players}")
    for game in engine.games()
    for players in range(game.min_players, game.max_players + 1)
]
REFUSED = re.compile(r"^refused \((ERROR_REASON_\w+) (\S*) at action\.\S+\), (\w\w): (.+)$", re.M)
OVER = re.compile(r"^over after (\d+) plies, (\d+) screens drawn", re.M)


def run(folder: Path, *command: str) -> str:
    # buf comes with the Python environment.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        command, cwd=folder, env=os.environ | {"PATH": path}, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the example, compiled."""
    modules = install(EXAMPLE)
    version = run(EXAMPLE, "node", "--version")
    if int(version[1:].split(".")[0]) < 20:
        pytest.skip(f"Node is too old: {version}")
    folder = tmp_path_factory.mktemp("example") / "typescript"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns(*MADE))
    (folder / "node_modules").symlink_to(modules)
    assert CliRunner().invoke(main, ["protos", str(folder / "api")]).exit_code == 0
    run(folder, "npm", "run", "generate")
    run(folder, "npm", "run", "build")
    return folder


@pytest.fixture(scope="module")
def played(built: Path, address: str) -> list[str]:
    """What it prints of each game."""
    return run(built, "npm", "--silent", "start", "--", address).split("\n=== ")[1:]


def test_it_plays_all_games_with_all_numbers_of_players(played: list[str]) -> None:
    titles = [text.splitlines()[0] for text in played]
    assert titles == [
        f"{game.english_title if players % 2 == 0 else game.french_title}, {players} players"
        for game, players in (table.values for table in TABLES)
    ]


@pytest.mark.parametrize(("game", "players"), TABLES)
class TestGame:
    @pytest.fixture
    def text(self, played: list[str], game: Game, players: int) -> str:
        index = next(index for index, table in enumerate(TABLES) if table.values == (game, players))
        return played[index]

    def test_it_ends_with_winners(self, text: str) -> None:
        (ending,) = re.findall(r"^the end, .*: totals ([-\d ]+), won by seat (.+)$", text, re.M)
        totals, winners = ending[0].split(), {int(seat) for seat in ending[1].split(" and ")}
        assert winners <= set(range(len(totals)))

    def test_every_screen_is_drawn_after_every_move(self, text: str, players: int) -> None:
        (ending,) = OVER.findall(text)
        plies, screens = map(int, ending)
        assert plies > 0
        assert screens == (plies + 1) * (players + 1)

    def test_refusals_are_in_two_languages(self, text: str) -> None:
        english, french = REFUSED.findall(text)
        assert (english[2], french[2]) == ("en", "fr")
        assert english[:2] == french[:2]
        assert english[3] != french[3]


def test_it_plays_one_table(built: Path, address: str) -> None:
    assert run(built, "npm", "--silent", "start", "--", address, "discat", "6").count("\n=== ") == 1


def test_a_wrong_address_is_an_error(built: Path) -> None:
    command = ["node", "build/src/main.js"]
    assert subprocess.run(command, cwd=built, capture_output=True, timeout=60).returncode == 2
