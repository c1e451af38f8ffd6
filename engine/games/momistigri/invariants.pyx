"""Momistigri: the rules' invariants (rules file: Invariants), and the bounds that memory safety and an end of play need."""

from libc.stdint cimport uint8_t
from libc.string cimport memset

from chatiere.engine.core.game cimport OK
from chatiere.engine.games.momistigri.state cimport (
    AGAIN,
    BOX,
    CHOICE,
    COLOURED,
    DEAL,
    DEALT,
    DISCARD,
    DRAW,
    FINISHED,
    FIRST_SEAT,
    GIVE,
    HAND_OUT,
    KINDS,
    KNOWERS,
    LARGEST_DRAW,
    LAST_TURN,
    MARKS,
    MOST_PLAYERS,
    NAME,
    NO_SEAT,
    PHASES,
    PILE,
    PUBLIC,
    ROUNDS,
    SWAP,
    SWAP_IN,
    SWAP_OUT,
    THREE,
    TWO,
    VALUES,
    ZEROS,
    MomistigriFault,
    State,
    copies_in_deck,
    count_fewest,
    count_kind,
    deck_size,
    drawn_from,
    hand_sum,
    penalty_so_far,
    start_of,
    value_of,
)

cdef extern from * nogil:
    int __builtin_popcount(unsigned int word)


cdef int check(const void* body) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef int fault = check_numbers(state)
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


cdef int check_cards(const State* state) noexcept nogil:
    # Every card of the deck is in one hand or in the pile, or, during the deal, nowhere yet.
    cdef uint8_t left[KINDS]
    cdef int copies[VALUES]
    cdef int total = 0, place, kind, value, i, end, last, filled = 0
    memset(copies, 0, sizeof(copies))
    for kind in range(COLOURED):
        copies[kind % VALUES] += state.copies[kind]
    for value in range(VALUES):
        if copies[value] != VALUES - value:
            return MomistigriFault.BAD_COPIES
    for place in range(PILE + 1):
        if state.sizes[place] > BOX or (state.players <= place < PILE and state.sizes[place]):
            return MomistigriFault.BAD_HAND
        total += state.sizes[place]
    if state.phase > DEAL and total != deck_size(state.players):
        return MomistigriFault.CARD_TWICE_OR_MISSING
    if total > deck_size(state.players):
        return MomistigriFault.CARD_TWICE_OR_MISSING
    for kind in range(KINDS):
        left[kind] = copies_in_deck(state, kind)
    i = 0
    end = 0
    for place in range(PILE + 1):
        end += state.sizes[place]
        last = 0
        while i < end:
            kind = state.cards[i]
            if kind >= KINDS or kind < last:
                return MomistigriFault.BAD_HAND if place < PILE else MomistigriFault.BAD_PILE
            if left[kind] == 0:
                return MomistigriFault.CARD_TWICE_OR_MISSING
            left[kind] -= 1
            last = kind
            i += 1
    for i in range(total, BOX):
        filled |= state.cards[i]
    for i in range(total - state.sizes[PILE], BOX):
        filled |= state.knowers[i]
    if filled:
        return MomistigriFault.NOT_ZERO
    return OK


cdef int check_knowledge(const State* state) noexcept nogil:
    # What a seat knows is true, it knows what all know, and of itself nothing is noted.
    cdef int everybody = (1 << state.players) - 1 | 1 << PUBLIC
    cdef bint noted = state.phase > DEAL and state.phase != FINISHED
    cdef int i = 0, end = 0, seat, knower, ones, most, all_know
    for seat in range(state.players):
        end += state.sizes[seat]
        ones = 0
        while i < end:
            ones += value_of(state.cards[i]) == 1
            knower = state.knowers[i]
            if knower:
                if not noted or knower & ~(everybody & ~(1 << seat)):
                    return MomistigriFault.BAD_KNOWN
                if knower >> PUBLIC and knower != everybody & ~(1 << seat):
                    return MomistigriFault.BAD_KNOWN
                if i > end - state.sizes[seat] and state.cards[i - 1] == state.cards[i] and knower & ~state.knowers[i - 1]:
                    return MomistigriFault.BAD_KNOWN
            i += 1
        all_know = state.most_ones[PUBLIC][seat]
        for knower in range(KNOWERS):
            most = state.most_ones[knower][seat]
            if knower == seat or not everybody >> knower & 1:
                if most:
                    return MomistigriFault.BAD_MOST_ONES
            elif most == 0:
                if all_know:
                    return MomistigriFault.BAD_MOST_ONES
            elif (
                not noted
                or state.players < MOST_PLAYERS
                or not state.in_round >> seat & 1
                or most > VALUES
                or ones >= most
                or (all_know and most > all_know)
            ):
                return MomistigriFault.BAD_MOST_ONES
    for seat in range(state.players, MOST_PLAYERS):
        for knower in range(KNOWERS):
            if state.most_ones[knower][seat]:
                return MomistigriFault.BAD_MOST_ONES
    return OK


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
            if state.penalties[state.round][seat] != hand_sum(state, seat):
                return MomistigriFault.BAD_PENALTIES
        return OK
    for seat in range(state.players):
        most = max(most, penalty_so_far(state, seat))
    if state.round and penalty_so_far(state, state.first_seat) != most:
        return MomistigriFault.BAD_FIRST_SEAT
    return OK


