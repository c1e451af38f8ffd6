"""Conversion of messages between protobuf's wire format and JSON, without an object for each message and number.

Usual messages are converted exactly as by protobuf. All other messages, including invalid messages, are left to
protobuf.
"""

from binascii import a2b_base64, b2a_base64

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from cpython.ref cimport PyObject
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport INT32_MAX, INT32_MIN, UINT32_MAX, UINT64_MAX, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy

from chatiere.engine.wire.plain cimport plain_number
from chatiere.engine.wire.reader cimport BYTES, FIELDS, HALF_WORD, MAX_VARINT_SIZE, VARINT, WORD, Span, check_field
from chatiere.engine.wire.writer cimport Writer, put_varint

cdef enum Way:
    OTHER
    BOOL
    ENUM
    INT32
    SINT32
    UINT32
    UINT64
    FIXED32
    DOUBLE
    STRING
    RAW
    MESSAGE
    SPECIAL

cdef enum:
    MAX_DIGITS = 20  # of a number with 64 bits

# The scalar types that the API has, with their wire types.
_SCALARS = {
    "bool": (BOOL, VARINT),
    "int32": (INT32, VARINT),
    "sint32": (SINT32, VARINT),
    "uint32": (UINT32, VARINT),
    "uint64": (UINT64, VARINT),
    "fixed32": (FIXED32, HALF_WORD),
    "double": (DOUBLE, WORD),
    "string": (STRING, BYTES),
    "bytes": (RAW, BYTES),
}
_ESCAPES = {
    ord('"'): b'\\"',
    ord("\\"): b"\\\\",
    ord("\b"): b"\\b",
    ord("\f"): b"\\f",
    ord("\n"): b"\\n",
    ord("\r"): b"\\r",
    ord("\t"): b"\\t",
}

cdef struct Shape

cdef struct Field:
    # The pointers are to objects that the Transcoder keeps.
    const Shape* inner  # the shape of a message
    PyObject* names  # of an enum: the JSON of its values, by number
    PyObject* numbers  # of an enum: its numbers, by name
    PyObject* special  # the function that converts a special message
    Span name
    Span json_name
    Span key  # a comma, the name in JSON and a colon
    Span absent  # the key and value of an absent field; empty if it is omitted
    uint32_t excluded  # the set of fields that exclude this field; includes itself unless it may be repeated
    uint8_t number
    uint8_t way
    uint8_t wire_type  # of a value outside packed lists
    bint is_list
    bint has_presence

cdef struct Shape:
    Field* fields  # in the order of the proto file
    int count
    const Field* by_number[FIELDS]


cdef int refuse() except -1:
    # Leave the message to protobuf.
    raise ValueError("not a usual message")


cdef inline Span span_of(bytes data) noexcept:
    # The caller must keep a reference to `data` while the Span is used.
    cdef Span span
    span.at = <const uint8_t*> PyBytes_AS_STRING(data)
    span.end = span.at + PyBytes_GET_SIZE(data)
    return span


cdef inline bytes bytes_of(Span span):
    return (<const char*> span.at)[:span.end - span.at]


cdef int check_utf8(Span text) except -1:
    # Raises UnicodeDecodeError, a subclass of ValueError.
    PyUnicode_DecodeUTF8(<const char*> text.at, text.end - text.at, NULL)


cdef inline int put(Writer out, Span text) except -1:
    cdef size_t size = text.end - text.at
    if out.capacity - out.size <= size:
        out.reserve(size)
    memcpy(out.data + out.size, text.at, size)
    out.size += size


cdef inline int put_byte(Writer out, uint8_t byte) except -1:
    if out.capacity - out.size <= 1:
        out.reserve(1)
    out.data[out.size] = byte
    out.size += 1


# From wire format to JSON


cdef int close(Writer out, size_t begun, uint8_t first, uint8_t last) except -1:
    # Close an object or list. The elements begin at `begun`, and each has a comma before it. `first` replaces the first
    # comma.
    if out.size == begun:
        put_byte(out, first)
    else:
        out.data[begun] = first
    return put_byte(out, last)


