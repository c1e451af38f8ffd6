# Discat: observations; text.py documents the layout.
from libc.stdint cimport uint8_t

from chatiere.engine.games.discat.state cimport LARGEST_CARD, MAX_PLAYERS, PHASES

cdef enum:
    OBSERVATION_PLANES = 5  # of a number for each card
    OBSERVATION_SEAT_NUMBERS = 8
    FIRST_PHASE_NUMBER = 6  # of the table's numbers, after the single ones
    OBSERVATION_TABLE_NUMBERS = FIRST_PHASE_NUMBER + PHASES
    OBSERVATION_LENGTH = (
        OBSERVATION_PLANES * LARGEST_CARD + MAX_PLAYERS * OBSERVATION_SEAT_NUMBERS + OBSERVATION_TABLE_NUMBERS
    )

cdef void see(const void* body, int seat, void* out) noexcept nogil
cdef void observe(const void* view, int seat, uint8_t* values) noexcept nogil
