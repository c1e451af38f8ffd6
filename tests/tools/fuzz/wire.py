"""Send mutated, truncated and random messages, packed states and connections to a real server.

`make fuzz` sends a million of them (`python -m tools.fuzz.wire` in tests/). Each must end with OK or with a refusal
that has a reason, never with a fault of the service. Afterwards, the same process must handle a valid call correctly.
The same seed makes the same messages.
"""

import random
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import cycle, islice, product
from typing import Any

import click
import grpc
from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from hpack import Encoder
from service.fast_door.peer import Bystander
from service.process import Served, served

from chatiere import engine
from chatiere.engine import Game, Position
from chatiere.engine.wire import fill
from chatiere.service.base.settings import split_address
from chatiere.v1 import (
    batch_service_pb2,
    bot_service_pb2,
    errors_pb2,
    game_pb2,
    game_service_pb2,
    room_service_pb2,
    table_service_pb2,
)
from chatiere.v1.batch_service_pb2 import BatchSetup, Columns, PlayRequest, StepRequest
from chatiere.v1.game_service_pb2 import ApplyRequest
from chatiere.v1.record_pb2 import GameRecord

from ..played_frames import (
    DATA,
    END_HEADERS,
    END_STREAM,
    HEADERS,
    MAX_NUMBER,
    PREFACE,
    PUSH,
    WINDOW,
    Frame,
    ping,
    reset,
    setting,
    window,
)
from ..played_frames import message as framed

SERVICES: tuple[ServiceDescriptor, ...] = (
    game_service_pb2.DESCRIPTOR.services_by_name["GameService"],
    batch_service_pb2.DESCRIPTOR.services_by_name["BatchService"],
    bot_service_pb2.DESCRIPTOR.services_by_name["BotService"],
    table_service_pb2.DESCRIPTOR.services_by_name["TableService"],
    room_service_pb2.DESCRIPTOR.services_by_name["RoomService"],
)
# OK, and the statuses that are the client's fault. Any other status is a fault of the service.
ANSWERS = {grpc.StatusCode.OK, grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.RESOURCE_EXHAUSTED}
STATES_PER_BATCH = 1_000
_FOLLOW = f"/{SERVICES[4].full_name}/Follow"
_PLAY = f"/{SERVICES[1].full_name}/Play"
_HEADERS = [(":method", "POST"), (":scheme", "http"), (":authority", "localhost")]
# The frames that may be sent between the messages of a call.
_BETWEEN: tuple[Callable[[int], Frame], ...] = (
    lambda stream: Frame(DATA, END_STREAM, stream, b""),
    reset,
    lambda stream: ping(),
    lambda stream: window(stream, 256),
)
IN_FLIGHT = 16


class Finding(AssertionError):
    """Forbidden behaviour of the service."""


def sample_positions(game: Game, players: int, choices: random.Random) -> list[Position]:
    """Return positions of two random games, one with sampled and one with explicit chance."""
    found = []
    for seed in (choices.getrandbits(64), None):
        position = game.new_game(players, seed=seed)
        while not position.is_terminal():
            found.append(position.clone())
            moves = position.legal_actions() or [outcome for outcome, _ in position.chance_outcomes()]
            position.apply(choices.choice(moves))
        found.append(position)
    return found


def typed(position: Position) -> game_pb2.State:
    """Return a position as the API's State."""
    name = position.game.name
    state = game_pb2.State(rules_version=position.game.rules_version, ply=position.ply())
    if (stream := position.random_stream()) is not None:
        state.stream.seed, state.stream.game_number, state.stream.drawn = stream
    getattr(state, name).SetInParent()
    fill(getattr(state, name), engine.codec(name).put_state, position)
    return state


