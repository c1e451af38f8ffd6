"""Chat Cartonne: what holds of every state (rules file: "Invariants")."""

from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcpy

from chatiere.engine.core.bits cimport count_bits
from chatiere.engine.core.game cimport OK
from chatiere.engine.games.chat_cartonne.boxes cimport Table, cat_can_follow, is_joint, read_table
from chatiere.engine.games.chat_cartonne.cells cimport end_word, first_word, spread_further, to_north, to_west
from chatiere.engine.games.chat_cartonne.state cimport (
    ALL_PRINCESSES,
    AWAKE,
    CARTONS,
    CAT,
    CATS,
    CELL,
    CELLS,
    CENTRE,
    CHOOSE_START,
    DEAL,
    DEALT,
    DRAW,
    EXCLUDED_BITS,
    FINISHED,
    FIRST_SEAT,
    FIRST_START,
    FIRST_TOY,
    JOINT_SHIFT,
    KIND,
    LARGEST_HAND,
    LAST_THERE,
    MOST_CARDS,
    MOST_JOINTS,
    NOTHING,
    NO_CELL,
    NO_DOUBLE_WALLS,
    NO_SEAT,
    PARTS,
    PHASES,
    PILE_KINDS,
    PLACE_START,
    PLAY,
    PLAYED_BITS,
    PRINCESS,
    PRINCESS_THERE,
    SEATS,
    SIDE,
    SLEEPER,
    STARTS,
    TOY,
    TOY_THERE,
    TURN,
    WORDS,
    ChatCartonneFault,
    Seat,
    State,
    all_can_turn,
    count_kinds,
    current_part,
    excluded_of,
    fault_if,
    find_card,
    has_cell,
    has_kind,
    holders,
    next_seat,
    part_count,
    part_size,
    pile_size,
    place_at,
    played_of,
    princess_count,
    princesses_in_hand,
    put_cell,
    put_kind,
    type_of,
)


ctypedef struct Count:
    uint64_t seen[2]  # kinds, wherever they are
    int cards  # of these kinds
    int princesses  # on the table
    # On the table, a byte a seat, from the second byte on.
    uint64_t asleep
    uint64_t awake
    uint8_t before[9]  # cards in lower words of State.filled
    # The pile, and what current_part says of it.
    int pile
    int current
    int left


cdef int check(const void* body) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef Count count
    cdef int fault = check_numbers(state)
    if fault == OK:
        fault = check_cards(state, &count)
    if fault == OK:
        fault = check_table(state)
    if fault == OK:
        count.pile = pile_size(state)
        count.current = current_part(state, count.pile, &count.left)
        fault = check_setup(state) if state.phase < TURN else check_turn(state, &count)
    if fault == OK:
        fault = check_pile(state, &count)
    if fault == OK:
        fault = check_princesses(state, &count)
    if fault == OK:
        fault = check_shown(state)
    return fault


cdef int check_numbers(const State* state) noexcept nogil:
    cdef uint64_t held[2]  # a Seat
    cdef uint64_t beyond = 0
    cdef int seat, part
    if state.players < 2 or state.players > SEATS:
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
    if state.final_phase > 1:
        return ChatCartonneFault.BAD_FINAL_PHASE
    for seat in range(state.players, SEATS):
        memcpy(held, &state.seats[seat], sizeof(held))
        beyond |= held[0] | held[1]
    for part in range(part_count(state), PARTS):
        beyond |= state.drawer[part] ^ NO_SEAT
        for seat in range(state.players):
            beyond |= state.seats[seat].drawn[part]
    for seat in range(state.players):
        beyond |= state.seats[seat].played >> PLAYED_BITS * part_count(state)
    return fault_if(beyond != 0 or state.zero[0] or state.zero[1] or state.zero[2], ChatCartonneFault.NOT_ZERO)


# Cards and cats

