# Moves, playouts and perft for any game, using its operations.
from libc.stdint cimport uint16_t, uint32_t, uint64_t

from chatiere.engine.core.operations cimport Events, Operations
from chatiere.engine.core.stream cimport Stream

cdef int make_move(
    const Operations* ops, void* body, Stream* stream, uint32_t* ply, int move, Events* events
) noexcept nogil
cdef void draw(const Operations* ops, void* body, Stream* stream, Events* events) noexcept nogil
cdef int settle(const Operations* ops, void* body, Stream* stream) noexcept nogil
cdef uint64_t playout(const Operations* ops, void* body, Stream* stream) noexcept nogil
cdef uint64_t weigh_actions(
    const Operations* ops, const void* body, const uint16_t* ids, int count, uint32_t* likelihoods
) noexcept nogil
cdef int draw_action(
    const Operations* ops, const void* body, const uint16_t* ids, int count, Stream* stream
) noexcept nogil
cdef uint64_t advised_playout(const Operations* ops, void* body, Stream* stream) noexcept nogil
cdef uint64_t count_paths(const Operations* ops, const void* body, const Stream* stream, int depth) noexcept nogil
