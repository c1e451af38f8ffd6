"""The API definition compiles in other languages, and the hosts in examples/ play all games with it.

Each host is built with the three commands of its README. Tests whose tools are not installed are skipped with a reason.
"""

import compileall
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from google.rpc import error_details_pb2
from grpc_status import rpc_status
from service.support import Running, game_stub, running
from tools.needs import require
from tools.node_modules import install

from chatiere import engine
from chatiere.v1 import game_pb2, game_service_pb2

EXAMPLES = Path(__file__).parents[2] / "examples"
# The tools that each host's commands need, and the host's program.
HOSTS = {
    "cpp": ("protoc grpc_cpp_plugin pkg-config g++ make", "play.cpp"),
    "go": ("protoc protoc-gen-go protoc-gen-go-grpc go", "play.go"),
    "java": ("protoc grpc_java_plugin javac java", "Play.java"),
    "typescript": ("node npm", "src/play.ts"),
}
# The programs that a bot's commands need, by a part of its command in examples/bots/README.md.
BOTS = {"highest.py": "", "highest.js": "node", "highest-go": "go", "highest-cpp": "g++"}
# Languages for which only code is generated: the options of protoc, and a file that it must write.
GENERATED = {
    "C#": ("--csharp_out=.", "GameService.cs"),
    "Kotlin": ("--java_out=. --kotlin_out=.", "io/github/chatiere/v1/DiscatStateKt.kt"),
    "Objective-C": ("--objc_out=.", "chatiere/v1/Game.pbobjc.m"),
    "PHP": ("--php_out=.", "Chatiere/V1/DiscatState.php"),
    "Python": ("--python_out=. --pyi_out=.", "chatiere/v1/game_pb2.py"),
    "Ruby": ("--ruby_out=.", "chatiere/v1/game_pb.rb"),
}
# The timeout in seconds. It is generous, because compilers may share a slow machine with other jobs.
MINUTES = 20 * 60
SEED = 7

pytestmark = pytest.mark.languages


