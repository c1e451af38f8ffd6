"""Discat: the rules. The sections follow the headings of the rules file, discat.md."""

from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memmove, memset

from .policy import PLAYOUT_WEIGHTS, pack_weights

from chatiere.engine.core.bits cimport count_bits, lowest_bit, nth_bit
from chatiere.engine.core.clearing cimport clear
from chatiere.engine.core.game cimport wrap_operations
from chatiere.engine.core.operations cimport (
    CHANCE, CHANCE_IS_PENDING, EVERYBODY, GAME_IS_OVER, NO_CHANCE_IS_PENDING, NO_SEAT, NO_SUCH_ACTION, NO_SUCH_OUTCOME,
    OK, TERMINAL, Events, Limits, Operations, add_event, debug_assert,
)
from chatiere.engine.core.stream cimport Stream, number_below
from .hidden cimport read_layout, resample
from .invariants cimport check
from .observation cimport OBSERVATION_LENGTH, observe, see
from .policy cimport WEIGHTS, advise
from .state cimport (
    BONUS, BONUS_GROUP, BONUS_POINTS, DEAL, DEALT, EXCHANGE, FINISHED, FIRST_EXCHANGE_ID, FIRST_SEAT, KEEP_ID, MAX_CARD,
    MAX_HAND, MAX_PLAYERS, MIN_PLAYERS, NUM_ACTIONS, PASS, PLAY, PLAY_IDS, REDRAWN_KEPT, REFILL, PLACES, TOP_SHIFT,
    WINNING_GROUP, DiscatEnd, DiscatEvent, DiscatFault, Options, Redraw, Seen, State, Layout, View, back_to_creator,
    can_respect, card_in_slot, card_under, cards_below, cards_in_use, constraint_of, creator_of, exchanged_in,
    group_winner, has_card, is_empty, next_seat, pile_is_empty, points_up, put_card, put_card_under, respects,
    take_card, turns_in, with_card, without_slot, slots_alike, tens_digits,
)


cdef inline void log_event(
    Events* events, DiscatEvent kind, int seat, int seen_by, const uint8_t* cards, int count
) noexcept nogil:
    cdef uint16_t values[MAX_HAND]
    cdef int i
    if events == NULL:
        return
    for i in range(count):
        values[i] = cards[i]
    add_event(events, kind, seat, seen_by, values, count)


# Components and setup

cdef void start(void* body, int players, int rules_version, const void* options) noexcept nogil:
    cdef State* state = <State*> body
    cdef const Options* chosen = <const Options*> options
    cdef int card
    clear(state, sizeof(State))
    state.players = players
    state.rules_version = rules_version
    state.first_seat_option = chosen.first_seat
    state.first_seat = chosen.first_seat
    state.up_arrows[0] = chosen.up_arrows[0]
    state.up_arrows[1] = chosen.up_arrows[1]
    for card in range(1, cards_in_use(players) + 1):
        put_card(state.unknown, card)
    if state.first_seat == NO_SEAT:
        state.phase = FIRST_SEAT
    else:
        state.phase = DEAL
        state.active = state.first_seat


cdef inline void insert_card(State* state, int seat, int card) noexcept nogil:
    state.hand[seat] = with_card(state.hand[seat], state.hand_size[seat], card)
    state.hand_size[seat] += 1


cdef inline void remove_slots(State* state, int seat, int slots) noexcept nogil:
    # Remove the cards in a mask of slots from a hand.
    cdef uint64_t hand = state.hand[seat]
    cdef int removed = 0
    while slots:
        hand = without_slot(hand, lowest_bit(slots) - removed)
        removed += 1
        slots &= slots - 1
    state.hand[seat] = hand
    state.hand_size[seat] -= removed


cdef void deal(State* state, int card, Events* events) noexcept nogil:
    cdef uint8_t dealt = card
    insert_card(state, state.active, card)
    log_event(events, DiscatEvent.CARD_DEALT, state.active, 1 << state.active, &dealt, 1)
    state.active = next_seat(state, state.active)
    if state.hand_size[state.active] == DEALT:
        state.phase = PLAY


# A turn

