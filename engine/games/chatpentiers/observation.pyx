"""Chatpentiers: a seat's view as numbers (layout: text.py)."""

from libc.stdint cimport uint8_t
from libc.string cimport memset

from chatiere.engine.core.bits cimport spread_bits
from chatiere.engine.games.chatpentiers.kernel cimport cards_to_take, score_board
from chatiere.engine.games.chatpentiers.state cimport (
    CARDS,
    COLOURS,
    FINISHED,
    MAX_PLAYERS,
    NO_CARD,
    SECTIONS,
    BoardScore,
    State,
    View,
    cards_dealt,
    cards_of_colour,
    colour_of,
    count_cards,
    deck,
    seat_after,
    seat_of_play,
)


cdef void observe(const void* view, int seat, uint8_t* values) noexcept nogil:
    # Reads nothing but the view, so it can hold nothing that the seat does not know.
    cdef const View* seen = <const View*> view
    cdef const State* state = &seen.state
    cdef uint8_t* trick = values + 2 * CARDS
    cdef uint8_t* boards = values + 5 * CARDS
    cdef uint8_t* numbers = boards + MAX_PLAYERS * CARDS
    cdef BoardScore score
    cdef int i, other, distance, colour
    memset(values, 0, OBSERVATION_LENGTH)
    spread_bits(state.hand[seat], CARDS, values)
    spread_bits(state.table, CARDS, values + CARDS)
    for i in range(state.played):
        trick[state.play[i]] = 1 + (seat_of_play(state, i) + state.players - seat) % state.players
    if state.extra != NO_CARD:
        trick[state.extra] = 1 + MAX_PLAYERS
    spread_bits(state.discards, CARDS, values + 3 * CARDS)
    spread_bits(state.undealt, CARDS, values + 4 * CARDS)
    for distance in range(state.players):
        other = seat_after(state, seat, distance)
        spread_bits(state.board[other], CARDS, boards + distance * CARDS)
        score_board(state, other, &score)
        numbers[0] = 1
        numbers[1] = seen.hand_size[other]
        numbers[2] = state.points[other][0]
        numbers[3] = state.points[other][1]
        numbers[4] = score.points
        numbers[5] = score.points - score.sum
        numbers[6] = score.perfect_sections
        numbers[7] = state.phase != FINISHED and state.active == other
        numbers[8] = state.leader == other
        for colour in range(COLOURS):
            numbers[10 + colour] = state.voids[other] >> colour & 1
            numbers[15 + colour] = state.zone[other][colour]
            numbers[20 + colour] = count_cards(state.board[other] & cards_of_colour(colour))
        numbers[9] = numbers[2] + numbers[3] + numbers[4]
        numbers += OBSERVATION_SEAT_NUMBERS
    numbers = boards + MAX_PLAYERS * CARDS + MAX_PLAYERS * OBSERVATION_SEAT_NUMBERS
    numbers[0] = state.players
    numbers[1] = state.round + 1
    numbers[2] = cards_dealt(state.players)
    for i in range(SECTIONS):
        numbers[3 + i] = state.section_limits[i]
    for colour in range(COLOURS):
        numbers[7 + colour] = (deck(state) & cards_of_colour(colour)) != 0
    if state.played:
        numbers[12 + colour_of(state.play[0])] = 1
    numbers[17] = seen.undealt_size
    numbers[18] = count_cards(state.discards)
    numbers[19] = cards_to_take(state)
    numbers[20 + state.phase] = 1
