"""Discat: the rules (rules file: discat.md; the sections below follow its headings)."""

from libc.stdint cimport int16_t, int32_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memmove, memset

from chatiere.engine.core.game cimport (
    CHANCE,
    CHANCE_IS_PENDING,
    EVERYBODY,
    GAME_IS_OVER,
    NO_CHANCE_IS_PENDING,
    NO_SUCH_ACTION,
    NO_SUCH_OUTCOME,
    OK,
    OVER,
    Events,
    MAX_OUTCOMES,
    Operations,
    add_event,
)
from chatiere.engine.core.position cimport wrap_operations
from chatiere.engine.core.stream cimport Stream, walk_weights
from chatiere.engine.games.discat.hidden cimport read_table, resample
from chatiere.engine.games.discat.observation cimport OBSERVATION_LENGTH, observe
from chatiere.engine.games.discat.state cimport (
    BONUS,
    BONUS_GROUP,
    CARD,
    DEAL,
    DEALT,
    EXCHANGE,
    FINISHED,
    FIRST_EXCHANGE_ID,
    FIRST_SEAT,
    KEEP_ID,
    LARGEST_CARD,
    LARGEST_HAND,
    NO_SEAT,
    NUM_ACTIONS,
    PASS,
    PHASES,
    PLAY,
    PLAY_IDS,
    REDRAWN_KEPT,
    REFILL,
    TOP,
    WINNING_GROUP,
    DiscatEvent,
    DiscatFault,
    Options,
    State,
    Table,
    View,
    cards_in_use,
    constraint_of,
    count_cards,
    draw_pile_size,
    has_card,
    is_empty,
    next_seat,
    passes_in_a_row,
    points_up,
    put_card,
    respects,
    take_card,
)


cdef extern from * nogil:
    int __builtin_ctzll(uint64_t word)

cdef uint64_t ALL_BITS = 0xFFFFFFFFFFFFFFFF


cdef void tell(
    Events* events, DiscatEvent kind, int seat, int seen_by, const uint8_t* cards, int count
) noexcept nogil:
    cdef uint16_t values[LARGEST_HAND]
    cdef int i
    if events == NULL:
        return
    for i in range(count):
        values[i] = cards[i]
    add_event(events, kind, seat, seen_by, values, count)


# Components and setup

cdef void start(void* body, int players, const void* options) noexcept nogil:
    cdef State* state = <State*> body
    cdef const Options* chosen = <const Options*> options
    cdef int card
    memset(state, 0, sizeof(State))
    state.players = players
    state.first_seat_option = chosen.first_seat
    state.first_seat = chosen.first_seat
    state.creator = NO_SEAT
    state.group_winner = NO_SEAT
    state.up_arrows[0] = chosen.up_arrows[0]
    state.up_arrows[1] = chosen.up_arrows[1]
    for card in range(1, cards_in_use(players) + 1):
        put_card(state.unknown, card)
    if state.first_seat == NO_SEAT:
        state.phase = FIRST_SEAT
    else:
        state.phase = DEAL
        state.active = state.first_seat


cdef void insert_card(State* state, int seat, int card) noexcept nogil:
    cdef uint8_t* hand = state.hand[seat]
    cdef int place = state.hand_size[seat]
    while place > 0 and hand[place - 1] > card:
        hand[place] = hand[place - 1]
        place -= 1
    hand[place] = card
    state.hand_size[seat] += 1


cdef void remove_slots(State* state, int seat, int slots) noexcept nogil:
    # `slots`: bit s for slot s.
    cdef int kept = 0, slot
    for slot in range(state.hand_size[seat]):
        if not slots >> slot & 1:
            state.hand[seat][kept] = state.hand[seat][slot]
            kept += 1
    for slot in range(kept, state.hand_size[seat]):
        state.hand[seat][slot] = 0
    state.hand_size[seat] = kept


cdef void deal(State* state, int card, Events* events) noexcept nogil:
    cdef uint8_t dealt = card
    insert_card(state, state.active, card)
    tell(events, DiscatEvent.CARD_DEALT, state.active, 1 << state.active, &dealt, 1)
    state.active = next_seat(state, state.active)
    if state.hand_size[state.active] == DEALT:
        state.phase = PLAY


