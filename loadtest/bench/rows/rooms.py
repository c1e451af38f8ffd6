"""Many rooms in which games are played at human pace, and the time from Post until all followers have the table."""

import asyncio
import gc
import resource
import secrets
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from chatiere.engine import Game
from chatiere.v1 import room_service_pb2 as pb
from chatiere.v1 import table_service_pb2 as tables_pb
from chatiere.v1.game_pb2 import TURN_KIND_DECISION
from chatiere.v1.table_service_pb2_grpc import TableServiceStub
from loadtest.bench.bounds import bound_of
from loadtest.bench.measure import BenchPlan, Result, Row, measured
from loadtest.bench.room_clients import GrpcClients, RoomClients, WebClients
from loadtest.bench.servers import BenchServer, chatiere, web_door_built

GRPCIO, WEB = "grpcio's port", "web door"
FOLLOWERS = 4
# The time between two moves in a room, in seconds.
PERIOD = 5.0
# The bound, in milliseconds, on the time within which all followers receive 99 % of the moves.
MOST = 100.0
# The number of concurrent calls while rooms fill, and the timeout of all operations in seconds.
_AT_A_TIME, _PATIENCE = 100, 120.0


class Load(NamedTuple):
    """The figures of rooms at one door.

    Attributes:
        seconds: For each move, the time from when its Post was due until all followers had the table.
        delivered: The number of tables that followers received.
        expected: The number of tables that followers should have received.
        server_us: The server's processor time for a move, in µs.
        client_us: The processor time for a move in this process, in µs.
        follower_kb: The server's memory for a follower, in kB.
    """

    seconds: list[float]
    delivered: int
    expected: int
    server_us: float
    client_us: float
    follower_kb: float


class GameTables(NamedTuple):
    """A game at a sealed table: the tables of all plies, and the secret of a seat."""

    tables: list[bytes]
    secret: bytes


def measure(plan: BenchPlan) -> Result:
    """Measure rooms at each door, with a move in each room for every round."""
    game, players = next(iter(plan.games.items()))
    result = Result()
    title = f"{plan.rooms:,} rooms with {FOLLOWERS} followers each, a move in {PERIOD:g} s in each"
    lines = result.tables.setdefault(title, [])
    doors: dict[str, Callable[[BenchServer], RoomClients]] = {GRPCIO: lambda server: GrpcClients(server.address)}
    if web_door_built():
        doors[WEB] = lambda server: WebClients(server.web_address)
    # Raise the limit on open files, because each follower at the web door has a connection.
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    # A client may have at most half of the server's rooms and followers.
    limits = ("--max-rooms", 2 * plan.rooms, "--max-followers", 2 * FOLLOWERS * plan.rooms)
    for door, connect in doors.items():
        with chatiere(1, "--relay", "memory", *map(str, limits), with_fast_door=False) as server:
            played = play(server, game, players, plan.rounds)
            load = asyncio.run(_load(connect, server, played, plan.rooms))
        p50, p99 = (1000 * float(np.percentile(load.seconds, each)) for each in (50, 99))
        result.rows += [
            Row(
                row=f"rooms, {door}, 99 % of the moves with all followers",
                game=game.name,
                unit="ms",
                ours=p99,
                peer=MOST,
                bound=bound_of("rooms_p99").bound,
                peer_name="what people are to wait at most",
                at_most=True,
            ),
            Row(
                row=f"rooms, {door}, deliveries",
                game=game.name,
                unit="tables",
                ours=load.delivered,
                peer=load.expected,
                bound=bound_of("rooms_delivered").bound,
                peer_name="moves times followers",
            ),
        ]
        lines.append(
            {
                "door": door,
                "moves": len(load.seconds),
                "deliveries": load.delivered,
                "lost": load.expected - load.delivered,
                "p50 ms": p50,
                "p99 ms": p99,
                "server CPU µs a move": load.server_us,
                "client CPU µs a move": load.client_us,
                "server kB a follower": load.follower_kb,
            }
        )
    return result


def play(server: BenchServer, game: Game, players: int, moves: int) -> GameTables:
    """Play a number of moves of a game, or the whole game. The tables can be posted to any room."""
    with server.channel() as channel:
        stub = TableServiceStub(channel)
        begun = stub.NewTable(
            tables_pb.NewTableRequest(
                game=game.name,
                players=players,
                seats=[tables_pb.TableSeat()] * players,
                acknowledgement=tables_pb.ACKNOWLEDGEMENT_NONE,
            )
        )
        own = [each.secret for each in begun.secrets]
        tables = [begun.table]
        while len(tables) <= moves:
            view = stub.Look(tables_pb.LookRequest(table=tables[-1])).update.view
            if view.turn.kind != TURN_KIND_DECISION:
                break
            secret = own[view.turn.seat]
            legal = stub.Look(tables_pb.LookRequest(table=tables[-1], secret=secret)).update.legal_actions
            request = tables_pb.MoveRequest(table=tables[-1], secret=secret)
            request.action.id = legal[0].id
            tables.append(stub.Move(request).table)
        return GameTables(tables, own[0])


