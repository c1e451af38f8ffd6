"""Momistigri: a seat's view as numbers (layout: text.py)."""

from libc.stdint cimport int16_t
from libc.string cimport memset

from chatiere.engine.games.momistigri.state cimport (
    DRAW,
    FINISHED,
    HAND_OUT,
    KINDS,
    MARKS,
    MOST_PLAYERS,
    NO_CARD,
    PILE,
    ROUNDS,
    SWAP_IN,
    SWAP_OUT,
    State,
    View,
    copies_in_deck,
    decider,
    drawn_from,
    start_of,
)


cdef void count_cards(const State* state, int place, int16_t* counts) noexcept nogil:
    # Those that the viewer knows, of a hand or of the PILE.
    cdef int start = start_of(state, place), i
    for i in range(start, start + state.sizes[place]):
        if state.cards[i] != NO_CARD:
            counts[state.cards[i]] += 1


cdef void observe(const void* view, int seat, int16_t* values) noexcept nogil:
    # Reads nothing but the view, so it can hold nothing that the seat does not know.
    cdef const View* seen = <const View*> view
    cdef const State* state = &seen.state
    cdef int16_t* pile = values + KINDS
    cdef int16_t* unseen = pile + KINDS
    cdef int16_t* deck = unseen + KINDS
    cdef int16_t* numbers = deck + KINDS
    cdef bint drawing = DRAW <= state.phase <= SWAP_IN
    cdef int kind, distance, other, round
    memset(values, 0, OBSERVATION_LENGTH * sizeof(int16_t))
    count_cards(state, PILE, pile)
    for kind in range(KINDS):
        unseen[kind] = seen.unseen[kind]
        deck[kind] = copies_in_deck(state, kind)
    for distance in range(state.players):
        other = (seat + distance) % state.players
        count_cards(state, other, numbers + KINDS * (distance - 1) if distance else values)
    numbers += KINDS * (MOST_PLAYERS - 1)
    for distance in range(state.players):
        other = (seat + distance) % state.players
        numbers[0] = 1
        numbers[1] = state.sizes[other]
        numbers[2] = state.in_round >> other & 1
        numbers[3] = state.passed >> other & 1
        numbers[4] = state.phase >= DRAW and state.phase != FINISHED and state.active == other
        numbers[5] = SWAP_OUT <= state.phase < FINISHED and decider(state) == other
        numbers[6] = drawing and drawn_from(state) == other
        numbers[7] = state.phase == HAND_OUT and state.receiver == other
        numbers[8] = state.first_seat == other
        numbers[9] = state.most_ones[0][other] - 1
        for round in range(ROUNDS):
            numbers[10 + round] = state.penalties[round][other]
        numbers += OBSERVATION_SEAT_NUMBERS
    numbers += OBSERVATION_SEAT_NUMBERS * (MOST_PLAYERS - state.players)
    numbers[0] = state.players
    numbers[1] = state.round + 1
    numbers[2] = state.turn
    numbers[3] = state.backwards
    numbers[4] = state.draws_left
    numbers[5] = state.effect
    numbers[6] = state.swapped_out
    numbers[7 + state.mark] = 1
    numbers[7 + MARKS + state.phase] = 1
