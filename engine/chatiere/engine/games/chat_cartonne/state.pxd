# Chat Cartonne: the packed state and its numbers. Kinds of cards, cells and joints are those of the rules file; a part
# of the pile is one of the piles that were stacked, 0 the upper one. Walls and directions: bit 0 N, 1 E, 2 S, 3 W.
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memmove

from chatiere.engine.core.bits cimport count_bits, nth_bit
from chatiere.engine.core.game cimport NO_SEAT

cdef extern from * nogil:
    """
    #include <stdint.h>

    /* The walls of each card as State.cards has it: cartons with N, E, NS, EW, NE, NW, NES, starting ones with E, EW,
       N, NE; then the same turned. All others have none. Looked up, because no branch on a card can be foreseen. */
    static const uint8_t chatiere_cartonne_walls[256] __attribute__((unused)) = {
        [9 ... 17] = 1, [18 ... 26] = 2, [27 ... 35] = 5, [36 ... 44] = 10, [45 ... 53] = 3, [54 ... 62] = 9,
        [63 ... 71] = 7, [77] = 2, [78] = 10, [79] = 1, [80] = 3,
        [137 ... 145] = 4, [146 ... 154] = 8, [155 ... 163] = 5, [164 ... 172] = 10, [173 ... 181] = 12,
        [182 ... 190] = 6, [191 ... 199] = 13, [205] = 8, [206] = 10, [207] = 4, [208] = 12,
    };
    """
    const uint8_t WALLS "chatiere_cartonne_walls"[256]

cdef enum:
    NO_CELL = 0xFFFF
    FEWEST_SEATS = 2
    SEATS = 5
    PARTS = 5
    CATS = 5  # of a seat
    DEALT = 2
    MAX_HAND = 3
    SIDE = 24
    CELLS = SIDE * SIDE
    WORDS = CELLS >> 6  # of a set of cells
    CENTRE = 11 * SIDE + 11  # where the first starting carton lies
    # Kinds.
    CARTONS = 72
    FIRST_TOY = CARTONS
    TOYS = 3
    PILE_KINDS = CARTONS + TOYS  # all that a pile has beside Princesses
    PRINCESS = PILE_KINDS
    FIRST_START = PRINCESS + 1
    STARTS = 5
    # In State.cards only: the cat of seat s that was laid asleep is SLEEPER + s, with WOKEN once it has woken; a card
    # that was turned has TURNED.
    SLEEPER = FIRST_START + STARTS
    MAX_JOINTS = CATS * SEATS + TOYS + PARTS  # with something on them: all cats, toys and Princesses
    MAX_CARDS = CARTONS + STARTS + MAX_JOINTS  # on the table
    TURNED = 0x80
    WOKEN = TURNED
    KIND = 0x7F
    # In State.joints: the west cell, and above it the thing that lies there.
    CELL = 0x3FF
    JOINT_SHIFT = 10
    NOTHING = 0
    AWAKE = 1  # + seat
    PRINCESS_THERE = AWAKE + SEATS
    TOY_THERE = PRINCESS_THERE + 1  # + kind - FIRST_TOY
    LAST_THERE = TOY_THERE + TOYS - 1
    # Walls.
    NORTH = 1
    EAST = 2
    SOUTH = 4
    WEST = 8
    PATTERNS = 8
    # In Seat.excluded, for each card in hand: a bit a wall pattern, and above them one for the Princess.
    PRINCESS_BIT = PATTERNS
    EXCLUDED_BITS = PRINCESS_BIT + 1
    EXCLUDED = (1 << EXCLUDED_BITS) - 1
    PLAYED_BITS = 3  # a part, in Seat.played
    PLAYED = (1 << PLAYED_BITS) - 1
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
    BAD_WOKEN
    BAD_STARTS
    BAD_PENDING
    BAD_JUST_PLAYED
    BAD_DRAWS
    BAD_PRINCESSES
    BAD_SHOWN
    CARD_TWICE_OR_MISSING
    NOT_ZERO
    TOO_FEW_DEALS

