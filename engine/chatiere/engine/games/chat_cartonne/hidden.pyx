"""Chat Cartonne: resampling, uniform over the states that agree with a seat's information ("Public and hidden").

Resampling decides which card each draw of another seat gave, and where each card of the pile is. Cartons differ only in
the facts that passes have shown about them. For each placement of the Princesses, it is therefore enough to count the
ways to place the other cards. A placement is drawn in proportion to this number, and then the cartons are dealt.

If a seat has drawn or been dealt d cards, of which a are Princesses, its cartons can have been drawn in (d - a)!
orders. A hand of h cartons counts once, regardless of the order of its cards. The cards of the pile can be in any
order.

If only one seat has passed, the hands that agree with its passes are easily counted. If several seats have passed, the
number of hands for each seat depends on the hands of the earlier seats. The maximum of this number is used instead. To
compensate, a deal is rejected and drawn again with a probability that depends on the difference, so that the accepted
deals are uniform (rejection sampling).
"""

from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcpy, memset

from chatiere.engine.core.operations cimport NO_SEAT, OK
from chatiere.engine.core.stream cimport Stream, next_word, number_below
from .state cimport (
    ALL_PRINCESSES, DEALT, FIRST_TOY, MAX_HAND, PARTS, PRINCESS, PRINCESS_BIT, TOYS, ChatCartonneFault, Seat, State,
    count_kinds, current_part, excluded_of, has_kind, holders, nth_kind, part_count, part_size, pile_size, played_of,
    princess_count, princesses_in_hand, put_kind, take_kind, type_of,
)

cdef enum:
    COUNTS = 256  # the number of ways in which four hands can have 0-3 Princesses each
    IN_PILE = 4  # used instead of an index of Deal.seat if the Princess is in the pile
    LEVELS = 4
    TRIES = 20_000  # the maximum number of attempts to draw the hands; the first attempt almost always succeeds

ctypedef struct Deal:
    const State* state
    int others
    int constrained  # the number of other seats whose passes reveal something about their hand; they come first
    uint8_t seat[4]
    # The Princesses that the viewer has not located, and the number of ways in which each can be with another seat or
    # in the pile.
    int princesses
    uint8_t part[5]
    uint8_t ways_there[5][5]
    uint8_t where[5]
    uint8_t drew[4]
    uint8_t is_one_part
    double ways[256]  # indexed by the numbers of Princesses in the hands, as digits in base 4
    # Used to draw one of the ways counted in `ways`: the number of ways still to be skipped, and the placement found.
    int target
    double rest
    bint found
    uint8_t chosen_where[5]
    # The set of cartons and toys in the pile and in the hands of other seats.
    uint64_t pool[2]
    int cartons
    int toys
    # The level of a card for a seat: the number of sets of Seat.excluded that contain its type. Each set contains the
    # next one.
    uint64_t of_level[4][4][2]  # cartons
    uint8_t princess_level[4]
    # Indexed by a seat and the number of Princesses in its hand.
    double share[4][4]  # the number of orders in which the cards can have been drawn, relative to no Princesses in hand
    double hands[4][4]  # the number of hands from the whole pool that agree with the seat's passes


# Princesses

cdef double orders_played(const Deal* deal, int k) noexcept nogil:
    # Return the number of ways to assign the Princesses that a seat played to the Princesses that it had drawn before.
    cdef int part, i, _, drew = 0, played = 0, seat = deal.seat[k]
    cdef double ways = 1
    for part in range(part_count(deal.state)):
        for i in range(deal.princesses):
            drew += deal.part[i] == part and deal.where[i] == k
        for _ in range(played_of(&deal.state.seats[seat], part)):
            ways *= drew - played
            played += 1
        if drew < played:
            return 0
    return ways


