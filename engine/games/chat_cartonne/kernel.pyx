"""Chat Cartonne: the rules (rules file: chat_cartonne.md; the sections below follow its headings)."""

from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy, memset

from chatiere.engine.core.game cimport (
    CHANCE,
    CHANCE_IS_PENDING,
    EVERYBODY,
    GAME_IS_OVER,
    MAX_LEGAL,
    NO_CHANCE_IS_PENDING,
    NO_SUCH_ACTION,
    NO_SUCH_OUTCOME,
    OK,
    OVER,
    Events,
    Operations,
    add_event,
)
from chatiere.engine.core.play cimport settle
from chatiere.engine.core.position cimport wrap_operations
from chatiere.engine.games.chat_cartonne.boxes cimport (
    Rows,
    card_beside,
    cat_can_follow,
    is_free_joint,
    is_joint,
    joints_for_toy,
    read_rows,
    score,
    walls_meet,
)
from chatiere.engine.games.chat_cartonne.chance cimport can_come, chance_outcomes, sample_outcome, start_is_left
from chatiere.engine.games.chat_cartonne.hidden cimport resample
from chatiere.engine.games.chat_cartonne.invariants cimport check
from chatiere.engine.games.chat_cartonne.observation cimport OBSERVATION_LENGTH, observe
from chatiere.engine.games.chat_cartonne.state cimport (
    ALL_PRINCESSES,
    AWAKE,
    CAT,
    CATS,
    CELLS,
    CENTRE,
    CHOOSE_START,
    DEAL,
    DEALT,
    DRAW,
    DRAW_ID,
    DRAW_START,
    FINISHED,
    FIRST_CARTON_ID,
    FIRST_CAT_ID,
    FIRST_PRINCESS_IN_CELL_ID,
    FIRST_PRINCESS_ON_JOINT_ID,
    FIRST_SEAT,
    FIRST_SLEEP_ID,
    FIRST_START,
    FIRST_TOY,
    FIRST_TOY_AS_CARTON_ID,
    FIRST_TOY_ON_JOINT_ID,
    IDS_OF_SLOT,
    JOINT_SHIFT,
    KIND,
    LARGEST_HAND,
    NORTH,
    NO_CELL,
    NO_DOUBLE_WALLS,
    NO_SEAT,
    NUM_ACTIONS,
    PARTS,
    PASS_ID,
    PATTERNS,
    PILE_KINDS,
    PLACE_START,
    PLAY,
    PRINCESS,
    PRINCESS_BIT,
    PRINCESS_THERE,
    SIDE,
    SKIP_ID,
    SLEEPER,
    SOUTH,
    STARTS,
    TOY,
    TOY_THERE,
    TURN,
    TURNED,
    WEST,
    ChatCartonneEvent,
    ChatCartonneFault,
    Options,
    State,
    View,
    __builtin_ctz,
    bit_of,
    can_turn,
    cell_of,
    current_part,
    end_row,
    fault_if,
    find_card,
    first_row,
    free_beside,
    has_kind,
    holders,
    is_cat,
    is_sleeper,
    next_seat,
    on_joint,
    pile_size,
    put_kind,
    row_of,
    take_kind,
    type_of,
    walls_of,
)


cdef void tell(
    Events* events, ChatCartonneEvent kind, int seat, int seen_by, int first, int second, int third, int count
) noexcept nogil:
    cdef uint16_t values[3]
    if events == NULL:
        return
    values[0] = first
    values[1] = second
    values[2] = third
    add_event(events, kind, seat, seen_by, values, count)


# Components and setup

cdef void start(void* body, int players, const void* options) noexcept nogil:
    cdef State* state = <State*> body
    cdef const Options* chosen = <const Options*> options
    cdef int kind, seat
    memset(state, 0, sizeof(State))
    state.players = players
    state.first_seat_option = chosen.first_seat
    state.variants = chosen.variants
    state.first_seat = chosen.first_seat
    state.just_played = NO_CELL
    for kind in range(PILE_KINDS):
        put_kind(state.unknown, kind)
    for seat in range(players):
        state.supply[seat] = CATS
    memset(state.drawer, NO_SEAT, PARTS)
    if state.first_seat == NO_SEAT:
        state.phase = FIRST_SEAT
    else:
        state.phase = DEAL
        state.active = state.first_seat


