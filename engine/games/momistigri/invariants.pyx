"""Momistigri: the rules' invariants (rules file: Invariants), and the bounds that memory safety and an end of play need."""

from libc.stdint cimport uint64_t
from libc.string cimport memcmp, memset

from chatiere.engine.core.game cimport OK
from chatiere.engine.games.momistigri.cards cimport (
    BOX,
    COLOURS,
    KINDS,
    MOMISTIGRI,
    MOMISTIGRI_PLACE,
    VALUES,
    Box,
    bit,
    bits_of,
    count_cards,
    one_fewer_of_each,
    without_card,
)
from chatiere.engine.games.momistigri.hidden cimport all_knowers
from chatiere.engine.games.momistigri.state cimport (
    AGAIN,
    CHOICE,
    DEAL,
    DEALT,
    DISCARD,
    DRAW,
    FINISHED,
    FIRST_SEAT,
    GIVE,
    HAND_OUT,
    KNOWERS,
    LARGEST_DRAW,
    LAST_TURN,
    MARKS,
    MOST_PLAYERS,
    NAME,
    NO_SEAT,
    ONES,
    PHASES,
    PUBLIC,
    ROUNDS,
    SWAP,
    SWAP_IN,
    SWAP_OUT,
    THREE,
    TWO,
    ZEROS,
    MomistigriFault,
    State,
    count_fewest,
    deck,
    drawn_from,
    penalty_so_far,
    sum_of,
)

cdef enum:
    DIGITS = 5  # of the numbers of cards of a kind, at most nine


cdef int check(const void* body) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef int fault = check_numbers(state)
    if fault == OK:
        fault = check_box(&state.box)
    if fault == OK:
        fault = check_cards(state)
    if fault == OK:
        fault = check_knowledge(state)
    if fault == OK:
        fault = check_rounds(state)
    if fault == OK:
        fault = check_deal(state) if state.phase <= DEAL else check_turn(state)
    return fault


cdef int check_numbers(const State* state) noexcept nogil:
    # Each number is in its range, and 0 where it means nothing.
    cdef int phase = state.phase, i
    if state.players < 3 or state.players > MOST_PLAYERS:
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
    if state.draws_left > LARGEST_DRAW or (state.draws_left > 0) != (phase == DRAW):
        return MomistigriFault.BAD_DRAWS
    if state.effect > 3 or (state.effect > 0) != (phase == CHOICE):
        return MomistigriFault.BAD_EFFECT
    if state.receiver >= state.players or (state.receiver and phase != HAND_OUT):
        return MomistigriFault.BAD_RECEIVER
    if state.swapped_out > KINDS or (state.swapped_out > 0) != (phase == SWAP_IN):
        return MomistigriFault.BAD_SWAPPED_OUT
    for i in range(ZEROS):
        if state.zero[i]:
            return MomistigriFault.NOT_ZERO
    return OK


cdef int check_box(const Box* box) noexcept nogil:
    # It is laid out as the number of cards of each kind says, and nine cards have value 1, eight value 2 ...
    cdef uint64_t cards
    cdef int kind, value, colour, place, wrong = box.first_at[0]
    for kind in range(KINDS):
        wrong |= box.first_at[kind] > box.first_at[kind + 1]
    for place in range(BOX):
        wrong |= box.kind_at[place] >= KINDS
    if wrong or box.first_at[MOMISTIGRI] != MOMISTIGRI_PLACE or box.first_at[KINDS] != BOX:
        return MomistigriFault.BAD_COPIES
    for place in range(BOX):
        kind = box.kind_at[place]
        wrong |= box.first_at[kind] > place or box.first_at[kind + 1] <= place
        wrong |= (box.firsts >> place & 1) != (box.first_at[kind] == place)
    for value in range(VALUES):
        cards = 0
        for colour in range(COLOURS):
            cards |= bits_of(box, VALUES * colour + value)
        wrong |= cards != box.of_value[value] or count_cards(cards) != VALUES - value
    if wrong or box.firsts >> BOX or box.zero[0] or box.zero[1] or box.zero[2]:
        return MomistigriFault.BAD_COPIES
    return OK


