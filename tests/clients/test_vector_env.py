"""The vector environment with a real server, for every game."""

import contextlib
import dataclasses
import re
import socket
import threading
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status
from grpc_status import rpc_status
from prometheus_client import CollectorRegistry
from scipy import stats
from service.process import served
from tools.needs import needs
from tools.over import over_names, over_tables

from chatiere import engine
from chatiere.clients import Batch, ChatiereError, Ended, TransportError, VectorEnv, observation_part, vector_env
from chatiere.clients.calls import kept_batch
from chatiere.engine.wire import fill
from chatiere.envs import TableEnv
from chatiere.service.base.settings import Settings
from chatiere.service.guards.memory import Holding
from chatiere.service.ports.server import create_server
from chatiere.v1 import batch_service_pb2_grpc
from chatiere.v1.batch_service_pb2 import PlayResponse
from chatiere.v1.game_pb2 import Options

from .conftest import MakeFakeBatch

GAMES = [game.name for game in engine.games()]
SEED = 11


def fewest(name: str) -> int:
    return engine.game(name).min_players


def play(env: VectorEnv, seed: int = SEED, choose: Callable[[Batch], Any] = Batch.random_actions) -> Iterator[Batch]:
    """Play an environment with a limited number of games to its end, and yield all batches."""
    batch = env.reset(seed)
    yield batch
    while len(batch):
        batch = env.step(choose(batch))
        yield batch


@over_tables
def test_every_row_is_the_engine_s_position(address: str, name: str, players: int) -> None:
    games = 7
    positions = {number: engine.game(name).new_game(players, seed=SEED, game_number=number) for number in range(games)}
    lengths = dict.fromkeys(positions, 0)
    over = set()
    with VectorEnv(address, name, players, num_envs=4, batches=2, games=games, observations=True) as env:
        for batch in play(env):
            ended = batch.ended
            for row, number in enumerate(ended.game_numbers.tolist()):
                position = positions[number]
                assert position.is_terminal()
                over.add(number)
                assert ended.envs[row] == number % 4
                assert ended.lengths[row] == lengths[number]
                assert ended.returns[row].tolist() == pytest.approx(position.returns())
                assert ended.totals[row].tolist() == position.totals()
                for seat in range(players):
                    assert ended.observations[row, seat].tobytes() == position.observation(seat)
            assert len(batch) == len(batch.envs) == len(batch.actors)
            actions = batch.random_actions()
            mask = batch.legal_mask()
            for row, number in enumerate(batch.game_numbers.tolist()):
                position = positions[number]
                legal = batch.legal_ids[batch.legal_offsets[row] : batch.legal_offsets[row + 1]].tolist()
                assert batch.envs[row] == number % 4
                assert batch.decisions[row] == lengths[number]
                assert batch.actors[row] == position.current_player()
                assert legal == position.legal_actions() == np.flatnonzero(mask[row]).tolist()
                assert batch.legal_counts()[row] == len(legal)
                assert batch.observations[row].tobytes() == position.observation(position.current_player())
                assert batch.states[row].tobytes() == position.pack()
                assert actions[row] in legal
                position.apply(int(actions[row]))
                lengths[number] += 1
    assert over == set(range(games))


def trajectories(
    env: VectorEnv, seed: int, choose: Callable[[Batch], Any] = Batch.random_actions
) -> dict[int, list[int]]:
    """Return the actions of each game, followed by its length and totals."""
    games: dict[int, list[int]] = {}
    batch = env.reset(seed)
    while True:
        for number, length, totals in zip(
            batch.ended.game_numbers.tolist(), batch.ended.lengths, batch.ended.totals, strict=True
        ):
            games[number] += [int(length), *totals.tolist()]
        if not len(batch):
            return games
        actions = choose(batch)
        for number, action in zip(batch.game_numbers.tolist(), actions.tolist(), strict=True):
            games.setdefault(number, []).append(action)
        batch = env.step(actions)


