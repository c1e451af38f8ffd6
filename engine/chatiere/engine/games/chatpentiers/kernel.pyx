"""Chatpentiers: the rules. The sections follow the headings of the rules file, chatpentiers.md."""

from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from .policy import PLAYOUT_WEIGHTS, pack_weights

from chatiere.engine.core.bits cimport nth_bit
from chatiere.engine.core.clearing cimport clear
from chatiere.engine.core.game cimport wrap_operations
from chatiere.engine.core.moves cimport settle
from chatiere.engine.core.operations cimport (
    CHANCE, CHANCE_IS_PENDING, EVERYBODY, GAME_IS_OVER, NO_CHANCE_IS_PENDING, NO_SEAT, NO_SUCH_ACTION, NO_SUCH_OUTCOME,
    OK, SPECTATOR, TERMINAL, Events, Limits, Operations, add_event,
)
from chatiere.engine.core.stream cimport Stream, number_below
from .hidden cimport resample
from .invariants cimport check
from .observation cimport OBSERVATION_LENGTH, observe
from .policy cimport WEIGHTS, advise
from .state cimport (
    CARDS, COLOURS, DEAL, EXTRA, FINISHED, FIRST_SEAT, FIRST_TAKE_ID, MAX_PLAYERS, MIN_PLAYERS, NO_CARD, NUM_ACTIONS,
    PLAY, ROUNDS, SECTIONS, TAKE, VALUES, ZONES, BoardScore, ChatpentiersEnd, ChatpentiersEvent, ChatpentiersFault,
    Options, State, View, card_bit, cards_dealt, cards_of_colour, cards_taken, colour_of, count_cards, deck,
    first_seat_of_round, has_extra_card, lowest_card, next_seat, num_zones, rank_seats, rank_that_takes, score_board,
    taken_so_far,
)


cdef inline void log_event(Events* events, ChatpentiersEvent kind, int seat, int seen_by, int value) noexcept nogil:
    cdef uint16_t number = value
    add_event(events, kind, seat, seen_by, &number, 1)


# Components and setup

cdef void start(void* body, int players, int rules_version, const void* options) noexcept nogil:
    cdef State* state = <State*> body
    cdef const Options* chosen = <const Options*> options
    clear(state, sizeof(State))
    state.players = players
    state.rules_version = rules_version
    state.first_seat_option = chosen.first_seat
    state.first_seat = chosen.first_seat
    state.removed_colour = chosen.removed_colour
    memcpy(state.section_limits, chosen.section_limits, SECTIONS)
    state.extra = NO_CARD
    state.undealt = deck(state)
    state.phase = FIRST_SEAT
    if state.first_seat != NO_SEAT:
        begin_deal(state)


cdef void begin_deal(State* state) noexcept nogil:
    state.leader = state.active = first_seat_of_round(state)
    state.phase = DEAL


cdef void deal(State* state, int card, Events* events) noexcept nogil:
    state.hand[state.active] |= card_bit(card)
    log_event(events, ChatpentiersEvent.CARD_DEALT, state.active, 1 << state.active, card)
    state.active = next_seat(state, state.active)
    if count_cards(state.hand[state.active]) == cards_dealt(state.players):
        begin_trick(state)


# A trick: 1. the extra card

cdef void begin_trick(State* state) noexcept nogil:
    state.active = state.leader
    state.phase = EXTRA if has_extra_card(state.players) else PLAY


cdef void turn_extra_card(State* state, int card, Events* events) noexcept nogil:
    state.extra = card
    state.table = card_bit(card)
    state.phase = PLAY
    log_event(events, ChatpentiersEvent.EXTRA_CARD_TURNED, -1, EVERYBODY, card)


# A trick: 2. playing

cdef uint64_t playable(const State* state) noexcept nogil:
    # Return the cards that the active seat may play.
    cdef uint64_t hand = state.hand[state.active]
    cdef uint64_t following
    if state.played == 0:
        return hand
    following = hand & cards_of_colour(colour_of(state.play[0]))
    return following if following else hand


