cimport cython

from chatiere.service.guards.counts cimport Count, Durations
from chatiere.service.guards.limits cimport CallLimit, Limits, origin_of


cdef class Method:
    cdef readonly str kind, path, service, name
    cdef readonly bint needs_token, counts_clients
    cdef readonly CallLimit limit
    cdef object _metrics
    cdef Count _started, _in_flight
    cdef Durations _seconds
    cdef dict _handled
    cpdef begin(self)

    @cython.locals(handled=Count)
    cpdef end(self, int code, double seconds)


cdef class Call:
    cdef public Method method
    cdef public str peer, request_id, accepted, language, client, origin
    cdef public bint is_admitted, is_over, is_waiting
    cdef public object on_end
    cdef public double start, worked
    cdef _start(self, Method method, str peer, metadata)


cdef class Guards:
    cdef readonly object metrics, budget
    cdef object _tokens
    cdef readonly Limits _limits
    cdef bint _logs_calls
    cdef Py_ssize_t _max_message_bytes
    cpdef begin(self, Call call)
    cpdef identify(self, Call call, metadata)

    @cython.locals(limit=CallLimit)
    cpdef admit(self, Call call)
    cpdef bint go_on(self, Call call) except -1
    cpdef end(self, Call call, status=*)


cdef str _limited(Call call)


@cython.locals(number=cython.ulong)
cdef tuple _read(metadata)
