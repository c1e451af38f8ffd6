"""The simulated clients: callers that misbehave, and people who post to rooms and follow them."""

import hashlib
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from google.rpc import code_pb2

from chatiere.service.base.errors import Status
from chatiere.service.rooms.room import EPOCH_SIZE
from chatiere.v1 import room_service_pb2 as pb

from .clock import Broken
from .network import Client, Wire, retry_after
from .workers import BATCH, FAILS, FOLLOW, POST, SINGLE, STEP, STREAM, UNKNOWN, WATCH, response_to

if TYPE_CHECKING:
    from .world import World

# The number of seconds after which a client tries again if its connection was lost.
_PAUSE = 0.3
# The longest time, in seconds, between two responses to a follower: as promised, plus the time that the network takes.
_HEARTBEAT = 15.5


class Call(Client):
    """A call whose client misbehaves in the ways that the world's faults allow."""

    def __init__(self, world: "World", path: str, requests: list[bytes]) -> None:
        self.world, self.path, self.requests = world, path, requests
        self.name = f"{path}-{world.next_number()}"
        self.responses: list[bytes] = []
        self.is_over = False
        self.wire: Wire | None = None

    def begin(self) -> None:
        """Send the headers to a worker, if one can be reached."""
        world, run = self.world, self.world.run
        worker = world.worker()
        if worker is None:
            run.soon(0.05, lambda: self._end(None))
            return
        choices, faults = run.choices, world.faults
        self.wire = wire = world.wire(self, worker)
        if "slow" in faults:
            wire.pause = choices.choice((0.0, 0.0, 0.5, 5.0))
            wire.is_stuck = choices.random() < 0.1
        if "cuts" in faults and choices.random() < 0.3:
            run.soon(choices.choice((0.01, 0.1, 1.0, 10.0)), wire.cut)
        self._send()
        worker.call(self.path, wire)

    def _send(self) -> None:
        """Let the requests arrive with the headers, or in parts and after pauses, or never."""
        wire, run = self.wire, self.world.run
        assert wire is not None
        choices, faults = run.choices, self.world.faults
        is_prompt, due = "parts" not in faults or choices.random() < 0.5, 0.0
        if self.path != STREAM and is_prompt:
            for request in self.requests:
                wire.arrive(request)
            wire.end_requests()
            return
        for request in self.requests:
            due += choices.random() * (0.05 if is_prompt else choices.choice((0.1, 1.0, 6.0)))
            if "parts" in faults and choices.random() < 0.3:
                run.after(due, partial(wire.arrive, request[: len(request) // 2], is_part=True))
                if choices.random() < 0.2:
                    return
                due += choices.random() * choices.choice((0.1, 3.0, 12.0))
            if "parts" in faults and choices.random() < 0.03:
                run.after(due, wire.break_requests)
                return
            run.after(due, partial(wire.arrive, request))
        if "parts" not in faults or choices.random() < 0.9:
            run.after(due + choices.random() * 0.1, wire.end_requests)

    def got(self, response: bytes) -> None:
        self.world.run.note(self.name, "gets", len(response))
        self.responses.append(response)
        number = len(self.responses)
        if self.path in (SINGLE, BATCH, STREAM) and (
            number > len(self.requests) or response != response_to(self.requests[number - 1])
        ):
            raise Broken(f"{self.name}: wrong response {number}")

    def ended(self, status: Status | None) -> None:
        # The methods fail only if a request asks for a failure.
        if status is not None and status.code == code_pb2.INTERNAL and not any(r[1:2] == FAILS for r in self.requests):
            raise Broken(f"{self.name}: an internal error")
        is_ok = status is not None and status.code == code_pb2.OK
        answers_each = self.path in (SINGLE, BATCH, STREAM, POST)
        if is_ok and answers_each and len(self.responses) != len(self.requests):
            raise Broken(f"{self.name}: OK after {len(self.responses)} responses to {len(self.requests)} requests")
        self._end(status)

    def _end(self, status: Status | None) -> None:
        if self.is_over:
            raise Broken(f"{self.name}: a second end at the client")
        self.is_over = True
        self.world.calls.pop(self.name, None)
        self.after_end(status)

    def after_end(self, status: Status | None) -> None:
        """Continue after the end of the call."""


class Caller:
    """A client that makes calls of all kinds, one after the other or at the same time."""

    def __init__(self, world: "World") -> None:
        self._world = world
        world.run.soon(1.0, self._call)

    def _call(self) -> None:
        world = self._world
        if world.is_healed:
            return
        choices = world.run.choices
        path = choices.choices((SINGLE, BATCH, STREAM, WATCH, UNKNOWN), (6, 4, 4, 1, 1))[0]
        count = choices.randrange(5) if path == STREAM else 1
        first = STEP if path == STREAM else choices.randrange(8)
        size = self._size()
        requests = [bytes([first, choices.randrange(64)]) * size for _ in range(count)]
        Call(world, path, [b""] if path == WATCH else requests).begin()
        world.run.soon(world.pause, self._call)

    def _size(self) -> int:
        choices = self._world.run.choices
        return choices.choice((1, 1, 10, 100, choices.choice((1000, 10_000))))


class Person:
    """A person who posts to a room, one post after another, and knows which posts were acknowledged."""

    def __init__(self, world: "World", room: bytes, number: int) -> None:
        self._world, self._room = world, room
        self._secret = hashlib.sha256(b"secret %d" % number).digest()[:16]
        self.key = hashlib.sha256(self._secret).digest()
        world.run.soon(2.0, self._post)

    def _post(self) -> None:
        world = self._world
        if world.is_healed:
            return
        request = pb.PostRequest(room=self._room, secret=self._secret)
        if world.run.choices.random() < 0.7:
            request.name = f"n{world.next_number()}"
            content = request.name
        else:
            request.invitation = bytes([world.run.choices.randrange(6)]) * 8
            content = request.invitation.hex()
        known = world.known(self._room)
        known.sent(self.key, content)
        drops = known.drops

        def done(response: bytes | None) -> None:
            is_taken = response is not None and pb.PostResponse.FromString(response).taken
            if is_taken and known.drops == drops:
                known.acknowledged(self.key, content, may_overtake=world.has_redis)
            world.run.soon(world.pause, self._post)

        _Post(world, request.SerializeToString(), done).begin()


class _Post(Call):
    def __init__(self, world: "World", request: bytes, done: Callable[[bytes | None], None]) -> None:
        super().__init__(world, POST, [request])
        self._done = done

    def after_end(self, status: Status | None) -> None:
        self._done(self.responses[0] if self.responses else None)


class Known:
    """The posts to a room: those that the followers must have received, and those that they may have received."""

    def __init__(self) -> None:
        self.names: dict[bytes, list[str]] = {}
        """By person: the names that may be in the room. The first one was acknowledged, or it is "" for no name."""
        self.replies: dict[tuple[bytes, str], bool] = {}
        """By person and invitation: whether the reply was acknowledged."""
        self.drops = 0
        """The number of times that the room was dropped."""
        self.log: dict[tuple[bytes, int], str] = {}
        """The contents of the entries that have been received, by epoch and number."""

    def sent(self, person: bytes, content: str) -> None:
        """Note that a post was sent. Its outcome is not known yet."""
        if content.startswith("n"):
            self.names.setdefault(person, [""]).append(content)
        else:
            self.replies.setdefault((person, content), False)

    def acknowledged(self, person: bytes, content: str, *, may_overtake: bool) -> None:
        """Note that the room has a post. `may_overtake`: whether earlier posts without outcome may arrive after it."""
        if content.startswith("n"):
            names = self.names[person]
            late = names[1 : names.index(content)] if may_overtake else []
            self.names[person] = [content, *late, *names[names.index(content) + 1 :]]
        else:
            self.replies[person, content] = True

    def drop(self) -> None:
        """Note that the room was dropped. All its posts may be lost."""
        self.drops += 1
        for names in self.names.values():
            names.insert(0, "")
        self.replies = dict.fromkeys(self.replies, False)


class Follower:
    """A client that follows a room, again and again. It keeps the entries that it received."""

    def __init__(self, world: "World", room: bytes, number: int, secret: bytes | None) -> None:
        self.world, self.room, self.number = world, room, number
        self._secret = secret
        self.entries: dict[tuple[bytes, str], str] = {}
        """The newest content for each name's and reply's key."""
        self.person = None if secret is None else hashlib.sha256(secret).digest()
        self.presence = pb.RoomPresence()
        self.cursor = b""
        self.call: Call | None = None
        world.run.soon(2.0, self.begin)

    def begin(self) -> None:
        """Follow the room, beginning after the last known entry."""
        self.call = _Follow(self)
        self.call.begin()

    def ended(self, status: Status | None) -> None:
        """Follow again after the time that the server specifies."""
        self.call = None
        world = self.world
        if not world.is_ending:
            pause = retry_after(status) if status is not None else None
            world.run.after(_PAUSE if pause is None else pause, self.begin)

    def request(self) -> bytes:
        return pb.FollowRequest(room=self.room, secret=self._secret, cursor=self.cursor).SerializeToString()

    @property
    def is_following(self) -> bool:
        """True if the follower has received a response in its current call."""
        return self.call is not None and bool(self.call.responses)

    def check_is_up_to_date(self) -> None:
        """Check that the follower has all acknowledged posts, and nothing that was never posted."""
        known = self.world.known(self.room)
        names = {person: name for (person, kind), name in self.entries.items() if kind == "name"}
        for person, allowed in known.names.items():
            if names.get(person, "") not in allowed:
                raise Broken(f"follower {self.number} has the name {names.get(person)!r}, not one of {allowed}")
        for (person, invitation), is_acknowledged in known.replies.items():
            if is_acknowledged and (person, invitation) not in self.entries:
                raise Broken(f"follower {self.number} lacks a reply to {invitation}")
        others = [key for key in self.entries if key[1] != "name" and key not in known.replies]
        if others or names.keys() - known.names.keys():
            raise Broken(f"follower {self.number} has entries that nobody posted")

    def check_presence(self) -> None:
        """Check that the follower knows who follows the room."""
        if self.presence != (presence := self.world.presence(self.room)):
            raise Broken(f"follower {self.number} knows the presence {self.presence}, which is {presence}")


class _Follow(Call):
    def __init__(self, follower: Follower) -> None:
        super().__init__(follower.world, FOLLOW, [follower.request()])
        self._follower = follower
        self._last: tuple[bytes, int] = (b"", 0)
        self._heard = 0.0

    def got(self, response: bytes) -> None:
        found = pb.FollowResponse.FromString(response)
        self.responses = [response]
        follower, known = self._follower, self.world.known(self._follower.room)
        epoch, number = found.cursor[:EPOCH_SIZE], int.from_bytes(found.cursor[EPOCH_SIZE:])
        contents = [_content(entry) for entry in found.entries]
        self.world.run.note(self.name, "of", follower.number, "hears", number, *(text for _, _, text in contents))
        before, is_live = self._last, bool(self._heard)
        if not is_live:
            if not found.is_whole and follower.cursor[:EPOCH_SIZE] != epoch:
                raise Broken(f"{self.name}: entries of another room are left out")
            before = (epoch, 0 if found.is_whole else int.from_bytes(follower.cursor[EPOCH_SIZE:]))
            if found.is_whole:
                follower.entries.clear()
        elif self.world.is_prompt(self.wire) and self.world.run.now > self._heard + _HEARTBEAT:
            raise Broken(f"{self.name}: no response for {self.world.run.now - self._heard:.1f} s")
        elif not before[1]:
            # A room in Redis has no epoch while it is empty.
            before = epoch, 0
        self._heard = self.world.run.now
        self._last = epoch, number
        follower.cursor = found.cursor
        if found.HasField("presence"):
            follower.presence = found.presence
        is_exact = is_live and not (contents and self.world.has_redis)
        count = number - before[1]
        if before[0] != epoch or count < len(contents) or (is_exact and count > len(contents)):
            raise Broken(f"{self.name}: {len(contents)} entries from cursor {before[1]} to {number}")
        self._check_order(known, before[1], contents)
        for person, kind, text in contents:
            follower.entries[person, kind] = text

    def _check_order(self, known: Known, before: int, contents: list[tuple[bytes, str, str]]) -> None:
        # If the response has one entry and advances the cursor by one, the number of the entry is known.
        epoch, number = self._last
        if len(contents) == 1 and number == before + 1:
            (person, kind, text) = contents[0]
            content = f"{person.hex()} {kind} {text}"
            if known.log.setdefault((epoch, number), content) != content:
                raise Broken(f"{self.name}: two entries have the number {number}")
        numbers = {content: at for (other, at), content in known.log.items() if other == epoch}
        for person, kind, text in contents:
            at = numbers.get(f"{person.hex()} {kind} {text}", 0)
            if at and not before < at <= number:
                raise Broken(f"{self.name}: entry {at} comes after entry {before}, up to {number}")
            before = max(before, at)

    def after_end(self, status: Status | None) -> None:
        self._follower.ended(status)


def _content(entry: pb.RoomEntry) -> tuple[bytes, str, str]:
    if entry.WhichOneof("entry") == "name":
        return entry.name.person, "name", entry.name.name
    return entry.reply.person, entry.reply.invitation.hex(), ""
