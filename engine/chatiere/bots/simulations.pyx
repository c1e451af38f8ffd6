"""Simulations of a tree search in given worlds, for many trees at a time."""

from libc.math cimport NAN
from libc.stdint cimport UINT32_MAX, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport realloc
from libc.string cimport memcpy, memset

from chatiere.bots.integer_network cimport Net, judge
from chatiere.bots.tree cimport NONE, Node, back_up, back_up_end, expand, expand_all, has_room, pick, reserve
from chatiere.engine.core.cancellation cimport must_end
from chatiere.engine.core.moves cimport advised_playout, weigh_actions
from chatiere.engine.core.operations cimport (
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
from chatiere.engine.core.packed cimport Header, check_packed
from chatiere.engine.core.stream cimport Stream, number_below, stream_at, walk_weights

# Worlds

cdef bint open_world(const Forest* forest, Worlds* worlds, Py_ssize_t tree, uint32_t number, void* body) noexcept nogil:
    # Copy a world's body and check it. Returns False if the world has a fault.
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
    # Load a world with `open_world`, and list its legal actions. Returns their number, or 0 if the world has a fault or
    # its actor or legal actions differ from the root's.
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
    # Fill the actors and offsets of the roots from each tree's first world. Returns False if one of these worlds has a
    # fault.
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
    # Fill the legal ids of the roots from each tree's first world.
    cdef uint64_t body[BODY_WORDS]
    cdef uint16_t ids[MAX_LEGAL]
    cdef int count
    cdef Py_ssize_t tree
    for tree in range(worlds.trees):
        memcpy(body, worlds.packed + tree * worlds.count * worlds.packed_size + sizeof(Header), forest.ops.body_size)
        count = forest.ops.legal_actions(body, ids)
        memcpy(roots.legal_ids + roots.legal_offsets[tree], ids, count * sizeof(uint16_t))


# Noise

cdef enum:
    # The sum of the parameters of the Dirichlet distribution. AlphaZero uses about the same sum.
    CONCENTRATION = 10
    NOISE_DRAWS = 1024


cdef void draw_noise(const Forest* forest, Roots* roots, Py_ssize_t trees, const uint64_t* seeds) noexcept nogil:
    # Fill the noise of all roots. The noise of an action is its share of the draws from a Pólya urn. These shares
    # approximate a Dirichlet distribution, and drawing them needs only integers. For UCB1, where each prior is 1, the
    # shares are scaled to a mean of 1.
    cdef uint16_t drawn[NOISE_DRAWS]
    cdef double* noise
    cdef Stream stream
    cdef uint64_t number
    cdef Py_ssize_t tree
    cdef int count, i
    for tree in range(trees):
        # No simulation has a stream with this number.
        stream = stream_at(seeds[tree], UINT32_MAX, 0)
        noise = roots.noise + roots.legal_offsets[tree]
        count = roots.legal_offsets[tree + 1] - roots.legal_offsets[tree]
        memset(noise, 0, count * sizeof(double))
        for i in range(NOISE_DRAWS):
            number = number_below(&stream, CONCENTRATION + i)
            drawn[i] = number_below(&stream, count) if number < CONCENTRATION else drawn[number - CONCENTRATION]
            noise[drawn[i]] += 1.0 / NOISE_DRAWS
        for i in range(count):
            noise[i] *= forest.noise if forest.with_priors else forest.noise * count


cdef inline const double* noise_of(const Roots* roots, Py_ssize_t tree, uint32_t node) noexcept nogil:
    # Only roots have noise.
    if roots.noise == NULL or node != tree + 1:
        return NULL
    return roots.noise + roots.legal_offsets[tree]


# Simulations

cdef int draw_missing(
    const Forest* forest, uint32_t node, const void* body, const uint16_t* ids, int count, Stream* stream
) noexcept nogil:
    # Draw one of the legal actions without a child, by the playout policy. Returns its index among these actions.
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


cdef enum:
    # The percentage of the priors that is spread evenly over the legal actions.
    EVEN_PERCENTAGE = 10


cdef void find_priors(
    const Operations* ops, const void* body, const uint16_t* ids, int count, double* priors
) noexcept nogil:
    # Compute the priors of the legal actions in a world from the playout policy. They sum to 1.
    cdef uint32_t likelihoods[MAX_LEGAL]
    cdef double total = weigh_actions(ops, body, ids, count, likelihoods)
    cdef int i
    for i in range(count):
        priors[i] = (1.0 - EVEN_PERCENTAGE / 100.0) * likelihoods[i] / total + EVEN_PERCENTAGE / 100.0 / count


cdef uint32_t find_child(
    Forest* forest, Py_ssize_t tree, uint32_t node, const void* body, const uint16_t* ids, int count, int seat,
    const double* noise, Stream* stream,
) noexcept nogil:
    # Return the child that `seat` chooses in a world. Children that the node lacks are added: with the policy's priors
    # all of them, otherwise one, which is the choice. Returns NONE if the tree has no room for them.
    cdef double priors[MAX_LEGAL]
    cdef uint32_t child
    cdef int missing
    if forest.advised:
        find_priors(forest.ops, body, ids, count, priors)
        if has_room(forest, tree, node, count):
            expand_all(forest, tree, node, ids, count, NULL, 1.0)
        child = pick(forest, node, ids, count, seat, priors, noise, &missing)
        return NONE if missing else child
    child = pick(forest, node, ids, count, seat, NULL, noise, &missing)
    if missing == 0:
        return child
    if not has_room(forest, tree, node, 1):
        return NONE
    return expand(forest, tree, node, ids, draw_missing(forest, node, body, ids, count, stream))


cdef bint simulate(
    Forest* forest, const Roots* roots, Worlds* worlds, const uint64_t* seeds, uint64_t* moves, Control* control
) noexcept nogil:
    # Run a simulation in each world. Each simulation ends with a playout from the first node that had no visits. If the
    # tree has no room for a node's children, the playout begins at this node. Returns False if a world has a fault, the
    # search was cancelled or memory ran out. In the last two cases, worlds.fault is OK.
    cdef const Operations* ops = forest.ops
    cdef uint64_t body[BODY_WORDS]
    cdef uint16_t ids[MAX_LEGAL]
    cdef Stream stream
    cdef uint64_t decisions
    cdef uint32_t number, node, child
    cdef Py_ssize_t tree
    cdef int actor, count, fault
    for tree in range(worlds.trees):
        for number in range(worlds.first, worlds.first + worlds.count):
            if must_end(control):
                return False
            count = open_at_root(forest, roots, worlds, tree, number, body, ids)
            if count == 0:
                return False
            actor = roots.actors[tree]
            stream = stream_at(seeds[tree], number, 0)
            node = tree + 1
            while actor != TERMINAL and (node == tree + 1 or forest.nodes[node].visits):
                if node != tree + 1:
                    count = ops.legal_actions(body, ids)
                if not reserve(forest, count):
                    return False  # uncovered: memory does not run out in tests
                child = find_child(
                    forest, tree, node, body, ids, count, actor, noise_of(roots, tree, node), &stream
                )
                if child == NONE:
                    break
                fault = ops.apply(body, forest.nodes[child].action, NULL)
                debug_assert(fault == OK)
                debug_assert(ops.check(body) == OK)
                actor = ops.settle(ops, body, &stream)
                moves[tree] += 1
                node = child
            decisions = advised_playout(ops, body, &stream)
            moves[tree] += decisions
            back_up_end(forest, node, body, decisions)
    return True


cdef bint reserve_ids(Reached* leaves) noexcept nogil:
    # Reserve space for the longest list of legal ids after the lists of the leaves so far.
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


cdef int descend(
    Forest* forest, const Roots* roots, Worlds* worlds, Py_ssize_t tree, uint32_t number, const uint64_t* seeds,
    uint64_t* moves, Leaf* leaf,
) noexcept nogil:
    # Descend a tree in its world `number` to a node where some legal action has no child. Returns the number of legal
    # actions at that node. Returns 0 if the world has a fault, or if the game ended on the way. In the latter case, it
    # backs up the result.
    cdef const Operations* ops = forest.ops
    cdef Stream stream = stream_at(seeds[tree], number, 0)
    cdef uint32_t child
    cdef int count = open_at_root(forest, roots, worlds, tree, number, leaf.body, leaf.ids), fault
    if count == 0:
        return 0
    leaf.tree = tree
    leaf.node = tree + 1
    leaf.actor = roots.actors[tree]
    while leaf.actor != TERMINAL:
        if leaf.node != tree + 1:
            count = ops.legal_actions(leaf.body, leaf.ids)
        child = pick(
            forest, leaf.node, leaf.ids, count, leaf.actor, NULL, noise_of(roots, tree, leaf.node), &leaf.missing
        )
        if leaf.missing:
            return count
        fault = ops.apply(leaf.body, forest.nodes[child].action, NULL)
        debug_assert(fault == OK)
        debug_assert(ops.check(leaf.body) == OK)
        leaf.actor = ops.settle(ops, leaf.body, &stream)
        moves[tree] += 1
        leaf.node = child
    back_up_end(forest, leaf.node, leaf.body, 0)
    return 0


cdef inline void observe(const Forest* forest, const Leaf* leaf, uint8_t* observation) noexcept nogil:
    # Write the acting seat's observation. It contains no information that is hidden from this seat.
    cdef uint64_t view[VIEW_WORDS]
    forest.ops.view(leaf.body, leaf.actor, view)
    forest.ops.observe(view, leaf.actor, observation)


cdef void learn_leaf(
    Forest* forest, const Leaf* leaf, const uint16_t* ids, int count, const double* priors, double sum_of_priors,
    const double* values,
) noexcept nogil:
    # Back up the values of a leaf, and add its children if the tree has room for them. `values` has one number for each
    # seat, clockwise from the seat to act.
    cdef double returns[MAX_SEATS]
    cdef int distance
    if has_room(forest, leaf.tree, leaf.node, leaf.missing):
        expand_all(forest, leaf.tree, leaf.node, ids, count, priors, sum_of_priors)
    for distance in range(forest.players):
        returns[seat_at(leaf.actor, distance, forest.players)] = values[distance]
    back_up(forest, leaf.node, returns, 0)


cdef bint simulate_by_network(
    Forest* forest, const Roots* roots, Worlds* worlds, uint32_t count, const uint64_t* seeds, uint64_t* moves,
    const Net* net, uint8_t* observation, Control* control,
) noexcept nogil:
    # Run a simulation in each of the first `count` worlds. The network evaluates the leaf of each simulation. Returns
    # False if a world has a fault, the search was cancelled or memory ran out. In the last two cases, worlds.fault is
    # OK. `observation` is a buffer for one observation.
    cdef Leaf leaf
    cdef double priors[MAX_LEGAL]
    cdef double values[MAX_SEATS]
    cdef double sum_of_priors
    cdef uint32_t number
    cdef Py_ssize_t tree
    cdef int legal
    for tree in range(worlds.trees):
        for number in range(worlds.first, worlds.first + count):
            if must_end(control):
                return False
            legal = descend(forest, roots, worlds, tree, number, seeds, moves, &leaf)
            if worlds.fault != OK:
                return False
            if legal == 0:
                continue
            if not reserve(forest, legal):
                return False  # uncovered: memory does not run out in tests
            observe(forest, &leaf, observation)
            sum_of_priors = judge(net, observation, leaf.ids, legal, priors, values)
            learn_leaf(forest, &leaf, leaf.ids, legal, priors, sum_of_priors, values)
    return True


cdef bint gather(
    Forest* forest, const Roots* roots, Worlds* worlds, uint32_t number, const uint64_t* seeds, uint64_t* moves,
    Reached* leaves,
) noexcept nogil:
    # Descend each tree in its world `number`, and store the leaves. Returns False if a world has a fault, or if memory
    # ran out. In the latter case, worlds.fault is OK.
    cdef const Operations* ops = forest.ops
    cdef Leaf leaf
    cdef Py_ssize_t tree
    cdef int legal
    leaves.count = 0
    leaves.legal_offsets[0] = 0
    for tree in range(worlds.trees):
        legal = descend(forest, roots, worlds, tree, number, seeds, moves, &leaf)
        if worlds.fault != OK:
            return False
        if legal == 0:
            continue
        if not reserve_ids(leaves):
            return False  # uncovered: memory does not run out in tests
        memcpy(leaves.legal_ids + leaves.legal_offsets[leaves.count], leaf.ids, legal * sizeof(uint16_t))
        observe(forest, &leaf, leaves.observations + <size_t> leaves.count * ops.observation_length)
        leaves.trees[leaves.count] = tree
        leaves.missing[leaves.count] = leaf.missing
        leaves.nodes[leaves.count] = leaf.node
        leaves.actors[leaves.count] = leaf.actor
        leaves.legal_offsets[leaves.count + 1] = leaves.legal_offsets[leaves.count] + legal
        leaves.count += 1
    return True


cdef void learn(Forest* forest, const Reached* leaves, const double* priors, const double* values) noexcept nogil:
    # Add the children of the leaves, and back up the values.
    cdef Leaf leaf
    cdef double sum_of_priors
    cdef uint32_t i, first, end, place
    for i in range(leaves.count):
        first, end = leaves.legal_offsets[i], leaves.legal_offsets[i + 1]
        sum_of_priors = 0.0
        for place in range(first, end):
            sum_of_priors += priors[place]
        leaf.tree = leaves.trees[i]
        leaf.missing = leaves.missing[i]
        leaf.node = leaves.nodes[i]
        leaf.actor = leaves.actors[i]
        learn_leaf(
            forest, &leaf, leaves.legal_ids + first, end - first, priors + first, sum_of_priors,
            values + i * forest.players,
        )


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