cdef int put_decimal(Writer out, uint64_t number) except -1:
    cdef uint8_t digits[MAX_DIGITS]
    cdef uint8_t* at = digits + MAX_DIGITS
    cdef Span text
    text.end = at
    while True:
        at -= 1
        at[0] = <uint8_t> (48 + number % 10)
        number //= 10
        if number == 0:
            break
    text.at = at
    return put(out, text)


cdef int put_signed(Writer out, int64_t number) except -1:
    if number >= 0:
        return put_decimal(out, number)
    put_byte(out, b"-")
    return put_decimal(out, -number)


cdef int put_double(Writer out, uint64_t bits) except -1:
    cdef double value
    memcpy(&value, &bits, sizeof(value))
    # Infinity and NaN are texts in JSON.
    if value - value != 0:
        refuse()
    return out.string(repr(value))


cdef int put_number(Writer out, const Field* field, uint64_t number) except -1:
    if field.way == UINT32 or field.way == FIXED32:
        if number > UINT32_MAX:
            refuse()
        put_decimal(out, number)
    elif field.way == BOOL:
        if number > 1:
            refuse()
        out.fields(b"true" if number else b"false")
    elif field.way == ENUM:
        name = (<dict> field.names).get(number)
        if name is None:
            refuse()
        out.fields(name)
    elif field.way == INT32:
        if not INT32_MIN <= <int64_t> number <= INT32_MAX:
            refuse()
        put_signed(out, <int64_t> number)
    elif field.way == SINT32:
        if number > UINT32_MAX:
            refuse()
        put_signed(out, <int64_t> (number >> 1) ^ -<int64_t> (number & 1))
    elif field.way == UINT64:
        put_byte(out, b'"')
        put_decimal(out, number)
        put_byte(out, b'"')
    else:
        put_double(out, number)


cdef int put_escape(Writer out, uint8_t byte) except -1:
    return out.fields(_ESCAPES[byte] if byte in _ESCAPES else b"\\u%04x" % byte)


cdef int put_string(Writer out, Span text) except -1:
    cdef Span plain
    cdef uint8_t byte, bits = 0
    put_byte(out, b'"')
    plain.at = plain.end = text.at
    while plain.end < text.end:
        byte = plain.end[0]
        bits |= byte
        if byte < 0x20 or byte == b'"' or byte == b"\\":
            put(out, plain)
            put_escape(out, byte)
            plain.at = plain.end + 1
        plain.end += 1
    put(out, plain)
    if bits >= 0x80:
        check_utf8(text)
    return put_byte(out, b'"')


cdef int put_content(Writer out, const Field* field, Span content) except -1:
    # Put a field whose wire type is BYTES, or an element of a list with this wire type.
    if field.way == MESSAGE:
        put_message(out, field.inner, content)
    elif field.way == STRING:
        put_string(out, content)
    elif field.way == RAW:
        put_byte(out, b'"')
        out.fields(b2a_base64(bytes_of(content), newline=False))
        put_byte(out, b'"')
    elif field.way == SPECIAL:
        out.fields((<object> field.special)(bytes_of(content)))
    else:
        refuse()


cdef uint64_t read_number(Span* rest, int wire_type) except? 0:
    cdef uint64_t number = 0
    cdef int i, size
    if wire_type == VARINT:
        if not plain_number(rest, &number):
            refuse()
        return number
    size = 8 if wire_type == WORD else 4
    if rest.end - rest.at < size:
        refuse()
    for i in range(size):
        number |= <uint64_t> rest.at[i] << 8 * i
    rest.at += size
    return number


cdef Span read_content(Span* rest) except *:
    cdef Span content
    cdef uint64_t size = read_number(rest, VARINT)
    if size > <uint64_t> (rest.end - rest.at):
        refuse()
    content.at = rest.at
    content.end = rest.at = rest.at + size
    return content


