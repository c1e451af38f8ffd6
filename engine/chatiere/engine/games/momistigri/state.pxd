# Momistigri: the packed state and its numbers. Cards are named by kind: 9 * colour + value - 1, the Momistigri is 45.
from libc.stdint cimport uint8_t, uint64_t

from chatiere.engine.games.momistigri.cards cimport (
    COLOURED,
    KINDS,
    MOMISTIGRI,
    MAX_PLAYERS,
    USUAL_BOX,
    VALUES,
    Box,
    lowest,
)
from chatiere.engine.games.momistigri.seats cimport BESIDE

cdef enum:
    ONES = 9  # in the box
    DEALT = 9  # cards to each seat; one more to the first seat's right neighbour
    ROUNDS = 3
    LAST_TURN = 200  # of a round
    MAX_DRAW = 3
    LAST_CHOICE = 3  # the highest value of a pair with Main or Reverse
    # Knowers: a seat, or all (spectators too).
    PUBLIC = MAX_PLAYERS
    KNOWERS = PUBLIC + 1
    ZEROS = 3

cdef enum Phase:
    FIRST_SEAT  # chance: who begins
    DEAL  # chance: a card to the active seat
    DRAW  # chance: a card from the seat drawn from to the active seat
    SWAP_OUT  # decision of the seat drawn from: the card that it discards
    SWAP_IN  # decision of the seat drawn from: the card that it takes from the pile
    DISCARD  # decision: a pair, or pass
    CHOICE  # decision after a pair of 1, 2 or 3: Main or Reverse
    NAME  # decision: the card that the next seat must draw
    GIVE  # decision: a card and whom it goes to
    HAND_OUT  # decision: the card of the pile for the receiver
    AGAIN  # decision after a pair of 6: another pair, or stop
    FINISHED
    PHASES

cdef enum Mark:
    # How a turn changes the next draw.
    NO_MARK
    SWAP
    TWO
    THREE
    MARKS

cdef enum MomistigriFault:
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

cdef enum MomistigriEnd:
    TWO_ROUNDS = 1  # after them one seat has the fewest penalty points
    THIRD_ROUND  # which a tie after two rounds has brought about

cdef enum RoundEnd:
    ONE_LEFT = 1  # at most one seat with cards
    EVERYBODY_PASSED
    LIMIT_REACHED  # of turns

cdef enum MomistigriEvent:
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

cdef enum:
    # Dense ids (rules file: Actions). Before these: a DiscardPair for every two kinds, which may be the same.
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

ctypedef struct Options:
    uint8_t first_seat  # NO_SEAT: a chance event
    uint8_t copies[COLOURED]  # of each kind in the box, the Momistigri apart

ctypedef struct State:
    uint8_t players
    uint8_t rules_version
    uint8_t first_seat_option
    uint8_t first_seat  # of this round; NO_SEAT until it is known
    uint8_t phase
    uint8_t active  # whose turn it is; at DEAL, who gets the next card
    uint8_t round  # from 0
    uint8_t turn  # of the round, from 1; 0 before the first
    uint8_t backwards  # 1: the direction of play is reversed
    uint8_t in_round  # bit seat
    uint8_t passed  # bit seat: its pass mark is set
    uint8_t mark  # at DRAW: what changes this draw
    uint8_t draws_left  # at DRAW
    uint8_t effect  # at CHOICE: the value of the pair
    uint8_t receiver  # at HAND_OUT
    uint8_t swapped_out  # at SWAP_IN: 1 + the card just discarded
    uint8_t penalties[ROUNDS][MAX_PLAYERS]  # of finished rounds
    # What seats surely know. [seat][knower]: 0, or 1 + the most 1s that the seat's hand can hold.
    uint8_t most_ones[MAX_PLAYERS][KNOWERS]
    uint8_t zero[ZEROS]
    Box box  # all zero: the default of the option
    uint64_t hands[MAX_PLAYERS]
    uint64_t left  # the deck's other cards: those not dealt yet; after the deal the pile
    # The cards that a knower surely knows to be in others' hands: of a kind, the first ones of the hand.
    uint64_t known[KNOWERS]

ctypedef struct View:
    # What a seat may know: a state whose hands hold only the cards that the viewer knows, without `known` and
    # `most_ones`, and what the viewer and all make of these. In all sets of cards a kind has its first places, whoever
    # holds it.
    State state
    uint8_t sizes[MAX_PLAYERS]  # of the hands
    uint8_t most_ones[MAX_PLAYERS]  # as the viewer knows
    uint8_t most_ones_known_to_all[MAX_PLAYERS]
    uint64_t known_to_all[MAX_PLAYERS]  # of each hand
    uint64_t pile
    uint64_t unseen  # cards whose place the viewer does not know


cdef inline int value_of(int kind) noexcept nogil:
    return 10 if kind == MOMISTIGRI else kind % VALUES + 1

cdef inline int next_seat(const State* state, int seat) noexcept nogil:
    # Clockwise, in the round or not.
    return 0 if seat + 1 == state.players else seat + 1

cdef inline int seat_beside(const State* state, int seat, bint against) noexcept nogil:
    # The nearest other seat still in the round along the direction of play, or against it; else the seat itself.
    return BESIDE[state.backwards ^ against][state.in_round][seat]

cdef inline int drawn_from(const State* state) noexcept nogil:
    # The previous seat, as long as it is in the round.
    return seat_beside(state, state.active, True)

cdef inline int decider(const State* state) noexcept nogil:
    # At a decision.
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
    # Rounds not finished are 0.
    return state.penalties[0][seat] + state.penalties[1][seat] + state.penalties[2][seat]

cdef inline int count_fewest(const State* state, int rounds) noexcept nogil:
    # The number of seats that have the fewest penalty points after `rounds` rounds.
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
