"""Chat Cartonne: what holds of every state (rules file: "Invariants")."""

from libc.stdint cimport uint16_t, uint32_t, uint64_t
from libc.string cimport memcmp, memset

from chatiere.engine.core.game cimport OK
from chatiere.engine.games.chat_cartonne.boxes cimport Rows, cat_can_follow, is_joint, read_rows
from chatiere.engine.games.chat_cartonne.state cimport (
    ALL_PRINCESSES,
    AWAKE,
    CARTONS,
    CAT,
    CATS,
    CELLS,
    CENTRE,
    CHOOSE_START,
    DEAL,
    DEALT,
    DRAW,
    FINISHED,
    FIELD,
    FIRST_SEAT,
    FIRST_START,
    FIRST_TOY,
    KIND,
    LARGEST_HAND,
    LAST_THERE,
    MOST_CARDS,
    NOTHING,
    NO_CELL,
    NO_DOUBLE_WALLS,
    NO_SEAT,
    PARTS,
    PHASES,
    PILE_KINDS,
    PLACE_START,
    PLAY,
    PRINCESS,
    PRINCESS_BIT,
    PRINCESS_THERE,
    ROWS,
    SEATS,
    SIDE,
    SLEEPER,
    STARTS,
    TOY,
    TOY_THERE,
    TURN,
    TURNED,
    ChatCartonneFault,
    State,
    __builtin_ctz,
    bit_of,
    can_turn,
    cell_of,
    count_kinds,
    current_part,
    end_row,
    fault_if,
    find_card,
    first_row,
    has_kind,
    holders,
    next_seat,
    on_joint,
    part_count,
    part_size,
    pile_size,
    princess_count,
    princesses_in_hand,
    put_kind,
    row_of,
    type_of,
)

ctypedef struct Count:
    # Cartons and toys wherever they are; what the table holds.
    uint64_t seen[2]
    int cards
    int starts  # bit kind - FIRST_START
    int first_start  # cells
    int last_start
    int princesses
    int asleep[5]
    int awake[5]


cdef int check(const void* body) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef Count count
    cdef int fault = check_numbers(state)
    if fault == OK:
        fault = check_cards(state, &count)
    if fault == OK:
        fault = check_table(state, &count)
    if fault == OK:
        fault = check_setup(state) if state.phase < TURN else check_turn(state)
    if fault == OK:
        fault = check_pile(state)
    if fault == OK:
        fault = check_princesses(state, &count)
    if fault == OK:
        fault = check_shown(state)
    return fault


cdef int check_numbers(const State* state) noexcept nogil:
    cdef int seat, part, slot, beyond = 0
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
        beyond |= state.supply[seat] | state.hand_size[seat]
        for part in range(PARTS):
            beyond |= state.drawn[seat][part] | state.played[seat][part]
        for slot in range(LARGEST_HAND):
            beyond |= state.hand[seat][slot] | state.excluded[seat][slot]
    for part in range(part_count(state), PARTS):
        beyond |= state.drawer[part] ^ NO_SEAT
        for seat in range(state.players):
            beyond |= state.drawn[seat][part] | state.played[seat][part]
    for slot in range(4):
        beyond |= state.zero[slot]
    return fault_if(beyond, ChatCartonneFault.NOT_ZERO)


# Cards and cats

cdef int check_cards(const State* state, Count* count) noexcept nogil:
    # Every carton and toy is in one place; the hands and the list of the table are in order.
    cdef int seat, slot, kind, fault
    memset(count, 0, sizeof(Count))
    count.seen[0] = state.unknown[0]
    count.seen[1] = state.unknown[1]
    count.cards = count_kinds(state.unknown)
    count.first_start = CELLS
    for seat in range(state.players):
        if state.hand_size[seat] > LARGEST_HAND:
            return ChatCartonneFault.BAD_HAND
        for slot in range(LARGEST_HAND):
            kind = state.hand[seat][slot]
            if slot >= state.hand_size[seat]:
                if kind:
                    return ChatCartonneFault.NOT_ZERO
                continue
            if kind >= CARTONS and kind != PRINCESS:
                return ChatCartonneFault.BAD_HAND
            if slot and state.hand[seat][slot - 1] > kind:
                return ChatCartonneFault.BAD_HAND
            if kind != PRINCESS:
                count_card(count, kind)
    if state.pending >= FIRST_TOY and state.pending < PRINCESS:
        count_card(count, state.pending)
    fault = check_list(state, count)
    if fault != OK:
        return fault
    if count.cards != PILE_KINDS or count_kinds(count.seen) != PILE_KINDS or count.seen[1] >> (PILE_KINDS - 64):
        return ChatCartonneFault.CARD_TWICE_OR_MISSING
    for seat in range(state.players):
        if state.supply[seat] + count.asleep[seat] + count.awake[seat] != CATS:
            return ChatCartonneFault.BAD_SUPPLY
    return OK


