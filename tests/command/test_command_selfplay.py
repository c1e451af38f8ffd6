"""chatiere selfplay."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chatiere import bots, engine
from chatiere.clients.matches import wilson_interval

from .conftest import Run

GAMES = [game.name for game in engine.games()]
TABLES = [(game.name, players) for game in engine.games() for players in range(game.min_players, game.max_players + 1)]
# The bots without a budget.
SIMPLE = {name: [bot for bot in bots.names(name) if bot != "flat"] for name in GAMES}
PROGRAMS = re.findall(
    r"^```python\n(.*?)^```$", (Path(__file__).parents[2] / "README.md").read_text("utf-8"), re.MULTILINE | re.DOTALL
)
WINS = re.compile(
    r"([\w:=,]+): wins ([\d.]+)% of ([\d,]+) games \(95 % interval ([\d.]+)% to ([\d.]+)%\); "
    r"its share of the seats is ([\d.]+)%"
)


def without_time(output: str) -> str:
    return re.sub(r" in [\d.]+ s \([\d,]+ per second\)", "", output)


@pytest.mark.parametrize(("name", "players"), TABLES)
def test_the_report_is_that_of_the_games(run: Run, address: str, tmp_path: Path, name: str, players: int) -> None:
    file = tmp_path / "games.npz"
    names = [*SIMPLE[name], "random"]
    asked = ("--game", name, "--players", players, "--bots", ",".join(names), "--address", address)
    result = run("selfplay", *asked, "--games", 60, "--output", file)
    assert result.exit_code == 0, result.stderr
    first, second, *wins, last = result.stdout.splitlines()
    with np.load(file) as record:
        lengths, returns, seated = record["lengths"], record["returns"], record["bots"]
        assert first.startswith(f"{name}, {players} players: 60 games, {lengths.sum():,} decisions in ")
        assert re.search(r" in [\d.]+ s \([\d,]+ per second\)$", first)
        ordered = sorted(lengths)
        assert second == (
            f"decisions per game: mean {lengths.mean():.1f}, median {ordered[29]}, "
            f"90 % from {ordered[2]} to {ordered[56]}, shortest {ordered[0]}, longest {ordered[-1]}"
        )
        assert last == f"written to {file}"
        assert len(wins) == len(names)
        for number, line in enumerate(wins):
            found = WINS.fullmatch(line)
            assert found is not None, line
            sat = [game for game in range(60) if number in seated[game]]
            shares = [
                sum((returns[game, seat] + 1) / players for seat in range(players) if seated[game, seat] == number)
                for game in sat
            ]
            low, high = wilson_interval(float(np.mean(shares)), len(sat))
            assert found[1] == names[number]
            assert int(found[3]) == len(sat)
            figures = [100 * np.mean(shares), 100 * low, 100 * high]
            assert [float(found[group]) for group in (2, 4, 5)] == pytest.approx(figures, abs=0.06)
            assert float(found[6]) == pytest.approx(100 * (seated == number).sum() / (players * len(sat)), abs=0.06)


@pytest.mark.parametrize("name", GAMES)
def test_the_same_seed_is_the_same_however_it_is_batched(run: Run, address: str, tmp_path: Path, name: str) -> None:
    def games(number: int, *arguments: object) -> tuple[str, dict[str, np.ndarray]]:
        file = tmp_path / f"{number}.npz"
        asked = ("--game", name, "--games", 15, "--output", file, "--address", address)
        printed = run("selfplay", *asked, *arguments).stdout
        with np.load(file) as record:
            return without_time(printed).replace(str(file), "FILE"), dict(record)

    printed, record = games(0, "--seed", 1)
    for number, arguments in enumerate((("--batch", 3), ("--batch", 7, "--in-flight", 5), ("--in-flight", 1)), 1):
        again, same = games(number, *arguments)
        assert again == printed
        assert all(np.array_equal(same[key], record[key]) for key in record)
    assert not np.array_equal(games(9, "--seed", 2)[1]["actions"], record["actions"])


@pytest.mark.parametrize(("name", "players"), TABLES)
def test_games_are_replayed_from_the_file_as_the_readme_says(
    run: Run, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, players: int
) -> None:
    (program,) = (code for code in PROGRAMS if "games.npz" in code)
    monkeypatch.chdir(tmp_path)
    asked = ("--game", name, "--players", players, "--games", 8, "--seed", 2**64 - 1, "--address", address)
    assert run("selfplay", *asked, "--batch", 3, "--output", "games.npz").exit_code == 0
    replayed: dict[str, Any] = {}
    exec(compile(program, "README.md", "exec"), replayed)
    assert (replayed["rules"].name, replayed["players"], replayed["i"]) == (name, players, 7)
    assert replayed["m"] + 1 == len(replayed["record"]["actions"])


def test_without_an_address_a_server_of_its_own_is_asked(run: Run, address: str) -> None:
    asked = ("--game", GAMES[0], "--games", 5)
    own = run("selfplay", *asked)
    assert own.exit_code == 0
    assert without_time(own.stdout) == without_time(run("selfplay", *asked, "--address", address).stdout)


@pytest.mark.parametrize("name", GAMES)
def test_observations_are_written_if_asked(run: Run, address: str, tmp_path: Path, name: str) -> None:
    file = tmp_path / "games.npz"
    asked = ("--game", name, "--games", 3, "--bots", ",".join(SIMPLE[name]), "--output", file, "--address", address)
    run("selfplay", *asked)
    with np.load(file) as record:
        assert "observations" not in record
    run("selfplay", *asked, "--observations")
    with np.load(file) as record:
        assert record["observations"].shape == (len(record["actions"]), engine.game(name).observation_length)


def test_observations_without_a_file(run: Run) -> None:
    result = run("selfplay", "--game", GAMES[0], "--observations")
    assert result.exit_code == 2
    assert "--output" in result.stderr


def test_a_file_that_cannot_be_written_stops_the_start(run: Run, tmp_path: Path) -> None:
    result = run("selfplay", "--game", GAMES[0], "--output", tmp_path / "no such folder" / "games.npz")
    assert result.exit_code == 2
    assert "'--output'" in result.stderr


def test_fewer_games_than_bots(run: Run, address: str) -> None:
    result = run("selfplay", "--game", GAMES[0], "--games", 2, "--bots", "random,random,random", "--address", address)
    assert result.exit_code == 2
    assert result.stderr.endswith("Error: 3 bots need at least 3 games\n")


def test_an_unknown_game_and_an_unknown_bot(run: Run, address: str) -> None:
    result = run("selfplay", "--game", "tarock", "--address", address)
    assert (result.exit_code, result.stderr) == (
        2,
        f"Error: unknown game 'tarock'; known games: {', '.join(GAMES)}\n",
    )
    result = run("selfplay", "--game", GAMES[0], "--bots", "random,cheater", "--address", address)
    assert result.exit_code == 2
    assert "unknown bot 'cheater'" in result.stderr


@pytest.mark.parametrize("players", [-1, 99])
def test_a_table_that_the_game_is_not_for(run: Run, address: str, players: int) -> None:
    result = run("selfplay", "--game", GAMES[0], "--players", players, "--address", address)
    assert result.exit_code == 2
    assert " players\n" in result.stderr


@pytest.mark.parametrize("option", ["--games", "--batch", "--in-flight", "--seed"])
@pytest.mark.parametrize("value", [-1, "many"])
def test_numbers_that_make_no_sense(run: Run, option: str, value: object) -> None:
    result = run("selfplay", "--game", GAMES[0], option, value)
    assert result.exit_code == 2
    assert f"Invalid value for '{option}'" in result.stderr
