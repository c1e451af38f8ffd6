"""Every method of both clients, with a real server and every game."""

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

import grpc
import numpy as np
import pytest
from prometheus_client import CollectorRegistry
from tools.over import over_names

from chatiere import bots, engine
from chatiere.bots.ladder import ladder
from chatiere.clients import AsyncClient, ChatiereError, Client
from chatiere.clients.records import begin_record
from chatiere.engine.wire import fill
from chatiere.service.base.settings import Settings
from chatiere.service.ports.server import create_server
from chatiere.v1.game_pb2 import TURN_KIND_CHANCE, TURN_KIND_DECISION, Action, Include, Options, Position, View
from chatiere.v1.game_service_pb2 import RULES_AUDIENCE_AUTHORS
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


def test_list_games_describes_the_engine_s_games(ask: Ask) -> None:
    games = ask("list_games")
    assert [(info.name, info.min_players, info.max_players, info.num_actions) for info in games] == [
        (game.name, game.min_players, game.max_players, game.num_distinct_actions) for game in engine.games()
    ]
    assert not any(info.pieces or info.observation or info.phrases for info in games)


@over_names
def test_list_games_by_name_and_in_parts(ask: Ask, name: str) -> None:
    (plain,) = ask("list_games", [name])
    assert plain in ask("list_games")
    for part in ("pieces", "observation"):
        (info,) = ask("list_games", games=(name,), **{part: True})
        assert len(getattr(info, part)) == len(getattr(engine.game(name).description, part))
        for field in ("pieces", "piece_details", "piece_fields") if part == "pieces" else (part,):
            info.ClearField(field)
        assert info == plain
    (info,) = ask("list_games", [name], phrases=True)
    assert info.phrases
    info.ClearField("phrases")
    assert info == plain


def test_a_single_name_instead_of_a_sequence_is_refused(ask: Ask) -> None:
    with pytest.raises(TypeError, match="games is a sequence of names, not the one name 'discat'"):
        ask("list_games", "discat")


def test_get_rules_has_the_audience_and_the_options(ask: Ask) -> None:
    assert ask("get_rules", "discat").markdown.startswith("# How to play Discat\n")
    options = first_seat("discat", 1)
    found = ask("get_rules", "discat", players=np.uint8(2), options=options, audience=RULES_AUDIENCE_AUTHORS)
    assert found.markdown.startswith("# Discat (2–6 players)\n")
    assert "\n- `first_seat`: seat 1. " in found.markdown


@over_names
def test_seed_and_number_determine_a_new_game(ask: Ask, name: str) -> None:
    expected = engine.game(name).new_game(fewest(name), seed=5, game_number=2**64 - 1)
    position = ask("new_game", name, fewest(name), seed=5, game_number=2**64 - 1, include=Include(legal_actions=True))
    assert (position.turn.kind, position.turn.seat) == (TURN_KIND_DECISION, expected.current_player())
    assert [action.id for action in position.legal_actions] == expected.legal_actions()
    stream = position.state.stream
    assert (stream.seed, stream.game_number, stream.drawn) == expected.random_stream()


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.array])
def test_numbers_may_be_numpy_s(ask: Ask, kind: Callable[[int], Any]) -> None:
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


def test_other_types_and_numbers_out_of_range_are_refused_by_name(ask: Ask) -> None:
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


@over_names
def test_new_game_without_a_seed_takes_a_random_one(ask: Ask, name: str) -> None:
    seeds = {ask("new_game", name, fewest(name)).state.stream.seed for _ in range(3)}
    assert len(seeds) == 3


@over_names
def test_new_game_takes_options(ask: Ask, name: str) -> None:
    position = ask("new_game", name, fewest(name), options=first_seat(name, 1), seed=1)
    assert getattr(position.state, name).options == getattr(first_seat(name, 1), name)


@over_names
def test_parts_are_included_only_on_request(ask: Ask, name: str) -> None:
    position = ask("new_game", name, fewest(name), seed=1)
    assert not position.legal_actions
    assert not position.updates
    assert not position.HasField("score")


@over_names
def test_include_reaches_new_game_and_apply(ask: Ask, name: str) -> None:
    position = ask("new_game", name, fewest(name), seed=1, include=EVERYTHING)
    for answer in (position, ask("apply", position.state, position.legal_actions[0].id, include=EVERYTHING)):
        assert answer.legal_actions == ask("list_legal_actions", answer.state).legal_actions
        assert answer.score == ask("get_score", answer.state)
        views = [ask("get_view", answer.state, seat) for seat in (1, 0, None)]
        assert [viewer.view for viewer in answer.updates] == views


