"""Every method of both clients, against a real server and every game."""

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

import grpc
import numpy as np
import pytest
from prometheus_client import CollectorRegistry

from chatiere import bots, engine
from chatiere.clients import AsyncClient, ChatiereError, Client
from chatiere.clients.calls import game_requests
from chatiere.clients.records import begin_record
from chatiere.engine.wire import fill
from chatiere.service.base.settings import Settings
from chatiere.service.ports.server import create_server
from chatiere.v1.game_pb2 import TURN_KIND_CHANCE, TURN_KIND_DECISION, Action, Include, Options, Position, State, View
from chatiere.v1.game_service_pb2 import ApplyRequest, ListGamesRequest
from chatiere.v1.record_pb2 import GameRecord, RecordStream

from .conftest import Ask

EVERYTHING = Include(legal_actions=True, score=True, viewers=[1, 0], spectator=True)
GAMES = [game.name for game in engine.games()]


def fewest(name: str) -> int:
    return engine.game(name).min_players


def first_seat(name: str, seat: int) -> Options:
    options = Options()
    getattr(options, name).SetInParent()
    fill(getattr(options, name), engine.codec(name).put_options, {"first_seat": seat})
    return options


def test_list_games_tells_what_the_engine_has(ask: Ask) -> None:
    games = ask("list_games")
    assert [(info.name, info.min_players, info.max_players, info.num_actions) for info in games] == [
        (game.name, game.min_players, game.max_players, game.num_distinct_actions) for game in engine.games()
    ]
    assert not any(info.pieces or info.observation or info.phrases for info in games)


@pytest.mark.parametrize("name", GAMES)
def test_list_games_by_name_and_in_parts(ask: Ask, name: str) -> None:
    (plain,) = ask("list_games", [name])
    assert plain in ask("list_games")
    for part in ("pieces", "observation"):
        (info,) = ask("list_games", games=(name,), **{part: True})
        assert len(getattr(info, part)) == len(getattr(engine.game(name).description, part))
        for field in ("pieces", "piece_details", "piece_fields") if part == "pieces" else (part,):
            info.ClearField(field)
        assert info == plain


def test_one_name_is_no_sequence_of_names(ask: Ask) -> None:
    with pytest.raises(TypeError, match="games is a sequence of names, not the one name 'discat'"):
        ask("list_games", "discat")
    assert game_requests.list_games((), False, False, True).message == ListGamesRequest(phrases=True)


@pytest.mark.parametrize("name", GAMES)
def test_new_game_begins_the_game_of_seed_and_number(ask: Ask, name: str) -> None:
    expected = engine.game(name).new_game(fewest(name), seed=5, game_number=2**64 - 1)
    position = ask("new_game", name, fewest(name), seed=5, game_number=2**64 - 1, include=Include(legal_actions=True))
    assert (position.turn.kind, position.turn.seat) == (TURN_KIND_DECISION, expected.current_player())
    assert [action.id for action in position.legal_actions] == expected.legal_actions()
    stream = position.state.stream
    assert (stream.seed, stream.game_number, stream.drawn) == expected.random_stream()


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.array])
def test_numbers_may_be_numpys(ask: Ask, kind: Callable[[int], Any]) -> None:
    name = GAMES[0]
    position = ask("new_game", name, 3, seed=5, game_number=6, include=Include(legal_actions=True))
    assert ask("new_game", name, kind(3), seed=kind(5), game_number=kind(6)).state == position.state
    action = position.legal_actions[0].id
    assert ask("apply", position.state, kind(action)) == ask("apply", position.state, action)
    assert ask("get_view", position.state, kind(1)) == ask("get_view", position.state, 1)
    drawn = ask("resample", position.state, 1, seed=2, game_number=3)
    assert ask("resample", position.state, kind(1), seed=kind(2), game_number=kind(3)) == drawn
    begun = ask("new_game", name, 3, explicit_chance=True)
    outcome = ask("list_legal_actions", begun.state).chance_outcomes[-1].outcome
    assert ask("apply", begun.state, outcome=kind(outcome)) == ask("apply", begun.state, outcome=outcome)


def test_what_is_no_number_or_fits_in_no_field_is_refused_by_name(ask: Ask) -> None:
    state = ask("new_game", GAMES[0], 3, seed=5).state
    calls: tuple[tuple[str, Callable[[Any], Any]], ...] = (
        ("players", lambda wrong: ask("new_game", GAMES[0], wrong)),
        ("seed", lambda wrong: ask("new_game", GAMES[0], 3, seed=wrong)),
        ("game_number", lambda wrong: ask("new_game", GAMES[0], 3, seed=1, game_number=wrong)),
        ("action", lambda wrong: ask("apply", state, wrong)),
        ("outcome", lambda wrong: ask("apply", state, outcome=wrong)),
        ("seat", lambda wrong: ask("get_view", state, wrong)),
        ("seat", lambda wrong: ask("resample", state, wrong)),
        ("seed", lambda wrong: ask("resample", state, 0, seed=wrong)),
        ("game_number", lambda wrong: ask("resample", state, 0, game_number=wrong)),
    )
    wrong: Any
    for name, call in calls:
        for wrong in (0.0, "0", np.float64(0)):
            with pytest.raises(TypeError, match=f"^{name} must be an integer, not "):
                call(wrong)
        for wrong in (-1, 2**64, np.int64(-1)):
            with pytest.raises(ValueError, match=f"^{name} must be an integer from 0 to "):
                call(wrong)