cdef void insert_in_hand(State* state, int seat, int kind) noexcept nogil:
    cdef uint8_t* hand = state.hand[seat]
    cdef int slot = state.hand_size[seat]
    while slot > 0 and hand[slot - 1] > kind:
        hand[slot] = hand[slot - 1]
        slot -= 1
    hand[slot] = kind
    state.hand_size[seat] += 1


cdef int lay_on_table(State* state, int cell, int card) noexcept nogil:
    # The place that the card has got.
    cdef int place = state.laid
    while place > 0 and cell_of(state, place - 1) > cell:
        state.places[place] = state.places[place - 1]
        state.cards[place] = state.cards[place - 1]
        place -= 1
    state.places[place] = cell
    state.cards[place] = card
    state.laid += 1
    state.filled[row_of(cell)] |= bit_of(cell)
    return place


cdef void deal(State* state, int kind, Events* events) noexcept nogil:
    insert_in_hand(state, state.active, kind)
    tell(events, ChatCartonneEvent.CARD_DEALT, state.active, 1 << state.active, kind, 0, 0, 1)
    state.active = next_seat(state, state.active)
    if state.hand_size[state.active] == DEALT:
        state.phase = CHOOSE_START


cdef void place_start(State* state, int card, int cell, Events* events) noexcept nogil:
    lay_on_table(state, cell, card)
    tell(
        events, ChatCartonneEvent.START_PLACED, state.active, EVERYBODY, card & KIND, (card & TURNED) != 0, cell, 3
    )
    state.pending = 0
    state.active = next_seat(state, state.active)
    state.phase = TURN if state.active == state.first_seat else DRAW_START


# A turn

cdef bint has_princess(const State* state) noexcept nogil:
    # The Princess has the highest number of what a hand can hold.
    cdef int size = state.hand_size[state.active]
    return size > 0 and state.hand[state.active][size - 1] == PRINCESS


cdef bint cats_lie(const State* state) noexcept nogil:
    # Whether a cat of anybody lies on the table.
    cdef int seat
    for seat in range(state.players):
        if state.supply[seat] < CATS:
            return True
    return False


cdef inline bint may_draw(const State* state) noexcept nogil:
    return not state.final_phase and state.hand_size[state.active] < LARGEST_HAND


cdef inline bint plays_from_hand(const State* state) noexcept nogil:
    return state.phase == PLAY or (state.phase == TURN and not may_draw(state))


cdef bint wall_meets_wall(const State* state, int card, int cell) noexcept nogil:
    cdef int walls = walls_of(card), side = NORTH, place, opposite
    while side <= WEST:
        if walls & side:
            place = card_beside(state, cell, side)
            opposite = side << 2 if side < SOUTH else side >> 2
            if place >= 0 and walls_of(state.cards[place]) & opposite:
                return True
        side <<= 1
    return False


cdef int forbids_cell(const State* state, int card, int cell) noexcept nogil:
    # A card (as State.cards has it) on a cell beside another.
    if state.filled[row_of(cell)] & bit_of(cell):
        return ChatCartonneFault.CELL_FILLED
    if not free_beside(state, row_of(cell)) & bit_of(cell):
        return ChatCartonneFault.CELL_NOT_BESIDE
    if state.variants & NO_DOUBLE_WALLS and wall_meets_wall(state, card, cell):
        return ChatCartonneFault.WALL_MEETS_WALL
    return OK


cdef int forbids_start(const State* state, int card, int cell) noexcept nogil:
    # All starting cartons lie in one column.
    if cell != cell_of(state, 0) - SIDE and cell != cell_of(state, state.laid - 1) + SIDE:
        return ChatCartonneFault.NOT_AT_COLUMN_END
    return forbids_cell(state, card, cell)


cdef int forbids_carton(const State* state, int slot, bint turned, int cell) noexcept nogil:
    cdef int kind
    if state.phase == PLACE_START:
        if slot > 0:
            return ChatCartonneFault.CARD_NOT_IN_HAND
        kind = state.pending
    else:
        if slot >= state.hand_size[state.active]:
            return ChatCartonneFault.CARD_NOT_IN_HAND
        kind = state.hand[state.active][slot]
        if kind == PRINCESS:
            return ChatCartonneFault.NOT_A_CARTON
    if turned and not can_turn(kind):
        return ChatCartonneFault.TURN_CHANGES_NOTHING
    kind |= TURNED if turned else 0
    return forbids_start(state, kind, cell) if state.phase == PLACE_START else forbids_cell(state, kind, cell)


