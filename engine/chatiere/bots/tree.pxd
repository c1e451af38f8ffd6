# The trees of a search: nodes, the choice among their children, and what is backed up.
from libc.stdint cimport uint16_t, uint32_t, uint64_t

from chatiere.engine.core.game cimport Operations

cdef enum:
    # No node: the parent of a root, the end of a list of children.
    NONE = 0

ctypedef struct Node:
    uint32_t parent
    uint32_t first  # the child with the lowest action
    uint32_t next  # the sibling with the next higher action
    uint32_t visits
    uint32_t available  # how often its action was legal at its parent, from the visit that added it on
    uint16_t action
    double prior


ctypedef struct Forest:
    # The nodes of all trees: 0 is none, tree i has its root at i + 1.
    const Operations* ops
    int players
    double exploration
    bint with_priors
    uint32_t used
    uint32_t capacity
    Node* nodes
    double* totals  # of the returns of each seat, for each node

cdef bint reserve(Forest* forest, uint64_t count) noexcept nogil
cdef uint32_t add_node(Forest* forest, uint32_t parent, uint32_t before, uint16_t action) noexcept nogil
cdef uint32_t pick(
    Forest* forest, uint32_t node, const uint16_t* ids, int count, int seat, int* missing
) noexcept nogil
cdef uint32_t expand(Forest* forest, uint32_t node, const uint16_t* ids, int place) noexcept nogil
cdef void expand_all(
    Forest* forest, uint32_t node, const uint16_t* ids, int count, const double* priors, double sum_of_priors
) noexcept nogil
cdef void back_up(Forest* forest, uint32_t node, const double* returns) noexcept nogil
cdef void back_up_end(Forest* forest, uint32_t node, const void* body) noexcept nogil
