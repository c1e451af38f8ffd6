"""Chatpentiers: resampling of the hidden information (rules file: Public and hidden).

The hidden cards are in the hands of the other seats and among the undealt cards. Play reveals only which colours a hand
does not hold (`State.voids`). Hidden places with the same voids form a *class*. Only colours that some class cannot
hold restrict the distribution of cards. The ways to distribute these colours over the classes are counted, from the
last colour to the first. A distribution is then drawn with a probability proportional to its number of ways. Finally,
the cards are drawn uniformly.
"""

from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memset

from chatiere.engine.core.operations cimport OK, debug_assert
from chatiere.engine.core.stream cimport Stream, next_word, number_below, uint128_t
from .state cimport CARDS, COLOURS, MAX_PLAYERS, State, cards_of_colour, count_cards

cdef enum:
    UNDEALT = MAX_PLAYERS  # the place of the undealt cards; lower places are hands
    PLACES = MAX_PLAYERS + 1
    # The maximum number of classes. With 5 players, all cards are dealt, so the places are four hands. With 4 players,
    # they are three hands and the undealt cards. Before the first trick, no voids are known.
    CLASSES = 4
    # The number of cells in the table. The largest class gets the remaining cards, so it needs no axis. Four classes
    # exist only after two tricks, so the three smaller classes are hands of at most 11 cards. Fewer classes need fewer
    # cells.
    CELLS = 12 * 12 * 12

ctypedef struct Spread:
    # The numbers of hidden cards in each class and of each colour.
    int size[CLASSES]  # the number of cards in each class; the largest class is last
    int voids[CLASSES]  # the set of colours that the class does not hold
    int colours  # the number of colours that some class cannot hold
    int colour[COLOURS]
    int cards[COLOURS]  # the number of cards of each of these colours
    int others  # the number of cards of colours that every class can hold
    # ways[i][cell] is the number of ways to fit colour[i + 1] and all later cards into the space that `cell`
    # represents.
    uint128_t ways[COLOURS][CELLS]


# Pascal's triangle: the number of ways to choose k of n cards.
cdef uint64_t CHOOSE[CARDS + 1][CARDS + 1]


cdef void fill_triangle() noexcept:
    cdef int n, k
    memset(CHOOSE, 0, sizeof(CHOOSE))
    for n in range(CARDS + 1):
        CHOOSE[n][0] = 1
        for k in range(1, n + 1):
            CHOOSE[n][k] = CHOOSE[n - 1][k - 1] + CHOOSE[n - 1][k]

fill_triangle()


# Counting

cdef inline int cell_of(const Spread* spread, int a, int b, int c) noexcept nogil:
    return (a * (spread.size[1] + 1) + b) * (spread.size[2] + 1) + c


cdef inline int most_to(const Spread* spread, int i, int place, int space, int left) noexcept nogil:
    # Return the maximum number of cards of colour[i] that a class can get.
    if spread.voids[place] >> spread.colour[i] & 1:
        return 0
    return min(space, left)


cdef uint128_t count_ways(const Spread* spread, int i, const int* space, uint128_t stop, int* given) noexcept nogil:
    # Return the number of ways to fit the cards of colour[i] and all later cards into the classes' space. Stops at the
    # way with the number `stop`, counted from 0. `given` then has the number of cards of colour[i] that each class
    # gets.
    cdef int cards = spread.cards[i]
    cdef int a, b, c, d
    cdef uint128_t ways = 0
    for a in range(most_to(spread, i, 0, space[0], cards) + 1):
        for b in range(most_to(spread, i, 1, space[1], cards - a) + 1):
            for c in range(most_to(spread, i, 2, space[2], cards - a - b) + 1):
                d = cards - a - b - c
                if d > most_to(spread, i, 3, space[3], d):
                    continue
                ways += (
                    <uint128_t> (CHOOSE[cards][a] * CHOOSE[cards - a][b] * CHOOSE[cards - a - b][c])
                    * spread.ways[i][cell_of(spread, space[0] - a, space[1] - b, space[2] - c)]
                )
                if ways > stop:
                    given[0] = a
                    given[1] = b
                    given[2] = c
                    given[3] = d
                    return ways
    return ways


cdef void fill_ways(Spread* spread) noexcept nogil:
    cdef int space[CLASSES]
    cdef int given[CLASSES]
    cdef int least[CLASSES]
    cdef int i, j, k, a, b, c, total = spread.others
    cdef uint128_t ways
    cdef uint128_t all_of_them = ~(<uint128_t> 0)
    debug_assert((spread.size[0] + 1) * (spread.size[1] + 1) * (spread.size[2] + 1) <= CELLS)
    for i in range(spread.colours - 1, -1, -1):
        # The minimum space left after colour[i]. It is reached if the class got all earlier cards that it can hold.
        for j in range(CLASSES):
            least[j] = spread.size[j]
            for k in range(i + 1):
                least[j] -= most_to(spread, k, j, spread.cards[k], spread.cards[k])
            least[j] = max(least[j], 0)
        for a in range(least[0], spread.size[0] + 1):
            for b in range(least[1], spread.size[1] + 1):
                for c in range(least[2], spread.size[2] + 1):
                    space[0] = a
                    space[1] = b
                    space[2] = c
                    space[3] = total - a - b - c
                    if space[3] < 0 or space[3] > spread.size[3]:
                        ways = 0
                    elif i == spread.colours - 1:
                        ways = <uint128_t> CHOOSE[total][a] * CHOOSE[total - a][b] * CHOOSE[total - a - b][c]
                    else:
                        ways = count_ways(spread, i + 1, space, all_of_them, given)
                    spread.ways[i][cell_of(spread, a, b, c)] = ways
        total += spread.cards[i]


