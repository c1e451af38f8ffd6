"""Random calls of all kinds to a server's real methods. The wires, threads and clock are simulated. Prints their
results.

It must run in a separate process, because it replaces the clock and the sources of random numbers.
"""

import json
import logging
import random
import secrets
import sys
import time
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from google.protobuf.json_format import MessageToDict
from google.rpc import status_pb2
from prometheus_client import CollectorRegistry, disable_created_metrics, generate_latest

from chatiere.engine import games
from chatiere.service.base.errors import Status, StatusError
from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import Settings
from chatiere.service.exchange import exchange, streams
from chatiere.service.exchange.door import Cost, Door
from chatiere.service.exchange.exchange import BatchExchange, Exchange, SingleExchange, UnknownExchange
from chatiere.service.exchange.health import Health
from chatiere.service.exchange.streams import StreamExchange
from chatiere.service.guards import chain
from chatiere.service.guards.metrics_files import MetricsFiles, use_files
from chatiere.service.ports.methods import BATCH_SERVICE, BOT_SERVICE, GAME_SERVICE, Methods
from chatiere.service.tables.keys import Keyring
from chatiere.v1 import game_pb2, game_service_pb2

from ..support import new_game, play_on
from .played import BROKEN, PlayedLoop, PlayedPool, PlayedThreads, PlayedWire

TOKENS = {"alice": "meow", "bob": "purr"}
LANGUAGES = ("fr", "en, fr;q=0.5", "?", "tlh")
PEERS = ("ipv4:192.0.2.1:1", "ipv4:192.0.2.2:2", "ipv6:%5B2001:db8::1%5D:3", "unix:1000:4")
_APPLY, _STEP, _BOTS = f"/{GAME_SERVICE}/Apply", f"/{BATCH_SERVICE}/Step", f"/{BOT_SERVICE}/ListBots"
_LIST_GAMES = f"/{GAME_SERVICE}/ListGames"
# The number of calls between two prints of all metrics.
_LOOK = 500


