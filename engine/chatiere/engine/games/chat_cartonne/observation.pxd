# Chat Cartonne: a seat's view as numbers; text.py documents the layout.
from libc.stdint cimport uint8_t

from chatiere.engine.games.chat_cartonne.state cimport CELLS, MAX_HAND, PARTS, PHASES, PRINCESS, SEATS, TOYS

cdef enum:
    # Contents of cells: nothing, nine kinds of printed contents as two and more, then these.
    FIRST_TOY_SHOWN = 9
    FIRST_SLEEPER_SHOWN = FIRST_TOY_SHOWN + TOYS
    FIRST_WOKEN_SHOWN = FIRST_SLEEPER_SHOWN + SEATS
    PRINCESS_SHOWN = FIRST_WOKEN_SHOWN + SEATS
    OBSERVATION_SEAT_NUMBERS = 6 + 2 * PARTS + 2 * MAX_HAND
    # Two planes; the own hand, kinds not seen; a card to place and the one just played; seats; parts; single numbers,
    # four variants among them; the phase.
    OBSERVATION_LENGTH = (
        2 * CELLS + MAX_HAND + PRINCESS + 1 + 3 + SEATS * OBSERVATION_SEAT_NUMBERS + 2 * PARTS + 8 + PHASES
    )

cdef void observe(const void* view, int seat, uint8_t* values) noexcept nogil
