"""Chat Cartonne: boxes and their score (rules file: "A turn", "Score").

Boxes are computed when needed: a move needs at most the one that it touches, and the table is short.
"""

from libc.stdint cimport uint8_t, uint16_t, uint64_t
from libc.string cimport memchr, memset

from chatiere.engine.core.clearing cimport clear
from chatiere.engine.games.chat_cartonne.cells cimport (
    end_word,
    first_word,
    list_filled,
    spread,
    to_north,
    to_west,
)
from chatiere.engine.games.chat_cartonne.state cimport (
    AWAKE,
    CELL,
    CELLS,
    EAST,
    HALF_SLEEPERS,
    JOINT_SHIFT,
    MAX_CARDS,
    NORTH,
    NO_CROWD_BONUS,
    SIDE,
    SLEEPER,
    SOUTH,
    TOY_THERE,
    WEST,
    WOKEN,
    WORDS,
    State,
    has_cell,
    is_carton,
    is_cat,
    is_sleeper,
    owner_of,
    put_cell,
    walls_of,
)


cdef void read_layout(const State* state, Layout* layout) noexcept nogil:
    cdef uint64_t cells, bit
    cdef uint64_t open_west[WORDS]
    cdef uint64_t open_north[WORDS]
    cdef int word, place = 0, joint = 0, card, walls, cell, there
    clear(layout, sizeof(Layout))
    layout.first = first_word(state)
    layout.end = end_word(state)
    for word in range(layout.first, layout.end):
        cells = state.filled[word]
        while cells:
            bit = cells & -cells
            cells ^= bit
            card = state.cards[place]
            place += 1
            if is_carton(card):
                layout.cartons[word] |= bit
            elif is_sleeper(card):
                if owner_of(card) == state.active:
                    layout.own[word] |= bit
                else:
                    layout.others[word] |= bit
            walls = walls_of(card)
            if walls:
                layout.north[word] |= bit if walls & NORTH else 0
                layout.east[word] |= bit if walls & EAST else 0
                layout.south[word] |= bit if walls & SOUTH else 0
                layout.west[word] |= bit if walls & WEST else 0
    while state.joints[joint]:
        cell = state.joints[joint] & CELL
        there = state.joints[joint] >> JOINT_SHIFT
        joint += 1
        put_cell(layout.taken, cell)
        if there == AWAKE + state.active:
            put_cell(layout.own, cell)
        elif is_cat(there):
            put_cell(layout.others, cell)
    for word in range(WORDS):
        open_west[word] = state.filled[word] & ~layout.west[word]
        open_north[word] = state.filled[word] & ~layout.north[word]
    for word in range(layout.first, layout.end):
        layout.joined_east[word] = state.filled[word] & ~layout.east[word] & to_west(open_west, word)
        layout.joined_south[word] = state.filled[word] & ~layout.south[word] & to_north(open_north, word)


# Boxes

cdef void spread_from(const Layout* layout, int cell, uint64_t* box) noexcept nogil:
    # The cells of the box that a card is in.
    memset(box, 0, WORDS * sizeof(uint64_t))
    put_cell(box, cell)
    spread(box, layout.joined_east, layout.joined_south, layout.first, layout.end)


cdef bint cat_can_follow(const State* state, int cell, int place) noexcept nogil:
    # True if the active seat may lay a cat on a joint of the card there. Both joints are in the card's own box.
    cdef Layout layout
    cdef uint64_t box[WORDS]
    cdef uint64_t own = 0, others = 0
    cdef int word
    if not is_free_joint(state, cell, place) and not is_free_joint_to_west(state, cell, place):
        return False
    read_layout(state, &layout)
    spread_from(&layout, cell, box)
    for word in range(layout.first, layout.end):
        own |= box[word] & layout.own[word]
        others |= box[word] & layout.others[word]
    return own != 0 or others == 0


cdef int cats_to_wake(const State* state, int joint, uint16_t* cells) noexcept nogil:
    # List the cells in the box of a joint where a cat of the active seat sleeps, ascending. Returns their number.
    cdef Layout layout
    cdef uint64_t box[WORDS]
    cdef uint16_t filled[MAX_CARDS]
    cdef int sleeper = SLEEPER + state.active, place, count = 0
    if memchr(state.cards, sleeper, state.laid) == NULL:
        return 0
    read_layout(state, &layout)
    spread_from(&layout, joint, box)
    list_filled(state, filled)
    for place in range(state.laid):
        if state.cards[place] == sleeper and has_cell(box, filled[place]):
            cells[count] = filled[place]
            count += 1
    return count


cdef bint joints_for_toy(const State* state, uint64_t* joints) noexcept nogil:
    # The joints of boxes that hold a cat of the active seat, or no cats. Returns False if there are none.
    cdef Layout layout
    cdef uint64_t found = 0
    cdef int word
    read_layout(state, &layout)
    spread(layout.own, layout.joined_east, layout.joined_south, layout.first, layout.end)
    spread(layout.others, layout.joined_east, layout.joined_south, layout.first, layout.end)
    for word in range(WORDS):
        joints[word] = free_joints(&layout, word) & (layout.own[word] | ~layout.others[word])
        found |= joints[word]
    return found != 0


# Score

cdef inline int root_of(uint8_t* parent, int place) noexcept nogil:
    while parent[place] != place:
        parent[place] = parent[parent[place]]
        place = parent[place]
    return place


cdef int read_boxes(const State* state, Box* boxes, uint8_t* box_of) noexcept nogil:
    # All boxes by their lowest cell, and the number of each card's box. Returns the number of boxes.
    cdef uint8_t parent[MAX_CARDS]
    cdef uint8_t number[MAX_CARDS]
    cdef uint16_t cells[MAX_CARDS]
    cdef uint8_t place_of[CELLS]  # 1 + the place of the card in a cell
    cdef uint8_t open_edges[MAX_CARDS]  # the card has an open edge without a neighbour
    cdef int place, cell, walls, other, count = 0, there, root, i = 0
    cdef int contents[4]
    cdef Box* box
    clear(place_of, sizeof(place_of))
    list_filled(state, cells)
    for place in range(state.laid):
        place_of[cells[place]] = place + 1
        parent[place] = place
    for place in range(state.laid):
        cell = cells[place]
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
    clear(number, sizeof(number))
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
            if state.cards[place] & WOKEN:
                box.woken[owner_of(state.cards[place])] += 1
            else:
                box.asleep[owner_of(state.cards[place])] += 1
        if state.joints[i] == 0 or state.joints[i] & CELL != cells[place]:
            continue
        there = state.joints[i] >> JOINT_SHIFT
        i += 1
        if there >= TOY_THERE:
            box.toys[there - TOY_THERE] += 2
        elif is_cat(there):
            box.awake[there - AWAKE] += 1
    for place in range(count):
        award(state, &boxes[place])
    return count


cdef void award(const State* state, Box* box) noexcept nogil:
    # The majority of a box, and its points.
    cdef int seat, cats, strength, strongest = 0
    for seat in range(state.players):
        cats = box.awake[seat] + box.woken[seat]
        if cats == 0:
            continue
        strength = 2 * cats - (box.woken[seat] if state.variants & HALF_SLEEPERS else 0)
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
    cdef Box boxes[MAX_CARDS]
    cdef uint8_t box_of[MAX_CARDS]
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
