"""Chat perché: the rules. The sections follow the headings of the rules file, chat_perche.md."""

from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

from .policy import PLAYOUT_WEIGHTS, pack_weights

from chatiere.engine.core.clearing cimport clear
from chatiere.engine.core.game cimport wrap_operations
from chatiere.engine.core.moves cimport settle
from chatiere.engine.core.operations cimport (
    CHANCE, CHANCE_IS_PENDING, EVERYBODY, GAME_IS_OVER, MAX_OUTCOMES, NO_CHANCE_IS_PENDING, NO_SEAT, NO_SUCH_ACTION,
    NO_SUCH_OUTCOME, OK, SPECTATOR, TERMINAL, Events, Limits, Operations, add_event,
)
from chatiere.engine.core.stream cimport Stream, number_below, walk_weights
from chatiere.engine.core.weights cimport reduce_weights
from .hidden cimport resample
from .invariants cimport check
from .observation cimport OBSERVATION_LENGTH, observe
from .policy cimport WEIGHTS, advise
from .state cimport (
    BIRD, BIRD_CARD, BRANCHES, CARD_TYPES, DECK_SIZE, DISTANCE, DOGS_1, DOGS_2, FALL, FINISHED, FIRST_BIRD_ID,
    FIRST_FALL_ID, FIRST_MOVE_CARD, FIRST_MOVE_ID, FIRST_SEAT, FIRST_TWO_CAT_CARD, MAX_SOLIDITY, MAX_TRACK, MOVE,
    NO_CARD, NUM_ACTIONS, PLACE, PLAYERS, REACH, SECOND_MOVE, SPACES, START, STOP_ID, TRUNK_SPACES, TURN_UP,
    ChatPercheEnd, ChatPercheEvent, ChatPercheFault, Options, State, all_branches, all_cards, animals, at_branch,
    bird_spaces, branch_of, branch_spaces, card_colour, card_value, cats_at_start, copies_of, count_spaces, dog_steps,
    ends_of_moves, first_space, first_spaces, free_spaces, is_asked, is_decision, last_copies, lowest_space, space_bit,
    start_cat_may_move, token_owner, tokens_in_hand, trunk_is_full,
)


cdef void log_event(
    Events* events, ChatPercheEvent kind, int seat, int seen_by, int count, int value_0=0, int value_1=0, int value_2=0,
    int value_3=0,
) noexcept nogil:
    cdef uint16_t values[4]
    if events == NULL:
        return
    values[0] = value_0
    values[1] = value_1
    values[2] = value_2
    values[3] = value_3
    add_event(events, kind, seat, seen_by, values, count)


# Components and setup

cdef void start(void* body, int players, int rules_version, const void* options) noexcept nogil:
    cdef State* state = <State*> body
    cdef const Options* chosen = <const Options*> options
    cdef int seat
    clear(state, sizeof(State))
    state.players = players
    state.rules_version = rules_version
    state.first_seat_option = chosen.first_seat
    state.first_seat = chosen.first_seat
    state.forward_only = chosen.forward_only
    state.dog_track = chosen.dog_track
    state.card = NO_CARD
    memcpy(state.solidity, chosen.solidity, sizeof(state.solidity))
    memcpy(state.full_deck, chosen.full_deck, sizeof(state.full_deck))
    for seat in range(PLAYERS):
        state.left[seat] = all_cards()
    if state.first_seat == NO_SEAT:
        state.phase = FIRST_SEAT
    else:
        begin_placing(state)


cdef void begin_placing(State* state) noexcept nogil:
    state.phase = PLACE
    state.active = 1 - state.first_seat


cdef int forbids_token(const State* state, int branch, int solidity) noexcept nogil:
    if state.phase != PLACE:
        return ChatPercheFault.TOKENS_ARE_PLACED
    if token_owner(state, branch) >= 0:
        return ChatPercheFault.BRANCH_HAS_TOKEN
    if tokens_in_hand(state, state.active) >> 8 * (solidity - 1) & 0xFF == 0:
        return ChatPercheFault.NO_SUCH_TOKEN_IN_HAND
    return OK


