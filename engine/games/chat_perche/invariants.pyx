"""Chat perché: what holds in every state (rules file: "Invariants"; the rest of it where a state would break it)."""

from libc.stdint cimport uint64_t
from libc.string cimport memcmp, memset

from chatiere.engine.core.game cimport OK
from chatiere.engine.games.chat_perche.state cimport (
    BIRD,
    BIRD_CARD,
    BRANCHES,
    BRANCH_SPACES,
    CARD_TYPES,
    DECK_SIZE,
    DOGS_1,
    DOGS_2,
    FALL,
    FINISHED,
    FIRST_MOVE_CARD,
    FIRST_SEAT,
    FIRST_TWO_CAT_CARD,
    LARGEST_SOLIDITY,
    LONGEST_TRACK,
    MOVE,
    NO_CARD,
    NO_SEAT,
    PHASES,
    PLACE,
    PLAYERS,
    SECOND_MOVE,
    SPACES,
    TOKENS,
    TRUNK_LIMIT,
    TURN_UP,
    ChatPercheFault,
    State,
    animals,
    birds_beside,
    branch_spaces,
    card_colour,
    card_value,
    cats_at_start,
    count_spaces,
    is_broken,
    token_owner,
    trunk,
)
from chatiere.engine.games.chat_perche.tree cimport is_asked


cdef int check(const void* body) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef int fault = check_options(state)
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
    if state.zero[0] | state.zero[1] | state.zero[2] | state.zero[3] | state.zero[4]:
        return ChatPercheFault.NOT_ZERO
    fault = check_tokens(state)
    if fault != OK:
        return fault
    return check_before_turns(state) if state.phase <= PLACE else check_turns(state)


cdef int check_options(const State* state) noexcept nogil:
    cdef int i, cards = 0, tokens = 0
    if state.players != PLAYERS:
        return ChatPercheFault.BAD_PLAYERS
    if state.first_seat_option != NO_SEAT and state.first_seat_option >= PLAYERS:
        return ChatPercheFault.BAD_FIRST_SEAT
    if state.forward_only > 1:
        return ChatPercheFault.BAD_FORWARD_ONLY
    if state.dog_track == 0 or state.dog_track > LONGEST_TRACK:
        return ChatPercheFault.BAD_DOG_TRACK
    for i in range(LARGEST_SOLIDITY):
        tokens += state.solidity[i]
    if tokens != TOKENS:
        return ChatPercheFault.BAD_SOLIDITY
    for i in range(CARD_TYPES):
        cards += state.deck_option[i]
    # Without a dogs card the game would not end.
    if cards != DECK_SIZE or state.deck_option[DOGS_1] + state.deck_option[DOGS_2] == 0:
        return ChatPercheFault.BAD_DECK_OPTION
    return OK


cdef int check_tokens(const State* state) noexcept nogil:
    # Tokens lie beside branches as the placing has come along, each of them one that its seat has.
    cdef int tokens[2][4]
    cdef int placed[2]
    cdef int first_seat = 0 if state.phase == FIRST_SEAT else state.first_seat
    cdef int seat, branch, first, second
    memset(placed, 0, sizeof(placed))
    if (state.placed[0] | state.placed[1]) >> BRANCHES or state.placed[0] & state.placed[1]:
        return ChatPercheFault.BAD_PLACEMENT
    for seat in range(PLAYERS):
        for branch in range(LARGEST_SOLIDITY):
            tokens[seat][branch] = state.solidity[branch]
    for branch in range(BRANCHES):
        seat = token_owner(state, branch)
        if seat < 0:
            if state.value[branch]:
                return ChatPercheFault.BAD_TOKEN
            continue
        placed[seat] += 1
        if state.value[branch] == 0 or state.value[branch] > LARGEST_SOLIDITY:
            return ChatPercheFault.BAD_TOKEN
        tokens[seat][state.value[branch] - 1] -= 1
        if tokens[seat][state.value[branch] - 1] < 0:
            return ChatPercheFault.BAD_TOKEN
    if state.phase == FIRST_SEAT:
        first = second = 0
    elif state.phase == PLACE:
        # The seat that does not begin puts the first token, and somebody the next one.
        first = placed[first_seat] if placed[first_seat] < TOKENS else -1
        second = first + (state.active == state.first_seat)
    else:
        first = second = TOKENS
    if placed[first_seat] != first or placed[1 - first_seat] != second:
        return ChatPercheFault.BAD_PLACEMENT
    return OK