@over_names
@pytest.mark.parametrize("first", [0, 5, 2**64 - 10])
def test_a_range_of_games_is_part_of_all_games(address: str, name: str, first: int) -> None:
    with (
        VectorEnv(address, name, fewest(name), num_envs=6, games=10, first_game=first) as env,
        VectorEnv(address, name, fewest(name), num_envs=2, games=4, first_game=first + 6) as part,
    ):
        all_games = trajectories(env, SEED)
        assert sorted(all_games) == list(range(first, first + 10))
        assert trajectories(part, SEED) == {number: all_games[number] for number in range(first + 6, first + 10)}


@over_names
def test_a_seed_gives_the_same_games_with_any_batching(address: str, name: str) -> None:
    def games_of(num_envs: int, batches: int, seed: int = SEED) -> dict[int, list[int]]:
        with VectorEnv(address, name, fewest(name), num_envs=num_envs, batches=batches, games=10) as env:
            return trajectories(env, seed)

    games = games_of(10, 1)
    assert sorted(games) == list(range(10))
    assert len({tuple(actions) for actions in games.values()}) == 10
    for num_envs, batches in ((1, 1), (7, 3), (8, 8), (64, 2)):
        assert games_of(num_envs, batches) == games
    assert games_of(10, 1, SEED + 1) != games


@over_names
def test_reset_restarts_all_games(address: str, name: str) -> None:
    with VectorEnv(address, name, fewest(name), num_envs=6, batches=3, games=10) as env:
        first = trajectories(env, SEED)
        batch = env.reset(SEED + 1)
        env.step(batch.random_actions())
        assert trajectories(env, SEED) == first


@over_names
@pytest.mark.parametrize("states", [True, False])
def test_environments_begin_at_given_states(address: str, name: str, states: bool) -> None:
    asked: dict[str, Any] = {"observations": True, "mask": "bits", "features": "packed"}
    with (
        TableEnv(name, fewest(name), 6, batches=3, **asked) as direct,
        VectorEnv(address, name, fewest(name), num_envs=6, batches=3, states=states, **asked) as env,
    ):
        batch = direct.reset(SEED)
        given = np.empty((6, engine.game(name).packed_size), np.uint8)
        for _ in range(30):
            given[batch.envs] = batch.states
            batch = direct.step(batch.random_actions())
        batch, expected = env.reset(SEED, states=given), direct.reset(SEED, states=given)
        ended = 0
        while ended < 12:
            assert batch.features.tolist() == expected.features.tolist()
            assert batch.mask.tolist() == expected.mask.tolist()
            assert batch.game_numbers.tolist() == expected.game_numbers.tolist()
            assert batch.decisions.tolist() == expected.decisions.tolist()
            assert batch.ended.totals.tolist() == expected.ended.totals.tolist()
            ended += len(batch.ended.envs)
            batch, expected = env.step(batch.random_actions()), direct.step(expected.random_actions())


def test_states_at_which_no_environment_can_begin_are_refused(address: str) -> None:
    game = engine.game("discat")
    good, explicit = game.new_game(2, {"first_seat": 0}, seed=1), game.new_game(2, {"first_seat": 0})
    over = good.clone()
    over.playout(1)
    while explicit.is_chance_node():
        explicit.apply(explicit.chance_outcomes()[0][0])
    with VectorEnv(address, "discat", 2, num_envs=4, batches=2) as env:
        first = env.reset(SEED)
        for last, reason in (
            (bytes(game.packed_size), "INVALID_STATE"),
            (game.new_game(3, seed=1).pack(), "INVALID_PLAYERS"),
            (over.pack(), "GAME_OVER"),
            (game.new_game(2).pack(), "CHANCE_PENDING"),
        ):
            rows = np.frombuffer(3 * good.pack() + last, np.uint8).reshape(4, -1)
            with pytest.raises(ChatiereError, match="item 3: ") as refusal:
                env.reset(states=rows)
            assert refusal.value.reason == reason
        for refused, message in (
            (rows[:3], "a row for each environment"),
            (np.frombuffer(4 * explicit.pack(), np.uint8).reshape(4, -1), "item 0: the state has no random stream"),
        ):
            with pytest.raises(engine.EngineError, match=message):
                env.reset(states=refused)
        # A refused reset changes nothing.
        env.step(first.random_actions())


