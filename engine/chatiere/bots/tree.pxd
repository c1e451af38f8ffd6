# The trees of a search: nodes, the choice of a child, and the backup of returns.
from libc.stdint cimport uint16_t, uint32_t, uint64_t

from chatiere.engine.core.game cimport Operations

cdef enum:
    # No node: the parent of a root, the end of a list of children.
    NONE = 0
    # A return is reduced by one part in DISCOUNT_PARTS for each decision before the end of the game, up to a maximum.
    DISCOUNT_PARTS = 2048
    MAX_DISCOUNTED = 64
    # Nodes of a tree, at most and by default: 48 to 80 bytes each, of two to six players.
    MAX_NODES = 524_288

ctypedef struct Node:
    uint32_t parent
    uint32_t first  # the child with the lowest action
    uint32_t next  # the sibling with the next higher action
    uint32_t visits
    uint32_t available  # how often its action was legal at its parent, from the visit that added it on
    uint16_t action
    double prior  # 1 without priors


ctypedef struct Forest:
    # The nodes of all trees: 0 is no node, tree i has its root at i + 1.
    const Operations* ops
    int players
    double exploration
    bint with_priors
    double noise  # the part of priors at the roots that is noise, 0 … 1
    bint even_roots  # at roots the action with the fewest visits is next
    uint32_t max_nodes  # the largest number in a tree, except that its root always has a child for each legal action
    uint32_t* sizes  # the number of nodes of each tree
    Py_ssize_t trees
    uint32_t used
    uint32_t capacity
    Node* nodes
    double* totals  # for each node, the sum of the returns of each seat

cdef inline double discount(uint64_t decisions) noexcept nogil:
    # The discount of a return: an earlier win is worth more, a later loss costs less. It has few enough binary digits
    # that the sum of a single winner's returns is exact.
    return 1.0 - <double> min(decisions, <uint64_t> MAX_DISCOUNTED) / DISCOUNT_PARTS

cdef uint64_t bytes_in_use() noexcept nogil
cdef bint reserve(Forest* forest, uint64_t count) noexcept nogil
cdef void release(Forest* forest) noexcept nogil
cdef uint32_t add_node(
    Forest* forest, Py_ssize_t tree, uint32_t parent, uint32_t before, uint16_t action
) noexcept nogil
cdef uint32_t pick(
    Forest* forest, uint32_t node, const uint16_t* ids, int count, int seat, const double* noise, int* missing
) noexcept nogil
cdef bint has_room(const Forest* forest, Py_ssize_t tree, uint32_t node, int count) noexcept nogil
cdef uint32_t expand(Forest* forest, Py_ssize_t tree, uint32_t node, const uint16_t* ids, int place) noexcept nogil
cdef void expand_all(
    Forest* forest, Py_ssize_t tree, uint32_t node, const uint16_t* ids, int count, const double* priors,
    double sum_of_priors
) noexcept nogil
cdef void back_up(Forest* forest, uint32_t node, const double* returns, uint64_t decisions) noexcept nogil
cdef void back_up_end(Forest* forest, uint32_t node, const void* body, uint64_t decisions) noexcept nogil