cdef void place_token(State* state, int branch, int solidity, Events* events) noexcept nogil:
    state.placed[state.active] |= branch_spaces(branch)
    state.values |= <uint64_t> solidity << first_space(branch)
    log_event(events, ChatPercheEvent.TOKEN_CHOSEN, state.active, 1 << state.active, 1, solidity)
    log_event(events, ChatPercheEvent.TOKEN_PLACED, state.active, EVERYBODY, 1, branch)
    state.active ^= 1
    if state.placed[0] | state.placed[1] == all_branches():
        state.active = state.first_seat
        state.phase = TURN_UP


# A turn

cdef void turn_up(State* state, int card, uint32_t copies, Events* events) noexcept nogil:
    # Turn up a card. `copies` has the places of the card's copies that are left in the deck.
    if state.left[state.active] == 0:
        state.left[state.active] = all_cards()
        log_event(events, ChatPercheEvent.DECK_REFILLED, state.active, EVERYBODY, 0)
    state.left[state.active] &= ~(copies & (0 - copies))
    log_event(events, ChatPercheEvent.CARD_TURNED_UP, state.active, EVERYBODY, 1, card)
    state.card = card
    if card <= DOGS_2:
        advance_dogs(state, dog_steps(card), events)
        return
    if card < FIRST_MOVE_CARD:
        state.phase = BIRD if card == BIRD_CARD else FALL
        state.barred = 0
    else:
        state.phase = MOVE
        state.steps = card_value(card)
        state.barred &= state.cats[card_colour(card, state.active)]
    if not is_asked(state):
        pass_by(state, events)


cdef void pass_by(State* state, Events* events) noexcept nogil:
    log_event(events, ChatPercheEvent.NOTHING_POSSIBLE, state.active, EVERYBODY, 0)
    end_turn(state)


cdef void end_turn(State* state) noexcept nogil:
    state.barred = state.moved
    state.moved = 0
    state.card = NO_CARD
    state.steps = 0
    state.active ^= 1
    state.phase = TURN_UP


cdef void fall(State* state, int space, Events* events) noexcept nogil:
    take_cat(state, card_colour(state.card, state.active), space, events)
    end_turn(state)


cdef void take_cat(State* state, int colour, int space, Events* events) noexcept nogil:
    # Return a cat to its start.
    state.cats[colour] &= ~space_bit(space)
    log_event(events, ChatPercheEvent.CAT_FELL, colour, EVERYBODY, 1, space)


cdef void place_bird(State* state, int space, Events* events) noexcept nogil:
    state.birds |= space_bit(space)
    log_event(events, ChatPercheEvent.BIRD_PLACED, state.active, EVERYBODY, 1, space)
    bear(state, space, events)
    end_turn(state)


# Moving a cat

cdef int forbids_move(const State* state, int start, int end) noexcept nogil:
    cdef int colour = card_colour(state.card, state.active)
    if start == START:
        if cats_at_start(state, colour) == 0:
            return ChatPercheFault.START_IS_EMPTY
        if not start_cat_may_move(state, colour):
            return ChatPercheFault.MOVED_FIRST
    elif not state.cats[colour] >> start & 1:
        return ChatPercheFault.NO_CAT_THERE
    elif state.barred >> start & 1:
        return ChatPercheFault.MOVED_BY_OPPONENT
    elif state.moved >> start & 1:
        return ChatPercheFault.MOVED_FIRST
    if start == end:
        return ChatPercheFault.NO_STEP
    if state.broken >> end & 1:
        return ChatPercheFault.BRANCH_IS_BROKEN
    if animals(state) >> end & 1:
        return ChatPercheFault.SPACE_IS_TAKEN
    if DISTANCE[start][end] > state.steps:
        return ChatPercheFault.TOO_FAR
    if not REACH[state.forward_only][start][state.steps] >> end & 1:
        return ChatPercheFault.ONLY_FORWARD
    if end < TRUNK_SPACES and trunk_is_full(state, colour, start):
        return ChatPercheFault.TRUNK_IS_FULL
    return OK


