# Momistigri: the packed state and its constants. A card is represented by its kind: 9 * colour + value - 1, or 45 for
# the Momistigri.
#
# A set of cards has one bit for each of the 46 cards in the box, in ascending order of kind. The number of the bit is
# the card's place. Every card is in at most one hand. Cards of a kind are interchangeable. The first places of the kind
# belong to the cards in the hand of seat 0, the next places to the cards in the hand of seat 1, and so on. The last
# places belong to cards that are in no hand. Equal positions therefore have equal sets.
from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcpy

from chatiere.engine.core.bits cimport bits_by_byte, lowest_bit

cpdef enum:
    VALUES = 9
    COLOURS = 5
    COLOURED = COLOURS * VALUES  # the number of kinds with a colour and a value 1-9
    MOMISTIGRI = COLOURED
    KINDS = MOMISTIGRI + 1
    BOX = 46  # the number of cards in the box
    MOMISTIGRI_PLACE = BOX - 1  # the last place
    FEWEST_PLAYERS = 3
    MAX_PLAYERS = 5
    BYTES_OF_BOX = 6  # the size of a set with one bit for each card
    PLACES_OF_BOX = 8 * BYTES_OF_BOX

ctypedef struct Box:
    # The kind of each card, according to the option `copies`.
    uint8_t kind_at[PLACES_OF_BOX]  # the kind of the card at each place; places beyond the box have the Momistigri
    uint64_t firsts  # the set of the first cards of each kind in the box

ctypedef struct Tables:
    # Sets that follow from a box. They are stored in tables, because they are often needed.
    uint64_t bits_of[KINDS]  # the cards of each kind
    uint64_t kinds_in[BYTES_OF_BOX][256]  # the kinds of the cards in each byte of a set of cards
    uint64_t of_value[VALUES]  # all cards of the values 1, 2 and so on
    uint64_t decks[MAX_PLAYERS + 1]  # the cards of a game with each number of players
    uint8_t copies[COLOURED]  # the number of cards of each kind except the Momistigri

# The box with the default copies. These tables are written once, at import.
cdef Box USUAL_BOX
cdef Tables USUAL
# Map a byte and n to the number of the byte's n-th set bit, counted from 0.
cdef uint8_t NTH_BIT[256][8]

cdef void lay_out(Box* box, const uint8_t* copies) noexcept nogil
cdef uint64_t find_value(const Box* box, int value) noexcept nogil

cdef extern from * nogil:
    int __builtin_clzll(unsigned long long bits)

cdef inline uint64_t bit(int place) noexcept nogil:
    return <uint64_t> 1 << place

cdef inline int lowest(uint64_t cards) noexcept nogil:
    # Return the place of the first card of a set.
    return lowest_bit(cards)

cdef inline int first_at(const Box* box, int kind) noexcept nogil:
    # Return the number of cards of lower kinds. Eight kinds are compared at a time by the top bits of bytes, because
    # kinds are below 128.
    cdef uint64_t kinds, no_lower = 0
    cdef int i
    for i in range(0, PLACES_OF_BOX, 8):
        memcpy(&kinds, &box.kind_at[i], sizeof(kinds))
        no_lower += ((kinds | 0x8080808080808080ULL) - kind * 0x0101010101010101ULL) >> 7 & 0x0101010101010101ULL
    return PLACES_OF_BOX - <int> (no_lower * 0x0101010101010101ULL >> 56)

cdef inline uint64_t same_kind(const Box* box, int place) noexcept nogil:
    # Return all cards of the kind of the card at a place.
    cdef uint64_t next_first
    if box == &USUAL_BOX:
        return USUAL.bits_of[box.kind_at[place]]  # uncovered: counted for state.pyx, which only has other boxes
    next_first = box.firsts & -(<uint64_t> 2 << place)
    # The Momistigri has the last place.
    return ((next_first & -next_first) - last_bit(box.firsts & (<uint64_t> 2 << place) - 1)) & bit(BOX) - 1

cdef inline uint64_t last_bit(uint64_t cards) noexcept nogil:
    # Return the set that contains only the last card of a set.
    return <uint64_t> 1 << 63 >> __builtin_clzll(cards)

cdef inline uint64_t bits_of(const Box* box, int kind) noexcept nogil:
    # Return all cards of a kind.
    cdef int place
    if box == &USUAL_BOX:
        return USUAL.bits_of[kind]
    place = first_at(box, kind)
    return same_kind(box, place) if box.kind_at[place] == kind else 0

cdef inline uint64_t of_value(const Box* box, int value) noexcept nogil:
    # Return all cards of a value, counted from 0.
    return USUAL.of_value[value] if box == &USUAL_BOX else find_value(box, value)

