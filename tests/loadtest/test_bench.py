"""The harness of `make bench`, with sizes too small for real results. Peers that are not installed are omitted."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread
from tools.needs import needs

from loadtest.bench.bounds import Bound, bound_of, target_of
from loadtest.bench.measure import Row, Run, alternate, fastest, middle, pinned
from loadtest.bench.self_play import choose
from loadtest.bench.servers import echo_built, fast_door_built, web_door_built

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
HAS_OPENSPIEL = importlib.util.find_spec("pyspiel") is not None
# True if pygame is installed. PettingZoo's connect_four needs it.
HAS_PYGAME = importlib.util.find_spec("pygame") is not None
HAS_PGX = importlib.util.find_spec("pgx") is not None
HAS_H2LOAD = shutil.which("h2load") is not None


def measured(directory: Path, *options: str) -> Path:
    """Return the folder written by a run for one game."""
    sizes = ("--rounds=2", "--seconds=0.01", "--batch=16", "--warm-up=2", "--moves=1000", "--rooms=2")
    command = (sys.executable, "-m", "loadtest.bench", "--game=discat", *sizes, *options, f"--output={directory}")
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    return directory


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return measured(tmp_path_factory.mktemp("bench"))


@pytest.fixture(scope="module")
def self_play(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return measured(tmp_path_factory.mktemp("bench"), "--row=selfplay")


def row(ours: float, peer: float | None, bound: float, at_most: bool = False) -> Row:
    return Row("row", "game", "unit", ours, peer, bound, "peer", at_most=at_most)


def test_a_row_holds_when_its_ratio_reaches_its_bound() -> None:
    assert row(8.0, 2.0, 4.0).ratio == 4.0
    assert row(8.0, 2.0, 4.0).holds is True
    assert row(7.9, 2.0, 4.0).holds is False
    assert row(1.0, 1.0, 1.0, at_most=True).holds is True
    assert row(1.1, 1.0, 1.0, at_most=True).holds is False
    assert row(1.0, None, 1.0).ratio is None
    assert row(1.0, None, 1.0).holds is None


def test_a_game_can_have_its_own_bounds() -> None:
    assert bound_of("playout", "discat") == Bound(bound=2.0, target=10e6)
    assert bound_of("playout", "chat_cartonne") == Bound(bound=0.3, target=1e6)
    assert bound_of("self_play_shell", "chat_cartonne") == Bound(bound=20.0, target=250e3)
    assert bound_of("memory") == Bound(bound=1.05, target=None)
    assert bound_of("raw_env", "discat") == Bound(bound=3.0, target=None)
    assert bound_of("raw_env", "chat_cartonne") == Bound(bound=2.0, target=None)
    assert target_of("fast_alone", "discat") == 50e3


def test_a_rate_counts_the_processor_time_of_both_sides() -> None:
    assert Run(amount=30.0, wall=100.0, client=2.0, server=1.0).rate == 10.0


def test_the_median_run_and_the_fastest_of_several_peers_are_used() -> None:
    runs = [Run(count, 1.0, 1.0) for count in (1.0, 5.0, 2.0)]
    assert middle(runs).amount == 2.0
    assert fastest({"slow": runs, "fast": [Run(3.0, 1.0, 1.0)]}) == ("fast", Run(3.0, 1.0, 1.0))


def test_a_pinned_thread_runs_on_one_core_and_afterwards_on_all() -> None:
    before = os.sched_getaffinity(0)
    with pinned():
        assert len(os.sched_getaffinity(0)) == 1
    assert os.sched_getaffinity(0) == before


def test_contenders_take_turns() -> None:
    order = []

    def contender(name: str) -> Run:
        order.append(name)
        return Run(1.0, 1.0, 1.0)

    alternate({"a": lambda: contender("a"), "b": lambda: contender("b")}, rounds=3)
    assert order == ["a", "b"] * 3


def test_the_client_chooses_every_legal_id_and_no_other_id() -> None:
    offsets = np.array([0, 1, 4], "<u4").tobytes()
    ids = np.array([7, 1, 2, 9], "<u2").tobytes()
    rng = np.random.default_rng(1)
    chosen = [tuple(np.frombuffer(choose(offsets, ids, rng), "<u2").tolist()) for _ in range(100)]
    assert set(chosen) == {(7, 1), (7, 2), (7, 9)}


@pytest.mark.slow
def test_every_row_is_written_and_consistent(output: Path) -> None:
    rows = json.loads((output / "bench.json").read_text())
    names = [line["row"] for line in rows]
    expected = [
        "self-play over gRPC, beside OpenSpiel, Python loop",
        "self-play over gRPC, beside OpenSpiel, same gRPC shell",
        "self-play over gRPC, beside the same loop in process",
        "Playout on the server",
        "in process, one state a call",
        "in process, in batches",
        "PettingZoo, raw_env",
        "SeatEnv, decisions of all seats",
        "ismcts, decisions in trees and playouts",
        *[f"ismcts, 1000 simulations, against random, {players} players" for players in (2, 3)],
        *(["OpenSpiel adapter, random sim, decisions"] if HAS_OPENSPIEL else []),
        "TableEnv, random play from masks, with observations",
        "TableEnv, a hundred times the games, time of a move",
        "step in 2 threads, processor time of a move",
        "step in 2 threads, moves a second",
        "features, float32, plain",
        "features, float32, plain, time of a row",
        "check of a state",
        "Move at a sealed table",
    ]
    if HAS_H2LOAD:
        expected += [f"Apply beside a bare server, {calls} in flight" for calls in (1, 16)]
        expected += [f"Apply, {calls} in flight, workers: {workers}" for workers in (1, 2) for calls in (1, 16)]
    if HAS_H2LOAD and fast_door_built():
        peers = ("grpcio's port", "grpcio echo")
        full = (*peers, "grpc++ echo") if echo_built() else peers
        expected += [f"Apply, fast door beside {peer}, 16 in flight" for peer in full]
        expected += [f"Apply, fast door beside {peer}, 1 in flight" for peer in peers]
        at_unix = "Apply, fast door at a Unix socket"
        expected += [f"{at_unix} beside grpcio's port, 1 in flight on one core"]
        expected += [f"{at_unix}, 50 % of the calls, 1 in flight"]
        expected += ["Apply, fast door, 2 workers, 16 in flight", "Apply, fast door, 99 % of the calls at half load"]
    if HAS_H2LOAD and web_door_built():
        expected += [f"Apply, web door, {form}, 16 in flight" for form in ("binary", "JSON")]
    if shutil.which("chromium") and web_door_built():
        expected += ["page, first drawing of a table", "page, drawing of a move"]
    doors = ("grpcio's port", *(("web door",) if web_door_built() else ()))
    expected += [
        f"rooms, {door}, {what}" for door in doors for what in ("99 % of the moves with all followers", "deliveries")
    ]
    assert names[:-1] == expected
    assert names[-1].startswith("memory after 1,")
    for line in rows:
        assert set(line) == {"row", "game", "ours", "peer", "ratio", "bound", "holds"}
        assert line["game"] == ("all" if line["row"].startswith("memory") else "discat")
        assert line["ours"] > 0
        if line["peer"] is None:
            needed = {"PettingZoo": HAS_PYGAME, "TableEnv": HAS_PGX}
            assert not needed.get(line["row"].partition(",")[0], HAS_OPENSPIEL)
            assert line["ratio"] is line["holds"] is None
            continue
        assert line["ratio"] == pytest.approx(line["ours"] / line["peer"])
        name = line["row"]
        measures = ("99 %", "50 %", "time of a move", "time of a row", "sealed table")
        at_most = name.startswith(("check", "memory", "page")) or any(words in name for words in measures)
        assert line["holds"] == (line["ratio"] <= line["bound"] if at_most else line["ratio"] >= line["bound"])


def test_runs_over_grpc_have_used_both_processors(self_play: Path) -> None:
    more = json.loads((self_play / "bench-more.json").read_text())
    run = more["rows"][0]["run"]
    assert run["amount"] > 0
    assert run["amount"] % 16 == 0
    assert run["wall"] > 0
    assert run["client"] > 0


@pytest.mark.slow
def test_every_delivery_in_rooms_is_counted(tmp_path: Path) -> None:
    written = measured(tmp_path, "--row=rooms")
    (lines,) = json.loads((written / "bench-more.json").read_text())["tables"].values()
    for line in lines:
        # Two rooms with four followers each, and a move in each of two rounds.
        assert (line["moves"], line["deliveries"], line["lost"]) == (4, 16, 0)
        assert 0 < line["p50 ms"] <= line["p99 ms"]


@pytest.mark.slow
def test_the_speed_of_two_threads_is_listed_by_the_size_of_the_batch(output: Path) -> None:
    tables = json.loads((output / "bench-more.json").read_text())["tables"]
    (lines,) = (lines for title, lines in tables.items() if title.startswith("step in 2 threads"))
    (line,) = lines
    assert line.pop("game") == "discat"
    assert len(line) == 3
    assert all(figure > 0 for figure in line.values())


@pytest.mark.slow
def test_growth_and_trajectories_are_written(output: Path) -> None:
    tables = json.loads((output / "bench-more.json").read_text())["tables"]
    (growth,) = (lines for title, lines in tables.items() if title.startswith("self-play by"))
    batches = (1, 16, 256, 1024, 4096, 16384)
    assert [(line["workers"], line["batch"]) for line in growth] == [(w, b) for w in (1, 2) for b in batches]
    (waiting,) = (lines for title, lines in tables.items() if title.startswith("one worker by connections"))
    assert {line["connections"] for line in waiting} >= {1, 10, 100, 1000}
    assert all(0 < line["p50 ms"] <= line["p99 ms"] for line in waiting if HAS_H2LOAD)
    (trajectories,) = (lines for title, lines in tables.items() if "seeded games" in title)
    (line,) = trajectories
    assert line["game"] == "discat"
    assert len(line["SHA-256"]) == 64


@pytest.mark.slow
def test_the_simulations_of_searches_are_listed(output: Path) -> None:
    tables = json.loads((output / "bench-more.json").read_text())["tables"]
    (lines,) = (lines for title, lines in tables.items() if title.startswith("simulations in search trees"))
    searches = ["ismcts", "OpenSpiel, ISMCTSBot in C++"] if HAS_OPENSPIEL else ["ismcts"]
    assert [line["search"] for line in lines] == searches
    assert all(line["simulations/CPU-s"] > 0 for line in lines)


@pytest.mark.slow
@needs("h2load", "libnghttp2")
def test_the_calls_of_all_contenders_are_listed(output: Path) -> None:
    tables = json.loads((output / "bench-more.json").read_text())["tables"]
    calls = tables["Apply, fast door and its peers"]
    at_both = ("fast door", "grpcio's port", "grpcio echo")
    at_full = (*at_both, "fast door, 2 workers", *(["grpc++ echo"] if echo_built() else []))
    found = [(line["in flight"], line["server"]) for line in calls]
    at_single = (*at_both, "fast door, Unix socket", "grpcio's port, Unix socket")
    assert found == [(16, server) for server in at_full] + [(1, server) for server in at_single]
    assert [line["target"] for line in calls if line["target"]] == [50e3]
    half = tables["Apply at half of the calls per second that each reaches with 16 in flight"]
    assert [line["server"] for line in half] == ["fast door", "grpcio's port"]
    assert all(0 < line["p50 ms"] <= line["p99 ms"] for line in half)


def test_a_picture_is_written(self_play: Path) -> None:
    assert imread(self_play / "bench.png").size
