# Reusable memory for columns. A block of memory is used again once no other object refers to it.

cdef class Block:
    cdef void* allocated
    cdef char* data
    cdef Py_ssize_t capacity
    cdef Py_ssize_t size
    cdef bint writable

    cdef int resize(self, Py_ssize_t size) except -1


cdef class BlockPool:
    cdef list blocks
    cdef Py_ssize_t most
    cdef Py_ssize_t oldest

    cpdef Block take(self, Py_ssize_t size, bint writable=*)
