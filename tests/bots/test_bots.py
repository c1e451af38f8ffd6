"""Bots: choices are legal, do not depend on how games are batched, and are better than random play."""

from collections import Counter

import numpy as np
import pytest
from tools.over import over_names, over_tables

from chatiere import bots, engine
from chatiere.bots import hosting
from chatiere.bots.trials import policy_of, sums_of_returns

from .plain_search import at_stream, play_out
from .support import GAMES, SIMPLE, SPECS, All, Host, play

GAMES_AND_SIMPLE_BOTS = [(name, bot) for name in GAMES for bot in SIMPLE[name]]


@over_tables
def test_choices_are_legal_and_do_not_depend_on_how_games_are_batched(name: str, players: int) -> None:
    host = Host(name, players, 5, seed=4)
    decided = 0
    seated = [bots.get(spec, name, players) for spec in SPECS[name]]
    while len(host.positions.actors):
        rows = np.arange(len(host.positions.actors))
        if decided % 5 == 0:
            for bot in seated:
                chosen = host.choose(bot, rows)
                assert chosen.dtype == np.uint16
                for row in rows:
                    legal = slice(*host.positions.legal_offsets[row : row + 2])
                    assert chosen[row] in host.positions.legal_ids[legal]
                    position = host.table.game.unpack(host.positions.states[row].tobytes())
                    alone = hosting.decisions_at(position, bot, int(host.luck()[row]))
                    assert bot.choose(alone).tolist() == [chosen[row]]
                assert host.choose(bot, rows[::2]).tolist() == chosen[::2].tolist()
        host.step(host.choose(All(), rows))
        decided += 1


@over_names
def test_a_world_is_determined_by_its_number(name: str) -> None:
    host = Host(name, engine.game(name).min_players, 4, seed=4)
    decisions = host.decisions(All(), [0, 1, 3])
    worlds = decisions.worlds([0, 1, 2], 6)
    assert np.array_equal(decisions.worlds([0, 1, 2], 2), worlds[:, :2])
    assert np.array_equal(decisions.worlds([2, 1], 3, first=3), worlds[[2, 1], 3:])
    # A position's worlds depend on the number of its row, and not on its index among the requested positions.
    assert np.array_equal(host.decisions(All(), [3]).worlds([0], 6), worlds[2:])
    assert not np.array_equal(worlds[0, 0], worlds[0, 1])


@over_names
def test_worlds_do_not_depend_on_other_decisions(name: str) -> None:
    host = Host(name, engine.game(name).min_players, 5, seed=4)
    together = host.decisions(All(), range(5))
    worlds = together.worlds(range(5), 3, first=2**64 - 2)
    for row in range(5):
        alone = host.decisions(All(), [row])
        assert np.array_equal(alone.drawn[0], together.drawn[row])
        assert np.array_equal(alone.worlds([0], 3, first=2**64 - 2)[0], worlds[row])
        position = host.table.game.unpack(host.positions.states[row].tobytes())
        assert np.array_equal(hosting.decisions_at(position, All(), host.luck()[row]).drawn, alone.drawn)
    # The numbers of worlds wrap around.
    assert np.array_equal(together.worlds(range(5), 1)[:, 0], worlds[:, 2])


def test_many_worlds_start_with_the_same_worlds_as_few() -> None:
    decisions = Host(GAMES[0], engine.game(GAMES[0]).min_players, 5, seed=4).decisions(All(), range(5))
    rows = [4, 0, 2, 1, 3]
    # These are more worlds than are drawn in one batch, for two decisions and for one decision.
    for count in (2000, 5000):
        assert np.array_equal(decisions.worlds(rows, count)[:, :3], decisions.worlds(rows, 3))
    assert decisions.worlds([], 3).shape == (0, 3, decisions.game.packed_size)


