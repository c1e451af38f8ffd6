"""chatiere selfplay."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyarrow import parquet
from tools.over import over_names, over_tables

from chatiere import bots, engine
from chatiere.arena.matches import wilson_interval
from chatiere.command import selfplay
from chatiere.selfplay.cluster import TaskError
from chatiere.selfplay.shard_file import GameRange

from .conftest import Run

ROOT = Path(__file__).parents[2]
GAMES = [game.name for game in engine.games()]
# Bots without a budget.
SIMPLE = {name: [bot for bot in bots.names(name) if bot not in ("flat", "ismcts")] for name in GAMES}
PROGRAMS = re.findall(
    r"^```python\n(.*?)^```$", (ROOT / "docs/selfplay.md").read_text("utf-8"), re.MULTILINE | re.DOTALL
)
WINS = re.compile(
    r"([\w:=,]+): wins ([\d.]+)% of ([\d,]+) games \(95 % interval ([\d.]+)% to ([\d.]+)%\); "
    r"its share of the seats is ([\d.]+)%"
)


def without_time(output: str) -> str:
    return re.sub(r" in [\d.]+ s \([\d,]+ per second\)", "", output)


def hash_of(directory: Path) -> str:
    hashed: str = json.loads((directory / "manifest.json").read_text())["hash"]
    return hashed


@over_tables
def test_the_report_matches_the_games(run: Run, tmp_path: Path, name: str, players: int) -> None:
    names = [*SIMPLE[name], "random"]
    asked = ("--game", name, "--players", players, "--bots", ",".join(names), "--games", 60)
    result = run("selfplay", *asked, "--output", tmp_path / "games", "--shard", 25)
    assert result.exit_code == 0, result.stderr
    first, second, *wins, last = result.stdout.splitlines()
    assert last == f"written to {tmp_path / 'games'}; the games' hash is {hash_of(tmp_path / 'games')}"
    assert without_time(run("selfplay", *asked).stdout).splitlines() == [without_time(first), second, *wins]
    ends = {row["game"]: row for row in parquet.read_table(tmp_path / "games" / "games").to_pylist()}
    lengths = [ends[game]["ply"] + 1 for game in range(60)]
    assert first.startswith(f"{name}, {players} players: 60 games, {sum(lengths):,} decisions in ")
    assert re.search(r" in [\d.]+ s \([\d,]+ per second\)$", first)
    ordered = sorted(lengths)
    assert second == (
        f"decisions per game: mean {np.mean(lengths):.1f}, median {ordered[29]}, "
        f"90 % from {ordered[2]} to {ordered[56]}, shortest {ordered[0]}, longest {ordered[-1]}"
    )
    assert len(wins) == len(names)
    for number, line in enumerate(wins):
        found = WINS.fullmatch(line)
        assert found is not None, line
        seats = {game: [seat for seat in range(players) if (game + seat) % len(names) == number] for game in range(60)}
        sat = [game for game in range(60) if seats[game]]
        shares = [sum((ends[game]["returns"][seat] + 1) / players for seat in seats[game]) for game in sat]
        low, high = wilson_interval(float(np.mean(shares)), len(sat))
        assert found[1] == names[number]
        assert int(found[3]) == len(sat)
        figures = [100 * np.mean(shares), 100 * low, 100 * high]
        assert [float(found[group]) for group in (2, 4, 5)] == pytest.approx(figures, abs=0.06)
        share = sum(map(len, seats.values())) / (players * len(sat))
        assert float(found[6]) == pytest.approx(100 * share, abs=0.06)


@over_names
def test_the_same_seed_gives_the_same_games_with_any_batching(
    run: Run, address: str, tmp_path: Path, name: str
) -> None:
    def games(number: int, *arguments: object) -> tuple[str, str]:
        directory = tmp_path / str(number)
        printed = run("selfplay", "--game", name, "--games", 15, "--output", directory, *arguments).stdout
        return without_time(printed).replace(str(directory), "DIR"), hash_of(directory)

    first = games(0, "--seed", 1)
    for number, arguments in enumerate(
        (("--batch", 3), ("--address", address), ("--address", address, "--batch", 2, "--in-flight", 3)), 1
    ):
        assert games(number, *arguments) == first
    assert games(9, "--seed", 2)[1] != first[1]


@over_tables
def test_games_are_replayed_from_the_data_set_as_documented(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, players: int
) -> None:
    (program,) = (code for code in PROGRAMS if "new_game" in code)
    monkeypatch.chdir(tmp_path)
    asked = ("--game", name, "--players", players, "--games", 8, "--seed", 2**64 - 1)
    assert run("selfplay", *asked, "--shard", 3, "--output", "games").exit_code == 0
    replayed: dict[str, Any] = {}
    exec(compile(program, "selfplay.md", "exec"), replayed)
    assert (replayed["rules"].name, replayed["number"]) == (name, 7)
    assert replayed["position"].num_players() == players


def test_games_at_a_service_are_the_same(run: Run, address: str) -> None:
    asked = ("--game", GAMES[0], "--games", 5)
    own = run("selfplay", *asked)
    assert own.exit_code == 0
    assert without_time(own.stdout) == without_time(run("selfplay", *asked, "--address", address).stdout)


def test_an_interrupted_run_is_resumed(run: Run, tmp_path: Path) -> None:
    asked = ("selfplay", "--game", GAMES[0], "--games", 10, "--shard", 4, "--output", tmp_path)
    whole = run(*asked).stdout
    (tmp_path / "games" / "000000000004.parquet").unlink()
    *report, kept, last = run(*asked).stdout.splitlines()
    assert kept == "6 games existed already"
    assert without_time("\n".join([*report, last])) == without_time(whole.rstrip())
    assert run(*asked).stdout.splitlines()[-2:] == ["10 games existed already", last]
    other = run(*asked, "--seed", 2)
    assert other.exit_code == 2
    assert "manifest.json has a different seed: 1, not 2\n" in other.stderr


def test_a_data_set_is_verified(run: Run, tmp_path: Path) -> None:
    directory = tmp_path / "out"
    run("selfplay", "--game", GAMES[0], "--games", 10, "--shard", 4, "--output", directory)
    decisions = parquet.read_table(directory / "games").num_rows
    result = run("verify-data", directory)
    assert (result.exit_code, result.stderr) == (0, "")
    told = f"{directory}: {decisions:,} decisions, all unchanged; the games' hash is {hash_of(directory)}\n"
    assert result.stdout == told
    shard = directory / "games" / "000000000004.parquet"
    shard.write_bytes(shard.read_bytes()[:-1])
    (directory / "games" / "000000000008.parquet").unlink()
    result = run("verify-data", directory)
    assert (result.exit_code, result.stdout) == (1, "")
    first, second = result.stderr.splitlines()
    assert first.startswith(f"{shard} is not a Parquet file: ")
    assert second == f"games 8 to 9 are missing in {directory}"
    result = run("verify-data", tmp_path)
    assert (result.exit_code, "manifest.json" in result.stderr) == (2, True)
    assert run("verify-data", tmp_path / "none").exit_code == 2


def test_a_directory_that_cannot_be_written_is_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for output in (tmp_path / "file", tmp_path / "file" / "below", tmp_path):
        result = run("selfplay", "--game", GAMES[0], "--games", 5, "--output", output)
        assert result.exit_code == 2
        assert str(output) in result.stderr


def test_on_a_cluster_the_games_go_to_the_data_set(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A cluster that plays in this process. tests/clients/test_selfplay_cluster.py has real clusters.
    reached = []

    @contextmanager
    def cluster(address: str) -> Iterator[None]:
        reached.append(address)
        yield

    def play_on_ray(play: Callable[[GameRange], bytes], ranges: list[GameRange]) -> Iterator[tuple[GameRange, bytes]]:
        if reached == ["no:1"]:
            raise TaskError("games 0 to 3 failed")
        return ((games, play(games)) for games in reversed(ranges))

    monkeypatch.setattr(selfplay, "cluster", cluster)
    monkeypatch.setattr(selfplay, "play_on_ray", play_on_ray)
    asked = ("selfplay", "--game", GAMES[0], "--games", 10, "--shard", 4)
    failed = run(*asked, "--output", tmp_path / "ray", "--ray", "no:1")
    assert (failed.exit_code, failed.stderr.splitlines()[-1]) == (2, "Error: games 0 to 3 failed")
    assert run(*asked, "--output", tmp_path / "ray", "--ray", "local").exit_code == 0
    assert run(*asked, "--output", tmp_path / "one").exit_code == 0
    assert hash_of(tmp_path / "ray") == hash_of(tmp_path / "one")
    assert reached == ["no:1", "local"]


def test_a_cluster_without_a_directory_is_refused(run: Run) -> None:
    result = run("selfplay", "--game", GAMES[0], "--ray", "local")
    assert result.exit_code == 2
    assert "--ray needs --output" in result.stderr


AGENT = """\
from chatiere.bots import Bot


