"""Calls in every game that are refused: every reason occurs."""

import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration

from chatiere import engine
from chatiere.engine import Game, Reason
from chatiere.service.base.errors import ServiceReason
from chatiere.service.base.settings import Settings
from chatiere.service.calls import game_service
from chatiere.service.guards.tokens import new_token
from chatiere.v1 import (
    batch_service_pb2,
    bot_service_pb2,
    bot_service_pb2_grpc,
    errors_pb2,
    game_pb2,
    game_service_pb2,
    room_service_pb2,
    room_service_pb2_grpc,
    table_service_pb2_grpc,
)
from chatiere.v1 import table_service_pb2 as tables_pb
from chatiere.v1.record_pb2 import GameRecord

from .process import wait_until
from .support import (
    ALL_DOORS,
    PATIENCE,
    Door,
    LogLines,
    Refused,
    Running,
    SlowCall,
    batch_stub,
    new_game,
    only_grpc,
    raw,
    read_refusal,
    refusal,
    running,
)

DOORS = ALL_DOORS

INCLUDE = game_pb2.Include(legal_actions=True)


def check(refused: Refused, reason: str, field: str, **metadata: str) -> None:
    assert refused.code is grpc.StatusCode.INVALID_ARGUMENT
    assert refused.reason == reason
    assert refused.domain == "chatiere"
    assert refused.field == field
    assert refused.metadata == metadata
    assert refused.message.startswith(f"{field}: ")


@pytest.fixture
def decision(stub: Any, game: Game) -> game_pb2.Position:
    """Return a position where a seat can choose, but where not all actions of the game are legal."""
    position = new_game(stub, game.name, game.min_players, seed=11)
    while not 2 <= len(position.legal_actions) < game.num_distinct_actions:
        request = game_service_pb2.ApplyRequest(state=position.state, include=INCLUDE)
        request.action.id = position.legal_actions[0].id
        position = stub.Apply(request).position
    return position


@pytest.fixture
def chance(stub: Any, game: Game) -> game_pb2.Position:
    """Return a position with a pending chance event: the game's first event. It decides which seat begins."""
    return new_game(stub, game.name, game.min_players, explicit_chance=True)


@pytest.fixture
def over(stub: Any, game: Game) -> game_pb2.Position:
    """Return the position at the end of a game."""
    position = new_game(stub, game.name, game.min_players, seed=11)
    while position.turn.kind != game_pb2.TURN_KIND_OVER:
        request = game_service_pb2.ApplyRequest(state=position.state, include=INCLUDE)
        request.action.id = position.legal_actions[-1].id
        position = stub.Apply(request).position
    return position


def illegal_id(position: game_pb2.Position, game: Game) -> int:
    legal = {action.id for action in position.legal_actions}
    return next(action for action in range(game.num_distinct_actions) if action not in legal)


def test_reason_unknown_game(stub: Any, game: Game) -> None:
    names = ", ".join(each.name for each in engine.games())
    refused = refusal(stub.NewGame, game_service_pb2.NewGameRequest(game="belote", players=4))
    check(refused, "UNKNOWN_GAME", "game", games=names)
    assert "belote" in refused.message
    unnamed = refusal(stub.NewGame, game_service_pb2.NewGameRequest(players=4))
    check(unnamed, "UNKNOWN_GAME", "game", games=names)
    no_options = game_service_pb2.NewGameRequest(players=4, options=game_pb2.Options())
    check(refusal(stub.NewGame, no_options), "UNKNOWN_GAME", "game", games=names)
    for wrong in "belote", "", game.name.upper():
        listed = refusal(stub.ListGames, game_service_pb2.ListGamesRequest(games=[game.name, game.name, wrong]))
        check(listed, "UNKNOWN_GAME", "games[2]", games=names)


def test_reason_unknown_game_of_a_state_without_a_game(stub: Any) -> None:
    names = ", ".join(each.name for each in engine.games())
    for state in game_pb2.State(), game_pb2.State(rules_version=1, stream=game_pb2.RandomStream(seed=3)):
        refused = refusal(stub.GetScore, game_service_pb2.GetScoreRequest(state=state))
        check(refused, "UNKNOWN_GAME", "state", games=names)
        assert names in refused.message


