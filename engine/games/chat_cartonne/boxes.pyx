"""Chat Cartonne: boxes and their score (rules file: "A turn", "Score").

Boxes are found anew where they are asked for: a move asks at most for the one that it touches, and the table is short.
"""

from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memcpy, memset

from chatiere.engine.games.chat_cartonne.state cimport (
    AWAKE,
    CELLS,
    EAST,
    HALF_SLEEPERS,
    NORTH,
    NO_CROWD_BONUS,
    SIDE,
    SLEEPER,
    SOUTH,
    TOY_THERE,
    WEST,
    State,
    bit_of,
    cell_of,
    end_row,
    first_row,
    is_carton,
    is_cat,
    is_sleeper,
    on_joint,
    row_of,
    walls_of,
)


cdef void read_rows(const State* state, Rows* rows) noexcept nogil:
    cdef int place, row, walls, card
    cdef uint32_t bit
    memset(rows, 0, sizeof(Rows))
    memcpy(rows.filled, state.filled, sizeof(rows.filled))
    rows.first = first_row(state)
    rows.end = end_row(state)
    for place in range(state.laid):
        card = state.cards[place]
        row = row_of(cell_of(state, place))
        bit = bit_of(cell_of(state, place))
        rows.cartons[row] |= bit if is_carton(card) else 0
        rows.taken[row] |= bit if on_joint(state, place) else 0
        walls = walls_of(card)
        if walls:
            rows.north[row] |= bit if walls & NORTH else 0
            rows.east[row] |= bit if walls & EAST else 0
            rows.south[row] |= bit if walls & SOUTH else 0
            rows.west[row] |= bit if walls & WEST else 0


# Boxes

cdef inline uint32_t spread_along(uint32_t cells, uint32_t joined) noexcept nogil:
    # Within a row, to both sides.
    cdef uint32_t more = cells
    while True:
        more = cells | (cells & joined) << 1 | (cells >> 1 & joined)
        if more == cells:
            return cells
        cells = more


cdef void spread(const Rows* rows, uint32_t* cells) noexcept nogil:
    # From some cells to all of their boxes.
    cdef uint32_t east[26]
    cdef uint32_t south[26]
    cdef uint32_t before
    cdef int row
    cdef bint changed = True
    south[rows.first - 1] = 0
    for row in range(rows.first, rows.end):
        east[row] = joined_east(rows, row)
        south[row] = joined_south(rows, row)
        cells[row] = spread_along(cells[row], east[row])
    while changed:
        changed = False
        for row in range(rows.first, rows.end):
            before = cells[row]
            cells[row] = spread_along(before | cells[row - 1] & south[row - 1] | cells[row + 1] & south[row], east[row])
            changed |= cells[row] != before
        for row in range(rows.end - 1, rows.first - 1, -1):
            before = cells[row]
            cells[row] = spread_along(before | cells[row - 1] & south[row - 1] | cells[row + 1] & south[row], east[row])
            changed |= cells[row] != before


cdef inline int cat_at(const State* state, int place) noexcept nogil:
    # Whose cat lies on the joint or in the cell: 1 + seat, 0 for none. (Both would be one box.)
    cdef int there = on_joint(state, place)
    cdef int card = state.cards[place]
    if is_cat(there):
        return there
    return card - SLEEPER + 1 if is_sleeper(card) else 0


cdef bint cat_can_follow(const State* state, int place) noexcept nogil:
    # Whether the active seat may lay a cat on a joint of the card in that place. Both its joints are in its own box.
    cdef Rows rows
    cdef uint32_t box[26]
    cdef int owner, cell = cell_of(state, place)
    cdef bint own = False, others = False
    if not is_free_joint(state, place) and not (place > 0 and is_free_joint(state, place - 1)):
        return False
    read_rows(state, &rows)
    memset(box, 0, sizeof(box))
    box[row_of(cell)] = bit_of(cell)
    spread(&rows, box)
    for place in range(state.laid):
        owner = cat_at(state, place)
        if owner and box[row_of(cell_of(state, place))] & bit_of(cell_of(state, place)):
            if owner == state.active + 1:
                own = True
            else:
                others = True
    return own or not others


cdef bint joints_for_toy(const State* state, const Rows* rows, uint32_t* joints) noexcept nogil:
    # By rows, all joints of the table in boxes that hold a cat of the active seat, or nobody's. False: there are none.
    cdef uint32_t own[26]
    cdef uint32_t others[26]
    cdef uint32_t found = 0
    cdef int place, owner, row
    memset(own, 0, sizeof(own))
    memset(others, 0, sizeof(others))
    for place in range(state.laid):
        owner = cat_at(state, place)
        row = row_of(cell_of(state, place))
        if owner == state.active + 1:
            own[row] |= bit_of(cell_of(state, place))
        elif owner:
            others[row] |= bit_of(cell_of(state, place))
    spread(rows, own)
    spread(rows, others)
    for row in range(rows.first, rows.end):
        joints[row] = free_joints(rows, row) & (own[row] | ~others[row])
        found |= joints[row]
    return found != 0


