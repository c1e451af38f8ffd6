"""Chat Cartonne: checks of the invariants of every state (rules file: "Invariants")."""

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from chatiere.engine.core.bits cimport count_bits, spread_bits
from chatiere.engine.core.operations cimport NO_SEAT, OK
from .state cimport (
    ALL_PRINCESSES, AWAKE, CARTONS, CAT, CATS, CELL, CELLS, CENTRE, CHOOSE_START, DEAL, DEALT, DRAW, EXCLUDED_BITS,
    FEWEST_SEATS, FINISHED, FIRST_SEAT, FIRST_START, FIRST_TOY, JOINT_SHIFT, KIND, LAST_THERE, MAX_CARDS, MAX_HAND,
    MAX_JOINTS, NO_CELL, NO_DOUBLE_WALLS, PARTS, PHASES, PILE_KINDS, PLACE_START, PLAY, PLAYED_BITS, PRINCESS,
    PRINCESS_THERE, SEATS, SIDE, SLEEPER, STARTS, TOY, TOY_THERE, TURN, WOKEN, WORDS, Box, ChatCartonneFault, Layout,
    Seat, State, can_turn, cat_can_follow, count_kinds, current_part, end_word, excluded_of, fault_if, first_column,
    first_word, has_cell, has_kind, is_joint, next_column, next_seat, part_count, part_size, place_at, played_of,
    princess_count, read_boxes, read_layout, spread_further, to_north, to_west, type_of,
)

cdef enum:
    MAX_LIST_SIZE = 112  # the maximum size of a list, in bytes

# True for bytes that State.cards cannot contain: unknown kinds, and turned cards of kinds that can neither be turned
# nor wake.
cdef uint8_t NO_CARD[256]
# MAX_LIST_SIZE zero bytes, then MAX_LIST_SIZE bytes with all bits set. The bytes from MAX_LIST_SIZE - n on are a mask
# that clears the first n bytes of a list.
cdef uint8_t BEHIND[224]


cdef void fill_tables() noexcept nogil:
    cdef int card, kind
    for card in range(256):
        kind = card & KIND
        NO_CARD[card] = kind >= SLEEPER + SEATS or (card != kind and kind < SLEEPER and not can_turn(kind))
    memset(&BEHIND[MAX_LIST_SIZE], 0xFF, MAX_LIST_SIZE)


fill_tables()


ctypedef struct Count:
    # One byte for each kind: the number of cards, turned or not, of this kind. Cartons and toys are counted everywhere,
    # Princesses in hands and on the table, and all other kinds only on the table.
    uint64_t of[16]
    uint64_t starts  # the bytes of `of` for starting cartons
    uint8_t no_card  # not 0 if State.cards has a byte that is not a card
    uint8_t woken  # not 0 if State.cards has a woken cat
    int princesses  # the number of Princesses on the table
    # One byte for each seat, beginning with the second byte.
    uint64_t awake
    uint64_t supply
    uint8_t before[WORDS]  # for each word of State.filled, the number of cards in lower words
    bint apart  # True if there are cards in words before first_word or from end_word on
    # Facts about all seats.
    uint64_t any_drawn  # Seat.drawn of all seats, combined by bitwise or
    uint64_t drawn[2]  # the sums of Seat.drawn, in 16 bits for each part: parts 0, 2 and 4, then parts 1 and 3
    uint32_t any_excluded  # Seat.excluded of all seats, combined by bitwise or
    uint16_t any_played  # Seat.played of all seats, combined by bitwise or
    # Each of the next five fields has one byte for each seat.
    uint64_t played  # the number of Princesses played
    uint64_t in_hands  # the number of Princesses in hand
    uint64_t sizes  # the size of the hand
    uint64_t drew  # the number of cards drawn from all parts; valid if all sums are below 256
    uint64_t holders  # 1 if the seat holds a carton
    uint64_t taken  # one byte for each part; not 0 if State.drawer has a seat
    bint all_cats  # True if a seat has all its cats on the table
    bint bad_hand  # True if a hand is invalid
    # The pile, and the result of current_part.
    int unknown
    int pile
    int current
    int left


