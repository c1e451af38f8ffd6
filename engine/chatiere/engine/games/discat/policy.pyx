"""Discat: the playout policy. The weight of an action depends on a few of its features."""

from libc.stdint cimport uint64_t

from chatiere.engine.core.bits cimport count_bits
from .state cimport (
    FIRST_EXCHANGE_ID, MAX_HAND, PASS, TOP_SHIFT, State, can_respect, card_in_slot, cards_in_use, next_seat, points_up,
    slots_alike, tens_digits,
)

# If the scores of two actions differ by 4, the action with the higher score is twice as likely. The weights were chosen
# by hand and compared in paired games (docs/bots.md). examples/tune_playouts.py searches for better weights.
PLAYOUT_WEIGHTS = {
    "decisions": 4,  # the number of decisions of a playout that use the policy; later ones are uniform. 255 means all
    "pair": 6,  # a group of two cards
    "triple": 12,  # a group of three cards
    "bonus_group": 24,  # a group of four cards
    "winning_group": 60,  # a group of five or six cards
    "partners": -3,  # for each other card of the hand that shares a digit with a single card played
    "room": -1,  # for each eighth of the cards in use that may be the next top
    "blocks": 6,  # the next seat has no card that may be the next top
    "exchange": 0,  # a card is exchanged
    "exchanged_partners": -4,  # for each other card of the hand that shares a digit with the exchanged card
}
cdef Weights WEIGHTS = PLAYOUT_WEIGHTS


def pack_weights(weights):
    """Convert a dict of weights by name to the kernel's struct."""
    cdef Weights packed = weights
    return (<const char*> &packed)[:sizeof(Weights)]


cdef int score_top(const State* state, const Weights* weights, int card) noexcept nogil:
    # Return the score of a top card by the constraint that it creates.
    cdef int in_use = cards_in_use(state.players)
    cdef int left = in_use - card if points_up(state, card) else card - 1
    cdef bint blocks = not can_respect(state, next_seat(state, state.active), card)
    return weights.room * (8 * left // in_use) + weights.blocks * blocks


cdef void advise(
    const void* body, const void* weights, const uint16_t* ids, int count, int16_t* scores
) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef const Weights* by = <const Weights*> weights
    cdef uint64_t hand = state.hand[state.active], tens = tens_digits(hand)
    cdef int size = state.hand_size[state.active], slot, i
    cdef int[MAX_HAND] partners
    cdef int[MAX_HAND] tops
    cdef int[MAX_HAND] sizes
    for slot in range(size):
        partners[slot] = count_bits(slots_alike(tens, size, slot)) - 1
        partners[slot] += count_bits(slots_alike(hand - 10 * tens, size, slot)) - 1
    if state.phase == PASS:
        scores[0] = 0
        for i in range(1, count):
            scores[i] = by.exchange + by.exchanged_partners * partners[ids[i] - FIRST_EXCHANGE_ID]
        return
    for slot in range(size):
        tops[slot] = score_top(state, by, card_in_slot(hand, slot))
    sizes[0] = 0
    sizes[1] = by.pair
    sizes[2] = by.triple
    sizes[3] = by.bonus_group
    sizes[4] = sizes[5] = by.winning_group
    for i in range(count):
        slot = ids[i] >> TOP_SHIFT
        scores[i] = tops[slot]
        if ids[i] & (1 << TOP_SHIFT) - 1:
            scores[i] += sizes[count_bits(ids[i] & (1 << TOP_SHIFT) - 1)]
        else:
            scores[i] += by.partners * partners[slot]
