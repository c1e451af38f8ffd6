# Momistigri: public and hidden. Where cards lie, and what seats surely know of others' hands when cards move.
#
# Of every hand each other seat, and the public, may surely know a least number of cards of some kinds, and a greatest
# number of 1s. A seat that did not see which card moved is afterwards sure only of what holds for any card: of each
# kind that it knew in the giving hand, one card less (unless the hand held cards of one kind alone, all known: then it
# knows).
from libc.stdint cimport uint8_t, uint64_t

from chatiere.engine.core.stream cimport Stream
from chatiere.engine.games.momistigri.cards cimport MAX_PLAYERS, Box, further_cards
from chatiere.engine.games.momistigri.state cimport KNOWERS, ONES, PUBLIC, State, value_of

cdef inline int all_knowers(const State* state) noexcept nogil:
    return (1 << state.players) - 1 | 1 << PUBLIC

cdef inline void expect_one_more(uint8_t* most_ones) noexcept nogil:
    # All 1s of the box is no bound.
    most_ones[0] = 0 if most_ones[0] == ONES else most_ones[0] + 1

# Cards of kinds that later seats hold, with all that is known of them, one place down or up.
cdef void move_down(State* state, uint64_t cards) noexcept nogil
cdef void move_up(State* state, uint64_t cards) noexcept nogil
# Lay every kind's cards in the order of who holds them, with all that is known of them.
cdef void order_by_holder(State* state, const Box* box) noexcept nogil

cdef inline void take_out(State* state, int seat, uint64_t kind_bits) noexcept nogil:
    # Move the last card of a kind, about which nothing is known any more, out of a hand.
    cdef uint64_t mine = state.hands[seat] & kind_bits, last = mine & ~(mine >> 1)
    cdef uint64_t later = kind_bits & ~state.left & ~(last | last - 1)
    state.hands[seat] ^= last
    if later:
        move_down(state, later)
        last = later & ~(later >> 1)
    state.left ^= last

cdef inline void put_in(State* state, int seat, uint64_t kind_bits) noexcept nogil:
    # Move a card of a kind that is left into a hand, as its last. Usually no hand holds another.
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
    # Forget one card of each of these kinds in a hand; `further`: the cards without the first of each kind.
    cdef int knower
    for knower in range(KNOWERS):
        state.known[knower] = state.known[knower] & ~mine | (state.known[knower] & further) >> 1

cdef inline void expect_one_less(uint8_t* most_ones) noexcept nogil:
    # Everybody sees a 1 leave.
    cdef int knower
    for knower in range(KNOWERS):
        most_ones[knower] -= most_ones[knower] > 1

cdef inline void lay_down(State* state, int seat, int kind, uint64_t kind_bits) noexcept nogil:
    # Move a card from a hand to the pile, seen by all.
    cdef uint64_t mine = state.hands[seat] & kind_bits
    forget_first(state, mine, mine & (mine - 1))
    take_out(state, seat, kind_bits)
    if value_of(kind) == 1:
        expect_one_less(state.most_ones[seat])

cdef inline void lay_down_pair(
    State* state, int seat, int low, int high, uint64_t low_bits, uint64_t high_bits
) noexcept nogil:
    # Two cards at once, unless they are of one kind.
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
    # Let a knower know one more of a hand's cards of one kind.
    state.known[knower] |= (state.known[knower] & mine) + (mine & -mine)

cdef inline void take_up(State* state, int seat, int kind, uint64_t kind_bits) noexcept nogil:
    # Move a card from the pile to a hand, seen by all.
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
    # Those who know all cards of a hand, as bits.
    cdef int knowers = 0, knower
    for knower in range(KNOWERS):
        knowers |= (state.known[knower] & hand == hand) << knower
    return knowers

cdef inline void hand_over(
    State* state, const Box* box, int giver, int receiver, int kind, uint64_t kind_bits
) noexcept nogil:
    # Move a card from a hand to another, drawn or given.
    cdef uint64_t hand = state.hands[giver], mine = hand & kind_bits
    cdef uint64_t further = further_cards(box, hand), seen = state.known[receiver]
    # If the hand is of one kind alone, all who know its cards know this one.
    cdef int deduced_by = who_knows(state, hand) if hand == mine else 0, knower
    # In a hand of one kind there is no other kind to know.
    forget_first(state, hand, further)
    state.known[receiver] = seen & ~mine | (seen & mine & further) >> 1
    if mine == kind_bits & ~state.left and mine & (mine - 1) == 0:
        # No hand holds another: it stays where it is in the box.
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
        # Only five play with 1s.
        hand_over_ones(state, giver, receiver, value_of(kind) == 1, deduced_by | 1 << giver | 1 << receiver)

cdef inline void hand_over_ones(State* state, int giver, int receiver, bint is_one, int seen_by) noexcept nogil:
    cdef uint8_t* given = state.most_ones[giver]
    cdef uint8_t* received = state.most_ones[receiver]
    cdef int knower
    for knower in range(KNOWERS):
        # A seat that did not see it expects a 1, if the giver may have had any.
        if received[knower] and (is_one if seen_by >> knower & 1 else given[knower] != 1):
            expect_one_more(&received[knower])
        if is_one and seen_by >> knower & 1 and given[knower]:
            given[knower] -= 1

cdef inline void show_no_ones(State* state, int seat) noexcept nogil:
    # All see that a hand holds no 1.
    cdef int others = all_knowers(state) & ~(1 << seat), knower
    for knower in range(KNOWERS):
        state.most_ones[seat][knower] = others >> knower & 1

cdef inline void forget_ones(State* state, int seat) noexcept nogil:
    # Of a hand that is empty for good.
    cdef int knower
    for knower in range(KNOWERS):
        state.most_ones[seat][knower] = 0

cdef int resample(void* body, int seat, Stream* stream) noexcept nogil
