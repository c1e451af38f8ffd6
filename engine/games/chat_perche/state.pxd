# Chat perché: the packed state and its numbers. Spaces are the rules file's 0-44; in a set of spaces, bit space. Cards
# are the rules file's types 0-40, and a colour of cats is the seat that has it.
from libc.stdint cimport uint8_t, uint16_t, uint64_t

cdef enum:
    NO_SEAT = 255
    NO_CARD = 255
    PLAYERS = 2
    TRUNK_SPACES = 5
    BRANCHES = 10
    BRANCH_SPACES = 4
    SPACES = 45
    START = 45  # the start space of the colour that is spoken of
    CATS = 12  # of a colour
    BIRDS = 6
    TRUNK_LIMIT = 2  # cats of a colour
    TOKENS = 5  # of a seat
    LARGEST_SOLIDITY = 4
    DECK_SIZE = 26
    LONGEST_TRACK = 99

cdef enum:
    # Card types (rules file: Actions).
    DOGS_1 = 0
    DOGS_2 = 1
    BIRD_CARD = 2
    OWN_FALLS = 3
    OPPONENT_FALLS = 4
    FIRST_MOVE_CARD = 5  # then nine values each of: one own, one opponent's, two own, two opponent's
    LARGEST_VALUE = 9
    FIRST_TWO_CAT_CARD = 23
    CARD_TYPES = 41

cdef enum Phase:
    FIRST_SEAT  # chance: who begins
    PLACE  # decision: the active seat puts a token beside a branch
    TURN_UP  # chance: the active seat's card
    MOVE  # decision: the (first) cat that moves
    SECOND_MOVE  # decision: the second cat of a two-cat card
    FALL  # decision: which cat falls
    BIRD  # decision: where the bird goes
    FINISHED
    PHASES

cdef enum ChatPercheFault:
    # Faults of moves.
    TOKENS_FIRST = 100
    TOKENS_ARE_PLACED
    BRANCH_HAS_TOKEN
    NO_SUCH_TOKEN_IN_HAND
    CARD_MOVES_A_CAT
    CARD_FELLS_A_CAT
    CARD_PLACES_A_BIRD
    NO_CAT_THERE
    START_IS_EMPTY
    MOVED_BY_OPPONENT
    MOVED_FIRST
    NO_STEP
    BRANCH_IS_BROKEN
    SPACE_IS_TAKEN
    TOO_FAR
    ONLY_FORWARD
    TRUNK_IS_FULL
    # Faults of states.
    BAD_PLAYERS
    BAD_FIRST_SEAT
    BAD_FORWARD_ONLY
    BAD_DOG_TRACK
    BAD_SOLIDITY
    BAD_DECK_OPTION
    BAD_PHASE
    BAD_ACTIVE_SEAT
    BAD_DOGS
    BAD_DECK
    BAD_PLACEMENT
    BAD_TOKEN
    BAD_CATS
    BAD_BIRDS
    SPACE_TAKEN_TWICE
    TRUNK_OVER_LIMIT
    BAD_BROKEN
    BAD_LOAD
    BAD_CARD
    BAD_STEPS
    BAD_BARRED
    BAD_MOVED
    NOT_ZERO

cdef enum ChatPercheEvent:
    FIRST_SEAT_CHOSEN = 1
    TOKEN_CHOSEN  # solidity
    TOKEN_PLACED  # branch
    DECK_REFILLED
    CARD_TURNED_UP  # card
    DOGS_ADVANCED  # steps, where they are now
    CAT_MOVED  # colour, from, to, steps
    STOPPED
    CAT_FELL  # space
    BIRD_PLACED  # space
    NOTHING_POSSIBLE
    BRANCH_BROKE  # branch, solidity
    BIRD_LEFT  # space
    GAME_ENDED

cdef enum:
    # Dense ids (rules file: Actions).
    FIRST_MOVE_ID = 40
    STOP_ID = 2110
    FIRST_FALL_ID = 2111
    FIRST_BIRD_ID = 2156
    NUM_ACTIONS = 2196

ctypedef struct Options:
    uint8_t first_seat  # NO_SEAT: a chance event
    uint8_t forward_only
    uint8_t dog_track
    uint8_t solidity[4]  # how many tokens of each value a seat has
    uint8_t deck[41]