cdef void take_from_hand(State* state, int slot) noexcept nogil:
    # With what is publicly known of the hand: the card that left is taken to be the one that passes have said most of,
    # so no more is held known than all could know.
    cdef int seat = state.active, last = state.hand_size[seat] - 1, i
    cdef int type = type_of(state.hand[seat][slot])
    for i in range(slot, last):
        state.hand[seat][i] = state.hand[seat][i + 1]
    state.hand[seat][last] = 0
    i = 0
    while state.excluded[seat][i] >> type & 1:
        i += 1
    while i < last:
        state.excluded[seat][i] = state.excluded[seat][i + 1]
        i += 1
    state.excluded[seat][last] = 0
    state.hand_size[seat] = last


cdef void play_carton(State* state, int slot, bint turned, int cell, Events* events) noexcept nogil:
    cdef int kind = state.hand[state.active][slot]
    take_from_hand(state, slot)
    tell(events, ChatCartonneEvent.CARTON_PLACED, state.active, EVERYBODY, kind, turned, cell, 3)
    cat_may_follow(state, lay_on_table(state, cell, kind | (TURNED if turned else 0)), events)


cdef void cat_may_follow(State* state, int place, Events* events) noexcept nogil:
    if state.supply[state.active] and cat_can_follow(state, place):
        state.phase = CAT
        state.just_played = cell_of(state, place)
    else:
        end_turn(state, events)


cdef int joint_fault(const State* state, int joint) noexcept nogil:
    # Why nothing can lie on a joint, whatever box it is in.
    cdef int west = find_card(state, joint)
    if west < 0 or not is_joint(state, west):
        return ChatCartonneFault.NO_JOINT_THERE
    return fault_if(on_joint(state, west), ChatCartonneFault.JOINT_TAKEN)


cdef int forbids_cat(const State* state, int joint) noexcept nogil:
    # Whose box it is has been seen to before the seat was asked: both joints of the carton are in the same one.
    if joint != state.just_played and (joint + 1 != state.just_played or state.just_played % SIDE == 0):
        return ChatCartonneFault.NOT_JUST_PLAYED
    return joint_fault(state, joint)


cdef void lay_cat(State* state, int joint, Events* events) noexcept nogil:
    state.supply[state.active] -= 1
    state.places[find_card(state, joint)] |= (AWAKE + state.active) << JOINT_SHIFT
    tell(events, ChatCartonneEvent.CAT_AWAKE, state.active, EVERYBODY, joint, 0, 0, 1)
    end_turn(state, events)


cdef int forbids_sleep(const State* state, int cell) noexcept nogil:
    if state.phase != TURN:
        return ChatCartonneFault.NO_SLEEP_AFTER_DRAW
    if state.supply[state.active] == 0:
        return ChatCartonneFault.NO_CAT_IN_SUPPLY
    return forbids_cell(state, SLEEPER, cell)


cdef void lay_sleeper(State* state, int cell, Events* events) noexcept nogil:
    state.supply[state.active] -= 1
    lay_on_table(state, cell, SLEEPER + state.active)
    tell(events, ChatCartonneEvent.CAT_ASLEEP, state.active, EVERYBODY, cell, 0, 0, 1)
    end_turn(state, events)


cdef int forbids_princess(const State* state, bint in_cell, int cell) noexcept nogil:
    cdef int place
    if not has_princess(state):
        return ChatCartonneFault.NO_PRINCESS_IN_HAND
    place = find_card(state, cell)
    if place < 0:
        return ChatCartonneFault.NO_CAT_THERE
    if in_cell:
        return fault_if(not is_sleeper(state.cards[place]), ChatCartonneFault.NO_CAT_THERE)
    return fault_if(not is_cat(on_joint(state, place)), ChatCartonneFault.NO_CAT_THERE)