cdef int check(const void* body) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef Count count
    cdef int fault = check_numbers(state)
    if fault != OK:
        return fault
    count_seats(state, &count)
    fault = check_zeros(state, &count)
    if fault == OK:
        fault = check_cards(state, &count)
    if fault == OK:
        fault = check_table(state, &count)
    if fault == OK:
        count_pile(state, &count)
        fault = check_setup(state) if state.phase < TURN else check_turn(state, &count)
    if fault == OK:
        fault = check_pile(state, &count)
    if fault == OK:
        fault = check_princesses(state, &count)
    if fault == OK and count.any_excluded:
        fault = check_shown(state)
    return fault


cdef inline int sum_of(uint64_t counts) noexcept nogil:
    # Return the sum of eight bytes.
    return <int> (counts * <uint64_t> 0x0101010101010101 >> 56)


cdef inline uint64_t every_other(uint64_t drawn) noexcept nogil:
    # Return the bytes of the parts 0, 2 and 4. This leaves 16 bits for the sum of each part.
    return drawn & <uint64_t> 0x00FF00FF00FF


cdef inline int played_by(const Seat* held) noexcept nogil:
    # Return the number of Princesses that a seat has played.
    cdef int part, played = 0
    for part in range(PARTS):
        played += played_of(held, part)
    return played


cdef inline uint64_t at_least(uint64_t numbers, int least) noexcept nogil:
    # Return the top bit of each byte that is at least `least`. All bytes must be below 128.
    cdef uint64_t ones = 0x0101010101010101, tops = 0x8080808080808080
    return numbers + (128 - least) * ones & tops


cdef inline uint64_t less_than(uint64_t numbers, uint64_t others) noexcept nogil:
    # Return the top bit of each byte that is less than the corresponding byte of `others`. Lower bits are undefined.
    cdef uint64_t ones = 0x0101010101010101
    return others + 127 * ones - numbers


cdef inline uint64_t is_princess(uint64_t kinds) noexcept nogil:
    # Return the top bit of each byte that equals PRINCESS.
    cdef uint64_t ones = 0x0101010101010101, tops = 0x8080808080808080
    return at_least(kinds ^ PRINCESS * ones, 1) ^ tops


cdef inline uint64_t bad_slot(uint64_t kinds, uint64_t before, uint64_t filled) noexcept nogil:
    # Check one slot of all hands. The top bit of a byte is set in three cases: the kind is neither a carton nor the
    # Princess, the kind is lower than in the previous slot, or a slot that should be empty has a card.
    return (
        at_least(kinds, CARTONS) & ~is_princess(kinds)
        | less_than(kinds, before) & filled
        | at_least(kinds, 1) & ~filled
    )


cdef inline void count_seats(const State* state, Count* count) noexcept nogil:
    # Gather one byte for each seat, from the last seat to the first, and then check all seats in parallel. Errors are
    # rare, so they are only recorded here. The function that reports them examines the seats again.
    cdef uint64_t words[2]
    cdef uint64_t first = 0, second = 0, third = 0, sizes = 0, supply = 0, drew = 0, played = 0
    cdef uint64_t drawn, any_first = 0, any_drawn = 0, even = 0, odd = 0
    cdef uint32_t drawers
    cdef int seat
    cdef uint8_t* of = <uint8_t*> count.of
    spread_bits(state.unknown[0], 64, of)
    spread_bits(state.unknown[1], 16, of + 64)
    memset(of + 80, 0, 48)
    if state.pending >= FIRST_TOY and state.pending < PRINCESS:
        of[state.pending] += 1
    for seat in range(state.players - 1, -1, -1):
        # First word of a Seat: excluded, Princesses played, supply, size of the hand. Second word: hand, cards drawn.
        memcpy(words, &state.seats[seat], sizeof(words))
        any_first |= words[0]
        supply = supply << 8 | words[0] >> 48 & 0xFF
        sizes = sizes << 8 | words[0] >> 56
        first = first << 8 | words[1] & 0xFF
        second = second << 8 | words[1] >> 8 & 0xFF
        third = third << 8 | words[1] >> 16 & 0xFF
        of[words[1] & KIND] += 1
        of[words[1] >> 8 & KIND] += 1
        of[words[1] >> 16 & KIND] += 1
        drawn = words[1] >> 24
        any_drawn |= drawn
        even += every_other(drawn)
        odd += every_other(drawn >> 8)
        drew = drew << 8 | sum_of(drawn)
    # Subtract the empty slots of hands. Their zeros were counted as kind 0.
    of[0] -= MAX_HAND * state.players - sum_of(sizes)
    if any_first >> 32 & 0xFFFF:
        for seat in range(state.players):
            played |= <uint64_t> played_by(&state.seats[seat]) << 8 * seat
    count.bad_hand = (
        (first | second | third | sizes) & <uint64_t> 0x8080808080808080
        | at_least(sizes, MAX_HAND + 1)
        | bad_slot(first, 0, at_least(sizes, 1))
        | bad_slot(second, first, at_least(sizes, 2))
        | bad_slot(third, second, at_least(sizes, 3))
    ) != 0
    count.in_hands = (is_princess(first) >> 7) + (is_princess(second) >> 7) + (is_princess(third) >> 7)
    # A seat holds a carton unless its first card is a Princess, because Princesses are last in a hand.
    count.holders = (at_least(sizes, 1) & ~is_princess(first)) >> 7
    count.sizes = sizes
    count.supply = supply << 8
    count.drew = drew
    count.any_drawn = any_drawn
    count.drawn[0] = even
    count.drawn[1] = odd
    count.any_excluded = <uint32_t> any_first
    count.any_played = any_first >> 32 & 0xFFFF
    count.played = played
    # Load these five bytes in two pieces.
    memcpy(&drawers, state.drawer, sizeof(drawers))
    count.taken = (<uint64_t> state.drawer[4] << 32 | drawers) ^ <uint64_t> 0xFFFFFFFFFF
    count.unknown = count_kinds(state.unknown)


