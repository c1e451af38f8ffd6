"""Discat: a seat's observation (layout: description.py).

Batches may request an observation with every move. For speed, observations are therefore not made from the whole view.
Instead, `see` reads the plays once, and collects only the contents of an observation.
"""

from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcpy, memset

from chatiere.engine.core.bits cimport count_bits, highest_bit, lowest_bit, spread_bits
from chatiere.engine.core.operations cimport NO_SEAT, distance_to
from chatiere.engine.core.stream cimport uint128_t
from .hidden cimport Draws, begin_draws, draw_after_play, first_redraw, taker_of
from .state cimport (
    BONUS_GROUP, CODES, EXCHANGE, FINISHED, FIRST_SEAT, HIGHEST_CODE, MAX_CARD, MAX_EXCHANGES, MAX_PLAYERS, MIN_PLAYERS,
    PASS, PLANE, PLAY, REDRAWN_KEPT, Seen, State, back_to_creator, card_in_slot, card_under, cards_below, cards_in_use,
    constraint_of, creator_of, exchanged_in, in_all_slots, passes_in_a_row, top_bits, turns_in,
)

cdef enum:
    MAX_TURNS = MAX_PLAYERS + MAX_PLAYERS * MAX_CARD  # the maximum number, counted as in Plays.turns

cdef uint64_t ALL_BITS = 0xFFFFFFFFFFFFFFFF

ctypedef struct Plays:
    # For each card laid, the seat that laid it, and the number of its turn, counted from a turn of seat 0.
    uint8_t seats[CODES]
    int turns[CODES]
    # The set of places with the top of a play, and the set of those tops that are followed by an exchange.
    uint64_t tops[2]
    uint64_t exchanges[2]

ctypedef struct Exchangers:
    # The seats that exchange a card in the passes after a play, in order.
    uint8_t seats[MAX_PLAYERS + 1]
    uint8_t count

# The table is indexed by the number of players, the seat that played, and the code of the play.
cdef Exchangers EXCHANGERS[MAX_PLAYERS + 1][MAX_PLAYERS][HIGHEST_CODE + 1]
# Map the number of players and the number of a turn, counted in the same way, to the seat of the turn.
cdef uint8_t SEAT_OF_TURN[MAX_PLAYERS + 1][MAX_TURNS]
# Map each code to its turns and exchanges, encoded as in observations.
cdef uint8_t TURNS_SEEN[HIGHEST_CODE + 1]
# PLANE zeros, then PLANE ones. The entries from index PLANE - card on are a plane with a flag for each card above
# `card`.
cdef uint8_t FLAGS[2 * PLANE]
# Map each place to its number, counted from 1.
cdef uint8_t PLACES[CODES]


cdef void fill_tables() noexcept:
    cdef int code, number, players, seat
    cdef Exchangers* exchangers
    memset(FLAGS, 0, PLANE)
    memset(&FLAGS[PLANE], 1, PLANE)
    for number in range(CODES):
        PLACES[number] = number + 1
    for code in range(HIGHEST_CODE + 1):
        TURNS_SEEN[code] = turns_in(code) << TURNS_BIT | code & ~(1 << turns_in(code) >> 1)
    for players in range(MIN_PLAYERS, MAX_PLAYERS + 1):
        for number in range(MAX_TURNS):
            SEAT_OF_TURN[players][number] = number % players
        for seat in range(players):
            for code in range(1, 1 << players):
                exchangers = &EXCHANGERS[players][seat][code]
                for number in range(turns_in(code) - 1):
                    if exchanged_in(code, number):
                        exchangers.seats[exchangers.count] = SEAT_OF_TURN[players][seat + 1 + number]
                        exchangers.count += 1

fill_tables()


cdef void see(const void* body, int seat, void* out) noexcept nogil:
    # Collect the contents of an observation, all of which the seat knows.
    cdef const State* state = <const State*> body
    cdef Seen* seen = <Seen*> out
    cdef Plays plays
    # The seats that put cards under the pile, in order of time.
    cdef uint8_t put_by[MAX_EXCHANGES + 8]
    cdef int draw_pile, put, other
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
    put = read_exchanges(state, &plays, put_by)
    see_queue(state, seat, &put_by[put - state.queue_length], seen)
    if state.redrawn_count:
        see_redrawn(state, seat, &plays, put_by, put - state.queue_length - state.redrawn_count, seen)


cdef inline uint64_t eight_from(const uint8_t* bytes) noexcept nogil:
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
    # Read the cards laid, in order, and collect the piles.
    cdef const uint8_t* seat_of_turn = SEAT_OF_TURN[state.players]
    cdef int turn = state.first_seat, card, place, seat, last, turn_of_top
    cdef uint64_t codes
    clear_plane(&seen.order[1])
    clear_plane(&seen.turns[1])
    for place in range(state.laid):
        card = state.cards[place]
        seen.order[card] = place + 1
        seen.turns[card] = TURNS_SEEN[state.codes[place]]
        plays.seats[place] = seat_of_turn[turn]
        plays.turns[place] = turn
        turn += TURNS_SEEN[state.codes[place]] >> TURNS_BIT
    memset(plays.tops, 0, sizeof(plays.tops))
    memset(plays.exchanges, 0, sizeof(plays.exchanges))
    for place in range(0, state.laid, 8):
        codes = eight_from(&state.codes[place])
        (<uint8_t*> plays.tops)[place >> 3] = not_zero(codes)
        # Find the codes that have a bit set below their highest bit.
        (<uint8_t*> plays.exchanges)[place >> 3] = not_zero(codes & (codes | in_all_slots(0x80)) - in_all_slots(1))
    seen.turned = 0
    for seat in range(state.players):
        last = last_place(plays, seat, state.laid, &seen.pile_count[seat])
        seen.bonus_count[seat] = 0
        seen.top[seat] = state.cards[last - 1] if last else 0
        # A top lies face down once its seat has passed. A pass in progress has already turned it.
        turn_of_top = plays.turns[last - 1] if last else turn
        seen.turned |= (turn > turn_of_top + state.players) << seat
    if state.phase == PASS or (state.phase == PLAY and back_to_creator(state)):
        seen.turned |= (seen.top[state.active] != 0) << state.active
    see_bonuses(plays, seen)


