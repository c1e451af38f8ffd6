"""Chat Cartonne: public and hidden. The states that agree with what a seat knows, all equally likely.

What is drawn anew is which card each draw of another seat gave and where each card of the pile lies. As cartons differ
in nothing but what passes have shown, it is enough to count for each way to place the Princesses how many ways the other
cards then have, to draw one such way by its count, and then to deal the cartons.

For a seat that drew d cards (those dealt included), a of them Princesses, the cartons that it played and holds can have
come in (d - a)! orders; a hand of h cartons counts once, whatever the order. The pile can lie in as many orders as it
has places.
"""

from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memset

from chatiere.engine.core.game cimport OK
from chatiere.engine.core.stream cimport Stream, next_word, number_below
from chatiere.engine.games.chat_cartonne.state cimport (
    ALL_PRINCESSES,
    CARTONS,
    DEALT,
    LARGEST_HAND,
    NO_SEAT,
    PARTS,
    PATTERNS,
    PILE_KINDS,
    PRINCESS,
    PRINCESS_BIT,
    State,
    current_part,
    has_kind,
    holders,
    part_count,
    part_size,
    pile_size,
    princess_count,
    princesses_in_hand,
    put_kind,
    take_kind,
)

cdef enum:
    OTHERS = 4
    COUNTS = 256  # ways to have 0-3 Princesses in each of four hands
    IN_PILE = 4  # beside the places of other seats in Deal.seat

ctypedef struct Choice:
    # For each other seat how many Princesses it holds, and of constrained ones how many cartons of each class.
    uint8_t princesses[4]
    uint8_t cartons[4][8]

ctypedef struct Deal:
    const State* state
    int others
    int constrained  # the first of the others: those whose passes have shown something of their hand
    uint8_t seat[4]
    # Princesses that the viewer has not located: where each can be (another seat, or the pile) in how many ways.
    int princesses
    uint8_t part[5]
    uint8_t ways_there[5][5]
    uint8_t where[5]
    uint8_t drew[4]
    uint8_t is_one_part
    double ways[256]  # for numbers of Princesses in hand, base 4
    # Wall patterns that every pass shown treats alike are one class.
    int classes
    uint8_t class_of[8]
    int excluded[4][3]  # by class, as State.excluded; the Princess as there
    int left_of_class[8]
    int cartons
    int toys
    int spare  # cartons - cards in other hands: how many cartons the pile has if no hand holds a Princess
    int holding
    Choice now
    # Drawing one of what is counted: the count down to it, and what was last passed on the way.
    int target
    double rest
    bint found
    Choice chosen
    uint8_t chosen_where[5]


# Princesses

cdef double orders_played(const Deal* deal, int k) noexcept nogil:
    # In how many ways the Princesses that the seat played can be those that it drew; each was drawn before.
    cdef int part, i, drew = 0, played = 0, seat = deal.seat[k]
    cdef double ways = 1
    for part in range(part_count(deal.state)):
        for i in range(deal.princesses):
            drew += deal.part[i] == part and deal.where[i] == k
        for i in range(deal.state.played[seat][part]):
            ways *= drew - played
            played += 1
        if drew < played:
            return 0
    return ways


cdef void place_princesses(Deal* deal, int i, double ways) noexcept nogil:
    # Count the placements from the i-th Princess on, or find one with `target` in the hands.
    cdef int k, count, index = 0, hand
    if i == deal.princesses:
        for k in range(deal.others):
            hand = deal.drew[k]
            if not deal.is_one_part:
                ways *= orders_played(deal, k)
                for count in range(PARTS):
                    hand -= deal.state.played[deal.seat[k]][count]
            if hand < 0 or hand > deal.state.hand_size[deal.seat[k]]:
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
            # The Princesses before this one have taken as many of the same places.
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
    # Which Princesses can be where.
    cdef const State* state = deal.state
    cdef int left, current = current_part(state, pile_size(state), &left), part, k, i, other
    deal.is_one_part = (state.variants & ALL_PRINCESSES) != 0
    if deal.is_one_part:
        # Those on the table are known for what they are.
        deal.princesses = princess_count(state) - princesses_in_hand(state, viewer)
        for other in range(state.players):
            deal.princesses -= state.played[other][0]
        for i in range(deal.princesses):
            deal.part[i] = 0
            deal.ways_there[i][IN_PILE] = left
            for k in range(deal.others):
                deal.ways_there[i][k] = state.drawn[deal.seat[k]][0] - state.played[deal.seat[k]][0]
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
            deal.ways_there[i][k] = state.drawn[deal.seat[k]][part]


