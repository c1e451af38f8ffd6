"""Chat perché: the ways in the tree, and where cats and birds may go (rules file: "Components", "Moving a cat")."""

from libc.stdint cimport uint64_t

from chatiere.engine.games.chat_perche.state cimport (
    BIRD,
    BRANCHES,
    BRANCH_SPACES,
    FALL,
    LARGEST_VALUE,
    SECOND_MOVE,
    SPACES,
    START,
    TRUNK_LIMIT,
    TRUNK_SPACES,
    State,
    animals,
    birds_beside,
    branch_of,
    branch_spaces,
    card_colour,
    cats_at_start,
    count_spaces,
    is_broken,
    lowest_space,
    space_bit,
    trunk,
)


cdef enum:
    STEPS_AT_MOST = LARGEST_VALUE + 1

# Where a move may end by its steps alone: [forward only][from; 45: the start][steps at most]. Written once, below.
cdef uint64_t REACH[2][SPACES + 1][STEPS_AT_MOST]


# The tree

cdef int distance(int start, int end) noexcept nogil:
    # Steps on the one way between two spaces of the tree, or from a start space (45) to one.
    cdef int height = 0, out = 0, end_height = end, end_out = 0
    if end >= TRUNK_SPACES:
        end_height = branch_of(end) % TRUNK_SPACES
        end_out = (end - TRUNK_SPACES) % BRANCH_SPACES + 1
    if start == START:
        return end_height + 1 + end_out
    if start >= TRUNK_SPACES:
        out = (start - TRUNK_SPACES) % BRANCH_SPACES + 1
        if end >= TRUNK_SPACES and branch_of(start) == branch_of(end):
            return abs(end_out - out)
        height = branch_of(start) % TRUNK_SPACES
    else:
        height = start
    return out + abs(end_height - height) + end_out


cdef bint is_forward(int start, int end) noexcept nogil:
    # Whether the way goes up the trunk and outward only.
    if start == START:
        return True
    if start >= TRUNK_SPACES:
        return end > start and branch_of(start) == branch_of(end)
    return (end if end < TRUNK_SPACES else branch_of(end) % TRUNK_SPACES) >= start


cdef void write_reach() noexcept:
    cdef int start, end, steps
    for start in range(SPACES + 1):
        for end in range(SPACES):
            for steps in range(1, STEPS_AT_MOST):
                if 0 < distance(start, end) <= steps:
                    REACH[0][start][steps] |= space_bit(end)
                    if is_forward(start, end):
                        REACH[1][start][steps] |= space_bit(end)


write_reach()


# Where birds and cats may go

cdef uint64_t spaces_in_play(const State* state) noexcept nogil:
    # The trunk and the branches that are not broken.
    cdef uint64_t spaces = space_bit(SPACES) - 1
    cdef int branch
    if state.broken:
        for branch in range(BRANCHES):
            if is_broken(state, branch):
                spaces &= ~branch_spaces(branch)
    return spaces


cdef uint64_t bird_spaces(const State* state) noexcept nogil:
    # Where a bird may go; none if there is no bird.
    return spaces_in_play(state) & ~animals(state) & ~trunk() if birds_beside(state) else 0


cdef bint second_cat_needs_company(const State* state) noexcept nogil:
    # The first-moved cat has fallen: it lies under the others on its start space and is not the one that moves.
    return state.phase == SECOND_MOVE and state.moved == 0


cdef bint start_cat_may_move(const State* state, int colour) noexcept nogil:
    return cats_at_start(state, colour) > second_cat_needs_company(state)


cdef bint trunk_is_full(const State* state, int colour, int start) noexcept nogil:
    # Two other cats of the colour stand there.
    return count_spaces(state.cats[colour] & trunk()) - (start < TRUNK_SPACES) >= TRUNK_LIMIT


cdef uint64_t ends_of_moves(const State* state, int colour, int start, uint64_t free) noexcept nogil:
    # Where a cat at `start` may end; `free`: the spaces in play without an animal.
    cdef uint64_t ends = REACH[state.forward_only][start][state.steps] & free
    return ends & ~trunk() if trunk_is_full(state, colour, start) else ends


cdef bint some_move_possible(const State* state) noexcept nogil:
    cdef int colour = card_colour(state.card, state.active)
    cdef uint64_t cats = state.cats[colour] & ~(state.barred | state.moved)
    cdef uint64_t free = spaces_in_play(state) & ~animals(state)
    if start_cat_may_move(state, colour) and ends_of_moves(state, colour, START, free):
        return True
    while cats:
        if ends_of_moves(state, colour, lowest_space(cats), free):
            return True
        cats &= cats - 1
    return False


# When a seat is asked

cdef bint is_asked(const State* state) noexcept nogil:
    # Whether the active seat has a choice about the card that it has turned up.
    if state.phase == BIRD:
        return bird_spaces(state) != 0
    if state.phase == FALL:
        return state.cats[card_colour(state.card, state.active)] != 0
    return some_move_possible(state)