def test_without_a_number_games_never_run_out(address: str) -> None:
    name = GAMES[0]
    numbers: list[int] = []
    with VectorEnv(address, name, fewest(name), num_envs=5, batches=2) as env:
        batch = env.reset(SEED)
        while len(numbers) < 40:
            batch = env.step(batch.random_actions())
            assert len(batch) in (2, 3)
            numbers += batch.ended.game_numbers.tolist()
            assert batch.envs.tolist() == (batch.game_numbers % 5).tolist()
    assert len(set(numbers)) == len(numbers)
    assert max(numbers) >= 10


@over_names
def test_batches_have_no_observations_by_default(address: str, name: str) -> None:
    with VectorEnv(address, name, fewest(name), num_envs=3, batches=1, games=3) as env:
        batches = list(play(env))
    assert all(batch.observations.size == 0 and batch.ended.observations.size == 0 for batch in batches)


@over_names
def test_options_apply_to_all_games(address: str, name: str) -> None:
    options = Options()
    getattr(options, name).SetInParent()
    fill(getattr(options, name), engine.codec(name).put_options, {"first_seat": 1})
    rules = engine.game(name)
    with VectorEnv(address, name, fewest(name), num_envs=2, batches=1, games=6, options=options) as env:
        seen = [state for batch in play(env) for state in batch.states]
    assert all(rules.unpack(state.tobytes()).options()["first_seat"] == 1 for state in seen)


def relayed(
    address: str, before_answering: int
) -> Callable[[Iterator[Any], grpc.ServicerContext], Iterator[PlayResponse]]:
    """Forward Play to the real server, but wait for a number of requests before each response."""

    def play(requests: Iterator[Any], context: grpc.ServicerContext) -> Iterator[PlayResponse]:
        with grpc.insecure_channel(address) as channel:
            stub = batch_service_pb2_grpc.BatchServiceStub(channel)
            waiting = [next(requests) for _ in range(before_answering)]
            while True:
                yield from stub.Play(iter([waiting.pop(0)]))
                waiting.append(next(requests))

    return play


def test_all_batches_but_one_are_in_flight(address: str, make_fake_batch: MakeFakeBatch) -> None:
    name = GAMES[0]
    _, relay = make_fake_batch(play=relayed(address, 3))
    with (
        VectorEnv(relay, name, fewest(name), num_envs=6, batches=3) as env,
        VectorEnv(address, name, fewest(name), num_envs=6, batches=3) as direct,
    ):
        batch, expected = env.reset(SEED), direct.reset(SEED)
        for _ in range(20):
            assert batch.states.tolist() == expected.states.tolist()
            batch, expected = env.step(batch.random_actions()), direct.step(expected.random_actions())


@pytest.mark.parametrize("is_fast", [False, pytest.param(True, marks=needs("libnghttp2"))])
@pytest.mark.parametrize("code", [grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED])
def test_a_broken_stream_loses_no_game(
    address: str, make_fake_batch: MakeFakeBatch, code: grpc.StatusCode, is_fast: bool
) -> None:
    name = GAMES[0]

    def play(requests: Iterator[Any], context: grpc.ServicerContext) -> Iterator[PlayResponse]:
        with grpc.insecure_channel(address) as channel:
            stub = batch_service_pb2_grpc.BatchServiceStub(channel)
            for _ in range(7):
                yield from stub.Play(iter([next(requests)]))
            context.abort(code, "gone")

    servicer, relay = make_fake_batch(play=play)
    fast_address = relay if is_fast else None
    with (
        VectorEnv(relay, name, fewest(name), num_envs=6, batches=3, games=6, fast_address=fast_address) as env,
        VectorEnv(address, name, fewest(name), num_envs=6, batches=3, games=6) as direct,
    ):
        assert trajectories(env, SEED) == trajectories(direct, SEED)
    assert servicer.calls > 5