cdef inline uint64_t deck_for(const Box* box, int players) noexcept nogil:
    # Return the cards used in a game. With 4 players, the 1s are left out. With 3, the 1s, the 2s and the 9 are left
    # out.
    cdef uint64_t cards = bit(BOX) - 1
    if box == &USUAL_BOX:
        return USUAL.decks[players]
    if players <= 4:
        cards &= ~find_value(box, 0)
    if players <= 3:
        cards &= ~(find_value(box, 1) | find_value(box, 8))
    return cards

cdef inline uint64_t first_cards(const Box* box, uint64_t cards) noexcept nogil:
    # Return one card of each kind in a set. The cards of each kind in the set must be contiguous.
    return cards & (box.firsts | ~(cards << 1))

cdef inline uint64_t kinds_in(const Box* box, uint64_t cards) noexcept nogil:
    # Return the set of the kinds of some cards.
    cdef uint64_t kinds = 0
    cdef int i
    if box == &USUAL_BOX:
        for i in range(BYTES_OF_BOX):
            kinds |= USUAL.kinds_in[i][cards >> 8 * i & 0xFF]
        return kinds
    while cards:
        kinds |= bit(box.kind_at[lowest(cards)])
        cards &= cards - 1
    return kinds

cdef inline uint64_t further_cards(const Box* box, uint64_t cards) noexcept nogil:
    # Return all cards of a set except `first_cards`.
    return cards & cards << 1 & ~box.firsts

cdef inline bint has_single(const Box* box, uint64_t cards) noexcept nogil:
    # Return True if some kind has exactly one card.
    cdef uint64_t further = further_cards(box, cards)
    return (cards & ~further & ~(further >> 1)) != 0

cdef inline uint64_t to_first_places(const Box* box, uint64_t cards) noexcept nogil:
    # Return a set with the same number of cards of each kind as `cards`, in the first places of the kind.
    cdef uint64_t moving = cards & ~box.firsts & ~(cards << 1)
    # Usually no kind has more than two cards.
    cards ^= moving | moving >> 1
    moving = cards & ~box.firsts & ~(cards << 1)
    while moving:
        cards ^= moving | moving >> 1
        moving = cards & ~box.firsts & ~(cards << 1)
    return cards

cdef inline uint64_t running_counts(uint64_t cards) noexcept nogil:
    # Return a word whose byte i is the number of cards in bytes 0 to i. The last byte is the number of all cards.
    return bits_by_byte(cards) * 0x0101010101010101ULL

cdef inline int count_cards(uint64_t cards) noexcept nogil:
    return running_counts(cards) >> 56

cdef inline int first_above(uint64_t bytes, int number) noexcept nogil:
    # Return the number of the lowest bit of the first byte that is above `number`. All bytes and `number` are below
    # 128.
    return lowest(((bytes | 0x8080808080808080ULL) - (number + 1) * 0x0101010101010101ULL) & 0x8080808080808080ULL) - 7

cdef inline int nth_card(uint64_t cards, uint64_t counts, int n) noexcept nogil:
    # Return the place of the n-th card, counted from 0. `counts` is the result of running_counts for the cards.
    cdef int start = first_above(counts, n)
    return start + NTH_BIT[cards >> start & 0xFF][n - ((counts << 8) >> start & 0xFF)]


cpdef enum:
    ONES = 9  # the number of 1s in the box
    DEALT = 9  # the number of cards dealt to each seat; the first seat's right neighbour gets one more
    ROUNDS = 3
    LAST_TURN = 200  # the number of the last turn allowed in a round
    MAX_DRAW = 3
    LAST_CHOICE = 3  # the highest value of a pair with Main or Reverse
    # Knowers are the seats and PUBLIC. PUBLIC represents the knowledge that all seats and spectators have.
    PUBLIC = MAX_PLAYERS
    KNOWERS = PUBLIC + 1
    ZEROS = 3

cpdef enum Phase:
    FIRST_SEAT  # chance: the seat that begins
    DEAL  # chance: the next card dealt to the active seat
    DRAW  # chance: a card that the active seat draws from the previous seat
    SWAP_OUT  # decision: the card that the previous seat, from which cards are drawn, discards
    SWAP_IN  # decision: the card that this seat takes from the pile
    DISCARD  # decision: a pair, or Pass
    CHOICE  # decision after a pair of 1, 2 or 3: Main or Reverse
    NAME  # decision: the card that the next seat must draw
    GIVE  # decision: a card and the seat that gets it
    HAND_OUT  # decision: the card of the pile that the receiver gets
    AGAIN  # decision after a pair of 6: another pair, or stop
    FINISHED
    PHASES

cpdef enum Mark:
    # The effect of a turn on the next draw.
    NO_MARK
    SWAP
    TWO
    THREE
    MARKS

