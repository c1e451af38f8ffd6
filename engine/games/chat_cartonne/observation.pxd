# Chat Cartonne: a seat's view as numbers; text.py documents the layout.
from libc.stdint cimport uint8_t

cdef enum:
    OBSERVED_KINDS = 76
    OBSERVED_SEAT_NUMBERS = 43
    OBSERVATION_LENGTH = 7316

cdef void observe(const void* view, int seat, uint8_t* values) noexcept nogil