cdef void play_princess(State* state, bint in_cell, int cell, Events* events) noexcept nogil:
    cdef int place = find_card(state, cell), seat = state.active, part = PARTS - 1
    cdef int owner = state.cards[place] - SLEEPER if in_cell else on_joint(state, place) - AWAKE
    while state.drawn[seat][part] == 0:
        part -= 1
    state.played[seat][part] += 1
    take_from_hand(state, state.hand_size[seat] - 1)
    if in_cell:
        state.cards[place] = PRINCESS
    else:
        state.places[place] = cell | PRINCESS_THERE << JOINT_SHIFT
    state.supply[owner] += 1
    tell(
        events,
        ChatCartonneEvent.PRINCESS_IN_CELL if in_cell else ChatCartonneEvent.PRINCESS_ON_JOINT,
        seat,
        EVERYBODY,
        cell,
        owner,
        0,
        2,
    )
    end_turn(state, events)


cdef int forbids_toy(const State* state, bint as_carton, int cell) noexcept nogil:
    cdef Rows rows
    cdef uint32_t joints[26]
    cdef bint any_joint
    cdef int fault
    if not as_carton:
        fault = joint_fault(state, cell)
        if fault != OK:
            return fault
    read_rows(state, &rows)
    any_joint = joints_for_toy(state, &rows, joints)
    if as_carton:
        return ChatCartonneFault.TOY_NEEDS_JOINT if any_joint else forbids_cell(state, state.pending, cell)
    return fault_if(not (any_joint and joints[row_of(cell)] & bit_of(cell)), ChatCartonneFault.BOX_OF_OTHERS)


cdef void play_toy(State* state, bint as_carton, int cell, Events* events) noexcept nogil:
    cdef int kind = state.pending
    state.pending = 0
    if as_carton:
        tell(events, ChatCartonneEvent.TOY_AS_CARTON, state.active, EVERYBODY, kind, cell, 0, 2)
        cat_may_follow(state, lay_on_table(state, cell, kind), events)
    else:
        state.places[find_card(state, cell)] |= (TOY_THERE + kind - FIRST_TOY) << JOINT_SHIFT
        tell(events, ChatCartonneEvent.TOY_ON_JOINT, state.active, EVERYBODY, kind, cell, 0, 2)
        end_turn(state, events)


cdef void draw(State* state, int kind, Events* events) noexcept nogil:
    cdef int left, part = current_part(state, pile_size(state), &left), seat = state.active
    if kind != PRINCESS:
        take_kind(state.unknown, kind)
        if kind >= FIRST_TOY:
            state.pending = kind
            state.phase = TOY
            tell(events, ChatCartonneEvent.TOY_DRAWN, seat, EVERYBODY, kind, 0, 0, 1)
            return
    elif not state.variants & ALL_PRINCESSES:
        state.drawer[part] = seat
    state.drawn[seat][part] += 1
    insert_in_hand(state, seat, kind)
    state.phase = PLAY
    tell(events, ChatCartonneEvent.CARD_DRAWN, seat, 1 << seat, kind, 0, 0, 1)


# End

cdef void end_turn(State* state, Events* events) noexcept nogil:
    cdef int seat, holding, count = 0
    state.just_played = NO_CELL
    # Only the seat that has played can have laid its last cat.
    if not state.final_phase and (state.supply[state.active] == 0 or pile_size(state) == 0):
        state.final_phase = 1
        tell(events, ChatCartonneEvent.FINAL_PHASE_BEGUN, -1, EVERYBODY, 0, 0, 0, 0)
    if state.final_phase:
        holding = holders(state)
        for seat in range(state.players):
            count += holding >> seat & 1
        if state.passes == count:
            state.phase = FINISHED
            tell(events, ChatCartonneEvent.GAME_ENDED, -1, EVERYBODY, 0, 0, 0, 0)
            return
        state.active = next_seat(state, state.active)
        while holding >> state.active & 1 == 0:
            state.active = next_seat(state, state.active)
    else:
        state.active = next_seat(state, state.active)
    state.phase = TURN


