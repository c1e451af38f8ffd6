"""The wire format: protobuf can read the messages written, and bytes that are not a message raise an error."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tools.over import over_games

from chatiere import engine
from chatiere.engine import EngineError, Game
from chatiere.engine.wire import Reader, Writer, cut, cut_list, fill, head, pieces_of, written, written_text
from chatiere.v1 import game_pb2
from chatiere.v1.batch_service_pb2 import Positions, StepRequest, StepResponse
from chatiere.v1.game_pb2 import Action, ChanceOutcome, Event, GameInfo, RandomStream
from chatiere.v1.game_service_pb2 import ListGamesResponse
from chatiere.v1.record_pb2 import GameRecord

U32, U64 = st.integers(0, 2**32 - 1), st.integers(0, 2**64 - 1)


class Bytes:
    """A stand-in for a message object with the given bytes."""

    def __init__(self, data: bytes) -> None:
        """Keep the bytes."""
        self._data = data

    def SerializeToString(self) -> bytes:
        """Return the bytes, as a message does."""
        return self._data


@given(U64, U64, U64)
def test_numbers_are_written_as_by_protobuf(seed: int, number: int, drawn: int) -> None:
    def put(out: Writer) -> None:
        for field, value in enumerate((seed, number, drawn), 1):
            out.number(field, value)

    expected = RandomStream(seed=seed, game_number=number, drawn=drawn)
    assert fill(RandomStream(), put) == expected
    out = Writer()
    put(out)
    assert bytes(out) == expected.SerializeToString()


@given(st.lists(U32, max_size=200), st.booleans(), st.text(max_size=300))
@example([], False, "")
@example([0] * 127, True, "x" * 127)
@example([2**32 - 1] * 26, True, "é" * 8192)
def test_lists_and_texts_are_written_as_by_protobuf(seats: list[int], everybody: bool, label: str) -> None:
    def put(out: Writer) -> None:
        out.numbers(Event.SEEN_WHOLE_BY_FIELD_NUMBER, seats)
        out.number(Event.EVERYBODY_FIELD_NUMBER, everybody)
        out.text(Event.LABEL_FIELD_NUMBER, label)

    assert fill(Event(), put) == Event(seen_whole_by=seats, everybody=everybody, label=label)


@given(U32, st.lists(st.text(max_size=40), max_size=4))
def test_nested_messages_are_written_as_by_protobuf(action: int, pieces: list[str]) -> None:
    def put(out: Writer) -> None:
        out.present(Action.ID_FIELD_NUMBER, action)
        begun = out.begin(Action.LABEL_FIELD_NUMBER)
        for piece in pieces:
            out.string(piece)
        out.end(begun)
        begun = out.begin(Action.DISCAT_FIELD_NUMBER)
        out.fields(Action(id=1).SerializeToString())
        out.end(begun)

    written = fill(Action(), put)
    assert written.HasField("id")
    assert (written.id, written.label, written.WhichOneof("game")) == (action, "".join(pieces), "discat")


def test_filling_a_message_without_fields_sets_it() -> None:
    action = Action()
    fill(action.discat, lambda out: None)
    assert action.HasField("discat")


@given(st.lists(st.integers(0, 2**32 - 1)), st.lists(st.text()), st.integers(0, 5))
def test_lists_are_counted_and_read_up_to_a_limit(actions: list[int], names: list[str], most: int) -> None:
    reader = Reader(GameRecord(actions=actions, seat_names=names, date="2024-02-29"))
    assert reader.count_numbers(GameRecord.ACTIONS_FIELD_NUMBER) == len(actions)
    assert reader.texts(GameRecord.SEAT_NAMES_FIELD_NUMBER, most) == names[:most]


def test_an_empty_text_is_written() -> None:
    assert written_text(lambda out: out.string("")) == ""
    assert written(lambda out: out.fields(b"")) == b""


@pytest.mark.parametrize("field", [-1, 0, 32, 2**31 - 1])
def test_field_numbers_out_of_range_are_refused(field: int) -> None:
    reader = Reader(RandomStream(seed=1))
    for ask in (reader.inner, reader.number, reader.count_numbers, lambda number: head(number, 0)):
        with pytest.raises(ValueError, match="fields are 1 to 31"):
            ask(field)
    with pytest.raises(ValueError, match="fields are 1 to 31"):
        cut(b"\x08\x01", {1, field})


@given(U32, st.text(max_size=300), st.booleans())
def test_fields_are_cut_from_a_message(action: int, label: str, typed: bool) -> None:
    message = Action(id=action, label=label)
    if typed:
        message.discat.play.cards.extend([7, 90])
    # Unknown fields: a number of eight bytes, and a group.
    strange = b"\x79" + bytes(8) + b"\x7b\x08\x05\x7c"
    rest, found = cut(memoryview(strange + message.SerializeToString() + strange), {2, 10})
    expected = {2: label.encode(), 10: message.discat.SerializeToString()}
    assert {number: bytes(view) for number, view in found.items()} == {
        number: content for number, content in expected.items() if content
    }
    assert Action.FromString(rest) == Action.FromString(strange + Action(id=action).SerializeToString() + strange)


def test_an_empty_message_has_no_fields_to_cut() -> None:
    assert cut(b"", {2}) == (b"", {})


@pytest.mark.parametrize(
    "data",
    [
        b"\x12\x01a\x12\x01b",  # twice
        b"\x12\x81\x80\x80\x80\x80\x00a",  # a length of six bytes
        b"\x12\x05abc",  # longer than the message
    ],
)
def test_unusual_encodings_are_not_cut(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"unusual|not a protobuf message"):
        cut(data, {2})


def test_fields_beyond_the_limit_are_not_read() -> None:
    data = b"\x08\x01" * 3 + b"\x12\x01a"
    assert cut(data, {2}, 4) == (b"\x08\x01" * 3, {2: memoryview(b"a")})
    # Bytes after the limit are not read, even if they are malformed.
    for more in (b"", b"\xff"):
        with pytest.raises(OverflowError, match="too many fields"):
            cut(data + more, {2}, 3)


@given(st.lists(st.text(max_size=200), max_size=5), st.integers(0, 6))
def test_lists_are_cut_from_a_message(titles: list[str], most: int) -> None:
    message = ListGamesResponse(games=[GameInfo(name=title) for title in titles])
    # Unknown fields between the others: a number, eight bytes, a string, and a group.
    strange = b"\x78\x07\x79" + bytes(8) + b"\x7a\x01a\x7b\x08\x05\x7c"
    parts = [ListGamesResponse(games=[game]).SerializeToString() for game in message.games]
    data = memoryview(strange.join([*parts, b""]))
    rest, count, found = cut_list(data, 1, most, 5 * len(parts))
    assert (count, found) == (len(titles), [game.SerializeToString() for game in message.games][:most])
    assert rest == strange * len(titles)
    if parts:
        with pytest.raises(OverflowError, match="too many fields"):
            cut_list(data, 1, most, 5 * len(parts) - 1)


def test_an_empty_message_has_no_list_to_cut() -> None:
    assert cut_list(b"", 2, 9, 0) == (b"", 0, [])
    with pytest.raises(ValueError, match="fields are 1 to 31"):
        cut_list(b"", 32, 9, 0)


@given(st.binary(max_size=60))
def test_lists_are_cut_from_any_bytes_or_refused(data: bytes) -> None:
    try:
        rest, count, found = cut_list(data, 1, 60, 60)
    except ValueError as error:
        assert "not a protobuf message" in str(error)
        return
    assert len(rest) + sum(map(len, found)) <= len(data)
    assert len(found) == count


@given(st.binary(max_size=60))
def test_any_bytes_are_cut_or_refused(data: bytes) -> None:
    try:
        rest, found = cut(data, {1, 2, 3})
    except ValueError:
        return
    assert len(rest) + sum(map(len, found.values())) <= len(data)


@given(st.integers(1, 15), st.binary(max_size=300))
@example(15, bytes(2**14))
def test_the_head_of_bytes_is_written_as_by_protobuf(field: int, content: bytes) -> None:
    rest, found = cut(head(field, len(content)) + content, [field])
    assert (rest, bytes(found[field])) == (b"", content)


def test_the_head_of_a_large_column_is_written_as_by_protobuf() -> None:
    states = bytes(3 * 2**20)
    assert head(2, len(states)) + states == StepRequest(states=states).SerializeToString()


@given(st.binary(max_size=300), st.binary(max_size=300), st.sampled_from([None, b"", b"\1\0"]))
def test_the_pieces_of_a_message_are_written_as_by_protobuf(
    states: bytes, actors: bytes, reasons: bytes | None
) -> None:
    """An empty column is omitted. A message is omitted only if it is None."""
    positions = pieces_of({"states": 1, "actors": 2}, [("states", memoryview(states)), ("actors", actors)])
    assert b"".join(positions) == Positions(states=states, actors=actors).SerializeToString()
    faults: list[Any] | None = None if reasons is None else pieces_of({"reasons": 1}, [("reasons", reasons)])
    message = StepResponse(positions=Positions(states=states, actors=actors))
    if reasons is not None:
        message.faults.SetInParent()
        message.faults.reasons = reasons
    pieces = pieces_of({"faults": 2, "positions": 1}, [("positions", positions), ("faults", faults)])
    assert b"".join(pieces) == message.SerializeToString()


def test_parts_of_a_text_are_joined() -> None:
    assert written_text(lambda out: (out.string("Chat "), out.string("perché"))) == "Chat perché"


def readers(game: Game) -> list[Callable[[Reader], object]]:
    """Return the functions that read a game's messages."""
    codec = engine.codec(game.name)
    position = game.new_game(game.max_players, seed=1)
    return [
        codec.read_options,
        lambda reader: codec.read_state(reader, game.rules_version),
        lambda reader: codec.read_action(reader, position),
    ]


