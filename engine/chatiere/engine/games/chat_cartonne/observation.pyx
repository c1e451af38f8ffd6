"""Chat Cartonne: a seat's observation (layout: description.py)."""

from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcpy, memset

from chatiere.engine.core.bits cimport lowest_bit, spread_bits
from chatiere.engine.core.clearing cimport clear
from chatiere.engine.core.operations cimport NO_SEAT, distance_to
from .state cimport (
    AWAKE, CARTONS, CELL, CELLS, FINISHED, FIRST_SEAT, FIRST_TOY, JOINT_SHIFT, MAX_HAND, NO_CELL, PARTS, PRINCESS,
    PRINCESS_BIT, SEATS, SIDE, SLEEPER, TOYS, TURNED, WOKEN, Seat, State, View, current_part, end_word, excluded_of,
    first_word, is_cat, part_count, part_size, played_of, princess_count, walls_of,
)

# The contents shown for each card, indexed by the number of players, the seat, and the card as encoded in State.cards.
cdef uint8_t CONTENTS[SEATS + 1][SEATS][256]


cdef void fill_contents() noexcept nogil:
    cdef int players, seat, other, kind
    cdef uint8_t* shown
    memset(CONTENTS, 1, sizeof(CONTENTS))
    for players in range(2, SEATS + 1):
        for seat in range(players):
            shown = CONTENTS[players][seat]
            for kind in range(CARTONS):
                # A carton has the contents kind % 9. Contents 0 and 1 are both empty, and both are shown as 1.
                shown[kind] = shown[kind | TURNED] = max(1, kind % 9)
            for kind in range(TOYS):
                shown[FIRST_TOY + kind] = FIRST_TOY_SHOWN + kind
            shown[PRINCESS] = PRINCESS_SHOWN
            for other in range(players):
                shown[SLEEPER + other] = FIRST_SLEEPER_SHOWN + distance_to(seat, other, players)
                shown[SLEEPER + other | WOKEN] = FIRST_WOKEN_SHOWN + distance_to(seat, other, players)


fill_contents()


cdef inline void observe_table(const State* state, int seat, uint8_t* contents, uint8_t* walls) noexcept nogil:
    # Write the two planes. The caller must have set them to 0.
    cdef const uint8_t* contents_of = CONTENTS[state.players][seat]
    cdef uint64_t cells
    cdef int word, cell, place = 0, there
    for word in range(first_word(state), end_word(state)):
        cells = state.filled[word]
        while cells:
            cell = 64 * word + lowest_bit(cells)
            cells &= cells - 1
            contents[cell] = contents_of[state.cards[place]]
            walls[cell] = walls_of(state.cards[place])
            place += 1
    place = 0
    while state.joints[place]:
        there = state.joints[place] >> JOINT_SHIFT
        if is_cat(there):
            there = AWAKE + distance_to(seat, there - AWAKE, state.players)
        walls[state.joints[place] & CELL] |= there << 4
        place += 1


cdef void observe(const void* view, int seat, uint8_t* values) noexcept nogil:
    # This function reads only the view, so it cannot reveal hidden information.
    cdef const View* seen = <const View*> view
    cdef const State* state = &seen.state
    cdef const Seat* held
    cdef uint8_t* own = values + 2 * CELLS
    cdef uint8_t* unseen = own + MAX_HAND
    cdef uint8_t* numbers = unseen + PRINCESS + 1
    cdef int players = state.players, princesses = princess_count(state), parts = part_count(state)
    cdef int slot, _, other = seat, part, left, current, i
    clear(values, OBSERVATION_LENGTH)
    observe_table(state, seat, values, values + CELLS)
    for slot in range(MAX_HAND):
        own[slot] = state.seats[seat].hand[slot] + (slot < state.seats[seat].hand_size)
        princesses -= state.seats[seat].hand[slot] == PRINCESS
    spread_bits(state.unknown[0], 64, unseen)
    # spread_bits writes at least 16 bytes. The bits beyond the kinds of the pile are 0, and `numbers` is written later.
    spread_bits(state.unknown[1], 16, unseen + 64)
    numbers[0] = state.pending
    if state.just_played != NO_CELL:
        numbers[1] = 1 + state.just_played // SIDE
        numbers[2] = 1 + state.just_played % SIDE
    numbers += 3
    if FIRST_SEAT < state.phase < FINISHED:
        numbers[OBSERVATION_SEAT_NUMBERS * distance_to(seat, state.active, players) + 3] = 1
    if state.first_seat != NO_SEAT:
        numbers[OBSERVATION_SEAT_NUMBERS * distance_to(seat, state.first_seat, players) + 4] = 1
    for _ in range(players):
        held = &state.seats[other]
        numbers[0] = 1
        numbers[1] = held.hand_size
        numbers[2] = held.supply
        numbers[5] = seen.holders >> other & 1
        memcpy(numbers + 6, held.drawn, sizeof(held.drawn))
        for part in range(PARTS if held.played else 0):
            numbers[11 + part] = played_of(held, part)
            princesses -= played_of(held, part)
        for slot in range(MAX_HAND if held.excluded else 0):
            numbers[16 + 2 * slot] = excluded_of(held, slot) & 0xFF
            numbers[17 + 2 * slot] = excluded_of(held, slot) >> PRINCESS_BIT
        numbers += OBSERVATION_SEAT_NUMBERS
        other = other + 1 if other + 1 < players else 0
    # The remaining Princesses are in the pile and in other hands. Princesses that were played are on the table.
    unseen[PRINCESS] = princesses
    numbers += OBSERVATION_SEAT_NUMBERS * (SEATS - players)
    current = current_part(state, seen.pile_size, &left)
    numbers[2 * current] = left
    for part in range(current + 1, parts):
        numbers[2 * part] = part_size(state, part)
    for part in range(PARTS):
        numbers[2 * part + 1] = state.drawer[part] == seat
    numbers += 2 * PARTS
    numbers[0] = players
    numbers[1] = seen.pile_size
    numbers[2] = state.final_phase
    numbers[3] = state.passes
    for i in range(4):
        numbers[4 + i] = state.variants >> i & 1
    numbers[8 + state.phase] = 1
