"""The trees of a search: nodes, the choice of a child, and the backup of returns."""

from libc.math cimport INFINITY, sqrt
from libc.stdint cimport UINT32_MAX, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memset

from chatiere.engine.core.operations cimport MAX_LEGAL, MAX_SEATS, debug_assert

cdef extern from *:
    """
    /* The number of bytes allocated for the trees of all searches in this process. */
    static uint64_t chatiere_tree_bytes;
    #define ADD_TREE_BYTES(count) __atomic_add_fetch(&chatiere_tree_bytes, count, __ATOMIC_RELAXED)
    """
    uint64_t ADD_TREE_BYTES(uint64_t count) noexcept nogil


def tree_bytes():
    """Return the number of bytes that the trees of all searches in this process currently use."""
    return ADD_TREE_BYTES(0)


cdef inline uint64_t bytes_of(const Forest* forest, uint64_t capacity) noexcept nogil:
    return capacity * (sizeof(Node) + forest.players * sizeof(double))


cdef bint reserve(Forest* forest, uint64_t count) noexcept nogil:
    # Reserve space for `count` more nodes, or for all nodes that the trees may still get, whichever is less.
    cdef uint64_t most = 1 + <uint64_t> forest.trees * (forest.max_nodes + MAX_LEGAL)
    cdef uint64_t capacity = min(forest.used + count, most)
    cdef Node* nodes
    cdef double* totals
    if capacity <= forest.capacity:
        return True
    capacity = min(max(capacity, 2 * <uint64_t> forest.capacity), most)
    if capacity > UINT32_MAX:
        return False  # uncovered: needs more memory than tests have
    nodes = <Node*> realloc(forest.nodes, capacity * sizeof(Node))
    if nodes == NULL:
        return False  # uncovered: memory does not run out in tests
    forest.nodes = nodes
    totals = <double*> realloc(forest.totals, capacity * forest.players * sizeof(double))
    if totals == NULL:
        return False  # uncovered: memory does not run out in tests
    forest.totals = totals
    ADD_TREE_BYTES(bytes_of(forest, capacity - forest.capacity))
    forest.capacity = capacity
    return True


cdef void release(Forest* forest) noexcept nogil:
    # Free all nodes.
    free(forest.nodes)
    free(forest.totals)
    ADD_TREE_BYTES(-bytes_of(forest, forest.capacity))
    forest.nodes = NULL
    forest.totals = NULL
    forest.capacity = 0


cdef bint has_room(const Forest* forest, Py_ssize_t tree, uint32_t node, int count) noexcept nogil:
    # Return True if a node of a tree may get `count` more children. For a root, this is always True.
    return node == <uint32_t> tree + 1 or forest.sizes[tree] + <uint32_t> count <= forest.max_nodes


cdef uint32_t add_node(
    Forest* forest, Py_ssize_t tree, uint32_t parent, uint32_t before, uint16_t action
) noexcept nogil:
    # Add a child after its sibling `before`, or as the first child if `before` is NONE. If `parent` is NONE, add a
    # root.
    cdef uint32_t number = forest.used
    cdef Node* node = &forest.nodes[number]
    debug_assert(number < forest.capacity)
    forest.used += 1
    forest.sizes[tree] += 1
    memset(node, 0, sizeof(Node))
    memset(forest.totals + <size_t> number * forest.players, 0, forest.players * sizeof(double))
    node.parent = parent
    node.available = 1
    node.action = action
    node.prior = 1.0
    if parent != NONE:
        node.next = forest.nodes[parent].first if before == NONE else forest.nodes[before].next
        if before == NONE:
            forest.nodes[parent].first = number
        else:
            forest.nodes[before].next = number
    return number


cdef inline double mean_of(const Forest* forest, uint32_t node, int seat) noexcept nogil:
    # Return the mean return of a seat, scaled to 0 … 1.
    cdef double total = forest.totals[<size_t> node * forest.players + seat]
    return (total / forest.nodes[node].visits + 1.0) / forest.players


cdef double logarithm(uint32_t number) noexcept nogil:
    # Return the natural logarithm of a number, 1 or more, to nine digits. The logarithms of C libraries differ, but a
    # search must visit the same nodes everywhere. This function therefore uses only arithmetic operations, because IEEE
    # 754 rounds them in the same way on every processor.
    cdef double mantissa = number, square, odd
    cdef int exponent = 0
    while mantissa > 1.4142135623730951:  # √2
        mantissa *= 0.5
        exponent += 1
    odd = (mantissa - 1.0) / (mantissa + 1.0)
    square = odd * odd
    return exponent * 0.6931471805599453 + 2.0 * odd * (
        1.0 + square * (1.0 / 3.0 + square * (1.0 / 5.0 + square * (1.0 / 7.0 + square * (1.0 / 9.0))))
    )


