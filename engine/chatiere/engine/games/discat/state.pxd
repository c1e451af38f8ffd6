# Discat: the packed state and its constants. A card is represented by its printed number, 1-90. In a set of cards, bit
# card - 1 represents the card.
from libc.stdint cimport uint8_t, uint64_t

from chatiere.engine.core.bits cimport count_bits, lowest_bit
from chatiere.engine.core.operations cimport NO_SEAT

cdef extern from * nogil:
    int __builtin_clz(unsigned int number)

cpdef enum:
    MIN_PLAYERS = 2
    MAX_PLAYERS = 6
    BASE_CARDS = 30  # the number of cards in use with any number of players
    CARDS_A_PLAYER = 10  # the number of additional cards in use for each player
    MAX_CARD = BASE_CARDS + CARDS_A_PLAYER * MAX_PLAYERS
    DEALT = 5  # the number of cards dealt to each seat, and the size to which a hand is refilled
    MAX_HAND = DEALT + 1  # one more with a bonus card
    BONUS_GROUP = 4
    BONUS_POINTS = 4  # the points for each card of a bonus pile
    WINNING_GROUP = 5
    # The number of redrawn cards that a state stores. This is about the maximum in random play. In resampling, an older
    # redrawn card may be any card.
    REDRAWN_KEPT = 30
    MAX_EXCHANGES = (MAX_PLAYERS - 1) * MAX_CARD  # above the maximum of a game, but a forged state may reach it
    MAX_PILE = MAX_CARD - DEALT * MAX_PLAYERS  # the size of the draw pile with MAX_PLAYERS; the pile never grows
    PLACES = MAX_CARD + REDRAWN_KEPT  # the size of State.cards, for cards laid or in the queue, and redrawn cards
    PLANE = MAX_CARD + 7 & ~7  # the size of a plane: a byte for each card, rounded up to whole words
    ZEROS = 7
    CODES = PLANE  # the size of State.codes; codes beyond MAX_CARD are always 0
    HIGHEST_CODE = (1 << MAX_PLAYERS) - 1

cpdef enum Phase:
    FIRST_SEAT  # chance: the seat that begins
    DEAL  # chance: the next card dealt to the active seat
    PLAY  # decision: the active seat plays
    BONUS  # chance: the creator's bonus card, because the active seat cannot respect the constraint
    PASS  # decision: the active seat keeps its hand or exchanges a card
    EXCHANGE  # chance: the card that the active seat draws for the one put under the pile
    REFILL  # chance: the next card that refills the active seat's hand
    FINISHED
    PHASES

cpdef enum DiscatFault:
    # Faults of moves.
    PASSING_NOT_A_CHOICE = 100
    MUST_PASS
    CARD_NOT_IN_HAND
    NOT_A_GROUP
    WRONG_SIDE
    FIRST_PLAY_IS_ONE_CARD
    DRAW_PILE_EMPTY
    # Faults of states.
    BAD_PLAYERS
    BAD_FIRST_SEAT
    BAD_ARROWS
    BAD_PHASE
    BAD_ACTIVE_SEAT
    BAD_LAST_TURNS
    BAD_WINNER
    BAD_HAND
    BAD_REDRAWN
    BAD_TURNS
    BAD_QUEUE
    CARD_TWICE_OR_MISSING
    NOT_ZERO
    HISTORY_CONTRADICTS_HANDS
    TOO_FEW_DEALS

cpdef enum DiscatEnd:
    GROUP = 1  # a seat laid a group of five or six
    LAST_TURNS  # the last turns are over

cpdef enum DiscatEvent:
    FIRST_SEAT_CHOSEN = 1
    CARD_DEALT
    CARDS_PLAYED
    CARD_TO_BONUS_PILE
    BONUS_CARD_DRAWN
    TOP_TURNED
    HAND_KEPT
    CARD_EXCHANGED
    EXCHANGE_DRAWN
    CARD_REFILLED
    CONSTRAINT_LIFTED
    LAST_TURNS_BEGUN
    GAME_ENDED

