"""The server's end of gRPC over HTTP/2: the calls of many connections, handled by one thread."""

from base64 import b64encode
from urllib.parse import quote

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_FillInfo, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.ref cimport Py_DECREF, Py_INCREF
from cpython.tuple cimport PyTuple_GET_ITEM
from cpython.unicode cimport PyUnicode_DecodeLatin1
from libc.math cimport INFINITY
from libc.stdint cimport uint8_t, uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, strlen

cimport cython

from chatiere.http2.connection cimport (
    accounts as wire_accounts,
    accounts_free,
    accounts_new,
    connection,
    connection_is_behind,
    endpoint,
    endpoint_adopt,
    endpoint_drain,
    endpoint_end_all,
    endpoint_free,
    endpoint_new,
    endpoint_turn,
    endpoint_wake,
    fields,
    fields_add,
    is_reserved,
    message,
    message_free,
    next_finished,
    next_ready,
    peer_name,
    piece,
    stream,
    stream_answer,
    stream_begin_message,
    stream_copy,
    stream_finish,
    stream_free,
    stream_lend,
    stream_push,
    stream_refuse,
    stream_reset,
    stream_take,
)

cdef enum:
    COPIED = 16384  # pieces of messages with fewer bytes are copied; larger pieces are sent from the caller's memory
    MAX_MESSAGE_SIZE = 0xFFFFFFFF  # in bytes
    CANCEL = 8  # the HTTP/2 error code of a stream that is no longer needed


# The faults of a call in HTTP/2 or in gRPC's framing, in the order of `fault` in connection.h.
FAULTS = (
    "",
    "http_method",
    "content_type",
    "timeout",
    "headers",
    "encoding",
    "compressed",
    "size",
    "count",
    "prefix",
    "breaks_off",
)


cdef class _Message:
    # A writable buffer: the memory into which the message was received.

    cdef message* _message

    def __dealloc__(self):
        message_free(self._message)

    def __getbuffer__(self, Py_buffer* buffer, int flags):
        PyBuffer_FillInfo(buffer, self, self._message.content, self._message.size, False, flags)


cdef class _Loan:
    # A buffer that keeps the memory of a Python object valid until its bytes have been sent.
    cdef Py_buffer buffer
    cdef Call call

    def __dealloc__(self):
        PyBuffer_Release(&self.buffer)


