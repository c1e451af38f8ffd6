"""Discat: checks of the invariants of every state (rules file: Invariants), and of the bounds for memory safety.

Every packed state from outside is checked here, so the check must not be slower than the move that follows it. Most
states are valid, so it is faster to check all conditions than to stop at the first error. Errors are collected in words
that represent eight places as eight bytes (as in hands: see state.pxd), and are identified only if there are any.
"""

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from chatiere.engine.core.operations cimport NO_SEAT, OK
from .state cimport (
    BONUS, CODES, DEAL, DEALT, EXCHANGE, FINISHED, FIRST_SEAT, HIGHEST_CODE, MAX_CARD, MAX_HAND, MAX_PLAYERS,
    MIN_PLAYERS, PASS, PHASES, PLAY, REDRAWN_KEPT, REFILL, PLACES, WINNING_GROUP, ZEROS, DiscatFault, State,
    can_respect, cards_in_use, count_cards, exchanged_in, in_all_slots, is_empty, next_seat, pile_is_empty, put_card,
    size_of_last_play, slots_below, turns_in,
)

cdef extern from * nogil:
    # The hint is needed because compilers assume that code after many returns is rarely reached.
    bint expected "__builtin_expect" (bint condition, bint value)

cdef extern from *:
    # A vector of two words. If possible, gcc and clang process both words with one instruction.
    """
    typedef unsigned long long TwoWords __attribute__((vector_size(16)));
    """
    ctypedef unsigned long long TwoWords

cdef uint64_t ALL_BITS = 0xFFFFFFFFFFFFFFFF

ctypedef struct Turns:
    # A summary of the plays and passes.
    uint64_t wrong  # not 0 if a code, or the order of a play's cards, has an error
    uint64_t fours  # the cards under a top that lie on three other cards of their play
    uint32_t counts  # the sums of the entries of COUNTS_OF

# Map each card to its bit in a set of cards. Numbers from 91 to 127 have unused bits. 0 and numbers above 127 have no
# bit.
cdef TwoWords BITS_OF[256]
# PLACES zero bytes, then PLACES bytes with all bits set. The bytes from index PLACES - place on are a mask of the
# places from `place` on.
cdef uint8_t LATER[2 * PLACES]
# Map each code to its number of turns (low 16 bits) and its number of exchanges (bits 16 and higher).
cdef uint32_t COUNTS_OF[256]


cdef void fill_tables() noexcept:
    cdef int card, code, number
    cdef uint64_t cards[2]
    memset(COUNTS_OF, 0, sizeof(COUNTS_OF))
    memset(LATER, 0, PLACES)
    memset(&LATER[PLACES], 0xFF, PLACES)
    for card in range(256):
        cards[0] = cards[1] = 0
        if 0 < card < 128:
            put_card(cards, card)
        memcpy(&BITS_OF[card], cards, 16)
    for code in range(1, HIGHEST_CODE + 1):
        COUNTS_OF[code] = turns_in(code)
        for number in range(turns_in(code) - 1):
            COUNTS_OF[code] += <uint32_t> exchanged_in(code, number) << 16

fill_tables()


cdef int check(const void* body) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef uint64_t low, high
    cdef TwoWords found
    cdef uint64_t redrawn, unused, hands, beyond_hands, queue, missing
    cdef Turns turns
    cdef int used = cards_in_use(state.players), total, seat
    if expected(
        (state.players < MIN_PLAYERS)
        | (state.players > MAX_PLAYERS)
        | (state.phase >= PHASES)
        | wrong_first_seat(state)
        | (state.up_arrows[1] >> (MAX_CARD - 64) != 0)
        | (state.active >= state.players)
        | (state.bonus_drawn > 1)
        | (state.laid > used)
        | (state.redrawn_count > REDRAWN_KEPT)
        | (state.queue_length > used - DEALT * state.players),
        False,
    ):
        return fault_of_numbers(state)
    memcpy(&found, state.unknown, 16)
    total = count_cards(state.unknown) + state.laid + state.queue_length
    hands = beyond_hands = 0
    for seat in range(state.players):
        total += state.hand_size[seat]
        hands |= wrong_in_hand(state.hand[seat], state.hand_size[seat])
        beyond_hands |= state.hand[seat] & ~slots_below(state.hand_size[seat] & 7)
        add_to_set(&found, <const uint8_t*> &state.hand[seat], MAX_HAND)
    for seat in range(state.players, MAX_PLAYERS):
        hands |= state.hand_size[seat]
        beyond_hands |= state.hand[seat]
    read_turns(state, &turns, &found)
    queue = add_queue(state, &found)
    memcpy(&low, &found, 8)
    memcpy(&high, <uint8_t*> &found + 8, 8)
    redrawn = wrong_in_redrawn(state, used)
    unused = not_zero(state)
    # There are as many places as cards, so each card is in exactly one place if the set of all numbers equals the cards
    # in use. A repeated card, or a number that is not a card, would leave a card out.
    missing = (total ^ used) | (low ^ ALL_BITS >> max(0, 64 - used))
    missing |= high ^ (<uint64_t> 1 << max(0, used - 64)) - 1
    if expected((redrawn | unused | hands | beyond_hands | queue | missing) != 0, False):
        if redrawn:
            return DiscatFault.BAD_REDRAWN
        if unused:
            return DiscatFault.NOT_ZERO
        if hands:
            return DiscatFault.BAD_HAND
        if beyond_hands:
            return DiscatFault.NOT_ZERO
        return <int> DiscatFault.BAD_QUEUE if queue else DiscatFault.CARD_TWICE_OR_MISSING
    return check_setup(state) if state.laid == 0 else check_turn(state, &turns)