cdef void play(State* state, int card, Events* events) noexcept nogil:
    cdef int seat = state.active, led
    cdef uint8_t ranked[MAX_PLAYERS]
    cdef uint16_t numbers[MAX_PLAYERS]
    cdef int i
    state.hand[seat] &= ~card_bit(card)
    state.table |= card_bit(card)
    state.play[state.played] = card
    state.played += 1
    log_event(events, ChatpentiersEvent.CARD_PLAYED, seat, EVERYBODY, card)
    led = colour_of(state.play[0])
    if colour_of(card) != led and not state.voids[seat] >> led & 1:
        state.voids[seat] |= 1 << led
        log_event(events, ChatpentiersEvent.VOID_SHOWN, seat, EVERYBODY, led)
    state.active = next_seat(state, seat)
    if state.played == state.players:
        rank_seats(state, ranked)
        state.active = ranked[0]
        state.phase = TAKE
        if events != NULL:
            for i in range(state.players):
                numbers[i] = ranked[i]
            add_event(events, ChatpentiersEvent.TRICK_RANKED, -1, EVERYBODY, numbers, state.players)


# A trick: 4. taking

cdef void take(State* state, int card, int zone, Events* events) noexcept nogil:
    cdef int seat = state.active, taken
    cdef uint8_t ranked[MAX_PLAYERS]
    cdef uint16_t numbers[2]
    state.table &= ~card_bit(card)
    state.board[seat] |= card_bit(card)
    state.zone[seat][colour_of(card)] = 1 + zone
    numbers[0] = card
    numbers[1] = zone
    add_event(events, ChatpentiersEvent.CARD_TAKEN, seat, EVERYBODY, numbers, 2)
    taken = taken_so_far(state)
    if taken == cards_taken(state.players):
        end_trick(state, events)
    else:
        rank_seats(state, ranked)
        state.active = ranked[rank_that_takes(state, taken)]


# A trick: 5. placing

cdef int forbids_zone(const State* state, int seat, int card, int zone) noexcept nogil:
    cdef const uint8_t* zones = state.zone[seat]
    cdef int colour = colour_of(card), other
    if zone >= num_zones(state):
        return ChatpentiersFault.NO_ZERO_ZONE
    if zones[colour] == 1 + zone:
        return OK
    if zones[colour]:
        return ChatpentiersFault.COLOUR_LIES_ELSEWHERE
    for other in range(COLOURS):
        if zones[other] == 1 + zone:
            return ChatpentiersFault.ZONE_HOLDS_ANOTHER_COLOUR
    return OK


# A trick: 6. discarding, and the next leader

cdef void end_trick(State* state, Events* events) noexcept nogil:
    # The set of cards on the table has only one card left.
    cdef int left = lowest_card(state.table)
    state.discards |= state.table
    state.table = 0
    memset(state.play, 0, MAX_PLAYERS)
    state.played = 0
    state.extra = NO_CARD
    log_event(events, ChatpentiersEvent.CARD_DISCARDED, -1, EVERYBODY, left)
    # The next leader is the last seat that took cards. It took two cards.
    state.leader = state.active
    if state.hand[state.leader] == 0:
        end_round(state, events)
        return
    add_event(events, ChatpentiersEvent.LEADER_CHOSEN, state.leader, EVERYBODY, NULL, 0)
    begin_trick(state)


cdef void end_round(State* state, Events* events) noexcept nogil:
    cdef BoardScore score
    cdef uint16_t numbers[2]
    cdef int seat
    for seat in range(min(state.players, <int> MAX_PLAYERS)):
        score_board(state, seat, &score)
        numbers[0] = state.round + 1
        numbers[1] = score.points
        add_event(events, ChatpentiersEvent.ROUND_SCORED, seat, EVERYBODY, numbers, 2)
        if state.round < ROUNDS - 1:
            state.points[seat][state.round] = score.points
    if state.round == ROUNDS - 1:
        state.phase = FINISHED
        add_event(events, ChatpentiersEvent.GAME_ENDED, -1, EVERYBODY, NULL, 0)
        return
    state.round += 1
    state.undealt = deck(state)
    state.discards = 0
    memset(state.board, 0, sizeof(state.board))
    memset(state.zone, 0, sizeof(state.zone))
    memset(state.voids, 0, sizeof(state.voids))
    begin_deal(state)
    log_event(events, ChatpentiersEvent.ROUND_BEGUN, state.leader, EVERYBODY, state.round + 1)


