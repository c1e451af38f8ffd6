# Chat Cartonne: the packed state and its constants. Kinds of cards, cells and joints are numbered as in the rules file.
# A part of the pile is one of the stacked piles. Part 0 is on top. In walls and directions, bits 0-3 are N, E, S and W.
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memmove

from chatiere.engine.core.bits cimport count_bits, lowest_bit, nth_bit
from chatiere.engine.core.operations cimport NO_SEAT

cdef extern from * nogil:
    """
    #include <stdint.h>

    /* The walls of each card as encoded in State.cards: cartons with N, E, NS, EW, NE, NW, NES, starting cartons with
       E, EW, N, NE; then the same cards turned. Other cards have no walls. A table avoids unpredictable branches. */
    static const uint8_t chatiere_cartonne_walls[256] __attribute__((unused)) = {
        [9 ... 17] = 1, [18 ... 26] = 2, [27 ... 35] = 5, [36 ... 44] = 10, [45 ... 53] = 3, [54 ... 62] = 9,
        [63 ... 71] = 7, [77] = 2, [78] = 10, [79] = 1, [80] = 3,
        [137 ... 145] = 4, [146 ... 154] = 8, [155 ... 163] = 5, [164 ... 172] = 10, [173 ... 181] = 12,
        [182 ... 190] = 6, [191 ... 199] = 13, [205] = 8, [206] = 10, [207] = 4, [208] = 12,
    };
    """
    const uint8_t WALLS "chatiere_cartonne_walls"[256]

cpdef enum:
    NO_CELL = 0xFFFF
    FEWEST_SEATS = 2
    SEATS = 5
    PARTS = 5
    CATS = 5  # per seat
    DEALT = 2
    MAX_HAND = 3
    SIDE = 24
    CELLS = SIDE * SIDE
    WORDS = CELLS >> 6  # the number of words in a set of cells
    CENTRE = 11 * SIDE + 11  # the cell of the first starting carton
    # Kinds of cards.
    CARTONS = 72
    FIRST_TOY = CARTONS
    TOYS = 3
    PILE_KINDS = CARTONS + TOYS  # the kinds in the pile, except the Princess
    PRINCESS = PILE_KINDS
    FIRST_START = PRINCESS + 1
    STARTS = 5
    # These occur only in State.cards. SLEEPER + s is a cat of seat s that was laid asleep. Once the cat has woken, it
    # has the bit WOKEN. A turned card has the bit TURNED.
    SLEEPER = FIRST_START + STARTS
    MAX_JOINTS = CATS * SEATS + TOYS + PARTS  # the maximum number of occupied joints: all cats, toys and Princesses
    MAX_CARDS = CARTONS + STARTS + MAX_JOINTS  # the maximum number of cards on the table
    TURNED = 0x80
    WOKEN = TURNED
    KIND = 0x7F
    # An entry of State.joints has the west cell of the joint in the low bits, and the item on the joint above them.
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
    # For each card in hand, Seat.excluded has one bit for each wall pattern, and above these a bit for the Princess.
    PRINCESS_BIT = PATTERNS
    EXCLUDED_BITS = PRINCESS_BIT + 1
    EXCLUDED = (1 << EXCLUDED_BITS) - 1
    PLAYED_BITS = 3  # the number of bits for each part in Seat.played
    PLAYED = (1 << PLAYED_BITS) - 1
    # The bits of State.variants.
    ALL_PRINCESSES = 1
    NO_DOUBLE_WALLS = 2
    NO_CROWD_BONUS = 4
    HALF_SLEEPERS = 8

cpdef enum Phase:
    FIRST_SEAT  # chance: the seat that begins
    DEAL  # chance: the next card dealt to the active seat
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

cpdef enum ChatCartonneFault:
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

cpdef enum ChatCartonneEnd:
    NO_CARTONS = 1  # no seat holds a carton
    ALL_PASSED  # every seat that holds a carton has passed in succession

cpdef enum ChatCartonneEvent:
    # The comment next to each kind lists the values of its events.
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
    PRINCESS_ON_JOINT  # joint, owner of the cat
    PRINCESS_IN_CELL  # cell, owner of the cat
    TOY_ON_JOINT  # kind, joint
    TOY_AS_CARTON  # kind, cell
    PASSED
    FINAL_PHASE_BEGUN
    GAME_ENDED

cpdef enum:
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
    uint8_t first_seat  # NO_SEAT if a chance event draws it
    uint8_t variants