# A turn: play

cdef bint can_respect(const State* state, int seat, int constraint) noexcept nogil:
    cdef int size = state.hand_size[seat]
    if size == 0:
        return False
    # Hands are sorted: the best card for the constraint is at an end.
    return respects(state, constraint, state.hand[seat][size - 1 if points_up(state, constraint) else 0])


cdef int slots_played(int action) noexcept nogil:
    # The hand slots of a Play as a mask. Bit k of the id's lower half is the k-th slot other than the top.
    cdef int top = action >> 5, others = action & 31
    cdef int below = others & ((1 << top) - 1)
    return below | 1 << top | (others ^ below) << 1


cdef int play_cards(const State* state, int action, uint8_t* cards) noexcept nogil:
    # The cards of a Play by the active seat, ascending, then the top; how many they are.
    cdef int slots = slots_played(action), top = action >> 5
    cdef int count = 0, slot
    for slot in range(state.hand_size[state.active]):
        if slots >> slot & 1 and slot != top:
            cards[count] = state.hand[state.active][slot]
            count += 1
    cards[count] = state.hand[state.active][top]
    return count + 1


cdef bint form_group(const uint8_t* cards, int count) noexcept nogil:
    # All share the tens digit, or all share the units digit.
    cdef int i
    cdef bint same_tens = True, same_units = True
    for i in range(1, count):
        same_tens &= cards[i] // 10 == cards[0] // 10
        same_units &= cards[i] % 10 == cards[0] % 10
    return same_tens or same_units


cdef int forbids_play(const State* state, int action) noexcept nogil:
    cdef uint8_t cards[LARGEST_HAND]
    cdef int count, constraint
    if state.phase != PLAY:
        return DiscatFault.MUST_PASS
    if slots_played(action) >> state.hand_size[state.active]:
        return DiscatFault.CARD_NOT_IN_HAND
    count = play_cards(state, action, cards)
    if state.laid == 0 and count > 1:
        return DiscatFault.FIRST_PLAY_IS_ONE_CARD
    if not form_group(cards, count):
        return DiscatFault.NOT_A_GROUP
    constraint = constraint_of(state)
    if constraint != 0 and not respects(state, constraint, cards[count - 1]):
        return DiscatFault.WRONG_SIDE
    return OK


cdef void play(State* state, int action, Events* events) noexcept nogil:
    cdef uint8_t cards[LARGEST_HAND]
    cdef int seat = state.active
    cdef int count = play_cards(state, action, cards)
    remove_slots(state, seat, slots_played(action))
    memcpy(&state.cards[state.laid], cards, count)
    state.laid += count
    state.cards[state.laid - 1] |= TOP
    state.pile_count[seat] += count
    state.turned &= ~(1 << seat)
    state.creator = seat
    state.bonus_drawn = 0
    tell(events, DiscatEvent.CARDS_PLAYED, seat, EVERYBODY, cards, count)
    if count == BONUS_GROUP:
        # The lowest-numbered of the three under the top.
        state.pile_count[seat] -= 1
        state.bonus_count[seat] += 1
        tell(events, DiscatEvent.CARD_TO_BONUS_PILE, seat, EVERYBODY, cards, 1)
    if count >= WINNING_GROUP:
        state.group_winner = seat
        end_game(state, events)
    else:
        refill(state, events)


# A turn: cannot respect the constraint

cdef void begin_turn(State* state, Events* events) noexcept nogil:
    cdef int constraint = state.cards[state.laid - 1] & CARD
    if state.active == state.creator:
        # Back to the creator.
        state.phase = PLAY
        turn_top(state, events)
        tell(events, DiscatEvent.CONSTRAINT_LIFTED, state.active, EVERYBODY, NULL, 0)
    elif can_respect(state, state.active, constraint):
        state.phase = PLAY
    elif state.bonus_drawn or draw_pile_size(state) == 0:
        begin_pass(state, events)
    elif is_empty(state.unknown):
        draw_from_queue(state, state.creator, DiscatEvent.BONUS_CARD_DRAWN, events)
        state.bonus_drawn = 1
        begin_pass(state, events)
    else:
        state.phase = BONUS