def test_reason_invalid_players(stub: Any, game: Game) -> None:
    limits = {"min_players": str(game.min_players), "max_players": str(game.max_players)}
    for players in 0, game.min_players - 1, game.max_players + 1, 2**32 - 1:
        request = game_service_pb2.NewGameRequest(game=game.name, players=players)
        check(refusal(stub.NewGame, request), "INVALID_PLAYERS", "players", game=game.name, **limits)


def test_reason_invalid_option(stub: Any, game: Game) -> None:
    request = game_service_pb2.NewGameRequest(game=game.name, players=game.min_players)
    getattr(request.options, game.name).first_seat = game.min_players
    check(refusal(stub.NewGame, request), "INVALID_OPTION", f"options.{game.name}.first_seat", game=game.name)


def test_reason_invalid_option_of_another_game(stub: Any, game: Game) -> None:
    other = next(each for each in engine.games() if each.name != game.name)
    request = game_service_pb2.NewGameRequest(game=game.name, players=game.min_players)
    getattr(request.options, other.name).SetInParent()
    check(refusal(stub.NewGame, request), "INVALID_OPTION", f"options.{other.name}", game=game.name)


def test_reason_invalid_seed(stub: Any, game: Game) -> None:
    request = game_service_pb2.NewGameRequest(game=game.name, players=game.min_players, explicit_chance=True, seed=0)
    check(refusal(stub.NewGame, request), "INVALID_SEED", "seed", game=game.name)


@pytest.mark.parametrize("explicit", [False, True], ids=["sampled", "explicit"])
def test_reason_invalid_seed_of_a_game_number_without_a_seed(stub: Any, game: Game, explicit: bool) -> None:
    request = game_service_pb2.NewGameRequest(
        game=game.name, players=game.min_players, explicit_chance=explicit, game_number=1
    )
    check(refusal(stub.NewGame, request), "INVALID_SEED", "game_number", game=game.name)


def test_reason_invalid_seat(stub: Any, game: Game, decision: game_pb2.Position) -> None:
    players = game.min_players
    expected = {"game": game.name, "players": str(players)}
    for seat in players, 2**32 - 1:
        view = game_service_pb2.GetViewRequest(state=decision.state, seat=seat)
        check(refusal(stub.GetView, view), "INVALID_SEAT", "seat", **expected)
        resample = game_service_pb2.ResampleRequest(state=decision.state, seat=seat)
        check(refusal(stub.Resample, resample), "INVALID_SEAT", "seat", **expected)


def test_reason_invalid_seat_of_a_viewer(stub: Any, game: Game, decision: game_pb2.Position) -> None:
    players = game.min_players
    expected = {"game": game.name, "players": str(players)}
    for viewers in [0, players], [0, 0]:
        include = game_pb2.Include(viewers=viewers)
        # The action is also illegal: `include` is checked before the move.
        apply = game_service_pb2.ApplyRequest(state=decision.state, include=include)
        apply.action.id = illegal_id(decision, game)
        check(refusal(stub.Apply, apply), "INVALID_SEAT", "include.viewers[1]", **expected)
        begin = game_service_pb2.NewGameRequest(game=game.name, players=players, include=include)
        check(refusal(stub.NewGame, begin), "INVALID_SEAT", "include.viewers[1]", **expected)
        get = game_service_pb2.GetPositionRequest(state=decision.state, include=include)
        check(refusal(stub.GetPosition, get), "INVALID_SEAT", "include.viewers[1]", **expected)


def test_reason_wrong_turn_of_a_seat(stub: Any, game: Game, decision: game_pb2.Position) -> None:
    mover, other = decision.turn.seat, (decision.turn.seat + 1) % game.min_players
    request = game_service_pb2.ApplyRequest(state=decision.state, action=decision.legal_actions[0], seat=other)
    expected = {"game": game.name, "actor": str(mover), "rule_key": "rule.not_your_turn"}
    check(refusal(stub.Apply, request), "WRONG_TURN", "seat", **expected)
    request.seat = game.min_players
    check(refusal(stub.Apply, request), "INVALID_SEAT", "seat", game=game.name, players=str(game.min_players))
    request.seat = mover
    assert stub.Apply(request).position.ply == decision.ply + 1