cdef void move_cat(State* state, int start, int end, Events* events) noexcept nogil:
    cdef int colour = card_colour(state.card, state.active)
    cdef int steps = DISTANCE[start][end]
    if start != START:
        state.cats[colour] &= ~space_bit(start)
    state.cats[colour] |= space_bit(end)
    state.moved |= space_bit(end)
    state.steps -= steps
    log_event(events, ChatPercheEvent.CAT_MOVED, state.active, EVERYBODY, 4, colour, start, end, steps)
    bear(state, end, events)
    if state.phase == SECOND_MOVE or state.card < FIRST_TWO_CAT_CARD or state.steps == 0:
        end_turn(state)
        return
    state.phase = SECOND_MOVE
    if not is_asked(state):
        pass_by(state, events)


# Breaking

cdef void bear(State* state, int space, Events* events) noexcept nogil:
    # Update the branch of a space on which an animal has arrived.
    cdef int branch, load
    if space < TRUNK_SPACES:
        return
    branch = branch_of(space)
    load = count_spaces(animals(state) & branch_spaces(branch))
    if load > at_branch(state.values, branch):
        break_branch(state, branch, events)
    elif load > at_branch(state.loads, branch):
        state.loads &= ~branch_spaces(branch)
        state.loads |= <uint64_t> load << first_space(branch)


cdef void break_branch(State* state, int branch, Events* events) noexcept nogil:
    cdef uint64_t spaces = branch_spaces(branch)
    cdef uint64_t fallen = animals(state) & spaces
    cdef int space
    state.broken |= spaces
    state.loads &= ~spaces
    state.barred &= ~spaces
    state.moved &= ~spaces
    log_event(
        events, ChatPercheEvent.BRANCH_BROKE, token_owner(state, branch), EVERYBODY, 2, branch,
        at_branch(state.values, branch),
    )
    while fallen:
        space = lowest_space(fallen)
        fallen &= fallen - 1
        if state.birds >> space & 1:
            state.birds &= ~space_bit(space)
            log_event(events, ChatPercheEvent.BIRD_LEFT, -1, EVERYBODY, 1, space)
        else:
            take_cat(state, state.cats[1] >> space & 1, space, events)


# End

cdef void advance_dogs(State* state, int steps, Events* events) noexcept nogil:
    if steps > state.dog_track - state.dogs:
        steps = state.dog_track - state.dogs
    state.dogs += steps
    log_event(events, ChatPercheEvent.DOGS_ADVANCED, state.active, EVERYBODY, 2, steps, state.dogs)
    if state.dogs < state.dog_track:
        end_turn(state)
        return
    state.phase = FINISHED
    state.card = NO_CARD
    state.barred = 0
    log_event(events, ChatPercheEvent.GAME_ENDED, -1, EVERYBODY, 0)


cdef int end(const void* body) noexcept nogil:
    cdef const State* state = <const State*> body
    return ChatPercheEnd.DOGS_ARRIVED if state.phase == FINISHED else 0


cdef int ended_by(const void* body) noexcept nogil:
    # Return the seat that turned up the last dogs card.
    return (<const State*> body).active


cdef void totals(const void* body, int32_t* totals) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef int seat
    for seat in range(PLAYERS):
        totals[seat] = count_spaces(state.cats[seat])


cdef void ranks(const void* body, uint8_t* ranks) noexcept nogil:
    cdef int32_t scores[PLAYERS]
    totals(body, scores)
    ranks[0] = 1 + (scores[1] > scores[0])
    ranks[1] = 1 + (scores[0] > scores[1])


# Actions

cdef int actor(const void* body) noexcept nogil:
    cdef const State* state = <const State*> body
    if is_decision(state):
        return state.active
    return TERMINAL if state.phase == FINISHED else CHANCE


cdef enum:
    BITS_AT_ONCE = 8

# BITS has the numbers of the bits that are set in each byte, in ascending order.
cdef uint16_t BITS[256][BITS_AT_ONCE]
cdef uint8_t BIT_COUNT[256]


cdef void write_bits() noexcept:
    cdef int byte, bit
    for byte in range(256):
        for bit in range(BITS_AT_ONCE):
            if byte >> bit & 1:
                BITS[byte][BIT_COUNT[byte]] = bit
                BIT_COUNT[byte] += 1


write_bits()