def complete(message: Message, positions: list[Position], choices: random.Random) -> None:
    """Fill a request with valid values, as far as these can be chosen by the kinds of its fields."""
    position = choices.choice(positions)
    moves = position.legal_actions() or [outcome for outcome, _ in position.chance_outcomes()] or [0]
    for field in message.DESCRIPTOR.fields:
        name = field.name
        if name == "state":
            message.state.CopyFrom(typed(position))  # type: ignore[attr-defined]
        elif name == "typed_states":
            message.typed_states.add().CopyFrom(typed(position))  # type: ignore[attr-defined]
        elif name == "states":
            message.states = b"".join(p.pack() for p in choices.choices(positions, k=3))  # type: ignore[attr-defined]
        elif name == "setup":
            message.setup.game, message.setup.players = position.game.name, position.num_players()  # type: ignore[attr-defined]
        elif name == "action":
            message.action.id = choices.choice(moves)  # type: ignore[attr-defined]
        elif name == "moves":
            message.moves = choices.choice(moves).to_bytes(2, "little") * 3  # type: ignore[attr-defined]
        elif name == "seats" and field.message_type is None:
            message.seats = bytes([0, 1, 0])  # type: ignore[attr-defined]
        elif name == "seeds":
            message.seeds = choices.randbytes(24)  # type: ignore[attr-defined]
        elif name == "bot":
            message.bot = choices.choice(("random", "flat:playouts=20", "ismcts:simulations=20"))  # type: ignore[attr-defined]
        elif name in ("room", "secret"):
            setattr(message, name, bytes([choices.randrange(4)] * 16))
        elif name == "record":
            fill_record(message.record, position.game, position.num_players(), choices)  # type: ignore[attr-defined]
        elif name == "game":
            message.game = position.game.name  # type: ignore[attr-defined]
        elif field.message_type is None and not field.is_repeated and field.type == field.TYPE_UINT32:
            setattr(message, name, choices.choice((0, 1, 2, position.num_players())))
    if isinstance(message, room_service_pb2.PostRequest):
        fill_post(message, choices)


def fill_post(post: room_service_pb2.PostRequest, choices: random.Random) -> None:
    """Fill a post with one of the items that a room accepts."""
    kind = choices.randrange(3)
    if kind == 0:
        post.table = choices.randbytes(400)
    elif kind == 1:
        post.invitation = bytes([choices.randrange(100)] * 8)
    else:
        post.name = choices.choice(("Anna", "Zoé", "李小龍", "x" * 24))


def fill_record(record: GameRecord, game: Game, players: int, choices: random.Random) -> None:
    """Fill a record with the start of a random game."""
    record.game, record.rules_version, record.players = game.name, game.rules_version, players
    seed = choices.choice((choices.getrandbits(64), None))
    position = game.new_game(players, seed=seed)
    if seed is None:
        record.outcomes.SetInParent()
    else:
        record.stream.seed = seed
    for _ in range(choices.randrange(60)):
        if position.is_chance_node():
            record.outcomes.outcomes.append(choices.choice(position.chance_outcomes())[0])
            position.apply(record.outcomes.outcomes[-1])
        elif not position.is_terminal():
            record.actions.append(choices.choice(position.legal_actions()))
            position.apply(record.actions[-1])
    record.seat_names.extend(["Zoé"] * players)
    record.date = "2024-02-29"


def damaged(data: bytes, choices: random.Random) -> bytes:
    """Return bytes damaged: replaced by random bytes or truncated, or with some flipped, doubled, moved or inserted."""
    kind = choices.randrange(8)
    if kind == 0 or not data:
        return choices.randbytes(choices.randrange(200))
    if kind == 1:
        return data[: choices.randrange(len(data))]
    broken = bytearray(data)
    for _ in range(choices.choice((1, 1, 1, 2, 4, 16))):
        place = choices.randrange(len(broken))
        if kind <= 4:
            broken[place] = choices.choice((0, 1, 127, 128, 255, broken[place] ^ (1 << choices.randrange(8))))
        elif kind == 5:
            broken[place:place] = choices.randbytes(choices.randrange(1, 9))
        elif kind == 6:
            broken[place:place] = broken[place : place + choices.randrange(1, 40)]
        elif len(broken) > 1:
            del broken[place : place + choices.randrange(1, 9)]
            broken = broken or bytearray(1)
    return bytes(broken)


def _methods_with_one_request() -> list[tuple[str, type[Message]]]:
    return [
        (f"/{service.full_name}/{method.name}", GetMessageClass(method.input_type))
        for service in SERVICES
        for method in service.methods
        if not method.client_streaming
    ]


def bad_messages(choices: random.Random) -> Iterator[tuple[str, bytes]]:
    """Yield (method, request bytes) without end, for every method with one request and for every game."""
    tables = [(game, players) for game in engine.games() for players in range(game.min_players, game.max_players + 1)]
    samples = {(game.name, players): sample_positions(game, players, choices) for game, players in tables}
    methods = _methods_with_one_request()
    while True:
        path, request_type = choices.choice(methods)
        request = request_type()
        complete(request, choices.choice(list(samples.values())), choices)
        data = request.SerializeToString()
        for _ in range(8):
            yield path, damaged(data, choices)