cdef inline void count_pile(const State* state, Count* count) noexcept nogil:
    # Compute the result of pile_size from the counts.
    cdef uint64_t ones = 0x0101010101010101
    cdef int drawn
    if state.variants & ALL_PRINCESSES:
        drawn = sum_of(count.played + count.in_hands)
    else:
        drawn = sum_of(((count.taken & 127 * ones) + 127 * ones | count.taken) >> 7 & ones)
    count.pile = count.unknown + princess_count(state) - drawn
    count.current = current_part(state, count.pile, &count.left)


cdef inline int check_numbers(const State* state) noexcept nogil:
    if state.players < FEWEST_SEATS or state.players > SEATS:
        return ChatCartonneFault.BAD_PLAYERS
    if state.variants >> 4:
        return ChatCartonneFault.BAD_OPTIONS
    if state.phase >= PHASES:
        return ChatCartonneFault.BAD_PHASE
    if state.first_seat_option != NO_SEAT and state.first_seat_option >= state.players:
        return ChatCartonneFault.BAD_FIRST_SEAT
    if state.phase == FIRST_SEAT:
        if state.first_seat_option != NO_SEAT or state.first_seat != NO_SEAT:
            return ChatCartonneFault.BAD_FIRST_SEAT
    elif state.first_seat >= state.players or (
        state.first_seat_option != NO_SEAT and state.first_seat_option != state.first_seat
    ):
        return ChatCartonneFault.BAD_FIRST_SEAT
    if state.active >= state.players:
        return ChatCartonneFault.BAD_ACTIVE_SEAT
    return fault_if(state.final_phase > 1, ChatCartonneFault.BAD_FINAL_PHASE)


cdef inline int check_zeros(const State* state, const Count* count) noexcept nogil:
    # Check that entries for seats and parts beyond the number of players are zeros.
    cdef uint64_t held[2]  # a Seat
    cdef int parts = part_count(state), seat
    cdef uint64_t beyond = (count.any_drawn | count.taken) >> 8 * parts | count.any_played >> PLAYED_BITS * parts
    for seat in range(state.players, SEATS):
        memcpy(held, &state.seats[seat], sizeof(held))
        beyond |= held[0] | held[1]
    beyond |= state.zero[0] | state.zero[1]
    return fault_if(beyond != 0, ChatCartonneFault.NOT_ZERO)


# Cards and cats

