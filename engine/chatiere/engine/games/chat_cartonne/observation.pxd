# Chat Cartonne: a seat's observation. description.py documents the layout.
from libc.stdint cimport uint8_t

from .state cimport CELLS, MAX_HAND, PARTS, PHASES, PRINCESS, SEATS, TOYS

cpdef enum:
    # The numbers for contents of cells are 0 for no card, 1 for empty, 2-8 for other printed contents, and the
    # following.
    FIRST_TOY_SHOWN = 9
    FIRST_SLEEPER_SHOWN = FIRST_TOY_SHOWN + TOYS
    FIRST_WOKEN_SHOWN = FIRST_SLEEPER_SHOWN + SEATS
    PRINCESS_SHOWN = FIRST_WOKEN_SHOWN + SEATS
    OBSERVATION_SEAT_NUMBERS = 6 + 2 * PARTS + 2 * MAX_HAND
    # The terms of the sum, in order: two planes, the own hand and the unseen kinds, the pending card and the cell just
    # played, the seats, the parts of the pile, the single numbers with the four variants, and the phase.
    OBSERVATION_LENGTH = (
        2 * CELLS + MAX_HAND + PRINCESS + 1 + 3 + SEATS * OBSERVATION_SEAT_NUMBERS + 2 * PARTS + 8 + PHASES
    )

cdef void observe(const void* view, int seat, uint8_t* values) noexcept nogil
