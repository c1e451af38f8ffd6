# Chat perché: the packed state and its numbers. Spaces are the rules file's 0-44; a set of spaces has bit `space`. A
# branch's number stands in the four bits of its spaces, and a set of branches has all four bits of each. Cards are the
# rules file's types 0-40; a colour of cats is the number of its seat.
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from chatiere.engine.core.bits cimport count_bits, lowest_bit

cdef enum:
    NO_CARD = 255
    PLAYERS = 2
    TRUNK_SPACES = 5
    BRANCHES = 10
    BRANCH_SPACES = 4
    SPACES = TRUNK_SPACES + BRANCHES * BRANCH_SPACES
    START = SPACES  # the start space of the colour in question
    CATS = 12  # of a colour
    BIRDS = 6
    TRUNK_LIMIT = 2  # cats of a colour
    TOKENS = 5  # of a seat
    MAX_SOLIDITY = 4
    DECK_SIZE = 26
    MAX_TRACK = 99
    ZEROS = 7

cdef enum:
    # Card types (rules file: Actions).
    DOGS_1
    DOGS_2
    BIRD_CARD
    OWN_FALLS
    OPPONENT_FALLS
    FIRST_MOVE_CARD  # then nine values each of: one own, one opponent's, two own, two opponent's
    MAX_VALUE = 9
    FIRST_TWO_CAT_CARD = FIRST_MOVE_CARD + 2 * MAX_VALUE
    CARD_TYPES = FIRST_TWO_CAT_CARD + 2 * MAX_VALUE

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
    BAD_ORDER_OF_DECK
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

cdef enum ChatPercheEnd:
    DOGS_ARRIVED = 1  # on the last space of their track

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
    FIRST_MOVE_ID = BRANCHES * MAX_SOLIDITY
    STOP_ID = FIRST_MOVE_ID + (SPACES + 1) * SPACES
    FIRST_FALL_ID = STOP_ID + 1
    FIRST_BIRD_ID = FIRST_FALL_ID + SPACES
    NUM_ACTIONS = FIRST_BIRD_ID + BRANCHES * BRANCH_SPACES

ctypedef struct Options:
    uint8_t first_seat  # NO_SEAT: a chance event
    uint8_t forward_only
    uint8_t dog_track
    uint8_t solidity[MAX_SOLIDITY]  # the number of a seat's tokens by value - 1
    uint8_t full_deck[DECK_SIZE]  # ascending

ctypedef struct State:
    uint8_t players
    uint8_t rules_version
    uint8_t first_seat_option
    uint8_t first_seat  # NO_SEAT until it is known
    uint8_t phase
    uint8_t active  # the seat whose turn it is to place, turn up or decide
    uint8_t forward_only
    uint8_t dog_track
    uint64_t cats[PLAYERS]  # in the tree, by colour; the rest of the twelve are at their start
    uint64_t birds  # in the tree
    # Cats that the other seat moved in its last turn and that still stand there; in MOVE and SECOND_MOVE only those of
    # the card's colour, zero where they no longer matter.
    uint64_t barred
    uint64_t moved  # the first-moved cat at SECOND_MOVE; zero there: it has fallen
    uint64_t placed[PLAYERS]  # the branches of each seat's tokens
    uint64_t broken  # the broken branches
    uint64_t values  # of the token at each branch; zero: none, or in a view not known
    uint64_t loads  # the most animals that each branch has held; zero once it has broken
    uint32_t left[PLAYERS]  # in each seat's deck: bit i for full_deck[i]; of equal cards the last ones
    uint8_t solidity[MAX_SOLIDITY]  # option
    uint8_t full_deck[DECK_SIZE]  # option; ascending
    uint8_t card  # the card that the active seat has turned up and decides about; else NO_CARD
    uint8_t steps  # left for the move; else zero
    uint8_t dogs  # steps made
    uint8_t zero[ZEROS]


# Spaces and branches

cdef inline int count_spaces(uint64_t spaces) noexcept nogil:
    return count_bits(spaces)

cdef inline int lowest_space(uint64_t spaces) noexcept nogil:
    return lowest_bit(spaces)

cdef inline uint64_t space_bit(int space) noexcept nogil:
    return <uint64_t> 1 << space

cdef inline uint64_t trunk() noexcept nogil:
    return (1 << TRUNK_SPACES) - 1

cdef inline uint64_t all_branches() noexcept nogil:
    return <uint64_t> 0xFFFFFFFFFF << TRUNK_SPACES

cdef inline uint64_t first_spaces() noexcept nogil:
    # The first space of every branch; multiplied by a number: that number at each branch.
    return <uint64_t> 0x1111111111 << TRUNK_SPACES

cdef inline int first_space(int branch) noexcept nogil:
    return TRUNK_SPACES + BRANCH_SPACES * branch

cdef inline uint64_t branch_spaces(int branch) noexcept nogil:
    return <uint64_t> 0xF << first_space(branch)

cdef inline int branch_of(int space) noexcept nogil:
    return (space - TRUNK_SPACES) // BRANCH_SPACES

cdef inline int at_branch(uint64_t numbers, int branch) noexcept nogil:
    # The branch's number.
    return numbers >> first_space(branch) & 0xF

