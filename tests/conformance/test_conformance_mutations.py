"""Every game: a mutated state is either refused with a reason, or safe to continue from.

The environment variable CHATIERE_MUTATIONS sets the total number of mutated states (20,000 if unset). The debug build
has sanitizers and tries many more changes.
"""

import os
import random
from collections import Counter
from typing import Any

from games.building import message
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError, Message

from chatiere import engine
from chatiere.engine import EngineError, EventLog, Position, Reason
from chatiere.engine.wire import Reader, fill

from .support import (
    TABLES,
    Table,
    messages_of,
    positions,
    random_move,
    shown,
    thinned,
    typed_state,
    view,
    whole_state,
)

MUTATIONS = int(os.environ.get("CHATIERE_MUTATIONS", "20000"))
# The numbers of mutated states. Most states are packed, because typed states need more time.
PACKED_PER_TABLE = MUTATIONS * 4 // 5 // len(TABLES) + 1
TYPED_PER_TABLE = MUTATIONS // 5 // len(TABLES) + 1
# The maximum number of moves of a game from any state.
MAX_GAME_LENGTH = 20_000


def exercise(position: Position, choices: random.Random) -> None:
    """Query a position, play it to its end, and query it again. Only resample may raise an error, INVALID_STATE."""
    game = position.game
    codec = engine.codec(game.name)
    for moves in range(MAX_GAME_LENGTH):
        over = position.is_terminal()
        if over or moves == 0:
            questions(position, choices)
        if over:
            break
        events = EventLog()
        move = random_move(position, choices)
        position.apply(move, events)
        position.check()
        if moves < 3:
            for event in events:
                shown(game, event, whole=True)
    assert position.is_terminal()
    fill(message(game, "ScoreDetail"), codec.put_score, position)


def questions(position: Position, choices: random.Random) -> None:
    game = position.game
    codec = engine.codec(game.name)
    for seat in range(position.num_players()):
        view(position, seat)
        assert len(position.observation(seat)) == game.observation_length
        try:
            drawn = position.resample(seat, choices.getrandbits(64))
        except EngineError as error:
            assert error.reason is Reason.INVALID_STATE
        else:
            drawn.check()
    view(position, None)
    assert len(position.totals()) == position.num_players()
    assert (position.ranks() is None) != position.is_terminal()
    for action in position.legal_actions():
        assert position.action_label(action)
        typed = message(game, "Action")
        fill(typed, codec.put_action, position, action)
        assert codec.read_action(Reader(typed), position) == action
    body = codec.read_state(Reader(typed_state(position)), game.rules_version)
    assert game.position(body, position.random_stream(), position.ply()) == position
    assert game.unpack(position.pack()) == position
    position.clone().playout(choices.getrandbits(64))


def mutated(packed: bytes, other: bytes, choices: random.Random) -> bytes:
    """Return a packed state with some bytes flipped, replaced, exchanged, taken from another state, or cut off."""
    data = bytearray(packed)
    size = len(data)
    kind = choices.randrange(7)
    if kind == 6:
        return bytes(data[: choices.randrange(size)] if choices.random() < 0.5 else data + choices.randbytes(9))
    for _ in range(choices.choice((1, 1, 1, 2, 3, 8))):
        place, second = choices.randrange(size), choices.randrange(size)
        if kind == 0:
            data[place] ^= 1 << choices.randrange(8)
        elif kind == 1:
            data[place] = choices.choice((0, 1, 2, 5, 6, 7, 90, 127, 128, 254, 255, choices.randrange(256)))
        elif kind == 2:
            data[place], data[second] = data[second], data[place]
        elif kind == 3:
            data[place] = (data[place] + choices.choice((-1, 1))) % 256
        elif kind == 4:
            place, second = sorted((place, second))
            data[place:second] = other[place:second]
        else:
            # Change a few adjacent bytes. They are probably in the same field.
            second = min(size - 1, place + choices.randrange(1, 12))
            data[place], data[second] = data[second], data[place]
    return bytes(data)


def test_mutated_packed_states_are_refused_or_safe(table: Table) -> None:
    game, players = table
    choices = random.Random(f"{game.name} {players} packed")
    sources = [position.pack() for position in positions(table, games=4)]
    answers: Counter[str] = Counter()
    for _ in range(PACKED_PER_TABLE):
        packed = mutated(choices.choice(sources), choices.choice(sources), choices)
        try:
            position = game.unpack(packed)
        except EngineError as error:
            assert error.message
            answers[error.reason] += 1
            continue
        answers["safe"] += 1
        assert position.pack() == packed
        exercise(position, choices)
    assert answers.keys() <= {"safe", Reason.INVALID_STATE, Reason.UNSUPPORTED_RULES_VERSION}
    assert min(answers["safe"], answers[Reason.INVALID_STATE]) > 0


def scalars_of(filled: Message) -> list[tuple[Any, Any]]:
    """Return every field that is set, at any depth, with the message that contains it."""
    found = []
    for field, value in filled.ListFields():
        found.append((filled, field))
        if field.message_type is not None:
            for inner in value if field.is_repeated else (value,):
                found += scalars_of(inner)
    return found


