# Chatpentiers: the rules, as functions over the packed state.
from libc.stdint cimport uint8_t

from chatiere.engine.games.chatpentiers.state cimport BoardScore, State

cdef void rank_seats(const State* state, uint8_t* seats) noexcept nogil
cdef int cards_to_take(const State* state) noexcept nogil
cdef void score_board(const State* state, int seat, BoardScore* score) noexcept nogil
cdef void view(const void* body, int seat, void* out) noexcept nogil
