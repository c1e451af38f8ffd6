"""Monte Carlo tree search in games with hidden information: many games at a time, without the GIL.

The search is ISMCTS with a single observer (Cowling, Powley, Whitehouse 2012, "Information set Monte Carlo tree
search"): a tree for each decision, for the seat that has to act, whose simulations each play in a world of their own.
A child of a node is an action, whoever makes it and whatever the acting seat sees of it: actions of the others that it
could not tell apart have children of their own, and what chance brings has none. So the legal actions at a node differ
from world to world, and a child is compared by how often its action was available there, not by how often its node was
visited. A node keeps the returns of all seats, and the seat to act in the world chooses by its own.
"""

from math import isfinite
from numbers import Real
from time import monotonic
from typing import NamedTuple

import numpy as np

from libc.math cimport INFINITY, NAN, log, sqrt
from libc.stdint cimport UINT32_MAX, int8_t, uint8_t, uint16_t, uint32_t, uint64_t, uintptr_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memset

from chatiere.engine.core.errors import EngineError, Reason
from chatiere.engine.core.integers import column_of, shown

from chatiere.engine.core.game cimport (
    BODY_WORDS,
    CHANCE,
    CHANCE_IS_PENDING,
    GAME_IS_OVER,
    MAX_LEGAL,
    MAX_SEATS,
    OK,
    OTHER_PLAYERS,
    TERMINAL,
    VIEW_WORDS,
    Operations,
    debug_assert,
    seat_at,
)
from chatiere.engine.core.integers cimport read_number
from chatiere.engine.core.moves cimport advised_playout, weigh_actions
from chatiere.engine.core.packed cimport Header, check_packed
from chatiere.engine.core.position cimport Game
from chatiere.engine.core.stream cimport Stream, stream_at, walk_weights

cdef enum:
    # So that the offsets of legal ids fit into 32 bits in every game.
    MAX_TREES = 524_288
    # Worlds are asked for so many at a time: for each tree, and for all trees but at least one for each.
    WORLDS_OF_TREE = 64
    WORLDS_AT_ONCE = 65_536
    # No node: the parent of a root, the end of a list of children.
    NONE = 0
    # Faults of worlds beside those of the engine.
    OTHER_ACTOR = -1
    OTHER_LEGAL_ACTIONS = -2

MAX_SIMULATIONS = 1_000_000


class Leaves(NamedTuple):
    """The leaves that m of the trees have reached in a round, as arrays:

    `observations` uint8 (m, observation_length): of the seat to act. `actors` int8 (m,): that seat.
    `legal_offsets` uint32 (m + 1,): leaf i has the legal ids from legal_offsets[i] to before legal_offsets[i + 1].
    `legal_ids` uint16: dense ids of the legal actions, ascending.
    """

    observations: object
    actors: object
    legal_offsets: object
    legal_ids: object


class SearchColumns(NamedTuple):
    """The results of n trees, as arrays:

    `legal_offsets` uint32 (n + 1,): tree i has the legal ids from legal_offsets[i] to before legal_offsets[i + 1].
    `legal_ids` uint16: dense ids of the legal actions at the roots, ascending.
    `visits` uint32, for each legal id: the number of simulations that chose it; those of a tree sum to its simulations.
    `values` float64, for each legal id: the mean return of the seat to act over these; NaN without any.
    `moves` uint64 (n,): the number of decisions made in the tree and in playouts.
    """

    legal_offsets: object
    legal_ids: object
    visits: object
    values: object
    moves: object


# Trees

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


cdef bint reserve(Forest* forest, uint64_t count) noexcept nogil:
    # Reserve space for `count` more nodes.
    cdef uint64_t capacity = forest.used + count
    cdef Node* nodes
    cdef double* totals
    if capacity <= forest.capacity:
        return True
    capacity = max(capacity, 2 * <uint64_t> forest.capacity)
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
    forest.capacity = capacity
    return True


