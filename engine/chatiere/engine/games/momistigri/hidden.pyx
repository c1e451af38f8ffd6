"""Momistigri: resampling of the information hidden from a seat."""

from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memset

from chatiere.engine.core.operations cimport OK
from chatiere.engine.core.stream cimport Stream, number_below
from .state cimport (
    BOX, DEAL, FINISHED, KNOWERS, MAX_PLAYERS, ONES, PUBLIC, Box, State, bit, box_of, count_cards, further_cards,
    lowest, of_value,
)

cdef enum:
    # The last of the places for which hidden cards are drawn. It has the undealt cards.
    UNDEALT = MAX_PLAYERS
    PLACES = 6


cdef void move_down(State* state, uint64_t cards) noexcept nogil:
    cdef int i
    for i in range(MAX_PLAYERS):
        state.hands[i] = state.hands[i] & ~cards | (state.hands[i] & cards) >> 1
    for i in range(KNOWERS):
        state.known[i] = state.known[i] & ~cards | (state.known[i] & cards) >> 1


cdef void move_up(State* state, uint64_t cards) noexcept nogil:
    cdef int i
    for i in range(MAX_PLAYERS):
        state.hands[i] = state.hands[i] & ~cards | (state.hands[i] & cards) << 1
    for i in range(KNOWERS):
        state.known[i] = state.known[i] & ~cards | (state.known[i] & cards) << 1


cdef uint64_t ways_to_choose(int n, int k) noexcept nogil:
    cdef uint64_t ways = 1
    cdef int i
    if k > n:
        return 0
    for i in range(k):
        ways = ways * (n - i) // (i + 1)
    return ways


cdef void shuffle(uint8_t* cards, int count, Stream* stream) noexcept nogil:
    cdef int i, j
    cdef uint8_t card
    for i in range(count - 1, 0, -1):
        j = number_below(stream, i + 1)
        card = cards[i]
        cards[i] = cards[j]
        cards[j] = card


cdef void share_ones(int* ones, const int* space, const int* most, int count, Stream* stream) noexcept nogil:
    # Draw the number of hidden 1s at each place, so that all distributions of the hidden cards are equally likely.
    # `count` is the number of hidden 1s, `space` the number of hidden cards at each place, and `most` the maximum
    # number of 1s among these. The number of ways for one place is the number of choices of the cards that are 1s.
    cdef uint64_t ways[PLACES + 1][ONES + 1]
    cdef uint64_t number, here
    cdef int place, left, k
    memset(ways, 0, sizeof(ways))
    ways[PLACES][0] = 1
    for place in range(PLACES - 1, -1, -1):
        for left in range(count + 1):
            for k in range(min(left, most[place]) + 1):
                ways[place][left] += ways_to_choose(space[place], k) * ways[place + 1][left - k]
    left = count
    for place in range(PLACES):
        number = number_below(stream, ways[place][left])
        k = 0
        here = ways_to_choose(space[place], 0) * ways[place + 1][left]
        while number >= here:
            number -= here
            k += 1
            here = ways_to_choose(space[place], k) * ways[place + 1][left - k]
        ones[place] = k
        left -= k