cdef inline int list_bits(uint64_t bits, int width, int first_id, uint16_t* ids) noexcept nogil:
    # List the ids of the bits that are set among the lowest `width` bits, where bit 0 has the id `first_id`. Returns
    # the number of ids. To avoid unpredictable branches, eight ids are written at a time, and the next ids overwrite
    # the meaningless ones.
    cdef uint16_t eight[BITS_AT_ONCE]
    cdef int count = 0, first = 0, i
    while first < width:
        memcpy(eight, BITS[bits >> first & 0xFF], sizeof(eight))
        for i in range(BITS_AT_ONCE):
            eight[i] += first_id + first
        memcpy(&ids[count], eight, sizeof(eight))
        count += BIT_COUNT[bits >> first & 0xFF]
        first += BITS_AT_ONCE
    return count


cdef int legal_tokens(const State* state, uint16_t* ids) noexcept nogil:
    cdef uint32_t tokens = tokens_in_hand(state, state.active)
    cdef uint64_t in_hand = 0
    cdef int i
    for i in range(MAX_SOLIDITY):
        in_hand |= <uint64_t> ((tokens >> 8 * i & 0xFF) > 0) << i
    # Each branch has four ids, one for each value, so the ids are numbered in the same way as the branch's four spaces.
    in_hand *= first_spaces()
    return list_bits((in_hand & ~(state.placed[0] | state.placed[1])) >> TRUNK_SPACES, SPACES - TRUNK_SPACES, 0, ids)


cdef int legal_moves(const State* state, uint16_t* ids) noexcept nogil:
    cdef int colour = card_colour(state.card, state.active)
    cdef uint64_t cats = state.cats[colour] & ~(state.barred | state.moved)
    cdef uint64_t free = free_spaces(state)
    cdef int count = 0, start
    while cats:
        start = lowest_space(cats)
        cats &= cats - 1
        count += list_moves(ends_of_moves(state, colour, start, free), start, &ids[count])
    if start_cat_may_move(state, colour):
        count += list_moves(ends_of_moves(state, colour, START, free), START, &ids[count])
    ids[count] = STOP_ID
    return count + 1


cdef inline int list_moves(uint64_t ends, int start, uint16_t* ids) noexcept nogil:
    return list_bits(ends, SPACES, FIRST_MOVE_ID + SPACES * start, ids)


cdef int legal_actions(const void* body, uint16_t* ids) noexcept nogil:
    cdef const State* state = <const State*> body
    if state.phase == PLACE:
        return legal_tokens(state, ids)
    if state.phase == FALL:
        return list_bits(state.cats[card_colour(state.card, state.active)], SPACES, FIRST_FALL_ID, ids)
    if state.phase == BIRD:
        return list_bits(bird_spaces(state), SPACES, FIRST_BIRD_ID - TRUNK_SPACES, ids)
    return legal_moves(state, ids)