cdef uint32_t pick(
    Forest* forest, uint32_t node, const uint16_t* ids, int count, int seat, const double* priors, const double* noise,
    int* missing,
) noexcept nogil:
    # Return the child that `seat` chooses among the legal actions. The seat chooses by UCB1. With priors, it chooses by
    # PUCT, where a child without visits has the value of the node. At even roots, it chooses the child with the fewest
    # visits. Among equals, it chooses the child with the lowest action. `priors` and `noise` have a number for each of
    # `ids`, or are NULL. Without `priors`, the nodes' own priors are used. Sets `missing` to the number of legal
    # actions without a child. If this number is not 0, the returned child is meaningless.
    cdef Node* nodes = forest.nodes
    cdef uint32_t child = nodes[node].first, best = NONE, last_available = 0
    cdef double score, prior, exploration, best_score = -INFINITY, last_logarithm = 0.0
    cdef double mean = mean_of(forest, node, seat) if nodes[node].visits else 0.0
    cdef bint is_even = forest.even_roots and nodes[node].parent == NONE
    cdef int found = 0, i = 0
    while child != NONE and i < count:
        if nodes[child].action < ids[i]:
            child = nodes[child].next
            continue
        if nodes[child].action == ids[i]:
            # Compute the score only while no action is missing, because the result is otherwise not used.
            if found == i:
                prior = nodes[child].prior if priors == NULL else priors[i]
                if noise != NULL:
                    prior = (1.0 - forest.noise) * prior + noise[i]
                exploration = forest.exploration * prior
                if is_even:
                    score = -<double> nodes[child].visits
                elif forest.with_priors:
                    score = mean_of(forest, child, seat) if nodes[child].visits else mean
                    score += exploration * sqrt(nodes[child].available) / (1.0 + nodes[child].visits)
                else:
                    # Reuse the last logarithm if possible, because most siblings were available equally often.
                    if nodes[child].available != last_available:
                        last_available = nodes[child].available
                        last_logarithm = logarithm(last_available)
                    score = mean_of(forest, child, seat)
                    score += exploration * sqrt(last_logarithm / nodes[child].visits)
                if score > best_score:
                    best_score = score
                    best = child
            nodes[child].available += 1
            found += 1
            child = nodes[child].next
        i += 1
    missing[0] = count - found
    return best


cdef uint32_t expand(Forest* forest, Py_ssize_t tree, uint32_t node, const uint16_t* ids, int place) noexcept nogil:
    # Add a child for the legal action at index `place` among the actions without a child.
    cdef Node* nodes = forest.nodes
    cdef uint32_t child = nodes[node].first, before = NONE
    cdef int i = 0
    while True:
        while child != NONE and nodes[child].action < ids[i]:
            before = child
            child = nodes[child].next
        if child == NONE or nodes[child].action != ids[i]:
            if place == 0:
                return add_node(forest, tree, node, before, ids[i])
            place -= 1
        i += 1


cdef void expand_all(
    Forest* forest, Py_ssize_t tree, uint32_t node, const uint16_t* ids, int count, const double* priors,
    double sum_of_priors
) noexcept nogil:
    # Add a child for each legal action without one. `priors` has a number for each of `ids`, or is NULL.
    cdef uint32_t child = forest.nodes[node].first, before = NONE
    cdef int i
    for i in range(count):
        while child != NONE and forest.nodes[child].action < ids[i]:
            before = child
            child = forest.nodes[child].next
        if child == NONE or forest.nodes[child].action != ids[i]:
            before = add_node(forest, tree, node, before, ids[i])
            if priors != NULL:
                forest.nodes[before].prior = priors[i] / sum_of_priors


cdef void back_up(Forest* forest, uint32_t node, const double* returns, uint64_t decisions) noexcept nogil:
    # Add a visit and the returns of all seats to each node from a leaf up to the root. The returns are due `decisions`
    # decisions after the leaf.
    cdef double discounted[MAX_SEATS]
    cdef double* totals
    cdef double left
    cdef uint32_t above = forest.nodes[node].parent
    cdef int seat
    while above != NONE:
        decisions += 1
        above = forest.nodes[above].parent
    left = discount(decisions)
    for seat in range(forest.players):
        discounted[seat] = returns[seat] * left
    while node != NONE:
        forest.nodes[node].visits += 1
        totals = forest.totals + <size_t> node * forest.players
        for seat in range(forest.players):
            totals[seat] += discounted[seat]
        node = forest.nodes[node].parent


cdef void back_up_end(Forest* forest, uint32_t node, const void* body, uint64_t decisions) noexcept nogil:
    # Back up the returns of a game that is over, as `back_up` does.
    cdef uint8_t ranks[MAX_SEATS]
    cdef double returns[MAX_SEATS]
    cdef int winners = 0, seat
    forest.ops.ranks(body, ranks)
    for seat in range(forest.players):
        winners += ranks[seat] == 1
    for seat in range(forest.players):
        returns[seat] = <double> forest.players / winners - 1.0 if ranks[seat] == 1 else -1.0
    back_up(forest, node, returns, decisions)
