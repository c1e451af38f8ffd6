# Chatpentiers: the packed state and its constants. The number of a card is 12 x colour + value - 1. In a set of cards,
# the bit with this number represents the card.
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from chatiere.engine.core.bits cimport count_bits, lowest_bit
from chatiere.engine.core.operations cimport seat_at

cpdef enum:
    NO_CARD = 255
    NO_COLOUR = 255
    MIN_PLAYERS = 3
    MAX_PLAYERS = 5
    COLOURS = 5
    VALUES = 12
    CARDS = COLOURS * VALUES
    COLOUR_BITS = (1 << VALUES) - 1  # the set of a colour's cards, shifted to bit 0
    SECTIONS = 4
    ZERO_ZONE = SECTIONS
    ZONES = SECTIONS + 1
    MAX_LIMIT = 9
    ROUNDS = 3
    MAX_HAND = 14  # with 4 players; also the maximum number of tricks in a round
    MAX_TAKEN = 2 * MAX_HAND  # the maximum number of cards that a seat takes in a round, two in each trick
    MAX_POINTS = MAX_TAKEN + SECTIONS  # the maximum in a round: one for each card, and the bonus for four sections

cpdef enum Phase:
    FIRST_SEAT  # chance: the seat that begins
    DEAL  # chance: the next card dealt to the active seat
    EXTRA  # chance, 3 players: the extra card
    PLAY  # decision: the active seat plays a card
    TAKE  # decision: the active seat takes a card and places it
    FINISHED
    PHASES

cpdef enum ChatpentiersFault:
    # Faults of moves.
    TAKING_NOT_A_CHOICE = 100
    PLAYING_NOT_A_CHOICE
    CARD_NOT_IN_HAND
    MUST_FOLLOW
    CARD_NOT_ON_TABLE
    NO_ZERO_ZONE
    COLOUR_LIES_ELSEWHERE
    ZONE_HOLDS_ANOTHER_COLOUR
    # Faults of states.
    BAD_PLAYERS
    BAD_PHASE
    BAD_FIRST_SEAT
    BAD_LIMITS
    BAD_REMOVED_COLOUR
    BAD_ROUND
    BAD_LEADER
    BAD_ACTIVE_SEAT
    CARD_TWICE_OR_MISSING
    BAD_HAND
    BAD_EXTRA
    BAD_PLAYS
    BAD_TABLE
    BAD_DISCARDS
    BAD_BOARDS
    BAD_ZONES
    BAD_VOIDS
    BAD_POINTS
    NOT_ZERO

cpdef enum ChatpentiersEnd:
    THREE_ROUNDS = 1  # all rounds are over

cpdef enum ChatpentiersEvent:
    FIRST_SEAT_CHOSEN = 1
    ROUND_BEGUN
    CARD_DEALT
    EXTRA_CARD_TURNED
    CARD_PLAYED
    VOID_SHOWN
    TRICK_RANKED
    CARD_TAKEN
    CARD_DISCARDED
    LEADER_CHOSEN
    ROUND_SCORED
    GAME_ENDED

cpdef enum:
    # Dense ids (rules file: Actions).
    FIRST_TAKE_ID = CARDS
    NUM_ACTIONS = FIRST_TAKE_ID + CARDS * ZONES

ctypedef struct Options:
    uint8_t first_seat  # NO_SEAT if a chance event draws it
    uint8_t removed_colour  # NO_COLOUR unless there are 3 players
    uint8_t section_limits[SECTIONS]