# Drawing

cdef uint128_t long_number_below(Stream* stream, uint128_t n) noexcept nogil:
    # Draw a uniform number from 0 to n - 1. Numbers with the bit length of n - 1 are drawn until one is below n.
    cdef uint128_t mask = n - 1
    cdef uint128_t number
    cdef int shift
    for shift in range(7):
        mask |= mask >> (1 << shift)
    while True:
        number = next_word(stream)
        number = (number << 64 | next_word(stream)) & mask
        if number < n:
            return number


cdef uint64_t draw_cards(uint64_t* cards, int count, Stream* stream) noexcept nogil:
    # Remove `count` random cards from a set and return them.
    cdef uint64_t drawn = 0, rest
    cdef int size = count_cards(cards[0])
    cdef int _skipped, i
    for i in range(count):
        rest = cards[0]
        for _skipped in range(<int> number_below(stream, size - i)):
            rest &= rest - 1
        # Add the lowest remaining bit.
        drawn |= rest & (0 - rest)
        cards[0] &= ~(rest & (0 - rest))
    return drawn


cdef void find_classes(
    const State* state, const int* sizes, uint64_t unseen, Spread* spread, uint8_t* class_of
) noexcept nogil:
    cdef int place, j, largest = 0, voids, colour, classes = 0, shown = 0, count
    memset(spread.size, 0, sizeof(spread.size))
    memset(spread.voids, 0, sizeof(spread.voids))
    spread.colours = 0
    spread.others = 0
    for place in range(PLACES):
        if sizes[place] == 0:
            continue
        voids = state.voids[place] if place != UNDEALT else 0
        for colour in range(COLOURS):
            # A colour without hidden cards is irrelevant.
            if not unseen & cards_of_colour(colour):
                voids &= ~(1 << colour)
        shown |= voids
        j = 0
        while j < classes and spread.voids[j] != voids:
            j += 1
        debug_assert(j < CLASSES)
        classes = max(classes, j + 1)
        spread.voids[j] = voids
        spread.size[j] += sizes[place]
        class_of[place] = j
    for j in range(1, CLASSES):
        if spread.size[j] > spread.size[largest]:
            largest = j
    j = CLASSES - 1
    spread.size[largest], spread.size[j] = spread.size[j], spread.size[largest]
    spread.voids[largest], spread.voids[j] = spread.voids[j], spread.voids[largest]
    for place in range(PLACES):
        if class_of[place] == largest:
            class_of[place] = j
        elif class_of[place] == j:
            class_of[place] = largest
    for colour in range(COLOURS):
        count = count_cards(unseen & cards_of_colour(colour))
        if shown >> colour & 1:
            spread.colour[spread.colours] = colour
            spread.cards[spread.colours] = count
            spread.colours += 1
        else:
            spread.others += count


cdef void deal_to_classes(const Spread* spread, uint64_t unseen, uint64_t* pools, Stream* stream) noexcept nogil:
    cdef int space[CLASSES]
    cdef int given[CLASSES]
    cdef uint128_t all_of_them = ~(<uint128_t> 0)
    cdef uint128_t ways
    cdef uint64_t cards
    cdef int i, j
    for j in range(CLASSES):
        space[j] = spread.size[j]
    for i in range(spread.colours):
        ways = count_ways(spread, i, space, all_of_them, given)
        # At least one way exists, because the current state is one.
        debug_assert(ways > 0)
        count_ways(spread, i, space, long_number_below(stream, ways), given)
        cards = unseen & cards_of_colour(spread.colour[i])
        unseen &= ~cards
        for j in range(CLASSES):
            pools[j] |= draw_cards(&cards, given[j], stream)
            space[j] -= given[j]
    for j in range(CLASSES):
        pools[j] |= draw_cards(&unseen, space[j], stream)


cdef int resample(void* body, int seat, Stream* stream) noexcept nogil:
    cdef State* state = <State*> body
    cdef Spread spread
    cdef int sizes[PLACES]
    cdef uint8_t class_of[PLACES]
    cdef uint64_t pools[CLASSES]
    cdef uint64_t unseen = state.undealt, cards
    cdef int place
    memset(sizes, 0, sizeof(sizes))
    memset(class_of, 0, sizeof(class_of))
    memset(pools, 0, sizeof(pools))
    sizes[UNDEALT] = count_cards(state.undealt)
    for place in range(state.players):
        if place != seat:
            sizes[place] = count_cards(state.hand[place])
            unseen |= state.hand[place]
    find_classes(state, sizes, unseen, &spread, class_of)
    fill_ways(&spread)
    deal_to_classes(&spread, unseen, pools, stream)
    for place in range(PLACES):
        if sizes[place] == 0:
            continue
        cards = draw_cards(&pools[class_of[place]], sizes[place], stream)
        if place == UNDEALT:
            state.undealt = cards
        else:
            state.hand[place] = cards
    return OK
