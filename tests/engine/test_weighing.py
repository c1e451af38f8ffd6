"""Scales: estimates, from the bytes of messages, of the memory that the messages will use as protobuf's objects."""

import random
import subprocess
import sys

import pytest
from google.protobuf.message import DecodeError, Message
from hypothesis import example, given, settings
from hypothesis import strategies as st

from chatiere import engine
from chatiere.engine import Game
from chatiere.engine.wire import Scales
from chatiere.service.calls.requests import scales_of
from chatiere.v1.game_service_pb2 import ApplyRequest, ListGamesRequest

from .encodings import STRANGE, odd, shuffled
from .samples import KINDS, request

GAMES = st.sampled_from(engine.games())
CHOICES = st.builds(random.Random, st.integers(0, 2**32 - 1))
kinds = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
# The memory in bytes that an object may use in addition to the estimate for its contents.
OF_OBJECT = 16 * 1024


def elements_in(message: Message) -> int:
    """Count the elements of a message."""
    count = 0
    for field, value in message.ListFields():
        values = value if field.is_repeated else [value]
        count += len(values)
        if field.message_type is not None:
            count += sum(map(elements_in, values))
    return count


def elements_in_any(kind: type[Message], data: bytes) -> int:
    """Count the elements that protobuf finds. Return 0 if the bytes are not a message."""
    try:
        return elements_in(kind.FromString(data))
    except DecodeError:
        return 0


@kinds
@settings(max_examples=200, deadline=None)
@given(GAMES, CHOICES)
def test_elements_are_counted(kind: type[Message], game: Game, choices: random.Random) -> None:
    message, scales = request(kind, game, choices), scales_of(kind.DESCRIPTOR)
    data = message.SerializeToString()
    count = elements_in(message)
    assert scales.weigh(memoryview(data))[0] == count
    assert scales.weigh(shuffled(data, kind.DESCRIPTOR, choices))[0] == count
    # Unknown fields count as well.
    assert scales.weigh(b"".join((*STRANGE, data, *STRANGE)))[0] == count + 2 * len(STRANGE)
    assert scales.weigh(data + data)[0] == 2 * count
    unusual = odd(data, kind.DESCRIPTOR, choices)
    assert scales.weigh(unusual)[0] >= elements_in_any(kind, unusual)


@given(st.binary(max_size=60))
@example(b"")
@example(b"\x0b\x0a\x00\x0c\x0a\x00")  # a message in a group, and one after it
@example(b"\x0c\x0a\x00")  # the end of a group that did not start
@example(b"\x8a\x80\x80\x80\x80\x80\x80\x80\x80\x00\x00")  # a long number before a message
@example(b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")  # a number that is too long
@example(b"\x0a\x00\x0a\x05")  # longer than the message
@example(b"\x09\x01")  # a number of eight bytes, cut off after one
@example(b"\x0d\x01\x02\x03\x04\x0a\x00")  # a number of four bytes before a message
@example(b"\x0f\x0a\x00")  # an invalid wire type
@example(b"\x22\x04\x0a\x02\x00\x01\x28\x01")  # a list in one piece
def test_elements_of_any_bytes_are_counted(data: bytes) -> None:
    assert scales_of(ApplyRequest.DESCRIPTOR).weigh(data)[0] >= elements_in_any(ApplyRequest, data)


@given(st.integers(0, 20), st.integers(0, 20))
def test_weighing_stops_at_the_limits(names: int, most: int) -> None:
    scales, name = scales_of(ListGamesRequest.DESCRIPTOR), b"\x0a\x01x"
    elements, memory = scales.weigh(name * min(names, most + 1))
    assert scales.weigh(name * names, most) == (elements, memory)
    _, allowed = scales.weigh(name * most)
    assert scales.weigh(name * names, names, allowed) == (elements, memory)


def test_no_field_of_a_request_takes_more_memory_than_estimated() -> None:
    """Try many occurrences of each field of each request, in a process where no other code allocates memory."""
    script = (sys.executable, "-m", "tests.engine.heavy_messages")
    lines = subprocess.run(script, capture_output=True, text=True, check=True).stdout.splitlines()
    found = [(path, int(taken), int(weighed)) for path, taken, weighed in map(str.split, lines)]
    if not any(taken for _, taken, _ in found):
        pytest.skip("another allocator replaces the C library's")
    assert [each for each in found if each[1] > each[2] + OF_OBJECT] == []
    # The estimate detects bombs: an empty string in a request has only two bytes.
    assert max(taken for path, taken, _ in found if path == "GetRecordRequest.tables") > 300_000


def test_field_numbers_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match="fields are 1 to 31, not 32"):
        Scales([(32, None, False, 0)])


@pytest.mark.parametrize(("wire_type", "size"), [(1, 8), (5, 4)], ids=["64 bits", "32 bits"])
def test_packed_numbers_of_fixed_size_are_counted(wire_type: int, size: int) -> None:
    """The API does not have fields of this kind yet."""
    one, many = (
        Scales([(1, size, True, wire_type)]).weigh(b"\x0a" + bytes([n * size]) + bytes(n * size)) for n in (1, 9)
    )
    assert (one[0], many[0]) == (1, 9)
    assert many[1] - one[1] >= 8 * size
