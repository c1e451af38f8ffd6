# Momistigri: what may be done.
from libc.stdint cimport uint16_t, uint64_t

from chatiere.engine.games.momistigri.cards cimport Box
from chatiere.engine.games.momistigri.state cimport MomistigriFault, State

cdef void cards_of_pair(int action, int* low, int* high) noexcept nogil
cdef int forbids_gift(const State* state, const Box* box, int seat, int kind) noexcept nogil
cdef int forbids_handing_out(const State* state, const Box* box, int kind) noexcept nogil
cdef int forbids_naming(const State* state, const Box* box, int kind) noexcept nogil
cdef int forbids_pair(const State* state, int low, int high, uint64_t low_bits, uint64_t high_bits) noexcept nogil
cdef int forbids_phase(const State* state, int phase, MomistigriFault not_now) noexcept nogil
cdef int forbids_swapping_in(const State* state, const Box* box, int kind) noexcept nogil
cdef int forbids_swapping_out(const State* state, const Box* box, int kind) noexcept nogil
cdef int legal_actions(const void* body, uint16_t* ids) noexcept nogil