# Score of a round, a seat

cdef int total(const State* state, int seat, BoardScore* score) noexcept nogil:
    # Return a seat's total. `score` receives the score of the current board.
    score_board(state, seat, score)
    return state.points[seat][0] + state.points[seat][1] + score.points


cdef int end(const void* body) noexcept nogil:
    cdef const State* state = <const State*> body
    return ChatpentiersEnd.THREE_ROUNDS if state.phase == FINISHED else 0


cdef int ended_by(const void* body) noexcept nogil:
    # Return the seat that took the last cards.
    return (<const State*> body).leader


cdef void totals(const void* body, int32_t* totals) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef BoardScore score
    cdef int seat
    for seat in range(state.players):
        totals[seat] = total(state, seat, &score)


cdef void ranks(const void* body, uint8_t* ranks) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef BoardScore score
    cdef int merit[MAX_PLAYERS]
    cdef int seat, other
    for seat in range(state.players):
        # Rank by total, then by the number of perfect sections (at most 4) in the last round.
        merit[seat] = total(state, seat, &score) * (SECTIONS + 1)
        merit[seat] += score.perfect_sections
    for seat in range(state.players):
        ranks[seat] = 1
        for other in range(state.players):
            ranks[seat] += merit[other] > merit[seat]


# Actions

cdef int actor(const void* body) noexcept nogil:
    cdef const State* state = <const State*> body
    if state.phase == PLAY or state.phase == TAKE:
        return state.active
    return TERMINAL if state.phase == FINISHED else CHANCE


cdef int list_cards(uint64_t cards, uint16_t* numbers) noexcept nogil:
    cdef int count = 0
    while cards:
        numbers[count] = lowest_card(cards)
        count += 1
        cards &= cards - 1
    return count


cdef int legal_actions(const void* body, uint16_t* ids) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef const uint8_t* zones = state.zone[state.active]
    cdef uint64_t cards = state.table
    cdef int count = 0, card, zone, colour, empty
    if state.phase == PLAY:
        return list_cards(playable(state), ids)
    # The set of zones without cards.
    empty = (1 << num_zones(state)) - 1
    for colour in range(COLOURS):
        if zones[colour]:
            empty &= ~(1 << (zones[colour] - 1))
    while cards:
        card = lowest_card(cards)
        cards &= cards - 1
        if zones[colour_of(card)]:
            ids[count] = FIRST_TAKE_ID + ZONES * card + zones[colour_of(card)] - 1
            count += 1
            continue
        for zone in range(ZONES):
            if empty >> zone & 1:
                ids[count] = FIRST_TAKE_ID + ZONES * card + zone
                count += 1
    return count


cdef int apply(void* body, int action, Events* events) noexcept nogil:
    cdef State* state = <State*> body
    cdef int card, zone, fault
    if state.phase == FINISHED:
        return GAME_IS_OVER
    if state.phase != PLAY and state.phase != TAKE:
        return CHANCE_IS_PENDING  # uncovered: the core checks the actor first
    if action < 0 or action >= NUM_ACTIONS:
        return NO_SUCH_ACTION
    if action < FIRST_TAKE_ID:
        if state.phase != PLAY:
            return ChatpentiersFault.PLAYING_NOT_A_CHOICE
        if not state.hand[state.active] & card_bit(action):
            return ChatpentiersFault.CARD_NOT_IN_HAND
        if not playable(state) & card_bit(action):
            return ChatpentiersFault.MUST_FOLLOW
        play(state, action, events)
        return OK
    if state.phase != TAKE:
        return ChatpentiersFault.TAKING_NOT_A_CHOICE
    card = (action - FIRST_TAKE_ID) // ZONES
    zone = (action - FIRST_TAKE_ID) % ZONES
    if not state.table & card_bit(card):
        return ChatpentiersFault.CARD_NOT_ON_TABLE
    fault = forbids_zone(state, state.active, card, zone)
    if fault == OK:
        take(state, card, zone, events)
    return fault