cdef int put_list(Writer out, const Field* field, Span rest) except -1:
    cdef size_t begun = out.size
    cdef uint64_t tag
    cdef Span content
    while rest.at < rest.end:
        if field.wire_type != BYTES:
            put_byte(out, b",")
            put_number(out, field, read_number(&rest, field.wire_type))
            continue
        # Other fields may be between the elements.
        tag = read_number(&rest, VARINT)
        if tag & 7 != BYTES:
            read_number(&rest, tag & 7)
            continue
        content = read_content(&rest)
        if tag >> 3 == field.number:
            put_byte(out, b",")
            put_content(out, field, content)
    return close(out, begun, b"[", b"]")


cdef int put_message(Writer out, const Shape* shape, Span rest) except -1:
    # The recursion is as deep as shapes are nested; no shape contains itself.
    cdef size_t begun = out.size
    cdef const Field* field
    cdef const uint8_t* before
    cdef Span contents[FIELDS]  # a list of messages or texts: from its first tag to its end
    cdef uint64_t numbers[FIELDS]
    cdef uint64_t tag
    cdef uint32_t seen = 0
    cdef int i, number, wire_type
    while rest.at < rest.end:
        before = rest.at
        tag = read_number(&rest, VARINT)
        wire_type = tag & 7
        number = <int> (tag >> 3) if tag >> 3 < FIELDS else 0
        field = shape.by_number[number]
        if field == NULL or wire_type != (BYTES if field.is_list else field.wire_type) or seen & field.excluded:
            refuse()
        if wire_type != BYTES:
            numbers[number] = read_number(&rest, wire_type)
        elif field.is_list and field.wire_type == BYTES:
            read_content(&rest)
            if not seen >> number & 1:
                contents[number].at = before
            contents[number].end = rest.at
        else:
            contents[number] = read_content(&rest)
        seen |= <uint32_t> 1 << number
    for i in range(shape.count):
        field = &shape.fields[i]
        if not seen >> field.number & 1:
            put(out, field.absent)
            continue
        put(out, field.key)
        if field.is_list:
            put_list(out, field, contents[field.number])
        elif field.wire_type == BYTES:
            put_content(out, field, contents[field.number])
        else:
            put_number(out, field, numbers[field.number])
    return close(out, begun, b"{", b"}")


# From JSON to wire format


cdef inline int next_byte(Span* text) noexcept:
    # Return the next byte that is not white space, without taking it. Return -1 at the end.
    cdef uint8_t byte
    while text.at < text.end:
        byte = text.at[0]
        if byte != b" " and byte != b"\n" and byte != b"\r" and byte != b"\t":
            return byte
        text.at += 1
    return -1


cdef inline bint takes(Span* text, uint8_t byte) noexcept:
    if next_byte(text) != byte:
        return False
    text.at += 1
    return True


cdef inline int take(Span* text, uint8_t byte) except -1:
    if not takes(text, byte):
        refuse()


cdef int take_word(Span* text, Span word) except -1:
    cdef size_t size = word.end - word.at
    if <size_t> (text.end - text.at) < size or memcmp(text.at, word.at, size) != 0:
        refuse()
    text.at += size


cdef Span take_string(Span* text) except *:
    # Strings with escapes are left to protobuf.
    cdef Span content
    cdef uint8_t byte, bits = 0
    take(text, b'"')
    content.at = text.at
    while text.at < text.end:
        byte = text.at[0]
        text.at += 1
        if byte == b'"':
            content.end = text.at - 1
            if bits >= 0x80:
                check_utf8(content)
            return content
        if byte < 0x20 or byte == b"\\":
            refuse()
        bits |= byte
    refuse()


cdef uint64_t take_digits(Span* text) except? 0:
    cdef uint64_t number = 0
    cdef const uint8_t* begin = text.at
    cdef uint8_t digit
    while text.at < text.end and b"0" <= text.at[0] <= b"9":
        digit = text.at[0] - <uint8_t> b"0"
        # No digit follows a leading zero.
        if number > (UINT64_MAX - digit) // 10 or (number == 0 and text.at > begin):
            refuse()
        number = 10 * number + digit
        text.at += 1
    if text.at == begin:
        refuse()
    return number


