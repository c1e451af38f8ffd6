"""Chat perché: a seat's view as numbers (layout: text.py)."""

from libc.stdint cimport int16_t, uint64_t
from libc.string cimport memset

from chatiere.engine.games.chat_perche.state cimport (
    BRANCHES,
    CARD_TYPES,
    FINISHED,
    LARGEST_SOLIDITY,
    NO_CARD,
    NO_SEAT,
    PHASES,
    SPACES,
    State,
    animals,
    birds_beside,
    branch_spaces,
    cats_at_start,
    count_spaces,
    is_broken,
    token_owner,
    tokens_in_hand,
)


cdef int16_t* put_spaces(int16_t* values, uint64_t spaces) noexcept nogil:
    cdef int space
    for space in range(SPACES):
        values[space] = spaces >> space & 1
    return values + SPACES


cdef int16_t* put_branches(int16_t* values, const State* state, int seat) noexcept nogil:
    cdef int branch, owner
    for branch in range(BRANCHES):
        owner = token_owner(state, branch)
        values[0] = 0 if owner < 0 else 1 if owner == seat else 2
        values[1] = state.value[branch]
        values[2] = is_broken(state, branch)
        values[3] = count_spaces(animals(state) & branch_spaces(branch))
        values[4] = state.load[branch]
        values += 5
    return values


cdef int16_t* put_tokens(int16_t* values, const State* state, int seat) noexcept nogil:
    # What the own hand holds; what the other seat has that the own one has not seen; what a seat begins with.
    cdef int hand[4]
    cdef int branch, i
    tokens_in_hand(state, seat, hand)
    for i in range(LARGEST_SOLIDITY):
        values[i] = hand[i]
        values[LARGEST_SOLIDITY + i] = values[2 * LARGEST_SOLIDITY + i] = state.solidity[i]
    for branch in range(BRANCHES):
        if is_broken(state, branch) and token_owner(state, branch) != seat:
            values[LARGEST_SOLIDITY + state.value[branch] - 1] -= 1
    return values + 3 * LARGEST_SOLIDITY


cdef void observe(const void* view, int seat, int16_t* values) noexcept nogil:
    # Reads nothing but the view, so it can hold nothing that the seat does not know.
    cdef const State* state = <const State*> view
    cdef int16_t* place = values
    cdef int other = 1 - seat, card
    memset(values, 0, OBSERVATION_LENGTH * sizeof(int16_t))
    place = put_spaces(place, state.cats[seat])
    place = put_spaces(place, state.cats[other])
    place = put_spaces(place, state.birds)
    place = put_spaces(place, state.barred)
    place = put_spaces(place, state.moved)
    place = put_branches(place, state, seat)
    place = put_tokens(place, state, seat)
    for card in range(CARD_TYPES):
        place[card] = state.deck[seat][card]
        place[CARD_TYPES + card] = state.deck[other][card]
        place[2 * CARD_TYPES + card] = state.deck_option[card]
    place += 3 * CARD_TYPES
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
