"""Requests read from bytes. Every encoding of a request has the same result, and other bytes raise DecodeError."""

import random
import secrets
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from google.protobuf.message import DecodeError, Message
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry
from tools.fuzz.wire import damaged

from chatiere import engine
from chatiere.engine import EngineError, Game
from chatiere.engine.core.cancellation import Cancellation
from chatiere.service.base.errors import Refusal
from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import Settings
from chatiere.service.calls import game_service, requests
from chatiere.service.calls.replay_service import ReplayService
from chatiere.v1 import game_service_pb2 as pb

from .encodings import odd, shuffled
from .samples import KINDS, request

REPLAYS = ReplayService(Settings(), Metrics(CollectorRegistry()))


def replay(data: bytes) -> bytes:
    """Replay a record: ReplayRequest → ReplayResponse."""
    return b"".join(REPLAYS.replay(data, Cancellation(), lambda size: None))


HANDLERS: dict[type[Message], Callable[[bytes], Any]] = {
    pb.ListGamesRequest: partial(game_service.list_games, settings=Settings()),
    pb.NewGameRequest: partial(game_service.new_game, settings=Settings()),
    pb.ListLegalActionsRequest: game_service.list_legal_actions,
    pb.ApplyRequest: game_service.apply,
    pb.GetPositionRequest: game_service.get_position,
    pb.GetScoreRequest: game_service.get_score,
    pb.GetRulesRequest: game_service.get_rules,
    pb.GetViewRequest: game_service.get_view,
    pb.ResampleRequest: game_service.resample,
    pb.ReplayRequest: replay,
}
GAMES = st.sampled_from(engine.games())
CHOICES = st.builds(random.Random, st.integers(0, 2**32 - 1))
kinds = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


def outcome(kind: type[Message], data: bytes) -> object:
    """Return the handler's response, all fields of its error, or DecodeError if the bytes are not a message."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(secrets, "randbits", lambda bits: 2**bits - 5)
        try:
            return HANDLERS[kind](data)
        except DecodeError:
            return DecodeError
        except (EngineError, Refusal) as error:
            return error.reason, error.message, error.field, error.rule, error.metadata


def check(kind: type[Message], data: bytes) -> None:
    """Assert that a request's bytes have the same result as protobuf's own encoding of the request."""
    try:
        message: Any = kind.FromString(data)
    except DecodeError:
        assert outcome(kind, data) is DecodeError
        return
    expected = outcome(kind, message.SerializeToString())
    assert expected is not DecodeError
    assert outcome(kind, data) == expected
    message.DiscardUnknownFields()
    assert outcome(kind, message.SerializeToString()) == expected


@kinds
@settings(max_examples=100, deadline=None)
@given(GAMES, CHOICES)
def test_requests_in_protobufs_encoding_are_read_without_its_objects(
    kind: type[Message], game: Game, choices: random.Random
) -> None:
    class NoObjects:
        DESCRIPTOR = kind.DESCRIPTOR

    sent = request(kind, game, choices)
    data = sent.SerializeToString()
    # Only requests that are not plain are parsed into objects. Such parsing would fail here.
    reader = requests.Opener(NoObjects).open(data)  # type: ignore[type-var]
    for field in kind.DESCRIPTOR.fields:
        if field.message_type is not None:
            assert (reader.find(field.number) is not None) == sent.HasField(field.name)
            assert bool(reader.inner(field.number)) == bool(getattr(sent, field.name).ByteSize())
        elif field.is_repeated:
            # Requests with lists of texts are not plain. Only ListGames and records with names have them. Their parsing
            # time does not matter, because the responses of ListGames are cached and a replay takes longer.
            assert field.type == field.TYPE_STRING
        elif field.type == field.TYPE_STRING:
            assert reader.text(field.number) == getattr(sent, field.name)
        else:
            assert reader.number(field.number) == getattr(sent, field.name)
            if field.has_presence:
                assert reader.has_number(field.number) == sent.HasField(field.name)


@kinds
@settings(max_examples=100, deadline=None)
@given(GAMES, CHOICES)
def test_the_order_of_fields_has_no_meaning(kind: type[Message], game: Game, choices: random.Random) -> None:
    data = request(kind, game, choices).SerializeToString()
    assert outcome(kind, shuffled(data, kind.DESCRIPTOR, choices)) == outcome(kind, data)


@kinds
@settings(max_examples=300, deadline=None)
@given(GAMES, CHOICES)
def test_unusual_encodings_are_read_as_by_protobuf(kind: type[Message], game: Game, choices: random.Random) -> None:
    check(kind, odd(request(kind, game, choices).SerializeToString(), kind.DESCRIPTOR, choices))


@kinds
@settings(max_examples=200, deadline=None)
@given(GAMES, CHOICES)
def test_damaged_requests_are_read_as_by_protobuf(kind: type[Message], game: Game, choices: random.Random) -> None:
    check(kind, damaged(request(kind, game, choices).SerializeToString(), choices))


@kinds
@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=40))
def test_random_bytes_are_read_as_by_protobuf(kind: type[Message], data: bytes) -> None:
    check(kind, data)
