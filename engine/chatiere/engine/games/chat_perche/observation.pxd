# Chat perché: a seat's observation. description.py documents the layout.
from libc.stdint cimport uint8_t

from .state cimport BRANCHES, CARD_TYPES, DECK_SIZE, MAX_SOLIDITY, PHASES, SPACES

cdef enum:
    OBSERVATION_TABLE_NUMBERS = 9
    # The terms are planes of spaces, numbers for branches, tokens by value, the full deck, the rest of both decks, the
    # card, and the table.
    OBSERVATION_LENGTH = (
        5 * SPACES
        + 5 * BRANCHES
        + 3 * MAX_SOLIDITY
        + 3 * DECK_SIZE
        + CARD_TYPES
        + OBSERVATION_TABLE_NUMBERS
        + PHASES
    )

cdef void observe(const void* view, int seat, uint8_t* values) noexcept nogil
