"""A client's end of gRPC over HTTP/2: one call with a stream each way, on a connection of its own."""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_FillInfo, PyBuffer_Release, PyObject_GetBuffer
from cpython.exc cimport PyErr_CheckSignals
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.errno cimport EINTR, errno
from libc.math cimport INFINITY, ceil
from libc.stdint cimport int32_t, uint8_t, uint32_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

from chatiere.http2.connection cimport (
    connection,
    connection_free,
    connection_is_over,
    connection_new,
    connection_read,
    connection_write,
    fault,
    fields,
    fields_add,
    message,
    message_free,
    nghttp2_http2_strerror,
    nghttp2_strerror,
    piece,
    shared,
    stream,
    stream_begin_message,
    stream_copy,
    stream_free,
    stream_lend,
    stream_push,
    stream_request,
    stream_take,
)

from enum import Enum, auto
from os import strerror
from time import monotonic


cdef extern from "<poll.h>" nogil:
    struct pollfd:
        int fd
        short events
        short revents
    short POLLIN
    short POLLOUT
    int poll(pollfd* polled, unsigned long count, int milliseconds)


cdef extern from "connection.h" nogil:
    ctypedef struct nghttp2_session:
        pass
    # The part of a connection that tells its windows.
    struct windowed "connection":
        nghttp2_session* session
    int32_t nghttp2_session_get_remote_window_size(nghttp2_session* session)
    int32_t nghttp2_session_get_stream_remote_window_size(nghttp2_session* session, int32_t id)


cdef enum:
    STREAM = 1  # the number of the only one
    COPIED = 16384  # smaller pieces of messages are copied
    BUFFER = 16384  # all but the beginning of a long message is read past the buffer
    MAX_MESSAGE_SIZE = 0xFFFFFFFF  # of a message

# Seconds, some weeks: poll counts no further.
cdef double MAX_WAIT = 2e6


class Cause(Enum):
    """The ways in which a call ends."""

    ANSWERED = auto()
    """With headers or trailers: `fields`."""
    RESET = auto()
    """By a reset of the service, for HTTP/2's `error`."""
    STOPPED = auto()
    """By a service that takes no more calls."""
    GONE = auto()
    """With its connection."""
    STUCK = auto()
    """By a service that takes nothing."""
    MALFORMED = auto()
    """By a service that does not speak gRPC."""
    LEFT = auto()
    """By `close`."""


class CallEnded(Exception):
    """The end of a call.

    `words`: what is known of it beside `cause`, `error` and `fields`, the headers and trailers that have come.
    """

    def __init__(self, cause, words="", error=0, values=None):
        super().__init__(words)
        self.cause = cause
        self.words = words
        self.error = error
        self.fields = values or {}


cdef class _Message:
    # In the memory into which it was received.
    cdef message* _message

    def __dealloc__(self):
        message_free(self._message)

    def __getbuffer__(self, Py_buffer* buffer, int flags):
        PyBuffer_FillInfo(buffer, self, self._message.content, self._message.size, True, flags)


cdef class _Piece:
    # Bytes that lie in a Python object.
    cdef Py_buffer buffer

    def __cinit__(self, piece_):
        PyObject_GetBuffer(piece_, &self.buffer, PyBUF_SIMPLE)

    def __dealloc__(self):
        PyBuffer_Release(&self.buffer)