class _Rooms:
    """All rooms, and the times at which followers received tables."""

    def __init__(self, clients: RoomClients, played: GameTables, count: int) -> None:
        self._clients, self._played = clients, played
        self._ids = [secrets.token_bytes(16) for _ in range(count)]
        # Map each room and ply to the times at which followers received the table.
        self.came: defaultdict[tuple[int, int], list[float]] = defaultdict(list)
        self._tasks: list[asyncio.Task[None]] = []

    async def enter(self) -> None:
        """Start all followers, _AT_A_TIME at the same time. Return when all of them follow their rooms."""
        rooms = [room for room in range(len(self._ids)) for _ in range(FOLLOWERS)]
        for first in range(0, len(rooms), _AT_A_TIME):
            entered = [(room, asyncio.Event()) for room in rooms[first : first + _AT_A_TIME]]
            self._tasks += [asyncio.create_task(self._follow(*each)) for each in entered]
            async with asyncio.timeout(_PATIENCE):
                for _, event in entered:
                    await event.wait()

    async def _follow(self, room: int, entered: asyncio.Event) -> None:
        request = pb.FollowRequest(room=self._ids[room], secret=secrets.token_bytes(16))
        ply = 0
        async for response in self._clients.follow(request):
            now = time.perf_counter()
            entered.set()
            for entry in response.entries:
                # Each table must arrive once and in order.
                if entry.table != self._played.tables[ply]:
                    raise RuntimeError(f"a follower received a table other than that of ply {ply}")
                self.came[room, ply].append(now)
                ply += 1

    async def begin(self) -> None:
        """Post the first table to all rooms, _AT_A_TIME at the same time. Wait until all followers have it."""
        for first in range(0, len(self._ids), _AT_A_TIME):
            rooms = range(first, min(first + _AT_A_TIME, len(self._ids)))
            await asyncio.gather(*(self._post(room, 0) for room in rooms))
        await self._arrived(0, 0)

    async def play(self) -> list[float]:
        """Post all other tables, evenly spread. For each table, return the seconds until all followers had it."""
        count, plies = len(self._ids), len(self._played.tables) - 1
        begin = time.perf_counter() + 0.1
        due = {(n % count, 1 + n // count): begin + n * PERIOD / count for n in range(count * plies)}
        posts = []
        for (room, ply), when in due.items():
            await asyncio.sleep(when - time.perf_counter())
            posts.append(asyncio.create_task(self._post(room, ply)))
        await asyncio.gather(*posts)
        await self._arrived(1, plies)
        return [max(self.came[each]) - when for each, when in due.items() if self.came[each]]

    async def _post(self, room: int, ply: int) -> None:
        table = self._played.tables[ply]
        response = await self._clients.post(
            pb.PostRequest(room=self._ids[room], secret=self._played.secret, table=table)
        )
        if not response.taken:
            raise RuntimeError(f"the table of ply {ply} was not taken")

    async def _arrived(self, first: int, last: int) -> None:
        # Wait until all followers have the tables of these plies, or until the timeout. Raise the error of a follower
        # that failed.
        end = time.perf_counter() + _PATIENCE
        expected = len(self._ids) * FOLLOWERS * (last - first + 1)
        while self.count(first) < expected and time.perf_counter() < end:
            for task in self._tasks:
                if task.done():
                    task.result()
            await asyncio.sleep(0.05)

    def count(self, first: int) -> int:
        """Return the number of tables that followers have received, from the ply `first` on."""
        return sum(len(came) for (_, ply), came in self.came.items() if ply >= first)

    async def leave(self) -> None:
        """Stop all followers."""
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            with suppress(asyncio.CancelledError):
                await task
        await self._clients.close()


async def _load(
    connect: Callable[[BenchServer], RoomClients], server: BenchServer, played: GameTables, count: int
) -> Load:
    rooms = _Rooms(connect(server), played, count)
    followers, moves = FOLLOWERS * count, count * (len(played.tables) - 1)
    before = server.memory()
    try:
        await rooms.enter()
        memory = server.memory() - before
        await rooms.begin()
        # Collect garbage now, because a later garbage collection in this process would count as the server's time.
        gc.collect()
        gc.freeze()
        with measured(server) as timer:
            seconds = await rooms.play()
    finally:
        gc.unfreeze()
        await rooms.leave()
    run = timer.run(moves)
    return Load(
        seconds=seconds,
        delivered=rooms.count(1),
        expected=FOLLOWERS * moves,
        server_us=1e6 * run.server / moves,
        client_us=1e6 * run.client / moves,
        follower_kb=memory / 1000 / followers,
    )