cdef int check_cards(const State* state, Count* count) noexcept nogil:
    # Every carton and toy is in one place; the hands and the list of the table are in order.
    cdef int seat, slot, kind, fault
    if state.unknown[1] >> (PILE_KINDS - 64):
        return ChatCartonneFault.CARD_TWICE_OR_MISSING
    count.asleep = count.awake = 0
    count.princesses = 0
    count.seen[0] = state.unknown[0]
    count.seen[1] = state.unknown[1]
    count.cards = count_kinds(state.unknown)
    for seat in range(state.players):
        if state.seats[seat].hand_size > LARGEST_HAND:
            return ChatCartonneFault.BAD_HAND
        for slot in range(LARGEST_HAND):
            kind = state.seats[seat].hand[slot]
            if slot >= state.seats[seat].hand_size:
                if kind:
                    return ChatCartonneFault.NOT_ZERO
                continue
            if kind >= CARTONS and kind != PRINCESS:
                return ChatCartonneFault.BAD_HAND
            if slot and state.seats[seat].hand[slot - 1] > kind:
                return ChatCartonneFault.BAD_HAND
            if kind != PRINCESS:
                count_card(count, kind)
    if state.pending >= FIRST_TOY and state.pending < PRINCESS:
        count_card(count, state.pending)
    fault = check_list(state, count)
    if fault == OK:
        fault = check_starts(state, count)
    if fault == OK:
        fault = check_joints(state, count)
    if fault != OK:
        return fault
    # Of starting cartons each has been seen at most once, and of the others all.
    if count_kinds(count.seen) != count.cards or count.cards - count_starts(count) != PILE_KINDS:
        return ChatCartonneFault.CARD_TWICE_OR_MISSING
    for seat in range(state.players):
        if state.seats[seat].supply + (count.asleep + count.awake >> 8 * (seat + 1) & 0xFF) != CATS:
            return ChatCartonneFault.BAD_SUPPLY
    return OK


cdef inline int count_starts(const Count* count) noexcept nogil:
    # Kinds of them on the table.
    return count_bits(count.seen[1] >> (FIRST_START - 64))


cdef inline void count_card(Count* count, int kind) noexcept nogil:
    put_kind(count.seen, kind)
    count.cards += 1


cdef int check_list(const State* state, Count* count) noexcept nogil:
    # There is a card for each cell that is filled, and zeros behind them. What the cards are is gathered without
    # branches, as no card tells of the next.
    cdef uint64_t kinds[2]
    cdef uint64_t turned[2]
    cdef uint64_t bit, high
    cdef int place, card, kind, seat, laid = 0
    for place in range(WORDS):
        count.before[place] = laid
        laid += count_bits(state.filled[place])
    if state.laid > MOST_CARDS or laid != state.laid:
        return ChatCartonneFault.BAD_TABLE
    kinds[0] = kinds[1] = turned[0] = turned[1] = 0
    for place in range(laid):
        card = state.cards[place]
        kind = card & KIND
        bit = <uint64_t> 1 << (kind & 63)
        high = -<uint64_t> (kind >> 6)
        kinds[0] |= bit & ~high
        kinds[1] |= bit & high
        bit &= -<uint64_t> (card >> 7)
        turned[0] |= bit & ~high
        turned[1] |= bit & high
        # A byte a seat: SLEEPER is 1 more than a multiple of 8.
        count.asleep += <uint64_t> (kind >= SLEEPER) << 8 * (kind & 7)
        count.princesses += kind == PRINCESS
    if kinds[1] >> (SLEEPER + state.players - 64) or not all_can_turn(turned):
        return ChatCartonneFault.BAD_TABLE
    count.seen[0] |= kinds[0]
    count.seen[1] |= kinds[1] & (<uint64_t> 1 << (SLEEPER - 64)) - 1 & ~(<uint64_t> 1 << (PRINCESS - 64))
    count.cards += laid - count.princesses
    for seat in range(state.players):
        count.cards -= count.asleep >> 8 * (seat + 1) & 0xFF
    return fault_if(not zeros_behind(state, laid), ChatCartonneFault.NOT_ZERO)


cdef inline bint zeros_behind(const State* state, int laid) noexcept nogil:
    cdef uint64_t eight, rest = 0
    while laid & 7:
        rest |= state.cards[laid]
        laid += 1
    while laid < <int> sizeof(state.cards):
        memcpy(&eight, &state.cards[laid], sizeof(eight))
        rest |= eight
        laid += 8
    return rest == 0


cdef inline int place_in(const State* state, const Count* count, int cell) noexcept nogil:
    # As place_at says, which counts anew.
    return count.before[cell >> 6] + count_bits(state.filled[cell >> 6] & (<uint64_t> 1 << (cell & 63)) - 1)


cdef inline bint is_start(const State* state, const Count* count, int cell) noexcept nogil:
    cdef int kind
    if cell < 0 or cell >= CELLS or not has_cell(state.filled, cell):
        return False
    kind = state.cards[place_in(state, count, cell)] & KIND
    return kind >= FIRST_START and kind < SLEEPER


cdef inline bint starts_in_column(const State* state, const Count* count, int starts) noexcept nogil:
    # Whether so many starting cartons lie one below the other, one of them in the centre.
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
    # Before their phase nobody has a starting carton; then one seat after the other, from the first.
    if state.phase > CHOOSE_START:
        starts = state.players
        if state.phase < TURN:
            starts = (state.active + state.players - state.first_seat) % state.players
            if starts == 0:
                return ChatCartonneFault.BAD_ACTIVE_SEAT
    if count_starts(count) != starts or (state.phase < TURN and state.laid != starts):
        return ChatCartonneFault.BAD_STARTS
    return fault_if(not starts_in_column(state, count, starts), ChatCartonneFault.BAD_STARTS)


