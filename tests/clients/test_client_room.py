"""The clients of rooms: a host, two players and an onlooker play a game by one id, whatever happens to the service."""

import asyncio
import random
import tempfile
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import grpc
import pytest
from patience import PATIENCE
from prometheus_client import CollectorRegistry
from service.rooms.redis_server import needs_redis, redis_server

from chatiere.clients import AsyncRoom, ChatiereError, Room, SealedSeat, TransportError, new_room_id
from chatiere.clients.calls import room_contents
from chatiere.clients.calls.room_contents import RoomContents, pause_before
from chatiere.clients.sealed_seat import ForkError, header_of
from chatiere.service.base.settings import Settings
from chatiere.service.ports.server import Server, create_server
from chatiere.v1 import room_service_pb2 as pb
from chatiere.v1 import table_service_pb2 as tables_pb

INVITATION = b"8 bytes."
OVER, OVER_IN_NO_GAME = 3, 10_000
KEY = bytes(range(32))
NONE, NEXT = tables_pb.ACKNOWLEDGEMENT_NONE, tables_pb.ACKNOWLEDGEMENT_NEXT


def started(address: str = "127.0.0.1:0", relay: str = "memory") -> tuple[Server, str]:
    settings = Settings(address=address, relay=relay)
    server, port = create_server(settings, CollectorRegistry(), table_key=KEY)
    server.start()
    return server, f"127.0.0.1:{port}"


@pytest.fixture
def address() -> Iterator[str]:
    server, address = started()
    yield address
    server.stop(None).wait()


class Player:
    """A player, or an onlooker: a thread that follows a room and does what there is to do."""

    def __init__(self, address: str, room: bytes, seat: SealedSeat | None, choices: random.Random) -> None:
        self.room = Room(address, room, secret=None if seat is None else seat.secret)
        self.seat, self._choices = seat, choices
        self.error: BaseException | None = None
        self.final: Any = None
        self.saw = 0
        self.plays_bots = False
        self.until = OVER_IN_NO_GAME
        """The ply at which it stops to decide."""
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        try:
            for _ in self.room.follow():
                # While a service does not respond: followed again, it tells the table again.
                with suppress(TransportError):
                    self._act()
                with self._changed:
                    self._changed.notify_all()
        except BaseException as error:
            with self._changed:
                self.error = error
                self._changed.notify_all()

    def _act(self) -> None:
        table = self.room.contents.newest()
        if table is None:
            return
        header = header_of(table)
        self.saw = header.ply
        try:
            update = (self.seat or LOOKER[0]).look(table, as_spectator=self.seat is None)
        except ChatiereError as error:
            if error.reason != "NOT_ACKNOWLEDGED":
                raise
            if self.seat is not None:
                self.room.post_table(self.seat.acknowledge(table))
            return
        if update.view.turn.kind == OVER:
            self.final = update
        elif header.ply >= self.until:
            return
        elif self.seat is not None and update.view.turn.seat == update.seat:
            action = self._choices.choice(update.legal_actions)
            self.room.post_table(self.seat.move(table, action).table)
        elif self.plays_bots and self.seat is not None and header.seats[update.view.turn.seat].bot:
            self.room.post_table(self.seat.move(table).table)

    def wait(self, condition: Callable[["Player"], bool]) -> None:
        with self._changed:
            done = self._changed.wait_for(lambda: self.error is not None or condition(self), PATIENCE)
        assert done
        assert self.error is None

    def close(self) -> None:
        self.room.close()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()
        assert self.error is None


LOOKER: list[SealedSeat] = []