cpdef enum:
    # Dense ids (rules file: Actions). The id of a Play has the slot of the top in the bits from TOP_SHIFT on, and a bit
    # for each other slot below these.
    TOP_SHIFT = MAX_HAND - 1
    PLAYS_A_TOP = 1 << TOP_SHIFT
    PLAY_IDS = MAX_HAND << TOP_SHIFT
    KEEP_ID = PLAY_IDS
    FIRST_EXCHANGE_ID = KEEP_ID + 1
    NUM_ACTIONS = FIRST_EXCHANGE_ID + MAX_HAND

ctypedef struct Options:
    uint8_t first_seat  # NO_SEAT if a chance event draws it
    uint64_t up_arrows[2]

ctypedef struct State:
    uint8_t players
    uint8_t rules_version
    uint8_t first_seat_option
    uint8_t first_seat  # NO_SEAT until known
    uint8_t phase
    uint8_t active  # the seat whose turn it is; in DEAL, the seat that gets the next card
    uint8_t bonus_drawn  # 1 if the constraint's creator has drawn its bonus
    uint8_t last_turns  # the number of last turns left, including the current turn; 0 if they have not begun
    uint64_t up_arrows[2]
    uint64_t unknown[2]  # the part of the draw pile that no seat has seen
    # Bits 8 s to 8 s + 7 are the card in slot s. Cards are in ascending order, followed by zeros. In a view, the cards
    # that the viewer knows come first, and all other cards are zeros.
    uint64_t hand[MAX_PLAYERS]
    uint8_t hand_size[MAX_PLAYERS]
    uint8_t queue_length
    uint8_t redrawn_count
    uint8_t laid
    uint8_t zero[ZEROS]
    # The first entries are all cards laid, in order. Each play has its cards in ascending order, then its top. Together
    # with `codes`, they are the public history. The history determines the owner of each card. The last entries are the
    # cards put under the draw pile, the oldest first: the latest redrawn_count cards that were drawn since, then the
    # queue_length cards that are still there. In a resampled state, a redrawn card that the seat did not know is 0. The
    # entries between are zeros.
    uint8_t cards[PLACES]
    # A code for each card laid. It is 0 if the card is not the top of its play. For a top, the number of the highest
    # bit set is the number of passes after the play. A lower bit is set if the pass with the bit's number was an
    # exchange.
    uint8_t codes[CODES]

ctypedef struct Redraw:
    # The public history of a card drawn from the queue.
    uint8_t giver
    uint8_t taker  # NO_SEAT if no seat has drawn the card, possible only in a forged state
    uint8_t surely_held  # 1 if the taker has not put a card under the pile since

ctypedef struct Layout:
    # The layout of the table, derived from `cards` and `codes`.
    uint8_t owner[MAX_CARD]  # the owner of each card laid
    uint8_t in_bonus_pile[MAX_CARD]
    uint8_t face_down[MAX_CARD]  # 1 if the card lies face down in a personal pile
    uint8_t queue_seat[MAX_CARD]  # the seat that put each card of the queue under the pile, oldest first
    Redraw redraws[REDRAWN_KEPT]

ctypedef struct View:
    # The information visible to a seat: a state in which hidden cards are zeros, and the layout. `unknown` has all
    # cards whose place the viewer does not know.
    State state
    Layout layout

