"""chatiere play."""

import socket
import tempfile
from pathlib import Path

import click
import pytest
from prometheus_client import CollectorRegistry
from tools.over import over_names, over_tables

from chatiere import bots, engine
from chatiere.bots.ladder import ladder
from chatiere.clients import Client, begin, play, records
from chatiere.service.base.settings import Settings
from chatiere.service.ports.server import create_server
from chatiere.terminal.lines import narrate

from .conftest import Run

pytestmark = pytest.mark.long

GAMES = [game.name for game in engine.games()]


@over_tables
def test_a_whole_game_is_printed(run: Run, name: str, players: int) -> None:
    result = run("play", "--game", name, "--players", players, "--seed", 4)
    assert result.exit_code == 0
    assert result.stderr == ""
    lines = result.stdout.splitlines()
    assert lines[0].endswith(f", {players} players")
    moves = [line for line in lines if line.startswith("Move ")]
    assert [int(line.split(":")[0].removeprefix("Move ")) for line in moves] == list(range(1, len(moves) + 1))
    assert len(moves) > players
    assert len(lines) - lines.index("Result") == players + 2
    assert lines[-1].endswith(" won.")


@over_names
def test_the_same_seed_prints_the_same_game_in_process_and_at_a_service(run: Run, address: str, name: str) -> None:
    first = run("play", "--game", name, "--seed", 4).stdout
    assert run("play", "--game", name, "--seed", 4).stdout == first
    assert run("play", "--game", name, "--seed", 4, "--address", address).stdout == first
    assert run("play", "--game", name, "--seed", 5).stdout != first


def test_a_game_is_the_same_over_a_unix_socket(run: Run) -> None:
    with tempfile.TemporaryDirectory() as folder:
        address = f"unix:{folder}/api.sock"
        server, _ = create_server(Settings(address=address), CollectorRegistry())
        server.start()
        asked = ("play", "--game", GAMES[0], "--seed", 4)
        assert run(*asked, "--address", address).stdout == run(*asked).stdout
        server.stop(grace=None).wait()


@over_names
def test_the_seed_applies_to_the_game_and_the_bots(run: Run, address: str, name: str) -> None:
    players = engine.game(name).max_players
    seated = [bots.get("random", name, players)] * players
    with Client(address) as client:
        info = next(info for info in client.list_games() if info.name == name)
        beginning = begin(client, name, players, seed=4)
        lines = list(narrate(info, ["random"] * players, beginning, play(client, beginning, seated, seed=4)))
    result = run("play", "--game", name, "--players", players, "--seed", 4, "--bots", "random")
    assert result.stdout.splitlines() == [click.unstyle(line) for line in lines]


@over_names
def test_the_defaults_are_the_smallest_table_the_ladder_and_seed_1(run: Run, name: str) -> None:
    rungs = ladder(engine.game(name))
    given = ("--players", engine.game(name).min_players, "--bots", ",".join(rung.name for rung in rungs), "--seed", 1)
    assert run("play", "--game", name).stdout == run("play", "--game", name, *given).stdout


@over_names
def test_rungs_have_names(run: Run, name: str) -> None:
    players = engine.game(name).max_players
    rungs = ladder(engine.game(name))[1::-1]
    result = run("play", "--game", name, "--players", players, "--bots", ",".join(rung.name for rung in rungs))
    seats = [f"  seat {seat}: {rungs[seat % 2].name}" for seat in range(players)]
    assert result.stdout.splitlines()[1 : players + 1] == seats


def test_a_rung_names_the_bot_for_the_number_of_players(run: Run, tmp_path: Path) -> None:
    (rung,) = (rung for rung in ladder(engine.game("momistigri")) if rung.bots_by_players)
    for players in (3, 4):
        path = tmp_path / f"{players}{records.SUFFIX}"
        run("play", "--game", "momistigri", "--players", players, "--bots", rung.name, "--record", path)
        assert list(records.read_record(path).seat_names) == [rung.bot_for(players)] * players


@over_names
def test_the_seats_take_the_bots_in_turn(run: Run, name: str) -> None:
    names = [*reversed(bots.names(name)), "random"]
    players = engine.game(name).max_players
    result = run("play", "--game", name, "--players", players, "--bots", ",".join(names))
    seats = [f"  seat {seat}: {names[seat % len(names)]}" for seat in range(players)]
    assert result.stdout.splitlines()[1 : players + 1] == seats


def test_styles_are_used_only_on_terminals_that_support_them(run: Run) -> None:
    plain = run("play", "--game", GAMES[0]).stdout
    styled = run("play", "--game", GAMES[0], color=True).stdout
    assert "\x1b[" not in plain
    assert "\x1b[" in styled
    assert run("play", "--game", GAMES[0], color=True, env={"NO_COLOR": "1"}).stdout == plain


def test_an_unknown_game_is_refused_with_the_known_ones(run: Run) -> None:
    result = run("play", "--game", "tarock")
    assert result.exit_code == 2
    assert result.stderr == f"Error: unknown game 'tarock'; known games: {', '.join(GAMES)}\n"


@over_names
@pytest.mark.parametrize("asked", ["cheater", "random,cheater"])
def test_an_unknown_bot_is_refused_with_the_known_ones(run: Run, name: str, asked: str) -> None:
    result = run("play", "--game", name, "--bots", asked)
    assert result.exit_code == 2
    known = f"known bots: {', '.join(bots.names(name))}; one of your own is FILE.py:CLASS or MODULE:CLASS"
    assert result.stderr == f"Error: unknown bot 'cheater' for {name}; {known}\n"


def test_a_bot_takes_a_parameter_in_its_range(run: Run) -> None:
    result = run("play", "--game", GAMES[0], "--players", 3, "--bots", "flat:playouts=2,random")
    assert result.stdout.splitlines()[1:4] == [
        "  seat 0: flat:playouts=2",
        "  seat 1: random",
        "  seat 2: flat:playouts=2",
    ]
    result = run("play", "--game", GAMES[0], "--bots", "random,flat:playouts=0")
    assert result.exit_code == 2
    assert result.stderr == "Error: bot flat: playouts must be a whole number from 1 to 1000000, not '0'\n"


@over_names
@pytest.mark.parametrize("players", [-1, 0, 99, 2**64])
def test_an_unsupported_number_of_players_is_refused(run: Run, name: str, players: int) -> None:
    result = run("play", "--game", name, "--players", players)
    assert result.exit_code == 2
    rules = engine.game(name)
    assert result.stderr == f"Error: {name} is for {rules.min_players} to {rules.max_players} players\n"


@pytest.mark.parametrize("seed", [-1, 2**64, "lucky"])
def test_seeds_out_of_range_are_refused(run: Run, seed: object) -> None:
    result = run("play", "--game", GAMES[0], "--seed", seed)
    assert result.exit_code == 2
    assert "Invalid value for '--seed'" in result.stderr


def test_a_server_that_cannot_be_reached_is_named(run: Run) -> None:
    with socket.socket() as held:
        # The socket is bound, so that no other process can use the port, but it does not listen.
        held.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{held.getsockname()[1]}"
        result = run("play", "--game", GAMES[0], "--address", address)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"Error: no response from a server at {address}: UNAVAILABLE: ")
