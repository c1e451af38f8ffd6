"""Chat Cartonne: a seat's view as numbers (layout: text.py)."""

from libc.stdint cimport uint8_t
from libc.string cimport memset

from chatiere.engine.games.chat_cartonne.boxes cimport contents_of
from chatiere.engine.games.chat_cartonne.state cimport (
    CELLS,
    FINISHED,
    FIRST_TOY,
    LARGEST_HAND,
    NO_CELL,
    PARTS,
    PILE_KINDS,
    PRINCESS,
    PRINCESS_BIT,
    PRINCESS_THERE,
    SEATS,
    SLEEPER,
    State,
    View,
    cell_of,
    current_part,
    has_kind,
    is_cat,
    is_sleeper,
    on_joint,
    part_count,
    part_size,
    princess_count,
    walls_of,
)


cdef int observe_table(const State* state, int seat, uint8_t* planes) noexcept nogil:
    # Plane after plane of CELLS numbers; how many Princesses lie there.
    cdef int place, cell, card, walls, i, there, princesses = 0
    cdef int contents[4]
    for place in range(state.laid):
        cell = cell_of(state, place)
        card = state.cards[place]
        walls = walls_of(card)
        planes[cell] = 1
        for i in range(4):
            planes[(1 + i) * CELLS + cell] = walls >> i & 1
        contents_of(card, contents)
        for i in range(4):
            planes[(5 + i) * CELLS + cell] = contents[i]
        if is_sleeper(card):
            planes[9 * CELLS + cell] = 1 + (card - SLEEPER + state.players - seat) % state.players
        elif card == PRINCESS:
            planes[9 * CELLS + cell] = PRINCESS_THERE
            princesses += 1
        there = on_joint(state, place)
        if is_cat(there):
            there = 1 + (there - 1 + state.players - seat) % state.players
        planes[10 * CELLS + cell] = there
        princesses += there == PRINCESS_THERE
    if state.just_played != NO_CELL:
        planes[11 * CELLS + state.just_played] = 1
    return princesses


cdef void observe(const void* view, int seat, uint8_t* values) noexcept nogil:
    # Reads nothing but the view, so it can hold nothing that the seat does not know.
    cdef const View* seen = <const View*> view
    cdef const State* state = &seen.state
    cdef uint8_t* own = values + 12 * CELLS
    cdef uint8_t* unseen = own + OBSERVED_KINDS
    cdef uint8_t* pending = unseen + OBSERVED_KINDS
    cdef uint8_t* numbers = pending + 8
    cdef int kind, slot, distance, other, part, left, current, i
    memset(values, 0, OBSERVATION_LENGTH)
    unseen[PRINCESS] = princess_count(state) - observe_table(state, seat, values)
    for slot in range(state.hand_size[seat]):
        kind = state.hand[seat][slot]
        own[kind] += 1
        unseen[PRINCESS] -= kind == PRINCESS
    for kind in range(PILE_KINDS):
        unseen[kind] = has_kind(state.unknown, kind)
    if state.pending:
        pending[state.pending - FIRST_TOY - (state.pending > PRINCESS)] = 1
    for distance in range(state.players):
        other = (seat + distance) % state.players
        numbers = pending + 8 + OBSERVED_SEAT_NUMBERS * distance
        numbers[0] = 1
        numbers[1] = state.hand_size[other]
        numbers[2] = state.supply[other]
        numbers[3] = state.phase != FINISHED and state.active == other
        numbers[4] = state.first_seat == other
        numbers[5] = seen.holders >> other & 1
        for part in range(PARTS):
            numbers[6 + part] = state.drawn[other][part]
            numbers[11 + part] = state.played[other][part]
        for slot in range(LARGEST_HAND):
            for i in range(PRINCESS_BIT + 1):
                numbers[16 + (PRINCESS_BIT + 1) * slot + i] = state.excluded[other][slot] >> i & 1
    numbers = pending + 8 + OBSERVED_SEAT_NUMBERS * SEATS
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
