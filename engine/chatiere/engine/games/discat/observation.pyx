"""Discat: a seat's observation (layout: description.py).

Batches may request an observation with every move. For speed, observations are therefore not made from the whole view.
Instead, `see` reads the plays once, and collects only the contents of an observation.
"""

from libc.stdint cimport int8_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

from chatiere.engine.core.bits cimport count_bits, highest_bit, lowest_bit, spread_bits
from chatiere.engine.core.game cimport NO_SEAT, distance_to
from chatiere.engine.core.stream cimport uint128_t
from .state cimport (
    BONUS_GROUP, CODES, DEALT, FINISHED, FIRST_SEAT, HIGHEST_CODE, MAX_CARD, MAX_EXCHANGES, MAX_PILE, MAX_PLAYERS,
    MIN_PLAYERS, PASS, PLANE, PLAY, REDRAWN_KEPT, Seen, State, back_to_creator, card_in_slot, card_under, cards_below,
    cards_in_use, constraint_of, creator_of, exchanged_in, in_all_slots, passes_in_a_row, top_bits, turns_in,
)

cdef enum:
    MAX_TURNS = 64  # a bound above the number of turns in eight places, plus a seat
    NOBODY = 7
    EARLIER = MAX_EXCHANGES + MAX_PILE  # the capacity for draws before the redrawn cards kept
    # Flags of a turn. They are added to the number of cards laid in the turn.
    NO_EXCHANGE = 8
    BONUS_FOLLOWS = 16

cdef uint64_t ALL_BITS = 0xFFFFFFFFFFFFFFFF

ctypedef struct Plays:
    # For each place, the seat that laid the card there. Places beyond the cards laid have numbers that are not seats.
    uint8_t seats[CODES]
    # The set of places with the top of a play, and the set of those tops that are followed by an exchange.
    uint64_t tops[2]
    uint64_t exchanges[2]

ctypedef struct Redraws:
    # The seat that drew each redrawn card, beginning at index EARLIER; and for each seat, the number of redraws before
    # the seat last put a card under the pile.
    uint8_t taker[EARLIER + MAX_CARD + 32]
    int before_put[NOBODY + 1]

# The seats that exchange after a play, in order, as the bytes of a word, with their number in the last byte. The table
# is indexed by the number of players, the seat that played, and the code of the play.
cdef uint64_t EXCHANGERS[MAX_PLAYERS + 1][MAX_PLAYERS][HIGHEST_CODE + 1]
# Map each code to its turns and exchanges, encoded as in observations.
cdef uint8_t TURNS_SEEN[HIGHEST_CODE + 1]
# Map each code to its turns, each of which is a byte of a word.
cdef uint64_t TURNS_OF[HIGHEST_CODE + 1]
# Map the number of players and the number of a turn, counted from a turn of seat 0, to the seat of the turn.
cdef uint8_t SEAT_AFTER[MAX_PLAYERS + 1][MAX_TURNS]
# PLANE zeros, then PLANE ones. The entries from index PLANE - card on are a plane with a flag for each card above
# `card`.
cdef uint8_t FLAGS[2 * PLANE]
# Map each place to its number, counted from 1.
cdef uint8_t PLACES[CODES]


cdef fill_tables():
    cdef int code, number, players, seat, count
    cdef uint64_t exchanger
    memset(FLAGS, 0, PLANE)
    memset(&FLAGS[PLANE], 1, PLANE)
    for number in range(CODES):
        PLACES[number] = number + 1
    for players in range(MIN_PLAYERS, MAX_PLAYERS + 1):
        for number in range(MAX_TURNS):
            SEAT_AFTER[players][number] = number % players
        for seat in range(players):
            for code in range(1, 1 << players):
                count = 0
                for number in range(turns_in(code) - 1):
                    if exchanged_in(code, number):
                        exchanger = SEAT_AFTER[players][seat + 1 + number]
                        EXCHANGERS[players][seat][code] |= exchanger << 8 * count
                        count += 1
                EXCHANGERS[players][seat][code] |= <uint64_t> count << 56
    for code in range(HIGHEST_CODE + 1):
        TURNS_SEEN[code] = turns_in(code) << TURNS_BIT | code & ~(1 << turns_in(code) >> 1)
        TURNS_OF[code] = in_all_slots(NO_EXCHANGE) + (BONUS_FOLLOWS if code > 1 else 0)
        for number in range(turns_in(code) - 1):
            if exchanged_in(code, number):
                TURNS_OF[code] -= <uint64_t> NO_EXCHANGE << 8 * (number + 1)

