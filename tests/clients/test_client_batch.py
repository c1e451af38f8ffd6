"""The client of BatchService with a real server and every game. Each item is compared with the engine."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import grpc
import numpy as np
import pytest
from tools.over import over_names, over_tables

from chatiere import engine
from chatiere.clients import BatchClient, ChatiereError
from chatiere.clients.calls.batch_requests import Faults
from chatiere.engine.wire import fill
from chatiere.v1.batch_service_pb2 import BatchSetup, Columns, ItemFault, Restart
from chatiere.v1.errors_pb2 import ErrorReason
from chatiere.v1.game_pb2 import Options, State

from .conftest import MakeFakeBatch

GAMES = [game.name for game in engine.games()]
EVERYTHING = Columns(legal=True, scores=True, observations=True)
SEED = 5


@pytest.fixture
def client(address: str) -> Iterator[BatchClient]:
    with BatchClient(address) as client:
        yield client


def on_the_way(name: str, players: int, count: int = 6) -> list[engine.Position]:
    """Return positions of different games, after different numbers of moves."""
    positions = []
    for number in range(count):
        position = engine.game(name).new_game(players, seed=SEED, game_number=number)
        for _ in range(number):
            position.apply(position.legal_actions()[number % len(position.legal_actions())])
        positions.append(position)
    return positions


def last_decision(name: str, players: int) -> engine.Position:
    """Return a position whose first legal action ends the game."""
    position = engine.game(name).new_game(players, seed=SEED)
    while True:
        after = position.child(position.legal_actions()[0])
        if after.is_terminal():
            return position
        position = after


def packed(positions: list[engine.Position]) -> np.ndarray:
    return np.frombuffer(b"".join(position.pack() for position in positions), np.uint8).reshape(len(positions), -1)


def legal(offsets: np.ndarray, ids: np.ndarray) -> list[list[int]]:
    return [ids[first:last].tolist() for first, last in pairwise(offsets)]


def observed(position: engine.Position, seat: int) -> list[int]:
    return list(position.observation(seat))


def illegal(position: engine.Position) -> int:
    return min(set(range(position.game.num_distinct_actions)) - set(position.legal_actions()))


@over_tables
def test_new_games_are_determined_by_seeds_and_numbers(client: BatchClient, name: str, players: int) -> None:
    numbers = np.array([0, 1, 2**64 - 1], np.uint64)
    games = client.new_games(BatchSetup(game=name, players=players), np.full(3, SEED), numbers, columns=EVERYTHING)
    expected = [engine.game(name).new_game(players, seed=SEED, game_number=int(number)) for number in numbers]
    assert games.states.tolist() == packed(expected).tolist()
    assert games.actors.tolist() == [position.current_player() for position in expected]
    assert legal(games.legal_offsets, games.legal_ids) == [position.legal_actions() for position in expected]
    assert games.totals.tolist() == [position.totals() for position in expected]
    assert games.returns.tolist() == [[0.0] * players] * 3
    assert games.final.tolist() == [False] * 3
    assert games.observations.tolist() == [observed(each, each.current_player()) for each in expected]
    assert games.final_observations.shape == (0, players, engine.game(name).observation_length)
    assert len(games.weights) == 0


@over_names
def test_explicit_chance_has_outcomes_and_weights(client: BatchClient, name: str) -> None:
    players = engine.game(name).min_players
    table = BatchSetup(game=name, players=players)
    games = client.new_games(table, count=2, columns=Columns(legal=True))
    expected = engine.game(name).new_game(players)
    outcomes = [outcome for outcome, _ in expected.chance_outcomes()]
    assert games.actors.tolist() == [-1, -1]
    assert legal(games.legal_offsets, games.legal_ids) == [outcomes] * 2
    assert games.weights.tolist() == [weight for _, weight in expected.chance_outcomes()] * 2
    expected.apply(outcomes[-1])
    stepped = client.step(table, games.states, [outcomes[-1]] * 2)
    assert stepped.positions.states.tolist() == packed([expected] * 2).tolist()


@over_names
def test_options_reach_the_games(client: BatchClient, name: str) -> None:
    options = Options()
    getattr(options, name).SetInParent()
    fill(getattr(options, name), engine.codec(name).put_options, {"first_seat": 1})
    players = engine.game(name).min_players
    games = client.new_games(BatchSetup(game=name, players=players), [SEED], options=options)
    assert engine.game(name).unpack(games.states[0].tobytes()).options()["first_seat"] == 1


@over_names
def test_columns_that_were_not_requested_have_no_elements(client: BatchClient, name: str) -> None:
    games = client.new_games(BatchSetup(game=name, players=engine.game(name).min_players), [SEED, SEED])
    assert games.states.shape == (2, engine.game(name).packed_size)
    assert games.actors.shape == games.final.shape == (2,)
    for column in ("legal_offsets", "legal_ids", "weights", "totals", "returns", "observations", "final_observations"):
        assert getattr(games, column).size == 0, column


@over_tables
def test_step_makes_a_move_in_each_game(client: BatchClient, name: str, players: int) -> None:
    positions = on_the_way(name, players)
    moves = [position.legal_actions()[-1] for position in positions]
    stepped = client.step(BatchSetup(game=name, players=players), packed(positions), moves, columns=EVERYTHING)
    for position, move in zip(positions, moves, strict=True):
        position.apply(move)
    assert stepped.positions.states.tolist() == packed(positions).tolist()
    assert legal(stepped.positions.legal_offsets, stepped.positions.legal_ids) == [
        position.legal_actions() for position in positions
    ]
    assert stepped.positions.totals.tolist() == [position.totals() for position in positions]
    assert not stepped.faults
    assert stepped.faults.reasons.tolist() == [0] * len(positions)


@over_tables
def test_a_game_that_ends_is_restarted_on_request(client: BatchClient, name: str, players: int) -> None:
    positions = [engine.game(name).new_game(players, seed=SEED, game_number=7), last_decision(name, players)]
    moves = [position.legal_actions()[0] for position in positions]
    table = BatchSetup(game=name, players=players)
    over = positions[1].child(moves[1])
    stayed = client.step(table, packed(positions), moves, columns=EVERYTHING).positions
    assert stayed.final.tolist() == [False, True]
    assert stayed.actors[1] == -4
    assert stayed.states[1].tobytes() == over.pack()
    begun = client.step(table, packed(positions), moves, columns=EVERYTHING, restart=Restart(stride=3)).positions
    assert begun.final.tolist() == [False, True]
    assert begun.states[1].tobytes() == engine.game(name).new_game(players, seed=SEED, game_number=3).pack()
    for answer in (stayed, begun):
        assert answer.totals[1].tolist() == over.totals()
        assert answer.returns[1].tolist() == pytest.approx(over.returns())
    assert begun.final_observations.tolist() == [[observed(over, seat) for seat in range(players)]]


@over_names
def test_a_failed_item_does_not_affect_other_items(client: BatchClient, name: str) -> None:
    players = engine.game(name).min_players
    positions = on_the_way(name, players, 3)
    moves = [illegal(positions[0]), positions[1].legal_actions()[0], engine.game(name).num_distinct_actions]
    states = packed(positions)
    states = np.concatenate([states, np.zeros_like(states[:1])])
    stepped = client.step(BatchSetup(game=name, players=players), states, [*moves, 0])
    reasons = [ErrorReason.Name(reason).removeprefix("ERROR_REASON_") for reason in stepped.faults.reasons]
    assert [reasons[0], reasons[2], reasons[3]] == ["ILLEGAL_ACTION", "INVALID_ACTION", "INVALID_STATE"]
    assert stepped.faults
    assert stepped.faults.reasons[1] == 0
    assert [fault.item for fault in stepped.faults.items] == [0, 2, 3]
    assert stepped.positions.states[0].tobytes() == positions[0].pack()
    assert stepped.positions.states[1].tobytes() == positions[1].child(moves[1]).pack()
    with pytest.raises(ChatiereError) as raised:
        stepped.faults.raise_first()
    error = raised.value
    assert (error.code, error.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "ILLEGAL_ACTION")
    assert error.metadata["item"] == "0"
    assert error.metadata["rule"].startswith(f"{name}.md: ")
    assert error.message.startswith("item 0: ")


def test_a_fault_becomes_an_error_with_all_its_details() -> None:
    fault = ItemFault(item=3, reason="ERROR_REASON_INVALID_STATE", message="two cats", field="cats[1]", rule="x.md: Y")
    with pytest.raises(ChatiereError) as raised:
        Faults(np.zeros(4, np.uint8), [fault]).raise_first()
    assert raised.value.metadata == {"item": "3", "rule": "x.md: Y"}
    assert raised.value.violations == (("cats[1]", "two cats"),)
    assert str(raised.value) == "INVALID_STATE: item 3: two cats"
    Faults(np.zeros(4, np.uint8), []).raise_first()


@over_tables
def test_playouts_are_determined_by_their_streams(client: BatchClient, name: str, players: int) -> None:
    positions = on_the_way(name, players, 2)
    played = client.playout(BatchSetup(game=name, players=players), packed(positions), 3, SEED, first_game_number=9)
    for item, position in enumerate(positions):
        ends = [position.clone() for _ in range(3)]
        moves = [end.playout(SEED, 9 + 3 * item + number) for number, end in enumerate(ends)]
        returns = [end.returns() for end in ends]
        assert played.decisions[item] == sum(moves)
        assert played.mean_returns[item].tolist() == pytest.approx(np.mean(returns, axis=0).tolist())
        assert played.wins[item].tolist() == [
            sum(seat in (end.winners() or ()) for end in ends) for seat in range(players)
        ]
    assert not played.faults


@over_tables
def test_evaluations_are_the_engine_s(client: BatchClient, name: str, players: int) -> None:
    last = last_decision(name, players)
    states = packed([*on_the_way(name, players, 2), last.child(last.legal_actions()[0])])
    found = client.evaluate(BatchSetup(game=name, players=players), states, 2, 3, SEED, first_game_number=9)
    expected, _ = engine.Table(engine.game(name), players).evaluate(states, 2, 3, seed=SEED, first_game_number=9)
    for column in expected._fields:
        assert getattr(found, column).tobytes() == getattr(expected, column)
    assert found.actors.tolist()[2] == engine.TERMINAL_PLAYER
    assert len(found.mean_returns) == len(found.legal_ids)
    assert found.counts.tolist() == [6] * len(found.legal_ids)
    assert [item.item for item in found.faults.items] == [2]


@over_tables
def test_scores_at_any_position(client: BatchClient, name: str, players: int) -> None:
    last = last_decision(name, players)
    over = last.child(last.legal_actions()[0])
    scores = client.score(BatchSetup(game=name, players=players), packed([last, over]))
    assert scores.totals.tolist() == [last.totals(), over.totals()]
    assert scores.final.tolist() == [False, True]
    assert scores.ranks.tolist() == [[0] * players, over.ranks()]
    assert scores.returns[1].tolist() == pytest.approx(over.returns())
    assert not scores.faults


@over_tables
def test_resampling_draws_from_the_streams(client: BatchClient, name: str, players: int) -> None:
    positions = on_the_way(name, players, 3)
    seats = [0, 1, 1]
    drawn = client.resample(BatchSetup(game=name, players=players), packed(positions), seats, SEED, first_game_number=9)
    expected = [
        each.resample(seat, SEED, 9 + item) for item, (each, seat) in enumerate(zip(positions, seats, strict=True))
    ]
    assert drawn.states.tolist() == packed(expected).tolist()
    assert not drawn.faults


@over_tables
def test_observations_are_those_of_the_chosen_seat(client: BatchClient, name: str, players: int) -> None:
    positions = on_the_way(name, players, 3)
    seen = client.observe(BatchSetup(game=name, players=players), packed(positions), [1, 0, 1])
    assert seen.observations.tolist() == [
        observed(position, seat) for position, seat in zip(positions, [1, 0, 1], strict=True)
    ]
    assert not seen.faults


@over_tables
def test_states_can_be_typed_and_packed_again(client: BatchClient, name: str, players: int) -> None:
    table, states = BatchSetup(game=name, players=players), packed(on_the_way(name, players))
    unpacked = client.unpack(table, states)
    assert [state.WhichOneof("game") for state in unpacked.typed_states] == [name] * len(states)
    assert [state.stream.game_number for state in unpacked.typed_states] == list(range(len(states)))
    again = client.pack(table, unpacked.typed_states)
    assert again.states.tolist() == states.tolist()
    assert not unpacked.faults
    assert not again.faults
    failed = client.pack(table, [unpacked.typed_states[0], State()])
    assert failed.faults.reasons.tolist()[0] == 0
    assert failed.faults.reasons[1] != 0


@over_names
def test_large_results_are_read_in_place(client: BatchClient, name: str) -> None:
    games = client.new_games(BatchSetup(game=name, players=engine.game(name).min_players), [SEED], columns=EVERYTHING)
    assert not games.states.flags.owndata
    assert not games.observations.flags.owndata
    assert not any(column.flags.writeable and column.size for column in games)


@over_names
def test_columns_take_any_integers_that_they_can_hold(client: BatchClient, name: str) -> None:
    table = BatchSetup(game=name, players=engine.game(name).min_players)
    games = client.new_games(table, [SEED, SEED], np.array([0, 1], np.int16), columns=Columns(legal=True))
    moves = games.legal_ids[games.legal_offsets[:-1]]
    after = client.step(table, games.states, moves).positions.states.tolist()
    assert client.step(table, games.states.tobytes(), moves.astype(">i8")).positions.states.tolist() == after
    assert client.step(table, np.asfortranarray(games.states), moves.tolist()).positions.states.tolist() == after
    assert client.step(table, games.states[::-1], moves[::-1]).positions.states.tolist() == after[::-1]
    assert client.step(table, games.states[1:], moves[1:]).positions.states.tolist() == after[1:]
    for wrong in ([-1, 0], [0, 2**16], [0.5, 1]):
        with pytest.raises(ValueError, match=r"moves\[.\] must be an integer from 0 to 65535"):
            client.step(table, games.states, wrong)
    for wrong in ([-1, 0], [0, 2**64], [-1, 2**64]):
        with pytest.raises(ValueError, match=r"seeds\[.\] must be an integer from 0 to 2\*\*64 - 1"):
            client.new_games(table, wrong)


def test_numbers_may_be_numpy_s(client: BatchClient) -> None:
    table = BatchSetup(game=GAMES[0], players=engine.game(GAMES[0]).min_players)
    assert len(client.new_games(table, count=np.int64(2)).states) == 2
    states = client.new_games(table, range(2)).states
    number = np.array(3)
    played = client.playout(table, states, number, number, first_game_number=number)
    assert played.decisions.tolist() == client.playout(table, states, 3, 3, first_game_number=3).decisions.tolist()
    drawn = client.resample(table, states, [0, 1], number, first_game_number=number)
    expected = client.resample(table, states, [0, 1], 3, first_game_number=3)
    assert drawn.states.tolist() == expected.states.tolist()
    for name, call in (
        ("count", lambda wrong: client.new_games(table, count=wrong)),
        ("playouts", lambda wrong: client.playout(table, states, wrong, 1)),
        ("seed", lambda wrong: client.playout(table, states, 1, wrong)),
        ("worlds", lambda wrong: client.evaluate(table, states, wrong, 1, 1)),
        ("playouts", lambda wrong: client.evaluate(table, states, 1, wrong, 1)),
        ("seed", lambda wrong: client.evaluate(table, states, 1, 1, wrong)),
        ("seed", lambda wrong: client.resample(table, states, [0, 1], wrong)),
        ("first_game_number", lambda wrong: client.resample(table, states, [0, 1], 1, first_game_number=wrong)),
    ):
        with pytest.raises(TypeError, match=f"^{name} must be an integer, not 0.5"):
            call(0.5)
        with pytest.raises(ValueError, match=f"^{name} must be an integer from 0 to "):
            call(-1)


def test_columns_of_other_types_are_refused_by_name(client: BatchClient) -> None:
    table = BatchSetup(game=GAMES[0], players=engine.game(GAMES[0]).min_players)
    states = client.new_games(table, range(2)).states
    nothing: Any = None
    for name, call in (
        ("seeds", lambda: client.new_games(table, 7)),
        ("seeds", lambda: client.new_games(table, np.zeros(2))),
        ("game_numbers", lambda: client.new_games(table, [1, 2], np.zeros(2))),
        ("states", lambda: client.score(table, states.astype(float))),
        ("moves", lambda: client.step(table, states, [[0], [0]])),
        ("seats", lambda: client.observe(table, states, nothing)),
    ):
        with pytest.raises(ValueError, match=rf"^{name}(\[0\])? must be "):
            call()


def test_new_games_need_seeds_or_a_count(client: BatchClient) -> None:
    given: dict[str, Any]
    for given in ({}, {"seeds": []}, {"count": 0}):
        with pytest.raises(ChatiereError) as raised:
            client.new_games(BatchSetup(game=GAMES[0], players=3), **given)
        assert raised.value.reason == "INVALID_BATCH"
        assert raised.value.violations[0].field == "count"


def test_an_invalid_request_ends_the_call(client: BatchClient) -> None:
    name = GAMES[0]
    table = BatchSetup(game=name, players=engine.game(name).min_players)
    states = client.new_games(table, [SEED, SEED]).states
    for reason, wrong, moves in (
        ("UNKNOWN_GAME", BatchSetup(game="tarock", players=2), [0, 0]),
        ("INVALID_PLAYERS", BatchSetup(game=name, players=99), [0, 0]),
        ("INVALID_BATCH", table, [0]),
    ):
        with pytest.raises(ChatiereError) as raised:
            client.step(wrong, states, moves)
        assert raised.value.reason == reason


def test_unavailable_is_retried_with_large_batches_too(make_fake_batch: MakeFakeBatch) -> None:
    def answer(call: int, context: grpc.ServicerContext) -> None:
        if call < 4:
            context.abort(grpc.StatusCode.UNAVAILABLE, "not yet")

    servicer, address = make_fake_batch(answer)
    with BatchClient(address) as client:
        client.step(BatchSetup(players=2), bytes(2 * 1024 * 1024), [])
    assert servicer.calls == 4


def test_responses_may_exceed_grpc_s_default_limit(make_fake_batch: MakeFakeBatch) -> None:
    _, address = make_fake_batch(lambda call, context: None, size=6 * 1024 * 1024)
    with BatchClient(address) as client:
        assert client.step(BatchSetup(players=2), b"", []).positions.states.size == 6 * 1024 * 1024


def test_a_call_has_a_deadline(make_fake_batch: MakeFakeBatch) -> None:
    remaining = []
    _, address = make_fake_batch(lambda call, context: remaining.append(context.time_remaining()))
    with BatchClient(address, timeout=500) as client:
        client.step(BatchSetup(players=2), b"", [])
        client.step(BatchSetup(players=2), b"", [], timeout=2000)
    assert 20 < remaining[0] < 1000 < remaining[1] < 3000