# Cartons

cdef void find_classes(Deal* deal) noexcept nogil:
    cdef int marks[8]
    cdef int pattern, earlier, k, slot, excluded
    for pattern in range(PATTERNS):
        marks[pattern] = 0
        for k in range(deal.constrained):
            for slot in range(LARGEST_HAND):
                excluded = deal.state.excluded[deal.seat[k]][slot]
                marks[pattern] |= (excluded >> pattern & 1) << (LARGEST_HAND * k + slot)
        deal.class_of[pattern] = deal.classes
        for earlier in range(pattern - 1, -1, -1):
            if marks[earlier] == marks[pattern]:
                deal.class_of[pattern] = deal.class_of[earlier]
        deal.classes += deal.class_of[pattern] == deal.classes
        for k in range(deal.constrained):
            for slot in range(LARGEST_HAND):
                excluded = deal.state.excluded[deal.seat[k]][slot]
                deal.excluded[k][slot] |= (excluded >> pattern & 1) << deal.class_of[pattern]
    for k in range(deal.constrained):
        for slot in range(LARGEST_HAND):
            deal.excluded[k][slot] |= deal.state.excluded[deal.seat[k]][slot] & 1 << PRINCESS_BIT


cdef bint fits(const Deal* deal, int k) noexcept nogil:
    # Whether the hand now chosen agrees with what the seat's passes have shown (see fits_shown in invariants.pyx).
    cdef int slot, each, fitting
    for slot in range(deal.state.hand_size[deal.seat[k]]):
        fitting = 0 if deal.excluded[k][slot] >> PRINCESS_BIT & 1 else deal.now.princesses[k]
        for each in range(deal.classes):
            if not deal.excluded[k][slot] >> each & 1:
                fitting += deal.now.cartons[k][each]
        if fitting < slot + 1:
            return False
    return True


cdef double choose_cartons(Deal* deal, int k, int each, int wanted, int free, int index, double ways) noexcept nogil:
    # For a constrained seat: `wanted` more cartons from class `each` on, of `free` that nobody has been given.
    cdef int take
    cdef double total = 0, share = ways
    if each == deal.classes - 1:
        deal.now.cartons[k][each] = wanted
        if wanted > deal.left_of_class[each] or not fits(deal, k):
            return 0
        for take in range(wanted):
            share *= <double> (deal.left_of_class[each] - take) / (free - take) / (take + 1)
        deal.left_of_class[each] -= wanted
        total = choose_hands(deal, k + 1, free - wanted, index, share)
        deal.left_of_class[each] += wanted
        return total
    for take in range(min(wanted, deal.left_of_class[each]) + 1):
        if take:
            share *= <double> (deal.left_of_class[each] - take + 1) / (free - take + 1) / take
        deal.now.cartons[k][each] = take
        deal.left_of_class[each] -= take
        total += choose_cartons(deal, k, each + 1, wanted - take, free - take, index, share)
        deal.left_of_class[each] += take
    return total


cdef double choose_hands(Deal* deal, int k, int free, int index, double ways) noexcept nogil:
    # Count the hands from the k-th other seat on, or find one. `ways`: of what has been chosen before; `free`: cartons
    # that no constrained seat has been given; `index`: the Princesses chosen, base 4.
    cdef const State* state = deal.state
    cdef int seat, a, size, cards, i, in_hands = 0
    cdef double total = 0, share
    if deal.found:
        return 0
    if k == deal.others:
        for i in range(deal.others):
            in_hands += deal.now.princesses[i]
        if deal.spare + in_hands < 0:
            return 0
        ways *= deal.ways[index]
        # Where the toys lie among the other cards of the pile.
        for i in range(deal.toys):
            ways *= deal.spare + in_hands + 1 + i
        if deal.target >= 0 and ways > 0:
            deal.chosen = deal.now
            deal.target = index
            deal.rest -= ways
            deal.found = deal.rest < 0
        return ways
    seat = deal.seat[k]
    size = state.hand_size[seat]
    # Cards that the seat has drawn, without the Princesses that it played.
    cards = DEALT
    for i in range(PARTS):
        cards += state.drawn[seat][i] - state.played[seat][i]
    share = ways
    for a in range(size + 1):
        if a:
            share *= <double> (size - a + 1) / (cards - a + 1)
        # In the final phase all know who holds a carton.
        if state.final_phase and (a < size) != (deal.holding >> seat & 1):
            continue
        deal.now.princesses[k] = a
        if k < deal.constrained:
            # Of each class in turn; cartons in hand in any order.
            total += choose_cartons(
                deal, k, 0, size - a, free, index | a << 2 * k, share * (6 if size - a == 3 else max(1, size - a))
            )
        else:
            total += choose_hands(deal, k + 1, free, index | a << 2 * k, share)
    return total


