"""Chat Cartonne: legal actions (rules file: "A turn", "When a seat is asked", "Actions")."""

from libc.stdint cimport uint16_t, uint64_t
from libc.string cimport memcpy

from chatiere.engine.core.bits cimport count_bits
from chatiere.engine.core.game cimport MAX_LEGAL, OK
from chatiere.engine.core.stream cimport Stream, number_below
from chatiere.engine.games.chat_cartonne.boxes cimport (
    Layout,
    is_free_joint,
    is_free_joint_to_west,
    is_joint,
    joints_for_toy,
    read_layout,
    walls_meet,
)
from chatiere.engine.games.chat_cartonne.cells cimport (
    MAX_LISTED,
    beside,
    end_word,
    first_column,
    first_word,
    free_beside,
    list_filled,
    list_word,
    lowest_cell,
    next_column,
    nth_cell,
    word_of,
)
from chatiere.engine.games.chat_cartonne.state cimport (
    CAT,
    CATS,
    CELL,
    CELLS,
    CHOOSE_START,
    DRAW_ID,
    EAST,
    FIRST_CARTON_ID,
    FIRST_CAT_ID,
    FIRST_PRINCESS_IN_CELL_ID,
    FIRST_PRINCESS_ON_JOINT_ID,
    FIRST_SLEEP_ID,
    FIRST_START,
    FIRST_TOY_AS_CARTON_ID,
    FIRST_TOY_ON_JOINT_ID,
    IDS_OF_SLOT,
    JOINT_SHIFT,
    MAX_HAND,
    NORTH,
    NO_DOUBLE_WALLS,
    PASS_ID,
    PATTERNS,
    PLACE_START,
    PLAY,
    PRINCESS,
    PRINCESS_BIT,
    SIDE,
    SKIP_ID,
    SLEEPER,
    SOUTH,
    STARTS,
    TOY,
    TURN,
    TURNED,
    WEST,
    WORDS,
    ChatCartonneFault,
    Seat,
    State,
    can_turn,
    fault_if,
    find_card,
    has_cell,
    is_cat,
    is_sleeper,
    may_draw,
    on_joint,
    place_at,
    walls_of,
)

cdef enum:
    MAX_PLAYS = 2 * MAX_HAND + 1  # of list_plays


cdef bint has_princess(const State* state) noexcept nogil:
    # The Princess has the highest number of what a hand can hold.
    cdef int size = state.seats[state.active].hand_size
    return size > 0 and state.seats[state.active].hand[size - 1] == PRINCESS


cdef inline bint plays_from_hand(const State* state) noexcept nogil:
    return state.phase == PLAY or (state.phase == TURN and not may_draw(state))


# Faults of moves

cdef int walls_at(const State* state, int cell) noexcept nogil:
    cdef int place = find_card(state, cell)
    return walls_of(state.cards[place]) if place >= 0 else 0


cdef bint wall_meets_wall(const State* state, int card, int cell) noexcept nogil:
    cdef int walls = walls_of(card)
    return (
        (walls & NORTH and cell >= SIDE and walls_at(state, cell - SIDE) & SOUTH)
        or (walls & EAST and cell % SIDE < SIDE - 1 and walls_at(state, cell + 1) & WEST)
        or (walls & SOUTH and cell < CELLS - SIDE and walls_at(state, cell + SIDE) & NORTH)
        or (walls & WEST and cell % SIDE and walls_at(state, cell - 1) & EAST)
    )


cdef int forbids_cell(const State* state, int card, int cell) noexcept nogil:
    # A card (as State.cards has it) on a cell beside another.
    if has_cell(state.filled, cell):
        return ChatCartonneFault.CELL_FILLED
    if not free_beside(state, cell >> 6) >> (cell & 63) & 1:
        return ChatCartonneFault.CELL_NOT_BESIDE
    if state.variants & NO_DOUBLE_WALLS and wall_meets_wall(state, card, cell):
        return ChatCartonneFault.WALL_MEETS_WALL
    return OK


cdef int forbids_start(const State* state, int card, int cell) noexcept nogil:
    # All starting cartons lie in one column.
    cdef int first = lowest_cell(state.filled)
    if cell != first - SIDE and cell != first + SIDE * state.laid:
        return ChatCartonneFault.NOT_AT_COLUMN_END
    return forbids_cell(state, card, cell)