def test_reason_invalid_state(stub: Any, game: Game) -> None:
    state = game_pb2.State(rules_version=game.rules_version)
    getattr(state, game.name).SetInParent()
    for call, request in calls_on(stub, state):
        refused = refusal(call, request)
        assert refused.code is grpc.StatusCode.INVALID_ARGUMENT
        assert refused.reason == "INVALID_STATE"
        assert refused.field.startswith(f"state.{game.name}.")
        assert refused.metadata["game"] == game.name
        assert ".md: " in refused.metadata["rule"]


def calls_on(stub: Any, state: game_pb2.State) -> list[tuple[Any, Any]]:
    """Return a request for each method that takes a state. The request is valid, except perhaps for the state."""
    return [
        (stub.ListLegalActions, game_service_pb2.ListLegalActionsRequest(state=state)),
        (stub.Apply, game_service_pb2.ApplyRequest(state=state, action=game_pb2.Action(id=0))),
        (stub.GetPosition, game_service_pb2.GetPositionRequest(state=state)),
        (stub.GetScore, game_service_pb2.GetScoreRequest(state=state)),
        (stub.GetView, game_service_pb2.GetViewRequest(state=state, seat=0)),
        (stub.Resample, game_service_pb2.ResampleRequest(state=state, seat=0)),
    ]


def test_reason_unsupported_rules_version(stub: Any, game: Game, decision: game_pb2.Position) -> None:
    for version in 0, game.rules_version + 1, 2**32 - 1:
        state = game_pb2.State()
        state.CopyFrom(decision.state)
        state.rules_version = version
        for call, request in calls_on(stub, state):
            check(
                refusal(call, request),
                "UNSUPPORTED_RULES_VERSION",
                "state.rules_version",
                game=game.name,
                supported=str(game.rules_version),
            )


def test_reason_invalid_action(stub: Any, game: Game, decision: game_pb2.Position) -> None:
    for action in game.num_distinct_actions, 65536, 2**32 - 1:
        request = game_service_pb2.ApplyRequest(state=decision.state, action=game_pb2.Action(id=action))
        refused = refusal(stub.Apply, request)
        actor, key = str(decision.turn.seat), "rule.no_such_action"
        check(refused, "INVALID_ACTION", "action.id", game=game.name, actor=actor, move=str(action), rule_key=key)


def test_reason_invalid_action_of_no_kind(stub: Any, game: Game, decision: game_pb2.Position) -> None:
    request = game_service_pb2.ApplyRequest(state=decision.state)
    getattr(request.action, game.name).SetInParent()
    check(refusal(stub.Apply, request), "INVALID_ACTION", f"action.{game.name}", game=game.name)


def test_reason_illegal_action(stub: Any, game: Game, decision: game_pb2.Position) -> None:
    action = illegal_id(decision, game)
    request = game_service_pb2.ApplyRequest(state=decision.state, action=game_pb2.Action(id=action))
    refused = refusal(stub.Apply, request)
    actor = str(decision.turn.seat)
    rule, key = refused.metadata.pop("rule"), refused.metadata.pop("rule_key")
    assert ".md: " in rule
    assert key in [each.key for each in game.description.faults.values()]
    check(refused, "ILLEGAL_ACTION", "action.id", game=game.name, actor=actor, move=str(action))


def test_reason_action_mismatch(stub: Any, game: Game, decision: game_pb2.Position) -> None:
    typed, other = decision.legal_actions[:2]
    request = game_service_pb2.ApplyRequest(state=decision.state, action=typed)
    request.action.id = other.id
    refused = refusal(stub.Apply, request)
    check(refused, "ACTION_MISMATCH", "action.id", game=game.name, typed_id=str(typed.id))


