# Momistigri: public and hidden information: the places of cards, and updates of the knowledge about hands.
#
# The knowers of a hand are all other seats and the public. A knower may know that a hand has at least some number of
# cards of a kind, and at most some number of 1s. If a knower did not see which card moved, the knower keeps only facts
# that are true whichever card moved. For each kind, the knower then knows one card less in the giving hand. There is
# one exception: if the hand had cards of only one kind and the knower knew all of these cards, the knower also knows
# which card moved.
from libc.stdint cimport uint8_t, uint64_t

from chatiere.engine.core.stream cimport Stream
from .state cimport KNOWERS, MAX_PLAYERS, ONES, PUBLIC, Box, State, further_cards, value_of

cdef inline int all_knowers(const State* state) noexcept nogil:
    return (1 << state.players) - 1 | 1 << PUBLIC

cdef inline void expect_one_more(uint8_t* most_ones) noexcept nogil:
    # Increase a maximum number of 1s. A maximum equal to the number of 1s in the box is no bound, and is stored as 0.
    most_ones[0] = 0 if most_ones[0] == ONES else most_ones[0] + 1

# Move cards one place down or up, together with all knowledge about them. Other seats also have cards of these kinds.
cdef void move_down(State* state, uint64_t cards) noexcept nogil
cdef void move_up(State* state, uint64_t cards) noexcept nogil
# Sort the cards of each kind by their holders, together with all knowledge about these cards.
cdef void order_by_holder(State* state, const Box* box) noexcept nogil

cdef inline void take_out(State* state, int seat, uint64_t kind_bits) noexcept nogil:
    # Move the last card of a kind out of a hand. The caller must have removed all knowledge about this card.
    cdef uint64_t mine = state.hands[seat] & kind_bits, last = mine & ~(mine >> 1)
    cdef uint64_t later = kind_bits & ~state.left & ~(last | last - 1)
    state.hands[seat] ^= last
    if later:
        move_down(state, later)
        last = later & ~(later >> 1)
    state.left ^= last

cdef inline void put_in(State* state, int seat, uint64_t kind_bits) noexcept nogil:
    # Move a card of a kind from `left` into a hand, where it becomes the last of this kind. Usually, no other hand has
    # cards of the kind.
    cdef uint64_t left = state.left & kind_bits
    cdef uint64_t place = left & -left, later = 0
    cdef int i
    state.left ^= place
    if left != kind_bits:
        for i in range(seat + 1, MAX_PLAYERS):
            later |= state.hands[i]
        later &= kind_bits
        if later:
            move_up(state, later)
            place = later & -later
    state.hands[seat] |= place

cdef inline void forget_first(State* state, uint64_t mine, uint64_t further) noexcept nogil:
    # For every knower, reduce the number of known cards of some kinds by one. `mine` has all cards of these kinds in
    # the hand, and `further` has the same cards except the first card of each kind.
    cdef int knower
    for knower in range(KNOWERS):
        state.known[knower] = state.known[knower] & ~mine | (state.known[knower] & further) >> 1

cdef inline void expect_one_less(uint8_t* most_ones) noexcept nogil:
    # Decrease the maximum numbers of 1s, because all seats see a 1 leave the hand.
    cdef int knower
    for knower in range(KNOWERS):
        most_ones[knower] -= most_ones[knower] > 1

cdef inline void lay_down(State* state, int seat, int kind, uint64_t kind_bits) noexcept nogil:
    # Move a card from a hand to the pile. All seats see it.
    cdef uint64_t mine = state.hands[seat] & kind_bits
    forget_first(state, mine, mine & (mine - 1))
    take_out(state, seat, kind_bits)
    if value_of(kind) == 1:
        expect_one_less(state.most_ones[seat])

cdef inline void lay_down_pair(
    State* state, int seat, int low, int high, uint64_t low_bits, uint64_t high_bits
) noexcept nogil:
    # Move a pair from a hand to the pile. Cards of different kinds are moved in one step.
    cdef uint64_t low_mine = state.hands[seat] & low_bits, high_mine = state.hands[seat] & high_bits
    if low == high:
        lay_down(state, seat, low, low_bits)
        lay_down(state, seat, low, low_bits)
        return
    forget_first(state, low_mine | high_mine, low_mine & (low_mine - 1) | high_mine & (high_mine - 1))
    take_out(state, seat, low_bits)
    take_out(state, seat, high_bits)
    if state.players == MAX_PLAYERS:
        if value_of(low) == 1:
            expect_one_less(state.most_ones[seat])
        if value_of(high) == 1:
            expect_one_less(state.most_ones[seat])

