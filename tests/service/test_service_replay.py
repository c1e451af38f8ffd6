"""Replay: a record leads to the same positions as Apply. Refusals of invalid records name the field."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry
from tools.over import over, over_games
from tools.sample_records import SAMPLES, TRACES, record_of

from chatiere.clients import Client
from chatiere.engine import Game
from chatiere.engine.core.cancellation import Cancellation
from chatiere.service.base.errors import Refusal, limit_exceeded
from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import Settings
from chatiere.service.calls.replay_service import ReplayService
from chatiere.v1.game_pb2 import TURN_KIND_CHANCE, TURN_KIND_DECISION, Include, Options, Position
from chatiere.v1.game_service_pb2 import ApplyRequest, NewGameRequest, ReplayRequest
from chatiere.v1.record_pb2 import GameRecord

from .support import ALL_DOORS, Door, Running, new_game, only_grpc, play_on, raw, refusal, running

DOORS = ALL_DOORS

MAX_U32 = 2**32 - 1


def everything(players: int) -> Include:
    return Include(legal_actions=True, score=True, viewers=range(players), spectator=True)


def replay(stub: Any, record: GameRecord, **fields: Any) -> list[Position]:
    return list(stub.Replay(ReplayRequest(record=record, **fields)).positions)


def played(stub: Any, record: GameRecord, include: Include) -> list[Position]:
    """Return the positions of a record, made with Apply: for each ply the position after all chance events."""
    position = stub.NewGame(
        NewGameRequest(
            game=record.game, players=record.players, options=record.options, explicit_chance=True, include=include
        )
    ).position
    actions, outcomes, found = iter(record.actions), iter(record.outcomes.outcomes), []
    while True:
        while position.turn.kind == TURN_KIND_CHANCE:
            request = ApplyRequest(state=position.state, outcome=next(outcomes), include=include)
            position = joined(position, stub.Apply(request).position)
        found.append(position)
        if position.turn.kind != TURN_KIND_DECISION:
            return found
        request = ApplyRequest(state=position.state, include=include)
        request.action.id = next(actions)
        position = stub.Apply(request).position


def joined(before: Position, after: Position) -> Position:
    """Return the position after a chance event. The earlier events are added to its events."""
    all_events = [*before.events, *after.events]
    del after.events[:]
    after.events.extend(all_events)
    for first, second in zip(before.updates, after.updates, strict=True):
        events = [*first.events, *second.events]
        del second.events[:]
        second.events.extend(events)
    return after


@over("path", SAMPLES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_sample_game_leads_to_the_positions_of_apply(stub: Any, path: Path) -> None:
    record = record_of(path)
    include = everything(record.players)
    plies = len(record.actions)
    # The positions of a whole game may be too large for one response.
    positions = [
        position
        for first in range(0, plies + 1, 40)
        for position in replay(stub, record, from_ply=first, to_ply=min(first + 39, plies), include=include)
    ]
    assert len(positions) == plies + 1
    assert positions == played(stub, record, include)


def test_a_game_from_a_seed_leads_to_the_positions_of_apply(stub: Any, game: Game) -> None:
    include = everything(game.max_players)
    beginning = new_game(stub, game.name, game.max_players, seed=3, game_number=4, include=include)
    expected = [beginning, *play_on(stub, beginning, random.Random(2), include)]
    record = sampled_record(game, game.max_players, 3, 4, random.Random(2))
    assert replay(stub, record, include=include) == expected
    # The positions of a range are a part of all positions, and do not depend on later moves.
    plies = len(record.actions)
    for first, last in ((0, 0), (0, 3), (2, 5), (plies - 1, plies), (plies, plies)):
        assert replay(stub, record, from_ply=first, to_ply=last, include=include) == expected[first : last + 1]
    record.actions[5] = MAX_U32
    assert replay(stub, record, from_ply=1, to_ply=5, include=include) == expected[1:6]


def sampled_record(game: Game, players: int, seed: int, game_number: int, choices: random.Random) -> GameRecord:
    record = GameRecord(game=game.name, rules_version=game.rules_version, players=players)
    record.stream.seed, record.stream.game_number = seed, game_number
    position = game.new_game(players, seed=seed, game_number=game_number)
    while not position.is_terminal():
        record.actions.append(choices.choice(position.legal_actions()))
        position.apply(record.actions[-1])
    return record


def test_a_record_may_end_at_a_chance_event(stub: Any, game: Game) -> None:
    record = GameRecord(game=game.name, rules_version=game.rules_version, players=game.min_players)
    record.outcomes.SetInParent()
    (position,) = replay(stub, record)
    assert position.turn.kind == TURN_KIND_CHANCE
    assert not position.events


def test_moves_are_counted(door: Door) -> None:
    with running(door=door) as server:
        record = record_of(TRACES / "discat" / "2p-1.jsonl")
        replay(server.stub, record)
        moves = len(record.actions) + len(record.outcomes.outcomes)
        assert server.sample("chatiere_moves_applied_total", game="discat") == moves


Change = Callable[[GameRecord], None]


def setting(**fields: Any) -> Change:
    def change(record: GameRecord) -> None:
        for name, value in fields.items():
            if isinstance(value, list):
                record.ClearField(name)
                getattr(record, name).extend(value)
            else:
                setattr(record, name, value)

    return change


def other_options(record: GameRecord) -> None:
    record.options.CopyFrom(Options())
    record.options.momistigri.SetInParent()


def first_seat_9(record: GameRecord) -> None:
    record.options.discat.first_seat = 9


def other_move(index: int, move: int) -> Change:
    def change(record: GameRecord) -> None:
        record.actions[index] = move

    return change


def other_outcome(record: GameRecord) -> None:
    record.outcomes.outcomes[3] = 999


def fewer_outcomes(record: GameRecord) -> None:
    del record.outcomes.outcomes[5:]


@pytest.mark.parametrize(
    ("change", "reason", "field", "metadata"),
    [
        (setting(game="tarock"), "UNKNOWN_GAME", "record.game", {}),
        (setting(game=""), "UNKNOWN_GAME", "record.game", {}),
        (setting(rules_version=0), "UNSUPPORTED_RULES_VERSION", "record.rules_version", {"supported": "1"}),
        (setting(rules_version=2), "UNSUPPORTED_RULES_VERSION", "record.rules_version", {"supported": "1"}),
        (setting(players=7), "INVALID_PLAYERS", "record.players", {"max_players": "6"}),
        (other_options, "INVALID_OPTION", "record.options.momistigri", {}),
        (first_seat_9, "INVALID_OPTION", "record.options.discat.first_seat", {}),
        (lambda record: record.ClearField("outcomes"), "MISSING_FIELD", "record.stream", {}),
        (setting(seat_names=["A"]), "INVALID_RECORD", "record.seat_names", {}),
        (setting(seat_names=["A"] * 50_000), "INVALID_RECORD", "record.seat_names", {}),
        (setting(seat_names=["A", "B" * 101]), "INVALID_RECORD", "record.seat_names[1]", {}),
        (setting(date="2023-02-29"), "INVALID_RECORD", "record.date", {}),
        (setting(date="20240229"), "INVALID_RECORD", "record.date", {}),
        (setting(actions=[1] * 90_000), "INVALID_RECORD", "record.actions", {"limit": "97"}),
        (other_move(7, MAX_U32), "INVALID_ACTION", "record.actions[7]", {"ply": "7"}),
        (other_move(0, 192), "ILLEGAL_ACTION", "record.actions[0]", {"ply": "0", "actor": "0", "move": "192"}),
        (other_outcome, "IMPOSSIBLE_OUTCOME", "record.outcomes.outcomes[3]", {"ply": "0"}),
        (fewer_outcomes, "INVALID_RECORD", "record.actions[0]", {}),
        (setting(actions=[]), "INVALID_RECORD", "record.outcomes.outcomes[11]", {}),
        (lambda record: record.actions.append(0), "INVALID_RECORD", "record.actions[38]", {}),
    ],
)
def test_a_record_that_cannot_be_played_is_refused_with_its_field(
    stub: Any, change: Change, reason: str, field: str, metadata: dict[str, str]
) -> None:
    record = record_of(TRACES / "discat" / "2p-1.jsonl")
    change(record)
    refused = refusal(stub.Replay, ReplayRequest(record=record))
    assert (refused.reason, refused.field) == (reason, field)
    assert metadata.items() <= refused.metadata.items()
    if reason != "UNKNOWN_GAME":
        assert refused.metadata["game"] == "discat"


def test_too_many_outcomes_are_refused(stub: Any) -> None:
    record = record_of(TRACES / "discat" / "2p-1.jsonl")
    record.outcomes.outcomes.extend([0] * 90_000)
    refused = refusal(stub.Replay, ReplayRequest(record=record))
    assert (refused.reason, refused.field) == ("INVALID_RECORD", "record.outcomes.outcomes")
    assert refused.metadata["limit"] == "51"


def test_a_request_without_a_record_is_refused(stub: Any) -> None:
    refused = refusal(stub.Replay, ReplayRequest())
    assert (refused.reason, refused.field) == ("MISSING_FIELD", "record")


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"from_ply": 39}, "from_ply"),
        ({"from_ply": MAX_U32}, "from_ply"),
        ({"to_ply": 39}, "to_ply"),
        ({"from_ply": 5, "to_ply": 4}, "to_ply"),
    ],
)
def test_an_invalid_range_is_refused(stub: Any, fields: dict[str, Any], field: str) -> None:
    record = record_of(TRACES / "discat" / "2p-1.jsonl")
    refused = refusal(stub.Replay, ReplayRequest(record=record, **fields))
    assert (refused.reason, refused.field, refused.metadata["plies"]) == ("INVALID_RANGE", field, "38")


def test_viewers_without_a_seat_are_refused(stub: Any) -> None:
    record = record_of(TRACES / "discat" / "2p-1.jsonl")
    refused = refusal(stub.Replay, ReplayRequest(record=record, include=Include(viewers=[2])))
    assert (refused.reason, refused.field) == ("INVALID_SEAT", "include.viewers[0]")


def test_a_response_that_is_too_large_is_refused_and_a_shorter_range_is_not(door: Door) -> None:
    record = record_of(TRACES / "discat" / "2p-1.jsonl")
    with running(Settings(address="127.0.0.1:0", max_answer_bytes=10_000), door) as server:
        request = ReplayRequest(record=record, include=everything(2))
        refused = refusal(server.stub.Replay, request)
        assert (refused.reason, refused.field, refused.metadata["limit"]) == ("BATCH_TOO_LARGE", "to_ply", "10000")
        assert int(refused.metadata["asked"]) > 10_000
        assert len(replay(server.stub, record, from_ply=20, to_ply=21, include=everything(2))) == 2


@only_grpc
def test_a_response_is_no_larger_than_clients_accept(server: Running) -> None:
    record = record_of(TRACES / "chat_cartonne" / "5p-1.jsonl")
    include = everything(5)
    refused = refusal(server.stub.Replay, ReplayRequest(record=record, include=include))
    assert (refused.reason, refused.field) == ("BATCH_TOO_LARGE", "to_ply")
    last = int(refused.metadata["last_ply"])
    part = server.stub.Replay(ReplayRequest(record=record, to_ply=last, include=include))
    assert len(part.positions) == last + 1
    assert part.ByteSize() <= 4 * 1024 * 1024
    # The client library splits the game into ranges.
    with Client(server.address) as client:
        positions = client.replay(record, include=include)
    assert [position.ply for position in positions] == list(range(len(record.actions) + 1))
    assert positions[: last + 1] == list(part.positions)


def test_memory_for_the_response_is_reserved_while_it_grows() -> None:
    service = ReplayService(Settings(), Metrics(CollectorRegistry()))
    record = record_of(TRACES / "chat_cartonne" / "5p-1.jsonl")
    request = ReplayRequest(record=record, to_ply=60, include=everything(5)).SerializeToString()
    held: list[int] = []
    size = len(b"".join(service.replay(request, Cancellation(), held.append)))
    # In the end, memory is held for the pieces of the response and for the whole response.
    assert held[0] < size <= held[-1] // 2
    assert held == sorted(held)

    def refuse(held: int) -> None:
        if held > size:
            raise limit_exceeded("bytes", size)

    with pytest.raises(Refusal):
        service.replay(request, Cancellation(), refuse)


@over_games
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None)
@given(data=st.data())
def test_damaged_records_are_played_or_refused(server: Running, game: Game, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from([path for path in SAMPLES if path.parent.name == game.name]))
    message = bytearray(ReplayRequest(record=record_of(path), from_ply=1, to_ply=3).SerializeToString())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(message) - 1))
        message[place : place + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    call = raw(server, "Replay").future(bytes(message))
    assert call.code().name in ("OK", "INVALID_ARGUMENT")
    if call.code().name != "OK":
        assert refusal(call.result).reason


def test_a_record_cut_short_anywhere_is_played_or_refused(server: Running) -> None:
    message = ReplayRequest(record=record_of(TRACES / "discat" / "2p-1.jsonl")).SerializeToString()
    for end in range(len(message)):
        call = raw(server, "Replay").future(message[:end])
        assert call.code().name in ("OK", "INVALID_ARGUMENT")