cdef class Call:
    """A client's call.

    Attributes:
        peer: The client's address in gRPC's notation; unix:UID:PID on a Unix socket.
        path: The index of the call's path among the endpoint's routes; -1 if it is not among them.
        metadata: The client's metadata, as pairs of a name in lower case and a value.
        timeout: The grpc-timeout in seconds; None if the client sent no timeout.
        loop: The `loop` argument of the call's endpoint.
    """

    cdef stream* _stream
    cdef int _loans
    cdef readonly int path
    cdef readonly str peer
    cdef readonly tuple metadata
    cdef readonly object timeout
    cdef readonly object loop
    cdef bint _has_moved
    cdef object _watch

    @property
    def fault(self):
        """The fault of the call so far, one of FAULTS. Messages received before the fault can still be taken."""
        return FAULTS[<int> self._stream.fault] if self._stream != NULL else ""

    @property
    def has_ended(self):
        """True once the client has sent the last message of the call."""
        return self._stream == NULL or self._stream.has_ended

    @property
    def has_part(self):
        """True if part of another message has been received."""
        return self._stream != NULL and self._stream.coming != NULL

    @property
    def waiting(self):
        """The number of complete messages that can be taken."""
        return self._stream.waiting if self._stream != NULL else 0

    @property
    def is_closed(self):
        """True once the call is closed: it was answered or reset, or its connection ended."""
        return self._stream == NULL or self._stream.is_closed

    @property
    def is_delivered(self):
        """True once the call is closed and the memory of its responses is no longer in use."""
        return self._loans == 0 and (self._stream == NULL or self._stream.is_closed)

    @property
    def is_behind(self):
        """True if the client is slow to read the responses on the call's connection."""
        if self._stream == NULL or self._stream.connection == NULL:
            return False
        return connection_is_behind(self._stream.connection)

    @property
    def held(self):
        """The memory, in bytes, of messages that have not been taken; approximate in other threads."""
        return self._stream.held if self._stream != NULL else 0

    @property
    def is_alone(self):
        """True if the connection has no other calls."""
        return self._stream != NULL and self._stream.connection != NULL and self._stream.connection.stream_count == 1

    @property
    def is_sending(self):
        """True while bytes of responses wait to be sent."""
        return self._loans > 0 or (self._stream != NULL and self._stream.to_send > 0)

    def request(self):
        """Take the message of a unary call.

        Returns:
            The message; None if the call is incomplete, has a fault, or does not have exactly one message.
        """
        if self._stream == NULL or not self._stream.has_ended or self._stream.waiting != 1 or self._stream.fault:
            return None
        return self.take()

    @property
    def watch(self):
        """A function that is called when the call changes; None for no notification.

        The function is called after a message or the end of the stream has been received, after the call has been
        closed, and after the responses have been sent.
        """
        return self._watch

    @watch.setter
    def watch(self, watch):
        self._watch = watch
        if self._stream != NULL:
            self._stream.is_watched = watch is not None

    cpdef bytes take(self):
        """Take the first complete message, as bytes; None if no message waits."""
        cdef message* found = stream_take(self._stream) if self._stream != NULL else NULL
        if found == NULL:
            return None
        try:
            return PyBytes_FromStringAndSize(<char*> found.content, <Py_ssize_t> found.size)
        finally:
            message_free(found)

    def take_buffer(self):
        """Take the first complete message, as a writable memoryview of the receive buffer; None if no message waits."""
        cdef message* found = stream_take(self._stream) if self._stream != NULL else NULL
        if found == NULL:
            return None
        cdef _Message owner = _Message.__new__(_Message)
        owner._message = found
        return memoryview(owner)

    cpdef answer(self, bytes response, str request_id, str language=""):
        """End the call with a response and the status OK.

        Args:
            response: The message to send.
            request_id: The value of the trailer x-request-id.
            language: The content language for the headers; "" to omit it.
        """
        cdef bytes spoken = language.encode("ascii")
        if self._stream == NULL or self._stream.connection == NULL:
            return
        _check(stream_answer(self._stream, spoken))
        _check(stream_begin_message(self._stream, len(response)))
        self._put(response)
        self._add(b"grpc-status", b"0")
        self._add(b"x-request-id", request_id.encode("ascii"))
        self.metadata = ()
        _check(stream_finish(self._stream))

    def send(self, list pieces, str language=""):
        """Send a message; the call continues.

        Args:
            pieces: The parts of the message in order, as bytes-like objects.
            language: The content language for the headers; "" to omit it.
        """
        cdef bytes spoken = language.encode("ascii")
        cdef size_t size = 0
        if self._stream == NULL or self._stream.connection == NULL:
            return
        for each in pieces:
            size += len(each)
        if size > MAX_MESSAGE_SIZE:
            raise OverflowError("gRPC messages are limited to 4 GiB - 1 bytes")
        _check(stream_answer(self._stream, spoken))
        _check(stream_begin_message(self._stream, size))
        for each in pieces:
            self._put(each)
        _check(stream_push(self._stream))

    def finish(self, status, str request_id):
        """End the call with a gRPC status, after all messages have been sent.

        Args:
            status: An object with the attributes `code`, `message` and `details` of the status.
            request_id: The value of the trailer x-request-id.
        """
        if self._stream == NULL or self._stream.connection == NULL or self._stream.is_finished:
            return
        self._add(b"grpc-status", b"%d" % status.code)
        self._add(b"x-request-id", request_id.encode("ascii"))
        if status.message:
            self._add(b"grpc-message", quote(status.message, safe=" ,;:=()'!/").encode("ascii"))
        if status.details:
            self._add(b"grpc-status-details-bin", b64encode(status.details).rstrip(b"="))
        if self.fault == "encoding":
            self._add(b"grpc-accept-encoding", b"identity")
        self.metadata = ()
        _check(stream_finish(self._stream))

    def refuse(self, bytes status):
        """End the call with only an HTTP status, such as b"415"."""
        if self._stream != NULL:
            _check(stream_refuse(self._stream, status))

    def reset(self, uint32_t error=CANCEL):
        """Reset the stream with an HTTP/2 error code, without a status."""
        if self._stream != NULL:
            stream_reset(self._stream, error)

    def move(self, Endpoint to):
        """Move the call's connection to an endpoint that no thread uses yet.

        The call must be new, and the connection must have no other calls.

        Returns:
            True if the connection has been moved.
        """
        cdef connection* moved = self._stream.connection if self._stream != NULL else NULL
        if moved == NULL or moved.stream_count != 1 or moved.first_lent != NULL or to._endpoint == NULL:
            return False
        if not endpoint_adopt(to._endpoint, moved):
            return False
        self._has_moved = True
        self.loop = to.loop
        return True

    cdef int _add(self, bytes name, bytes value) except -1:
        # Add a trailer.
        _check(fields_add(&self._stream.tail, name, len(name), value, len(value)))
        return 0

    cdef int _put(self, piece_) except -1:
        cdef _Loan loan
        cdef const uint8_t[::1] view
        if len(piece_) < COPIED:
            view = piece_
            if view.shape[0]:
                _check(stream_copy(self._stream, &view[0], view.shape[0]))
            return 0
        loan = _Loan.__new__(_Loan)
        PyObject_GetBuffer(piece_, &loan.buffer, PyBUF_SIMPLE)
        loan.call = self
        _check(stream_lend(self._stream, <const uint8_t*> loan.buffer.buf, loan.buffer.len, <void*> loan))
        # _give_back_loans drops this reference.
        Py_INCREF(loan)
        self._loans += 1
        return 0