class Agent(Bot):
    is_reproducible = True

    def choose(self, decisions):
        return decisions.legal_ids[decisions.legal_offsets[1:] - 1]


class Timed(Agent):
    is_reproducible = False
"""


def test_a_custom_bot_plays_or_is_named_in_the_error(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mybot.py").write_text(AGENT)
    asked = ("selfplay", "--game", GAMES[0], "--games", 10, "--output", "own")
    result = run(*asked, "--bots", "mybot.py:Agent,random")
    assert result.exit_code == 0, result.stderr
    assert "mybot.py:Agent: wins " in result.stdout
    for row in parquet.read_table("own/games").to_pylist():
        if (row["game"] + row["actor"]) % 2 == 0:
            assert row["action"] == row["legal_ids"][-1]
    for bot, words in [
        (
            "mybot.py:Timed",
            "bot 'mybot.py:Timed' is not reproducible: it has a budget in milliseconds, or ",
        ),
        ("mybot.py:Nobody", "bot mybot.py:Nobody: mybot.py has no Nobody"),
    ]:
        result = run(*asked, "--bots", bot)
        assert result.exit_code == 2
        assert f"Error: {words}" in result.stderr


def test_without_a_terminal_there_is_no_progress_bar(run: Run, tmp_path: Path) -> None:
    for more in ((), ("--output", tmp_path)):
        result = run("selfplay", "--game", GAMES[0], "--games", 2, *more)
        assert (result.exit_code, result.stderr) == (0, "")


def test_an_exploration_is_part_of_the_recipe(run: Run, tmp_path: Path) -> None:
    given = ("--random-plies", 2, "--temperature", 0.5, "--temperature-plies", 9)
    result = run("selfplay", "--game", "discat", "--games", 3, *given, "--output", tmp_path)
    assert result.exit_code == 0, result.stderr
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["exploration"] == {"random_plies": 2, "temperature": 0.5, "temperature_plies": 9}
    assert run("selfplay", "--game", "discat", "--temperature", -1).exit_code == 2


def test_options_reach_the_games_and_the_manifest(run: Run, tmp_path: Path, address: str) -> None:
    given = ("--option", "first_seat=1", "--option", "up_arrows=1,2,90")
    asked = ("selfplay", "--game", "discat", "--games", 6, *given)
    for number, more in enumerate([(), ("--address", address)]):
        directory = tmp_path / str(number)
        result = run(*asked, *more, "--output", directory)
        assert result.exit_code == 0, result.stderr
        rows = parquet.read_table(directory / "games").to_pylist()
        assert {row["actor"] for row in rows if row["ply"] == 0} == {1}
        options = json.loads((directory / "manifest.json").read_text())["options"]
        assert options["first_seat"] == 1
        # The option has the bits of three cards.
        assert options["up_arrows"].bit_count() == 3
    assert hash_of(tmp_path / "0") == hash_of(tmp_path / "1")


@pytest.mark.parametrize(
    ("game", "given", "message"),
    [
        ("discat", ["first_seat"], "--option first_seat: must be NAME=VALUE"),
        ("discat", ["wind=1"], "--option wind=1: discat has no option 'wind'; its options are first_seat, up_arrows"),
        ("discat", ["first_seat=0", "first_seat=1"], "--option first_seat=1: first_seat is given twice"),
        ("discat", ["first_seat=one"], "--option first_seat=one: must be a whole number"),
        ("discat", ["first_seat=-1"], "--option first_seat=-1: must be a whole number"),
        ("discat", ["first_seat=7"], "first_seat must be an integer from 0 to 1, not 7"),
        ("discat", ["up_arrows=1;2"], "--option up_arrows=1;2: must be numbers of pieces separated by commas"),
        ("chat_perche", ["solidity=1"], "solidity must be "),
        ("chat_perche", ["forward_only=maybe"], "--option forward_only=maybe: must be true or false"),
    ],
)
@pytest.mark.parametrize("command", ["selfplay", "arena"])
def test_invalid_options_are_named(run: Run, command: str, game: str, given: list[str], message: str) -> None:
    options = [part for each in given for part in ("--option", each)]
    result = run(command, "--game", game, "--games", 2, "--bots", "random", *options)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"Error: {message}")


def test_fewer_games_than_bots_are_refused(run: Run, address: str) -> None:
    result = run("selfplay", "--game", GAMES[0], "--games", 2, "--bots", "random,random,random", "--address", address)
    assert result.exit_code == 2
    assert result.stderr.endswith("Error: 3 bots need at least 3 games\n")


def test_an_unknown_game_and_an_unknown_bot_are_refused(run: Run, address: str) -> None:
    result = run("selfplay", "--game", "tarock", "--address", address)
    assert (result.exit_code, result.stderr) == (
        2,
        f"Error: UNKNOWN_GAME: unknown game 'tarock'; known games: {', '.join(GAMES)}\n",
    )
    result = run("selfplay", "--game", GAMES[0], "--bots", "random,cheater", "--address", address)
    assert result.exit_code == 2
    assert "unknown bot 'cheater'" in result.stderr


@pytest.mark.parametrize("players", [-1, 99])
def test_an_unsupported_number_of_players_is_refused(run: Run, address: str, players: int) -> None:
    result = run("selfplay", "--game", GAMES[0], "--players", players, "--address", address)
    assert result.exit_code == 2
    assert " players\n" in result.stderr


@pytest.mark.parametrize("option", ["--games", "--batch", "--in-flight", "--seed", "--shard"])
@pytest.mark.parametrize("value", [-1, "many"])
def test_invalid_numbers_are_named(run: Run, option: str, value: object) -> None:
    result = run("selfplay", "--game", GAMES[0], option, value)
    assert result.exit_code == 2
    assert f"Invalid value for '{option}'" in result.stderr
