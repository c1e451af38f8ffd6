"""Momistigri: checks of the invariants of every state (rules file: Invariants), and of bounds for memory safety."""

from libc.stdint cimport uint64_t
from libc.string cimport memcmp, memcpy

from chatiere.engine.core.operations cimport NO_SEAT, OK
from .state cimport (
    AGAIN, BOX, CHOICE, COLOURED, DEAL, DEALT, DISCARD, DRAW, FEWEST_PLAYERS, FINISHED, FIRST_SEAT, GIVE, HAND_OUT,
    KINDS, KNOWERS, LAST_CHOICE, LAST_TURN, MARKS, MAX_DRAW, MAX_PLAYERS, MOMISTIGRI, MOMISTIGRI_PLACE, NAME, ONES,
    PHASES, PLACES_OF_BOX, PUBLIC, ROUNDS, SWAP, SWAP_IN, SWAP_OUT, THREE, TWO, USUAL_BOX, VALUES, ZEROS, Box,
    MomistigriFault, State, bit, bits_of, box_of, count_cards, count_fewest, deck_for, drawn_from, further_cards,
    of_value, penalty_so_far, sum_of,
)
from .hidden cimport all_knowers

cdef enum:
    BOX_WORDS = 7  # the size of a box in words of 8 bytes
    # The number of bits of a counter for the cards of one value. The count is at most 45.
    BITS_A_VALUE = 6


cdef int check(const void* body) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef const Box* box = box_of(state)
    cdef int fault = check_numbers(state)
    if fault == OK:
        fault = check_box(state)
    if fault != OK:
        return fault
    fault = check_cards(state, box)
    if fault == OK:
        fault = check_knowledge(state, box)
    if fault == OK:
        fault = check_rounds(state, box)
    if fault == OK:
        fault = check_deal(state) if state.phase <= DEAL else check_turn(state, box)
    return fault


cdef int check_numbers(const State* state) noexcept nogil:
    # Check that each number is in its range, and that a number without a meaning is 0.
    cdef int phase = state.phase, i
    if state.players < FEWEST_PLAYERS or state.players > MAX_PLAYERS:
        return MomistigriFault.BAD_PLAYERS
    if phase >= PHASES:
        return MomistigriFault.BAD_PHASE
    if state.active >= state.players or (phase == FIRST_SEAT and state.active):
        return MomistigriFault.BAD_ACTIVE_SEAT
    if state.round >= ROUNDS or (phase == FIRST_SEAT and state.round) or (phase == FINISHED and state.round == 0):
        return MomistigriFault.BAD_ROUND
    if state.first_seat_option != NO_SEAT and state.first_seat_option >= state.players:
        return MomistigriFault.BAD_FIRST_SEAT
    if phase == FIRST_SEAT:
        if state.first_seat_option != NO_SEAT or state.first_seat != NO_SEAT:
            return MomistigriFault.BAD_FIRST_SEAT
    elif state.first_seat >= state.players or (
        state.round == 0 and state.first_seat_option != NO_SEAT and state.first_seat_option != state.first_seat
    ):
        return MomistigriFault.BAD_FIRST_SEAT
    if state.turn > LAST_TURN or (state.turn == 0) != (phase <= DEAL):
        return MomistigriFault.BAD_TURN
    if state.backwards > 1:
        return MomistigriFault.BAD_DIRECTION
    if state.in_round >> state.players:
        return MomistigriFault.BAD_IN_ROUND
    if state.passed & ~state.in_round:
        return MomistigriFault.BAD_PASSED
    if state.mark >= MARKS or (state.mark and phase != DRAW):
        return MomistigriFault.BAD_MARK
    if state.draws_left > MAX_DRAW or (state.draws_left > 0) != (phase == DRAW):
        return MomistigriFault.BAD_DRAWS
    if state.effect > LAST_CHOICE or (state.effect > 0) != (phase == CHOICE):
        return MomistigriFault.BAD_EFFECT
    if state.receiver >= state.players or (state.receiver and phase != HAND_OUT):
        return MomistigriFault.BAD_RECEIVER
    if state.swapped_out > KINDS or (state.swapped_out > 0) != (phase == SWAP_IN):
        return MomistigriFault.BAD_SWAPPED_OUT
    for i in range(ZEROS):
        if state.zero[i]:
            return MomistigriFault.NOT_ZERO
    return OK