ctypedef struct State:
    uint8_t players
    uint8_t first_seat_option
    uint8_t first_seat  # NO_SEAT until it is known
    uint8_t phase
    uint8_t active  # whose turn it is to place, to turn up, to decide
    uint8_t forward_only
    uint8_t dog_track
    uint8_t dogs  # steps they have made
    uint64_t cats[2]  # in the tree, by colour; the others of the twelve are at their start
    uint64_t birds  # in the tree
    # Cats that the other seat moved in its last turn and that still stand there; in MOVE and SECOND_MOVE only those of
    # the card's colour, zero where they no longer matter.
    uint64_t barred
    uint64_t moved  # the first-moved cat at SECOND_MOVE; zero there: it has fallen
    uint16_t placed[2]  # the branches of each seat's tokens: bit branch
    uint16_t broken  # bit branch
    uint8_t card  # what the active seat has turned up, while it decides about it; else NO_CARD
    uint8_t steps  # that are left for the move; else zero
    uint8_t value[10]  # of the token at each branch; zero: none. In a view also: not known
    uint8_t load[10]  # the most animals that each unbroken branch has held; zero at a broken one
    uint8_t solidity[4]  # option
    uint8_t deck_option[41]
    uint8_t deck[2][41]  # copies left
    uint8_t zero[5]


cdef extern from * nogil:
    int __builtin_popcountll(uint64_t word)
    int __builtin_ctzll(uint64_t word)

cdef inline int count_spaces(uint64_t spaces) noexcept nogil:
    return __builtin_popcountll(spaces)

cdef inline int lowest_space(uint64_t spaces) noexcept nogil:
    return __builtin_ctzll(spaces)

cdef inline uint64_t space_bit(int space) noexcept nogil:
    return <uint64_t> 1 << space

cdef inline uint64_t trunk() noexcept nogil:
    return (1 << TRUNK_SPACES) - 1

cdef inline uint64_t branch_spaces(int branch) noexcept nogil:
    return <uint64_t> 0xF << (TRUNK_SPACES + BRANCH_SPACES * branch)

cdef inline int branch_of(int space) noexcept nogil:
    return (space - TRUNK_SPACES) // BRANCH_SPACES

cdef inline uint64_t animals(const State* state) noexcept nogil:
    return state.cats[0] | state.cats[1] | state.birds

cdef inline int cats_at_start(const State* state, int colour) noexcept nogil:
    return CATS - count_spaces(state.cats[colour])

cdef inline int birds_beside(const State* state) noexcept nogil:
    return BIRDS - count_spaces(state.birds)

cdef inline bint is_broken(const State* state, int branch) noexcept nogil:
    return state.broken >> branch & 1

cdef inline int token_owner(const State* state, int branch) noexcept nogil:
    # -1: the branch has no token.
    return 0 if state.placed[0] >> branch & 1 else 1 if state.placed[1] >> branch & 1 else -1

cdef inline int card_value(int card) noexcept nogil:
    # Of a card that moves cats.
    return (card - FIRST_MOVE_CARD) % LARGEST_VALUE + 1

cdef inline int card_colour(int card, int active) noexcept nogil:
    # The colour of the cats that a falling or moving card is about.
    if card < FIRST_MOVE_CARD:
        return active ^ (card == OPPONENT_FALLS)
    return active ^ ((card - FIRST_MOVE_CARD) // LARGEST_VALUE & 1)

cdef inline bint is_decision(const State* state) noexcept nogil:
    return state.phase == PLACE or MOVE <= state.phase <= BIRD

cdef inline bint deck_is_empty(const uint8_t* deck) noexcept nogil:
    cdef int card, left = 0
    for card in range(CARD_TYPES):
        left |= deck[card]
    return left == 0

cdef inline void tokens_in_hand(const State* state, int seat, int* tokens) noexcept nogil:
    # How many of each value the seat has not placed yet; the values of its placed tokens must be known.
    cdef int i
    for i in range(LARGEST_SOLIDITY):
        tokens[i] = state.solidity[i]
    for i in range(BRANCHES):
        if state.placed[seat] >> i & 1:
            tokens[state.value[i] - 1] -= 1
