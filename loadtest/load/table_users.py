"""Users of sealed tables, rooms and bots, and of the web door."""

from __future__ import annotations

import secrets
import threading
import time
from http import HTTPStatus
from typing import Any

from locust import FastHttpUser, between, task
from locust.env import Environment

from chatiere.v1 import bot_service_pb2, room_service_pb2, table_service_pb2
from chatiere.v1.bot_service_pb2_grpc import BotServiceStub
from chatiere.v1.game_pb2 import Action
from chatiere.v1.room_service_pb2_grpc import RoomServiceStub
from chatiere.v1.table_service_pb2_grpc import TableServiceStub
from loadtest.load.follower import Follower
from loadtest.load.measured import WrongAnswer, report
from loadtest.load.users import FrontendUser, GameChoice, ServiceUser

# The maximum time from Post until a follower receives the table, in seconds.
_PATIENCE = 30.0
_LEGAL = {"legalActions": True}


class TableUser(ServiceUser):
    """All people at a sealed table. They look at the table and move in turn, at human pace."""

    wait_time = between(0.5, 2.0)

    def on_start(self) -> None:
        """Connect and start a table."""
        super().on_start()
        self.tables = TableServiceStub(self.channel)
        self.begin()

    def begin(self) -> None:
        """Start a table at which this user has all seats."""
        game, players = self.any_game()
        request = table_service_pb2.NewTableRequest(
            game=game,
            players=players,
            seats=[table_service_pb2.TableSeat()] * players,
            acknowledgement=table_service_pb2.ACKNOWLEDGEMENT_NONE,
        )
        begun = self.tables.NewTable(request, metadata=self.metadata)
        self.own, self.table = [each.secret for each in begun.secrets], begun.table

    def look(self, **fields: Any) -> Any:
        """Call Look, and return the update in its response. `fields` are further fields of the request."""
        request = table_service_pb2.LookRequest(table=self.table, **fields)
        return self.tables.Look(request, metadata=self.metadata).update

    @task
    def move(self) -> None:
        """Make a random legal move. Start another game when one ends."""
        turn = self.look().view.turn
        if not turn.HasField("seat"):
            self.begin()
            return
        secret = self.own[turn.seat]
        legal = self.look(secret=secret).legal_actions
        self.check("who is to move has legal actions", bool(legal))
        request = table_service_pb2.MoveRequest(table=self.table, secret=secret)
        request.action.id = self.random.choice(legal).id
        self.table = self.tables.Move(request, metadata=self.metadata).table
        self.moved(secret)

    def moved(self, secret: bytes) -> None:
        """Handle a move of the seat with this secret. Subclasses override it."""


class RoomUser(TableUser):
    """A room: all people at a table post to it, and one person follows it at the web door.

    The time from Post until the follower has the table is measured.
    """

    follower: Follower | None = None

    def begin(self) -> None:
        """Start a table in a new room."""
        super().begin()
        self.leave()
        self.room, self.came = secrets.token_bytes(16), threading.Event()
        self.awaited = self.table
        self.rooms = RoomServiceStub(self.channel)
        self.follower = Follower(self.deployment, self.room, self.take, self.fail)
        self.moved(self.own[0])

    def on_stop(self) -> None:
        """Disconnect."""
        self.leave()
        super().on_stop()

    def leave(self) -> None:
        """Stop following."""
        if self.follower is not None:
            self.follower.leave()
            self.follower = None

    def take(self, response: room_service_pb2.FollowResponse) -> None:
        """Handle a response received by the follower."""
        if any(entry.table == self.awaited for entry in response.entries):
            self.came.set()

    def fail(self, message: str) -> None:
        """Report that the follower's call has ended."""
        report(self, "stream", "Follow", start=time.perf_counter(), error=ConnectionError(message))

    def moved(self, secret: bytes) -> None:
        """Post the table, and wait until the follower has it."""
        self.came.clear()
        self.awaited = self.table
        start = time.perf_counter()
        request = room_service_pb2.PostRequest(room=self.room, secret=secret, table=self.table)
        self.check("a table is accepted", self.rooms.Post(request, metadata=self.metadata).taken)
        late = None if self.came.wait(_PATIENCE) else WrongAnswer("a posted table did not arrive")
        report(self, "stream", "Post until followed", start=start, error=late)


class BotUser(FrontendUser):
    """A person who lets the strongest bot of the game's ladder choose, with one call to Suggest per move."""

    def begin(self) -> None:
        """Start a game, and list the bots that play it."""
        super().begin()
        request = bot_service_pb2.ListBotsRequest(game=self.mirror.game.name)
        stub = BotServiceStub(self.channel)
        strongest = stub.ListBots(request, metadata=self.metadata).ladder[-1]
        self.bot = strongest.bots_by_players.get(self.mirror.num_players(), strongest.bot)

    def choose(self) -> Action:
        """Return the bot's suggestion."""
        return self.client.suggest(self.position.state, self.bot).action


class BrowserUser(GameChoice, FastHttpUser):
    """A web page that plays a game at human pace, in JSON, at the web door."""

    wait_time = between(0.5, 2.0)
    abstract = GameChoice.deployment.web_address is None
    # Locust's --host is the gRPC address.
    origin = f"http{'s' * GameChoice.deployment.has_tls}://{GameChoice.deployment.web_address}"
    insecure = False
    ssl_context_factory = GameChoice.deployment.ssl_context

    def __init__(self, environment: Environment) -> None:
        """See locust.User."""
        self.default_headers = dict(self.metadata)
        super().__init__(environment)

    def on_start(self) -> None:
        """Start a game."""
        self.begin()

    def call(self, method: str, request: dict[str, Any]) -> Any:
        """Call a method of GameService. Return the position, or an empty dict if the call is refused."""
        url, name = f"{self.origin}/chatiere.v1.GameService/{method}", f"{method}, JSON"
        with self.client.post(url, json=request, name=name, catch_response=True) as response:
            if response.status_code != HTTPStatus.OK:
                response.failure(f"{name}: {response.status_code}: {response.text}")
                return {}
            return response.json()["position"]

    def begin(self) -> None:
        """Start a game at the service."""
        game, players = self.any_game()
        self.position = self.call("NewGame", {"game": game, "players": players, "include": _LEGAL})

    @task
    def move(self) -> None:
        """Make a random legal move. Start another game when one ends."""
        legal = self.position.get("legalActions")
        if not legal:
            self.begin()
            return
        action = {"id": self.random.choice(legal)["id"]}
        self.position = self.call("Apply", {"state": self.position["state"], "action": action, "include": _LEGAL})
