"""Momistigri: the rules. The sections follow the headings of the rules file, momistigri.md."""

from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcmp, memset

from .policy import PLAYOUT_WEIGHTS, pack_weights

from chatiere.engine.core.clearing cimport clear
from chatiere.engine.core.game cimport wrap_operations
from chatiere.engine.core.operations cimport (
    CHANCE, CHANCE_IS_PENDING, EVERYBODY, GAME_IS_OVER, MAX_EVENT_VALUES, MAX_OUTCOMES, NO_CHANCE_IS_PENDING, NO_SEAT,
    NO_SUCH_ACTION, NO_SUCH_OUTCOME, OK, TERMINAL, Events, Limits, Operations, add_event, debug_assert, seat_at,
)
from chatiere.engine.core.stream cimport Stream, number_below, walk_weights
from chatiere.engine.core.weights cimport reduce_weights
from .state cimport (
    AGAIN, CHOICE, COLOURED, COLOURS, DEAL, DEALT, DISCARD, DRAW, FEWEST_PLAYERS, FINISHED, FIRST_GIVE_ID,
    FIRST_HAND_OUT_ID, FIRST_NAME_ID, FIRST_SEAT, FIRST_SWAP_IN_ID, FIRST_SWAP_OUT_ID, GIVE, HAND_OUT, KINDS,
    LAST_CHOICE, LAST_TURN, MAIN_ID, MAX_PLAYERS, MOMISTIGRI, MOMISTIGRI_PLACE, NAME, NO_MARK, NUM_ACTIONS, PARTNERS,
    PASS_ID, PUBLIC, REVERSE_ID, ROUNDS, STOP_ID, SWAP, SWAP_IN, SWAP_OUT, THREE, TWO, USUAL_BOX, VALUES, Box,
    MomistigriEnd, MomistigriEvent, MomistigriFault, Options, RoundEnd, State, View, bit, bits_of, box_of,
    cards_in_hands, cards_of_pair, count_cards, count_fewest, decider, deck_for, distance_of_gift, drawn_from,
    first_cards, further_cards, has_single, id_of_gift, kind_of_gift, kinds_in, lay_out, lowest, next_seat, nth_card,
    of_value, penalty_so_far, pile_of, running_counts, same_kind, seat_beside, sum_of, to_first_places, value_of,
)
from .hidden cimport (
    forget_ones, hand_over, lay_down, lay_down_pair, order_by_holder, put_in, resample, show_no_ones, take_up,
)
from .invariants cimport check
from .observation cimport OBSERVATION_LENGTH, observe
from .policy cimport WEIGHTS, advise


cdef void log_event(Events* events, MomistigriEvent kind, int seat) noexcept nogil:
    # Log an event without values, visible to all seats.
    add_event(events, kind, seat, EVERYBODY, NULL, 0)


cdef void log_value(Events* events, MomistigriEvent kind, int seat, int seen_by, uint16_t value) noexcept nogil:
    add_event(events, kind, seat, seen_by, &value, 1)


# Components and setup

cdef void start(void* body, int players, int rules_version, const void* options) noexcept nogil:
    cdef State* state = <State*> body
    cdef const Options* chosen = <const Options*> options
    clear(state, sizeof(State))
    state.players = players
    state.rules_version = rules_version
    state.first_seat_option = chosen.first_seat
    state.first_seat = chosen.first_seat
    note_copies(state, chosen.copies)
    state.left = deck_for(box_of(state), players)
    state.in_round = (1 << players) - 1
    if state.first_seat == NO_SEAT:
        state.phase = FIRST_SEAT
    else:
        state.phase = DEAL
        state.active = state.first_seat


cdef void note_copies(State* state, const uint8_t* copies) noexcept nogil:
    lay_out(&state.box, copies)
    if memcmp(&state.box, &USUAL_BOX, sizeof(Box)) == 0:
        memset(&state.box, 0, sizeof(Box))


cdef void begin_round(State* state, int first_seat, Events* events) noexcept nogil:
    state.left |= cards_in_hands(state)
    memset(state.hands, 0, sizeof(state.hands))
    state.first_seat = state.active = first_seat
    state.phase = DEAL
    state.turn = 0
    state.backwards = 0
    state.in_round = (1 << state.players) - 1
    state.passed = 0
    log_value(events, MomistigriEvent.ROUND_BEGUN, first_seat, EVERYBODY, state.round + 1)


