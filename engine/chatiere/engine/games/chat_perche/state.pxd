# Chat perché: the packed state and its constants. Spaces are numbered 0-44 as in the rules file, and a set of spaces
# has one bit for each space. A number that belongs to a branch is stored in the four bits of the branch's spaces. A set
# of branches has all four bits of each branch. Cards have the types 0-40 of the rules file. A colour of cats has the
# number of its seat.
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from chatiere.engine.core.bits cimport count_bits, lowest_bit

cpdef enum:
    NO_CARD = 255
    PLAYERS = 2
    TRUNK_SPACES = 5
    BRANCHES = 10
    BRANCH_SPACES = 4
    SPACES = TRUNK_SPACES + BRANCHES * BRANCH_SPACES
    START = SPACES  # the start space of a cat's colour
    CATS = 12  # per colour
    BIRDS = 6
    TRUNK_LIMIT = 2  # the maximum number of cats of one colour on the trunk
    TOKENS = 5  # per seat
    MAX_SOLIDITY = 4
    DECK_SIZE = 26
    MAX_TRACK = 99
    ZEROS = 7

cpdef enum:
    # Card types (rules file: Actions).
    DOGS_1
    DOGS_2
    BIRD_CARD
    OWN_FALLS
    OPPONENT_FALLS
    FIRST_MOVE_CARD  # the first of nine cards each for one own cat, one opponent's cat, two own, two opponent's
    MAX_VALUE = 9
    FIRST_TWO_CAT_CARD = FIRST_MOVE_CARD + 2 * MAX_VALUE
    CARD_TYPES = FIRST_TWO_CAT_CARD + 2 * MAX_VALUE

cpdef enum Phase:
    FIRST_SEAT  # chance: the seat that begins
    PLACE  # decision: the active seat puts a token next to a branch
    TURN_UP  # chance: the active seat's card
    MOVE  # decision: the (first) cat to move
    SECOND_MOVE  # decision: the second cat of a two-cat card
    FALL  # decision: the cat that falls
    BIRD  # decision: the space of the bird
    FINISHED
    PHASES

cpdef enum ChatPercheFault:
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

cpdef enum ChatPercheEnd:
    DOGS_ARRIVED = 1  # the dogs are on the last space of their track

cpdef enum ChatPercheEvent:
    FIRST_SEAT_CHOSEN = 1
    TOKEN_CHOSEN  # solidity
    TOKEN_PLACED  # branch
    DECK_REFILLED
    CARD_TURNED_UP  # card
    DOGS_ADVANCED  # steps, new position
    CAT_MOVED  # colour, from, to, steps
    STOPPED
    CAT_FELL  # space
    BIRD_PLACED  # space
    NOTHING_POSSIBLE
    BRANCH_BROKE  # branch, solidity
    BIRD_LEFT  # space
    GAME_ENDED

cpdef enum:
    # Dense ids (rules file: Actions).
    FIRST_MOVE_ID = BRANCHES * MAX_SOLIDITY
    STOP_ID = FIRST_MOVE_ID + (SPACES + 1) * SPACES
    FIRST_FALL_ID = STOP_ID + 1
    FIRST_BIRD_ID = FIRST_FALL_ID + SPACES
    NUM_ACTIONS = FIRST_BIRD_ID + BRANCHES * BRANCH_SPACES

ctypedef struct Options:
    uint8_t first_seat  # NO_SEAT if a chance event draws it
    uint8_t forward_only
    uint8_t dog_track
    uint8_t solidity[MAX_SOLIDITY]  # the number of a seat's tokens with the value index + 1
    uint8_t full_deck[DECK_SIZE]  # ascending