cdef uint32_t add_node(Forest* forest, uint32_t parent, uint32_t before, uint16_t action) noexcept nogil:
    # Add a child after its sibling `before` (NONE: as the first one), or a root, if `parent` is NONE.
    cdef uint32_t number = forest.used
    cdef Node* node = &forest.nodes[number]
    debug_assert(number < forest.capacity)
    forest.used += 1
    memset(node, 0, sizeof(Node))
    memset(forest.totals + <size_t> number * forest.players, 0, forest.players * sizeof(double))
    node.parent = parent
    node.available = 1
    node.action = action
    if parent != NONE:
        node.next = forest.nodes[parent].first if before == NONE else forest.nodes[before].next
        if before == NONE:
            forest.nodes[parent].first = number
        else:
            forest.nodes[before].next = number
    return number


cdef inline double mean_of(const Forest* forest, uint32_t node, int seat) noexcept nogil:
    # The mean return of a seat, scaled to 0 … 1.
    cdef double total = forest.totals[<size_t> node * forest.players + seat]
    return (total / forest.nodes[node].visits + 1.0) / forest.players


cdef uint32_t pick(
    const Forest* forest, uint32_t node, const uint16_t* ids, int count, int seat, int* missing
) noexcept nogil:
    # Returns the child that `seat` chooses among the legal actions: by UCB1, or with priors by PUCT, where a child
    # without visits counts as much as the node; of equals the lowest action. `missing`: the number of legal actions
    # that have no child; if there are any, what is returned means nothing.
    cdef Node* nodes = forest.nodes
    cdef uint32_t child = nodes[node].first, best = NONE, last_available = 0
    cdef double score, best_score = -INFINITY, last_logarithm = 0.0
    cdef double mean = mean_of(forest, node, seat) if nodes[node].visits else 0.0
    cdef int found = 0, i = 0
    while child != NONE and i < count:
        if nodes[child].action < ids[i]:
            child = nodes[child].next
            continue
        if nodes[child].action == ids[i]:
            if found < i:
                pass
            elif forest.with_priors:
                score = mean_of(forest, child, seat) if nodes[child].visits else mean
                score += (
                    forest.exploration * nodes[child].prior * sqrt(nodes[child].available) / (1.0 + nodes[child].visits)
                )
            else:
                # Most siblings have been available equally often.
                if nodes[child].available != last_available:
                    last_available = nodes[child].available
                    last_logarithm = log(last_available)
                score = mean_of(forest, child, seat)
                score += forest.exploration * sqrt(last_logarithm / nodes[child].visits)
            if found == i and score > best_score:
                best_score = score
                best = child
            nodes[child].available += 1
            found += 1
            child = nodes[child].next
        i += 1
    missing[0] = count - found
    return best


cdef uint32_t expand(Forest* forest, uint32_t node, const uint16_t* ids, int place) noexcept nogil:
    # Add a child for one of the legal actions that have none: the one at `place` among these.
    cdef Node* nodes = forest.nodes
    cdef uint32_t child = nodes[node].first, before = NONE
    cdef int i = 0
    while True:
        while child != NONE and nodes[child].action < ids[i]:
            before = child
            child = nodes[child].next
        if child == NONE or nodes[child].action != ids[i]:
            if place == 0:
                return add_node(forest, node, before, ids[i])
            place -= 1
        i += 1


cdef int draw_missing(
    const Forest* forest, uint32_t node, const void* body, const uint16_t* ids, int count, Stream* stream
) noexcept nogil:
    # Draw one of the legal actions that have no child, by the playout policy. Returns its place among these.
    cdef uint32_t likelihoods[MAX_LEGAL]
    cdef uint32_t child = forest.nodes[node].first
    cdef int missing = 0, i
    weigh_actions(forest.ops, body, ids, count, likelihoods)
    for i in range(count):
        while child != NONE and forest.nodes[child].action < ids[i]:
            child = forest.nodes[child].next
        if child == NONE or forest.nodes[child].action != ids[i]:
            likelihoods[missing] = likelihoods[i]
            missing += 1
    return walk_weights(stream, likelihoods, missing)


cdef void expand_all(
    Forest* forest, uint32_t node, const uint16_t* ids, int count, const double* priors, double sum_of_priors
) noexcept nogil:
    # Add a child for each legal action that has none.
    cdef uint32_t child = forest.nodes[node].first, before = NONE
    cdef int i
    for i in range(count):
        while child != NONE and forest.nodes[child].action < ids[i]:
            before = child
            child = forest.nodes[child].next
        if child == NONE or forest.nodes[child].action != ids[i]:
            before = add_node(forest, node, before, ids[i])
            forest.nodes[before].prior = priors[i] / sum_of_priors