cdef int playable_types(const State* state) noexcept nogil:
    # What could be played from a hand now: bit pattern, or PRINCESS_BIT.
    cdef Rows rows
    cdef int types = cats_lie(state) << PRINCESS_BIT, pattern, row, walls
    cdef bint turned
    if not state.variants & NO_DOUBLE_WALLS:
        return types | (1 << PATTERNS) - 1
    read_rows(state, &rows)
    for pattern in range(PATTERNS):
        for turned in range(2):
            walls = walls_of(9 * pattern | (TURNED if turned else 0))
            for row in range(max(1, rows.first - 1), min(SIDE, rows.end) + 1):
                if free_beside(state, row) & ~walls_meet(&rows, row, walls):
                    types |= 1 << pattern
    return types


cdef void pass_turn(State* state, Events* events) noexcept nogil:
    cdef int seat = state.active, slot, types = playable_types(state)
    for slot in range(state.hand_size[seat]):
        state.excluded[seat][slot] |= types
    tell(events, ChatCartonneEvent.PASSED, seat, EVERYBODY, 0, 0, 0, 0)
    # A pass of the turn that begins the final phase does not count.
    if state.final_phase:
        state.passes += 1
    end_turn(state, events)


# Score

cdef void totals(const void* body, int32_t* totals) noexcept nogil:
    cdef int points[5]
    cdef int negative[5]
    cdef int seat
    cdef const State* state = <const State*> body
    score(state, points, negative)
    for seat in range(state.players):
        totals[seat] = points[seat]


cdef void ranks(const void* body, uint8_t* ranks) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef int points[5]
    cdef int negative[5]
    cdef int seat, other
    score(state, points, negative)
    for seat in range(state.players):
        ranks[seat] = 1
        for other in range(state.players):
            ranks[seat] += points[other] > points[seat] or (
                points[other] == points[seat] and negative[other] < negative[seat]
            )


# Actions

cdef int actor(const void* body) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef int phase = state.phase
    if phase == FIRST_SEAT or phase == DEAL or phase == DRAW_START or phase == DRAW:
        return CHANCE
    if phase == FINISHED:
        return OVER
    return state.active


cdef inline int list_cells(uint32_t cells, int row, int first_id, uint16_t* ids) noexcept nogil:
    # The cells of a row as dense ids from `first_id`; their number.
    cdef int count = 0, first = first_id + SIDE * (row - 1)
    while cells:
        ids[count] = first + __builtin_ctz(cells)
        cells &= cells - 1
        count += 1
    return count


cdef int list_free(const State* state, int first_id, uint16_t* ids) noexcept nogil:
    # Every cell beside a card.
    cdef int count = 0, row
    for row in range(max(1, first_row(state) - 1), min(SIDE, end_row(state)) + 1):
        count += list_cells(free_beside(state, row), row, first_id, ids + count)
    return count


cdef int list_cartons(const State* state, uint16_t* ids) noexcept nogil:
    cdef const uint8_t* hand = state.hand[state.active]
    cdef int count = 0, slot, turned, first_id, cells = 0, i
    if state.variants & NO_DOUBLE_WALLS:
        return list_without_double_walls(state, ids)
    for slot in range(state.hand_size[state.active]):
        if hand[slot] == PRINCESS:
            break
        for turned in range(1 + can_turn(hand[slot])):
            first_id = FIRST_CARTON_ID + IDS_OF_SLOT * slot + CELLS * turned
            if count == 0:
                cells = count = list_free(state, first_id, ids)
            else:
                # The same cells once more.
                for i in range(cells):
                    ids[count + i] = ids[i] + (first_id - FIRST_CARTON_ID)
                count += cells
    return count


cdef int list_without_double_walls(const State* state, uint16_t* ids) noexcept nogil:
    cdef const uint8_t* hand = state.hand[state.active]
    cdef Rows rows
    cdef uint32_t cells[26]
    cdef int count = 0, slot, turned, walls, row, first, last, first_id
    read_rows(state, &rows)
    first = max(1, rows.first - 1)
    last = min(SIDE, rows.end) + 1
    for row in range(first, last):
        cells[row] = free_beside(state, row)
    for slot in range(state.hand_size[state.active]):
        if hand[slot] == PRINCESS:
            break
        for turned in range(1 + can_turn(hand[slot])):
            first_id = FIRST_CARTON_ID + IDS_OF_SLOT * slot + CELLS * turned
            walls = walls_of(hand[slot] | (TURNED if turned else 0))
            for row in range(first, last):
                count += list_cells(cells[row] & ~walls_meet(&rows, row, walls), row, first_id, ids + count)
    return count