cdef class Accounts:
    """The accounts of the cost that each client address causes, for several endpoints to share."""

    cdef wire_accounts* _accounts

    def __cinit__(self, double pace, double max_debt):
        """Create empty accounts.

        Args:
            pace: The cost of frames per second above which further frames have to wait. It applies to each connection
                and, while processor time is short, to all connections of an address together.
            max_debt: The cost by which a connection may exceed the pace before it is ended.
        """
        self._accounts = accounts_new(pace, max_debt)
        if self._accounts == NULL:
            raise MemoryError

    def __dealloc__(self):
        if self._accounts != NULL:
            accounts_free(self._accounts)


# The connections use the accounts until __dealloc__ ends them.
@cython.no_gc_clear
cdef class Endpoint:
    """Listening sockets and the connections of clients.

    Only one thread may use an endpoint, except that any thread may call `wake`.
    """

    cdef endpoint* _endpoint
    cdef Accounts _accounts
    cdef const char** _paths
    cdef size_t* _max_sizes
    cdef tuple _names, _routes
    cdef object _other, _failed
    cdef readonly object loop

    def __cinit__(
        self,
        loop,
        listening,
        routes,
        other,
        failed,
        Accounts accounts not None,
        *,
        max_sizes,
        uint32_t streams,
        size_t connections,
        double greeting,
        double idle,
        double max_age=INFINITY,
        double age_grace=INFINITY,
        double long_turn=0.02,
    ):
        """Listen on the sockets.

        Args:
            loop: The value of `Call.loop` for the endpoint's calls.
            listening: The descriptors of at most 16 listening sockets, which the endpoint closes.
            routes: A mapping from each path (bytes) to the function that receives the calls of this path.
            other: A function that receives the calls of all other paths, and the calls that begin with a fault.
            failed: A function that receives the call and the exception if another of these functions, or a call's
                `watch`, raises an exception.
            accounts: The accounts to which the cost of the clients is added.
            max_sizes: The maximum size of a message in bytes for each route, in the order of `routes`.
            streams: The maximum number of concurrent calls on a connection.
            connections: The maximum number of connections. A new connection above this limit ends another connection.
            greeting: The time in seconds within which a client must send its HTTP/2 settings, or complete a frame.
            idle: The maximum time in seconds that a connection may have no call.
            max_age: The age in seconds, varied by up to 10 %, at which a client is asked to use another connection;
                infinity for no limit.
            age_grace: The time in seconds within which calls on the old connection must then finish; infinity for no
                limit.
            long_turn: The time in seconds of uninterrupted work after which processor time is considered scarce for
                one second.

        Raises:
            OSError: If there is no memory or no file descriptor.
        """
        cdef int[16] descriptors
        cdef int count = 0
        self.loop = loop
        self._names, self._routes = tuple(routes), tuple(routes.values())
        self._other, self._failed = other, failed
        self._paths = <const char**> malloc(len(self._names) * sizeof(char*) + 1)
        self._max_sizes = <size_t*> malloc(len(self._names) * sizeof(size_t) + 1)
        if self._paths == NULL or self._max_sizes == NULL:
            raise MemoryError
        for i, path in enumerate(self._names):
            self._paths[i] = path
            self._max_sizes[i] = max_sizes[i]
        for descriptor in listening[:16]:
            descriptors[count] = descriptor
            count += 1
        self._accounts = accounts
        self._endpoint = endpoint_new(
            descriptors, count, self._max_sizes, self._paths, <int> len(self._names), accounts._accounts
        )
        if self._endpoint == NULL:
            raise OSError("no memory or descriptor for an endpoint")
        self._endpoint.max_streams = streams
        self._endpoint.max_connections = connections
        self._endpoint.greeting = greeting
        self._endpoint.idle = idle
        self._endpoint.max_age = max_age
        self._endpoint.age_grace = age_grace
        self._endpoint.long_turn = long_turn

    def __dealloc__(self):
        if self._endpoint != NULL:
            endpoint_end_all(self._endpoint)
            endpoint_free(self._endpoint)
        free(self._paths)
        free(self._max_sizes)

    @property
    def connections(self):
        """The number of open connections."""
        return self._endpoint.peer_count if self._endpoint != NULL else 0

    @property
    def max_connections(self):
        """The maximum number of connections. A new connection above this limit ends another connection."""
        return self._endpoint.max_connections if self._endpoint != NULL else 0

    @max_connections.setter
    def max_connections(self, size_t limit):
        if self._endpoint != NULL:
            self._endpoint.max_connections = limit

    @property
    def held(self):
        """The memory, in bytes, of messages that have not been taken."""
        return self._endpoint.shared.held if self._endpoint != NULL else 0

    @property
    def trouble(self):
        """The errno of the last failure to accept a connection, or 0. Reading this property resets it to 0."""
        if self._endpoint == NULL:
            return 0
        trouble = self._endpoint.trouble
        self._endpoint.trouble = 0
        return trouble

    def turn(self, double seconds):
        """Send pending output, wait for at most `seconds`, and handle input.

        Returns:
            The time after the wait, on the clock of time.monotonic.

        Raises:
            OSError: If waiting for the sockets fails.
            ValueError: If the endpoint is closed.
        """
        cdef bint goes_on
        if self._endpoint == NULL:
            raise ValueError("closed endpoint")
        with nogil:
            goes_on = endpoint_turn(self._endpoint, seconds)
        if not goes_on:
            raise OSError("cannot wait for the endpoint's sockets")
        self._tell()
        return self._endpoint.shared.now

    def wake(self):
        """End the wait of `turn`. May be called from any thread."""
        if self._endpoint != NULL:
            endpoint_wake(self._endpoint)

    def drain(self):
        """Accept no more connections, and ask clients to begin no more calls."""
        if self._endpoint != NULL:
            endpoint_drain(self._endpoint)

    def cut(self):
        """End all connections and calls."""
        if self._endpoint == NULL:
            return
        endpoint_end_all(self._endpoint)
        self._tell()

    def close(self):
        """End all connections and close all sockets."""
        if self._endpoint == NULL:
            return
        self.cut()
        endpoint_free(self._endpoint)
        self._endpoint = NULL

    cdef int _tell(self) except -1:
        cdef stream* found
        cdef Call call
        self._give_back_loans()
        self._release_finished()
        while True:
            found = next_ready(&self._endpoint.shared)
            if found == NULL:
                break
            if found.owner != NULL:
                call = <Call> found.owner
                self._tell_watch(call)
            elif found.is_closed:
                # The call ended before any function received it.
                stream_free(found)
                continue
            elif not found.has_head:
                continue
            else:
                call = _new_call(found, self.loop)
                try:
                    if found.path < 0 or found.fault:
                        self._other(call)
                    else:
                        (<object> PyTuple_GET_ITEM(self._routes, found.path))(call)
                except Exception as error:
                    self._failed(call, error)
                if call._has_moved:
                    # The thread of the new endpoint may already have ended the call.
                    continue
            if found.is_closed:
                call._stream = NULL
                stream_free(found)
                Py_DECREF(call)
        self._give_back_loans()
        return 0

    cdef int _release_finished(self) except -1:
        cdef stream* found
        cdef Call call
        while True:
            found = next_finished(&self._endpoint.shared)
            if found == NULL:
                return 0
            call = <Call> found.owner
            call._stream = NULL
            stream_free(found)
            Py_DECREF(call)

    cdef int _give_back_loans(self) except -1:
        cdef piece* released
        cdef _Loan loan
        while self._endpoint.shared.released != NULL:
            released = self._endpoint.shared.released
            self._endpoint.shared.released = released.next
            loan = <_Loan> released.lender
            free(released)
            Py_DECREF(loan)
            loan.call._loans -= 1
            if loan.call._loans == 0:
                self._tell_watch(loan.call)
        return 0

    cdef int _tell_watch(self, Call call) except -1:
        if call._watch is not None:
            try:
                call._watch()
            except Exception as error:
                self._failed(call, error)
        return 0