cdef void deal(State* state, const Box* box, int kind, Events* events) noexcept nogil:
    cdef int seat = state.active
    put_in(state, seat, bits_of(box, kind))
    log_value(events, MomistigriEvent.CARD_DEALT, seat, 1 << seat, kind)
    if state.left == 0:
        state.active = state.first_seat
        begin_turn(state, NO_MARK, events)
    elif state.left & (state.left - 1):
        state.active = next_seat(state, seat)
    # If one card is left, it is dealt to the same seat again. This seat is the first seat's right neighbour.


# A turn

cdef void begin_turn(State* state, int mark, Events* events) noexcept nogil:
    # Begin a turn. `mark` is the mark that the previous seat left, if that seat is still in the round.
    cdef int wanted = 2 if mark == TWO else 3 if mark == THREE else 1
    cdef uint16_t values[2]
    state.turn += 1
    if wanted > 1:
        wanted = min(wanted, count_cards(state.hands[drawn_from(state)]))
    if events != NULL:
        values[0] = drawn_from(state)
        values[1] = wanted
        add_event(events, MomistigriEvent.TURN_BEGUN, state.active, EVERYBODY, values, 2)
    state.phase = DRAW
    state.mark = mark
    state.draws_left = wanted


cdef void draw(
    State* state, const Box* box, int previous, int kind, uint64_t kind_bits, Events* events
) noexcept nogil:
    hand_over(state, box, previous, state.active, kind, kind_bits)
    log_value(events, MomistigriEvent.CARD_DRAWN, state.active, 1 << previous | 1 << state.active, kind)
    state.draws_left -= 1
    if state.draws_left == 0:
        end_draw(state, previous, state.mark, events)


cdef void end_draw(State* state, int previous, int mark, Events* events) noexcept nogil:
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
    log_event(events, MomistigriEvent.SEAT_LEFT, seat)


cdef void swap_out(State* state, const Box* box, int kind, Events* events) noexcept nogil:
    cdef int seat = drawn_from(state)
    lay_down(state, seat, kind, bits_of(box, kind))
    state.swapped_out = 1 + kind
    state.phase = SWAP_IN
    log_value(events, MomistigriEvent.CARD_SWAPPED_OUT, seat, EVERYBODY, kind)


cdef void swap_in(State* state, const Box* box, int kind, Events* events) noexcept nogil:
    cdef int seat = drawn_from(state)
    take_up(state, seat, kind, bits_of(box, kind))
    state.swapped_out = 0
    state.phase = DISCARD
    log_value(events, MomistigriEvent.CARD_SWAPPED_IN, seat, EVERYBODY, kind)


cdef void discard_pair(
    State* state, const Box* box, int low, int high, uint64_t low_bits, uint64_t high_bits, Events* events
) noexcept nogil:
    cdef uint16_t pair[2]
    pair[0] = low
    pair[1] = high
    lay_down_pair(state, state.active, low, high, low_bits, high_bits)
    state.passed &= ~(1 << state.active)
    add_event(events, MomistigriEvent.PAIR_DISCARDED, state.active, EVERYBODY, pair, 2)
    if value_of(low) == value_of(high):
        begin_effect(state, box, value_of(low), events)
    else:
        end_turn(state, box, NO_MARK, events)


cdef void pass_turn(State* state, const Box* box, Events* events) noexcept nogil:
    state.passed |= 1 << state.active
    log_event(events, MomistigriEvent.PASSED, state.active)
    end_turn(state, box, NO_MARK, events)


cdef void end_turn(State* state, const Box* box, int mark, Events* events) noexcept nogil:
    if state.hands[state.active] == 0:
        leave(state, state.active, events)
    if state.in_round & (state.in_round - 1) == 0:
        end_round(state, box, MomistigriEvent.ONE_SEAT_LEFT, events)
    elif state.passed == state.in_round:
        end_round(state, box, MomistigriEvent.ALL_PASSED, events)
    elif state.turn == LAST_TURN:
        end_round(state, box, MomistigriEvent.TURN_LIMIT_REACHED, events)
    else:
        state.active = seat_beside(state, state.active, False)
        begin_turn(state, mark, events)


# Effects of a pair of one value

cdef bint has_target(const State* state) noexcept nogil:
    # Return True if another seat is in the round.
    return state.in_round != 1 << state.active


