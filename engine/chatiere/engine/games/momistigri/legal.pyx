"""Momistigri: legal actions (rules file: "A turn", "Effects of a pair of one value", "Actions")."""

from libc.stdint cimport uint16_t, uint64_t

from chatiere.engine.core.game cimport OK, seat_at
from chatiere.engine.games.momistigri.cards cimport (
    KINDS,
    MOMISTIGRI,
    MOMISTIGRI_PLACE,
    VALUES,
    Box,
    bit,
    bits_of,
    first_cards,
    further_cards,
    kinds_in,
    lowest,
)
from chatiere.engine.games.momistigri.state cimport (
    AGAIN,
    CHOICE,
    DISCARD,
    FIRST_HAND_OUT_ID,
    FIRST_NAME_ID,
    FIRST_SWAP_IN_ID,
    FIRST_SWAP_OUT_ID,
    GIVE,
    HAND_OUT,
    MAIN_ID,
    NAME,
    PASS_ID,
    REVERSE_ID,
    STOP_ID,
    SWAP_IN,
    SWAP_OUT,
    MomistigriFault,
    State,
    box_of,
    drawn_from,
)

# Of each colour, as bits, the kind of lowest and that of highest value.
cdef uint64_t LOWEST = 0x1008040201
cdef uint64_t HIGHEST = 0x100804020100