@pytest.mark.parametrize("moves", [1, 5, 256])
@over_names
def test_games_are_the_same_if_the_service_keeps_the_states(
    address: str, name: str, moves: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_batch, "_MOVES", moves)
    with (
        VectorEnv(address, name, fewest(name), num_envs=6, batches=3, games=13, states=False) as env,
        VectorEnv(address, name, fewest(name), num_envs=6, batches=3, games=13) as direct,
    ):
        assert not env.reset(SEED).states.size
        assert trajectories(env, SEED) == trajectories(direct, SEED)


@pytest.mark.parametrize("is_fast", [False, pytest.param(True, marks=needs("libnghttp2"))])
@pytest.mark.parametrize("code", [grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED])
@pytest.mark.parametrize("moves", [3, 256])
def test_kept_states_lost_with_a_stream_are_restored(
    address: str,
    make_fake_batch: MakeFakeBatch,
    moves: int,
    code: grpc.StatusCode,
    is_fast: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kept_batch, "_MOVES", moves)
    name, lasts = GAMES[0], iter([4, 30, 50, 90])

    def play(requests: Iterator[Any], context: grpc.ServicerContext) -> Iterator[PlayResponse]:
        with grpc.insecure_channel(address) as channel:
            yield from islice(batch_service_pb2_grpc.BatchServiceStub(channel).Play(requests), next(lasts, None))
            context.abort(code, "gone")

    _, relay = make_fake_batch(play=play)
    fast_address = relay if is_fast else None
    with (
        VectorEnv(
            relay, name, fewest(name), num_envs=6, batches=3, games=13, states=False, fast_address=fast_address
        ) as env,
        VectorEnv(address, name, fewest(name), num_envs=6, batches=3, games=13) as direct,
    ):
        assert trajectories(env, SEED) == trajectories(direct, SEED)
    assert next(lasts, None) is None


def test_a_killed_server_loses_no_kept_game(address: str) -> None:
    name = GAMES[0]
    with (
        served(door="fast") as server,
        VectorEnv(
            address, name, fewest(name), num_envs=6, games=13, states=False, fast_address=server.fast_address
        ) as env,
        VectorEnv(address, name, fewest(name), num_envs=6, games=13) as direct,
    ):
        steps = 0

        def choose(batch: Batch) -> Any:
            nonlocal steps
            steps += 1
            if steps == 40:
                server.close()
            return batch.random_actions()

        assert trajectories(env, SEED, choose) == trajectories(direct, SEED)
        assert steps > 40


def test_games_continue_when_the_service_drops_kept_states(address: str) -> None:
    name = GAMES[0]
    server, port = create_server(Settings(address="127.0.0.1:0"), CollectorRegistry())
    server.start()
    call, steps = Holding(server._guards.budget, "another"), 0

    def choose(batch: Batch) -> Any:
        nonlocal steps
        steps += 1
        if steps % 10 == 0:
            call.hold(Settings.max_undelivered_bytes)
            call.release()
        return batch.random_actions()

    with (
        VectorEnv(f"127.0.0.1:{port}", name, fewest(name), num_envs=6, batches=3, games=13, states=False) as env,
        VectorEnv(address, name, fewest(name), num_envs=6, batches=3, games=13) as direct,
    ):
        assert trajectories(env, SEED, choose) == trajectories(direct, SEED)
    assert steps > 20
    server.stop(grace=None).wait()


@needs("libnghttp2")
@over_names
def test_games_are_the_same_over_a_fast_stream(address: str, name: str) -> None:
    def games_over(fast_address: str | None) -> dict[int, list[int]]:
        with VectorEnv(address, name, fewest(name), num_envs=6, batches=3, games=10, fast_address=fast_address) as env:
            return trajectories(env, SEED)

    assert games_over(address) == games_over(None)


