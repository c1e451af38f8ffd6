"""Deliberate faults, compiled with the flags of the kernels. The debug build has to detect them."""

from libc.stdint cimport int32_t, uint8_t, uint64_t
from libc.string cimport memcpy

from chatiere.engine.core.moves cimport make_move
from chatiere.engine.core.operations cimport OK, Events, Operations


def overflow(number):
    """Add 1 to a C int."""
    cdef int32_t value = number
    value += 1
    return value


def overread(bytes packed):
    """Read a packed state up to one byte past its end."""
    cdef const uint8_t* data = packed
    cdef uint8_t copy[4096]
    # A bytes object ends with a zero byte; the byte after it is out of bounds.
    memcpy(copy, data, len(packed) + 2)
    return copy[len(packed) + 1]


def index_past_end(index):
    """Write to an element of a fixed-size array."""
    cdef uint8_t hand[6]
    cdef int place = index
    hand[place] = 1
    return hand[place]


cdef int always_deciding(const void* body) noexcept nogil:
    return 0


cdef int move_nowhere(void* body, int action, Events* events) noexcept nogil:
    return OK


cdef int never_valid(const void* body) noexcept nogil:
    # Return the first of the fault codes that a game defines.
    return 100


def break_an_invariant():
    """Make a move in a game whose states never pass their check."""
    cdef Operations operations
    cdef uint64_t body[1]
    operations.actor = always_deciding
    operations.apply = move_nowhere
    operations.check = never_valid
    make_move(&operations, body, NULL, NULL, 0, NULL)