cdef uint64_t take_integer(Span* text, const Field* field) except? 0:
    # Read an integer, and return the number that encodes it. If a fraction or an exponent follows the digits, the
    # caller leaves the message to protobuf.
    cdef bint is_quoted = takes(text, b'"')
    cdef bint is_signed = field.way == INT32 or field.way == SINT32
    cdef bint is_negative = is_signed and text.at < text.end and text.at[0] == b"-"
    cdef uint64_t number, most = UINT64_MAX if field.way == UINT64 else UINT32_MAX
    if is_signed:
        most = <uint64_t> INT32_MAX + is_negative
    text.at += is_negative
    number = take_digits(text)
    if number > most:
        refuse()
    if is_quoted:
        if text.at == text.end or text.at[0] != b'"':
            refuse()
        text.at += 1
    if is_negative:
        number = -number
    return number << 1 ^ -(number >> 63) if field.way == SINT32 else number


cdef uint64_t take_number(Span* text, const Field* field) except? 0:
    if field.way == BOOL:
        if next_byte(text) == b"t":
            take_word(text, span_of(b"true"))
            return 1
        take_word(text, span_of(b"false"))
        return 0
    if field.way == ENUM:
        number = (<dict> field.numbers).get(bytes_of(take_string(text)))
        if number is None:
            refuse()
        return number
    if field.way == FIXED32 or field.way == DOUBLE:
        # Only responses have such numbers.
        refuse()
    return take_integer(text, field)


cdef int take_base64(Writer out, Span text) except -1:
    cdef bytes encoded = bytes_of(text), data = a2b_base64(encoded)
    # Base64 in another alphabet or without padding is left to protobuf.
    if b2a_base64(data, newline=False) != encoded:
        refuse()
    return out.fields(data)


cdef int take_content(Writer out, Span* text, const Field* field) except -1:
    # Take the content of a field whose wire type is BYTES, or of an element of a list with this wire type.
    if field.way == MESSAGE:
        take_message(out, text, field.inner)
    elif field.way == STRING:
        put(out, take_string(text))
    elif field.way == RAW:
        take_base64(out, take_string(text))
    else:
        refuse()


cdef int take_value(Writer out, Span* text, const Field* field) except -1:
    cdef size_t before = out.size, begun
    cdef uint64_t number
    if field.wire_type != BYTES:
        number = take_number(text, field)
        if number or field.has_presence:
            out.present(field.number, number)
    else:
        begun = out.begin(field.number)
        take_content(out, text, field)
        if out.size > begun or field.has_presence:
            out.end(begun)
        else:
            # An empty text without presence is omitted.
            out.size = before


cdef int take_list(Writer out, Span* text, const Field* field) except -1:
    cdef size_t before = out.size, begun
    cdef uint64_t number
    cdef bint is_empty = True
    take(text, b"[")
    if field.wire_type != BYTES:
        begun = out.begin(field.number)
    while not takes(text, b"]"):
        if not is_empty:
            take(text, b",")
        is_empty = False
        if field.wire_type == BYTES:
            begun = out.begin(field.number)
            take_content(out, text, field)
            out.end(begun)
        else:
            number = take_number(text, field)
            out.reserve(MAX_VARINT_SIZE)
            out.size = put_varint(out.data + out.size, number) - out.data
    if is_empty:
        out.size = before
    elif field.wire_type != BYTES:
        out.end(begun)


cdef inline bint is_same(Span one, Span other) noexcept:
    return one.end - one.at == other.end - other.at and memcmp(one.at, other.at, one.end - one.at) == 0


cdef const Field* field_of(const Shape* shape, Span key, int expected) except NULL:
    # Fields are usually in the order of the proto file, so try `expected` first.
    cdef const Field* field
    cdef int i
    for i in range(shape.count):
        field = &shape.fields[(expected + i) % shape.count]
        if is_same(key, field.json_name) or is_same(key, field.name):
            return field
    refuse()