cdef void begin_pass(State* state, Events* events) noexcept nogil:
    turn_top(state, events)
    state.phase = PASS


cdef void turn_top(State* state, Events* events) noexcept nogil:
    cdef int seat = state.active
    cdef uint8_t top
    if state.pile_count[seat] == 0 or state.turned >> seat & 1:
        return
    state.turned |= 1 << seat
    if events != NULL:
        top = top_of_pile(state, seat)
        tell(events, DiscatEvent.TOP_TURNED, seat, EVERYBODY, &top, 1)


cdef int top_of_pile(const State* state, int seat) noexcept nogil:
    # Back through the plays, whose owners follow from the passes between them.
    cdef int place = state.laid - 1
    cdef int owner = state.creator
    cdef int top
    while owner != seat:
        place -= 1
        while not state.cards[place] & TOP:
            place -= 1
        owner = (owner + 2 * state.players - (state.passes[place] & 7) - 1) % state.players
    top = state.cards[place] & CARD
    return top


cdef void record_pass(State* state, int exchanged) noexcept nogil:
    cdef uint8_t* record = &state.passes[state.laid - 1]
    cdef int before = record[0] & 7
    record[0] = (record[0] & ~7) | (before + 1) | exchanged << (3 + before)


cdef void keep(State* state, Events* events) noexcept nogil:
    record_pass(state, 0)
    tell(events, DiscatEvent.HAND_KEPT, state.active, EVERYBODY, NULL, 0)
    refill(state, events)


cdef void exchange(State* state, int slot, Events* events) noexcept nogil:
    cdef int seat = state.active
    cdef uint8_t card = state.hand[seat][slot]
    record_pass(state, 1)
    remove_slots(state, seat, 1 << slot)
    state.queue_length += 1
    state.cards[LARGEST_CARD - state.queue_length] = card
    tell(events, DiscatEvent.CARD_EXCHANGED, seat, 1 << seat, &card, 1)
    if is_empty(state.unknown):
        draw_from_queue(state, seat, DiscatEvent.EXCHANGE_DRAWN, events)
        refill(state, events)
    else:
        state.phase = EXCHANGE


# A turn: refill

cdef void refill(State* state, Events* events) noexcept nogil:
    while state.hand_size[state.active] < DEALT and draw_pile_size(state):
        if not is_empty(state.unknown):
            state.phase = REFILL
            return
        draw_from_queue(state, state.active, DiscatEvent.CARD_REFILLED, events)
    end_turn(state, events)


# Draw pile

cdef void draw_from_queue(State* state, int seat, DiscatEvent reason, Events* events) noexcept nogil:
    cdef uint8_t card = state.cards[LARGEST_CARD - 1]
    cdef int newest = LARGEST_CARD - state.queue_length
    if events != NULL:
        # Who put the card there knows it too.
        tell(events, reason, seat, 1 << seat | 1 << seat_of_exchange(state, state.queue_length), &card, 1)
    memmove(&state.cards[newest + 1], &state.cards[newest], state.queue_length - 1)
    state.cards[newest] = 0
    state.queue_length -= 1
    if state.redrawn_count == REDRAWN_KEPT:
        memmove(&state.redrawn[0], &state.redrawn[1], REDRAWN_KEPT - 1)
        state.redrawn_count -= 1
    state.redrawn[state.redrawn_count] = card
    state.redrawn_count += 1
    insert_card(state, seat, card)


cdef int seat_of_exchange(const State* state, int back) noexcept nogil:
    # Who made the exchange `back` exchanges ago (1: the latest).
    cdef int place = state.laid - 1
    cdef int owner = state.creator
    cdef int number
    while True:
        for number in range((state.passes[place] & 7) - 1, -1, -1):
            back -= state.passes[place] >> (3 + number) & 1
            if back == 0:
                return (owner + number + 1) % state.players
        place -= 1
        while not state.cards[place] & TOP:
            place -= 1
        owner = (owner + 2 * state.players - (state.passes[place] & 7) - 1) % state.players


