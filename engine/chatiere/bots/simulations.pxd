# Simulations of a tree search in given worlds, for many trees at a time.
from libc.stdint cimport int8_t, uint8_t, uint16_t, uint32_t, uint64_t

from chatiere.bots.integer_network cimport Net
from chatiere.bots.tree cimport Forest
from chatiere.engine.core.cancellation cimport Control
from chatiere.engine.core.operations cimport BODY_WORDS, MAX_LEGAL

cdef enum:
    # The reasons to refuse a world, in addition to the engine's faults.
    OTHER_ACTOR = -1
    OTHER_LEGAL_ACTIONS = -2

ctypedef struct Roots:
    # The facts at each tree's root. They are the same in all worlds of the tree.
    int8_t* actors
    uint32_t* legal_offsets
    uint16_t* legal_ids
    double* noise  # the noise of each of legal_ids, or NULL without noise


ctypedef struct Worlds:
    # The worlds `first` … `first` + `count` - 1 of each tree. `fault` is OK, or the fault of the given faulty world.
    const uint8_t* packed
    Py_ssize_t packed_size
    Py_ssize_t trees
    uint32_t first
    uint32_t count
    int fault
    Py_ssize_t faulty_tree
    uint32_t faulty_world

ctypedef struct Leaf:
    # A node where some legal action has no child, and its state in the world of the simulation that reached it.
    uint64_t[BODY_WORDS] body
    uint16_t[MAX_LEGAL] ids  # the legal actions
    Py_ssize_t tree
    uint32_t node
    int actor
    int missing  # the number of legal actions that have no child


ctypedef struct Reached:
    # The leaves of a round. For each leaf, the first columns have the tree, the node, and the number of legal actions
    # without a child. Leaves describes the other columns.
    uint32_t count
    uint32_t* trees
    uint32_t* missing
    uint32_t* nodes
    int8_t* actors
    uint8_t* observations
    uint32_t* legal_offsets
    uint16_t* legal_ids
    uint64_t capacity  # the number of legal ids that fit into `legal_ids`

cdef bint count_legal(const Forest* forest, Worlds* worlds, Roots* roots) noexcept nogil
cdef void list_legal(const Forest* forest, const Worlds* worlds, Roots* roots) noexcept nogil
cdef void draw_noise(const Forest* forest, Roots* roots, Py_ssize_t trees, const uint64_t* seeds) noexcept nogil
cdef bint simulate(
    Forest* forest, const Roots* roots, Worlds* worlds, const uint64_t* seeds, uint64_t* moves, Control* control
) noexcept nogil
cdef bint simulate_by_network(
    Forest* forest, const Roots* roots, Worlds* worlds, uint32_t count, const uint64_t* seeds, uint64_t* moves,
    const Net* net, uint8_t* observation, Control* control,
) noexcept nogil
cdef bint gather(
    Forest* forest, const Roots* roots, Worlds* worlds, uint32_t number, const uint64_t* seeds, uint64_t* moves,
    Reached* leaves,
) noexcept nogil
cdef void learn(Forest* forest, const Reached* leaves, const double* priors, const double* values) noexcept nogil
cdef void put_results(
    const Forest* forest, const Roots* roots, Py_ssize_t trees, uint32_t* visits, double* values
) noexcept nogil
