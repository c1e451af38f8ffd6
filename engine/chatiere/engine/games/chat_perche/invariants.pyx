"""Chat perché: checks of the invariants of every state (rules file: Invariants, and other rules for states)."""

from libc.stdint cimport uint32_t, uint64_t

from chatiere.engine.core.operations cimport NO_SEAT, OK
from .state cimport (
    BIRD, BIRD_CARD, BRANCH_SPACES, CARD_TYPES, DECK_SIZE, DOGS_2, FALL, FINISHED, FIRST_MOVE_CARD, FIRST_SEAT,
    FIRST_TWO_CAT_CARD, MAX_SOLIDITY, MAX_TRACK, MOVE, NO_CARD, PHASES, PLACE, PLAYERS, SECOND_MOVE, SPACES, TOKENS,
    TRUNK_LIMIT, TRUNK_SPACES, TURN_UP, ZEROS, ChatPercheFault, State, all_branches, all_cards, all_tokens, animals,
    birds_beside, card_colour, card_value, cats_at_start, copies_of, count_at_branches, count_spaces, count_values,
    first_spaces, is_asked, last_copies, trunk,
)


cdef int check(const void* body) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef int fault = check_options(state), i
    if fault != OK:
        return fault
    if state.phase >= PHASES:
        return ChatPercheFault.BAD_PHASE
    if state.phase == FIRST_SEAT:
        if state.first_seat_option != NO_SEAT or state.first_seat != NO_SEAT:
            return ChatPercheFault.BAD_FIRST_SEAT
    elif state.first_seat >= PLAYERS or (
        state.first_seat_option != NO_SEAT and state.first_seat_option != state.first_seat
    ):
        return ChatPercheFault.BAD_FIRST_SEAT
    if state.active >= PLAYERS:
        return ChatPercheFault.BAD_ACTIVE_SEAT
    for i in range(ZEROS):
        if state.zero[i]:
            return ChatPercheFault.NOT_ZERO
    fault = check_tokens(state)
    if fault != OK:
        return fault
    return check_before_turns(state) if state.phase <= PLACE else check_turns(state)


cdef int check_options(const State* state) noexcept nogil:
    cdef int i, tokens = 0, falling = 0
    if state.players != PLAYERS:
        return ChatPercheFault.BAD_PLAYERS
    if state.first_seat_option != NO_SEAT and state.first_seat_option >= PLAYERS:
        return ChatPercheFault.BAD_FIRST_SEAT
    if state.forward_only > 1:
        return ChatPercheFault.BAD_FORWARD_ONLY
    if state.dog_track == 0 or state.dog_track > MAX_TRACK:
        return ChatPercheFault.BAD_DOG_TRACK
    for i in range(MAX_SOLIDITY):
        tokens += state.solidity[i]
    if tokens != TOKENS:
        return ChatPercheFault.BAD_SOLIDITY
    for i in range(DECK_SIZE - 1):
        falling |= state.full_deck[i] > state.full_deck[i + 1]
    # A deck needs a dogs card, because the game would otherwise not end.
    if falling or state.full_deck[DECK_SIZE - 1] >= CARD_TYPES or state.full_deck[0] > DOGS_2:
        return ChatPercheFault.BAD_DECK_OPTION
    return OK


cdef bint are_branches(uint64_t spaces) noexcept nogil:
    # Return True if the set consists of whole branches.
    return (spaces & first_spaces()) * 0xF == spaces


cdef inline bint are_no_less(uint64_t numbers, uint64_t others) noexcept nogil:
    # Return True if none of sixteen numbers is less than its counterpart. Each number is 0 to 7 and has four bits, the
    # highest of which is set before the subtraction. A smaller number borrows this bit.
    return (numbers | 0x8888888888888888ULL) - others & 0x8888888888888888ULL == 0x8888888888888888ULL


