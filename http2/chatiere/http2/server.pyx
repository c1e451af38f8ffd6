"""A server's end of gRPC over HTTP/2: calls of many connections, for one thread."""

from base64 import b64encode
from urllib.parse import quote

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_FillInfo, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.ref cimport Py_DECREF, Py_INCREF
from cpython.tuple cimport PyTuple_GET_ITEM
from cpython.unicode cimport PyUnicode_DecodeLatin1
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
    COPIED = 16384  # smaller pieces of messages are copied
    MAX_MESSAGE_SIZE = 0xFFFFFFFF  # of a message
    CANCEL = 8  # HTTP/2's error for a stream that is not wanted any more


# What can be wrong with a call, as far as HTTP/2 and gRPC's framing go: by `fault` of connection.h.
FAULTS = (
    "", "http_method", "content_type", "timeout", "headers", "compressed", "size", "count", "prefix", "breaks_off"
)


cdef class _Message:
    # In the memory into which it was received; a writable buffer.

    cdef message* _message

    def __dealloc__(self):
        message_free(self._message)

    def __getbuffer__(self, Py_buffer* buffer, int flags):
        PyBuffer_FillInfo(buffer, self, self._message.content, self._message.size, False, flags)


cdef class _Loan:
    # Bytes that lie in a Python object until they have been sent.
    cdef Py_buffer buffer
    cdef Call call

    def __dealloc__(self):
        PyBuffer_Release(&self.buffer)


cdef class Call:
    """A call of a client.

    `peer`: the client's address in gRPC's notation; at a Unix socket unix:UID:PID. `path`: the index of its path among
    the endpoint's; -1: none of them. `metadata`: the client's, names in lower case. `timeout`: its grpc-timeout in
    seconds; None without one. `loop`: its endpoint's.
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
        """The fault of the call so far, one of FAULTS; messages that came before it can still be taken."""
        return FAULTS[<int> self._stream.fault] if self._stream != NULL else ""

    @property
    def has_ended(self):
        """True once all its messages have come."""
        return self._stream == NULL or self._stream.has_ended

    @property
    def has_part(self):
        """True while a message has come in part."""
        return self._stream != NULL and self._stream.coming != NULL

    @property
    def waiting(self):
        """The number of messages that can be taken."""
        return self._stream.waiting if self._stream != NULL else 0

    @property
    def is_closed(self):
        """True once nothing more is sent or received: it was answered, reset, or its connection has ended."""
        return self._stream == NULL or self._stream.is_closed

    @property
    def is_delivered(self):
        """True once the memory of its answers is free again; then it is closed, too."""
        return self._loans == 0 and (self._stream == NULL or self._stream.is_closed)

    @property
    def is_behind(self):
        """True if the client is slow to take the answers of its connection."""
        if self._stream == NULL or self._stream.connection == NULL:
            return False
        return connection_is_behind(self._stream.connection)

    @property
    def held(self):
        """The bytes of its messages that have come, in part or whole, and were not taken; in any thread, roughly."""
        return self._stream.held if self._stream != NULL else 0

    @property
    def is_alone(self):
        """True if its connection has no other call."""
        return self._stream != NULL and self._stream.connection != NULL and self._stream.connection.stream_count == 1

    @property
    def is_sending(self):
        """True while bytes of its answers wait for the client to take them."""
        return self._loans > 0 or (self._stream != NULL and self._stream.to_send > 0)

    def request(self):
        """Take the only message of a call whose messages have all come; None: it is not exactly one, or has a fault."""
        if self._stream == NULL or not self._stream.has_ended or self._stream.waiting != 1 or self._stream.fault:
            return None
        return self.take()

    @property
    def watch(self):
        """Called when something of the call has changed: a message or its end has come, it is closed, its answers have
        been delivered. None: nobody is."""
        return self._watch

    @watch.setter
    def watch(self, watch):
        self._watch = watch
        if self._stream != NULL:
            self._stream.is_watched = watch is not None

    cpdef bytes take(self):
        """Take the first message that has come, as bytes; None: there is none."""
        cdef message* found = stream_take(self._stream) if self._stream != NULL else NULL
        if found == NULL:
            return None
        try:
            return PyBytes_FromStringAndSize(<char*> found.content, <Py_ssize_t> found.size)
        finally:
            message_free(found)

    def take_buffer(self):
        """Take the first message that has come, where it lies: a writable memoryview; None: there is none."""
        cdef message* found = stream_take(self._stream) if self._stream != NULL else NULL
        if found == NULL:
            return None
        cdef _Message owner = _Message.__new__(_Message)
        owner._message = found
        return memoryview(owner)

    cpdef answer(self, bytes response, str request_id, str language=""):
        """End the call with a response and status OK. `language`: of the response, for its headers; "": none."""
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
        """Send a message, whose bytes are in `pieces`, one after another; the call goes on.

        `language`: as in `answer`.
        """
        cdef bytes spoken = language.encode("ascii")
        cdef size_t size = 0
        if self._stream == NULL or self._stream.connection == NULL:
            return
        for each in pieces:
            size += len(each)
        if size > MAX_MESSAGE_SIZE:
            raise OverflowError("a message of gRPC has less than 4 GiB")
        _check(stream_answer(self._stream, spoken))
        _check(stream_begin_message(self._stream, size))
        for each in pieces:
            self._put(each)
        _check(stream_push(self._stream))

    def finish(self, status, str request_id):
        """End the call, after what is being sent, with a status of gRPC: its `code`, `message` and `details`."""
        if self._stream == NULL or self._stream.connection == NULL or self._stream.is_finished:
            return
        self._add(b"grpc-status", b"%d" % status.code)
        self._add(b"x-request-id", request_id.encode("ascii"))
        if status.message:
            self._add(b"grpc-message", quote(status.message, safe=" ,;:=()'!/").encode("ascii"))
        if status.details:
            self._add(b"grpc-status-details-bin", b64encode(status.details).rstrip(b"="))
        if self.fault == "compressed":
            self._add(b"grpc-accept-encoding", b"identity")
        self.metadata = ()
        _check(stream_finish(self._stream))

    def refuse(self, bytes status):
        """End the call with a status of HTTP alone, such as b"415"."""
        if self._stream != NULL:
            _check(stream_refuse(self._stream, status))

    def reset(self, uint32_t error=CANCEL):
        """End the call without a status, by an error of HTTP/2."""
        if self._stream != NULL:
            stream_reset(self._stream, error)

    def move(self, Endpoint to):
        """Move the connection to an endpoint that no thread uses yet. Returns False, and leaves it, if it can't be.

        For calls that have just begun, and are the only one of their connection.
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
        # A trailer.
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
        # It is given back among the released.
        Py_INCREF(loan)
        self._loans += 1
        return 0


