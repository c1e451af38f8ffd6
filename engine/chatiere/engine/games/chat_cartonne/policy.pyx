"""Chat Cartonne: the playout policy. The weight of an action depends on a few of its features."""

from libc.stdint cimport uint64_t
from libc.string cimport memset

from .state cimport (
    AWAKE, CAT, CELL, CELLS, DRAW_ID, EAST, FIRST_CARTON_ID, FIRST_CAT_ID, FIRST_PRINCESS_IN_CELL_ID,
    FIRST_PRINCESS_ON_JOINT_ID, FIRST_SLEEP_ID, FIRST_TOY_AS_CARTON_ID, FIRST_TOY_ON_JOINT_ID, IDS_OF_SLOT, JOINT_SHIFT,
    MAX_LISTED, NORTH, PLAY, SOUTH, TOY, TOY_THERE, TURN, TURNED, WEST, WORDS, Layout, State, contents_of, has_cell,
    list_filled, on_joint, owner_of, place_at, read_layout, spread, spread_from, to_east, to_north, to_south, to_west,
    walls_of,
)

# If the scores of two actions differ by 4, the action with the higher score is twice as likely. The weights were found
# by CMA-ES in paired games (docs/bots.md). examples/tune_playouts.py searches for better weights.
PLAYOUT_WEIGHTS = {
    "decisions": 4,  # the number of decisions of a playout that use the policy; later ones are uniform. 255 means all
    "draw": 19,  # a card is drawn
    "sleep": -6,  # a cat is laid asleep
    "joint": 28,  # a carton forms a joint
    "own": 15,  # it joins a box with a cat of the active seat
    "others": -6,  # it joins a box with cats of other seats only
    "own_toys": 10,  # for each toy that it adds to a box with a cat of the active seat
    "own_sprayers": -2,  # for each sprayer that it adds to such a box
    "others_toys": 9,  # for each toy that it adds to a box with cats of other seats only
    "others_sprayers": 0,  # for each sprayer that it adds to such a box
    "cat": 15,  # a cat follows
    "cat_points": 20,  # for each point of the cat's box
    "crowd": 6,  # for each cat of the active seat that is already in the box
    "princess": 8,  # the Princess takes the place of another seat's cat
    "own_princess": -5,  # the Princess takes the place of a cat of the active seat
    "toy": 11,  # a toy card lies in a box with a cat of the active seat
}
cdef Weights WEIGHTS = PLAYOUT_WEIGHTS

ctypedef struct Places:
    # Sets of cells for a card with given walls: where it would form a joint, where it would join a box with a cat of
    # the active seat, and where it would join a box with cats of other seats only.
    uint64_t joint[WORDS]
    uint64_t own[WORDS]
    uint64_t others[WORDS]


def pack_weights(weights):
    """Convert a dict of weights by name to the kernel's struct."""
    cdef Weights packed = weights
    return (<const char*> &packed)[:sizeof(Weights)]


cdef void find_boxes(const State* state, Layout* layout) noexcept nogil:
    # Compute the layout, with its sets `own` and `others` extended to whole boxes.
    cdef int word
    read_layout(state, layout)
    spread(layout.own, layout.joined_east, layout.joined_south, layout.first, layout.end)
    spread(layout.others, layout.joined_east, layout.joined_south, layout.first, layout.end)
    for word in range(layout.first, layout.end):
        layout.others[word] &= ~layout.own[word]


cdef void find_places(const Layout* layout, int walls, Places* places) noexcept nogil:
    cdef Places near  # the cards that are open on the side examined
    cdef int word
    memset(places, 0, sizeof(Places))
    memset(&near, 0, sizeof(Places))
    if not walls & EAST:
        keep(layout, layout.west, &near)
        for word in range(WORDS):
            places.joint[word] |= to_west(near.joint, word)
            places.own[word] |= to_west(near.own, word)
            places.others[word] |= to_west(near.others, word)
    if not walls & WEST:
        keep(layout, layout.east, &near)
        for word in range(WORDS):
            places.joint[word] |= to_east(near.joint, word)
            places.own[word] |= to_east(near.own, word)
            places.others[word] |= to_east(near.others, word)
    if not walls & SOUTH:
        keep(layout, layout.north, &near)
        for word in range(WORDS):
            places.own[word] |= to_north(near.own, word)
            places.others[word] |= to_north(near.others, word)
    if not walls & NORTH:
        keep(layout, layout.south, &near)
        for word in range(WORDS):
            places.own[word] |= to_south(near.own, word)
            places.others[word] |= to_south(near.others, word)


