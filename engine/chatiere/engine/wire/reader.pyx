"""Messages in protobuf's wire format, opened without an object for each message and number.

This module reads states and actions. Every call for a single game contains them, and reading them with protobuf's
objects would be ten times slower than making a move.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE


cdef int refuse() except -1:
    raise ValueError("not a protobuf message")


cdef uint64_t read_varint(Span* span) except? 0:
    cdef uint64_t value = 0
    cdef int shift = 0
    cdef uint8_t byte
    # Most numbers have one byte.
    if span.at < span.end and span.at[0] < 0x80:
        span.at += 1
        return span.at[-1]
    while span.at < span.end and shift < 7 * MAX_VARINT_SIZE:
        byte = span.at[0]
        span.at += 1
        value |= <uint64_t> (byte & 0x7F) << shift
        if byte < 0x80:
            return value
        shift += 7
    refuse()


cdef Span read_bytes(Span* span) except *:
    cdef uint64_t size = read_varint(span)
    cdef Span inner
    if size > <uint64_t> (span.end - span.at):
        refuse()
    inner.at = span.at
    inner.end = span.at + size
    span.at = inner.end
    return inner


cdef int skip_word(Span* span, size_t size) except -1:
    if size > <size_t> (span.end - span.at):
        refuse()
    span.at += size
    return 0


cdef int skip(Span* span, int wire_type) except -1:
    # Skip a field. The field may also have a type that the project's messages do not use: a number of 4 or 8 bytes, or
    # a group of any fields.
    cdef int depth = 0
    while True:
        if wire_type == BEGIN_GROUP:
            depth += 1
        elif wire_type == END_GROUP:
            depth -= 1
        elif wire_type == WORD:
            skip_word(span, 8)
        elif wire_type == HALF_WORD:
            skip_word(span, 4)
        elif wire_type == VARINT:
            read_varint(span)
        elif wire_type == BYTES:
            read_bytes(span)
        else:
            refuse()
        if depth < 0:
            refuse()
        if depth == 0:
            return 0
        wire_type = read_varint(span) & 7


cdef int open_span(Span span, Message* message) except -1:
    cdef uint64_t tag
    cdef int field, wire_type
    cdef int64_t number
    cdef Span inner
    message.span = span
    message.numbers = message.spans = 0
    while span.at < span.end:
        tag = read_varint(&span)
        wire_type = tag & 7
        field = <int> (tag >> 3) if tag >> 3 < FIELDS else 0
        if wire_type == VARINT:
            number = <int64_t> read_varint(&span)
            if field:
                message.number[field] = number
                message.numbers |= <uint32_t> 1 << field
        elif wire_type == BYTES:
            inner = read_bytes(&span)
            if field:
                if not has_span(message, field):
                    message.inner[field] = inner
                message.count[field] = count_of(message, field) + 1
                message.spans |= <uint32_t> 1 << field
        else:
            skip(&span, wire_type)
    return 0


cdef int open_field(const Message* message, int field, Message* inner) except -1:
    return open_span(span_of(message, field), inner)


cdef bint next_of(int field, Span* rest, Message* inner) except -1:
    cdef uint64_t tag
    cdef int wire_type
    cdef Span found
    while rest.at < rest.end:
        tag = read_varint(rest)
        wire_type = tag & 7
        if wire_type == VARINT:
            read_varint(rest)
        elif wire_type == BYTES:
            found = read_bytes(rest)
            if tag >> 3 == <uint64_t> field:
                open_span(found, inner)
                return True
        else:
            skip(rest, wire_type)
    return False


cdef int list_numbers(const Message* message, int field, int64_t* numbers, int most) except -1:
    cdef Span rest = span_of(message, field)
    cdef int64_t number
    cdef int count = 0
    while next_number(&rest, &number):
        if count < most:
            numbers[count] = number
        count += 1
    return count


cdef bint next_number(Span* rest, int64_t* number) except -1:
    if rest.at == rest.end:
        return False
    number[0] = <int64_t> read_varint(rest)
    return True


cdef list listed_numbers(const Message* message, int field):
    cdef Span rest = span_of(message, field)
    cdef int64_t number
    cdef list numbers = []
    while next_number(&rest, &number):
        numbers.append(number)
    return numbers


cdef int check_field(int field) except -1:
    if not 0 < field < FIELDS:
        raise ValueError(f"fields are 1 to {FIELDS - 1}, not {field}")
    return 0


cdef class Reader:
    """An opened message."""

    def __init__(self, message):
        """Open a message object of protobuf. `Form.open` opens bytes."""
        cdef Span span
        # In the bytes that protobuf writes, singular fields occur once, and lists are in one piece.
        self.data = message.SerializeToString()
        span.at = <const uint8_t*> PyBytes_AS_STRING(self.data)
        span.end = span.at + PyBytes_GET_SIZE(self.data)
        open_span(span, &self.message)

    def __bool__(self):
        """Return True if the message has any fields."""
        return self.message.span.at < self.message.span.end

    cpdef Reader inner(self, int field):
        """Return the message in a field, 1 to 31. If the field is absent, the message has no fields."""
        cdef Reader inner = Reader.__new__(Reader)
        check_field(field)
        inner.data = self.data
        open_field(&self.message, field, &inner.message)
        return inner

    cpdef Reader find(self, int field):
        """Return the message in a field, or None if it is absent."""
        check_field(field)
        return self.inner(field) if has_span(&self.message, field) else None

    cpdef int which(self, uint32_t fields) except -1:
        """Return the present field of a oneof of messages, or 0 if it is not set.

        Args:
            fields: The set of the fields of the oneof, as bits.
        """
        cdef int field
        fields &= self.message.spans
        for field in range(1, FIELDS):
            if fields >> field & 1:
                return field
        return 0

    cpdef bint has_number(self, int field) except -1:
        """Return True if a field with a number is present."""
        check_field(field)
        return has_number(&self.message, field)

    cpdef uint64_t number(self, int field) except? 0:
        """Return an unsigned number or a bool, or 0 if the field is absent."""
        check_field(field)
        return <uint64_t> number_of(&self.message, field)

    cpdef list numbers(self, int field):
        """Return a list of numbers. The list is empty if the field is absent."""
        check_field(field)
        return listed_numbers(&self.message, field)

    def count_numbers(self, int field):
        """Return the length of a list of numbers, or 0 if the field is absent."""
        check_field(field)
        return list_numbers(&self.message, field, NULL, 0)

    cpdef list texts(self, int field, Py_ssize_t most):
        """Return the first `most` texts of a list. The list is empty if the field is absent."""
        cdef Span rest = self.message.span
        cdef Span text
        cdef uint64_t tag
        cdef int wire_type
        cdef list texts = []
        check_field(field)
        while rest.at < rest.end and len(texts) < most:
            tag = read_varint(&rest)
            wire_type = tag & 7
            if wire_type != BYTES:
                skip(&rest, wire_type)
                continue
            text = read_bytes(&rest)
            if tag >> 3 == <uint64_t> field:
                texts.append(text.at[:text.end - text.at].decode())
        return texts

    def text(self, int field):
        """Return a string. The string is empty if the field is absent."""
        cdef Span text
        check_field(field)
        text = span_of(&self.message, field)
        return text.at[:text.end - text.at].decode()