cdef void draw_unknown(State* state, int card, Events* events) noexcept nogil:
    # The card that came, for the draw that is pending.
    cdef uint8_t drawn = card
    if state.phase == BONUS:
        insert_card(state, state.creator, card)
        state.bonus_drawn = 1
        tell(events, DiscatEvent.BONUS_CARD_DRAWN, state.creator, 1 << state.creator, &drawn, 1)
        begin_pass(state, events)
        return
    insert_card(state, state.active, card)
    tell(
        events,
        DiscatEvent.EXCHANGE_DRAWN if state.phase == EXCHANGE else DiscatEvent.CARD_REFILLED,
        state.active,
        1 << state.active,
        &drawn,
        1,
    )
    refill(state, events)


# End

cdef void end_turn(State* state, Events* events) noexcept nogil:
    if state.last_turns:
        state.last_turns -= 1
        if state.last_turns == 0:
            end_game(state, events)
            return
    elif state.hand_size[state.active] == 0 and draw_pile_size(state) == 0:
        state.last_turns = state.players - 1
        tell(events, DiscatEvent.LAST_TURNS_BEGUN, state.active, EVERYBODY, NULL, 0)
    state.active = next_seat(state, state.active)
    begin_turn(state, events)


cdef void end_game(State* state, Events* events) noexcept nogil:
    state.last_turns = 0
    state.phase = FINISHED
    tell(events, DiscatEvent.GAME_ENDED, -1, EVERYBODY, NULL, 0)


cdef int score(const State* state, int seat) noexcept nogil:
    return state.pile_count[seat] + 4 * state.bonus_count[seat] - state.hand_size[seat]


cdef void totals(const void* body, int32_t* totals) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef int seat
    for seat in range(state.players):
        totals[seat] = score(state, seat)


cdef void ranks(const void* body, uint8_t* ranks) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef int seat, other, lead
    for seat in range(state.players):
        ranks[seat] = 1
        for other in range(state.players):
            if state.group_winner != NO_SEAT:
                ranks[seat] += other == state.group_winner and other != seat
            else:
                lead = score(state, other) - score(state, seat)
                ranks[seat] += lead > 0 or (lead == 0 and state.bonus_count[other] > state.bonus_count[seat])


# Actions

cdef int actor(const void* body) noexcept nogil:
    cdef const State* state = <const State*> body
    if state.phase == PLAY or state.phase == PASS:
        return state.active
    return OVER if state.phase == FINISHED else CHANCE


cdef int legal_actions(const void* body, uint16_t* ids) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef const uint8_t* hand = state.hand[state.active]
    cdef int size = state.hand_size[state.active]
    cdef int count = 0, top, slot, others, tens, units, bit
    cdef int constraint = constraint_of(state)
    if state.phase == PASS:
        ids[0] = KEEP_ID
        if draw_pile_size(state) == 0:
            return 1
        for slot in range(size):
            ids[1 + slot] = FIRST_EXCHANGE_ID + slot
        return 1 + size
    for top in range(size):
        if constraint != 0 and not respects(state, constraint, hand[top]):
            continue
        # The other slots that share the top's tens digit, or its units digit, as the id's mask has them.
        tens = 0
        units = 0
        bit = 1
        for slot in range(size):
            if slot != top:
                if hand[slot] // 10 == hand[top] // 10:
                    tens |= bit
                if hand[slot] % 10 == hand[top] % 10:
                    units |= bit
                bit <<= 1
        if state.laid == 0:
            tens = units = 0
        for others in range((tens if tens > units else units) + 1):
            if others & ~tens == 0 or others & ~units == 0:
                ids[count] = top << 5 | others
                count += 1
    return count


