"""The client's end of gRPC over HTTP/2: one bidirectional streaming call on its own connection."""

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
    # The part of a connection that this module needs.
    struct windowed "connection":
        nghttp2_session* session
    int32_t nghttp2_session_get_remote_window_size(nghttp2_session* session)
    int32_t nghttp2_session_get_stream_remote_window_size(nghttp2_session* session, int32_t id)
    int nghttp2_submit_ping(nghttp2_session* session, uint8_t flags, const uint8_t* data)


cdef enum:
    STREAM = 1  # the id of the call's stream
    COPIED = 16384  # pieces of messages with fewer bytes are copied; larger pieces are sent from the caller's memory
    BUFFER = 16384  # the size of the read buffer in bytes; most of a long message is read without it
    MAX_MESSAGE_SIZE = 0xFFFFFFFF  # in bytes

# The longest wait that `poll` can time, in seconds (about three weeks). Its timeout is an int of milliseconds.
cdef double MAX_WAIT = 2e6


class Cause(Enum):
    """The reasons why a call ends."""

    ANSWERED = auto()
    """The service sent the final headers or trailers (`fields`)."""
    RESET = auto()
    """The service reset the stream with an HTTP/2 error (`error`)."""
    STOPPED = auto()
    """The service is stopping, and does not handle the call."""
    GONE = auto()
    """The connection was closed or broke."""
    STUCK = auto()
    """The service stopped reading."""
    MALFORMED = auto()
    """The service does not speak gRPC."""
    LEFT = auto()
    """The call was closed by `close`."""


class CallEnded(Exception):
    """The call has ended.

    Attributes:
        cause: The reason why the call ended.
        words: Further details as text; may be "".
        error: The HTTP/2 error code of a reset; otherwise 0.
        fields: The headers and trailers received.
    """

    def __init__(self, cause, words="", error=0, values=None):
        super().__init__(words)
        self.cause = cause
        self.words = words
        self.error = error
        self.fields = values or {}


cdef class _Message:
    # A read-only buffer: the memory into which the message was received.
    cdef message* _message

    def __dealloc__(self):
        message_free(self._message)

    def __getbuffer__(self, Py_buffer* buffer, int flags):
        PyBuffer_FillInfo(buffer, self, self._message.content, self._message.size, True, flags)


cdef class _Piece:
    # A buffer that keeps the memory of a Python object valid as long as the piece exists.
    cdef Py_buffer buffer

    def __cinit__(self, piece_):
        PyObject_GetBuffer(piece_, &self.buffer, PyBUF_SIMPLE)

    def __dealloc__(self):
        PyBuffer_Release(&self.buffer)


