"""Chat perché: a seat's view as numbers (layout: text.py)."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from chatiere.engine.core.bits cimport spread_bits
from chatiere.engine.games.chat_perche.state cimport (
    BRANCHES,
    CARD_TYPES,
    DECK_SIZE,
    FINISHED,
    LARGEST_SOLIDITY,
    NO_CARD,
    NO_SEAT,
    SPACES,
    State,
    all_cards,
    animals,
    at_branch,
    birds_beside,
    branch_spaces,
    cats_at_start,
    count_spaces,
    has_branch,
    tokens_in_hand,
)


cdef uint8_t* put_spaces(uint8_t* values, uint64_t spaces) noexcept nogil:
    spread_bits(spaces, SPACES, values)
    return values + SPACES


cdef uint8_t* put_branches(uint8_t* values, const State* state, int seat) noexcept nogil:
    cdef int branch
    for branch in range(BRANCHES):
        values[0] = has_branch(state.placed[seat], branch) + 2 * has_branch(state.placed[1 - seat], branch)
        values[1] = at_branch(state.values, branch)
        values[2] = has_branch(state.broken, branch)
        values[3] = count_spaces(animals(state) & branch_spaces(branch))
        values[4] = at_branch(state.loads, branch)
        values += 5
    return values


cdef uint8_t* put_tokens(uint8_t* values, const State* state, int seat) noexcept nogil:
    # What the own hand holds; what the other seat has that the own one has not seen; what a seat begins with.
    cdef int hand[4]
    cdef uint64_t shown = state.placed[1 - seat] & state.broken
    cdef int branch, i
    tokens_in_hand(state, seat, hand)
    for i in range(LARGEST_SOLIDITY):
        values[i] = hand[i]
        values[LARGEST_SOLIDITY + i] = values[2 * LARGEST_SOLIDITY + i] = state.solidity[i]
    for branch in range(BRANCHES):
        if has_branch(shown, branch):
            values[LARGEST_SOLIDITY + at_branch(state.values, branch) - 1] -= 1
    return values + 3 * LARGEST_SOLIDITY


cdef uint8_t* put_deck(uint8_t* values, const State* state, uint32_t cards) noexcept nogil:
    cdef int i
    for i in range(DECK_SIZE):
        values[state.full_deck[i]] += cards >> i & 1
    return values + CARD_TYPES


cdef void observe(const void* view, int seat, uint8_t* values) noexcept nogil:
    # Reads nothing but the view, so it can hold nothing that the seat does not know.
    cdef const State* state = <const State*> view
    cdef uint8_t* place = values
    cdef int other = 1 - seat
    memset(values, 0, OBSERVATION_LENGTH)
    place = put_spaces(place, state.cats[seat])
    place = put_spaces(place, state.cats[other])
    place = put_spaces(place, state.birds)
    place = put_spaces(place, state.barred)
    place = put_spaces(place, state.moved)
    place = put_branches(place, state, seat)
    place = put_tokens(place, state, seat)
    place = put_deck(place, state, state.left[seat])
    place = put_deck(place, state, state.left[other])
    place = put_deck(place, state, all_cards())
    if state.card != NO_CARD:
        place[state.card] = 1
    place += CARD_TYPES
    place[0] = state.steps
    place[1] = cats_at_start(state, seat)
    place[2] = cats_at_start(state, other)
    place[3] = birds_beside(state)
    place[4] = state.dogs
    place[5] = state.dog_track
    place[6] = state.forward_only
    place[7] = state.first_seat != NO_SEAT and state.first_seat == seat
    place[8] = state.phase != FINISHED and state.active == seat
    place += 9
    place[state.phase] = 1