cpdef enum MomistigriFault:
    # Faults of moves.
    NO_PAIR_NOW = 100
    NO_PASS_NOW
    NO_STOP_NOW
    NO_CHOICE_NOW
    NO_NAMING_NOW
    NO_GIVING_NOW
    NO_HANDING_OUT_NOW
    NO_SWAPPING_OUT_NOW
    NO_SWAPPING_IN_NOW
    CARD_NOT_IN_HAND
    NOT_A_PAIR
    SEAT_NOT_ELIGIBLE
    CARD_NOT_IN_PILE
    CARD_JUST_SWAPPED_OUT
    # Faults of states.
    BAD_PLAYERS
    BAD_FIRST_SEAT
    BAD_COPIES
    BAD_PHASE
    BAD_ACTIVE_SEAT
    BAD_ROUND
    BAD_TURN
    BAD_DIRECTION
    BAD_IN_ROUND
    BAD_PASSED
    BAD_MARK
    BAD_DRAWS
    BAD_EFFECT
    BAD_RECEIVER
    BAD_SWAPPED_OUT
    BAD_PENALTIES
    BAD_DEAL
    BAD_HAND
    BAD_PILE
    CARD_TWICE_OR_MISSING
    BAD_KNOWN
    BAD_MOST_ONES
    NOT_ZERO

cpdef enum MomistigriEnd:
    TWO_ROUNDS = 1  # one seat has the fewest penalty points after two rounds
    THIRD_ROUND  # the third round, which is played after a tie for the fewest points, is over

cpdef enum RoundEnd:
    ONE_LEFT = 1  # at most one seat holds cards
    EVERYBODY_PASSED
    LIMIT_REACHED  # the last turn allowed in the round is over

cpdef enum MomistigriEvent:
    FIRST_SEAT_CHOSEN = 1
    ROUND_BEGUN
    CARD_DEALT
    TURN_BEGUN
    CARD_DRAWN
    SEAT_LEFT
    CARD_SWAPPED_OUT
    CARD_SWAPPED_IN
    PAIR_DISCARDED
    PASSED
    STOPPED
    ONES_DISCARDED
    DIRECTION_REVERSED
    CARD_NAMED
    SWAP_PENDING
    TWO_PENDING
    THREE_PENDING
    CARD_GIVEN
    CARD_HANDED_OUT
    ONE_SEAT_LEFT
    ALL_PASSED
    TURN_LIMIT_REACHED
    HAND_SHOWN
    PENALTY_TAKEN
    GAME_ENDED

cpdef enum:
    # Dense ids (rules file: Actions). Each lower id is a DiscardPair of two kinds. The two kinds may be equal.
    PASS_ID = KINDS * (KINDS + 1) >> 1
    STOP_ID
    MAIN_ID
    REVERSE_ID
    FIRST_NAME_ID
    FIRST_GIVE_ID = FIRST_NAME_ID + KINDS
    FIRST_HAND_OUT_ID = FIRST_GIVE_ID + KINDS * (MAX_PLAYERS - 1)
    FIRST_SWAP_OUT_ID = FIRST_HAND_OUT_ID + KINDS
    FIRST_SWAP_IN_ID = FIRST_SWAP_OUT_ID + KINDS
    NUM_ACTIONS = FIRST_SWAP_IN_ID + KINDS

# The nearest other seat in the round, or the seat itself if there is no other. The table is indexed by [0 clockwise, 1
# counter-clockwise][set of the seats in the round][seat]. It is written once, at import.
cdef uint8_t BESIDE[2][1 << MAX_PLAYERS][MAX_PLAYERS]

ctypedef struct Options:
    uint8_t first_seat  # NO_SEAT if a chance event draws it
    uint8_t copies[COLOURED]  # the number of cards of each kind in the box, except the Momistigri

ctypedef struct State:
    uint8_t players
    uint8_t rules_version
    uint8_t first_seat_option
    uint8_t first_seat  # the first seat of this round; NO_SEAT until it is known
    uint8_t phase
    uint8_t active  # the seat whose turn it is; in DEAL, the seat that gets the next card
    uint8_t round  # counted from 0
    uint8_t turn  # the number of the turn in the round, counted from 1; 0 before the first turn
    uint8_t backwards  # 1 if the direction of play is reversed
    uint8_t in_round  # the set of seats in the round
    uint8_t passed  # the set of seats with a pass mark
    uint8_t mark  # in DRAW, the mark that changes this draw
    uint8_t draws_left  # in DRAW, the number of draws left
    uint8_t effect  # in CHOICE, the value of the pair
    uint8_t receiver  # in HAND_OUT, the seat that gets the card
    uint8_t swapped_out  # in SWAP_IN, 1 + the card just discarded
    uint8_t penalties[ROUNDS][MAX_PLAYERS]  # the penalty points in finished rounds
    # The knowledge about 1s: [seat][knower] is 0, or 1 + the maximum number of 1s in the seat's hand.
    uint8_t most_ones[MAX_PLAYERS][KNOWERS]
    uint8_t zero[ZEROS]
    Box box  # all zeros for the default of the option
    uint64_t hands[MAX_PLAYERS]
    uint64_t left  # the other cards of the deck: the undealt cards during the deal, later the pile
    # The cards that each knower knows in the hands of other seats. In a hand, known cards of a kind come first.
    uint64_t known[KNOWERS]