cdef void back_up(Forest* forest, uint32_t node, const double* returns) noexcept nogil:
    # Count a visit with the returns of all seats, from a leaf up to the root.
    cdef double* totals
    cdef int seat
    while node != NONE:
        forest.nodes[node].visits += 1
        totals = forest.totals + <size_t> node * forest.players
        for seat in range(forest.players):
            totals[seat] += returns[seat]
        node = forest.nodes[node].parent


cdef void back_up_end(Forest* forest, uint32_t node, const void* body) noexcept nogil:
    # The same with the returns of a game that is over.
    cdef uint8_t ranks[MAX_SEATS]
    cdef double returns[MAX_SEATS]
    cdef int winners = 0, seat
    forest.ops.ranks(body, ranks)
    for seat in range(forest.players):
        winners += ranks[seat] == 1
    for seat in range(forest.players):
        returns[seat] = <double> forest.players / winners - 1.0 if ranks[seat] == 1 else -1.0
    back_up(forest, node, returns)


# Worlds

ctypedef struct Roots:
    # What is the same in all worlds of a tree.
    int8_t* actors
    uint32_t* legal_offsets
    uint16_t* legal_ids


ctypedef struct Worlds:
    # Worlds from number `first` on, `count` for each tree, and the fault of one that has one, or OK.
    const uint8_t* packed
    Py_ssize_t packed_size
    Py_ssize_t trees
    uint32_t first
    uint32_t count
    int fault
    Py_ssize_t faulty_tree
    uint32_t faulty_world


cdef bint open_world(const Forest* forest, Worlds* worlds, Py_ssize_t tree, uint32_t number, void* body) noexcept nogil:
    # Copy a world's body and check it. False if the world has a fault.
    cdef const uint8_t* packed = worlds.packed + (tree * worlds.count + number - worlds.first) * worlds.packed_size
    cdef Header header
    cdef int actor
    memcpy(&header, packed, sizeof(Header))
    memcpy(body, packed + sizeof(Header), forest.ops.body_size)
    worlds.fault = check_packed(forest.ops, &header, body)
    if worlds.fault == OK and (<const uint8_t*> body)[0] != forest.players:
        worlds.fault = OTHER_PLAYERS
    if worlds.fault == OK:
        actor = forest.ops.actor(body)
        if actor == CHANCE:
            worlds.fault = CHANCE_IS_PENDING
        elif actor == TERMINAL:
            worlds.fault = GAME_IS_OVER
    if worlds.fault != OK:
        worlds.faulty_tree = tree
        worlds.faulty_world = number
        return False
    return True


cdef int open_at_root(
    const Forest* forest, const Roots* roots, Worlds* worlds, Py_ssize_t tree, uint32_t number, void* body,
    uint16_t* ids,
) noexcept nogil:
    # The same, with the legal actions. Returns their number, 0 if the world has a fault or is none of this root.
    cdef uint32_t offset = roots.legal_offsets[tree]
    cdef int count = roots.legal_offsets[tree + 1] - offset, i
    if not open_world(forest, worlds, tree, number, body):
        return 0
    if forest.ops.actor(body) != roots.actors[tree]:
        worlds.fault = OTHER_ACTOR
    elif forest.ops.legal_actions(body, ids) != count:
        worlds.fault = OTHER_LEGAL_ACTIONS
    else:
        for i in range(count):
            if ids[i] != roots.legal_ids[offset + i]:
                worlds.fault = OTHER_LEGAL_ACTIONS
    if worlds.fault != OK:
        worlds.faulty_tree = tree
        worlds.faulty_world = number
        return 0
    return count