ctypedef struct State:
    uint8_t players
    uint8_t rules_version
    uint8_t first_seat_option
    uint8_t first_seat  # the first seat of the first round; NO_SEAT until it is known
    uint8_t phase
    uint8_t round  # 0 … 2
    uint8_t leader  # the leader of the trick; after the last trick, the seat that took two cards
    uint8_t active  # the deciding seat; in DEAL, the seat that gets the next card; otherwise the leader
    uint8_t removed_colour
    uint8_t section_limits[SECTIONS]
    uint8_t extra  # the trick's extra card, or NO_CARD
    uint8_t played  # the number of cards played to the trick
    uint8_t zero
    uint64_t undealt  # cards neither dealt nor turned up as an extra card in this round
    uint64_t table  # cards of the trick that have not been taken
    uint64_t discards
    uint64_t hand[MAX_PLAYERS]
    uint64_t board[MAX_PLAYERS]
    uint8_t play[MAX_PLAYERS]  # the cards played to the trick in order, beginning with the leader's, then zeros
    uint8_t voids[MAX_PLAYERS]  # the set of colours that each seat has failed to follow in this round
    uint8_t zone[MAX_PLAYERS][COLOURS]  # 1 + the zone of each colour on a board, or 0 for no zone
    uint8_t points[MAX_PLAYERS][ROUNDS - 1]  # the points of finished rounds except the last round (its boards remain)
    uint8_t more_zero[3]

ctypedef struct View:
    # The information visible to a seat. In the state, other hands are empty, and `undealt` has every card whose place
    # the viewer does not know. The other fields have the actual numbers of cards in these places.
    State state
    uint8_t hand_size[MAX_PLAYERS]
    uint8_t undealt_size

ctypedef struct BoardScore:
    int perfect_sections
    int bonus
    int sum  # the sum before negative values are replaced by 0
    int points


cdef inline int count_cards(uint64_t cards) noexcept nogil:
    return count_bits(cards)

cdef inline int lowest_card(uint64_t cards) noexcept nogil:
    # Return the lowest card of a set. The set must not be empty.
    return lowest_bit(cards)

cdef inline uint64_t card_bit(int card) noexcept nogil:
    return <uint64_t> 1 << card

cdef inline int colour_of(int card) noexcept nogil:
    # The product replaces a division by 12, and is exact below 64. For code that is expected to run rarely, compilers
    # would emit an actual division.
    return card * 43 >> 9

cdef inline int value_of(int card) noexcept nogil:
    return card - VALUES * colour_of(card) + 1

cdef inline uint64_t cards_of_colour(int colour) noexcept nogil:
    return <uint64_t> COLOUR_BITS << VALUES * colour

cdef inline uint64_t count_by_colour(uint64_t cards) noexcept nogil:
    # Count the cards of each colour. Each count is in the lowest bits of its colour's part of the set. Sums over four
    # bits are computed first, and then added.
    cards -= cards >> 1 & 0x555555555555555ULL
    cards = (cards & 0x333333333333333ULL) + (cards >> 2 & 0x333333333333333ULL)
    return cards + (cards >> 4) + (cards >> 8) & 0x00F00F00F00F00FULL

cdef inline int number_at(uint64_t numbers, int colour) noexcept nogil:
    # Return the number of a colour in the result of count_by_colour.
    return numbers >> VALUES * colour & 0xF

cdef inline int colours_in(uint64_t cards) noexcept nogil:
    # Return one bit for each colour in the set. Adding 0x7FF carries into the highest bit of a colour if a lower bit is
    # set. The product gathers the highest bits.
    cards |= (cards & 0x7FF7FF7FF7FF7FFULL) + 0x7FF7FF7FF7FF7FFULL
    return <int> ((cards >> 11 & 0x001001001001001ULL) * 0x1002004008010ULL >> 48 & 0x1F)

cdef inline uint64_t deck(const State* state) noexcept nogil:
    # Return all cards used in the round.
    cdef uint64_t cards = (<uint64_t> 1 << CARDS) - 1
    if state.removed_colour != NO_COLOUR:
        cards &= ~cards_of_colour(state.removed_colour)
    return cards

cdef inline int cards_dealt(int players) noexcept nogil:
    # Return the number of cards dealt to each seat. It is also the number of tricks.
    return 11 if players == 3 else MAX_HAND if players == 4 else 12

cdef inline int cards_taken(int players) noexcept nogil:
    # Return the number of cards taken in each trick.
    return 4 if players == 5 else 3

cdef inline bint has_extra_card(int players) noexcept nogil:
    return players == 3

cdef inline int next_seat(const State* state, int seat) noexcept nogil:
    return 0 if seat + 1 == state.players else seat + 1

cdef inline int seat_after(const State* state, int seat, int steps) noexcept nogil:
    return seat_at(seat, steps, state.players)