cdef int apply(void* body, int action, Events* events) noexcept nogil:
    cdef State* state = <State*> body
    cdef int fault
    if state.phase == FINISHED:
        return GAME_IS_OVER
    if state.phase != PLAY and state.phase != PASS:
        return CHANCE_IS_PENDING  # uncovered: the core asks who acts first
    if action < 0 or action >= NUM_ACTIONS:
        return NO_SUCH_ACTION
    if action < PLAY_IDS:
        fault = forbids_play(state, action)
        if fault != OK:
            return fault
        play(state, action, events)
        return OK
    if state.phase == PLAY:
        return DiscatFault.PASSING_NOT_A_CHOICE
    if action == KEEP_ID:
        keep(state, events)
        return OK
    if action - FIRST_EXCHANGE_ID >= state.hand_size[state.active]:
        return DiscatFault.CARD_NOT_IN_HAND
    if draw_pile_size(state) == 0:
        return DiscatFault.DRAW_PILE_EMPTY
    exchange(state, action - FIRST_EXCHANGE_ID, events)
    return OK


cdef int chance_outcomes(const void* body, uint16_t* outcomes, uint32_t* weights) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef uint64_t cards
    cdef int count = 0, half
    if state.phase == FIRST_SEAT:
        for count in range(state.players):
            outcomes[count] = count
            weights[count] = 1
        return state.players
    for half in range(2):
        cards = state.unknown[half]
        while cards:
            outcomes[count] = 64 * half + __builtin_ctzll(cards)
            weights[count] = 1
            count += 1
            cards &= cards - 1
    return count


cdef int sample_outcome(const void* body, Stream* stream) noexcept nogil:
    cdef uint16_t outcomes[MAX_OUTCOMES]
    cdef uint32_t weights[MAX_OUTCOMES]
    cdef int count = chance_outcomes(body, outcomes, weights)
    return outcomes[walk_weights(stream, weights, count)]


cdef int apply_outcome(void* body, int outcome, Events* events) noexcept nogil:
    cdef State* state = <State*> body
    if state.phase == FINISHED:
        return GAME_IS_OVER  # uncovered: the core asks who acts first
    if state.phase == PLAY or state.phase == PASS:
        return NO_CHANCE_IS_PENDING  # uncovered: the core asks who acts first
    if state.phase == FIRST_SEAT:
        if outcome < 0 or outcome >= state.players:
            return NO_SUCH_OUTCOME
        state.first_seat = state.active = outcome
        state.phase = DEAL
        tell(events, DiscatEvent.FIRST_SEAT_CHOSEN, outcome, EVERYBODY, NULL, 0)
        return OK
    if outcome < 0 or outcome >= LARGEST_CARD or not has_card(state.unknown, outcome + 1):
        return NO_SUCH_OUTCOME
    take_card(state.unknown, outcome + 1)
    if state.phase == DEAL:
        deal(state, outcome + 1, events)
    else:
        draw_unknown(state, outcome + 1, events)
    return OK


# Public and hidden

cdef void view(const void* body, int seat, void* out) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef View* seen = <View*> out
    cdef State* shown = &seen.state
    cdef int other, slot, place, known
    memcpy(shown, state, sizeof(State))
    memset(shown.redrawn, 0, REDRAWN_KEPT)
    read_table(state, &seen.table)
    for other in range(state.players):
        if other == seat:
            continue
        memset(shown.hand[other], 0, LARGEST_HAND)
        known = 0
        for slot in range(state.hand_size[other]):
            if seat >= 0 and saw_drawn(state, &seen.table, seat, other, state.hand[other][slot]):
                shown.hand[other][known] = state.hand[other][slot]
                known += 1
            else:
                put_card(shown.unknown, state.hand[other][slot])
    for place in range(state.queue_length):
        if seen.table.queue_seat[place] != seat:
            put_card(shown.unknown, state.cards[LARGEST_CARD - 1 - place])
            shown.cards[LARGEST_CARD - 1 - place] = 0


cdef bint saw_drawn(const State* state, const Table* table, int seat, int other, int card) noexcept nogil:
    # Whether the seat put the card under the pile and saw the other draw it, and the other has put none there since.
    cdef int i
    for i in range(state.redrawn_count - 1, -1, -1):
        if state.redrawn[i] == card:
            return table.redraws[i].giver == seat and table.redraws[i].taker == other and table.redraws[i].surely_held
    return False


