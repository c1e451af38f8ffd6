"""Discat: a seat's view as numbers (layout: text.py)."""

from libc.stdint cimport uint8_t
from libc.string cimport memset

from chatiere.engine.games.discat.state cimport (
    CARD,
    FINISHED,
    TOP,
    State,
    View,
    card_in_slot,
    cards_in_use,
    constraint_of,
    creator_of,
    passes_in_a_row,
    points_up,
    respects,
)


cdef void observe(const void* view, int seat, uint8_t* values) noexcept nogil:
    # Reads nothing but the view, so it can hold nothing that the seat does not know.
    cdef const View* seen = <const View*> view
    cdef const State* state = &seen.state
    cdef uint8_t* own = values
    cdef uint8_t* laid = own + OBSERVATION_CARDS
    cdef uint8_t* known = laid + OBSERVATION_CARDS
    cdef uint8_t* meets = known + OBSERVATION_CARDS
    cdef uint8_t* up = meets + OBSERVATION_CARDS
    cdef uint8_t* used = up + OBSERVATION_CARDS
    cdef uint8_t* numbers = used + OBSERVATION_CARDS
    cdef int constraint = constraint_of(state)
    cdef int card, i, other, distance
    memset(values, 0, OBSERVATION_LENGTH)
    for card in range(1, cards_in_use(state.players) + 1):
        used[card - 1] = 1
        up[card - 1] = points_up(state, card)
        meets[card - 1] = constraint == 0 or respects(state, constraint, card)
    for i in range(state.hand_size[seat]):
        own[card_in_slot(state.hand[seat], i) - 1] = 1
    for i in range(state.laid):
        laid[(state.cards[i] & CARD) - 1] = 1
    for i in range(state.queue_length):
        card = state.under[state.redrawn_count + i]
        if card:
            known[card - 1] = 1
    for distance in range(state.players):
        other = (seat + distance) % state.players
        for i in range(state.hand_size[other] if distance else 0):
            card = card_in_slot(state.hand[other], i)
            if card:
                known[card - 1] = 1 + distance
        numbers[0] = 1
        numbers[1] = state.hand_size[other]
        numbers[2] = seen.table.pile_count[other]
        numbers[3] = seen.table.bonus_count[other]
        numbers[5] = seen.table.turned >> other & 1
        numbers[6] = state.phase != FINISHED and state.active == other
        numbers[7] = constraint != 0 and creator_of(state) == other
        numbers += OBSERVATION_SEAT_NUMBERS
    # Later cards overwrite earlier ones: the last laid by a seat is its top.
    numbers = used + OBSERVATION_CARDS
    for i in range(state.laid):
        if state.cards[i] & TOP:
            distance = (seen.table.owner[i] + state.players - seat) % state.players
            numbers[OBSERVATION_SEAT_NUMBERS * distance + 4] = state.cards[i] & CARD
    numbers += OBSERVATION_SEATS * OBSERVATION_SEAT_NUMBERS
    numbers[0] = state.players
    # In a view `unknown` is more than the pile: its size is what is neither laid nor in a hand.
    numbers[1] = cards_in_use(state.players) - state.laid
    for other in range(state.players):
        numbers[1] -= state.hand_size[other]
    numbers[2] = state.queue_length
    numbers[3] = passes_in_a_row(state)
    numbers[4] = state.bonus_drawn
    numbers[5] = state.last_turns
    numbers[6 + state.phase] = 1
