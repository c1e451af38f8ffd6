# Chat perché: the ways in the tree, and where cats and birds may go.
from libc.stdint cimport uint64_t

from chatiere.engine.games.chat_perche.state cimport State

cdef int distance(int start, int end) noexcept nogil
cdef bint is_forward(int start, int end) noexcept nogil
cdef uint64_t spaces_in_play(const State* state) noexcept nogil
cdef uint64_t bird_spaces(const State* state) noexcept nogil
cdef bint start_cat_may_move(const State* state, int colour) noexcept nogil
cdef bint trunk_is_full(const State* state, int colour, int start) noexcept nogil
cdef uint64_t ends_of_moves(const State* state, int colour, int start, uint64_t free) noexcept nogil
cdef bint is_asked(const State* state) noexcept nogil