cdef class Accounts:
    """The cost of clients by address, for several endpoints."""

    cdef wire_accounts* _accounts

    def __cinit__(self, double pace, double max_debt):
        """Begin without clients.

        `pace`: what frames may cost a second before they have to wait: those of a connection and, while processor time
        is short, those of all connections of an address. `max_debt`: how far a connection may be ahead before it ends.
        """
        self._accounts = accounts_new(pace, max_debt)
        if self._accounts == NULL:
            raise MemoryError

    def __dealloc__(self):
        if self._accounts != NULL:
            accounts_free(self._accounts)


# Its connections have accounts until it is given up.
@cython.no_gc_clear
cdef class Endpoint:
    """Listening sockets and the connections of clients; for one thread, but for `wake`."""

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
        double long_turn=0.02,
    ):
        """Listen.

        `loop`: whatever uses it, for its calls. `listening`: descriptors of listening sockets, which it closes.
        `routes`: what gets the calls of each path (bytes). `other`: what gets all others, and those with faults from
        the beginning. `failed`: gets the call and the error if one of these, or a call's `watch`, raises. `accounts`:
        what clients cost. `max_sizes`: bytes of a message, for each route. `streams`: calls of one connection at
        once. `connections`: at a time; more end others. `greeting`: seconds for a client to begin, and for each of its
        frames to come whole. `idle`: seconds that a connection may be without a call. `long_turn`: seconds of work at a
        time after which processor time counts as short for a second. Raises OSError.
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
        self._endpoint.long_turn = long_turn

    def __dealloc__(self):
        if self._endpoint != NULL:
            endpoint_end_all(self._endpoint)
            endpoint_free(self._endpoint)
        free(self._paths)
        free(self._max_sizes)

    @property
    def connections(self):
        """The number of connections."""
        return self._endpoint.peer_count if self._endpoint != NULL else 0

    @property
    def max_connections(self):
        """The connections at a time; more end others."""
        return self._endpoint.max_connections if self._endpoint != NULL else 0

    @max_connections.setter
    def max_connections(self, size_t limit):
        if self._endpoint != NULL:
            self._endpoint.max_connections = limit

    @property
    def held(self):
        """The bytes of messages that have come, in part or whole, and were not taken."""
        return self._endpoint.shared.held if self._endpoint != NULL else 0

    @property
    def trouble(self):
        """The errno of the last connection that could not be taken; 0: none since it was last asked."""
        if self._endpoint == NULL:
            return 0
        trouble = self._endpoint.trouble
        self._endpoint.trouble = 0
        return trouble

    def turn(self, double seconds):
        """Send what there is, wait at most so many seconds, and look at what has come.

        Returns the time after the wait, of time.monotonic. Raises OSError; ValueError once it is closed.
        """
        cdef bint goes_on
        if self._endpoint == NULL:
            raise ValueError("closed endpoint")
        with nogil:
            goes_on = endpoint_turn(self._endpoint, seconds)
        if not goes_on:
            raise OSError("the sockets of an endpoint can't be waited for")
        self._tell()
        return self._endpoint.shared.now

    def wake(self):
        """End the wait of `turn`; from any thread."""
        if self._endpoint != NULL:
            endpoint_wake(self._endpoint)

    def drain(self):
        """Take no more connections, and let clients begin no more calls."""
        if self._endpoint != NULL:
            endpoint_drain(self._endpoint)

    def cut(self):
        """End all connections and calls."""
        if self._endpoint == NULL:
            return
        endpoint_end_all(self._endpoint)
        self._tell()

    def close(self):
        """Give up all connections and sockets; after it, it has none."""
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
                # Gone before anybody has looked at it.
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
                    # Its new endpoint's thread may have ended it.
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
    # nghttp2 fails here for want of memory alone.
    if error != 0:
        raise MemoryError(f"libnghttp2: error {error}")
    return 0