cdef bint are_cards(const Box* box, uint64_t cards) noexcept nogil:
    # Of each kind the first ones.
    return cards >> BOX == 0 and one_fewer_of_each(box, cards) & ~cards == 0


cdef int check_cards(const State* state) noexcept nogil:
    # Every card of the deck is in one hand or in the pile, or, during the deal, nowhere yet.
    cdef uint64_t box = bit(BOX) - 1, unused = box & ~deck(state)
    cdef uint64_t there[DIGITS]
    cdef uint64_t expected[DIGITS]
    cdef int seat
    for seat in range(MOST_PLAYERS):
        if not are_cards(&state.box, state.hands[seat]) or (seat >= state.players and state.hands[seat]):
            return MomistigriFault.BAD_HAND
    if not are_cards(&state.box, state.pile):
        return MomistigriFault.BAD_PILE
    if not are_cards(&state.box, state.undealt) or (state.undealt and state.phase > DEAL):
        return MomistigriFault.BAD_DEAL
    # With those that so few do not play with, they are the whole box.
    memset(there, 0, sizeof(there))
    memset(expected, 0, sizeof(expected))
    add_up(&state.box, box, expected)
    add_up(&state.box, unused, there)
    for seat in range(state.players):
        add_up(&state.box, state.hands[seat], there)
    add_up(&state.box, state.pile, there)
    add_up(&state.box, state.undealt, there)
    if memcmp(there, expected, sizeof(there)) != 0:
        return MomistigriFault.CARD_TWICE_OR_MISSING
    return OK


cdef void add_up(const Box* box, uint64_t cards, uint64_t* digits) noexcept nogil:
    # Counts the cards of all kinds at once, in binary: at each kind's first bit, digits[0] are the ones, digits[1] the twos
    # and so on; the last only says that it were more.
    cdef uint64_t carry, digit
    cdef int i
    while cards:
        carry = cards & box.firsts
        for i in range(DIGITS - 1):
            digit = digits[i]
            digits[i] = digit ^ carry
            carry &= digit
        digits[DIGITS - 1] |= carry
        cards = one_fewer_of_each(box, cards)


cdef int check_knowledge(const State* state) noexcept nogil:
    # What a seat knows is true, it knows what all know, and of itself nothing is noted.
    cdef int seat, knower, others
    cdef bint noted = state.phase > DEAL and state.phase != FINISHED
    cdef uint64_t wrong = 0, known, public, hand
    for seat in range(MOST_PLAYERS):
        hand = state.hands[seat] if noted else 0
        public = state.known[seat][PUBLIC]
        others = all_knowers(state) & ~(1 << seat)
        for knower in range(KNOWERS):
            known = state.known[seat][knower]
            if others >> knower & 1:
                wrong |= known & ~hand | public & ~known | one_fewer_of_each(&state.box, known) & ~known
            else:
                wrong |= known
    if wrong:
        return MomistigriFault.BAD_KNOWN
    for seat in range(MOST_PLAYERS):
        if knows_wrong_ones(state, seat, noted and state.players == MOST_PLAYERS):
            return MomistigriFault.BAD_MOST_ONES
    return OK


cdef bint knows_wrong_ones(const State* state, int seat, bint noted) noexcept nogil:
    cdef int others = all_knowers(state) & ~(1 << seat), public = state.most_ones[seat][PUBLIC], knower, ones, most
    cdef int any_known = 0
    for knower in range(KNOWERS):
        any_known |= state.most_ones[seat][knower]
    if any_known == 0:
        return False
    if not noted or not state.in_round >> seat & 1:
        return True
    ones = count_cards(state.hands[seat] & state.box.of_value[0])
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