def bad_batches(choices: random.Random) -> Iterator[StepRequest]:
    """Yield steps without end, with damaged packed states of the right length."""
    tables = [(game, players) for game in engine.games() for players in range(game.min_players, game.max_players + 1)]
    while True:
        game, players = choices.choice(tables)
        packed = [position.pack() for position in sample_positions(game, players, choices)]
        states = bytearray()
        for _ in range(STATES_PER_BATCH):
            state = damaged(choices.choice(packed), choices)[: game.packed_size]
            states += state + choices.choice(packed)[len(state) :]
        yield StepRequest(
            setup=BatchSetup(game=game.name, players=players),
            states=bytes(states),
            moves=choices.randbytes(2 * STATES_PER_BATCH),
            columns=Columns(legal=True, scores=True, observations=True),
        )


def bad_conversations(choices: random.Random) -> Iterator[bytes]:
    """Yield damaged conversations of the fast door's clients without end, with unary calls and streams."""
    tables = [(game, players) for game in engine.games() for players in range(game.min_players, game.max_players + 1)]
    methods = _methods_with_one_request()
    while True:
        game, players = choices.choice(tables)
        positions = sample_positions(game, players, choices)
        encoder = Encoder()
        pieces = [PREFACE, bytes(setting(PUSH, 0)), bytes(setting(WINDOW, MAX_NUMBER))]
        for stream in range(1, 2 * choices.randrange(1, 5), 2):
            path, messages = _PLAY, []
            if choices.randrange(2):
                path, request_type = choices.choice(methods)
                request = request_type()
                complete(request, positions, choices)
                messages.append(request.SerializeToString())
            else:
                for _ in range(choices.randrange(4)):
                    step = StepRequest(setup=BatchSetup(game=game.name, players=players))
                    complete(step, positions, choices)
                    messages.append(PlayRequest(tag=choices.getrandbits(8), step=step).SerializeToString())
            headers = encoder.encode([*_HEADERS, (":path", path), ("content-type", "application/grpc")])
            pieces.append(bytes(Frame(HEADERS, END_HEADERS, stream, headers)))
            pieces += [bytes(Frame(DATA, 0, stream, framed(each))) for each in messages]
            pieces.append(bytes(choices.choice(_BETWEEN)(stream)))
        for _ in range(8):
            # Some conversations are valid up to a place in the middle.
            kept = choices.randrange(len(pieces))
            yield b"".join(pieces[:kept]) + damaged(b"".join(pieces[kept:]), choices)


def begun(channel: Any, path: str, data: bytes) -> Any:
    """Start a call to a method, with bytes as request and response."""
    if path == _FOLLOW:
        return channel.unary_stream(path)(data, timeout=120)
    return channel.unary_unary(path).future(data, timeout=120)


def code_of(path: str, call: Any) -> grpc.StatusCode:
    """Return the status of a call. A call of Follow is cancelled at its first response."""
    if path == _FOLLOW:
        with suppress(grpc.RpcError):
            next(call)
            call.cancel()
            return grpc.StatusCode.OK
    code: grpc.StatusCode = call.code()
    return code


class Fuzzer:
    """Sends damaged data to a server, and counts the results."""

    def __init__(self, channels: list[grpc.Channel], fast_address: str) -> None:
        """Start with channels to each of the server's ports, and `fast_address`, the fast door's address."""
        self.channels = channels
        self.fast_address = split_address(fast_address)
        self.codes: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self.messages = self.states = self.conversations = 0

    def send(self, messages: list[tuple[str, bytes]]) -> None:
        """Send messages a few at a time, and check the status of each."""
        calls: list[tuple[str, bytes, Any]] = [
            (path, data, begun(channel, path, data))
            for channel, (path, data) in zip(cycle(self.channels), messages, strict=False)
        ]
        for path, data, call in calls:
            code = code_of(path, call)
            self.codes[code.name] += 1
            self.messages += 1
            if code not in ANSWERS:
                raise Finding(f"{path} ended as {code.name} ({call.details()}) for {data.hex()}")

    def send_batch(self, request: StepRequest) -> None:
        """Send damaged packed states. Each of them must either succeed or fail by itself, with a reason."""
        call: Any = self.channels[0].unary_unary(
            f"/{SERVICES[1].full_name}/Step", response_deserializer=batch_service_pb2.StepResponse.FromString
        )
        answer = call(request.SerializeToString(), timeout=120)
        reasons = answer.faults.reasons or bytes(STATES_PER_BATCH)
        if len(reasons) != STATES_PER_BATCH:
            raise Finding(f"{len(reasons)} reasons for {STATES_PER_BATCH} states")
        self.reasons.update(errors_pb2.ErrorReason.Name(reason) if reason else "OK" for reason in reasons)
        self.states += STATES_PER_BATCH

    def send_conversation(self, frames: bytes) -> None:
        """Send a damaged conversation to its end. Then the server must also end it."""
        with socket.create_connection(self.fast_address, timeout=120) as connection:
            # The server may already have closed the connection.
            with suppress(OSError):
                connection.sendall(frames)
                connection.shutdown(socket.SHUT_WR)
            try:
                while connection.recv(2**16):
                    pass
            except TimeoutError as error:
                raise Finding(f"a conversation does not end: {frames.hex()}") from error
            except OSError:
                # A connection that is closed without a response has also ended.
                pass
        self.conversations += 1