cdef int slots_played(int action) noexcept nogil:
    # Return the mask of the hand's slots that a Play uses. Bit k of the id's lower part is the k-th slot other than the
    # top's slot.
    cdef int top = action >> TOP_SHIFT, others = action & (1 << TOP_SHIFT) - 1
    cdef int below = others & ((1 << top) - 1)
    return below | 1 << top | (others ^ below) << 1


cdef int play_cards(const State* state, int action, uint8_t* cards) noexcept nogil:
    # Write the cards of a Play by the active seat, in ascending order with the top last. Returns the number of cards.
    cdef uint64_t hand = state.hand[state.active]
    cdef int top = action >> TOP_SHIFT, others = slots_played(action) & ~(1 << top)
    cdef int count = 0
    while others:
        cards[count] = card_in_slot(hand, lowest_bit(others))
        count += 1
        others &= others - 1
    cards[count] = card_in_slot(hand, top)
    return count + 1


cdef int forbids_play(const State* state, int action) noexcept nogil:
    cdef uint64_t hand = state.hand[state.active]
    cdef uint64_t tens = tens_digits(hand)
    cdef int size = state.hand_size[state.active]
    cdef int slots = slots_played(action), top = action >> TOP_SHIFT, constraint
    if state.phase != PLAY:
        return DiscatFault.MUST_PASS
    if slots >> size:
        return DiscatFault.CARD_NOT_IN_HAND
    if slots != 1 << top:
        if state.laid == 0:
            return DiscatFault.FIRST_PLAY_IS_ONE_CARD
        # All cards must share the tens digit, or all cards must share the units digit.
        if slots & ~slots_alike(tens, size, top) and slots & ~slots_alike(hand - 10 * tens, size, top):
            return DiscatFault.NOT_A_GROUP
    constraint = constraint_of(state)
    if constraint != 0 and not respects(state, constraint, card_in_slot(hand, top)):
        return DiscatFault.WRONG_SIDE
    return OK


cdef void play(State* state, int action, Events* events) noexcept nogil:
    cdef uint8_t* cards = &state.cards[state.laid]
    cdef int count = play_cards(state, action, cards)
    remove_slots(state, state.active, slots_played(action))
    state.laid += count
    state.bonus_drawn = 0
    log_event(events, DiscatEvent.CARDS_PLAYED, state.active, EVERYBODY, cards, count)
    if count == BONUS_GROUP:
        # The first card is the lowest of the three cards under the top.
        log_event(events, DiscatEvent.CARD_TO_BONUS_PILE, state.active, EVERYBODY, cards, 1)
    state.codes[state.laid - 1] ^= 1
    if count >= WINNING_GROUP:
        end_game(state, events)
    else:
        refill(state, events)


# Cannot respect the constraint

cdef void begin_turn(State* state, Events* events) noexcept nogil:
    cdef int constraint = state.cards[state.laid - 1]
    if back_to_creator(state):
        # It is the creator's turn again. The creator plays without a constraint.
        turn_top(state, events)
        state.phase = PLAY
        add_event(events, DiscatEvent.CONSTRAINT_LIFTED, state.active, EVERYBODY, NULL, 0)
    elif can_respect(state, state.active, constraint):
        state.phase = PLAY
    elif state.bonus_drawn or pile_is_empty(state):
        begin_pass(state, events)
    else:
        state.phase = BONUS
        if is_empty(state.unknown):
            draw_from_queue(state, creator_of(state), DiscatEvent.BONUS_CARD_DRAWN, events)
            state.bonus_drawn = 1
            begin_pass(state, events)


cdef void begin_pass(State* state, Events* events) noexcept nogil:
    turn_top(state, events)
    state.phase = PASS


cdef void turn_top(State* state, Events* events) noexcept nogil:
    # Turn the active seat's top face down. The card follows from the earlier turns, so it is only needed for events.
    cdef uint8_t top
    if events == NULL:
        return
    top = top_face_up(state)
    if top:
        log_event(events, DiscatEvent.TOP_TURNED, state.active, EVERYBODY, &top, 1)