ctypedef struct State:
    uint8_t players
    uint8_t rules_version
    uint8_t first_seat_option
    uint8_t first_seat  # NO_SEAT until it is known
    uint8_t phase
    uint8_t active  # the seat to place, turn up or decide
    uint8_t forward_only
    uint8_t dog_track
    uint64_t cats[PLAYERS]  # in the tree, by colour; the other cats of the colour are at their start
    uint64_t birds  # in the tree
    # The cats that the other seat moved in its last turn, unless they have left their spaces since. In MOVE and
    # SECOND_MOVE, this has only cats of the card's colour. It is 0 whenever it has no effect.
    uint64_t barred
    uint64_t moved  # in SECOND_MOVE, the cat that moved first, or 0 if it has fallen; otherwise 0
    uint64_t placed[PLAYERS]  # the branches with each seat's tokens
    uint64_t broken  # the broken branches
    uint64_t values  # the value of each branch's token; 0 without a token and, in a view, for an unknown value
    uint64_t loads  # the largest number of animals that each branch has held; 0 once the branch has broken
    # The cards left in each seat's deck: bit i represents full_deck[i]. Of several equal cards, the last are left.
    uint32_t left[PLAYERS]
    uint8_t solidity[MAX_SOLIDITY]  # option
    uint8_t full_deck[DECK_SIZE]  # option; ascending
    uint8_t card  # the card that the active seat has turned up and about which it decides, or NO_CARD
    uint8_t steps  # steps left for the move, or 0
    uint8_t dogs  # the number of steps that the dogs have made
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
    # Return the set of the first spaces of all branches. The product of this set and a number has the number at each
    # branch.
    return <uint64_t> 0x1111111111 << TRUNK_SPACES

cdef inline int first_space(int branch) noexcept nogil:
    return TRUNK_SPACES + BRANCH_SPACES * branch

cdef inline uint64_t branch_spaces(int branch) noexcept nogil:
    return <uint64_t> 0xF << first_space(branch)

cdef inline int branch_of(int space) noexcept nogil:
    return (space - TRUNK_SPACES) // BRANCH_SPACES

cdef inline int at_branch(uint64_t numbers, int branch) noexcept nogil:
    # Return the number stored at a branch.
    return numbers >> first_space(branch) & 0xF

cdef inline bint has_branch(uint64_t branches, int branch) noexcept nogil:
    return branches >> first_space(branch) & 1

cdef inline uint64_t count_at_branches(uint64_t spaces) noexcept nogil:
    # Return the number of spaces of the set on each branch. The four bits are summed in pairs.
    spaces >>= TRUNK_SPACES
    spaces -= spaces >> 1 & 0x5555555555ULL
    return (spaces & 0x3333333333ULL) + (spaces >> 2 & 0x3333333333ULL) << TRUNK_SPACES

cdef inline uint32_t how_many(uint64_t branches) noexcept nogil:
    # Return the size of a set of first spaces. The highest of the ten hexadecimal digits of the product is their sum.
    return <uint32_t> ((branches >> TRUNK_SPACES) * 0x1111111111ULL >> 36 & 0xF)

cdef inline uint64_t animals(const State* state) noexcept nogil:
    return state.cats[0] | state.cats[1] | state.birds

cdef inline int cats_at_start(const State* state, int colour) noexcept nogil:
    return CATS - count_spaces(state.cats[colour])

cdef inline int birds_beside(const State* state) noexcept nogil:
    return BIRDS - count_spaces(state.birds)


# Tokens

cdef inline int token_owner(const State* state, int branch) noexcept nogil:
    # Return the seat whose token is at a branch, or -1 if the branch has no token.
    return 0 if has_branch(state.placed[0], branch) else 1 if has_branch(state.placed[1], branch) else -1

cdef inline uint32_t all_tokens(const State* state) noexcept nogil:
    # Return the tokens with which a seat begins, as a byte for each value 1-4.
    cdef uint32_t tokens
    memcpy(&tokens, state.solidity, sizeof(tokens))
    return tokens

cdef inline uint32_t count_values(uint64_t values) noexcept nogil:
    # Return the number of branches with each value, as a byte for each value 1-4. No value may be larger than 4.
    cdef uint32_t threes = how_many(values & values >> 1 & first_spaces())
    cdef uint32_t ones = how_many(values & first_spaces()) - threes
    cdef uint32_t twos = how_many(values >> 1 & first_spaces()) - threes
    return ones | twos << 8 | threes << 16 | how_many(values >> 2 & first_spaces()) << 24

cdef inline uint32_t tokens_in_hand(const State* state, int seat) noexcept nogil:
    # Return the tokens that a seat has not placed, as a byte for each value. The values of its placed tokens must be
    # known.
    return all_tokens(state) - count_values(state.values & state.placed[seat])


# Cards

cdef inline int dog_steps(int card) noexcept nogil:
    # Return the number of steps on a dogs card.
    return card - DOGS_1 + 1

cdef inline int card_value(int card) noexcept nogil:
    # Return the value of a card that moves cats.
    return (card - FIRST_MOVE_CARD) % MAX_VALUE + 1