cdef int check_before_turns(const State* state) noexcept nogil:
    cdef int seat, branch
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
    for branch in range(BRANCHES):
        if state.load[branch]:
            return ChatPercheFault.BAD_LOAD
    for seat in range(PLAYERS):
        if memcmp(state.deck[seat], state.deck_option, CARD_TYPES):
            return ChatPercheFault.BAD_DECK
    return check_no_card(state)


cdef int check_no_card(const State* state) noexcept nogil:
    # Nobody is applying a card.
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
    # From the first turn on.
    cdef int seat, card
    cdef int fault = check_tree(state)
    if fault != OK:
        return fault
    if state.dogs > state.dog_track or (state.dogs == state.dog_track) != (state.phase == FINISHED):
        return ChatPercheFault.BAD_DOGS
    for seat in range(PLAYERS):
        for card in range(CARD_TYPES):
            if state.deck[seat][card] > state.deck_option[card]:
                return ChatPercheFault.BAD_DECK
    return check_no_card(state) if state.phase == TURN_UP or state.phase == FINISHED else check_card(state)


cdef int check_tree(const State* state) noexcept nogil:
    cdef uint64_t spaces
    cdef int colour, branch, load
    for colour in range(PLAYERS):
        if state.cats[colour] >> SPACES or cats_at_start(state, colour) < 0:
            return ChatPercheFault.BAD_CATS
        if count_spaces(state.cats[colour] & trunk()) > TRUNK_LIMIT:
            return ChatPercheFault.TRUNK_OVER_LIMIT
    if state.birds >> SPACES or state.birds & trunk() or birds_beside(state) < 0:
        return ChatPercheFault.BAD_BIRDS
    if state.cats[0] & state.cats[1] or (state.cats[0] | state.cats[1]) & state.birds:
        return ChatPercheFault.SPACE_TAKEN_TWICE
    if state.broken >> BRANCHES:
        return ChatPercheFault.BAD_BROKEN
    for branch in range(BRANCHES):
        spaces = branch_spaces(branch)
        load = count_spaces(animals(state) & spaces)
        if is_broken(state, branch):
            # A branch that holds as many as it has spaces never breaks.
            if load or state.value[branch] >= BRANCH_SPACES:
                return ChatPercheFault.BAD_BROKEN
            if state.load[branch]:
                return ChatPercheFault.BAD_LOAD
        elif load > state.load[branch] or state.load[branch] > state.value[branch]:
            return ChatPercheFault.BAD_LOAD
    return OK


cdef int check_card(const State* state) noexcept nogil:
    # The active seat decides about the card that it has turned up.
    cdef int colour
    if state.card < BIRD_CARD or state.card >= CARD_TYPES:
        return ChatPercheFault.BAD_CARD
    # It counts as discarded.
    if state.deck[state.active][state.card] >= state.deck_option[state.card]:
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
        # The first-moved cat stands in the tree, or lies at its start after a branch has broken under it.
        if state.moved == 0 and (cats_at_start(state, colour) == 0 or state.broken == 0):
            return ChatPercheFault.BAD_MOVED
    else:
        return ChatPercheFault.BAD_PHASE
    return check_is_asked(state)


cdef int check_is_asked(const State* state) noexcept nogil:
    return OK if is_asked(state) else <int> ChatPercheFault.BAD_PHASE
