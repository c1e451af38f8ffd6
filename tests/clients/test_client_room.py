"""The clients of rooms: a host, players and an onlooker share a game in a room, even if the service fails meanwhile."""

import asyncio
import random
import tempfile
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import grpc
import pytest
from prometheus_client import CollectorRegistry
from service.rooms.redis_server import redis_server
from tables.support import info_of
from tools.needs import needs
from tools.patience import PATIENCE

from chatiere.clients import AsyncRoom, ChatiereError, Room, SealedSeat, TransportError, new_room_id
from chatiere.clients.calls.errors import pause_before
from chatiere.clients.calls.room_contents import RoomContents
from chatiere.clients.sealed_seat import ForkError, header_of
from chatiere.clients.transport.channel import open_aio_channel
from chatiere.service.base.settings import Settings
from chatiere.service.ports.server import Server, create_server
from chatiere.v1 import room_service_pb2 as pb
from chatiere.v1 import table_service_pb2 as tables_pb
from chatiere.v1.room_service_pb2_grpc import RoomServiceServicer, add_RoomServiceServicer_to_server

INVITATION = b"8 bytes."
OVER, OVER_IN_NO_GAME = 3, 10_000
KEY = bytes(range(32))
NONE, NEXT = tables_pb.ACKNOWLEDGEMENT_NONE, tables_pb.ACKNOWLEDGEMENT_NEXT