cdef int check_joints(const State* state, Count* count) noexcept nogil:
    # Ascending, then zeros.
    cdef int joint = 0, west = -1, there
    while state.joints[joint]:
        if joint == MOST_JOINTS or state.joints[joint] & CELL <= west or state.joints[joint] & CELL >= CELLS:
            return ChatCartonneFault.BAD_JOINT
        west = state.joints[joint] & CELL
        there = state.joints[joint] >> JOINT_SHIFT
        if there == NOTHING or there > LAST_THERE or (there > state.players and there < PRINCESS_THERE):
            return ChatCartonneFault.BAD_JOINT
        if not has_cell(state.filled, west) or not is_joint(state, west, place_in(state, count, west)):
            return ChatCartonneFault.BAD_JOINT
        if there >= TOY_THERE:
            count_card(count, FIRST_TOY + there - TOY_THERE)
        elif there == PRINCESS_THERE:
            count.princesses += 1
        else:
            count.awake += <uint64_t> 1 << 8 * (there - AWAKE + 1)
        joint += 1
    while joint < MOST_JOINTS:
        joint += 1
        if state.joints[joint]:
            return ChatCartonneFault.NOT_ZERO
    return OK


# The table

cdef int check_table(const State* state) noexcept nogil:
    cdef Table table
    cdef int place, word
    if state.laid == 0:
        return OK
    if not hangs_together(state):
        return ChatCartonneFault.BAD_TABLE
    if state.variants & NO_DOUBLE_WALLS:
        read_table(state, &table)
        for word in range(table.first, table.end):
            if table.south[word] & to_north(table.north, word) or table.east[word] & to_west(table.west, word):
                return ChatCartonneFault.BAD_TABLE
    if state.phase == CAT:
        if state.just_played >= CELLS or state.seats[state.active].supply == 0:
            return ChatCartonneFault.BAD_JUST_PLAYED
        place = find_card(state, state.just_played)
        if place < 0 or state.cards[place] & KIND > PRINCESS or not cat_can_follow(state, state.just_played, place):
            return ChatCartonneFault.BAD_JUST_PLAYED
    return OK


cdef bint hangs_together(const State* state) noexcept nogil:
    # Every card shares an edge with another, all the way to the starting carton in the centre.
    cdef uint64_t reached[9]
    cdef uint64_t east[9]
    cdef uint64_t south[9]
    cdef uint64_t alone
    cdef int first = first_word(state), end = end_word(state), word
    for word in range(max(0, first - 1), min(WORDS, end + 1)):
        reached[word] = 0
        east[word] = state.filled[word] & to_west(state.filled, word)
        south[word] = state.filled[word] & to_north(state.filled, word)
    put_cell(reached, CENTRE)
    while spread_further(reached, east, south, first, end):
        alone = 0
        for word in range(first, end):
            alone |= reached[word] ^ state.filled[word]
        if alone == 0:
            return True
    return state.laid == 1


# Whose turn it is, and what it waits for

cdef int check_setup(const State* state) noexcept nogil:
    cdef int seat, number, extra = 1
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
    # While they are dealt everybody from the first seat to the active one has one card more than the rest.
    if state.phase > DEAL:
        extra = 0
    seat = 0 if state.phase == FIRST_SEAT else state.first_seat
    for number in range(state.players):
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
    cdef int phase = state.phase, seat, size, holding = 0, holds = holders(state)
    cdef bint all_cats = False, princess_played = False
    if (phase == CAT) != (state.just_played != NO_CELL):
        return ChatCartonneFault.BAD_JUST_PLAYED
    if state.pending and phase != TOY or (phase == TOY and (state.pending < FIRST_TOY or state.pending >= PRINCESS)):
        return ChatCartonneFault.BAD_PENDING
    for seat in range(state.players):
        all_cats |= state.seats[seat].supply == 0
        holding += holds >> seat & 1
        princess_played |= state.seats[seat].played != 0
    if state.final_phase:
        if phase == DRAW or phase == PLAY or phase == TOY:
            return ChatCartonneFault.BAD_PHASE
        # Only a Princess takes back what began the phase.
        if not all_cats and count.pile > 0 and not princess_played:
            return ChatCartonneFault.BAD_FINAL_PHASE
        if phase == TURN:
            if holds >> state.active & 1 == 0:
                return ChatCartonneFault.BAD_ACTIVE_SEAT
            return fault_if(state.passes >= holding, ChatCartonneFault.BAD_PASSES)
        return fault_if(state.passes != (holding if phase == FINISHED else 0), ChatCartonneFault.BAD_PASSES)
    if phase == FINISHED:
        return ChatCartonneFault.BAD_FINAL_PHASE
    if state.passes:
        return ChatCartonneFault.BAD_PASSES
    if all_cats or ((phase == TURN or phase == DRAW) and count.pile == 0):
        return ChatCartonneFault.BAD_FINAL_PHASE
    for seat in range(state.players):
        size = state.seats[seat].hand_size
        if seat == state.active and phase != TURN:
            # The card drawn is in the hand, or already played.
            if size != (LARGEST_HAND if phase == PLAY else DEALT) or excluded_of(&state.seats[seat], DEALT):
                return ChatCartonneFault.BAD_HAND
        elif size != DEALT and (size != LARGEST_HAND or excluded_of(&state.seats[seat], DEALT) == 0):
            # Only a pass leaves a seat with three cards.
            return ChatCartonneFault.BAD_HAND
    return OK


