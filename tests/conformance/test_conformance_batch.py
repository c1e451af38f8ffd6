"""Every game: each item of a batch has the same result as Position, and a failed item does not affect other items."""

import random

import numpy as np
import pytest

from chatiere.engine import EngineError, Position, Reason
from chatiere.engine.core.batch import Table as BatchTable
from chatiere.engine.core.columns import Restart

from .batches import (
    ALL,
    Item,
    check_broken_item,
    check_faults,
    check_item,
    column,
    float32,
    items_of,
    observation_of,
    refusal,
)
from .support import TABLES, Table, positions, random_move, random_options, thinned
from .test_conformance_mutations import PACKED_PER_TABLE, mutated


@pytest.fixture
def batch_table(table: Table) -> BatchTable:
    return BatchTable(*table)


def packed(items: tuple[Position, ...] | list[Position]) -> bytes:
    return b"".join(position.pack() for position in items)


def test_new_games_are_those_of_new_game(table: Table, batch_table: BatchTable) -> None:
    game, players = table
    choices = random.Random(f"{game.name} {players}")
    for _ in range(4):
        options = random_options(game, players, choices)
        seeds = [choices.getrandbits(64) for _ in range(5)]
        numbers = [choices.getrandbits(64) for _ in range(5)]
        found = batch_table.new_games(
            options, seeds=column(seeds, "<u8"), game_numbers=column(numbers, "<u8"), columns=ALL
        )
        for item, seed, number in zip(items_of(batch_table, found), seeds, numbers, strict=True):
            check_item(item, game.new_game(players, options, seed=seed, game_number=number))
        unnumbered = batch_table.new_games(options, seeds=column(seeds, "<u8"))
        assert unnumbered.states == packed([game.new_game(players, options, seed=seed) for seed in seeds])
        explicit = items_of(batch_table, batch_table.new_games(options, count=3, columns=ALL))
        assert len(explicit) == 3
        for item in explicit:
            check_item(item, game.new_game(players, options))


def test_steps_are_those_of_apply(table: Table, batch_table: BatchTable) -> None:
    # The batch has explicit and sampled chance, decisions and chance events.
    choices = random.Random("steps")
    before = [position for position in positions(table) if not position.is_terminal()]
    choices.shuffle(before)
    moves = [random_move(position, choices) for position in before]
    found, faults = batch_table.step(packed(before), column(moves, "<u2"), columns=ALL)
    check_faults(faults, [None] * len(before))
    assert found.final_observations == b""
    for item, position, move in zip(items_of(batch_table, found), before, moves, strict=True):
        check_item(item, position.child(move))


def test_weights_are_left_out_if_no_item_is_at_a_chance_event(table: Table, batch_table: BatchTable) -> None:
    sampled = [position for position in positions(table, True) if not position.is_terminal()]
    moves = column([position.legal_actions()[0] for position in sampled], "<u2")
    found, _ = batch_table.step(packed(sampled), moves, columns=ALL)
    assert found.weights == b""


def test_columns_that_were_not_requested_are_empty(table: Table, batch_table: BatchTable) -> None:
    found = batch_table.new_games(count=2)
    assert [name for name, value in found._asdict().items() if value] == ["states", "actors", "final"]
    full = batch_table.new_games(count=2, columns=ALL)
    assert (found.states, found.actors, found.final) == (full.states, full.actors, full.final)


def broken(table: Table, choices: random.Random) -> bytes:
    """Return an invalid packed state: a mutated state, or a state with another number of players or another version."""
    game, players = table
    source, other = (choices.choice(positions(table)).pack() for _ in range(2))
    kind = choices.randrange(4)
    if kind == 0 and (game, players + 1) in TABLES:
        return game.new_game(players + 1, seed=choices.getrandbits(64)).pack()
    if kind == 1:
        return source[:1] + bytes([choices.randrange(256)]) + source[2:]
    while len(changed := mutated(source, other, choices)) != game.packed_size:
        pass
    return changed