@contextmanager
def table_of_two(
    address: str, folder: Path, acknowledgement: Any, until: int = OVER_IN_NO_GAME, guests: str | None = None
) -> Iterator[tuple[list[Player], Player]]:
    """Seat a host, a guest who accepts the invitation, and a bot, who play to a ply; an onlooker is there, too.

    `guests`: the address of another server, for the guest and the onlooker.
    """
    room, choices = new_room_id(), random.Random(4)
    addresses = (address, guests or address, guests or address)
    names = ("host", "guest", "onlooker's")
    with ExitStack() as stack:
        seats = [
            stack.enter_context(SealedSeat(where, folder / name)) for where, name in zip(addresses, names, strict=True)
        ]
        LOOKER[:] = seats[2:]
        people = [Player(where, room, seat, choices) for where, seat in zip(addresses, (*seats[:2], None), strict=True)]
        for player in people:
            stack.callback(player.close)
            player.until = until
        host, guest, onlooker = people
        host.plays_bots = True
        host.room.post_name("Anna")
        guest.room.post_name("Bert")
        guest.room.post_reply(INVITATION)
        host.wait(lambda each: INVITATION in each.room.contents.replies)
        (person,) = host.room.contents.replies[INVITATION]
        assert (person, host.room.contents.names[person]) == (guest.room.person, "Bert")
        sitting = [seats[0].seat, tables_pb.TableSeat(secret_sha256=person), tables_pb.TableSeat(bot="random")]
        host.room.post_table(seats[0].new_table("discat", sitting, acknowledgement).table)
        yield [host, guest], onlooker


def has_seen(ply: int, player: Player) -> bool:
    return player.saw == ply


@pytest.mark.parametrize("acknowledgement", [NONE, NEXT])
def test_a_host_a_guest_a_bot_and_an_onlooker(address: str, tmp_path: Path, acknowledgement: Any) -> None:
    with table_of_two(address, tmp_path, acknowledgement) as (players, onlooker):
        for each in (*players, onlooker):
            each.wait(lambda each: each.final is not None)
        views = [each.final.score.SerializeToString() for each in (*players, onlooker)]
        assert len(set(views)) == 1
        known = onlooker.room.contents
        assert known.people == {each.room.person for each in (*players, onlooker)}
        # Whoever followed has the tables for the record.
        (tables,) = known.tables.values()
        seat = players[0].seat
        assert seat is not None
        assert seat.get_record([tables[ply] for ply in sorted(tables)]).record.game == "discat"


def test_a_game_goes_on_when_the_service_was_killed_and_started(tmp_path: Path) -> None:
    server, address = started()
    with table_of_two(address, tmp_path, NONE, until=3) as (players, onlooker):
        for until in (3, 6):
            onlooker.wait(partial(has_seen, until))
            # At once: nothing of the rooms is left.
            server.stop(None).wait()
            for each in players:
                each.until = 6 if until == 3 else OVER_IN_NO_GAME
            server, _ = started(address)
        for each in (*players, onlooker):
            each.wait(lambda each: each.final is not None)
            assert each.room.contents.names[players[1].room.person] == "Bert"
    server.stop(None).wait()


@needs_redis
@pytest.mark.long
def test_a_game_at_two_servers_goes_on_when_redis_was_killed_and_started(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="redis") as folder, redis_server(Path(folder)) as redis:
        servers, addresses = zip(*(started(relay=redis.address) for _ in range(2)), strict=True)
        with table_of_two(addresses[0], tmp_path, NONE, until=3, guests=addresses[1]) as (players, onlooker):
            for until in (3, 6):
                onlooker.wait(partial(has_seen, until))
                for each in players:
                    each.until = 6 if until == 3 else OVER_IN_NO_GAME
                # Nothing of the rooms is left, and whoever moves meanwhile has no relay.
                redis.kill()
                redis.start()
            for each in (*players, onlooker):
                each.wait(lambda each: each.final is not None)
                assert each.room.contents.names[players[1].room.person] == "Bert"
        for server in servers:
            server.stop(None).wait()


def test_who_comes_late_gets_all_and_a_second_table_of_a_ply_is_not_taken(address: str, tmp_path: Path) -> None:
    room = new_room_id()
    with SealedSeat(address, tmp_path / "me") as me, Room(address, room, secret=me.secret) as mine:
        table = me.new_table("chat_perche", [me.seat, tables_pb.TableSeat(bot="random")], NONE).table
        assert mine.post_table(table).taken
        while len(legal := me.look(table).legal_actions) < 2:
            table = me.move(table, legal[0] if legal else None).table
            mine.post_table(table)
        one, other = (me.move(table, action).table for action in legal[:2])
        assert mine.post_table(one) == pb.PostResponse(taken=True, table=one)
        assert mine.post_table(other) == pb.PostResponse(taken=False, table=one)
        assert mine.contents.newest() == one
        with Room(address, room) as late:
            next(late.follow())
            assert late.contents.tables == mine.contents.tables


