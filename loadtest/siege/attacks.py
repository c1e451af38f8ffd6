"""The attacks, each of which runs in a separate process on this machine. The processes end automatically."""

import math
import multiprocessing
import os
import resource
import secrets
import ssl
import time
from collections import Counter
from collections.abc import Callable
from itertools import cycle, islice, product
from multiprocessing.connection import Connection
from typing import Any

from google.protobuf import descriptor_pool
from google.protobuf.descriptor import FieldDescriptor

from chatiere import engine
from chatiere.service.rooms.room import MAX_PEOPLE
from chatiere.v1 import batch_service_pb2 as batch
from chatiere.v1 import room_service_pb2 as room
from chatiere.v1 import table_service_pb2 as tables
from chatiere.v1.game_service_pb2 import ListGamesRequest
from loadtest.siege.crowd import WEB_HEAD, Attacker, Crowd, in_turn, tls_context
from loadtest.siege.floods import BLOCKS, BOMBS, FLOODS, LARGE_BOMBS, FloodsByName, flood
from loadtest.siege.plan import SHARED, Attack
from loadtest.siege.shared import SharedCrowd, shared_deaths, shared_garbage, shared_streams, shared_unread
from loadtest.siege.work import DEAR

_HEALTH = "grpc.health.v1.Health"
_GAME, _BATCH = "chatiere.v1.GameService", "chatiere.v1.BatchService"
_NEW_TABLE = "chatiere.v1.TableService/NewTable"
_POST, _FOLLOW = "chatiere.v1.RoomService/Post", "chatiere.v1.RoomService/Follow"
# The sizes of room ids and secrets, and of posted names, in bytes.
_ID, _NAME = 16, 12
_WEB_HEAD = (WEB_HEAD % (f"{_GAME}/NewGame", "json")).encode()
# The number of requests pipelined on a connection at the web door. It is almost the allowed maximum.
_ASKED = 60
# The number of half-open health checks in addition to the half-open calls.
_CHECKS = 20
# The announced size of a message, 16 MiB, and the size sent.
_ANNOUNCED, _SENT = 16 * 2**20 - 1, 1_200_000
# The time between two checks for due calls, and between two rounds of calls or connections, in seconds.
_PAUSE, _ROUND = 0.02, 1.0
# The lifetime in seconds of a connection in `churn`.
_BRIEF = 0.2
# The number of games in a batch: the server's default maximum.
_GAMES = 16_384
# The time in seconds within which attackers must get ready, and must disconnect at the end.
_PATIENCE = 60.0
# The niceness of attackers. Their priority is lower than the server's, because real attackers use other machines.
_NICE = 10
# A client's connection preface and SETTINGS frame in HTTP/2, and the first half of a call's headers.
_OPENED = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes.fromhex("000000040000000000")
_HALF_HEADERS = bytes.fromhex("000040010000000001") + b"\x83\x86\x44"


def nobody(crowd: Crowd | SharedCrowd, attack: Attack, until: float) -> None:
    """Make no attack, for comparison."""
    crowd.stay(until)


def half_open(crowd: Crowd, attack: Attack, until: float) -> None:
    """Start `count` calls of each of two methods, and some health checks, and never send the requests."""
    methods = [f"{_GAME}/Apply", f"{_GAME}/NewGame" if crowd.door == "web" else f"{_BATCH}/Step"] * attack.count
    if crowd.door != "web":
        methods += [f"{_HEALTH}/Check"] * _CHECKS
    attackers = _attackers(crowd, attack)
    for attacker, method in zip(in_turn(attackers, len(methods)), methods, strict=True):
        attacker.begin(method)
    crowd.stay(until)


def half_headers(crowd: Crowd, attack: Attack, until: float) -> None:
    """Open `count` connections, and send half of a call's headers on each."""
    part = _WEB_HEAD if crowd.door == "web" else _OPENED + _HALF_HEADERS
    crowd.connect_sending(attack.count, part, addresses=attack.addresses)
    crowd.stay(until)


