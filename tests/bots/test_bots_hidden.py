"""Bots know only what their seats may know: their choices and worlds do not depend on hidden information."""

import dataclasses
import gc
import types

import numpy as np
import pytest
from tools.over import over_names, over_tables

from chatiere import bots, engine
from chatiere.bots import Decisions, hosting
from chatiere.bots.ismcts import IsmctsBot

from .networks import random_network
from .support import SPECS, All, Host

GAMES_AT_ONCE = 6


def with_other_secrets(host: Host, seed: int) -> Host:
    """Return a host with other positions. The seats to act cannot distinguish them from the given positions."""
    other = Host(host.table.game.name, host.table.players, 1, 0)
    positions = host.positions
    other.positions = positions._replace(states=host.resample(positions.states, positions.actors, seed))
    vars(other)["luck"] = host.luck
    return other


@over_tables
def test_choices_do_not_depend_on_hidden_information(name: str, players: int) -> None:
    host = Host(name, players, GAMES_AT_ONCE, seed=players)
    players_of = [bots.get(spec, name, players) for spec in SPECS[name]]
    players_of.append(IsmctsBot(8, net=random_network(name, players)))
    differed = 0
    decided = 0
    while len(host.positions.actors):
        rows = np.arange(len(host.positions.actors))
        # Test only every fifth decision, because games are long and searches take time.
        if decided % 5 == 0:
            other = with_other_secrets(host, seed=decided)
            differed += (other.positions.states != host.positions.states).any()
            for bot in players_of:
                assert host.choose(bot, rows).tolist() == other.choose(bot, rows).tolist()
        host.step(host.choose(All(), rows))
        decided += 1
    assert differed > 2


@over_tables
def test_worlds_depend_only_on_the_seats_information_and_agree_with_it(name: str, players: int) -> None:
    host = Host(name, players, GAMES_AT_ONCE, seed=players)
    varied = 0
    for _ in range(12):
        rows = np.arange(len(host.positions.actors))
        mine, other = (each.decisions(All(), rows) for each in (host, with_other_secrets(host, seed=99)))
        worlds = mine.worlds(rows, 3)
        assert worlds.shape == (len(rows), 3, host.table.game.packed_size)
        assert np.array_equal(worlds, other.worlds(rows, 3))
        for row in rows:
            position = host.table.game.unpack(host.positions.states[row].tobytes())
            seat = position.current_player()
            for world in worlds[row]:
                drawn = host.table.game.unpack(world.tobytes())
                assert drawn.current_player() == seat
                assert drawn.legal_actions() == position.legal_actions()
                assert drawn.observation(seat) == position.observation(seat)
            varied += len({world.tobytes() for world in worlds[row]}) > 1
        host.step(host.choose(All(), rows))
    assert varied > 10


@over_names
def test_a_bot_cannot_reach_states_seeds_or_game_numbers(name: str) -> None:
    game = engine.game(name)
    # These numbers are unlikely to occur by chance.
    seed, game_number = 0xFEDC_BA98_7654_3210, 0x0123_4567_89AB_CDEF
    position = game.new_game(game.max_players, seed=seed, game_number=game_number)
    one = hosting.decisions_at(position, All(), int(hosting.luck(seed, [game_number], [0])[0]))
    host = Host(name, game.max_players, 3, seed)
    secrets = [number.to_bytes(8, order) for number in (seed, game_number) for order in ("little", "big")]
    secrets += [position.pack(), *(state.tobytes() for state in host.positions.states)]
    assert any(secret in position.pack() for secret in secrets[:2])
    for decisions in (one, host.decisions(All(), [0, 2])):
        arrays = 0
        for reached in everything_below(decisions):
            assert not isinstance(reached, types.FunctionType | types.MethodType | engine.Position)
            assert not isinstance(reached, int) or reached not in (seed, game_number)
            if isinstance(reached, np.ndarray | bytes):
                arrays += 1
                assert not any(secret in bytes(reached) for secret in secrets)
        assert arrays >= 6


def everything_below(decisions: Decisions) -> list[object]:
    """Return all objects that the fields of decisions refer to, directly or indirectly, except the game's objects."""
    found: dict[int, object] = {}
    waiting = [getattr(decisions, field.name) for field in dataclasses.fields(decisions) if field.name != "game"]
    assert isinstance(decisions.game, engine.Game)
    assert set(vars(decisions)) == {field.name for field in dataclasses.fields(decisions)}
    while waiting:
        reached = waiting.pop()
        if id(reached) not in found and not isinstance(reached, type | types.ModuleType):
            found[id(reached)] = reached
            waiting += gc.get_referents(reached)
            if isinstance(reached, np.ndarray) and reached.base is not None:
                waiting.append(reached.base)
    return list(found.values())


def test_luck_depends_on_seed_game_and_decision_and_is_uniform() -> None:
    games = np.repeat(np.arange(100, dtype=np.uint64), 50)
    decisions = np.tile(np.arange(50), 100)
    drawn = hosting.luck(7, games, decisions)
    assert len(set(drawn.tolist())) == 5000
    assert hosting.luck(7, games[1234:1235], decisions[1234:1235]).tolist() == [drawn[1234]]
    assert not (hosting.luck(8, games, decisions) == drawn).any()
    # Each bit is set about half of the time (5,000 fair coins: 7 standard deviations), and the order of rows does not
    # matter.
    ones = np.unpackbits(drawn.view(np.uint8).reshape(-1, 8), axis=1).sum(axis=0, dtype=int)
    assert (abs(ones - 2500) < 250).all()
    # These numbers are pinned, because a seed must give the same choices on every machine.
    assert hosting.luck(1, [0, 1, 2**64 - 1], [0, 5, 9]).tolist() == [
        18078548808506622793,
        4934595182927725706,
        5564143322649684837,
    ]


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_seeds_of_bots_out_of_range_are_refused(seed: int) -> None:
    with pytest.raises(ValueError, match=r"seed must be an integer from 0 to 2\*\*64 - 1"):
        hosting.luck(seed, [0], [0])


@over_names
def test_a_bot_that_needs_no_worlds_cannot_get_them(name: str) -> None:
    position = engine.game(name).new_game(engine.game(name).min_players, seed=1)
    decisions = hosting.decisions_at(position, bots.get("random", name, engine.game(name).min_players), 5)
    assert decisions.drawn.size == decisions.observations.size == 0
    with pytest.raises(ValueError, match="needs_worlds is False"):
        decisions.worlds([0], 1)
    decisions = hosting.decisions_at(position, All(), 5)
    for count in (0, -1):
        with pytest.raises(ValueError, match="count must be 1 or more"):
            decisions.worlds([0], count)
