"""Call TableService at random, and search every response and every line of the log for secrets.

`make fuzz-tables` makes 100,000 calls (`python -m tools.fuzz.tables` in tests/). No response and no log may contain a
game's root, a number of its random stream, or a seat's secret. The only exception is the root in the record of a game
that is over. To detect hidden cards, calls are repeated at a table that has other hidden cards but looks the same to
the caller. The responses have to be the same. A status that is not the client's fault is also a finding.
"""

import base64
import logging
import random
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import click
import grpc
from google.protobuf.message import Message
from prometheus_client import CollectorRegistry
from tables.support import NEXT, NONE, OVER, Host, human
from tables.worlds import answer, twin, without_table

from chatiere import engine
from chatiere.service.base.settings import Settings
from chatiere.service.ports.server import create_server
from chatiere.service.tables import roots
from chatiere.service.tables.keys import Keyring
from chatiere.v1 import table_service_pb2 as pb
from chatiere.v1 import table_service_pb2_grpc

from .wire import ANSWERS, Finding, damaged

# The number of games that are played at the same time, and the number of calls after which a game is replaced. Finished
# games are also replaced.
_GAMES, _CALLS_OF_A_GAME = 8, 400
_BOTS = ("random", "flat:playouts=4", "ismcts:simulations=4")
# With this metadata, the responses to equal requests are equal.
_METADATA = (("x-request-id", "fuzz"),)


@dataclass
class Played:
    """A game. The test knows all secrets. In production, only the service knows all of them."""

    secrets: list[bytes]
    tables: list[bytes]
    """The tables of all plies so far. All tables except the last one are open."""
    root: bytes
    strays: list[bytes] = field(default_factory=list)
    """Other tables created by calls."""
    calls: int = 0

    @property
    def needles(self) -> dict[bytes, bytes]:
        """The values that must not be revealed, in all encodings. Each has the secret that may see it, or b""."""
        found = {}
        for number in roots.stream_of(self.root):
            for form in (number.to_bytes(8, "little"), number.to_bytes(8, "big"), _varint(number), b"%d" % number):
                found[form] = b""
        for kept, owner in (self.root, b""), *((secret, secret) for secret in self.secrets):
            for form in (kept, kept.hex().encode(), base64.b64encode(kept)[:-4], base64.urlsafe_b64encode(kept)[:-4]):
                found[form] = owner
            # This is the form in which Python prints messages.
            found[repr(kept)[2:-1].encode()] = owner
        return found


