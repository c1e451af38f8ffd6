"""Monte Carlo tree search in games with hidden information, for many games at a time and without the GIL.

The search is ISMCTS with a single observer (Cowling, Powley, Whitehouse 2012, "Information set Monte Carlo tree
search"). Each decision has a tree, built for the seat that has to act. Each simulation of a tree plays in a separate
world. A child of a node is an action of any seat. Actions of other seats have separate children even if the seat to act
could not distinguish them, and chance outcomes have no nodes. The legal actions at a node therefore differ between
worlds. For this reason, the exploration of a child does not depend on the visits of the node. It depends on the number
of visits in which the child's action was available. A node stores the returns of all seats. At each node, the acting
seat chooses by its own return.
"""

from math import isfinite
from numbers import Real
from time import monotonic
from typing import NamedTuple

import numpy as np

from libc.stdint cimport int8_t, uint8_t, uint16_t, uint32_t, uint64_t, uintptr_t
from libc.stdlib cimport free

from chatiere.engine.core.errors import EngineError, Reason
from chatiere.engine.core.integers import column_of, shown

from chatiere.bots.simulations cimport (
    OTHER_ACTOR,
    OTHER_LEGAL_ACTIONS,
    Reached,
    Roots,
    Worlds,
    count_legal,
    draw_noise,
    gather,
    learn,
    list_legal,
    put_results,
    simulate,
    simulate_by_network,
)
from chatiere.bots.integer_network cimport IntegerNetwork
from chatiere.bots.tree cimport MAX_NODES as NODES, NONE, Forest, add_node, discount, release, reserve
from chatiere.engine.core.cancellation cimport Cancellation
from chatiere.engine.core.game cimport Game
from chatiere.engine.core.integers cimport read_number
from chatiere.engine.core.operations cimport OK

cdef enum:
    # The maximum number of trees. With this limit, the offsets of legal ids fit into 32 bits in every game.
    MAX_TREES = 524_288
    # The maximum number of worlds drawn at a time for each tree, and for all trees together. Each tree gets at least
    # one.
    WORLDS_OF_TREE = 64
    WORLDS_AT_ONCE = 65_536

MAX_SIMULATIONS = 1_000_000
MAX_NODES = NODES
"""The maximum number of nodes in a tree. They use 24 MiB with two players, and 40 MiB with six."""


class Leaves(NamedTuple):
    """The leaves that m trees have reached in a round, as arrays.

    Attributes:
        observations: uint8 (m, observation_length), the observation of the seat to act at each leaf.
        actors: int8 (m,), the seat to act at each leaf.
        legal_offsets: uint32 (m + 1,). Leaf i has the legal actions legal_ids[legal_offsets[i]:legal_offsets[i + 1]].
        legal_ids: uint16, the dense ids of the legal actions, ascending for each leaf.
    """

    observations: object
    actors: object
    legal_offsets: object
    legal_ids: object


class SearchColumns(NamedTuple):
    """The results of n trees, as arrays.

    Attributes:
        legal_offsets: uint32 (n + 1,). Tree i has the legal actions legal_ids[legal_offsets[i]:legal_offsets[i + 1]].
        legal_ids: uint16, the dense ids of the legal actions at the roots, ascending for each tree.
        visits: uint32, one for each legal id: the number of simulations that chose the action. The visits of a tree sum
            to the number of simulations.
        values: float64, one for each legal id: the acting seat's mean return over these simulations. NaN if no
            simulation chose the action. Each return is reduced by 1/2048 for each decision from the root to the end of
            the game, up to 64 decisions.
        moves: uint64 (n,), for each tree the number of decisions made in the tree and in playouts.
    """

    legal_offsets: object
    legal_ids: object
    visits: object
    values: object
    moves: object


cdef inline void* data_of(array) except NULL:
    return <void*> <uintptr_t> array.ctypes.data


cdef object column(const void* data, size_t size, dtype):
    # Return a copy of a column as a read-only array.
    return np.frombuffer((<const char*> data)[:size], dtype)