cdef bint count_legal(const Forest* forest, Worlds* worlds, Roots* roots) noexcept nogil:
    # Fill the actors and offsets of the roots, which the first worlds decide. False if one has a fault.
    cdef uint64_t body[BODY_WORDS]
    cdef uint16_t ids[MAX_LEGAL]
    cdef Py_ssize_t tree
    roots.legal_offsets[0] = 0
    for tree in range(worlds.trees):
        if not open_world(forest, worlds, tree, worlds.first, body):
            return False
        roots.actors[tree] = forest.ops.actor(body)
        roots.legal_offsets[tree + 1] = roots.legal_offsets[tree] + forest.ops.legal_actions(body, ids)
    return True


cdef void list_legal(const Forest* forest, const Worlds* worlds, Roots* roots) noexcept nogil:
    # Fill their legal ids.
    cdef uint64_t body[BODY_WORDS]
    cdef uint16_t ids[MAX_LEGAL]
    cdef int count
    cdef Py_ssize_t tree
    for tree in range(worlds.trees):
        memcpy(body, worlds.packed + tree * worlds.count * worlds.packed_size + sizeof(Header), forest.ops.body_size)
        count = forest.ops.legal_actions(body, ids)
        memcpy(roots.legal_ids + roots.legal_offsets[tree], ids, count * sizeof(uint16_t))


# Simulations

cdef bint simulate(
    Forest* forest, const Roots* roots, Worlds* worlds, const uint64_t* seeds, uint64_t* moves
) noexcept nogil:
    # Run a simulation in each world, with a playout from the node that it adds. False if a world has a fault.
    cdef const Operations* ops = forest.ops
    cdef uint64_t body[BODY_WORDS]
    cdef uint16_t ids[MAX_LEGAL]
    cdef Stream stream
    cdef uint32_t number, node, child
    cdef Py_ssize_t tree
    cdef int actor, count, missing, fault
    for tree in range(worlds.trees):
        for number in range(worlds.first, worlds.first + worlds.count):
            count = open_at_root(forest, roots, worlds, tree, number, body, ids)
            if count == 0:
                return False
            actor = roots.actors[tree]
            stream = stream_at(seeds[tree], number, 0)
            node = tree + 1
            missing = 0
            while actor != TERMINAL and missing == 0:
                if node != tree + 1:
                    count = ops.legal_actions(body, ids)
                child = pick(forest, node, ids, count, actor, &missing)
                if missing:
                    child = expand(forest, node, ids, draw_missing(forest, node, body, ids, count, &stream))
                fault = ops.apply(body, forest.nodes[child].action, NULL)
                debug_assert(fault == OK)
                debug_assert(ops.check(body) == OK)
                actor = ops.settle(ops, body, &stream)
                moves[tree] += 1
                node = child
            moves[tree] += advised_playout(ops, body, &stream)
            back_up_end(forest, node, body)
    return True


ctypedef struct Reached:
    # The leaves of a round, and their nodes; the other columns are as in Leaves.
    uint32_t count
    uint32_t* nodes
    int8_t* actors
    uint8_t* observations
    uint32_t* legal_offsets
    uint16_t* legal_ids
    uint64_t capacity  # for legal ids


cdef bint reserve_ids(Reached* leaves) noexcept nogil:
    # Reserve space for any list of legal ids after those of the leaves so far.
    cdef uint64_t needed = <uint64_t> leaves.legal_offsets[leaves.count] + MAX_LEGAL
    cdef uint16_t* ids
    if needed <= leaves.capacity:
        return True
    needed = max(needed, 2 * leaves.capacity)
    ids = <uint16_t*> realloc(leaves.legal_ids, needed * sizeof(uint16_t))
    if ids == NULL:
        return False  # uncovered: memory does not run out in tests
    leaves.legal_ids = ids
    leaves.capacity = needed
    return True