cdef class StreamCall:
    """A bidirectional streaming call, for one thread at a time.

    Only two methods read from the connection: `receive`, and `send` while it waits. PINGs from the service are
    therefore answered only during these method calls.
    """

    cdef shared _shared
    cdef connection* _connection  # NULL once the call is over
    cdef stream* _stream
    cdef object _socket
    cdef tuple _end  # the arguments of CallEnded; None while the call continues
    cdef double _patience, _ping_after, _ping_timeout
    cdef int _fd
    cdef bint _is_used
    cdef size_t _head_size  # the size in bytes of the headers processed so far
    cdef uint8_t[BUFFER] _buffer

    def __cinit__(self, connected, headers, double patience, double ping_after, double ping_timeout):
        """Begin the call.

        Args:
            connected: The connected socket, which the call closes.
            headers: The headers of the request, as pairs of bytes.
            patience: The maximum time in seconds for which the service may stop reading, or may pause within a message.
            ping_after: The time in seconds without data after which `receive` pings the service.
            ping_timeout: The time in seconds after a ping after which the call ends if no data has arrived.
        """
        cdef fields head
        memset(&head, 0, sizeof(head))
        self._socket = connected
        self._fd = connected.fileno()
        self._patience = patience
        self._ping_after = ping_after
        self._ping_timeout = ping_timeout
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
        """True if the call has ended, so that only messages already received can follow."""
        return self._end is not None

    def send(self, pieces):
        """Send one message.

        Bytes that the service is not ready to receive are copied, and sent while `receive` waits. If the call is over,
        the message is dropped, and `receive` raises `CallEnded`.

        Args:
            pieces: The parts of the message in order, as bytes-like objects.
        """
        parts = [_Piece(each) for each in pieces]
        self._enter()
        try:
            self._send(parts)
        except BaseException:
            # End the call, because the caller can change the lent memory from now on.
            self._finish(Cause.LEFT, "sending was interrupted")
            raise
        finally:
            self._is_used = False

    def receive(self, timeout=None):
        """Return the next message as a read-only memoryview.

        Args:
            timeout: The time in seconds within which a message must begin to arrive; None to wait indefinitely.

        Raises:
            TimeoutError: If no message begins to arrive in time.
            CallEnded: If the call ends before another message.
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
        """End the call, unless it is already over, and close the connection."""
        self._enter()
        try:
            self._finish(Cause.LEFT, "the stream was closed")
        finally:
            self._is_used = False

    cdef int _enter(self) except -1:
        if self._is_used:
            raise RuntimeError("a call may be used by only one thread at a time")
        self._is_used = True
        return 0

    cdef int _send(self, list pieces) except -1:
        cdef size_t size = 0
        cdef bint is_lent
        cdef _Piece each
        # Drop a message that cannot be sent any more. `receive` reads and raises the reason.
        if self._end is not None or self._connection.is_broken:
            return 0
        for each in pieces:
            size += each.buffer.len
        if size > MAX_MESSAGE_SIZE:
            raise OverflowError("gRPC messages are limited to 4 GiB - 1 bytes")
        _check(stream_begin_message(self._stream, size))
        # Lend only memory that is sent before this method returns, because the caller can change the memory afterwards.
        is_lent = self._stream.to_send + size <= self._window()
        for each in pieces:
            if is_lent and each.buffer.len >= COPIED:
                _check(stream_lend(self._stream, <const uint8_t*> each.buffer.buf, each.buffer.len, <void*> each))
                # _release drops this reference.
                Py_INCREF(each)
            else:
                _check(stream_copy(self._stream, <const uint8_t*> each.buffer.buf, each.buffer.len))
        _check(stream_push(self._stream))
        return self._write()

    cdef size_t _window(self) noexcept:
        # The number of bytes that the service is ready to receive.
        cdef nghttp2_session* session = (<windowed*> self._connection).session
        return max(0, min(
            nghttp2_session_get_remote_window_size(session),
            nghttp2_session_get_stream_remote_window_size(session, STREAM),
        ))

    cdef int _wait_for_message(self, double seconds) except -1:
        cdef double end = INFINITY if seconds == INFINITY else <double> monotonic() + seconds
        cdef double limit, silence
        cdef bint is_pinged = False
        while self._stream.first == NULL:
            if self._end is not None:
                raise CallEnded(*self._end)
            # Once a message has begun, the service may take as long as `patience` for each further part.
            limit = seconds if self._stream.coming == NULL else self._patience
            silence = self._ping_timeout if is_pinged else self._ping_after
            if self._poll(POLLIN, min(limit, silence)):
                is_pinged = False
                self._read()
            elif limit <= silence:
                raise TimeoutError("no response yet")
            elif is_pinged:
                self._finish(Cause.GONE, "no response to a ping")
            else:
                is_pinged = True
                _check(nghttp2_submit_ping((<windowed*> self._connection).session, 0, NULL))
            self._write()
            if end == INFINITY:
                continue
            seconds = end - <double> monotonic()
            if seconds < 0 and self._stream.first == NULL and self._stream.coming == NULL and self._end is None:
                raise TimeoutError("no response yet")
        return 0

    cdef int _poll(self, short events, double seconds) except -1:
        # Wait for the socket. Returns the events for which the socket is ready; 0 after a timeout.
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
        cdef long count
        cdef int error
        with nogil:
            count = connection_read(self._connection, self._buffer, BUFFER)
            # If a message has been received in part, the rest of it is likely to be available.
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
        # End the call if the last bytes received contain an error or the end of the call.
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
        # Send as many bytes as the service is ready to receive. Read at the same time, because the service may not read
        # until the client has read.
        cdef long result
        cdef int ready
        while self._connection != NULL and not self._connection.is_broken:
            with nogil:
                result = connection_write(self._connection)
            if result < -1:
                self._finish(Cause.MALFORMED, nghttp2_strerror(<int> result).decode())
            elif self._stream.is_closed:
                # libnghttp2 has closed the stream because of an error.
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
        # Stop sending and reading; messages already received can still be taken.
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
        # Release the Python objects whose memory is no longer needed.
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
    # Convert fields to a dict. If a name occurs several times, the dict has its last value.
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
    # The functions whose results are checked here fail only if they cannot allocate memory.
    if error != 0:
        raise MemoryError(f"libnghttp2: error {error}")
    return 0


cdef dict FAULTS = {
    <int> fault.FAULT_HEADERS: "headers have more than 16384 bytes",
    <int> fault.FAULT_COMPRESSED: "a message is compressed, which was not requested",
    <int> fault.FAULT_SIZE: "no memory for a message",
    <int> fault.FAULT_PREFIX: "a message has an unknown prefix",
}
