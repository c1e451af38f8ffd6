"""Chat Cartonne: a seat's view as numbers (layout: text.py)."""

from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memset

from chatiere.engine.core.bits cimport lowest_bit, spread_bits
from chatiere.engine.core.game cimport distance_to
from chatiere.engine.games.chat_cartonne.state cimport (
    AWAKE,
    CARTONS,
    CELL,
    CELLS,
    FINISHED,
    JOINT_SHIFT,
    KIND,
    LARGEST_HAND,
    NO_CELL,
    PARTS,
    PRINCESS,
    PRINCESS_BIT,
    PRINCESS_THERE,
    SEATS,
    SIDE,
    SLEEPER,
    WORDS,
    Seat,
    State,
    View,
    current_part,
    excluded_of,
    is_cat,
    part_count,
    part_size,
    played_of,
    princess_count,
    walls_of,
)


cdef inline int code_place(int card) noexcept nogil:
    # In a list of the nine contents of cartons, then the other kinds. Without branches, as no card tells of the next.
    cdef int kind = card & KIND
    return kind % 9 + 9 * ((kind >= CARTONS) + (kind >= SLEEPER))


cdef int observe_table(const State* state, int seat, uint8_t* contents, uint8_t* walls) noexcept nogil:
    # The two planes, which are zeros so far; how many Princesses lie there.
    cdef uint8_t codes[23]  # what a cell shows, walls apart
    cdef uint64_t cells
    cdef int word, cell, card, there, place = 0, other, princesses = 0
    # Of the nine contents the first two are nothing.
    codes[:18] = [1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 17, 1, 1, 1, 1, 1]
    for other in range(state.players):
        codes[18 + other] = 12 + distance_to(seat, other, state.players)
    for word in range(WORDS):
        cells = state.filled[word]
        while cells:
            cell = 64 * word + lowest_bit(cells)
            cells &= cells - 1
            card = state.cards[place]
            place += 1
            contents[cell] = codes[code_place(card)]
            walls[cell] = walls_of(card)
            princesses += card == PRINCESS
    place = 0
    while state.joints[place]:
        there = state.joints[place] >> JOINT_SHIFT
        princesses += there == PRINCESS_THERE
        if is_cat(there):
            there = AWAKE + distance_to(seat, there - AWAKE, state.players)
        walls[state.joints[place] & CELL] |= there << 4
        place += 1
    return princesses


cdef void observe(const void* view, int seat, uint8_t* values) noexcept nogil:
    # Reads nothing but the view, so it can hold nothing that the seat does not know.
    cdef const View* seen = <const View*> view
    cdef const State* state = &seen.state
    cdef const Seat* held
    cdef uint8_t* own = values + 2 * CELLS
    cdef uint8_t* unseen = own + LARGEST_HAND
    cdef uint8_t* numbers = unseen + PRINCESS + 1
    cdef int slot, distance, other = seat, part, left, current, i, princesses
    memset(values, 0, OBSERVATION_LENGTH)
    princesses = princess_count(state) - observe_table(state, seat, values, values + CELLS)
    for slot in range(state.seats[seat].hand_size):
        own[slot] = 1 + state.seats[seat].hand[slot]
        princesses -= state.seats[seat].hand[slot] == PRINCESS
    spread_bits(state.unknown[0], 64, unseen)
    # Sixteen, as there must be: beyond the kinds of the pile they are zeros, where nothing is written yet.
    spread_bits(state.unknown[1], 16, unseen + 64)
    unseen[PRINCESS] = princesses
    numbers[0] = state.pending
    if state.just_played != NO_CELL:
        numbers[1] = 1 + state.just_played // SIDE
        numbers[2] = 1 + state.just_played % SIDE
    numbers += 3
    for distance in range(state.players):
        held = &state.seats[other]
        numbers[0] = 1
        numbers[1] = held.hand_size
        numbers[2] = held.supply
        numbers[3] = state.phase != FINISHED and state.active == other
        numbers[4] = state.first_seat == other
        numbers[5] = seen.holders >> other & 1
        for part in range(PARTS):
            numbers[6 + part] = held.drawn[part]
        for part in range(PARTS if held.played else 0):
            numbers[11 + part] = played_of(held, part)
        for slot in range(LARGEST_HAND if held.excluded else 0):
            numbers[16 + 2 * slot] = excluded_of(held, slot) & 0xFF
            numbers[17 + 2 * slot] = excluded_of(held, slot) >> PRINCESS_BIT
        numbers += OBSERVATION_SEAT_NUMBERS
        other = other + 1 if other + 1 < state.players else 0
    numbers += OBSERVATION_SEAT_NUMBERS * (SEATS - state.players)
    current = current_part(state, seen.pile_size, &left)
    for part in range(part_count(state)):
        if part >= current:
            numbers[2 * part] = left if part == current else part_size(state, part)
        numbers[2 * part + 1] = state.drawer[part] == seat
    numbers += 2 * PARTS
    numbers[0] = state.players
    numbers[1] = seen.pile_size
    numbers[2] = state.final_phase
    numbers[3] = state.passes
    for i in range(4):
        numbers[4 + i] = state.variants >> i & 1
    numbers[8 + state.phase] = 1
