# Masks of legal actions. Each item has a row of flags, or of bits with the lowest bit of each byte first.
from libc.stdint cimport uint8_t, uint16_t
from libc.string cimport memset

ctypedef struct MaskRows:
    uint8_t* rows  # NULL if no mask was requested
    Py_ssize_t row_size  # the size of a row in bytes
    bint are_bits

cdef inline void put_mask(const MaskRows* masks, Py_ssize_t item, const uint16_t* ids, Py_ssize_t count) noexcept nogil:
    cdef uint8_t* row = masks.rows + item * masks.row_size
    cdef Py_ssize_t i
    memset(row, 0, masks.row_size)
    if masks.are_bits:
        for i in range(count):
            row[ids[i] >> 3] |= 1 << (ids[i] & 7)
    else:
        for i in range(count):
            row[ids[i]] = 1