cdef inline int first_seat_of_round(const State* state) noexcept nogil:
    return seat_after(state, state.first_seat, state.round)

cdef inline int num_zones(const State* state) noexcept nogil:
    # Return the number of zones. With 3 players, there is no zero zone.
    return SECTIONS if state.players == 3 else ZONES

cdef inline uint64_t trick_cards(const State* state) noexcept nogil:
    # Return the cards played to the trick, and the extra card.
    cdef uint64_t cards = 0
    cdef int i
    for i in range(state.played):
        cards |= card_bit(state.play[i])
    return cards if state.extra == NO_CARD else cards | card_bit(state.extra)

cdef inline int seat_of_play(const State* state, int place) noexcept nogil:
    return seat_after(state, state.leader, place)

cdef inline int taken_so_far(const State* state) noexcept nogil:
    return count_cards(trick_cards(state) & ~state.table)

cdef inline int rank_that_takes(const State* state, int taken) noexcept nogil:
    # Return the rank of the next seat to take a card, counted from 0. The ranks take 1 and 2 cards. With 5 players,
    # they take 1, 1 and 2 cards.
    if state.players == 5:
        return min(taken, 2)
    return min(taken, 1)

cdef inline int cards_to_take(const State* state) noexcept nogil:
    # Return the number of cards that the active seat still has to take from the trick.
    cdef int left
    if state.phase != TAKE:
        return 0
    # The last rank takes two cards. Each earlier rank takes one card.
    left = cards_taken(state.players) - taken_so_far(state)
    return left if left <= 2 else 1


# A trick: 3. rank

cdef inline void rank_seats(const State* state, uint8_t* seats) noexcept nogil:
    # Rank the seats of a trick to which all have played, the strongest first. Strengths have twelve bits each. The rank
    # of a card, counted from 1, is the number of strengths from which the card's strength can be subtracted without a
    # borrow.
    cdef uint64_t ones = 0x001001001001001ULL
    cdef uint64_t tops = 0x800800800800800ULL
    cdef uint64_t strengths = 0, strength
    cdef int led = colour_of(state.play[0])
    cdef int i
    for i in range(state.players):
        # The led colour decides, then the higher value, then the later play.
        strength = (colour_of(state.play[i]) == led) << 7 | value_of(state.play[i]) << 3 | i
        strengths |= strength << 12 * i
    for i in range(state.players):
        strength = strengths >> 12 * i & 0xFF
        strength = (strengths | tops) - strength * ones & tops
        seats[((strength >> 11) * ones >> 48 & 0xF) - 1] = seat_of_play(state, i)


# Score of a round, a seat

cdef inline uint64_t zones_of(const State* state, int seat) noexcept nogil:
    # Return a byte for each colour with 1 + its zone, or 0 for no zone.
    cdef uint32_t four
    memcpy(&four, state.zone[seat], sizeof(four))
    return <uint64_t> state.zone[seat][4] << 32 | four

cdef inline uint64_t limits_of(const State* state) noexcept nogil:
    # Return a byte for each zone with its limit, indexed by 1 + zone. The zero zone has the limit 0. Index 0 (no zone)
    # has the size of the deck.
    cdef uint32_t four
    memcpy(&four, state.section_limits, sizeof(four))
    return <uint64_t> four << 8 | CARDS

cdef inline int points_of_zone(int cards, int limit) noexcept nogil:
    return cards if cards <= limit else limit - cards

cdef inline void score_board(const State* state, int seat, BoardScore* score) noexcept nogil:
    cdef uint64_t counts = count_by_colour(state.board[seat]), zones = zones_of(state, seat), limits = limits_of(state)
    cdef int colour, cards, limit, perfect = 0, total = 0
    for colour in range(COLOURS):
        cards = number_at(counts, colour)
        limit = limits >> 8 * (zones >> 8 * colour & 0xFF) & 0xFF
        perfect += cards == limit
        total += points_of_zone(cards, limit)
    # The bonus is 0, 0, 1, 2, 4 for 0 … 4 perfect sections.
    score.perfect_sections = perfect
    score.bonus = perfect - (0 < perfect < SECTIONS)
    score.sum = total + score.bonus
    score.points = score.sum if score.sum > 0 else 0
