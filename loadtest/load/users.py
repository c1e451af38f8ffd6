"""The users that load the service: a frontend, a spectator, a learner and a client that misbehaves.

Users compare responses with the rules in process: a wrong response is a failure of type "check".
"""

import random
import socket
import struct
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, ClassVar

import grpc
import numpy as np
from locust import User, between, constant, task
from locust.env import Environment
from locust.exception import StopUser

from chatiere import engine
from chatiere.clients import ChatiereError, Client
from chatiere.v1 import batch_service_pb2 as batch
from chatiere.v1 import batch_service_pb2_grpc, game_service_pb2
from chatiere.v1.game_pb2 import Action, Include, Position, State
from loadtest.load.deployment import Deployment
from loadtest.load.measured import MeasuredCalls, WrongAnswer, report

# The source of the users' seeds. A run is reproducible only if its users start in the same order.
_SEEDS = random.Random(20240)


class GameChoice:
    """A base class of users, each of which makes random choices with its own seed."""

    deployment = Deployment.of_environment()
    metadata = deployment.metadata()

    def __init__(self, environment: Environment) -> None:
        """See locust.User."""
        super().__init__(environment)  # type: ignore[call-arg]
        self.random = random.Random(_SEEDS.getrandbits(64))

    def any_game(self) -> tuple[str, int]:
        """Choose a game and a number of players."""
        game = self.random.choice(self.deployment.played())
        return game.name, self.random.randint(game.min_players, game.max_players)


class ServiceUser(GameChoice, User):
    """A user with a separate channel. The calls over this channel are measured."""

    abstract = True

    def on_start(self) -> None:
        """Connect."""
        self.calls = MeasuredCalls(self)
        self.plain_channel = self.deployment.open_channel(self.address())
        self.channel = grpc.intercept_channel(self.plain_channel, self.calls)
        self.client = Client(self.channel, timeout=30, token=self.deployment.token)

    def on_stop(self) -> None:
        """Disconnect."""
        self.plain_channel.close()

    def address(self) -> str:
        """Return HOST:PORT of the service: Locust's --host, with or without a scheme."""
        return (self.host or "127.0.0.1:50051").rpartition("//")[2]

    def check(self, what: str, right: bool) -> None:
        """Report a check. It fails unless `right` is true."""
        report(self, "check", what, start=time.perf_counter(), error=None if right else WrongAnswer(what))


class FrontendUser(ServiceUser):
    """A person who plays games at human pace, with a typed call for each random legal move."""

    wait_time = between(0.5, 2.0)

    def on_start(self) -> None:
        """Connect, and list the games, as a frontend does when it starts."""
        super().on_start()
        listed = [game.name for game in self.client.list_games()]
        self.check("all games are listed", listed == [game.name for game in engine.games()])
        self.begin()

    def begin(self) -> None:
        """Start a game at the service, and the same game in process for comparison."""
        name, players = self.any_game()
        seed = self.random.getrandbits(64)
        self.include = Include(legal_actions=True, score=True, viewers=range(players))
        self.position = self.client.new_game(name, players, seed=seed, include=self.include)
        self.mirror = engine.game(name).new_game(players, seed=seed)

    @task
    def move(self) -> None:
        """Make a move. Start another game when one ends."""
        if not self.position.legal_actions:
            self.begin()
            return
        action = self.choose()
        self.position = self.client.apply(self.position.state, action, include=self.include)
        self.mirror.apply(action.id)
        self.check("a move leads to the position that the rules require", agree(self.position, self.mirror))

    def choose(self) -> Action:
        """Return a random legal action."""
        return self.random.choice(self.position.legal_actions)


def agree(position: Position, mirror: engine.Position) -> bool:
    """Return True if the service's position has the same seat to act, legal actions and totals as `mirror`."""
    seat = position.turn.seat if position.turn.HasField("seat") else engine.TERMINAL_PLAYER
    return (
        seat == mirror.current_player()
        and [action.id for action in position.legal_actions] == mirror.legal_actions()
        and list(position.score.totals) == mirror.totals()
    )


class SpectatorUser(ServiceUser):
    """A spectator, who requests views."""

    wait_time = between(0.5, 2.0)

    def on_start(self) -> None:
        """Connect, and start a game to look at."""
        super().on_start()
        name, players = self.any_game()
        self.state = self.client.new_game(name, players, seed=self.random.getrandbits(64)).state

    @task
    def look(self) -> None:
        """Get the spectator's view. Check that a seat's view does not depend on hidden information."""
        view = self.client.get_view(self.state)
        resampled = self.client.resample(self.state, 0)
        seen = self.client.get_view(resampled, 0)
        self.check("a seat cannot distinguish a resampled state", seen == self.client.get_view(self.state, 0))
        self.check("a spectator has no seat", not view.HasField("seat"))