fill_tables()


cdef void see(const void* body, int seat, void* out) noexcept nogil:
    # Collect the contents of an observation, all of which the seat knows.
    cdef const State* state = <const State*> body
    cdef Seen* seen = <Seen*> out
    cdef Plays plays
    # The seats that put cards under the pile, in order of time.
    cdef uint8_t exchangers[MAX_EXCHANGES + 8]
    cdef int draw_pile, exchanges, other
    seen.players = state.players
    seen.phase = state.phase
    seen.active = state.active
    seen.bonus_drawn = state.bonus_drawn
    seen.last_turns = state.last_turns
    seen.queue_length = state.queue_length
    # The draw pile has all cards that are neither laid nor in a hand.
    draw_pile = cards_in_use(state.players) - state.laid
    for other in range(state.players):
        draw_pile -= state.hand_size[other]
    seen.draw_pile = draw_pile
    seen.passes = passes_in_a_row(state)
    seen.constraint = constraint_of(state)
    seen.creator = creator_of(state) if seen.constraint else NO_SEAT
    seen.up_arrows[0] = state.up_arrows[0]
    seen.up_arrows[1] = state.up_arrows[1]
    seen.hand = state.hand[seat]
    memcpy(seen.hand_size, state.hand_size, sizeof(seen.hand_size))
    seen.known_count = 0
    memset(seen.redrawn, 0, sizeof(seen.redrawn))
    see_plays(state, seen, &plays)
    if state.queue_length + state.redrawn_count == 0:
        return
    exchanges = read_exchanges(state, &plays, exchangers)
    see_queue(state, seat, &exchangers[exchanges - state.queue_length], seen)
    if state.redrawn_count:
        see_redrawn(
            state, seat, &plays, &exchangers[exchanges - state.queue_length - state.redrawn_count], exchanges, seen
        )


cdef inline uint64_t eight_from(const void* bytes) noexcept nogil:
    cdef uint64_t word
    memcpy(&word, bytes, 8)
    return word


cdef inline void clear_plane(uint8_t* plane) noexcept nogil:
    # Copy zeros from a table. For this size, compilers emit vector instructions for a copy. To clear memory, they would
    # emit a string instruction. Such an instruction is slow to start.
    memcpy(plane, FLAGS, PLANE)


cdef inline uint64_t not_zero(uint64_t bytes) noexcept nogil:
    # Return a mask with bit i set if byte i is not 0. No byte may be above 0x80.
    return top_bits(bytes + in_all_slots(0x7F))