cdef inline void learn(State* state, int knower, uint64_t mine) noexcept nogil:
    # Record that a knower knows one more card of a kind in a hand.
    state.known[knower] |= (state.known[knower] & mine) + (mine & -mine)

cdef inline void take_up(State* state, int seat, int kind, uint64_t kind_bits) noexcept nogil:
    # Move a card from the pile to a hand. All seats see it.
    cdef int others = all_knowers(state) & ~(1 << seat), knower
    put_in(state, seat, kind_bits)
    for knower in range(KNOWERS):
        if others >> knower & 1:
            learn(state, knower, state.hands[seat] & kind_bits)
    if value_of(kind) == 1:
        for knower in range(KNOWERS):
            if state.most_ones[seat][knower]:
                expect_one_more(&state.most_ones[seat][knower])

cdef inline int who_knows(const State* state, uint64_t hand) noexcept nogil:
    # Return the set of knowers that know all cards of a hand.
    cdef int knowers = 0, knower
    for knower in range(KNOWERS):
        knowers |= (state.known[knower] & hand == hand) << knower
    return knowers

cdef inline void hand_over(
    State* state, const Box* box, int giver, int receiver, int kind, uint64_t kind_bits
) noexcept nogil:
    # Move a card that is drawn or given from one hand to another.
    cdef uint64_t hand = state.hands[giver], mine = hand & kind_bits
    cdef uint64_t further = further_cards(box, hand), seen = state.known[receiver]
    # If the hand has a single kind, every knower of all its cards knows this card.
    cdef int deduced_by = who_knows(state, hand) if hand == mine else 0, knower
    # All knowers lose a card of each kind in the hand. This is also correct for knowers that know the card, because the
    # hand then has no other kind.
    forget_first(state, hand, further)
    state.known[receiver] = seen & ~mine | (seen & mine & further) >> 1
    if mine == kind_bits & ~state.left and mine & (mine - 1) == 0:
        # No other hand has cards of the kind, so the card keeps its place.
        state.hands[giver] ^= mine
        state.hands[receiver] |= mine
    else:
        take_out(state, giver, kind_bits)
        put_in(state, receiver, kind_bits)
    learn(state, giver, state.hands[receiver] & kind_bits)
    if deduced_by:
        for knower in range(KNOWERS):
            if knower != receiver and deduced_by >> knower & 1:
                learn(state, knower, state.hands[receiver] & kind_bits)
    if state.players == MAX_PLAYERS:
        # Only games of five players have 1s.
        hand_over_ones(state, giver, receiver, value_of(kind) == 1, deduced_by | 1 << giver | 1 << receiver)

cdef inline void hand_over_ones(State* state, int giver, int receiver, bint is_one, int seen_by) noexcept nogil:
    cdef uint8_t* given = state.most_ones[giver]
    cdef uint8_t* received = state.most_ones[receiver]
    cdef int knower
    for knower in range(KNOWERS):
        # A knower that did not see the card must assume that it was a 1 if the giver may have had a 1.
        if received[knower] and (is_one if seen_by >> knower & 1 else given[knower] != 1):
            expect_one_more(&received[knower])
        if is_one and seen_by >> knower & 1 and given[knower]:
            given[knower] -= 1

cdef inline void show_no_ones(State* state, int seat) noexcept nogil:
    # Record that all seats know that a hand holds no 1s.
    cdef int others = all_knowers(state) & ~(1 << seat), knower
    for knower in range(KNOWERS):
        state.most_ones[seat][knower] = others >> knower & 1

cdef inline void forget_ones(State* state, int seat) noexcept nogil:
    # Remove the knowledge about the number of 1s in a hand that will remain empty.
    cdef int knower
    for knower in range(KNOWERS):
        state.most_ones[seat][knower] = 0

cdef int resample(void* body, int seat, Stream* stream) noexcept nogil
