# Chat Cartonne: the table as rows of bits, what is joined to what, and the score of the boxes.
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from chatiere.engine.games.chat_cartonne.state cimport (
    CARTONS,
    CELLS,
    EAST,
    FIRST_TOY,
    KIND,
    NORTH,
    NOTHING,
    PRINCESS,
    SIDE,
    SOUTH,
    WEST,
    State,
    cell_of,
    find_card,
    is_carton,
    on_joint,
    walls_of,
)

ctypedef struct Rows:
    # As State.filled.
    uint32_t filled[26]
    uint32_t north[26]  # cards with a wall there
    uint32_t east[26]
    uint32_t south[26]
    uint32_t west[26]
    uint32_t cartons[26]  # cards that a joint can lie on
    uint32_t taken[26]  # west cells of joints that something lies on
    int first  # first_row and end_row
    int end

ctypedef struct Box:
    uint8_t size  # cells
    uint8_t closed
    uint8_t toys[3]
    uint8_t sprayers
    uint8_t awake[5]
    uint8_t asleep[5]
    uint8_t majority  # bit seat
    int points  # of each seat of the majority
    int bonus[5]

cdef inline void contents_of(int card, int* contents) noexcept nogil:
    # Mice, balls, fish and sprayers printed on a card (as State.cards has it).
    cdef int kind = card & KIND, i
    # By content 0-8: nothing, nothing, mouse, ball, fish, mouse+ball, ball+fish, fish+mouse, sprayer; a bit for each.
    cdef int printed = <uint64_t> 0x856342100 >> 4 * (kind % 9) & 15 if kind < CARTONS else 0
    for i in range(4):
        contents[i] = printed >> i & 1
    if kind >= FIRST_TOY and kind < PRINCESS:
        contents[kind - FIRST_TOY] = 2

cdef inline uint32_t walls_meet(const Rows* rows, int row, int walls) noexcept nogil:
    # Cells where one of these walls would meet a neighbour's.
    cdef uint32_t cells = 0
    if walls & NORTH:
        cells |= rows.south[row - 1]
    if walls & EAST:
        cells |= rows.west[row] >> 1
    if walls & SOUTH:
        cells |= rows.north[row + 1]
    if walls & WEST:
        cells |= rows.east[row] << 1
    return cells

cdef inline uint32_t joined_east(const Rows* rows, int row) noexcept nogil:
    # Cards joined to their eastern neighbour through an edge open on both sides.
    return rows.filled[row] & ~rows.east[row] & (rows.filled[row] & ~rows.west[row]) >> 1

cdef inline uint32_t joined_south(const Rows* rows, int row) noexcept nogil:
    return rows.filled[row] & ~rows.south[row] & rows.filled[row + 1] & ~rows.north[row + 1]

cdef inline uint32_t free_joints(const Rows* rows, int row) noexcept nogil:
    # Where a cat or toy could lie, whatever box it is in.
    return joined_east(rows, row) & rows.cartons[row] & rows.cartons[row] >> 1 & ~rows.taken[row]

cdef inline int card_beside(const State* state, int cell, int side) noexcept nogil:
    # The place of the card on that side of a cell; -1 for none, or the table's edge.
    if side == NORTH:
        return find_card(state, cell - SIDE) if cell >= SIDE else -1
    if side == SOUTH:
        return find_card(state, cell + SIDE) if cell < CELLS - SIDE else -1
    if side == WEST:
        return find_card(state, cell - 1) if cell % SIDE else -1
    return find_card(state, cell + 1) if cell % SIDE < SIDE - 1 else -1

cdef inline bint is_joint(const State* state, int west) noexcept nogil:
    # From a card's place on: two cartons side by side, no wall between them.
    cdef int cell = cell_of(state, west), east = west + 1
    if east >= state.laid or cell_of(state, east) != cell + 1 or cell % SIDE == SIDE - 1:
        return False
    if not is_carton(state.cards[west]) or not is_carton(state.cards[east]):
        return False
    return not (walls_of(state.cards[west]) & EAST or walls_of(state.cards[east]) & WEST)

cdef inline bint is_free_joint(const State* state, int west) noexcept nogil:
    return is_joint(state, west) and on_joint(state, west) == NOTHING

cdef void read_rows(const State* state, Rows* rows) noexcept nogil
cdef void spread(const Rows* rows, uint32_t* cells) noexcept nogil
cdef bint cat_can_follow(const State* state, int place) noexcept nogil
cdef bint joints_for_toy(const State* state, const Rows* rows, uint32_t* joints) noexcept nogil
cdef int read_boxes(const State* state, Box* boxes, uint8_t* box_of) noexcept nogil
cdef void score(const State* state, int* totals, int* negative) noexcept nogil