def run(folder: Path, command: str) -> str:
    """Run a shell command. The path contains the package's own commands and, if it is installed, ccache."""
    path = os.pathsep.join([str(Path(sys.executable).parent), "/usr/lib/ccache", os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-ec", command],
        cwd=folder,
        env=os.environ | {"PATH": path, "GOCACHE": str(EXAMPLES.parent / "build/go")},
        capture_output=True,
        text=True,
        timeout=MINUTES,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}{done.stderr[-4000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with running() as server:
        yield server


def commands(host: str) -> list[list[str]]:
    """Return the commands of a README, as one list for each code block."""
    found = re.findall(r"^```sh\n(.*?)^```$", (EXAMPLES / host / "README.md").read_text("utf-8"), re.M | re.S)
    return [block.splitlines() for block in found]


@pytest.fixture(scope="module", params=HOSTS)
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """Build a host with the commands of its README. Return the host's name and the folder."""
    host = request.param
    tools, _ = HOSTS[host]
    require(*tools.split())
    folder = tmp_path_factory.mktemp("examples") / host
    made = ("api", "build", "classes", "generated", "gopath", "node_modules", "play", "*.o")
    shutil.copytree(EXAMPLES / host, folder, ignore=shutil.ignore_patterns(*made))
    build, _ = commands(host)
    if (folder / "package.json").exists():
        (folder / "node_modules").symlink_to(install(folder))
        build.remove("npm ci")
    for command in build:
        run(folder, command)
    return host, folder


@pytest.mark.parametrize("host", HOSTS)
def test_a_host_is_one_small_program_that_three_commands_build(host: str) -> None:
    _, program = HOSTS[host]
    assert len((EXAMPLES / host / program).read_text("utf-8").splitlines()) < 120
    build, play = commands(host)
    assert (len(build), len(play)) == (3, 1)


def played(server: Running, language: str) -> list[str]:
    """Play the same games in Python and return the expected output of a host."""
    include = game_pb2.Include(legal_actions=True, score=True)
    metadata = [("accept-language", language)]
    stub = game_stub(server.channel)
    lines = []
    for info in stub.ListGames(game_service_pb2.ListGamesRequest()).games:
        lines.append(f"=== {info.name}, {info.min_players} players")
        wanted = game_service_pb2.NewGameRequest(game=info.name, players=info.min_players, seed=SEED, include=include)
        position = stub.NewGame(wanted, metadata=metadata).position
        lines += [event.label for event in position.events]
        is_refused = False
        while not position.HasField("end"):
            index = 7919 * position.ply % len(position.legal_actions)
            action = position.legal_actions[index]
            lines.append(f"> {action.label} (of {len(position.legal_actions)})")
            move = game_service_pb2.ApplyRequest(state=position.state, action=action, include=include)
            position = stub.Apply(move, metadata=metadata).position
            if not is_refused:
                move.state.CopyFrom(position.state)
                try:
                    stub.Apply(move, metadata=metadata)
                except grpc.RpcError as error:
                    lines.append(f"refused: {sentence(error)}")
                    is_refused = True
            lines += [event.label for event in position.events]
        totals, winners = position.score.totals, position.score.winners
        won = f"totals {' '.join(map(str, totals))}, won by seat {' and '.join(map(str, winners))}"
        lines.append(f"{position.end.label}: {won}")
    return lines


def sentence(error: grpc.RpcError) -> str:
    status = rpc_status.from_call(error)
    text, info = error_details_pb2.LocalizedMessage(), error_details_pb2.ErrorInfo()
    assert any(detail.Unpack(text) for detail in status.details)
    assert any(detail.Unpack(info) for detail in status.details)
    return f"{text.message} ({info.reason})"


@pytest.mark.parametrize("language", ["en", "fr"])
def test_a_host_plays_all_games(built: tuple[str, Path], server: Running, language: str) -> None:
    host, folder = built
    _, (play,) = commands(host)
    assert play.endswith(" 127.0.0.1:50051")
    printed = run(folder, f"{play.replace('127.0.0.1:50051', server.address)} {language}").splitlines()
    expected = played(server, language)
    assert printed == expected
    starts = [line.split()[0] for line in printed]
    assert starts.count("===") == starts.count("refused:") == len(engine.games())


def test_the_games_are_those_in_the_readme(server: Running) -> None:
    text = (EXAMPLES / "README.md").read_text("utf-8").partition("## Four languages\n")[2]
    shown = re.findall(r"^```\n(.*?)^```$", text, re.M | re.S)[0].splitlines()
    lines = iter(played(server, "en"))
    assert len(shown) > 3
    assert [line for line in shown if line not in lines] == []


@pytest.mark.parametrize("language", GENERATED)
def test_code_is_generated(language: str, tmp_path: Path) -> None:
    require("protoc")
    options, expected = GENERATED[language]
    run(tmp_path, "chatiere protos api")
    run(tmp_path, f"protoc --descriptor_set_in=api/descriptors.binpb {options} $(cd api && ls */*/*.proto)")
    assert (tmp_path / expected).stat().st_size > 0
    assert compileall.compile_dir(tmp_path, quiet=1)


@pytest.mark.parametrize("bot", BOTS)
def test_a_bot_plays_every_game_by_the_line_protocol(tmp_path: Path, bot: str) -> None:
    require(*BOTS[bot].split())
    pytest.importorskip("openskill")
    shutil.copytree(EXAMPLES / "bots", tmp_path / "bots")
    ((play, *others),) = commands("bots")
    (play,) = [command for command in (play, *others) if bot in command]
    outputs = {run(tmp_path / "bots", play.replace("discat", game.name)) for game in engine.games()}
    assert len(outputs) == len(engine.games())


@pytest.mark.parametrize("program", sorted(EXAMPLES.glob("bots/highest.*")), ids=lambda path: path.name)
def test_a_bot_has_at_most_forty_lines(program: Path) -> None:
    assert len(program.read_text("utf-8").splitlines()) <= 40
