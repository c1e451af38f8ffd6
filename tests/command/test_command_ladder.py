"""chatiere ladder."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from chatiere import engine
from chatiere.arena.ladder import Match, Measurement, Share, points_of, propose
from chatiere.arena.matches import Results
from chatiere.arena.tournament import Arena, Pairing, win_rate
from chatiere.bots.games import GAME_BOTS
from chatiere.bots.ladder import Rung
from chatiere.command import ladder as command

from .conftest import Run

pytestmark = pytest.mark.long

TWO = next(game.name for game in engine.games() if game.min_players == 2)
# A game for three or more players. The last one is used, because its games are shorter.
THREE = [game.name for game in engine.games() if game.min_players == 3][-1]
RUNGS = [
    Rung("kitten", "Kitten", "random", 0, 0.001),
    Rung("house-cat", "House cat", "flat:playouts=4,temperature=50", 100, 0.001),
    Rung("tiger", "Tiger", "flat:playouts=8", 200, 0.001),
]


@pytest.fixture
def rungs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Put quick bots on all ladders. Return the file of the ladders."""
    path = tmp_path / "ladder.json"
    path.write_text(
        json.dumps({TWO: [rung._asdict() | {"bots_by_players": {"9": "random"}} for rung in RUNGS], THREE: []})
    )
    monkeypatch.setattr(command, "ladder", lambda game: RUNGS)
    monkeypatch.setattr(command, "FILE", path)
    return path


def cells(output: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in output.splitlines()[2:]]


@pytest.mark.usefixtures("rungs")
@pytest.mark.parametrize("name", [TWO, THREE])
def test_the_report_matches_the_games_in_the_file(run: Run, tmp_path: Path, name: str) -> None:
    path = tmp_path / "found.json"
    result = run("ladder", name, "--games", 40, "--output", path)
    assert (result.exit_code, result.stderr) == (0, "")
    deals = json.loads(path.read_text())["deals"]
    rows = cells(result.stdout)
    assert [row[:2] for row in rows] == [[rung.title, f"`{rung.bot}`"] for rung in RUNGS]
    own = next(iter(GAME_BOTS[name]))
    assert [row[4] for row in rows] == [f"`{own}`", "Kitten", "House cat"]
    players = engine.game(name).min_players
    keys = [
        Match(players, *pair).key()
        for pair in ((own, RUNGS[0].bot), (RUNGS[1].bot, RUNGS[0].bot), (RUNGS[2].bot, RUNGS[1].bot))
    ]
    assert sorted(deals) == sorted(keys)
    means = [np.mean(deals[key]) for key in keys]
    means[0] = 1 - means[0]
    assert [row[5] for row in rows] == [f"{100 * mean:.1f} %" for mean in means]
    of_deal = players if players == 2 else 2 * players
    assert [int(row[7]) for row in rows] == [len(deals[key]) * of_deal for key in keys]
    elo = 400 * math.log10(means[1] / (1 - means[1]))
    assert [int(row[2]) for row in rows[:2]] == [0, round(elo)]


@pytest.mark.usefixtures("rungs")
def test_an_interrupted_measurement_is_resumed(run: Run, tmp_path: Path) -> None:
    whole, stopped = tmp_path / "whole.json", tmp_path / "stopped.json"
    expected = run("ladder", TWO, "--games", 48, "--output", whole)
    reports: list[int] = []

    def stop(games: int) -> None:
        reports.append(games)
        if len(reports) == 2:
            raise KeyboardInterrupt

    match = Match(2, RUNGS[2].bot, RUNGS[1].bot)
    with pytest.raises(KeyboardInterrupt):
        Measurement(TWO, 1, stopped).measure(match, 48, stop)
    assert [len(deals) for deals in json.loads(stopped.read_text())["deals"].values()] == [8]
    found = run("ladder", TWO, "--games", 48, "--output", stopped)
    # After the measurement is resumed, the remaining games are the same.
    assert json.loads(stopped.read_text())["deals"] == json.loads(whole.read_text())["deals"]
    of_games = [[*row[:3], *row[4:]] for row in cells(found.stdout)]
    assert of_games == [[*row[:3], *row[4:]] for row in cells(expected.stdout)]
    # A completed measurement is not repeated.
    kept = stopped.read_bytes()
    assert run("ladder", TWO, "--games", 48, "--output", stopped).stdout == found.stdout
    assert stopped.read_bytes() == kept


@pytest.mark.usefixtures("rungs")
def test_files_of_other_measurements_are_refused(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "found.json"
    run("ladder", TWO, "--games", 1, "--output", path)
    kept = path.read_bytes()
    result = run("ladder", TWO, "--games", 1, "--seed", 2, "--output", path)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"Error: {path} is of another measurement: {{'game': '{TWO}', 'seed': 1, ")
    assert path.read_bytes() == kept
    for content in (b"", b"[]", b"{}", b"\xff"):
        path.write_bytes(content)
        result = run("ladder", TWO, "--output", path)
        assert (result.exit_code, result.stderr) == (2, f"Error: {path} is no measurement of a ladder\n")