def test_a_failed_item_has_positions_message_and_does_not_affect_other_items(
    table: Table, batch_table: BatchTable
) -> None:
    game = table[0]
    choices = random.Random("faults")
    all_positions = positions(table)
    restart = Restart(stride=7)
    for share in (0.02, 0.3, 1.0):
        states, moves = [], []
        for _ in range(100):
            position = choices.choice(all_positions)
            move = 0 if position.is_terminal() else random_move(position, choices)
            if choices.random() < share:
                move = choices.choice((move, game.num_distinct_actions, 0xFFFF, choices.randrange(0x10000)))
            states.append(broken(table, choices) if choices.random() < share else position.pack())
            moves.append(move)
        found, faults = batch_table.step(b"".join(states), column(moves, "<u2"), columns=ALL, restart=restart)
        expected = [
            refusal(batch_table, state, lambda position, move=move: position.apply(move))
            for state, move in zip(states, moves, strict=True)
        ]
        check_faults(faults, expected)
        for item, state, move, error in zip(items_of(batch_table, found), states, moves, expected, strict=True):
            check_stepped_item(batch_table, item, state, move, error)


def check_stepped_item(
    table: BatchTable, item: Item, state: bytes, move: int, error: EngineError | None, stride: int = 7
) -> None:
    """Assert that an item has its invalid or unchanged state, or the result of its move or the next game."""
    game = table.game
    if error is not None:
        try:
            position = game.unpack(state)
        except EngineError:
            check_broken_item(item, table, state)
        else:
            if position.num_players() == table.players:
                check_item(item, position)
            else:
                check_broken_item(item, table, state)
        return
    after = game.unpack(state).child(move)
    if not after.is_terminal():
        check_item(item, after)
        return
    check_item(item, begun_anew(after, {}, stride), after)


def begun_anew(ended: Position, options: dict[str, object], stride: int) -> Position:
    """Return the game that follows a game that has ended."""
    game, players = ended.game, ended.num_players()
    if not ended.is_sampled():
        return game.new_game(players, options)
    stream = ended.random_stream()
    assert stream is not None
    seed, number, _ = stream
    return game.new_game(players, options, seed=seed, game_number=(number + stride) % 2**64)


@pytest.mark.parametrize("sampled", [True, False], ids=["sampled", "explicit"])
def test_batches_and_positions_play_the_same_games(table: Table, batch_table: BatchTable, sampled: bool) -> None:
    """Play whole games with restarts, in batches and one by one."""
    game, players = table
    choices = random.Random(f"{game.name} {players} {sampled}")
    first, following = random_options(game, players, choices), random_options(game, players, choices)
    count, seed = 6, choices.getrandbits(64)
    # The numbers begin near the end of the range, so that they wrap around.
    numbers = [(2**64 - 3 + i) % 2**64 for i in range(count)]
    if sampled:
        begun = batch_table.new_games(
            first, seeds=column([seed] * count, "<u8"), game_numbers=column(numbers, "<u8"), columns=ALL
        )
        single = [game.new_game(players, first, seed=seed, game_number=number) for number in numbers]
    else:
        begun = batch_table.new_games(first, count=count, columns=ALL)
        single = [game.new_game(players, first) for _ in numbers]
    restarts = 0
    while restarts < count + 2:
        items = items_of(batch_table, begun)
        moves = [
            random_move(position, choices) if item.weights else choices.choice(item.legal_ids)
            for item, position in zip(items, single, strict=True)
        ]
        begun, faults = batch_table.step(
            begun.states, column(moves, "<u2"), columns=ALL, restart=Restart(following, stride=count)
        )
        check_faults(faults, [None] * count)
        final_observations = []
        for i, item in enumerate(items_of(batch_table, begun)):
            single[i] = single[i].child(moves[i])
            ended = None
            if single[i].is_terminal():
                restarts += 1
                ended = single[i]
                for seat in range(players):
                    final_observations += observation_of(ended, seat)
                single[i] = begun_anew(ended, following, count)
            check_item(item, single[i], ended)
        assert np.frombuffer(begun.final_observations, "u1").tolist() == final_observations