def test_reason_impossible_outcome(stub: Any, game: Game, chance: game_pb2.Position) -> None:
    for outcome in game.min_players, 65535, 65536, 2**32 - 1:
        request = game_service_pb2.ApplyRequest(state=chance.state, outcome=outcome)
        refused = refusal(stub.Apply, request)
        metadata = {"game": game.name, "actor": "chance", "move": str(outcome), "rule_key": "rule.no_such_outcome"}
        check(refused, "IMPOSSIBLE_OUTCOME", "outcome", **metadata)


def test_reason_chance_pending(stub: Any, game: Game, chance: game_pb2.Position, decision: game_pb2.Position) -> None:
    for action in game_pb2.Action(id=0), decision.legal_actions[0]:
        request = game_service_pb2.ApplyRequest(state=chance.state, action=action)
        metadata = {"game": game.name, "actor": "chance", "rule_key": "rule.chance_is_pending"}
        check(refusal(stub.Apply, request), "CHANCE_PENDING", "action", **metadata)


def test_reason_no_chance_pending(stub: Any, game: Game, decision: game_pb2.Position) -> None:
    request = game_service_pb2.ApplyRequest(state=decision.state, outcome=0)
    expected = {
        "game": game.name,
        "actor": str(decision.turn.seat),
        "move": "0",
        "rule_key": "rule.no_chance_is_pending",
    }
    check(refusal(stub.Apply, request), "NO_CHANCE_PENDING", "outcome", **expected)


def test_reason_game_over(stub: Any, game: Game, over: game_pb2.Position, decision: game_pb2.Position) -> None:
    metadata = {"game": game.name, "actor": "nobody", "rule_key": "rule.game_is_over"}
    for action in game_pb2.Action(id=0), decision.legal_actions[0]:
        request = game_service_pb2.ApplyRequest(state=over.state, action=action)
        check(refusal(stub.Apply, request), "GAME_OVER", "action", **metadata)
    request = game_service_pb2.ApplyRequest(state=over.state, outcome=0)
    check(refusal(stub.Apply, request), "GAME_OVER", "outcome", **metadata, move="0")


def test_reason_missing_field_state(stub: Any) -> None:
    names = ", ".join(each.name for each in engine.games())
    requests = [
        (stub.ListLegalActions, game_service_pb2.ListLegalActionsRequest()),
        (stub.Apply, game_service_pb2.ApplyRequest()),
        (stub.GetPosition, game_service_pb2.GetPositionRequest()),
        (stub.GetScore, game_service_pb2.GetScoreRequest()),
        (stub.GetView, game_service_pb2.GetViewRequest()),
        (stub.Resample, game_service_pb2.ResampleRequest()),
    ]
    for call, request in requests:
        check(refusal(call, request), "MISSING_FIELD", "state", games=names)


def test_reason_missing_field_move(
    stub: Any, game: Game, decision: game_pb2.Position, chance: game_pb2.Position
) -> None:
    at_decision = game_service_pb2.ApplyRequest(state=decision.state)
    check(refusal(stub.Apply, at_decision), "MISSING_FIELD", "action", game=game.name)
    at_chance = game_service_pb2.ApplyRequest(state=chance.state)
    check(refusal(stub.Apply, at_chance), "MISSING_FIELD", "outcome", game=game.name)
    empty_action = game_service_pb2.ApplyRequest(state=decision.state, action=game_pb2.Action(label="pass"))
    check(refusal(stub.Apply, empty_action), "MISSING_FIELD", "action", game=game.name)


def test_reason_missing_field_seat(stub: Any, game: Game, decision: game_pb2.Position) -> None:
    request = game_service_pb2.ResampleRequest(state=decision.state, seed=1)
    check(refusal(stub.Resample, request), "MISSING_FIELD", "seat", game=game.name)


@only_grpc
def test_reason_invalid_batch(server: Running, game: Game) -> None:
    request = batch_service_pb2.ScoreRequest(
        setup=batch_service_pb2.BatchSetup(game=game.name, players=game.min_players), states=bytes(game.packed_size + 1)
    )
    refused = refusal(batch_stub(server.channel).Score, request)
    sizes = {"expected_size": str(game.packed_size), "size": str(game.packed_size + 1)}
    check(refused, "INVALID_BATCH", "states", game=game.name, **sizes)