def steady(crowd: Crowd, attack: Attack, until: float) -> None:
    """Start `count` calls every ten seconds, evenly spread, and never send the requests."""
    _steadily(crowd, attack, until, None)


def failing(crowd: Crowd, attack: Attack, until: float) -> None:
    """Every ten seconds, make `count` calls that fail, evenly spread."""
    _steadily(crowd, attack, until, b"\xff")


def half_sent(crowd: Crowd, attack: Attack, until: float) -> None:
    """Start `count` calls that send only a part of a large request."""
    for attacker in in_turn(_attackers(crowd, attack), attack.count):
        attacker.begin(attack.method, bytes(_SENT), length=_ANNOUNCED)
    crowd.stay(until)


def unread(crowd: Crowd, attack: Attack, until: float) -> None:
    """Send `count` small requests with large responses, and never read the responses."""
    game = max(engine.games(), key=lambda each: each.observation_length)
    table = batch.BatchSetup(game=game.name, players=game.min_players)
    new_games = batch.NewGamesRequest(setup=table, count=_GAMES, columns=batch.Columns(observations=True))
    is_stream = attack.method.endswith("/Play")
    request = (batch.PlayRequest(new_games=new_games) if is_stream else new_games).SerializeToString()
    for attacker in in_turn(_unreading(crowd, attack), attack.count):
        assert isinstance(attacker, Attacker)
        attacker.begin(attack.method, request, is_open=is_stream)
    crowd.stay(until)


def watches(crowd: Crowd, attack: Attack, until: float) -> None:
    """Open `count` streams that watch the health status."""
    for attacker in in_turn(_attackers(crowd, attack), attack.count):
        attacker.begin(f"{_HEALTH}/Watch", b"")
    crowd.stay(until)


def idle_streams(crowd: Crowd, attack: Attack, until: float) -> None:
    """Open `count` streams of batches, and send no requests on them."""
    for attacker in in_turn(_attackers(crowd, attack), attack.count):
        attacker.begin(f"{_BATCH}/Play")
    crowd.stay(until)


def bombs(crowd: Crowd, attack: Attack, until: float) -> None:
    """Make `count` calls every second. Each request has about `size` bytes: empty elements of the field `field`."""
    message = bomb(attack.method, attack.field, attack.size)
    _in_rounds(crowd, attack, until, lambda attacker: attacker.begin(attack.method, message))


