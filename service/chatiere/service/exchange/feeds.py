"""Calls that send many responses to one request, each as soon as it is available."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial

from chatiere.service.base.errors import CANCELLED, OK, STOPPING, Status, deadline_exceeded, limit_exceeded
from chatiere.service.base.languages import speaking
from chatiere.service.exchange.door import Door
from chatiere.service.exchange.exchange import UnaryExchange
from chatiere.service.exchange.methods import FeedMethod
from chatiere.service.exchange.wire import Form, Wire

# The maximum total size in bytes of the responses that wait for a slow client. A single response may be larger.
_MAX_UNTAKEN = 1 << 20
# The maximum number of responses that wait for the client's turn.
_MAX_WAITING = 1000
# The time in seconds after which a client that was too slow may call again.
_RETRY = 1.0


class FeedExchange(UnaryExchange):
    """A call to a method that answers one request with any number of responses. Implements Feed.

    A source may have responses for thousands of feeds at the same time. The clients take turns, and each turn of the
    loop spends about a millisecond on sending.
    """

    __slots__ = ("_forget", "_is_due", "_outgoing", "_untaken")

    def __init__(self, door: Door, served: FeedMethod, wire: Wire, form: Form | None = None) -> None:
        """See Exchange."""
        super().__init__(door, served, wire, form)
        # The size in bytes of the responses that the client has not received.
        self._untaken = 0
        # The responses that wait for a turn, and whether the loop has been asked to send them.
        self._outgoing: deque[bytes] = deque()
        self._is_due = False
        self._forget: Callable[[], None] | None = None

    # The methods of Feed; they may be called from any thread

    def send(self, response: bytes) -> None:
        """See Feed."""
        sent = response if self._form is None else self._form.write(response)
        if len(self._outgoing) >= _MAX_WAITING:
            self.cut(limit_exceeded("responses of one stream not yet sent", _MAX_WAITING, _RETRY))
            return
        self._outgoing.append(sent)
        if not self._is_due:
            self._is_due = True
            self.wire.loop.post(self._take_turn)

    def end(self, status: Status = OK) -> None:
        """See Feed."""
        self.wire.loop.post(partial(self._end_once, status))

    def cut(self, error: Exception) -> None:
        """See Feed."""
        self.wire.loop.post(partial(self._cut_once, error))

    # In the loop's thread

    def look(self) -> None:
        """Proceed as far as the wire allows."""
        if self.is_over or self._is_half_open:
            super().look()
        elif self.wire.is_closed:
            self._end(CANCELLED)
        else:
            self._look_at_sending()
            if self._door.is_stopping:
                self._end_once(STOPPING)

    def _take(self) -> None:
        wire = self.wire
        request = wire.request()
        if request is None:
            raise self._fault()
        self._admit()
        wire.watch = self.look
        if wire.timeout is not None:
            self._timer = wire.loop.after(wire.timeout, self._late)
        self._door.lasting.add(self)
        handle = speaking(self.language, self._served.handle)
        self._forget = handle(request if self._form is None else self._form.read(request), self)
        self._door.guards.wait(self, self.cut, has_worked=False)
        # The server may have begun to stop before the call was added to `lasting`.
        if self._door.is_stopping:
            wire.loop.post(self.look)

    def _take_turn(self) -> None:
        turns = self.wire.loop.turns
        if turns.has_time:
            self._send_all()
        else:
            turns.take(self.origin, self._send_all)

    def _send_all(self) -> None:
        # Clear the flag first, so that a response that another thread adds in the meantime is sent here or in another
        # turn.
        self._is_due = False
        while self._outgoing and not self.is_over:
            self._send(self._outgoing.popleft())

    def _send(self, response: bytes) -> None:
        try:
            if self._untaken and self._untaken + len(response) > _MAX_UNTAKEN:
                raise limit_exceeded("bytes of one stream's answers not yet taken", _MAX_UNTAKEN, _RETRY)
            self._hold_response(self._untaken + len(response))
        except Exception as error:
            self._refuse_now(error)
            return
        self._untaken += len(response)
        self.wire.send([response], self.language)
        self._look_at_sending()

    def _look_at_sending(self) -> None:
        if self._untaken and not self.wire.is_sending:
            self._untaken = 0
            self._release()

    def _end_once(self, status: Status) -> None:
        self._send_all()
        if not self.is_over:
            self._end(status)

    def _late(self) -> None:
        if self._is_half_open:
            super()._late()
        else:
            self._refuse_now(deadline_exceeded())

    def _cut_once(self, error: Exception) -> None:
        if not self.is_over:
            self._refuse_now(error)

    def _leave(self) -> None:
        super()._leave()
        self._door.lasting.discard(self)
        self._outgoing.clear()
        if self._forget is not None:
            self._forget()
            self._forget = None
