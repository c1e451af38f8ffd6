# Conversion and checks of integers that callers pass.
from libc.stdint cimport uint64_t

cpdef object as_integer(value)
cpdef object integer_in(value, lowest, highest)
cpdef object require_integer(name, value)
cdef uint64_t read_u64(name, value) except? 0
cdef uint64_t read_number(name, value, uint64_t lowest, uint64_t highest) except? 0
