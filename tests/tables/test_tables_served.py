"""Tables over gRPC at both doors: players in separate processes, servers that share keys, and access."""

import multiprocessing
import os
import random
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import grpc
import pytest
from service.process import served
from service.support import PATIENCE, Door, LogLines, code_of, refusal, running
from tools.needs import needs
from tools.over import each

from chatiere import engine
from chatiere.clients import ChatiereError, SealedSeat
from chatiere.clients.sealed_seat import header_of
from chatiere.service.base.settings import SettingError, Settings
from chatiere.service.guards.tokens import new_token
from chatiere.v1 import game_service_pb2, game_service_pb2_grpc, table_service_pb2_grpc
from chatiere.v1 import table_service_pb2 as pb

from .support import NEXT, NONE, OVER, human, secret_of

pytestmark = pytest.mark.long

SPAWN = multiprocessing.get_context("spawn")


@pytest.fixture(params=each("door", ["grpcio", pytest.param("fast", marks=needs("libnghttp2"))]))
def door(request: pytest.FixtureRequest) -> Door:
    found: Door = request.param
    return found


def table_stub(channel: grpc.Channel) -> Any:
    return table_service_pb2_grpc.TableServiceStub(channel)


def play_seat(pipe: Connection, address: str, folder: str) -> None:
    """Play a seat in one game after the other, with another secret in each game.

    The process receives only tables through its pipe, and sends back the results.
    """
    choices, me = random.Random(folder), None
    while (order := pipe.recv()) is not None:
        kind, content = order
        if kind == "sit down":
            me = SealedSeat(address, Path(folder) / content, timeout=PATIENCE)
            pipe.send(me.seat.SerializeToString())
            continue
        assert me is not None
        if kind == "acknowledge":
            pipe.send(me.acknowledge(content))
            continue
        update = me.look(content)
        assert header_of(content).ply == update.view.ply
        if update.legal_actions:
            assert me.suggest(content, "random").action in update.legal_actions
            pipe.send(me.move(content, choices.choice(update.legal_actions)).table)
        else:
            # It is a bot's turn.
            pipe.send(me.move(content).table)
    if me is not None:
        me.close()


Ask = Callable[[int, str, Any], Any]


@contextmanager
def players_of(address: str, tmp_path: Path, count: int) -> Iterator[Ask]:
    """Start processes that play one seat each. Yield a function that sends an order to one and returns the result."""
    pipes, processes = [], []
    for seat in range(count):
        here, there = SPAWN.Pipe()
        folder = tmp_path / f"player {seat}"
        folder.mkdir()
        process = SPAWN.Process(target=play_seat, args=(there, address, str(folder)), daemon=True)
        process.start()
        there.close()
        pipes.append(here)
        processes.append(process)

    def ask(seat: int, kind: str, content: Any) -> Any:
        pipes[seat].send((kind, content))
        return pipes[seat].recv()

    yield ask
    for pipe, process in zip(pipes, processes, strict=True):
        pipe.send(None)
        process.join(PATIENCE)
        assert process.exitcode == 0


def test_players_in_separate_processes(door: Door, tmp_path: Path) -> None:
    """Every game is played to its end, with acknowledgements. The processes exchange only tables.

    A spectator without a secret carries the tables from seat to seat.
    """
    humans = 2
    with running(door=door) as server, players_of(server.address, tmp_path, humans) as ask:
        stub = table_stub(server.channel)
        for game in engine.games():
            players = min(3, game.max_players)
            seats = [pb.TableSeat.FromString(ask(seat, "sit down", game.name)) for seat in range(humans)]
            seats += [pb.TableSeat(bot="random")] * (players - humans)
            request = pb.NewTableRequest(game=game.name, players=players, seats=seats, acknowledgement=NEXT)
            table = stub.NewTable(request).table
            for seat in range(humans):
                table = ask(seat, "acknowledge", table)
            tables = [table]
            while (turn := stub.Look(pb.LookRequest(table=table)).update.view.turn).kind != OVER:
                if turn.seat < humans:
                    table = ask(turn.seat, "move", table)
                    table = ask((turn.seat + 1) % humans, "acknowledge", table)
                else:
                    table = ask(0, "move", table)
                tables.append(table)
            record = stub.GetRecord(pb.GetRecordRequest(tables=tables)).record
            assert record.record.game == game.name
            assert len(record.record.actions) == len(tables) - 1


def write_keys(path: Path, *keys: int) -> Path:
    path.write_text("".join(f"{key:064x}\n" for key in keys))
    return path


def play_on(stub: Any, table: bytes, secrets: list[bytes], choices: random.Random) -> Iterator[bytes]:
    """Play at random, and yield the tables. Acknowledgements must not be required."""
    while True:
        yield table
        turn = stub.Look(pb.LookRequest(table=table), timeout=PATIENCE).update.view.turn
        if turn.kind == OVER:
            return
        secret = secrets[turn.seat]
        legal = stub.Look(pb.LookRequest(table=table, secret=secret), timeout=PATIENCE).update.legal_actions
        table = stub.Move(
            pb.MoveRequest(table=table, secret=secret, action=choices.choice(legal)), timeout=PATIENCE
        ).table


