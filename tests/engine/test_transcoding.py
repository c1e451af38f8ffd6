"""Messages are converted from wire format to JSON and back exactly as by protobuf-py, or left to it."""

import json
import math
import random
from typing import Any

import pytest
from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message_factory import GetMessageClass
from grpc_health.v1 import health_pb2
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry
from protobuf import Message, message_from_json_value

from chatiere import engine
from chatiere.engine import EngineError, Game
from chatiere.engine.wire import Transcoder
from chatiere.service.base.errors import Refusal
from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import Settings
from chatiere.service.calls.game_service import GameService
from chatiere.service.ports.web.json_form import JsonForm, message_type, transcoder_of
from chatiere.service.ports.web.strict_json import check_of, read_json
from chatiere.v1 import batch_service_pb2, bot_service_pb2, game_service_pb2, room_service_pb2, table_service_pb2
from chatiere.v1.game_pb2 import GameLimits, Include, PhraseArgument, RandomStream, Score, State
from chatiere.v1.game_service_pb2 import ListGamesRequest
from chatiere.v1.room_service_pb2 import FollowResponse
from chatiere.v1.table_service_pb2 import TableHeader

from .encodings import odd, shuffled
from .samples import KINDS, request

_FILES = (game_service_pb2, batch_service_pb2, bot_service_pb2, table_service_pb2, room_service_pb2, health_pb2)
_METHODS: list[Any] = [
    method
    for file in _FILES
    for service in file.DESCRIPTOR.services_by_name.values()
    for method in service.methods
    if not method.client_streaming
]
REQUESTS: dict[str, Descriptor] = {method.input_type.full_name: method.input_type for method in _METHODS}
RESPONSES: dict[str, Descriptor] = {method.output_type.full_name: method.output_type for method in _METHODS}
GAMES = st.sampled_from(engine.games())
SEEDS = st.integers(0, 2**32 - 1)
each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
each_request = pytest.mark.parametrize("name", REQUESTS)
each_response = pytest.mark.parametrize("name", RESPONSES)
HANDLERS = GameService(Settings(), Metrics(CollectorRegistry())).methods
PLAYED = [kind for kind in KINDS if kind.DESCRIPTOR.name.removesuffix("Request") in HANDLERS]
# Texts that JSON writes without escapes, and others.
PLAIN = ["", "a", "perché… 🐈", "\x7f", "/", "'"]
TEXTS = [*PLAIN, "\0", "\b\f\n\r\t\x1f", 'a "quotation"\\', "\u2028\ud7ff"]
NUMBERS = [0, 1, 9, 10, 127, 128, 2**31 - 1, 2**31, 2**32 - 1, 2**53 + 1, 10**19, 2**63, 2**64 - 1]
DOUBLES = [0.0, -0.0, 1.0, -1.5, 1 / 3, 1e15, 1e16, 1e-4, 1e-5, 1e22, 1e300, 5e-324, 2.0**53 + 2, 123456789.125]
BITS = {
    FieldDescriptor.TYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.TYPE_FIXED32: (0, 2**32 - 1),
    FieldDescriptor.TYPE_UINT64: (0, 2**64 - 1),
    FieldDescriptor.TYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.TYPE_SINT32: (-(2**31), 2**31 - 1),
}