ctypedef struct Seen:
    # The source of an observation: the public information, and the hidden cards that the seat knows.
    uint8_t players
    uint8_t phase
    uint8_t active
    uint8_t bonus_drawn
    uint8_t last_turns
    uint8_t queue_length
    uint8_t draw_pile
    uint8_t passes
    uint8_t constraint  # 0 if there is no constraint
    uint8_t creator  # NO_SEAT if there is no constraint
    uint8_t turned  # the set of seats whose personal pile has its top face down
    uint64_t up_arrows[2]
    uint64_t hand  # the seat's own hand
    uint8_t hand_size[MAX_PLAYERS]
    uint8_t pile_count[MAX_PLAYERS]
    uint8_t bonus_count[MAX_PLAYERS]
    uint8_t top[MAX_PLAYERS]  # the top of each personal pile, or 0
    # For each card laid: its place, counted from 1, and its turns as in the observation. Other cards have zeros. Index
    # 0 is not used.
    uint8_t order[1 + PLANE]
    uint8_t turns[1 + PLANE]
    # The cards that the seat put under the draw pile, their locations (encoded as in observations), and their places in
    # the queue (counted from 1). The arrays have a spare entry, because a card is written before it is counted.
    uint8_t known_count
    uint8_t known[MAX_CARD + 1]
    uint8_t known_as[MAX_CARD + 1]
    uint8_t queue_place[MAX_CARD + 1]
    # The cards drawn from the queue, the latest first. A card that the seat neither put there nor drew is 0.
    uint8_t redrawn[REDRAWN_KEPT]


cdef inline int cards_in_use(int players) noexcept nogil:
    # Return the number of cards in use. The highest card has the same number.
    return BASE_CARDS + CARDS_A_PLAYER * players

cdef inline int count_cards(const uint64_t* cards) noexcept nogil:
    return count_bits(cards[0]) + count_bits(cards[1])

cdef inline bint is_empty(const uint64_t* cards) noexcept nogil:
    return cards[0] | cards[1] == 0

cdef inline bint has_card(const uint64_t* cards, int card) noexcept nogil:
    return cards[(card - 1) >> 6] >> ((card - 1) & 63) & 1

cdef inline void put_card(uint64_t* cards, int card) noexcept nogil:
    cards[(card - 1) >> 6] |= <uint64_t> 1 << ((card - 1) & 63)

cdef inline void take_card(uint64_t* cards, int card) noexcept nogil:
    cards[(card - 1) >> 6] &= ~(<uint64_t> 1 << ((card - 1) & 63))

# Hands. A hand is a word whose bytes are six slots and two slots that are always empty.

cdef inline int card_in_slot(uint64_t hand, int slot) noexcept nogil:
    return <int> (hand >> 8 * slot & 0xFF)

cdef inline uint64_t slots_below(int slot) noexcept nogil:
    return (<uint64_t> 1 << 8 * slot) - 1

cdef inline uint64_t in_all_slots(int value) noexcept nogil:
    return value * <uint64_t> 0x0101010101010101

cdef inline int cards_below(uint64_t hand, int size, int card) noexcept nogil:
    # Return the number of cards in a hand that are lower than `card`. In `not_lower`, the top bit of a byte is set if
    # the card in this slot is not lower. The bit of the first empty slot is also set.
    cdef uint64_t not_lower = (hand | in_all_slots(0x80)) - in_all_slots(card) & in_all_slots(0x80)
    return lowest_bit(not_lower | <uint64_t> 0x80 << 8 * size) >> 3

cdef inline uint64_t with_card(uint64_t hand, int size, int card) noexcept nogil:
    cdef int slot = cards_below(hand, size, card)
    return hand & slots_below(slot) | (hand & ~slots_below(slot)) << 8 | <uint64_t> card << 8 * slot

cdef inline uint64_t without_slot(uint64_t hand, int slot) noexcept nogil:
    return hand & slots_below(slot) | hand >> 8 & ~slots_below(slot)

cdef inline uint64_t tens_digits(uint64_t hand) noexcept nogil:
    # Return the tens digit of the card in each slot. Each step computes every second slot, to leave 16 bits for the
    # product. 103 / 1024 is sufficiently close to 1 / 10.
    cdef uint64_t half = 0x00FF00FF00FF00FF
    cdef uint64_t low = (hand & half) * 103 >> 10 & half
    cdef uint64_t high = (hand >> 8 & half) * 103 >> 10 & half
    return low & in_all_slots(0x0F) | (high & in_all_slots(0x0F)) << 8