cdef inline int check_cards(const State* state, Count* count) noexcept nogil:
    # Check that each carton and toy is in one place, and that the hands and the list of the table are in order.
    cdef uint64_t ones = <uint64_t> 0x010101010100 & (<uint64_t> 1 << 8 * (state.players + 1)) - 1
    cdef uint64_t asleep, too_large
    cdef int fault, on_joints
    if state.unknown[1] >> (PILE_KINDS - 64):
        return ChatCartonneFault.CARD_TWICE_OR_MISSING
    if count.bad_hand:
        return hand_fault(state)
    fault = check_list(state, count)
    if fault != OK:
        return fault
    on_joints = check_joints(state, count)
    fault = check_kinds(state, count)
    if fault == OK:
        fault = check_starts(state, count)
    if fault == OK:
        fault = on_joints
    if fault == OK:
        fault = check_once(count)
    if fault != OK:
        return fault
    asleep = count.of[SLEEPER >> 3] & ~<uint64_t> 0xFF
    # The top bit of a seat's byte is set if its supply has more cats than exist. The second test sets it if the supply
    # is empty.
    too_large = (count.supply | count.supply + (127 - CATS) * ones) & 128 * ones
    count.all_cats = (128 * ones - count.supply & 128 * ones) != 0
    return fault_if(
        too_large or asleep + count.awake + count.supply != CATS * ones, ChatCartonneFault.BAD_SUPPLY
    )


cdef int hand_fault(const State* state) noexcept nogil:
    # Return the first fault found in the hands.
    cdef int seat, slot, kind
    for seat in range(state.players):
        if state.seats[seat].hand_size > MAX_HAND:
            return ChatCartonneFault.BAD_HAND
        for slot in range(MAX_HAND):
            kind = state.seats[seat].hand[slot]
            if slot >= state.seats[seat].hand_size:
                if kind:
                    return ChatCartonneFault.NOT_ZERO
                continue
            if kind >= CARTONS and kind != PRINCESS:
                return ChatCartonneFault.BAD_HAND
            if slot and state.seats[seat].hand[slot - 1] > kind:
                return ChatCartonneFault.BAD_HAND
    return OK  # uncovered: called only for a wrong hand


cdef inline int check_list(const State* state, Count* count) noexcept nogil:
    # Check that State.cards has one card for each filled cell, followed by zeros.
    cdef uint64_t apart = 0
    cdef uint8_t* of = <uint8_t*> count.of
    cdef uint8_t no_card = 0, woken = 0
    cdef int first = first_word(state), end = end_word(state), place, laid = 0
    for place in range(first - 1):
        apart |= state.filled[place]
    for place in range(end + 1, WORDS):
        apart |= state.filled[place]
    count.apart = apart != 0
    if apart:
        first = 0
        end = WORDS
    for place in range(first, end):
        count.before[place] = laid
        laid += count_bits(state.filled[place])
    if state.laid > MAX_CARDS or laid != state.laid:
        return ChatCartonneFault.BAD_TABLE
    for place in range(laid):
        of[state.cards[place] & KIND] += 1
        no_card |= NO_CARD[state.cards[place]]
        woken |= state.cards[place] >= WOKEN | SLEEPER
    count.no_card = no_card
    count.woken = woken
    return fault_if(not zeros_behind(state.cards, laid, sizeof(state.cards)), ChatCartonneFault.NOT_ZERO)


cdef inline int check_kinds(const State* state, Count* count) noexcept nogil:
    # Check that the table has only existing cards, and no sleeping cats of seats beyond the players.
    if count.no_card or count.of[SLEEPER >> 3] >> 8 * ((SLEEPER & 7) + state.players):
        return ChatCartonneFault.BAD_TABLE
    count.princesses += (count.of[9] >> 24 & 0xFF) - sum_of(count.in_hands)
    count.starts = count.of[9] >> 32 | (count.of[10] & 0xFF) << 32
    return OK


cdef inline int check_once(const Count* count) noexcept nogil:
    # Check that each carton and toy exists once.
    cdef uint64_t ones = 0x0101010101010101
    cdef uint64_t wrong = (count.of[9] ^ ones) & 0xFFFFFF
    cdef int i
    for i in range(9):
        wrong |= count.of[i] ^ ones
    return fault_if(wrong != 0, ChatCartonneFault.CARD_TWICE_OR_MISSING)


cdef inline bint zeros_behind(const void* list, int first, int end) noexcept nogil:
    # Return True if the list has only zeros from `first` on. All bytes are read, because the branches of a loop with
    # varying length are mispredicted.
    cdef const uint8_t* bytes = <const uint8_t*> list
    cdef const uint8_t* behind = &BEHIND[MAX_LIST_SIZE - first]
    cdef uint8_t found = 0
    cdef int i
    for i in range(end):
        found |= bytes[i] & behind[i]
    return found == 0