cdef inline void count_card(Count* count, int kind) noexcept nogil:
    put_kind(count.seen, kind)
    count.cards += 1


cdef int check_list(const State* state, Count* count) noexcept nogil:
    # The list of the table has a card for each cell that is filled, and zeros behind them.
    cdef int place = 0, row, cell, fault
    cdef uint32_t cells
    if state.laid > MOST_CARDS:
        return ChatCartonneFault.BAD_TABLE
    for row in range(1, ROWS - 1):
        cells = state.filled[row]
        if cells & ~<uint32_t> FIELD:
            return ChatCartonneFault.BAD_TABLE
        while cells:
            cell = SIDE * (row - 1) + __builtin_ctz(cells)
            cells &= cells - 1
            if place == state.laid or cell_of(state, place) != cell:
                return ChatCartonneFault.BAD_TABLE
            fault = check_card(state, place, cell, count)
            if fault != OK:
                return fault
            place += 1
    if place != state.laid or state.filled[0] or state.filled[ROWS - 1]:
        return ChatCartonneFault.BAD_TABLE
    # Zeros: the first is one, and each is like the one before it.
    if place < MOST_CARDS and (
        state.places[place]
        or state.cards[place]
        or memcmp(&state.places[place], &state.places[place + 1], (MOST_CARDS - 1 - place) * sizeof(uint16_t)) != 0
        or memcmp(&state.cards[place], &state.cards[place + 1], MOST_CARDS - 1 - place) != 0
    ):
        return ChatCartonneFault.NOT_ZERO
    return OK


cdef inline int check_card(const State* state, int place, int cell, Count* count) noexcept nogil:
    cdef int kind = state.cards[place] & KIND, there = on_joint(state, place)
    if kind >= SLEEPER + state.players or (state.cards[place] & TURNED and not can_turn(kind)):
        return ChatCartonneFault.BAD_TABLE
    if kind >= SLEEPER:
        count.asleep[kind - SLEEPER] += 1
    elif kind < PRINCESS:
        count_card(count, kind)
    elif kind == PRINCESS:
        count.princesses += 1
    else:
        if cell % SIDE != CENTRE % SIDE or count.starts >> (kind - FIRST_START) & 1:
            return ChatCartonneFault.BAD_STARTS
        count.starts |= 1 << (kind - FIRST_START)
        count.first_start = min(count.first_start, cell)
        count.last_start = cell
    if there == NOTHING:
        return OK
    if there > LAST_THERE or (there > state.players and there < PRINCESS_THERE) or not is_joint(state, place):
        return ChatCartonneFault.BAD_JOINT
    if there >= TOY_THERE:
        count_card(count, FIRST_TOY + there - TOY_THERE)
    elif there == PRINCESS_THERE:
        count.princesses += 1
    else:
        count.awake[there - AWAKE] += 1
    return OK


# The table

cdef int check_table(const State* state, const Count* count) noexcept nogil:
    cdef Rows rows
    cdef int place, row, starts = 0
    # Before their phase nobody has a starting carton; then one seat after the other, from the first.
    if state.phase > CHOOSE_START:
        starts = state.players
        if state.phase < TURN:
            starts = (state.active + state.players - state.first_seat) % state.players
            if starts == 0:
                return ChatCartonneFault.BAD_ACTIVE_SEAT
    if count_ones(count.starts) != starts or (state.phase < TURN and state.laid != starts):
        return ChatCartonneFault.BAD_STARTS
    if starts == 0:
        return OK
    if count.last_start - count.first_start != SIDE * (starts - 1):
        return ChatCartonneFault.BAD_STARTS
    if count.first_start > CENTRE or count.last_start < CENTRE:
        return ChatCartonneFault.BAD_STARTS
    if not hangs_together(state, count.first_start, count.last_start):
        return ChatCartonneFault.BAD_TABLE
    if state.variants & NO_DOUBLE_WALLS:
        read_rows(state, &rows)
        for row in range(rows.first, rows.end):
            if rows.south[row] & rows.north[row + 1] or rows.east[row] & rows.west[row] >> 1:
                return ChatCartonneFault.BAD_TABLE
    if state.phase == CAT:
        if state.just_played >= CELLS or state.supply[state.active] == 0:
            return ChatCartonneFault.BAD_JUST_PLAYED
        place = find_card(state, state.just_played)
        if place < 0 or state.cards[place] & KIND > PRINCESS or not cat_can_follow(state, place):
            return ChatCartonneFault.BAD_JUST_PLAYED
    return OK


