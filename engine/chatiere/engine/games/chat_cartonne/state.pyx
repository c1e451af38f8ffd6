"""Chat Cartonne: the constants of the packed state, and boxes and their score (rules file: "A turn", "Score").

States do not contain boxes. Boxes are computed when needed. A move needs only the box that it changes, if any, and the
table has few cards.
"""

from libc.stdint cimport uint8_t, uint16_t, uint64_t
from libc.string cimport memchr, memset

from chatiere.engine.core.clearing cimport clear

cdef enum:
    # The size of the grid that number_boxes uses.
    SPOTS_A_ROW = SIDE + 1
    SPOTS = (SIDE + 2) * SPOTS_A_ROW


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
            else:
                layout.princesses[word] |= bit
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
        elif there == PRINCESS_THERE:
            put_cell(layout.princesses, cell)
    for word in range(WORDS):
        open_west[word] = state.filled[word] & ~layout.west[word]
        open_north[word] = state.filled[word] & ~layout.north[word]
    for word in range(layout.first, layout.end):
        layout.joined_east[word] = state.filled[word] & ~layout.east[word] & to_west(open_west, word)
        layout.joined_south[word] = state.filled[word] & ~layout.south[word] & to_north(open_north, word)


# Boxes

cdef void spread_from(const Layout* layout, int cell, uint64_t* box) noexcept nogil:
    # Find the cells of the box that contains a cell.
    memset(box, 0, WORDS * sizeof(uint64_t))
    put_cell(box, cell)
    spread(box, layout.joined_east, layout.joined_south, layout.first, layout.end)


cdef bint cat_can_follow(const State* state, int cell, int place) noexcept nogil:
    # Return True if the active seat may lay a cat on a joint of the card in this cell. Both of the card's joints are in
    # the card's box.
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
    # List the cells where cats of the active seat sleep in the box of a joint, ascending. Returns the number of cells.
    cdef Layout layout
    cdef uint64_t box[WORDS]
    cdef uint16_t filled[MAX_LISTED]
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


cdef int ways_to_lay_toy(const State* state, uint64_t* joints) noexcept nogil:
    # Find the joints in boxes that have a cat of the active seat or no cats. Returns the legal ways to lay the toy.
    cdef Layout layout
    cdef uint64_t found = 0, vacant = 0
    cdef int word
    read_layout(state, &layout)
    spread(layout.own, layout.joined_east, layout.joined_south, layout.first, layout.end)
    spread(layout.others, layout.joined_east, layout.joined_south, layout.first, layout.end)
    for word in range(WORDS):
        joints[word] = free_joints(&layout, word) & (layout.own[word] | ~layout.others[word])
        found |= joints[word]
        layout.princesses[word] |= layout.own[word] | layout.others[word]
    if found == 0:
        return AS_CARTON
    # A box is vacant if it holds neither a cat nor a Princess.
    spread(layout.princesses, layout.joined_east, layout.joined_south, layout.first, layout.end)
    for word in range(layout.first, layout.end):
        vacant |= state.filled[word] & ~layout.princesses[word]
    return ON_JOINT if vacant else ON_JOINT | AS_CARTON


# Score

cdef int number_boxes(const State* state, uint8_t* box_of, uint8_t* is_open) noexcept nogil:
    # Compute two values for each card: the number of its box, and 1 if the card has an open edge next to an empty cell
    # (otherwise 0). Boxes are numbered in the order of their lowest cells. Returns the number of boxes. The code avoids
    # branches on walls, because these branches are unpredictable.
    cdef uint16_t cells[MAX_LISTED]
    # For each spot, the index of its card + 1, or 0 without a card. A row of spots is a row of cells followed by an
    # empty spot, so that cells at the border need no special case.
    cdef uint8_t places[SPOTS]
    cdef uint8_t walls[MAX_CARDS + 1]  # indexed by the values of `places`; entry 0, for no card, has all walls
    cdef const uint8_t* spot
    cdef int place, alone, missing, west, north, count = 0
    clear(places, sizeof(places))
    list_filled(state, cells)
    walls[0] = NORTH | EAST | SOUTH | WEST
    for place in range(state.laid):
        places[spot_of(cells[place])] = place + 1
        walls[place + 1] = walls_of(state.cards[place])
    for place in range(state.laid):
        spot = &places[spot_of(cells[place])]
        west = (spot - 1)[0]
        north = (spot - SPOTS_A_ROW)[0]
        missing = (north == 0) * NORTH | (spot[1] == 0) * EAST | (spot[SPOTS_A_ROW] == 0) * SOUTH | (west == 0) * WEST
        is_open[place] = missing & ~walls[place + 1] != 0
        # Set the neighbour's index to 0 unless the neighbour is joined to this card.
        west *= (walls[place + 1] & WEST | walls[west] & EAST) == 0
        north *= (walls[place + 1] & NORTH | walls[north] & SOUTH) == 0
        alone = west | north == 0
        box_of[place] = count if alone else box_of[max(west, north) - 1]
        count += alone
        if west and north and box_of[west - 1] != box_of[north - 1]:
            join(box_of, place + 1, box_of[west - 1], box_of[north - 1])
            count -= 1
    return count


cdef inline int spot_of(int cell) noexcept nogil:
    return SPOTS_A_ROW + cell + cell // SIDE


cdef inline void join(uint8_t* box_of, int cards, uint8_t box, uint8_t other) noexcept nogil:
    # Merge two boxes of the first `cards` cards. The merged box gets the lower number.
    cdef uint8_t lower = min(box, other), higher = max(box, other)
    cdef int place
    for place in range(cards):
        box_of[place] = lower if box_of[place] == higher else <uint8_t> (box_of[place] - (box_of[place] > higher))


cdef int read_boxes(const State* state, Box* boxes, uint8_t* box_of) noexcept nogil:
    # Compute all boxes, ordered by lowest cell, and the number of each card's box. Returns the number of boxes.
    cdef uint8_t is_open[MAX_CARDS]
    cdef int count = number_boxes(state, box_of, is_open), place, other, there, i = 0
    cdef int contents[4]
    cdef Box* box
    memset(boxes, 0, count * sizeof(Box))
    for place in range(count):
        boxes[place].closed = 1
    for place in range(state.laid):
        box = &boxes[box_of[place]]
        box.size += 1
        box.closed &= is_open[place] ^ 1
        contents_of(state.cards[place], contents)
        for other in range(3):
            box.toys[other] += contents[other]
        box.sprayers += contents[3]
        if is_sleeper(state.cards[place]):
            if state.cards[place] & WOKEN:
                box.woken[owner_of(state.cards[place])] += 1
            else:
                box.asleep[owner_of(state.cards[place])] += 1
    while state.joints[i]:
        box = &boxes[box_of[place_at(state, state.joints[i] & CELL)]]
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
    # Determine the majority of a box and its points.
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
    # Compute each seat's total and negative points. Negative points are the number of sprayers in the boxes whose
    # points the seat got. Sprayers in closed boxes count twice.
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


# Functions for the description

def walls(int card):
    """Return the walls of a card, encoded as in State.cards, as a set of the bits NORTH, EAST, SOUTH and WEST."""
    return walls_of(card)


def contents(int card):
    """Return the numbers of mice, balls, fish and sprayers printed on a card."""
    cdef int printed[4]
    contents_of(card, printed)
    return [number for number in printed]


def part_sizes(int players, int variants):
    """Return the number of cards in each part of the pile before the first draw, including Princesses."""
    cdef State state
    memset(&state, 0, sizeof(State))
    state.players = players
    state.variants = variants
    return [part_size(&state, part) for part in range(part_count(&state))]
