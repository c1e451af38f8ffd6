"""Momistigri: a seat's observation (layout: description.py)."""

from libc.stdint cimport uint8_t
from libc.string cimport memcpy

from chatiere.engine.core.bits cimport spread_bits
from chatiere.engine.core.clearing cimport clear
from chatiere.engine.core.operations cimport NO_SEAT
from .state cimport (
    BOX, COLOURED, DRAW, FINISHED, HAND_OUT, MARKS, MAX_PLAYERS, MOMISTIGRI_PLACE, ROUNDS, SWAP_IN, SWAP_OUT, USUAL,
    USUAL_BOX, Box, State, View, box_of, decider, drawn_from,
)


cdef void observe(const void* view, int seat, uint8_t* values) noexcept nogil:
    # This function reads only the view, so it cannot reveal hidden information.
    cdef const View* seen = <const View*> view
    cdef const State* state = &seen.state
    cdef const Box* box = box_of(state)
    cdef uint8_t* known = values + 3 * BOX
    cdef uint8_t* known_to_all = known + BOX * (MAX_PLAYERS - 1)
    cdef uint8_t* copies = known_to_all + BOX * MAX_PLAYERS
    cdef uint8_t* numbers = copies + COLOURED
    cdef int phase = state.phase, players = state.players
    cdef int turn = state.active if phase >= DRAW and phase != FINISHED else NO_SEAT
    cdef int deciding = decider(state) if SWAP_OUT <= phase < FINISHED else NO_SEAT
    cdef int giving = drawn_from(state) if DRAW <= phase <= SWAP_IN else NO_SEAT
    cdef int receiving = state.receiver if phase == HAND_OUT else NO_SEAT
    cdef int place, distance, other = seat, round
    clear(known, OBSERVATION_LENGTH - 3 * BOX)
    spread_bits(state.hands[seat], BOX, values)
    spread_bits(seen.pile, BOX, values + BOX)
    spread_bits(seen.unseen, BOX, values + 2 * BOX)
    if box == &USUAL_BOX:
        memcpy(copies, USUAL.copies, COLOURED)
    else:
        for place in range(MOMISTIGRI_PLACE):
            copies[box.kind_at[place]] += 1
    for distance in range(players):
        if distance:
            spread_bits(state.hands[other], BOX, known)
            known += BOX
        spread_bits(seen.known_to_all[other], BOX, known_to_all)
        known_to_all += BOX
        numbers[0] = 1
        numbers[1] = seen.sizes[other]
        numbers[2] = state.in_round >> other & 1
        numbers[3] = state.passed >> other & 1
        numbers[4] = turn == other
        numbers[5] = deciding == other
        numbers[6] = giving == other
        numbers[7] = receiving == other
        numbers[8] = state.first_seat == other
        numbers[9] = seen.most_ones[other]
        numbers[10] = seen.most_ones_known_to_all[other]
        for round in range(ROUNDS):
            numbers[11 + round] = state.penalties[round][other]
        numbers += OBSERVATION_SEAT_NUMBERS
        other = 0 if other + 1 == players else other + 1
    numbers += OBSERVATION_SEAT_NUMBERS * (MAX_PLAYERS - players)
    numbers[0] = players
    numbers[1] = state.round + 1
    numbers[2] = state.turn
    numbers[3] = state.backwards
    numbers[4] = state.draws_left
    numbers[5] = state.effect
    numbers[6] = state.swapped_out
    numbers[7 + state.mark] = 1
    numbers[7 + MARKS + phase] = 1
