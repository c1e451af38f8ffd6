"""Requests in JSON: one value for each field, exact integers, and fields of later versions."""

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from hypothesis import example, given
from hypothesis import strategies as st

from chatiere.service.base.errors import Refusal
from chatiere.service.ports.web.json_form import JsonForm
from chatiere.v1 import batch_service_pb2, bot_service_pb2, game_service_pb2, room_service_pb2, table_service_pb2
from chatiere.v1 import game_service_pb2 as pb

from .client import GAME_SERVICE, WebClient, envelope

_FILES = (game_service_pb2, batch_service_pb2, bot_service_pb2, table_service_pb2, room_service_pb2)
REQUESTS: dict[str, Descriptor] = {
    method.input_type.full_name: method.input_type
    for file in _FILES
    for service in file.DESCRIPTOR.services_by_name.values()
    for method in service.methods
}


def read(kind: Descriptor | type[Message], text: str) -> Any:
    """Return the message that the text of a request in JSON represents. Raises Refusal."""
    described: Any = kind if isinstance(kind, Descriptor) else kind.DESCRIPTOR
    return GetMessageClass(described).FromString(JsonForm(described.full_name, described.full_name).read(text.encode()))


def refusal(kind: Descriptor | type[Message], text: str) -> Refusal:
    with pytest.raises(Refusal) as caught:
        read(kind, text)
    assert caught.value.reason == "MALFORMED_REQUEST"
    return caught.value


def inside(kind: Descriptor, path: tuple[FieldDescriptor, ...] = ()) -> Iterator[tuple[FieldDescriptor, ...]]:
    """Yield the path of fields to each message within a kind of message, including the empty path."""
    yield path
    for field in kind.fields:
        if field.message_type is not None and not field.message_type.full_name.startswith("google."):
            yield from inside(field.message_type, (*path, field))


def end_of(kind: Descriptor, path: tuple[FieldDescriptor, ...]) -> Descriptor:
    """Return the kind of message at the end of a path."""
    found = path[-1].message_type if path else kind
    assert found is not None
    return found


def placed(path: tuple[FieldDescriptor, ...], text: str) -> str:
    """Return a message in JSON with another message, `text`, at the end of a path."""
    for field in reversed(path):
        text = f'{{"{field.json_name}":{f"[{text}]" if field.is_repeated else text}}}'
    return text


def written(path: tuple[FieldDescriptor, ...], name: str) -> str:
    """Return a path to a field as refusals write it."""
    return ".".join([*(f"{field.name}[0]" if field.is_repeated else field.name for field in path), name])


def value_of(field: FieldDescriptor) -> str:
    if field.message_type is not None:
        return "{}"
    return '""' if field.type in (field.TYPE_BYTES, field.TYPE_STRING) else "0"


PAIRS = [
    (kind, path, one, other)
    for kind in REQUESTS.values()
    for path in inside(kind)
    for oneof in end_of(kind, path).oneofs
    for one, other in itertools.permutations(oneof.fields, 2)
]


def test_no_two_fields_of_any_oneof() -> None:
    """Both fields together are refused in either order, with either spelling of their names, at any depth."""
    assert len(PAIRS) > 100
    for kind, path, one, other in PAIRS:
        for first, second in itertools.product({one.name, one.json_name}, {other.name, other.json_name}):
            both = f'{{"{first}":{value_of(one)},"{second}":{value_of(other)}}}'
            found = refusal(kind, placed(path, both))
            assert found.field in (written(path, one.name), written(path, other.name))
            assert "cannot both be set" in found.message
        read(kind, placed(path, f'{{"{one.json_name}":{value_of(one)},"{other.json_name}":null}}'))


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ('{"players":2,"players":3}', "players"),
        ('{"include":{"score":true,"score":true}}', "include.score"),
        ('{"explicitChance":true,"explicit_chance":false}', "explicit_chance"),
        ('{"explicit_chance":false,"explicitChance":true}', "explicit_chance"),
        ('{"include":{"x":1,"x":1}}', "include"),
        ('{"x":{"a":1,"a":1}}', ""),
    ],
)
def test_no_field_has_two_values(text: str, path: str) -> None:
    assert refusal(pb.NewGameRequest, text).field == path


