"""A door with a simulated wire, clock and threads. With it, a test can perform events in any order."""

from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

from google.rpc import code_pb2
from prometheus_client import CollectorRegistry

from chatiere.engine.core.cancellation import Cancellation, Cancelled
from chatiere.service.base.errors import Status, StatusError
from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import Settings
from chatiere.service.exchange.door import Cost, Door
from chatiere.service.exchange.methods import BatchMethod, Feed, SingleMethod, StreamMethod
from chatiere.service.exchange.turns import Turns
from chatiere.service.guards.chain import Guards, Method
from chatiere.service.guards.idle import IdleStreams
from chatiere.service.guards.limits import CallLimit

OK: int = code_pb2.OK
CANCELLED: int = code_pb2.CANCELLED
LATE: int = code_pb2.DEADLINE_EXCEEDED
FULL: int = code_pb2.RESOURCE_EXHAUSTED
STOPPING: int = code_pb2.UNAVAILABLE
INTERNAL: int = code_pb2.INTERNAL
MALFORMED: int = code_pb2.INVALID_ARGUMENT
UNIMPLEMENTED: int = code_pb2.UNIMPLEMENTED
BROKEN: int = code_pb2.DATA_LOSS
"""The status code for `PlayedWire.fault`."""
PATH = "/chatiere.v1.BatchService/Step"
ALL_THE_TIME = 1e6
_SETTINGS = Settings(address="127.0.0.1:0")
_METRICS = Metrics(CollectorRegistry())


class PlayedMethod(Method):
    """A method whose metrics need no time. `ended` counts its finished calls by code."""

    def __init__(self, limit: CallLimit) -> None:
        super().__init__(None, "kind", PATH, limit=limit, counts_clients=True)  # type: ignore[arg-type]
        self.started = self.in_flight = 0
        self.ended: Counter[int] = Counter()

    def begin(self) -> None:
        self.started += 1
        self.in_flight += 1

    def end(self, code: int, seconds: float) -> None:
        self.in_flight -= 1
        self.ended[code] += 1


class PlayedTimer:
    """A timer of PlayedLoop."""

    def __init__(self, due: float, work: Callable[[], Any]) -> None:
        self.due, self.work = due, work
        self.is_over = False

    def cancel(self) -> None:
        self.is_over = True


class PlayedLoop:
    """An event loop in which only the test advances time."""

    def __init__(self, *, is_own: bool = False) -> None:
        self.is_own, self.under_way, self.now = is_own, 0, 0.0
        self.timers: list[PlayedTimer] = []
        self._posted: deque[Callable[[], Any]] = deque()
        self.turns = Turns(self.post, lambda: self.now)

    def after(self, seconds: float, work: Callable[[], Any]) -> PlayedTimer:
        self.timers.append(PlayedTimer(self.now + seconds, work))
        return self.timers[-1]

    def post(self, work: Callable[[], Any]) -> None:
        self._posted.append(work)

    def turn(self) -> None:
        """Do the posted work."""
        while self._posted:
            self._posted.popleft()()

    def pass_time(self, seconds: float) -> None:
        """Advance the time, and do the work that is due."""
        self.now += seconds
        for timer in sorted(self.timers, key=lambda each: each.due):
            if not timer.is_over and timer.due <= self.now:
                timer.is_over = True
                timer.work()
        self.timers = [each for each in self.timers if not each.is_over]


