# The parts into which a batch is divided, and columns of bytes.
from libc.stddef cimport size_t
from libc.stdint cimport uint32_t

from chatiere.engine.core.loops cimport BatchLoop, Described, Part

cdef bytes new_column(Py_ssize_t size)
cdef void* data_of(bytes column)

cdef class Parts:
    # The parts into which a batch is divided evenly for threads, the columns that they fill, and the results of each
    # part.
    cdef BatchLoop batch
    cdef Described described
    cdef Part* parts
    cdef Py_ssize_t count
    cdef int num_threads

    cdef Py_ssize_t ended(self)
    cdef bytes joined_final_observations(self, Py_ssize_t size)
    cdef int reserve_legal_ids(self) except -1
    cdef size_t join_offsets(self, uint32_t* offsets)
    cdef bytes joined_legal_ids(self, size_t legal)
    cdef bint any_chance(self)