class Lines(logging.Handler):
    """Collects all log records."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.text: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.text.append(f"{self.format(record)} {record.__dict__}")


@contextmanager
def _served(key: bytes) -> Iterator[tuple[Any, Lines]]:
    lines, logger = Lines(), logging.getLogger("chatiere")
    before = logger.level
    logger.setLevel(logging.DEBUG)
    logger.addHandler(lines)
    server, port = create_server(Settings(address="127.0.0.1:0", log_calls=True), CollectorRegistry(), table_key=key)
    server.start()
    try:
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            yield table_service_pb2_grpc.TableServiceStub(channel), lines
    finally:
        server.stop(None).wait()
        logger.removeHandler(lines)
        logger.setLevel(before)


def fuzz(count: int, seconds: float = float("inf"), seed: int = 1) -> Counter[str]:
    """Make `count` calls, or fewer if `seconds` pass before. Return counts of their results. Raises Finding."""
    choices = random.Random(seed)
    key = choices.randbytes(32)
    host, ends = Host(Keyring(None, key)), Counter[str]()
    games: list[Any] = []
    end = time.monotonic() + seconds
    with _served(key) as (stub, lines):
        while ends["calls"] < count and time.monotonic() < end:
            games = [each for each in games if each.calls < _CALLS_OF_A_GAME]
            while len(games) < _GAMES:
                games.append(_begun(stub, host, choices))
            _call(stub, host, games, choices, lines, ends)
    return ends


def _begun(stub: Any, host: Host, choices: random.Random) -> Played:
    game = choices.choice(engine.games())
    players = choices.randint(game.min_players, game.max_players)
    mode = choices.choice((NONE, NEXT))
    bots = [choices.choice(_BOTS) for _ in range(choices.randint(0, players - 2))]
    secrets = [choices.randbytes(16) for _ in range(players - len(bots))]
    seats = [*map(human, secrets), *(pb.TableSeat(bot=bot) for bot in bots)]
    request = pb.NewTableRequest(game=game.name, players=players, seats=seats, acknowledgement=mode)
    request.allows_replacement = choices.random() < 0.5
    table = stub.NewTable(request).table
    played = Played(secrets, [table], host.open(table).body.root)
    # Start after some moves, so that all parts of games are covered.
    for _ in range(choices.choice((0, 5, 20, 80, 400))):
        _play(host, played, choices)
    return played


def _play(host: Host, played: Played, choices: random.Random) -> None:
    # Acknowledge the newest table and make the next move.
    table = host.acknowledge(played.tables[-1], *played.secrets)
    played.tables[-1] = table
    turn = host.look(table).view.turn
    if turn.kind == OVER:
        return
    secret = action = None
    if turn.seat < len(played.secrets):
        secret = played.secrets[turn.seat]
        action = choices.choice(host.look(table, secret).legal_actions).id
    played.tables.append(host.move(table, secret, action).table)


def _call(stub: Any, host: Host, games: list[Played], choices: random.Random, lines: Lines, ends: Counter[str]) -> None:
    played = choices.choice(games)
    played.calls += 1
    table = choices.choice(played.strays if played.strays and choices.random() < 0.3 else played.tables[-2:])
    seat = choices.randrange(len(played.secrets))
    secret = choices.choice(
        (played.secrets[seat],) * 5 + (None, choices.choice(choices.choice(games).secrets), choices.randbytes(16), b"")
    )
    is_damaged = choices.random() < 0.15
    sent = damaged(table, choices) if is_damaged else table
    name, request = _request(host, played, table, sent, secret, choices)
    response, whole, code = _ask(stub, name, request)
    ends["calls"] += 1
    ends[f"{name} {code.name}"] += 1
    if code not in ANSWERS:
        raise Finding(f"{name} ended with {code}: {whole!r}")
    is_over = name == "GetRecord" and code is grpc.StatusCode.OK
    if is_over and host.look(request.tables[-1]).view.turn.kind != OVER:  # type: ignore[attr-defined]
        raise Finding("the root of a game that is not over is in its record")
    heard = "".join(lines.text).encode()
    lines.text.clear()
    for each in games:
        for needle, owner in each.needles.items():
            if needle in heard:
                raise Finding(f"the log contains {needle!r}: {heard!r}")
            if needle in whole and not (is_over and not owner):
                raise Finding(f"{name} tells {needle!r}: {whole!r}")
    if isinstance(response, (pb.MoveResponse, pb.AcknowledgeResponse, pb.AmendResponse)):
        played.strays = [*played.strays[-8:], response.table]
    if choices.random() < 0.1:
        _play(host, played, choices)
        if len(played.tables) > 1 and host.look(played.tables[-2]).view.turn.kind == OVER:
            played.calls = _CALLS_OF_A_GAME
    elif not is_damaged and choices.random() < 0.2:
        _ask_twin(stub, host, played, table, name, request, choices, ends)


def _request(
    host: Host, played: Played, table: bytes, sent: bytes, secret: bytes | None, choices: random.Random
) -> tuple[str, Message]:
    name = choices.choice(("Look", "Look", "Move", "Move", "Acknowledge", "Amend", "SuggestMove", "GetRecord"))
    if name == "Look":
        return name, pb.LookRequest(table=sent, secret=secret)
    if name == "Acknowledge":
        return name, pb.AcknowledgeRequest(table=sent, secret=secret)
    if name == "Amend":
        holder = pb.TableSeat(bot=choices.choice(_BOTS)) if choices.random() < 0.5 else human(choices.randbytes(16))
        replacement = pb.TableReplacement(seat=choices.randrange(4), holder=holder)
        return name, pb.AmendRequest(table=sent, secret=secret, replacement=replacement)
    if name == "SuggestMove":
        bot = choices.choice((*_BOTS, "nobody"))
        return name, pb.SuggestMoveRequest(table=sent, secret=secret, bot=bot, seed=choices.getrandbits(64))
    if name == "GetRecord":
        tables = [*played.tables[:-1], sent] if choices.random() < 0.5 else choices.choices(played.tables, k=2)
        return name, pb.GetRecordRequest(tables=tables)
    request = pb.MoveRequest(table=sent, secret=secret)
    if choices.random() < 0.8:
        game = engine.game(host.open(table).header.game)
        legal = answer(host.look, table, secret)
        if choices.random() < 0.6 and getattr(legal, "legal_actions", None):
            request.action.CopyFrom(choices.choice(legal.legal_actions))
        else:
            request.action.id = choices.randrange(game.num_distinct_actions + 2)
    return name, request


def _ask(stub: Any, name: str, request: Message) -> tuple[Any, bytes, grpc.StatusCode]:
    # Returns the response if there is one, all bytes received, and the status.
    try:
        response = getattr(stub, name)(request, metadata=_METADATA)
    except grpc.RpcError as error:
        status: Any = error
        trailing = b"".join(
            value if isinstance(value, bytes) else value.encode() for _, value in status.trailing_metadata() or ()
        )
        return None, trailing + str(status.details()).encode(), status.code()
    return response, response.SerializeToString(), grpc.StatusCode.OK


def _ask_twin(
    stub: Any,
    host: Host,
    played: Played,
    table: bytes,
    name: str,
    request: Any,
    choices: random.Random,
    ends: Counter[str],
) -> None:
    # Repeat the call at a table that the caller cannot distinguish.
    if name == "GetRecord" or request.secret not in (*played.secrets, b""):
        return
    opened = host.open(table)
    viewers = [played.secrets.index(request.secret)] if request.secret else []
    if name == "Move" and opened.header.acknowledgement == NONE:
        # The result of this kind of move is visible, and may differ.
        return
    alike = twin(host, table, viewers, played.secrets, choices) if _is_open_to(request.secret, host, table) else None
    if alike is None:
        return
    other = type(request)()
    other.CopyFrom(request)
    other.table = alike
    found = [_compared(*_ask(stub, name, each)) for each in (request, other)]
    ends[f"{name} at two tables"] += 1
    # A bot's moves depend on its hand, and are visible.
    is_bot_s = name == "Move" and isinstance(found[0][0], pb.MoveResponse) and found[0][0].HasField("update")
    if found[0] != found[1] and not is_bot_s:
        raise Finding(f"{name} reveals hidden information: {found[0]} and {found[1]}")


def _compared(response: Any, whole: bytes, code: grpc.StatusCode) -> Any:
    return whole if response is None else without_table(response), code


def _is_open_to(secret: bytes, host: Host, table: bytes) -> bool:
    # An amendment may have replaced the person with this secret. An empty secret is a spectator's.
    try:
        host.look(table, secret or None)
    except ValueError:
        return False
    return True


def _varint(number: int) -> bytes:
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


@click.command("python -m tools.fuzz.tables")
@click.option("--count", type=click.IntRange(min=1), default=100_000, show_default=True, help="The number of calls.")
@click.option("--seconds", type=float, default=float("inf"), help="The maximum number of seconds.")
@click.option("--seed", type=int, default=1, show_default=True, help="Which calls.")
def main(count: int, seconds: float, seed: int) -> None:
    """Call TableService at random, and search the responses and the log for secrets."""
    for end, number in sorted(fuzz(count, seconds, seed).items()):
        click.echo(f"{number:8} {end}")


if __name__ == "__main__":
    main()
