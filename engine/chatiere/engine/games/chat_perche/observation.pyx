"""Chat perché: a seat's observation (layout: description.py)."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from chatiere.engine.core.bits cimport spread_bits
from .state cimport (
    BRANCHES, CARD_TYPES, DECK_SIZE, FINISHED, FIRST_SEAT, MAX_SOLIDITY, NO_CARD, SPACES, State, TRUNK_SPACES,
    all_tokens, animals, at_branch, birds_beside, cats_at_start, count_at_branches, first_spaces, tokens_in_hand,
)


cdef uint8_t* put_spaces(uint8_t* values, uint64_t spaces) noexcept nogil:
    spread_bits(spaces, SPACES, values)
    return values + SPACES


cdef inline uint8_t* put_numbers(uint8_t* values, uint64_t numbers) noexcept nogil:
    # Write the number of each branch: eight branches in parallel, then the last two.
    cdef uint64_t eight = numbers >> TRUNK_SPACES & 0xFFFFFFFFULL
    eight = (eight | eight << 16) & 0x0000FFFF0000FFFFULL
    eight = (eight | eight << 8) & 0x00FF00FF00FF00FFULL
    eight = (eight | eight << 4) & 0x0F0F0F0F0F0F0F0FULL
    memcpy(values, &eight, sizeof(eight))
    values[8] = at_branch(numbers, 8)
    values[9] = at_branch(numbers, 9)
    return values + BRANCHES


cdef inline uint8_t* put_tokens(uint8_t* values, uint32_t tokens) noexcept nogil:
    memcpy(values, &tokens, sizeof(tokens))
    return values + MAX_SOLIDITY


cdef inline uint8_t* put_deck(uint8_t* values, uint32_t cards) noexcept nogil:
    spread_bits(cards, DECK_SIZE, values)
    return values + DECK_SIZE


cdef void observe(const void* view, int seat, uint8_t* values) noexcept nogil:
    # This function reads only the view, so it cannot reveal hidden information.
    cdef const State* state = <const State*> view
    cdef uint8_t* place = values
    cdef int other = 1 - seat
    place = put_spaces(place, state.cats[seat])
    place = put_spaces(place, state.cats[other])
    place = put_spaces(place, state.birds)
    place = put_spaces(place, state.barred)
    place = put_spaces(place, state.moved)
    place = put_numbers(place, state.placed[seat] & first_spaces() | (state.placed[other] & first_spaces()) << 1)
    place = put_numbers(place, state.values)
    place = put_numbers(place, state.broken & first_spaces())
    place = put_numbers(place, count_at_branches(animals(state)))
    place = put_numbers(place, state.loads)
    # Write only the values that the seat has seen, because the view contains no other values.
    place = put_tokens(place, tokens_in_hand(state, seat))
    place = put_tokens(place, tokens_in_hand(state, other))
    place = put_tokens(place, all_tokens(state))
    memcpy(place, state.full_deck, DECK_SIZE)
    place = put_deck(place + DECK_SIZE, state.left[seat])
    place = put_deck(place, state.left[other])
    memset(place, 0, values + OBSERVATION_LENGTH - place)
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
    place[7] = state.first_seat == seat
    place[8] = FIRST_SEAT < state.phase < FINISHED and state.active == seat
    place += OBSERVATION_TABLE_NUMBERS
    place[state.phase] = 1