cdef inline int count_ones(int word) noexcept nogil:
    cdef int count = 0
    while word:
        word &= word - 1
        count += 1
    return count


cdef inline bint reach(const State* state, uint32_t* reached, int row) noexcept nogil:
    # From what was reached in this row and beside it to all of the row that hangs together with it; whether it is more.
    cdef uint32_t filled = state.filled[row], before = reached[row]
    cdef uint32_t cells = (before | before << 1 | before >> 1 | reached[row - 1] | reached[row + 1]) & filled
    cdef uint32_t more = before
    while more != cells:
        more = cells
        cells |= (cells << 1 | cells >> 1) & filled
    reached[row] = cells
    return cells != before


cdef bint hangs_together(const State* state, int lowest, int highest) noexcept nogil:
    # Every card shares an edge with another, all the way to the starting cartons (in a column, `lowest` to `highest`).
    cdef uint32_t reached[26]
    cdef int first = first_row(state), end = end_row(state), row
    cdef bint changed = True
    memset(reached, 0, sizeof(reached))
    for row in range(row_of(lowest), row_of(highest) + 1):
        reached[row] = bit_of(CENTRE)
    while changed:
        changed = False
        for row in range(first, end):
            changed |= reach(state, reached, row)
        for row in range(end - 1, first - 1, -1):
            changed |= reach(state, reached, row)
        if memcmp(reached, state.filled, sizeof(reached)) == 0:
            return True
    return False


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
        if state.hand_size[seat] != state.hand_size[state.active] + extra:
            return ChatCartonneFault.BAD_HAND
        if state.excluded[seat][0]:
            return ChatCartonneFault.BAD_SHOWN
        seat = next_seat(state, seat)
    number = state.hand_size[state.active]
    if number > DEALT or (number < DEALT) != (state.phase <= DEAL) or (number and state.phase == FIRST_SEAT):
        return ChatCartonneFault.BAD_HAND
    return OK


cdef int check_turn(const State* state) noexcept nogil:
    cdef int phase = state.phase, seat, part, size, holding = 0, holds = holders(state)
    cdef bint all_cats = False, princess_played = False
    if (phase == CAT) != (state.just_played != NO_CELL):
        return ChatCartonneFault.BAD_JUST_PLAYED
    if state.pending and phase != TOY or (phase == TOY and (state.pending < FIRST_TOY or state.pending >= PRINCESS)):
        return ChatCartonneFault.BAD_PENDING
    for seat in range(state.players):
        all_cats |= state.supply[seat] == 0
        holding += holds >> seat & 1
        for part in range(PARTS):
            princess_played |= state.played[seat][part] > 0
    if state.final_phase:
        if phase == DRAW or phase == PLAY or phase == TOY:
            return ChatCartonneFault.BAD_PHASE
        # Only a Princess takes back what began the phase.
        if not all_cats and pile_size(state) > 0 and not princess_played:
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
    if all_cats or ((phase == TURN or phase == DRAW) and pile_size(state) == 0):
        return ChatCartonneFault.BAD_FINAL_PHASE
    for seat in range(state.players):
        size = state.hand_size[seat]
        if seat == state.active and phase != TURN:
            # The card drawn is in the hand, or already played.
            if size != (LARGEST_HAND if phase == PLAY else DEALT) or state.excluded[seat][DEALT]:
                return ChatCartonneFault.BAD_HAND
        elif size != DEALT and (size != LARGEST_HAND or state.excluded[seat][DEALT] == 0):
            # Only a pass leaves a seat with three cards.
            return ChatCartonneFault.BAD_HAND
    return OK


