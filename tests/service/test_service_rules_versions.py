"""Servers of two releases exchange states. The second release plays another, newer version of a game's rules."""

import random
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import pytest
from google.protobuf.message import Message
from prometheus_client import CollectorRegistry
from tables.support import Host, begun
from tools.over import each
from tools.rules_versions import playing

from chatiere import engine
from chatiere.engine import EngineError, Game, Reason
from chatiere.engine.core.cancellation import Cancellation
from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import SettingError, Settings
from chatiere.service.calls.batch_service import BatchService
from chatiere.service.calls.game_service import GameService
from chatiere.service.calls.replay_service import ReplayService
from chatiere.service.tables.keys import Keyring
from chatiere.v1 import batch_service_pb2, game_pb2, game_service_pb2
from chatiere.v1.record_pb2 import GameRecord

GAMES = {game.name: game for game in engine.games()}
METRICS = Metrics(CollectorRegistry())
KEYS = Keyring(None)
LEGAL = game_pb2.Include(legal_actions=True)
DECISION = game_pb2.TURN_KIND_DECISION


class Server:
    """The services of a server. `release` makes the engine play the versions of that server's release."""

    def __init__(self, settings: Settings, release: Callable[[], AbstractContextManager[None]] = nullcontext) -> None:
        self.release = release
        self._games, self._batches = GameService(settings, METRICS), BatchService(settings, METRICS)
        self._replays = ReplayService(settings, METRICS)
        self.tables = Host(KEYS, settings)

    def call(self, method: str, request: Message) -> Any:
        data = request.SerializeToString()
        with self.release():
            if method == "Replay":
                response = b"".join(self._replays.replay(data, Cancellation(), lambda size: None))
            elif method in ("NewGames", "Step"):
                name = {"NewGames": "new_games", "Step": "step"}[method]
                response = b"".join(self._batches.answer(name, data, Cancellation()))
            else:
                response = self._games.methods[method](data)
        package = batch_service_pb2 if method in ("NewGames", "Step") else game_service_pb2
        return getattr(package, f"{method}Response").FromString(response)

    def new_game(self, game: Game, seed: int) -> game_pb2.Position:
        request = game_service_pb2.NewGameRequest(game=game.name, players=game.min_players, seed=seed, include=LEGAL)
        found: game_pb2.Position = self.call("NewGame", request).position
        return found

    def apply(self, state: game_pb2.State, action: int) -> game_pb2.Position:
        request = game_service_pb2.ApplyRequest(state=state, action=game_pb2.Action(id=action), include=LEGAL)
        found: game_pb2.Position = self.call("Apply", request).position
        return found


@pytest.fixture(params=each("game", GAMES), ids=str)
def game(request: pytest.FixtureRequest) -> Iterator[Game]:
    """Return a game. Servers of the new release play one more version of its rules than servers of the old release."""
    game = GAMES[request.param]
    with playing(game, game.rules_version, game.rules_version + 1):
        yield game


@pytest.fixture
def old(game: Game) -> Server:
    version = game.rules_versions[0]
    return Server(Settings(), lambda: playing(game, version, version))


@pytest.fixture
def updating(game: Game) -> Server:
    """Return a server of the new release whose setting names the old version."""
    return Server(Settings(rules_versions=(f"{game.name}={game.rules_versions[0]}",)))


@pytest.fixture
def new(game: Game) -> Server:
    return Server(Settings())


def played(
    servers: list[Server], position: game_pb2.Position, choose: random.Random
) -> tuple[game_pb2.Position, list[int]]:
    """Play to the end at random, with each server in turn. Return the last position and the actions."""
    actions, version = [], position.state.rules_version
    while position.turn.kind == DECISION:
        assert position.state.rules_version == version
        actions.append(choose.choice(position.legal_actions).id)
        position = servers[len(actions) % len(servers)].apply(position.state, actions[-1])
    return position, actions