@needs("libnghttp2")
def test_the_channel_continues_when_the_fast_server_stops(address: str) -> None:
    name = GAMES[0]
    server, port = create_server(Settings(address="127.0.0.1:0"), CollectorRegistry())
    server.start()
    with (
        VectorEnv(address, name, fewest(name), num_envs=6, batches=3, fast_address=f"127.0.0.1:{port}") as env,
        VectorEnv(address, name, fewest(name), num_envs=6, batches=3) as direct,
    ):
        batch, expected = env.reset(SEED), direct.reset(SEED)
        server.stop(grace=None).wait()
        for _ in range(20):
            assert batch.states.tolist() == expected.states.tolist()
            batch, expected = env.step(batch.random_actions()), direct.step(expected.random_actions())


@needs("libnghttp2")
def test_the_channel_continues_when_the_fast_address_does_not_answer(address: str) -> None:
    name = GAMES[0]
    with socket.create_server(("127.0.0.1", 0)) as listener:
        closed = threading.Thread(target=lambda: listener.accept()[0].close())
        closed.start()
        nobody = f"127.0.0.1:{listener.getsockname()[1]}"
        with (
            VectorEnv(address, name, fewest(name), num_envs=6, batches=3, games=6, fast_address=nobody) as env,
            VectorEnv(address, name, fewest(name), num_envs=6, batches=3, games=6) as direct,
        ):
            assert trajectories(env, SEED) == trajectories(direct, SEED)
        closed.join()


@pytest.mark.parametrize("is_fast", [False, pytest.param(True, marks=needs("libnghttp2"))])
def test_reset_restarts_games_after_a_refused_stream(
    address: str, make_fake_batch: MakeFakeBatch, is_fast: bool
) -> None:
    name = GAMES[0]

    def play(requests: Iterator[Any], context: grpc.ServicerContext) -> Iterator[PlayResponse]:
        if servicer.calls == 1:
            info = ErrorInfo(reason="LIMIT_EXCEEDED", domain="chatiere")
            status = Status(code=8, message="too many streams")
            status.details.add().Pack(info)
            context.abort_with_status(rpc_status.to_status(status))
        with grpc.insecure_channel(address) as channel:
            stub = batch_service_pb2_grpc.BatchServiceStub(channel)
            yield from stub.Play(requests)

    servicer, relay = make_fake_batch(play=play)
    fast_address = relay if is_fast else None
    with (
        VectorEnv(relay, name, fewest(name), num_envs=6, batches=3, games=6, fast_address=fast_address) as env,
        VectorEnv(address, name, fewest(name), num_envs=6, batches=3, games=6) as direct,
    ):
        # The refusal may arrive before the first request.
        with contextlib.suppress(ChatiereError):
            env.reset(SEED)
        assert trajectories(env, SEED) == trajectories(direct, SEED)


def test_without_libnghttp2_the_stream_goes_over_the_channel(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_env, "IS_BUILT", False)
    # No server listens at the fast address.
    with VectorEnv(address, GAMES[0], fewest(GAMES[0]), num_envs=6, fast_address="127.0.0.1:0") as env:
        assert len(env.reset(SEED)) == 3


@needs("libnghttp2")
def test_a_fast_address_without_a_server_is_an_error(address: str) -> None:
    with pytest.raises(TransportError, match="no connection to"):
        VectorEnv(address, GAMES[0], fewest(GAMES[0]), fast_address="127.0.0.1:0")


def test_a_service_that_does_not_answer_is_abandoned_after_the_timeout(
    address: str, make_fake_batch: MakeFakeBatch
) -> None:
    name = GAMES[0]

    def play(requests: Iterator[Any], context: grpc.ServicerContext) -> Iterator[PlayResponse]:
        if servicer.calls > 1:
            context.abort(grpc.StatusCode.UNIMPLEMENTED, "another stream")
        for _ in requests:
            pass
        return iter([])

    servicer, silent = make_fake_batch(play=play)
    with VectorEnv(silent, name, fewest(name), timeout=2) as env:
        with pytest.raises(TransportError, match="no response on the stream within 2 s") as raised:
            env.reset(SEED)
        assert raised.value.code == grpc.StatusCode.DEADLINE_EXCEEDED
        with pytest.raises(TransportError, match="another stream"):
            env.reset(SEED)


