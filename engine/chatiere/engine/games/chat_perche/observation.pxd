# Chat perché: a seat's observation. description.py documents the layout.
from libc.stdint cimport uint8_t

from .state cimport BRANCHES, CARD_TYPES, DECK_SIZE, MAX_SOLIDITY, PHASES, SPACES

cdef enum:
    OBSERVATION_TABLE_NUMBERS = 9
    # Planes of spaces, numbers of branches, tokens by value, full deck, rest of both decks, the card, the table.
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