ctypedef struct Seat:
    # One set of card types for each card in hand. The seat's passes have shown that some card of the hand has none of
    # the types in the set, but not which card it is. Each set contains the next one.
    uint32_t excluded
    # For each part, the number of Princesses played while this part was the last one from which the seat had drawn.
    uint16_t played
    uint8_t supply
    uint8_t hand_size
    uint8_t hand[MAX_HAND]  # ascending, then zeros
    uint8_t drawn[PARTS]  # for each part, the number of cards drawn, except toys

ctypedef struct State:
    uint8_t players
    uint8_t rules_version
    uint8_t first_seat_option
    uint8_t variants
    uint8_t first_seat  # NO_SEAT until it is known
    uint8_t phase
    uint8_t active  # the seat to act; in setup, the seat that gets the next card; after the end, the last seat to move
    uint8_t final_phase  # 1 if the final phase has begun
    uint64_t unknown[2]  # the set of kinds of the cartons and toys in the pile
    uint64_t filled[WORDS]  # the set of cells that have a card
    Seat seats[SEATS]
    uint16_t joints[MAX_JOINTS + 1]  # occupied joints by ascending west cell, then zeros; the last entry is always 0
    uint16_t just_played  # the cell of the carton that a cat may follow, or NO_CELL
    uint8_t pending  # the kind of the starting carton or toy that the active seat has drawn, or 0
    uint8_t laid  # the number of cards on the table
    uint8_t drawer[PARTS]  # for each part, the seat that drew its Princess, or NO_SEAT; NO_SEAT with ALL_PRINCESSES
    uint8_t passes  # the number of successive passes in the final phase
    uint8_t zero[2]
    uint8_t cards[MAX_CARDS + 2]  # cards on the table by ascending cell, then zeros; the last two entries are always 0

ctypedef struct View:
    # The information visible to a seat: a state whose hidden cards are zeros, and public facts about hidden cards.
    # `unknown` has every kind whose place the viewer does not know, and `drawer` is NO_SEAT for every Princess that the
    # viewer did not draw.
    State state
    uint8_t pile_size
    uint8_t holders  # the set of seats that hold a carton; 0 before the final phase
    uint8_t zero[6]


cdef inline int fault_if(bint broken, int fault) noexcept nogil:
    return fault if broken else 0

cdef inline int count_kinds(const uint64_t* kinds) noexcept nogil:
    return count_bits(kinds[0]) + count_bits(kinds[1])

cdef inline int nth_kind(const uint64_t* kinds, int n) noexcept nogil:
    # Return the n-th kind of a set, counted from 0.
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
    # Return True if the active seat can draw at the start of its turn.
    return not state.final_phase and state.seats[state.active].hand_size < MAX_HAND

cdef inline int walls_of(int card) noexcept nogil:
    # Return the walls of a card, encoded as in State.cards.
    return WALLS[card]

cdef inline bint can_turn(int kind) noexcept nogil:
    # Return True if turning a card changes its walls.
    return walls_of(kind) != walls_of(kind | TURNED)

cdef inline bint is_carton(int card) noexcept nogil:
    # Return True for cards that can be part of a joint: all cards except sleeping cats and the Princess.
    return card & KIND < SLEEPER and card & KIND != PRINCESS

cdef inline bint is_sleeper(int card) noexcept nogil:
    # Return True for a cat that was laid asleep, even if it has woken.
    return card & KIND >= SLEEPER

cdef inline int owner_of(int card) noexcept nogil:
    # Return the seat of a cat that was laid asleep.
    return (card & KIND) - SLEEPER

cdef inline bint is_cat(int there) noexcept nogil:
    # Return True if the item on a joint is a cat.
    return there >= AWAKE and there < AWAKE + SEATS

cdef inline int type_of(int kind) noexcept nogil:
    # Return the type of a card in hand, as the number of a bit in Seat.excluded. Only the type determines whether the
    # card can be played.
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
    # Return the size of a part before the first draw, including the Princess. If the cards do not divide evenly, upper
    # parts have one card more.
    cdef int shared = state.players - 2
    if state.variants & ALL_PRINCESSES:
        return PILE_KINDS - DEALT * state.players + PARTS
    # The constants are packed tables for 2 players (lowest bits) to 5. The first has undealt cards // players + 1,
    # where 1 is for the Princess. The second has undealt cards % players.
    return (0x0E111824 >> 8 * shared & 0xFF) + (part < 0x0301 >> 4 * shared & 15)