cdef void begin_effect(State* state, const Box* box, int value, Events* events) noexcept nogil:
    if value <= LAST_CHOICE:
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
        leave_mark(state, box, TWO, MomistigriEvent.TWO_PENDING, events)
    elif value == 8:
        leave_mark(state, box, THREE, MomistigriEvent.THREE_PENDING, events)
    else:
        end_turn(state, box, NO_MARK, events)


cdef void leave_mark(State* state, const Box* box, int mark, MomistigriEvent pending, Events* events) noexcept nogil:
    if state.hands[state.active] and has_target(state):
        log_event(events, pending, state.active)
    else:
        mark = NO_MARK
    end_turn(state, box, mark, events)


cdef void use_main_effect(State* state, const Box* box, Events* events) noexcept nogil:
    cdef int effect = state.effect
    state.effect = 0
    if effect == 1:
        discard_ones(state, box, events)
    elif effect == 3:
        leave_mark(state, box, SWAP, MomistigriEvent.SWAP_PENDING, events)
    elif state.hands[state.active] and has_target(state):
        state.phase = NAME
    else:
        end_turn(state, box, NO_MARK, events)


cdef void discard_ones(State* state, const Box* box, Events* events) noexcept nogil:
    cdef uint64_t all_ones = of_value(box, 0), left = state.hands[state.active] & all_ones
    cdef uint16_t ones[MAX_EVENT_VALUES]
    cdef int seat = state.active, count = 0
    while left:
        # There are at most seven 1s to show, because two of the nine are in the pile.
        ones[count] = box.kind_at[lowest(left)]
        lay_down(state, seat, ones[count], same_kind(box, lowest(left)))
        count += 1
        left = state.hands[seat] & all_ones
    show_no_ones(state, seat)
    add_event(events, MomistigriEvent.ONES_DISCARDED, seat, EVERYBODY, ones, count)
    end_turn(state, box, NO_MARK, events)


cdef void reverse(State* state, const Box* box, Events* events) noexcept nogil:
    state.effect = 0
    state.backwards ^= 1
    log_event(events, MomistigriEvent.DIRECTION_REVERSED, state.active)
    end_turn(state, box, NO_MARK, events)


cdef void stop(State* state, const Box* box, Events* events) noexcept nogil:
    log_event(events, MomistigriEvent.STOPPED, state.active)
    end_turn(state, box, NO_MARK, events)


cdef void name_card(State* state, const Box* box, int kind, Events* events) noexcept nogil:
    log_value(events, MomistigriEvent.CARD_NAMED, state.active, 1 << state.active, kind)
    end_turn(state, box, NO_MARK, events)
    if state.phase == DRAW:
        # The round has not ended, so the next seat draws the named card.
        draw(state, box, drawn_from(state), kind, bits_of(box, kind), events)


cdef void give(State* state, const Box* box, int receiver, int kind, Events* events) noexcept nogil:
    hand_over(state, box, state.active, receiver, kind, bits_of(box, kind))
    log_value(events, MomistigriEvent.CARD_GIVEN, state.active, 1 << state.active | 1 << receiver, kind)
    end_turn(state, box, NO_MARK, events)


cdef void hand_out(State* state, const Box* box, int kind, Events* events) noexcept nogil:
    cdef uint16_t values[2]
    values[0] = kind
    values[1] = state.active
    take_up(state, state.receiver, kind, bits_of(box, kind))
    add_event(events, MomistigriEvent.CARD_HANDED_OUT, state.receiver, EVERYBODY, values, 2)
    state.receiver = seat_beside(state, state.receiver, False)
    if state.receiver == state.active or state.left == 0:
        state.receiver = 0
        end_turn(state, box, NO_MARK, events)


# End of a round

cdef void end_round(State* state, const Box* box, MomistigriEvent reason, Events* events) noexcept nogil:
    cdef int seat
    log_event(events, reason, -1)
    for seat in range(state.players):
        if events != NULL:
            show_hand(state, box, seat, events)
        state.penalties[state.round][seat] = sum_of(box, state.hands[seat])
        log_value(events, MomistigriEvent.PENALTY_TAKEN, seat, EVERYBODY, state.penalties[state.round][seat])
    memset(state.known, 0, sizeof(state.known))
    memset(state.most_ones, 0, sizeof(state.most_ones))
    if state.round == ROUNDS - 1 or (state.round == 1 and count_fewest(state, 2) == 1):
        state.phase = FINISHED
        log_event(events, MomistigriEvent.GAME_ENDED, -1)
    else:
        state.round += 1
        begin_round(state, most_penalised(state), events)