# Public and hidden

cdef int check_pile(const State* state) noexcept nogil:
    # What the seats drew, and the toys, are what has gone from each part; nobody has more than it drew.
    cdef int left, current, part, seat, gone, toys = 0, drawn
    current = current_part(state, pile_size(state), &left)
    if state.phase <= DEAL:
        # What is still to be dealt lies in no part.
        for seat in range(state.players):
            for part in range(PARTS):
                toys |= state.drawn[seat][part]
        return fault_if(toys, ChatCartonneFault.BAD_DRAWS)
    if left < 0 or left > part_size(state, current) or (state.phase < TURN and current + part_size(state, 0) - left):
        return ChatCartonneFault.BAD_DRAWS
    for part in range(part_count(state)):
        gone = part_size(state, part) if part < current else part_size(state, part) - left if part == current else 0
        for seat in range(state.players):
            gone -= state.drawn[seat][part]
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
        drawn = DEALT - state.hand_size[seat]
        for part in range(PARTS):
            drawn += state.drawn[seat][part] - state.played[seat][part]
        if drawn < 0:
            return ChatCartonneFault.BAD_DRAWS
    return OK


cdef int check_princesses(const State* state, const Count* count) noexcept nogil:
    cdef int seat, part, left, current, drew, played, in_hands = 0, on_table = 0
    current = current_part(state, pile_size(state), &left)
    for seat in range(state.players):
        drew = played = 0
        for part in range(part_count(state)):
            # None is played before it is drawn.
            drew += state.drawer[part] == seat
            played += state.played[seat][part]
            if state.drawer[part] == seat and state.drawn[seat][part] == 0:
                return ChatCartonneFault.BAD_PRINCESSES
            if state.played[seat][part] and state.drawn[seat][part] == 0:
                return ChatCartonneFault.BAD_PRINCESSES
            if played > drew and not state.variants & ALL_PRINCESSES:
                return ChatCartonneFault.BAD_PRINCESSES
        on_table += played
        in_hands += princesses_in_hand(state, seat)
        played += princesses_in_hand(state, seat)
        if played > state.drawn[seat][0] if state.variants & ALL_PRINCESSES else played != drew:
            return ChatCartonneFault.BAD_PRINCESSES
    if count.princesses != on_table or in_hands + on_table > princess_count(state):
        return ChatCartonneFault.BAD_PRINCESSES
    for part in range(part_count(state)):
        if state.drawer[part] != NO_SEAT and (state.drawer[part] >= state.players or state.variants & ALL_PRINCESSES):
            return ChatCartonneFault.BAD_PRINCESSES
        if not state.variants & ALL_PRINCESSES and state.drawer[part] == NO_SEAT:
            if part < current or (part == current and left == 0):
                return ChatCartonneFault.BAD_PRINCESSES
    return OK


cdef int check_shown(const State* state) noexcept nogil:
    cdef int seat, slot, known, size
    for seat in range(state.players):
        size = state.hand_size[seat]
        for slot in range(LARGEST_HAND):
            known = state.excluded[seat][slot]
            if slot >= size and known:
                return ChatCartonneFault.NOT_ZERO
            # A card without walls can always be played.
            if known >> (PRINCESS_BIT + 1) or (known and not known & 1):
                return ChatCartonneFault.BAD_SHOWN
            if known and not state.variants & NO_DOUBLE_WALLS and known & 0xFF != 0xFF:
                return ChatCartonneFault.BAD_SHOWN
            if slot and known & ~state.excluded[seat][slot - 1]:
                return ChatCartonneFault.BAD_SHOWN
        if state.excluded[seat][0] and not fits_shown(state, seat):
            return ChatCartonneFault.BAD_SHOWN
    return OK


cdef bint fits_shown(const State* state, int seat) noexcept nogil:
    # Whether each card of the hand can be the one that a slot of State.excluded speaks of. As each slot allows all that
    # the one before it allows, the first `slot + 1` of them need that many cards that they do not exclude.
    cdef int slot, i, fitting
    for slot in range(state.hand_size[seat] - 1, -1, -1):
        if state.excluded[seat][slot]:
            fitting = 0
            for i in range(state.hand_size[seat]):
                fitting += not state.excluded[seat][slot] >> type_of(state.hand[seat][i]) & 1
            if fitting < slot + 1:
                return False
    return True