cdef inline bint values_are_too_large(uint64_t values) noexcept nogil:
    # Return True if any number is greater than 4.
    return (values >> 3 | values >> 2 & (values | values >> 1)) & first_spaces() != 0


cdef inline bint has_tokens(const State* state, uint64_t values) noexcept nogil:
    # Return True if a seat begins with at least as many tokens of each value as `values` has.
    return (all_tokens(state) | 0x80808080UL) - count_values(values) & 0x80808080UL == 0x80808080UL


cdef int check_tokens(const State* state) noexcept nogil:
    # Check that the tokens at branches agree with the phase, and that each token belongs to its seat.
    cdef uint64_t placed = state.placed[0] | state.placed[1]
    cdef uint64_t values = state.values
    cdef int first_seat = 0 if state.phase == FIRST_SEAT else state.first_seat
    cdef int first = count_spaces(state.placed[first_seat]), second = count_spaces(state.placed[1 - first_seat])
    if not are_branches(state.placed[0]) or not are_branches(state.placed[1]) or state.placed[0] & state.placed[1]:
        return ChatPercheFault.BAD_PLACEMENT
    if state.phase == FIRST_SEAT:
        if placed:
            return ChatPercheFault.BAD_PLACEMENT
    elif state.phase == PLACE:
        # The seat that does not begin places the first token. Some branch must still be without a token.
        if second != first + BRANCH_SPACES * (state.active == state.first_seat) or placed == all_branches():
            return ChatPercheFault.BAD_PLACEMENT
    elif placed != all_branches() or first != second:
        return ChatPercheFault.BAD_PLACEMENT
    # Each branch with a token must have a value, and a branch without a token must have no value.
    values |= values >> 1 | values >> 2 | values >> 3
    if state.values & ~placed or values & first_spaces() != placed & first_spaces():
        return ChatPercheFault.BAD_TOKEN
    if (
        values_are_too_large(state.values)
        or not has_tokens(state, state.values & state.placed[0])
        or not has_tokens(state, state.values & state.placed[1])
    ):
        return ChatPercheFault.BAD_TOKEN
    return OK


cdef int check_before_turns(const State* state) noexcept nogil:
    if state.phase == FIRST_SEAT and state.active:
        return ChatPercheFault.BAD_ACTIVE_SEAT
    if state.dogs:
        return ChatPercheFault.BAD_DOGS
    if state.cats[0] | state.cats[1]:
        return ChatPercheFault.BAD_CATS
    if state.birds:
        return ChatPercheFault.BAD_BIRDS
    if state.broken:
        return ChatPercheFault.BAD_BROKEN
    if state.loads:
        return ChatPercheFault.BAD_LOAD
    if state.left[0] != all_cards() or state.left[1] != all_cards():
        return ChatPercheFault.BAD_DECK
    return check_no_card(state)


cdef int check_no_card(const State* state) noexcept nogil:
    # Check that the fields about a card are unset, because no seat is deciding about a card.
    if state.card != NO_CARD:
        return ChatPercheFault.BAD_CARD
    if state.steps:
        return ChatPercheFault.BAD_STEPS
    if state.moved:
        return ChatPercheFault.BAD_MOVED
    if state.barred and (
        state.phase != TURN_UP
        or count_spaces(state.barred) > 2
        or (state.barred & ~state.cats[0] and state.barred & ~state.cats[1])
    ):
        return ChatPercheFault.BAD_BARRED
    return OK


cdef int check_turns(const State* state) noexcept nogil:
    # Check what must hold from the first turn on.
    cdef uint32_t last = last_copies(state.full_deck)
    cdef int seat
    cdef int fault = check_tree(state)
    if fault != OK:
        return fault
    if state.dogs > state.dog_track or (state.dogs == state.dog_track) != (state.phase == FINISHED):
        return ChatPercheFault.BAD_DOGS
    for seat in range(PLAYERS):
        if state.left[seat] & ~all_cards():
            return ChatPercheFault.BAD_DECK
        if state.left[seat] & ~last & ~(state.left[seat] >> 1):
            return ChatPercheFault.BAD_ORDER_OF_DECK
    return check_no_card(state) if state.phase == TURN_UP or state.phase == FINISHED else check_card(state)