cdef void see_plays(const State* state, Seen* seen, Plays* plays) noexcept nogil:
    # Compute the piles and the data of the cards laid. The loops process all places in the same way, eight or sixteen
    # at a time. This is faster than a loop that visits only the top of each play.
    cdef uint8_t turns[CODES]
    # Places are processed in groups of eight. For each place, `turns_after` has the number of turns of its group before
    # the place, plus the seat that laid the group's first card. Modulo the number of players, this is the seat that
    # laid the card at the place. For each group, `turns_before` has the number of turns before the group, minus the
    # seat that laid the group's first card. So the sum of both is the number of turns of the game before the turn in
    # which the card was laid.
    cdef uint8_t turns_after[CODES]
    cdef int turns_before[CODES / 8]
    cdef uint8_t cards[8 + CODES + 8]
    cdef const int8_t* codes = <const int8_t*> state.codes
    cdef uint64_t word
    cdef int players = state.players, laid = state.laid, seat = state.first_seat, turn = 0, last, first, i
    clear_plane(&seen.order[1])
    clear_plane(&seen.turns[1])
    memset(plays.tops, 0, sizeof(plays.tops))
    memset(plays.exchanges, 0, sizeof(plays.exchanges))
    for first in range(0, laid, 16):
        for i in range(first, first + 16):
            # Compute turns_in for sixteen places in parallel.
            turns[i] = (
                (codes[i] > 0) + (codes[i] > 1) + (codes[i] > 3) + (codes[i] > 7) + (codes[i] > 15) + (codes[i] > 31)
            )
    for first in range(0, laid, 8):
        word = eight_from(&codes[first])
        (<uint8_t*> plays.tops)[first >> 3] = not_zero(word)
        # Find the codes that have a bit set below their highest bit.
        (<uint8_t*> plays.exchanges)[first >> 3] = not_zero(word & (word | in_all_slots(0x80)) - in_all_slots(1))
        word = eight_from(&turns[first])
        # The product sets each byte to the sum of all bytes up to and including it.
        word *= in_all_slots(1)
        i = word >> 56
        word = (word << 8) + in_all_slots(seat)
        memcpy(&turns_after[first], &word, 8)
        turns_before[first >> 3] = turn - seat
        turn += i
        seat = SEAT_AFTER[players][seat + i]
    # Write zeros, which are not cards, before the first card and after the last card.
    memset(cards, 0, 8)
    memcpy(&cards[8], state.cards, CODES)
    memset(&cards[8 + laid], 0, 8)
    for first in range(0, laid, 8):
        for i in range(first, first + 8):
            seen.order[cards[8 + i]] = PLACES[i]
            seen.turns[cards[8 + i]] = TURNS_SEEN[codes[i]]
    find_seats(turns_after, players, laid, plays.seats)
    seen.turned = 0
    for seat in range(players):
        last = last_place(plays.seats, seat, laid, &seen.pile_count[seat])
        seen.bonus_count[seat] = 0
        seen.top[seat] = cards[7 + last]
        # A top lies face down once its seat has passed. A pass in progress has already turned it.
        i = turns_before[last - 1 >> 3] + turns_after[last - 1] if last else turn
        seen.turned |= (turn > i + players) << seat
    if state.phase == PASS or (state.phase == PLAY and back_to_creator(state)):
        seen.turned |= (seen.top[state.active] != 0) << state.active
    see_bonuses(plays, seen)


cdef inline void find_seats(const uint8_t* turns_after, int players, int laid, uint8_t* seats) noexcept nogil:
    # Compute the seat of each turn by subtracting whole rounds. Without a whole round, the difference wraps around to a
    # large number.
    cdef const uint8_t* beyond = &FLAGS[PLANE - laid]
    cdef uint8_t seat, step = players
    cdef int i
    for i in range(laid + 15 & ~15):
        seat = turns_after[i]
        seat = min(seat, <uint8_t> (seat - 8 * step))
        seat = min(seat, <uint8_t> (seat - 4 * step))
        seat = min(seat, <uint8_t> (seat - 2 * step))
        seat = min(seat, <uint8_t> (seat - step))
        seats[i] = seat | <uint8_t> -beyond[i]


cdef inline uint8_t last_place(const uint8_t* seats, uint8_t seat, int laid, uint8_t* count) noexcept nogil:
    # Return the last place of a seat, counted from 1, or 0 without a place. Sets `count` to the number of its places.
    cdef uint8_t places = 0, last = 0, own
    cdef int i
    for i in range(laid + 15 & ~15):
        own = -<uint8_t> (seats[i] == seat)
        places -= own
        last = max(last, <uint8_t> (own & PLACES[i]))
    count[0] = places
    return last