cdef int check_box(const State* state) noexcept nogil:
    # The box must have nine cards of value 1, eight of value 2 and so on. The default box is stored as zeros.
    cdef const Box* box = &state.box
    cdef uint64_t numbers = 0, firsts = 0
    cdef int place, kind = -1, wrong = 0
    if all_zero(box):
        return OK
    for place in range(MOMISTIGRI_PLACE):
        wrong |= box.kind_at[place] < kind or box.kind_at[place] >= COLOURED
        firsts |= <uint64_t> (box.kind_at[place] != kind) << place
        kind = box.kind_at[place]
        numbers += <uint64_t> 1 << BITS_A_VALUE * (kind % VALUES)
    for place in range(MOMISTIGRI_PLACE, PLACES_OF_BOX):
        wrong |= box.kind_at[place] != MOMISTIGRI
    if wrong or firsts | bit(MOMISTIGRI_PLACE) != box.firsts or memcmp(box, &USUAL_BOX, sizeof(Box)) == 0:
        return MomistigriFault.BAD_COPIES
    for place in range(VALUES):
        wrong = numbers >> BITS_A_VALUE * place & (1 << BITS_A_VALUE) - 1
        if wrong != VALUES - place:
            return MomistigriFault.BAD_COPIES
    return OK


cdef bint all_zero(const Box* box) noexcept nogil:
    cdef uint64_t words[BOX_WORDS]
    cdef uint64_t ones = 0
    cdef int i
    memcpy(words, box, sizeof(words))
    for i in range(BOX_WORDS):
        ones |= words[i]
    return ones == 0


cdef int check_cards(const State* state, const Box* box) noexcept nogil:
    # Check that each card of the deck is in one hand or in `left`. The places of each kind must be in the order of
    # seats, with `left` last.
    cdef uint64_t there = 0, twice = 0, misplaced = 0, hand
    cdef int seat
    for seat in range(MAX_PLAYERS):
        hand = state.hands[seat]
        twice |= there & hand
        there |= hand
        misplaced |= hand & ~(there << 1)
    if there >> BOX:
        return MomistigriFault.BAD_HAND
    if state.left >> BOX:
        return MomistigriFault.BAD_PILE if state.phase > DEAL else MomistigriFault.BAD_DEAL
    for seat in range(state.players, MAX_PLAYERS):
        if state.hands[seat]:
            return MomistigriFault.BAD_HAND
    if twice | there & state.left | (there | state.left) ^ deck_for(box, state.players):
        return MomistigriFault.CARD_TWICE_OR_MISSING
    if misplaced & ~box.firsts:
        return MomistigriFault.BAD_HAND
    return OK


cdef int check_knowledge(const State* state, const Box* box) noexcept nogil:
    # Check that all knowledge is true, that each knower knows what is public, and that knowledge about a seat's own
    # hand is not stored.
    cdef bint noted = state.phase > DEAL and state.phase != FINISHED
    cdef uint64_t hands = deck_for(box, state.players) & ~state.left if noted else 0
    cdef uint64_t public = state.known[PUBLIC], further = 0, wrong, known, others
    cdef uint64_t[4] most_ones = [0, 0, 0, 0]
    cdef int seat, knower
    for seat in range(MAX_PLAYERS):
        further |= further_cards(box, state.hands[seat])
    wrong = public & ~hands | public & further & ~(public << 1)
    for knower in range(MAX_PLAYERS):
        # A seat beyond the number of players must have no knowledge. `others` is then empty.
        known = state.known[knower]
        others = hands & ~state.hands[knower] if knower < state.players else 0
        wrong |= known & ~others | public & others & ~known | known & further & ~(known << 1)
    if wrong:
        return MomistigriFault.BAD_KNOWN
    # Only games of five players have 1s.
    memcpy(most_ones, state.most_ones, sizeof(state.most_ones))
    if most_ones[0] | most_ones[1] | most_ones[2] | most_ones[3] == 0:
        return OK
    for seat in range(MAX_PLAYERS):
        if knows_wrong_ones(state, box, seat, noted and state.players == MAX_PLAYERS):
            return MomistigriFault.BAD_MOST_ONES
    return OK


cdef bint knows_wrong_ones(const State* state, const Box* box, int seat, bint noted) noexcept nogil:
    cdef int others = all_knowers(state) & ~(1 << seat), public = state.most_ones[seat][PUBLIC], knower, ones, most
    cdef int any_known = 0
    for knower in range(KNOWERS):
        any_known |= state.most_ones[seat][knower]
    if any_known == 0:
        return False
    if not noted or not state.in_round >> seat & 1:
        return True
    ones = count_cards(state.hands[seat] & of_value(box, 0))
    for knower in range(KNOWERS):
        most = state.most_ones[seat][knower]
        if not others >> knower & 1:
            if most:
                return True
        elif most == 0:
            if public:
                return True
        elif most > ONES or most <= ones or (public and most > public):
            return True
    return False


