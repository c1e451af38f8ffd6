"""Calls that get many responses for one request, as they come."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from chatiere.service.base.errors import CANCELLED, OK, STOPPING, Status, deadline_exceeded, limit_exceeded
from chatiere.service.base.languages import speaking
from chatiere.service.exchange.door import Door
from chatiere.service.exchange.exchange import UnaryExchange
from chatiere.service.exchange.methods import FeedMethod
from chatiere.service.exchange.wire import Form, Wire

# Bytes of responses that may wait for a client who does not keep up; one response may be larger.
_MAX_UNTAKEN = 1 << 20


class FeedExchange(UnaryExchange[FeedMethod]):
    """A call of a method that answers one request with responses as they come: its Feed."""

    __slots__ = ("_forget", "_untaken")

    def __init__(self, door: Door, served: FeedMethod, wire: Wire, form: Form | None = None) -> None:
        """See Exchange."""
        super().__init__(door, served, wire, form)
        # Bytes of the responses that the client has not taken.
        self._untaken = 0
        self._forget: Callable[[], None] | None = None

    # Feed's, for any thread

    def send(self, response: bytes) -> None:
        """See Feed."""
        sent = response if self._form is None else self._form.write(response)
        self.wire.loop.post(partial(self._send, sent))

    def end(self, status: Status = OK) -> None:
        """See Feed."""
        self.wire.loop.post(partial(self._end_once, status))

    def cut(self, error: Exception) -> None:
        """See Feed."""
        self.wire.loop.post(partial(self._cut_once, error))

    # In its loop

    def look(self) -> None:
        """Go on as far as the wire allows."""
        if self.is_over or self._is_half_open:
            super().look()
        elif self.wire.is_closed:
            self._end(CANCELLED)
        else:
            self._look_at_sending()
            if self._door.is_stopping:
                self._end(STOPPING)

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
        # It may have begun to stop before.
        if self._door.is_stopping:
            wire.loop.post(self.look)

    def _send(self, response: bytes) -> None:
        if self.is_over:
            return
        try:
            if self._untaken and self._untaken + len(response) > _MAX_UNTAKEN:
                raise limit_exceeded("bytes of one stream's answers not yet taken", _MAX_UNTAKEN)
            self._hold_response(self._untaken + len(response))
        except Exception as error:
            self._cut(error)
            return
        self._untaken += len(response)
        self.wire.send([response], self.language)
        self._look_at_sending()

    def _look_at_sending(self) -> None:
        if self._untaken and not self.wire.is_sending:
            self._untaken = 0
            self._release()

    def _end_once(self, status: Status) -> None:
        if not self.is_over:
            self._end(status)

    def _late(self) -> None:
        if self._is_half_open:
            super()._late()
        else:
            self._cut(deadline_exceeded())

    def _cut_once(self, error: Exception) -> None:
        if not self.is_over:
            self._cut(error)

    def _cut(self, error: Exception) -> None:
        is_sending = self.wire.is_sending
        self._refuse(error)
        if is_sending:
            # The client may never take what lies before the status.
            self.wire.reset()

    def _leave(self) -> None:
        super()._leave()
        self._door.lasting.discard(self)
        if self._forget is not None:
            self._forget()
            self._forget = None