def test_two_servers_with_the_same_keys_share_a_game(door: Door, tmp_path: Path) -> None:
    """One server is killed in mid-game. Another server with the same keys continues the game. A third server cannot."""
    keys = str(write_keys(tmp_path / "keys", 1, 2))
    other = str(write_keys(tmp_path / "others", 3))
    secrets = [secret_of(0), secret_of(1)]
    with (
        served("--table-keys", keys, door=door) as first,
        served("--table-keys", keys, door=door) as second,
        served("--table-keys", other, door=door) as third,
    ):
        channels = [grpc.insecure_channel(each.address) for each in (first, second, third)]
        stubs = [table_stub(channel) for channel in channels]
        request = pb.NewTableRequest(game="chat_perche", players=2, seats=map(human, secrets), acknowledgement=NONE)
        table = stubs[0].NewTable(request, timeout=PATIENCE).table
        tables = []
        for number, each in enumerate(play_on(stubs[0], table, secrets, random.Random(1))):
            tables.append(each)
            assert stubs[1].Look(pb.LookRequest(table=each)) == stubs[0].Look(pb.LookRequest(table=each))
            if number == 10:
                break
        first.process.send_signal(signal.SIGKILL)
        rest = list(play_on(stubs[1], tables.pop(), secrets, random.Random(2)))
        assert stubs[1].GetRecord(pb.GetRecordRequest(tables=tables + rest)).record.record.actions
        assert refusal(stubs[2].Look, pb.LookRequest(table=rest[0])).reason == "INVALID_TABLE"
        for channel in channels:
            channel.close()
        assert not any("no table keys" in line for line in first.lines)


def test_workers_share_a_random_key(door: Door) -> None:
    """A replaced worker also has the key. The log warns that tables are valid only as long as the server runs."""
    with served("--workers", "2", door=door) as server:
        server.find("WARNING.*no table keys: sealed tables end with this server")
        request = pb.NewTableRequest(
            game="discat", players=2, seats=[human(secret_of(0)), pb.TableSeat(bot="random")], acknowledgement=NONE
        )
        table = None
        # A connection stays with one worker, so several connections are made to reach both.
        for number in range(12):
            if number == 6:
                before = len(server.lines)
                os.kill(server.worker_pid(0), signal.SIGKILL)
                server.worker_pid(0, before)
            with grpc.insecure_channel(server.address, options=[("grpc.use_local_subchannel_pool", 1)]) as channel:
                stub = table_stub(channel)
                table = table or stub.NewTable(request, timeout=PATIENCE, wait_for_ready=True).table
                assert stub.Look(
                    pb.LookRequest(table=table), timeout=PATIENCE, wait_for_ready=True
                ).update.view.HasField("discat")


def test_tokens_and_open_tables(door: Door, tmp_path: Path) -> None:
    token, line = new_token("arena")
    (tmp_path / "tokens").write_text(line)
    bearer = (("authorization", f"Bearer {token}"),)
    request = pb.NewTableRequest(game="discat", players=2, seats=[pb.TableSeat()] * 2, acknowledgement=NONE)
    unauthenticated, ok = grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.OK
    for is_open in False, True:
        settings = Settings(
            address="127.0.0.1:0",
            tokens=tmp_path / "tokens",
            max_rate_per_client=3 if is_open else 0,
            open_tables=is_open,
        )
        with running(settings, door) as server:
            stub = table_stub(server.channel)
            games = game_service_pb2_grpc.GameServiceStub(server.channel)
            assert code_of(games.ListGames, game_service_pb2.ListGamesRequest()) is unauthenticated
            assert code_of(stub.NewTable, request, metadata=bearer) is ok
            assert code_of(stub.NewTable, request) is (ok if is_open else unauthenticated)
            if is_open:
                codes = {code_of(stub.NewTable, request) for _ in range(10)}
                assert grpc.StatusCode.RESOURCE_EXHAUSTED in codes
                # A client with a token is limited by its name. The address is the same, but does not matter.
                assert code_of(stub.NewTable, request, metadata=bearer) is ok
                wrong = (("authorization", "Bearer wrong"),)
                assert code_of(stub.NewTable, request, metadata=wrong) is unauthenticated


def test_open_tables_need_tokens_and_a_limit(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    for options in [
        {"max_calls_per_client": 1},
        {"tokens": tokens},
    ]:
        with pytest.raises(SettingError) as error:
            Settings(open_tables=True, **options)  # type: ignore[arg-type]
        assert error.value.setting == "open_tables"
    assert Settings(open_tables=True, tokens=tokens, max_rate_per_client=0.5).open_tables


def test_moves_are_counted_and_no_data_of_a_table_is_logged(door: Door) -> None:
    with running(door=door) as server, LogLines() as log:
        stub = table_stub(server.channel)
        request = pb.NewTableRequest(game="discat", players=2, seats=[pb.TableSeat()] * 2, acknowledgement=NONE)
        made = stub.NewTable(request)
        secrets = [each.secret for each in made.secrets]
        count = len(list(play_on(stub, made.table, secrets, random.Random(1))))
        assert refusal(stub.Look, pb.LookRequest(table=made.table, secret=bytes(16))).reason == "WRONG_SECRET"
        log.wait_for("WRONG_SECRET")
        assert server.sample("chatiere_moves_applied_total", game="discat") == count - 1
    text = "\n".join(log.lines)
    for secret in secrets:
        assert secret.hex() not in text
        assert repr(secret) not in text


def test_a_suggestion_by_a_call_can_be_refused(door: Door, tmp_path: Path) -> None:
    with running(door=door) as server, SealedSeat(server.address, tmp_path / "seat") as me:
        table = me.new_table("discat", [me.seat, pb.TableSeat(bot="random")], NONE).table
        while not me.look(table).legal_actions:
            table = me.move(table).table
        with pytest.raises(ChatiereError) as error:
            me.suggest(table, "flat:playouts=10001")
        assert error.value.reason == "BATCH_TOO_LARGE"