def test_games_stay_over_without_a_restart(table: Table, batch_table: BatchTable) -> None:
    ends = [position for position in positions(table) if position.is_terminal()]
    found, faults = batch_table.step(packed(ends), bytes(2 * len(ends)), columns=ALL)
    assert {fault.reason for fault in faults.items} == {Reason.GAME_OVER}
    for item, position in zip(items_of(batch_table, found), ends, strict=True):
        check_item(item, position)


def test_scores_are_those_of_position(table: Table, batch_table: BatchTable) -> None:
    players = table[1]
    choices = random.Random("scores")
    items = positions(table)
    states = [position.pack() for position in items] + [broken(table, choices) for _ in range(30)]
    scores, faults = batch_table.score(b"".join(states))
    expected = [refusal(batch_table, state, lambda position: None) for state in states]
    check_faults(faults, expected)
    totals = np.frombuffer(scores.totals, "<i4").reshape(-1, players).tolist()
    ranks = np.frombuffer(scores.ranks, "u1").reshape(-1, players).tolist()
    returns = np.frombuffer(scores.returns, "<f4").reshape(-1, players).tolist()
    zeros = [0] * players
    for i, (state, error) in enumerate(zip(states, expected, strict=True)):
        found = (totals[i], scores.final[i], ranks[i], returns[i])
        if error is not None:
            assert found == (zeros, 0, zeros, zeros)
            continue
        position = table[0].unpack(state)
        assert found == (
            position.totals(),
            position.is_terminal(),
            position.ranks() or zeros,
            float32(position.returns()),
        )


def test_observations_are_those_of_position(table: Table, batch_table: BatchTable) -> None:
    game, players = table
    choices = random.Random("observations")
    states = [position.pack() for position in thinned(positions(table), 100)]
    states += [broken(table, choices) for _ in range(30)]
    choices.shuffle(states)
    seats = [choices.choice((*range(players), choices.randrange(256))) for _ in states]
    observations, faults = batch_table.observe(b"".join(states), bytes(seats))
    expected = [
        refusal(batch_table, state, lambda position, seat=seat: position.observation(seat))
        for state, seat in zip(states, seats, strict=True)
    ]
    check_faults(faults, expected)
    found = np.frombuffer(observations, "u1").reshape(-1, game.observation_length)
    for i, error in enumerate(expected):
        if error is not None:
            assert not found[i].any()
        else:
            assert found[i].tobytes() == game.unpack(states[i]).observation(seats[i])


def test_resampled_states_are_those_of_position(table: Table, batch_table: BatchTable) -> None:
    game, players = table
    choices = random.Random("resampling")
    states = [position.pack() for position in thinned(positions(table), 60)]
    states += [broken(table, choices) for _ in range(30)]
    choices.shuffle(states)
    seats = [choices.choice((*range(players), choices.randrange(256))) for _ in states]
    seed, first = choices.getrandbits(64), 2**64 - 20
    found, faults = batch_table.resample(b"".join(states), bytes(seats), seed=seed, first_game_number=first)
    numbers = [(first + i) % 2**64 for i in range(len(states))]
    expected = [
        refusal(batch_table, state, lambda position, seat=seat, number=number: position.resample(seat, seed, number))
        for state, seat, number in zip(states, seats, numbers, strict=True)
    ]
    check_faults(faults, expected)
    size = game.packed_size
    for i, (state, error) in enumerate(zip(states, expected, strict=True)):
        drawn = state if error else game.unpack(state).resample(seats[i], seed, numbers[i]).pack()
        assert found[i * size : (i + 1) * size] == drawn
    # A seed and a game number for each item.
    seeds = [choices.getrandbits(64) for _ in states]
    found, faults = batch_table.resample(b"".join(states), bytes(seats), seeds=seeds, game_numbers=numbers)
    check_faults(faults, expected)
    for i, (state, error) in enumerate(zip(states, expected, strict=True)):
        drawn = state if error else game.unpack(state).resample(seats[i], seeds[i], numbers[i]).pack()
        assert found[i * size : (i + 1) * size] == drawn
    of_zero = batch_table.resample(b"".join(states), bytes(seats), seeds=seeds)
    assert of_zero == batch_table.resample(b"".join(states), bytes(seats), seeds=seeds, game_numbers=[0] * len(states))