cdef inline uint8_t last_place(const Plays* plays, uint8_t seat, uint8_t end, uint8_t* count) noexcept nogil:
    # Return the last place of a seat among the first `end` places, counted from 1, or 0 without a place. Sets `count`
    # to the number of its places. The loop has no branches, so that it processes sixteen places at a time.
    cdef uint8_t places = 0, last = 0, own
    cdef int i
    for i in range(end + 15 & ~15):
        own = -<uint8_t> ((plays.seats[i] == seat) & (PLACES[i] <= end))
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


cdef int read_exchanges(const State* state, const Plays* plays, uint8_t* put_by) noexcept nogil:
    # List the seats that put cards under the draw pile, in order of time. Returns the number of these cards.
    cdef const Exchangers* exchangers
    cdef uint64_t left
    cdef int put = 0, half, place
    for half in range(2):
        left = plays.exchanges[half]
        while left:
            place = 64 * half + lowest_bit(left)
            left &= left - 1
            exchangers = &EXCHANGERS[state.players][plays.seats[place]][state.codes[place]]
            # Seats beyond the count are overwritten.
            memcpy(&put_by[put], exchangers, sizeof(Exchangers))
            put += exchangers.count
    return put


cdef void see_queue(const State* state, int seat, const uint8_t* put_by, Seen* seen) noexcept nogil:
    # Collect the cards that the seat put under the pile and that are still there.
    cdef int count = 0, place
    for place in range(state.queue_length):
        seen.known[count] = card_under(state, state.redrawn_count + place)
        seen.known_as[count] = 1
        seen.queue_place[count] = place + 1
        count += put_by[place] == seat
    seen.known_count = count


cdef void see_redrawn(
    const State* state, int seat, const Plays* plays, const uint8_t* put_by, int forgotten, Seen* seen
) noexcept nogil:
    # Collect the redrawn cards that the seat put under the pile or drew. A card that this seat put there and another
    # seat drew is known to be in the other seat's hand, unless that seat has laid it or put a card under the pile
    # since. `forgotten` is the number of redrawn cards that the state no longer has.
    cdef Draws draws
    cdef int first = first_redraw(state, forgotten), count = 0, i, place, card, taker
    cdef uint8_t drawn_by_others[REDRAWN_KEPT + 1]
    cdef bint put, taken
    follow_draws(state, plays, &draws)
    for place in range(state.redrawn_count):
        put = put_by[forgotten + place] == seat
        taken = taker_of(&draws, first + place) == seat
        seen.redrawn[state.redrawn_count - 1 - place] = card_under(state, place) * (put | taken)
        drawn_by_others[count] = place
        count += put & ~taken
    for i in range(count):
        place = drawn_by_others[i]
        card = card_under(state, place)
        taker = taker_of(&draws, first + place)
        if not holds(state, taker, card) or first + place < draws.before_put[taker]:
            continue
        if not drawn_later(state, place, card):
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


cdef void follow_draws(const State* state, const Plays* plays, Draws* draws) noexcept nogil:
    # Follow the draws from the first play after which a seat may have drawn from the queue. Before that play, every
    # hand was refilled, and a sixth card is a bonus for the seat's last play.
    cdef uint64_t left = plays.exchanges[0], early
    cdef int end = state.laid - 1, first = 0, put = 0, most, number, place, seat, half
    cdef uint8_t places
    begin_draws(state, draws)
    # The seats have drawn a card for each card laid or put under the pile and, at most, a bonus card each.
    most = draws.left - state.players - 1
    while left:
        place = lowest_bit(left)
        number = count_bits(state.codes[place]) - 1
        if place + put + number > most:
            end = min(end, place)
        if place >= end:
            break
        put += number
        left &= left - 1
    early = (<uint64_t> 1 << min(end, most - put + 1)) - 1
    if plays.tops[0] & early:
        first = highest_bit(plays.tops[0] & early) + 1
    # The draws before that play.
    draws.left -= first
    for seat in range(state.players):
        place = last_place(plays, seat, first, &places)
        number = place != 0 and state.codes[place - 1] > 1
        draws.hand_size[seat] += number
        draws.left -= number
    draws.drawn = first_redraw(state, put) - draws.left
    left = plays.tops[0] & ~early
    for half in range(2):
        while left:
            place = 64 * half + lowest_bit(left)
            left &= left - 1
            draw_after_play(state, plays.seats[place], first, place, draws)
            first = place + 1
        left = plays.tops[1]
    # Do not count a pending draw.
    draws.drawn -= state.phase == EXCHANGE


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