cdef enum ChatCartonneEnd:
    NO_CARTONS = 1  # nobody holds one
    ALL_PASSED  # every seat that holds a carton, in succession

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
    CATS_WOKEN  # cells
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
    DRAW_ID = 2 * STARTS
    SKIP_ID
    PASS_ID
    FIRST_CARTON_ID
    IDS_OF_SLOT = 2 * CELLS
    FIRST_SLEEP_ID = FIRST_CARTON_ID + IDS_OF_SLOT * MAX_HAND
    FIRST_CAT_ID = FIRST_SLEEP_ID + CELLS
    FIRST_PRINCESS_ON_JOINT_ID = FIRST_CAT_ID + CELLS
    FIRST_PRINCESS_IN_CELL_ID = FIRST_PRINCESS_ON_JOINT_ID + CELLS
    FIRST_TOY_ON_JOINT_ID = FIRST_PRINCESS_IN_CELL_ID + CELLS
    FIRST_TOY_AS_CARTON_ID = FIRST_TOY_ON_JOINT_ID + CELLS
    NUM_ACTIONS = FIRST_TOY_AS_CARTON_ID + CELLS

ctypedef struct Options:
    uint8_t first_seat  # NO_SEAT: a chance event
    uint8_t variants

ctypedef struct Seat:
    # For each card in hand the types of cards that it cannot be, as the seat's passes have shown. Each one has all bits
    # of the next; which card of the hand it speaks of is not known.
    uint32_t excluded
    uint16_t played  # by part: Princesses played while that was the last part the seat had drawn from
    uint8_t supply
    uint8_t hand_size
    uint8_t hand[MAX_HAND]  # ascending, then zeros
    uint8_t drawn[PARTS]  # by part: cards drawn, toys apart

ctypedef struct State:
    uint8_t players
    uint8_t rules_version
    uint8_t first_seat_option
    uint8_t variants
    uint8_t first_seat  # NO_SEAT until it is known
    uint8_t phase
    uint8_t active  # whose turn it is; in setup, who gets the next card; when it is over, who moved last
    uint8_t final_phase  # 1: begun
    uint64_t unknown[2]  # bit kind: cartons and toys in the pile
    uint64_t filled[WORDS]  # the cells where a card lies
    Seat seats[SEATS]
    uint16_t joints[MAX_JOINTS + 1]  # with something on them, by ascending west cell, then zeros; the last is always 0
    uint16_t just_played  # the cell of the carton that a cat may follow; else NO_CELL
    uint8_t pending  # the kind of the starting carton, or toy, that the active seat has drawn; else 0
    uint8_t laid  # cards on the table
    uint8_t drawer[PARTS]  # part: who drew its Princess; NO_SEAT: nobody, or ALL_PRINCESSES
    uint8_t passes  # of the final phase, in a row
    uint8_t zero[2]
    uint8_t cards[MAX_CARDS + 2]  # on the table, by ascending cell, then zeros; the last two are always zeros

ctypedef struct View:
    # What a seat may know: a state whose hidden cards are zeros (`unknown` has every kind whose place the viewer does
    # not know, `drawer` is NO_SEAT for every Princess that the viewer did not draw), and public facts about hidden
    # cards.
    State state
    uint8_t pile_size
    uint8_t holders  # bit seat: holds a carton; 0 before the final phase
    uint8_t zero[6]


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

cdef inline bint may_draw(const State* state) noexcept nogil:
    # At the start of a turn.
    return not state.final_phase and state.seats[state.active].hand_size < MAX_HAND

cdef inline int walls_of(int card) noexcept nogil:
    # Of a card as State.cards has it.
    return WALLS[card]

cdef inline bint can_turn(int kind) noexcept nogil:
    # True if turning a card changes its walls.
    return walls_of(kind) != walls_of(kind | TURNED)

cdef inline bint is_carton(int card) noexcept nogil:
    # True for the cards a joint can lie on: all but sleeping cats and the Princess.
    return card & KIND < SLEEPER and card & KIND != PRINCESS

cdef inline bint is_sleeper(int card) noexcept nogil:
    # Woken or not.
    return card & KIND >= SLEEPER

cdef inline int owner_of(int card) noexcept nogil:
    # The seat of a sleeping cat.
    return (card & KIND) - SLEEPER

cdef inline bint is_cat(int there) noexcept nogil:
    # `there`: the thing on a joint.
    return there >= AWAKE and there < AWAKE + SEATS

