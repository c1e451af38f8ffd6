"""Estimates of the memory that messages will use as protobuf's objects, made from their bytes before parsing.

A few bytes can become an object of several hundred bytes. The weight of a request (its number of elements and its
memory) is therefore estimated first, and the request is refused if the weight is too large.
"""

from libc.stdint cimport UINT64_MAX, uint8_t, uint32_t, uint64_t

from chatiere.engine.wire.reader cimport BEGIN_GROUP, BYTES, END_GROUP, FIELDS, HALF_WORD, VARINT, WORD, Span

cdef enum:
    # The memory in bytes that protobuf's C library (upb) uses, rounded up. The numbers are for a message without its
    # fields, a field in a message, a string in a list, and an unknown field (in addition to the content).
    OF_MESSAGE = 64
    OF_FIELD = 16
    OF_STRING = 16
    OF_UNKNOWN = 64
    # The factor for lists. When a list is full, its capacity is doubled, and its old memory is freed only with the
    # whole message.
    GROWTH = 4

cdef enum Way:
    UNKNOWN
    NUMBER
    STRING
    MESSAGE

cdef struct Shape

cdef struct Field:
    const Shape* inner  # the shape of a message
    uint32_t size  # the memory in bytes for an occurrence, or for each number of a list
    uint8_t way
    uint8_t wire_type  # the wire type of a number

cdef struct Shape:
    Field fields[FIELDS]
    uint32_t size  # the memory in bytes for an empty message

cdef struct Weight:
    uint64_t elements
    uint64_t memory
    uint64_t max_elements
    uint64_t max_memory


cdef bint take_number(Span* rest, uint64_t* number) noexcept nogil:
    # Read a varint of any length that protobuf accepts: up to ten bytes.
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
    # Read the content of a field into `inner`, unless it is a varint. Returns False if the field is malformed.
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
    # Add the weight of a message. Stop at the first malformed field, where protobuf also stops, or once the weight is
    # too large. No shape contains itself, so the depth of the recursion is limited.
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
            # Groups are unknown fields. Protobuf stores each as a whole.
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
    """An estimator that weighs messages of one type. It knows the types of the fields."""

    cdef Shape shape
    cdef list inner  # the Scales that own the shapes to which this object's shape refers

    def __cinit__(self):
        self.inner = []

    def __init__(self, fields):
        """Initialize an estimator with the fields of a message.

        Args:
            fields: A tuple (number, content, is_list, wire_type) for each field. `content` is the Scales of a message,
                the size of a number in memory in bytes, or None for a string. `wire_type` is the wire type of a number
                outside of packed lists.
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
                # Add 8 bytes, because strings are aligned to 8 bytes.
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

        The estimate ends at malformed bytes, and as soon as either result exceeds its maximum.

        Args:
            data: The message, a buffer.
            max_elements: The maximum number of elements.
            max_memory: The maximum memory, in bytes.

        Returns:
            The number of elements (nested messages, strings, numbers and unknown fields, at any depth), and the maximum
            memory that the message's object can use, in bytes.
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