cdef inline void keep(const Layout* layout, const uint64_t* walls, Places* near) noexcept nogil:
    # Keep the cards without these walls.
    cdef int word
    for word in range(layout.first, layout.end):
        near.joint[word] = layout.cartons[word] & ~walls[word]
        near.own[word] = layout.own[word] & ~walls[word]
        near.others[word] = layout.others[word] & ~walls[word]


cdef int advise_cartons(
    const State* state, const Weights* by, const uint16_t* ids, int count, int16_t* scores
) noexcept nogil:
    # Score the cartons. Their ids are first in the list. Returns the number of these ids.
    cdef Layout layout
    cdef Places places
    cdef int[4] contents
    cdef int i, first = -1, card, own = 0, others = 0, cell
    find_boxes(state, &layout)
    for i in range(count):
        if ids[i] < FIRST_CARTON_ID or ids[i] >= FIRST_SLEEP_ID:
            return i
        if first < 0 or ids[i] >= first + CELLS:
            # Another card, or the same card turned.
            first = ids[i] - (ids[i] - FIRST_CARTON_ID) % CELLS
            card = state.seats[state.active].hand[(first - FIRST_CARTON_ID) // IDS_OF_SLOT]
            contents_of(card, contents)
            if (first - FIRST_CARTON_ID) % IDS_OF_SLOT:
                card |= TURNED
            find_places(&layout, walls_of(card), &places)
            own = contents[0] + contents[1] + contents[2]
            others = by.others + by.others_toys * own + by.others_sprayers * contents[3]
            own = by.own + by.own_toys * own + by.own_sprayers * contents[3]
        cell = ids[i] - first
        scores[i] = by.joint * has_cell(places.joint, cell)
        scores[i] += own * has_cell(places.own, cell) + others * has_cell(places.others, cell)
    return count


cdef int score_cat(const State* state, const Weights* by) noexcept nogil:
    # Return the score of laying a cat after the carton just played, on either joint.
    cdef Layout layout
    cdef uint64_t[WORDS] box
    cdef uint16_t[MAX_LISTED] cells
    cdef int[4] sums
    cdef int[4] contents
    cdef int place, joint = 0, there, own = 0, i
    read_layout(state, &layout)
    spread_from(&layout, state.just_played, box)
    list_filled(state, cells)
    memset(sums, 0, sizeof(sums))
    for place in range(state.laid):
        if has_cell(box, cells[place]):
            contents_of(state.cards[place], contents)
            for i in range(4):
                sums[i] += contents[i]
    while state.joints[joint]:
        there = state.joints[joint] >> JOINT_SHIFT
        if has_cell(box, state.joints[joint] & CELL):
            if there >= TOY_THERE:
                sums[there - TOY_THERE] += 2
            own += there == AWAKE + state.active
        joint += 1
    return by.cat + by.crowd * own + by.cat_points * (max(sums[0], max(sums[1], sums[2])) - sums[3])


cdef void advise_toys(
    const State* state, const Weights* by, const uint16_t* ids, int count, int16_t* scores
) noexcept nogil:
    cdef Layout layout
    cdef int i
    if ids[0] < FIRST_TOY_AS_CARTON_ID:
        find_boxes(state, &layout)
        for i in range(count):
            if ids[i] >= FIRST_TOY_AS_CARTON_ID:
                break
            scores[i] = by.toy * has_cell(layout.own, ids[i] - FIRST_TOY_ON_JOINT_ID)


cdef int score_princess(const State* state, const Weights* by, int action) noexcept nogil:
    cdef int owner
    if action < FIRST_PRINCESS_IN_CELL_ID:
        owner = on_joint(state, action - FIRST_PRINCESS_ON_JOINT_ID) - AWAKE
    else:
        owner = owner_of(state.cards[place_at(state, action - FIRST_PRINCESS_IN_CELL_ID)])
    return by.own_princess if owner == state.active else by.princess


cdef void advise(
    const void* body, const void* weights, const uint16_t* ids, int count, int16_t* scores
) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef const Weights* by = <const Weights*> weights
    cdef int done = 0, cat, i
    memset(scores, 0, count * sizeof(int16_t))
    if state.phase == CAT:
        cat = score_cat(state, by)
        for i in range(1, count):
            scores[i] = cat
    elif state.phase == TOY:
        advise_toys(state, by, ids, count, scores)
    elif state.phase == PLAY or state.phase == TURN:
        if ids[0] >= FIRST_CARTON_ID:
            done = advise_cartons(state, by, ids, count, scores)
        for i in range(done, count):
            if ids[i] == DRAW_ID:
                scores[i] = by.draw
            elif FIRST_SLEEP_ID <= ids[i] < FIRST_CAT_ID:
                scores[i] = by.sleep
            elif ids[i] >= FIRST_PRINCESS_ON_JOINT_ID:
                scores[i] = score_princess(state, by, ids[i])