cdef class _Trees:
    """The trees of a search, with their roots and worlds."""

    cdef Game game
    cdef Forest forest
    cdef Roots roots
    cdef Worlds worlds
    cdef Reached leaves
    cdef object evaluate
    cdef IntegerNetwork network
    cdef Cancellation cancellation
    cdef uint8_t* observation
    # These attributes own the memory to which the pointers above and below refer.
    cdef bytes packed
    cdef list arrays
    cdef object moves
    cdef const uint64_t* seed_data
    cdef uint64_t* move_data

    def __cinit__(
        self, Game game not None, int players, seeds, double exploration, bint advised, double noise, bint even,
        evaluate, IntegerNetwork network, uint32_t max_nodes, Cancellation cancellation not None,
    ):
        cdef Py_ssize_t trees = len(seeds), tree
        self.game = game
        self.evaluate = evaluate
        self.network = network
        self.cancellation = cancellation
        self.arrays = [seeds]
        self.seed_data = <const uint64_t*> data_of(seeds)
        self.moves = np.zeros(trees, np.uint64)
        self.move_data = <uint64_t*> data_of(self.moves)
        self.worlds.trees = trees
        self.worlds.packed_size = game.packed_size
        self.roots.actors = <int8_t*> self.new_array(trees, np.int8)
        self.roots.legal_offsets = <uint32_t*> self.new_array(trees + 1, np.uint32)
        if evaluate is not None:
            self.leaves.trees = <uint32_t*> self.new_array(trees, np.uint32)
            self.leaves.missing = <uint32_t*> self.new_array(trees, np.uint32)
            self.leaves.nodes = <uint32_t*> self.new_array(trees, np.uint32)
            self.leaves.actors = <int8_t*> self.new_array(trees, np.int8)
            self.leaves.legal_offsets = <uint32_t*> self.new_array(trees + 1, np.uint32)
            self.leaves.observations = <uint8_t*> self.new_array(trees * game.observation_length, np.uint8)
        self.observation = <uint8_t*> self.new_array(game.observation_length, np.uint8)
        self.forest.ops = game.ops
        self.forest.players = players
        self.forest.exploration = exploration
        self.forest.advised = advised
        self.forest.with_priors = advised or evaluate is not None or network is not None
        self.forest.noise = noise
        self.forest.even_roots = even
        self.forest.max_nodes = max_nodes
        self.forest.trees = trees
        self.forest.sizes = <uint32_t*> self.new_array(trees, np.uint32)
        self.reserve_nodes(trees + 1)
        self.forest.used = 1
        for tree in range(trees):
            self.forest.sizes[tree] = 0
            add_node(&self.forest, tree, NONE, NONE, 0)

    def __dealloc__(self):
        release(&self.forest)
        free(self.leaves.legal_ids)

    cdef void* new_array(self, Py_ssize_t size, dtype) except NULL:
        self.arrays.append(np.empty(size, dtype))
        return data_of(self.arrays[-1])

    cdef int reserve_nodes(self, uint64_t count) except -1:
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
                self.play(self.worlds.count)
                done += self.worlds.count
            while self.evaluate is not None and done < self.worlds.first + self.worlds.count:
                self.cancellation.check()
                self.run_round(done)
                done += 1
                if end is not None and monotonic() >= end:
                    break
            if end is not None and monotonic() >= end:
                break
        return 0

    cdef int take_worlds(self, worlds, uint32_t first, uint32_t count) except -1:
        # Copies the worlds, because memory must not change after it was checked.
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
        # Reads the actors and legal actions of the roots from each tree's first world, and evaluates the roots.
        cdef bint done
        with nogil:
            done = count_legal(&self.forest, &self.worlds, &self.roots)
        if not done:
            self.refuse_world()
        self.roots.legal_ids = <uint16_t*> self.new_array(self.roots.legal_offsets[self.worlds.trees], np.uint16)
        with nogil:
            list_legal(&self.forest, &self.worlds, &self.roots)
        if self.forest.noise > 0:
            self.roots.noise = <double*> self.new_array(self.roots.legal_offsets[self.worlds.trees], np.float64)
            with nogil:
                draw_noise(&self.forest, &self.roots, self.worlds.trees, self.seed_data)
        if self.evaluate is not None:
            self.run_round(0)
        if self.network is not None:
            self.play(1)
        return 0

    cdef int play(self, uint32_t count) except -1:
        # Runs simulations in the first `count` of the worlds, or in all worlds if there is no network.
        cdef bint done
        if self.network is None:
            with nogil:
                done = simulate(
                    &self.forest, &self.roots, &self.worlds, self.seed_data, self.move_data, &self.cancellation.control
                )
        else:
            with nogil:
                done = simulate_by_network(
                    &self.forest, &self.roots, &self.worlds, count, self.seed_data, self.move_data, &self.network.net,
                    self.observation, &self.cancellation.control,
                )
        if not done:
            self.refuse_world()
        return 0

    cdef int run_round(self, uint32_t number) except -1:
        cdef const double* priors
        cdef const double* values
        cdef bint done
        with nogil:
            done = gather(
                &self.forest, &self.roots, &self.worlds, number, self.seed_data, self.move_data, &self.leaves
            )
        if not done:
            self.refuse_world()
        if self.leaves.count == 0:
            return 0
        told_priors, told_values = self.ask()
        priors = <const double*> data_of(told_priors)
        values = <const double*> data_of(told_values)
        self.reserve_nodes(self.leaves.legal_offsets[self.leaves.count])
        with nogil:
            learn(&self.forest, &self.leaves, priors, values)
        return 0

    cdef tuple ask(self):
        # Call `evaluate`, and return the priors and values of the leaves after checking them.
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
            self.cancellation.check()
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
    # Return an array of finite float64. Raises EngineError: INVALID_BATCH.
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


