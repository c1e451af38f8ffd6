# Discat: what a seat knows, as numbers; text.py documents the layout.
from libc.stdint cimport uint8_t

cdef enum:
    OBSERVATION_CARDS = 90
    OBSERVATION_PLANES = 5
    OBSERVATION_SEATS = 6
    OBSERVATION_SEAT_NUMBERS = 8
    OBSERVATION_TABLE_NUMBERS = 14
    OBSERVATION_LENGTH = (
        OBSERVATION_PLANES * OBSERVATION_CARDS + OBSERVATION_SEATS * OBSERVATION_SEAT_NUMBERS + OBSERVATION_TABLE_NUMBERS
    )

cdef void see(const void* body, int seat, void* out) noexcept nogil
cdef void observe(const void* view, int seat, uint8_t* values) noexcept nogil
