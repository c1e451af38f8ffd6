"""Plain messages are exactly the encodings that protobuf writes, with fields in any order."""

import random

import pytest
from google.protobuf.message import Message
from hypothesis import given, settings
from hypothesis import strategies as st

from chatiere import engine
from chatiere.engine import Game
from chatiere.engine.wire import Form
from chatiere.service.calls.requests import form_of
from chatiere.v1.game_pb2 import Action, Include, OptionInfo, RandomStream, State
from chatiere.v1.game_service_pb2 import ApplyRequest, NewGameRequest

from .encodings import STRANGE, in_order, odd, shuffled
from .samples import KINDS, request

GAMES = st.sampled_from(engine.games())
CHOICES = st.builds(random.Random, st.integers(0, 2**32 - 1))
kinds = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


def is_plain(kind: type[Message], data: bytes) -> bool:
    """Return whether a message is plain. If so, assert that protobuf writes the same bytes, in any order of fields."""
    if form_of(kind.DESCRIPTOR).open(data) is None:
        return False
    written = kind.FromString(data).SerializeToString()
    assert in_order(data, kind.DESCRIPTOR) == in_order(written, kind.DESCRIPTOR)
    return True


@kinds
@settings(max_examples=200, deadline=None)
@given(GAMES, CHOICES)
def test_messages_written_by_protobuf_are_plain_in_any_order(
    kind: type[Message], game: Game, choices: random.Random
) -> None:
    data = request(kind, game, choices).SerializeToString()
    assert is_plain(kind, data)
    assert is_plain(kind, shuffled(data, kind.DESCRIPTOR, choices))


@kinds
@settings(max_examples=500, deadline=None)
@given(GAMES, CHOICES)
def test_messages_that_protobuf_would_write_differently_are_not_plain(
    kind: type[Message], game: Game, choices: random.Random
) -> None:
    data = odd(request(kind, game, choices).SerializeToString(), kind.DESCRIPTOR, choices)
    is_plain(kind, data)


@kinds
@settings(max_examples=200, deadline=None)
@given(st.data())
def test_mutated_bytes_are_plain_only_if_protobuf_writes_them(kind: type[Message], data: st.DataObject) -> None:
    sent = bytearray(request(kind, data.draw(GAMES), data.draw(CHOICES)).SerializeToString())
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(sent)))
        sent[place : place + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=2))
    is_plain(kind, bytes(sent))


@kinds
@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=40))
def test_random_bytes_are_plain_only_if_protobuf_writes_them(kind: type[Message], data: bytes) -> None:
    is_plain(kind, data)


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        (RandomStream, b""),
        (RandomStream, b"\x08\x80\x01\x18\x7f\x10\x01"),
        (RandomStream, b"\x08" + b"\xff" * 9 + b"\x01"),
        (Include, b"\x08\x01\x1a\x08\x00\x00\xff\xff\xff\xff\x0f\x01"),
        # The number 0 in fields whose absence has another meaning.
        (Action, b"\x08\x00"),
        (ApplyRequest, b"\x18\x00"),
        # Messages without fields, and a list of several messages.
        (State, b"\x52\x00"),
        (State, b"\x52\x06\x12\x00\x12\x00\x12\x00"),
        (NewGameRequest, b"\x0a\x01\x7f"),
    ],
)
def test_bytes_that_protobuf_writes_unchanged_are_plain(kind: type[Message], data: bytes) -> None:
    assert is_plain(kind, data)


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        (RandomStream, b"\x08"),  # a number that ends too early
        (RandomStream, b"\x08\x80"),
        (RandomStream, b"\x08\x00"),  # 0, which is the same as absence
        (RandomStream, b"\x08\x81\x00"),  # more bytes than it needs
        (RandomStream, b"\x88\x00\x01"),
        (RandomStream, b"\x08" + b"\xff" * 9 + b"\x02"),  # more bits than the type has
        (RandomStream, b"\x08" + b"\x80" * 9 + b"\x00"),
        (RandomStream, b"\x08" + b"\xff" * 10 + b"\x01"),
        (RandomStream, b"\x08\x01\x08\x01"),  # twice
        (RandomStream, b"\x0a\x00"),  # another wire type
        (RandomStream, b"\x09" + bytes(8)),
        (RandomStream, b"\x20\x01"),  # an unknown field
        (RandomStream, b"\x00\x01"),
        (RandomStream, b"\x80\x02\x01"),
        (RandomStream, b"\x88\x80\x80\x80\x80\x80\x80\x80\x80\x01\x01"),
        (Include, b"\x08\x02"),  # true as 2
        (Include, b"\x1a\x00"),  # an empty list
        (Include, b"\x18\x01"),  # an unpacked list
        (Include, b"\x1a\x01\x01\x1a\x01\x02"),
        (Include, b"\x1a\x05\x80\x80\x80\x80\x10"),  # 2**32 in a list
        (Include, b"\x1a\x02\x81\x00"),  # an item with more bytes than it needs
        (Include, b"\x1a\x02\x01\x80"),  # an item that ends too early
        (Include, b"\x1a\x02\x01"),  # longer than the message
        (Include, b"\x1a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01"),
        (Action, b"\x08\x80\x80\x80\x80\x10"),  # 2**32
        (State, b"\x52\x00\x52\x00"),  # two messages to be merged
        (State, b"\x52\x00\x5a\x00"),  # two members of a oneof
        (ApplyRequest, b"\x12\x00\x18\x00"),
        (State, b"\x52\x02\x18\x00"),  # 0 in an inner message
        (State, b"\x52\x06\x18\x80\x80\x80\x80\x08"),  # an enum's 2**31
        (State, b"\x52\x0b\x18" + b"\xff" * 9 + b"\x01"),  # -1
        (NewGameRequest, b"\x0a\x00"),  # an empty text
        (NewGameRequest, b"\x0a\x02\xc3\xa9"),  # not only ASCII
        (NewGameRequest, b"\x0a\x01\xff"),
        (OptionInfo, b"\x18\x01"),  # a type that requests do not have
        *((RandomStream, field) for field in STRANGE),
    ],
)
def test_bytes_that_protobuf_changes_or_refuses_are_not_plain(kind: type[Message], data: bytes) -> None:
    assert not is_plain(kind, data)


def test_a_list_of_texts_can_have_empty_texts() -> None:
    assert Form([(1, None, True, 0, [])]).open(b"\x0a\x00\x0a\x01a\x0a\x00") is not None


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ((0, 1, False, 0, []), "fields are 1 to 31"),
        ((32, 1, False, 0, []), "fields are 1 to 31"),
        ((1, 0, False, 0, []), "1 to 64 bits"),
        ((1, 65, False, 0, []), "1 to 64 bits"),
    ],
)
def test_invalid_forms_are_refused(field: tuple[int, int, bool, int, list[int]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Form([field])
