"""A third language needs only catalogues: all games are played at a service in an invented language."""

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from google.protobuf.message import Message
from google.rpc.error_details_pb2 import LocalizedMessage
from grpc_status import rpc_status
from tools.third_language import LANGUAGE, english_in, package_with_language, translated

from chatiere.engine import Game
from chatiere.v1 import game_pb2
from chatiere.v1 import game_service_pb2 as pb
from chatiere.v1.bot_service_pb2 import ListBotsRequest

from .support import game_stub
from .test_service_bots import bot_stub

ASKING = (("accept-language", LANGUAGE),)
SERVER = """
import sys
from prometheus_client import CollectorRegistry
from chatiere.service.ports.server import create_server
from chatiere.service.base.settings import Settings

server, port = create_server(Settings(address="127.0.0.1:0"), CollectorRegistry())
server.start()
print(port, flush=True)
sys.stdin.read()
server.stop(grace=None).wait()
"""
# Fields whose texts are not for players.
NOT_WORDS = {
    "ActionKindInfo.name",
    "BotInfo.name",
    "BotParameterInfo.name",
    "GameInfo.language",
    "GameInfo.name",
    "LadderRung.bot",
    "LadderRung.name",
    "ObservationFieldInfo.name",
    "ObservationPartInfo.name",
    "OptionInfo.index_kind",
    "OptionInfo.name",
    "OptionInfo.piece_kind",
    "Phrase.key",
    "PhraseArgument.name",
    "PhraseArgumentInfo.kind",
    "PhraseArgumentInfo.name",
    "PhraseForm.category",
    "PhraseInfo.key",
    "PhraseInfo.plural_argument",
    "PieceFieldInfo.field",
    "PieceFieldInfo.kind",
    "PieceInfo.kind",
}


def words_in(message: Message) -> Iterator[tuple[str, str]]:
    """Yield the texts for players in a message and in all messages that it contains, each with its field's name."""
    for field, value in message.ListFields():
        name = f"{message.DESCRIPTOR.name}.{field.name}"
        for each in value if isinstance(value, list) or hasattr(value, "append") else [value]:
            if isinstance(each, Message):
                yield from words_in(each)
            elif isinstance(each, str) and name not in NOT_WORDS:
                yield name, each


def check(game: Game, message: Message) -> int:
    """Assert that all texts of a message are in the invented language. Return their number."""
    found = list(words_in(message))
    assert {(name, text) for name, text in found if english_in(game.name, text)} == set()
    return len(found)


@pytest.fixture(scope="module")
def channel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[grpc.Channel]:
    """Run a service that has the invented language's catalogues in addition to its own ones."""
    environment = os.environ | {"PYTHONPATH": str(package_with_language(tmp_path_factory.mktemp("third")))}
    with subprocess.Popen(
        [sys.executable, "-c", SERVER], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        port = server.stdout.readline().strip()
        assert port, "the service did not start"
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            yield channel


@pytest.fixture
def stub(channel: grpc.Channel) -> Any:
    """Return a stub of GameService."""
    return game_stub(channel)


def test_descriptions_are_in_the_language(stub: Any, game: Game) -> None:
    request = pb.ListGamesRequest(games=[game.name], pieces=True, observation=True, phrases=True)
    response, call = stub.ListGames.with_call(request, metadata=ASKING)
    assert ("content-language", LANGUAGE) in call.initial_metadata()
    assert check(game, response) > 100
    (info,) = response.games
    assert info.title == translated(game.description.title)


def test_bots_are_in_the_language(channel: grpc.Channel, game: Game) -> None:
    assert check(game, bot_stub(channel).ListBots(ListBotsRequest(game=game.name), metadata=ASKING)) > 5


@pytest.mark.parametrize("is_explicit", [False, True], ids=["sampled", "explicit"])
def test_games_are_in_the_language(stub: Any, game: Game, is_explicit: bool) -> None:
    choices = random.Random(3)
    players = game.max_players
    include = game_pb2.Include(legal_actions=True, viewers=range(players), spectator=True)
    seed = None if is_explicit else 5
    request = pb.NewGameRequest(
        game=game.name, players=players, seed=seed, explicit_chance=is_explicit, include=include
    )
    position = stub.NewGame(request, metadata=ASKING).position
    refused = 0
    while position.turn.kind != game_pb2.TURN_KIND_OVER:
        assert check(game, position)
        apply = pb.ApplyRequest(state=position.state, include=include)
        if position.chance_outcomes:
            apply.outcome = choices.choice(position.chance_outcomes).outcome
        else:
            apply.action.id = choices.randrange(game.num_distinct_actions)
            refused += check_refusal(stub, game, apply)
            apply.action.id = choices.choice(position.legal_actions).id
        position = stub.Apply(apply, metadata=ASKING).position
    assert position.end.label
    assert check(game, position)
    assert refused


def check_refusal(stub: Any, game: Game, request: pb.ApplyRequest) -> bool:
    """Try an action. Assert that its refusal is in the invented language. Return False if the action was legal."""
    try:
        stub.Apply(request, metadata=ASKING)
    except grpc.RpcError as error:
        status = rpc_status.from_call(error)
        message = LocalizedMessage()
        assert any(detail.Unpack(message) for detail in status.details)
        assert message.locale == LANGUAGE
        assert message.message
        assert not english_in(game.name, message.message)
        return True
    return False


def test_existing_languages_remain(stub: Any) -> None:
    request = pb.ListGamesRequest(games=["chatpentiers"])
    for language, title in (("fr", "Chatpentiers"), ("en", "CATsle Builders"), ("de", "CATsle Builders")):
        assert stub.ListGames(request, metadata=(("accept-language", language),)).games[0].title == title
