"""Momistigri: the states that agree with what a seat knows."""

from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memset

from chatiere.engine.core.game cimport OK
from chatiere.engine.core.stream cimport Stream, number_below
from chatiere.engine.games.momistigri.cards cimport BOX, bits_of, count_cards, lowest, with_card, without_card
from chatiere.engine.games.momistigri.state cimport FINISHED, MOST_PLAYERS, ONES, PUBLIC, State, deck

cdef enum:
    # Of the places that hidden cards are drawn for: the cards not dealt yet.
    UNDEALT = MOST_PLAYERS
    PLACES = 6


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


cdef void share_ones(int* ones, const int* room, const int* most, int count, Stream* stream) noexcept nogil:
    # How many of the `count` hidden 1s lie at each place, if every way to lay hidden cards down is as likely as another
    # and a place has room for so many cards, at most so many of them 1s. A place's own ways: the choices of its 1s' room.
    cdef uint64_t ways[PLACES + 1][ONES + 1]
    cdef uint64_t number, here
    cdef int place, left, k
    memset(ways, 0, sizeof(ways))
    ways[PLACES][0] = 1
    for place in range(PLACES - 1, -1, -1):
        for left in range(count + 1):
            for k in range(min(left, most[place]) + 1):
                ways[place][left] += ways_to_choose(room[place], k) * ways[place + 1][left - k]
    left = count
    for place in range(PLACES):
        number = number_below(stream, ways[place][left])
        k = 0
        here = ways_to_choose(room[place], 0) * ways[place + 1][left]
        while number >= here:
            number -= here
            k += 1
            here = ways_to_choose(room[place], k) * ways[place + 1][left - k]
        ones[place] = k
        left -= k


cdef int resample(void* body, int seat, Stream* stream) noexcept nogil:
    # What a seat knows to be in a hand stays there; all other cards of the other hands are shuffled, as cards: of a kind
    # with two hidden cards each is one. So every draw needs the same few random numbers, whatever is known.
    cdef State* state = <State*> body
    cdef uint8_t ones[ONES]
    cdef uint8_t others[BOX]
    cdef int room[PLACES]
    cdef int most[PLACES]
    cdef int shares[PLACES]
    cdef uint64_t hidden = deck(state), known
    cdef int other, one_count, other_count
    if state.phase == FINISHED:
        # The hands lie open.
        return OK
    hidden = without_cards(state, hidden, state.pile)
    for other in range(MOST_PLAYERS):
        known = state.hands[other] if other == seat else state.known[other][seat]
        hidden = without_cards(state, hidden, known)
        room[other] = count_cards(state.hands[other]) - count_cards(known)
        most[other] = ONES
        if other != seat:
            if state.most_ones[other][seat]:
                most[other] = state.most_ones[other][seat] - 1
            most[other] -= count_cards(known & state.box.of_value[0])
            state.hands[other] = known
    room[UNDEALT] = count_cards(state.undealt)
    most[UNDEALT] = ONES
    one_count = list_cards(state, hidden & state.box.of_value[0], ones)
    other_count = list_cards(state, hidden & ~state.box.of_value[0], others)
    share_ones(shares, room, most, one_count, stream)
    shuffle(ones, one_count, stream)
    shuffle(others, other_count, stream)
    for other in range(state.players):
        one_count -= shares[other]
        other_count -= room[other] - shares[other]
        add_cards(state, &state.hands[other], &ones[one_count], shares[other])
        add_cards(state, &state.hands[other], &others[other_count], room[other] - shares[other])
    state.undealt = 0
    add_cards(state, &state.undealt, ones, one_count)
    add_cards(state, &state.undealt, others, other_count)
    share_public_knowledge(state, seat)
    return OK


cdef uint64_t without_cards(const State* state, uint64_t cards, uint64_t gone) noexcept nogil:
    while gone:
        cards = without_card(cards, bits_of(&state.box, state.box.kind_at[lowest(gone)]))
        gone &= gone - 1
    return cards


cdef int list_cards(const State* state, uint64_t cards, uint8_t* kinds) noexcept nogil:
    cdef int count = 0
    while cards:
        kinds[count] = state.box.kind_at[lowest(cards)]
        count += 1
        cards &= cards - 1
    return count


cdef void add_cards(const State* state, uint64_t* cards, const uint8_t* kinds, int count) noexcept nogil:
    cdef int i
    for i in range(count):
        cards[0] = with_card(cards[0], bits_of(&state.box, kinds[i]))


cdef void share_public_knowledge(State* state, int seat) noexcept nogil:
    # What others know of the seat's hand stays; of other hands they are left with what all know.
    cdef int other, knower
    for other in range(state.players):
        for knower in range(state.players):
            if other != seat and knower != seat and knower != other:
                state.known[other][knower] = state.known[other][PUBLIC]
                state.most_ones[other][knower] = state.most_ones[other][PUBLIC]
