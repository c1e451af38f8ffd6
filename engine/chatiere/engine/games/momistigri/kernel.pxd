# Momistigri: the rules as functions on the packed state.
from libc.stdint cimport uint8_t

from .state cimport Box, State

cdef void note_copies(State* state, const uint8_t* copies) noexcept nogil
cdef int last_round_end(const State* state) noexcept nogil
cdef void view(const void* body, int seat, void* out) noexcept nogil
cdef int forbids_gift(const State* state, const Box* box, int distance, int kind) noexcept nogil