class LearnerUser(ServiceUser):
    """A learner that makes random legal moves in batches as fast as possible. Finished games are restarted."""

    wait_time = constant(0)
    batch_size: ClassVar[int] = 1024

    def on_start(self) -> None:
        """Connect and start a batch."""
        super().on_start()
        self.stub = batch_service_pb2_grpc.BatchServiceStub(self.channel)
        name, players = self.any_game()
        self.table = batch.BatchSetup(game=name, players=players)
        self.columns = batch.Columns(legal=True)
        self.chooser = np.random.default_rng(self.random.getrandbits(64))
        self.seed = self.random.getrandbits(63)
        seeds = np.full(self.batch_size, self.seed, "<u8").tobytes()
        numbers = np.arange(self.batch_size, dtype="<u8").tobytes()
        request = batch.NewGamesRequest(setup=self.table, seeds=seeds, game_numbers=numbers, columns=self.columns)
        self.positions = self.stub.NewGames(request, timeout=60, metadata=self.metadata).positions
        self.mirror: engine.Position | None = engine.game(name).new_game(players, seed=self.seed)

    @task
    def step(self) -> None:
        """Make a move in every game, and follow the first game in process until it ends."""
        offsets = np.frombuffer(self.positions.legal_offsets, "<u4")
        legal = np.frombuffer(self.positions.legal_ids, "<u2")
        counts = np.diff(offsets)
        moves = legal[offsets[:-1] + (self.chooser.random(len(counts)) * counts).astype("<u4")]
        request = batch.StepRequest(
            setup=self.table,
            states=self.positions.states,
            moves=moves.tobytes(),
            columns=self.columns,
            restart=batch.Restart(stride=self.batch_size),
        )
        response = self.stub.Step(request, timeout=60, metadata=self.metadata)
        self.positions = response.positions
        if self.mirror is not None:
            self.mirror.apply(int(moves[0]))
            over = self.mirror.is_terminal()
            right = bool(self.positions.final[0]) == over and (
                over or self.positions.states[: len(self.mirror.pack())] == self.mirror.pack()
            )
            self.check("a batch leads to the positions that the rules require", right and not response.faults.reasons)
            if over:
                self.mirror = None


class MisbehavingUser(ServiceUser):
    """A client that breaks every rule. It must be refused with the right status, and must not affect other clients."""

    wait_time = between(0.0, 0.1)

    def on_start(self) -> None:
        """Connect, and get a state to corrupt."""
        super().on_start()
        name, players = self.any_game()
        self.include = Include(legal_actions=True)
        self.state = self.client.new_game(name, players, seed=self.random.getrandbits(64)).state

    def refused(self, code: grpc.StatusCode, call: Callable[..., Any], *arguments: Any, **named: Any) -> None:
        """Make a call that must be refused with a status."""
        with self.calls.expecting(code), suppress(ChatiereError, grpc.RpcError):
            call(*arguments, **named)

    def raw(self, method: str) -> Any:
        """Return a function that calls a method with a request given as bytes."""
        sending: Any = self.channel.unary_unary(
            f"/{game_service_pb2.DESCRIPTOR.services_by_name['GameService'].full_name}/{method}",
            response_deserializer=game_service_pb2.ApplyResponse.FromString,
        )
        return partial(sending, metadata=self.metadata)

    @task(5)
    def illegal_move(self) -> None:
        """Apply an action that does not exist in any game."""
        self.refused(grpc.StatusCode.INVALID_ARGUMENT, self.client.apply, self.state, 65_000)

    @task(5)
    def broken_state(self) -> None:
        """Apply an action to a state without required fields."""
        state = State()
        state.CopyFrom(self.state)
        inner = getattr(state, state.WhichOneof("game"))
        kept = self.random.choice([field.name for field, _ in inner.ListFields()])
        for field, _ in inner.ListFields():
            if field.name != kept:
                inner.ClearField(field.name)
        self.refused(grpc.StatusCode.INVALID_ARGUMENT, self.client.apply, state, Action(id=0))

    @task(3)
    def not_a_message(self) -> None:
        """Send bytes that are not a message."""
        self.refused(
            grpc.StatusCode.INVALID_ARGUMENT,
            self.raw("Apply"),
            b"\xff" * self.random.randint(1, 2000),
            metadata=self.metadata,
        )

    @task(1)
    def huge_message(self) -> None:
        """Send a message that exceeds every limit."""
        self.refused(
            grpc.StatusCode.RESOURCE_EXHAUSTED,
            self.raw("Apply"),
            bytes(100_000_000),
            timeout=30,
            metadata=self.metadata,
        )

    @task(2)
    def unknown_method(self) -> None:
        """Call an unknown method."""
        self.refused(grpc.StatusCode.UNIMPLEMENTED, self.raw("Teleport"), b"")

    @task(1)
    def half_open_connection(self) -> None:
        """Open and abandon a connection, usually after a part of the HTTP/2 preface."""
        host, _, port = self.address().rpartition(":")
        start = time.perf_counter()
        opened = socket.create_connection((host.strip("[]"), int(port)), timeout=10)
        opened.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[: self.random.randint(0, 24)])
        if self.random.random() < 0.5:
            # Reset the connection instead of closing it.
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        opened.close()
        report(self, "connection", "half open", start=start)

    @task(1)
    def slow_reader(self) -> None:
        """Open a stream whose responses are never read."""
        stub = batch_service_pb2_grpc.BatchServiceStub(self.plain_channel)
        name = self.state.WhichOneof("game")
        game = engine.game(name)
        table = batch.BatchSetup(game=name, players=game.min_players)
        request = batch.PlayRequest(
            new_games=batch.NewGamesRequest(setup=table, count=1024, columns=batch.Columns(observations=True))
        )
        start = time.perf_counter()
        call = stub.Play(iter([request] * 16), metadata=self.metadata)
        next(call)
        call.cancel()
        report(self, "stream", "Play, never read", start=start)

    @task(5)
    def ordinary_call(self) -> None:
        """Make a valid call. It must succeed."""
        actions = self.client.list_legal_actions(self.state).legal_actions
        if not actions:
            raise StopUser
        self.client.apply(self.state, self.random.choice(actions), include=self.include)