cdef void place_princesses(Deal* deal, int i, double ways) noexcept nogil:
    # Count the placements of the i-th and all later Princesses, or find the placement that `target` and `rest` select.
    cdef int k, count, index = 0, hand
    if i >= min(deal.princesses, PARTS):
        for k in range(deal.others):
            hand = deal.drew[k]
            if not deal.is_one_part:
                ways *= orders_played(deal, k)
                for count in range(PARTS):
                    hand -= played_of(&deal.state.seats[deal.seat[k]], count)
            if hand < 0 or hand > deal.state.seats[deal.seat[k]].hand_size:
                return
            index |= hand << 2 * k
        if ways == 0:
            return
        if deal.target < 0:
            deal.ways[index] += ways
        elif index == deal.target and not deal.found:
            for k in range(deal.princesses):
                deal.chosen_where[k] = deal.where[k]
            deal.rest -= ways
            deal.found = deal.rest < 0
        return
    for k in range(IN_PILE + 1):
        count = deal.ways_there[i][k]
        if deal.is_one_part:
            # Each earlier Princess in the same place reduces the number of ways by one.
            for index in range(i):
                count -= deal.where[index] == k
        if count <= 0 or deal.found:
            continue
        deal.where[i] = k
        if k < IN_PILE:
            deal.drew[k] += 1
        place_princesses(deal, i + 1, ways * count)
        if k < IN_PILE:
            deal.drew[k] -= 1


cdef void find_places(Deal* deal, int viewer) noexcept nogil:
    # Find the possible places of each Princess.
    cdef const State* state = deal.state
    cdef int left, current = current_part(state, pile_size(state), &left), part, k, i, other
    deal.is_one_part = (state.variants & ALL_PRINCESSES) != 0
    if deal.is_one_part:
        # Count only Princesses that are not on the table, because the places of Princesses on the table are known.
        deal.princesses = princess_count(state) - princesses_in_hand(state, viewer)
        for other in range(state.players):
            deal.princesses -= played_of(&state.seats[other], 0)
        for i in range(deal.princesses):
            deal.part[i] = 0
            deal.ways_there[i][IN_PILE] = left
            for k in range(deal.others):
                deal.ways_there[i][k] = state.seats[deal.seat[k]].drawn[0] - played_of(&state.seats[deal.seat[k]], 0)
        return
    for part in range(state.players):
        if state.drawer[part] == viewer:
            continue
        i = deal.princesses
        deal.princesses += 1
        deal.part[i] = part
        if part >= current:
            deal.ways_there[i][IN_PILE] = part_size(state, part) if part > current else left
        for k in range(deal.others):
            deal.ways_there[i][k] = state.seats[deal.seat[k]].drawn[part]


# Cartons

cdef void find_levels(Deal* deal) noexcept nogil:
    cdef const Seat* held
    cdef int k, kind, slot, level
    for k in range(deal.constrained):
        held = &deal.state.seats[deal.seat[k]]
        for slot in range(MAX_HAND):
            deal.princess_level[k] += excluded_of(held, slot) >> PRINCESS_BIT & 1
        for kind in range(FIRST_TOY):
            if has_kind(deal.pool, kind):
                level = 0
                for slot in range(MAX_HAND):
                    level += excluded_of(held, slot) >> type_of(kind) & 1
                put_kind(deal.of_level[k][level], kind)


cdef inline double choose(int n, int k) noexcept nogil:
    # Return the number of ways to choose k of n items, for k from 0 to 3.
    if k == 3:
        return n * (n - 1) * (n - 2) // 6
    if k == 2:
        return n * (n - 1) // 2
    return n if k else 1


cdef inline bint fits(const Deal* deal, int k, int princesses, const int* cartons) noexcept nogil:
    # Return True if a hand with these numbers of Princesses, and of cartons by level, agrees with the seat's passes
    # (see fits_shown in invariants.pyx).
    cdef int slot, fitting = 0
    for slot in range(deal.state.seats[deal.seat[k]].hand_size):
        fitting += cartons[slot]
        if fitting + (princesses if deal.princess_level[k] <= slot else 0) < slot + 1:
            return False
    return True


cdef inline int of_level(const Deal* deal, int k, int level, const uint64_t* pool, uint64_t* kinds) noexcept nogil:
    # Find the cartons in the pool that have the given level for a seat. Returns their number.
    kinds[0] = deal.of_level[k][level][0] & pool[0]
    kinds[1] = deal.of_level[k][level][1] & pool[1]
    return count_kinds(kinds)