cdef void show_hand(const State* state, const Box* box, int seat, Events* events) noexcept nogil:
    # Show a hand at the end of a round. The cards of the hand are then counted.
    cdef uint16_t cards[MAX_EVENT_VALUES]
    cdef uint64_t left = state.hands[seat]
    cdef int count
    while left:
        count = 0
        while count < MAX_EVENT_VALUES and left:
            cards[count] = box.kind_at[lowest(left)]
            count += 1
            left &= left - 1
        add_event(events, MomistigriEvent.HAND_SHOWN, seat, EVERYBODY, cards, count)


cdef int most_penalised(const State* state) noexcept nogil:
    # Return the seat with the most penalty points. Among tied seats, return the first clockwise from the last round's
    # first seat.
    cdef int seat = state.first_seat, most = seat, _
    for _ in range(1, state.players):
        seat = next_seat(state, seat)
        if penalty_so_far(state, seat) > penalty_so_far(state, most):
            most = seat
    return most


# End of the game

cdef int end(const void* body) noexcept nogil:
    cdef const State* state = <const State*> body
    if state.phase != FINISHED:
        return 0
    return MomistigriEnd.THIRD_ROUND if state.round == ROUNDS - 1 else MomistigriEnd.TWO_ROUNDS


cdef int ended_by(const void* body) noexcept nogil:
    # Return the seat that took the last turn.
    return (<const State*> body).active


cdef int last_round_end(const State* state) noexcept nogil:
    if state.in_round & (state.in_round - 1) == 0:
        return RoundEnd.ONE_LEFT
    return RoundEnd.EVERYBODY_PASSED if state.passed == state.in_round else RoundEnd.LIMIT_REACHED


cdef void totals(const void* body, int32_t* totals) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef const Box* box = box_of(state)
    cdef int seat
    for seat in range(state.players):
        totals[seat] = penalty_so_far(state, seat)
        if state.phase != FINISHED:
            totals[seat] += sum_of(box, state.hands[seat])


cdef void ranks(const void* body, uint8_t* ranks) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef int seat, other
    for seat in range(state.players):
        ranks[seat] = 1
        for other in range(state.players):
            ranks[seat] += penalty_so_far(state, other) < penalty_so_far(state, seat)


# Actions

# Two sets: the lowest kind of each colour, and the highest kind of each colour.
cdef uint64_t LOWEST = 0x1008040201
cdef uint64_t HIGHEST = 0x100804020100


cdef int list_kinds(const Box* box, uint64_t cards, int first_id, uint16_t* ids) noexcept nogil:
    # List an id for each kind in a set of cards.
    cdef uint64_t left = first_cards(box, cards)
    cdef int count = 0
    while left:
        ids[count] = first_id + box.kind_at[lowest(left)]
        count += 1
        left &= left - 1
    return count


cdef int list_pairs(const State* state, const Box* box, uint16_t* ids) noexcept nogil:
    # List the pairs in a hand. A kind forms pairs with all lower kinds of the same colour or value. It forms a pair
    # with itself if the hand has two cards of the kind.
    cdef uint64_t hand = state.hands[state.active] & ~bit(MOMISTIGRI_PLACE), further = further_cards(box, hand)
    cdef uint64_t kinds = kinds_in(box, hand), twice = kinds_in(box, further) if further else 0
    cdef uint64_t values = kinds << VALUES | kinds << 2 * VALUES, colours, left, partners
    cdef Py_ssize_t count = 0
    cdef int kind, first_id, _
    # Find the kinds that may have lower partners. A partner of the same value is one to four colours below. In each
    # colour, all kinds in the hand except the lowest may have a partner of the same colour.
    values |= values << 2 * VALUES
    colours = (kinds | HIGHEST) - LOWEST
    left = kinds & (values | colours | twice)
    while left:
        kind = lowest(left)
        partners = PARTNERS[kind] & (kinds ^ left | twice)
        left &= left - 1
        first_id = kind * (kind + 1) // 2
        # Most kinds have few partners, so two are always written before counting them.
        for _ in range(2):
            ids[count] = first_id + lowest(partners | bit(MOMISTIGRI))
            count += partners != 0
            partners &= partners - 1
        while partners:
            ids[count] = first_id + lowest(partners)
            count += 1
            partners &= partners - 1
    return count


