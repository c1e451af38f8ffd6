# Chat Cartonne: the layout of the table as sets of cells, what is joined to what, and the score of the boxes.
from libc.stdint cimport uint8_t, uint16_t, uint64_t

from chatiere.engine.games.chat_cartonne.cells cimport to_east, to_north, to_south, to_west
from chatiere.engine.games.chat_cartonne.state cimport (
    CARTONS,
    EAST,
    FIRST_TOY,
    KIND,
    NORTH,
    NOTHING,
    PRINCESS,
    SEATS,
    SIDE,
    SOUTH,
    TOYS,
    WEST,
    WORDS,
    State,
    has_cell,
    is_carton,
    on_joint,
    walls_of,
)

ctypedef struct Layout:
    # Sets of cells.
    uint64_t north[WORDS]  # cards with a wall there
    uint64_t east[WORDS]
    uint64_t south[WORDS]
    uint64_t west[WORDS]
    uint64_t cartons[WORDS]  # cards that a joint can lie on
    uint64_t taken[WORDS]  # west cells of joints that something lies on
    uint64_t own[WORDS]  # where a cat of the active seat lies, of a joint the west cell
    uint64_t others[WORDS]  # where another's
    uint64_t joined_east[WORDS]  # cards joined to their neighbour through an edge open on both sides
    uint64_t joined_south[WORDS]
    int first  # first_word and end_word
    int end

ctypedef struct Box:
    uint8_t size  # cells
    uint8_t closed
    uint8_t toys[TOYS]
    uint8_t sprayers
    uint8_t awake[SEATS]
    uint8_t woken[SEATS]
    uint8_t asleep[SEATS]
    uint8_t majority  # bit seat
    int points  # of each seat of the majority
    int bonus[SEATS]

cdef inline void contents_of(int card, int* contents) noexcept nogil:
    # Mice, balls, fish and sprayers printed on a card (as State.cards has it).
    cdef int kind = card & KIND, i
    # By content 0-8: nothing, nothing, mouse, ball, fish, mouse+ball, ball+fish, fish+mouse, sprayer; a bit for each.
    cdef int printed = <uint64_t> 0x856342100 >> 4 * (kind % 9) & 15 if kind < CARTONS else 0
    for i in range(4):
        contents[i] = printed >> i & 1
    if kind >= FIRST_TOY and kind < PRINCESS:
        contents[kind - FIRST_TOY] = 2

cdef inline uint64_t walls_meet(const Layout* layout, int word, int walls) noexcept nogil:
    # The cells where one of these walls would meet a neighbour's.
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
    # The joints where a cat or toy could lie, regardless of the box.
    return layout.joined_east[word] & layout.cartons[word] & to_west(layout.cartons, word) & ~layout.taken[word]

cdef inline bint is_joint(const State* state, int west, int place) noexcept nogil:
    # A card's cell and its place: true if it is a carton with another to its east and no wall between them.
    if west % SIDE == SIDE - 1 or not has_cell(state.filled, west + 1):
        return False
    if not is_carton(state.cards[place]) or not is_carton(state.cards[place + 1]):
        return False
    return not (walls_of(state.cards[place]) & EAST or walls_of(state.cards[place + 1]) & WEST)

cdef inline bint is_free_joint(const State* state, int west, int place) noexcept nogil:
    return is_joint(state, west, place) and on_joint(state, west) == NOTHING

cdef inline bint is_free_joint_to_west(const State* state, int cell, int place) noexcept nogil:
    # The joint of a card with its neighbour in the west.
    return cell % SIDE != 0 and has_cell(state.filled, cell - 1) and is_free_joint(state, cell - 1, place - 1)

cdef void read_layout(const State* state, Layout* layout) noexcept nogil
cdef void spread_from(const Layout* layout, int cell, uint64_t* box) noexcept nogil
cdef bint cat_can_follow(const State* state, int cell, int place) noexcept nogil
cdef int cats_to_wake(const State* state, int joint, uint16_t* cells) noexcept nogil
cdef bint joints_for_toy(const State* state, uint64_t* joints) noexcept nogil
cdef int read_boxes(const State* state, Box* boxes, uint8_t* box_of) noexcept nogil
cdef void score(const State* state, int* totals, int* negative) noexcept nogil