cdef double count_hands(
    const Deal* deal, int k, int princesses, const uint64_t* pool, double number, int* cartons
) noexcept nogil:
    # Count the hands of cartons from the pool that agree with a seat's passes. Stops when the count exceeds `number`,
    # and leaves in `cartons` the number of cartons of each level in the hand reached.
    cdef uint64_t kinds[2]
    cdef int left[4]
    cdef int wanted = deal.state.seats[deal.seat[k]].hand_size - princesses, level, a, b, c
    cdef double count = 0
    for level in range(LEVELS):
        left[level] = of_level(deal, k, level, pool, kinds)
    for a in range(wanted + 1):
        for b in range(wanted - a + 1):
            for c in range(wanted - a - b + 1):
                cartons[0] = a
                cartons[1] = b
                cartons[2] = c
                cartons[3] = wanted - a - b - c
                if fits(deal, k, princesses, cartons):
                    count += (
                        choose(left[0], a) * choose(left[1], b) * choose(left[2], c) * choose(left[3], cartons[3])
                    )
                    if count > number:
                        return count
    return count


cdef void weigh_hands(Deal* deal) noexcept nogil:
    # Compute the counts that depend on a single seat.
    cdef const State* state = deal.state
    cdef int k, seat, size, cards, part, princesses, seats = holders(state)
    cdef int cartons[4]
    cdef double share
    for k in range(deal.others):
        seat = deal.seat[k]
        size = state.seats[seat].hand_size
        # The cards that the seat has drawn or been dealt, except the Princesses that it played.
        cards = DEALT
        for part in range(PARTS):
            cards += state.seats[seat].drawn[part] - played_of(&state.seats[seat], part)
        share = 1
        for princesses in range(size + 1):
            if princesses:
                share *= <double> (size - princesses + 1) / (cards - princesses + 1)
            # In the final phase, all seats know which seats hold a carton.
            if not state.final_phase or (princesses < size) == (seats >> seat & 1):
                deal.share[k][princesses] = share
            if k < deal.constrained:
                deal.hands[k][princesses] = count_hands(deal, k, princesses, deal.pool, 1e9, cartons)


cdef double most_hands(const Deal* deal, int k, int princesses, int free) noexcept nogil:
    # Return the maximum number of hands that agree with a seat's passes if earlier seats left `free` cartons.
    return min(deal.hands[k][princesses], choose(free, deal.state.seats[deal.seat[k]].hand_size - princesses))


cdef double weigh(const Deal* deal, int index) noexcept nogil:
    # Return a number proportional to the number of ways in which the other seats can have obtained these hands. The
    # digits of `index` in base 4 are the numbers of Princesses in these hands. For a seat whose passes restrict its
    # hand, the maximum from `most_hands` replaces the exact number of hands.
    cdef double ways = deal.ways[index]
    cdef int k, princesses, wanted, in_hands = 0, free = deal.cartons, i
    if ways == 0:
        return 0
    for k in range(deal.others):
        princesses = index >> 2 * k & 3
        ways *= deal.share[k][princesses]
        in_hands += deal.state.seats[deal.seat[k]].hand_size - princesses
    if ways == 0 or in_hands > deal.cartons:
        return 0
    for k in range(deal.constrained):
        princesses = index >> 2 * k & 3
        wanted = deal.state.seats[deal.seat[k]].hand_size - princesses
        ways *= most_hands(deal, k, princesses, free) / choose(free, wanted)
        free -= wanted
    # Multiply by the number of ways to insert the toys into the pile.
    for i in range(deal.toys):
        ways *= deal.cartons - in_hands + 1 + i
    return ways


cdef double part_of(Stream* stream, double total) noexcept nogil:
    # Draw a uniform number from 0 (inclusive) to the total (exclusive).
    return <double> (next_word(stream) >> 11) * (1.0 / 9007199254740992.0) * total