cdef int chance_outcomes(const void* body, uint16_t* outcomes, uint32_t* weights) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef int count, i
    if state.phase == FIRST_SEAT:
        count = state.players
        for i in range(count):
            outcomes[i] = i
    else:
        count = list_cards(state.undealt, outcomes)
    for i in range(count):
        weights[i] = 1
    return count


cdef int sample_outcome(const void* body, Stream* stream) noexcept nogil:
    cdef const State* state = <const State*> body
    if state.phase == FIRST_SEAT:
        return number_below(stream, state.players)
    return nth_bit(state.undealt, number_below(stream, count_cards(state.undealt)))


cdef int apply_outcome(void* body, int outcome, Events* events) noexcept nogil:
    cdef State* state = <State*> body
    if state.phase == FINISHED:
        return GAME_IS_OVER  # uncovered: the core checks the actor first
    if state.phase == PLAY or state.phase == TAKE:
        return NO_CHANCE_IS_PENDING  # uncovered: the core checks the actor first
    if state.phase == FIRST_SEAT:
        if outcome < 0 or outcome >= state.players:
            return NO_SUCH_OUTCOME
        state.first_seat = outcome
        add_event(events, ChatpentiersEvent.FIRST_SEAT_CHOSEN, outcome, EVERYBODY, NULL, 0)
        begin_deal(state)
        return OK
    if outcome < 0 or outcome >= CARDS or not state.undealt & card_bit(outcome):
        return NO_SUCH_OUTCOME
    state.undealt &= ~card_bit(outcome)
    if state.phase == DEAL:
        deal(state, outcome, events)
    else:
        turn_extra_card(state, outcome, events)
    return OK


# Public and hidden

cdef void view(const void* body, int seat, void* out) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef View* seen = <View*> out
    cdef int other
    memcpy(&seen.state, state, sizeof(State))
    seen.undealt_size = count_cards(state.undealt)
    for other in range(MAX_PLAYERS):
        seen.hand_size[other] = count_cards(state.hand[other])
        seen.state.undealt |= state.hand[other]
        seen.state.hand[other] = 0
    if seat != SPECTATOR:
        seen.state.undealt &= ~state.hand[seat]
        seen.state.hand[seat] = state.hand[seat]


# How long a game can be

cdef void limits(int players, const void* options, Limits* found) noexcept nogil:
    # All games with the same number of players have the same length. There are three rounds, with as many tricks as a
    # seat has cards. In each trick, every seat plays a card, and all cards except one are taken. Each play and each
    # taking is one decision.
    cdef const Options* chosen = <const Options*> options
    cdef bint first_seat_comes = chosen == NULL or chosen.first_seat == NO_SEAT
    cdef int tricks = cards_dealt(players)
    found.max_game_length = ROUNDS * tricks * (players + cards_taken(players))
    # Cards are dealt one at a time. With 3 players, an extra card is turned up in each trick.
    found.max_chance_nodes = first_seat_comes + ROUNDS * tricks * (players + has_extra_card(players))
    # The event with the most outcomes is the first card of a deal, because it can be any card in use.
    found.max_chance_outcomes = CARDS - (VALUES if players == 3 else 0)


cdef Operations operations = Operations(
    number=2,
    oldest_rules_version=1,
    rules_version=1,
    packed_version=1,
    body_size=sizeof(State),
    view_size=sizeof(View),
    num_actions=NUM_ACTIONS,
    observation_length=OBSERVATION_LENGTH,
    min_players=MIN_PLAYERS,
    max_players=MAX_PLAYERS,
    start=start, limits=limits, actor=actor, legal_actions=legal_actions, sample_action=NULL, end=end,
    ended_by=ended_by, apply=apply, chance_outcomes=chance_outcomes, sample_outcome=sample_outcome,
    apply_outcome=apply_outcome, settle=settle, totals=totals, ranks=ranks, view=view, observe=observe,
    resample=resample, check=check, advise=advise, weights=&WEIGHTS,
)

OPERATIONS = wrap_operations(&operations, PLAYOUT_WEIGHTS, pack_weights)