cdef inline int card_colour(int card, int active) noexcept nogil:
    # Return the colour of the cats that a card of falls or moves affects.
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
    # Compare two sequences of eight cards. Bit first + i of the result is set if the cards at i differ. Cards are below
    # 128, so adding 127 sets the highest bit of each nonzero byte without a carry. The product gathers the eight bits.
    cdef uint64_t differ = (cards ^ others) + 0x7F7F7F7F7F7F7F7FULL >> 7 & 0x0101010101010101ULL
    return <uint32_t> (differ * 0x0102040810204080ULL >> 56) << first

cdef inline uint32_t copies_of(const uint8_t* full_deck, int card) noexcept nogil:
    # Return the places of a card's copies in a full deck.
    cdef uint64_t eight = card * 0x0101010101010101ULL
    return all_cards() & ~(
        where_they_differ(eight_cards(full_deck, 0), eight, 0)
        | where_they_differ(eight_cards(full_deck, 8), eight, 8)
        | where_they_differ(eight_cards(full_deck, 16), eight, 16)
        | where_they_differ(eight_cards(full_deck, 18), eight, 18)
    )

cdef inline uint32_t last_copies(const uint8_t* full_deck) noexcept nogil:
    # Return the places of the last card of each type in a full deck. The next card has another type.
    return (
        1 << DECK_SIZE - 1
        | where_they_differ(eight_cards(full_deck, 0), eight_cards(full_deck, 1), 0)
        | where_they_differ(eight_cards(full_deck, 8), eight_cards(full_deck, 9), 8)
        | where_they_differ(eight_cards(full_deck, 16), eight_cards(full_deck, 17), 16)
        | where_they_differ(eight_cards(full_deck, 17), eight_cards(full_deck, 18), 17)
    )

cdef inline bint is_decision(const State* state) noexcept nogil:
    return state.phase == PLACE or MOVE <= state.phase <= BIRD


# Distances in the tree

cpdef enum:
    MAX_STEPS = MAX_VALUE + 1

# DISTANCE has the number of steps from each space, or from the start (45), to each space. REACH has the set of spaces
# where a move can end, indexed by [forward only][from][maximum number of steps]. Both are filled once, at import.
cdef uint8_t DISTANCE[SPACES + 1][SPACES]
cdef uint64_t REACH[2][SPACES + 1][MAX_STEPS]


# Where birds and cats may move

cdef inline uint64_t free_spaces(const State* state) noexcept nogil:
    # Return the spaces without an animal, except spaces of broken branches.
    return (trunk() | all_branches()) & ~(state.broken | animals(state))

cdef inline uint64_t bird_spaces(const State* state) noexcept nogil:
    # Return the spaces where a bird may be placed, or the empty set if no bird is left.
    return free_spaces(state) & ~trunk() if birds_beside(state) else 0

cdef inline bint second_cat_needs_company(const State* state) noexcept nogil:
    # Return True if the cat that moved first has fallen. This cat is then at its start and must not move again, so a
    # move from the start needs another cat there.
    return state.phase == SECOND_MOVE and state.moved == 0

cdef inline bint start_cat_may_move(const State* state, int colour) noexcept nogil:
    return cats_at_start(state, colour) > second_cat_needs_company(state)

cdef inline bint trunk_is_full(const State* state, int colour, int start) noexcept nogil:
    # Return True if two other cats of the colour are on the trunk.
    cdef uint64_t others = state.cats[colour] & trunk() & ~space_bit(start)
    return others & (others - 1) != 0

cdef inline uint64_t ends_of_moves(const State* state, int colour, int start, uint64_t free) noexcept nogil:
    # Return the spaces where a cat at `start` may end its move. `free` is the result of free_spaces.
    cdef uint64_t ends = REACH[state.forward_only][start][state.steps] & free
    return ends & ~trunk() if trunk_is_full(state, colour, start) else ends

cdef inline bint some_move_possible(const State* state) noexcept nogil:
    cdef int colour = card_colour(state.card, state.active)
    cdef uint64_t cats = state.cats[colour] & ~(state.barred | state.moved)
    cdef uint64_t free = free_spaces(state)
    if start_cat_may_move(state, colour) and ends_of_moves(state, colour, START, free):
        return True
    while cats:
        if ends_of_moves(state, colour, lowest_space(cats), free):
            return True
        cats &= cats - 1
    return False


# When a seat is asked

cdef inline bint is_asked(const State* state) noexcept nogil:
    # Return True if the active seat has a choice about the card that it has turned up.
    if state.phase == BIRD:
        return bird_spaces(state) != 0
    if state.phase == FALL:
        return state.cats[card_colour(state.card, state.active)] != 0
    return some_move_possible(state)