def json_bombs(crowd: Crowd, attack: Attack, until: float) -> None:
    """Do the same as `bombs`, but in JSON and at the web door."""
    message = b'{"%s":[""%s]}' % (attack.field.encode(), b',""' * (attack.size // 3))
    _in_rounds(crowd, attack, until, lambda attacker: attacker.begin(attack.method, message, kind="json"))


def silent(crowd: Crowd, attack: Attack, until: float) -> None:
    """Open `count` connections to the attacked port, and send no data."""
    crowd.connect_silently(attack.count, attack.addresses)
    crowd.stay(until)


def silent_metrics(crowd: Crowd, attack: Attack, until: float) -> None:
    """Open `count` connections to the metrics port, and send no data."""
    silent(crowd, attack, until)


def half_handshakes(crowd: Crowd, attack: Attack, until: float) -> None:
    """Open `count` connections that start a TLS handshake and stop, half of them within the first message."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    try:
        tls_context(crowd.door).wrap_bio(incoming, outgoing).do_handshake()
    except ssl.SSLWantReadError:
        hello = outgoing.read()
    crowd.connect_sending(attack.count // 2, hello, addresses=attack.addresses)
    crowd.connect_sending(attack.count - attack.count // 2, hello[: len(hello) // 2], addresses=attack.addresses)
    crowd.stay(until)


def idle_by_tls(crowd: Crowd, attack: Attack, until: float) -> None:
    """Open `count` idle TLS connections. At the web door, each connection first makes a health request."""
    asked = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n" if crowd.door == "web" else _OPENED
    crowd.connect_by_tls(attack.count, attack.addresses, asked, until)
    crowd.stay(until)


def churn(crowd: Crowd, attack: Attack, until: float) -> None:
    """Repeatedly open `count` connections at the same time, and reset them after a short time."""
    while (now := time.monotonic()) < until:
        crowd.churn(attack.count, attack.addresses, min(until, now + _BRIEF))


def floods(crowd: Crowd, attack: Attack, until: float) -> None:
    """Let each of `count` attackers send floods of frames that cost it almost no work, one kind after another."""
    _flood(crowd, attack, until, FLOODS)


def header_bombs(crowd: Crowd, attack: Attack, until: float) -> None:
    """Continuously send header lists of 3 MB, each in one frame, on `count` connections. A list decodes to 12 GB."""
    _flood(crowd, attack, until, BOMBS)


def large_header_bombs(crowd: Crowd, attack: Attack, until: float) -> None:
    """Send header lists of 4 MB, as `header_bombs` does."""
    _flood(crowd, attack, until, LARGE_BOMBS)


def header_blocks(crowd: Crowd, attack: Attack, until: float) -> None:
    """Send header lists of 110 kB in frames of 16 KiB, as `header_bombs` does."""
    _flood(crowd, attack, until, BLOCKS)


def lasting_header_blocks(crowd: Crowd, attack: Attack, until: float) -> None:
    """Send the lists of `header_blocks`, but acknowledge no settings, so that the server's header table stays large."""
    _flood(crowd, attack, until, BLOCKS, acknowledges=False)


def web_unread(crowd: Crowd, attack: Attack, until: float) -> None:
    """Open `count` connections to the web door, send dozens of requests on each, and read no response."""
    body = ListGamesRequest(pieces=True, observation=True).SerializeToString()
    head = (WEB_HEAD % (f"{_GAME}/ListGames", "proto")).encode()
    asked = _ASKED * (head + b"content-length: %d\r\n\r\n" % len(body) + body)
    crowd.connect_sending(attack.count, asked, addresses=attack.addresses, is_read=False)
    crowd.stay(until)


def wrong_hosts(crowd: Crowd, attack: Attack, until: float) -> None:
    """Send `count` requests with two Host headers and `count` requests for another host to the web door."""
    head = (WEB_HEAD % (f"{_GAME}/ListGames", "json")).encode()
    two = head + b"host: localhost\r\ncontent-length: 2\r\n\r\n{}"
    other = head.replace(b"localhost", b"chatiere.example") + b"content-length: 2\r\n\r\n{}"
    for asked in two, other:
        crowd.connect_sending(attack.count, asked, addresses=attack.addresses)
    crowd.stay(until)


def slow_followers(crowd: Crowd, attack: Attack, until: float) -> None:
    """Follow rooms `count` times without reading, with the maximum number of followers in each; keep posting names."""
    rooms = [secrets.token_bytes(_ID) for _ in range(math.ceil(attack.count / MAX_PEOPLE))]
    for number, attacker in enumerate(in_turn(_unreading(crowd, attack), attack.count)):
        _follow(crowd, attacker, rooms[number // MAX_PEOPLE])
    posts = [*product(rooms, (secrets.token_bytes(_ID) for _ in range(MAX_PEOPLE)))]
    attackers = _attackers(crowd, attack)
    while time.monotonic() < until:
        for attacker, (key, secret) in zip(in_turn(attackers, len(posts)), posts, strict=True):
            _post_name(attacker, key, secret)
        # Read the responses to the posts for a whole round, however long it took to send the posts.
        crowd.stay(min(until, time.monotonic() + _ROUND))


def room_floods(crowd: Crowd, attack: Attack, until: float) -> None:
    """Create `count` rooms every second, each with a name."""
    _in_rounds(crowd, attack, until, lambda attacker: _post_name(attacker, secrets.token_bytes(_ID), bytes(_ID)))


def giant_rooms(crowd: Crowd, attack: Attack, until: float) -> None:
    """Fill a room with `size` bytes of tables, and follow it `count` times per second without reading."""
    key, game = secrets.token_bytes(_ID), engine.games()[0]
    new = tables.NewTableRequest(
        game=game.name,
        players=game.max_players,
        seats=[tables.TableSeat()] * game.max_players,
        acknowledgement=tables.ACKNOWLEDGEMENT_NONE,
    )
    filled = 0
    with crowd.calls() as call:
        while filled < attack.size and time.monotonic() < until:
            table = tables.NewTableResponse.FromString(call(_NEW_TABLE, new.SerializeToString())).table
            call(_POST, room.PostRequest(room=key, secret=bytes(_ID), table=table).SerializeToString())
            filled += len(table)
    attackers = _unreading(crowd, attack)
    while (now := time.monotonic()) < until:
        for attacker in in_turn(attackers, attack.count):
            _follow(crowd, attacker, key)
        crowd.stay(min(until, now + _ROUND))


def presence(crowd: Crowd, attack: Attack, until: float) -> None:
    """Let `count` - 1 people follow a room, each on a connection, and another person enter and leave it repeatedly."""
    key = secrets.token_bytes(_ID)
    for attacker in crowd.connect(attack.count - 1, attack.addresses):
        _follow(crowd, attacker, key, secrets.token_bytes(_ID))
    while (now := time.monotonic()) < until:
        (attacker,) = crowd.connect(1, attack.addresses)
        _follow(crowd, attacker, key, secrets.token_bytes(_ID))
        crowd.stay(min(until, now + _PAUSE))
        crowd.leave(attacker)


def work(crowd: Crowd, attack: Attack, until: float) -> None:
    """Keep `count` calls in flight. The calls are cheap to send, and cost the server much time."""
    method, request = DEAR[attack.method]
    with crowd.calls() as call:
        message = request(call)
    attackers = cycle(_attackers(crowd, attack))
    while (now := time.monotonic()) < until:
        for attacker in islice(attackers, max(0, attack.count - crowd.in_flight())):
            attacker.begin(method, message)
        crowd.stay(min(until, now + _PAUSE))


KINDS: dict[str, Callable[[Any, Attack, float], None]] = {
    each.__name__: each
    for each in (
        nobody,
        half_open,
        half_headers,
        steady,
        failing,
        half_sent,
        unread,
        watches,
        idle_streams,
        bombs,
        json_bombs,
        silent,
        silent_metrics,
        half_handshakes,
        idle_by_tls,
        churn,
        floods,
        header_bombs,
        large_header_bombs,
        header_blocks,
        lasting_header_blocks,
        web_unread,
        wrong_hosts,
        slow_followers,
        room_floods,
        giant_rooms,
        presence,
        work,
        shared_deaths,
        shared_garbage,
        shared_streams,
        shared_unread,
    )
}


def bomb(method: str, path: str, size: int) -> bytes:
    """Return a request of about `size` bytes that consists of empty elements of the field at a dotted path."""
    service, _, name = method.partition("/")
    message: Any = descriptor_pool.Default().FindServiceByName(service).methods_by_name[name].input_type
    fields: list[FieldDescriptor] = []
    for part in path.split("."):
        fields.append(message.fields_by_name[part])
        message = fields[-1].message_type
    last = fields.pop()
    empty = _delimited(last.number, b"")
    content = _delimited(last.number, bytes(size)) if last.is_packed else empty * (size // 2)
    for field in reversed(fields):
        content = _delimited(field.number, content)
    return content


def _delimited(number: int, content: bytes) -> bytes:
    length, size = bytearray(), len(content)
    while size >= 0x80:
        length.append(size & 0x7F | 0x80)
        size >>= 7
    # This assumes field numbers below 16, as in requests.
    return bytes([number << 3 | 2, *length, size]) + content


def _attackers(crowd: Crowd, attack: Attack) -> list[Any]:
    return crowd.connect(attack.connections, attack.addresses)


def _unreading(crowd: Crowd, attack: Attack) -> list[Any]:
    return crowd.connect(attack.connections, attack.addresses, window=0)


def _post_name(attacker: Any, key: bytes, secret: bytes) -> None:
    post = room.PostRequest(room=key, secret=secret, name=secrets.token_hex(_NAME))
    attacker.begin(_POST, post.SerializeToString())


def _follow(crowd: Crowd, attacker: Any, key: bytes, secret: bytes | None = None) -> None:
    message = room.FollowRequest(room=key, secret=secret).SerializeToString()
    if crowd.door == "web":
        attacker.begin(_FOLLOW, b"\0" + len(message).to_bytes(4) + message, kind="connect+proto")
    else:
        attacker.begin(_FOLLOW, message)


def _steadily(crowd: Crowd, attack: Attack, until: float, message: bytes | None) -> None:
    attackers = _attackers(crowd, attack)
    begun = time.monotonic()
    made = 0
    while (now := time.monotonic()) < until:
        due = int((now - begun) * attack.count / 10)
        for i in range(made, due):
            attackers[i % len(attackers)].begin(attack.method, message)
        made = due
        crowd.stay(min(until, now + _PAUSE))


def _in_rounds(crowd: Crowd, attack: Attack, until: float, begin: Callable[[Any], None]) -> None:
    attackers = _attackers(crowd, attack)
    while (now := time.monotonic()) < until:
        for attacker in in_turn(attackers, attack.count):
            begin(attacker)
        crowd.stay(min(until, now + _ROUND))


def _flood(crowd: Crowd, attack: Attack, until: float, kinds: FloodsByName, *, acknowledges: bool = True) -> None:
    flood(crowd.flooders(attack.count, kinds, acknowledges=acknowledges), until)


class Attackers:
    """The process that makes an attack."""

    def __init__(self, attack: Attack, door: str, addresses: dict[str, str]) -> None:
        """Start the process. `addresses` has the server's addresses by door, and the address of its metrics."""
        spawning = multiprocessing.get_context("spawn")
        self._pipe, theirs = spawning.Pipe()
        target = addresses["metrics" if attack.kind == silent_metrics.__name__ else door]
        self._process = spawning.Process(target=_attack, args=(attack, door, target, theirs), daemon=True)
        self._process.start()
        theirs.close()
        self._seconds = attack.seconds
        self._received()

    def begin(self) -> None:
        """Start the attack."""
        self._pipe.send(None)

    def wait(self) -> Counter[str]:
        """Wait for the attack's end, and return the number of events of each kind. Raise RuntimeError on a failure."""
        came: Counter[str] = self._received()
        self._process.join()
        return came

    def _received(self) -> Counter[str]:
        try:
            if self._pipe.poll(self._seconds + _PATIENCE):
                received: Counter[str] = self._pipe.recv()
                return received
        except EOFError:
            pass
        self._process.kill()
        raise RuntimeError("the attackers failed")


def _crowd(target: str, door: str, came: Counter[str], source: str) -> Crowd | SharedCrowd:
    if door == SHARED:
        return SharedCrowd(target, came)
    host, _, port = target.rpartition(":")
    return Crowd((host, int(port)), door, came, source)


def _attack(attack: Attack, door: str, target: str, pipe: Connection) -> None:
    os.nice(_NICE)
    # Raise the limit on open files, because each connection is one. The server is not affected: another process started
    # it.
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    came: Counter[str] = Counter()
    pipe.send(came)
    pipe.recv()
    try:
        with _crowd(target, door, came, attack.source) as crowd:
            KINDS[attack.kind](crowd, attack, time.monotonic() + attack.seconds)
    except OSError as error:
        # The server may have closed the connections.
        came[f"gave up: {error}"] += 1
    pipe.send(came)
