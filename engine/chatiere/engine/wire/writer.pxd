# Writing messages in protobuf's wire format.
cimport cython
from libc.stdint cimport uint8_t, uint16_t, uint64_t

# Write a varint. Returns the address after its last byte.
cdef inline uint8_t* put_varint(uint8_t* at, uint64_t value) noexcept nogil:
    while value >= 0x80:
        at[0] = <uint8_t> (value | 0x80)
        value >>= 7
        at += 1
    at[0] = <uint8_t> value
    return at + 1


@cython.final  # the methods of a final class call each other directly
cdef class Writer:
    cdef uint8_t* data
    cdef size_t size
    cdef size_t capacity
    cdef int reserve(self, size_t more) except -1
    cpdef int number(self, int field, uint64_t value) except -1
    cpdef int present(self, int field, uint64_t value) except -1
    cpdef size_t begin(self, int field) except 0
    cpdef int end(self, size_t begun) except -1
    cpdef int text(self, int field, str text) except -1
    cpdef int fields(self, bytes data) except -1
    cpdef int string(self, str text) except -1
    cpdef int numbers(self, int field, numbers) except -1
    cdef int signed(self, int number) except -1
    cdef int byte_numbers(self, int field, const uint8_t* numbers, int count) except -1
    cdef int short_numbers(self, int field, const uint16_t* numbers, int count) except -1
    cdef int decimal(self, int number) except -1
    cdef int characters(self, const char* begin, const char* end) except -1
