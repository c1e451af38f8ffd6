"""Followers and the relay see no hidden information. The relay keeps only what followers see."""

import gc
import random
import types
from typing import Any

from tables.support import NEXT, Host, begun, played, secret_of

from chatiere.engine import Game
from chatiere.v1 import room_service_pb2 as pb

from ..support import PATIENCE, running
from .support import INVITATION, ROOM, Rooms
from .test_rooms_served import SETTINGS, Follower, post

# The length, in bytes, of the parts of hidden data that the test searches for. Parts of this length do not occur by
# chance.
PART = 12


def kept_by(root: object) -> list[bytes]:
    """Return all bytes and texts that can be reached from an object, without those in code."""
    known, waiting, found = set[int](), [root], list[bytes]()
    while waiting:
        each: Any = waiting.pop()
        if id(each) in known or isinstance(each, type | types.ModuleType | types.FunctionType | types.CodeType):
            continue
        known.add(id(each))
        if isinstance(each, bytes | bytearray | memoryview):
            found.append(bytes(each))
        elif isinstance(each, str):
            found.append(each.encode(errors="surrogateescape"))
        waiting += gc.get_referents(each)
    return found


def hidden_in(host: Host, tables: list[bytes], secrets: list[bytes]) -> set[bytes]:
    """Return the hidden data: secrets, the room's id, and from each table's body the root and parts of the state."""
    bodies = [host.open(table).body for table in tables]
    states = {body.state[at : at + PART] for body in bodies for at in range(0, len(body.state) - PART + 1, PART)}
    # Runs of zeros and similar parts also occur elsewhere.
    telling = {each for each in states if len(set(each)) > 6}
    assert telling
    return {*secrets, ROOM, *(body.root for body in bodies), *telling}


def game_in_a_room(host: Host, rooms: Rooms, game: Game) -> tuple[list[bytes], list[bytes]]:
    table, secrets = begun(host, game, mode=NEXT)
    tables = [each for each, _ in zip(played(host, table, secrets, random.Random(1)), range(12), strict=False)]
    for seat, secret in enumerate(secrets):
        rooms.post(name=f"cat {seat}", secret=secret)
        rooms.post(invitation=INVITATION, secret=secret)
    for table in tables:
        assert rooms.post(table=table, secret=secrets[0]).taken
    return tables, secrets


def test_followers_and_the_relay_see_no_hidden_data(game: Game) -> None:
    host = Host()
    rooms = Rooms(host.keys)
    early = rooms.follow(secret=secret_of(0))
    tables, secrets = game_in_a_room(host, rooms, game)
    late = rooms.follow()
    rooms.look(10)
    gc.collect()
    hidden = hidden_in(host, tables, secrets)
    told = b"\n".join(each.SerializeToString() for ear in (early, late) for each in ear.heard)
    kept = b"\n".join(kept_by(rooms.relay))
    for seen in (told, kept):
        # The search works: it finds the tables, because they are not hidden.
        assert all(table in seen for table in tables)
        assert not [each for each in hidden if each in seen]


def test_a_stranger_learns_nothing_of_existing_rooms(game: Game) -> None:
    """Only the id gives access to a room's contents. A wrong id does not show whether other rooms exist."""
    host = Host()
    rooms, empty = Rooms(host.keys), Rooms(host.keys)
    game_in_a_room(host, rooms, game)
    for service in (rooms, empty):
        ear = service.follow(b"another's 16 b.!")
        assert [each.entries for each in ear.heard] == [[]]


def test_a_server_keeps_no_hidden_data_after_its_calls() -> None:
    with running(SETTINGS) as server:
        follower = Follower(server, secret=secret_of(1))
        follower.next()
        post(server, secret=secret_of(0), name="Anna")
        assert len(follower.entries(1)) == 1
        gc.collect()
        kept = kept_by(server.server.methods.relay)
        follower.leave()
        assert server.server.stop(None).wait(PATIENCE)
    assert any(b"Anna" in each for each in kept)
    for hidden in (ROOM, secret_of(0), pb.FollowRequest(room=ROOM, secret=secret_of(1)).SerializeToString()):
        assert not [each for each in kept if hidden in each]