cdef inline int place_in(const State* state, const Count* count, int cell) noexcept nogil:
    # Compute the result of place_at from the counts.
    return count.before[cell >> 6] + count_bits(state.filled[cell >> 6] & (<uint64_t> 1 << (cell & 63)) - 1)


cdef inline bint is_start(const State* state, const Count* count, int cell) noexcept nogil:
    cdef int kind
    if cell < 0 or cell >= CELLS or not has_cell(state.filled, cell):
        return False
    kind = state.cards[place_in(state, count, cell)] & KIND
    return kind >= FIRST_START and kind < SLEEPER


cdef inline bint starts_in_column(const State* state, const Count* count, int starts) noexcept nogil:
    # Return True if `starts` starting cartons are in one column without gaps, and one of them is in the centre.
    cdef int north = CENTRE, south = CENTRE + SIDE
    while starts > 0 and is_start(state, count, north):
        north -= SIDE
        starts -= 1
    while starts > 0 and north < CENTRE and is_start(state, count, south):
        south += SIDE
        starts -= 1
    return starts == 0


cdef int check_starts(const State* state, const Count* count) noexcept nogil:
    cdef int starts = 0
    # There are no starting cartons until one is chosen (CHOOSE_START). In the phases before TURN, each seat in turn
    # lays a starting carton, from the first seat on.
    if state.phase > CHOOSE_START:
        starts = state.players
        if state.phase < TURN:
            starts = (state.active + state.players - state.first_seat) % state.players
            if starts == 0:
                return ChatCartonneFault.BAD_ACTIVE_SEAT
    if (
        count.starts & ~<uint64_t> 0x0101010101
        or sum_of(count.starts) != starts
        or (state.phase < TURN and state.laid != starts)
    ):
        return ChatCartonneFault.BAD_STARTS
    return fault_if(not starts_in_column(state, count, starts), ChatCartonneFault.BAD_STARTS)


cdef inline int check_joints(const State* state, Count* count) noexcept nogil:
    # Check that the joints are ascending and followed by zeros.
    cdef uint64_t allowed = (<uint64_t> 1 << (LAST_THERE + 1)) - (<uint64_t> 1 << PRINCESS_THERE), awake = 0
    cdef uint8_t* of = <uint8_t*> count.of
    cdef int joint = 0, last = -1, west, there, princesses = 0
    # Only existing seats have cats.
    allowed |= (<uint64_t> 1 << (AWAKE + state.players)) - (<uint64_t> 1 << AWAKE)
    while state.joints[joint]:
        west = state.joints[joint] & CELL
        there = state.joints[joint] >> JOINT_SHIFT
        if joint == MAX_JOINTS or west <= last or west >= CELLS or not allowed >> there & 1:
            return ChatCartonneFault.BAD_JOINT
        if not has_cell(state.filled, west) or not is_joint(state, west, place_in(state, count, west)):
            return ChatCartonneFault.BAD_JOINT
        # The number of a cat on a joint is also the index of its seat's byte.
        awake += <uint64_t> (there < PRINCESS_THERE) << 8 * (there & 7)
        princesses += there == PRINCESS_THERE
        of[FIRST_TOY - TOY_THERE + there] += there >= TOY_THERE
        last = west
        joint += 1
    count.awake = awake
    count.princesses = princesses
    return fault_if(
        not zeros_behind(state.joints, joint * sizeof(uint16_t), sizeof(state.joints)), ChatCartonneFault.NOT_ZERO
    )


# The table

cdef int check_table(const State* state, const Count* count) noexcept nogil:
    cdef Layout layout
    cdef int place, word
    if state.laid == 0:
        return OK
    if count.apart or not hangs_together(state):
        return ChatCartonneFault.BAD_TABLE
    if state.variants & NO_DOUBLE_WALLS:
        read_layout(state, &layout)
        for word in range(layout.first, layout.end):
            if layout.south[word] & to_north(layout.north, word) or layout.east[word] & to_west(layout.west, word):
                return ChatCartonneFault.BAD_TABLE
    if state.phase == CAT:
        if state.just_played >= CELLS or state.seats[state.active].supply == 0:
            return ChatCartonneFault.BAD_JUST_PLAYED
        if not has_cell(state.filled, state.just_played):
            return ChatCartonneFault.BAD_JUST_PLAYED
        place = place_in(state, count, state.just_played)
        if state.cards[place] & KIND > PRINCESS or not cat_can_follow(state, state.just_played, place):
            return ChatCartonneFault.BAD_JUST_PLAYED
    return fault_if(count.woken and not could_wake(state), ChatCartonneFault.BAD_WOKEN)