cdef int list_princess(const State* state, uint16_t* ids) noexcept nogil:
    cdef int count = 0, place
    for place in range(state.laid):
        if is_cat(on_joint(state, place)):
            ids[count] = FIRST_PRINCESS_ON_JOINT_ID + cell_of(state, place)
            count += 1
    for place in range(state.laid):
        if is_sleeper(state.cards[place]):
            ids[count] = FIRST_PRINCESS_IN_CELL_ID + cell_of(state, place)
            count += 1
    return count


cdef int list_setup(const State* state, uint16_t* ids) noexcept nogil:
    cdef int count = 0, number, turned, card, end
    if state.phase == CHOOSE_START:
        for number in range(2 * STARTS):
            ids[count] = number
            count += number & 1 == 0 or can_turn(FIRST_START + (number >> 1))
        return count
    for turned in range(1 + can_turn(state.pending)):
        card = state.pending | (TURNED if turned else 0)
        for end in range(2):
            number = cell_of(state, state.laid - 1) + SIDE if end else cell_of(state, 0) - SIDE
            ids[count] = FIRST_CARTON_ID + CELLS * turned + number
            count += forbids_start(state, card, number) == OK
    return count


cdef int list_cats(const State* state, uint16_t* ids) noexcept nogil:
    # Whose box it is has been seen to before the seat was asked.
    cdef int count = 0, place = find_card(state, state.just_played)
    if place > 0 and is_free_joint(state, place - 1):
        ids[count] = FIRST_CAT_ID + cell_of(state, place - 1)
        count += 1
    if is_free_joint(state, place):
        ids[count] = FIRST_CAT_ID + state.just_played
        count += 1
    return count


cdef int list_toys(const State* state, uint16_t* ids) noexcept nogil:
    cdef Rows rows
    cdef uint32_t joints[26]
    cdef int count = 0, row
    read_rows(state, &rows)
    if not joints_for_toy(state, &rows, joints):
        return list_free(state, FIRST_TOY_AS_CARTON_ID, ids)
    for row in range(rows.first, rows.end):
        count += list_cells(joints[row], row, FIRST_TOY_ON_JOINT_ID, ids + count)
    return count


cdef int legal_actions(const void* body, uint16_t* ids) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef int count
    if state.phase == CHOOSE_START or state.phase == PLACE_START:
        return list_setup(state, ids)
    if state.phase == TOY:
        return list_toys(state, ids)
    if state.phase == CAT:
        ids[0] = SKIP_ID
        return 1 + list_cats(state, ids + 1)
    if plays_from_hand(state):
        count = list_cartons(state, ids)
    else:
        ids[0] = DRAW_ID
        count = 1
    if state.phase == TURN and state.supply[state.active]:
        count += list_free(state, FIRST_SLEEP_ID, ids + count)
    if plays_from_hand(state) and has_princess(state):
        count += list_princess(state, ids + count)
    if count == 0:
        ids[0] = PASS_ID
        count = 1
    return count


cdef bint must_pass(const State* state) noexcept nogil:
    # Pass is the one id of a seat that has nothing to play.
    cdef uint16_t ids[MAX_LEGAL]
    legal_actions(state, ids)
    return ids[0] == PASS_ID


cdef int forbids(const State* state, int action) noexcept nogil:
    # Why the active seat may not do that; OK if it may.
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


