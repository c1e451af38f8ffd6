"""Discat: the rules' invariants (rules file: Invariants), and the bounds that memory safety needs.

Every packed state from outside comes through here, so this must not cost more than the move that it guards: the turns are
examined eight places at a time, in the bytes of a word (as hands are: state.pxd).
"""

from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcpy, memset

from chatiere.engine.core.bits cimport bits_by_byte, count_bits
from chatiere.engine.core.game cimport OK
from chatiere.engine.core.stream cimport uint128_t
from chatiere.engine.games.discat.state cimport (
    BITS_OF_CODE,
    BONUS,
    CODE,
    CODE_BYTES,
    DEAL,
    DEALT,
    EXCHANGE,
    FINISHED,
    FIRST_SEAT,
    LARGEST_CARD,
    LARGEST_HAND,
    NO_SEAT,
    PASS,
    PHASES,
    PLAY,
    REDRAWN_KEPT,
    REFILL,
    ROOM,
    WINNING_GROUP,
    DiscatFault,
    State,
    can_respect,
    card_in_slot,
    cards_in_use,
    code_at,
    count_cards,
    eight_codes,
    exchanged_in,
    in_all_slots,
    is_empty,
    next_seat,
    passes_in_a_row,
    pile_is_empty,
    put_card,
    size_of_last_play,
    slots_below,
    turns_since_play,
)

cdef uint64_t ALL_BITS = 0xFFFFFFFFFFFFFFFF


cdef int check(const void* body) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef int fault
    if state.players < 2 or state.players > 6:
        return DiscatFault.BAD_PLAYERS
    if state.phase >= PHASES:
        return DiscatFault.BAD_PHASE
    if state.first_seat_option != NO_SEAT and state.first_seat_option >= state.players:
        return DiscatFault.BAD_FIRST_SEAT
    if state.phase == FIRST_SEAT:
        if state.first_seat_option != NO_SEAT or state.first_seat != NO_SEAT:
            return DiscatFault.BAD_FIRST_SEAT
    elif state.first_seat >= state.players or (
        state.first_seat_option != NO_SEAT and state.first_seat_option != state.first_seat
    ):
        return DiscatFault.BAD_FIRST_SEAT
    if state.up_arrows[1] >> (LARGEST_CARD - 64):
        return DiscatFault.BAD_ARROWS
    if state.active >= state.players:
        return DiscatFault.BAD_ACTIVE_SEAT
    if state.bonus_drawn > 1:
        return DiscatFault.BAD_TURNS
    if state.laid > cards_in_use(state.players):
        return DiscatFault.BAD_TURNS
    if any_code_from(state, state.laid):
        return DiscatFault.NOT_ZERO
    fault = check_under(state)
    if fault == OK:
        fault = check_places(state)
    if fault == OK:
        fault = check_setup(state) if state.laid == 0 else check_turn(state)
    return fault


cdef int check_under(const State* state) noexcept nogil:
    # What was put under the draw pile; those drawn again are cards or 0. Zeros between these and the cards laid.
    cdef int used = cards_in_use(state.players), place
    cdef uint64_t word, above = 0
    if state.redrawn_count > REDRAWN_KEPT:
        return DiscatFault.BAD_REDRAWN
    # The draw pile never grows.
    if state.queue_length > used - DEALT * state.players:
        return DiscatFault.BAD_QUEUE
    for place in range(ROOM, ROOM - state.redrawn_count, -8):
        word = cards_before(state, place, place - ROOM + state.redrawn_count)
        above |= word | (word & in_all_slots(0x7F)) + in_all_slots(0x7F - used)
    if above & in_all_slots(0x80):
        return DiscatFault.BAD_REDRAWN
    if any_between(state.cards, state.laid, ROOM - state.redrawn_count - state.queue_length):
        return DiscatFault.NOT_ZERO
    return OK


cdef inline uint64_t cards_before(const State* state, int place, int count) noexcept nogil:
    # The (up to eight) cards before a place in State.cards, its last `count`, as the bytes of a word.
    cdef uint64_t word
    memcpy(&word, &state.cards[place - 8], 8)
    return word if count >= 8 else word & ~slots_below(8 - count)


cdef inline bint any_between(const uint8_t* numbers, int first, int end) noexcept nogil:
    # Whether there is more than zeros in these places of State.cards.
    cdef uint64_t word, filled = 0
    cdef int i
    if first >= end:
        return False
    for i in range(first & ~7, end, 8):
        memcpy(&word, &numbers[i], 8)
        if i < first:
            word &= ~slots_below(first - i)
        if i + 8 > end:
            word &= slots_below(end - i)
        filled |= word
    return filled != 0


cdef inline bint any_code_from(const State* state, int first) noexcept nogil:
    # Whether there is a code at that place or after it.
    cdef uint64_t word, filled
    cdef int bit = BITS_OF_CODE * first, i
    memcpy(&filled, &state.codes[bit >> 6 << 3], 8)
    filled = filled >> (bit & 63)
    for i in range((bit >> 6 << 3) + 8, CODE_BYTES, 8):
        memcpy(&word, &state.codes[i], 8)
        filled |= word
    return filled != 0