cdef inline bint has_branch(uint64_t branches, int branch) noexcept nogil:
    return branches >> first_space(branch) & 1

cdef inline uint64_t count_at_branches(uint64_t spaces) noexcept nogil:
    # The number of each branch's spaces in the set: its four bits summed by pairs.
    spaces >>= TRUNK_SPACES
    spaces -= spaces >> 1 & 0x5555555555ULL
    return (spaces & 0x3333333333ULL) + (spaces >> 2 & 0x3333333333ULL) << TRUNK_SPACES

cdef inline uint32_t how_many(uint64_t branches) noexcept nogil:
    # The size of a set of first spaces: the product adds them up in the highest of its ten digits.
    return <uint32_t> ((branches >> TRUNK_SPACES) * 0x1111111111ULL >> 36 & 0xF)

cdef inline uint64_t animals(const State* state) noexcept nogil:
    return state.cats[0] | state.cats[1] | state.birds

cdef inline int cats_at_start(const State* state, int colour) noexcept nogil:
    return CATS - count_spaces(state.cats[colour])

cdef inline int birds_beside(const State* state) noexcept nogil:
    return BIRDS - count_spaces(state.birds)


# Tokens

cdef inline int token_owner(const State* state, int branch) noexcept nogil:
    # -1 if the branch has no token.
    return 0 if has_branch(state.placed[0], branch) else 1 if has_branch(state.placed[1], branch) else -1

cdef inline uint32_t all_tokens(const State* state) noexcept nogil:
    # The tokens that a seat begins with, by value 1-4, a byte each.
    cdef uint32_t tokens
    memcpy(&tokens, state.solidity, sizeof(tokens))
    return tokens

cdef inline uint32_t count_values(uint64_t values) noexcept nogil:
    # The number of branches with each value 1-4, a byte each. No value may be larger.
    cdef uint32_t threes = how_many(values & values >> 1 & first_spaces())
    cdef uint32_t ones = how_many(values & first_spaces()) - threes
    cdef uint32_t twos = how_many(values >> 1 & first_spaces()) - threes
    return ones | twos << 8 | threes << 16 | how_many(values >> 2 & first_spaces()) << 24

cdef inline uint32_t tokens_in_hand(const State* state, int seat) noexcept nogil:
    # The tokens that the seat has not placed, by value 1-4, a byte each; the values of its placed ones must be known.
    return all_tokens(state) - count_values(state.values & state.placed[seat])


# Cards

cdef inline int dog_steps(int card) noexcept nogil:
    # The card must be one of dogs.
    return card - DOGS_1 + 1

cdef inline int card_value(int card) noexcept nogil:
    # The card must be one that moves cats.
    return (card - FIRST_MOVE_CARD) % MAX_VALUE + 1

cdef inline int card_colour(int card, int active) noexcept nogil:
    # The colour of the cats that a falling or moving card names.
    if card < FIRST_MOVE_CARD:
        return active ^ (card == OPPONENT_FALLS)
    return active ^ ((card - FIRST_MOVE_CARD) // MAX_VALUE & 1)

cdef inline uint32_t all_cards() noexcept nogil:
    return (1 << DECK_SIZE) - 1

cdef inline uint64_t eight_cards(const uint8_t* full_deck, int first) noexcept nogil:
    cdef uint64_t cards
    memcpy(&cards, &full_deck[first], sizeof(cards))
    return cards

cdef inline uint32_t where_they_differ(uint64_t cards, uint64_t others, int first) noexcept nogil:
    # Compare eight cards with eight others: bit first + i is set if those at i differ. Cards are below 128, so adding
    # 127 sets the highest bit of each byte that is not zero, without a carry; the product gathers the eight bits.
    cdef uint64_t differ = (cards ^ others) + 0x7F7F7F7F7F7F7F7FULL >> 7 & 0x0101010101010101ULL
    return <uint32_t> (differ * 0x0102040810204080ULL >> 56) << first

cdef inline uint32_t copies_of(const uint8_t* full_deck, int card) noexcept nogil:
    # The places of a card's copies in a full deck.
    cdef uint64_t eight = card * 0x0101010101010101ULL
    return all_cards() & ~(
        where_they_differ(eight_cards(full_deck, 0), eight, 0)
        | where_they_differ(eight_cards(full_deck, 8), eight, 8)
        | where_they_differ(eight_cards(full_deck, 16), eight, 16)
        | where_they_differ(eight_cards(full_deck, 18), eight, 18)
    )

cdef inline uint32_t last_copies(const uint8_t* full_deck) noexcept nogil:
    # The places in a full deck of the last card of each type: the next card is another one.
    return (
        1 << DECK_SIZE - 1
        | where_they_differ(eight_cards(full_deck, 0), eight_cards(full_deck, 1), 0)
        | where_they_differ(eight_cards(full_deck, 8), eight_cards(full_deck, 9), 8)
        | where_they_differ(eight_cards(full_deck, 16), eight_cards(full_deck, 17), 16)
        | where_they_differ(eight_cards(full_deck, 17), eight_cards(full_deck, 18), 17)
    )

cdef inline bint is_decision(const State* state) noexcept nogil:
    return state.phase == PLACE or MOVE <= state.phase <= BIRD