cdef int forbids_carton(const State* state, int slot, bint turned, int cell) noexcept nogil:
    cdef int kind
    if state.phase == PLACE_START:
        if slot > 0:
            return ChatCartonneFault.CARD_NOT_IN_HAND
        kind = state.pending
    else:
        if slot >= state.seats[state.active].hand_size:
            return ChatCartonneFault.CARD_NOT_IN_HAND
        kind = state.seats[state.active].hand[slot]
        if kind == PRINCESS:
            return ChatCartonneFault.NOT_A_CARTON
    if turned and not can_turn(kind):
        return ChatCartonneFault.TURN_CHANGES_NOTHING
    kind |= TURNED if turned else 0
    return forbids_start(state, kind, cell) if state.phase == PLACE_START else forbids_cell(state, kind, cell)


cdef int joint_fault(const State* state, int joint) noexcept nogil:
    # The fault of laying something on a joint, regardless of the box.
    cdef int west = find_card(state, joint)
    if west < 0 or not is_joint(state, joint, west):
        return ChatCartonneFault.NO_JOINT_THERE
    return fault_if(on_joint(state, joint), ChatCartonneFault.JOINT_TAKEN)


cdef int forbids_cat(const State* state, int joint) noexcept nogil:
    # The box was checked before the seat was asked: both joints of the carton are in the same one.
    if joint != state.just_played and (joint + 1 != state.just_played or state.just_played % SIDE == 0):
        return ChatCartonneFault.NOT_JUST_PLAYED
    return joint_fault(state, joint)


cdef int forbids_sleep(const State* state, int cell) noexcept nogil:
    if state.phase != TURN:
        return ChatCartonneFault.NO_SLEEP_AFTER_DRAW
    if state.seats[state.active].supply == 0:
        return ChatCartonneFault.NO_CAT_IN_SUPPLY
    return forbids_cell(state, SLEEPER, cell)


cdef int forbids_princess(const State* state, bint in_cell, int cell) noexcept nogil:
    cdef int place
    if not has_princess(state):
        return ChatCartonneFault.NO_PRINCESS_IN_HAND
    if not in_cell:
        return fault_if(not is_cat(on_joint(state, cell)), ChatCartonneFault.NO_CAT_THERE)
    place = find_card(state, cell)
    return fault_if(place < 0 or not is_sleeper(state.cards[place]), ChatCartonneFault.NO_CAT_THERE)


cdef int forbids_toy(const State* state, bint as_carton, int cell) noexcept nogil:
    cdef uint64_t joints[WORDS]
    cdef bint any_joint
    cdef int fault
    if not as_carton:
        fault = joint_fault(state, cell)
        if fault != OK:
            return fault
    any_joint = joints_for_toy(state, joints)
    if as_carton:
        return ChatCartonneFault.TOY_NEEDS_JOINT if any_joint else forbids_cell(state, state.pending, cell)
    return fault_if(not has_cell(joints, cell), ChatCartonneFault.BOX_OF_OTHERS)


cdef bint must_pass(const State* state) noexcept nogil:
    # Pass is the one id of a seat that has nothing to play.
    cdef uint16_t ids[MAX_LEGAL]
    legal_actions(state, ids)
    return ids[0] == PASS_ID