cdef bint draw_hands(const Deal* deal, int index, uint64_t* pool, uint8_t hands[4][3], Stream* stream) noexcept nogil:
    # Draw hands with these numbers of Princesses from the pool. Returns False if the deal is rejected.
    cdef int k, princesses, wanted, level, i, kind, count, slot, free = deal.cartons
    cdef int cartons[4]
    cdef uint64_t kinds[2]
    cdef double number
    for k in range(deal.others):
        princesses = index >> 2 * k & 3
        wanted = deal.state.seats[deal.seat[k]].hand_size - princesses
        slot = 0
        if k < deal.constrained:
            number = part_of(stream, most_hands(deal, k, princesses, free))
            if count_hands(deal, k, princesses, pool, number, cartons) <= number:
                return False
            for level in range(LEVELS):
                count = of_level(deal, k, level, pool, kinds)
                for i in range(cartons[level]):
                    kind = nth_kind(kinds, number_below(stream, count - i))
                    take_kind(kinds, kind)
                    take_kind(pool, kind)
                    slot = insert(hands[k], slot, kind)
        else:
            # Toys have the highest kinds in the pool, so only cartons are drawn.
            for i in range(wanted):
                kind = nth_kind(pool, number_below(stream, free - i))
                take_kind(pool, kind)
                slot = insert(hands[k], slot, kind)
        free -= wanted
        while slot < MAX_HAND:
            hands[k][slot] = PRINCESS if slot < wanted + princesses else 0
            slot += 1
    return True


cdef int insert(uint8_t* hand, int size, int kind) noexcept nogil:
    # Insert a card into an ascending hand. Returns its new size.
    cdef int slot = size
    while slot > 0 and hand[slot - 1] > kind:
        hand[slot] = hand[slot - 1]
        slot -= 1
    hand[slot] = kind
    return size + 1


cdef int resample(void* body, int seat, Stream* stream) noexcept nogil:
    cdef State* state = <State*> body
    cdef Deal deal
    cdef uint64_t pool[2]
    cdef double weights[256]
    cdef uint8_t hands[4][3]
    cdef uint8_t indices[256]
    cdef double total = 0, weight
    cdef int other, slot, i, _, index = 0, count = 0
    memset(&deal, 0, sizeof(Deal))
    deal.state = state
    memcpy(deal.pool, state.unknown, sizeof(deal.pool))
    for i in range(2):
        # Put the seats whose passes reveal something first.
        for other in range(state.players):
            if other != seat and (state.seats[other].excluded == 0) == i:
                deal.seat[deal.others] = other
                deal.others += 1
                for slot in range(state.seats[other].hand_size):
                    if state.seats[other].hand[slot] != PRINCESS:
                        put_kind(deal.pool, state.seats[other].hand[slot])
        if i == 0:
            deal.constrained = deal.others
    for i in range(FIRST_TOY, FIRST_TOY + TOYS):
        deal.toys += has_kind(deal.pool, i)
    deal.cartons = count_kinds(deal.pool) - deal.toys
    find_levels(&deal)
    find_places(&deal, seat)
    weigh_hands(&deal)

    # Count the placements, draw the hands, then draw the origins of the Princesses.
    deal.target = -1
    place_princesses(&deal, 0, 1)
    for index in range(COUNTS):
        weight = weigh(&deal, index)
        if weight > 0:
            total += weight
            weights[count] = weight
            indices[count] = index
            count += 1
    for _ in range(TRIES):
        weight = part_of(stream, total)
        index = 0
        while index < count - 1 and weight >= weights[index]:
            weight -= weights[index]
            index += 1
        index = indices[index]
        memcpy(pool, deal.pool, sizeof(pool))
        if draw_hands(&deal, index, pool, hands, stream):
            break
    else:
        return ChatCartonneFault.TOO_FEW_DEALS
    deal.target = index
    deal.rest = part_of(stream, deal.ways[index])
    place_princesses(&deal, 0, 1)

    for i in range(deal.princesses if not deal.is_one_part else 0):
        state.drawer[deal.part[i]] = NO_SEAT if deal.chosen_where[i] == IN_PILE else deal.seat[deal.chosen_where[i]]
    for i in range(deal.others):
        memcpy(state.seats[deal.seat[i]].hand, hands[i], MAX_HAND)
    memcpy(state.unknown, pool, sizeof(pool))
    return OK
