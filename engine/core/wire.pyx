"""Messages in protobuf's wire format, read and written without an object for each message and number.

For states, actions and events, which every single call reads and writes: over protobuf's objects that takes ten times
as long as a move. Objects become bytes and bytes objects by `SerializeToString` and `MergeFromString`, which are fast.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.mem cimport PyMem_Free, PyMem_Realloc
from cpython.unicode cimport PyUnicode_AsUTF8AndSize
from libc.string cimport memmove, strlen

cdef enum:
    LONGEST_VARINT = 10
    LONGEST_SIZE = 5


# Reading

cdef int refuse() except -1:
    raise ValueError("this is not a protobuf message")


cdef inline uint64_t read_varint(Span* span) except? 0:
    cdef uint64_t value = 0
    cdef int shift = 0
    cdef uint8_t byte
    while span.at < span.end and shift < 7 * LONGEST_VARINT:
        byte = span.at[0]
        span.at += 1
        value |= <uint64_t> (byte & 0x7F) << shift
        if byte < 0x80:
            return value
        shift += 7
    refuse()


cdef inline Span read_bytes(Span* span) except *:
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
    # What no message that is read has: numbers of 4 and 8 bytes, groups. In a group there may be anything.
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


cdef int list_numbers(const Message* message, int field, int64_t* numbers, int room) except -1:
    cdef Span rest = span_of(message, field)
    cdef int64_t number
    cdef int count = 0
    while next_number(&rest, &number):
        if count < room:
            numbers[count] = number
        count += 1
    return count


cdef bint next_number(Span* rest, int64_t* number) except -1:
    if rest.at == rest.end:
        return False
    number[0] = <int64_t> read_varint(rest)
    return True


cdef int within(rules, int64_t number, int lowest, int highest, str path, int i=0, int j=0) except? -1:
    if not lowest <= number <= highest:
        rules.in_range(number, lowest, highest, path.format(i, j))
    return <int> number


cdef int read_turn(
    rules, const Message* state, int phase, int first_seat, int active_seat, int players, int phases, Turn* turn
) except -1:
    turn.phase = within(rules, number_of(state, phase), 1, phases, "phase") - 1
    turn.first_seat = NO_SEAT
    if has_number(state, first_seat):
        turn.first_seat = within(rules, number_of(state, first_seat), 0, players - 1, "first_seat")
    turn.active_seat = within(rules, number_of(state, active_seat), 0, players - 1, "active_seat")
    return 0


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
    """A message, opened."""

    def __init__(self, message):
        """`message`: an object of protobuf (for bytes see plain.pyx)."""
        cdef Span span
        # Parsed and written by protobuf, each field of a kind that is not repeated comes once, and lists in one piece.
        self.data = message.SerializeToString()
        span.at = <const uint8_t*> PyBytes_AS_STRING(self.data)
        span.end = span.at + PyBytes_GET_SIZE(self.data)
        open_span(span, &self.message)

    def __bool__(self):
        """Whether it has any fields."""
        return self.message.span.at < self.message.span.end

    cpdef Reader inner(self, int field):
        """The message of a field (1 to 31, as all here); without any fields where it is absent."""
        cdef Reader inner = Reader.__new__(Reader)
        check_field(field)
        inner.data = self.data
        open_field(&self.message, field, &inner.message)
        return inner

    def find(self, int field):
        """The same, or None where it is absent."""
        check_field(field)
        return self.inner(field) if has_span(&self.message, field) else None

    def which(self, uint32_t fields):
        """Of these fields (as bits), which are a oneof of messages, the one that it has; 0: none."""
        cdef int field
        fields &= self.message.spans
        for field in range(1, FIELDS):
            if fields >> field & 1:
                return field
        return 0

    def has_number(self, int field):
        """Whether it has a number in that field."""
        check_field(field)
        return bool(has_number(&self.message, field))

    def number(self, int field):
        """A number without a sign, or truth value; 0 where it is absent."""
        check_field(field)
        return <uint64_t> number_of(&self.message, field)

    def numbers(self, int field):
        """A list of numbers; empty where it is absent."""
        check_field(field)
        return listed_numbers(&self.message, field)

    def text(self, int field):
        """A text; "" where it is absent."""
        cdef Span text
        check_field(field)
        text = span_of(&self.message, field)
        return text.at[:text.end - text.at].decode()


def cut(data, fields):
    """A message without some of its fields, and what these hold: for columns, which are not to be copied.

    `data`: a buffer. `fields`: a set of numbers below 16, of fields that are bytes or messages.

    Returns the rest as bytes, and by number a view of each of the fields that are there. Raises ValueError if this is
    not a message, or if one of them comes twice or with longer numbers before it than it needs: that is for protobuf.
    """
    cdef const uint8_t[::1] buffer = data
    cdef uint32_t wanted = 0
    cdef const uint8_t* begin
    cdef Span span, inner
    cdef uint64_t tag
    cdef Py_ssize_t kept = 0, before
    view, rest, found = memoryview(data), [], {}
    if buffer.shape[0] == 0:
        return b"", found
    for field in fields:
        check_field(field)
        wanted |= <uint32_t> 1 << <int> field
    begin = span.at = &buffer[0]
    span.end = begin + buffer.shape[0]
    while span.at < span.end:
        before = span.at - begin
        tag = read_varint(&span)
        if tag & 7 == VARINT:
            read_varint(&span)
        elif tag & 7 != BYTES:
            skip(&span, tag & 7)
        else:
            inner = read_bytes(&span)
            if tag >> 3 < FIELDS and wanted >> (tag >> 3) & 1:
                if tag >> 3 in found or inner.at - begin - before > 1 + LONGEST_SIZE:
                    raise ValueError("a field comes in an unusual way")
                found[tag >> 3] = view[inner.at - begin:inner.end - begin]
                rest.append(view[kept:before])
                kept = span.at - begin
    rest.append(view[kept:])
    return b"".join(rest), found


def cut_list(data, int field, Py_ssize_t most):
    """A message without the messages of a repeated field, how many these are, and the bytes of the first so many.

    `data`: a buffer. Raises ValueError if this is not a message.
    """
    cdef const uint8_t[::1] buffer = data
    cdef const uint8_t* begin
    cdef Span span, inner
    cdef uint64_t tag
    cdef Py_ssize_t kept = 0, before, count = 0
    view, rest, found = memoryview(data), [], []
    check_field(field)
    if buffer.shape[0] == 0:
        return b"", 0, found
    begin = span.at = &buffer[0]
    span.end = begin + buffer.shape[0]
    while span.at < span.end:
        before = span.at - begin
        tag = read_varint(&span)
        if tag & 7 != BYTES:
            skip(&span, tag & 7)
            continue
        inner = read_bytes(&span)
        if tag >> 3 == <uint64_t> field:
            if kept < before:
                rest.append(view[kept:before])
            kept = span.at - begin
            if count < most:
                found.append((<const char*> inner.at)[:inner.end - inner.at])
            count += 1
    rest.append(view[kept:])
    return b"".join(rest), count, found


# Writing

cdef inline uint8_t* put_varint(uint8_t* at, uint64_t value) noexcept nogil:
    while value >= 0x80:
        at[0] = <uint8_t> (value | 0x80)
        value >>= 7
        at += 1
    at[0] = <uint8_t> value
    return at + 1


cpdef bytes head(int field, Py_ssize_t size):
    """What stands before so many bytes of a field that is bytes, text or a message."""
    cdef uint8_t[LONGEST_VARINT + LONGEST_VARINT] bytes_before
    cdef uint8_t* at
    check_field(field)
    at = put_varint(put_varint(bytes_before, field << 3 | BYTES), size)
    return (<const char*> bytes_before)[:at - bytes_before]


def pieces_of(numbers, fields):
    """Fields of a message that are bytes or messages, in pieces to be joined: what is long is not copied.

    `numbers`: those of the message's fields, by name. `fields`: name and content of each: a buffer of bytes, left out if
    it is empty, or a list of the pieces of a message; None: absent.
    """
    cdef list pieces = []
    cdef Py_ssize_t size
    for name, content in fields:
        if type(content) is list:
            size = 0
            for piece in content:
                size += len(piece)
            pieces.append(head(numbers[name], size))
            pieces += content
        elif content:
            pieces.append(head(numbers[name], len(content)))
            pieces.append(content)
    return pieces


cdef class Writer:
    """A message that is being written, field by field."""

    def __dealloc__(self):
        PyMem_Free(self.data)

    def __bytes__(self):
        """What has been written."""
        return PyBytes_FromStringAndSize(<const char*> self.data, self.size)

    cdef int make_room(self, size_t more) except -1:
        cdef void* data
        # So that there always are data.
        if self.room - self.size <= more:
            data = PyMem_Realloc(self.data, 2 * self.room + more + 256)
            if data == NULL:
                raise MemoryError()  # uncovered: memory does not run out in tests
            self.data = <uint8_t*> data
            self.room = 2 * self.room + more + 256
        return 0

    cpdef int number(self, int field, uint64_t value) except -1:
        """A number or truth value; 0 is what absence means, and left out."""
        return self.present(field, value) if value else 0

    cpdef int present(self, int field, uint64_t value) except -1:
        """A number of an optional field, or of a oneof's."""
        cdef uint8_t* at
        self.make_room(2 * LONGEST_VARINT)
        at = put_varint(self.data + self.size, field << 3 | VARINT)
        self.size = put_varint(at, value) - self.data
        return 0

    cpdef size_t begin(self, int field) except 0:
        """Begin a message, list or text: what is written up to `end` is in it. Returns what `end` takes."""
        self.make_room(LONGEST_VARINT)
        # A byte for the size.
        self.size = put_varint(self.data + self.size, field << 3 | BYTES) - self.data + 1
        return self.size

    cpdef int end(self, size_t begun) except -1:
        """End what `begin` returned this for."""
        cdef size_t size = self.size - begun, length
        cdef uint8_t varint[LONGEST_VARINT]
        # Most are small, and `begin` has left a byte.
        if size < 0x80:
            self.data[begun - 1] = <uint8_t> size
            return 0
        length = put_varint(varint, size) - varint
        self.make_room(length)
        memmove(self.data + begun + length - 1, self.data + begun, size)
        memcpy(self.data + begun - 1, varint, length)
        self.size += length - 1
        return 0

    cpdef int numbers(self, int field, numbers) except -1:
        """A list of numbers from any iterable."""
        cdef uint64_t number
        cdef size_t before = self.size, begun = self.begin(field)
        for number in numbers:
            self.make_room(LONGEST_VARINT)
            self.size = put_varint(self.data + self.size, number) - self.data
        if self.size > begun:
            return self.end(begun)
        # An empty one is left out.
        self.size = before
        return 0

    cdef int byte_numbers(self, int field, const uint8_t* numbers, int count) except -1:
        # A list of numbers below 256.
        cdef size_t begun
        cdef int i
        if count == 0:
            return 0
        begun = self.begin(field)
        self.make_room(2 * count)
        for i in range(count):
            self.size = put_varint(self.data + self.size, numbers[i]) - self.data
        return self.end(begun)

    cdef int short_numbers(self, int field, const uint16_t* numbers, int count) except -1:
        # A list of numbers below 65536.
        cdef size_t begun
        cdef int i
        if count == 0:
            return 0
        begun = self.begin(field)
        self.make_room(3 * count)
        for i in range(count):
            self.size = put_varint(self.data + self.size, numbers[i]) - self.data
        return self.end(begun)

    cpdef int text(self, int field, str text) except -1:
        """A text; an empty one is what absence means, and left out."""
        cdef size_t begun
        if text:
            begun = self.begin(field)
            self.string(text)
            self.end(begun)
        return 0

    cpdef int fields(self, bytes data) except -1:
        """Fields that are in wire format already."""
        cdef Py_ssize_t size = PyBytes_GET_SIZE(data)
        self.make_room(size)
        memcpy(self.data + self.size, PyBytes_AS_STRING(data), size)
        self.size += size
        return 0

    cpdef int string(self, str text) except -1:
        """A piece of a text."""
        cdef Py_ssize_t size
        cdef const char* data = PyUnicode_AsUTF8AndSize(text, &size)
        self.make_room(size)
        memcpy(self.data + self.size, data, size)
        self.size += size
        return 0

    cdef int words(self, const char* text) except -1:
        # The same, in UTF-8.
        cdef size_t size = strlen(text)
        self.make_room(size)
        memcpy(self.data + self.size, text, size)
        self.size += size
        return 0

    cdef int decimal(self, int number) except -1:
        # A number, 0 or more, as a piece of a text.
        cdef uint8_t digits[LONGEST_VARINT]
        cdef int count = 0
        while True:
            digits[count] = 48 + number % 10
            count += 1
            number //= 10
            if number == 0:
                break
        self.make_room(count)
        while count:
            count -= 1
            self.data[self.size] = digits[count]
            self.size += 1
        return 0

    cdef int words_before(self, const char** rest) except -1:
        # A piece of a text made by codec.label_words, up to the next field: its number. At the end 0.
        cdef const char* begin = rest[0]
        cdef const char* end = begin
        while <uint8_t> end[0] >= FIELDS:
            end += 1
        self.make_room(end - begin)
        memcpy(self.data + self.size, begin, end - begin)
        self.size += end - begin
        rest[0] = end + 1
        return end[0]


def fill(message, put, *what):
    """Fill a message object by one of a codec's functions: `fill(DiscatState(), codec.put_state, position)`."""
    # A message without fields is set, too.
    message.SetInParent()
    message.MergeFromString(written(put, *what))
    return message


def written(put, *what):
    """What one of a codec's functions writes: a message in wire format."""
    cdef Writer out = Writer()
    put(out, *what)
    return bytes(out)


def written_in(int field, put, *what):
    """The same as the only field of a message."""
    cdef Writer out = Writer()
    cdef size_t begun = out.begin(field)
    put(out, *what)
    out.end(begun)
    return bytes(out)


def written_text(put, *what):
    """The same as a text, without a message around it."""
    return written(put, *what).decode()