cdef int top_face_up(const State* state) noexcept nogil:
    # Return the top card that the active seat laid in its previous turn, one round ago. Return 0 if the seat has not
    # had a turn, or if it passed in that turn and thereby turned its top.
    cdef int back = state.players, place = state.laid - 1
    while place >= 0:
        back -= turns_in(state.codes[place])
        if back <= 0:
            return state.cards[place] if back == 0 else 0
        place -= 1
        while place >= 0 and state.codes[place] == 0:
            place -= 1
    return 0


cdef void record_pass(State* state, int exchanged) noexcept nogil:
    cdef int before = turns_in(state.codes[state.laid - 1]) - 1
    state.codes[state.laid - 1] ^= (3 - exchanged) << before


cdef void keep(State* state, Events* events) noexcept nogil:
    record_pass(state, 0)
    add_event(events, DiscatEvent.HAND_KEPT, state.active, EVERYBODY, NULL, 0)
    refill(state, events)


cdef void exchange(State* state, int slot, Events* events) noexcept nogil:
    cdef int seat = state.active
    cdef uint8_t card = card_in_slot(state.hand[seat], slot)
    record_pass(state, 1)
    remove_slots(state, seat, 1 << slot)
    put_card_under(state, state.redrawn_count + state.queue_length, card)
    state.queue_length += 1
    state.phase = EXCHANGE
    log_event(events, DiscatEvent.CARD_EXCHANGED, seat, 1 << seat, &card, 1)
    if is_empty(state.unknown):
        draw_from_queue(state, seat, DiscatEvent.EXCHANGE_DRAWN, events)
        refill(state, events)


# Refill

cdef void refill(State* state, Events* events) noexcept nogil:
    state.phase = REFILL
    while state.hand_size[state.active] < DEALT:
        if not is_empty(state.unknown):
            return
        if state.queue_length == 0:
            break
        draw_from_queue(state, state.active, DiscatEvent.CARD_REFILLED, events)
    end_turn(state, events)


# Draw pile

cdef void draw_from_queue(State* state, int seat, DiscatEvent reason, Events* events) noexcept nogil:
    cdef uint8_t card = card_under(state, state.redrawn_count)
    cdef uint8_t* newest
    if events != NULL:
        # The event is also visible to the seat that put the card there, because this seat knows the card.
        log_event(events, reason, seat, 1 << seat | 1 << seat_of_exchange(state, state.queue_length), &card, 1)
    state.queue_length -= 1
    if state.redrawn_count < REDRAWN_KEPT:
        state.redrawn_count += 1
    else:
        # Remove the oldest redrawn card, and move the others.
        newest = &state.cards[PLACES - 1 - REDRAWN_KEPT - state.queue_length]
        memmove(newest + 1, newest, REDRAWN_KEPT + state.queue_length)
        newest[0] = 0
    insert_card(state, seat, card)


cdef int seat_of_exchange(const State* state, int back) noexcept nogil:
    # Return the seat that made the exchange `back` exchanges ago, where 1 is the latest exchange.
    cdef int place = state.laid - 1
    cdef int owner = creator_of(state)
    cdef int number, code
    while True:
        code = state.codes[place]
        for number in range(turns_in(code) - 2, -1, -1):
            back -= exchanged_in(code, number)
            if back == 0:
                return (owner + number + 1) % state.players
        place -= 1
        while state.codes[place] == 0:
            place -= 1
        owner = (owner + state.players - turns_in(state.codes[place])) % state.players


cdef void draw_unknown(State* state, int card, Events* events) noexcept nogil:
    # Resolve the pending draw with `card`.
    cdef uint8_t drawn = card
    cdef int creator
    if state.phase == BONUS:
        creator = creator_of(state)
        insert_card(state, creator, card)
        state.bonus_drawn = 1
        log_event(events, DiscatEvent.BONUS_CARD_DRAWN, creator, 1 << creator, &drawn, 1)
        begin_pass(state, events)
        return
    insert_card(state, state.active, card)
    log_event(
        events, DiscatEvent.EXCHANGE_DRAWN if state.phase == EXCHANGE else DiscatEvent.CARD_REFILLED, state.active, 1 <<
        state.active, &drawn, 1,
    )
    refill(state, events)


# End