def played_alone(seat: SealedSeat, plies: int) -> list[bytes]:
    """Play Discat against a bot; return the tables of all plies."""
    tables = [seat.new_table("discat", [seat.seat, tables_pb.TableSeat(bot="random")], NONE).table]
    for _ in range(plies):
        legal = seat.look(tables[-1]).legal_actions
        tables.append(seat.move(tables[-1], legal[0] if legal else None).table)
    return tables


def test_a_room_that_has_begun_anew_gets_the_tables_before_one_that_it_cannot_take_yet(
    address: str, tmp_path: Path
) -> None:
    with SealedSeat(address, tmp_path / "me") as me:
        *earlier, newest = played_alone(me, 4)

        def entered(room: bytes) -> Room:
            # Somebody else has begun to fill it.
            with Room(address, room, secret=me.secret) as other:
                other.post_table(earlier[0])
            return Room(address, room, secret=me.secret)

        with entered(new_room_id()) as knowing, entered(new_room_id()) as knows_nothing:
            for table in earlier:
                knowing.contents.keep(pb.RoomEntry(table=table))
            assert knowing.post_table(newest) == pb.PostResponse(taken=True, table=newest)
            assert knows_nothing.post_table(newest) == pb.PostResponse(taken=False, table=earlier[0])


def test_refusals(address: str) -> None:
    with Room(address, b"short") as room:
        with pytest.raises(ChatiereError, match="INVALID_ROOM: room: "):
            room.post_name("Anna")
        with pytest.raises(ChatiereError, match="INVALID_ROOM: room: "):
            next(room.follow())
    with Room(address, new_room_id()) as room, pytest.raises(ChatiereError, match="INVALID_ROOM: name: "):
        room.post_name("\n")


def test_a_service_without_rooms() -> None:
    server, port = create_server(Settings(address="127.0.0.1:0"), CollectorRegistry())
    server.start()
    with Room(f"127.0.0.1:{port}", new_room_id()) as room, pytest.raises(TransportError) as found:
        next(room.follow())
    assert found.value.code == grpc.StatusCode.UNIMPLEMENTED
    server.stop(None).wait()


