# The parts into which a batch is divided, and columns of bytes.
from libc.stddef cimport size_t

from chatiere.engine.core.loops cimport BatchLoop, Described, Part

cdef bytes new_column(Py_ssize_t size)
cdef void* data_of(column)

cdef class Parts:
    # The parts into which a batch is divided evenly for threads, the columns that they fill, and the results of each
    # part.
    cdef BatchLoop batch
    cdef Described described
    cdef Part* parts
    cdef Py_ssize_t count
    cdef Py_ssize_t items
    cdef int num_threads
    # The sums of all parts.
    cdef Py_ssize_t ended
    cdef size_t legal

    cdef bint are_for(self, Py_ssize_t items, num_threads) except -1
    cdef void clear(self)
    cdef int reserve_legal_ids(self) except -1
    cdef void add_up(self)
    cdef bint any_chance(self)

# Copy the results of a part into the columns of the whole batch, after `add_up`.
cdef void join_part(void* work) noexcept nogil
