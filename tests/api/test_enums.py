"""Enums do not use the value zero: proto3 does not send zero, so it could not be distinguished from absence."""

import random
from collections.abc import Iterator

import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.message import Message
from tools.over import over_games

from chatiere import engine
from chatiere.engine import EventLog, Game
from chatiere.engine.core.game_info import observation_info, pieces_info
from chatiere.engine.core.messages import Messages
from chatiere.engine.wire import Reader, fill
from chatiere.v1 import game_pb2

from .descriptors import api_files


@pytest.mark.parametrize("file", api_files(), ids=lambda file: file.name)
def test_the_zeros_are_documented_as_never_sent(file: FileDescriptorProto) -> None:
    comments = {tuple(place.path): place.leading_comments.strip() for place in file.source_code_info.location}
    for number, enum in enumerate(file.enum_type):
        zero = file.DESCRIPTOR.fields_by_name["enum_type"].number, number, 2, 0
        assert (enum.value[0].name.rpartition("_")[2], comments[zero]) == ("UNSPECIFIED", "Never sent."), enum.name
    assert not [comment for comment in comments.values() if "UNSPECIFIED" in comment]


def zeros(message: Message) -> Iterator[str]:
    """Yield the enum fields with the value zero at any depth of a message, whether or not they are sent."""
    for field in message.DESCRIPTOR.fields:
        values = getattr(message, field.name)
        if field.type == FieldDescriptor.TYPE_ENUM and not (field.has_presence and not message.HasField(field.name)):
            if 0 in (values if field.is_repeated else [values]):
                yield field.full_name
        elif field.type == FieldDescriptor.TYPE_MESSAGE and (field.is_repeated or message.HasField(field.name)):
            for inner in values if field.is_repeated else [values]:
                yield from zeros(inner)


@over_games
def test_no_response_has_an_enum_at_its_zero(game: Game) -> None:
    messages = Messages(game, engine.codec(game.name), game_pb2.State.DESCRIPTOR.fields_by_name[game.name].number)
    choices = random.Random(game.name)
    for players in range(game.min_players, game.max_players + 1):
        wanted = game_pb2.Include(legal_actions=True, score=True, viewers=range(players), spectator=True)
        position = game.new_game(players)
        events = EventLog()
        while True:
            shown = fill(game_pb2.Position(), messages.put_position, position, events, Reader(wanted))
            assert set(zeros(shown)) == set()
            if position.is_terminal():
                break
            events = EventLog()
            moves = position.legal_actions() or [outcome for outcome, _ in position.chance_outcomes()]
            position.apply(choices.choice(moves), events)
    info = game_pb2.GameInfo(**pieces_info(game), **observation_info(game))
    assert set(zeros(info)) == set()
