# Work in several threads, without the GIL.
from libc.stddef cimport size_t

ctypedef void (*Work)(void* part) noexcept nogil

cdef int run_parts(Work work, void* parts, size_t size, Py_ssize_t count, int num_threads) except -1
