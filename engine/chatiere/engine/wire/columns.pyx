"""Messages with columns, in protobuf's wire format. Long fields are removed and inserted without copies."""

from cpython.pyport cimport PY_SSIZE_T_MAX
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from chatiere.engine.wire.reader cimport (
    BYTES,
    FIELDS,
    MAX_VARINT_SIZE,
    VARINT,
    Span,
    check_field,
    read_bytes,
    read_varint,
    skip,
)
from chatiere.engine.wire.writer cimport put_varint

cdef enum:
    MAX_PREFIX_SIZE = 5


cdef Py_ssize_t count_down(Py_ssize_t left) except -1:
    # Count a field, and return the number of further fields allowed. Raising an error at the first field above the
    # limit avoids parsing the rest.
    if left == 0:
        raise OverflowError("too many fields")
    return left - 1


def cut(data, fields, most=None):
    """Cut fields (for example columns) out of a message without copying them.

    Args:
        data: The message, a buffer.
        fields: The numbers, below 16, of fields that are bytes or messages.
        most: The maximum number of fields in the message. None means no limit.

    Returns:
        The rest of the message as bytes, and a dict that maps the number of each field found to a view of its content.

    Raises:
        OverflowError: If there are more than `most` fields.
        ValueError: If `data` is not a message, or if a field is repeated or has a needlessly long tag or length.
            Callers let protobuf parse the message in these cases.
    """
    cdef const uint8_t[::1] buffer = data
    cdef uint32_t wanted = 0
    cdef const uint8_t* begin
    cdef Span span, inner
    cdef uint64_t tag
    cdef Py_ssize_t kept = 0, before, left = PY_SSIZE_T_MAX if most is None else most
    view, rest, found = memoryview(data), [], {}
    if buffer.shape[0] == 0:
        return b"", found
    for field in fields:
        check_field(field)
        wanted |= <uint32_t> 1 << <int> field
    begin = span.at = &buffer[0]
    span.end = begin + buffer.shape[0]
    while span.at < span.end:
        left = count_down(left)
        before = span.at - begin
        tag = read_varint(&span)
        if tag & 7 == VARINT:
            read_varint(&span)
        elif tag & 7 != BYTES:
            skip(&span, tag & 7)
        else:
            inner = read_bytes(&span)
            if tag >> 3 < FIELDS and wanted >> (tag >> 3) & 1:
                if tag >> 3 in found or inner.at - begin - before > 1 + MAX_PREFIX_SIZE:
                    raise ValueError("unusual encoding of a field")
                found[tag >> 3] = view[inner.at - begin:inner.end - begin]
                rest.append(view[kept:before])
                kept = span.at - begin
    rest.append(view[kept:])
    return b"".join(rest), found


def cut_list(data, int field, Py_ssize_t most, Py_ssize_t max_fields):
    """Cut a repeated field of messages out of a message.

    Args:
        data: The message, a buffer.
        field: The number of the field.
        most: The maximum number of elements to return.
        max_fields: The maximum number of fields in the message.

    Returns:
        The rest of the message as bytes, the number of elements cut out, and the bytes of the first `most` elements.

    Raises:
        OverflowError: If there are more than `max_fields` fields.
        ValueError: If `data` is not a message.
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
        max_fields = count_down(max_fields)
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


cpdef bytes head(int field, Py_ssize_t size):
    """Return the tag and length of a field whose content (bytes, text or a message) has `size` bytes."""
    cdef uint8_t[MAX_VARINT_SIZE + MAX_VARINT_SIZE] bytes_before
    cdef uint8_t* at
    check_field(field)
    at = put_varint(put_varint(bytes_before, field << 3 | BYTES), size)
    return (<const char*> bytes_before)[:at - bytes_before]


def pieces_of(numbers, fields):
    """Return fields of a message, as a list of pieces to join. The contents of the fields are not copied.

    Args:
        numbers: A mapping from the names of the message's fields to their numbers.
        fields: The name and the content of each field. The content is a buffer of bytes, a list of the pieces of a
            message, or None if the field is absent. An empty buffer is omitted.
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