cdef int legal_actions(const void* body, uint16_t* ids) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef const Box* box = box_of(state)
    cdef int phase = state.phase, count = 0, distance
    if phase == DISCARD or phase == AGAIN:
        count = list_pairs(state, box, ids)
        ids[count] = PASS_ID if phase == DISCARD else STOP_ID
        return count + 1
    if phase == CHOICE:
        ids[0] = MAIN_ID
        ids[1] = REVERSE_ID
        return 2
    if phase == NAME:
        return list_kinds(box, state.hands[state.active], FIRST_NAME_ID, ids)
    if phase == GIVE:
        for distance in range(1, state.players):
            if state.in_round >> seat_at(state.active, distance, state.players) & 1:
                count += list_kinds(box, state.hands[state.active], id_of_gift(distance, 0), &ids[count])
        return count
    if phase == HAND_OUT:
        return list_kinds(box, state.left, FIRST_HAND_OUT_ID, ids)
    if phase == SWAP_OUT:
        return list_kinds(box, state.hands[drawn_from(state)], FIRST_SWAP_OUT_ID, ids)
    return list_kinds(box, pile_before_swap(state, box), FIRST_SWAP_IN_ID, ids)


cdef uint64_t pile_before_swap(const State* state, const Box* box) noexcept nogil:
    # Return the pile without the card that was just discarded.
    cdef uint64_t pile = state.left, same = pile & bits_of(box, state.swapped_out - 1)
    return pile ^ (same & -same)


cdef inline int forbids_phase(const State* state, int phase, MomistigriFault not_now) noexcept nogil:
    if state.phase != phase:
        return not_now
    return OK

cdef inline int forbids_pair(
    const State* state, int low, int high, uint64_t low_bits, uint64_t high_bits
) noexcept nogil:
    cdef uint64_t hand = state.hands[state.active], first = hand & low_bits, rest
    first &= -first
    rest = hand ^ first
    if state.phase != DISCARD and state.phase != AGAIN:
        return MomistigriFault.NO_PAIR_NOW
    if first == 0 or rest & high_bits == 0:
        return MomistigriFault.CARD_NOT_IN_HAND
    if not PARTNERS[high] >> low & 1:
        return MomistigriFault.NOT_A_PAIR
    return OK


cdef int forbids_card(
    const State* state, const Box* box, int kind, uint64_t cards, int phase, MomistigriFault not_now, MomistigriFault
    not_there,
) noexcept nogil:
    # Return the fault of an action that names a card of a hand or of the pile, or OK. The action is legal only in
    # `phase`.
    if state.phase != phase:
        return not_now
    if cards & bits_of(box, kind) == 0:
        return not_there
    return OK


cdef int forbids_naming(const State* state, const Box* box, int kind) noexcept nogil:
    return forbids_card(
        state, box, kind, state.hands[state.active], NAME, MomistigriFault.NO_NAMING_NOW,
        MomistigriFault.CARD_NOT_IN_HAND,
    )


cdef int forbids_gift(const State* state, const Box* box, int distance, int kind) noexcept nogil:
    cdef int fault = forbids_card(
        state, box, kind, state.hands[state.active], GIVE, MomistigriFault.NO_GIVING_NOW,
        MomistigriFault.CARD_NOT_IN_HAND,
    )
    if fault != OK:
        return fault
    if 0 < distance < state.players and state.in_round >> seat_at(state.active, distance, state.players) & 1:
        return OK
    return MomistigriFault.SEAT_NOT_ELIGIBLE


cdef int forbids_handing_out(const State* state, const Box* box, int kind) noexcept nogil:
    return forbids_card(
        state, box, kind, state.left, HAND_OUT, MomistigriFault.NO_HANDING_OUT_NOW, MomistigriFault.CARD_NOT_IN_PILE
    )


cdef int forbids_swapping_out(const State* state, const Box* box, int kind) noexcept nogil:
    return forbids_card(
        state, box, kind, state.hands[drawn_from(state)], SWAP_OUT, MomistigriFault.NO_SWAPPING_OUT_NOW,
        MomistigriFault.CARD_NOT_IN_HAND,
    )


