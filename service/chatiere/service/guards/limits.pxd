cpdef str origin_of(str peer)


cdef class CallLimit:
    cdef readonly str name
    cdef readonly object idle
    cdef public Py_ssize_t most, calls


cdef class Limits:
    cdef Py_ssize_t _max_calls, _many
    cdef double _max_rate, _share, _early
    cdef bint _counts_clients
    cdef object _lock
    cdef readonly dict _running, _due
    cpdef begin(self, CallLimit limit, str client)
    cpdef end(self, CallLimit limit, str client)
    cdef _end(self, CallLimit limit, str client)
    cdef _count(self, str client)