class Filler:
    """Fills messages with random values. `is_plain`: with values that every direction converts itself."""

    def __init__(self, seed: int, is_plain: bool) -> None:
        self._choices, self._is_plain, self._left = random.Random(seed), is_plain, 150

    def filled(self, kind: Descriptor) -> Any:
        message = GetMessageClass(kind)()
        self._fill(message)
        return message

    def _fill(self, message: Any) -> None:
        for field in self._choices.sample(list(message.DESCRIPTOR.fields), len(message.DESCRIPTOR.fields)):
            self._left -= 1
            if self._left < 0 or self._choices.random() < 0.4:
                continue
            if field.message_type is None:
                if field.is_repeated:
                    getattr(message, field.name).extend(self._value(field) for _ in range(self._choices.randrange(4)))
                else:
                    setattr(message, field.name, self._value(field))
            elif field.message_type.GetOptions().map_entry or field.message_type.full_name.startswith("google."):
                if not self._is_plain:
                    self._fill_special(getattr(message, field.name), field.message_type)
            elif field.is_repeated:
                for _ in range(self._choices.randrange(4)):
                    self._fill(getattr(message, field.name).add())
            else:
                getattr(message, field.name).SetInParent()
                self._fill(getattr(message, field.name))

    def _fill_special(self, message: Any, kind: Descriptor) -> None:
        if kind.GetOptions().map_entry:
            key, value = kind.fields
            if value.message_type is None:
                message[self._value(key)] = self._value(value)
        else:
            message.seconds, message.nanos = self._choices.choice(((0, 0), (5, 0), (86_400, 1), (3, 500_000_000)))

    def _value(self, field: FieldDescriptor) -> Any:
        choices = self._choices
        if field.enum_type is not None:
            return choices.choice(field.enum_type.values).number
        match field.type:
            case FieldDescriptor.TYPE_BOOL:
                return choices.random() < 0.5
            case FieldDescriptor.TYPE_STRING:
                return choices.choice(PLAIN if self._is_plain else TEXTS)
            case FieldDescriptor.TYPE_BYTES:
                return choices.randbytes(choices.randrange(5))
            case FieldDescriptor.TYPE_DOUBLE:
                return choices.choice([*DOUBLES, choices.random() * 10 ** choices.randint(-9, 20)])
            case _:
                least, most = BITS[field.type]
                number = choices.choice([*NUMBERS, *(-each for each in NUMBERS), choices.randint(least, most)])
                return min(max(number, least), most)


def written(kind: Descriptor, data: bytes, emits_defaults: bool = True) -> bytes:
    """Return a message as protobuf-py writes it in JSON."""
    return message_type(kind.full_name).from_binary(data).to_json(always_emit_implicit=emits_defaults).encode()


def read(kind: Descriptor, text: bytes) -> Any:
    """Return the message that the slow way reads from JSON, or None if it refuses it."""
    own: type[Message] = message_type(kind.full_name)
    try:
        value = message_from_json_value(own, read_json(text, check_of(own.desc())), ignore_unknown_fields=True)
    except (ValueError, TypeError, OverflowError):
        return None
    return GetMessageClass(kind).FromString(value.to_binary())


def transcoder(kind: Descriptor) -> Transcoder:
    return transcoder_of(message_type(kind.full_name).desc())


def has_map(message: Any) -> bool:
    return any(
        bool(field.message_type and field.message_type.GetOptions().map_entry)
        or (field.message_type is not None and any(map(has_map, value if field.is_repeated else [value])))
        for field, value in message.ListFields()
    )


# From wire format to JSON


@each_response
@settings(max_examples=40)
@given(SEEDS, st.booleans())
def test_messages_are_written_as_by_protobuf(name: str, seed: int, is_plain: bool) -> None:
    kind = RESPONSES[name]
    message = Filler(seed, is_plain).filled(kind)
    data = message.SerializeToString()
    text = transcoder(kind).to_json(data)
    assert JsonForm(name, name).write(data) == written(kind, data)
    assert text == (None if has_map(message) else written(kind, data))


@pytest.mark.parametrize("kind", PLAYED, ids=lambda kind: kind.__name__)
@given(GAMES, SEEDS)
def test_responses_of_games_are_written_as_by_protobuf(kind: Any, game: Game, seed: int) -> None:
    name = kind.DESCRIPTOR.name.removesuffix("Request")
    try:
        data = HANDLERS[name](request(kind, game, random.Random(seed)).SerializeToString())
    except (EngineError, Refusal):
        return
    response = RESPONSES[f"chatiere.v1.{name}Response"]
    assert transcoder(response).to_json(data) == written(response, data)


@each_kind
@given(GAMES, SEEDS)
def test_unusual_encodings_are_written_as_by_protobuf_or_left_to_it(kind: Any, game: Game, seed: int) -> None:
    choices = random.Random(seed)
    data = request(kind, game, choices).SerializeToString()
    described = kind.DESCRIPTOR
    assert transcoder(described).to_json(shuffled(data, described, choices)) == written(described, data)
    check_written(described, odd(data, described, choices))


@each_response
@settings(max_examples=40)
@given(SEEDS, st.data())
def test_any_bytes_are_written_as_by_protobuf_or_left_to_it(name: str, seed: int, data: st.DataObject) -> None:
    kind = RESPONSES[name]
    sent = bytearray(Filler(seed, False).filled(kind).SerializeToString())
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(sent)))
        sent[place : place + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=3))
    check_written(kind, bytes(sent))


