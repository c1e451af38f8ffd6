cimport cython


cdef class FileValue:
    cdef double[::1] _cell
    cpdef inc(self, double amount)
    cpdef set(self, double value)


cdef class Count:
    cdef object _value
    cpdef add(self, double amount)


cdef class Durations:
    cdef object _sum
    cdef tuple _bounds, _buckets
    cpdef add(self, double seconds)


@cython.locals(file=FileValue)
cdef _add(value, double amount)
