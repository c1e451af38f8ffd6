"""Chatpentiers: checks of the invariants of every state (rules file: Invariants), and of bounds for memory safety."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from chatiere.engine.core.operations cimport NO_SEAT, OK
from .state cimport (
    CARDS, COLOURS, DEAL, EXTRA, FINISHED, FIRST_SEAT, MAX_LIMIT, MAX_PLAYERS, MIN_PLAYERS, NO_CARD, NO_COLOUR, PHASES,
    PLAY, ROUNDS, SECTIONS, TAKE, ChatpentiersFault, State, cards_dealt, cards_taken, colour_of, colours_in,
    count_cards, deck, first_seat_of_round, has_extra_card, num_zones, rank_seats, rank_that_takes, seat_after,
    seat_of_play, taken_so_far, trick_cards, zones_of,
)


cdef int check(const void* body) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef int fault
    if state.players < MIN_PLAYERS or state.players > MAX_PLAYERS:
        return ChatpentiersFault.BAD_PLAYERS
    if state.phase >= PHASES:
        return ChatpentiersFault.BAD_PHASE
    fault = check_options(state)
    if fault != OK:
        return fault
    if state.round >= ROUNDS:
        return ChatpentiersFault.BAD_ROUND
    if state.leader >= state.players:
        return ChatpentiersFault.BAD_LEADER
    if state.active >= state.players:
        return ChatpentiersFault.BAD_ACTIVE_SEAT
    if state.zero | state.more_zero[0] | state.more_zero[1] | state.more_zero[2]:
        return ChatpentiersFault.NOT_ZERO
    fault = check_places(state)
    if fault == OK:
        fault = check_boards(state)
    if fault != OK:
        return fault
    if state.phase == FIRST_SEAT or state.phase == DEAL:
        return check_deal(state)
    return check_trick(state)


cdef int check_options(const State* state) noexcept nogil:
    cdef int section
    if state.first_seat_option != NO_SEAT and state.first_seat_option >= state.players:
        return ChatpentiersFault.BAD_FIRST_SEAT
    if state.phase == FIRST_SEAT:
        if state.first_seat_option != NO_SEAT or state.first_seat != NO_SEAT:
            return ChatpentiersFault.BAD_FIRST_SEAT
    elif state.first_seat >= state.players or (
        state.first_seat_option != NO_SEAT and state.first_seat_option != state.first_seat
    ):
        return ChatpentiersFault.BAD_FIRST_SEAT
    for section in range(SECTIONS):
        if state.section_limits[section] == 0 or state.section_limits[section] > MAX_LIMIT:
            return ChatpentiersFault.BAD_LIMITS
    if state.removed_colour >= COLOURS if state.players == 3 else state.removed_colour != NO_COLOUR:
        return ChatpentiersFault.BAD_REMOVED_COLOUR
    return OK


cdef int check_places(const State* state) noexcept nogil:
    # Check that every card of the round is in exactly one place, and that each card that was played and taken is on a
    # board.
    cdef uint64_t seen = state.undealt, twice = seen & state.table
    cdef int seat
    seen |= state.table
    twice |= seen & state.discards
    seen |= state.discards
    for seat in range(MAX_PLAYERS):
        twice |= seen & state.hand[seat]
        seen |= state.hand[seat]
        twice |= seen & state.board[seat]
        seen |= state.board[seat]
    if twice or seen != deck(state):
        return ChatpentiersFault.CARD_TWICE_OR_MISSING
    return OK


cdef inline uint64_t wrong_in_zones(uint64_t zones, int lying, int most) noexcept nogil:
    # Return 0 if the zones are valid. `zones` has one byte for each colour, and `lying` has the colours on the board.
    # Adding 127 carries into bit 7 of each byte that has a zone. Adding 127 - `most` carries if the zone does not
    # exist.
    cdef uint64_t ones = 0x0101010101ULL
    cdef uint64_t some = zones + 0x7F * ones >> 7 & ones
    cdef uint64_t wrong = (zones + (0x7F - most) * ones & 0x80 * ones) | (zones & 0xF8 * ones)
    # The number of colours in each zone has four bits. It is at most 1, except at 0 (no zone). The product gathers the
    # lowest bits of `some`.
    cdef uint32_t colours = 0
    cdef int colour
    for colour in range(COLOURS):
        colours += <uint32_t> 1 << 4 * (zones >> 8 * colour & 7)
    return wrong | colours & 0xEEEEEEE0UL | (some * 0x102040810ULL >> 32 & 0x1F) ^ <uint64_t> lying


cdef int check_boards(const State* state) noexcept nogil:
    # Check that zones, voids and points are possible, and that unused seats have no cards, voids or points.
    cdef int most = SECTIONS, removed = ~colours_in(deck(state))
    cdef int seat, section
    cdef uint64_t wrong_zones = 0
    cdef int wrong_voids = 0
    cdef bint wrong_points = False
    for section in range(SECTIONS):
        most += state.section_limits[section]
    # Check all seats before reporting a fault. Most states are valid, so this is faster than stopping at the first
    # fault.
    for seat in range(state.players):
        wrong_zones |= wrong_in_zones(zones_of(state, seat), colours_in(state.board[seat]), num_zones(state))
        wrong_voids |= state.voids[seat] & (colours_in(state.hand[seat]) | removed)
        wrong_points |= state.points[seat][0] > (most if state.round > 0 else 0)
        wrong_points |= state.points[seat][1] > (most if state.round > 1 else 0)
    for seat in range(state.players, MAX_PLAYERS):
        if state.hand[seat] or state.board[seat]:
            return ChatpentiersFault.BAD_HAND
        wrong_zones |= zones_of(state, seat)
        wrong_voids |= state.voids[seat]
        wrong_points |= (state.points[seat][0] | state.points[seat][1]) != 0
    if wrong_zones:
        return ChatpentiersFault.BAD_ZONES
    if wrong_voids:
        return ChatpentiersFault.BAD_VOIDS
    return <int> ChatpentiersFault.BAD_POINTS if wrong_points else OK


cdef int check_deal(const State* state) noexcept nogil:
    # Check the sizes of the hands. The seats from the round's first seat to the seat before the active one must have
    # one card more than the rest.
    cdef int seat, place, size, extra = 1
    if state.played or state.extra != NO_CARD:
        return ChatpentiersFault.BAD_PLAYS
    if state.table:
        return ChatpentiersFault.BAD_TABLE
    if state.discards:
        return ChatpentiersFault.BAD_DISCARDS
    for seat in range(MAX_PLAYERS):
        if state.play[seat]:
            return ChatpentiersFault.NOT_ZERO
        if state.voids[seat]:
            return ChatpentiersFault.BAD_VOIDS
        if state.board[seat]:
            return ChatpentiersFault.BAD_BOARDS
    if state.phase == FIRST_SEAT:
        if state.round:
            return ChatpentiersFault.BAD_ROUND
        if state.leader:
            return ChatpentiersFault.BAD_LEADER
        if state.active:
            return ChatpentiersFault.BAD_ACTIVE_SEAT
        if state.undealt != deck(state):
            return ChatpentiersFault.BAD_HAND
        return OK
    if state.leader != first_seat_of_round(state):
        return ChatpentiersFault.BAD_LEADER
    size = count_cards(state.hand[state.active])
    if size >= cards_dealt(state.players):
        return ChatpentiersFault.BAD_HAND
    for place in range(state.players):
        seat = seat_of_play(state, place)
        if seat == state.active:
            extra = 0
        if count_cards(state.hand[seat]) != size + extra:
            return ChatpentiersFault.BAD_HAND
    return OK


cdef int check_trick(const State* state) noexcept nogil:
    # Check what must hold from the first trick of a round on: the trick agrees with the phase, and the numbers of cards
    # agree with the number of tricks.
    cdef int players = state.players, phase = state.phase, played = state.played
    cdef int tricks, size, place, fault, taken = 0, shown = 0
    cdef uint64_t boards = 0, trick
    if phase == EXTRA and not has_extra_card(players):
        return ChatpentiersFault.BAD_PHASE
    if (has_extra_card(players) and (phase == PLAY or phase == TAKE)) != (state.extra != NO_CARD):
        return ChatpentiersFault.BAD_EXTRA
    if state.extra != NO_CARD and state.extra >= CARDS:
        return ChatpentiersFault.BAD_EXTRA
    if played > players or (played == players) != (phase == TAKE) or (played and phase != PLAY and phase != TAKE):
        return ChatpentiersFault.BAD_PLAYS
    size = count_cards(state.hand[state.leader]) + (played > 0)
    for place in range(players):
        if count_cards(state.hand[seat_of_play(state, place)]) + (place < played) != size:
            return ChatpentiersFault.BAD_HAND
        boards |= state.board[place]
        shown |= state.voids[place]
    tricks = cards_dealt(players) - size
    if tricks < 0 or (size == 0) != (phase == FINISHED):
        return ChatpentiersFault.BAD_HAND
    if phase == FINISHED and state.round != ROUNDS - 1:
        return ChatpentiersFault.BAD_ROUND
    if tricks == 0 and state.leader != first_seat_of_round(state):
        return ChatpentiersFault.BAD_LEADER
    if phase != TAKE and state.active != seat_after(state, state.leader, played):
        return ChatpentiersFault.BAD_ACTIVE_SEAT
    for place in range(MAX_PLAYERS):
        if state.play[place] >= CARDS or (place >= played and state.play[place]):
            return ChatpentiersFault.BAD_PLAYS
    trick = trick_cards(state)
    if count_cards(trick) != played + (state.extra != NO_CARD):
        return ChatpentiersFault.BAD_PLAYS
    if state.table & ~trick or trick & ~(state.table | boards):
        return ChatpentiersFault.BAD_TABLE
    if phase == TAKE:
        taken = taken_so_far(state)
        fault = check_taking(state, trick, taken)
        if fault != OK:
            return fault
    elif state.table != trick:
        return ChatpentiersFault.BAD_TABLE
    if count_cards(state.discards) != tricks:
        return ChatpentiersFault.BAD_DISCARDS
    if count_cards(boards) != tricks * cards_taken(players) + taken:
        return ChatpentiersFault.BAD_BOARDS
    return check_shown(state, tricks, shown)


cdef int check_taking(const State* state, uint64_t trick, int taken) noexcept nogil:
    # Check that the cards taken are on the boards of the first seats in rank order, and that the next seat in this
    # order is active.
    cdef uint8_t ranked[MAX_PLAYERS]
    cdef int due[MAX_PLAYERS]
    cdef int i
    if taken >= cards_taken(state.players):
        return ChatpentiersFault.BAD_TABLE
    memset(due, 0, sizeof(due))
    rank_seats(state, ranked)
    for i in range(taken):
        due[ranked[rank_that_takes(state, i)]] += 1
    for i in range(state.players):
        if count_cards(state.board[i] & trick) != due[i]:
            return ChatpentiersFault.BAD_TABLE
    if state.active != ranked[rank_that_takes(state, taken)]:
        return ChatpentiersFault.BAD_ACTIVE_SEAT
    return OK


cdef int check_shown(const State* state, int tricks, int shown) noexcept nogil:
    # Check `shown`, the colours that some seat has failed to follow. Each of them was led in a separate trick to which
    # at least two cards were played.
    cdef int place, led
    cdef bint unshown = False
    if count_cards(shown) > tricks + (state.played > 1):
        return ChatpentiersFault.BAD_VOIDS
    if state.played == 0:
        return OK
    led = colour_of(state.play[0])
    if tricks == 0 and shown & ~(1 << led):
        return ChatpentiersFault.BAD_VOIDS
    for place in range(1, state.played):
        unshown |= colour_of(state.play[place]) != led and not state.voids[seat_of_play(state, place)] >> led & 1
    return <int> ChatpentiersFault.BAD_VOIDS if unshown else OK