def check_written(kind: Descriptor, data: bytes) -> bool:
    """Return whether a message is converted without protobuf. Assert that protobuf then writes the same."""
    text = transcoder(kind).to_json(data)
    assert text is None or text == written(kind, data)
    return text is not None


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        (RandomStream, b""),
        # Default values, which protobuf omits.
        (RandomStream, b"\x08\x00\x10\x00"),
        (RandomStream, b"\x18\x01\x10" + b"\xff" * 9 + b"\x01"),
        # The elements of a list between other fields, and an empty list.
        (ListGamesRequest, b"\x0a\x01a\x10\x01\x0a\x01b\x18\x01\x0a\x00"),
        (FollowResponse, b"\x0a\x00\x1a\x01a\x0a\x00\x20\x01\x0a\x00"),
        (Include, b"\x1a\x00"),
        (Include, b'\x2a\x05"\\\n\x01\x7f'),  # characters that JSON escapes, and one that it does not
        (State, b"\x52\x02\x18\x01"),  # a value of an enum
        (Score, b"\x0a\x0a" + b"\xff" * 9 + b"\x01\x2a\x08" + bytes(7) + b"\x40"),
        (PhraseArgument, b"\x12\x06\x01\xff\xff\xff\xff\x0f"),
        (TableHeader, b"\x45\x01\x02\x03\x84\x50\x00\x62\x00"),
        (GameLimits, b"\x21" + bytes(6) + b"\xf0\x3f"),
    ],
)
def test_usual_encodings_are_written(kind: Any, data: bytes) -> None:
    assert check_written(kind.DESCRIPTOR, data)


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        (RandomStream, b"\x08"),  # a number that ends too early
        (RandomStream, b"\x08\x81\x00"),  # more bytes than it needs
        (RandomStream, b"\x88\x00\x01"),
        (RandomStream, b"\x08" + b"\xff" * 9 + b"\x02"),  # more bits than the type has
        (RandomStream, b"\x08\x01\x08\x01"),  # twice
        (RandomStream, b"\x0a\x00"),  # another wire type
        (RandomStream, b"\x09" + bytes(8)),
        (RandomStream, b"\x0b\x0c"),
        (RandomStream, b"\x20\x01"),  # an unknown field
        (RandomStream, b"\x00\x01"),
        (RandomStream, b"\x80\x02\x01"),
        (RandomStream, b"\x88\x80\x80\x80\x80\x80\x80\x80\x80\x01\x01"),
        (Include, b"\x08\x02"),  # true as 2
        (Include, b"\x18\x01"),  # an unpacked list
        (Include, b"\x1a\x01\x01\x1a\x01\x02"),  # a list in two pieces
        (Include, b"\x1a\x05\x80\x80\x80\x80\x10"),  # 2**32 in a list
        (Include, b"\x1a\x02\x01"),  # longer than the message
        (Include, b"\x2a\x01\xff"),  # not UTF-8
        (Include, b"\x2a\x01\x80"),
        (State, b"\x52\x00\x52\x00"),  # two messages to be merged
        (State, b"\x52\x00\x5a\x00"),  # two members of a oneof
        (State, b"\x52\x02\x18\x63"),  # an unknown value of an enum
        (Score, b"\x0a\x05\x80\x80\x80\x80\x08"),  # 2**31
        (Score, b"\x0a\x0a\xff\xff\xff\xff\xf7\xff\xff\xff\xff\x01"),  # -(2**31) - 1
        (Score, b"\x2a\x07" + bytes(7)),  # a number of eight bytes, cut off after seven
        (PhraseArgument, b"\x12\x05\x80\x80\x80\x80\x10"),
        (TableHeader, b"\x45\x01\x02\x03"),
        (TableHeader, b"\x62\x0b\x08" + b"\xff" * 9 + b"\x01\x00"),  # a malformed time
    ],
)
def test_other_encodings_are_left_to_protobuf(kind: Any, data: bytes) -> None:
    assert not check_written(kind.DESCRIPTOR, data)


# From JSON to wire format