cdef void end_turn(State* state, Events* events) noexcept nogil:
    if state.last_turns:
        state.last_turns -= 1
        if state.last_turns == 0:
            end_game(state, events)
            return
    elif state.hand_size[state.active] == 0 and pile_is_empty(state):
        state.last_turns = state.players - 1
        add_event(events, DiscatEvent.LAST_TURNS_BEGUN, state.active, EVERYBODY, NULL, 0)
    state.active = next_seat(state, state.active)
    begin_turn(state, events)


cdef void end_game(State* state, Events* events) noexcept nogil:
    state.last_turns = 0
    state.phase = FINISHED
    add_event(events, DiscatEvent.GAME_ENDED, -1, EVERYBODY, NULL, 0)


cdef int end(const void* body) noexcept nogil:
    cdef const State* state = <const State*> body
    if state.phase != FINISHED:
        return 0
    return DiscatEnd.LAST_TURNS if group_winner(state) == NO_SEAT else DiscatEnd.GROUP


cdef int ended_by(const void* body) noexcept nogil:
    # Return the seat that ended the game. The seat that begins the last turns has no last turn, so the seat before it
    # has the final turn.
    cdef const State* state = <const State*> body
    cdef int winner = group_winner(state)
    return next_seat(state, state.active) if winner == NO_SEAT else winner


cdef void count_piles(const State* state, int* piles, int* bonuses) noexcept nogil:
    # Count the cards in each seat's personal pile and bonus pile.
    cdef int owner = state.first_seat, size = 0, place, turns
    memset(piles, 0, MAX_PLAYERS * sizeof(int))
    memset(bonuses, 0, MAX_PLAYERS * sizeof(int))
    for place in range(state.laid):
        size += 1
        turns = turns_in(state.codes[place])
        if turns:
            bonuses[owner] += size == BONUS_GROUP
            piles[owner] += size - (size == BONUS_GROUP)
            size = 0
            owner += turns
            owner -= state.players if owner >= state.players else 0


cdef void totals(const void* body, int32_t* totals) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef int piles[MAX_PLAYERS]
    cdef int bonuses[MAX_PLAYERS]
    cdef int seat
    count_piles(state, piles, bonuses)
    for seat in range(state.players):
        totals[seat] = piles[seat] + BONUS_POINTS * bonuses[seat] - state.hand_size[seat]


cdef void ranks(const void* body, uint8_t* ranks) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef int winner = group_winner(state)
    cdef int piles[MAX_PLAYERS]
    cdef int bonuses[MAX_PLAYERS]
    cdef int32_t scores[MAX_PLAYERS]
    cdef int seat, other
    count_piles(state, piles, bonuses)
    totals(body, scores)
    for seat in range(state.players):
        ranks[seat] = 1
        for other in range(state.players):
            if winner != NO_SEAT:
                ranks[seat] += other == winner and other != seat
            else:
                ranks[seat] += scores[other] > scores[seat] or (
                    scores[other] == scores[seat] and bonuses[other] > bonuses[seat]
                )


# Actions

cdef int actor(const void* body) noexcept nogil:
    cdef const State* state = <const State*> body
    if state.phase == PLAY or state.phase == PASS:
        return state.active
    return TERMINAL if state.phase == FINISHED else CHANCE


cdef inline int mask_without(int slots, int top) noexcept nogil:
    # Return the slots other than the top's slot, encoded as in the id of a Play.
    cdef int below = slots & ((1 << top) - 1)
    return below | slots >> (top + 1) << top


