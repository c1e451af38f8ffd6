# Momistigri: a seat's view as numbers; text.py documents the layout.
from libc.stdint cimport uint8_t

from chatiere.engine.games.momistigri.cards cimport BOX, COLOURED, MAX_PLAYERS
from chatiere.engine.games.momistigri.state cimport MARKS, PHASES, ROUNDS

cdef enum:
    OBSERVATION_SEAT_NUMBERS = 11 + ROUNDS
    # A hand, the pile, the unseen cards, the other hands and what all know of each hand; copies; the seats; single
    # numbers; the mark and the phase.
    OBSERVATION_LENGTH = (
        (3 + MAX_PLAYERS - 1 + MAX_PLAYERS) * BOX
        + COLOURED
        + MAX_PLAYERS * OBSERVATION_SEAT_NUMBERS
        + 7 + MARKS + PHASES
    )

cdef void observe(const void* view, int seat, uint8_t* values) noexcept nogil