def sure_win(players):
    """Return the value of an action that ended every simulation immediately, with the acting seat as the only winner.

    All other actions have lower values.

    Args:
        players: The number of players.
    """
    return (players - 1) * discount(1)


def read_exploration(value):
    """Return a finite number, 0 or more, as a float. Raises EngineError: INVALID_BATCH."""
    if not isinstance(value, Real) or not isfinite(value) or value < 0:
        raise EngineError(
            Reason.INVALID_BATCH, f"exploration must be a finite number from 0 on, not {shown(value)}",
            field="exploration",
        )
    return float(value)


def read_noise(value):
    """Return a fraction of noise, 0 … 1, as a float. Raises EngineError: INVALID_BATCH."""
    if not isinstance(value, Real) or not 0 <= value <= 1:
        raise EngineError(
            Reason.INVALID_BATCH, f"noise must be a number from 0 to 1, not {shown(value)}", field="noise"
        )
    return float(value)


def read_simulations(value):
    """Check `simulations`, 1 … MAX_SIMULATIONS, and return it as an int. Raises EngineError: INVALID_BATCH."""
    return read_number("simulations", value, 1, MAX_SIMULATIONS)


def search(
    Game game not None, players, seeds, worlds, *, simulations, exploration, evaluate=None, network=None,
    advised=False, noise=0.0, even=False, milliseconds=None, max_nodes=MAX_NODES, Cancellation cancellation=None
):
    """Search n positions, each for the seat that has to act. Return SearchColumns.

    The search of a tree depends only on the tree's seed and worlds, not on other trees.

    Each return is discounted slightly by the number of decisions before the end of the game (see SearchColumns). A seat
    therefore prefers to win sooner and to lose later. A return expected by `evaluate` or `network` is discounted by the
    number of decisions before the leaf.

    Without `evaluate` and `network`, a simulation adds one action to the tree, and then plays the game to its end. The
    game's playout policy draws the action and plays the game (docs/bots.md). Once all actions of a node have been
    tried, a seat chooses among them by UCB1: mean + exploration × √(ln available / visits), with the mean return scaled
    to 0 … 1.

    With `advised`, a seat chooses among all legal actions by PUCT: mean + exploration × prior × √available / (1 +
    visits). For an action without visits, the node's own mean is used. 90 % of the priors are the playout policy's
    probabilities in the simulation's world, and 10 % are divided evenly. The first node without visits ends a
    simulation, with a playout.

    With `evaluate`, a simulation ends at a node where some legal action has no child yet. A seat chooses by PUCT with
    the priors of the first world in which an action was legal. The roots are evaluated before the first simulation, and
    again in the first simulation.

    With `network`, the search is the same, but the network evaluates each leaf separately, without the GIL. A prior is
    the softmax of the logits in steps of 1/32, computed in integers, and values are clipped to the range of returns.
    Results are therefore the same on every processor.

    A search uses 32 + 8 × players bytes of memory for each node, and reserves at most the same amount again. It also
    holds the worlds that one call to `worlds` returns.

    Args:
        game: The game.
        players: The number of players.
        seeds: uint64 (n,), a seed for each tree.
        worlds: A function. `worlds(count)` returns the next `count` worlds of each tree: packed states drawn for the
            seat to act, uint8 (n, count, packed_size), as an array or as bytes. Worlds are checked. All worlds of a
            tree must have the same seat to act and the same legal actions. Their random streams are not used, because
            chance outcomes are drawn from the tree's seed. The function is called repeatedly, for a few worlds each
            time. An exception ends the search.
        simulations: The number of simulations of each tree, 1 … 1,000,000.
        exploration: The constant of UCB1, or of PUCT with `advised`, `evaluate` or `network`, 0 or more.
        advised: True to choose by PUCT with the playout policy as priors. It cannot be combined with `evaluate` or
            `network`.
        noise: The fraction of noise in the priors at the roots, 0 … 1, as in AlphaZero (which uses 0.25). Each prior
            becomes (1 - noise) × prior + noise × share. The shares are drawn to within 1/1024 from a Dirichlet
            distribution with the parameter 10 / n for each of n actions. With UCB1, all actions have the prior 1 / n,
            and the exploration of an action is multiplied by n × its prior.
        even: True to divide the simulations of a tree evenly among the actions at its root, so that the actions' values
            can be compared.
        evaluate: A function that is called once in each round with the Leaves of all trees, and returns (priors,
            values). The priors are a number for each legal id, 0 or more. The search scales each leaf's priors to sum
            to 1. The values are float (m, players), the seats' expected returns, clockwise from the seat to act. None
            means that leaves are not evaluated by a function.
        network: An IntegerNetwork for the game and the number of players. It cannot be combined with `evaluate`. None
            means no network.
        milliseconds: The time limit, above 0. The search ends after the round in which it is exceeded, so the results
            also depend on the machine. None means no limit.
        max_nodes: The maximum number of nodes in each tree, 1 … 524,288, in addition to one for each legal action at
            the root. A simulation adds one node. With PUCT, it adds one for each legal action of a node. If a tree has
            no room for these nodes, the simulation adds none. It ends at the node that lacks children, with a playout
            from there or the node's evaluation.
        cancellation: A handle by which other threads can cancel the search. None means that the search cannot be
            cancelled.

    Raises:
        Cancelled: If the search was cancelled.
        EngineError: INVALID_PLAYERS, INVALID_BATCH, and the errors of a broken world.
    """
    cdef _Trees trees
    cdef int seats = game.read_players(players)
    cdef uint32_t budget = read_simulations(simulations)
    cdef uint32_t nodes = read_number("max_nodes", max_nodes, 1, MAX_NODES)
    constant = read_exploration(exploration)
    part = read_noise(noise)
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
    cdef IntegerNetwork judging = network
    if advised and (judging is not None or evaluate is not None):
        raise EngineError(Reason.INVALID_BATCH, "advised must be False with evaluate or network", field="advised")
    if judging is not None and evaluate is not None:
        raise EngineError(Reason.INVALID_BATCH, "evaluate and network are not for one search", field="network")
    if judging is not None and (
        (judging.net.length, judging.num_actions, judging.net.num_values)
        != (game.observation_length, game.num_distinct_actions, seats)
    ):
        raise EngineError(
            Reason.INVALID_BATCH, f"the network is not for {game.name} with {seats} players", field="network"
        )
    trees = _Trees(
        game, seats, np.frombuffer(seed_bytes, "<u8"), constant, advised, part, even, evaluate, judging, nodes,
        cancellation or Cancellation(),
    )
    trees.run(worlds, budget, milliseconds)
    return trees.results()