cdef int check_tree(const State* state) noexcept nogil:
    cdef int colour
    for colour in range(PLAYERS):
        if state.cats[colour] >> SPACES or cats_at_start(state, colour) < 0:
            return ChatPercheFault.BAD_CATS
        if count_spaces(state.cats[colour] & trunk()) > TRUNK_LIMIT:
            return ChatPercheFault.TRUNK_OVER_LIMIT
    if state.birds >> SPACES or state.birds & trunk() or birds_beside(state) < 0:
        return ChatPercheFault.BAD_BIRDS
    if state.cats[0] & state.cats[1] or (state.cats[0] | state.cats[1]) & state.birds:
        return ChatPercheFault.SPACE_TAKEN_TWICE
    # A branch with solidity 4 never breaks, because it has only four spaces.
    if (
        not are_branches(state.broken)
        or state.broken & animals(state)
        or state.broken & first_spaces() & state.values >> 2
    ):
        return ChatPercheFault.BAD_BROKEN
    if state.loads & ~all_branches() or state.loads & (state.broken | first_spaces() * 8):
        return ChatPercheFault.BAD_LOAD
    if (
        not are_no_less(state.loads >> TRUNK_SPACES, count_at_branches(animals(state)) >> TRUNK_SPACES)
        or not are_no_less(state.values >> TRUNK_SPACES, state.loads >> TRUNK_SPACES)
    ):
        return ChatPercheFault.BAD_LOAD
    return OK


cdef int check_card(const State* state) noexcept nogil:
    # Check the card that the active seat has turned up and about which it decides.
    cdef uint32_t copies
    cdef int colour
    if state.card < BIRD_CARD or state.card >= CARD_TYPES:
        return ChatPercheFault.BAD_CARD
    copies = copies_of(state.full_deck, state.card)
    # The card was already discarded, so at least one of its copies must be missing from the deck.
    if copies & ~state.left[state.active] == 0:
        return ChatPercheFault.BAD_CARD
    if state.card < FIRST_MOVE_CARD:
        if state.phase != (BIRD if state.card == BIRD_CARD else FALL):
            return ChatPercheFault.BAD_PHASE
        if state.steps:
            return ChatPercheFault.BAD_STEPS
        if state.moved:
            return ChatPercheFault.BAD_MOVED
        if state.barred:
            return ChatPercheFault.BAD_BARRED
        return check_is_asked(state)
    colour = card_colour(state.card, state.active)
    if state.barred & ~state.cats[colour] or count_spaces(state.barred) > 2:
        return ChatPercheFault.BAD_BARRED
    if state.phase == MOVE:
        if state.steps != card_value(state.card):
            return ChatPercheFault.BAD_STEPS
        if state.moved:
            return ChatPercheFault.BAD_MOVED
    elif state.phase == SECOND_MOVE and state.card >= FIRST_TWO_CAT_CARD:
        if state.steps == 0 or state.steps >= card_value(state.card):
            return ChatPercheFault.BAD_STEPS
        if state.moved & ~state.cats[colour] or state.moved & state.barred or count_spaces(state.moved) > 1:
            return ChatPercheFault.BAD_MOVED
        # The cat that moved first must be in the tree, or at its start because its branch broke.
        if state.moved == 0 and (cats_at_start(state, colour) == 0 or state.broken == 0):
            return ChatPercheFault.BAD_MOVED
    else:
        return ChatPercheFault.BAD_PHASE
    return check_is_asked(state)


cdef int check_is_asked(const State* state) noexcept nogil:
    return OK if is_asked(state) else <int> ChatPercheFault.BAD_PHASE