cdef int apply(void* body, int action, Events* events) noexcept nogil:
    cdef State* state = <State*> body
    cdef int number, fault, decider = actor(body)
    if decider == OVER:
        return GAME_IS_OVER
    if decider == CHANCE:
        return CHANCE_IS_PENDING  # uncovered: the core asks who acts first
    if action < 0 or action >= NUM_ACTIONS:
        return NO_SUCH_ACTION
    fault = forbids(state, action)
    if fault != OK:
        return fault
    if action < 2 * STARTS:
        place_start(state, FIRST_START + (action >> 1) | (TURNED if action & 1 else 0), CENTRE, events)
        return OK
    if action == DRAW_ID:
        state.phase = DRAW
        tell(events, ChatCartonneEvent.DRAW_CHOSEN, state.active, EVERYBODY, 0, 0, 0, 0)
        return OK
    if action == PASS_ID:
        pass_turn(state, events)
        return OK
    if state.phase == PLACE_START:
        number = action - FIRST_CARTON_ID
        place_start(state, state.pending | (TURNED if number >= CELLS else 0), number % CELLS, events)
        return OK
    # Any play but a Pass begins the count of passes anew.
    state.passes = 0
    if action == SKIP_ID:
        tell(events, ChatCartonneEvent.NO_CAT_FOLLOWED, state.active, EVERYBODY, 0, 0, 0, 0)
        end_turn(state, events)
    elif action < FIRST_SLEEP_ID:
        number = action - FIRST_CARTON_ID
        play_carton(state, number // IDS_OF_SLOT, number % IDS_OF_SLOT >= CELLS, number % CELLS, events)
    elif action < FIRST_CAT_ID:
        lay_sleeper(state, action - FIRST_SLEEP_ID, events)
    elif action < FIRST_PRINCESS_ON_JOINT_ID:
        lay_cat(state, action - FIRST_CAT_ID, events)
    elif action < FIRST_TOY_ON_JOINT_ID:
        number = action - FIRST_PRINCESS_ON_JOINT_ID
        play_princess(state, number >= CELLS, number % CELLS, events)
    else:
        number = action - FIRST_TOY_ON_JOINT_ID
        play_toy(state, number >= CELLS, number % CELLS, events)
    return OK


cdef int apply_outcome(void* body, int outcome, Events* events) noexcept nogil:
    cdef State* state = <State*> body
    cdef int decider = actor(body)
    if decider == OVER:
        return GAME_IS_OVER  # uncovered: the core asks who acts first
    if decider != CHANCE:
        return NO_CHANCE_IS_PENDING  # uncovered: the core asks who acts first
    if state.phase == FIRST_SEAT:
        if outcome < 0 or outcome >= state.players:
            return NO_SUCH_OUTCOME
        state.first_seat = state.active = outcome
        state.phase = DEAL
        tell(events, ChatCartonneEvent.FIRST_SEAT_CHOSEN, outcome, EVERYBODY, 0, 0, 0, 0)
    elif state.phase == DEAL:
        if outcome < 0 or outcome >= FIRST_TOY or not has_kind(state.unknown, outcome):
            return NO_SUCH_OUTCOME
        take_kind(state.unknown, outcome)
        deal(state, outcome, events)
    elif state.phase == DRAW_START:
        if outcome < FIRST_START or outcome >= FIRST_START + STARTS or not start_is_left(state, outcome):
            return NO_SUCH_OUTCOME
        state.pending = outcome
        state.phase = PLACE_START
        tell(events, ChatCartonneEvent.START_DRAWN, state.active, EVERYBODY, outcome, 0, 0, 1)
    else:
        if not can_come(state, outcome):
            return NO_SUCH_OUTCOME
        draw(state, outcome, events)
    return OK


# Public and hidden

cdef void view(const void* body, int seat, void* out) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef View* seen = <View*> out
    cdef State* shown = &seen.state
    cdef int other, slot, part
    memset(seen, 0, sizeof(View))
    memcpy(shown, state, sizeof(State))
    seen.pile_size = pile_size(state)
    seen.holders = holders(state) if state.final_phase else 0
    for other in range(state.players):
        if other == seat:
            continue
        for slot in range(state.hand_size[other]):
            if state.hand[other][slot] != PRINCESS:
                put_kind(shown.unknown, state.hand[other][slot])
        memset(shown.hand[other], 0, LARGEST_HAND)
    for part in range(PARTS):
        if state.drawer[part] != seat:
            shown.drawer[part] = NO_SEAT


cdef Operations operations = Operations(
    number=4,
    rules_version=1,
    body_size=sizeof(State),
    view_size=sizeof(View),
    num_actions=NUM_ACTIONS,
    observation_length=OBSERVATION_LENGTH,
    min_players=2,
    max_players=5,
    start=start,
    actor=actor,
    legal_actions=legal_actions,
    apply=apply,
    chance_outcomes=chance_outcomes,
    sample_outcome=sample_outcome,
    apply_outcome=apply_outcome,
    settle=settle,
    totals=totals,
    ranks=ranks,
    view=view,
    observe=observe,
    resample=resample,
    check=check,
)

OPERATIONS = wrap_operations(&operations)