def styled(value: Any, choices: random.Random) -> Any:
    """Return JSON with the keys of each object in another order, and some integers as strings."""
    if isinstance(value, dict):
        return {key: styled(value[key], choices) for key in choices.sample(list(value), len(value))}
    if isinstance(value, list):
        return [styled(each, choices) for each in value]
    return str(value) if type(value) is int and choices.random() < 0.2 else value


def json_of(message: Any, choices: random.Random) -> bytes:
    """Return a message in one of the ways in which clients write it."""
    way = choices.randrange(4)
    if way < 2:
        return written(message.DESCRIPTOR, message.SerializeToString(), bool(way))
    value = json_format.MessageToDict(
        message,
        preserving_proto_field_name=choices.random() < 0.5,
        always_print_fields_with_no_presence=choices.random() < 0.5,
    )
    indent = choices.choice([None, 0, 2, "\t"])
    text = json.dumps(styled(value, choices), ensure_ascii=False, indent=indent)
    return choices.choice([text, f" {text}\r\n"]).encode()


@each_request
@settings(max_examples=40)
@given(SEEDS)
def test_json_is_read_as_by_protobuf(name: str, seed: int) -> None:
    kind = REQUESTS[name]
    message = Filler(seed, True).filled(kind)
    text = json_of(message, random.Random(seed))
    found = transcoder(kind).from_json(text)
    assert found is not None
    assert GetMessageClass(kind).FromString(found) == message == read(kind, text)
    # Fields with their default value are omitted, so that the message is plain.
    assert len(found) == len(message.SerializeToString())


@each_request
@settings(max_examples=40)
@given(SEEDS)
def test_all_json_is_read_by_the_form(name: str, seed: int) -> None:
    kind = REQUESTS[name]
    message = Filler(seed, False).filled(kind)
    text = json_of(message, random.Random(seed))
    found = JsonForm(name, name).read(text)
    assert GetMessageClass(kind).FromString(found) == message


@each_kind
@given(GAMES, SEEDS)
def test_requests_of_games_are_read(kind: Any, game: Game, seed: int) -> None:
    choices = random.Random(seed)
    message = request(kind, game, choices)
    found = transcoder(kind.DESCRIPTOR).from_json(json_of(message, choices))
    assert found is not None
    assert kind.FromString(found) == message


PIECES = [
    b"null", b"true", b"false", b"-1", b"1.0", b"1e2", b"01", b"-0", b"4294967296", b"18446744073709551616", b'"1"',
    b'""', b'"', b"\\n", b"\\u0041", b"\xff", b"\xc3", b"\x00", b"\x1f", b"{", b"}", b"[", b"]", b",", b":", b" ",
    b"{}", b"[]", b'{"a":1}', b'"later":0,', b'"ply":1,', b'"AA"', b'"AAA="', b'"AB=="', b'"-_=="', b"'", b"/**/",
]  # fmt: skip


@each_request
@settings(max_examples=40)
@given(SEEDS, st.data())
def test_any_text_is_read_as_by_protobuf_or_left_to_it(name: str, seed: int, data: st.DataObject) -> None:
    kind = REQUESTS[name]
    choices = random.Random(seed)
    text = bytearray(json_of(Filler(seed, True).filled(kind), choices))
    for piece in data.draw(st.lists(st.sampled_from(PIECES) | st.binary(max_size=2), min_size=1, max_size=2)):
        place = choices.randrange(len(text) + 1)
        text[place : place + choices.choice([0, 0, 1, 2, 4])] = piece
    check_read(kind, bytes(text))


def check_read(kind: Descriptor, text: bytes) -> bool:
    """Return whether JSON text is converted without protobuf. Assert that protobuf then reads the same."""
    found = transcoder(kind).from_json(text)
    if found is not None:
        expected = read(kind, text)
        assert expected is not None
        assert GetMessageClass(kind).FromString(found) == expected
    return found is not None