cdef int fault_of_numbers(const State* state) noexcept nogil:
    # Return the fault for a number that is out of range.
    if state.players < MIN_PLAYERS or state.players > MAX_PLAYERS:
        return DiscatFault.BAD_PLAYERS
    if state.phase >= PHASES:
        return DiscatFault.BAD_PHASE
    if wrong_first_seat(state):
        return DiscatFault.BAD_FIRST_SEAT
    if state.up_arrows[1] >> (MAX_CARD - 64):
        return DiscatFault.BAD_ARROWS
    if state.active >= state.players:
        return DiscatFault.BAD_ACTIVE_SEAT
    if state.bonus_drawn > 1 or state.laid > cards_in_use(state.players):
        return DiscatFault.BAD_TURNS
    if state.redrawn_count > REDRAWN_KEPT:
        return DiscatFault.BAD_REDRAWN
    # The only remaining fault is a draw pile that is too large, because the pile never grows.
    return DiscatFault.BAD_QUEUE


cdef inline bint wrong_first_seat(const State* state) noexcept nogil:
    # Return True if the first seat is wrong. Without an option, the first seat must be NO_SEAT until chance has chosen
    # a seat.
    cdef bint named = state.first_seat_option != NO_SEAT
    cdef bint wrong = state.first_seat != NO_SEAT if state.phase == FIRST_SEAT else state.first_seat >= state.players
    return wrong | (named & (state.first_seat_option != state.first_seat))


# Words of bytes

cdef inline uint64_t eight_from(const uint8_t* bytes) noexcept nogil:
    cdef uint64_t word
    memcpy(&word, bytes, 8)
    return word


cdef inline uint64_t last_bytes(uint64_t word, int count) noexcept nogil:
    # Return the word with all bytes except the last `count` set to 0, or the whole word if `count` is larger than 8.
    return word if count >= 8 else word & ~slots_below(8 - count)


cdef inline int not_zero(const State* state) noexcept nogil:
    # Return the bits that are set in bytes that must be 0: unused bytes, codes beyond the cards laid, and places
    # between the cards laid and the cards under the pile.
    cdef const uint8_t* later = &LATER[PLACES - state.laid]
    cdef const uint8_t* under = &LATER[state.redrawn_count + state.queue_length]
    cdef uint8_t bits = 0
    cdef int i
    for i in range(CODES):
        bits |= state.codes[i] & later[i]
    for i in range(ZEROS):
        bits |= state.zero[i]
    for i in range(PLACES):
        bits |= state.cards[i] & later[i] & ~under[i]
    return bits


cdef inline void add_to_set(TwoWords* found, const uint8_t* cards, int count) noexcept nogil:
    cdef int i
    for i in range(count):
        found[0] |= BITS_OF[cards[i]]


# Errors: the results are not 0 if there is an error

cdef inline uint64_t wrong_in_hand(uint64_t hand, int size) noexcept nogil:
    # Cards must be in ascending order. In `higher`, the top bit of a byte is set if the card in the next slot is
    # higher.
    cdef uint64_t higher = (hand >> 8 | in_all_slots(0x80)) - (hand + in_all_slots(1))
    cdef uint64_t above = hand | hand + in_all_slots(0x7F - MAX_CARD)
    return (size > MAX_HAND) | (above | ~higher & slots_below(size & 7) >> 8) & in_all_slots(0x80)