@over_names
def test_get_position_is_the_position_without_events(ask: Ask, name: str) -> None:
    position = ask("new_game", name, fewest(name), seed=1, include=EVERYTHING)
    state = position.state
    assert ask("get_position", state) == Position(state=state, turn=position.turn, ply=position.ply)
    for part in (position, *position.updates):
        del part.events[:]
    assert ask("get_position", state, EVERYTHING) == position


@over_names
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


def test_outcome_0_and_action_0_are_moves(ask: Ask) -> None:
    game = engine.game("discat")
    begun = ask("new_game", "discat", 2, explicit_chance=True).state
    answer = ask("list_legal_actions", ask("apply", begun, outcome=0).state)
    outcomes = game.new_game(2).child(0).chance_outcomes()
    assert [(each.outcome, each.weight) for each in answer.chance_outcomes] == outcomes
    seed, position = next(
        (seed, position) for seed in range(100) if 0 in (position := game.new_game(2, seed=seed)).legal_actions()
    )
    after = ask("apply", ask("new_game", "discat", 2, seed=seed).state, 0, include=Include(legal_actions=True))
    assert [action.id for action in after.legal_actions] == position.child(0).legal_actions()


@over_names
def test_an_action_may_be_an_id_or_typed_or_from_a_response(ask: Ask, name: str) -> None:
    position = ask("new_game", name, fewest(name), seed=3, include=EVERYTHING)
    for action in position.legal_actions:
        typed = Action()
        typed.CopyFrom(action)
        typed.ClearField("id")
        typed.ClearField("label")
        after = ask("apply", position.state, action.id)
        assert after == ask("apply", position.state, typed) == ask("apply", position.state, action)


@over_names
def test_apply_accepts_only_one_move(ask: Ask, name: str) -> None:
    state = ask("new_game", name, fewest(name), seed=1).state
    with pytest.raises(TypeError, match="either an action or an outcome"):
        ask("apply", state)
    with pytest.raises(TypeError, match="either an action or an outcome"):
        ask("apply", state, 0, outcome=0)


@over_names
def test_get_score_has_totals_in_the_middle_of_a_game(ask: Ask, name: str) -> None:
    score = ask("get_score", ask("new_game", name, fewest(name), seed=1).state)
    assert list(score.totals) == engine.game(name).new_game(fewest(name), seed=1).totals()
    assert not score.final


@over_names
def test_get_view_returns_the_view_of_a_seat_or_a_spectator(ask: Ask, name: str) -> None:
    state = ask("new_game", name, fewest(name), seed=1).state
    position = engine.game(name).new_game(fewest(name), seed=1)
    for seat in (0, 1, None):
        view = ask("get_view", state, seat)
        assert (view.seat if view.HasField("seat") else None) == seat
        expected = View()
        fill(getattr(expected, name), engine.codec(name).put_view, position, seat)
        assert getattr(view, name) == getattr(expected, name)
    assert ask("get_view", state) == ask("get_view", state, None)


@over_names
def test_resample_changes_nothing_that_the_seat_knows(ask: Ask, name: str) -> None:
    state = ask("new_game", name, fewest(name), seed=1).state
    drawn = ask("resample", state, 1, seed=9, game_number=4)
    assert ask("get_view", drawn, 1) == ask("get_view", state, 1)
    assert (drawn.stream.seed, drawn.stream.game_number) == (9, 4)
    assert ask("resample", state, 1, seed=9, game_number=4) == drawn
    assert ask("resample", state, 1, seed=9, game_number=5) != drawn
    assert ask("resample", state, 1) != ask("resample", state, 1)


@over_names
def test_suggest_asks_a_bot(ask: Ask, name: str) -> None:
    position = ask("new_game", name, fewest(name), seed=5, include=Include(legal_actions=True))
    listed = ask("list_bots", name)
    assert [bot.name for bot in listed.bots] == bots.names(name)
    assert [rung.name for rung in listed.ladder] == [rung.name for rung in ladder(engine.game(name))]
    found = ask("suggest", position.state, "flat:playouts=20", seed=7)
    assert found.action in position.legal_actions
    assert len(found.ratings) == len(position.legal_actions)
    assert ask("suggest", position.state, "flat:playouts=20", seed=7) == found
    with pytest.raises(ChatiereError, match="INVALID_BOT"):
        ask("suggest", position.state, "nobody")


@over_names
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


async def test_an_analysis_too_long_for_one_call_takes_several() -> None:
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


async def test_asyncio_calls_run_concurrently(address: str) -> None:
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


def test_a_given_channel_is_used_and_left_open(address: str) -> None:
    with grpc.insecure_channel(address) as channel:
        with Client(channel) as client:
            assert client.list_games()
        with Client(channel) as client:
            assert client.list_games()


async def test_a_given_asyncio_channel_is_used_and_left_open(address: str) -> None:
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