cdef bint could_wake(const State* state) noexcept nogil:
    # Return True if the box of each woken cat has an awake cat of the same seat, or a Princess on a joint. The awake
    # cat can have woken the other cat. The Princess can have replaced an awake cat that woke the other cat. Each
    # Princess can have replaced only one cat.
    cdef Box boxes[MAX_CARDS]
    cdef uint8_t box_of[MAX_CARDS]
    # For each box, the number of seats with woken but no awake cats, minus the number of Princesses on joints.
    cdef int replaced[MAX_CARDS]
    cdef int count = read_boxes(state, boxes, box_of), i, seat
    for i in range(count):
        replaced[i] = 0
        for seat in range(state.players):
            replaced[i] += boxes[i].woken[seat] > 0 and boxes[i].awake[seat] == 0
    i = 0
    while state.joints[i]:
        if state.joints[i] >> JOINT_SHIFT == PRINCESS_THERE:
            replaced[box_of[place_at(state, state.joints[i] & CELL)]] -= 1
        i += 1
    for i in range(count):
        if replaced[i] > 0:
            return False
    return True


cdef bint hangs_together(const State* state) noexcept nogil:
    # Return True if every card is connected to the starting carton in the centre through shared edges.
    cdef uint64_t reached[WORDS]
    cdef uint64_t east[WORDS]
    cdef uint64_t south[WORDS]
    cdef uint64_t alone
    cdef int first = first_word(state), end = end_word(state), word
    if hangs_inwards(state, first, end):
        return True
    for word in range(max(0, first - 1), min(WORDS, end + 1)):
        reached[word] = <uint64_t> (word == CENTRE >> 6) << (CENTRE & 63)
        east[word] = state.filled[word] & to_west(state.filled, word)
        south[word] = state.filled[word] & to_north(state.filled, word)
    while spread_further(reached, east, south, first, end):
        alone = 0
        for word in range(first, end):
            alone |= reached[word] ^ state.filled[word]
        if alone == 0:
            return True
    return state.laid == 1


cdef inline bint hangs_inwards(const State* state, int first, int end) noexcept nogil:
    # Return True if each run of adjacent cards in a row has a card in the centre, or a card next to a card of the
    # following row towards the centre. This condition is sufficient for a connected table, and true on most tables.
    cdef uint64_t cells = state.filled[first], before = 0, after, east, inner, sum, ends, carry = 0, alone = 0
    cdef uint64_t column = first_column(first)
    cdef int word
    for word in range(first, end):
        after = state.filled[word + 1] if word + 1 < end else 0
        # The shifts of to_north, to_south and to_west, inlined.
        if word < CENTRE >> 6:
            inner = cells >> 24 | after << 40
        else:
            inner = cells << 24 | before >> 40
        if word == CENTRE >> 6:
            # Bits 8 to 31 are the row of the centre.
            inner &= ~<uint64_t> 0xFFFFFFFF
            inner |= cells >> 24 & 0xFF | <uint64_t> 1 << (CENTRE & 63)
        east = (cells & ~column) >> 1
        column = next_column(column)
        east = cells & (east | (after & ~column) << 63)
        # In the addition, a carry moves from each card in `inner` eastwards to the last card of the run.
        sum = east + (inner & east)
        ends = sum + carry
        carry = (sum < east) | (ends < sum)
        alone |= cells & ~(east | inner | ends)
        before = cells
        cells = after
    return alone == 0


# Active seat and phase

