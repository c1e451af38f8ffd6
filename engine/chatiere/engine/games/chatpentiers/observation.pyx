"""Chatpentiers: a seat's observation (layout: description.py)."""

from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcpy, memset

from chatiere.engine.core.bits cimport bit_a_byte, spread_bits
from chatiere.engine.core.operations cimport distance_to
from .state cimport (
    CARDS, COLOURS, FINISHED, FIRST_SEAT, MAX_PLAYERS, MIN_PLAYERS, NO_CARD, NO_COLOUR, SECTIONS, BoardScore, State,
    View, cards_dealt, cards_to_take, colour_of, count_by_colour, count_cards, number_at, score_board, seat_after,
    seat_of_play,
)


cdef inline void put_seat(uint8_t* numbers, const View* seen, int seat) noexcept nogil:
    cdef const State* state = &seen.state
    cdef uint64_t counts = count_by_colour(state.board[seat]), voids = bit_a_byte(state.voids[seat])
    cdef BoardScore score
    cdef int colour
    score_board(state, seat, &score)
    numbers[0] = 1
    numbers[1] = seen.hand_size[seat]
    numbers[2] = state.points[seat][0]
    numbers[3] = state.points[seat][1]
    numbers[4] = score.points
    numbers[5] = score.points - score.sum
    numbers[6] = score.perfect_sections
    numbers[7] = FIRST_SEAT < state.phase < FINISHED and state.active == seat
    numbers[8] = state.phase != FIRST_SEAT and state.leader == seat
    numbers[9] = state.points[seat][0] + state.points[seat][1] + score.points
    # Write a whole word. The next numbers overwrite the excess bytes.
    memcpy(numbers + OBSERVATION_VOIDS, &voids, sizeof(voids))
    memcpy(numbers + OBSERVATION_ZONES, state.zone[seat], COLOURS)
    for colour in range(COLOURS):
        numbers[OBSERVATION_COUNTS + colour] = number_at(counts, colour)


cdef void observe(const void* view, int seat, uint8_t* values) noexcept nogil:
    # This function reads only the view, so it cannot reveal hidden information.
    cdef const View* seen = <const View*> view
    cdef const State* state = &seen.state
    cdef uint8_t* trick = values + 2 * CARDS
    cdef uint8_t* boards = values + OBSERVATION_PLANES * CARDS
    cdef uint8_t* numbers = boards + MAX_PLAYERS * CARDS
    cdef int i, other, distance
    spread_bits(state.hand[seat], CARDS, values)
    spread_bits(state.table, CARDS, values + CARDS)
    memset(trick, 0, CARDS)
    for i in range(state.played):
        trick[state.play[i]] = 1 + distance_to(seat, seat_of_play(state, i), state.players)
    if state.extra != NO_CARD:
        trick[state.extra] = 1 + MAX_PLAYERS
    spread_bits(state.discards, CARDS, values + 3 * CARDS)
    spread_bits(state.undealt, CARDS, values + 4 * CARDS)
    # Clear the numbers of all seats that may be absent. Because the bounds are constant, this is much faster than
    # clearing only absent seats.
    for distance in range(MIN_PLAYERS, MAX_PLAYERS):
        memset(boards + distance * CARDS, 0, CARDS)
        memset(numbers + distance * OBSERVATION_SEAT_NUMBERS, 0, OBSERVATION_SEAT_NUMBERS)
    for distance in range(state.players):
        other = seat_after(state, seat, distance)
        spread_bits(state.board[other], CARDS, boards + distance * CARDS)
        put_seat(numbers + distance * OBSERVATION_SEAT_NUMBERS, seen, other)
    numbers += MAX_PLAYERS * OBSERVATION_SEAT_NUMBERS
    memset(numbers, 0, OBSERVATION_TABLE_NUMBERS)
    numbers[0] = state.players
    numbers[1] = state.round + 1
    numbers[2] = cards_dealt(state.players)
    memcpy(numbers + OBSERVATION_LIMITS, state.section_limits, SECTIONS)
    memset(numbers + OBSERVATION_COLOURS_IN_USE, 1, COLOURS)
    if state.removed_colour != NO_COLOUR:
        numbers[OBSERVATION_COLOURS_IN_USE + state.removed_colour] = 0
    if state.played:
        numbers[OBSERVATION_LED_COLOUR + colour_of(state.play[0])] = 1
    numbers[OBSERVATION_UNDEALT] = seen.undealt_size
    numbers[OBSERVATION_UNDEALT + 1] = count_cards(state.discards)
    numbers[OBSERVATION_UNDEALT + 2] = cards_to_take(state)
    numbers[OBSERVATION_PHASE + state.phase] = 1