cdef inline int type_of(int kind) noexcept nogil:
    # Of a card in hand, as a bit of Seat.excluded: what of it matters for whether it can be played.
    return PRINCESS_BIT if kind == PRINCESS else kind // 9

cdef inline int excluded_of(const Seat* held, int slot) noexcept nogil:
    return held.excluded >> EXCLUDED_BITS * slot & EXCLUDED

cdef inline int played_of(const Seat* held, int part) noexcept nogil:
    return held.played >> PLAYED_BITS * part & PLAYED

cdef inline int princess_count(const State* state) noexcept nogil:
    return PARTS if state.variants & ALL_PRINCESSES else state.players

cdef inline int part_count(const State* state) noexcept nogil:
    return 1 if state.variants & ALL_PRINCESSES else state.players

cdef inline int part_size(const State* state, int part) noexcept nogil:
    # Before the first draw, Princesses included; the upper parts are one larger where the cards do not divide.
    cdef int shared = state.players - 2
    if state.variants & ALL_PRINCESSES:
        return PILE_KINDS - DEALT * state.players + PARTS
    # For 2 to 5 players, from the right: the cards not dealt, divided by the players, plus a Princess; the remainder.
    return (0x0E111824 >> 8 * shared & 0xFF) + (part < 0x0301 >> 4 * shared & 15)

cdef inline bint has_cell(const uint64_t* cells, int cell) noexcept nogil:
    return cells[cell >> 6] >> (cell & 63) & 1

cdef inline void put_cell(uint64_t* cells, int cell) noexcept nogil:
    cells[cell >> 6] |= <uint64_t> 1 << (cell & 63)

cdef inline int place_at(const State* state, int cell) noexcept nogil:
    # The place in State.cards of a cell's card: the number of cards in lower cells.
    cdef int count = count_bits(state.filled[cell >> 6] & (<uint64_t> 1 << (cell & 63)) - 1), word
    for word in range(cell >> 6):
        count += count_bits(state.filled[word])
    return count

cdef inline int find_card(const State* state, int cell) noexcept nogil:
    # The place of the card in a cell; -1 for an empty one.
    return place_at(state, cell) if has_cell(state.filled, cell) else -1

cdef inline int find_joint(const State* state, int west) noexcept nogil:
    # The place in State.joints of a joint, or where it would be inserted.
    cdef int i = 0
    while state.joints[i] and state.joints[i] & CELL < west:
        i += 1
    return i

cdef inline int on_joint(const State* state, int west) noexcept nogil:
    cdef int entry = state.joints[find_joint(state, west)]
    return entry >> JOINT_SHIFT if entry & CELL == west else NOTHING

cdef inline int lay_on_table(State* state, int cell, int card) noexcept nogil:
    # Returns the card's place.
    cdef int place = place_at(state, cell)
    memmove(&state.cards[place + 1], &state.cards[place], state.laid - place)
    state.cards[place] = card
    state.laid += 1
    put_cell(state.filled, cell)
    return place

cdef inline void lay_on_joint(State* state, int joint, int there) noexcept nogil:
    cdef int place = find_joint(state, joint), end = place
    while state.joints[end]:
        end += 1
    memmove(&state.joints[place + 1], &state.joints[place], (end - place) * sizeof(uint16_t))
    state.joints[place] = joint | there << JOINT_SHIFT

cdef inline int princesses_in_hand(const State* state, int seat) noexcept nogil:
    cdef int slot, count = 0
    for slot in range(state.seats[seat].hand_size):
        count += state.seats[seat].hand[slot] == PRINCESS
    return count

cdef inline int pile_size(const State* state) noexcept nogil:
    # Cards in the pile, Princesses included.
    cdef int princesses = princess_count(state), seat, part
    if state.variants & ALL_PRINCESSES:
        for seat in range(state.players):
            princesses -= played_of(&state.seats[seat], 0) + princesses_in_hand(state, seat)
    else:
        for part in range(state.players):
            princesses -= state.drawer[part] != NO_SEAT
    return count_kinds(state.unknown) + princesses

cdef inline int current_part(const State* state, int pile, int* left) noexcept nogil:
    # The part that the next card of a pile of that size comes from. `left`: the cards left in it, 0 only when the pile
    # is empty.
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
        seats |= (state.seats[seat].hand_size > 0 and state.seats[seat].hand[0] != PRINCESS) << seat
    return seats