cdef inline bint has_cell(const uint64_t* cells, int cell) noexcept nogil:
    return cells[cell >> 6] >> (cell & 63) & 1

cdef inline void put_cell(uint64_t* cells, int cell) noexcept nogil:
    cells[cell >> 6] |= <uint64_t> 1 << (cell & 63)

cdef inline int place_at(const State* state, int cell) noexcept nogil:
    # Return the index of a cell's card in State.cards. It equals the number of cards in lower cells.
    cdef int count = count_bits(state.filled[cell >> 6] & (<uint64_t> 1 << (cell & 63)) - 1), word
    for word in range(cell >> 6):
        count += count_bits(state.filled[word])
    return count

cdef inline int find_card(const State* state, int cell) noexcept nogil:
    # Return the index of a cell's card in State.cards, or -1 if the cell is empty.
    return place_at(state, cell) if has_cell(state.filled, cell) else -1

cdef inline int find_joint(const State* state, int west) noexcept nogil:
    # Return the index of a joint in State.joints, or the index at which to insert it.
    cdef int i = 0
    while state.joints[i] and state.joints[i] & CELL < west:
        i += 1
    return i

cdef inline int on_joint(const State* state, int west) noexcept nogil:
    cdef int entry = state.joints[find_joint(state, west)]
    return entry >> JOINT_SHIFT if entry & CELL == west else NOTHING

cdef inline int lay_on_table(State* state, int cell, int card) noexcept nogil:
    # Add a card to State.cards, and return its index.
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
    # Return the number of cards in the pile, including the Princesses.
    cdef int princesses = princess_count(state), seat, part
    if state.variants & ALL_PRINCESSES:
        for seat in range(state.players):
            princesses -= played_of(&state.seats[seat], 0) + princesses_in_hand(state, seat)
    else:
        for part in range(state.players):
            princesses -= state.drawer[part] != NO_SEAT
    return count_kinds(state.unknown) + princesses

cdef inline int current_part(const State* state, int pile, int* left) noexcept nogil:
    # Return the part from which the next card is drawn, for a pile of this size. Sets `left` to the number of cards
    # left in the part. This number is 0 only if the pile is empty.
    cdef int part = part_count(state) - 1
    while part > 0 and pile > part_size(state, part):
        pile -= part_size(state, part)
        part -= 1
    left[0] = pile
    return part

cdef inline int holders(const State* state) noexcept nogil:
    # Return the set of seats that hold a carton. Princesses are last in a hand, so a hand without cartons is empty or
    # begins with a Princess.
    cdef int seat, seats = 0
    for seat in range(state.players):
        seats |= (state.seats[seat].hand_size > 0 and state.seats[seat].hand[0] != PRINCESS) << seat
    return seats

# Adjacent cells, and sets of cells. A set has one bit for each cell, in WORDS words of 64 bits.

cpdef enum:
    MAX_LISTED = MAX_CARDS + 7  # the capacity of lists of cells, which are written eight at a time

cdef inline uint64_t word_of(const uint64_t* cells, int word) noexcept nogil:
    # Return one word of a set. Words outside the table are empty.
    return cells[word] if word >= 0 and word < WORDS else 0

cdef inline uint64_t first_column(int word) noexcept nogil:
    # Return the cells of a word that are in the first column. The pattern repeats every three words, because three
    # words contain eight rows of 24 cells.
    return <uint64_t> 0x0001000001000001 << 8 * (word % 3)

# One word of a set, shifted by one cell.

cdef inline uint64_t to_north(const uint64_t* cells, int word) noexcept nogil:
    return cells[word] >> 24 | word_of(cells, word + 1) << 40

cdef inline uint64_t to_south(const uint64_t* cells, int word) noexcept nogil:
    return cells[word] << 24 | word_of(cells, word - 1) >> 40

cdef inline uint64_t to_east(const uint64_t* cells, int word) noexcept nogil:
    return (cells[word] << 1 | word_of(cells, word - 1) >> 63) & ~first_column(word)

cdef inline uint64_t to_west(const uint64_t* cells, int word) noexcept nogil:
    return (cells[word] & ~first_column(word)) >> 1 | (word_of(cells, word + 1) & ~first_column(word + 1)) << 63

# The range of words with cards. The cards on the table are connected, so these words are contiguous and include the
# word of the centre. Words before `first_word`, and from `end_word` on, have no cards.

