# Chat perché: the ways in the tree, and where cats and birds may go.
from libc.stdint cimport uint8_t, uint64_t

from chatiere.engine.games.chat_perche.state cimport (
    BIRD,
    FALL,
    MAX_VALUE,
    SECOND_MOVE,
    SPACES,
    START,
    State,
    all_branches,
    animals,
    birds_beside,
    card_colour,
    cats_at_start,
    lowest_space,
    space_bit,
    trunk,
)

cdef enum:
    MAX_STEPS = MAX_VALUE + 1

# Steps from a space (45: the start) to another, and the spaces where a move may end by its steps alone:
# [forward only][from][steps at most]. Filled once, in tree.pyx.
cdef uint8_t DISTANCE[SPACES + 1][SPACES]
cdef uint64_t REACH[2][SPACES + 1][MAX_STEPS]


# Where birds and cats may go

cdef inline uint64_t free_spaces(const State* state) noexcept nogil:
    # The spaces without an animal, broken branches excepted.
    return (trunk() | all_branches()) & ~(state.broken | animals(state))

cdef inline uint64_t bird_spaces(const State* state) noexcept nogil:
    # The spaces where a bird may go; empty if no bird is left.
    return free_spaces(state) & ~trunk() if birds_beside(state) else 0

cdef inline bint second_cat_needs_company(const State* state) noexcept nogil:
    # The cat that moved first has fallen: it lies under the others at their start and must not move.
    return state.phase == SECOND_MOVE and state.moved == 0

cdef inline bint start_cat_may_move(const State* state, int colour) noexcept nogil:
    return cats_at_start(state, colour) > second_cat_needs_company(state)

cdef inline bint trunk_is_full(const State* state, int colour, int start) noexcept nogil:
    # Two other cats of the colour stand there.
    cdef uint64_t others = state.cats[colour] & trunk() & ~space_bit(start)
    return others & (others - 1) != 0

cdef inline uint64_t ends_of_moves(const State* state, int colour, int start, uint64_t free) noexcept nogil:
    # The spaces where a cat at `start` may end; `free`: what free_spaces returns.
    cdef uint64_t ends = REACH[state.forward_only][start][state.steps] & free
    return ends & ~trunk() if trunk_is_full(state, colour, start) else ends

cdef inline bint some_move_possible(const State* state) noexcept nogil:
    cdef int colour = card_colour(state.card, state.active)
    cdef uint64_t cats = state.cats[colour] & ~(state.barred | state.moved)
    cdef uint64_t free = free_spaces(state)
    if start_cat_may_move(state, colour) and ends_of_moves(state, colour, START, free):
        return True
    while cats:
        if ends_of_moves(state, colour, lowest_space(cats), free):
            return True
        cats &= cats - 1
    return False


# When a seat is asked

cdef inline bint is_asked(const State* state) noexcept nogil:
    # True if the active seat has a choice about the card that it has turned up.
    if state.phase == BIRD:
        return bird_spaces(state) != 0
    if state.phase == FALL:
        return state.cats[card_colour(state.card, state.active)] != 0
    return some_move_possible(state)
