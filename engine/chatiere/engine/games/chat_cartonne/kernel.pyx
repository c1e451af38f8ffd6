"""Chat Cartonne: the rules. The sections follow the headings of the rules file, chat_cartonne.md."""

from libc.stdint cimport int32_t, uint16_t, uint32_t, uint64_t, uint8_t
from libc.string cimport memcpy, memset

from .policy import PLAYOUT_WEIGHTS, pack_weights

from chatiere.engine.core.bits cimport count_bits
from chatiere.engine.core.clearing cimport clear
from chatiere.engine.core.game cimport wrap_operations
from chatiere.engine.core.moves cimport settle
from chatiere.engine.core.operations cimport (
    CHANCE, CHANCE_IS_PENDING, EVERYBODY, GAME_IS_OVER, MAX_LEGAL, NO_CHANCE_IS_PENDING, NO_SEAT, NO_SUCH_ACTION,
    NO_SUCH_OUTCOME, OK, TERMINAL, Events, Limits, Operations, add_event,
)
from chatiere.engine.core.stream cimport Stream, number_below
from chatiere.engine.core.weights cimport common_divisor
from .hidden cimport resample
from .invariants cimport check
from .observation cimport OBSERVATION_LENGTH, observe
from .policy cimport WEIGHTS, advise
from .state cimport (
    ALL_PRINCESSES, AS_CARTON, AWAKE, CARTONS, CAT, CATS, CELL, CELLS, CENTRE, CHOOSE_START, DEAL, DEALT, DRAW, DRAW_ID,
    DRAW_START, EAST, EXCLUDED_BITS, FEWEST_SEATS, FINISHED, FIRST_CARTON_ID, FIRST_CAT_ID, FIRST_PRINCESS_IN_CELL_ID,
    FIRST_PRINCESS_ON_JOINT_ID, FIRST_SEAT, FIRST_SLEEP_ID, FIRST_START, FIRST_TOY, FIRST_TOY_AS_CARTON_ID,
    FIRST_TOY_ON_JOINT_ID, IDS_OF_SLOT, JOINT_SHIFT, KIND, MAX_HAND, MAX_LISTED, NORTH, NO_CELL, NO_DOUBLE_WALLS,
    NUM_ACTIONS, PARTS, PASS_ID, PATTERNS, PILE_KINDS, PLACE_START, PLAY, PLAYED_BITS, PRINCESS, PRINCESS_BIT,
    PRINCESS_THERE, SEATS, SIDE, SKIP_ID, SLEEPER, SOUTH, STARTS, TOY, TOYS, TOY_THERE, TURN, TURNED, WEST, WOKEN,
    WORDS, ChatCartonneEnd, ChatCartonneEvent, ChatCartonneFault, Layout, Options, Seat, State, View, beside, can_turn,
    cat_can_follow, cats_to_wake, count_kinds, current_part, end_word, excluded_of, fault_if, find_card, find_joint,
    first_column, first_word, free_beside, has_cell, has_kind, holders, is_cat, is_free_joint, is_free_joint_to_west,
    is_joint, is_sleeper, lay_on_joint, lay_on_table, list_filled, list_word, lowest_cell, may_draw, next_column,
    next_seat, nth_cell, nth_kind, on_joint, owner_of, pile_size, place_at, put_kind, read_layout, score, take_kind,
    type_of, walls_meet, walls_of, ways_to_lay_toy, word_of,
)

cdef enum:
    MAX_PLAYS = 2 * MAX_HAND + 1  # the capacity that list_plays needs