cdef int legal_actions(const void* body, uint16_t* ids) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef uint64_t hand = state.hand[state.active]
    cdef uint64_t tens = tens_digits(hand), units = hand - 10 * tens
    cdef int first = 0, last = state.hand_size[state.active]
    cdef int size = last, count = 0, below, up, constraint, slot, top, same_tens, same_units, others, by_tens, by_units
    if state.phase == PASS:
        ids[0] = KEEP_ID
        if pile_is_empty(state):
            return 1
        for slot in range(size):
            ids[1 + slot] = FIRST_EXCHANGE_ID + slot
        return 1 + size
    constraint = constraint_of(state)
    if constraint:
        below = cards_below(hand, size, constraint)
        up = points_up(state, constraint)
        first = below * up
        last = below + (size - below) * up
    for top in range(first, last):
        ids[count] = top << TOP_SHIFT
        count += 1
        if state.laid == 0:
            continue
        # The groups with this top are the sets of slots that share the top's tens digit, or its units digit.
        same_tens = mask_without(slots_alike(tens, size, top), top)
        same_units = mask_without(slots_alike(units, size, top), top)
        if (same_tens & (same_tens - 1)) | (same_units & (same_units - 1)) == 0:
            # Usually, at most one slot shares each digit. Both ids are then written, to avoid branches.
            others = same_tens | same_units
            ids[count] = top << TOP_SHIFT | others & -others
            count += others != 0
            others &= others - 1
            ids[count] = top << TOP_SHIFT | others
            count += others != 0
            continue
        # Compute the next set for each digit, or 0 after the last. No slot shares both digits, so the two sets differ.
        by_tens = same_tens & -same_tens
        by_units = same_units & -same_units
        while by_tens | by_units:
            if by_units == 0 or (by_tens and by_tens < by_units):
                ids[count] = top << TOP_SHIFT | by_tens
                by_tens = (by_tens - same_tens) & same_tens
            else:
                ids[count] = top << TOP_SHIFT | by_units
                by_units = (by_units - same_units) & same_units
            count += 1
    return count


cdef int apply(void* body, int action, Events* events) noexcept nogil:
    cdef State* state = <State*> body
    cdef int fault
    if state.phase == FINISHED:
        return GAME_IS_OVER
    if state.phase != PLAY and state.phase != PASS:
        return CHANCE_IS_PENDING  # uncovered: the core checks the actor first
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
    if pile_is_empty(state):
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
            outcomes[count] = 64 * half + lowest_bit(cards)
            weights[count] = 1
            count += 1
            cards &= cards - 1
    return count


cdef int sample_outcome(const void* body, Stream* stream) noexcept nogil:
    cdef const State* state = <const State*> body
    if state.phase == FIRST_SEAT:
        return number_below(stream, state.players)
    return sample_card(state, stream) - 1


cdef inline int sample_card(const State* state, Stream* stream) noexcept nogil:
    # Draw one of the unknown cards.
    cdef int low = count_bits(state.unknown[0])
    cdef int number = number_below(stream, low + count_bits(state.unknown[1]))
    cdef int half = number >= low
    return 64 * half + nth_bit(state.unknown[half], number - low * half) + 1


cdef int apply_outcome(void* body, int outcome, Events* events) noexcept nogil:
    cdef State* state = <State*> body
    if state.phase == FINISHED:
        return GAME_IS_OVER  # uncovered: the core checks the actor first
    if state.phase == PLAY or state.phase == PASS:
        return NO_CHANCE_IS_PENDING  # uncovered: the core checks the actor first
    if state.phase == FIRST_SEAT:
        if outcome < 0 or outcome >= state.players:
            return NO_SUCH_OUTCOME
        state.first_seat = state.active = outcome
        state.phase = DEAL
        add_event(events, DiscatEvent.FIRST_SEAT_CHOSEN, outcome, EVERYBODY, NULL, 0)
        return OK
    if outcome < 0 or outcome >= MAX_CARD or not has_card(state.unknown, outcome + 1):
        return NO_SUCH_OUTCOME
    take_card(state.unknown, outcome + 1)
    if state.phase == DEAL:
        deal(state, outcome + 1, events)
    else:
        draw_unknown(state, outcome + 1, events)
    return OK


cdef int settle(const Operations* ops, void* body, Stream* stream) noexcept nogil:
    cdef State* state = <State*> body
    cdef int card
    if state.phase == FIRST_SEAT:
        apply_outcome(state, sample_outcome(state, stream), NULL)
    while state.phase != PLAY and state.phase != PASS and state.phase != FINISHED:
        card = sample_card(state, stream)
        take_card(state.unknown, card)
        if state.phase == DEAL:
            deal(state, card, NULL)
        else:
            draw_unknown(state, card, NULL)
        debug_assert(ops.check(body) == OK)
    return actor(state)


# Public and hidden