class PlayedThreads(Executor):
    """Threads that begin and finish their work only when the test requests it."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[Future[Any], Callable[[], Any]]] = deque()
        self._begun: deque[tuple[Future[Any], Callable[[], Any]]] = deque()

    def submit(self, work: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self._waiting.append((future, lambda: work(*arguments, **named)))
        return future

    @property
    def waits(self) -> bool:
        """True while there is unfinished work."""
        return bool(self._waiting or self._begun)

    @property
    def is_working(self) -> bool:
        return bool(self._begun)

    def begin(self) -> None:
        """Begin the waiting work. Afterwards it can no longer be withdrawn."""
        while self._waiting:
            future, work = self._waiting.popleft()
            if future.set_running_or_notify_cancel():
                self._begun.append((future, work))

    def finish(self) -> None:
        """Finish all work."""
        self.begin()
        while self._begun:
            future, work = self._begun.popleft()
            try:
                result = work()
            except Exception as error:
                future.set_exception(error)
            else:
                future.set_result(result)


class PlayedPool:
    """Turns in PlayedThreads, and one turn in the thread of a loop."""

    def __init__(self, threads: PlayedThreads) -> None:
        self._threads = threads
        self._is_here = False

    def job(self, client: str, connection: str) -> Cancellation:
        return Cancellation()

    def submit(self, job: Cancellation, work: Callable[[], Any]) -> Future[Any]:
        return self._threads.submit(work)

    @property
    def is_contended(self) -> bool:
        return False

    def begin_here(self) -> bool:
        was_here, self._is_here = self._is_here, True
        return not was_here

    def end_here(self) -> None:
        self._is_here = False


class PlayedWire:
    """A call whose client is the test. `wrong` lists the exchange's violations of the protocol."""

    peer, is_alone, is_behind = "ipv4:192.0.2.1:1234", False, False

    def __init__(self, loop: PlayedLoop, threads: PlayedThreads, timeout: float | None = None) -> None:
        self.loop, self.timeout = loop, timeout
        self._threads = threads
        self.metadata: tuple[tuple[str, str], ...] = ()
        self.watch: Callable[[], None] | None = None
        self.requests: deque[bytes] = deque()
        self.has_ended = self.has_part = self.fault = self.is_closed = self.is_sending = self.is_delivered = False
        self.sent: list[bytes] = []
        self.status: Status | None = None
        self.request_id = self.language = ""
        self.was_reset = False
        self.is_slow = False
        """If set, the client reads the end of the call only on `take`."""
        self.wrong: list[str] = []

    @property
    def waiting(self) -> int:
        return len(self.requests)

    @property
    def held(self) -> int:
        return sum(map(len, self.requests))

    # Called by the exchange

    def request(self) -> bytes | None:
        if not self.has_ended or len(self.requests) != 1 or self.fault:
            return None
        return self.requests.popleft()

    def take_buffer(self) -> bytes | None:
        return self.requests.popleft() if self.requests else None

    def answer(self, response: bytes, request_id: str, language: str) -> None:
        self.send([response], language)
        self.finish(Status(OK), request_id)

    def send(self, pieces: list[Any], language: str) -> None:
        if self.status is not None:
            self.wrong.append("a response after the end")
        if not self.is_closed:
            self.sent.append(b"".join(pieces))
            self.language = language
            self.is_sending = True

    def finish(self, status: Status, request_id: str) -> None:
        if self.status is not None:
            self.wrong.append("a second end")
        if self._threads.is_working:
            self.wrong.append("an end while a thread works for the call")
        self.status, self.request_id = status, request_id
        if not self.is_sending and not self.is_slow:
            self.close()

    def reset(self) -> None:
        self.was_reset = True
        self.close()

    # Called by the test

    def tell(self) -> None:
        """Notify the exchange, as after each change."""
        if self.watch is not None:
            self.watch()

    def take(self) -> None:
        """Let the client read everything sent."""
        self.is_sending = False
        if self.status is not None:
            self.close()

    def close(self) -> None:
        self.is_closed = self.is_delivered = True
        self.is_sending = False


class PlayedFeed:
    """A method's handler whose responses the test sends."""

    def __init__(self) -> None:
        self.feed: Feed | None = None
        self.forgotten = 0

    def begin(self, request: bytes, feed: Feed) -> Callable[[], None]:
        assert self.feed is None
        self.feed = feed
        return self._forget

    def _forget(self) -> None:
        self.forgotten += 1


def handled(request: Any, cancellation: Cancellation, hold: Callable[[int], None]) -> list[bytes]:
    """Handle a request in two pieces, unless the call was cancelled."""
    if cancellation.cancelled:
        raise Cancelled("cancelled")
    hold(10 * len(request))
    return [b"re: ", bytes(request)]


class Played:
    """A door with its threads, its loop and one simulated call."""

    def __init__(
        self, *, timeout: float | None = None, is_own: bool = False, loop: PlayedLoop | None = None, **settings: Any
    ) -> None:
        self.settings = Settings(address="127.0.0.1:0", **settings) if settings else _SETTINGS
        self.guards = Guards(self.settings, _METRICS)
        self.threads = PlayedThreads()
        self.loop = loop or PlayedLoop(is_own=is_own)
        self.wire = PlayedWire(self.loop, self.threads, timeout)
        # With this cost, the memory of all responses is held until they are delivered.
        cost = Cost(small=-1, copies=1, of_call=100)
        self.door = Door(
            self.settings, self.guards, None, cost, lambda _: StatusError(Status(BROKEN, message="broken"))
        )
        self.limit = CallLimit("calls", 1, IdleStreams(0.0))
        self.method = PlayedMethod(self.limit)
        self.feed = PlayedFeed()

    def single(self, handle: Callable[[bytes], bytes] = lambda request: b"re: " + request) -> SingleMethod:
        return SingleMethod(PATH, self.method, handle, self.threads)

    def batch(self, handle: Any = handled) -> BatchMethod:
        return BatchMethod(PATH, self.method, handle, PlayedPool(self.threads))

    def stream(self, handle: Any = handled) -> StreamMethod:
        return StreamMethod(PATH, self.method, lambda _: handle, PlayedPool(self.threads))

    def look(self) -> None:
        """Notify the exchange, do the posted work, and then the work that is due."""
        self.wire.tell()
        self.loop.turn()
        self.loop.pass_time(0.0)

    def settle(self) -> None:
        """Let the threads finish, and let the client read everything."""
        self.threads.finish()
        self.look()
        self.wire.take()
        self.look()

    def check_nothing_is_left(self, code: int) -> None:
        """Check that the call ended with a status, that it was counted once, and that it holds no resources."""
        wire, door, method = self.wire, self.door, self.method
        assert wire.wrong == []
        assert wire.status is not None
        assert (wire.status.code, method.ended) == (code, {code: 1})
        assert (method.started, method.in_flight) == (1, 0)
        assert (len(door.half_open), len(door.streams), len(door.lasting)) == (0, 0, 0)
        idle = self.limit.idle
        assert (self.limit.calls, len(idle or ())) == (0, 0)
        assert self.guards.budget.held == 0
        assert self.loop.under_way == 0
        assert [timer for timer in self.loop.timers if not timer.is_over] == []
        assert wire.watch is None