cdef double part_of(Stream* stream, double total) noexcept nogil:
    # Uniform from 0 up to the total.
    return <double> (next_word(stream) >> 11) * (1.0 / 9007199254740992.0) * total


cdef int take_carton(Deal* deal, uint64_t* pool, int one_class, Stream* stream) noexcept nogil:
    # A random carton of the pool, of that class only unless it is -1.
    cdef uint8_t kinds[72]
    cdef int kind, count = 0
    for kind in range(CARTONS):
        if has_kind(pool, kind) and (one_class < 0 or deal.class_of[kind // 9] == one_class):
            kinds[count] = kind
            count += 1
    kind = kinds[number_below(stream, count)]
    take_kind(pool, kind)
    return kind


cdef void sort_hand(uint8_t* hand, int size) noexcept nogil:
    cdef int i, j
    cdef uint8_t kind
    for i in range(1, size):
        kind = hand[i]
        j = i
        while j > 0 and hand[j - 1] > kind:
            hand[j] = hand[j - 1]
            j -= 1
        hand[j] = kind


cdef int resample(void* body, int seat, Stream* stream) noexcept nogil:
    cdef State* state = <State*> body
    cdef Deal deal
    cdef uint64_t pool[2]
    cdef int other, slot, k, kind, i, free
    cdef double total
    memset(&deal, 0, sizeof(Deal))
    deal.state = state
    deal.holding = holders(state)
    pool[0] = state.unknown[0]
    pool[1] = state.unknown[1]
    for i in range(2):
        # Those whose passes have shown something first.
        for other in range(state.players):
            if other != seat and (state.excluded[other][0] == 0) == i:
                deal.seat[deal.others] = other
                deal.others += 1
        if i == 0:
            deal.constrained = deal.others
    find_classes(&deal)
    for k in range(deal.others):
        for slot in range(state.hand_size[deal.seat[k]]):
            deal.spare -= 1
            if state.hand[deal.seat[k]][slot] != PRINCESS:
                put_kind(pool, state.hand[deal.seat[k]][slot])
    for kind in range(PILE_KINDS):
        if has_kind(pool, kind):
            if kind < CARTONS:
                deal.cartons += 1
                deal.left_of_class[deal.class_of[kind // 9]] += 1
            else:
                deal.toys += 1
    deal.spare += deal.cartons
    find_places(&deal, seat)

    # Count, draw the hands' numbers, draw where the Princesses came from.
    deal.target = -1
    place_princesses(&deal, 0, 1)
    total = choose_hands(&deal, 0, deal.cartons, 0, 1)
    deal.target = 0
    deal.rest = part_of(stream, total)
    choose_hands(&deal, 0, deal.cartons, 0, 1)
    deal.found = False
    deal.rest = part_of(stream, deal.ways[deal.target])
    place_princesses(&deal, 0, 1)

    for i in range(deal.princesses if not deal.is_one_part else 0):
        state.drawer[deal.part[i]] = NO_SEAT if deal.chosen_where[i] == IN_PILE else deal.seat[deal.chosen_where[i]]
    for k in range(deal.others):
        other = deal.seat[k]
        slot = 0
        free = state.hand_size[other] - deal.chosen.princesses[k]
        for i in range(deal.classes if k < deal.constrained else 0):
            for kind in range(deal.chosen.cartons[k][i]):
                state.hand[other][slot] = take_carton(&deal, pool, i, stream)
                slot += 1
        while slot < free:
            state.hand[other][slot] = take_carton(&deal, pool, -1, stream)
            slot += 1
        sort_hand(state.hand[other], free)
        for slot in range(free, state.hand_size[other]):
            state.hand[other][slot] = PRINCESS
    state.unknown[0] = pool[0]
    state.unknown[1] = pool[1]
    return OK