# Public and hidden

cdef int check_pile(const State* state, const Count* count) noexcept nogil:
    # What the seats drew, and the toys, are what has gone from each part; nobody has more than it drew.
    cdef int left = count.left, current = count.current, part, seat, gone, toys = 0, drawn
    if state.phase <= DEAL:
        # What is still to be dealt lies in no part.
        for seat in range(state.players):
            for part in range(PARTS):
                toys |= state.seats[seat].drawn[part]
        return fault_if(toys, ChatCartonneFault.BAD_DRAWS)
    if left < 0 or left > part_size(state, current) or (state.phase < TURN and current + part_size(state, 0) - left):
        return ChatCartonneFault.BAD_DRAWS
    for part in range(part_count(state)):
        gone = part_size(state, part) if part < current else part_size(state, part) - left if part == current else 0
        for seat in range(state.players):
            gone -= state.seats[seat].drawn[part]
        if gone < 0:
            return ChatCartonneFault.BAD_DRAWS
        toys += gone
    for part in range(FIRST_TOY, PRINCESS):
        toys -= not has_kind(state.unknown, part)
    if toys:
        return ChatCartonneFault.BAD_DRAWS
    if state.phase < TURN:
        return OK
    for seat in range(state.players):
        drawn = DEALT - state.seats[seat].hand_size
        for part in range(PARTS):
            drawn += state.seats[seat].drawn[part] - played_of(&state.seats[seat], part)
        if drawn < 0:
            return ChatCartonneFault.BAD_DRAWS
    return OK


cdef int check_princesses(const State* state, const Count* count) noexcept nogil:
    cdef int seat, part, drew, played, in_hand, in_hands = 0, on_table = 0
    for seat in range(state.players):
        drew = played = 0
        for part in range(part_count(state)):
            # None is played before it is drawn.
            drew += state.drawer[part] == seat
            played += played_of(&state.seats[seat], part)
            if state.drawer[part] == seat and state.seats[seat].drawn[part] == 0:
                return ChatCartonneFault.BAD_PRINCESSES
            if played_of(&state.seats[seat], part) and state.seats[seat].drawn[part] == 0:
                return ChatCartonneFault.BAD_PRINCESSES
            if played > drew and not state.variants & ALL_PRINCESSES:
                return ChatCartonneFault.BAD_PRINCESSES
        on_table += played
        in_hand = princesses_in_hand(state, seat)
        in_hands += in_hand
        played += in_hand
        if played > state.seats[seat].drawn[0] if state.variants & ALL_PRINCESSES else played != drew:
            return ChatCartonneFault.BAD_PRINCESSES
    if count.princesses != on_table or in_hands + on_table > princess_count(state):
        return ChatCartonneFault.BAD_PRINCESSES
    for part in range(part_count(state)):
        if state.drawer[part] != NO_SEAT and (state.drawer[part] >= state.players or state.variants & ALL_PRINCESSES):
            return ChatCartonneFault.BAD_PRINCESSES
        if not state.variants & ALL_PRINCESSES and state.drawer[part] == NO_SEAT:
            if part < count.current or (part == count.current and count.left == 0):
                return ChatCartonneFault.BAD_PRINCESSES
    return OK


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
            # A card without walls can always be played.
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
    # Whether each card of the hand can be the one that a slot of Seat.excluded speaks of. As each slot allows all that
    # the one before it allows, the first `slot + 1` of them need that many cards that they do not exclude.
    cdef int slot, i, fitting
    for slot in range(held.hand_size - 1, -1, -1):
        if excluded_of(held, slot):
            fitting = 0
            for i in range(held.hand_size):
                fitting += not excluded_of(held, slot) >> type_of(held.hand[i]) & 1
            if fitting < slot + 1:
                return False
    return True