cdef Call _new_call(stream* found, loop):
    cdef Call call = Call.__new__(Call)
    call._stream = found
    call.loop = loop
    call.path = found.path
    name = peer_name(found.connection)
    call.peer = PyUnicode_DecodeLatin1(name, strlen(name), NULL)
    call.timeout = None if found.timeout < 0 else found.timeout
    call.metadata = tuple(_metadata(&found.head))
    free(found.head.data)
    found.head.data = NULL
    found.head.size = found.head.capacity = 0
    Py_INCREF(call)
    found.owner = <void*> call
    return call


cdef list _metadata(const fields* found):
    cdef list pairs = []
    cdef const uint8_t* at = found.data
    cdef const uint8_t* end = found.data + found.size
    cdef uint32_t[2] sizes
    while at < end:
        memcpy(sizes, at, sizeof(sizes))
        at += sizeof(sizes)
        if not is_reserved(at, sizes[0]):
            pairs.append((
                PyUnicode_DecodeLatin1(<const char*> at, sizes[0], NULL),
                PyUnicode_DecodeLatin1(<const char*> at + sizes[0], sizes[1], NULL),
            ))
        at += sizes[0] + sizes[1]
    return pairs


cdef int _check(int error) except -1:
    # The functions of nghttp2 used here fail only if memory is short.
    if error != 0:
        raise MemoryError(f"libnghttp2: error {error}")
    return 0
