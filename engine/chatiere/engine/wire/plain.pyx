"""Detection of plain messages. They have the same bytes as protobuf would write, except for the order of fields.

Protobuf accepts encodings that it does not write: for example repeated occurrences of a field, lists in pieces, and
oversized numbers. Plain messages are read directly. Protobuf first parses and rewrites all other messages.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from chatiere.engine.wire.reader cimport BYTES, FIELDS, VARINT, Reader, Span, open_span

cdef enum Way:
    UNKNOWN
    NUMBER
    NUMBERS
    TEXT
    MESSAGE

cdef struct Shape

cdef struct Field:
    const Shape* inner  # the shape of a message
    uint32_t excluded  # the set of fields that must not precede this field; includes itself unless it may be repeated
    uint8_t way
    uint8_t lowest  # the smallest number, or size of a text or list; 1 if an absent field means 0 or empty
    uint8_t bits  # the maximum number of bits of a number

cdef struct Shape:
    Field fields[FIELDS]


cdef inline bint has_bits(uint64_t number, int bits) noexcept nogil:
    return number >> (bits - 1) <= 1


cdef bint are_numbers(Span rest, int bits) noexcept nogil:
    cdef uint64_t number
    while rest.at < rest.end:
        if not plain_number(&rest, &number) or not has_bits(number, bits):
            return False
    return True


cdef bint is_ascii(Span text) noexcept nogil:
    while text.at < text.end:
        if text.at[0] >= 0x80:
            return False
        text.at += 1
    return True


cdef bint is_plain(const Shape* shape, Span rest) noexcept nogil:
    # Return True if a message is plain. No shape contains itself, so the depth of the recursion is limited.
    cdef const Field* field
    cdef Span inner
    cdef uint64_t tag, number
    cdef uint32_t seen = 0
    while rest.at < rest.end:
        if not plain_number(&rest, &tag) or tag >> 3 >= FIELDS:
            return False
        field = &shape.fields[tag >> 3]
        if field.way == UNKNOWN or tag & 7 != (VARINT if field.way == NUMBER else BYTES) or seen & field.excluded:
            return False
        seen |= <uint32_t> 1 << (tag >> 3)
        # Read the number, or the size of the bytes that follow.
        if not plain_number(&rest, &number) or number < field.lowest:
            return False
        if field.way == NUMBER:
            if not has_bits(number, field.bits):
                return False
            continue
        if number > <uint64_t> (rest.end - rest.at):
            return False
        inner.at = rest.at
        inner.end = rest.at = rest.at + number
        if field.way == MESSAGE:
            if not is_plain(field.inner, inner):
                return False
        elif field.way == NUMBERS:
            if not are_numbers(inner, field.bits):
                return False
        elif not is_ascii(inner):
            return False
    return True


cdef class Form:
    """The form of the messages of one type: their fields and the types of the fields."""

    cdef Shape shape
    cdef list inner  # the forms that own the shapes to which this form's shape refers

    def __cinit__(self):
        self.inner = []

    def __init__(self, fields):
        """Initialize a form with its fields. Messages with other fields are not plain.

        Args:
            fields: A tuple (number, content, is_list, lowest, excluded) for each field. `content` is the Form of a
                message, the maximum number of bits of a number, or None for a string. `is_list` is True for a list of
                numbers. `lowest` is the smallest number that protobuf writes, or the smallest size of a text or list.
                `excluded` has the numbers of the fields that must not occur before this field. They include the field's
                own number unless the field may be repeated.
        """
        cdef Field* field
        for number, content, is_list, lowest, excluded in fields:
            if not 0 < number < FIELDS:
                raise ValueError(f"fields are 1 to {FIELDS - 1}, not {number}")
            field = &self.shape.fields[<int> number]
            field.lowest = lowest
            for other in excluded:
                field.excluded |= <uint32_t> 1 << <int> other
            if content is None:
                field.way = TEXT
            elif isinstance(content, Form):
                field.way = MESSAGE
                field.inner = &(<Form> content).shape
                self.inner.append(content)
            elif 1 <= content <= 64:
                field.way = NUMBERS if is_list else NUMBER
                field.bits = content
            else:
                raise ValueError(f"numbers have 1 to 64 bits, not {content}")

    def open(self, bytes data not None):
        """Return a Reader of a message of this type if the bytes are plain, otherwise None."""
        cdef Reader reader
        cdef Span span
        span.at = <const uint8_t*> PyBytes_AS_STRING(data)
        span.end = span.at + PyBytes_GET_SIZE(data)
        if not is_plain(&self.shape, span):
            return None
        reader = Reader.__new__(Reader)
        reader.data = data
        open_span(span, &reader.message)
        return reader