@pytest.mark.parametrize("name", GAMES)
def test_new_game_without_a_seed_takes_a_random_one(ask: Ask, name: str) -> None:
    seeds = {ask("new_game", name, fewest(name)).state.stream.seed for _ in range(3)}
    assert len(seeds) == 3


@pytest.mark.parametrize("name", GAMES)
def test_new_game_takes_options(ask: Ask, name: str) -> None:
    position = ask("new_game", name, fewest(name), options=first_seat(name, 1), seed=1)
    assert getattr(position.state, name).options == getattr(first_seat(name, 1), name)


@pytest.mark.parametrize("name", GAMES)
def test_nothing_is_included_unasked(ask: Ask, name: str) -> None:
    position = ask("new_game", name, fewest(name), seed=1)
    assert not position.legal_actions
    assert not position.updates
    assert not position.HasField("score")


@pytest.mark.parametrize("name", GAMES)
def test_include_reaches_new_game_and_apply(ask: Ask, name: str) -> None:
    position = ask("new_game", name, fewest(name), seed=1, include=EVERYTHING)
    for answer in (position, ask("apply", position.state, position.legal_actions[0].id, include=EVERYTHING)):
        assert answer.legal_actions == ask("list_legal_actions", answer.state).legal_actions
        assert answer.score == ask("get_score", answer.state)
        views = [ask("get_view", answer.state, seat) for seat in (1, 0, None)]
        assert [viewer.view for viewer in answer.updates] == views


@pytest.mark.parametrize("name", GAMES)
def test_get_position_is_the_position_without_events(ask: Ask, name: str) -> None:
    position = ask("new_game", name, fewest(name), seed=1, include=EVERYTHING)
    state = position.state
    assert ask("get_position", state) == Position(state=state, turn=position.turn, ply=position.ply)
    for part in (position, *position.updates):
        del part.events[:]
    assert ask("get_position", state, EVERYTHING) == position


@pytest.mark.parametrize("name", GAMES)
def test_explicit_chance_stops_for_an_outcome(ask: Ask, name: str) -> None:
    state = ask("new_game", name, fewest(name), explicit_chance=True).state
    assert not state.HasField("stream")
    answer = ask("list_legal_actions", state)
    assert answer.turn.kind == TURN_KIND_CHANCE
    expected = engine.game(name).new_game(fewest(name))
    assert [(each.outcome, each.weight) for each in answer.chance_outcomes] == expected.chance_outcomes()
    outcome = answer.chance_outcomes[-1].outcome
    expected.apply(outcome)
    answer = ask("list_legal_actions", ask("apply", state, outcome=outcome).state)
    assert [(each.outcome, each.weight) for each in answer.chance_outcomes] == expected.chance_outcomes()


def test_outcome_0_is_an_outcome_and_action_0_an_action() -> None:
    assert game_requests.apply(State(), None, 0, None, None).message == ApplyRequest(state=State(), outcome=0)
    assert game_requests.apply(State(), 0, None, None, None).message == ApplyRequest(state=State(), action=Action(id=0))


@pytest.mark.parametrize("name", GAMES)
def test_an_action_may_be_an_id_or_typed_or_as_it_came(ask: Ask, name: str) -> None:
    position = ask("new_game", name, fewest(name), seed=3, include=EVERYTHING)
    for action in position.legal_actions:
        typed = Action()
        typed.CopyFrom(action)
        typed.ClearField("id")
        typed.ClearField("label")
        after = ask("apply", position.state, action.id)
        assert after == ask("apply", position.state, typed) == ask("apply", position.state, action)


@pytest.mark.parametrize("name", GAMES)
def test_apply_takes_one_move(ask: Ask, name: str) -> None:
    state = ask("new_game", name, fewest(name), seed=1).state
    with pytest.raises(TypeError, match="either an action or an outcome"):
        ask("apply", state)
    with pytest.raises(TypeError, match="either an action or an outcome"):
        ask("apply", state, 0, outcome=0)


@pytest.mark.parametrize("name", GAMES)
def test_get_score_tells_totals_in_the_middle_of_a_game(ask: Ask, name: str) -> None:
    score = ask("get_score", ask("new_game", name, fewest(name), seed=1).state)
    assert list(score.totals) == engine.game(name).new_game(fewest(name), seed=1).totals()
    assert not score.final


@pytest.mark.parametrize("name", GAMES)
def test_get_view_is_a_seats_or_a_spectators(ask: Ask, name: str) -> None:
    state = ask("new_game", name, fewest(name), seed=1).state
    position = engine.game(name).new_game(fewest(name), seed=1)
    for seat in (0, 1, None):
        view = ask("get_view", state, seat)
        assert (view.seat if view.HasField("seat") else None) == seat
        expected = View()
        fill(getattr(expected, name), engine.codec(name).put_view, position, seat)
        assert getattr(view, name) == getattr(expected, name)
    assert ask("get_view", state) == ask("get_view", state, None)


