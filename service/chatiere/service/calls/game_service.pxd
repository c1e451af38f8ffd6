cimport cython

from chatiere.engine.core.position cimport Position
from chatiere.engine.wire.reader cimport Reader
from chatiere.service.calls.conversion cimport apply_action, as_included, read_state


@cython.locals(request=Reader, position=Position)
cpdef tuple apply(bytes data)
cpdef Position position_of(Reader request)
cpdef messages_for(Reader parts, Position position)
cdef _check_viewers(Reader parts, Position position)


cdef class GameService:
    cdef object _settings
    cdef dict _moves
    cdef readonly dict methods
    cpdef bytes apply(self, bytes request)
