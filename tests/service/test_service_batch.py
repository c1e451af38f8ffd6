"""BatchService: calls and the stream return the results of the engine's batches."""

import queue
from itertools import pairwise
from typing import Any

import grpc
import numpy as np
import pytest
from google.protobuf.message import Message

from chatiere.engine import Game, Position, Reason
from chatiere.engine.core.batch import Table
from chatiere.engine.core.cancellation import Cancellation
from chatiere.engine.core.columns import Columns, Restart
from chatiere.engine.wire import fill
from chatiere.service.base.settings import Settings
from chatiere.service.calls import conversion
from chatiere.v1 import batch_service_pb2 as pb
from chatiere.v1 import errors_pb2, game_pb2, game_service_pb2

from .batches import play_request
from .support import PATIENCE, Door, LogLines, Refused, Running, batch_stub, code_of, read_refusal, refusal, running

ALL = pb.Columns(legal=True, scores=True, observations=True)
COUNT = 6


def state_of(position: Position) -> game_pb2.State:
    """Return a position as a State."""
    return fill(game_pb2.State(), conversion.of(position).put_state, position)


@pytest.fixture
def begun(batches: Any, table: pb.BatchSetup) -> pb.Positions:
    """Return the positions at the first decisions of several games."""
    request = pb.NewGamesRequest(setup=table, seeds=np.arange(COUNT, dtype="<u8").tobytes(), columns=ALL)
    positions: pb.Positions = batches.NewGames(request).positions
    return positions


def first_moves(positions: pb.Positions) -> bytes:
    """Return the first legal id of each item, or 0 for an item without legal ids."""
    ids, offsets = np.frombuffer(positions.legal_ids, "<u2"), np.frombuffer(positions.legal_offsets, "<u4")
    return b"".join((ids[a] if a < b else np.uint16(0)).tobytes() for a, b in pairwise(offsets))