cdef void view(const void* body, int seat, void* out) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef View* seen = <View*> out
    cdef State* shown = &seen.state
    cdef uint8_t drawn_by[MAX_CARD + 1]
    cdef int other, slot, place, known, card
    memcpy(shown, state, sizeof(State))
    read_layout(state, &seen.layout)
    for place in range(state.redrawn_count):
        if seen.layout.redraws[place].giver != seat and seen.layout.redraws[place].taker != seat:
            put_card_under(shown, place, 0)
    see_draws(state, &seen.layout, seat, drawn_by)
    for other in range(state.players):
        if other == seat:
            continue
        shown.hand[other] = 0
        known = 0
        for slot in range(state.hand_size[other]):
            card = card_in_slot(state.hand[other], slot)
            if drawn_by[card] == other:
                shown.hand[other] |= <uint64_t> card << 8 * known
                known += 1
            else:
                put_card(shown.unknown, card)
    for place in range(state.queue_length):
        if seen.layout.queue_seat[place] != seat:
            put_card(shown.unknown, card_under(state, state.redrawn_count + place))
            put_card_under(shown, state.redrawn_count + place, 0)


cdef void see_draws(const State* state, const Layout* layout, int seat, uint8_t* drawn_by) noexcept nogil:
    # Set `drawn_by` for each card. If `seat` put the card under the pile and it has been drawn since, the result is
    # the seat that drew it. The result is NO_SEAT for all other cards, and if the drawing seat has put a card under
    # the pile after the draw.
    cdef const Redraw* redraw
    cdef int i
    memset(drawn_by, NO_SEAT, MAX_CARD + 1)
    for i in range(state.redrawn_count):
        redraw = &layout.redraws[i]
        drawn_by[card_under(state, i)] = redraw.taker if redraw.giver == seat and redraw.surely_held else NO_SEAT


# How long a game can be (A turn; Draw pile; End)

cdef void limits(int players, const void* options, Limits* found) noexcept nogil:
    # A turn is one decision: a play or a pass. Each play lays at least one card. At most n - 1 passes precede the next
    # play, because after n - 1 passes the same seat plays again (Back to the creator).
    #
    # A hand is empty only if the draw pile is empty. The first seat to empty its hand begins the n - 1 last turns. Each
    # other seat then has at least one card, so N cards allow at most N - (n - 1) plays up to that play. With n - 1
    # passes after each play, these would be n (N - (n - 1)) turns. No passes follow the last of these plays. Whenever a
    # different seat plays, there is one pass less. If all seats play, this happens at least n - 1 times. If a seat
    # never plays, the five cards that it keeps shorten the game more than the avoided change of seat lengthens it. A
    # winning group lays five cards in one play, and no last turns follow. The maximum is therefore:
    #
    #     n (N - (n - 1)) - (n - 1) for the last play - (n - 1) for changes of seat + (n - 1) last turns.
    #
    # With suitable arrows, a game reaches this maximum. One seat plays all cards of the pile, and no other seat can
    # respect any of these cards. Then the seats play in turn, counter-clockwise.
    cdef const Options* chosen = <const Options*> options
    cdef bint first_seat_comes = chosen == NULL or chosen.first_seat == NO_SEAT
    cdef int cards = cards_in_use(players), others = players - 1
    found.max_game_length = players * (cards - others) - others
    # Each card is dealt or drawn by chance only once, because cards put under the pile are redrawn without chance.
    found.max_chance_nodes = first_seat_comes + cards
    # The deal of the first card has the most outcomes.
    found.max_chance_outcomes = cards


cdef Operations operations = Operations(
    number=1,
    oldest_rules_version=1,
    rules_version=1,
    packed_version=1,
    body_size=sizeof(State),
    view_size=sizeof(Seen),
    num_actions=NUM_ACTIONS,
    observation_length=OBSERVATION_LENGTH,
    min_players=MIN_PLAYERS,
    max_players=MAX_PLAYERS,
    start=start, limits=limits, actor=actor, legal_actions=legal_actions, sample_action=NULL, end=end,
    ended_by=ended_by, apply=apply, chance_outcomes=chance_outcomes, sample_outcome=sample_outcome,
    apply_outcome=apply_outcome, settle=settle, totals=totals, ranks=ranks, view=see, observe=observe,
    resample=resample, check=check, advise=advise, weights=&WEIGHTS,
)

OPERATIONS = wrap_operations(&operations, PLAYOUT_WEIGHTS, pack_weights)