cdef inline uint64_t add_queue(const State* state, TwoWords* found) noexcept nogil:
    cdef uint64_t cards, above = 0
    cdef int end = PLACES - state.redrawn_count, place
    for place in range(end, end - state.queue_length, -8):
        cards = last_bytes(eight_from(&state.cards[place - 8]), place - end + state.queue_length)
        above |= cards
        add_to_set(found, <const uint8_t*> &cards, 8)
    return above & in_all_slots(0x80)


cdef inline uint64_t wrong_in_redrawn(const State* state, int used) noexcept nogil:
    # Redrawn cards must be cards in use, or 0.
    cdef uint64_t cards, above = 0
    cdef int place
    for place in range(PLACES, PLACES - state.redrawn_count, -8):
        cards = last_bytes(eight_from(&state.cards[place - 8]), place - PLACES + state.redrawn_count)
        above |= cards | (cards & in_all_slots(0x7F)) + in_all_slots(0x7F - used)
    return above & in_all_slots(0x80)


cdef inline void read_turns(const State* state, Turns* turns, TwoWords* found) noexcept nogil:
    cdef uint64_t sides = in_all_slots(0x80)
    cdef uint64_t codes, cards, laid, under, pairs, higher, all_codes = 0, wrong = 0, fours = 0
    # The words for the previous eight places.
    cdef uint64_t cards_before = 0, under_before = 0, pairs_before = 0
    cdef uint32_t counts = 0
    cdef const uint8_t* here
    cdef int place, i
    for place in range(0, state.laid, 8):
        here = &state.codes[place]
        laid = ~eight_from(&LATER[PLACES - state.laid + place])
        codes = eight_from(here)
        cards = eight_from(&state.cards[place]) & laid
        all_codes |= codes
        # In `under`, the top bit of a byte is set if the card is not the top of its play. In `pairs`, it is set if the
        # card is on another card of the same play that is not the top. In `fours`, it is set if the card is on three of
        # these cards.
        under = ~(codes + in_all_slots(0x7F)) & sides & laid
        pairs = under & (under << 8 | under_before >> 56)
        fours |= pairs & (pairs << 16 | pairs_before >> 48)
        higher = (cards | sides) - (cards << 8 | cards_before >> 56) - in_all_slots(1)
        wrong |= pairs & ~higher
        cards_before = cards
        under_before = under
        pairs_before = pairs
        add_to_set(found, <const uint8_t*> &cards, 8)
        for i in range(8):
            counts += COUNTS_OF[here[i]]
    # There must be fewer passes than players. It need not be checked that only passes are exchanges.
    turns.wrong = wrong | all_codes & ~in_all_slots((1 << state.players) - 1)
    turns.fours = fours
    turns.counts = counts


cdef int check_setup(const State* state) noexcept nogil:
    # Check what must hold before the first play.
    cdef int seat, extra, _
    if state.bonus_drawn:
        return DiscatFault.BAD_TURNS
    if state.last_turns:
        return DiscatFault.BAD_LAST_TURNS
    if state.queue_length or state.redrawn_count:
        return DiscatFault.BAD_QUEUE
    if state.phase == FIRST_SEAT:
        if count_cards(state.unknown) != cards_in_use(state.players) or state.active:
            return DiscatFault.BAD_HAND
        return OK
    if state.phase != DEAL and state.phase != PLAY:
        return DiscatFault.BAD_PHASE
    if state.phase == PLAY and state.active != state.first_seat:
        return DiscatFault.BAD_ACTIVE_SEAT
    # The seats from the first seat to the seat before the active one must have one card more than the rest.
    extra = 1
    seat = state.first_seat
    for _ in range(state.players):
        if seat == state.active:
            extra = 0
        if state.hand_size[seat] != state.hand_size[state.active] + extra:
            return DiscatFault.BAD_HAND
        seat = next_seat(state, seat)
    if (state.hand_size[state.active] == DEALT) != (state.phase == PLAY) or state.hand_size[state.active] > DEALT:
        return DiscatFault.BAD_HAND
    return OK


cdef int check_groups(const State* state) noexcept nogil:
    # Check that a play has at most six cards, and that a play of five or six cards wins and is the last play.
    cdef int size = 0, place
    cdef bint wins
    for place in range(state.laid):
        size += 1
        if state.codes[place] == 0:
            continue
        wins = place + 1 == state.laid and state.phase == FINISHED and state.codes[place] == 1
        if size > MAX_HAND or (size >= WINNING_GROUP and not wins):
            return DiscatFault.BAD_WINNER
        size = 0
    return OK