cdef bint descend(
    Forest* forest, const Roots* roots, Worlds* worlds, uint32_t number, const uint64_t* seeds, uint64_t* moves,
    Reached* leaves,
) noexcept nogil:
    # Run down each tree in its world `number`, to a node where some legal action has no child, or to the end of the
    # game, which is backed up. False if a world has a fault; with the fault OK, if memory ran out.
    cdef const Operations* ops = forest.ops
    cdef uint64_t body[BODY_WORDS]
    cdef uint64_t view[VIEW_WORDS]
    cdef uint16_t ids[MAX_LEGAL]
    cdef Stream stream
    cdef uint32_t node, child
    cdef Py_ssize_t tree
    cdef int actor, count, missing, fault
    leaves.count = 0
    leaves.legal_offsets[0] = 0
    for tree in range(worlds.trees):
        count = open_at_root(forest, roots, worlds, tree, number, body, ids)
        if count == 0:
            return False
        actor = roots.actors[tree]
        stream = stream_at(seeds[tree], number, 0)
        node = tree + 1
        while actor != TERMINAL:
            if node != tree + 1:
                count = ops.legal_actions(body, ids)
            child = pick(forest, node, ids, count, actor, &missing)
            if missing:
                break
            fault = ops.apply(body, forest.nodes[child].action, NULL)
            debug_assert(fault == OK)
            debug_assert(ops.check(body) == OK)
            actor = ops.settle(ops, body, &stream)
            moves[tree] += 1
            node = child
        if actor == TERMINAL:
            back_up_end(forest, node, body)
            continue
        if not reserve_ids(leaves):
            return False  # uncovered: memory does not run out in tests
        memcpy(leaves.legal_ids + leaves.legal_offsets[leaves.count], ids, count * sizeof(uint16_t))
        ops.view(body, actor, view)
        ops.observe(view, actor, leaves.observations + <size_t> leaves.count * ops.observation_length)
        leaves.nodes[leaves.count] = node
        leaves.actors[leaves.count] = actor
        leaves.legal_offsets[leaves.count + 1] = leaves.legal_offsets[leaves.count] + count
        leaves.count += 1
    return True


cdef void learn(Forest* forest, const Reached* leaves, const double* priors, const double* values) noexcept nogil:
    # Add the children of the leaves, and back up the values, which are told from the seat to act on.
    cdef double returns[MAX_SEATS]
    cdef double sum_of_priors
    cdef uint32_t i, place
    cdef int distance
    for i in range(leaves.count):
        sum_of_priors = 0.0
        for place in range(leaves.legal_offsets[i], leaves.legal_offsets[i + 1]):
            sum_of_priors += priors[place]
        expand_all(
            forest,
            leaves.nodes[i],
            leaves.legal_ids + leaves.legal_offsets[i],
            leaves.legal_offsets[i + 1] - leaves.legal_offsets[i],
            priors + leaves.legal_offsets[i],
            sum_of_priors,
        )
        for distance in range(forest.players):
            returns[seat_at(leaves.actors[i], distance, forest.players)] = values[i * forest.players + distance]
        back_up(forest, leaves.nodes[i], returns)


cdef void put_results(
    const Forest* forest, const Roots* roots, Py_ssize_t trees, uint32_t* visits, double* values
) noexcept nogil:
    cdef const Node* node
    cdef uint32_t child, place
    cdef Py_ssize_t tree
    for tree in range(trees):
        child = forest.nodes[tree + 1].first
        for place in range(roots.legal_offsets[tree], roots.legal_offsets[tree + 1]):
            visits[place] = 0
            values[place] = NAN
            if child == NONE or forest.nodes[child].action != roots.legal_ids[place]:
                continue
            node = &forest.nodes[child]
            if node.visits:
                visits[place] = node.visits
                values[place] = forest.totals[<size_t> child * forest.players + roots.actors[tree]] / node.visits
            child = node.next


# Python

cdef inline void* data_of(array) except NULL:
    return <void*> <uintptr_t> array.ctypes.data


cdef object column(const void* data, size_t size, dtype):
    # A copy of a column as an array that nobody can write to.
    return np.frombuffer((<const char*> data)[:size], dtype)


