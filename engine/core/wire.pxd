# Messages in protobuf's wire format (https://protobuf.dev/programming-guides/encoding/), without an object for each of them:
# the numbers of fields are in chatiere/fields/<file>.pxd, which setup.py generates.
cimport cython
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

cdef enum WireType:
    VARINT = 0
    WORD = 1
    BYTES = 2
    BEGIN_GROUP = 3
    END_GROUP = 4
    HALF_WORD = 5

cdef enum:
    NO_SEAT = 0xFF  # as codec.py has it
    FIELDS = 32  # that a Message knows: 1 … this - 1; setup.py sees to it that no message has more

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


# Reading. What is not a message raises ValueError.

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
# A number of a state, both bounds included. The RulesFile refuses it; only then the braces of `path` become i and j.
cdef int within(rules, int64_t number, int lowest, int highest, str path, int i=*, int j=*) except? -1

ctypedef struct Turn:
    int phase  # from 0
    int first_seat  # NO_SEAT: not known yet
    int active_seat

# Phase, first seat and active seat, which every state's message has, in these fields; refused as by `within`.
cdef int read_turn(
    rules, const Message* state, int phase, int first_seat, int active_seat, int players, int phases, Turn* turn
) except -1

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


@cython.final  # so that its methods call each other directly
cdef class Writer:
    cdef uint8_t* data
    cdef size_t size
    cdef size_t room
    cdef int make_room(self, size_t more) except -1
    cpdef int number(self, int field, uint64_t value) except -1
    cpdef int present(self, int field, uint64_t value) except -1
    cpdef size_t begin(self, int field) except 0
    cpdef int end(self, size_t begun) except -1
    cpdef int text(self, int field, str text) except -1
    cpdef int fields(self, bytes data) except -1
    cpdef int string(self, str text) except -1
    cpdef int numbers(self, int field, numbers) except -1
    cdef int byte_numbers(self, int field, const uint8_t* numbers, int count) except -1
    cdef int short_numbers(self, int field, const uint16_t* numbers, int count) except -1
    cdef int words(self, const char* text) except -1
    cdef int decimal(self, int number) except -1
    cdef int words_before(self, const char** rest) except -1
