# Chat Cartonne: chance outcomes.
from libc.stdint cimport uint16_t, uint32_t

from chatiere.engine.core.game cimport NO_SEAT
from chatiere.engine.core.stream cimport Stream
from chatiere.engine.games.chat_cartonne.state cimport (
    ALL_PRINCESSES,
    KIND,
    PRINCESS,
    State,
    count_kinds,
    current_part,
    has_kind,
    pile_size,
)

cdef inline bint start_is_left(const State* state, int kind) noexcept nogil:
    cdef int place
    for place in range(state.laid):
        if state.cards[place] & KIND == kind:
            return False
    return True

cdef inline bint can_come(const State* state, int kind) noexcept nogil:
    # At a draw from the pile.
    cdef int left, part = current_part(state, pile_size(state), &left)
    if kind == PRINCESS:
        if state.variants & ALL_PRINCESSES:
            return left > count_kinds(state.unknown)
        return state.drawer[part] == NO_SEAT
    if kind < 0 or kind > PRINCESS or not has_kind(state.unknown, kind):
        return False
    return state.variants & ALL_PRINCESSES or left > 1 or state.drawer[part] != NO_SEAT

cdef int chance_outcomes(const void* body, uint16_t* outcomes, uint32_t* weights) noexcept nogil
cdef int sample_outcome(const void* body, Stream* stream) noexcept nogil