# Invariants

cdef int check(const void* body) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef int fault
    if state.players < 2 or state.players > 6:
        return DiscatFault.BAD_PLAYERS
    if state.phase >= PHASES:
        return DiscatFault.BAD_PHASE
    if state.first_seat_option != NO_SEAT and state.first_seat_option >= state.players:
        return DiscatFault.BAD_FIRST_SEAT
    if state.phase == FIRST_SEAT:
        if state.first_seat_option != NO_SEAT or state.first_seat != NO_SEAT:
            return DiscatFault.BAD_FIRST_SEAT
    elif state.first_seat >= state.players or (
        state.first_seat_option != NO_SEAT and state.first_seat_option != state.first_seat
    ):
        return DiscatFault.BAD_FIRST_SEAT
    if state.up_arrows[1] >> (LARGEST_CARD - 64):
        return DiscatFault.BAD_ARROWS
    if state.active >= state.players:
        return DiscatFault.BAD_ACTIVE_SEAT
    if state.bonus_drawn > 1 or state.turned >> state.players:
        return DiscatFault.BAD_TURNS
    if state.zero:
        return DiscatFault.NOT_ZERO
    fault = check_redrawn(state)
    if fault != OK:
        return fault
    fault = check_places(state)
    if fault == OK:
        fault = check_setup(state) if state.laid == 0 else check_turn(state)
    return fault


cdef int check_places(const State* state) noexcept nogil:
    # Every card of the used range is in exactly one place: the places' cards together are the range, and no more than it.
    cdef uint64_t low = state.unknown[0], high = state.unknown[1]
    cdef int used = cards_in_use(state.players)
    cdef int laid = state.laid, queued = state.queue_length
    cdef int seat, slot, size, place, filled = 0, total = count_cards(state.unknown) + laid + queued
    if laid > used:
        return DiscatFault.BAD_TURNS
    if laid + queued > used:
        return DiscatFault.BAD_QUEUE
    for seat in range(6):
        size = state.hand_size[seat]
        if size > LARGEST_HAND or (seat >= state.players and size > 0):
            return DiscatFault.BAD_HAND
        total += size
        for slot in range(size):
            if state.hand[seat][slot] > LARGEST_CARD or (slot and state.hand[seat][slot - 1] >= state.hand[seat][slot]):
                return DiscatFault.BAD_HAND
            add_to_set(&low, &high, state.hand[seat][slot])
        for slot in range(size, LARGEST_HAND):
            filled |= state.hand[seat][slot]
    for place in range(laid):
        add_to_set(&low, &high, state.cards[place] & CARD)
    for place in range(laid, LARGEST_CARD - queued):
        filled |= state.cards[place]
    if filled:
        return DiscatFault.NOT_ZERO
    for place in range(LARGEST_CARD - queued, LARGEST_CARD):
        if state.cards[place] & TOP:
            return DiscatFault.BAD_QUEUE
        add_to_set(&low, &high, state.cards[place])
    if total != used or low != ALL_BITS >> max(0, 64 - used) or high != (1 << max(0, used - 64)) - 1:
        return DiscatFault.CARD_TWICE_OR_MISSING
    return OK


cdef inline void add_to_set(uint64_t* low, uint64_t* high, int card) noexcept nogil:
    # Without a branch or a store; a number that is no card (0, or above 90) gets a bit that no card has.
    cdef uint64_t bit = <uint64_t> 1 << ((card - 1) & 63)
    low[0] |= bit if card <= 64 and card else 0
    high[0] |= 0 if card <= 64 and card else bit


cdef int check_redrawn(const State* state) noexcept nogil:
    cdef int i, filled = 0
    if state.redrawn_count > REDRAWN_KEPT:
        return DiscatFault.BAD_REDRAWN
    for i in range(state.redrawn_count):
        if state.redrawn[i] > cards_in_use(state.players):
            return DiscatFault.BAD_REDRAWN
    for i in range(state.redrawn_count, REDRAWN_KEPT):
        filled |= state.redrawn[i]
    if filled:
        return DiscatFault.NOT_ZERO
    return OK


