"""Momistigri: the playout policy. The weight of an action depends on a few of its features."""

from libc.stdint cimport int8_t, uint64_t

from .state cimport (
    COLOURS, FIRST_GIVE_ID, FIRST_HAND_OUT_ID, FIRST_NAME_ID, FIRST_SWAP_IN_ID, FIRST_SWAP_OUT_ID, KINDS, MAIN_ID,
    MOMISTIGRI, PASS_ID, VALUES, State, bit, box_of, cards_of_pair, decider, kind_of_gift, kinds_in, value_of,
)

# If the scores of two actions differ by 4, the action with the higher score is twice as likely. The weights were chosen
# by hand and compared in paired games (docs/bots.md). examples/tune_playouts.py searches for better weights.
PLAYOUT_WEIGHTS = {
    "decisions": 255,  # the number of decisions of a playout that use the policy; later ones are uniform. 255 means all
    "pair": 12,  # a pair is discarded
    "pair_value": 1,  # for every two points of its values
    "effect_1": 2,  # the pair has value 1
    "effect_2": 2,  # the pair has value 2
    "effect_3": 2,  # the pair has value 3
    "effect_4": 2,  # the pair has value 4
    "effect_5": 2,  # the pair has value 5
    "effect_6": 2,  # the pair has value 6
    "effect_7": 2,  # the pair has value 7
    "effect_8": 2,  # the pair has value 8
    "main": 6,  # the main effect of a pair is chosen, not the reversal
    "given_value": 2,  # for each point of a card named, given or swapped out
    "given_alone": 4,  # the card named, given or swapped out forms no pair in the hand
    "handed_value": 2,  # for each point of a card handed out
    "taken_value": -2,  # for each point of a card swapped in
    "taken_partners": 4,  # the card swapped in forms a pair in the hand
}
cdef Weights WEIGHTS = PLAYOUT_WEIGHTS
# For each kind, the set of other kinds with which it forms pairs. The table is written once, at import.
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
    """Convert a dict of weights by name to the kernel's struct."""
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
    # Return the score of an action that names a card. `held` has the kinds in the deciding seat's hand.
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
