# Chat Cartonne: the packed state and its numbers. Kinds of cards, cells and joints are those of the rules file; a part of
# the pile is one of the piles that were stacked, 0 the upper one. Walls and directions: bit 0 N, 1 E, 2 S, 3 W.
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

from chatiere.engine.core.bits cimport count_bits, nth_bit

cdef enum:
    NO_SEAT = 255
    NO_CELL = 0xFFFF
    SEATS = 5
    PARTS = 5
    CATS = 5  # of a seat
    DEALT = 2
    LARGEST_HAND = 3
    SIDE = 24
    CELLS = 576
    ROWS = 26  # of State.filled
    FIELD = 0xFFFFFF  # the cells of a row
    CENTRE = 275  # x = 11, y = 11: where the first starting carton lies
    MOST_CARDS = 110  # on the table
    # Kinds.
    CARTONS = 72
    FIRST_TOY = 72
    TOYS = 3
    PILE_KINDS = 75  # cartons and toys: what a pile has beside Princesses
    PRINCESS = 75
    FIRST_START = 76
    STARTS = 5
    # In State.cards only: the sleeping cat of seat s is SLEEPER + s; a card that was turned has TURNED.
    SLEEPER = 81
    TURNED = 0x80
    KIND = 0x7F
    # In State.places: the cell, and above it what lies on the joint of which it is the west cell.
    CELL = 0x3FF
    JOINT_SHIFT = 10
    NOTHING = 0
    AWAKE = 1  # + seat
    PRINCESS_THERE = 6
    TOY_THERE = 7  # + kind - FIRST_TOY
    LAST_THERE = 9
    # Walls.
    NORTH = 1
    EAST = 2
    SOUTH = 4
    WEST = 8
    PATTERNS = 8
    PRINCESS_BIT = 8  # in State.excluded, above the eight wall patterns
    # State.variants.
    ALL_PRINCESSES = 1
    NO_DOUBLE_WALLS = 2
    NO_CROWD_BONUS = 4
    HALF_SLEEPERS = 8

cdef enum Phase:
    FIRST_SEAT  # chance: who begins
    DEAL  # chance: a carton to the active seat
    CHOOSE_START  # decision: the first seat chooses a starting carton
    DRAW_START  # chance: the active seat's starting carton
    PLACE_START  # decision: the active seat places it
    TURN  # decision: a turn begins
    DRAW  # chance: the active seat's card
    PLAY  # decision: the active seat has drawn and plays a card of its hand
    TOY  # decision: the active seat has drawn a toy card and plays it
    CAT  # decision: a cat may follow the carton just played
    FINISHED
    PHASES

cdef enum ChatCartonneFault:
    # Faults of moves.
    STARTS_ARE_LAID = 100
    MUST_CHOOSE_START
    MUST_PLACE_START
    MUST_DRAW_OR_SLEEP
    NO_DRAW_NOW
    NO_SLEEP_AFTER_DRAW
    MUST_PLAY_TOY
    NO_TOY_DRAWN
    CAT_OR_SKIP
    NOTHING_TO_FOLLOW
    PASSING_NOT_A_CHOICE
    TURN_CHANGES_NOTHING
    NOT_AT_COLUMN_END
    CARD_NOT_IN_HAND
    NOT_A_CARTON
    CELL_FILLED
    CELL_NOT_BESIDE
    WALL_MEETS_WALL
    NO_CAT_IN_SUPPLY
    NOT_JUST_PLAYED
    NO_JOINT_THERE
    JOINT_TAKEN
    BOX_OF_OTHERS
    NO_PRINCESS_IN_HAND
    NO_CAT_THERE
    TOY_NEEDS_JOINT
    # Faults of states.
    BAD_PLAYERS
    BAD_OPTIONS
    BAD_FIRST_SEAT
    BAD_PHASE
    BAD_ACTIVE_SEAT
    BAD_FINAL_PHASE
    BAD_PASSES
    BAD_HAND
    BAD_SUPPLY
    BAD_TABLE
    BAD_JOINT
    BAD_STARTS
    BAD_PENDING
    BAD_JUST_PLAYED
    BAD_DRAWS
    BAD_PRINCESSES
    BAD_SHOWN
    CARD_TWICE_OR_MISSING
    NOT_ZERO
    TOO_FEW_DEALS

cdef enum ChatCartonneEvent:
    # Beside each kind its values.
    FIRST_SEAT_CHOSEN = 1
    CARD_DEALT  # kind
    START_DRAWN  # kind
    START_PLACED  # kind, turned, cell
    DRAW_CHOSEN
    CARD_DRAWN  # kind
    TOY_DRAWN  # kind
    CARTON_PLACED  # kind, turned, cell
    CAT_ASLEEP  # cell
    CAT_AWAKE  # joint
    NO_CAT_FOLLOWED
    PRINCESS_ON_JOINT  # joint, whose cat
    PRINCESS_IN_CELL  # cell, whose cat
    TOY_ON_JOINT  # kind, joint
    TOY_AS_CARTON  # kind, cell
    PASSED
    FINAL_PHASE_BEGUN
    GAME_ENDED