def check_alive(server: Served, pid: int, channels: list[grpc.Channel]) -> None:
    """Assert that the process that ran at the start still handles valid calls correctly."""
    if server.worker_pid(0) != pid:
        raise Finding(f"worker {pid} has died")
    for channel, game in product(channels, engine.games()):
        position = game.new_game(game.max_players, seed=7)
        action = position.legal_actions()[-1]
        apply: Callable[..., Any] = channel.unary_unary(
            f"/{SERVICES[0].full_name}/Apply", response_deserializer=game_service_pb2.ApplyResponse.FromString
        )
        request = ApplyRequest(state=typed(position), action=game_pb2.Action(id=action))
        if apply(request.SerializeToString(), timeout=60).position.state != typed(position.child(action)):
            raise Finding(f"the response to a valid move of {game.name} is wrong")


def fuzz(count: int, seconds: float, seed: int) -> Fuzzer:
    """Send a new server `count` messages and states, or fewer if `seconds` pass before. Raises Finding."""
    choices = random.Random(seed)
    messages, batches, conversations = bad_messages(choices), bad_batches(choices), bad_conversations(choices)
    start = time.monotonic()
    options = [("grpc.max_receive_message_length", -1)]
    with (
        # With these limits, new rooms replace old ones, and new followers replace old ones.
        served(
            "--fast-address", "127.0.0.1:0", "--relay", "memory", "--max-rooms", "3", "--max-followers", "4"
        ) as server,
        grpc.insecure_channel(server.address, options=options) as channel,
        grpc.insecure_channel(server.fast_address, options=options) as fast_channel,
        Bystander(server) as bystander,
    ):
        channels = [channel, fast_channel]
        fuzzer = Fuzzer(channels, server.fast_address)
        pid = server.worker_pid(0)
        check_alive(server, pid, channels)
        while fuzzer.messages + fuzzer.states < count and time.monotonic() - start < seconds:
            fuzzer.send_batch(next(batches))
            while fuzzer.messages * 3 < fuzzer.states:
                fuzzer.send(list(islice(messages, IN_FLIGHT)))
                for frames in islice(conversations, IN_FLIGHT // 4):
                    fuzzer.send_conversation(frames)
                # Use a connection that already existed.
                bystander.is_served()
        check_alive(server, pid, channels)
        if any(" ERROR " in line for line in server.lines):
            raise Finding("\n".join(server.lines[-50:]))
    return fuzzer


@click.command()
@click.option(
    "--count", default=1_000_000, show_default=True, help="The number of items, a quarter of which are messages."
)
@click.option("--seconds", default=float("inf"), help="The maximum number of seconds.")
@click.option("--seed", default=1, show_default=True, help="Of the messages.")
def main(count: int, seconds: float, seed: int) -> None:
    """Send messages to a server, and print the statuses. Ends with a Finding at the first wrong response."""
    start = time.monotonic()
    fuzzer = fuzz(count, seconds, seed)
    click.echo(f"{fuzzer.messages} messages: {dict(fuzzer.codes.most_common())}")
    click.echo(f"{fuzzer.states} packed states: {dict(fuzzer.reasons.most_common())}")
    click.echo(f"{fuzzer.conversations} conversations on the fast door")
    click.echo(f"no finding, the same process is still running; {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