cdef int check_setup(const State* state) noexcept nogil:
    # Before the first play.
    cdef int seat, extra, place
    if state.creator != NO_SEAT or state.bonus_drawn or state.turned:
        return DiscatFault.BAD_CREATOR
    if state.last_turns:
        return DiscatFault.BAD_LAST_TURNS
    if state.group_winner != NO_SEAT:
        return DiscatFault.BAD_WINNER
    if state.queue_length or state.redrawn_count:
        return DiscatFault.BAD_QUEUE
    for place in range(LARGEST_CARD):
        if state.passes[place]:
            return DiscatFault.BAD_TURNS
    for seat in range(6):
        if state.pile_count[seat] or state.bonus_count[seat]:
            return DiscatFault.BAD_COUNTS
    if state.phase == FIRST_SEAT:
        if count_cards(state.unknown) != cards_in_use(state.players) or state.active:
            return DiscatFault.BAD_HAND
        return OK
    if state.phase != DEAL and state.phase != PLAY:
        return DiscatFault.BAD_PHASE
    if state.phase == PLAY and state.active != state.first_seat:
        return DiscatFault.BAD_ACTIVE_SEAT
    # Round the table from the first seat to the active one, everybody has one card more than the rest.
    extra = 1
    seat = state.first_seat
    for place in range(state.players):
        if seat == state.active:
            extra = 0
        if state.hand_size[seat] != state.hand_size[state.active] + extra:
            return DiscatFault.BAD_HAND
        seat = next_seat(state, seat)
    if (state.hand_size[state.active] == DEALT) != (state.phase == PLAY) or state.hand_size[state.active] > DEALT:
        return DiscatFault.BAD_HAND
    return OK


cdef int check_history(const State* state, int* turned, int* exchanges) noexcept nogil:
    # The plays and passes make sense, and the counts are theirs.
    cdef int pile[6]
    cdef int bonus[6]
    cdef int players = state.players
    cdef int place, owner = state.first_seat, seat, group = 0, passes = 0, number, record
    memset(pile, 0, sizeof(pile))
    memset(bonus, 0, sizeof(bonus))
    turned[0] = 0
    exchanges[0] = 0
    if state.cards[state.laid - 1] & TOP == 0:
        return DiscatFault.BAD_TURNS
    for place in range(state.laid):
        record = state.passes[place]
        group += 1
        if state.cards[place] & TOP == 0:
            # A play's cards lie ascending, but for its top.
            if record or (group > 1 and state.cards[place - 1] >= state.cards[place]):
                return DiscatFault.BAD_TURNS
            continue
        if group > LARGEST_HAND or (group >= WINNING_GROUP) != (state.group_winner == owner and place == state.laid - 1):
            return DiscatFault.BAD_WINNER
        if group == BONUS_GROUP:
            bonus[owner] += 1
            group -= 1
        pile[owner] += group
        group = 0
        passes = record & 7
        if passes >= players or record >> (3 + passes):
            return DiscatFault.BAD_TURNS
        if passes and state.group_winner == owner and place == state.laid - 1:
            return DiscatFault.BAD_WINNER
        turned[0] &= ~(1 << owner)
        for number in range(passes):
            seat = owner + 1 + number
            seat -= players if seat >= players else 0
            turned[0] |= (pile[seat] > 0) << seat
            exchanges[0] += record >> (3 + number) & 1
        if place < state.laid - 1:
            owner += passes + 1
            owner -= players if owner >= players else 0
    if state.creator != owner:
        return DiscatFault.BAD_CREATOR
    for place in range(state.laid, LARGEST_CARD):
        if state.passes[place]:
            return DiscatFault.NOT_ZERO
    for seat in range(6):
        if state.pile_count[seat] != pile[seat] or state.bonus_count[seat] != bonus[seat]:
            return DiscatFault.BAD_COUNTS
    return OK