cdef enum:
    # Dense ids (rules file: Actions).
    DRAW_ID = 10
    SKIP_ID = 11
    PASS_ID = 12
    FIRST_CARTON_ID = 13
    IDS_OF_SLOT = 1152
    FIRST_SLEEP_ID = 3469
    FIRST_CAT_ID = 4045
    FIRST_PRINCESS_ON_JOINT_ID = 4621
    FIRST_PRINCESS_IN_CELL_ID = 5197
    FIRST_TOY_ON_JOINT_ID = 5773
    FIRST_TOY_AS_CARTON_ID = 6349
    NUM_ACTIONS = 6925

ctypedef struct Options:
    uint8_t first_seat  # NO_SEAT: a chance event
    uint8_t variants

ctypedef struct State:
    uint8_t players
    uint8_t first_seat_option
    uint8_t variants
    uint8_t first_seat  # NO_SEAT until it is known
    uint8_t phase
    uint8_t active  # whose turn it is; in setup, who gets the next card; when it is over, who moved last
    uint8_t final_phase  # 1: begun
    uint8_t passes  # of the final phase, in a row
    uint64_t unknown[2]  # bit kind: cartons and toys in the pile
    uint8_t pending  # the kind of the starting carton, or toy, that the active seat has drawn; else 0
    uint8_t laid  # cards on the table
    uint16_t just_played  # the cell of the carton that a cat may follow; else NO_CELL
    uint8_t supply[5]
    uint8_t hand_size[5]
    uint8_t hand[5][3]  # ascending, then zeros
    uint8_t drawn[5][5]  # seat, part: cards drawn, toys apart
    uint8_t drawer[5]  # part: who drew its Princess; NO_SEAT: nobody, or ALL_PRINCESSES
    uint8_t played[5][5]  # seat, part: Princesses played while that was the last part the seat had drawn from
    # For each card in hand the types of cards that it cannot be, as the seat's passes have shown: bit pattern, or
    # PRINCESS_BIT. Each one has all bits of the next; which card of the hand it speaks of is not known.
    uint16_t excluded[5][3]
    uint16_t places[110]  # of the cards on the table, by ascending cell, then zeros
    uint8_t cards[110]  # beside them
    uint32_t filled[26]  # bit x of row y + 1: a card lies there; an empty row beyond each end
    uint8_t zero[4]

ctypedef struct View:
    # What a seat may know: a state whose hidden cards are zeros (`unknown` is every kind whose place the viewer does not
    # know, `drawer` is NO_SEAT for every Princess that the viewer did not draw), and what of the hidden is public.
    State state
    uint8_t pile_size
    uint8_t holders  # bit seat: holds a carton; 0 before the final phase
    uint8_t zero[6]


cdef extern from * nogil:
    int __builtin_ctz(uint32_t word)

cdef inline int fault_if(bint broken, int fault) noexcept nogil:
    return fault if broken else 0

cdef inline int count_kinds(const uint64_t* kinds) noexcept nogil:
    return count_bits(kinds[0]) + count_bits(kinds[1])

cdef inline int nth_kind(const uint64_t* kinds, int n) noexcept nogil:
    # The n-th of the kinds, from 0.
    cdef int lower = count_bits(kinds[0])
    return nth_bit(kinds[0], n) if n < lower else 64 + nth_bit(kinds[1], n - lower)

cdef inline bint has_kind(const uint64_t* kinds, int kind) noexcept nogil:
    return kinds[kind >> 6] >> (kind & 63) & 1

cdef inline void put_kind(uint64_t* kinds, int kind) noexcept nogil:
    kinds[kind >> 6] |= <uint64_t> 1 << (kind & 63)

cdef inline void take_kind(uint64_t* kinds, int kind) noexcept nogil:
    kinds[kind >> 6] &= ~(<uint64_t> 1 << (kind & 63))

cdef inline int next_seat(const State* state, int seat) noexcept nogil:
    return 0 if seat + 1 == state.players else seat + 1

cdef inline int turned_walls(int walls) noexcept nogil:
    return (walls << 2 | walls >> 2) & 15