cdef int check_hand(uint64_t hand, int size) noexcept nogil:
    # Ascending cards, then zeros: in each byte the top bit says that the next slot's card is higher.
    cdef uint64_t higher
    if size > LARGEST_HAND or hand & in_all_slots(0x80):
        return DiscatFault.BAD_HAND
    if hand & ~slots_below(size):
        return DiscatFault.NOT_ZERO
    if size == 0:
        return OK
    higher = (hand >> 8 | in_all_slots(0x80)) - (hand + in_all_slots(1))
    if ~higher & in_all_slots(0x80) & slots_below(size - 1) or card_in_slot(hand, size - 1) > LARGEST_CARD:
        return DiscatFault.BAD_HAND
    return OK


# What a card adds to a set of cards; a number above 90 gets a bit that no card has, and 0 none.
cdef uint64_t BITS_OF[128][2]


cdef fill_bits():
    cdef int card
    memset(BITS_OF, 0, sizeof(BITS_OF))
    for card in range(1, 128):
        put_card(BITS_OF[card], card)

fill_bits()


cdef inline void add_to_set(uint64_t* low, uint64_t* high, uint64_t cards, int count) noexcept nogil:
    cdef int i
    for i in range(count):
        low[0] |= BITS_OF[card_in_slot(cards, i)][0]
        high[0] |= BITS_OF[card_in_slot(cards, i)][1]


cdef int check_places(const State* state) noexcept nogil:
    # Every card of the used range is in exactly one place: the places' cards together are the range, and no more than it.
    cdef uint64_t low = state.unknown[0], high = state.unknown[1]
    cdef int used = cards_in_use(state.players)
    cdef int total = count_cards(state.unknown) + state.laid + state.queue_length
    cdef uint64_t word, large = 0, large_under = 0
    cdef int seat, place, end, fault
    for seat in range(state.players):
        fault = check_hand(state.hand[seat], state.hand_size[seat])
        if fault != OK:
            return fault
        total += state.hand_size[seat]
        add_to_set(&low, &high, state.hand[seat], LARGEST_HAND)
    for seat in range(state.players, 6):
        if state.hand_size[seat]:
            return DiscatFault.BAD_HAND
        if state.hand[seat]:
            return DiscatFault.NOT_ZERO
    for place in range(0, state.laid, 8):
        memcpy(&word, &state.cards[place], 8)
        if place + 8 > state.laid:
            word &= slots_below(state.laid - place)
        large |= word
        add_to_set(&low, &high, word & in_all_slots(0x7F), 8)
    end = ROOM - state.redrawn_count
    for place in range(end, end - state.queue_length, -8):
        word = cards_before(state, place, place - end + state.queue_length)
        large_under |= word
        add_to_set(&low, &high, word & in_all_slots(0x7F), 8)
    if large_under & in_all_slots(0x80):
        return DiscatFault.BAD_QUEUE
    if large & in_all_slots(0x80) or total != used or low != ALL_BITS >> max(0, 64 - used) or high != (<uint64_t> 1 << max(0, used - 64)) - 1:
        return DiscatFault.CARD_TWICE_OR_MISSING
    return OK


cdef int check_setup(const State* state) noexcept nogil:
    # Before the first play.
    cdef int seat, extra, place
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
    # Round the table from the first seat to the active one, everybody has one card more than the rest.
    extra = 1
    seat = state.first_seat
    for place in range(state.players):
        if seat == state.active:
            extra = 0
        if state.hand_size[seat] != state.hand_size[state.active] + extra:
            return DiscatFault.BAD_HAND
        seat = next_seat(state, seat)
    if (state.hand_size[state.active] == DEALT) != (state.phase == PLAY) or state.hand_size[state.active] > DEALT:
        return DiscatFault.BAD_HAND
    return OK