cdef list_ids_of_pairs():
    cdef int low, high
    for high in range(KINDS):
        for low in range(high + 1):
            PAIRS[high * (high + 1) // 2 + low][0] = low
            PAIRS[high * (high + 1) // 2 + low][1] = high


list_ids_of_pairs()

cdef list_partners():
    cdef int low, high
    for high in range(KINDS):
        for low in range(high + 1):
            if form_pair(low, high):
                PARTNERS[high] |= bit(low)


list_partners()


cdef bint form_pair(int low, int high) noexcept nogil:
    # One value, or one colour; the Momistigri never pairs.
    return low != MOMISTIGRI and high != MOMISTIGRI and (
        low // VALUES == high // VALUES or low % VALUES == high % VALUES
    )


cdef int list_kinds(const Box* box, uint64_t cards, int first_id, uint16_t* ids) noexcept nogil:
    # An id for each kind in a set of cards.
    cdef uint64_t left = first_cards(box, cards)
    cdef int count = 0
    while left:
        ids[count] = first_id + box.kind_at[lowest(left)]
        count += 1
        left &= left - 1
    return count


cdef int list_pairs(const State* state, const Box* box, uint16_t* ids) noexcept nogil:
    # For each kind, as the higher one: the lower kinds of its colour or value, and a second card of its own.
    cdef uint64_t hand = state.hands[state.active] & ~bit(MOMISTIGRI_PLACE), further = further_cards(box, hand)
    cdef uint64_t kinds = kinds_in(box, hand), twice = kinds_in(box, further) if further else 0
    cdef uint64_t of_value = kinds << VALUES | kinds << 2 * VALUES, of_colour, left, partners
    cdef Py_ssize_t count = 0
    cdef int kind, first_id, _
    # Kinds with a lower one of the same value, up to four colours below, or of the same colour: all but its lowest.
    of_value |= of_value << 2 * VALUES
    of_colour = (kinds | HIGHEST) - LOWEST
    left = kinds & (of_value | of_colour | twice)
    while left:
        kind = lowest(left)
        partners = PARTNERS[kind] & (kinds ^ left | twice)
        left &= left - 1
        first_id = kind * (kind + 1) // 2
        # Most kinds have few partners: two are written without counting them.
        for _ in range(2):
            ids[count] = first_id + lowest(partners | bit(MOMISTIGRI))
            count += partners != 0
            partners &= partners - 1
        while partners:
            ids[count] = first_id + lowest(partners)
            count += 1
            partners &= partners - 1
    return count


cdef int legal_actions(const void* body, uint16_t* ids) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef const Box* box = box_of(state)
    cdef int phase = state.phase, count = 0, distance
    if phase == DISCARD or phase == AGAIN:
        count = list_pairs(state, box, ids)
        ids[count] = PASS_ID if phase == DISCARD else STOP_ID
        return count + 1
    if phase == CHOICE:
        ids[0] = MAIN_ID
        ids[1] = REVERSE_ID
        return 2
    if phase == NAME:
        return list_kinds(box, state.hands[state.active], FIRST_NAME_ID, ids)
    if phase == GIVE:
        for distance in range(1, state.players):
            if state.in_round >> seat_at(state.active, distance, state.players) & 1:
                count += list_kinds(box, state.hands[state.active], id_of_gift(distance, 0), &ids[count])
        return count
    if phase == HAND_OUT:
        return list_kinds(box, state.left, FIRST_HAND_OUT_ID, ids)
    if phase == SWAP_OUT:
        return list_kinds(box, state.hands[drawn_from(state)], FIRST_SWAP_OUT_ID, ids)
    return list_kinds(box, pile_before_swap(state, box), FIRST_SWAP_IN_ID, ids)


cdef uint64_t pile_before_swap(const State* state, const Box* box) noexcept nogil:
    # Without the card just discarded.
    cdef uint64_t pile = state.left, same = pile & bits_of(box, state.swapped_out - 1)
    return pile ^ (same & -same)


cdef int forbids_card(
    const State* state,
    const Box* box,
    int kind,
    uint64_t cards,
    int phase,
    MomistigriFault not_now,
    MomistigriFault not_there,
) noexcept nogil:
    # An action of that phase, with one of the cards of a hand or of the pile.
    if state.phase != phase:
        return not_now
    if cards & bits_of(box, kind) == 0:
        return not_there
    return OK


cdef int forbids_naming(const State* state, const Box* box, int kind) noexcept nogil:
    return forbids_card(
        state,
        box,
        kind,
        state.hands[state.active],
        NAME,
        MomistigriFault.NO_NAMING_NOW,
        MomistigriFault.CARD_NOT_IN_HAND,
    )


cdef int forbids_gift(const State* state, const Box* box, int distance, int kind) noexcept nogil:
    cdef int fault = forbids_card(
        state,
        box,
        kind,
        state.hands[state.active],
        GIVE,
        MomistigriFault.NO_GIVING_NOW,
        MomistigriFault.CARD_NOT_IN_HAND,
    )
    if fault != OK:
        return fault
    if 0 < distance < state.players and state.in_round >> seat_at(state.active, distance, state.players) & 1:
        return OK
    return MomistigriFault.SEAT_NOT_ELIGIBLE


cdef int forbids_handing_out(const State* state, const Box* box, int kind) noexcept nogil:
    return forbids_card(
        state,
        box,
        kind,
        state.left,
        HAND_OUT,
        MomistigriFault.NO_HANDING_OUT_NOW,
        MomistigriFault.CARD_NOT_IN_PILE,
    )


cdef int forbids_swapping_out(const State* state, const Box* box, int kind) noexcept nogil:
    return forbids_card(
        state,
        box,
        kind,
        state.hands[drawn_from(state)],
        SWAP_OUT,
        MomistigriFault.NO_SWAPPING_OUT_NOW,
        MomistigriFault.CARD_NOT_IN_HAND,
    )


cdef int forbids_swapping_in(const State* state, const Box* box, int kind) noexcept nogil:
    cdef int fault = forbids_card(
        state,
        box,
        kind,
        state.left,
        SWAP_IN,
        MomistigriFault.NO_SWAPPING_IN_NOW,
        MomistigriFault.CARD_NOT_IN_PILE,
    )
    if fault == OK and pile_before_swap(state, box) & bits_of(box, kind) == 0:
        return MomistigriFault.CARD_JUST_SWAPPED_OUT
    return fault
