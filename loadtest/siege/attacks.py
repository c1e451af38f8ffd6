"""The attacks, each in a process of its own on this machine that ends by itself."""

import multiprocessing
import os
import time
from collections import Counter
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from siege.crowd import Attacker, Crowd, in_turn
from siege.floods import flood
from siege.plan import Attack

from chatiere import engine
from chatiere.v1 import batch_service_pb2 as batch
from chatiere.v1.game_service_pb2 import ListGamesRequest

# Of a request at the door for browsers, without its length.
_WEB_HEAD = b"POST /chatiere.v1.GameService/NewGame HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
# Requests that wait behind one another there, nearly as many as may.
_ASKED = 60
_HEALTH = "grpc.health.v1.Health"
_APPLY, _STEP = "chatiere.v1.GameService/Apply", "chatiere.v1.BatchService/Step"
# Half-open health checks beside the half-open calls.
_CHECKS = 20
# The announced size of a message, 16 MiB, and the size sent.
_ANNOUNCED, _SENT = 16 * 2**20 - 1, 1_200_000
# Seconds between checks for due calls.
_PAUSE = 0.02
# Games in a batch: the server's default maximum.
_GAMES = 16_384
# Seconds that attackers have to get ready, and to leave after their time.
_PATIENCE = 60.0
# Gives attackers a lower priority than the server: real ones have their own machines.
_NICE = 10


def nobody(crowd: Crowd, attack: Attack, until: float) -> None:
    """Attack nothing, for comparison."""
    crowd.stay(until)


def half_open(crowd: Crowd, attack: Attack, until: float) -> None:
    """Begin calls whose request never comes, `count` of each service, and some health checks."""
    attackers = _attackers(crowd, attack)
    methods = [_APPLY, _STEP] * attack.count + [f"{_HEALTH}/Check"] * _CHECKS
    for attacker, method in zip(in_turn(attackers, len(methods)), methods, strict=True):
        attacker.begin(method)
    crowd.stay(until)


def steady(crowd: Crowd, attack: Attack, until: float) -> None:
    """Begin `count` calls whose request never comes every ten seconds, evenly, until the end."""
    attackers = _attackers(crowd, attack)
    begun = time.monotonic()
    made = 0
    while (now := time.monotonic()) < until:
        due = int((now - begun) * attack.count / 10)
        for i in range(made, due):
            attackers[i % len(attackers)].begin(attack.method)
        made = due
        crowd.stay(min(until, now + _PAUSE))


def half_sent(crowd: Crowd, attack: Attack, until: float) -> None:
    """Begin `count` calls that send only a part of a large request."""
    part = b"\0" + _ANNOUNCED.to_bytes(4) + bytes(_SENT)
    for attacker in in_turn(_attackers(crowd, attack), attack.count):
        attacker.begin(attack.method, part)
    crowd.stay(until)


def unread(crowd: Crowd, attack: Attack, until: float) -> None:
    """Send `count` small requests with large responses, without taking a byte of these."""
    game = max(engine.games(), key=lambda each: each.observation_length)
    table = batch.Table(game=game.name, players=game.min_players)
    new_games = batch.NewGamesRequest(table=table, count=_GAMES, columns=batch.Columns(observations=True))
    is_stream = attack.method.endswith("/Play")
    request = (batch.PlayRequest(new_games=new_games) if is_stream else new_games).SerializeToString()
    message = b"\0" + len(request).to_bytes(4) + request
    for attacker in in_turn(_attackers(crowd, attack, window=0), attack.count):
        attacker.begin(attack.method, message, is_whole=not is_stream)
    crowd.stay(until)


def watches(crowd: Crowd, attack: Attack, until: float) -> None:
    """Open `count` streams that watch the health."""
    for attacker in in_turn(_attackers(crowd, attack), attack.count):
        attacker.begin(f"{_HEALTH}/Watch", bytes(5), is_whole=True)
    crowd.stay(until)


def silent(crowd: Crowd, attack: Attack, until: float) -> None:
    """Open `count` connections to the attacked port that send nothing."""
    crowd.connect_silently(attack.count)
    crowd.stay(until)


def floods(crowd: Crowd, attack: Attack, until: float) -> None:
    """Flood with frames that cost nothing, each of `count` attackers with one kind after the other."""
    flood(crowd.flooders(attack.count), until)


def web_half_sent(crowd: Crowd, attack: Attack, until: float) -> None:
    """Open `count` connections to the door for browsers, each with part of a request: half of its headers or body."""
    crowd.connect_sending(attack.count // 2, _WEB_HEAD)
    crowd.connect_sending(attack.count // 2, _WEB_HEAD + b"content-length: %d\r\n\r\n" % _ANNOUNCED + bytes(_SENT))
    crowd.stay(until)


def web_unread(crowd: Crowd, attack: Attack, until: float) -> None:
    """Open `count` connections to the door for browsers, each with dozens of requests and no reader."""
    body = ListGamesRequest(pieces=True, observation=True).SerializeToString()
    head = _WEB_HEAD.replace(b"NewGame", b"ListGames").replace(b"/json", b"/proto")
    crowd.connect_sending(
        attack.count, _ASKED * (head + b"content-length: %d\r\n\r\n" % len(body) + body), is_read=False
    )
    crowd.stay(until)


def silent_metrics(crowd: Crowd, attack: Attack, until: float) -> None:
    """Open `count` connections to the port of metrics that send nothing."""
    silent(crowd, attack, until)


KINDS: dict[str, Callable[[Crowd, Attack, float], None]] = {
    each.__name__: each
    for each in (
        nobody,
        half_open,
        steady,
        half_sent,
        unread,
        watches,
        silent,
        floods,
        silent_metrics,
        web_half_sent,
        web_unread,
    )
}


def _attackers(crowd: Crowd, attack: Attack, **settings: Any) -> list[Attacker]:
    return crowd.connect(attack.connections, attack.addresses, **settings)


class Attackers:
    """The process of an attack, which begins on demand."""

    def __init__(self, attack: Attack, address: str, metrics_address: str) -> None:
        """Start the process. The addresses are the server's."""
        spawning = multiprocessing.get_context("spawn")
        self._pipe, theirs = spawning.Pipe()
        target = metrics_address if attack.kind == silent_metrics.__name__ else address
        self._process = spawning.Process(target=_attack, args=(attack, target, theirs), daemon=True)
        self._process.start()
        theirs.close()
        self._seconds = attack.seconds
        self._received()

    def begin(self) -> None:
        """Begin the attack."""
        self._pipe.send(None)

    def wait(self) -> Counter[str]:
        """Wait for the end; return counts of what happened. Raise RuntimeError if the attackers failed."""
        came: Counter[str] = self._received()
        self._process.join()
        return came

    def _received(self) -> Counter[str]:
        try:
            if self._pipe.poll(self._seconds + _PATIENCE):
                received: Counter[str] = self._pipe.recv()
                return received
        except EOFError:
            pass
        self._process.kill()
        raise RuntimeError("the attackers failed")


def _attack(attack: Attack, target: str, pipe: Connection) -> None:
    os.nice(_NICE)
    came: Counter[str] = Counter()
    host, _, port = target.rpartition(":")
    pipe.send(came)
    pipe.recv()
    try:
        with Crowd((host, int(port)), came) as crowd:
            KINDS[attack.kind](crowd, attack, time.monotonic() + attack.seconds)
    except OSError as error:
        # The server may close connections.
        came[f"gave up: {error}"] += 1
    pipe.send(came)
