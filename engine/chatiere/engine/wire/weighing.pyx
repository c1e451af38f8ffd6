"""The weight of messages as protobuf's objects, estimated from their bytes before anything is parsed.

A few bytes can become an object of several hundred bytes. Requests are therefore weighed first, and refused if they are
    too heavy.
"""

from libc.stdint cimport UINT64_MAX, uint8_t, uint32_t, uint64_t

from chatiere.engine.wire.reader cimport BEGIN_GROUP, BYTES, END_GROUP, FIELDS, HALF_WORD, VARINT, WORD, Span

cdef enum:
    # Bytes of memory, rounded up, in protobuf's C library (upb): of a message without its fields; of a field in it; of
    # a string in a list; of an unknown field in addition to its own bytes.
    OF_MESSAGE = 64
    OF_FIELD = 16
    OF_STRING = 16
    OF_UNKNOWN = 64
    # A list is doubled when it is full, and its old memory is freed only with the whole message.
    GROWTH = 4

cdef enum Way:
    UNKNOWN
    NUMBER
    STRING
    MESSAGE

cdef struct Shape

cdef struct Field:
    const Shape* inner  # the shape of a message
    uint32_t size  # bytes of memory of an occurrence; of each number if it is a list
    uint8_t way
    uint8_t wire_type  # of a number

cdef struct Shape:
    Field fields[FIELDS]
    uint32_t size  # bytes of memory of an empty message

cdef struct Weight:
    uint64_t elements
    uint64_t memory
    uint64_t max_elements
    uint64_t max_memory


cdef bint take_number(Span* rest, uint64_t* number) noexcept nogil:
    # Read a number of any length that protobuf accepts, which is up to ten bytes.
    cdef int shift = 0
    cdef uint8_t byte
    number[0] = 0
    while rest.at < rest.end and shift < 70:
        byte = rest.at[0]
        rest.at += 1
        number[0] |= <uint64_t> (byte & 0x7F) << shift
        if byte < 0x80:
            return True
        shift += 7
    return False


cdef bint take_field(Span* rest, int wire_type, Span* inner) noexcept nogil:
    # `inner`: the content, unless it is a varint. False if the field is malformed.
    cdef uint64_t size = 0
    if wire_type == VARINT:
        return take_number(rest, &size)
    if wire_type == WORD:
        size = 8
    elif wire_type == HALF_WORD:
        size = 4
    elif wire_type != BYTES or not take_number(rest, &size):
        return False
    if size > <uint64_t> (rest.end - rest.at):
        return False
    inner.at = rest.at
    inner.end = rest.at = rest.at + size
    return True


cdef uint64_t count_numbers(Span packed, int wire_type) noexcept nogil:
    cdef uint64_t count = 0
    if wire_type != VARINT:
        return (packed.end - packed.at) // (8 if wire_type == WORD else 4)
    while packed.at < packed.end:
        count += packed.at[0] < 0x80
        packed.at += 1
    return count


cdef void weigh(const Shape* shape, Span rest, Weight* weight) noexcept nogil:
    # Weigh as far as protobuf reads, which is to a malformed field, or until the weight is too large. The recursion is
    # as deep as shapes are nested; no shape contains itself.
    cdef const Field* field
    cdef const uint8_t* begin = rest.at
    cdef Span inner
    cdef uint64_t tag, count
    cdef int groups = 0, wire_type
    while weight.elements <= weight.max_elements and weight.memory <= weight.max_memory and take_number(&rest, &tag):
        wire_type = tag & 7
        if wire_type == BEGIN_GROUP:
            groups += 1
        elif wire_type == END_GROUP:
            groups -= 1
        elif not take_field(&rest, wire_type, &inner):
            break
        if groups != 0:
            # Groups are unknown fields, kept whole.
            if groups < 0:
                break
            continue
        field = &shape.fields[tag >> 3 if tag >> 3 < FIELDS else 0]
        count = 1
        if field.way == NUMBER and wire_type == field.wire_type:
            weight.memory += field.size
        elif field.way == NUMBER and wire_type == BYTES and field.size > 0:
            count = count_numbers(inner, field.wire_type)
            weight.memory += count * field.size
        elif field.way >= STRING and wire_type == BYTES:
            weight.memory += field.size
            if field.way == STRING:
                weight.memory += inner.end - inner.at
            else:
                weigh(field.inner, inner, weight)
        else:
            weight.memory += OF_UNKNOWN + GROWTH * (rest.at - begin)
        weight.elements += count
        begin = rest.at


cdef class Scales:
    """Scales for messages of one type, with the types of its fields."""

    cdef Shape shape
    cdef list inner  # the scales whose shapes this one's points to

    def __cinit__(self):
        self.inner = []

    def __init__(self, fields):
        """Initialize scales with the fields of a message.

        Args:
            fields: A tuple (number, content, is_list, wire_type) for each field. The content is the Scales of a
                message, the bytes of memory that a number takes, or None for a string. The wire type is that of a
                number outside packed lists.
        """
        cdef Field* field
        self.shape.size = OF_MESSAGE
        for number, content, is_list, wire_type in fields:
            if not 0 < number < FIELDS:
                raise ValueError(f"fields are 1 to {FIELDS - 1}, not {number}")
            field = &self.shape.fields[<int> number]
            self.shape.size += OF_FIELD
            if content is None:
                field.way = STRING
                # Strings begin at multiples of 8.
                field.size = 8 + (GROWTH * OF_STRING if is_list else 0)
            elif isinstance(content, Scales):
                field.way = MESSAGE
                field.inner = &(<Scales> content).shape
                field.size = field.inner.size + (GROWTH * sizeof(void*) if is_list else 0)
                self.inner.append(content)
            else:
                field.way = NUMBER
                field.wire_type = wire_type
                field.size = GROWTH * <uint32_t> content if is_list else 0

    def weigh(self, data, uint64_t max_elements=UINT64_MAX, uint64_t max_memory=UINT64_MAX):
        """Estimate the weight of a message of this type.

        Weighing ends at malformed bytes, and as soon as either number exceeds its maximum.

        Args:
            data: The message, a buffer.
            max_elements: The largest number of elements.
            max_memory: The largest number of bytes of memory.

        Returns:
            The number of elements (nested messages, strings, numbers and unknown fields, at any depth), and the largest
            number of bytes of memory that the message's object can take.
        """
        cdef const uint8_t[::1] buffer = data
        cdef Weight weight
        cdef Span span
        weight.elements = 0
        weight.memory = self.shape.size
        weight.max_elements = max_elements
        weight.max_memory = max_memory
        if buffer.shape[0] > 0:
            span.at = &buffer[0]
            span.end = span.at + buffer.shape[0]
            weigh(&self.shape, span, &weight)
        return weight.elements, weight.memory