cdef void log_event(
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

cdef void start(void* body, int players, int rules_version, const void* options) noexcept nogil:
    cdef State* state = <State*> body
    cdef const Options* chosen = <const Options*> options
    cdef int kind, seat
    clear(state, sizeof(State))
    state.players = players
    state.rules_version = rules_version
    state.first_seat_option = chosen.first_seat
    state.variants = chosen.variants
    state.first_seat = chosen.first_seat
    state.just_played = NO_CELL
    for kind in range(PILE_KINDS):
        put_kind(state.unknown, kind)
    for seat in range(players):
        state.seats[seat].supply = CATS
    memset(state.drawer, NO_SEAT, PARTS)
    if state.first_seat == NO_SEAT:
        state.phase = FIRST_SEAT
    else:
        state.phase = DEAL
        state.active = state.first_seat


cdef void insert_in_hand(State* state, int seat, int kind) noexcept nogil:
    cdef uint8_t* hand = state.seats[seat].hand
    cdef int slot = state.seats[seat].hand_size
    while slot > 0 and hand[slot - 1] > kind:
        hand[slot] = hand[slot - 1]
        slot -= 1
    hand[slot] = kind
    state.seats[seat].hand_size += 1


cdef void deal(State* state, int kind, Events* events) noexcept nogil:
    insert_in_hand(state, state.active, kind)
    log_event(events, ChatCartonneEvent.CARD_DEALT, state.active, 1 << state.active, kind, 0, 0, 1)
    state.active = next_seat(state, state.active)
    if state.seats[state.active].hand_size == DEALT:
        state.phase = CHOOSE_START


cdef void place_start(State* state, int card, int cell, Events* events) noexcept nogil:
    lay_on_table(state, cell, card)
    log_event(
        events, ChatCartonneEvent.START_PLACED, state.active, EVERYBODY, card & KIND, (card & TURNED) != 0, cell, 3
    )
    state.pending = 0
    state.active = next_seat(state, state.active)
    state.phase = TURN if state.active == state.first_seat else DRAW_START


# A turn

cdef void take_from_hand(State* state, int slot) noexcept nogil:
    # Remove a card from the hand, and the largest set in Seat.excluded that can describe the card. The remaining sets
    # then never claim more than the other seats know.
    cdef Seat* held = &state.seats[state.active]
    cdef int type = type_of(held.hand[slot]), i = 0, below
    held.hand_size -= 1
    while slot < held.hand_size:
        held.hand[slot] = held.hand[slot + 1]
        slot += 1
    held.hand[slot] = 0
    while excluded_of(held, i) >> type & 1:
        i += 1
    below = (1 << EXCLUDED_BITS * i) - 1
    held.excluded = held.excluded & below | held.excluded >> EXCLUDED_BITS & ~<uint32_t> below


cdef void play_carton(State* state, int slot, bint turned, int cell, Events* events) noexcept nogil:
    cdef int kind = state.seats[state.active].hand[slot]
    take_from_hand(state, slot)
    log_event(events, ChatCartonneEvent.CARTON_PLACED, state.active, EVERYBODY, kind, turned, cell, 3)
    cat_may_follow(state, cell, lay_on_table(state, cell, kind | (TURNED if turned else 0)), events)


cdef void cat_may_follow(State* state, int cell, int place, Events* events) noexcept nogil:
    if state.seats[state.active].supply and cat_can_follow(state, cell, place):
        state.phase = CAT
        state.just_played = cell
    else:
        end_turn(state, events)


cdef void lay_cat(State* state, int joint, Events* events) noexcept nogil:
    state.seats[state.active].supply -= 1
    lay_on_joint(state, joint, AWAKE + state.active)
    log_event(events, ChatCartonneEvent.CAT_AWAKE, state.active, EVERYBODY, joint, 0, 0, 1)
    wake_cats(state, joint, events)
    end_turn(state, events)


cdef void wake_cats(State* state, int joint, Events* events) noexcept nogil:
    # Wake the active seat's cats that sleep in the box of the joint where the seat has laid a cat.
    cdef uint16_t cells[CATS]
    cdef int count = cats_to_wake(state, joint, cells), i
    for i in range(count):
        state.cards[place_at(state, cells[i])] |= WOKEN
    if count and events != NULL:
        add_event(events, ChatCartonneEvent.CATS_WOKEN, state.active, EVERYBODY, cells, count)


cdef void lay_sleeper(State* state, int cell, Events* events) noexcept nogil:
    state.seats[state.active].supply -= 1
    lay_on_table(state, cell, SLEEPER + state.active)
    log_event(events, ChatCartonneEvent.CAT_ASLEEP, state.active, EVERYBODY, cell, 0, 0, 1)
    end_turn(state, events)


cdef void play_princess(State* state, bint in_cell, int cell, Events* events) noexcept nogil:
    cdef int place = place_at(state, cell) if in_cell else find_joint(state, cell)
    cdef int seat = state.active, part = PARTS - 1
    cdef int owner = owner_of(state.cards[place]) if in_cell else on_joint(state, cell) - AWAKE
    while state.seats[seat].drawn[part] == 0:
        part -= 1
    state.seats[seat].played += 1 << PLAYED_BITS * part
    take_from_hand(state, state.seats[seat].hand_size - 1)
    if in_cell:
        state.cards[place] = PRINCESS
    else:
        state.joints[place] = cell | PRINCESS_THERE << JOINT_SHIFT
    state.seats[owner].supply += 1
    log_event(
        events, ChatCartonneEvent.PRINCESS_IN_CELL if in_cell else ChatCartonneEvent.PRINCESS_ON_JOINT, seat, EVERYBODY,
        cell, owner, 0, 2,
    )
    end_turn(state, events)


cdef void play_toy(State* state, bint as_carton, int cell, Events* events) noexcept nogil:
    cdef int kind = state.pending
    state.pending = 0
    if as_carton:
        log_event(events, ChatCartonneEvent.TOY_AS_CARTON, state.active, EVERYBODY, kind, cell, 0, 2)
        cat_may_follow(state, cell, lay_on_table(state, cell, kind), events)
    else:
        lay_on_joint(state, cell, TOY_THERE + kind - FIRST_TOY)
        log_event(events, ChatCartonneEvent.TOY_ON_JOINT, state.active, EVERYBODY, kind, cell, 0, 2)
        end_turn(state, events)


cdef void draw(State* state, int kind, Events* events) noexcept nogil:
    cdef int left, part = current_part(state, pile_size(state), &left), seat = state.active
    if kind != PRINCESS:
        take_kind(state.unknown, kind)
        if kind >= FIRST_TOY:
            state.pending = kind
            state.phase = TOY
            log_event(events, ChatCartonneEvent.TOY_DRAWN, seat, EVERYBODY, kind, 0, 0, 1)
            return
    elif not state.variants & ALL_PRINCESSES:
        state.drawer[part] = seat
    state.seats[seat].drawn[part] += 1
    insert_in_hand(state, seat, kind)
    state.phase = PLAY
    log_event(events, ChatCartonneEvent.CARD_DRAWN, seat, 1 << seat, kind, 0, 0, 1)


# End

cdef void end_turn(State* state, Events* events) noexcept nogil:
    cdef int seat, holding, count = 0
    state.just_played = NO_CELL
    # It is sufficient to check the active seat's supply, because only the seat that just played can have laid its last
    # cat.
    if not state.final_phase and (state.seats[state.active].supply == 0 or pile_size(state) == 0):
        state.final_phase = 1
        log_event(events, ChatCartonneEvent.FINAL_PHASE_BEGUN, -1, EVERYBODY, 0, 0, 0, 0)
    if state.final_phase:
        holding = holders(state)
        for seat in range(state.players):
            count += holding >> seat & 1
        if state.passes == count:
            state.phase = FINISHED
            log_event(events, ChatCartonneEvent.GAME_ENDED, -1, EVERYBODY, 0, 0, 0, 0)
            return
        state.active = next_seat(state, state.active)
        while holding >> state.active & 1 == 0:
            state.active = next_seat(state, state.active)
    else:
        state.active = next_seat(state, state.active)
    state.phase = TURN


cdef int end(const void* body) noexcept nogil:
    cdef const State* state = <const State*> body
    # At the end, `passes` equals the number of seats that hold a carton. Both are 0 if no seat holds a carton.
    if state.phase != FINISHED:
        return 0
    return ChatCartonneEnd.ALL_PASSED if state.passes else ChatCartonneEnd.NO_CARTONS


cdef int ended_by(const void* body) noexcept nogil:
    # Return the seat that moved last.
    return (<const State*> body).active


cdef void pass_turn(State* state, Events* events) noexcept nogil:
    cdef int seat = state.active, slot, types = playable_types(state)
    for slot in range(state.seats[seat].hand_size):
        state.seats[seat].excluded |= <uint32_t> types << EXCLUDED_BITS * slot
    log_event(events, ChatCartonneEvent.PASSED, seat, EVERYBODY, 0, 0, 0, 0)
    # A pass in the turn that begins the final phase is not counted.
    if state.final_phase:
        state.passes += 1
    end_turn(state, events)


# Score

cdef void totals(const void* body, int32_t* totals) noexcept nogil:
    cdef int points[SEATS]
    cdef int negative[SEATS]
    cdef int seat
    cdef const State* state = <const State*> body
    score(state, points, negative)
    for seat in range(state.players):
        totals[seat] = points[seat]


cdef void ranks(const void* body, uint8_t* ranks) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef int points[SEATS]
    cdef int negative[SEATS]
    cdef int seat, other
    score(state, points, negative)
    for seat in range(state.players):
        ranks[seat] = 1
        for other in range(state.players):
            ranks[seat] += points[other] > points[seat] or (
                points[other] == points[seat] and negative[other] < negative[seat]
            )


# Actions

cdef bint has_princess(const State* state) noexcept nogil:
    # Return True if the active seat holds a Princess. She has the highest kind, so she is last in the hand.
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
    # Return OK if a card, encoded as in State.cards, may be laid in a cell. Otherwise return the fault: the rule that
    # forbids it. The cell must be next to a card.
    if has_cell(state.filled, cell):
        return ChatCartonneFault.CELL_FILLED
    if not free_beside(state, cell >> 6) >> (cell & 63) & 1:
        return ChatCartonneFault.CELL_NOT_BESIDE
    if state.variants & NO_DOUBLE_WALLS and wall_meets_wall(state, card, cell):
        return ChatCartonneFault.WALL_MEETS_WALL
    return OK


cdef int forbids_start(const State* state, int card, int cell) noexcept nogil:
    # Return OK if a starting carton may be laid in a cell. Otherwise return the fault. All starting cartons must be in
    # one column.
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
    # Return OK if an item may be laid on a joint, regardless of the joint's box. Otherwise return the fault.
    cdef int west = find_card(state, joint)
    if west < 0 or not is_joint(state, joint, west):
        return ChatCartonneFault.NO_JOINT_THERE
    return fault_if(on_joint(state, joint), ChatCartonneFault.JOINT_TAKEN)


cdef int forbids_cat(const State* state, int joint) noexcept nogil:
    # Return OK if an awake cat may be laid on a joint. Otherwise return the fault. The box needs no check, because it
    # was checked before the seat was asked, and both joints of the carton are in this box.
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
    cdef int fault, ways
    if not as_carton:
        fault = joint_fault(state, cell)
        if fault != OK:
            return fault
    ways = ways_to_lay_toy(state, joints)
    if as_carton:
        return forbids_cell(state, state.pending, cell) if ways & AS_CARTON else ChatCartonneFault.TOY_NEEDS_JOINT
    return fault_if(not has_cell(joints, cell), ChatCartonneFault.BOX_OF_OTHERS)


cdef bint must_pass(const State* state) noexcept nogil:
    # Return True if the active seat has no legal play, in which case Pass is the only legal id.
    cdef uint16_t ids[MAX_LEGAL]
    legal_actions(state, ids)
    return ids[0] == PASS_ID


cdef int forbids(const State* state, int action) noexcept nogil:
    # Return the fault of an action of the active seat, or OK if it is legal.
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
    # Find the empty cells next to a card. Only the words from `first` to before `end` are written. Returns the number
    # of cells.
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
    # Copy ids for another play on the same cells, and add `more` to each id. Four ids are written at a time, so up to
    # three meaningless ids follow the last one.
    cdef uint64_t four
    cdef int i
    for i in range(0, count, 4):
        memcpy(&four, ids + i, sizeof(four))
        four += more * <uint64_t> 0x0001000100010001
        memcpy(target + i, &four, sizeof(four))


cdef int list_plays(const State* state, int* first_ids) noexcept nogil:
    # List the plays that are legal in every empty cell next to a card: cartons (unless `no_double_walls` is set) and a
    # sleeping cat. Each play is represented by its id for cell 0, in ascending order. Returns the number of plays.
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
    # List the joints for a cat. The box was checked before the seat was asked.
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
    cdef int count = 0, ways = ways_to_lay_toy(state, joints), word
    for word in range(WORDS):
        count += list_word(joints[word], word, FIRST_TOY_ON_JOINT_ID, ids + count)
    if ways & AS_CARTON:
        count += list_free(state, FIRST_TOY_AS_CARTON_ID, ids + count)
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
    # Draw a legal action. To be fast, this counts the cells of all plays and looks up only the chosen cell.
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
    # Return True if there is a cat on the table.
    cdef int seat
    for seat in range(state.players):
        if state.seats[seat].supply < CATS:
            return True
    return False


cdef int playable_types(const State* state) noexcept nogil:
    # Return the types of cards that could now be played from a hand, as bits of wall patterns and PRINCESS_BIT.
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


# Chance outcomes

cdef inline bint start_is_left(const State* state, int kind) noexcept nogil:
    cdef int place
    for place in range(state.laid):
        if state.cards[place] & KIND == kind:
            return False
    return True

cdef inline bint can_come(const State* state, int kind) noexcept nogil:
    # Return True if a draw from the pile can give this kind.
    cdef int left, part = current_part(state, pile_size(state), &left)
    if kind == PRINCESS:
        if state.variants & ALL_PRINCESSES:
            return left > count_kinds(state.unknown)
        return state.drawer[part] == NO_SEAT
    if kind < 0 or kind > PRINCESS or not has_kind(state.unknown, kind):
        return False
    return state.variants & ALL_PRINCESSES or left > 1 or state.drawer[part] != NO_SEAT


cdef void weigh_draw(const State* state, int* other, int* princess) noexcept nogil:
    # Compute the weights at a draw: the weight of each carton and toy still in the pile, and the weight of the
    # Princess.
    cdef int left, part = current_part(state, pile_size(state), &left), cards = count_kinds(state.unknown), common
    other[0] = 1
    princess[0] = 0
    if state.variants & ALL_PRINCESSES:
        princess[0] = left - cards if cards else 1
    elif state.drawer[part] == NO_SEAT:
        # The Princess has probability 1 / left. All other cards of the pile have equal shares of the rest.
        princess[0] = max(1, cards)
        other[0] = left - 1
        common = common_divisor(princess[0], other[0])
        princess[0] //= common
        other[0] //= common


cdef int chance_outcomes(const void* body, uint16_t* outcomes, uint32_t* weights) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef int count = 0, kind, other = 1, princess = 0
    if state.phase == FIRST_SEAT:
        for count in range(state.players):
            outcomes[count] = count
            weights[count] = 1
        return state.players
    if state.phase == DRAW_START:
        for kind in range(FIRST_START, FIRST_START + STARTS):
            outcomes[count] = kind
            weights[count] = 1
            count += start_is_left(state, kind)
        return count
    if state.phase == DRAW:
        weigh_draw(state, &other, &princess)
    for kind in range(PILE_KINDS if state.phase == DRAW else FIRST_TOY):
        outcomes[count] = kind
        weights[count] = other
        count += has_kind(state.unknown, kind) and other > 0
    if princess > 0:
        outcomes[count] = PRINCESS
        weights[count] = princess
        count += 1
    return count


cdef int sample_outcome(const void* body, Stream* stream) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef int cards = count_kinds(state.unknown), kind, number, other, princess
    if state.phase == FIRST_SEAT:
        return number_below(stream, state.players)
    if state.phase == DEAL:
        # Draw only kinds below FIRST_TOY. Toys are never dealt, so all of them are still in the pile.
        return nth_kind(state.unknown, number_below(stream, cards - TOYS))
    if state.phase == DRAW_START:
        number = number_below(stream, STARTS - state.laid)
        kind = FIRST_START
        while number or not start_is_left(state, kind):
            number -= start_is_left(state, kind)
            kind += 1
        return kind
    weigh_draw(state, &other, &princess)
    number = number_below(stream, cards * other + princess)
    return nth_kind(state.unknown, number // other) if number < cards * other else PRINCESS


# Moves

cdef int actor(const void* body) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef int phase = state.phase
    if phase == FIRST_SEAT or phase == DEAL or phase == DRAW_START or phase == DRAW:
        return CHANCE
    if phase == FINISHED:
        return TERMINAL
    return state.active


cdef int apply(void* body, int action, Events* events) noexcept nogil:
    cdef State* state = <State*> body
    cdef int number, fault, decider = actor(body)
    if decider == TERMINAL:
        return GAME_IS_OVER
    if decider == CHANCE:
        return CHANCE_IS_PENDING  # uncovered: the core checks the actor first
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
        log_event(events, ChatCartonneEvent.DRAW_CHOSEN, state.active, EVERYBODY, 0, 0, 0, 0)
        return OK
    if action == PASS_ID:
        pass_turn(state, events)
        return OK
    if state.phase == PLACE_START:
        number = action - FIRST_CARTON_ID
        place_start(state, state.pending | (TURNED if number >= CELLS else 0), number % CELLS, events)
        return OK
    # Every play except a Pass resets the count of passes.
    state.passes = 0
    if action == SKIP_ID:
        log_event(events, ChatCartonneEvent.NO_CAT_FOLLOWED, state.active, EVERYBODY, 0, 0, 0, 0)
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
    if decider == TERMINAL:
        return GAME_IS_OVER  # uncovered: the core checks the actor first
    if decider != CHANCE:
        return NO_CHANCE_IS_PENDING  # uncovered: the core checks the actor first
    if state.phase == FIRST_SEAT:
        if outcome < 0 or outcome >= state.players:
            return NO_SUCH_OUTCOME
        state.first_seat = state.active = outcome
        state.phase = DEAL
        log_event(events, ChatCartonneEvent.FIRST_SEAT_CHOSEN, outcome, EVERYBODY, 0, 0, 0, 0)
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
        log_event(events, ChatCartonneEvent.START_DRAWN, state.active, EVERYBODY, outcome, 0, 0, 1)
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
    # Copy the state in two pieces, because a single large copy has a higher startup cost.
    memcpy(shown, state, sizeof(State) - sizeof(state.cards))
    memcpy(shown.cards, state.cards, sizeof(state.cards))
    seen.pile_size = pile_size(state)
    seen.holders = holders(state) if state.final_phase else 0
    memset(seen.zero, 0, sizeof(seen.zero))
    for other in range(state.players):
        if other == seat:
            continue
        for slot in range(state.seats[other].hand_size):
            if state.seats[other].hand[slot] != PRINCESS:
                put_kind(shown.unknown, state.seats[other].hand[slot])
        memset(shown.seats[other].hand, 0, MAX_HAND)
    for part in range(PARTS):
        if state.drawer[part] != seat:
            shown.drawer[part] = NO_SEAT


# How long a game can be (Components and setup; A turn; End)

cdef int count_joints() noexcept nogil:
    # Return an upper bound on the number of joints. Each joint needs two open long edges of cartons, toys or starting
    # cartons.
    cdef int edges = 0, kind
    for kind in range(FIRST_START + STARTS):
        if kind != PRINCESS:
            edges += (walls_of(kind) & EAST == 0) + (walls_of(kind) & WEST == 0)
    return edges // 2


cdef void limits(int players, const void* options, Limits* found) noexcept nogil:
    # An upper bound on the number of decisions is the sum of the passes and the following numbers. Each seat places one
    # starting carton. Each card of the pile is drawn once, and each card is played once. Each joint has one Cat or
    # Skip, when the second of its cards is laid. Each cat has one Sleep, and one more if a Princess returns the cat.
    # The bound is never reached, because a seat that lays its last cat asleep is not asked again.
    #
    # In the main phase, a seat passes only after a draw. At the beginning of a turn, it has a cat in supply and may lay
    # this cat asleep. Without `no_double_walls`, a carton can always be placed. A seat then passes only with three
    # Princesses in hand and no cat on the table. It passes again only after it has played one Princess and drawn
    # another. It never passes in the final phase, because a seat without a carton is not asked. With `no_double_walls`,
    # a pass may follow each draw. In the final phase, the hands and cats are played. All other seats may pass after
    # each play, and all seats may pass after the last play.
    cdef const Options* chosen = <const Options*> options
    cdef bint first_seat_comes = chosen == NULL or chosen.first_seat == NO_SEAT
    cdef int variants = chosen.variants if chosen != NULL else ALL_PRINCESSES | NO_DOUBLE_WALLS
    cdef int princesses = PARTS if variants & ALL_PRINCESSES else players
    cdef int pile = PILE_KINDS - DEALT * players + princesses
    cdef int sleeps = CATS * players + princesses
    cdef int passes = max(0, princesses - MAX_HAND + 1)
    if variants & NO_DOUBLE_WALLS:
        passes = pile + (players - 1) * (MAX_HAND * players + sleeps) + players
    found.max_game_length = players + pile + PILE_KINDS + princesses + count_joints() + sleeps + passes
    # The chance events are the first seat, the deal, the draws, and the starting cartons of all seats except the first.
    found.max_chance_nodes = first_seat_comes + DEALT * players + players - 1 + pile
    # The deal of the first card has the most outcomes. A draw has fewer: at least four kinds have been dealt, and the
    # Princess adds only one kind.
    found.max_chance_outcomes = CARTONS


cdef Operations operations = Operations(
    number=4,
    oldest_rules_version=1,
    rules_version=1,
    packed_version=1,
    body_size=sizeof(State),
    view_size=sizeof(View),
    num_actions=NUM_ACTIONS,
    observation_length=OBSERVATION_LENGTH,
    min_players=FEWEST_SEATS,
    max_players=5,
    start=start, limits=limits, actor=actor, legal_actions=legal_actions, sample_action=sample_action, end=end,
    ended_by=ended_by, apply=apply, chance_outcomes=chance_outcomes, sample_outcome=sample_outcome,
    apply_outcome=apply_outcome, settle=settle, totals=totals, ranks=ranks, view=view, observe=observe,
    resample=resample, check=check, advise=advise, weights=&WEIGHTS,
)

OPERATIONS = wrap_operations(&operations, PLAYOUT_WEIGHTS, pack_weights)