cdef int forbids_swapping_in(const State* state, const Box* box, int kind) noexcept nogil:
    cdef int fault = forbids_card(
        state, box, kind, state.left, SWAP_IN, MomistigriFault.NO_SWAPPING_IN_NOW, MomistigriFault.CARD_NOT_IN_PILE
    )
    if fault == OK and pile_before_swap(state, box) & bits_of(box, kind) == 0:
        return MomistigriFault.CARD_JUST_SWAPPED_OUT
    return fault


cdef int actor(const void* body) noexcept nogil:
    cdef const State* state = <const State*> body
    if state.phase <= DRAW:
        return CHANCE
    return TERMINAL if state.phase == FINISHED else decider(state)


cdef int apply(void* body, int action, Events* events) noexcept nogil:
    cdef State* state = <State*> body
    cdef const Box* box = box_of(state)
    cdef uint64_t low_bits, high_bits
    cdef int low, high, distance, kind, fault
    if state.phase == FINISHED:
        return GAME_IS_OVER
    if state.phase <= DRAW:
        return CHANCE_IS_PENDING  # uncovered: the core checks the actor first
    if action < 0 or action >= NUM_ACTIONS:
        return NO_SUCH_ACTION
    if action < PASS_ID:
        cards_of_pair(action, &low, &high)
        low_bits = bits_of(box, low)
        high_bits = bits_of(box, high)
        fault = forbids_pair(state, low, high, low_bits, high_bits)
        if fault == OK:
            discard_pair(state, box, low, high, low_bits, high_bits, events)
    elif action == PASS_ID:
        fault = forbids_phase(state, DISCARD, MomistigriFault.NO_PASS_NOW)
        if fault == OK:
            pass_turn(state, box, events)
    elif action == STOP_ID:
        fault = forbids_phase(state, AGAIN, MomistigriFault.NO_STOP_NOW)
        if fault == OK:
            stop(state, box, events)
    elif action == MAIN_ID:
        fault = forbids_phase(state, CHOICE, MomistigriFault.NO_CHOICE_NOW)
        if fault == OK:
            use_main_effect(state, box, events)
    elif action == REVERSE_ID:
        fault = forbids_phase(state, CHOICE, MomistigriFault.NO_CHOICE_NOW)
        if fault == OK:
            reverse(state, box, events)
    elif action < FIRST_GIVE_ID:
        kind = action - FIRST_NAME_ID
        fault = forbids_naming(state, box, kind)
        if fault == OK:
            name_card(state, box, kind, events)
    elif action < FIRST_HAND_OUT_ID:
        distance = distance_of_gift(action)
        kind = kind_of_gift(action)
        fault = forbids_gift(state, box, distance, kind)
        if fault == OK:
            give(state, box, seat_at(state.active, distance, state.players), kind, events)
    elif action < FIRST_SWAP_OUT_ID:
        kind = action - FIRST_HAND_OUT_ID
        fault = forbids_handing_out(state, box, kind)
        if fault == OK:
            hand_out(state, box, kind, events)
    elif action < FIRST_SWAP_IN_ID:
        kind = action - FIRST_SWAP_OUT_ID
        fault = forbids_swapping_out(state, box, kind)
        if fault == OK:
            swap_out(state, box, kind, events)
    else:
        kind = action - FIRST_SWAP_IN_ID
        fault = forbids_swapping_in(state, box, kind)
        if fault == OK:
            swap_in(state, box, kind, events)
    return fault


cdef inline uint64_t cards_that_can_come(const State* state) noexcept nogil:
    # Return the cards that can be dealt or drawn.
    return state.left if state.phase == DEAL else state.hands[drawn_from(state)]


cdef int chance_outcomes(const void* body, uint16_t* outcomes, uint32_t* weights) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef const Box* box = box_of(state)
    cdef uint64_t left, same
    cdef int count = 0, i
    if state.phase == FIRST_SEAT:
        for i in range(state.players):
            outcomes[i] = i
            weights[i] = 1
        return state.players
    left = cards_that_can_come(state)
    while left:
        same = left & same_kind(box, lowest(left))
        outcomes[count] = box.kind_at[lowest(left)]
        weights[count] = count_cards(same)
        left ^= same
        count += 1
    reduce_weights(weights, count)
    return count


