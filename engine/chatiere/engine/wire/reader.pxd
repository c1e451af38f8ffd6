# Messages in protobuf's wire format (https://protobuf.dev/programming-guides/encoding/), opened in place. setup.py
# generates chatiere/fields/<file>.pxd with the numbers of the fields.
cimport cython
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

cdef enum WireType:
    VARINT = 0
    WORD = 1
    BYTES = 2
    BEGIN_GROUP = 3
    END_GROUP = 4
    HALF_WORD = 5

cdef enum:
    FIELDS = 32  # a Message has the fields 1 … FIELDS - 1; setup.py checks that no message has other fields
    MAX_VARINT_SIZE = 10

ctypedef struct Span:
    const uint8_t* at
    const uint8_t* end

ctypedef struct Message:
    # An opened message. The arrays are indexed by field number.
    Span span
    # The sets of fields that are present as numbers, and as bytes. The entries of all other fields are undefined. A
    # field whose wire type differs from its proto file is treated as absent.
    uint32_t numbers
    uint32_t spans
    int count[FIELDS]  # the number of occurrences of a message, list or text
    int64_t number[FIELDS]  # the last occurrence of a number
    Span inner[FIELDS]  # the first occurrence of a message, list or text


# All of the following functions raise ValueError for malformed messages.

cdef uint64_t read_varint(Span* span) except? 0
# Read the content of a field that is bytes, a message, a list or a string.
cdef Span read_bytes(Span* span) except *
# Skip a field whose tag has been read.
cdef int skip(Span* span, int wire_type) except -1
# Raise ValueError unless `field` is from 1 to FIELDS - 1.
cdef int check_field(int field) except -1

cdef int open_span(Span span, Message* message) except -1
# Open the message in a field. If the field is absent, the message has no fields.
cdef int open_field(const Message* message, int field, Message* inner) except -1
# Open the next message of a repeated field. `rest` is initially the span of the whole message. Returns False after the
# last message.
cdef bint next_of(int field, Span* rest, Message* inner) except -1
# Read the first `most` numbers of a list into `numbers`. Returns the length of the whole list.
cdef int list_numbers(const Message* message, int field, int64_t* numbers, int most) except -1
# Return a list of numbers as a Python list.
cdef list listed_numbers(const Message* message, int field)
# Read the next number of a list. `rest` is initially the span of the list. Returns False after the last number.
cdef bint next_number(Span* rest, int64_t* number) except -1

cdef inline bint has_number(const Message* message, int field) noexcept nogil:
    return message.numbers >> field & 1

cdef inline bint has_span(const Message* message, int field) noexcept nogil:
    return message.spans >> field & 1

cdef inline int count_of(const Message* message, int field) noexcept nogil:
    return message.count[field] if has_span(message, field) else 0

cdef inline int64_t number_of(const Message* message, int field) noexcept nogil:
    return message.number[field] if has_number(message, field) else 0

# Return the bytes of a message, list or text. They are empty if the field is absent.
cdef inline Span span_of(const Message* message, int field) noexcept nogil:
    cdef Span none
    if has_span(message, field):
        return message.inner[field]
    none.at = none.end = NULL
    return none


@cython.final  # the methods of a final class are called directly
cdef class Reader:
    cdef bytes data
    cdef Message message
    cpdef Reader inner(self, int field)
    cpdef Reader find(self, int field)
    cpdef int which(self, uint32_t fields) except -1
    cpdef bint has_number(self, int field) except -1
    cpdef uint64_t number(self, int field) except? 0
    cpdef list numbers(self, int field)
    cpdef list texts(self, int field, Py_ssize_t most)