cdef inline void see_bonuses(const Plays* plays, Seen* seen) noexcept nogil:
    # Count the bonus cards. One card of each play of exactly four cards goes to the bonus pile.
    cdef uint128_t tops = <uint128_t> plays.tops[1] << 64 | plays.tops[0]
    cdef uint128_t fours = (
        tops & ~(tops << 1 | tops << 2 | tops << 3) & (tops << BONUS_GROUP | <uint128_t> 1 << (BONUS_GROUP - 1))
    )
    cdef uint64_t word
    cdef int first, seat
    for first in range(0, 128, 64):
        word = <uint64_t> (fours >> first)
        while word:
            seat = plays.seats[first + lowest_bit(word)]
            word &= word - 1
            seen.pile_count[seat] -= 1
            seen.bonus_count[seat] += 1


cdef int read_exchanges(const State* state, const Plays* plays, uint8_t* exchangers) noexcept nogil:
    # List the seats that put cards under the draw pile, in order of time. Returns the number of these cards.
    cdef uint64_t left, seats
    cdef int exchanges = 0, half, place
    for half in range(2):
        left = plays.exchanges[half]
        while left:
            place = 64 * half + lowest_bit(left)
            left &= left - 1
            seats = EXCHANGERS[state.players][plays.seats[place]][state.codes[place]]
            memcpy(&exchangers[exchanges], &seats, sizeof(seats))
            exchanges += seats >> 56
    return exchanges


cdef void see_queue(const State* state, int seat, const uint8_t* exchangers, Seen* seen) noexcept nogil:
    # Collect the cards that the seat put under the pile and that are still there.
    cdef int count = 0, place
    for place in range(state.queue_length):
        seen.known[count] = card_under(state, state.redrawn_count + place)
        seen.known_as[count] = 1
        seen.queue_place[count] = place + 1
        count += exchangers[place] == seat
    seen.known_count = count


cdef void see_redrawn(
    const State* state, int seat, const Plays* plays, const uint8_t* exchangers, int exchanges, Seen* seen
) noexcept nogil:
    # Collect the redrawn cards that the seat put under the pile or drew. A card that this seat put there and another
    # seat drew is known to be in the other seat's hand, unless that seat has laid it or put a card under the pile
    # since.
    cdef Redraws redraws
    cdef uint8_t drawn_by_others[REDRAWN_KEPT + 1]
    cdef int count = 0, i, place, card, taker
    cdef bint put, taken
    # In a forged state, some redrawn cards may not have been taken by any seat.
    memset(&redraws.taker[EARLIER], NO_SEAT, REDRAWN_KEPT)
    follow_redraws(state, plays, exchanges, &redraws)
    for place in range(state.redrawn_count):
        put = exchangers[place] == seat
        taken = redraws.taker[EARLIER + place] == seat
        seen.redrawn[state.redrawn_count - 1 - place] = card_under(state, place) * (put | taken)
        drawn_by_others[count] = place
        count += put & ~taken
    for i in range(count):
        place = drawn_by_others[i]
        card = card_under(state, place)
        taker = redraws.taker[EARLIER + place]
        if holds(state, taker, card) and place >= redraws.before_put[taker] and not drawn_later(state, place, card):
            seen.known[seen.known_count] = card
            seen.known_as[seen.known_count] = 1 + distance_to(seat, taker, state.players)
            seen.queue_place[seen.known_count] = 0
            seen.known_count += 1


cdef inline bint holds(const State* state, int seat, int card) noexcept nogil:
    # Return True if a seat's hand has a card. `seat` may be NO_SEAT; `card` is 0 if the card is unknown.
    if seat == NO_SEAT or card == 0:
        return False
    return card_in_slot(state.hand[seat], cards_below(state.hand[seat], state.hand_size[seat], card)) == card


cdef inline bint drawn_later(const State* state, int redraw, int card) noexcept nogil:
    # Return True if the card went through the queue again later.
    cdef int i
    for i in range(redraw + 1, state.redrawn_count):
        if card_under(state, i) == card:
            return True
    return False