cdef int sample_outcome(const void* body, Stream* stream) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef const Box* box = box_of(state)
    if state.phase == FIRST_SEAT:
        return number_below(stream, state.players)
    return box.kind_at[sample_card(state, box, cards_that_can_come(state), stream)]


cdef inline int sample_card(const State* state, const Box* box, uint64_t cards, Stream* stream) noexcept nogil:
    # Sample a card, and return the place of a card of its kind.
    cdef uint64_t counts
    if not has_single(box, cards):
        return lowest(bits_of(box, sample_listed(state, stream)))
    # If some kind has exactly one card, the weights are the numbers of cards, so draw a random card.
    counts = running_counts(cards)
    return nth_card(cards, counts, number_below(stream, counts >> 56))


cdef int sample_listed(const State* state, Stream* stream) noexcept nogil:
    cdef uint16_t outcomes[MAX_OUTCOMES]
    cdef uint32_t weights[MAX_OUTCOMES]
    cdef int count = chance_outcomes(state, outcomes, weights)
    return outcomes[walk_weights(stream, weights, count)]


cdef int apply_outcome(void* body, int outcome, Events* events) noexcept nogil:
    cdef State* state = <State*> body
    cdef const Box* box = box_of(state)
    cdef int previous
    if state.phase == FINISHED:
        return GAME_IS_OVER  # uncovered: the core checks the actor first
    if state.phase > DRAW:
        return NO_CHANCE_IS_PENDING  # uncovered: the core checks the actor first
    if state.phase == FIRST_SEAT:
        if outcome < 0 or outcome >= state.players:
            return NO_SUCH_OUTCOME
        log_event(events, MomistigriEvent.FIRST_SEAT_CHOSEN, outcome)
        state.first_seat = state.active = outcome
        state.phase = DEAL
        return OK
    if outcome < 0 or outcome >= KINDS:
        return NO_SUCH_OUTCOME
    if state.phase == DEAL:
        if state.left & bits_of(box, outcome) == 0:
            return NO_SUCH_OUTCOME
        deal(state, box, outcome, events)
        return OK
    previous = drawn_from(state)
    if state.hands[previous] & bits_of(box, outcome) == 0:
        return NO_SUCH_OUTCOME
    draw(state, box, previous, outcome, bits_of(box, outcome), events)
    return OK


cdef int settle(const Operations* ops, void* body, Stream* stream) noexcept nogil:
    cdef State* state = <State*> body
    cdef const Box* box = box_of(state)
    cdef int previous, place
    if state.phase == FIRST_SEAT:
        apply_outcome(state, sample_outcome(state, stream), NULL)
    if state.phase == DEAL:
        deal_out(state, box, stream)
    while state.phase == DRAW:
        previous = drawn_from(state)
        place = sample_card(state, box, state.hands[previous], stream)
        draw(state, box, previous, box.kind_at[place], same_kind(box, place), NULL)
    debug_assert(ops.check(body) == OK)
    return actor(state)


cdef void deal_out(State* state, const Box* box, Stream* stream) noexcept nogil:
    # Deal all cards, one by one as `deal` does, but sort the cards of each kind by seat only at the end.
    cdef uint64_t left = state.left, counts = running_counts(left), same, first
    cdef int number, seat = state.active
    for number in range(count_cards(left), 0, -1):
        if has_single(box, left):
            same = left & same_kind(box, nth_card(left, counts, number_below(stream, number)))
        else:
            state.left = left
            same = left & bits_of(box, sample_listed(state, stream))
        first = same & -same
        left ^= first
        counts -= 0x0101010101010101ULL << (lowest(first) & ~7)
        state.hands[seat] |= first
        if number > 2:
            seat = next_seat(state, seat)
    state.left = 0
    order_by_holder(state, box)
    state.active = state.first_seat
    begin_turn(state, NO_MARK, NULL)


# Public and hidden

