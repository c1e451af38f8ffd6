# Momistigri: the rules, as functions over the packed state.
from libc.stdint cimport uint8_t

from chatiere.engine.games.momistigri.state cimport State

cdef void note_copies(State* state, const uint8_t* copies) noexcept nogil
cdef int last_round_end(const State* state) noexcept nogil
cdef void view(const void* body, int seat, void* out) noexcept nogil