cdef int check_setup(const State* state) noexcept nogil:
    cdef int seat, number, _, extra = 1
    if state.final_phase:
        return ChatCartonneFault.BAD_FINAL_PHASE
    if state.passes:
        return ChatCartonneFault.BAD_PASSES
    if state.just_played != NO_CELL:
        return ChatCartonneFault.BAD_JUST_PLAYED
    if state.phase == PLACE_START:
        if state.pending < FIRST_START or state.pending >= FIRST_START + STARTS:
            return ChatCartonneFault.BAD_PENDING
        for number in range(state.laid):
            if state.cards[number] & KIND == state.pending:
                return ChatCartonneFault.BAD_PENDING
    elif state.pending:
        return ChatCartonneFault.BAD_PENDING
    if state.phase == FIRST_SEAT:
        if state.active:
            return ChatCartonneFault.BAD_ACTIVE_SEAT
        extra = 0
    elif state.phase == CHOOSE_START and state.active != state.first_seat:
        return ChatCartonneFault.BAD_ACTIVE_SEAT
    # During the deal, the seats from the first seat to the seat before the active one have one card more than the rest.
    if state.phase > DEAL:
        extra = 0
    seat = 0 if state.phase == FIRST_SEAT else state.first_seat
    for _ in range(state.players):
        if seat == state.active:
            extra = 0
        if state.seats[seat].hand_size != state.seats[state.active].hand_size + extra:
            return ChatCartonneFault.BAD_HAND
        if state.seats[seat].excluded:
            return ChatCartonneFault.BAD_SHOWN
        seat = next_seat(state, seat)
    number = state.seats[state.active].hand_size
    if number > DEALT or (number < DEALT) != (state.phase <= DEAL) or (number and state.phase == FIRST_SEAT):
        return ChatCartonneFault.BAD_HAND
    return OK


cdef int check_turn(const State* state, const Count* count) noexcept nogil:
    cdef int phase = state.phase, seat, size, holding = sum_of(count.holders)
    if (phase == CAT) != (state.just_played != NO_CELL):
        return ChatCartonneFault.BAD_JUST_PLAYED
    if state.pending and phase != TOY or (phase == TOY and (state.pending < FIRST_TOY or state.pending >= PRINCESS)):
        return ChatCartonneFault.BAD_PENDING
    if state.final_phase:
        if phase == DRAW or phase == PLAY or phase == TOY:
            return ChatCartonneFault.BAD_PHASE
        # The condition that began the final phase must still hold, unless a Princess has undone it.
        if not count.all_cats and count.pile > 0 and count.played == 0:
            return ChatCartonneFault.BAD_FINAL_PHASE
        if phase == TURN:
            if count.holders >> 8 * state.active & 1 == 0:
                return ChatCartonneFault.BAD_ACTIVE_SEAT
            return fault_if(state.passes >= holding, ChatCartonneFault.BAD_PASSES)
        return fault_if(state.passes != (holding if phase == FINISHED else 0), ChatCartonneFault.BAD_PASSES)
    if phase == FINISHED:
        return ChatCartonneFault.BAD_FINAL_PHASE
    if state.passes:
        return ChatCartonneFault.BAD_PASSES
    if count.all_cats or ((phase == TURN or phase == DRAW) and count.pile == 0):
        return ChatCartonneFault.BAD_FINAL_PHASE
    if phase == TURN and count.sizes == DEALT * (<uint64_t> 0x0101010101 >> 8 * (SEATS - state.players)):
        return OK
    for seat in range(state.players):
        size = state.seats[seat].hand_size
        if seat == state.active and phase != TURN:
            # The card drawn is still in the hand or was already played.
            if size != (MAX_HAND if phase == PLAY else DEALT) or excluded_of(&state.seats[seat], DEALT):
                return ChatCartonneFault.BAD_HAND
        elif size != DEALT and (size != MAX_HAND or excluded_of(&state.seats[seat], DEALT) == 0):
            # A seat has three cards at the start of a turn only if it has passed.
            return ChatCartonneFault.BAD_HAND
    return OK


# Public and hidden

cdef inline int check_pile(const State* state, const Count* count) noexcept nogil:
    # Check that the parts lack as many cards as were drawn (including toys), and that no seat has more cards than it
    # drew.
    cdef int left = count.left, current = count.current, part, gone, toys = 0
    cdef uint64_t too_many
    if state.phase <= DEAL:
        # During the deal, the pile is not yet divided into parts.
        return fault_if(count.any_drawn != 0, ChatCartonneFault.BAD_DRAWS)
    if left < 0 or left > part_size(state, current) or (state.phase < TURN and current + part_size(state, 0) - left):
        return ChatCartonneFault.BAD_DRAWS
    if count.any_drawn >> 8 * (current + 1):
        return ChatCartonneFault.BAD_DRAWS
    for part in range(current + 1):
        gone = part_size(state, part) - (left if part == current else 0)
        gone -= <int> (count.drawn[part & 1] >> 16 * (part >> 1) & 0xFFFF)
        if gone < 0:
            return ChatCartonneFault.BAD_DRAWS
        toys += gone
    for part in range(FIRST_TOY, PRINCESS):
        toys -= not has_kind(state.unknown, part)
    # All bytes are below 128, because the number of cards is.
    too_many = less_than(count.drew + DEALT * <uint64_t> 0x0101010101010101, count.sizes + count.played)
    return fault_if(
        toys or (state.phase >= TURN and too_many & <uint64_t> 0x8080808080808080), ChatCartonneFault.BAD_DRAWS
    )


