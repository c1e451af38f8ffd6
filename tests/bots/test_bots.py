"""Bots: legal choices, the same however games are batched, and better than chance."""

from collections import Counter

import numpy as np
import pytest

from chatiere import bots, engine
from chatiere.bots import bot as bot_module
from chatiere.bots import hosting
from chatiere.bots.trials import policy_of, sums_of_returns

from .plain_search import at_stream, play_out
from .support import GAMES, SIMPLE, SPECS, TABLES, All, Host, play

GAMES_AND_SIMPLE_BOTS = [(name, bot) for name in GAMES for bot in SIMPLE[name]]


@pytest.mark.parametrize(("name", "players"), TABLES)
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


@pytest.mark.parametrize("name", GAMES)
def test_a_world_is_known_by_its_number(name: str) -> None:
    host = Host(name, engine.game(name).min_players, 4, seed=4)
    decisions = host.decisions(All(), [0, 1, 3])
    worlds = decisions.worlds([0, 1, 2], 6)
    assert np.array_equal(decisions.worlds([0, 1, 2], 2), worlds[:, :2])
    assert np.array_equal(decisions.worlds([2, 1], 3, first=3), worlds[[2, 1], 3:])
    # The row of a position, not its place among those asked for.
    assert np.array_equal(host.decisions(All(), [3]).worlds([0], 6), worlds[2:])
    assert not np.array_equal(worlds[0, 0], worlds[0, 1])


@pytest.mark.parametrize("name", GAMES)
def test_worlds_depend_on_no_other_decision(name: str) -> None:
    host = Host(name, engine.game(name).min_players, 5, seed=4)
    together = host.decisions(All(), range(5))
    worlds = together.worlds(range(5), 3, first=2**64 - 2)
    for row in range(5):
        alone = host.decisions(All(), [row])
        assert np.array_equal(alone.drawn[0], together.drawn[row])
        assert np.array_equal(alone.worlds([0], 3, first=2**64 - 2)[0], worlds[row])
        position = host.table.game.unpack(host.positions.states[row].tobytes())
        assert np.array_equal(hosting.decisions_at(position, All(), host.luck()[row]).drawn, alone.drawn)
    # The game numbers of a seed wrap around.
    assert np.array_equal(together.worlds(range(5), 1)[:, 0], worlds[:, 2])


def test_worlds_are_drawn_a_part_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    decisions = Host(GAMES[0], engine.game(GAMES[0]).min_players, 5, seed=4).decisions(All(), range(5))
    worlds = decisions.worlds([4, 0, 2, 1, 3], 3)
    monkeypatch.setattr(bot_module, "_WORLDS_AT_ONCE", 7)
    assert np.array_equal(decisions.worlds([4, 0, 2, 1, 3], 3), worlds)
    assert decisions.worlds([], 3).shape == (0, 3, decisions.game.packed_size)


@pytest.mark.parametrize("name", GAMES)
def test_bots_play_games_with_explicit_chance(name: str) -> None:
    game = engine.game(name)
    position = game.new_game(game.min_players)
    seated = [bots.get(spec, name, game.min_players) for spec in SPECS[name]]
    decided = drawn = 0
    while not position.is_terminal():
        if position.is_chance_node():
            # Not the lowest each time: in Discat such a hand is a group that wins.
            outcomes = position.chance_outcomes()
            position.apply(outcomes[7 * drawn % len(outcomes)][0])
            drawn += 1
            continue
        actions = [int(bot.choose(hosting.decisions_at(position, bot, decided))[0]) for bot in seated]
        assert set(actions) <= set(position.legal_actions())
        position.apply(actions[decided % len(actions)])
        decided += 1
    assert decided > 4


def test_the_random_bot_takes_any_legal_action() -> None:
    host = Host(GAMES[0], 2, 4000, seed=1)
    counts = Counter(host.choose(bots.get("random", GAMES[0], 2), np.arange(4000)).tolist())
    assert set(counts) == set(host.positions.legal_ids.tolist())


@pytest.mark.parametrize(("name", "bot"), GAMES_AND_SIMPLE_BOTS)
def test_every_game_has_a_bot_that_beats_random(name: str, bot: str) -> None:
    for players in {engine.game(name).min_players, engine.game(name).max_players}:
        own, random = play(name, players, [bot, "random"], games=300, seed=11)
        assert own + random == pytest.approx(1)
        assert own > 0.65


def test_every_game_has_a_bot_of_its_own() -> None:
    assert {name for name, _ in GAMES_AND_SIMPLE_BOTS} == set(GAMES)


@pytest.mark.parametrize("name", GAMES)
def test_flat_beats_random(name: str) -> None:
    flat, _ = play(name, engine.game(name).min_players, ["flat:playouts=200", "random"], games=20, seed=11)
    assert flat > 0.6


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("playouts", [1, 30, 1000])
def test_flat_halves_likely_actions_to_the_best(name: str, playouts: int) -> None:
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
            # Those left in the last round were tried most often; the first round tries each candidate alike.
            most = judgement.shares == judgement.shares.max()
            assert most[place]
            assert np.isnan(judgement.values[~tried]).all()
            likely = policy_of(game, decisions.worlds([0], 8)[0], decisions.legal_ids)
            # Nothing that is as likely won more, nothing that won as much is likelier.
            assert judgement.values[most & (likely >= likely[place])].max() == judgement.values[place]
            # A quarter of a doubling is one step.
            as_good = most & (judgement.values >= judgement.values[place])
            assert likely[as_good].max() <= max(1, likely[place]) * 2**0.25
            # What is left out is no likelier than any candidate.
            assert likely[~tried].max(initial=0) <= likely[tried].min()
        position.apply(chosen)


@pytest.mark.parametrize("name", GAMES)
def test_returns_of_trials_are_those_of_plain_playouts(name: str) -> None:
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