cdef inline int first_word(const State* state) noexcept nogil:
    cdef int word = CENTRE >> 6
    while word > 0 and state.filled[word - 1]:
        word -= 1
    return word

cdef inline int end_word(const State* state) noexcept nogil:
    cdef int word = (CENTRE >> 6) + 1
    while word < WORDS and state.filled[word]:
        word += 1
    return word

cdef inline int lowest_cell(const uint64_t* cells) noexcept nogil:
    # Return the lowest cell of a set. The set must not be empty.
    cdef int word = 0
    while cells[word] == 0:
        word += 1
    return 64 * word + lowest_bit(cells[word])

cdef inline int nth_cell(const uint64_t* cells, int n) noexcept nogil:
    # Return the n-th cell of a set, counted from 0. The set must have more than n cells.
    cdef int word = 0
    while n >= count_bits(cells[word]):
        n -= count_bits(cells[word])
        word += 1
    return 64 * word + nth_bit(cells[word], n)

cdef inline uint64_t next_column(uint64_t column) noexcept nogil:
    # Given the `first_column` of a word, return the `first_column` of the next word.
    return column >> 16 | column << 8

cdef inline uint64_t beside(uint64_t before, uint64_t cells, uint64_t after, uint64_t column) noexcept nogil:
    # Return the empty cells of the word `cells` that share an edge with a filled cell. `before` and `after` are the
    # adjacent words, and `column` is the `first_column` of the word.
    cdef uint64_t rows = cells >> 24 | after << 40 | cells << 24 | before >> 40
    cdef uint64_t east = (cells << 1 | before >> 63) & ~column
    cdef uint64_t west = (cells & ~column) >> 1 | (after & ~next_column(column)) << 63
    return (rows | east | west) & ~cells

cdef inline uint64_t free_beside(const State* state, int word) noexcept nogil:
    # Return the empty cells of a word that share an edge with a card.
    return beside(
        word_of(state.filled, word - 1), state.filled[word], word_of(state.filled, word + 1), first_column(word)
    )

cdef inline int list_word(uint64_t cells, int word, int first_id, uint16_t* ids) noexcept nogil:
    # Write the cells of a word as ascending ids, where `first_id` is the id of cell 0. Returns the number of cells. Few
    # words have more than eight cells, so ids are written eight at a time, and up to seven meaningless ids follow the
    # last cell's id.
    cdef int count = count_bits(cells), first = first_id + 64 * word, done, i
    for done in range(0, count, 8):
        for i in range(8):
            ids[done + i] = first + lowest_bit(cells | <uint64_t> 1 << 63)
            cells &= cells - 1
    return count

cdef inline void list_filled(const State* state, uint16_t* cells) noexcept nogil:
    # Write the cell of each card on the table. `cells` needs a capacity of MAX_LISTED.
    cdef int count = 0, word
    for word in range(WORDS):
        count += list_word(state.filled[word], word, 0, cells + count)

cdef inline void spread_word(
    uint64_t* cells, const uint64_t* east, const uint64_t* south, int word
) noexcept nogil:
    cdef uint64_t before = word_of(cells, word - 1), after = word_of(cells, word + 1), last = 0
    cdef uint64_t more = cells[word] | after << 63 & east[word] | after << 40 & south[word]
    if word:
        more |= (before & east[word - 1]) >> 63 | (before & south[word - 1]) >> 40
    while more != last:
        last = more
        more |= (more & east[word]) << 1 | more >> 1 & east[word]
        more |= (more & south[word]) << 24 | more >> 24 & south[word]
    cells[word] = more

cdef inline bint spread_further(
    uint64_t* cells, const uint64_t* east, const uint64_t* south, int first, int end
) noexcept nogil:
    # Add cells that are joined to cells of a set, in one pass southwards over the words and one pass northwards.
    # Returns False if no cell was added. `east` and `south` have the cells joined to their east or south neighbour. All
    # of these cells are in the words from `first` to before `end`. The word `first - 1` is also read.
    cdef uint64_t changed = 0, before
    cdef int word
    for word in range(first, end):
        before = cells[word]
        spread_word(cells, east, south, word)
        changed |= before ^ cells[word]
    for word in range(end - 2, first - 1, -1):
        before = cells[word]
        spread_word(cells, east, south, word)
        changed |= before ^ cells[word]
    return changed != 0

cdef inline void spread(
    uint64_t* cells, const uint64_t* east, const uint64_t* south, int first, int end
) noexcept nogil:
    # Add all cells connected to cells of a set.
    while spread_further(cells, east, south, first, end):
        pass

