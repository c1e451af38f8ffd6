from chatiere.service.guards.chain cimport Call, Guards


cdef class Exchange(Call):
    cdef public object wire, _door, _served, _form
    cdef Guards _guards
    cdef public bint _is_half_open
    cdef public object _timer, _cancellation, _future, _refusal, _holding
    cpdef begin(self)
    cpdef open(self)
    cpdef look(self)
    cpdef _refuse(self, error)
    cpdef _refuse_now(self, error)
    cpdef _reset_if_sending(self)
    cpdef _end(self, status)
    cpdef _finish(self, status)
    cpdef _leave(self)
    cpdef _look_at_delivery(self)
    cpdef _memory(self)
    cpdef _hold_response(self, size)
    cpdef _release(self)


cdef class UnaryExchange(Exchange):
    cpdef _take(self)
    cpdef _admit(self)


cdef class SingleExchange(UnaryExchange):
    cpdef _handler(self)


cdef class BatchExchange(UnaryExchange):
    pass


cdef class UnknownExchange(Exchange):
    pass
