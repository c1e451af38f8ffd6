# Discat: a seat's view as numbers; text.py documents the layout.
from libc.stdint cimport uint8_t

cdef enum:
    OBSERVATION_CARDS = 90
    OBSERVATION_PLANES = 6
    OBSERVATION_SEATS = 6
    OBSERVATION_SEAT_NUMBERS = 8
    OBSERVATION_TABLE_NUMBERS = 14
    OBSERVATION_LENGTH = 602

cdef void observe(const void* view, int seat, uint8_t* values) noexcept nogil
