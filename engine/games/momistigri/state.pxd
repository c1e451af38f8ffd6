# Momistigri: the packed state and its numbers. Cards are named by kind: 9 * colour + value - 1, the Momistigri is 45.
from libc.stdint cimport uint8_t, uint64_t

cdef enum:
    NO_SEAT = 255
    NO_CARD = 255  # in a view: a card that the viewer does not know
    MOST_PLAYERS = 5
    KINDS = 46
    COLOURED = 45  # kinds with a colour and a value 1-9
    VALUES = 9
    MOMISTIGRI = 45
    BOX = 46  # cards
    DEALT = 9  # cards to each seat; one more to the first seat's right neighbour
    PILE = 5  # in State.sizes, after the seats: the discard pile
    ROUNDS = 3
    LAST_TURN = 200  # of a round
    LARGEST_DRAW = 3
    # Who knows something: a seat, or all (spectators too).
    PUBLIC = 5
    KNOWERS = 6
    ZEROS = 5

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
    # What a turn leaves for the next draw.
    NO_MARK
    SWAP
    TWO
    THREE
    MARKS
    CHOSEN = MARKS  # never in a state: that draw leaves nothing to chance

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
    # Dense ids (rules file: Actions).
    PASS_ID = 1081
    STOP_ID = 1082
    MAIN_ID = 1083
    REVERSE_ID = 1084
    FIRST_NAME_ID = 1085
    FIRST_GIVE_ID = 1131
    FIRST_HAND_OUT_ID = 1361
    FIRST_SWAP_OUT_ID = 1407
    FIRST_SWAP_IN_ID = 1453
    NUM_ACTIONS = 1499

ctypedef struct Options:
    uint8_t first_seat  # NO_SEAT: a chance event
    uint8_t copies[45]  # of each kind in the box, the Momistigri apart

ctypedef struct State:
    uint8_t players
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
    uint8_t penalties[3][5]  # of finished rounds
    uint8_t sizes[6]  # of the hands, and of the pile
    # What seats surely know. [knower][seat]: 0, or 1 + how many 1s that seat's hand holds at most.
    uint8_t most_ones[6][5]
    # The hands in seat order and the discard pile, each ascending, then zeros. In a view the cards of a hand that the
    # viewer knows come first, the others are NO_CARD.
    uint8_t cards[46]
    # Beside each card of a hand: bit knower. Of a kind's copies in one hand a knower of m has its bit at the first m.
    uint8_t knowers[46]
    uint8_t copies[45]
    uint8_t zero[5]

ctypedef struct View:
    # What a seat may know: a state whose hidden cards are NO_CARD, without knowers and with the viewer's own row of
    # most_ones alone (as row 0); and how many cards of each kind lie the viewer does not know where.
    State state
    uint8_t unseen[46]


cdef extern from * nogil:
    int __builtin_popcount(unsigned int word)

cdef inline int value_of(int kind) noexcept nogil:
    return 10 if kind == MOMISTIGRI else kind % VALUES + 1

cdef inline int next_seat(const State* state, int seat) noexcept nogil:
    # Clockwise, in the round or not.
    return 0 if seat + 1 == state.players else seat + 1

cdef inline int seat_beside(const State* state, int seat, bint against) noexcept nogil:
    # The nearest other seat still in the round along the direction of play, or against it; else the seat itself.
    cdef int step = 1 if state.backwards == against else state.players - 1
    cdef int other = seat, i
    for i in range(state.players - 1):
        other += step
        other -= state.players if other >= state.players else 0
        if state.in_round >> other & 1:
            return other
    return seat

cdef inline int drawn_from(const State* state) noexcept nogil:
    # The previous seat, as long as it is in the round.
    return seat_beside(state, state.active, True)

cdef inline int decider(const State* state) noexcept nogil:
    # At a decision.
    return drawn_from(state) if state.phase == SWAP_OUT or state.phase == SWAP_IN else state.active

cdef inline int start_of(const State* state, int place) noexcept nogil:
    # Where in `cards` a hand, or the PILE, begins.
    cdef int start = 0, i
    for i in range(place):
        start += state.sizes[i]
    return start

cdef inline int count_kind(const State* state, int place, int kind) noexcept nogil:
    # In a hand, or the PILE.
    cdef int start = start_of(state, place), count = 0, i
    for i in range(start, start + state.sizes[place]):
        count += state.cards[i] == kind
    return count

cdef inline bint value_in_deck(int players, int value) noexcept nogil:
    # Components and setup: 4 play without the 1s, 3 without the 1s, the 2s and the 9.
    return players == 5 or (value != 1 and (players == 4 or (value != 2 and value != 9)))

cdef inline int copies_in_deck(const State* state, int kind) noexcept nogil:
    if kind == MOMISTIGRI:
        return 1
    return state.copies[kind] if value_in_deck(state.players, kind % VALUES + 1) else 0

cdef inline int deck_size(int players) noexcept nogil:
    return DEALT * players + 1

cdef inline int hand_sum(const State* state, int seat) noexcept nogil:
    cdef int start = start_of(state, seat), points = 0, i
    for i in range(start, start + state.sizes[seat]):
        points += value_of(state.cards[i])
    return points

cdef inline int penalty_so_far(const State* state, int seat) noexcept nogil:
    # Rounds not finished are 0.
    return state.penalties[0][seat] + state.penalties[1][seat] + state.penalties[2][seat]

cdef inline int count_fewest(const State* state, int rounds) noexcept nogil:
    # How many seats have the fewest penalty points after so many rounds.
    cdef inline int fewest = 0xFFFF, count = 0, seat, points, i
    for seat in range(state.players):
        points = 0
        for i in range(rounds):
            points += state.penalties[i][seat]
        if points < fewest:
            fewest = points
            count = 0
        count += points == fewest
    return count