cdef int check_rounds(const State* state, const Box* box) noexcept nogil:
    # Check that the penalties of the finished rounds agree with the number of the current round.
    cdef int finished = state.round + (state.phase == FINISHED), round, seat, most = 0
    cdef uint64_t penalties, wrong = 0
    for round in range(ROUNDS):
        penalties = 0
        memcpy(&penalties, state.penalties[round], MAX_PLAYERS)
        wrong |= penalties >> 8 * state.players if round < finished else penalties
    if wrong:
        return MomistigriFault.BAD_PENALTIES
    if finished == 0:
        return OK
    if finished >= 2 and (count_fewest(state, 2) > 1) != (state.round == 2):
        return MomistigriFault.BAD_ROUND
    if state.phase == FINISHED:
        for seat in range(state.players):
            if state.penalties[state.round][seat] != sum_of(box, state.hands[seat]):
                return MomistigriFault.BAD_PENALTIES
        return OK
    for seat in range(state.players):
        most = max(most, penalty_so_far(state, seat))
    if penalty_so_far(state, state.first_seat) != most:
        return MomistigriFault.BAD_FIRST_SEAT
    return OK


cdef int check_deal(const State* state) noexcept nogil:
    # Check what must hold before the first turn.
    cdef int players = state.players, dealt = DEALT * players + 1 - count_cards(state.left), seat, turn, dealt_to_seat
    if state.backwards:
        return MomistigriFault.BAD_DIRECTION
    if state.in_round != (1 << players) - 1:
        return MomistigriFault.BAD_IN_ROUND
    if state.passed:
        return MomistigriFault.BAD_PASSED
    if dealt > (0 if state.phase == FIRST_SEAT else DEALT * players):
        return MomistigriFault.BAD_DEAL
    if state.phase == FIRST_SEAT:
        return OK
    for turn in range(players):
        seat = (state.first_seat + turn) % players
        dealt_to_seat = (dealt + players - 1 - turn) // players
        if count_cards(state.hands[seat]) != dealt_to_seat:
            return MomistigriFault.BAD_DEAL
    seat = state.first_seat + (dealt if dealt < DEALT * players else players - 1)
    if state.active != seat % players:
        return MomistigriFault.BAD_ACTIVE_SEAT
    return OK


cdef int check_turn(const State* state, const Box* box) noexcept nogil:
    # Check what must hold from the first turn on: the phase agrees with the seats in the round and the places of the
    # cards.
    cdef int phase = state.phase, seat, wanted, holding = 0, may_be_empty = 0
    for seat in range(MAX_PLAYERS):
        holding |= (state.hands[seat] != 0) << seat
    if phase == SWAP_IN:
        may_be_empty = 1 << drawn_from(state)
    elif phase == CHOICE or phase == HAND_OUT or phase == AGAIN:
        may_be_empty = 1 << state.active
    if holding & ~state.in_round or state.in_round & ~holding & ~may_be_empty:
        return MomistigriFault.BAD_IN_ROUND
    if phase == FINISHED:
        return OK
    if not state.in_round >> state.active & 1:
        return MomistigriFault.BAD_ACTIVE_SEAT
    if state.in_round == 1 << state.active and phase != DISCARD and phase != CHOICE and phase != AGAIN:
        return MomistigriFault.BAD_PHASE
    # A turn that ends with all pass marks set ends the round. Within a turn, however, a seat without a mark may leave,
    # because its last card is drawn. A pair clears the mark of the seat that discards it.
    if phase <= DISCARD:
        if state.passed == state.in_round and (phase < DISCARD or state.in_round == (1 << state.players) - 1):
            return MomistigriFault.BAD_PASSED
    elif state.passed >> state.active & 1:
        return MomistigriFault.BAD_PASSED
    if phase == DRAW:
        wanted = 2 if state.mark == TWO else 3 if state.mark == THREE else 1
        if state.draws_left > min(wanted, count_cards(state.hands[drawn_from(state)])):
            return MomistigriFault.BAD_DRAWS
    if phase == HAND_OUT and (state.receiver == state.active or not state.in_round >> state.receiver & 1):
        return MomistigriFault.BAD_RECEIVER
    if phase == SWAP_IN and state.left & bits_of(box, state.swapped_out - 1) == 0:
        return MomistigriFault.BAD_SWAPPED_OUT
    return check_pile(state, box)


cdef int check_pile(const State* state, const Box* box) noexcept nogil:
    # Check that the pair whose effect is in progress is in the pile, except for 5s that were handed out.
    cdef int phase = state.phase, value = 0
    cdef uint64_t pile = state.left, same
    if phase == CHOICE:
        value = state.effect
    elif phase == NAME:
        value = 2
    elif phase == SWAP_OUT or phase == SWAP_IN or state.mark == SWAP:
        value = 3
    elif phase == GIVE:
        value = 4
    elif phase == AGAIN:
        value = 6
    elif state.mark == TWO:
        value = 7
    elif state.mark == THREE:
        value = 8
    elif phase == HAND_OUT and pile == 0:
        return MomistigriFault.BAD_PILE
    if value == 0:
        return OK
    if phase == SWAP_IN:
        # Exclude the card just discarded, because it was not in the pile before.
        same = pile & bits_of(box, state.swapped_out - 1)
        pile ^= same & -same
    if count_cards(pile & of_value(box, value - 1)) < 2:
        return MomistigriFault.BAD_PILE
    return OK