cdef int take_message(Writer out, Span* text, const Shape* shape) except -1:
    # The recursion is as deep as shapes are nested; no shape contains itself.
    cdef const Field* field
    cdef uint32_t seen = 0
    cdef int expected = 0
    take(text, b"{")
    while not takes(text, b"}"):
        if seen:
            take(text, b",")
        field = field_of(shape, take_string(text), expected)
        expected = <int> (field - shape.fields) + 1
        if seen & (field.excluded | <uint32_t> 1 << field.number):
            refuse()
        seen |= <uint32_t> 1 << field.number
        take(text, b":")
        if field.is_list:
            take_list(out, text, field)
        else:
            take_value(out, text, field)


cdef class Transcoder:
    """A converter of messages of one type."""

    cdef Shape shape
    cdef list owned

    def __cinit__(self, fields):
        """Initialize a converter with the fields of a message, in the order of the proto file.

        Args:
            fields: A tuple (number, name, json_name, content, is_list, absent, excluded) for each field. The content is
                the name of a scalar type, the numbers of an enum by name, or the Transcoder of a message. For a special
                message, it is a function that converts the message from wire format to JSON. None means that only
                protobuf converts the field. `absent` is the JSON of an absent field, or None if it is omitted.
                `excluded` has the numbers of the fields that exclude this field. They include the field's own number
                unless it is a list of messages or texts.
        """
        cdef Field* field
        listed = list(fields)
        self.owned = []
        self.shape.fields = <Field*> PyMem_Calloc(len(listed), sizeof(Field))
        if self.shape.fields == NULL:
            raise MemoryError()  # uncovered: memory does not run out in tests
        for number, name, json_name, content, is_list, absent, excluded in listed:
            check_field(number)
            field = &self.shape.fields[self.shape.count]
            self.shape.count += 1
            self.shape.by_number[<int> number] = field
            for other in excluded:
                field.excluded |= <uint32_t> 1 << <int> other
            field.number, field.is_list, field.has_presence = number, is_list, absent is None
            field.name, field.json_name = self.own_text(name), self.own_text(json_name)
            field.key = self.own_text(f',"{json_name}":')
            field.absent = self.own_text("" if absent is None else f',"{json_name}":{absent}')
            self.set_content(field, content)

    def __dealloc__(self):
        PyMem_Free(self.shape.fields)

    cdef PyObject* own(self, thing):
        self.owned.append(thing)
        return <PyObject*> thing

    cdef Span own_text(self, str text):
        cdef bytes data = text.encode()
        self.owned.append(data)
        return span_of(data)

    cdef int set_content(self, Field* field, content) except -1:
        field.wire_type = BYTES
        if isinstance(content, str):
            field.way, field.wire_type = _SCALARS[content]
        elif isinstance(content, dict):
            field.way, field.wire_type = ENUM, VARINT
            field.names = self.own({number: f'"{name}"'.encode() for name, number in content.items()})
            field.numbers = self.own({name.encode(): number for name, number in content.items()})
        elif isinstance(content, Transcoder):
            field.way = MESSAGE
            self.owned.append(content)
            field.inner = &(<Transcoder> content).shape
        elif content is not None:
            field.way = SPECIAL
            field.special = self.own(content)

    def to_json(self, bytes message not None):
        """Return a message as JSON in UTF-8, or None if protobuf has to convert it.

        Fields that are zero or empty are included.
        """
        cdef Writer out = Writer()
        try:
            put_message(out, &self.shape, span_of(message))
        except ValueError:
            return None
        return bytes(out)

    def from_json(self, bytes text not None):
        """Return a message in wire format, or None if protobuf has to convert or refuse it.

        Args:
            text: The message in JSON, encoded in UTF-8. Protobuf has to convert messages with unknown fields, null,
                escapes, special messages, or numbers and base64 in another form than `to_json` writes.
        """
        cdef Writer out = Writer()
        cdef Span rest = span_of(text)
        try:
            take_message(out, &rest, &self.shape)
            if next_byte(&rest) != -1:
                refuse()
        except ValueError:
            return None
        return bytes(out)