@pytest.mark.parametrize("name", GAMES)
def test_resample_changes_nothing_that_the_seat_knows(ask: Ask, name: str) -> None:
    state = ask("new_game", name, fewest(name), seed=1).state
    drawn = ask("resample", state, 1, seed=9, game_number=4)
    assert ask("get_view", drawn, 1) == ask("get_view", state, 1)
    assert (drawn.stream.seed, drawn.stream.game_number) == (9, 4)
    assert ask("resample", state, 1, seed=9, game_number=4) == drawn
    assert ask("resample", state, 1, seed=9, game_number=5) != drawn
    assert ask("resample", state, 1) != ask("resample", state, 1)


@pytest.mark.parametrize("name", GAMES)
def test_suggest_asks_a_bot(ask: Ask, name: str) -> None:
    position = ask("new_game", name, fewest(name), seed=5, include=Include(legal_actions=True))
    known = [bot.name for bot in ask("list_bots", name)]
    assert known == bots.names(name)
    found = ask("suggest", position.state, "flat:playouts=20", seed=7)
    assert found.action in position.legal_actions
    assert len(found.ratings) == len(position.legal_actions)
    assert ask("suggest", position.state, "flat:playouts=20", seed=7) == found
    with pytest.raises(ChatiereError, match="INVALID_BOT"):
        ask("suggest", position.state, "nobody")


@pytest.mark.parametrize("name", GAMES)
def test_analyse_judges_the_decisions_of_a_record(ask: Ask, name: str) -> None:
    position = ask("new_game", name, fewest(name), seed=5, include=Include(legal_actions=True))
    record = begin_record(position, fewest(name))
    for _ in range(4):
        record.actions.append(position.legal_actions[0].id)
        position = ask("apply", position.state, position.legal_actions[0], include=Include(legal_actions=True))
    found = ask("analyse", record, simulations=20, seed=7)
    assert [each.played.action.id for each in found] == record.actions
    assert ask("analyse", record, 1, 3, simulations=20, seed=7) == found[1:3]
    with pytest.raises(ChatiereError, match="INVALID_RANGE"):
        ask("analyse", record, 5)
    with pytest.raises(ChatiereError, match="INVALID_BATCH"):
        ask("analyse", record, simulations=0)


async def test_an_analysis_too_long_for_a_call_takes_several() -> None:
    position = engine.game("discat").new_game(2, seed=5)
    record = GameRecord(game="discat", rules_version=1, players=2, stream=RecordStream(seed=5))
    while len(record.actions) < 7:
        record.actions.append(position.legal_actions()[0])
        position.apply(record.actions[-1])
    server, port = create_server(Settings(address="127.0.0.1:0", max_playouts=100), CollectorRegistry())
    server.start()
    try:
        async with AsyncClient(f"127.0.0.1:{port}") as other:
            there = await other.analyse(record, 1, simulations=40, seed=3)
            with pytest.raises(ChatiereError, match="BATCH_TOO_LARGE"):
                await other.analyse(record, simulations=101)
        with Client(f"127.0.0.1:{port}") as client:
            assert client.analyse(record, 1, simulations=40, seed=3) == there
            with pytest.raises(ChatiereError, match="BATCH_TOO_LARGE"):
                client.analyse(record, simulations=101)
    finally:
        server.stop(grace=None).wait()
    assert [each.ply for each in there] == [1, 2, 3, 4, 5, 6]


def test_numbers_that_no_field_can_hold_are_refused(ask: Ask) -> None:
    with pytest.raises(ValueError, match="-1"):
        ask("new_game", GAMES[0], 2, seed=-1)


async def test_asyncio_calls_run_side_by_side(address: str) -> None:
    name = GAMES[0]
    async with AsyncClient(address) as client:
        begun = await asyncio.gather(*(client.new_game(name, fewest(name), seed=seed) for seed in range(50)))
    assert [position.state.stream.seed for position in begun] == list(range(50))


def test_both_clients_have_the_same_methods() -> None:
    def signatures(kind: type) -> dict[str, str]:
        return {
            name: str(inspect.signature(member))
            for name, member in inspect.getmembers(kind, inspect.isfunction)
            if not name.startswith("_")
        }

    assert signatures(Client) == signatures(AsyncClient)


def test_a_ready_channel_is_used_and_left_open(address: str) -> None:
    with grpc.insecure_channel(address) as channel:
        with Client(channel) as client:
            assert client.list_games()
        with Client(channel) as client:
            assert client.list_games()


async def test_a_ready_asyncio_channel_is_used_and_left_open(address: str) -> None:
    async with grpc.aio.insecure_channel(address) as channel:
        async with AsyncClient(channel) as client:
            assert await client.list_games()
        async with AsyncClient(channel) as client:
            assert await client.list_games()


def test_a_closed_client_makes_no_call(address: str) -> None:
    with Client(address) as client:
        client.list_games()
    with pytest.raises(ValueError, match="closed"):
        client.list_games()