cdef inline int top_bits(uint64_t bytes) noexcept nogil:
    # Return a mask whose bit i is the top bit of byte i. The product gathers these bits in the last byte.
    return <int> ((bytes & in_all_slots(0x80)) * <uint64_t> 0x0002040810204081 >> 56)

cdef inline int slots_alike(uint64_t digits, int size, int slot) noexcept nogil:
    # Return a mask of the slots that have the same digit as `slot`.
    cdef uint64_t differing = digits ^ in_all_slots(card_in_slot(digits, slot))
    return top_bits(in_all_slots(0x80) - differing) & ((1 << size) - 1)

# The cards put under the draw pile, oldest first.

cdef inline int card_under(const State* state, int place) noexcept nogil:
    return state.cards[PLACES - 1 - place]

cdef inline void put_card_under(State* state, int place, int card) noexcept nogil:
    state.cards[PLACES - 1 - place] = card

# Codes

cdef inline int turns_in(int code) noexcept nogil:
    # Return the number of turns that a code represents: the play and the passes after it. Cards that are not tops have
    # 0.
    return 31 - __builtin_clz(2 * code + 1)

cdef inline bint exchanged_in(int code, int number) noexcept nogil:
    # Return True if the pass with the given number was an exchange.
    return code >> number & 1

# Turns

cdef inline int next_seat(const State* state, int seat) noexcept nogil:
    return 0 if seat + 1 == state.players else seat + 1

cdef inline bint pile_is_empty(const State* state) noexcept nogil:
    return state.queue_length == 0 and is_empty(state.unknown)

cdef inline int draw_pile_size(const State* state) noexcept nogil:
    return count_cards(state.unknown) + state.queue_length

cdef inline bint points_up(const State* state, int card) noexcept nogil:
    return has_card(state.up_arrows, card)

cdef inline int passes_in_a_row(const State* state) noexcept nogil:
    # Return the number of passes since the last play.
    return turns_in(state.codes[state.laid - 1]) - 1 if state.laid else 0

cdef inline int turns_since_play(const State* state) noexcept nogil:
    # Return the number of turns from the last play to the active seat's turn, once a seat has played.
    cdef bint goes_on = state.phase == PLAY or state.phase == BONUS or state.phase == PASS
    return passes_in_a_row(state) + goes_on

cdef inline int creator_of(const State* state) noexcept nogil:
    # Return the seat that made the last play. There must have been a play.
    cdef int seat = state.active - turns_since_play(state)
    return seat + state.players if seat < 0 else seat

cdef inline int size_of_last_play(const State* state) noexcept nogil:
    cdef int size = 1
    while size < state.laid and state.codes[state.laid - 1 - size] == 0:
        size += 1
    return size

cdef inline int group_winner(const State* state) noexcept nogil:
    # Return the seat that won with a group of five or six cards, or NO_SEAT.
    if state.phase == FINISHED and size_of_last_play(state) >= WINNING_GROUP:
        return creator_of(state)
    return NO_SEAT

cdef inline bint back_to_creator(const State* state) noexcept nogil:
    return state.laid != 0 and state.codes[state.laid - 1] >> (state.players - 1)

cdef inline int constraint_of(const State* state) noexcept nogil:
    # Return the card that the active seat's top card must respect, or 0.
    if state.laid == 0 or (state.phase == PLAY and back_to_creator(state)):
        return 0
    return state.cards[state.laid - 1]

cdef inline bint respects(const State* state, int constraint, int card) noexcept nogil:
    # Return True if a card respects the constraint. The code avoids branches, because both directions are equally
    # likely.
    return (card != constraint) & ((card > constraint) == points_up(state, constraint))

cdef inline bint can_respect(const State* state, int seat, int constraint) noexcept nogil:
    cdef int size = state.hand_size[seat]
    if size == 0:
        return False
    # The hand is sorted, so the best card for the constraint is the first or the last card.
    return respects(state, constraint, card_in_slot(state.hand[seat], (size - 1) * points_up(state, constraint)))
