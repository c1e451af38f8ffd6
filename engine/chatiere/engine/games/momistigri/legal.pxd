# Momistigri: legal actions.
from libc.stdint cimport uint8_t, uint16_t, uint64_t

from chatiere.engine.core.game cimport OK
from chatiere.engine.games.momistigri.cards cimport KINDS, Box
from chatiere.engine.games.momistigri.state cimport AGAIN, DISCARD, FIRST_GIVE_ID, PASS_ID, MomistigriFault, State

cdef int forbids_gift(const State* state, const Box* box, int distance, int kind) noexcept nogil
cdef int forbids_handing_out(const State* state, const Box* box, int kind) noexcept nogil
cdef int forbids_naming(const State* state, const Box* box, int kind) noexcept nogil
cdef int forbids_swapping_in(const State* state, const Box* box, int kind) noexcept nogil
cdef int forbids_swapping_out(const State* state, const Box* box, int kind) noexcept nogil
cdef int legal_actions(const void* body, uint16_t* ids) noexcept nogil

# Written once, when the module is loaded.
# The two kinds of each DiscardPair, id high * (high + 1) / 2 + low, the lower first.
cdef uint8_t PAIRS[PASS_ID][2]
# The kinds up to itself with which each kind forms pairs, as bits: those of its colour and of its value.
cdef uint64_t PARTNERS[KINDS]

cdef inline void cards_of_pair(int action, int* low, int* high) noexcept nogil:
    low[0] = PAIRS[action][0]
    high[0] = PAIRS[action][1]

cdef inline int distance_of_gift(int action) noexcept nogil:
    # The receiver's distance to the giver's left, 1-4; with fewer seats there may be nobody.
    return 1 + (action - FIRST_GIVE_ID) // KINDS

cdef inline int kind_of_gift(int action) noexcept nogil:
    return (action - FIRST_GIVE_ID) % KINDS

cdef inline int id_of_gift(int distance, int kind) noexcept nogil:
    return FIRST_GIVE_ID + KINDS * (distance - 1) + kind

cdef inline int forbids_phase(const State* state, int phase, MomistigriFault not_now) noexcept nogil:
    if state.phase != phase:
        return not_now
    return OK

cdef inline int forbids_pair(
    const State* state, int low, int high, uint64_t low_bits, uint64_t high_bits
) noexcept nogil:
    cdef uint64_t hand = state.hands[state.active], first = hand & low_bits, rest
    first &= -first
    rest = hand ^ first
    if state.phase != DISCARD and state.phase != AGAIN:
        return MomistigriFault.NO_PAIR_NOW
    if first == 0 or rest & high_bits == 0:
        return MomistigriFault.CARD_NOT_IN_HAND
    if not PARTNERS[high] >> low & 1:
        return MomistigriFault.NOT_A_PAIR
    return OK
