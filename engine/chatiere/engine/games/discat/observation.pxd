# Discat: observations; text.py documents the layout.
from libc.stdint cimport uint8_t

from chatiere.engine.games.discat.state cimport MAX_CARD, MAX_PLAYERS, PHASES, REDRAWN_KEPT

cdef enum:
    OBSERVATION_PLANES = 8  # of a number for each card
    OBSERVATION_SEAT_NUMBERS = 8
    FIRST_PHASE_NUMBER = 6  # of the table's numbers, after the single ones
    OBSERVATION_TABLE_NUMBERS = FIRST_PHASE_NUMBER + PHASES
    # A top's turns: a bit for each pass that exchanged, and above them the number of turns.
    TURNS_BIT = MAX_PLAYERS - 1
    OBSERVATION_LENGTH = (
        OBSERVATION_PLANES * MAX_CARD
        + REDRAWN_KEPT
        + MAX_PLAYERS * OBSERVATION_SEAT_NUMBERS
        + OBSERVATION_TABLE_NUMBERS
    )

cdef void see(const void* body, int seat, void* out) noexcept nogil
cdef void observe(const void* view, int seat, uint8_t* values) noexcept nogil
