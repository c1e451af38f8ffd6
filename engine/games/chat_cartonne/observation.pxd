# Chat Cartonne: a seat's view as numbers; text.py documents the layout.
from libc.stdint cimport uint8_t

cdef enum:
    OBSERVATION_SEAT_NUMBERS = 22
    OBSERVATION_LENGTH = 1373

cdef void observe(const void* view, int seat, uint8_t* values) noexcept nogil
