"""Momistigri: the rules (rules file: momistigri.md; the sections below follow its headings)."""

from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.math cimport sqrtf
from libc.string cimport memcpy, memset

from chatiere.engine.core.game cimport (
    CHANCE,
    CHANCE_IS_PENDING,
    EVERYBODY,
    GAME_IS_OVER,
    MAX_EVENT_VALUES,
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
from chatiere.engine.core.stream cimport Stream, number_below, walk_weights
from chatiere.engine.core.weights cimport reduce_weights
from chatiere.engine.games.momistigri.cards cimport (
    KINDS,
    MOMISTIGRI,
    MOMISTIGRI_PLACE,
    VALUES,
    bit,
    bits_of,
    count_cards,
    has_single,
    lay_out,
    lowest,
    nth_card,
    one_fewer_of_each,
    running_counts,
    with_card,
    without_card,
)
from chatiere.engine.games.momistigri.hidden cimport (
    forget_ones,
    hand_over,
    lay_down,
    resample,
    show_no_ones,
    take_up,
)
from chatiere.engine.games.momistigri.invariants cimport check
from chatiere.engine.games.momistigri.observation cimport OBSERVATION_LENGTH, observe
from chatiere.engine.games.momistigri.state cimport (
    AGAIN,
    CHOICE,
    CHOSEN,
    DEAL,
    DISCARD,
    DRAW,
    FINISHED,
    FIRST_GIVE_ID,
    FIRST_HAND_OUT_ID,
    FIRST_NAME_ID,
    FIRST_SEAT,
    FIRST_SWAP_IN_ID,
    FIRST_SWAP_OUT_ID,
    GIVE,
    HAND_OUT,
    LAST_TURN,
    MAIN_ID,
    MOST_PLAYERS,
    NAME,
    NO_MARK,
    NO_SEAT,
    NUM_ACTIONS,
    PASS_ID,
    PUBLIC,
    REVERSE_ID,
    ROUNDS,
    STOP_ID,
    SWAP,
    SWAP_IN,
    SWAP_OUT,
    THREE,
    TWO,
    MomistigriEvent,
    MomistigriFault,
    Options,
    State,
    View,
    count_fewest,
    deck,
    decider,
    drawn_from,
    next_seat,
    penalty_so_far,
    seat_beside,
    sum_of,
    value_of,
)


cdef void tell(Events* events, MomistigriEvent kind, int seat) noexcept nogil:
    # Something that everybody may see, without a value.
    add_event(events, kind, seat, EVERYBODY, NULL, 0)


cdef void tell_value(Events* events, MomistigriEvent kind, int seat, int seen_by, uint16_t value) noexcept nogil:
    add_event(events, kind, seat, seen_by, &value, 1)


# Components and setup

cdef void start(void* body, int players, const void* options) noexcept nogil:
    cdef State* state = <State*> body
    cdef const Options* chosen = <const Options*> options
    memset(state, 0, sizeof(State))
    state.players = players
    state.first_seat_option = chosen.first_seat
    state.first_seat = chosen.first_seat
    lay_out(&state.box, chosen.copies)
    state.in_round = (1 << players) - 1
    state.undealt = deck(state)
    if state.first_seat == NO_SEAT:
        state.phase = FIRST_SEAT
    else:
        state.phase = DEAL
        state.active = state.first_seat


cdef void begin_round(State* state, int first_seat, Events* events) noexcept nogil:
    memset(state.hands, 0, sizeof(state.hands))
    state.pile = 0
    state.undealt = deck(state)
    state.first_seat = state.active = first_seat
    state.phase = DEAL
    state.turn = 0
    state.backwards = 0
    state.in_round = (1 << state.players) - 1
    state.passed = 0
    tell_value(events, MomistigriEvent.ROUND_BEGUN, first_seat, EVERYBODY, state.round + 1)


cdef void deal(State* state, int kind, Events* events) noexcept nogil:
    cdef uint64_t bits = bits_of(&state.box, kind)
    cdef int seat = state.active
    state.undealt = without_card(state.undealt, bits)
    state.hands[seat] = with_card(state.hands[seat], bits)
    tell_value(events, MomistigriEvent.CARD_DEALT, seat, 1 << seat, kind)
    if state.undealt == 0:
        state.active = state.first_seat
        begin_turn(state, NO_MARK, 0, events)
    elif state.undealt & (state.undealt - 1):
        state.active = next_seat(state, seat)
    # Else the one card left is the first seat's right neighbour's, who got the last.


# A turn

cdef void begin_turn(State* state, int mark, int named, Events* events) noexcept nogil:
    # `mark`: what the previous seat, if it is still in the round, left pending; `named`: the chosen card.
    cdef int previous = drawn_from(state)
    cdef int wanted = 2 if mark == TWO else 3 if mark == THREE else 1
    cdef uint16_t values[2]
    state.turn += 1
    values[0] = previous
    values[1] = wanted if wanted == 1 else min(wanted, count_cards(state.hands[previous]))
    add_event(events, MomistigriEvent.TURN_BEGUN, state.active, EVERYBODY, values, 2)
    if mark == CHOSEN:
        draw(state, named, events)
        end_draw(state, NO_MARK, events)
    else:
        state.phase = DRAW
        state.mark = mark
        state.draws_left = values[1]


cdef void draw(State* state, int kind, Events* events) noexcept nogil:
    cdef int previous = drawn_from(state)
    hand_over(state, previous, state.active, kind)
    tell_value(events, MomistigriEvent.CARD_DRAWN, state.active, 1 << previous | 1 << state.active, kind)


cdef void end_draw(State* state, int mark, Events* events) noexcept nogil:
    cdef int previous = drawn_from(state)
    state.mark = NO_MARK
    if state.hands[previous] == 0:
        leave(state, previous, events)
        state.phase = DISCARD
    else:
        state.phase = SWAP_OUT if mark == SWAP else DISCARD


cdef void leave(State* state, int seat, Events* events) noexcept nogil:
    state.in_round &= ~(1 << seat)
    state.passed &= ~(1 << seat)
    forget_ones(state, seat)
    tell(events, MomistigriEvent.SEAT_LEFT, seat)


cdef void swap_out(State* state, int kind, Events* events) noexcept nogil:
    cdef int seat = drawn_from(state)
    lay_down(state, seat, kind)
    state.swapped_out = 1 + kind
    state.phase = SWAP_IN
    tell_value(events, MomistigriEvent.CARD_SWAPPED_OUT, seat, EVERYBODY, kind)


cdef void swap_in(State* state, int kind, Events* events) noexcept nogil:
    cdef int seat = drawn_from(state)
    take_up(state, seat, kind)
    state.swapped_out = 0
    state.phase = DISCARD
    tell_value(events, MomistigriEvent.CARD_SWAPPED_IN, seat, EVERYBODY, kind)


cdef void discard_pair(State* state, int low, int high, Events* events) noexcept nogil:
    cdef uint16_t pair[2]
    pair[0] = low
    pair[1] = high
    lay_down(state, state.active, low)
    lay_down(state, state.active, high)
    state.passed &= ~(1 << state.active)
    add_event(events, MomistigriEvent.PAIR_DISCARDED, state.active, EVERYBODY, pair, 2)
    if value_of(low) == value_of(high):
        begin_effect(state, value_of(low), events)
    else:
        end_turn(state, NO_MARK, 0, events)


cdef void pass_turn(State* state, Events* events) noexcept nogil:
    state.passed |= 1 << state.active
    tell(events, MomistigriEvent.PASSED, state.active)
    # A seat alone in the round ends it as such.
    if state.in_round & ~state.passed == 0 and state.in_round != 1 << state.active:
        end_round(state, MomistigriEvent.ALL_PASSED, events)
    else:
        end_turn(state, NO_MARK, 0, events)


cdef void end_turn(State* state, int mark, int named, Events* events) noexcept nogil:
    if state.hands[state.active] == 0:
        leave(state, state.active, events)
    if state.in_round & (state.in_round - 1) == 0:
        end_round(state, MomistigriEvent.ONE_SEAT_LEFT, events)
    elif state.turn == LAST_TURN:
        end_round(state, MomistigriEvent.TURN_LIMIT_REACHED, events)
    else:
        state.active = seat_beside(state, state.active, False)
        begin_turn(state, mark, named, events)


# Effects of a pair of one value

cdef bint has_target(const State* state) noexcept nogil:
    # Somebody else is in the round.
    return state.in_round != 1 << state.active


cdef void begin_effect(State* state, int value, Events* events) noexcept nogil:
    if value <= 3:
        state.effect = value
        state.phase = CHOICE
    elif value == 4 and has_target(state) and state.hands[state.active]:
        state.phase = GIVE
    elif value == 5 and has_target(state):
        state.receiver = seat_beside(state, state.active, False)
        state.phase = HAND_OUT
    elif value == 6:
        state.phase = AGAIN
    elif value == 7:
        leave_mark(state, TWO, MomistigriEvent.TWO_PENDING, events)
    elif value == 8:
        leave_mark(state, THREE, MomistigriEvent.THREE_PENDING, events)
    else:
        end_turn(state, NO_MARK, 0, events)


cdef void leave_mark(State* state, int mark, MomistigriEvent pending, Events* events) noexcept nogil:
    if state.hands[state.active] and has_target(state):
        tell(events, pending, state.active)
    else:
        mark = NO_MARK
    end_turn(state, mark, 0, events)


cdef void use_main_effect(State* state, Events* events) noexcept nogil:
    cdef int effect = state.effect
    state.effect = 0
    if effect == 1:
        discard_ones(state, events)
    elif effect == 3:
        leave_mark(state, SWAP, MomistigriEvent.SWAP_PENDING, events)
    elif state.hands[state.active] and has_target(state):
        state.phase = NAME
    else:
        end_turn(state, NO_MARK, 0, events)


cdef void discard_ones(State* state, Events* events) noexcept nogil:
    cdef uint64_t left = state.hands[state.active] & state.box.of_value[0]
    cdef uint16_t ones[MAX_EVENT_VALUES]
    cdef int seat = state.active, count = 0
    while left:
        # Two 1s of nine lie in the pile: at most seven.
        ones[count] = state.box.kind_at[lowest(left)]
        lay_down(state, seat, ones[count])
        count += 1
        left &= left - 1
    show_no_ones(state, seat)
    add_event(events, MomistigriEvent.ONES_DISCARDED, seat, EVERYBODY, ones, count)
    end_turn(state, NO_MARK, 0, events)


cdef void reverse(State* state, Events* events) noexcept nogil:
    state.effect = 0
    state.backwards ^= 1
    tell(events, MomistigriEvent.DIRECTION_REVERSED, state.active)
    end_turn(state, NO_MARK, 0, events)


cdef void stop(State* state, Events* events) noexcept nogil:
    # Take no further pair.
    tell(events, MomistigriEvent.STOPPED, state.active)
    end_turn(state, NO_MARK, 0, events)


cdef void name_card(State* state, int kind, Events* events) noexcept nogil:
    tell_value(events, MomistigriEvent.CARD_NAMED, state.active, 1 << state.active, kind)
    end_turn(state, CHOSEN, kind, events)


cdef void give(State* state, int receiver, int kind, Events* events) noexcept nogil:
    hand_over(state, state.active, receiver, kind)
    tell_value(events, MomistigriEvent.CARD_GIVEN, state.active, 1 << state.active | 1 << receiver, kind)
    end_turn(state, NO_MARK, 0, events)


cdef void hand_out(State* state, int kind, Events* events) noexcept nogil:
    cdef uint16_t values[2]
    values[0] = kind
    values[1] = state.active
    take_up(state, state.receiver, kind)
    add_event(events, MomistigriEvent.CARD_HANDED_OUT, state.receiver, EVERYBODY, values, 2)
    state.receiver = seat_beside(state, state.receiver, False)
    if state.receiver == state.active or state.pile == 0:
        state.receiver = 0
        end_turn(state, NO_MARK, 0, events)


# End of a round

cdef void end_round(State* state, MomistigriEvent reason, Events* events) noexcept nogil:
    cdef int seat
    tell(events, reason, -1)
    for seat in range(state.players):
        show_hand(state, seat, events)
        state.penalties[state.round][seat] = sum_of(state, state.hands[seat])
        tell_value(events, MomistigriEvent.PENALTY_TAKEN, seat, EVERYBODY, state.penalties[state.round][seat])
    memset(state.known, 0, sizeof(state.known))
    memset(state.most_ones, 0, sizeof(state.most_ones))
    if state.round == ROUNDS - 1 or (state.round == 1 and count_fewest(state, 2) == 1):
        state.phase = FINISHED
        tell(events, MomistigriEvent.GAME_ENDED, -1)
    else:
        state.round += 1
        begin_round(state, most_penalised(state), events)


cdef void show_hand(const State* state, int seat, Events* events) noexcept nogil:
    # Laid open to be counted.
    cdef uint16_t cards[MAX_EVENT_VALUES]
    cdef uint64_t left = state.hands[seat]
    cdef int count
    while left:
        count = 0
        while count < MAX_EVENT_VALUES and left:
            cards[count] = state.box.kind_at[lowest(left)]
            count += 1
            left &= left - 1
        add_event(events, MomistigriEvent.HAND_SHOWN, seat, EVERYBODY, cards, count)


cdef int most_penalised(const State* state) noexcept nogil:
    # If tied the one met first clockwise from the last round's first seat.
    cdef int seat = state.first_seat, most = seat, i
    for i in range(1, state.players):
        seat = next_seat(state, seat)
        if penalty_so_far(state, seat) > penalty_so_far(state, most):
            most = seat
    return most


# End of the game

cdef void totals(const void* body, int32_t* totals) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef int seat
    for seat in range(state.players):
        totals[seat] = penalty_so_far(state, seat)
        if state.phase != FINISHED:
            totals[seat] += sum_of(state, state.hands[seat])


cdef void ranks(const void* body, uint8_t* ranks) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef int seat, other
    for seat in range(state.players):
        ranks[seat] = 1
        for other in range(state.players):
            ranks[seat] += penalty_so_far(state, other) < penalty_so_far(state, seat)


# Actions

cdef void cards_of_pair(int action, int* low, int* high) noexcept nogil:
    # Of a DiscardPair's id, high * (high + 1) / 2 + low. At low = 0 the root is 2 * high + 1, exactly.
    cdef int b = (<unsigned int> sqrtf(8 * action + 1) - 1) // 2
    high[0] = b
    low[0] = action - b * (b + 1) // 2


cdef bint form_pair(int low, int high) noexcept nogil:
    # One value, or one colour; the Momistigri never pairs.
    return low != MOMISTIGRI and high != MOMISTIGRI and (
        low // VALUES == high // VALUES or low % VALUES == high % VALUES
    )


cdef int actor(const void* body) noexcept nogil:
    cdef const State* state = <const State*> body
    if state.phase <= DRAW:
        return CHANCE
    return OVER if state.phase == FINISHED else decider(state)


cdef int list_kinds(const State* state, uint64_t cards, int first_id, uint16_t* ids) noexcept nogil:
    # An id for each kind that there is.
    cdef uint64_t left = cards & state.box.firsts
    cdef int count = 0
    while left:
        ids[count] = first_id + state.box.kind_at[lowest(left)]
        count += 1
        left &= left - 1
    return count


cdef int list_pairs(const State* state, uint16_t* ids) noexcept nogil:
    # For each kind, as the higher one, the lower ones of its colour and of its value, and a second card of its own.
    cdef uint64_t hand = state.hands[state.active], firsts = hand & state.box.firsts
    cdef uint64_t left = firsts & ~bit(MOMISTIGRI_PLACE)
    cdef uint64_t seconds = one_fewer_of_each(&state.box, hand), first, partners
    cdef unsigned int kind, value
    cdef int count = 0, base, i
    while left:
        first = left & -left
        left ^= first
        kind = state.box.kind_at[lowest(first)]
        value = kind % VALUES
        base = kind * (kind + 1) // 2
        partners = firsts & (first - bit(state.box.first_at[kind - value]))
        partners |= firsts & (first - 1) & state.box.of_value[value]
        partners |= seconds & first
        # Most have few: these are written down without asking how many there are.
        for i in range(2):
            ids[count] = base + state.box.kind_at[lowest(partners | bit(MOMISTIGRI_PLACE))]
            count += partners != 0
            partners &= partners - 1
        while partners:
            ids[count] = base + state.box.kind_at[lowest(partners)]
            count += 1
            partners &= partners - 1
    return count


cdef int legal_actions(const void* body, uint16_t* ids) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef int phase = state.phase, count = 0, seat
    if phase == DISCARD or phase == AGAIN:
        count = list_pairs(state, ids)
        ids[count] = PASS_ID if phase == DISCARD else STOP_ID
        return count + 1
    if phase == CHOICE:
        ids[0] = MAIN_ID
        ids[1] = REVERSE_ID
        return 2
    if phase == NAME:
        return list_kinds(state, state.hands[state.active], FIRST_NAME_ID, ids)
    if phase == GIVE:
        for seat in range(state.players):
            if seat != state.active and state.in_round >> seat & 1:
                count += list_kinds(
                    state, state.hands[state.active], FIRST_GIVE_ID + KINDS * seat, &ids[count]
                )
        return count
    if phase == HAND_OUT:
        return list_kinds(state, state.pile, FIRST_HAND_OUT_ID, ids)
    if phase == SWAP_OUT:
        return list_kinds(state, state.hands[drawn_from(state)], FIRST_SWAP_OUT_ID, ids)
    return list_kinds(state, pile_before_swap(state), FIRST_SWAP_IN_ID, ids)


cdef uint64_t pile_before_swap(const State* state) noexcept nogil:
    # Without the card just discarded.
    return without_card(state.pile, bits_of(&state.box, state.swapped_out - 1))


cdef int forbids_phase(const State* state, int phase, MomistigriFault not_now) noexcept nogil:
    if state.phase != phase:
        return not_now
    return OK


cdef int forbids_pair(const State* state, int low, int high) noexcept nogil:
    cdef uint64_t hand = state.hands[state.active], rest = without_card(hand, bits_of(&state.box, low))
    if state.phase != DISCARD and state.phase != AGAIN:
        return MomistigriFault.NO_PAIR_NOW
    if hand == rest or rest & bits_of(&state.box, high) == 0:
        return MomistigriFault.CARD_NOT_IN_HAND
    if not form_pair(low, high):
        return MomistigriFault.NOT_A_PAIR
    return OK


cdef int forbids_card(
    const State* state, int kind, uint64_t cards, int phase, MomistigriFault not_now, MomistigriFault not_there
) noexcept nogil:
    # An action of that phase, with one of the cards of a hand or of the pile.
    if state.phase != phase:
        return not_now
    if cards & bits_of(&state.box, kind) == 0:
        return not_there
    return OK


cdef int forbids_naming(const State* state, int kind) noexcept nogil:
    return forbids_card(
        state,
        kind,
        state.hands[state.active],
        NAME,
        MomistigriFault.NO_NAMING_NOW,
        MomistigriFault.CARD_NOT_IN_HAND,
    )


cdef int forbids_gift(const State* state, int seat, int kind) noexcept nogil:
    cdef int fault = forbids_card(
        state,
        kind,
        state.hands[state.active],
        GIVE,
        MomistigriFault.NO_GIVING_NOW,
        MomistigriFault.CARD_NOT_IN_HAND,
    )
    if fault == OK and (seat == state.active or not state.in_round >> seat & 1):
        return MomistigriFault.SEAT_NOT_ELIGIBLE
    return fault


cdef int forbids_handing_out(const State* state, int kind) noexcept nogil:
    return forbids_card(
        state, kind, state.pile, HAND_OUT, MomistigriFault.NO_HANDING_OUT_NOW, MomistigriFault.CARD_NOT_IN_PILE
    )


cdef int forbids_swapping_out(const State* state, int kind) noexcept nogil:
    return forbids_card(
        state,
        kind,
        state.hands[drawn_from(state)],
        SWAP_OUT,
        MomistigriFault.NO_SWAPPING_OUT_NOW,
        MomistigriFault.CARD_NOT_IN_HAND,
    )


cdef int forbids_swapping_in(const State* state, int kind) noexcept nogil:
    cdef int fault = forbids_card(
        state, kind, state.pile, SWAP_IN, MomistigriFault.NO_SWAPPING_IN_NOW, MomistigriFault.CARD_NOT_IN_PILE
    )
    if fault == OK and pile_before_swap(state) & bits_of(&state.box, kind) == 0:
        return MomistigriFault.CARD_JUST_SWAPPED_OUT
    return fault


cdef int apply(void* body, int action, Events* events) noexcept nogil:
    cdef State* state = <State*> body
    cdef int low, high, seat, kind, fault
    if state.phase == FINISHED:
        return GAME_IS_OVER
    if state.phase <= DRAW:
        return CHANCE_IS_PENDING  # uncovered: Position asks who acts, and calls the other function then
    if action < 0 or action >= NUM_ACTIONS:
        return NO_SUCH_ACTION
    if action < PASS_ID:
        cards_of_pair(action, &low, &high)
        fault = forbids_pair(state, low, high)
        if fault == OK:
            discard_pair(state, low, high, events)
    elif action == PASS_ID:
        fault = forbids_phase(state, DISCARD, MomistigriFault.NO_PASS_NOW)
        if fault == OK:
            pass_turn(state, events)
    elif action == STOP_ID:
        fault = forbids_phase(state, AGAIN, MomistigriFault.NO_STOP_NOW)
        if fault == OK:
            stop(state, events)
    elif action == MAIN_ID:
        fault = forbids_phase(state, CHOICE, MomistigriFault.NO_CHOICE_NOW)
        if fault == OK:
            use_main_effect(state, events)
    elif action == REVERSE_ID:
        fault = forbids_phase(state, CHOICE, MomistigriFault.NO_CHOICE_NOW)
        if fault == OK:
            reverse(state, events)
    elif action < FIRST_GIVE_ID:
        kind = action - FIRST_NAME_ID
        fault = forbids_naming(state, kind)
        if fault == OK:
            name_card(state, kind, events)
    elif action < FIRST_HAND_OUT_ID:
        seat = (action - FIRST_GIVE_ID) // KINDS
        kind = (action - FIRST_GIVE_ID) % KINDS
        fault = forbids_gift(state, seat, kind)
        if fault == OK:
            give(state, seat, kind, events)
    elif action < FIRST_SWAP_OUT_ID:
        kind = action - FIRST_HAND_OUT_ID
        fault = forbids_handing_out(state, kind)
        if fault == OK:
            hand_out(state, kind, events)
    elif action < FIRST_SWAP_IN_ID:
        kind = action - FIRST_SWAP_OUT_ID
        fault = forbids_swapping_out(state, kind)
        if fault == OK:
            swap_out(state, kind, events)
    else:
        kind = action - FIRST_SWAP_IN_ID
        fault = forbids_swapping_in(state, kind)
        if fault == OK:
            swap_in(state, kind, events)
    return fault


cdef inline uint64_t cards_that_can_come(const State* state) noexcept nogil:
    # At a deal or draw.
    return state.undealt if state.phase == DEAL else state.hands[drawn_from(state)]


cdef int chance_outcomes(const void* body, uint16_t* outcomes, uint32_t* weights) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef uint64_t left
    cdef int count = 0, kind, i
    if state.phase == FIRST_SEAT:
        for i in range(state.players):
            outcomes[i] = i
            weights[i] = 1
        return state.players
    left = cards_that_can_come(state)
    while left:
        kind = state.box.kind_at[lowest(left)]
        outcomes[count] = kind
        weights[count] = count_cards(left & bits_of(&state.box, kind))
        left &= ~bits_of(&state.box, kind)
        count += 1
    reduce_weights(weights, count)
    return count


cdef int sample_outcome(const void* body, Stream* stream) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef uint16_t outcomes[MAX_OUTCOMES]
    cdef uint32_t weights[MAX_OUTCOMES]
    cdef uint64_t cards, counts
    cdef int count
    if state.phase == FIRST_SEAT:
        return number_below(stream, state.players)
    cards = cards_that_can_come(state)
    if has_single(&state.box, cards):
        # The smallest whole weights are the numbers of cards.
        counts = running_counts(cards)
        return state.box.kind_at[nth_card(cards, counts, number_below(stream, counts >> 56))]
    count = chance_outcomes(body, outcomes, weights)
    return outcomes[walk_weights(stream, weights, count)]


cdef int apply_outcome(void* body, int outcome, Events* events) noexcept nogil:
    cdef State* state = <State*> body
    if state.phase == FINISHED:
        return GAME_IS_OVER  # uncovered: Position asks who acts, and calls the other function then
    if state.phase > DRAW:
        return NO_CHANCE_IS_PENDING  # uncovered: Position asks who acts, and calls the other function then
    if state.phase == FIRST_SEAT:
        if outcome < 0 or outcome >= state.players:
            return NO_SUCH_OUTCOME
        tell(events, MomistigriEvent.FIRST_SEAT_CHOSEN, outcome)
        state.first_seat = state.active = outcome
        state.phase = DEAL
        return OK
    if outcome < 0 or outcome >= KINDS or cards_that_can_come(state) & bits_of(&state.box, outcome) == 0:
        return NO_SUCH_OUTCOME
    if state.phase == DEAL:
        deal(state, outcome, events)
        return OK
    draw(state, outcome, events)
    state.draws_left -= 1
    if state.draws_left == 0:
        end_draw(state, state.mark, events)
    return OK


# Public and hidden

cdef void view(const void* body, int seat, void* out) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef View* seen = <View*> out
    cdef State* shown = &seen.state
    cdef int knower = seat if seat >= 0 else PUBLIC
    cdef int other
    memcpy(shown, state, sizeof(State))
    memset(shown.most_ones, 0, sizeof(shown.most_ones))
    memset(shown.known, 0, sizeof(shown.known))
    shown.undealt = 0
    memset(seen.unseen, 0, sizeof(seen.unseen))
    count_kinds(state, deck(state), 1, seen.unseen)
    count_kinds(state, state.pile, -1, seen.unseen)
    for other in range(MOST_PLAYERS):
        if state.phase != FINISHED and other != seat:
            shown.hands[other] = state.known[other][knower]
        count_kinds(state, shown.hands[other], -1, seen.unseen)
        seen.sizes[other] = count_cards(state.hands[other])
        seen.most_ones[other] = state.most_ones[other][knower]


cdef void count_kinds(const State* state, uint64_t cards, int step, uint8_t* counts) noexcept nogil:
    while cards:
        counts[state.box.kind_at[lowest(cards)]] += step
        cards &= cards - 1


cdef Operations operations = Operations(
    number=3,
    rules_version=1,
    body_size=sizeof(State),
    view_size=sizeof(View),
    num_actions=NUM_ACTIONS,
    observation_length=OBSERVATION_LENGTH,
    min_players=3,
    max_players=MOST_PLAYERS,
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