cdef inline int check_princesses(const State* state, const Count* count) noexcept nogil:
    cdef const Seat* held
    cdef uint64_t drew = 0, had  # one byte for each seat
    cdef int seat, part, drawer, played
    # Skip the loop if no Princess was drawn and the first part has cards left: each Princess is then still in her part.
    for part in range(part_count(state) if count.taken or count.current or count.left == 0 else 0):
        drawer = state.drawer[part]
        if drawer == NO_SEAT:
            # The Princess is still in the pile, so her part must have cards left.
            if not state.variants & ALL_PRINCESSES and (
                part < count.current or (part == count.current and count.left == 0)
            ):
                return ChatCartonneFault.BAD_PRINCESSES
            continue
        if drawer >= state.players or state.variants & ALL_PRINCESSES or state.seats[drawer].drawn[part] == 0:
            return ChatCartonneFault.BAD_PRINCESSES
        drew += <uint64_t> 1 << 8 * drawer
    played = sum_of(count.played)
    if count.princesses != played or sum_of(count.in_hands) + played > princess_count(state):
        return ChatCartonneFault.BAD_PRINCESSES
    had = count.in_hands + count.played
    if not state.variants & ALL_PRINCESSES and had != drew:
        return ChatCartonneFault.BAD_PRINCESSES
    for seat in range(state.players if had else 0):
        held = &state.seats[seat]
        if (held.played and not played_after_drawn(state, seat)) or (
            state.variants & ALL_PRINCESSES and <int> (had >> 8 * seat & 0xFF) > held.drawn[0]
        ):
            return ChatCartonneFault.BAD_PRINCESSES
    return OK


cdef bint played_after_drawn(const State* state, int seat) noexcept nogil:
    # Return True if the seat had drawn each Princess before it played her.
    cdef const Seat* held = &state.seats[seat]
    cdef int part, drew = 0, played = 0
    for part in range(part_count(state)):
        drew += state.drawer[part] == seat
        played += played_of(held, part)
        if (played_of(held, part) and held.drawn[part] == 0) or (
            played > drew and not state.variants & ALL_PRINCESSES
        ):
            return False
    return True


cdef int check_shown(const State* state) noexcept nogil:
    cdef const Seat* held
    cdef int seat, slot, known
    for seat in range(state.players):
        held = &state.seats[seat]
        if held.excluded == 0:
            continue
        if held.excluded >> EXCLUDED_BITS * held.hand_size:
            return ChatCartonneFault.NOT_ZERO
        for slot in range(held.hand_size):
            known = excluded_of(held, slot)
            # A card without walls can always be played, so no pass can exclude it.
            if known and not known & 1:
                return ChatCartonneFault.BAD_SHOWN
            if known and not state.variants & NO_DOUBLE_WALLS and known & 0xFF != 0xFF:
                return ChatCartonneFault.BAD_SHOWN
            if slot and known & ~excluded_of(held, slot - 1):
                return ChatCartonneFault.BAD_SHOWN
        if not fits_shown(held):
            return ChatCartonneFault.BAD_SHOWN
    return OK


cdef bint fits_shown(const Seat* held) noexcept nogil:
    # Return True if each set of Seat.excluded can be assigned to a different card of the hand that the set allows. Each
    # set contains the next one, so a set allows all cards that an earlier set allows. It is therefore sufficient that
    # set `slot` allows at least `slot + 1` cards, for each slot.
    cdef int slot, i, fitting
    for slot in range(held.hand_size - 1, -1, -1):
        if excluded_of(held, slot):
            fitting = 0
            for i in range(held.hand_size):
                fitting += not excluded_of(held, slot) >> type_of(held.hand[i]) & 1
            if fitting < slot + 1:
                return False
    return True
