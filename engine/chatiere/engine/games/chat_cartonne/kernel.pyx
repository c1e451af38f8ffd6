"""Chat Cartonne: the rules (rules file: chat_cartonne.md; the sections below follow its headings).

Legal actions are in legal.pyx, chance outcomes in chance.pyx.
"""

from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy, memset

from chatiere.engine.games.chat_cartonne.policy import pack_weights
from chatiere.engine.games.chat_cartonne.weights import PLAYOUT_WEIGHTS

from chatiere.engine.core.clearing cimport clear
from chatiere.engine.core.game cimport (
    CHANCE,
    CHANCE_IS_PENDING,
    EVERYBODY,
    GAME_IS_OVER,
    NO_CHANCE_IS_PENDING,
    NO_SEAT,
    NO_SUCH_ACTION,
    NO_SUCH_OUTCOME,
    OK,
    TERMINAL,
    Events,
    Operations,
    add_event,
)
from chatiere.engine.core.moves cimport settle
from chatiere.engine.core.position cimport wrap_operations
from chatiere.engine.games.chat_cartonne.boxes cimport cat_can_follow, cats_to_wake, score
from chatiere.engine.games.chat_cartonne.chance cimport can_come, chance_outcomes, sample_outcome, start_is_left
from chatiere.engine.games.chat_cartonne.hidden cimport resample
from chatiere.engine.games.chat_cartonne.invariants cimport check
from chatiere.engine.games.chat_cartonne.legal cimport forbids, legal_actions, playable_types, sample_action
from chatiere.engine.games.chat_cartonne.limits cimport limits
from chatiere.engine.games.chat_cartonne.observation cimport OBSERVATION_LENGTH, observe
from chatiere.engine.games.chat_cartonne.policy cimport WEIGHTS, advise
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
    EXCLUDED_BITS,
    FEWEST_SEATS,
    FINISHED,
    FIRST_CARTON_ID,
    FIRST_CAT_ID,
    FIRST_PRINCESS_ON_JOINT_ID,
    FIRST_SEAT,
    FIRST_SLEEP_ID,
    FIRST_START,
    FIRST_TOY,
    FIRST_TOY_ON_JOINT_ID,
    IDS_OF_SLOT,
    JOINT_SHIFT,
    KIND,
    MAX_HAND,
    NO_CELL,
    NUM_ACTIONS,
    PARTS,
    PASS_ID,
    PILE_KINDS,
    PLACE_START,
    PLAY,
    PLAYED_BITS,
    PRINCESS,
    PRINCESS_THERE,
    SEATS,
    SKIP_ID,
    SLEEPER,
    STARTS,
    TOY,
    TOY_THERE,
    TURN,
    TURNED,
    WOKEN,
    ChatCartonneEnd,
    ChatCartonneEvent,
    Options,
    Seat,
    State,
    View,
    current_part,
    excluded_of,
    find_joint,
    has_kind,
    holders,
    lay_on_joint,
    lay_on_table,
    next_seat,
    on_joint,
    owner_of,
    pile_size,
    place_at,
    put_kind,
    take_kind,
    type_of,
)


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
    # Public knowledge of the hand changes too: the card that left is taken to be the one that passes have shown most
    # of, so that no more is noted than all can know.
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
    # Those of the active seat that sleep in the box of the joint on which it has laid a cat.
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
    # Only the seat that has just played can have laid its last cat.
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
    # The game is over once all seats that hold a carton have passed: none, if nobody does.
    if state.phase != FINISHED:
        return 0
    return ChatCartonneEnd.ALL_PASSED if state.passes else ChatCartonneEnd.NO_CARTONS


cdef int ended_by(const void* body) noexcept nogil:
    # The seat that moved last.
    return (<const State*> body).active


cdef void pass_turn(State* state, Events* events) noexcept nogil:
    cdef int seat = state.active, slot, types = playable_types(state)
    for slot in range(state.seats[seat].hand_size):
        state.seats[seat].excluded |= <uint32_t> types << EXCLUDED_BITS * slot
    log_event(events, ChatCartonneEvent.PASSED, seat, EVERYBODY, 0, 0, 0, 0)
    # A pass of the turn that begins the final phase does not count.
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
        log_event(events, ChatCartonneEvent.DRAW_CHOSEN, state.active, EVERYBODY, 0, 0, 0, 0)
        return OK
    if action == PASS_ID:
        pass_turn(state, events)
        return OK
    if state.phase == PLACE_START:
        number = action - FIRST_CARTON_ID
        place_start(state, state.pending | (TURNED if number >= CELLS else 0), number % CELLS, events)
        return OK
    # Any play but a Pass resets the count of passes.
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
        return GAME_IS_OVER  # uncovered: the core asks who acts first
    if decider != CHANCE:
        return NO_CHANCE_IS_PENDING  # uncovered: the core asks who acts first
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
    # Copied in two pieces: one large copy is slow to begin.
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


cdef Operations operations = Operations(
    number=4,
    oldest_rules_version=2,
    rules_version=2,
    packed_version=1,
    body_size=sizeof(State),
    view_size=sizeof(View),
    num_actions=NUM_ACTIONS,
    observation_length=OBSERVATION_LENGTH,
    min_players=FEWEST_SEATS,
    max_players=5,
    start=start,
    limits=limits,
    actor=actor,
    legal_actions=legal_actions,
    sample_action=sample_action,
    end=end,
    ended_by=ended_by,
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
    advise=advise,
    weights=&WEIGHTS,
)

OPERATIONS = wrap_operations(&operations, PLAYOUT_WEIGHTS, pack_weights)
