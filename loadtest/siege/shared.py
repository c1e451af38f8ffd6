"""Attackers that use shared memory. They have the same user as the well-behaved clients."""

import os
import secrets
import signal
import socket
import time
from collections import Counter
from contextlib import suppress
from itertools import count

from chatiere import engine
from chatiere.clients import ChatiereError
from chatiere.clients.transport.shared_call import SharedCall
from chatiere.v1 import batch_service_pb2 as batch
from loadtest.siege.plan import Attack

# The timeout of an attacker's call, in seconds.
_PATIENCE = 10.0
# The time between two attempts to open a stream, in seconds.
_PAUSE = 0.01
# The number of games in a request with a large response, and of states in a request that takes a long time.
_GAMES, _STATES = 1000, 500
_GAME = max(engine.games(), key=lambda each: each.observation_length)
_SETUP = batch.BatchSetup(game=_GAME.name, players=_GAME.min_players)


class SharedCrowd:
    """The attackers of an attack on shared memory."""

    def __init__(self, address: str, came: Counter[str]) -> None:
        """Create an empty crowd. `address` is that of the Unix socket. `came` counts the events at the attackers."""
        self._address = address.replace("unix:", "shm:", 1)
        self._came = came
        self._calls: list[SharedCall] = []

    def __enter__(self) -> "SharedCrowd":
        """Return the crowd itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close all streams."""
        for each in self._calls:
            each.close()

    def stay(self, until: float) -> None:
        """Wait until a time."""
        time.sleep(max(0.0, until - time.monotonic()))

    def open(self) -> SharedCall:
        """Open a stream."""
        call = SharedCall(self._address, _PATIENCE)
        self._calls.append(call)
        self.count_begun()
        return call

    def count_begun(self) -> None:
        """Count an attack that has begun."""
        self._came["begun"] += 1

    def leave(self, call: SharedCall) -> None:
        """Close a stream."""
        call.close()
        self._calls.remove(call)

    def ask(self, call: SharedCall, request: bytes) -> None:
        """Send a request, and read its response."""
        call.send([request])
        try:
            call.receive(_PATIENCE)
            self._came["OK"] += 1
        except ChatiereError as error:
            self._came[error.reason or error.code.name] += 1

    def opened(self, until: float) -> SharedCall | None:
        """Open a stream that the service has accepted, or return None if it accepts no stream until a time."""
        while time.monotonic() < until:
            call = self.open()
            self.ask(call, _new_games(1))
            if not call.is_over:
                return call
            self.leave(call)
            time.sleep(_PAUSE)
        return None


def shared_streams(crowd: SharedCrowd, attack: Attack, until: float) -> None:
    """Open streams continuously, and keep the last `count` of them."""
    kept: list[SharedCall] = []
    while (call := crowd.opened(until)) is not None:
        kept.append(call)
        if len(kept) > attack.count:
            crowd.leave(kept.pop(0))


def shared_unread(crowd: SharedCrowd, attack: Attack, until: float) -> None:
    """Send two requests with large responses on each of `count` streams, and never read the responses."""
    request = _new_games(_GAMES)
    for _ in range(attack.count):
        call = crowd.opened(until)
        if call is None:
            return
        for _ in range(2):
            call.send([request])
    crowd.stay(until)


def shared_garbage(crowd: SharedCrowd, attack: Attack, until: float) -> None:
    """Send requests and packets of random bytes on `count` streams, and change the requests while they are read."""
    kept: list[SharedCall] = []
    for number in count():
        if time.monotonic() >= until:
            return
        if len(kept) < attack.count:
            call = crowd.opened(until)
            if call is None:
                return
            kept.append(call)
        call = kept[number % len(kept)]
        with suppress(OSError):
            call.send([secrets.token_bytes(1000)])
            call._requests.memory[:1000] = secrets.token_bytes(1000)
            call._socket.send(secrets.token_bytes(40), socket.MSG_DONTWAIT)
        with suppress(ChatiereError):
            while True:
                call.receive(_PATIENCE)
        kept.remove(call)
        crowd.leave(call)


def shared_deaths(crowd: SharedCrowd, attack: Attack, until: float) -> None:
    """Kill `count` processes every second that have requests in flight."""
    states = _STATES * _GAME.new_game(_GAME.min_players, seed=7).pack()
    request = batch.PlayRequest(playout=batch.PlayoutRequest(setup=_SETUP, states=states, playouts=20, seed=7))
    while time.monotonic() < until:
        child = os.fork()
        if child == 0:
            try:
                call = crowd.opened(until)
                if call is not None:
                    call.send([request.SerializeToString()])
            finally:
                os.kill(os.getpid(), signal.SIGKILL)
        os.waitpid(child, 0)
        crowd.count_begun()
        crowd.stay(min(until, time.monotonic() + 1 / attack.count))


def _new_games(games: int) -> bytes:
    new = batch.NewGamesRequest(setup=_SETUP, count=games, columns=batch.Columns(observations=True))
    return batch.PlayRequest(new_games=new).SerializeToString()
