# Discat: observations; description.py documents the layout.
from libc.stdint cimport uint8_t

from .state cimport MAX_CARD, MAX_PLAYERS, PHASES, REDRAWN_KEPT

cpdef enum:
    OBSERVATION_PLANES = 8  # each with a number for each card
    OBSERVATION_SEAT_NUMBERS = 8
    FIRST_PHASE_NUMBER = 6  # of the table's numbers, after the single ones
    OBSERVATION_TABLE_NUMBERS = FIRST_PHASE_NUMBER + PHASES
    # The turns of a top have a bit for each pass that was an exchange, and above them the number of turns.
    TURNS_BIT = MAX_PLAYERS - 1
    OBSERVATION_LENGTH = (
        OBSERVATION_PLANES * MAX_CARD
        + REDRAWN_KEPT
        + MAX_PLAYERS * OBSERVATION_SEAT_NUMBERS
        + OBSERVATION_TABLE_NUMBERS
    )

cdef void see(const void* body, int seat, void* out) noexcept nogil
cdef void observe(const void* view, int seat, uint8_t* values) noexcept nogil
