"""Chat perché: the playout policy. The weight of an action depends on a few of its features."""

from libc.stdint cimport uint64_t

from .state cimport (
    BIRD, BRANCHES, FALL, FIRST_BIRD_ID, FIRST_FALL_ID, FIRST_MOVE_ID, MAX_SOLIDITY, PLACE, SPACES, START, TRUNK_SPACES,
    State, at_branch, branch_of, card_colour, count_at_branches,
)

# If the scores of two actions differ by 4, the action with the higher score is twice as likely. The weights were found
# by CMA-ES in paired games (docs/bots.md). examples/tune_playouts.py searches for better weights.
PLAYOUT_WEIGHTS = {
    "decisions": 4,  # the number of decisions of a playout that use the policy; later ones are uniform. 255 means all
    "enters": 39,  # a cat of the active seat enters the tree; negated for a cat of the other seat
    "breaks": 31,  # for each cat that the other seat loses in a break, minus the cats that the active seat loses
    "full": -19,  # for each cat of the active seat's lead on a branch that breaks under one more animal
    "nearly_full": -5,  # the same for a branch that breaks under two more animals
    "trunk": -14,  # a cat of the active seat ends on the trunk; negated for a cat of the other seat
    "stop": -45,  # no cat moves
}
cdef Weights WEIGHTS = PLAYOUT_WEIGHTS

ctypedef struct Gains:
    # The active seat's gain when an animal leaves each branch, or arrives on it.
    int leaves[BRANCHES]
    int comes[BRANCHES]


def pack_weights(weights):
    """Convert a dict of weights by name to the kernel's struct."""
    cdef Weights packed = weights
    return (<const char*> &packed)[:sizeof(Weights)]


cdef inline int branch_at(int space) noexcept nogil:
    # Return the branch of a space, or -1 for the trunk.
    return branch_of(space) if space >= TRUNK_SPACES else -1


cdef inline int danger(const Weights* by, int value, int load, int lead) noexcept nogil:
    # Return the score of a branch with this value and number of animals, given the active seat's lead in cats there.
    if value == MAX_SOLIDITY or load + 1 < value:
        return 0
    return lead * (by.full if load == value else by.nearly_full)


cdef void find_gains(const State* state, const Weights* by, int side, Gains* gains) noexcept nogil:
    # Compute the gains for an animal. `side` is 1 for the active seat's cat, -1 for the other seat's cat, and 0 for a
    # bird.
    cdef uint64_t own = count_at_branches(state.cats[state.active])
    cdef uint64_t others = count_at_branches(state.cats[state.active ^ 1])
    cdef uint64_t birds = count_at_branches(state.birds)
    cdef int branch, value, load, lead, before
    for branch in range(BRANCHES):
        value = at_branch(state.values, branch)
        lead = at_branch(own, branch) - at_branch(others, branch)
        load = at_branch(own, branch) + at_branch(others, branch) + at_branch(birds, branch)
        before = danger(by, value, load, lead)
        gains.leaves[branch] = danger(by, value, load - 1, lead - side) - before
        if load == value:
            gains.comes[branch] = -by.breaks * (lead + side) - before
        else:
            gains.comes[branch] = danger(by, value, load + 1, lead + side) - before


cdef void advise_moves(
    const State* state, const Weights* by, const uint16_t* ids, int count, int16_t* scores
) noexcept nogil:
    # Compute the scores of moves. The last id is Stop.
    cdef int side = 1 if card_colour(state.card, state.active) == state.active else -1
    cdef Gains gains
    cdef int16_t[SPACES] ends
    cdef int first, start, space, branch, leaving, i = 0
    find_gains(state, by, side, &gains)
    for space in range(TRUNK_SPACES):
        ends[space] = side * by.trunk
    for space in range(TRUNK_SPACES, SPACES):
        ends[space] = gains.comes[branch_of(space)]
    while i < count - 1:
        # Each iteration scores the moves of one cat.
        start = (ids[i] - FIRST_MOVE_ID) // SPACES
        first = FIRST_MOVE_ID + SPACES * start
        branch = branch_at(start) if start < START else -1
        if start == START:
            leaving = side * by.enters
        else:
            leaving = gains.leaves[branch] if branch >= 0 else -ends[start]
        while ids[i] < first + SPACES and i < count - 1:
            space = ids[i] - first
            # A move within a branch gains nothing.
            scores[i] = 0 if branch >= 0 and branch == branch_at(space) else leaving + ends[space]
            i += 1
    scores[i] = by.stop


cdef void advise(
    const void* body, const void* weights, const uint16_t* ids, int count, int16_t* scores
) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef const Weights* by = <const Weights*> weights
    cdef Gains gains
    cdef int space, i
    if state.phase == PLACE:
        for i in range(count):
            scores[i] = 0
    elif state.phase == BIRD:
        find_gains(state, by, 0, &gains)
        for i in range(count):
            scores[i] = gains.comes[branch_of(ids[i] - FIRST_BIRD_ID + TRUNK_SPACES)]
    elif state.phase == FALL:
        find_gains(state, by, 1 if card_colour(state.card, state.active) == state.active else -1, &gains)
        for i in range(count):
            space = ids[i] - FIRST_FALL_ID
            scores[i] = gains.leaves[branch_of(space)] if space >= TRUNK_SPACES else 0
    else:
        advise_moves(state, by, ids, count, scores)