cdef int check_rounds(const State* state) noexcept nogil:
    # The penalties are those of finished rounds, which led to this one.
    cdef int finished = state.round + (state.phase == FINISHED), round, seat, most = 0
    for round in range(ROUNDS):
        for seat in range(MOST_PLAYERS):
            if state.penalties[round][seat] and (round >= finished or seat >= state.players):
                return MomistigriFault.BAD_PENALTIES
    if finished >= 2 and (count_fewest(state, 2) > 1) != (state.round == 2):
        return MomistigriFault.BAD_ROUND
    if state.phase == FINISHED:
        for seat in range(state.players):
            if state.penalties[state.round][seat] != sum_of(state, state.hands[seat]):
                return MomistigriFault.BAD_PENALTIES
        return OK
    for seat in range(state.players):
        most = max(most, penalty_so_far(state, seat))
    if state.round and penalty_so_far(state, state.first_seat) != most:
        return MomistigriFault.BAD_FIRST_SEAT
    return OK


cdef int check_deal(const State* state) noexcept nogil:
    # Before the first turn.
    cdef int players = state.players, dealt = DEALT * players + 1 - count_cards(state.undealt), seat, turn, held
    if state.backwards:
        return MomistigriFault.BAD_DIRECTION
    if state.in_round != (1 << players) - 1:
        return MomistigriFault.BAD_IN_ROUND
    if state.passed:
        return MomistigriFault.BAD_PASSED
    if state.pile:
        return MomistigriFault.BAD_PILE
    if dealt > (0 if state.phase == FIRST_SEAT else DEALT * players):
        return MomistigriFault.BAD_DEAL
    if state.phase == FIRST_SEAT:
        return OK
    for turn in range(players):
        seat = (state.first_seat + turn) % players
        held = (dealt + players - 1 - turn) // players
        if count_cards(state.hands[seat]) != held:
            return MomistigriFault.BAD_DEAL
    seat = state.first_seat + (dealt if dealt < DEALT * players else players - 1)
    if state.active != seat % players:
        return MomistigriFault.BAD_ACTIVE_SEAT
    return OK


cdef int check_turn(const State* state) noexcept nogil:
    # From the first turn on: the phase fits who is in the round and what lies where.
    cdef int phase = state.phase, seat, wanted
    cdef bint may_be_empty
    for seat in range(state.players):
        may_be_empty = (phase == SWAP_IN and seat == drawn_from(state)) or (
            seat == state.active and (phase == CHOICE or phase == HAND_OUT or phase == AGAIN)
        )
        if not state.in_round >> seat & 1:
            if state.hands[seat]:
                return MomistigriFault.BAD_IN_ROUND
        elif state.hands[seat] == 0 and not may_be_empty:
            return MomistigriFault.BAD_IN_ROUND
    if phase == FINISHED:
        return OK
    if not state.in_round >> state.active & 1:
        return MomistigriFault.BAD_ACTIVE_SEAT
    if state.in_round == 1 << state.active and phase != DISCARD and phase != CHOICE and phase != AGAIN:
        return MomistigriFault.BAD_PHASE
    if phase == DRAW:
        wanted = 2 if state.mark == TWO else 3 if state.mark == THREE else 1
        if state.draws_left > min(wanted, count_cards(state.hands[drawn_from(state)])):
            return MomistigriFault.BAD_DRAWS
    if phase == HAND_OUT and (state.receiver == state.active or not state.in_round >> state.receiver & 1):
        return MomistigriFault.BAD_RECEIVER
    if phase == SWAP_IN and state.pile & bits_of(&state.box, state.swapped_out - 1) == 0:
        return MomistigriFault.BAD_SWAPPED_OUT
    return check_pile(state)


cdef int check_pile(const State* state) noexcept nogil:
    # The pair whose effect is under way lies in the pile (but for 5s that have been handed out).
    cdef int phase = state.phase, value = 0
    cdef uint64_t pile = state.pile
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
        # The card just discarded did not lie there before.
        pile = without_card(pile, bits_of(&state.box, state.swapped_out - 1))
    if count_cards(pile & state.box.of_value[value - 1]) < 2:
        return MomistigriFault.BAD_PILE
    return OK