def test_playouts_are_those_of_position(table: Table, batch_table: BatchTable) -> None:
    players = table[1]
    choices = random.Random("playouts")
    states = [position.pack() for position in thinned(positions(table), 20)]
    states += [broken(table, choices) for _ in range(10)]
    choices.shuffle(states)
    seed, first, count = choices.getrandbits(64), 2**64 - 40, 3
    playouts, faults = batch_table.playout(b"".join(states), count, seed=seed, first_game_number=first)
    expected = [refusal(batch_table, state, lambda position: None) for state in states]
    check_faults(faults, expected)
    mean_returns = np.frombuffer(playouts.mean_returns, "<f8").reshape(-1, players)
    wins = np.frombuffer(playouts.wins, "<u4").reshape(-1, players)
    moves = np.frombuffer(playouts.decisions, "<u8")
    for i, (state, error) in enumerate(zip(states, expected, strict=True)):
        decisions, returns, won = 0, np.zeros(players), np.zeros(players)
        for j in range(count if error is None else 0):
            position = table[0].unpack(state)
            decisions += position.playout(seed, (first + count * i + j) % 2**64)
            returns += position.returns()
            won += [seat in (position.winners() or ()) for seat in range(players)]
        assert moves[i] == decisions
        assert wins[i].tolist() == won.tolist()
        assert mean_returns[i].tolist() == pytest.approx((returns / count).tolist(), abs=1e-12)


def test_batches_of_mutated_states_are_refused_or_safe(table: Table, batch_table: BatchTable) -> None:
    """A batch and Position give the same result for a mutated state, and it is safe to continue from the state."""
    game, players = table
    choices = random.Random(f"{game.name} {players} batch")
    sources = [position.pack() for position in positions(table, games=4)]
    states: list[bytes] = []
    while len(states) < PACKED_PER_TABLE:
        state = mutated(choices.choice(sources), choices.choice(sources), choices)
        if len(state) == game.packed_size:
            states.append(state)
    everything = b"".join(states)
    _, faults = batch_table.score(everything)
    check_faults(faults, [refusal(batch_table, state, lambda position: None) for state in states])
    seats = bytes(choices.randrange(players) for _ in states)
    _, resampled = batch_table.resample(everything, seats, seed=1)
    _, observed = batch_table.observe(everything, seats)
    assert observed.reasons == faults.reasons
    assert {0, *faults.reasons} >= {0, *resampled.reasons}
    playouts, played = batch_table.playout(everything, 1, seed=2)
    assert played.reasons == faults.reasons
    # Moves can be made in valid states, and give the same results as in positions.
    stood, _ = batch_table.step(everything, bytes(2 * len(states)), columns=ALL)
    moves = [choices.choice(item.legal_ids) if item.legal_ids else 0 for item in items_of(batch_table, stood)]
    for _ in range(3):
        before = stood
        stood, stepped = batch_table.step(before.states, column(moves, "<u2"), columns=ALL, restart=Restart(stride=1))
        items = items_of(batch_table, stood)
        for i in choices.sample(range(len(items)), min(len(items), 100)):
            state = bytes(before.states[i * game.packed_size : (i + 1) * game.packed_size])
            error = refusal(batch_table, state, lambda position, move=moves[i]: position.apply(move))
            assert bool(stepped.reasons and stepped.reasons[i]) == (error is not None)
            check_stepped_item(batch_table, items[i], state, moves[i], error, stride=1)
        moves = [choices.choice(item.legal_ids) if item.legal_ids else 0 for item in items]
    assert len(playouts.decisions) == 8 * len(states)