def test_a_silent_connection_is_given_up(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chatiere.clients.room.SILENCE", 0.3)
    with Room(address, new_room_id()) as room:
        came = room.follow()
        # Each time it follows again it is told who is here.
        for _ in range(3):
            assert list(next(came).presence.people) == [room.person]


# asyncio


async def first(responses: AsyncIterator[pb.FollowResponse], condition: Callable[[], bool]) -> None:
    async for _ in responses:
        if condition():
            return


def played(work: Callable[[], Awaitable[None]]) -> None:
    async def in_time() -> None:
        async with asyncio.timeout(PATIENCE):
            await work()

    asyncio.run(in_time())


def test_asyncio(address: str, tmp_path: Path) -> None:
    room = new_room_id()

    async def work() -> None:
        with SealedSeat(address, tmp_path / "me") as me:
            async with AsyncRoom(address, room, secret=me.secret) as mine, AsyncRoom(address, room) as theirs:
                assert mine.person == me.seat.secret_sha256
                await mine.post_name("Anna")
                await mine.post_reply(INVITATION)
                table = me.new_table("discat", [me.seat, tables_pb.TableSeat(bot="random")], NONE).table
                assert (await mine.post_table(table)).taken
                await first(theirs.follow(), lambda: theirs.contents.newest() == table)
                assert theirs.contents.names == {mine.person: "Anna"}
                assert theirs.contents.replies == {INVITATION: [mine.person]}
                # Either of them may begin.
                legal = me.look(table).legal_actions
                moved = me.move(table, legal[0] if legal else None).table
                with pytest.raises(ChatiereError, match="WRONG_SECRET"):
                    await theirs.post_table(moved)

    played(work)


def test_asyncio_in_a_room_that_has_begun_anew(address: str, tmp_path: Path) -> None:
    async def work() -> None:
        with SealedSeat(address, tmp_path / "me") as me:
            *earlier, newest = played_alone(me, 4)
            async with AsyncRoom(address, new_room_id(), secret=me.secret) as room:
                await room.post_table(earlier[0])
                for table in earlier:
                    room.contents.keep(pb.RoomEntry(table=table))
                assert await room.post_table(newest) == pb.PostResponse(taken=True, table=newest)

    played(work)


def test_asyncio_goes_on_when_the_service_was_killed_and_started() -> None:
    server, address = started()
    room = new_room_id()

    async def work() -> None:
        nonlocal server
        async with AsyncRoom(address, room) as mine, AsyncRoom(address, room) as theirs:
            await mine.post_name("Anna")
            await first(theirs.follow(), lambda: bool(theirs.contents.names))
            told = asyncio.Event()

            async def follow() -> None:
                async for response in mine.follow():
                    if response.entries:
                        told.set()

            following = asyncio.create_task(follow())
            await told.wait()
            await asyncio.to_thread(server.stop(None).wait)
            told.clear()
            server, _ = await asyncio.to_thread(started, address)
            # It is told what it has posted again.
            await told.wait()
            following.cancel()
        async with AsyncRoom(address, room) as late:
            await first(late.follow(), lambda: late.contents.names == {mine.person: "Anna"})

    played(work)
    server.stop(None).wait()


def test_asyncio_gives_up_a_silent_connection(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chatiere.clients.aio_room.SILENCE", 0.3)

    async def work() -> None:
        async with AsyncRoom(address, new_room_id()) as room:
            came = room.follow()
            for _ in range(3):
                assert list((await anext(came)).presence.people) == [room.person]

    played(work)


# Without a service


def test_what_a_room_lacks_is_posted_in_the_order_in_which_it_takes_it(address: str, tmp_path: Path) -> None:
    with SealedSeat(address, tmp_path / "me") as me, SealedSeat(address, tmp_path / "other") as other:
        tables = [me.new_table("discat", [me.seat, other.seat], NONE).table]

        def moved(table: bytes, number: int) -> bytes:
            seat = (me, other)[me.look(table).view.turn.seat]
            return seat.move(table, seat.look(table).legal_actions[number]).table

        for _ in range(6):
            tables.append(moved(tables[-1], 0))
        contents = RoomContents(me.seat.secret_sha256)
        entries = [pb.RoomEntry(table=table) for table in tables]
        for entry in entries:
            contents.keep(entry)
        there = [entries[3], entries[4]]
        posts = contents.take(pb.FollowResponse(entries=there, is_whole=True))
        assert [post.table for post in posts] == [tables[ply] for ply in (5, 6, 2, 1, 0)]
        assert contents.take(pb.FollowResponse(entries=there)) == []
        # Who has no seat posts none, and a second table of a ply is a fork.
        stranger = RoomContents(bytes(32))
        stranger.keep(entries[0])
        assert stranger.take(pb.FollowResponse(is_whole=True)) == []
        # Whoever begins can play any card.
        with pytest.raises(ForkError):
            contents.keep(pb.RoomEntry(table=moved(tables[0], 1)))


def test_pauses() -> None:
    gone = TransportError(grpc.StatusCode.UNAVAILABLE, "gone")
    assert [pause_before(attempt, gone) for attempt in (0, 1, 2, 20)] == [0.1, 0.2, 0.4, 5.0]
    assert pause_before(0, TransportError(grpc.StatusCode.UNAVAILABLE, "stops", retry_after=1.0)) == 1.0
    assert pause_before(0, ChatiereError(grpc.StatusCode.RESOURCE_EXHAUSTED, "full", "LIMIT_EXCEEDED")) is None
    assert room_contents.SILENCE == 45.0