cdef class _Trees:
    """The trees of a search, their roots and their worlds."""

    cdef Game game
    cdef Forest forest
    cdef Roots roots
    cdef Worlds worlds
    cdef Reached leaves
    cdef object evaluate
    # What the pointers above and below point to.
    cdef bytes packed
    cdef list arrays
    cdef object moves
    cdef const uint64_t* seed_data
    cdef uint64_t* move_data

    def __cinit__(self, Game game not None, int players, seeds, double exploration, evaluate):
        cdef Py_ssize_t trees = len(seeds), _
        self.game = game
        self.evaluate = evaluate
        self.arrays = [seeds]
        self.seed_data = <const uint64_t*> data_of(seeds)
        self.moves = np.zeros(trees, np.uint64)
        self.move_data = <uint64_t*> data_of(self.moves)
        self.worlds.trees = trees
        self.worlds.packed_size = game.packed_size
        self.roots.actors = <int8_t*> self.new_array(trees, np.int8)
        self.roots.legal_offsets = <uint32_t*> self.new_array(trees + 1, np.uint32)
        if evaluate is not None:
            self.leaves.nodes = <uint32_t*> self.new_array(trees, np.uint32)
            self.leaves.actors = <int8_t*> self.new_array(trees, np.int8)
            self.leaves.legal_offsets = <uint32_t*> self.new_array(trees + 1, np.uint32)
            self.leaves.observations = <uint8_t*> self.new_array(trees * game.observation_length, np.uint8)
        self.forest.ops = game.ops
        self.forest.players = players
        self.forest.exploration = exploration
        self.forest.with_priors = evaluate is not None
        self.reserve(trees + 1)
        self.forest.used = 1
        for _ in range(trees):
            add_node(&self.forest, NONE, NONE, 0)

    def __dealloc__(self):
        free(self.forest.nodes)
        free(self.forest.totals)
        free(self.leaves.legal_ids)

    cdef void* new_array(self, Py_ssize_t size, dtype) except NULL:
        self.arrays.append(np.empty(size, dtype))
        return data_of(self.arrays[-1])

    cdef int reserve(self, uint64_t count) except -1:
        if not reserve(&self.forest, count):
            raise MemoryError(f"no memory for {self.forest.used + count} nodes of trees")  # uncovered: as in `reserve`
        return 0

    cdef int run(self, worlds, uint32_t simulations, milliseconds) except -1:
        cdef uint32_t done = 0
        cdef uint32_t most = min(WORLDS_OF_TREE, max(1, WORLDS_AT_ONCE // self.worlds.trees))
        end = None if milliseconds is None else monotonic() + milliseconds / 1000
        while done < simulations:
            self.take_worlds(worlds, done, min(most, simulations - done))
            if done == 0:
                self.find_roots()
            if self.evaluate is None:
                self.simulate()
                done += self.worlds.count
            while self.evaluate is not None and done < self.worlds.first + self.worlds.count:
                self.run_round(done)
                done += 1
                if end is not None and monotonic() >= end:
                    break
            if end is not None and monotonic() >= end:
                break
        return 0

    cdef int take_worlds(self, worlds, uint32_t first, uint32_t count) except -1:
        # Copies them, so that nobody can change what has been checked.
        shape = (self.worlds.trees, count, self.worlds.packed_size)
        size = self.worlds.trees * count * self.worlds.packed_size
        given = worlds(count)
        self.packed = b""
        if isinstance(given, (bytes, bytearray, memoryview)):
            self.packed = bytes(given)
        elif isinstance(given, np.ndarray) and given.dtype == np.uint8 and given.shape in (shape, (size,)):
            self.packed = given.tobytes()
        if len(self.packed) != size:
            found = f"{len(self.packed)} bytes" if isinstance(given, (bytes, bytearray, memoryview)) else shown(given)
            raise EngineError(
                Reason.INVALID_BATCH,
                f"worlds({count}) must return uint8 {shape}, {size} bytes, not {found}",
                field="worlds",
            )
        self.worlds.packed = <const uint8_t*> <const char*> self.packed
        self.worlds.first = first
        self.worlds.count = count
        return 0

    cdef int find_roots(self) except -1:
        # Takes the actors and legal actions of the first worlds for those of the roots, and evaluates these.
        cdef bint done
        with nogil:
            done = count_legal(&self.forest, &self.worlds, &self.roots)
        if not done:
            self.refuse_world()
        self.roots.legal_ids = <uint16_t*> self.new_array(self.roots.legal_offsets[self.worlds.trees], np.uint16)
        with nogil:
            list_legal(&self.forest, &self.worlds, &self.roots)
        if self.evaluate is not None:
            self.run_round(0)
        return 0

    cdef int simulate(self) except -1:
        cdef bint done
        self.reserve(self.worlds.trees * self.worlds.count)
        with nogil:
            done = simulate(&self.forest, &self.roots, &self.worlds, self.seed_data, self.move_data)
        if not done:
            self.refuse_world()
        return 0

    cdef int run_round(self, uint32_t number) except -1:
        cdef const double* priors
        cdef const double* values
        cdef bint done
        with nogil:
            done = descend(
                &self.forest, &self.roots, &self.worlds, number, self.seed_data, self.move_data, &self.leaves
            )
        if not done:
            self.refuse_world()
        if self.leaves.count == 0:
            return 0
        told_priors, told_values = self.ask()
        priors = <const double*> data_of(told_priors)
        values = <const double*> data_of(told_values)
        self.reserve(self.leaves.legal_offsets[self.leaves.count])
        with nogil:
            learn(&self.forest, &self.leaves, priors, values)
        return 0

    cdef tuple ask(self):
        # The priors and values of the leaves, checked.
        cdef size_t count = self.leaves.count, legal = self.leaves.legal_offsets[count]
        cdef Py_ssize_t length = self.game.observation_length
        offsets = column(self.leaves.legal_offsets, (count + 1) * sizeof(uint32_t), np.uint32)
        judged = self.evaluate(
            Leaves(
                column(self.leaves.observations, count * length, np.uint8).reshape(count, length),
                column(self.leaves.actors, count, np.int8),
                offsets,
                column(self.leaves.legal_ids, legal * sizeof(uint16_t), np.uint16),
            )
        )
        if not isinstance(judged, tuple) or len(judged) != 2:
            raise EngineError(
                Reason.INVALID_BATCH, f"evaluate must return (priors, values), not {shown(judged)}", field="evaluate"
            )
        priors = read_reals("priors", judged[0], (legal,))
        if priors.min() < 0:
            place = int(priors.argmin())
            raise EngineError(
                Reason.INVALID_BATCH, f"priors[{place}] must be 0 or more, not {priors[place]}", field="priors"
            )
        with np.errstate(over="ignore"):
            sums = np.add.reduceat(priors, offsets[:-1])
        if not ((sums > 0) & np.isfinite(sums)).all():
            place = int(np.argmin((sums > 0) & np.isfinite(sums)))
            raise EngineError(
                Reason.INVALID_BATCH,
                f"the priors of leaf {place} must have a sum above 0, not {sums[place]}",
                field="priors",
            )
        return priors, read_reals("values", judged[1], (count, self.forest.players))

    cdef int refuse_world(self) except -1:
        cdef int fault = self.worlds.fault
        if fault == OK:
            raise MemoryError()  # uncovered: memory does not run out in tests
        if fault == OTHER_ACTOR:
            reason, message, field, rule = Reason.INVALID_BATCH, "another seat has to act than in world 0", "", ""
        elif fault == OTHER_LEGAL_ACTIONS:
            reason, message, field, rule = Reason.INVALID_BATCH, "other actions are legal than in world 0", "", ""
        else:
            text = self.game.fault_text(fault)
            reason, message, field, rule = text.reason, text.message, text.field, text.rule
        error = EngineError(
            reason,
            f"world {self.worlds.faulty_world} of tree {self.worlds.faulty_tree}: {message}",
            field=field,
            rule=rule,
        )
        error.lies_below(f"worlds[{self.worlds.faulty_tree}][{self.worlds.faulty_world}]")
        raise error

    cdef object results(self):
        cdef Py_ssize_t trees = self.worlds.trees
        cdef size_t legal = self.roots.legal_offsets[trees]
        visits = np.empty(legal, np.uint32)
        values = np.empty(legal, np.float64)
        put_results(&self.forest, &self.roots, trees, <uint32_t*> data_of(visits), <double*> data_of(values))
        return SearchColumns(
            column(self.roots.legal_offsets, (trees + 1) * sizeof(uint32_t), np.uint32),
            column(self.roots.legal_ids, legal * sizeof(uint16_t), np.uint16),
            visits,
            values,
            self.moves,
        )


cdef object read_reals(name, given, shape):
    # An array of finite float64. Raises EngineError: INVALID_BATCH.
    try:
        array = np.ascontiguousarray(given, np.float64)
    except (TypeError, ValueError) as error:
        raise EngineError(Reason.INVALID_BATCH, f"{name} must be numbers: {error}", field=name) from error
    if array.shape != shape:
        raise EngineError(Reason.INVALID_BATCH, f"{name} must have the shape {shape}, not {array.shape}", field=name)
    if not np.isfinite(array).all():
        place = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise EngineError(
            Reason.INVALID_BATCH, f"{name}{list(place)} must be finite, not {array[place]}", field=name
        )
    return array


def read_exploration(value):
    """Return a finite number from 0 on as a float. Raises EngineError: INVALID_BATCH."""
    if not isinstance(value, Real) or not isfinite(value) or value < 0:
        raise EngineError(
            Reason.INVALID_BATCH, f"exploration must be a finite number from 0 on, not {shown(value)}",
            field="exploration",
        )
    return float(value)


def read_simulations(value):
    """Return a number of simulations, 1 … MAX_SIMULATIONS, as an int. Raises EngineError: INVALID_BATCH."""
    return read_number("simulations", value, 1, MAX_SIMULATIONS)


def search(
    Game game not None, players, seeds, worlds, *, simulations, exploration, evaluate=None, milliseconds=None
):
    """Search n positions, each for the seat that has to act, and return SearchColumns.

    `players`: the number of seats. `seeds`: uint64 (n,). A tree depends on its seed and its worlds alone, not on the
    other trees.

    `worlds`: a function that returns the next `count` worlds of each tree for `worlds(count)`: packed states drawn for
    the seat to act, uint8 (n, count, packed_size), as an array or as bytes. They are checked, and must all have the
    seat to act and the legal actions of the tree's first one. Their random streams are not used: what chance brings is
    drawn from the tree's seed. It is called again and again for a few worlds; what it raises ends the search.

    `simulations`: the simulations of each tree, 1 … 1,000,000. `milliseconds`: end the search earlier, after the
    round in which so much time is up; its results then depend on the machine, too. None: no limit of time.

    Without `evaluate` a simulation adds one action to the tree, drawn by the game's playout policy, and plays out by it
    (docs/bots.md); among actions all of which were tried a seat chooses by UCB1: mean + exploration × √(ln available /
    visits), with the mean return scaled to 0 … 1.

    With `evaluate` a simulation ends where some legal action has not been met before. `evaluate(leaves)` is called once
    a round, with the Leaves of all trees, and returns (priors, values): for each legal id a number from 0 on, of which
    each leaf's are scaled to sum to 1, and float (m, players), the returns expected for the seats, from the seat to act
    clockwise. A seat chooses by PUCT: mean + exploration × prior × √available / (1 + visits), with the mean of the node
    for an action without visits. The roots are evaluated once more, before the first simulation.

    Memory: 32 + 8 × players bytes a node, at most as much again in reserve, and the worlds of a call. There is a node
    for each simulation or, with `evaluate`, for each legal action of a leaf.

    Raises EngineError: INVALID_PLAYERS, INVALID_BATCH, and those of a broken world.
    """
    cdef _Trees trees
    cdef int seats = game.read_players(players)
    cdef uint32_t budget = read_simulations(simulations)
    constant = read_exploration(exploration)
    if milliseconds is not None and not (
        isinstance(milliseconds, Real) and isfinite(milliseconds) and milliseconds > 0
    ):
        raise EngineError(
            Reason.INVALID_BATCH, f"milliseconds must be a finite number above 0, not {shown(milliseconds)}",
            field="milliseconds",
        )
    seed_bytes = bytes(column_of("seeds", seeds, sizeof(uint64_t)))
    if len(seed_bytes) % sizeof(uint64_t) or not 1 <= len(seed_bytes) // sizeof(uint64_t) <= MAX_TREES:
        raise EngineError(
            Reason.INVALID_BATCH,
            f"seeds must be uint64 (n,), 8 bytes for each of 1 to {MAX_TREES} trees, not {len(seed_bytes)} bytes",
            field="seeds",
        )
    trees = _Trees(game, seats, np.frombuffer(seed_bytes, "<u8"), constant, evaluate)
    trees.run(worlds, budget, milliseconds)
    return trees.results()
