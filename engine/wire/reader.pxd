# Messages in protobuf's wire format (https://protobuf.dev/programming-guides/encoding/), opened where they lie: the numbers
# of fields are in chatiere/fields/<file>.pxd, which setup.py generates.
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

cdef enum WireType:
    VARINT = 0
    WORD = 1
    BYTES = 2
    BEGIN_GROUP = 3
    END_GROUP = 4
    HALF_WORD = 5

cdef enum:
    FIELDS = 32  # that a Message knows: 1 … this - 1; setup.py sees to it that no message has more
    LONGEST_VARINT = 10

ctypedef struct Span:
    const uint8_t* at
    const uint8_t* end

ctypedef struct Message:
    # A message that was opened: the fields that it has, by number.
    Span span
    # Bit field: it came as a number; as bytes. Of the arrays only what came in that way means something. A field that came
    # in another way than its proto file says is as one that did not come.
    uint32_t numbers
    uint32_t spans
    int count[FIELDS]  # of a message, list or text: how often it comes
    int64_t number[FIELDS]  # of a number: the last one
    Span inner[FIELDS]  # of a message, list or text: the first one


# What is not a message raises ValueError.

cdef uint64_t read_varint(Span* span) except? 0
# The content of a field of bytes, a message, list or text.
cdef Span read_bytes(Span* span) except *
# A field whose tag has been read.
cdef int skip(Span* span, int wire_type) except -1
# Raise ValueError for a number that no field of a Message has.
cdef int check_field(int field) except -1

cdef int open_span(Span span, Message* message) except -1
# The message of a field; without any fields where it is absent.
cdef int open_field(const Message* message, int field, Message* inner) except -1
# The messages of a repeated field one by one: `rest` is the whole message's span at first. False after the last.
cdef bint next_of(int field, Span* rest, Message* inner) except -1
# A list of numbers: how many it has, of which as many as there is room for are put into `numbers`.
cdef int list_numbers(const Message* message, int field, int64_t* numbers, int room) except -1
# The same as Python's numbers, however many there are.
cdef list listed_numbers(const Message* message, int field)
# The numbers of a list one by one: `rest` is span_of() at first. False after the last.
cdef bint next_number(Span* rest, int64_t* number) except -1

cdef inline bint has_number(const Message* message, int field) noexcept nogil:
    return message.numbers >> field & 1

cdef inline bint has_span(const Message* message, int field) noexcept nogil:
    return message.spans >> field & 1

cdef inline int count_of(const Message* message, int field) noexcept nogil:
    return message.count[field] if has_span(message, field) else 0

cdef inline int64_t number_of(const Message* message, int field) noexcept nogil:
    return message.number[field] if has_number(message, field) else 0

# The bytes of a message, list or text.
cdef inline Span span_of(const Message* message, int field) noexcept nogil:
    cdef Span none
    if has_span(message, field):
        return message.inner[field]
    none.at = none.end = NULL
    return none


cdef class Reader:
    cdef bytes data
    cdef Message message
    cpdef Reader inner(self, int field)