cdef int resample(void* body, int seat, Stream* stream) noexcept nogil:
    # Draw the hidden cards. Cards that the seat knows in a hand stay there. All other cards of the other hands are
    # shuffled individually, even cards of the same kind. The number of random numbers used then does not depend on
    # hidden information.
    cdef State* state = <State*> body
    cdef const Box* box = box_of(state)
    cdef uint64_t all_ones = of_value(box, 0)
    cdef uint8_t ones[ONES]
    cdef uint8_t others[BOX]
    cdef int space[PLACES]
    cdef int most[PLACES]
    cdef int shares[PLACES]
    cdef uint64_t hidden = state.left if state.phase <= DEAL else 0, known
    cdef int other, one_count, other_count
    if state.phase == FINISHED:
        # Nothing is hidden, because all hands are open.
        return OK
    space[UNDEALT] = count_cards(hidden)
    most[UNDEALT] = ONES
    for other in range(MAX_PLAYERS):
        known = state.hands[other]
        if other != seat:
            known &= state.known[seat]
        hidden |= state.hands[other] & ~known
        space[other] = count_cards(state.hands[other]) - count_cards(known)
        most[other] = ONES
        if other != seat:
            if state.most_ones[other][seat]:
                most[other] = state.most_ones[other][seat] - 1
            most[other] -= count_cards(known & all_ones)
            state.hands[other] = known
    one_count = list_cards(hidden & all_ones, ones)
    other_count = list_cards(hidden & ~all_ones, others)
    share_ones(shares, space, most, one_count, stream)
    shuffle(ones, one_count, stream)
    shuffle(others, other_count, stream)
    for other in range(state.players):
        one_count -= shares[other]
        other_count -= space[other] - shares[other]
        add_cards(&state.hands[other], &ones[one_count], shares[other])
        add_cards(&state.hands[other], &others[other_count], space[other] - shares[other])
    if state.phase <= DEAL:
        state.left = 0
        add_cards(&state.left, ones, one_count)
        add_cards(&state.left, others, other_count)
    share_public_knowledge(state, seat)
    order_by_holder(state, box)
    order_by_knowledge(state, box)
    return OK


cdef int list_cards(uint64_t cards, uint8_t* places) noexcept nogil:
    cdef int count = 0
    while cards:
        places[count] = lowest(cards)
        count += 1
        cards &= cards - 1
    return count


cdef void add_cards(uint64_t* cards, const uint8_t* places, int count) noexcept nogil:
    cdef int i
    for i in range(count):
        cards[0] |= bit(places[i])


cdef void share_public_knowledge(State* state, int seat) noexcept nogil:
    # Reduce the knowledge of other seats to public knowledge, because any further knowledge is hidden from the viewer.
    # This includes knowledge about the viewer's hand.
    cdef int other, knower
    for knower in range(state.players):
        if knower != seat:
            state.known[knower] = state.known[PUBLIC] & ~state.hands[knower]
    for other in range(state.players):
        for knower in range(state.players):
            if knower != seat and knower != other:
                state.most_ones[other][knower] = state.most_ones[other][PUBLIC]


cdef void order_by_holder(State* state, const Box* box) noexcept nogil:
    cdef uint64_t wrong = misplaced(state, box)
    cdef int i
    while wrong:
        # Swap each misplaced card with the card before it. Of adjacent misplaced cards, swap only the first.
        wrong &= ~(wrong << 1)
        for i in range(MAX_PLAYERS):
            state.hands[i] = swap_with_previous(state.hands[i], wrong)
        for i in range(KNOWERS):
            state.known[i] = swap_with_previous(state.known[i], wrong)
        state.left = swap_with_previous(state.left, wrong)
        wrong = misplaced(state, box)


cdef void order_by_knowledge(State* state, const Box* box) noexcept nogil:
    # In each hand, put the known cards of each kind first.
    cdef uint64_t wrong, further = 0
    cdef int i
    for i in range(MAX_PLAYERS):
        further |= further_cards(box, state.hands[i])
    for i in range(KNOWERS):
        wrong = state.known[i] & further & ~(state.known[i] << 1)
        while wrong:
            state.known[i] ^= wrong | wrong >> 1
            wrong = state.known[i] & further & ~(state.known[i] << 1)


cdef uint64_t misplaced(const State* state, const Box* box) noexcept nogil:
    # Return the cards that directly follow a card of the same kind whose holder is a later seat, or no seat.
    cdef uint64_t earlier = 0, wrong = 0
    cdef int seat
    for seat in range(MAX_PLAYERS):
        earlier |= state.hands[seat]
        wrong |= state.hands[seat] & ~(earlier << 1)
    return wrong & ~box.firsts


cdef uint64_t swap_with_previous(uint64_t cards, uint64_t places) noexcept nogil:
    cdef uint64_t different = (cards ^ cards << 1) & places
    return cards ^ (different | different >> 1)
