# Chatpentiers: a seat's observation. description.py documents the layout.
from libc.stdint cimport uint8_t

from .state cimport CARDS, COLOURS, MAX_PLAYERS, PHASES, SECTIONS

cpdef enum:
    # Offsets in the numbers of a seat.
    OBSERVATION_VOIDS = 10
    OBSERVATION_ZONES = OBSERVATION_VOIDS + COLOURS
    OBSERVATION_COUNTS = OBSERVATION_ZONES + COLOURS
    OBSERVATION_SEAT_NUMBERS = OBSERVATION_COUNTS + COLOURS
    # Offsets in the numbers of the table.
    OBSERVATION_LIMITS = 3
    OBSERVATION_COLOURS_IN_USE = OBSERVATION_LIMITS + SECTIONS
    OBSERVATION_LED_COLOUR = OBSERVATION_COLOURS_IN_USE + COLOURS
    OBSERVATION_UNDEALT = OBSERVATION_LED_COLOUR + COLOURS
    OBSERVATION_PHASE = OBSERVATION_UNDEALT + 3
    OBSERVATION_TABLE_NUMBERS = OBSERVATION_PHASE + PHASES
    # The sizes of the observation's parts: planes of cards, boards and numbers of seats, and the table.
    OBSERVATION_PLANES = 5
    OBSERVATION_LENGTH = (
        OBSERVATION_PLANES * CARDS + MAX_PLAYERS * (CARDS + OBSERVATION_SEAT_NUMBERS) + OBSERVATION_TABLE_NUMBERS
    )

cdef void observe(const void* view, int seat, uint8_t* values) noexcept nogil
