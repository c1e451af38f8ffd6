# Chatpentiers: a seat's view as numbers; text.py documents the layout.
from libc.stdint cimport uint8_t

cdef enum:
    OBSERVATION_SEAT_NUMBERS = 25
    OBSERVATION_TABLE_NUMBERS = 26
    # 5 planes of cards, 5 boards, 5 seats, the table.
    OBSERVATION_LENGTH = 10 * 60 + 5 * OBSERVATION_SEAT_NUMBERS + OBSERVATION_TABLE_NUMBERS

cdef void observe(const void* view, int seat, uint8_t* values) noexcept nogil
