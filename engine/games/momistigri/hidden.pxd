# Momistigri: public and hidden. What seats surely know of others' hands when cards move.
#
# Of every hand each other seat, and the public, may surely know that it holds at least so many cards of some kinds, and at
# most so many 1s. Who did not see which card moved can afterwards be sure only of what is true whichever it was: of each kind
# that it knew in the giving hand one card less (unless the hand held cards of one kind alone, all known: then it knows).
from libc.stdint cimport uint8_t, uint64_t

from chatiere.engine.core.stream cimport Stream
from chatiere.engine.games.momistigri.cards cimport bits_of, one_fewer_of_each, with_card, without_card
from chatiere.engine.games.momistigri.state cimport KNOWERS, MOST_PLAYERS, ONES, PUBLIC, State, value_of

cdef inline int all_knowers(const State* state) noexcept nogil:
    return (1 << state.players) - 1 | 1 << PUBLIC

cdef inline void expect_one_more(uint8_t* most_ones) noexcept nogil:
    # At most all 1s of the box is no knowledge.
    most_ones[0] = 0 if most_ones[0] == ONES else most_ones[0] + 1

cdef inline void lay_down(State* state, int seat, int kind) noexcept nogil:
    # From a hand to the pile, seen by all.
    cdef uint64_t bits = bits_of(&state.box, kind)
    cdef uint64_t* known = state.known[seat]
    cdef uint8_t* most_ones = state.most_ones[seat]
    cdef int knower
    state.hands[seat] = without_card(state.hands[seat], bits)
    state.pile = with_card(state.pile, bits)
    for knower in range(KNOWERS):
        known[knower] = without_card(known[knower], bits)
    if value_of(kind) == 1:
        for knower in range(KNOWERS):
            most_ones[knower] -= most_ones[knower] > 1

cdef inline void take_up(State* state, int seat, int kind) noexcept nogil:
    # From the pile to a hand, seen by all.
    cdef uint64_t bits = bits_of(&state.box, kind)
    cdef int others = all_knowers(state) & ~(1 << seat), knower
    state.pile = without_card(state.pile, bits)
    state.hands[seat] = with_card(state.hands[seat], bits)
    for knower in range(KNOWERS):
        if others >> knower & 1:
            state.known[seat][knower] = with_card(state.known[seat][knower], bits)
    if value_of(kind) == 1:
        for knower in range(KNOWERS):
            if state.most_ones[seat][knower]:
                expect_one_more(&state.most_ones[seat][knower])

cdef inline void hand_over(State* state, int giver, int receiver, int kind) noexcept nogil:
    # From a hand to another, drawn or given.
    cdef uint64_t bits = bits_of(&state.box, kind), hand = state.hands[giver]
    cdef uint64_t* given = state.known[giver]
    cdef uint64_t* received = state.known[receiver]
    cdef uint64_t rest = without_card(given[receiver], bits)
    cdef int seen_by = 1 << giver | 1 << receiver, knower
    state.hands[giver] = without_card(hand, bits)
    state.hands[receiver] = with_card(state.hands[receiver], bits)
    received[giver] = with_card(received[giver], bits)
    if hand & ~bits == 0:
        # Of one kind alone: who knows all its cards knows this one.
        for knower in range(KNOWERS):
            if knower != receiver and given[knower] == hand:
                seen_by |= 1 << knower
                received[knower] = with_card(received[knower], bits)
    # Who sees the card though it did not get it knows of no other kind there.
    for knower in range(KNOWERS):
        given[knower] = one_fewer_of_each(&state.box, given[knower])
    given[receiver] = rest
    if state.players == MOST_PLAYERS:
        hand_over_ones(state, giver, receiver, value_of(kind) == 1, seen_by)

cdef inline void hand_over_ones(State* state, int giver, int receiver, bint is_one, int seen_by) noexcept nogil:
    # Only five play with 1s.
    cdef uint8_t* given = state.most_ones[giver]
    cdef uint8_t* received = state.most_ones[receiver]
    cdef int knower
    for knower in range(KNOWERS):
        # Who did not see it expects a 1, if the giver may have had any.
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
