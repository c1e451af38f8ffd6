# Discat: the rules as functions on the packed state.
from libc.stdint cimport uint8_t

from .state cimport State

cdef int slots_played(int action) noexcept nogil
cdef int play_cards(const State* state, int action, uint8_t* cards) noexcept nogil
cdef void count_piles(const State* state, int* piles, int* bonuses) noexcept nogil
cdef void view(const void* body, int seat, void* out) noexcept nogil