def answer(is_taken: bool, table: bytes) -> pb.PostResponse:
    """Return the response to the post of a table."""
    return pb.PostResponse(taken=is_taken, table=table, info=info_of(table))


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
    """A player or an onlooker: a thread that follows a room, and moves and acknowledges as needed."""

    def __init__(self, address: str, room: bytes, seat: SealedSeat | None, choices: random.Random) -> None:
        self.room = Room(address, room, secret=None if seat is None else seat.secret)
        self.seat, self._choices = seat, choices
        self.error: BaseException | None = None
        self.final: Any = None
        self.saw = 0
        self.plays_bots = False
        self.until = OVER_IN_NO_GAME
        """The ply at which the player stops deciding."""
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        try:
            for _ in self.room.follow():
                # If the service is unavailable, continue: once the room is followed again, the table is handled again.
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
    """Seat a host, a guest who accepts the invitation, and a bot. They play up to a ply. An onlooker also follows.

    If `guests` is given, the guest and the onlooker use the server at this address.
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
        # All followers have the tables that the record needs.
        (tables,) = known.tables.values()
        seat = players[0].seat
        assert seat is not None
        assert seat.get_record([tables[ply] for ply in sorted(tables)]).record.game == "discat"


def test_a_game_continues_after_the_service_was_killed_and_restarted(tmp_path: Path) -> None:
    server, address = started()
    with table_of_two(address, tmp_path, NONE, until=3) as (players, onlooker):
        for until in (3, 6):
            onlooker.wait(partial(has_seen, until))
            # The server stops without a grace period, and the rooms are lost.
            server.stop(None).wait()
            for each in players:
                each.until = 6 if until == 3 else OVER_IN_NO_GAME
            server, _ = started(address)
        for each in (*players, onlooker):
            each.wait(lambda each: each.final is not None)
            assert each.room.contents.names[players[1].room.person] == "Bert"
    server.stop(None).wait()


@needs("Redis")
@pytest.mark.long
def test_a_game_at_two_servers_continues_after_redis_was_killed_and_restarted(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="redis") as folder, redis_server(Path(folder)) as redis:
        servers, addresses = zip(*(started(relay=redis.address) for _ in range(2)), strict=True)
        with table_of_two(addresses[0], tmp_path, NONE, until=3, guests=addresses[1]) as (players, onlooker):
            for until in (3, 6):
                onlooker.wait(partial(has_seen, until))
                for each in players:
                    each.until = 6 if until == 3 else OVER_IN_NO_GAME
                # The rooms are lost, and moves made in the meantime cannot be posted.
                redis.kill()
                redis.start()
            for each in (*players, onlooker):
                each.wait(lambda each: each.final is not None)
                assert each.room.contents.names[players[1].room.person] == "Bert"
        for server in servers:
            server.stop(None).wait()


def test_a_late_follower_gets_all_tables_and_a_second_table_of_a_ply_is_refused(address: str, tmp_path: Path) -> None:
    room = new_room_id()
    with SealedSeat(address, tmp_path / "me") as me, Room(address, room, secret=me.secret) as mine:
        table = me.new_table("chat_perche", [me.seat, tables_pb.TableSeat(bot="random")], NONE).table
        assert mine.post_table(table).taken
        while len(legal := me.look(table).legal_actions) < 2:
            table = me.move(table, legal[0] if legal else None).table
            mine.post_table(table)
        one, other = (me.move(table, action).table for action in legal[:2])
        assert mine.post_table(one) == answer(True, one)
        assert mine.post_table(other) == answer(False, one)
        assert mine.contents.newest() == one
        with Room(address, room) as late:
            next(late.follow())
            assert late.contents.tables == mine.contents.tables


def played_alone(seat: SealedSeat, plies: int) -> list[bytes]:
    """Play Discat against a bot. Return the tables of all plies."""
    tables = [seat.new_table("discat", [seat.seat, tables_pb.TableSeat(bot="random")], NONE).table]
    for _ in range(plies):
        legal = seat.look(tables[-1]).legal_actions
        tables.append(seat.move(tables[-1], legal[0] if legal else None).table)
    return tables


def test_an_emptied_room_gets_the_missing_tables_before_a_new_one(address: str, tmp_path: Path) -> None:
    with SealedSeat(address, tmp_path / "me") as me:
        *earlier, newest = played_alone(me, 4)

        def entered(room: bytes) -> Room:
            # Another person has begun to fill the room.
            with Room(address, room, secret=me.secret) as other:
                other.post_table(earlier[0])
            return Room(address, room, secret=me.secret)

        with entered(new_room_id()) as knowing, entered(new_room_id()) as knows_nothing:
            for table in earlier:
                knowing.contents.keep(pb.RoomEntry(table=table))
            assert knowing.post_table(newest) == answer(True, newest)
            assert knows_nothing.post_table(newest) == answer(False, earlier[0])


def test_a_replacement_player_has_earlier_tables_and_posts_later_ones(address: str, tmp_path: Path) -> None:
    with SealedSeat(address, tmp_path / "me") as me, SealedSeat(address, tmp_path / "late") as late:
        seats = [me.seat, tables_pb.TableSeat(bot="random")]
        tables = [me.new_table("discat", seats, NONE).table]

        def play(seat: SealedSeat, plies: int) -> None:
            for _ in range(plies):
                legal = seat.look(tables[-1]).legal_actions
                tables.append(seat.move(tables[-1], legal[0] if legal else None).table)

        play(me, 4)
        tables.append(late.acknowledge(me.replace(tables[-1], 0, late.seat)))
        play(late, 4)
        room, other = new_room_id(), new_room_id()
        with Room(address, room, secret=me.secret) as mine, Room(address, room, secret=late.secret) as theirs:
            for table, poster in zip(tables, [mine] * 6 + [theirs] * 4, strict=False):
                assert poster.post_table(table).taken
            for each in (mine, theirs):
                next(each.follow())
            assert list(theirs.contents.tables.values()) == [dict(enumerate(tables))]
            forgotten = pb.FollowResponse(is_whole=True)
            before, since = (each.contents.take(forgotten) for each in (mine, theirs))
        assert [[post.table for post in posts] for posts in (before, since)] == [tables[:6], tables[5:]]
        # A second room stands for a room whose contents were lost.
        with Room(address, other, secret=late.secret) as theirs, Room(address, other, secret=me.secret) as mine:
            assert all(theirs.post_table(post.table).taken for post in since)
            for post in before:
                mine.post_table(post.table)
            with Room(address, other) as onlooker:
                next(onlooker.follow())
                assert list(onlooker.contents.tables.values()) == [dict(enumerate(tables))]


def test_a_wrong_room_or_name_is_refused(address: str) -> None:
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


def test_a_silent_connection_is_replaced(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chatiere.clients.room.SILENCE", 0.3)
    with Room(address, new_room_id()) as room:
        came = room.follow()
        # After each reconnection the first response lists the people present.
        for _ in range(3):
            assert list(next(came).presence.people) == [room.person]


class Late(RoomServiceServicer):
    """A service whose first Follow and whose second Post end with DEADLINE_EXCEEDED."""

    def __init__(self) -> None:
        self.follows = self.posts = 0

    def Follow(self, request: pb.FollowRequest, context: grpc.ServicerContext) -> Iterator[pb.FollowResponse]:
        self.follows += 1
        if self.follows == 1:
            context.abort(grpc.StatusCode.DEADLINE_EXCEEDED, "late")
        yield pb.FollowResponse(is_whole=True, presence=pb.RoomPresence(onlookers=self.follows))

    def Post(self, request: pb.PostRequest, context: grpc.ServicerContext) -> pb.PostResponse:
        self.posts += 1
        if self.posts == 2:
            context.abort(grpc.StatusCode.DEADLINE_EXCEEDED, "late")
        return pb.PostResponse(taken=True)


@pytest.fixture
def late() -> Iterator[str]:
    """The address of a service that is Late."""
    with ThreadPoolExecutor() as pool:
        server = grpc.server(pool)
        add_RoomServiceServicer_to_server(Late(), server)
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        yield f"127.0.0.1:{port}"
        server.stop(None).wait()


def test_a_room_is_followed_again_after_calls_that_exceed_their_deadlines(late: str) -> None:
    with Room(late, new_room_id()) as room:
        room.post_name("Anna")
        # The second response makes the client post the name again. This post fails.
        assert next(room.follow()).presence.onlookers == 3


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


def test_asyncio_clients_see_each_other_s_names_replies_and_tables(address: str, tmp_path: Path) -> None:
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
                # Either player may begin.
                legal = me.look(table).legal_actions
                moved = me.move(table, legal[0] if legal else None).table
                with pytest.raises(ChatiereError, match="WRONG_SECRET"):
                    await theirs.post_table(moved)

    played(work)


def test_asyncio_in_an_emptied_room(address: str, tmp_path: Path) -> None:
    async def work() -> None:
        with SealedSeat(address, tmp_path / "me") as me:
            *earlier, newest = played_alone(me, 4)
            async with AsyncRoom(address, new_room_id(), secret=me.secret) as room:
                await room.post_table(earlier[0])
                for table in earlier:
                    room.contents.keep(pb.RoomEntry(table=table))
                assert await room.post_table(newest) == answer(True, newest)

    played(work)


def test_asyncio_continues_after_the_service_was_killed_and_restarted() -> None:
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
            # Wait until the follower receives its own earlier post again.
            await told.wait()
            following.cancel()
        async with AsyncRoom(address, room) as late:
            await first(late.follow(), lambda: late.contents.names == {mine.person: "Anna"})

    played(work)
    server.stop(None).wait()


def test_asyncio_replaces_a_silent_connection(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chatiere.clients.aio_room.SILENCE", 0.3)

    async def work() -> None:
        async with AsyncRoom(address, new_room_id()) as room:
            came = room.follow()
            for _ in range(3):
                assert list((await anext(came)).presence.people) == [room.person]

    played(work)


def test_asyncio_follows_again_after_calls_that_exceed_their_deadlines(late: str) -> None:
    async def work() -> None:
        async with AsyncRoom(late, new_room_id()) as room:
            await room.post_name("Anna")
            assert (await anext(room.follow())).presence.onlookers == 3

    played(work)


# Without a service


async def test_asyncio_closing_ends_following_on_a_shared_channel(address: str) -> None:
    async with open_aio_channel(address, None) as channel:
        room, has_response = AsyncRoom(channel, new_room_id()), asyncio.Event()

        async def follow() -> None:
            async for _ in room.follow():
                has_response.set()

        following = asyncio.create_task(follow())
        await has_response.wait()
        await room.close()
        await following
        with pytest.raises(TransportError, match="the room was closed"):
            await room.post_name("Bert")


def test_missing_entries_are_posted_in_an_order_that_the_room_accepts(address: str, tmp_path: Path) -> None:
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
        # The host's own settings come last, and the earliest times are kept.
        settings = pb.RoomEntry(settings=pb.RoomSettings(game="discat", players=2, person=contents.person))
        entries[0].time.FromMilliseconds(5000)
        contents.take(pb.FollowResponse(entries=[settings, entries[0]]))
        entries[0].time.FromMilliseconds(9000)
        posts = contents.take(pb.FollowResponse(entries=entries[:1], is_whole=True))
        assert [post.WhichOneof("post") for post in posts] == ["table"] * 6 + ["settings"]
        assert contents.take(pb.FollowResponse(entries=[settings, *entries], is_whole=True)) == []
        assert contents.times == {header_of(tables[0]).table_id: {0: 5000}}
        # A proposal is kept until the game has a table of the proposal's ply. A proposal of an earlier ply is not kept.
        for number, known in enumerate([tables[:6], tables]):
            early = RoomContents(me.seat.secret_sha256)
            for table in known:
                early.keep(pb.RoomEntry(table=table))
            proposal = me.take_back(tables[4:6])
            early.keep(pb.RoomEntry(proposal=proposal))
            assert list(early.proposals.values()) == [proposal][number:]
            # Only the proposal is missing in a room that has all tables.
            known_there = [pb.RoomEntry(table=table) for table in known]
            posts = early.take(pb.FollowResponse(entries=known_there, is_whole=True))
            assert [post.table for post in posts] == [proposal][number:]
            known_there.append(pb.RoomEntry(proposal=proposal))
            assert early.take(pb.FollowResponse(entries=known_there, is_whole=True)) == []
            early.keep(pb.RoomEntry(table=tables[6]))
            assert (early.newest(), early.proposals) == (tables[6], {})
        # A person without a seat posts no tables, and a second table of a ply is a fork.
        stranger = RoomContents(bytes(32))
        stranger.keep(entries[0])
        assert stranger.take(pb.FollowResponse(is_whole=True)) == []
        # The seat that begins can play any card.
        with pytest.raises(ForkError):
            contents.keep(pb.RoomEntry(table=moved(tables[0], 1)))


def test_games_of_strangers_are_kept_separately_in_limited_number(address: str, tmp_path: Path) -> None:
    with SealedSeat(address, tmp_path / "me") as me:
        seats = [me.seat, tables_pb.TableSeat(bot="random")]
        first, *others = (me.new_table("discat", seats, NONE).table for _ in range(3))
        contents = RoomContents(me.seat.secret_sha256)
        contents.keep(pb.RoomEntry(table=others[0], is_foreign=True))
        # If the room contains only games of other rooms, the newest of these is returned.
        assert contents.newest() == others[0]
        for table in (first, first, others[1]):
            contents.keep(pb.RoomEntry(table=table, is_foreign=table != first))
        assert contents.newest() == first
        # A client does not post foreign games, even games in which it has a seat: anyone who knows a person's hash can
        # create such a table.
        posts = contents.take(pb.FollowResponse(is_whole=True))
        assert [post.table for post in posts] == [first]
        seats = [tables_pb.TableSeat(bot="random")] * 2
        many = [me.new_table("discat", seats, NONE).table for _ in range(64)]
        for table in many:
            contents.keep(pb.RoomEntry(table=table, is_foreign=True))
        assert list(contents.tables) == [header_of(table).table_id for table in (first, *many)]


def test_names_and_replies_of_strangers_are_kept_in_limited_number(address: str, tmp_path: Path) -> None:
    with SealedSeat(address, tmp_path / "me") as me, SealedSeat(address, tmp_path / "other") as other:
        contents = RoomContents(me.seat.secret_sha256)
        contents.keep(pb.RoomEntry(table=me.new_table("discat", [me.seat, other.seat], NONE).table))
        players = [me.seat.secret_sha256, other.seat.secret_sha256]
        strangers = [number.to_bytes(32) for number in range(1100)]
        for person in (*players, *strangers, strangers[0]):
            contents.keep(pb.RoomEntry(name=pb.RoomName(person=person, name="cat")))
            contents.keep(pb.RoomEntry(reply=pb.RoomReply(person=person, invitation=person[-8:])))
        assert list(contents.names) == [*players, *strangers[101:], strangers[0]]
        assert [persons for persons in contents.replies.values() if len(persons) != 1] == []
        assert [person for (person,) in contents.replies.values()] == [*players, *strangers[101:], strangers[0]]


def test_pauses_before_following_again_double_up_to_a_limit() -> None:
    gone = TransportError(grpc.StatusCode.UNAVAILABLE, "gone")
    stops = TransportError(grpc.StatusCode.UNAVAILABLE, "stops", retry_after=1.0)
    for error, attempt, least in ((gone, 0, 0.1), (gone, 1, 0.2), (gone, 2, 0.4), (gone, 20, 5.0), (stops, 0, 1.0)):
        pauses = [pause_before(attempt, error) or 0.0 for _ in range(100)]
        assert least <= min(pauses) < 1.1 * least < 1.4 * least < max(pauses) <= 1.5 * least
    assert pause_before(0, ChatiereError(grpc.StatusCode.RESOURCE_EXHAUSTED, "full", "LIMIT_EXCEEDED")) is None
