"""chatiere perft."""

import re

import pytest
from tools.over import over_names

from chatiere import engine

from .conftest import Run

GAMES = [game.name for game in engine.games()]


@over_names
@pytest.mark.parametrize("depth", [0, 1, 2, 3])
@pytest.mark.parametrize(("options", "seed"), [((), 1), (("--seed", 7), 7), (("--explicit",), None)])
def test_the_count_is_the_engine_s(
    run: Run, name: str, depth: int, options: tuple[object, ...], seed: int | None
) -> None:
    players = engine.game(name).min_players
    result = run("perft", "--game", name, "--players", players, "--depth", depth, *options)
    assert result.exit_code == 0
    assert int(result.stdout) == engine.game(name).new_game(players, seed=seed).perft(depth)
    assert re.fullmatch(r"[\d.]+ s, [\d,]+ sequences/s\n", result.stderr)


@over_names
@pytest.mark.parametrize(("options", "seed"), [(("--seed", 7), 7), (("--explicit",), None)])
def test_counts_are_divided_by_first_moves(run: Run, name: str, options: tuple[object, ...], seed: int | None) -> None:
    players = engine.game(name).max_players
    result = run("perft", "--game", name, "--players", players, "--depth", 3, "--divide", *options)
    position = engine.game(name).new_game(players, seed=seed)
    if seed is None:
        labels = {outcome: position.outcome_label(outcome) for outcome, _ in position.chance_outcomes()}
    else:
        labels = {action: position.action_label(action) for action in position.legal_actions()}
    *lines, total = result.stdout.splitlines()
    assert [line.strip() for line in lines] == [
        f"{move}  {label}: {position.child(move).perft(2)}" for move, label in labels.items()
    ]
    assert int(total) == position.perft(3)


def test_depth_0_cannot_be_divided(run: Run) -> None:
    players = engine.game(GAMES[0]).min_players
    assert run("perft", "--game", GAMES[0], "--players", players, "--depth", 0, "--divide").stdout == "1\n"


def test_an_unknown_game_is_refused(run: Run) -> None:
    result = run("perft", "--game", "tarock", "--players", 3, "--depth", 1)
    assert result.exit_code == 2
    assert result.stderr == f"Error: UNKNOWN_GAME: unknown game 'tarock'; known games: {', '.join(GAMES)}\n"


@over_names
@pytest.mark.parametrize("players", [-1, 0, 99, 2**64])
def test_an_unsupported_number_of_players_is_refused(run: Run, name: str, players: int) -> None:
    result = run("perft", "--game", name, "--players", players, "--depth", 1)
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: INVALID_PLAYERS: ")


def test_explicit_chance_has_no_seed(run: Run) -> None:
    result = run("perft", "--game", GAMES[0], "--players", 2, "--depth", 1, "--explicit", "--seed", 1)
    assert result.exit_code == 2
    assert "--explicit excludes --seed" in result.stderr


@pytest.mark.parametrize("depth", [-1, 101, "deep"])
def test_depths_out_of_range_are_refused(run: Run, depth: object) -> None:
    result = run("perft", "--game", GAMES[0], "--players", 2, "--depth", depth)
    assert result.exit_code == 2
    assert "Invalid value for '--depth'" in result.stderr
