"""Momistigri: public and hidden. Where the cards are, what seats surely know of it, and resampling.

Of every hand each other seat, and the public, may surely know that it holds at least so many cards of some kinds, and at
most so many 1s. Who did not see which card moved can afterwards be sure only of what is true whichever it was: of each kind
that it knew in the giving hand one card less (unless the hand held cards of one kind alone, all known: then it knows).
"""

from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memmove, memset

from chatiere.engine.core.game cimport OK
from chatiere.engine.core.stream cimport Stream, number_below
from chatiere.engine.games.momistigri.state cimport (
    BOX,
    FINISHED,
    KINDS,
    KNOWERS,
    MOST_PLAYERS,
    PILE,
    PUBLIC,
    VALUES,
    State,
    copies_in_deck,
    start_of,
    value_of,
)

cdef enum:
    ONES = 9  # in the box
    # Of the places that hidden cards are drawn for: the cards not dealt yet.
    UNDEALT = 5
    PLACES = 6


# Where the cards are

cdef inline int all_knowers(const State* state) noexcept nogil:
    return (1 << state.players) - 1 | 1 << PUBLIC


cdef inline int cards_placed(const State* state) noexcept nogil:
    return start_of(state, PILE) + state.sizes[PILE]


cdef void insert_card(State* state, int place, int kind, int seen_by) noexcept nogil:
    cdef int first = start_of(state, place), last = first + state.sizes[place], total = cards_placed(state)
    cdef int i
    while last > first and state.cards[last - 1] > kind:
        last -= 1
    memmove(&state.cards[last + 1], &state.cards[last], total - last)
    memmove(&state.knowers[last + 1], &state.knowers[last], total - last)
    state.cards[last] = kind
    state.knowers[last] = 0
    state.sizes[place] += 1
    # Who saw it knows of one copy more; the marks of a kind's copies begin at the first.
    i = last
    while i > first and state.cards[i - 1] == kind:
        state.knowers[i] |= state.knowers[i - 1] & seen_by
        i -= 1
    state.knowers[i] |= seen_by


cdef void remove_card(State* state, int place, int kind, int seen_by) noexcept nogil:
    cdef int first = start_of(state, place), end = first + state.sizes[place], total = cards_placed(state)
    cdef int i, kept, last = first
    for i in range(first, end):
        if state.cards[i] == kind:
            last = i
            kept = 0
        else:
            kept = state.knowers[i] & seen_by
        # Of one copy less is known, but what was known of other kinds by those who saw which card left.
        if i + 1 < end and state.cards[i + 1] == state.cards[i]:
            kept |= state.knowers[i + 1]
        state.knowers[i] = kept
    memmove(&state.cards[last], &state.cards[last + 1], total - last - 1)
    memmove(&state.knowers[last], &state.knowers[last + 1], total - last - 1)
    state.cards[total - 1] = 0
    state.knowers[total - 1] = 0
    state.sizes[place] -= 1


cdef void deal_card(State* state, int seat, int kind) noexcept nogil:
    # To nobody's knowledge but its own.
    insert_card(state, seat, kind, 0)


cdef void lay_down(State* state, int seat, int kind) noexcept nogil:
    # From a hand to the pile, seen by all.
    cdef int knower
    remove_card(state, seat, kind, all_knowers(state))
    insert_card(state, PILE, kind, 0)
    if value_of(kind) == 1:
        for knower in range(KNOWERS):
            state.most_ones[knower][seat] -= state.most_ones[knower][seat] > 1


cdef void take_up(State* state, int seat, int kind) noexcept nogil:
    # From the pile to a hand, seen by all.
    cdef int knower
    remove_card(state, PILE, kind, 0)
    insert_card(state, seat, kind, all_knowers(state) & ~(1 << seat))
    if value_of(kind) == 1:
        for knower in range(KNOWERS):
            if state.most_ones[knower][seat]:
                expect_one_more(&state.most_ones[knower][seat])


cdef inline void expect_one_more(uint8_t* most_ones) noexcept nogil:
    # At most all 1s of the box is no knowledge.
    most_ones[0] = 0 if most_ones[0] == ONES else most_ones[0] + 1