def requests_on(table: pb.BatchSetup, positions: pb.Positions) -> dict[str, Any]:
    """Return a request of each kind, by the name of its field in PlayRequest."""
    states = positions.states
    seats = bytes(range(2)) * (COUNT // 2)
    return {
        "new_games": pb.NewGamesRequest(setup=table, seeds=bytes(range(8 * COUNT)), columns=ALL),
        "step": pb.StepRequest(
            setup=table, states=states, moves=first_moves(positions), columns=ALL, restart=pb.Restart(stride=1)
        ),
        "playout": pb.PlayoutRequest(setup=table, states=states, playouts=3, seed=5, first_game_number=6),
        "evaluate": pb.EvaluateRequest(
            setup=table, states=states, worlds=2, playouts=3, seed=5, first_game_number=2**64 - 1
        ),
        "score": pb.ScoreRequest(setup=table, states=states),
        "resample_states": pb.ResampleStatesRequest(
            setup=table, states=states, seats=seats, seed=5, first_game_number=2**64 - 1
        ),
        "observe": pb.ObserveRequest(setup=table, states=states, seats=seats),
        "convert": pb.ConvertRequest(setup=table, states=states),
    }


def method_of(batches: Any, name: str) -> Any:
    """Return the method that corresponds to a field of PlayRequest."""
    return getattr(batches, "".join(word.capitalize() for word in name.split("_")))


def on_stream(batches: Any, *requests: pb.PlayRequest) -> list[pb.PlayResponse]:
    return list(batches.Play(iter(requests), timeout=PATIENCE))


# Responses


def columns_of(message: Any, result: Any) -> None:
    """Assert that a message has exactly the columns of the engine's result."""
    assert {field.name: value for field, value in message.ListFields() if isinstance(value, bytes)} == {
        name: value for name, value in result._asdict().items() if value
    }


def test_calls_without_a_seed_use_different_seeds(batches: Any, table: pb.BatchSetup, begun: pb.Positions) -> None:
    seats = bytes(len(begun.actors))
    for call, request in (
        (batches.Playout, pb.PlayoutRequest(setup=table, states=begun.states, playouts=8)),
        (batches.Evaluate, pb.EvaluateRequest(setup=table, states=begun.states, worlds=8, playouts=1)),
        (batches.ResampleStates, pb.ResampleStatesRequest(setup=table, states=begun.states, seats=seats)),
    ):
        assert call(request) != call(request)
        # 0 is a valid seed.
        request.seed = 0
        assert call(request) == call(request)


def test_calls_return_the_results_of_the_engine_s_batches(
    batches: Any, game: Game, table: pb.BatchSetup, begun: pb.Positions
) -> None:
    engines = Table(game, game.max_players)
    wanted = Columns(legal=True, scores=True, observations=True)
    requests = requests_on(table, begun)
    columns_of(begun, engines.new_games(seeds=np.arange(COUNT, dtype="<u8"), columns=wanted))
    step = batches.Step(requests["step"])
    columns_of(
        step.positions, engines.step(begun.states, first_moves(begun), columns=wanted, restart=Restart(stride=1))[0]
    )
    columns_of(batches.Playout(requests["playout"]), engines.playout(begun.states, 3, seed=5, first_game_number=6)[0])
    columns_of(
        batches.Evaluate(requests["evaluate"]),
        engines.evaluate(begun.states, 2, 3, seed=5, first_game_number=2**64 - 1)[0],
    )
    columns_of(batches.Score(requests["score"]), engines.score(begun.states)[0])
    seats = requests["observe"].seats
    assert batches.Observe(requests["observe"]).observations == engines.observe(begun.states, seats)[0]
    assert (
        batches.ResampleStates(requests["resample_states"]).states
        == engines.resample(begun.states, seats, seed=5, first_game_number=2**64 - 1)[0]
    )
    del requests["new_games"]
    for name, request in requests.items():
        assert not method_of(batches, name)(request).HasField("faults")


def test_totals_of_ended_games_only(batches: Any, table: pb.BatchSetup) -> None:
    final, both = (pb.Columns(legal=True, scores=all_scores, final_scores=True) for all_scores in (False, True))
    positions = batches.NewGames(pb.NewGamesRequest(setup=table, count=COUNT, columns=final)).positions
    ended = 0
    while not ended:
        step = pb.StepRequest(setup=table, states=positions.states, moves=first_moves(positions))
        step.columns.CopyFrom(both)
        expected = batches.Step(step).positions
        step.columns.CopyFrom(final)
        positions = batches.Step(step).positions
        assert positions.returns == expected.returns
        over = np.frombuffer(positions.final, np.bool_)
        totals = np.frombuffer(expected.totals, "<i4").reshape(COUNT, -1) * over[:, None]
        assert np.frombuffer(positions.totals, "<i4").tolist() == totals.ravel().tolist()
        ended = int(over.sum())


def test_columns_that_were_not_requested_are_absent(batches: Any, table: pb.BatchSetup) -> None:
    positions = batches.NewGames(pb.NewGamesRequest(setup=table, count=2)).positions
    assert [field.name for field, _ in positions.ListFields()] == ["states", "actors", "final"]


def test_games_have_the_given_options(batches: Any, game: Game, table: pb.BatchSetup) -> None:
    request = pb.NewGamesRequest(setup=table, seeds=bytes(8))
    getattr(request.options, game.name).first_seat = 1
    states = batches.NewGames(request).positions.states
    assert states == game.new_game(game.max_players, {"first_seat": 1}, seed=0).pack()


def test_games_restart_with_the_options_of_the_restart(batches: Any, game: Game, table: pb.BatchSetup) -> None:
    position = game.new_game(game.max_players, seed=3, game_number=4)
    last = position
    while not position.is_terminal():
        last, move = position.clone(), position.legal_actions()[-1]
        position.apply(move)
    request = pb.StepRequest(
        setup=table, states=last.pack(), moves=move.to_bytes(2, "little"), columns=ALL, restart=pb.Restart(stride=10)
    )
    getattr(request.restart.options, game.name).first_seat = 1
    answer = batches.Step(request).positions
    expected = game.new_game(game.max_players, {"first_seat": 1}, seed=3, game_number=14)
    assert answer.states == expected.pack()
    assert np.frombuffer(answer.totals, "<i4").tolist() == position.totals()
    assert np.frombuffer(answer.returns, "<f4").tolist() == np.array(position.returns(), "<f4").tolist()
    assert answer.final == b"\1"
    assert answer.final_observations == b"".join(position.observation(seat) for seat in range(game.max_players))


def test_states_are_converted_both_ways(batches: Any, game: Game, table: pb.BatchSetup, begun: pb.Positions) -> None:
    typed = batches.Convert(pb.ConvertRequest(setup=table, states=begun.states))
    size = game.packed_size
    assert [*typed.typed_states] == [
        state_of(game.unpack(begun.states[i * size : (i + 1) * size])) for i in range(COUNT)
    ]
    assert not typed.states
    packed = batches.Convert(pb.ConvertRequest(setup=table, typed_states=typed.typed_states))
    assert packed.states == begun.states
    assert not packed.typed_states
    assert not typed.HasField("faults")
    assert not packed.HasField("faults")


def test_packed_states_of_batches_are_valid_in_game_service(
    server: Running, batches: Any, game: Game, table: pb.BatchSetup
) -> None:
    request = game_service_pb2.NewGameRequest(game=game.name, players=game.max_players, seed=3, game_number=4)
    state = server.stub.NewGame(request).position.state
    packed = batches.Convert(pb.ConvertRequest(setup=table, typed_states=[state])).states
    seed, number = np.array([3], "<u8").tobytes(), np.array([4], "<u8").tobytes()
    assert batches.NewGames(pb.NewGamesRequest(setup=table, seeds=seed, game_numbers=number)).positions.states == packed


# Items that fail


def test_a_failed_item_does_not_affect_other_items(
    batches: Any, game: Game, table: pb.BatchSetup, begun: pb.Positions
) -> None:
    size = game.packed_size
    states = bytearray(begun.states)
    states[size + 1] = game.rules_version + 1
    states[2 * size + 2] = 7
    states[4 * size] = 255
    moves = bytearray(first_moves(begun))
    moves[6:8] = b"\xff\xff"
    answer = batches.Step(pb.StepRequest(setup=table, states=bytes(states), moves=bytes(moves), columns=ALL))
    numbers = [0, 7, 6, 8, 6, 0]
    assert list(answer.faults.reasons) == numbers
    assert [(fault.item, fault.reason) for fault in answer.faults.items] == [(1, 7), (2, 6), (3, 8), (4, 6)]
    assert [fault.field for fault in answer.faults.items] == [
        "states.rules_version",
        "states.header.sampled",
        "moves",
        "states.header.game",
    ]
    unsupported = f"unsupported version {game.rules_version + 1} of the rules of {game.name}; supported: "
    assert answer.faults.items[0].message.startswith(unsupported)
    actors = np.frombuffer(answer.positions.actors, "i1")
    assert actors[[1, 2, 4]].tolist() == [-3, -3, -3]
    assert actors[3] == np.frombuffer(begun.actors, "i1")[3]
    whole = batches.Step(pb.StepRequest(setup=table, states=begun.states, moves=first_moves(begun))).positions
    for item in range(COUNT):
        part = slice(item * size, (item + 1) * size)
        assert answer.positions.states[part] == (states if numbers[item] else whole.states)[part]


def test_a_rule_is_cited(batches: Any, game: Game, table: pb.BatchSetup, begun: pb.Positions) -> None:
    legal = {int(each) for each in np.frombuffer(begun.legal_ids, "<u2")}
    illegal = next(action for action in range(game.num_distinct_actions) if action not in legal)
    moves = np.full(COUNT, illegal, "<u2").tobytes()
    faults = batches.Step(pb.StepRequest(setup=table, states=begun.states, moves=moves)).faults
    assert list(faults.reasons) == [Reason.ILLEGAL_ACTION.number] * COUNT
    assert all(fault.rule.startswith(f"{game.name}.md: ") for fault in faults.items)


def test_states_of_another_number_of_players_fail(batches: Any, game: Game, table: pb.BatchSetup) -> None:
    if game.min_players == game.max_players:
        return
    state = game.new_game(game.min_players, seed=1).pack()
    faults = batches.Score(pb.ScoreRequest(setup=table, states=state)).faults
    assert faults.items[0].reason == errors_pb2.ERROR_REASON_INVALID_PLAYERS
    assert faults.items[0].field == "states"


def test_a_failed_conversion_does_not_affect_other_items(
    batches: Any, game: Game, table: pb.BatchSetup, begun: pb.Positions
) -> None:
    good = batches.Convert(pb.ConvertRequest(setup=table, states=begun.states)).typed_states
    outdated = game_pb2.State()
    outdated.CopyFrom(good[0])
    outdated.rules_version += 1
    broken = game_pb2.State(rules_version=game.rules_version)
    getattr(broken, game.name).SetInParent()
    other = game_pb2.State(rules_version=1)
    getattr(other, "discat" if game.name != "discat" else "momistigri").SetInParent()
    players = game.min_players if table.players != game.min_players else game.max_players
    elsewhere = state_of(game.new_game(players, seed=1)) if players != table.players else other
    typed = [good[0], outdated, broken, other, game_pb2.State(), good[1], elsewhere]
    answer = batches.Convert(pb.ConvertRequest(setup=table, typed_states=typed))
    size = game.packed_size
    assert answer.states == begun.states[:size] + bytes(4 * size) + begun.states[size : 2 * size] + bytes(size)
    assert list(answer.faults.reasons) == [0, 7, 6, 6, 1, 0, 2 if elsewhere is not other else 6]
    fields = [fault.field for fault in answer.faults.items]
    assert fields[0] == "typed_states[1].rules_version"
    assert fields[1].startswith(f"typed_states[2].{game.name}.")
    assert fields[2].startswith("typed_states[3].")
    assert fields[3] == "typed_states[4]"
    assert fields[4] == "typed_states[6]" or elsewhere is other
    packed = bytearray(begun.states)
    packed[size] = 255
    back = batches.Convert(pb.ConvertRequest(setup=table, states=bytes(packed)))
    assert list(back.faults.reasons) == [0, 6, 0, 0, 0, 0]
    assert back.faults.items[0].field == "states.header.game"
    assert [state.WhichOneof("game") for state in back.typed_states] == [game.name, None] + [game.name] * 4


def test_the_first_twenty_faults_have_texts(batches: Any, game: Game, table: pb.BatchSetup) -> None:
    size = game.packed_size
    faults = batches.Score(pb.ScoreRequest(setup=table, states=bytes(30 * size))).faults
    assert len(faults.reasons) == 30
    assert [fault.item for fault in faults.items] == list(range(20))
    typed = batches.Convert(pb.ConvertRequest(setup=table, states=bytes(30 * size)))
    assert typed.faults == faults
    assert len(typed.typed_states) == 30


# Requests refused as a whole


def refused_both_ways(batches: Any, name: str, request: Message) -> Refused:
    """Return the refusal of a request. On the stream, it must be the same except for a longer field path.

    The stream continues after the refusal.
    """
    refused = refusal(method_of(batches, name), request)
    assert refused.code is grpc.StatusCode.INVALID_ARGUMENT
    answers = on_stream(batches, play_request(name, request, 7), play_request(name, request, 8))
    assert [answer.tag for answer in answers] == [7, 8]
    for answer in answers:
        found = answer.refusal
        assert errors_pb2.ErrorReason.Name(found.reason) == f"ERROR_REASON_{refused.reason}"
        assert (found.field, dict(found.metadata)) == (refused.field and f"{name}.{refused.field}", refused.metadata)
        assert refused.message == f"{refused.field}: {found.message}" if refused.field else found.message
    return refused


@pytest.mark.parametrize(
    "name", ["new_games", "step", "playout", "evaluate", "score", "resample_states", "observe", "convert"]
)
def test_a_table_that_does_not_exist_is_refused(
    batches: Any, game: Game, table: pb.BatchSetup, begun: pb.Positions, name: str
) -> None:
    request = requests_on(table, begun)[name]
    request.setup.players = game.max_players + 1
    refused = refused_both_ways(batches, name, request)
    assert (refused.reason, refused.field) == ("INVALID_PLAYERS", "setup.players")
    assert refused.metadata["game"] == game.name
    for wrong in "", "belote":
        request.setup.game = wrong
        refused = refused_both_ways(batches, name, request)
        assert (refused.reason, refused.field) == ("UNKNOWN_GAME", "setup.game")


@pytest.mark.parametrize("name", ["step", "playout", "evaluate", "score", "resample_states", "observe", "convert"])
def test_columns_of_a_wrong_length_are_refused(
    batches: Any, game: Game, table: pb.BatchSetup, begun: pb.Positions, name: str
) -> None:
    request = requests_on(table, begun)[name]
    whole = request.states
    request.states = whole + b"\0"
    refused = refused_both_ways(batches, name, request)
    assert (refused.reason, refused.field) == ("INVALID_BATCH", "states")
    assert refused.metadata == {
        "game": game.name,
        "expected_size": str(len(whole)),
        "size": str(len(whole) + 1),
    }
    other = {"step": "moves", "resample_states": "seats", "observe": "seats"}.get(name)
    if other:
        request.states = whole
        setattr(request, other, getattr(request, other) + b"\0")
        refused = refused_both_ways(batches, name, request)
        assert (refused.reason, refused.field) == ("INVALID_BATCH", other)


def test_contradictory_requests_are_refused(
    batches: Any, game: Game, table: pb.BatchSetup, begun: pb.Positions
) -> None:
    requests = requests_on(table, begun)
    cases = [
        ("new_games", pb.NewGamesRequest(setup=table, seeds=bytes(7)), "INVALID_BATCH", "seeds"),
        ("new_games", pb.NewGamesRequest(setup=table, seeds=bytes(8), count=1), "INVALID_BATCH", "count"),
        ("new_games", pb.NewGamesRequest(setup=table), "INVALID_BATCH", "count"),
        (
            "new_games",
            pb.NewGamesRequest(setup=table, seeds=bytes(8), game_numbers=bytes(16)),
            "INVALID_BATCH",
            "game_numbers",
        ),
        (
            "new_games",
            pb.NewGamesRequest(setup=table, game_numbers=bytes(8), count=1),
            "INVALID_SEED",
            "game_numbers",
        ),
        ("playout", pb.PlayoutRequest(setup=table, states=begun.states), "INVALID_BATCH", "playouts"),
        ("evaluate", pb.EvaluateRequest(setup=table, states=begun.states, playouts=1), "INVALID_BATCH", "worlds"),
        ("evaluate", pb.EvaluateRequest(setup=table, states=begun.states, worlds=1), "INVALID_BATCH", "playouts"),
        (
            "evaluate",
            pb.EvaluateRequest(setup=table, states=begun.states, worlds=2**32 - 1, playouts=2**32 - 1),
            "INVALID_BATCH",
            "playouts",
        ),
        (
            "evaluate",
            pb.EvaluateRequest(setup=table, states=begun.states, worlds=10**9, playouts=1),
            "BATCH_TOO_LARGE",
            "playouts",
        ),
    ]
    for name, request, reason, field in cases:
        refused = refused_both_ways(batches, name, request)
        assert (refused.reason, refused.field) == (reason, field)
        assert refused.metadata["game"] == game.name
    unmoving = requests["step"]
    unmoving.restart.stride = 0
    refused = refused_both_ways(batches, "step", unmoving)
    assert (refused.reason, refused.field) == ("INVALID_BATCH", "restart.stride")
    both = requests["convert"]
    both.typed_states.add()
    refused = refused_both_ways(batches, "convert", both)
    assert (refused.reason, refused.field) == ("INVALID_BATCH", "typed_states")


def test_wrong_options_are_refused(batches: Any, game: Game, table: pb.BatchSetup, begun: pb.Positions) -> None:
    requests = requests_on(table, begun)
    for name, request, options, path in (
        ("new_games", requests["new_games"], requests["new_games"].options, "options"),
        ("step", requests["step"], requests["step"].restart.options, "restart.options"),
    ):
        getattr(options, game.name).first_seat = game.max_players
        refused = refused_both_ways(batches, name, request)
        assert (refused.reason, refused.field) == ("INVALID_OPTION", f"{path}.{game.name}.first_seat")
        other = "discat" if game.name != "discat" else "momistigri"
        getattr(options, other).SetInParent()
        refused = refused_both_ways(batches, name, request)
        assert (refused.reason, refused.field) == ("INVALID_OPTION", f"{path}.{other}")


def test_requests_above_the_limits_are_refused(game: Game, table: pb.BatchSetup, door: Door) -> None:
    # A response can hold three states and no other columns.
    limit = 3 * game.packed_size + 100
    settings = Settings(address="127.0.0.1:0", max_batch_items=3, max_playouts=10, max_answer_bytes=limit)
    with running(settings, door) as server:
        batches = batch_stub(server.channel)
        seeds = bytes(8 * 3)
        states = batches.NewGames(pb.NewGamesRequest(setup=table, seeds=seeds)).positions.states
        offsets = range(0, len(states), game.packed_size)
        four = states + states[: game.packed_size]
        typed = batches.Convert(pb.ConvertRequest(setup=table, states=states)).typed_states
        cases = [
            ("new_games", pb.NewGamesRequest(setup=table, seeds=bytes(32)), "seeds"),
            ("new_games", pb.NewGamesRequest(setup=table, count=4), "count"),
            ("step", pb.StepRequest(setup=table, states=four, moves=bytes(8)), "states"),
            ("playout", pb.PlayoutRequest(setup=table, states=four, playouts=1), "states"),
            ("evaluate", pb.EvaluateRequest(setup=table, states=four, worlds=1, playouts=1), "states"),
            ("score", pb.ScoreRequest(setup=table, states=four), "states"),
            ("resample_states", pb.ResampleStatesRequest(setup=table, states=four, seats=bytes(4)), "states"),
            ("observe", pb.ObserveRequest(setup=table, states=four, seats=bytes(4)), "states"),
            ("convert", pb.ConvertRequest(setup=table, states=four), "states"),
            ("convert", pb.ConvertRequest(setup=table, typed_states=[*typed, typed[0]]), "typed_states"),
        ]
        for name, request, field in cases:
            refused = refused_both_ways(batches, name, request)
            assert (refused.reason, refused.field) == ("BATCH_TOO_LARGE", field)
            assert refused.metadata == {"game": game.name, "limit": "3", "asked": "4"}
        assert batches.Playout(pb.PlayoutRequest(setup=table, states=states, playouts=3)).decisions
        refused = refused_both_ways(batches, "playout", pb.PlayoutRequest(setup=table, states=states, playouts=4))
        assert (refused.reason, refused.field) == ("BATCH_TOO_LARGE", "playouts")
        assert refused.metadata == {"game": game.name, "limit": "10", "asked": "12"}
        legal = sum(len(game.unpack(states[at:][: game.packed_size]).legal_actions()) for at in offsets)
        evaluate = pb.EvaluateRequest(setup=table, states=states, worlds=2, playouts=5)
        refused = refused_both_ways(batches, "evaluate", evaluate)
        assert (refused.reason, refused.field) == ("BATCH_TOO_LARGE", "playouts")
        assert refused.metadata == {"game": game.name, "limit": "10", "asked": str(legal * 10)}
        observe = pb.ObserveRequest(setup=table, states=states, seats=bytes(3))
        refused = refused_both_ways(batches, "observe", observe)
        assert (refused.reason, refused.field, refused.metadata["limit"]) == ("BATCH_TOO_LARGE", "", str(limit))
        step = pb.StepRequest(setup=table, states=states, moves=bytes(6), columns=ALL)
        assert refused_both_ways(batches, "step", step).reason == "BATCH_TOO_LARGE"
        new = pb.NewGamesRequest(setup=table, seeds=seeds, columns=ALL)
        assert refused_both_ways(batches, "new_games", new).reason == "BATCH_TOO_LARGE"


def test_four_thousand_of_the_largest_states_fit(server: Running, game: Game, table: pb.BatchSetup) -> None:
    """The default settings allow a batch of this size with observations in the response."""
    count = 4096
    options = [("grpc.max_receive_message_length", -1)]
    with grpc.insecure_channel(server.address, options) as channel:
        batches = batch_stub(channel)
        seeds = np.arange(count, dtype="<u8").tobytes()
        positions = batches.NewGames(pb.NewGamesRequest(setup=table, seeds=seeds, columns=ALL)).positions
        assert len(positions.observations) == count * game.observation_length
        step = pb.StepRequest(
            setup=table,
            states=positions.states,
            moves=first_moves(positions),
            columns=ALL,
            restart=pb.Restart(stride=1),
        )
        assert len(batches.Step(step).positions.observations) == count * game.observation_length


# The stream


def test_the_stream_returns_the_responses_of_the_calls(batches: Any, table: pb.BatchSetup, begun: pb.Positions) -> None:
    requests = requests_on(table, begun)
    answers = on_stream(
        batches, *(play_request(name, request, tag) for tag, (name, request) in enumerate(requests.items()))
    )
    for tag, (answer, (name, request)) in enumerate(zip(answers, requests.items(), strict=True)):
        assert answer.tag == tag
        assert answer.WhichOneof("response") == name
        assert getattr(answer, name) == method_of(batches, name)(request)


def test_the_stream_continues_after_a_request_without_a_kind(
    batches: Any, table: pb.BatchSetup, begun: pb.Positions
) -> None:
    good = play_request("score", requests_on(table, begun)["score"])
    empty, after = on_stream(batches, pb.PlayRequest(tag=2**64 - 1), good)
    assert empty.tag == 2**64 - 1
    assert empty.refusal.reason == errors_pb2.ERROR_REASON_MISSING_FIELD
    assert empty.refusal.field == "request"
    assert after.score.totals


@pytest.mark.parametrize("broken", [b"\xff", b"\x2a\x03\x0a\x05a", b"\x2a\x04\x0a\x02\x0a\x05"])
def test_a_message_that_cannot_be_parsed_ends_the_stream(
    server: Running, table: pb.BatchSetup, begun: pb.Positions, broken: bytes
) -> None:
    """The broken message is the whole request, its part, or its setup."""
    method: Any = server.channel.stream_stream("/chatiere.v1.BatchService/Play")
    good = play_request("score", requests_on(table, begun)["score"]).SerializeToString()
    answers = method(iter([good, broken, good]), timeout=PATIENCE)
    assert pb.PlayResponse.FromString(next(answers)).score.totals
    with pytest.raises(grpc.RpcError) as caught:
        next(answers)
    assert read_refusal(caught.value).reason == "MALFORMED_REQUEST"


def test_requests_may_be_sent_before_earlier_responses_arrive(
    batches: Any, table: pb.BatchSetup, begun: pb.Positions
) -> None:
    sent: queue.SimpleQueue[pb.PlayRequest | None] = queue.SimpleQueue()
    answers = batches.Play(iter(sent.get, None), timeout=PATIENCE)
    score = requests_on(table, begun)["score"]
    for tag in range(5):
        sent.put(play_request("score", score, tag))
    for tag in range(200):
        assert next(answers).tag == tag
        sent.put(play_request("score", score, tag + 5))
    sent.put(None)
    assert [answer.tag for answer in answers] == list(range(200, 205))


def test_a_failure_of_the_service_ends_the_stream(
    batches: Any, table: pb.BatchSetup, begun: pb.Positions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chatiere.service.calls.batch_service._put_faults", None)
    with LogLines():
        code = code_of(on_stream, batches, play_request("score", requests_on(table, begun)["score"]))
    assert code is grpc.StatusCode.INTERNAL


# Metrics


def test_batches_are_counted(game: Game, table: pb.BatchSetup, door: Door) -> None:
    with running(door=door) as server:
        batches = batch_stub(server.channel)
        positions = batches.NewGames(pb.NewGamesRequest(setup=table, seeds=bytes(8 * COUNT), columns=ALL)).positions
        moves = bytearray(first_moves(positions))
        moves[:2] = b"\xff\xff"
        step = pb.StepRequest(setup=table, states=positions.states, moves=bytes(moves))
        batches.Step(step)
        on_stream(batches, play_request("step", step), play_request("step", step))
        refusal(batches.Step, pb.StepRequest(setup=table, states=b"1"))
        playout = batches.Playout(pb.PlayoutRequest(setup=table, states=positions.states, playouts=2, seed=3))
        labels = {"game": game.name, "method": "Step"}
        assert server.sample("chatiere_batch_items_count", **labels) == 3
        assert server.sample("chatiere_batch_items_sum", **labels) == 3 * COUNT
        assert server.sample("chatiere_batch_items_bucket", **labels, le="4.0") == 0
        assert server.sample("chatiere_batch_items_bucket", **labels, le="16.0") == 3
        assert server.sample("chatiere_kernel_seconds_count", **labels) == 3
        assert server.sample("chatiere_kernel_seconds_sum", **labels) > 0
        assert server.sample("chatiere_moves_applied_total", game=game.name) == 3 * (COUNT - 1)
        evaluate = pb.EvaluateRequest(setup=table, states=positions.states, worlds=2, playouts=1, seed=4)
        batches.Evaluate(evaluate)
        cancellation = Cancellation()
        Table(game, game.max_players).evaluate(positions.states, 2, 1, seed=4, cancellation=cancellation)
        assert server.sample("chatiere_batch_items_sum", game=game.name, method="Evaluate") == COUNT
        assert server.sample("chatiere_kernel_seconds_count", game=game.name, method="Evaluate") == 1
        played = np.frombuffer(playout.decisions, "<u8").sum() + cancellation.moves
        assert server.sample("chatiere_playout_moves_total", game=game.name) == played