cdef int check_refills(const State* state, int passes) noexcept nogil:
    # Check the sizes of hands while the draw pile has cards. The pile never grows, so every turn has ended with a hand
    # of DEALT cards or more. Only the active seat may have fewer, after its play or during an exchange.
    cdef int seat, fewest
    for seat in range(state.players):
        fewest = DEALT
        if seat == state.active:
            if state.phase == EXCHANGE:
                fewest = DEALT - 1
            elif passes == 0 and (state.phase == REFILL or state.phase == FINISHED):
                fewest = DEALT - size_of_last_play(state)
        if state.hand_size[seat] < fewest:
            return DiscatFault.BAD_HAND
    return OK


cdef int check_turn(const State* state, const Turns* turns) noexcept nogil:
    # Check what must hold from the first play on: the phase agrees with the active seat, its hand and the draw pile.
    cdef int players = state.players, phase = state.phase
    cdef int last = state.codes[state.laid - 1], passes = turns_in(last) - 1, exchanges = turns.counts >> 16
    cdef int turn, since, seat, ender, constraint
    cdef bint unknown_left = not is_empty(state.unknown), goes_on
    if phase == FIRST_SEAT or phase == DEAL:
        return DiscatFault.BAD_PHASE
    if turns.wrong or last == 0:
        return DiscatFault.BAD_TURNS
    if turns.fours and check_groups(state) != OK:
        return DiscatFault.BAD_WINNER
    if exchanges < state.queue_length:
        return DiscatFault.BAD_QUEUE
    # A card that was put under the pile is still there or was redrawn. No card is redrawn before the unknown part is
    # empty.
    if state.redrawn_count != min(exchanges - state.queue_length, <int> REDRAWN_KEPT) or (
        state.redrawn_count and unknown_left
    ):
        return DiscatFault.BAD_REDRAWN
    # During a decision, and the bonus draw before it, the active seat's turn is not yet counted in `turns`.
    goes_on = phase == PLAY or phase == BONUS or phase == PASS
    turn = state.first_seat + (turns.counts & 0xFFFF) - 1 + goes_on
    if state.active != turn % players:
        return DiscatFault.BAD_ACTIVE_SEAT
    if (phase == BONUS or phase == PASS) and passes > players - 2:
        return DiscatFault.BAD_ACTIVE_SEAT
    # The number of turns from the creator's turn to the active seat's turn. It is also 0 if it is the creator's turn
    # again.
    since = 0 if passes + goes_on == players else passes + goes_on
    if phase == FINISHED:
        if size_of_last_play(state) < WINNING_GROUP and not pile_is_empty(state):
            return DiscatFault.BAD_PHASE
        if state.last_turns:
            return DiscatFault.BAD_LAST_TURNS
        return OK if pile_is_empty(state) else check_refills(state, passes)
    seat = state.active - since + (players if state.active < since else 0)
    if (not state.bonus_drawn and state.hand_size[seat] > DEALT) or (state.bonus_drawn and since == passes == 0):
        return DiscatFault.BAD_HAND
    if goes_on:
        constraint = state.cards[state.laid - 1]
        if since != 0 and can_respect(state, state.active, constraint) != (phase == PLAY):
            return DiscatFault.BAD_PHASE
        if phase == BONUS and (state.bonus_drawn or not unknown_left):
            return DiscatFault.BAD_PHASE
        if phase == PASS and not state.bonus_drawn and not pile_is_empty(state):
            return DiscatFault.BAD_PHASE
    elif not unknown_left or state.hand_size[state.active] >= (MAX_HAND if phase == EXCHANGE else DEALT):
        return DiscatFault.BAD_PHASE
    elif phase == EXCHANGE and (passes == 0 or not exchanged_in(last, passes - 1)):
        return DiscatFault.BAD_PHASE
    if state.last_turns == 0:
        if not pile_is_empty(state):
            return check_refills(state, passes)
        # The last turns must have begun if a seat has no cards.
        for seat in range(players):
            if state.hand_size[seat] == 0:
                return DiscatFault.BAD_LAST_TURNS
        return OK
    if state.last_turns >= players or not pile_is_empty(state) or since == 0 or since + state.last_turns > players:
        return DiscatFault.BAD_LAST_TURNS
    ender = (state.active + state.last_turns) % players
    if state.hand_size[ender] != 0:
        return DiscatFault.BAD_LAST_TURNS
    return OK