cdef int forbids(const State* state, int action) noexcept nogil:
    # The fault of an action of the active seat; OK if it is legal.
    cdef int phase = state.phase, number = action - FIRST_CARTON_ID
    cdef bint turned
    if phase == CHOOSE_START:
        if action >= 2 * STARTS:
            return ChatCartonneFault.MUST_CHOOSE_START
        turned = action & 1 and not can_turn(FIRST_START + (action >> 1))
        return fault_if(turned, ChatCartonneFault.TURN_CHANGES_NOTHING)
    if action < 2 * STARTS:
        return ChatCartonneFault.STARTS_ARE_LAID
    if phase == PLACE_START and (number < 0 or action >= FIRST_SLEEP_ID):
        return ChatCartonneFault.MUST_PLACE_START
    if phase == CAT and action != SKIP_ID and (action < FIRST_CAT_ID or action >= FIRST_PRINCESS_ON_JOINT_ID):
        return ChatCartonneFault.CAT_OR_SKIP
    if phase == TOY and action < FIRST_TOY_ON_JOINT_ID:
        return ChatCartonneFault.MUST_PLAY_TOY
    if action == DRAW_ID:
        return fault_if(not (phase == TURN and may_draw(state)), ChatCartonneFault.NO_DRAW_NOW)
    if action == SKIP_ID:
        return fault_if(not (phase == CAT), ChatCartonneFault.NOTHING_TO_FOLLOW)
    if action == PASS_ID:
        return fault_if(not must_pass(state), ChatCartonneFault.PASSING_NOT_A_CHOICE)
    if action < FIRST_SLEEP_ID:
        if phase == TURN and may_draw(state):
            return ChatCartonneFault.MUST_DRAW_OR_SLEEP
        return forbids_carton(state, number // IDS_OF_SLOT, number % IDS_OF_SLOT >= CELLS, number % CELLS)
    if action < FIRST_CAT_ID:
        return forbids_sleep(state, action - FIRST_SLEEP_ID)
    if action < FIRST_PRINCESS_ON_JOINT_ID:
        return forbids_cat(state, action - FIRST_CAT_ID) if phase == CAT else ChatCartonneFault.NOTHING_TO_FOLLOW
    if action < FIRST_TOY_ON_JOINT_ID:
        if phase == TURN and may_draw(state):
            return ChatCartonneFault.MUST_DRAW_OR_SLEEP
        number = action - FIRST_PRINCESS_ON_JOINT_ID
        return forbids_princess(state, number >= CELLS, number % CELLS)
    if phase != TOY:
        return ChatCartonneFault.NO_TOY_DRAWN
    number = action - FIRST_TOY_ON_JOINT_ID
    return forbids_toy(state, number >= CELLS, number % CELLS)


# Lists

cdef inline int find_free(const State* state, uint64_t* cells, int* first, int* end) noexcept nogil:
    # Every cell beside a card, in the words from `first` to `end`; others are not written. Returns their number.
    cdef int count = 0, word
    cdef uint64_t column, before = 0, here, after
    first[0] = max(0, first_word(state) - 1)
    end[0] = min(WORDS, end_word(state) + 1)
    column = first_column(first[0])
    here = state.filled[first[0]]
    for word in range(first[0], end[0]):
        after = word_of(state.filled, word + 1)
        cells[word] = beside(before, here, after, column)
        count += count_bits(cells[word])
        column = next_column(column)
        before = here
        here = after
    return count


cdef int list_free(const State* state, int first_id, uint16_t* ids) noexcept nogil:
    cdef uint64_t cells[WORDS]
    cdef int count = 0, first, end, word
    find_free(state, cells, &first, &end)
    for word in range(first, end):
        count += list_word(cells[word], word, first_id, ids + count)
    return count


cdef inline void list_again(const uint16_t* ids, int count, int more, uint16_t* target) noexcept nogil:
    # The same cells for another play, whose ids are larger by `more`. Four at a time: ids written beyond the end are
    # ignored.
    cdef uint64_t four
    cdef int i
    for i in range(0, count, 4):
        memcpy(&four, ids + i, sizeof(four))
        four += more * <uint64_t> 0x0001000100010001
        memcpy(target + i, &four, sizeof(four))


cdef int list_plays(const State* state, int* first_ids) noexcept nogil:
    # The plays on any cell beside a card: cartons, unless walls may not meet, and a sleeping cat. Each by its id of
    # cell 0, ascending. Returns their number.
    cdef const Seat* held = &state.seats[state.active]
    cdef int count = 0, slot
    if plays_from_hand(state) and not state.variants & NO_DOUBLE_WALLS:
        for slot in range(held.hand_size):
            if held.hand[slot] == PRINCESS:
                break
            first_ids[count] = FIRST_CARTON_ID + IDS_OF_SLOT * slot
            first_ids[count + 1] = first_ids[count] + CELLS
            count += 1 + can_turn(held.hand[slot])
    first_ids[count] = FIRST_SLEEP_ID
    return count + (state.phase == TURN and held.supply > 0)


cdef int list_without_double_walls(const State* state, uint16_t* ids) noexcept nogil:
    cdef const Seat* held = &state.seats[state.active]
    cdef Layout layout
    cdef uint64_t cells[WORDS]
    cdef int count = 0, slot, turned, walls, word, first_id
    read_layout(state, &layout)
    for word in range(WORDS):
        cells[word] = free_beside(state, word)
    for slot in range(held.hand_size):
        if held.hand[slot] == PRINCESS:
            break
        for turned in range(1 + can_turn(held.hand[slot])):
            first_id = FIRST_CARTON_ID + IDS_OF_SLOT * slot + CELLS * turned
            walls = walls_of(held.hand[slot] | (TURNED if turned else 0))
            for word in range(WORDS):
                count += list_word(cells[word] & ~walls_meet(&layout, word, walls), word, first_id, ids + count)
    return count


cdef int list_princess(const State* state, uint16_t* ids) noexcept nogil:
    cdef uint16_t cells[MAX_LISTED]
    cdef int count = 0, place = 0
    while state.joints[place]:
        ids[count] = FIRST_PRINCESS_ON_JOINT_ID + (state.joints[place] & CELL)
        count += is_cat(state.joints[place] >> JOINT_SHIFT)
        place += 1
    list_filled(state, cells)
    for place in range(state.laid):
        ids[count] = FIRST_PRINCESS_IN_CELL_ID + cells[place]
        count += is_sleeper(state.cards[place])
    return count


cdef int list_setup(const State* state, uint16_t* ids) noexcept nogil:
    cdef int count = 0, number, turned, card, end, first
    if state.phase == CHOOSE_START:
        for number in range(2 * STARTS):
            ids[count] = number
            count += number & 1 == 0 or can_turn(FIRST_START + (number >> 1))
        return count
    first = lowest_cell(state.filled)
    for turned in range(1 + can_turn(state.pending)):
        card = state.pending | (TURNED if turned else 0)
        for end in range(2):
            number = first + SIDE * state.laid if end else first - SIDE
            ids[count] = FIRST_CARTON_ID + CELLS * turned + number
            count += forbids_start(state, card, number) == OK
    return count


cdef int list_cats(const State* state, uint16_t* ids) noexcept nogil:
    # The box was checked before the seat was asked.
    cdef int count = 0, cell = state.just_played, place = place_at(state, cell)
    if is_free_joint_to_west(state, cell, place):
        ids[count] = FIRST_CAT_ID + cell - 1
        count += 1
    if is_free_joint(state, cell, place):
        ids[count] = FIRST_CAT_ID + cell
        count += 1
    return count


cdef int list_toys(const State* state, uint16_t* ids) noexcept nogil:
    cdef uint64_t joints[WORDS]
    cdef int count = 0, word
    if not joints_for_toy(state, joints):
        return list_free(state, FIRST_TOY_AS_CARTON_ID, ids)
    for word in range(WORDS):
        count += list_word(joints[word], word, FIRST_TOY_ON_JOINT_ID, ids + count)
    return count


cdef int legal_actions(const void* body, uint16_t* ids) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef int first_ids[MAX_PLAYS]
    cdef int count = 0, plays, cells, i
    if state.phase == CHOOSE_START or state.phase == PLACE_START:
        return list_setup(state, ids)
    if state.phase == TOY:
        return list_toys(state, ids)
    if state.phase == CAT:
        ids[0] = SKIP_ID
        return 1 + list_cats(state, ids + 1)
    if not plays_from_hand(state):
        ids[0] = DRAW_ID
        count = 1
    elif state.variants & NO_DOUBLE_WALLS:
        count = list_without_double_walls(state, ids)
    plays = list_plays(state, first_ids)
    if plays:
        cells = list_free(state, first_ids[0], ids + count)
        for i in range(1, plays):
            list_again(ids + count, cells, first_ids[i] - first_ids[0], ids + count + i * cells)
        count += plays * cells
    if plays_from_hand(state) and has_princess(state):
        count += list_princess(state, ids + count)
    if count == 0:
        ids[0] = PASS_ID
        count = 1
    return count


cdef int sample_action(const void* body, Stream* stream) noexcept nogil:
    # The cells of all plays are counted, and those of one looked up.
    cdef const State* state = <const State*> body
    cdef uint16_t ids[MAX_LEGAL]
    cdef int first_ids[MAX_PLAYS]
    cdef uint64_t cells[WORDS]
    cdef int may_only_draw = state.phase == TURN and may_draw(state), plays, free = 0, first, end, number
    if not may_only_draw and (
        (state.phase != TURN and state.phase != PLAY) or state.variants & NO_DOUBLE_WALLS or has_princess(state)
    ):
        return ids[number_below(stream, legal_actions(body, ids))]
    plays = list_plays(state, first_ids)
    if plays:
        free = find_free(state, cells, &first, &end)
    number = number_below(stream, max(1, may_only_draw + plays * free)) - may_only_draw
    if plays == 0 or number < 0:
        return DRAW_ID if may_only_draw else PASS_ID
    return first_ids[number // free] + 64 * first + nth_cell(cells + first, number % free)


# Playable types of a hand

cdef bint cats_lie(const State* state) noexcept nogil:
    # True if any cat lies on the table.
    cdef int seat
    for seat in range(state.players):
        if state.seats[seat].supply < CATS:
            return True
    return False


cdef int playable_types(const State* state) noexcept nogil:
    # The types of cards in hand that could be played now: bit pattern, or PRINCESS_BIT.
    cdef Layout layout
    cdef int types = cats_lie(state) << PRINCESS_BIT, pattern, word, walls
    cdef bint turned
    if not state.variants & NO_DOUBLE_WALLS:
        return types | (1 << PATTERNS) - 1
    read_layout(state, &layout)
    for pattern in range(PATTERNS):
        for turned in range(2):
            walls = walls_of(9 * pattern | (TURNED if turned else 0))
            for word in range(WORDS):
                if free_beside(state, word) & ~walls_meet(&layout, word, walls):
                    types |= 1 << pattern
    return types