cdef int check_turn(const State* state) noexcept nogil:
    # From the first play on: the phase fits whose turn it is, what that seat holds and what the pile holds.
    cdef int players = state.players, phase = state.phase
    cdef int turned = 0, exchanges = 0, passes, since, seat, ender, constraint
    cdef bint unknown_left = not is_empty(state.unknown)
    cdef int fault
    if phase == FIRST_SEAT or phase == DEAL:
        return DiscatFault.BAD_PHASE
    fault = check_history(state, &turned, &exchanges)
    if fault != OK:
        return fault
    if exchanges < state.queue_length:
        return DiscatFault.BAD_QUEUE
    # What was put under the pile is there, or has been drawn; none is drawn before the unknown part is empty.
    if state.redrawn_count != min(exchanges - state.queue_length, <int> REDRAWN_KEPT) or (
        state.redrawn_count and unknown_left
    ):
        return DiscatFault.BAD_REDRAWN
    passes = passes_in_a_row(state)
    # Turns from the creator's to the active seat's.
    since = (state.active + players - state.creator) % players
    if phase == PLAY:
        if since != (passes + 1) % players:
            return DiscatFault.BAD_ACTIVE_SEAT
        if since == 0:
            turned |= (state.pile_count[state.active] > 0) << state.active
    elif phase == BONUS or phase == PASS:
        if passes > players - 2 or since != passes + 1:
            return DiscatFault.BAD_ACTIVE_SEAT
        if phase == PASS:
            turned |= (state.pile_count[state.active] > 0) << state.active
    elif since != passes:
        return DiscatFault.BAD_ACTIVE_SEAT
    if turned != state.turned:
        return DiscatFault.BAD_TURNS
    if phase == FINISHED:
        if state.group_winner == NO_SEAT and draw_pile_size(state):
            return DiscatFault.BAD_PHASE
        if state.last_turns:
            return DiscatFault.BAD_LAST_TURNS
        return OK
    if state.group_winner != NO_SEAT:
        return DiscatFault.BAD_WINNER
    if (not state.bonus_drawn and state.hand_size[state.creator] > DEALT) or (state.bonus_drawn and since == passes == 0):
        return DiscatFault.BAD_HAND
    if phase == PLAY or phase == BONUS or phase == PASS:
        constraint = state.cards[state.laid - 1] & CARD
        if since != 0 and can_respect(state, state.active, constraint) != (phase == PLAY):
            return DiscatFault.BAD_PHASE
        if phase == BONUS and (state.bonus_drawn or not unknown_left):
            return DiscatFault.BAD_PHASE
        if phase == PASS and not state.bonus_drawn and draw_pile_size(state):
            return DiscatFault.BAD_PHASE
    elif not unknown_left or state.hand_size[state.active] >= (LARGEST_HAND if phase == EXCHANGE else DEALT):
        return DiscatFault.BAD_PHASE
    elif phase == EXCHANGE and not state.passes[state.laid - 1] >> (2 + passes) & 1:
        return DiscatFault.BAD_PHASE
    if state.last_turns == 0:
        # A seat that has no card left has begun the last turns, or is about to draw.
        for seat in range(players):
            if state.hand_size[seat] == 0 and (seat != state.active or (phase != EXCHANGE and phase != REFILL)):
                return DiscatFault.BAD_LAST_TURNS
        return OK
    if state.last_turns >= players or draw_pile_size(state) or since == 0 or since + state.last_turns > players:
        return DiscatFault.BAD_LAST_TURNS
    ender = (state.active + state.last_turns) % players
    if state.hand_size[ender] != 0:
        return DiscatFault.BAD_LAST_TURNS
    return OK


cdef Operations operations = Operations(
    number=1,
    rules_version=1,
    body_size=sizeof(State),
    view_size=sizeof(View),
    num_actions=NUM_ACTIONS,
    observation_length=OBSERVATION_LENGTH,
    min_players=2,
    max_players=6,
    start=start,
    actor=actor,
    legal_actions=legal_actions,
    apply=apply,
    chance_outcomes=chance_outcomes,
    sample_outcome=sample_outcome,
    apply_outcome=apply_outcome,
    totals=totals,
    ranks=ranks,
    view=view,
    observe=observe,
    resample=resample,
    check=check,
)

OPERATIONS = wrap_operations(&operations)