@over_games
@pytest.mark.parametrize(
    "data",
    [
        b"\x08",  # a number that ends too early
        b"\x80" * 11,  # a number that does not end
        b"\x12\x05abc",  # a field that is longer than the message
        b"\x0b",  # a group that does not end
        b"\x0c",  # the end of a group that did not start
        b"\x0b\x0f\x0c",  # an invalid wire type in a group
        b"\x0d\x01",  # a number of four bytes, cut off after one
        b"\x09" + bytes(7),  # a number of eight bytes, cut off after seven
    ],
)
def test_bytes_that_are_not_a_message_are_refused(game: Game, data: bytes) -> None:
    for read in readers(game):
        with pytest.raises(ValueError, match="not a protobuf message"):
            read(Reader(Bytes(data)))


@over_games
def test_unknown_fields_of_other_wire_types_are_skipped(game: Game) -> None:
    state = game_pb2.State()
    codec = engine.codec(game.name)
    position = game.new_game(game.max_players, seed=1)
    message = fill(getattr(state, game.name), codec.put_state, position).SerializeToString()
    # A group that contains a number, a string, another group, and numbers of eight and of four bytes.
    group = b"\x7b\x08\x05\x12\x01a\x0b\x0c\x09" + bytes(8) + b"\x0d" + bytes(4) + b"\x7c"
    strange = Bytes(b"\x79" + bytes(8) + b"\x75" + bytes(4) + group + message)
    read, version = codec.read_state, game.rules_version
    assert read(Reader(strange), version) == read(Reader(Bytes(message)), version)