cdef void hand_over(State* state, int giver, int receiver, int kind) noexcept nogil:
    # From a hand to another, drawn or given.
    cdef int seen_by = 1 << giver | 1 << receiver
    cdef int first = start_of(state, giver), last = first + state.sizes[giver] - 1, knower
    cdef bint is_one = value_of(kind) == 1
    cdef uint8_t* expected
    if state.cards[first] == state.cards[last]:
        # Who knows them all knows this one.
        seen_by |= state.knowers[last]
    remove_card(state, giver, kind, seen_by)
    insert_card(state, receiver, kind, seen_by & ~(1 << receiver))
    for knower in range(KNOWERS):
        expected = state.most_ones[knower]
        if expected[receiver]:
            # Who did not see it expects a 1, if the giver may have had any.
            if is_one if seen_by >> knower & 1 else expected[giver] != 1:
                expect_one_more(&expected[receiver])
        if is_one and seen_by >> knower & 1 and expected[giver]:
            expected[giver] -= 1


cdef void show_no_ones(State* state, int seat) noexcept nogil:
    # All see that a hand holds no 1.
    cdef int knower
    for knower in range(KNOWERS):
        if all_knowers(state) >> knower & 1 and knower != seat:
            state.most_ones[knower][seat] = 1


cdef void forget_ones(State* state, int seat) noexcept nogil:
    # Of a hand that is empty for good.
    cdef int knower
    for knower in range(KNOWERS):
        state.most_ones[knower][seat] = 0


# The states that agree

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
    cdef int hidden[KINDS]  # cards of each kind that the seat does not know the place of
    cdef uint8_t hands[MOST_PLAYERS][KINDS]
    cdef uint8_t known[MOST_PLAYERS][KINDS]  # by the seat
    cdef uint8_t public[MOST_PLAYERS][KINDS]
    cdef uint8_t ones[ONES]
    cdef uint8_t others[BOX]
    cdef int room[PLACES]
    cdef int most[PLACES]
    cdef int shares[PLACES]
    cdef int other, i, kind, one_count = 0, other_count = 0
    if state.phase == FINISHED:
        # The hands lie open.
        return OK
    memset(hands, 0, sizeof(hands))
    memset(known, 0, sizeof(known))
    memset(public, 0, sizeof(public))
    for kind in range(KINDS):
        hidden[kind] = copies_in_deck(state, kind)
    i = 0
    for other in range(PLACES):
        room[other] = 0
        most[other] = ONES
        if other < PILE and other != seat and state.most_ones[seat][other]:
            most[other] = state.most_ones[seat][other] - 1
        while i < start_of(state, other) + state.sizes[other]:
            kind = state.cards[i]
            if other == PILE:
                hidden[kind] -= 1
            elif other == seat or state.knowers[i] >> seat & 1:
                hidden[kind] -= 1
                hands[other][kind] += 1
                known[other][kind] += other != seat
                most[other] -= other != seat and value_of(kind) == 1
            else:
                room[other] += 1
            if other < PILE:
                public[other][kind] += state.knowers[i] >> PUBLIC & 1
            i += 1
    for kind in range(KINDS):
        for i in range(hidden[kind]):
            if value_of(kind) == 1:
                ones[one_count] = kind
                one_count += 1
            else:
                others[other_count] = kind
                other_count += 1
    room[UNDEALT] = one_count + other_count
    for other in range(UNDEALT):
        room[UNDEALT] -= room[other]
    share_ones(shares, room, most, one_count, stream)
    shuffle(ones, one_count, stream)
    shuffle(others, other_count, stream)
    for other in range(state.players):
        for i in range(room[other]):
            if i < shares[other]:
                one_count -= 1
                hands[other][ones[one_count]] += 1
            else:
                other_count -= 1
                hands[other][others[other_count]] += 1
    write_hands(state, seat, hands, known, public)
    return OK


cdef void write_hands(
    State* state, int seat, uint8_t (*hands)[KINDS], uint8_t (*known)[KINDS], uint8_t (*public)[KINDS]
) noexcept nogil:
    # What others know of the seat's hand stays; of other hands they are left with what all know.
    cdef int everybody = all_knowers(state), place = 0, other, kind, i, knower
    for other in range(state.players):
        if other == seat:
            place += state.sizes[seat]
            continue
        for kind in range(KINDS):
            for i in range(hands[other][kind]):
                state.cards[place] = kind
                state.knowers[place] = (i < known[other][kind]) << seat
                if i < public[other][kind]:
                    state.knowers[place] |= everybody & ~(1 << other)
                place += 1
        for knower in range(state.players):
            if knower != seat and knower != other:
                state.most_ones[knower][other] = state.most_ones[PUBLIC][other]