class Calls:
    """The methods of a server, and random calls to them."""

    def __init__(self, seed: int, metrics: Metrics, folder: Path, *, has_tokens: bool) -> None:
        self.choices = random.Random(seed)
        self.now = 1000.0
        self._play_time()
        lines = [f"{name} {sha256(token.encode()).hexdigest()}" for name, token in TOKENS.items()]
        (folder / "tokens").write_text("\n".join(lines))
        settings = Settings(
            address="127.0.0.1:0",
            tokens=folder / "tokens" if has_tokens else None,
            log_calls=not has_tokens,
            max_calls=6,
            max_streams=3,
            max_calls_per_client=3,
            max_rate_per_client=2,
        )
        self.has_tokens = has_tokens
        self.methods = Methods(settings, metrics, Health([GAME_SERVICE]), Keyring(None))
        self.loop, self.threads = PlayedLoop(), PlayedThreads()
        guards = chain.Guards(settings, metrics)
        broken = StatusError(Status(BROKEN, message="broken"))
        self.door = Door(settings, guards, None, Cost(small=64 * 1024, copies=1, of_call=4096), lambda _: broken)
        singles, pool = (*self.methods.singles, self.methods.check), PlayedPool(self.threads)
        self.served: dict[str, Any] = {each.path: each._replace(threads=self.threads) for each in singles}
        self.served |= {each.path: each._replace(pool=pool) for each in self.methods.batches}
        self.play = self.methods.play._replace(pool=pool)
        self.applies = self._applies()
        self.begun = 0
        self.open: dict[int, PlayedWire] = {}

    def _play_time(self) -> None:
        def now() -> float:
            # Each reading takes some time.
            self.now += 0.00003
            return self.now

        replaced: Any
        for replaced, name in ((time, "monotonic"), *((each, "perf_counter") for each in (time, exchange, streams))):
            setattr(replaced, name, now)
        secrets.randbits = self.choices.getrandbits  # type: ignore[assignment]
        chain._PROCESS = "process"

    def _applies(self) -> list[bytes]:
        # Requests of whole games.
        requests: list[bytes] = []

        def apply(request: Any) -> Any:
            requests.append(request.SerializeToString())
            return game_service_pb2.ApplyResponse.FromString(self.served[_APPLY].handle(requests[-1]))

        def begin(request: Any) -> Any:
            handle = self.served[f"/{GAME_SERVICE}/NewGame"].handle
            return game_service_pb2.NewGameResponse.FromString(handle(request.SerializeToString()))

        stub = SimpleNamespace(Apply=apply, NewGame=begin)
        include = game_pb2.Include(legal_actions=True)
        for game in games():
            position = new_game(stub, game.name, game.max_players, seed=1)
            for _ in play_on(stub, position, self.choices, include):
                pass
        return requests

    def happen(self) -> None:
        """Perform one random event."""
        choices, what = self.choices, self.choices.random()
        if what < 0.8 or not self.open:
            self._begin()
        else:
            wire = choices.choice(list(self.open.values()))
            if what < 0.84:
                wire.requests.append(self._request(_STEP))
            elif what < 0.87:
                wire.has_ended = True
            elif what < 0.89:
                wire.close()
            elif what < 0.9:
                wire.fault = True
            elif what < 0.94:
                self.threads.begin()
            else:
                self.threads.finish()
            wire.tell()
        seconds = choices.choice((0.0, 0.001, 0.004, 0.02, choices.random()))
        self.now += seconds
        self.loop.pass_time(seconds)
        self.loop.turn()
        for wire in list(self.open.values()):
            wire.take()
            wire.tell()
        for number, wire in list(self.open.items()):
            if wire.status is not None:
                self._tell(number)

    def _begin(self) -> None:
        choices = self.choices
        timeout = choices.choice((None, None, 10.0, 0.01, 0.0))
        wire = PlayedWire(self.loop, self.threads, timeout)
        wire.peer = choices.choice(PEERS)
        wire.metadata = tuple(self._metadata())
        kind: type[Exchange]
        served: Any
        path = choices.choices((_APPLY, _LIST_GAMES, _STEP, _BOTS, "Play", "unknown"), (75, 3, 8, 8, 4, 2))[0]
        if path == "unknown":
            kind, served = UnknownExchange, self.methods.unknown
        elif path == "Play":
            kind, served = StreamExchange, self.play
        else:
            served = self.served[path]
            kind = SingleExchange if path in (_APPLY, _LIST_GAMES) else BatchExchange
            if choices.random() < 0.97:
                wire.requests.append(self._request(path))
                wire.has_ended = True
        self.begun += 1
        self.open[self.begun] = wire
        kind(self.door, served, wire).begin()

    def _metadata(self) -> Any:
        choices = self.choices
        if choices.random() < 0.3:
            yield "accept-language", choices.choice(LANGUAGES)
        if choices.random() < 0.5:
            yield "x-request-id", choices.choice(("cat-1", "no id", "cat:2"))
        if choices.random() < (0.97 if self.has_tokens else 0.05):
            known = choices.choice(list(TOKENS.values()))
            yield "authorization", choices.choice((*[f"Bearer {known}"] * 20, "Bearer bark", known))

    def _request(self, path: str) -> bytes:
        choices = self.choices
        if path != _APPLY:
            return choices.choice((b"", b"", b"\xff", choices.randbytes(3)))
        request = choices.choice(self.applies)
        if choices.random() < 0.9:
            return request
        place = choices.randrange(len(request))
        return request[:place] + choices.randbytes(choices.randrange(2)) + request[place + 1 :]

    def _tell(self, number: int) -> None:
        wire = self.open.pop(number)
        assert wire.status is not None
        # The order of a map in a message differs between processes.
        details = json.dumps(MessageToDict(status_pb2.Status.FromString(wire.status.details)), sort_keys=True)
        sent = sha256(b"|".join(wire.sent)).hexdigest()
        status = wire.status._replace(details=b"")
        print(number, status, details, wire.request_id, wire.language, wire.was_reset, len(wire.sent), sent)


def make(seed: int, count: int, folder: Path, *, in_files: bool, has_tokens: bool) -> None:
    """Make `count` calls. Print a line for each of them, the lines of the log, and at intervals all metrics.

    With `in_files` the metrics are stored in files, as in workers.
    """
    disable_created_metrics()  # type: ignore[no-untyped-call]
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
    logging.getLogger("chatiere").addHandler(handler)
    logging.getLogger("chatiere").setLevel(logging.INFO)
    with MetricsFiles() as files:
        files.prepare(0)
        registry = CollectorRegistry()
        if in_files:
            use_files(files.directory, 0)
        metrics, looked_at = Metrics(registry), CollectorRegistry() if in_files else registry
        if in_files:
            looked_at.register(files.collector())
        calls = Calls(seed, metrics, folder, has_tokens=has_tokens)
        with closing(calls.methods):
            while calls.begun < count:
                calls.happen()
                if calls.begun % _LOOK == 0:
                    print(generate_latest(looked_at).decode())
            print(generate_latest(looked_at).decode())