cdef int check_deal(const State* state) noexcept nogil:
    # Before the first turn.
    cdef int dealt = start_of(state, PILE), players = state.players, seat, turn, held
    if state.backwards:
        return MomistigriFault.BAD_DIRECTION
    if state.in_round != (1 << players) - 1:
        return MomistigriFault.BAD_IN_ROUND
    if state.passed:
        return MomistigriFault.BAD_PASSED
    if state.sizes[PILE]:
        return MomistigriFault.BAD_PILE
    if dealt > (0 if state.phase == FIRST_SEAT else DEALT * players):
        return MomistigriFault.BAD_DEAL
    if state.phase == FIRST_SEAT:
        return OK
    for turn in range(players):
        seat = (state.first_seat + turn) % players
        held = (dealt + players - 1 - turn) // players
        if state.sizes[seat] != held:
            return MomistigriFault.BAD_DEAL
    seat = state.first_seat + (dealt if dealt < DEALT * players else players - 1)
    if state.active != seat % players:
        return MomistigriFault.BAD_ACTIVE_SEAT
    return OK


cdef int check_turn(const State* state) noexcept nogil:
    # From the first turn on: the phase fits who is in the round and what lies where.
    cdef int phase = state.phase, seat, others, value, i
    cdef bint may_be_empty
    for seat in range(state.players):
        may_be_empty = (phase == SWAP_IN and seat == drawn_from(state)) or (
            seat == state.active and (phase == CHOICE or phase == HAND_OUT or phase == AGAIN)
        )
        if not state.in_round >> seat & 1:
            if state.sizes[seat]:
                return MomistigriFault.BAD_IN_ROUND
        elif state.sizes[seat] == 0 and not may_be_empty:
            return MomistigriFault.BAD_IN_ROUND
    if phase == FINISHED:
        return OK
    if not state.in_round >> state.active & 1:
        return MomistigriFault.BAD_ACTIVE_SEAT
    others = __builtin_popcount(state.in_round) - 1
    if others == 0 and phase != DISCARD and phase != CHOICE and phase != AGAIN:
        return MomistigriFault.BAD_PHASE
    if phase == DRAW:
        i = 2 if state.mark == TWO else 3 if state.mark == THREE else 1
        if state.draws_left > min(i, state.sizes[drawn_from(state)]):
            return MomistigriFault.BAD_DRAWS
    if phase == HAND_OUT and (state.receiver == state.active or not state.in_round >> state.receiver & 1):
        return MomistigriFault.BAD_RECEIVER
    if phase == SWAP_IN and count_kind(state, PILE, state.swapped_out - 1) == 0:
        return MomistigriFault.BAD_SWAPPED_OUT
    return check_pile(state)


cdef int check_pile(const State* state) noexcept nogil:
    # The pair whose effect is under way lies in the pile (but for 5s that have been handed out).
    cdef int phase = state.phase, value = 0, count = 0, start = start_of(state, PILE), i
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
    elif phase == HAND_OUT and state.sizes[PILE] == 0:
        return MomistigriFault.BAD_PILE
    if value == 0:
        return OK
    for i in range(start, start + state.sizes[PILE]):
        count += value_of(state.cards[i]) == value
    # A card that was just swapped out did not lie there before.
    if phase == SWAP_IN:
        count -= value_of(state.swapped_out - 1) == value
    if count < 2:
        return MomistigriFault.BAD_PILE
    return OK