# Score

cdef inline int root_of(uint8_t* parent, int place) noexcept nogil:
    while parent[place] != place:
        parent[place] = parent[parent[place]]
        place = parent[place]
    return place


cdef int read_boxes(const State* state, Box* boxes, uint8_t* box_of) noexcept nogil:
    # All boxes by their lowest cell, and for each card on the table the number of its box; how many boxes they are.
    cdef uint8_t parent[110]
    cdef uint8_t number[110]
    cdef uint8_t place_of[600]  # 1 + the place of the card in a cell
    cdef uint8_t open_edges[110]  # the card has an open edge without a neighbour
    cdef int place, cell, walls, other, count = 0, there, root
    cdef int contents[4]
    cdef Box* box
    memset(place_of, 0, sizeof(place_of))
    for place in range(state.laid):
        place_of[cell_of(state, place)] = place + 1
        parent[place] = place
    for place in range(state.laid):
        cell = cell_of(state, place)
        walls = walls_of(state.cards[place])
        open_edges[place] = 0
        if walls & NORTH == 0:
            open_edges[place] |= cell < SIDE or place_of[cell - SIDE] == 0
        if walls & WEST == 0:
            open_edges[place] |= cell % SIDE == 0 or place_of[cell - 1] == 0
        if walls & EAST == 0:
            other = place_of[cell + 1] if cell % SIDE < SIDE - 1 else 0
            if other == 0:
                open_edges[place] = 1
            elif walls_of(state.cards[other - 1]) & WEST == 0:
                parent[root_of(parent, other - 1)] = root_of(parent, place)
        if walls & SOUTH == 0:
            other = place_of[cell + SIDE] if cell < CELLS - SIDE else 0
            if other == 0:
                open_edges[place] = 1
            elif walls_of(state.cards[other - 1]) & NORTH == 0:
                parent[root_of(parent, other - 1)] = root_of(parent, place)
    memset(number, 0, sizeof(number))
    for place in range(state.laid):
        root = root_of(parent, place)
        if number[root] == 0:
            memset(&boxes[count], 0, sizeof(Box))
            boxes[count].closed = 1
            count += 1
            number[root] = count
        box_of[place] = number[root] - 1
        box = &boxes[number[root] - 1]
        box.size += 1
        if open_edges[place]:
            box.closed = 0
        contents_of(state.cards[place], contents)
        for other in range(3):
            box.toys[other] += contents[other]
        box.sprayers += contents[3]
        if is_sleeper(state.cards[place]):
            box.asleep[state.cards[place] - SLEEPER] += 1
        there = on_joint(state, place)
        if there >= TOY_THERE:
            box.toys[there - TOY_THERE] += 2
        elif is_cat(there):
            box.awake[there - AWAKE] += 1
    for place in range(count):
        award(state, &boxes[place])
    return count


cdef void award(const State* state, Box* box) noexcept nogil:
    # Who has the majority, and what the box gives.
    cdef int seat, cats, strength, strongest = 0
    for seat in range(state.players):
        if box.awake[seat] == 0:
            continue
        cats = box.awake[seat] + box.asleep[seat]
        strength = 2 * cats - (box.asleep[seat] if state.variants & HALF_SLEEPERS else 0)
        if strength > strongest:
            strongest = strength
            box.majority = 0
        if strength == strongest:
            box.majority |= 1 << seat
        if cats > 1 and not state.variants & NO_CROWD_BONUS:
            box.bonus[seat] = cats - 1
    if box.majority:
        box.points = max(box.toys[0], max(box.toys[1], box.toys[2])) - box.sprayers
        if box.closed:
            box.points *= 2


cdef void score(const State* state, int* totals, int* negative) noexcept nogil:
    # Each seat's total, and its negative points: the sprayers of the boxes whose points it got, double in closed ones.
    cdef Box boxes[110]
    cdef uint8_t box_of[110]
    cdef int count = read_boxes(state, boxes, box_of)
    cdef int seat, i
    for seat in range(state.players):
        totals[seat] = 0
        negative[seat] = 0
        for i in range(count):
            totals[seat] += boxes[i].bonus[seat]
            if boxes[i].majority >> seat & 1:
                totals[seat] += boxes[i].points
                negative[seat] += boxes[i].sprayers * (2 if boxes[i].closed else 1)