def test_fields_of_later_versions_are_ignored() -> None:
    unknown = '"later":[{"a":[1.5,null]}],"later2":{"b":{}}'
    for kind in REQUESTS.values():
        for path in inside(kind):
            assert read(kind, placed(path, f"{{{unknown}}}")) == read(kind, placed(path, "{}"))


def test_fields_of_later_versions_are_ignored_in_every_protocol(web: WebClient) -> None:
    text = b'{"games":["discat"],"later":1}'
    path = GAME_SERVICE + "ListGames"
    answers = [
        web.http.post(path, content=text, headers={"content-type": "application/json"}),
        web.http.get(path, params={"encoding": "json", "message": text.decode()}),
        web.http.post(path, content=envelope(text), headers={"content-type": "application/grpc-web+json"}),
    ]
    assert all(answer.status_code == 200 and b'"discat"' in answer.content for answer in answers)
    watch = {"content-type": "application/connect+json"}
    content = envelope(b'{"service":"chatiere.v1.GameService","later":1}')
    with web.http.stream("POST", "/grpc.health.v1.Health/Watch", content=content, headers=watch) as answer:
        assert b"SERVING" in next(answer.iter_raw())


def test_unknown_values_of_enums_are_refused() -> None:
    """If they were ignored, requests would have another meaning, because a list would be shorter."""
    for value in ('"DISCAT_PHASE_LATER"', "99", "-1"):
        found = refusal(pb.ApplyRequest, f'{{"state":{{"discat":{{"phase":{value}}}}}}}')
        assert found.field == "state.discat.phase"
    for value in ('"DISCAT_PHASE_PLAY"', "1"):
        assert read(pb.ApplyRequest, f'{{"state":{{"discat":{{"phase":{value}}}}}}}').state.discat.phase


# Values of a wrong type, and what errors call them.
NAMES = {"true": "true", "4.5": "4.5", '"+"': "'+'", "[]": "a list", "{}": "an object"}
WRONG = {
    FieldDescriptor.CPPTYPE_BOOL: ("4.5", '"+"', "[]", "{}"),
    FieldDescriptor.CPPTYPE_MESSAGE: ("true", "4.5", '"+"', "[]"),
    FieldDescriptor.CPPTYPE_STRING: ("true", "4.5", "[]", "{}"),
}


def test_values_of_a_wrong_type_are_refused_with_their_path() -> None:
    """The value is tried in every field of every request, by itself or as the second element of a list."""
    fields = {
        field: (kind, path)
        for kind in REQUESTS.values()
        for path in inside(kind)
        for field in end_of(kind, path).fields
    }
    assert len(fields) > 200
    for field, (kind, path) in fields.items():
        values = WRONG.get(field.cpp_type, tuple(NAMES))
        for value in (*values, "null") if field.is_repeated else values:
            text = f"[{value_of(field)},{value}]" if field.is_repeated else value
            found = refusal(kind, placed(path, f'{{"{field.json_name}":{text}}}'))
            assert found.field == written(path, field.name) + ("[1]" if field.is_repeated else "")
            assert NAMES.get(value, value) in found.message
        if field.is_repeated:
            found = refusal(kind, placed(path, f'{{"{field.json_name}":0}}'))
            assert (found.field, found.message) == (written(path, field.name), "0 is not a list")


@pytest.mark.parametrize(
    ("text", "path", "message"),
    [
        ('{"players":-1}', "players", "-1 is not an integer from 0 to 4294967295"),
        ('{"players":5e9}', "players", "5000000000.0 is not an integer from 0 to 4294967295"),
        ('{"seed":"18446744073709551616"}', "seed", f"'{2**64}' is not an integer from 0 to {2**64 - 1}"),
        (f'{{"seed":"{"1" * 5000}"}}', "seed", f"a string is not an integer from 0 to {2**64 - 1}"),
        ('{"game":"\\ud800"}', "game", "the string has half of a surrogate pair"),
    ],
)
def test_values_out_of_range_are_refused_with_their_path(text: str, path: str, message: str) -> None:
    found = refusal(pb.NewGameRequest, text)
    assert (found.field, found.message) == (path, message)