cdef class StreamCall:
    """The call, for one thread at a time.

    While nobody waits for a message, nothing is read, and no PING is answered.
    """

    cdef shared _shared
    cdef connection* _connection  # NULL once the call is over
    cdef stream* _stream
    cdef object _socket
    cdef tuple _end  # what CallEnded has; None: it goes on
    cdef double _patience
    cdef int _fd
    cdef bint _is_used
    cdef size_t _head_size  # of the headers that have been looked at
    cdef uint8_t[BUFFER] _buffer

    def __cinit__(self, connected, headers, double patience):
        """Begin the call.

        `connected`: the socket, which the call closes. `headers`: those of the request, pairs of bytes. `patience`:
        seconds for which the service may take nothing.
        """
        cdef fields head
        memset(&head, 0, sizeof(head))
        self._socket = connected
        self._fd = connected.fileno()
        self._patience = patience
        self._shared.max_size = MAX_MESSAGE_SIZE
        self._connection = connection_new(&self._shared, self._fd, False, 0)
        if self._connection == NULL:
            raise MemoryError
        try:
            for name, value in headers:
                _check(fields_add(&head, name, len(name), value, len(value)))
            self._stream = stream_request(self._connection, &head)
        finally:
            free(head.data)
        if self._stream == NULL:
            raise MemoryError
        self._write()

    def __dealloc__(self):
        if self._connection != NULL:
            connection_free(self._connection)
        if self._stream != NULL:
            stream_free(self._stream)
        self._release()

    @property
    def is_over(self):
        """True once there will be no more messages than those that have come."""
        return self._end is not None

    def send(self, pieces):
        """Send a message, in pieces that are to be joined.

        What the service is not ready to take is copied, and sent while `receive` waits. If the call is over, it goes
        nowhere, and `receive` says why.
        """
        parts = [_Piece(each) for each in pieces]
        self._enter()
        try:
            self._send(parts)
        except BaseException:
            # What is lent would be the caller's again.
            self._finish(Cause.LEFT, "sending was interrupted")
            raise
        finally:
            self._is_used = False

    def receive(self, timeout=None):
        """Return the next message, a read-only memoryview.

        Raises TimeoutError if none has begun to come within so many seconds (None: never), and CallEnded if the call
        ends before one.
        """
        cdef _Message taken
        self._enter()
        try:
            self._wait_for_message(INFINITY if timeout is None else timeout)
            taken = _Message.__new__(_Message)
            taken._message = stream_take(self._stream)
        finally:
            self._is_used = False
        return memoryview(taken)

    def close(self):
        """Leave the call, if it is not over, and the connection."""
        self._enter()
        try:
            self._finish(Cause.LEFT, "the stream was closed")
        finally:
            self._is_used = False

    cdef int _enter(self) except -1:
        if self._is_used:
            raise RuntimeError("a call is for one thread at a time")
        self._is_used = True
        return 0

    cdef int _send(self, list pieces) except -1:
        cdef size_t size = 0
        cdef bint is_lent
        cdef _Piece each
        # Why the service has left may still come: what can't be sent is dropped until it is read.
        if self._end is not None or self._connection.is_broken:
            return 0
        for each in pieces:
            size += each.buffer.len
        if size > MAX_MESSAGE_SIZE:
            raise OverflowError("a message of gRPC has less than 4 GiB")
        _check(stream_begin_message(self._stream, size))
        # Lent memory is the caller's again when this returns.
        is_lent = self._stream.to_send + size <= self._window()
        for each in pieces:
            if is_lent and each.buffer.len >= COPIED:
                _check(stream_lend(self._stream, <const uint8_t*> each.buffer.buf, each.buffer.len, <void*> each))
                # Given back among the released.
                Py_INCREF(each)
            else:
                _check(stream_copy(self._stream, <const uint8_t*> each.buffer.buf, each.buffer.len))
        _check(stream_push(self._stream))
        return self._write()

    cdef size_t _window(self) noexcept:
        # Bytes that the service is ready to take.
        cdef nghttp2_session* session = (<windowed*> self._connection).session
        return max(0, min(
            nghttp2_session_get_remote_window_size(session),
            nghttp2_session_get_stream_remote_window_size(session, STREAM),
        ))

    cdef int _wait_for_message(self, double seconds) except -1:
        cdef double end = INFINITY if seconds == INFINITY else <double> monotonic() + seconds
        while self._stream.first == NULL:
            if self._end is not None:
                raise CallEnded(*self._end)
            # A message that has begun to come may take as long as the service does.
            if not self._poll(POLLIN, seconds if self._stream.coming == NULL else self._patience):
                raise TimeoutError("no response yet")
            self._read()
            self._write()
            if end == INFINITY:
                continue
            seconds = end - <double> monotonic()
            if seconds < 0 and self._stream.first == NULL and self._stream.coming == NULL and self._end is None:
                raise TimeoutError("no response yet")
        return 0

    cdef int _poll(self, short events, double seconds) except -1:
        # Wait for the socket. Returns what it is ready for; 0: nothing in so many seconds.
        cdef pollfd polled
        cdef double end = INFINITY if seconds > MAX_WAIT else <double> monotonic() + seconds
        cdef int milliseconds, count, error
        while True:
            polled.fd, polled.events, polled.revents = self._fd, events, 0
            milliseconds = -1 if end == INFINITY else <int> ceil(1000 * max(seconds, 0))
            with nogil:
                count = poll(&polled, 1, milliseconds)
                error = errno
            if count >= 0:
                return polled.revents
            if error != EINTR:
                raise OSError(error, strerror(error))
            PyErr_CheckSignals()
            seconds = end - <double> monotonic()

    cdef int _read(self) except -1:
        # Read what has come.
        cdef long count
        cdef int error
        with nogil:
            count = connection_read(self._connection, self._buffer, BUFFER)
            # Of a message that has begun the rest has mostly come, too.
            while count > 0 and self._stream.coming != NULL:
                count = connection_read(self._connection, self._buffer, BUFFER)
            error = errno
        self._look()
        if count == -1:
            self._finish(Cause.GONE, f"the connection broke: [Errno {error}] {strerror(error)}")
        elif count < 0:
            self._finish(Cause.MALFORMED, nghttp2_strerror(<int> count).decode())
        elif self._connection != NULL and self._connection.is_at_end:
            self._finish(Cause.GONE, "the other end closed the connection")
        return 0

    cdef int _look(self) except -1:
        # End the call, if what was read ends it.
        cdef stream* found = self._stream
        if found.fault != fault.FAULT_NONE and found.fault != fault.FAULT_BREAKS_OFF:
            return self._finish(Cause.MALFORMED, FAULTS.get(<int> found.fault, ""))
        if found.has_head and (found.has_ended or found.head.size != self._head_size):
            self._head_size = found.head.size
            values = _values(&found.head)
            if found.has_ended or not values.get(":status", "").startswith(("1", "200")):
                return self._finish(Cause.ANSWERED, "", 0, values)
        if found.is_closed and 0 <= self._connection.last_taken < STREAM:
            return self._finish(Cause.STOPPED, "the service stops")
        if found.is_closed:
            return self._finish(Cause.RESET, "", found.error)
        return 0

    cdef int _write(self) except -1:
        # Send what the service is ready to take. The other end may be waiting for the same: reading lets both go on.
        cdef long result
        cdef int ready
        while self._connection != NULL and not self._connection.is_broken:
            with nogil:
                result = connection_write(self._connection)
            if result < -1:
                self._finish(Cause.MALFORMED, nghttp2_strerror(<int> result).decode())
            elif self._stream.is_closed:
                # By libnghttp2.
                self._finish(Cause.MALFORMED, nghttp2_http2_strerror(self._stream.error).decode())
            elif connection_is_over(self._connection):
                self._finish(Cause.MALFORMED, "HTTP/2 protocol error")
            self._release()
            if self._connection == NULL or self._connection.unsent == 0:
                break
            ready = self._poll(POLLIN | POLLOUT, self._patience)
            if ready == 0:
                self._finish(Cause.STUCK, "the other end takes no more")
            elif ready != POLLOUT:
                self._read()
        return 0

    cdef int _finish(self, cause, words="", error=0, values=None) except -1:
        # Nothing is sent or read any more; messages that have come are still there.
        if self._connection == NULL:
            return 0
        farewell = self._connection.words.decode(errors="replace")
        self._end = cause, f"{words}: {farewell}" if farewell else words, error, values
        connection_free(self._connection)
        self._connection = NULL
        self._release()
        self._socket.close()
        return 0

    cdef int _release(self) except -1:
        # Give lent pieces back.
        cdef piece* released
        cdef _Piece lent
        while self._shared.released != NULL:
            released = self._shared.released
            self._shared.released = released.next
            lent = <_Piece> released.lender
            free(released)
            Py_DECREF(lent)
        return 0


cdef dict _values(const fields* found):
    # The last value of each name.
    cdef dict values = {}
    cdef const uint8_t* at = found.data
    cdef uint32_t[2] sizes
    while at < found.data + found.size:
        memcpy(sizes, at, sizeof(sizes))
        at += sizeof(sizes)
        values[at[:sizes[0]].decode("latin-1")] = at[sizes[0]:sizes[0] + sizes[1]].decode("latin-1")
        at += sizes[0] + sizes[1]
    return values


cdef int _check(int error) except -1:
    # nghttp2 fails here for want of memory alone.
    if error != 0:
        raise MemoryError(f"libnghttp2: error {error}")
    return 0


cdef dict FAULTS = {
    <int> fault.FAULT_HEADERS: "headers have more than 16384 bytes",
    <int> fault.FAULT_COMPRESSED: "a message is compressed, which nobody asked for",
    <int> fault.FAULT_SIZE: "no memory for a message",
    <int> fault.FAULT_PREFIX: "a message has an unknown prefix",
}
