"""Momistigri: the playout policy, which finds actions likely by a few of their features."""

from libc.stdint cimport int8_t, uint64_t

from chatiere.engine.games.momistigri.weights import PLAYOUT_WEIGHTS

from chatiere.engine.games.momistigri.cards cimport COLOURS, KINDS, MOMISTIGRI, VALUES, bit, kinds_in
from chatiere.engine.games.momistigri.legal cimport cards_of_pair, kind_of_gift
from chatiere.engine.games.momistigri.state cimport (
    FIRST_GIVE_ID,
    FIRST_HAND_OUT_ID,
    FIRST_NAME_ID,
    FIRST_SWAP_IN_ID,
    FIRST_SWAP_OUT_ID,
    MAIN_ID,
    PASS_ID,
    State,
    box_of,
    decider,
    value_of,
)

cdef Weights WEIGHTS = PLAYOUT_WEIGHTS
# The kinds that form pairs with each kind, itself excepted, as bits; written once, when the module is loaded.
cdef uint64_t OTHERS[KINDS]


cdef void list_others() noexcept:
    cdef int kind, i
    for kind in range(MOMISTIGRI):
        for i in range(VALUES):
            OTHERS[kind] |= bit(kind // VALUES * VALUES + i)
        for i in range(COLOURS):
            OTHERS[kind] |= bit(i * VALUES + kind % VALUES)
        OTHERS[kind] &= ~bit(kind)


list_others()


def pack_weights(weights):
    """Return weights by name as the kernel's struct."""
    cdef Weights packed = weights
    return (<const char*> &packed)[:sizeof(Weights)]


cdef inline int score_pair(const Weights* by, int action) noexcept nogil:
    cdef const int8_t* effects = &by.effect_1
    cdef int low, high
    cards_of_pair(action, &low, &high)
    low = value_of(low)
    high = value_of(high)
    return by.pair + by.pair_value * (low + high) // 2 + (effects[low - 1] if low == high else 0)


cdef inline int score_card(const Weights* by, uint64_t held, int action) noexcept nogil:
    # `held`: the kinds in the hand of the seat to decide.
    cdef int kind
    if FIRST_HAND_OUT_ID <= action < FIRST_SWAP_OUT_ID:
        return by.handed_value * value_of(action - FIRST_HAND_OUT_ID)
    if action >= FIRST_SWAP_IN_ID:
        kind = action - FIRST_SWAP_IN_ID
        return by.taken_value * value_of(kind) + by.taken_partners * (OTHERS[kind] & held != 0)
    if action >= FIRST_SWAP_OUT_ID:
        kind = action - FIRST_SWAP_OUT_ID
    elif action >= FIRST_GIVE_ID:
        kind = kind_of_gift(action)
    else:
        kind = action - FIRST_NAME_ID
    return by.given_value * value_of(kind) + by.given_alone * (OTHERS[kind] & held == 0)


cdef void advise(
    const void* body, const void* weights, const uint16_t* ids, int count, int16_t* scores
) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef const Weights* by = <const Weights*> weights
    cdef uint64_t held = 0
    cdef int i
    if ids[0] >= FIRST_NAME_ID:
        held = kinds_in(box_of(state), state.hands[decider(state)])
    for i in range(count):
        if ids[i] < PASS_ID:
            scores[i] = score_pair(by, ids[i])
        elif ids[i] < FIRST_NAME_ID:
            scores[i] = by.main if ids[i] == MAIN_ID else 0
        else:
            scores[i] = score_card(by, held, ids[i])