NEW_GAME, NEW_TABLE = REQUESTS["chatiere.v1.NewGameRequest"], REQUESTS["chatiere.v1.NewTableRequest"]
APPLY = REQUESTS["chatiere.v1.ApplyRequest"]


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        " {\t} \r\n",
        '{"players":4294967295,"seed":18446744073709551615}',
        '{"players":"2","seed":"0","game_number":1}',
        '{"include":{"viewers":[0,"1" ,2],"seatNames":["","é"]}}',
        '{"include":{"viewers":[],"seatNames":[],"score":false}}',
        '{"options":{"discat":{}}}',
    ],
)
def test_usual_json_is_read(text: str) -> None:
    assert check_read(NEW_GAME, text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "[]",
        "null",
        "{",
        '{"players"',
        '{"players":',
        '{"players":2',
        '{"players":2,',
        '{"players":2,}',
        '{"players":2}}',
        '{"players":2}\x00',
        '{"players":2 3}',
        "{players:2}",
        '{"players":null}',
        '{"players":2,"players":2}',
        '{"explicitChance":false,"explicit_chance":false}',
        '{"options":{"discat":{},"chatPerche":{}}}',
        '{"include":{"viewers":[1],"viewers":[1]}}',
        '{"include":{"viewers":1}}',
        '{"include":{"viewers":[1,]}}',
        '{"include":{"viewers":[1 1]}}',
        '{"later":1}',
        '{"":1}',
        '{"players":-1}',
        '{"players":-}',
        '{"players":02}',
        '{"players":2.0}',
        '{"players":2e0}',
        '{"players":"2}',
        '{"players":"2x}',
        '{"players":" 2"}',
        '{"players":"2 "}',
        '{"players":""}',
        '{"players":4294967296}',
        '{"seed":18446744073709551616}',
        '{"seed":99999999999999999999}',
        '{"explicitChance":1}',
        '{"explicitChance":tru}',
        '{"explicitChance":fals',
        '{"game":"\\n"}',
        '{"game":"\n"}',
        '{"game":"a',
        '{"game":1}',
    ],
)
def test_other_json_is_left_to_protobuf(text: str) -> None:
    assert not check_read(NEW_GAME, text.encode())


@pytest.mark.parametrize(
    "text", [b'{"game":"\xff"}', b'{"game":"\x80"}', b'{"game":"\xc3"}', b'{"game":"\xed\xa0\x80"}', b"\xef\xbb\xbf{}"]
)
def test_text_that_is_not_utf_8_is_left_to_protobuf(text: bytes) -> None:
    assert not check_read(NEW_GAME, text)


@pytest.mark.parametrize("text", ["AA", "AA=", "AB==", "-_==", "AAAA====", "A", "A A=", "é"])
def test_unusual_base64_is_left_to_protobuf(text: str) -> None:
    assert not check_read(NEW_TABLE, f'{{"seats":[{{"secretSha256":"{text}"}}]}}'.encode())
    assert check_read(NEW_TABLE, b'{"seats":[{"secretSha256":"AA=="}]}')


def test_special_values_are_left_to_protobuf() -> None:
    assert not check_read(NEW_TABLE, b'{"lifetime":"3s"}')
    assert not check_read(APPLY, b'{"state":{"discat":{"phase":1}}}')
    assert not check_read(APPLY, b'{"state":{"discat":{"phase":"LATER"}}}')
    assert check_read(APPLY, b'{"state":{"discat":{"phase":"DISCAT_PHASE_PLAY"}}}')
    assert not check_read(RESPONSES["chatiere.v1.GetScoreResponse"], b'{"score":{"returns":[1]}}')


def test_nesting_is_as_deep_as_the_types() -> None:
    for text in (b'{"state":' * 50_000, b"[" * 100_000, b'{"state":[' * 50_000):
        assert not check_read(APPLY, text)


# Transcoders


@pytest.mark.parametrize("number", [0, 32])
def test_field_numbers_out_of_range_are_refused(number: int) -> None:
    with pytest.raises(ValueError, match=f"fields are 1 to 31, not {number}"):
        Transcoder([(number, "a", "a", "bool", False, "false", [number])])


def test_an_unknown_scalar_type_is_refused() -> None:
    with pytest.raises(KeyError):
        Transcoder([(1, "a", "a", "float", False, "0.0", [1])])


def test_infinity_and_nan_are_left_to_protobuf() -> None:
    kind = RESPONSES["chatiere.v1.GetScoreResponse"]
    for value in (math.inf, -math.inf, math.nan):
        message: Any = GetMessageClass(kind)()
        message.score.returns.append(value)
        data = message.SerializeToString()
        assert transcoder(kind).to_json(data) is None
        assert JsonForm(kind.full_name, kind.full_name).write(data) == written(kind, data)