cdef int check_history(const State* state, int* turns, int* exchanges) noexcept nogil:
    # The plays and passes make sense; how many turns they are, and how many cards were put under the draw pile.
    cdef uint64_t sides = in_all_slots(0x80)
    cdef uint64_t codes, lower, cards, tops, filled, before = 0, before_tops = 0x80, wrong = 0, bits = 0, lengths = 0
    cdef uint128_t under_tops = 0
    cdef int place, last = size_of_last_play(state), laid = state.laid, plays
    for place in range(0, laid, 8):
        codes = eight_codes(state, place)
        memcpy(&cards, &state.cards[place], 8)
        if place + 8 > laid:
            cards &= slots_below(laid - place)
        # The top bit of each byte that has a code.
        tops = codes + in_all_slots(0x7F) & sides
        # Fewer passes than players; that only passes exchange needs no check.
        wrong |= codes & ~in_all_slots((1 << state.players) - 1)
        # A play's cards lie ascending, but for its top.
        before |= cards << 8
        before_tops |= tops << 8
        filled = (sides if place + 8 <= laid else sides & slots_below(laid - place)) & ~tops
        wrong |= filled & ~(cards + sides - before - in_all_slots(1) | before_tops)
        before = cards >> 56
        before_tops = tops >> 56
        # The top bits of all bytes, brought together.
        under_tops |= <uint128_t> (filled * <uint64_t> 0x0002040810204081 >> 56) << place
        # Each code's bits, and those that it has or that are lower.
        lower = codes | codes >> 1 & in_all_slots(CODE)
        lower |= lower >> 2 & in_all_slots(CODE)
        if state.players <= 4:
            # Four bits a code leave room for both, to be counted at once.
            lower = bits_by_half_byte(codes | lower << 4)
            bits += lower & in_all_slots(0x0F)
            lengths += lower >> 4 & in_all_slots(0x0F)
        else:
            bits += bits_by_byte(codes)
            lengths += bits_by_byte(lower | lower >> 4 & in_all_slots(0x03))
    if wrong or code_at(state, laid - 1) == 0:
        return DiscatFault.BAD_TURNS
    plays = laid - count_bits(<uint64_t> under_tops) - count_bits(<uint64_t> (under_tops >> 64))
    exchanges[0] = sum_of_bytes(bits) - plays
    turns[0] = sum_of_bytes(lengths)
    # Four cards in a row under tops: a play of five or six, which wins and is the last.
    under_tops &= under_tops >> 1
    under_tops &= under_tops >> 2
    if last > LARGEST_HAND or under_tops & ((<uint128_t> 1 << (laid - last)) - 1):
        return DiscatFault.BAD_WINNER
    if last >= WINNING_GROUP and (state.phase != FINISHED or passes_in_a_row(state)):
        return DiscatFault.BAD_WINNER
    return OK


cdef inline uint64_t bits_by_half_byte(uint64_t bits) noexcept nogil:
    bits -= bits >> 1 & <uint64_t> 0x5555555555555555
    return (bits & <uint64_t> 0x3333333333333333) + (bits >> 2 & <uint64_t> 0x3333333333333333)


cdef inline int sum_of_bytes(uint64_t numbers) noexcept nogil:
    numbers = (numbers & <uint64_t> 0x00FF00FF00FF00FF) + (numbers >> 8 & <uint64_t> 0x00FF00FF00FF00FF)
    return <int> (numbers * <uint64_t> 0x0001000100010001 >> 48)


cdef int check_turn(const State* state) noexcept nogil:
    # From the first play on: the phase fits whose turn it is, what that seat holds and what the pile holds.
    cdef int players = state.players, phase = state.phase
    cdef int turns = 0, exchanges = 0, passes = passes_in_a_row(state), since, seat, ender, constraint
    cdef bint unknown_left = not is_empty(state.unknown), won, goes_on
    cdef int fault
    if phase == FIRST_SEAT or phase == DEAL:
        return DiscatFault.BAD_PHASE
    fault = check_history(state, &turns, &exchanges)
    if fault != OK:
        return fault
    if exchanges < state.queue_length:
        return DiscatFault.BAD_QUEUE
    # What was put under the pile is there, or has been drawn; none is drawn before the unknown part is empty.
    if state.redrawn_count != min(exchanges - state.queue_length, <int> REDRAWN_KEPT) or (
        state.redrawn_count and unknown_left
    ):
        return DiscatFault.BAD_REDRAWN
    # At a decision and its bonus the active seat's turn is not among the turns yet.
    goes_on = phase == PLAY or phase == BONUS or phase == PASS
    if state.active != (state.first_seat + turns - 1 + goes_on) % players:
        return DiscatFault.BAD_ACTIVE_SEAT
    if (phase == BONUS or phase == PASS) and passes > players - 2:
        return DiscatFault.BAD_ACTIVE_SEAT
    # Turns from the creator's to the active seat's; 0 also when it is the creator's again.
    since = 0 if turns_since_play(state) == players else turns_since_play(state)
    if phase == FINISHED:
        won = size_of_last_play(state) >= WINNING_GROUP
        if not won and not pile_is_empty(state):
            return DiscatFault.BAD_PHASE
        if state.last_turns:
            return DiscatFault.BAD_LAST_TURNS
        return OK
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
    elif not unknown_left or state.hand_size[state.active] >= (LARGEST_HAND if phase == EXCHANGE else DEALT):
        return DiscatFault.BAD_PHASE
    elif phase == EXCHANGE and (passes == 0 or not exchanged_in(code_at(state, state.laid - 1), passes - 1)):
        return DiscatFault.BAD_PHASE
    if state.last_turns == 0:
        # A seat that has no card left has begun the last turns, or is about to draw.
        for seat in range(players):
            if state.hand_size[seat] == 0 and (seat != state.active or (phase != EXCHANGE and phase != REFILL)):
                return DiscatFault.BAD_LAST_TURNS
        return OK
    if state.last_turns >= players or not pile_is_empty(state) or since == 0 or since + state.last_turns > players:
        return DiscatFault.BAD_LAST_TURNS
    ender = (state.active + state.last_turns) % players
    if state.hand_size[ender] != 0:
        return DiscatFault.BAD_LAST_TURNS
    return OK