def mutate_message(filled: Message, choices: random.Random) -> None:
    """Change a field of a message: replace a number, add, remove or exchange items, or clear or set the field."""
    holder, field = choices.choice(scalars_of(filled))
    value = getattr(holder, field.name)
    kind = choices.randrange(5)
    if kind == 0:
        holder.ClearField(field.name)
    elif kind == 1:
        unset = choices.choice(holder.DESCRIPTOR.fields)
        if unset.message_type is None and not unset.is_repeated:
            setattr(holder, unset.name, choices.choice((0, 1, 2, 3, 5, 6, 90, 91, 255)))
        elif unset.message_type is not None and unset.is_repeated:
            getattr(holder, unset.name).add()
        elif unset.message_type is not None:
            getattr(holder, unset.name).SetInParent()
    elif field.is_repeated:
        place, second = choices.randrange(len(value)), choices.randrange(len(value))
        if kind == 2 or field.message_type is not None:
            copied = type(holder)()
            copied.CopyFrom(holder)
            items = list(getattr(copied, field.name))
            if kind == 2:
                items[place], items[second] = items[second], items[place]
            elif kind == 3:
                del items[place]
            else:
                items.insert(place, items[second])
            del value[:]
            value.extend(items)
        else:
            numbers = [0, 1, 90, 91, 255, value[place] ^ 1]
            if field.type == FieldDescriptor.TYPE_INT32:
                numbers += [-1, -(2**31), 2**31 - 1]
            else:
                numbers += [2**32 - 1, (value[place] + 1) % 2**32]
            value[place] = choices.choice(numbers)
    elif field.message_type is None and not isinstance(value, bool):
        setattr(holder, field.name, choices.choice((0, 1, 2, 6, 90, 91, 255, 2**31 - 1, (value + 1) % 2**31)))
    elif field.message_type is None:
        setattr(holder, field.name, not value)


def test_mutated_typed_states_are_refused_or_safe(table: Table) -> None:
    game, players = table
    messages = messages_of(game)
    choices = random.Random(f"{game.name} {players} typed")
    sources = positions(table, False, games=4)
    answers: Counter[str] = Counter()
    for _ in range(TYPED_PER_TABLE):
        state = whole_state(choices.choice(sources))
        if choices.random() < 0.1:
            state.ply = choices.choice((0, state.ply + 1, 1000, 2**31, 2**32 - 1))
        for _ in range(choices.choice((1, 1, 1, 2, 4))):
            if scalars_of(getattr(state, game.name)):
                mutate_message(getattr(state, game.name), choices)
        try:
            position = messages.read_state(Reader(state))
        except EngineError as error:
            assert error.reason is Reason.INVALID_STATE
            assert error.message
            answers["refused"] += 1
            continue
        answers["safe"] += 1
        exercise(position, choices)
    assert min(answers["safe"], answers["refused"]) > 0


def add_mistyped(holder: Message) -> None:
    """Add fields with a wrong wire type to a message and all messages in it. Protobuf keeps them as unknown fields."""
    for field, value in holder.ListFields():
        if field.message_type:
            for inner in value if field.is_repeated else [value]:
                add_mistyped(inner)
    kind: Any = holder.DESCRIPTOR
    for field in kind.fields:
        if field.message_type:
            holder.MergeFromString(bytes([field.number << 3, 1]))
        elif not field.is_repeated:
            holder.MergeFromString(bytes([field.number << 3 | 2, 1, 0]))


def test_fields_of_another_wire_type_are_treated_as_absent(table: Table) -> None:
    codec = engine.codec(table[0].name)
    for position in thinned(positions(table), 20):
        state = typed_state(position)
        body = codec.read_state(Reader(state), position.rules_version())
        add_mistyped(state)
        assert codec.read_state(Reader(state), position.rules_version()) == body
        for action in position.legal_actions()[:20]:
            typed = message(table[0], "Action")
            fill(typed, codec.put_action, position, action)
            add_mistyped(typed)
            assert codec.read_action(Reader(typed), position) == action


def test_mutated_wire_bytes_are_refused_or_safe(table: Table) -> None:
    game, players = table
    codec = engine.codec(game.name)
    choices = random.Random(f"{game.name} {players} wire")
    sources = [typed_state(position).SerializeToString() for position in positions(table, False, games=4)]
    for _ in range(TYPED_PER_TABLE // 4):
        data = bytearray(choices.choice(sources))
        for _ in range(choices.choice((1, 1, 2, 4))):
            data[choices.randrange(len(data))] = choices.randrange(256)
        state = message(game, "State")
        try:
            state.ParseFromString(bytes(data))
            position = game.position(codec.read_state(Reader(state), game.rules_version))
        except DecodeError:
            continue
        except EngineError as error:
            assert error.reason is Reason.INVALID_STATE
            continue
        exercise(position, choices)
