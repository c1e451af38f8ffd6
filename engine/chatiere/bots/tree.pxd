# The trees of a search: nodes, the choice of a child, and the backup of returns.
from libc.stdint cimport uint16_t, uint32_t, uint64_t

from chatiere.engine.core.operations cimport Operations

cdef enum:
    # No node. It is the parent of a root, and the end of a list of children.
    NONE = 0
    # A return is reduced by 1 / DISCOUNT_PARTS for each decision before the end of the game, up to MAX_DISCOUNTED
    # decisions.
    DISCOUNT_PARTS = 2048
    MAX_DISCOUNTED = 64
    # The maximum and default number of nodes in a tree. A node uses 48 bytes with two players, and 80 bytes with six.
    MAX_NODES = 524_288

ctypedef struct Node:
    uint32_t parent
    uint32_t first  # the child with the lowest action
    uint32_t next  # the sibling with the next higher action
    uint32_t visits
    uint32_t available  # the visits of the parent at which this action was legal, since the node was added
    uint16_t action
    double prior  # 1 if the search has no priors, or computes them in each world


ctypedef struct Forest:
    # The nodes of all trees. Node 0 is not used (NONE), and the root of tree i is node i + 1.
    const Operations* ops
    int players
    double exploration
    bint with_priors  # True to choose by PUCT, False to choose by UCB1
    bint advised  # True if the priors are the playout policy's, computed in each world
    double noise  # the fraction of noise in the priors at the roots, 0 … 1
    bint even_roots  # True if roots choose the action with the fewest visits
    uint32_t max_nodes  # the maximum in a tree, although its root always has a child for each legal action
    uint32_t* sizes  # the number of nodes of each tree
    Py_ssize_t trees
    uint32_t used
    uint32_t capacity
    Node* nodes
    double* totals  # for each node, the sum of the returns of each seat

cdef inline double discount(uint64_t decisions) noexcept nogil:
    # Return the factor that discounts a return, so that an earlier win is worth more and a later loss costs less. The
    # factor has so few binary digits that the sum of a single winner's returns is exact.
    return 1.0 - <double> min(decisions, <uint64_t> MAX_DISCOUNTED) / DISCOUNT_PARTS

cdef bint reserve(Forest* forest, uint64_t count) noexcept nogil
cdef void release(Forest* forest) noexcept nogil
cdef uint32_t add_node(
    Forest* forest, Py_ssize_t tree, uint32_t parent, uint32_t before, uint16_t action
) noexcept nogil
cdef uint32_t pick(
    Forest* forest, uint32_t node, const uint16_t* ids, int count, int seat, const double* priors, const double* noise,
    int* missing,
) noexcept nogil
cdef bint has_room(const Forest* forest, Py_ssize_t tree, uint32_t node, int count) noexcept nogil
cdef uint32_t expand(Forest* forest, Py_ssize_t tree, uint32_t node, const uint16_t* ids, int place) noexcept nogil
cdef void expand_all(
    Forest* forest, Py_ssize_t tree, uint32_t node, const uint16_t* ids, int count, const double* priors,
    double sum_of_priors
) noexcept nogil
cdef void back_up(Forest* forest, uint32_t node, const double* returns, uint64_t decisions) noexcept nogil
cdef void back_up_end(Forest* forest, uint32_t node, const void* body, uint64_t decisions) noexcept nogil
