# Chat Cartonne: legal actions.
from libc.stdint cimport uint16_t

from chatiere.engine.core.stream cimport Stream
from chatiere.engine.games.chat_cartonne.state cimport State

cdef int forbids(const State* state, int action) noexcept nogil
cdef int legal_actions(const void* body, uint16_t* ids) noexcept nogil
cdef int sample_action(const void* body, Stream* stream) noexcept nogil
cdef int playable_types(const State* state) noexcept nogil