def test_old_and_new_servers_exchange_states(game: Game, old: Server, updating: Server, new: Server) -> None:
    before, after = game.rules_versions
    for seed in range(3):
        ends = [
            played(servers, servers[0].new_game(game, seed), random.Random(seed))
            for servers in ([old], [updating], [old, updating], [updating, old])
        ]
        assert all(end == ends[0] for end in ends)
        position, actions = ends[0]
        assert position.state.rules_version == before
        record = GameRecord(game=game.name, rules_version=before, players=game.min_players, actions=actions)
        record.stream.seed = seed
        replay = game_service_pb2.ReplayRequest(record=record, from_ply=len(actions))
        for server in old, updating, new:
            assert server.call("Replay", replay).positions[0].state == position.state
    # Without the setting, new games use the new version, and old games continue.
    assert new.new_game(game, 0).state.rules_version == after
    ends = [played([server], old.new_game(game, 0), random.Random(0)) for server in (old, new)]
    assert ends[0] == ends[1]
    with pytest.raises(EngineError) as refused:
        old.call("GetPosition", game_service_pb2.GetPositionRequest(state=new.new_game(game, 0).state))
    assert (refused.value.reason, refused.value.field) == (Reason.UNSUPPORTED_RULES_VERSION, "state.rules_version")
    assert refused.value.metadata == {"game": game.name, "supported": str(before)}


def test_list_games_has_the_versions(game: Game, old: Server, updating: Server, new: Server) -> None:
    before, after = game.rules_versions
    for server, begins, plays in (
        (old, before, [before]),
        (updating, before, [before, after]),
        (new, after, [before, after]),
    ):
        (info,) = server.call("ListGames", game_service_pb2.ListGamesRequest(games=[game.name])).games
        assert (info.rules_version, list(info.rules_versions)) == (begins, plays)


def test_batches_begin_and_restart_games_of_the_version_that_is_set(game: Game, updating: Server, new: Server) -> None:
    before, after = game.rules_versions
    setup = batch_service_pb2.BatchSetup(game=game.name, players=game.min_players)
    columns = batch_service_pb2.Columns(legal=True)
    request = batch_service_pb2.NewGamesRequest(setup=setup, seeds=bytes(8), columns=columns)
    restart = batch_service_pb2.Restart(stride=1)
    for server, other, version in (updating, new, before), (new, updating, after):
        found = server.call("NewGames", request).positions
        assert found.states[1] == version
        while True:
            moves = found.legal_ids[:2]
            step = batch_service_pb2.StepRequest(
                setup=setup, states=found.states, moves=moves, columns=columns, restart=restart
            )
            found = other.call("Step", step).positions
            if np.frombuffer(found.final, "u1")[0]:
                break
            assert found.states[1] == version
        assert found.states[1] == before + after - version


def test_sealed_tables_continue_under_their_version(game: Game, old: Server, updating: Server, new: Server) -> None:
    choose, chain = random.Random(2), []
    for begins, version, servers in (
        (updating, game.rules_versions[0], [old, updating, new]),
        (new, game.rules_version, [new]),
    ):
        table, secrets = begun(begins.tables, game)
        assert begins.tables.open(table).header.rules_version == version
        chain = [table]
        while True:
            server = servers[len(chain) % len(servers)]
            with server.release():
                update = server.tables.look(table)
                assert update.view.rules_version == version
                if update.view.turn.kind != DECISION:
                    break
                secret = secrets[update.view.turn.seat]
                legal = server.tables.look(table, secret).legal_actions
                table = server.tables.move(table, secret, choose.choice(legal).id).table
            chain.append(table)
        for server in servers:
            with server.release():
                assert server.tables.get_record(chain).record.rules_version == version
    with old.release(), pytest.raises(EngineError) as refused:
        old.tables.look(chain[0])
    assert (refused.value.reason, refused.value.field) == (Reason.UNSUPPORTED_RULES_VERSION, "table")


@pytest.mark.parametrize(
    ("named", "words"),
    [
        (("discat=9",), "unsupported version '9' of discat; supported: 1"),
        (("discat",), "unsupported version '' of discat"),
        (("cat=1",), "must be GAME=VERSION, not 'cat=1'"),
        (("discat=1", "discat=1"), "discat is named twice"),
    ],
)
def test_a_version_that_cannot_be_played_stops_the_start(named: tuple[str, ...], words: str) -> None:
    with pytest.raises(SettingError, match=f"^rules_versions: .*{words}"):
        Settings(rules_versions=named)