# The layout of the table as sets of cells, adjacent cells that are joined, and the score of boxes

ctypedef struct Layout:
    # Sets of cells.
    uint64_t north[WORDS]  # cards with a wall in the north
    uint64_t east[WORDS]
    uint64_t south[WORDS]
    uint64_t west[WORDS]
    uint64_t cartons[WORDS]  # cards that can be part of a joint
    uint64_t taken[WORDS]  # west cells of occupied joints
    # An item on a joint is represented by the west cell of the joint.
    uint64_t own[WORDS]  # cats of the active seat
    uint64_t others[WORDS]  # cats of other seats
    uint64_t princesses[WORDS]  # Princesses
    uint64_t joined_east[WORDS]  # cards joined to their east neighbour through an edge open on both sides
    uint64_t joined_south[WORDS]
    int first  # the result of first_word
    int end  # the result of end_word

cpdef enum WaysToLayToy:
    # Bit flags.
    ON_JOINT = 1
    AS_CARTON = 2

ctypedef struct Box:
    uint8_t size  # the number of cells
    uint8_t closed
    uint8_t toys[TOYS]
    uint8_t sprayers
    uint8_t awake[SEATS]
    uint8_t woken[SEATS]
    uint8_t asleep[SEATS]
    uint8_t majority  # the set of seats with the majority
    int points  # the points of each seat in the majority
    int bonus[SEATS]

cdef inline void contents_of(int card, int* contents) noexcept nogil:
    # Return the numbers of mice, balls, fish and sprayers printed on a card, encoded as in State.cards.
    cdef int kind = card & KIND, i
    # The constant has four bits for each content 0-8: empty, empty, mouse, ball, fish, mouse + ball, ball + fish, fish
    # + mouse, and sprayer.
    cdef int printed = <uint64_t> 0x856342100 >> 4 * (kind % 9) & 15 if kind < CARTONS else 0
    for i in range(4):
        contents[i] = printed >> i & 1
    if kind >= FIRST_TOY and kind < PRINCESS:
        contents[kind - FIRST_TOY] = 2

cdef inline uint64_t walls_meet(const Layout* layout, int word, int walls) noexcept nogil:
    # Return the cells of a word where one of the given walls would meet a neighbour's wall.
    cdef uint64_t cells = 0
    if walls & NORTH:
        cells |= to_south(layout.south, word)
    if walls & EAST:
        cells |= to_west(layout.west, word)
    if walls & SOUTH:
        cells |= to_north(layout.north, word)
    if walls & WEST:
        cells |= to_east(layout.east, word)
    return cells

cdef inline uint64_t free_joints(const Layout* layout, int word) noexcept nogil:
    # Return the west cells of the joints where a cat or toy can be laid if the joint's box allows it.
    return layout.joined_east[word] & layout.cartons[word] & to_west(layout.cartons, word) & ~layout.taken[word]

cdef inline bint is_joint(const State* state, int west, int place) noexcept nogil:
    # Return True if the card in this cell and its east neighbour are cartons without a wall between them.
    if west % SIDE == SIDE - 1 or not has_cell(state.filled, west + 1):
        return False
    if not is_carton(state.cards[place]) or not is_carton(state.cards[place + 1]):
        return False
    return not (walls_of(state.cards[place]) & EAST or walls_of(state.cards[place + 1]) & WEST)

cdef inline bint is_free_joint(const State* state, int west, int place) noexcept nogil:
    return is_joint(state, west, place) and on_joint(state, west) == NOTHING

cdef inline bint is_free_joint_to_west(const State* state, int cell, int place) noexcept nogil:
    # Return True if a card has a free joint with its west neighbour.
    return cell % SIDE != 0 and has_cell(state.filled, cell - 1) and is_free_joint(state, cell - 1, place - 1)

cdef void read_layout(const State* state, Layout* layout) noexcept nogil
cdef void spread_from(const Layout* layout, int cell, uint64_t* box) noexcept nogil
cdef bint cat_can_follow(const State* state, int cell, int place) noexcept nogil
cdef int cats_to_wake(const State* state, int joint, uint16_t* cells) noexcept nogil
cdef int ways_to_lay_toy(const State* state, uint64_t* joints) noexcept nogil
cdef int read_boxes(const State* state, Box* boxes, uint8_t* box_of) noexcept nogil
cdef void score(const State* state, int* totals, int* negative) noexcept nogil
