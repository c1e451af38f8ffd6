# The parts into which a batch is divided, and columns of bytes.
from libc.stddef cimport size_t
from libc.stdint cimport uint32_t

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

    cdef bint are_for(self, Py_ssize_t items, num_threads) except -1
    cdef void clear(self)
    cdef Py_ssize_t ended(self)
    cdef void join_final_observations(self, Py_ssize_t size, char* place)
    cdef int reserve_legal_ids(self) except -1
    cdef size_t join_offsets(self, uint32_t* offsets)
    cdef void join_legal_ids(self, char* place)
    cdef bint any_chance(self)
