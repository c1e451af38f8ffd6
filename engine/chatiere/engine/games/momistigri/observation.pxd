# Momistigri: a seat's observation. description.py documents the layout.
from libc.stdint cimport uint8_t

from .state cimport BOX, COLOURED, MARKS, MAX_PLAYERS, PHASES, ROUNDS

cpdef enum:
    OBSERVATION_SEAT_NUMBERS = 11 + ROUNDS
    # The terms of the sum, in order: the own hand, the pile, the unseen cards, the other hands, the public knowledge
    # about each hand, the copies, the seats, the single numbers, and the mark and the phase.
    OBSERVATION_LENGTH = (
        (3 + MAX_PLAYERS - 1 + MAX_PLAYERS) * BOX
        + COLOURED
        + MAX_PLAYERS * OBSERVATION_SEAT_NUMBERS
        + 7 + MARKS + PHASES
    )

cdef void observe(const void* view, int seat, uint8_t* values) noexcept nogil