NUMBERS = st.integers(1, 40)
VARINTS = U64.map(lambda value: fill(ChanceOutcome(), lambda out: out.present(99, value)).SerializeToString()[2:])
SINGLE_FIELDS = st.one_of(
    st.builds(lambda field, value: bytes([field << 3 & 0x7F]) + value, NUMBERS, VARINTS),
    st.builds(lambda field, value: bytes([field << 3 & 0x7F | 1]) + value, NUMBERS, st.binary(min_size=8, max_size=8)),
    st.builds(lambda field, value: bytes([field << 3 & 0x7F | 5]) + value, NUMBERS, st.binary(min_size=4, max_size=4)),
    st.binary(max_size=8),
)
FIELDS = st.recursive(
    SINGLE_FIELDS,
    lambda inner: st.builds(
        lambda field, values: bytes([field << 3 & 0x7F | 2, len(joined := b"".join(values)[:127])]) + joined,
        NUMBERS,
        st.lists(inner, max_size=6),
    ),
    max_leaves=12,
)


@over_games
@settings(max_examples=300)
@given(fields=st.lists(FIELDS, max_size=6))
def test_any_bytes_are_read_or_refused(game: Game, fields: list[bytes]) -> None:
    """Read fields of any number and wire type, nested messages, and arbitrary bytes."""
    message = b"".join(fields)
    for read in readers(game):
        try:
            read(Reader(Bytes(message)))
        except EngineError:
            continue
        except ValueError as error:
            assert "not a protobuf message" in str(error)


@over_games
def test_the_largest_number_is_refused_in_every_action(game: Game) -> None:
    position = game.new_game(game.max_players, seed=1)
    largest = b"\xff" * 9 + b"\x01"
    for kind in getattr(game_pb2.Action(), game.name).DESCRIPTOR.fields:
        numbers = [part for part in kind.message_type.fields if part.has_presence and part.message_type is None]
        if numbers:
            parts = b"".join(bytes([part.number << 3]) + largest for part in numbers)
            action = bytes([kind.number << 3 | 2, len(parts)]) + parts
            with pytest.raises(EngineError, match="-1 is not from") as refused:
                engine.codec(game.name).read_action(Reader(Bytes(action)), position)
            assert refused.value.field in [f"{kind.name}.{part.name}" for part in numbers]


def test_invalid_events_are_refused(game: Game) -> None:
    put = engine.codec(game.name).put_event
    with pytest.raises(TypeError, match="expected an Event, not tuple"):
        written(put, (1, 0, None, ()), True)
    with pytest.raises(ValueError, match="at most 8 values"):
        written(put, engine.Event(1, 0, None, (0,) * 9), True)