ctypedef struct View:
    # The information visible to a seat. The hands in the state have only the cards that the viewer knows, and `known`
    # and `most_ones` are cleared. The other fields have the viewer's knowledge and the public knowledge about the
    # hands. In a view, every set of cards uses the first places of each kind, regardless of the holder.
    State state
    uint8_t sizes[MAX_PLAYERS]  # the sizes of the hands
    uint8_t most_ones[MAX_PLAYERS]  # the viewer's knowledge about 1s in each hand
    uint8_t most_ones_known_to_all[MAX_PLAYERS]
    uint64_t known_to_all[MAX_PLAYERS]  # the cards in each hand that all seats know
    uint64_t pile
    uint64_t unseen  # the cards whose place the viewer does not know


cdef inline int value_of(int kind) noexcept nogil:
    return 10 if kind == MOMISTIGRI else kind % VALUES + 1

cdef inline int next_seat(const State* state, int seat) noexcept nogil:
    # Return the next seat clockwise, even if it is not in the round.
    return 0 if seat + 1 == state.players else seat + 1

cdef inline int seat_beside(const State* state, int seat, bint against) noexcept nogil:
    # Return the nearest other seat in the round in the direction of play, or in the opposite direction if `against` is
    # True. If there is no other seat, return the seat itself.
    return BESIDE[state.backwards ^ against][state.in_round][seat]

cdef inline int drawn_from(const State* state) noexcept nogil:
    # Return the seat from which the active seat draws: the previous seat in the round.
    return seat_beside(state, state.active, True)

cdef inline int decider(const State* state) noexcept nogil:
    # Return the seat that has to decide. The phase must be a decision.
    return drawn_from(state) if state.phase == SWAP_OUT or state.phase == SWAP_IN else state.active

cdef inline const Box* box_of(const State* state) noexcept nogil:
    return &state.box if state.box.firsts else &USUAL_BOX

cdef inline uint64_t cards_in_hands(const State* state) noexcept nogil:
    return state.hands[0] | state.hands[1] | state.hands[2] | state.hands[3] | state.hands[4]

cdef inline uint64_t pile_of(const State* state) noexcept nogil:
    return state.left if state.phase > DEAL else 0

cdef inline int sum_of(const Box* box, uint64_t cards) noexcept nogil:
    cdef int points = 0
    while cards:
        points += value_of(box.kind_at[lowest(cards)])
        cards &= cards - 1
    return points

cdef inline int penalty_so_far(const State* state, int seat) noexcept nogil:
    # Return a seat's sum of penalty points over the rounds. Unfinished rounds have 0.
    return state.penalties[0][seat] + state.penalties[1][seat] + state.penalties[2][seat]

cdef inline int count_fewest(const State* state, int rounds) noexcept nogil:
    # Return the number of seats tied for the fewest penalty points after `rounds` rounds.
    cdef int fewest = 0xFFFF, count = 0, seat, points, i
    for seat in range(state.players):
        points = 0
        for i in range(rounds):
            points += state.penalties[i][seat]
        if points < fewest:
            fewest = points
            count = 0
        count += points == fewest
    return count

# Actions

# These tables are written once, at import.
# The two kinds of each DiscardPair, the lower kind first. The id of the action is high * (high + 1) / 2 + low.
cdef uint8_t PAIRS[PASS_ID][2]
# For each kind, the set of the kinds that form pairs with it (of the same colour or value) and are not above it.
cdef uint64_t PARTNERS[KINDS]

cdef inline void cards_of_pair(int action, int* low, int* high) noexcept nogil:
    low[0] = PAIRS[action][0]
    high[0] = PAIRS[action][1]

cdef inline int distance_of_gift(int action) noexcept nogil:
    # Return the receiver's distance to the left of the giver, 1-4. With fewer than five seats, some distances have no
    # seat.
    return 1 + (action - FIRST_GIVE_ID) // KINDS

cdef inline int kind_of_gift(int action) noexcept nogil:
    return (action - FIRST_GIVE_ID) % KINDS

cdef inline int id_of_gift(int distance, int kind) noexcept nogil:
    return FIRST_GIVE_ID + KINDS * (distance - 1) + kind