cdef void view(const void* body, int seat, void* out) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef View* seen = <View*> out
    cdef State* shown = &seen.state
    cdef const Box* box = box_of(state)
    cdef int knower = seat if seat >= 0 else PUBLIC
    cdef uint64_t pile = pile_of(state), unseen = (state.left | cards_in_hands(state)) & ~pile, known
    cdef int other
    shown[0] = state[0]
    shown.left = 0
    memset(shown.most_ones, 0, sizeof(shown.most_ones))
    memset(shown.known, 0, sizeof(shown.known))
    for other in range(MAX_PLAYERS):
        known = state.hands[other]
        if state.phase != FINISHED and other != seat:
            known &= state.known[knower]
        unseen &= ~known
        shown.hands[other] = to_first_places(box, known)
        if state.phase != FINISHED:
            known &= state.known[PUBLIC]
        seen.known_to_all[other] = to_first_places(box, known)
        seen.sizes[other] = count_cards(state.hands[other])
        seen.most_ones[other] = state.most_ones[other][knower]
        seen.most_ones_known_to_all[other] = state.most_ones[other][PUBLIC]
    seen.pile = to_first_places(box, pile)
    seen.unseen = to_first_places(box, unseen)


# How long a game can be (A turn; Effects of a pair of one value; End of a round)

cdef inline bint is_played_with(int value, int players) noexcept nogil:
    # Return True if a value is in use. With 4 players, the 1s are left out. With 3, the 1s, the 2s and the 9 are left
    # out.
    return players == 5 or (value > 1 if players == 4 else 2 < value < 9)


cdef int count_kinds(int players, const uint8_t* copies) noexcept nogil:
    # Return the number of kinds in the deck. Without `copies`, return the maximum: value v has 10 - v cards, in at most
    # five colours.
    cdef int count = 1, kind, value
    for kind in range(COLOURED):
        value = value_of(kind)
        if is_played_with(value, players):
            count += copies[kind] > 0 if copies != NULL else kind // VALUES < min(10 - value, <int> COLOURS)
    return count


cdef void limits(int players, const void* options, Limits* found) noexcept nogil:
    # The decisions in a round are the pairs, and one or more other decisions in each of at most 200 turns. A turn that
    # ends with a pair of 3 has three other decisions: Main and the two decisions of the swap. A turn that ends with a
    # pair of 5 has one for each card handed out, at most n - 1. Any other turn has at most two: for example Main and
    # NameCard, or one of Give, Pass and Stop. Each pair removes two cards from the hands. Hands get cards back only by
    # handing out, because a swap replaces one card by another. With C cards dealt and h cards handed out, there are at
    # most (C + h) / 2 pairs. Each card handed out therefore adds one and a half decisions. A turn adds at most 3 (n -
    # 1) / 2 decisions, or 3 if it includes a swap. The bound is not reached, because the four 6s and five 5s are never
    # distributed so that every turn has this many decisions.
    #
    # There is one draw in each turn of a round, one more after a pair of 7, and two more after a pair of 8. Between two
    # pairs of 7, and between two pairs of 8, a turn with a pair of 5 or 3 returns a card from the pile. With t turns of
    # this kind, there are at most t + 1 turns with a pair of 8, and at most 200 - t turns with a pair of 7 or
    # 8. Together, these add at most (t + 1) + (200 - t) draws.
    cdef const Options* chosen = <const Options*> options
    cdef bint first_seat_comes = chosen == NULL or chosen.first_seat == NO_SEAT
    cdef int deck = DEALT * players + 1
    found.max_game_length = ROUNDS * ((deck + LAST_TURN * max(6, 3 * (players - 1))) // 2)
    found.max_chance_nodes = first_seat_comes + ROUNDS * (deck + 2 * LAST_TURN + 1)
    # The event with the most outcomes is the first card of a deal, because it can be of any kind in the deck.
    found.max_chance_outcomes = count_kinds(players, chosen.copies if chosen != NULL else NULL)


cdef Operations operations = Operations(
    number=3,
    oldest_rules_version=1,
    rules_version=1,
    packed_version=1,
    body_size=sizeof(State),
    view_size=sizeof(View),
    num_actions=NUM_ACTIONS,
    observation_length=OBSERVATION_LENGTH,
    min_players=FEWEST_PLAYERS,
    max_players=MAX_PLAYERS,
    start=start, limits=limits, actor=actor, legal_actions=legal_actions, sample_action=NULL, end=end,
    ended_by=ended_by, apply=apply, chance_outcomes=chance_outcomes, sample_outcome=sample_outcome,
    apply_outcome=apply_outcome, settle=settle, totals=totals, ranks=ranks, view=view, observe=observe,
    resample=resample, check=check, advise=advise, weights=&WEIGHTS,
)

OPERATIONS = wrap_operations(&operations, PLAYOUT_WEIGHTS, pack_weights)