@over_names
def test_bots_play_games_with_explicit_chance(name: str) -> None:
    game = engine.game(name)
    position = game.new_game(game.min_players)
    seated = [bots.get(spec, name, game.min_players) for spec in SPECS[name]]
    decided = drawn = 0
    while not position.is_terminal():
        if position.is_chance_node():
            # Do not choose the first outcome each time, because in Discat the resulting hand would be a winning group.
            outcomes = position.chance_outcomes()
            position.apply(outcomes[7 * drawn % len(outcomes)][0])
            drawn += 1
            continue
        actions = [int(bot.choose(hosting.decisions_at(position, bot, decided))[0]) for bot in seated]
        assert set(actions) <= set(position.legal_actions())
        position.apply(actions[decided % len(actions)])
        decided += 1
    assert decided > 4


def test_the_random_bot_can_choose_every_legal_action() -> None:
    host = Host(GAMES[0], 2, 4000, seed=1)
    counts = Counter(host.choose(bots.get("random", GAMES[0], 2), np.arange(4000)).tolist())
    assert set(counts) == set(host.positions.legal_ids.tolist())


@pytest.mark.parametrize(("name", "bot"), GAMES_AND_SIMPLE_BOTS)
def test_every_game_has_a_bot_that_beats_random(name: str, bot: str) -> None:
    for players in {engine.game(name).min_players, engine.game(name).max_players}:
        own, random = play(name, players, [bot, "random"], games=300, seed=11)
        assert own + random == pytest.approx(1)
        assert own > 0.65


def test_every_game_has_its_own_bot() -> None:
    assert {name for name, _ in GAMES_AND_SIMPLE_BOTS} == set(GAMES)


@over_names
def test_flat_beats_random(name: str) -> None:
    flat, _ = play(name, engine.game(name).min_players, ["flat:playouts=200", "random"], games=20, seed=11)
    assert flat > 0.6


@over_names
@pytest.mark.parametrize("playouts", [1, 30, 1000])
def test_flat_halves_the_candidates_by_value(name: str, playouts: int) -> None:
    game = engine.game(name)
    flat = bots.get(f"flat:playouts={playouts}", game, game.max_players)
    position = game.new_game(game.max_players, seed=6)
    for luck in range(10):
        decisions = hosting.decisions_at(position, flat, luck)
        legal = position.legal_actions()
        judgement = flat.judge(decisions)
        chosen = int(judgement.actions[0])
        assert judgement.shares.sum() == pytest.approx(1)
        if len(legal) > 1:
            place = legal.index(chosen)
            tried = judgement.shares > 0
            # The actions that reached the last round were tried most often. The first round tries all candidates
            # equally often.
            most = judgement.shares == judgement.shares.max()
            assert most[place]
            assert np.isnan(judgement.values[~tried]).all()
            likely = policy_of(game, decisions.worlds([0], 8)[0], decisions.legal_ids)
            # No action that is at least as likely has a higher value,
            assert judgement.values[most & (likely >= likely[place])].max() == judgement.values[place]
            # and no action with at least this value is likelier by more than one step, a quarter of a doubling.
            as_good = most & (judgement.values >= judgement.values[place])
            assert likely[as_good].max() <= max(1, likely[place]) * 2**0.25
            # An action that was not tried is not likelier than any candidate.
            assert likely[~tried].max(initial=0) <= likely[tried].min()
        position.apply(chosen)


@over_names
def test_returns_of_trials_equal_the_returns_of_plain_playouts(name: str) -> None:
    game = engine.game(name)
    flat = bots.get("flat", game, game.min_players)
    position = game.new_game(game.min_players, seed=6)
    decisions = hosting.decisions_at(position, flat, 5)
    worlds = decisions.worlds([0], 12, first=3)[0]
    tried = decisions.legal_ids[:3]
    expected = []
    for action in tried.tolist():
        returns = 0.0
        for number, world in enumerate(worlds, start=3):
            child = at_stream(game, world.tobytes(), 9, number, 0)
            child.apply(action)
            returns += play_out(child)[0].returns()[position.current_player()]
        expected.append(returns)
    assert sums_of_returns(game, worlds, tried, 9, 3).tolist() == pytest.approx(expected)