cdef void follow_redraws(const State* state, const Plays* plays, int exchanges, Redraws* redraws) noexcept nogil:
    # Find the takers of redrawn cards. The sizes of the hands determine the number of draws in each turn.
    cdef uint8_t turns[MAX_PLAYERS * MAX_CARD + 8]
    cdef int sizes[MAX_PLAYERS]
    cdef uint64_t left, early, word
    cdef int players = state.players, pile = cards_in_use(players) - DEALT * players
    cdef int before = -1, put = 0, count = 0, half, place, code, number, seat, draw, rest, size, turn, exchanged
    cdef int until, i
    cdef uint8_t early_seats[CODES]
    cdef uint8_t places
    for seat in range(MAX_PLAYERS):
        sizes[seat] = DEALT
    # While no seat can have drawn from the queue, every hand was refilled, and a sixth card is a bonus for the seat's
    # last play. This is certain (except for the last play) while the pile had enough cards for all cards laid,
    # exchanges and bonuses.
    until = pile - players - 1
    left = plays.exchanges[0] & (<uint64_t> 1 << min(state.laid - 1, 63)) - 1
    while left:
        place = lowest_bit(left)
        left &= left - 1
        number = count_bits(state.codes[place]) - 1
        if place + number > until:
            until = min(until, place - 1)
            break
        until -= number
        put += number
    early = (<uint64_t> 1 << (min(until, state.laid - 2) + 1)) - 1
    left = plays.tops[0] & early
    if left:
        before = highest_bit(left)
    for i in range(before + 16 & ~15):
        early_seats[i] = plays.seats[i] | <uint8_t> -FLAGS[PLANE - before - 1 + i]
    for seat in range(players):
        place = last_place(early_seats, seat, before + 1, &places)
        sizes[seat] += place != 0 and state.codes[place - 1] > 1
    # The number of cards left in the draw pile, and the number of the next draw, counted from the first redraw kept.
    rest = pile - before - 1
    for seat in range(MAX_PLAYERS):
        rest -= sizes[seat] - DEALT
    draw = state.queue_length + state.redrawn_count - exchanges + put - rest
    for seat in range(MAX_PLAYERS):
        redraws.before_put[seat] = draw
    seat = plays.seats[before + 1]
    # The remaining turns.
    left = plays.tops[0] & ~early
    for half in range(2):
        while left:
            place = 64 * half + lowest_bit(left)
            left &= left - 1
            code = state.codes[place]
            word = TURNS_OF[code] + place - before
            memcpy(&turns[count], &word, 8)
            count += turns_in(code)
            before = place
        left = plays.tops[1]
    # The loop avoids branches, which would be unpredictable. Takers written too far ahead are overwritten.
    for i in range(count - 1):
        turn = turns[i]
        size = sizes[seat] - (turn & 7)
        put_taker(redraws, draw, seat)
        # A seat that exchanges a card draws another card.
        exchanged = turn / NO_EXCHANGE & 1 ^ 1
        redraws.before_put[seat if exchanged else <int> NOBODY] = draw
        # The number includes the bonus for a play that the next seat cannot respect.
        number = min(max(0, DEALT - size) + turn / BONUS_FOLLOWS, rest)
        rest -= number
        draw += exchanged + number
        sizes[seat] = size + number
        seat = seat + 1 if seat + 1 < players else 0
    # The number of draws in the last turn follows from the size of the seat's hand.
    turn = turns[count - 1]
    size = sizes[seat] - (turn & 7)
    if turn & NO_EXCHANGE == 0:
        redraws.before_put[seat] = draw
        size -= 1
    put_taker(redraws, draw, seat)
    draw += max(0, state.hand_size[seat] - size)
    put_taker(redraws, draw, NO_SEAT)