def test_figures_are_written_into_the_ladder(run: Run, tmp_path: Path, rungs: Path) -> None:
    result = run("ladder", TWO, "--games", 20, "--output", tmp_path / "found.json", "--write")
    written = json.loads(rungs.read_text())
    assert written[THREE] == []
    found = [Rung(**each) for each in written[TWO]]
    assert [rung[:3] for rung in found] == [rung[:3] for rung in RUNGS]
    assert [rung.bots_by_players for rung in found] == [{"9": "random"}] * len(RUNGS)
    assert [str(rung.strength) for rung in found] == [row[2] for row in cells(result.stdout)]
    assert all(0 < rung.seconds < 1 for rung in found)
    refused = run("ladder", TWO, "--output", tmp_path / "found.json", "--write", "--propose", "random,flat")
    assert refused.stderr == "Error: --write is for the existing ladder, with the fewest players\n"


def test_rungs_name_the_bots_for_the_number_of_players(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    highest = RUNGS[-1]._replace(bots_by_players={"3": "flat:playouts=12"})
    monkeypatch.setattr(command, "ladder", lambda game: [*RUNGS[:-1], highest])
    path = tmp_path / "found.json"
    for players, bot in ((2, "flat:playouts=8"), (3, "flat:playouts=12")):
        result = run("ladder", TWO, "--players", players, "--games", 1, "--output", path)
        assert cells(result.stdout)[-1][1] == f"`{bot}`"
    kept = json.loads(path.read_text())
    assert Match(3, "flat:playouts=12", RUNGS[1].bot).key() in kept["deals"]
    assert {"2 players: flat:playouts=8", "3 players: flat:playouts=12"} <= {*kept["seconds"]}


def test_rungs_are_proposed(run: Run, tmp_path: Path) -> None:
    chain = "flat:playouts=20,flat:playouts=5,flat:playouts=5,temperature=100"
    asked = ("ladder", TWO, "--games", 16, "--output", tmp_path / "found.json", "--propose")
    result = run(*asked, chain)
    assert (result.exit_code, result.stderr) == (0, "")
    proposed = result.stdout.splitlines()
    assert 4 <= len(proposed) <= 6
    assert proposed[-1] == "flat:playouts=20"
    refused = run(*asked, "random")
    message = "there must be two bots or more to propose others between them"
    assert (refused.exit_code, refused.stderr) == (2, f"Error: {message}\n")
    for pair in ("random,flat:playouts=5", "flat:playouts=5,flat:playouts=5", "flat:playouts=5,temperature=3,flat"):
        assert "must differ in one parameter" in run(*asked, pair).stderr
    assert "unknown bot 'nobody'" in run(*asked, "nobody:a=1,nobody:a=2").stderr


def share_of(elo: float) -> Share:
    return Share(1 / (1 + 10 ** (-elo / 400)), 0, 1, 100)


def test_rungs_are_spaced_evenly() -> None:
    chain = [
        "flat:playouts=1000",
        "flat:playouts=100",
        "flat:playouts=100,temperature=20",
        "flat:playouts=100,temperature=80",
    ]
    shares = [share_of(108), share_of(216), share_of(200)]
    assert propose(chain, shares, 432) == [
        "flat:playouts=100,temperature=42",
        "flat:playouts=100,temperature=20",
        "flat:playouts=100,temperature=10",
        "flat:playouts=100",
        "flat:playouts=1000",
    ]
    # The rungs do not go beyond the end of the chain, and there are at most six.
    assert propose(chain, shares, 9999)[0] == chain[-1]
    assert len(propose([*chain[:1], *chain[1:]], [share_of(700)] * 3, 9999)) == 6
    assert len(propose(chain, [share_of(10)] * 3, 20)) == 4


def test_points_count_pairs_of_seats() -> None:
    results = Results.of(4, 3, 3)
    alone = results.bots == 0
    results.totals[:] = [[5, 5, 1], [5, 2, 7], [9, 9, 9], [3, 3, 4]]
    results.returns[:] = -1
    assert alone.argmax(axis=1).tolist() == [0, 2, 1, 0]
    assert points_of(results, lowest_total_wins=False).tolist() == [0.75, 1, 0.5, 0.25]
    assert points_of(results, lowest_total_wins=True).tolist() == [0.25, 0, 0.5, 0.75]
    # If totals are tied, the winner is ahead.
    results.returns[2, 1] = 2
    assert points_of(results, lowest_total_wins=False)[2] == 1


def test_points_of_two_seats_equal_the_points_of_an_arena(tmp_path: Path) -> None:
    match = Match(2, "flat:playouts=8", "random")
    found = Measurement(TWO, 5, tmp_path / "found.json").measure(match, 16)
    arena = Arena(TWO, 2, (match.higher, match.lower), found.games, seed=5, paired=True)
    assert found[:3] == pytest.approx(win_rate(arena.play(Pairing(0, 1))[0]))
