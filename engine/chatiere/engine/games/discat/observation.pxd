# Discat: a seat's observation. description.py documents the layout.
from libc.stdint cimport uint8_t

from .state cimport MAX_CARD, MAX_PLAYERS, PHASES, REDRAWN_KEPT

cpdef enum:
    OBSERVATION_PLANES = 8  # the number of planes; each plane has a number for each card
    OBSERVATION_SEAT_NUMBERS = 8
    FIRST_PHASE_NUMBER = 6  # the offset of the phase in the table's numbers, after the single numbers
    OBSERVATION_TABLE_NUMBERS = FIRST_PHASE_NUMBER + PHASES
    # In the number for a top's turns, the low bits mark the passes that were exchanges. The number of turns is above
    # them.
    TURNS_BIT = MAX_PLAYERS - 1
    OBSERVATION_LENGTH = (
        OBSERVATION_PLANES * MAX_CARD
        + REDRAWN_KEPT
        + MAX_PLAYERS * OBSERVATION_SEAT_NUMBERS
        + OBSERVATION_TABLE_NUMBERS
    )

cdef void see(const void* body, int seat, void* out) noexcept nogil
cdef void observe(const void* view, int seat, uint8_t* values) noexcept nogil
