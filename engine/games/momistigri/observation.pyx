"""Momistigri: a seat's view as numbers (layout: text.py)."""

from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memset

from chatiere.engine.games.momistigri.cards cimport KINDS, lowest
from chatiere.engine.games.momistigri.state cimport (
    DRAW,
    FINISHED,
    HAND_OUT,
    MARKS,
    MOST_PLAYERS,
    ROUNDS,
    SWAP_IN,
    SWAP_OUT,
    State,
    View,
    deck,
    decider,
    drawn_from,
)


cdef void count_kinds(const State* state, uint64_t cards, uint8_t* counts) noexcept nogil:
    while cards:
        counts[state.box.kind_at[lowest(cards)]] += 1
        cards &= cards - 1


cdef void observe(const void* view, int seat, uint8_t* values) noexcept nogil:
    # Reads nothing but the view, so it can hold nothing that the seat does not know.
    cdef const View* seen = <const View*> view
    cdef const State* state = &seen.state
    cdef uint8_t* pile = values + KINDS
    cdef uint8_t* unseen = pile + KINDS
    cdef uint8_t* used = unseen + KINDS
    cdef uint8_t* numbers = used + KINDS
    cdef bint drawing = DRAW <= state.phase <= SWAP_IN
    cdef int kind, distance, other, round
    memset(values, 0, OBSERVATION_LENGTH)
    count_kinds(state, state.pile, pile)
    count_kinds(state, deck(state), used)
    for kind in range(KINDS):
        unseen[kind] = seen.unseen[kind]
    for distance in range(state.players):
        other = (seat + distance) % state.players
        count_kinds(state, state.hands[other], numbers + KINDS * (distance - 1) if distance else values)
    numbers += KINDS * (MOST_PLAYERS - 1)
    for distance in range(state.players):
        other = (seat + distance) % state.players
        numbers[0] = 1
        numbers[1] = seen.sizes[other]
        numbers[2] = state.in_round >> other & 1
        numbers[3] = state.passed >> other & 1
        numbers[4] = state.phase >= DRAW and state.phase != FINISHED and state.active == other
        numbers[5] = SWAP_OUT <= state.phase < FINISHED and decider(state) == other
        numbers[6] = drawing and drawn_from(state) == other
        numbers[7] = state.phase == HAND_OUT and state.receiver == other
        numbers[8] = state.first_seat == other
        numbers[9] = seen.most_ones[other]
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