cdef inline int walls_of(int card) noexcept nogil:
    # Of a card as State.cards has it. Toy cards, sleeping cats and the Princess have none.
    cdef int kind = card & KIND
    cdef int walls = 0
    if kind < CARTONS:
        # A digit a pattern: none, N, E, NS, EW, NE, NW, NES.
        walls = <uint32_t> 0x793A5210 >> 4 * (kind // 9) & 15
    elif kind >= FIRST_START and kind < SLEEPER:
        # none, E, EW, N, NE.
        walls = 0x31A20 >> 4 * (kind - FIRST_START) & 15
    return turned_walls(walls) if card & TURNED else walls

cdef inline bint can_turn(int kind) noexcept nogil:
    # Whether turning a card changes its walls.
    return walls_of(kind) != walls_of(kind | TURNED)

cdef inline bint is_carton(int card) noexcept nogil:
    # What a joint can lie on: any card but sleeping cats and the Princess.
    return card & KIND < SLEEPER and card & KIND != PRINCESS

cdef inline bint is_sleeper(int card) noexcept nogil:
    return card >= SLEEPER and card < SLEEPER + SEATS

cdef inline bint is_cat(int there) noexcept nogil:
    # Of what lies on a joint.
    return there >= AWAKE and there < AWAKE + SEATS

cdef inline int type_of(int kind) noexcept nogil:
    # Of a card in hand, as a bit of State.excluded: what of it matters for whether it can be played.
    return PRINCESS_BIT if kind == PRINCESS else kind // 9

cdef inline int cell_of(const State* state, int place) noexcept nogil:
    return state.places[place] & CELL

cdef inline int on_joint(const State* state, int place) noexcept nogil:
    return state.places[place] >> JOINT_SHIFT

cdef inline int princess_count(const State* state) noexcept nogil:
    return PARTS if state.variants & ALL_PRINCESSES else state.players

cdef inline int part_count(const State* state) noexcept nogil:
    return 1 if state.variants & ALL_PRINCESSES else state.players

cdef inline int part_size(const State* state, int part) noexcept nogil:
    # Before the first draw, Princesses included; the upper parts are one larger where the cards do not divide.
    cdef int cards = PILE_KINDS - DEALT * state.players
    if state.variants & ALL_PRINCESSES:
        return cards + PARTS
    return cards // state.players + (part < cards % state.players) + 1

cdef inline int row_of(int cell) noexcept nogil:
    # Of State.filled, and of all else that is kept by its rows.
    return cell // SIDE + 1

cdef inline uint32_t bit_of(int cell) noexcept nogil:
    return <uint32_t> 1 << (cell % SIDE)

cdef inline int first_row(const State* state) noexcept nogil:
    # No card lies before that row, or from `end_row` on.
    return row_of(state.places[0] & CELL)

cdef inline int end_row(const State* state) noexcept nogil:
    return row_of(state.places[state.laid - 1] & CELL) + 1

cdef inline uint32_t free_beside(const State* state, int row) noexcept nogil:
    # Empty cells that share an edge with a card.
    cdef uint32_t filled = state.filled[row]
    return (filled << 1 | filled >> 1 | state.filled[row - 1] | state.filled[row + 1]) & ~filled & FIELD

cdef inline int find_card(const State* state, int cell) noexcept nogil:
    # The place of the card in a cell; -1 for an empty one.
    cdef int low = 0, high = state.laid, middle
    while low < high:
        middle = (low + high) >> 1
        if state.places[middle] & CELL < cell:
            low = middle + 1
        else:
            high = middle
    return low if low < state.laid and state.places[low] & CELL == cell else -1

cdef inline int princesses_in_hand(const State* state, int seat) noexcept nogil:
    cdef int slot, count = 0
    for slot in range(state.hand_size[seat]):
        count += state.hand[seat][slot] == PRINCESS
    return count

cdef inline int pile_size(const State* state) noexcept nogil:
    # Cards in the pile, Princesses included.
    cdef int princesses = princess_count(state), seat, part
    if state.variants & ALL_PRINCESSES:
        for seat in range(state.players):
            princesses -= state.played[seat][0] + princesses_in_hand(state, seat)
    else:
        for part in range(state.players):
            princesses -= state.drawer[part] != NO_SEAT
    return count_kinds(state.unknown) + princesses

cdef inline int current_part(const State* state, int pile, int* left) noexcept nogil:
    # The part that the next card of a pile of that size comes from, and how many cards it has left: 0 only when the
    # pile is empty.
    cdef int part = part_count(state) - 1
    while part > 0 and pile > part_size(state, part):
        pile -= part_size(state, part)
        part -= 1
    left[0] = pile
    return part

cdef inline int holders(const State* state) noexcept nogil:
    # The seats that hold a carton, bit seat. A Princess is none; she is last in a hand.
    cdef int seat, seats = 0
    for seat in range(state.players):
        seats |= (state.hand_size[seat] > 0 and state.hand[seat][0] != PRINCESS) << seat
    return seats