def test_malformed_bytes_and_durations_are_refused() -> None:
    for text, path, word in (
        ('{"seats":[{"secretSha256":"=A"}]}', "seats[0].secret_sha256", "base64"),
        ('{"lifetime":"3"}', "lifetime", "a number of seconds"),
    ):
        found = refusal(table_service_pb2.NewTableRequest, text)
        assert found.field == path
        assert word in found.message


WRITTEN = ["{}", '"{}"', "{}.0", '"{}.0"', "{}.00", "{}e0", '"{}E0"', "{}.0e+0"]


@given(st.integers(0, 2**64 - 1) | st.integers(2**53 - 9, 2**53 + 9), st.sampled_from(WRITTEN))
@example(9007199254740993, "{}.0")
@example(2**64 - 1, "{}.0")
def test_integers_are_exact_or_refused(number: int, form: str) -> None:
    text = f'{{"seed":{form.format(number)}}}'
    try:
        assert read(pb.NewGameRequest, text).seed == number
    except Refusal as refused:
        assert refused.field == "seed"
        assert float(number) != number
        assert form not in WRITTEN[:2]


@pytest.mark.parametrize(
    "value",
    [
        '"1_000"',
        '"١٢"',
        '"+1"',
        '"01"',
        '" 1"',
        '"1\\n"',
        '""',
        '"0x10"',
        '"1."',
        '".5"',
        '"NaN"',
        '"Infinity"',
        "9007199254740992.5",
        "1.00000000000000000001",
        "1e-400",
        "1e400",
        "1e99999999999999999999",
        '"1e99999999999999999999"',
    ],
)
def test_other_numbers_are_refused(value: str) -> None:
    assert refusal(pb.NewGameRequest, f'{{"seed":{value}}}').field == "seed"
    found = refusal(pb.NewGameRequest, f'{{"include":{{"viewers":[1,{value}]}}}}')
    assert found.field == "include.viewers[1]"


def test_the_field_and_the_reason_are_in_the_response(web: WebClient) -> None:
    body = b'{"action":{"discat":{"keep":{},"play":{"cards":[15]}}}}'
    answer = web.http.post(GAME_SERVICE + "Apply", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 400
    assert answer.json()["message"] == "action.discat.keep: play and keep cannot both be set"
    details = {each["type"]: each["debug"] for each in answer.json()["details"]}
    violations = details["google.rpc.BadRequest"]["fieldViolations"]
    assert [each["field"] for each in violations] == ["action.discat.keep"]


@pytest.mark.parametrize("text", ['{"players":2}x', '\ufeff{"players":2}', '{"seed":NaN}', "{,}"])
def test_invalid_json_is_refused(text: str) -> None:
    refusal(pb.NewGameRequest, text)
    refusal(pb.NewGameRequest, f'{{"later":{text}}}')


def test_a_lone_surrogate_is_refused() -> None:
    refusal(pb.NewGameRequest, '{"game":"\\ud800"}')


def test_other_encodings_are_refused() -> None:
    form = JsonForm("chatiere.v1.NewGameRequest", "chatiere.v1.NewGameResponse")
    for encoding in ("utf-16", "utf-16-le", "utf-32", "utf-8-sig"):
        with pytest.raises(Refusal):
            form.read('{"players":2}'.encode(encoding))


def test_many_fields_are_refused_before_they_are_read() -> None:
    text = "{" + ",".join(f'"{number}":0' for number in range(30_000)) + "}"
    assert "at most" in refusal(pb.NewGameRequest, text).message


def test_no_request_has_a_map() -> None:
    """The checks do not support maps."""
    for kind in REQUESTS.values():
        for path in inside(kind):
            for field in end_of(kind, path).fields:
                assert not (field.message_type and field.message_type.GetOptions().map_entry)
