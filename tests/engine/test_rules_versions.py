"""Games under several versions of the rules: each game continues under its own version."""

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tools.over import each
from tools.rules_versions import playing

from chatiere import engine
from chatiere.engine import Game, Reason
from chatiere.engine.core.batch import Table
from chatiere.engine.core.columns import Columns, Restart

from .test_game import refused, with_header

GAMES = {game.name: game for game in engine.games()}
LEGAL = Columns(legal=True)


@pytest.fixture(params=each("game", GAMES), ids=str)
def game(request: pytest.FixtureRequest) -> Iterator[Game]:
    """Yield a game with an additional version of its rules."""
    game = GAMES[request.param]
    newest = game.rules_version
    with playing(game, newest, newest + 1):
        yield game
    assert list(game.rules_versions) == [newest]


def test_games_start_under_the_newest_version_or_the_given_one(game: Game) -> None:
    old, new = game.rules_versions
    assert game.rules_version == new
    assert game.new_game(game.min_players).rules_version() == new
    for version in old, new:
        assert game.new_game(game.min_players, rules_version=version).rules_version() == version
        assert game.new_game(game.min_players, seed=1, rules_version=version).rules_version() == version
        assert Table(game, game.min_players, version).rules_version == version
    for version in 0, old - 1, new + 1, 256 + old, 2**70:
        for begin in game.new_game, lambda players, rules_version: Table(game, players, rules_version):
            error = refused(begin, game.min_players, rules_version=version)
            assert (error.reason, error.field) == (Reason.UNSUPPORTED_RULES_VERSION, "rules_version")
            assert error.metadata == {"supported": f"{old}, {new}"}
    wrong: Any = "new"
    with pytest.raises(TypeError, match="rules_version"):
        game.new_game(game.min_players, rules_version=wrong)


def test_a_state_keeps_its_version(game: Game) -> None:
    choose = random.Random(5)
    for version in game.rules_versions:
        position = game.new_game(game.max_players, seed=3, rules_version=version)
        while not position.is_terminal():
            seat = position.current_player()
            packed = position.pack()
            assert packed[1] == version
            for other in game.unpack(packed), position.clone(), position.resample(seat, 7):
                assert other.rules_version() == version
            position.apply(choose.choice(position.legal_actions()))
        assert position.rules_version() == version
        position = game.new_game(game.max_players, seed=3, rules_version=version)
        position.playout(1)
        assert position.rules_version() == version


def test_a_packed_state_with_two_versions_is_refused(game: Game) -> None:
    old, new = game.rules_versions
    for version, other in (old, new), (new, old):
        packed = game.new_game(game.min_players, rules_version=version).pack()
        error = refused(game.unpack, with_header(packed, 1, other))
        assert (error.reason, error.field) == (Reason.INVALID_STATE, "header.rules_version")
    for version in old - 1, new + 1:
        packed = with_header(game.new_game(game.min_players).pack(), 1, version)
        assert refused(game.unpack, packed).reason is Reason.UNSUPPORTED_RULES_VERSION
        body = bytearray(packed[32:])
        body[1] = version
        assert refused(game.position, bytes(body)).reason is Reason.UNSUPPORTED_RULES_VERSION


def test_a_build_without_the_version_refuses_it(game: Game) -> None:
    old = game.rules_versions[0]
    packed = game.new_game(game.min_players).pack()
    with playing(game, old, old):
        error = refused(game.unpack, packed)
        assert error.reason is Reason.UNSUPPORTED_RULES_VERSION
        assert error.metadata == {"supported": str(old)}


def test_batches_play_each_state_under_its_own_version(game: Game) -> None:
    # New games that replace ended games have the table's version.
    old, new = game.rules_versions
    players = game.min_players
    seeds = np.arange(6, dtype="u8")
    begun = {version: Table(game, players, version).new_games(seeds=seeds, columns=LEGAL) for version in (old, new)}
    rows = {version: each.states for version, each in begun.items()}
    size = game.packed_size
    mixed = b"".join(rows[(old, new)[i % 2]][i * size : (i + 1) * size] for i in range(6))
    table, states, kept = Table(game, players, old), mixed, [old, new] * 3
    assert table.observe(states, [0] * 6)[1] == table.observe(rows[old], [0] * 6)[1]
    ended = [False] * 6
    restart = Restart({}, 6)
    while not all(ended):
        positions = [game.unpack(states[i * size : (i + 1) * size]) for i in range(6)]
        moves = [position.legal_actions()[0] for position in positions]
        found, faults = table.step(states, moves, restart=restart)
        assert not faults.reasons
        for i, final in enumerate(np.frombuffer(found.final, "u1")):
            ended[i] |= bool(final)
            kept[i] = old if final else kept[i]
        states = bytes(found.states)
        assert [states[i * size + 1] for i in range(6)] == kept
    drawn, _ = table.resample(mixed, [0] * 6, seed=1)
    assert [drawn[i * size + 1] for i in range(6)] == [old, new] * 3
