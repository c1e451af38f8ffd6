# The trees of a search: nodes, the choice among their children, and what is backed up.
from libc.stdint cimport uint16_t, uint32_t, uint64_t

from chatiere.engine.core.game cimport Operations

cdef enum:
    # No node: the parent of a root, the end of a list of children.
    NONE = 0
    # A return counts one part in so many less for each decision before the end of the game, up to a number of them.
    DISCOUNT_PARTS = 2048
    MAX_DISCOUNTED = 64

ctypedef struct Node:
    uint32_t parent
    uint32_t first  # the child with the lowest action
    uint32_t next  # the sibling with the next higher action
    uint32_t visits
    uint32_t available  # how often its action was legal at its parent, from the visit that added it on
    uint16_t action
    double prior  # 1 without priors


ctypedef struct Forest:
    # The nodes of all trees: 0 is none, tree i has its root at i + 1.
    const Operations* ops
    int players
    double exploration
    bint with_priors
    double noise  # the part of priors at the roots that is noise, 0 … 1
    bint even_roots  # at roots the action with the fewest visits is next
    uint32_t used
    uint32_t capacity
    Node* nodes
    double* totals  # of the returns of each seat, for each node

cdef inline double discount(uint64_t decisions) noexcept nogil:
    # What is left of a return: a win that comes sooner is worth more, a loss that comes later costs less. It has so few
    # binary digits that a sole winner's returns have an exact sum.
    return 1.0 - <double> min(decisions, <uint64_t> MAX_DISCOUNTED) / DISCOUNT_PARTS

cdef bint reserve(Forest* forest, uint64_t count) noexcept nogil
cdef uint32_t add_node(Forest* forest, uint32_t parent, uint32_t before, uint16_t action) noexcept nogil
cdef uint32_t pick(
    Forest* forest, uint32_t node, const uint16_t* ids, int count, int seat, const double* noise, int* missing
) noexcept nogil
cdef uint32_t expand(Forest* forest, uint32_t node, const uint16_t* ids, int place) noexcept nogil
cdef void expand_all(
    Forest* forest, uint32_t node, const uint16_t* ids, int count, const double* priors, double sum_of_priors
) noexcept nogil
cdef void back_up(Forest* forest, uint32_t node, const double* returns, uint64_t decisions) noexcept nogil
cdef void back_up_end(Forest* forest, uint32_t node, const void* body, uint64_t decisions) noexcept nogil