@only_grpc
def test_reason_batch_too_large(server: Running, game: Game) -> None:
    request = batch_service_pb2.NewGamesRequest(
        setup=batch_service_pb2.BatchSetup(game=game.name, players=game.min_players), count=2**32 - 1
    )
    refused = refusal(batch_stub(server.channel).NewGames, request)
    check(refused, "BATCH_TOO_LARGE", "count", game=game.name, limit="16384", asked=str(2**32 - 1))


def test_reason_malformed_request(server: Running) -> None:
    refused = refusal(raw(server, "Apply"), b"\xff")
    assert refused.code is grpc.StatusCode.INVALID_ARGUMENT
    assert (refused.reason, refused.domain, refused.field) == ("MALFORMED_REQUEST", "chatiere", "")
    assert refused.metadata == {}


def test_reason_internal(server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(request: object, settings: Settings) -> None:
        raise RuntimeError("an internal detail")

    monkeypatch.setattr(game_service, "list_games", fail)
    incidents = server.sample("chatiere_incidents_total")
    with LogLines() as log:
        refused = refusal(server.stub.ListGames, game_service_pb2.ListGamesRequest())
    assert server.sample("chatiere_incidents_total") == incidents + 1
    assert refused.code is grpc.StatusCode.INTERNAL
    assert refused.reason == "INTERNAL"
    assert refused.domain == "chatiere"
    assert refused.field == ""
    assert list(refused.metadata) == ["incident"]
    incident = refused.metadata["incident"]
    assert re.fullmatch("[0-9a-f]{16}", incident)
    assert "an internal detail" not in refused.message
    failure, call = log.lines
    assert incident in failure
    assert "Traceback" in failure
    assert "an internal detail" in failure
    assert "ListGames INTERNAL INTERNAL " in call


def test_reason_invalid_language(stub: Any) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        stub.ListGames(game_service_pb2.ListGamesRequest(), metadata=(("accept-language", "fr; xx"),))
    refused = read_refusal(caught.value)
    assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_LANGUAGE")
    assert refused.metadata == {"metadata": "accept-language"}


def test_reason_unauthenticated(tmp_path: Path, door: Door) -> None:
    tokens = tmp_path / "tokens"
    token, line = new_token("alice")
    tokens.write_text(line)
    with running(Settings(address="127.0.0.1:0", tokens=tokens), door) as server:
        refused = refusal(server.stub.ListGames, game_service_pb2.ListGamesRequest())
        assert refused.code is grpc.StatusCode.UNAUTHENTICATED
        assert (refused.reason, refused.domain, refused.metadata) == ("UNAUTHENTICATED", "chatiere", {})
        metadata = (("authorization", f"Bearer {token}"),)
        assert server.stub.ListGames(game_service_pb2.ListGamesRequest(), metadata=metadata).games


def test_reason_limit_exceeded(door: Door) -> None:
    with running(Settings(address="127.0.0.1:0", max_rate_per_client=0.001), door) as server:
        assert server.stub.ListGames(game_service_pb2.ListGamesRequest()).games
        refused = refusal(server.stub.ListGames, game_service_pb2.ListGamesRequest())
    assert refused.code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert (refused.reason, refused.domain) == ("LIMIT_EXCEEDED", "chatiere")
    assert refused.metadata == {"limit": "calls of one client a second", "most": "0.001"}
    assert refused.retry_after is not None
    assert 900 < refused.retry_after <= 1000


@only_grpc
def test_reason_time_limit(slow_call: SlowCall, door: Door) -> None:
    with running(Settings(address="127.0.0.1:0", default_deadline=1.0, max_deadline=1.5), door) as server:
        stub = batch_stub(server.channel)
        for timeout, seconds in (None, "1"), (PATIENCE, "1.5"):
            refused = refusal(stub.NewGames, batch_service_pb2.NewGamesRequest(), timeout=timeout)
            assert refused.code is grpc.StatusCode.DEADLINE_EXCEEDED
            assert (refused.reason, refused.domain) == ("TIME_LIMIT", "chatiere")
            assert refused.metadata == {"seconds": seconds}
            wait_until(lambda: slow_call.was_cancelled, "the work has ended")


def test_reason_invalid_bot(server: Running, game: Game, decision: game_pb2.Position) -> None:
    stub: Any = bot_service_pb2_grpc.BotServiceStub(server.channel)
    for bot in "cheater", "flat:playouts=0", "random:luck=1":
        request = bot_service_pb2.SuggestRequest(state=decision.state, bot=bot)
        check(refusal(stub.Suggest, request), "INVALID_BOT", "bot", game=game.name)


@pytest.fixture
def tables(server: Running) -> Any:
    return table_service_pb2_grpc.TableServiceStub(server.channel)


@pytest.fixture
def table(tables: Any, game: Game) -> tables_pb.NewTableResponse:
    """Return a new table whose secrets the service generated."""
    found: tables_pb.NewTableResponse = tables.NewTable(table_request(game))
    return found


def table_request(game: Game, **fields: Any) -> tables_pb.NewTableRequest:
    usual: dict[str, Any] = {"seats": [tables_pb.TableSeat()] * game.min_players, "acknowledgement": 1}
    return tables_pb.NewTableRequest(game=game.name, players=game.min_players, **(usual | fields))


def test_reason_invalid_table(tables: Any, table: tables_pb.NewTableResponse) -> None:
    for forged in b"x", table.table[:-1], table.table + b"x":
        check(refusal(tables.Look, tables_pb.LookRequest(table=forged)), "INVALID_TABLE", "table")


def test_reason_table_expired(
    tables: Any, table: tables_pb.NewTableResponse, game: Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    expires = tables_pb.TableHeader.FromString(tables_pb.SealedTable.FromString(table.table).header).expires
    monkeypatch.setattr("chatiere.service.calls.table_checks.time.time", lambda: expires.seconds)
    refused = refusal(tables.Look, tables_pb.LookRequest(table=table.table))
    check(refused, "TABLE_EXPIRED", "table", expired=expires.ToJsonString())


def test_reason_wrong_secret(tables: Any, table: tables_pb.NewTableResponse) -> None:
    request = tables_pb.LookRequest(table=table.table, secret=bytes(16))
    check(refusal(tables.Look, request), "WRONG_SECRET", "secret")


def test_reason_not_acknowledged(tables: Any, game: Game) -> None:
    made = tables.NewTable(table_request(game, acknowledgement=2))
    first = tables_pb.AcknowledgeRequest(table=made.table, secret=made.secrets[0].secret)
    request = tables_pb.LookRequest(table=tables.Acknowledge(first).table)
    seats = ", ".join(map(str, range(1, game.min_players)))
    check(refusal(tables.Look, request), "NOT_ACKNOWLEDGED", "table", seats=seats)


def test_reason_wrong_turn(tables: Any, table: tables_pb.NewTableResponse, game: Game) -> None:
    actor = tables.Look(tables_pb.LookRequest(table=table.table)).update.view.turn.seat
    other = table.secrets[(actor + 1) % game.min_players].secret
    request = tables_pb.MoveRequest(table=table.table, secret=other, action=game_pb2.Action(id=0))
    expected = {"game": game.name, "actor": str(actor), "rule_key": "rule.not_your_turn"}
    check(refusal(tables.Move, request), "WRONG_TURN", "secret", **expected)


def test_reason_invalid_terms(tables: Any, game: Game) -> None:
    check(refusal(tables.NewTable, table_request(game, seats=[])), "INVALID_TERMS", "seats", game=game.name)
    refused = refusal(tables.NewTable, table_request(game, lifetime=Duration(seconds=1)))
    check(refused, "INVALID_TERMS", "lifetime", game=game.name)


def test_reason_invalid_room(door: Door) -> None:
    with running(Settings(address="127.0.0.1:0", relay="memory"), door) as server:
        stub: Any = room_service_pb2_grpc.RoomServiceStub(server.channel)
        request = room_service_pb2.PostRequest(room=bytes(16), secret=bytes(16), name="two\nlines")
        check(refusal(stub.Post, request), "INVALID_ROOM", "name")


def test_reason_invalid_history(tables: Any, table: tables_pb.NewTableResponse, game: Game) -> None:
    refused = refusal(tables.GetRecord, tables_pb.GetRecordRequest(tables=[table.table] * 2))
    check(refused, "INVALID_HISTORY", "tables[1]", game=game.name)


def test_reason_game_not_over(tables: Any, table: tables_pb.NewTableResponse, game: Game) -> None:
    refused = refusal(tables.GetRecord, tables_pb.GetRecordRequest(tables=[table.table]))
    check(refused, "GAME_NOT_OVER", "tables", game=game.name)


@only_grpc
@pytest.mark.parametrize("sent", [[], [b""]], ids=["nothing", "a request without the end of the stream"])
def test_reason_request_timeout(door: Door, sent: list[bytes]) -> None:
    with running(Settings(address="127.0.0.1:0", request_timeout=0.05), door) as server:
        never = threading.Event()

        def requests() -> Iterator[bytes]:
            yield from sent
            never.wait(PATIENCE)

        # The request of one unary call never arrives. Another unary call does not end after its request.
        call: Any = server.channel.stream_unary("/chatiere.v1.GameService/ListGames")
        refused = refusal(call, requests())
        never.set()
    assert refused.code is grpc.StatusCode.DEADLINE_EXCEEDED
    assert (refused.reason, refused.domain) == ("REQUEST_TIMEOUT", "chatiere")
    assert refused.metadata == {"seconds": "0.05"}


def test_the_next_call_after_a_failure_is_answered(stub: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(game_service, "list_games", None)
        assert refusal(stub.ListGames, game_service_pb2.ListGamesRequest()).reason == "INTERNAL"
    assert stub.ListGames(game_service_pb2.ListGamesRequest()).games


def test_reason_invalid_record(stub: Any, game: Game) -> None:
    record = GameRecord(game=game.name, rules_version=game.rules_version, players=game.min_players, seat_names=["A"])
    refused = refusal(stub.Replay, game_service_pb2.ReplayRequest(record=record))
    check(refused, "INVALID_RECORD", "record.seat_names", game=game.name)


def test_reason_invalid_range(stub: Any, game: Game) -> None:
    record = GameRecord(game=game.name, rules_version=game.rules_version, players=game.min_players)
    record.stream.SetInParent()
    refused = refusal(stub.Replay, game_service_pb2.ReplayRequest(record=record, from_ply=1))
    check(refused, "INVALID_RANGE", "from_ply", game=game.name, plies="0")


def test_every_reason_has_a_test() -> None:
    for name in errors_pb2.ErrorReason.DESCRIPTOR.values_by_name:
        reason = name.removeprefix("ERROR_REASON_").lower()
        if reason != "unspecified":
            assert f"test_reason_{reason}" in globals() or any(
                test.startswith(f"test_reason_{reason}_") for test in globals()
            ), f"no test provokes {name}"


def test_the_reasons_of_the_api_match_engine_and_service() -> None:
    names = {name.removeprefix("ERROR_REASON_") for name in errors_pb2.ErrorReason.DESCRIPTOR.values_by_name}
    assert names == {"UNSPECIFIED"} | {reason.value for reason in Reason} | {reason.value for reason in ServiceReason}
    assert not {reason.value for reason in Reason} & {reason.value for reason in ServiceReason}


def test_the_engine_s_reasons_have_the_numbers_of_the_api() -> None:
    for reason in Reason:
        assert errors_pb2.ErrorReason.Name(reason.number) == f"ERROR_REASON_{reason.value}"


@pytest.mark.parametrize("text", ["x" * 60_000, "é" * 30_000, "🐈" * 15_000, "a\nb\x00c" * 1000])
def test_a_very_long_name_is_truncated_in_the_refusal(stub: Any, text: str) -> None:
    # If the headers were longer than clients accept, the status would be lost.
    refused = refusal(stub.NewGame, game_service_pb2.NewGameRequest(game=text, players=4))
    assert refused.code is grpc.StatusCode.INVALID_ARGUMENT
    assert refused.reason == "UNKNOWN_GAME"
    assert len(refused.message) <= 200