cdef inline void put_taker(Redraws* redraws, int draw, int seat) noexcept nogil:
    # Write `seat` as the taker of a draw and of the seven draws after it.
    cdef uint64_t takers = in_all_slots(seat)
    memcpy(&redraws.taker[EARLIER + draw], &takers, 8)


cdef void observe(const void* view, int seat, uint8_t* values) noexcept nogil:
    # This function reads only Seen, so it cannot reveal hidden information.
    cdef const Seen* seen = <const Seen*> view
    cdef uint8_t* own = values
    cdef uint8_t* laid = own + MAX_CARD
    cdef uint8_t* order = laid + MAX_CARD
    cdef uint8_t* turns = order + MAX_CARD
    cdef uint8_t* known = turns + MAX_CARD
    cdef uint8_t* queue_place = known + MAX_CARD
    cdef uint8_t* meets = queue_place + MAX_CARD
    cdef uint8_t* up = meets + MAX_CARD
    cdef uint8_t* redrawn = up + MAX_CARD
    cdef uint8_t* numbers = redrawn + REDRAWN_KEPT
    cdef int players = seen.players, used = cards_in_use(players), other = seat, i, _
    cdef int turn = seen.active if FIRST_SEAT < seen.phase < FINISHED else NO_SEAT
    # Each plane is written in whole words, and the next plane overwrites the excess bytes.
    clear_plane(own)
    for i in range(PLANE):
        laid[i] = seen.order[1 + i] != 0
    memcpy(order, &seen.order[1], PLANE)
    memcpy(turns, &seen.turns[1], PLANE)
    clear_plane(known)
    clear_plane(queue_place)
    put_constraint(seen, used, meets)
    spread_bits(seen.up_arrows[0] & ALL_BITS >> max(0, 64 - used), 64, up)
    spread_bits(seen.up_arrows[1] & (<uint64_t> 1 << max(0, used - 64)) - 1, PLANE - 64, up + 64)
    memcpy(redrawn, seen.redrawn, REDRAWN_KEPT)
    memset(numbers, 0, OBSERVATION_LENGTH - OBSERVATION_PLANES * MAX_CARD - REDRAWN_KEPT)
    for i in range(seen.hand_size[seat]):
        own[card_in_slot(seen.hand, i) - 1] = 1
    for i in range(seen.known_count):
        known[seen.known[i] - 1] = seen.known_as[i]
        queue_place[seen.known[i] - 1] = seen.queue_place[i]
    for _ in range(players):
        numbers[0] = 1
        numbers[1] = seen.hand_size[other]
        numbers[2] = seen.pile_count[other]
        numbers[3] = seen.bonus_count[other]
        numbers[4] = seen.top[other]
        numbers[5] = seen.turned >> other & 1
        numbers[6] = turn == other
        numbers[7] = seen.creator == other
        numbers += OBSERVATION_SEAT_NUMBERS
        other = other + 1 if other + 1 < players else 0
    numbers += (MAX_PLAYERS - players) * OBSERVATION_SEAT_NUMBERS
    numbers[0] = players
    numbers[1] = seen.draw_pile
    numbers[2] = seen.queue_length
    numbers[3] = seen.passes
    numbers[4] = seen.bonus_drawn
    numbers[5] = seen.last_turns
    numbers[FIRST_PHASE_NUMBER + seen.phase] = 1


cdef inline void put_constraint(const Seen* seen, int used, uint8_t* meets) noexcept nogil:
    # Mark the cards in use that respect the constraint, or all cards in use if there is no constraint.
    cdef int card = max(1, seen.constraint)
    cdef int up = (seen.up_arrows[(card - 1) >> 6] >> ((card - 1) & 63) & 1) | (seen.constraint == 0)
    cdef const uint8_t* first = &FLAGS[PLANE - seen.constraint * up]
    cdef const uint8_t* end = &FLAGS[PLANE - (card - 1) - (used - card + 1) * up]
    cdef int i
    for i in range(PLANE):
        meets[i] = first[i] & ~end[i]