cdef int apply(void* body, int action, Events* events) noexcept nogil:
    cdef State* state = <State*> body
    cdef int fault
    if state.phase == FINISHED:
        return GAME_IS_OVER
    if not is_decision(state):
        return CHANCE_IS_PENDING  # uncovered: the core checks the actor first
    if action < 0 or action >= NUM_ACTIONS:
        return NO_SUCH_ACTION
    if action < FIRST_MOVE_ID:
        fault = forbids_token(state, action // MAX_SOLIDITY, action % MAX_SOLIDITY + 1)
        if fault == OK:
            place_token(state, action // MAX_SOLIDITY, action % MAX_SOLIDITY + 1, events)
        return fault
    if state.phase == PLACE:
        return ChatPercheFault.TOKENS_FIRST
    if state.phase == FALL:
        return apply_fall(state, action, events)
    if state.phase == BIRD:
        return apply_bird(state, action, events)
    return apply_move(state, action, events)


cdef int apply_move(State* state, int action, Events* events) noexcept nogil:
    cdef int start = (action - FIRST_MOVE_ID) // SPACES, end = (action - FIRST_MOVE_ID) % SPACES
    cdef int fault
    if action > STOP_ID:
        return ChatPercheFault.CARD_MOVES_A_CAT
    if action == STOP_ID:
        log_event(events, ChatPercheEvent.STOPPED, state.active, EVERYBODY, 0)
        end_turn(state)
        return OK
    fault = forbids_move(state, start, end)
    if fault == OK:
        move_cat(state, start, end, events)
    return fault


cdef int apply_fall(State* state, int action, Events* events) noexcept nogil:
    if action < FIRST_FALL_ID or action >= FIRST_BIRD_ID:
        return ChatPercheFault.CARD_FELLS_A_CAT
    if not state.cats[card_colour(state.card, state.active)] >> (action - FIRST_FALL_ID) & 1:
        return ChatPercheFault.NO_CAT_THERE
    fall(state, action - FIRST_FALL_ID, events)
    return OK


cdef int apply_bird(State* state, int action, Events* events) noexcept nogil:
    cdef int space = action - FIRST_BIRD_ID + TRUNK_SPACES
    if action < FIRST_BIRD_ID:
        return ChatPercheFault.CARD_PLACES_A_BIRD
    if state.broken >> space & 1:
        return ChatPercheFault.BRANCH_IS_BROKEN
    if animals(state) >> space & 1:
        return ChatPercheFault.SPACE_IS_TAKEN
    place_bird(state, space, events)
    return OK


cdef inline uint32_t deck_to_draw_from(const State* state) noexcept nogil:
    # Return the places of the cards that can be drawn. An empty deck is first refilled with all of its cards.
    return state.left[state.active] if state.left[state.active] else all_cards()


cdef int chance_outcomes(const void* body, uint16_t* outcomes, uint32_t* weights) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef uint32_t deck
    cdef int count = 0, card, i
    if state.phase == FIRST_SEAT:
        for i in range(PLAYERS):
            outcomes[i] = i
            weights[i] = 1
        return PLAYERS
    deck = deck_to_draw_from(state)
    while deck:
        card = state.full_deck[lowest_space(deck)]
        deck &= deck - 1
        if count == 0 or outcomes[count - 1] != card:
            outcomes[count] = card
            weights[count] = 0
            count += 1
        weights[count - 1] += 1
    reduce_weights(weights, count)
    return count


cdef int sample_outcome(const void* body, Stream* stream) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef uint16_t outcomes[MAX_OUTCOMES]
    cdef uint32_t weights[MAX_OUTCOMES]
    cdef uint32_t deck, last
    cdef int count
    if state.phase == TURN_UP:
        deck = deck_to_draw_from(state)
        last = last_copies(state.full_deck)
        # If some card has exactly one copy left, the weights are the numbers of copies, so draw a random copy.
        if deck & last & ~((deck & ~last) << 1):
            count = list_bits(deck, DECK_SIZE, 0, outcomes)
            return state.full_deck[outcomes[number_below(stream, count)]]
    count = chance_outcomes(body, outcomes, weights)
    return outcomes[walk_weights(stream, weights, count)]


cdef int apply_outcome(void* body, int outcome, Events* events) noexcept nogil:
    cdef State* state = <State*> body
    cdef uint32_t copies
    if state.phase == FINISHED:
        return GAME_IS_OVER  # uncovered: the core checks the actor first
    if is_decision(state):
        return NO_CHANCE_IS_PENDING  # uncovered: the core checks the actor first
    if state.phase == FIRST_SEAT:
        if outcome < 0 or outcome >= PLAYERS:
            return NO_SUCH_OUTCOME
        state.first_seat = outcome
        begin_placing(state)
        log_event(events, ChatPercheEvent.FIRST_SEAT_CHOSEN, outcome, EVERYBODY, 0)
        return OK
    if outcome < 0 or outcome >= CARD_TYPES:
        return NO_SUCH_OUTCOME
    copies = copies_of(state.full_deck, outcome) & deck_to_draw_from(state)
    if copies == 0:
        return NO_SUCH_OUTCOME
    turn_up(state, outcome, copies, events)
    return OK


# Public and hidden

cdef void view(const void* body, int seat, void* out) noexcept nogil:
    # Copy the state without the values of the tokens that the seat has not seen.
    cdef State* seen = <State*> out
    memcpy(seen, body, sizeof(State))
    seen.values &= seen.broken if seat == SPECTATOR else seen.broken | seen.placed[seat]


# How long a game can be

cdef struct Deck:
    int ones  # the number of dogs cards with one step
    int twos  # the number of dogs cards with two steps
    int decisions  # the maximum number of decisions for all cards of the deck
    int kinds


cdef inline int most_decisions(int card) noexcept nogil:
    # Return the maximum number of decisions for a card. With two cats, there are two decisions if the card has two
    # steps or more, because the first cat can then leave a step for the second.
    if card <= DOGS_2:
        return 0
    return 1 + (card >= FIRST_TWO_CAT_CARD and card_value(card) > 1)


cdef Deck read_deck(const uint8_t* cards) noexcept nogil:
    # Read a deck whose cards are in ascending order.
    cdef Deck deck = Deck(0, 0, 0, 0)
    cdef int i
    for i in range(DECK_SIZE):
        deck.ones += cards[i] == DOGS_1
        deck.twos += cards[i] == DOGS_2
        deck.decisions += most_decisions(cards[i])
        deck.kinds += i == 0 or cards[i] != cards[i - 1]
    return deck


cdef int fewest_steps(const Deck* deck, int turns) noexcept nogil:
    # Return the minimum number of steps that the dogs make in the first turns of a seat. For the minimum, the dogs
    # cards are last in each pass through the deck, and cards with one step come before cards with two steps.
    cdef int others = DECK_SIZE - deck.ones - deck.twos, place = turns % DECK_SIZE
    return (
        turns // DECK_SIZE * (deck.ones + 2 * deck.twos)
        + min(max(0, place - others), deck.ones)
        + 2 * max(0, place - others - deck.ones)
    )


cdef void limits(int players, const void* options, Limits* found) noexcept nogil:
    # The seats draw in turn, and each seat draws its whole deck before it begins again. After each turn, the dogs have
    # therefore made at least the minimum number of steps for both seats. Some order of the cards gives exactly this
    # minimum. The longest game ends with the first turn after which the minimum reaches the end of the track.
    #
    # No seat begins a pass through its deck before both seats have finished the previous pass. Each pass therefore has
    # at most the decisions of all cards of both decks. Before the first pass, a token is placed at each branch. The
    # bound is not always reached, because a card may have no cat to affect.
    cdef const Options* chosen = <const Options*> options
    cdef bint first_seat_comes = chosen == NULL or chosen.first_seat == NO_SEAT
    # Without options, assume the deck with the longest games. It has one dogs card with one step. All other cards move
    # two cats, and all cards are different.
    cdef Deck deck = Deck(1, 0, 2 * (DECK_SIZE - 1), DECK_SIZE)
    cdef int track = MAX_TRACK, turns = 0, passes
    if chosen != NULL:
        deck = read_deck(chosen.full_deck)
        track = chosen.dog_track
    while fewest_steps(&deck, (turns + 1) // 2) + fewest_steps(&deck, turns // 2) < track:
        turns += 1
    passes = (turns + PLAYERS * DECK_SIZE - 1) // (PLAYERS * DECK_SIZE)
    found.max_game_length = BRANCHES + passes * PLAYERS * deck.decisions
    found.max_chance_nodes = first_seat_comes + turns
    # The chance event with the most outcomes is the first card of a pass, or the first seat.
    found.max_chance_outcomes = max(deck.kinds, PLAYERS if first_seat_comes else 1)


cdef Operations operations = Operations(
    number=5,
    oldest_rules_version=1,
    rules_version=1,
    packed_version=1,
    body_size=sizeof(State),
    view_size=sizeof(State),
    num_actions=NUM_ACTIONS,
    observation_length=OBSERVATION_LENGTH,
    min_players=PLAYERS,
    max_players=PLAYERS,
    start=start, limits=limits, actor=actor, legal_actions=legal_actions, sample_action=NULL, end=end,
    ended_by=ended_by, apply=apply, chance_outcomes=chance_outcomes, sample_outcome=sample_outcome,
    apply_outcome=apply_outcome, settle=settle, totals=totals, ranks=ranks, view=view, observe=observe,
    resample=resample, check=check, advise=advise, weights=&WEIGHTS,
)

OPERATIONS = wrap_operations(&operations, PLAYOUT_WEIGHTS, pack_weights)