@over_names
def test_a_forbidden_action_is_an_error_until_reset(address: str, name: str) -> None:
    with VectorEnv(address, name, fewest(name), num_envs=4, batches=2) as env:
        batch = env.reset(SEED)
        actions = batch.random_actions()
        actions[1] = np.flatnonzero(~batch.legal_mask()[1])[0]
        other = env.step(actions)
        assert set(other.envs) == {2, 3}
        with pytest.raises(ChatiereError) as raised:
            env.step(other.random_actions())
        assert (raised.value.reason, raised.value.metadata["item"]) == ("ILLEGAL_ACTION", "1")
        with pytest.raises(ValueError, match="reset the environment"):
            env.step(batch.random_actions())
        assert env.reset(SEED).states.tolist() == batch.states.tolist()


def test_other_than_one_action_per_row_is_refused(address: str) -> None:
    name = GAMES[0]
    with VectorEnv(address, name, fewest(name), num_envs=4, batches=2, games=4) as env:
        with pytest.raises(ValueError, match="reset the environment"):
            env.step([0, 0])
        batch = env.reset(SEED)
        for wrong in (0, [0], [0, 0, 0], [[0, 0]]):
            with pytest.raises(ValueError, match=r"actions must have the shape \(2,\)"):
                env.step(wrong)
        assert len(env.step(batch.random_actions()))
        for batch in play(env):
            last = batch
        assert len(last) == 0
        with pytest.raises(ValueError, match="reset the environment"):
            env.step([])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"num_envs": 0}, "num_envs must be from 1"),
        ({"batches": 0}, "batches must be from 1 to num_envs"),
        ({"num_envs": 2, "batches": 3}, "batches must be from 1 to num_envs"),
        ({"games": 0}, "games must be 1 or more"),
        ({"games": -1}, "games must be 1 or more"),
        ({"first_game": -1}, "first_game must be an integer from 0"),
        ({"first_game": 2**64}, "first_game must be an integer from 0"),
        ({"first_game": 2**64 - 3, "games": 4}, r"first_game \+ games must not be above"),
    ],
)
def test_invalid_numbers_are_named(address: str, wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        VectorEnv(address, GAMES[0], fewest(GAMES[0]), **wrong)


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_a_seed_out_of_range_is_refused(address: str, seed: int) -> None:
    refused = pytest.raises(ValueError, match="seed must be an integer from 0")
    with VectorEnv(address, GAMES[0], fewest(GAMES[0])) as env, refused:
        env.reset(seed)


@over_names
def test_numbers_may_be_numpy_s(address: str, name: str) -> None:
    def play(number: Callable[[int], Any]) -> list[list[int]]:
        asked = {"num_envs": number(5), "batches": number(1), "games": number(7)}
        with VectorEnv(address, name, number(fewest(name)), **asked) as env:
            batch = env.reset(number(SEED))
            return [batch.luck().tolist(), env.step(batch.random_actions().astype(np.int64)).luck().tolist()]

    assert play(np.int64) == play(np.uint16) == play(int)
    wrong: dict[str, Any]
    for argument in ("num_envs", "batches", "games"):
        wrong = {argument: 2.0}
        with pytest.raises(TypeError, match=rf"{argument} must be an integer, not 2\.0"):
            VectorEnv(address, name, fewest(name), **wrong)
    half: Any = 0.5
    with pytest.raises(TypeError, match=r"players must be an integer, not 0\.5"):
        VectorEnv(address, name, half)
    with VectorEnv(address, name, fewest(name)) as env, pytest.raises(TypeError, match="seed must be an integer"):
        env.reset(half)


def test_unknown_games_and_players_are_refused(address: str) -> None:
    for reason, name, players, options in (
        ("UNKNOWN_GAME", "tarock", 3, None),
        ("INVALID_PLAYERS", GAMES[0], 99, None),
        ("INVALID_OPTION", GAMES[0], fewest(GAMES[0]), Options(**{GAMES[1]: {}})),
    ):
        with pytest.raises(ChatiereError) as raised:
            VectorEnv(address, name, players, options=options)
        assert raised.value.reason == reason


def test_a_given_channel_is_used_and_left_open(address: str) -> None:
    with grpc.insecure_channel(address) as channel:
        for _ in range(2):
            with VectorEnv(channel, GAMES[0], fewest(GAMES[0])) as env:
                env.reset(SEED)


@pytest.mark.parametrize("kind", [Batch, Ended])
def test_the_page_about_batches_names_all_attributes(kind: type) -> None:
    page = (Path(__file__).parents[2] / "docs/batch.md").read_text("utf-8")
    (table,) = re.findall(rf"^\| of `{kind.__name__}` \|.*?^\|[ -|]+\n(.*?)^$", page, re.MULTILINE | re.DOTALL)
    documented = [name for row in table.splitlines() for name in re.findall(r"`(\w+)", row.split("|")[1])]
    fields = [field.name for field in dataclasses.fields(kind)]
    methods = [name for name in vars(kind) if not name.startswith("_") and name not in fields]
    assert sorted(documented) == sorted([*fields, *methods])


@pytest.fixture(scope="module")
def batch(address: str) -> Batch:
    with VectorEnv(address, GAMES[0], fewest(GAMES[0]), num_envs=64, batches=1) as env:
        batch = env.reset(SEED)
        for _ in range(10):
            batch = env.step(batch.random_actions())
    return batch


def test_luck_depends_only_on_seed_game_and_decision(batch: Batch) -> None:
    luck = batch.luck()
    assert len(set(luck.tolist())) == len(batch)
    same = dataclasses.replace(batch, states=batch.states[::-1], actors=batch.actors[::-1])
    assert same.luck().tolist() == luck.tolist()
    for other in ({"seed": SEED + 1}, {"game_numbers": batch.game_numbers + 64}, {"decisions": batch.decisions + 1}):
        assert not set(dataclasses.replace(batch, **other).luck().tolist()) & set(luck.tolist())


def test_luck_is_pinned(batch: Batch) -> None:
    # A seed must give the same games everywhere.
    pinned = dataclasses.replace(
        batch, seed=7, game_numbers=np.array([0, 1, 2**64 - 1], np.uint64), decisions=np.array([0, 5, 9], np.uint32)
    )
    assert pinned.luck().tolist() == [11241344834629033336, 5704952132319151503, 9417235901859788952]


def test_random_actions_take_all_legal_actions_equally_often(batch: Batch) -> None:
    counts = np.zeros(len(batch.legal_ids))
    rounds = 600
    for number in range(rounds):
        actions = dataclasses.replace(batch, seed=number).random_actions()
        chosen = batch.legal_offsets[:-1] + np.array(
            [
                np.searchsorted(batch.legal_ids[first:last], action)
                for first, last, action in zip(batch.legal_offsets[:-1], batch.legal_offsets[1:], actions, strict=True)
            ]
        )
        counts[chosen] += 1
    expected = rounds / np.repeat(batch.legal_counts(), batch.legal_counts())
    freedom = len(batch.legal_ids) - len(batch)
    assert counts.sum() == rounds * len(batch)
    assert stats.chi2.sf(((counts - expected) ** 2 / expected).sum(), freedom) > 1e-4


def test_the_best_action_is_the_first_with_the_highest_value(batch: Batch) -> None:
    values = np.random.default_rng(SEED).integers(-3, 3, len(batch.legal_ids))
    for typed in (values, values.astype(np.float32)):
        for row, action in enumerate(batch.best_actions(typed)):
            legal = slice(batch.legal_offsets[row], batch.legal_offsets[row + 1])
            assert action == batch.legal_ids[legal][typed[legal].argmax()]


@over_names
def test_parts_of_observations_are_found_by_name(address: str, name: str) -> None:
    with VectorEnv(address, name, fewest(name)) as env:
        parts = [observation_part(env.info, part.name) for part in env.info.observation]
        with pytest.raises(KeyError):
            observation_part(env.info, "weather")
    assert [part.start for part in parts] == [part.offset for part in env.info.observation]
    assert [part.stop for part in parts] == [*(part.start for part in parts[1:]), env.info.observation_length]
