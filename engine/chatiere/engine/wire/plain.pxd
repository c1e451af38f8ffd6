# Plain numbers, as protobuf itself writes them.
from libc.stdint cimport uint8_t, uint64_t

from chatiere.engine.wire.reader cimport Span

# Read a varint. Returns False if there is no number, or if the encoding is longer than needed.
cdef inline bint plain_number(Span* rest, uint64_t* number) noexcept nogil:
    cdef int shift = 0
    cdef uint8_t byte
    # Most numbers have one byte.
    if rest.at < rest.end and rest.at[0] < 0x80:
        number[0] = rest.at[0]
        rest.at += 1
        return True
    number[0] = 0
    while rest.at < rest.end and shift < 64:
        byte = rest.at[0]
        rest.at += 1
        number[0] |= <uint64_t> (byte & 0x7F) << shift
        if byte < 0x80:
            return shift == 0 or 0 < byte <= (1 if shift == 63 else 0x7F)
        shift += 7
    return False
