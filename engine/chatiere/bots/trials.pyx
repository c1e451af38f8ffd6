"""Playouts after several legal actions, each in the same worlds."""

import numpy as np

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

from chatiere.engine.core.cancellation cimport Cancellation, must_end
from chatiere.engine.core.game cimport Game
from chatiere.engine.core.moves cimport advised_playout, weigh_actions
from chatiere.engine.core.operations cimport BODY_WORDS, MAX_LEGAL, MAX_SEATS, OK, Operations, debug_assert
from chatiere.engine.core.packed cimport Header
from chatiere.engine.core.stream cimport Stream, stream_at


cdef double return_of(const Operations* ops, const void* body, int seat) noexcept nogil:
    # Return a seat's return at the end of a game.
    cdef uint8_t ranks[MAX_SEATS]
    cdef int players = (<const uint8_t*> body)[0], winners = 0, other
    ops.ranks(body, ranks)
    for other in range(players):
        winners += ranks[other] == 1
    return <double> players / winners - 1.0 if ranks[seat] == 1 else -1.0


cdef void try_each(
    const Operations* ops, const void* world, int seat, const uint16_t* ids, Py_ssize_t count, const Stream* stream,
    double* sums,
) noexcept nogil:
    cdef uint64_t body[BODY_WORDS]
    cdef Stream drawn
    cdef Py_ssize_t i
    cdef int fault
    for i in range(count):
        memcpy(body, world, ops.body_size)
        # The action is legal, because a seat knows its legal actions and they are therefore the same in all worlds.
        fault = ops.apply(body, ids[i], NULL)
        debug_assert(fault == OK)
        # All actions use the same random stream, so that chance contributes less to the differences between them.
        drawn = stream[0]
        advised_playout(ops, body, &drawn)
        sums[i] += return_of(ops, body, seat)


def policy_of(Game game not None, worlds, legal_ids):
    """Return the playout policy's mean probabilities of legal actions over worlds, as proportional integers.

    Args:
        game: The game.
        worlds: See `sums_of_returns`.
        legal_ids: uint16 (n,), all actions that are legal in all worlds.

    Returns:
        int64 (n,).
    """
    cdef const uint8_t[:, ::1] packed = worlds
    cdef const uint16_t[::1] ids = legal_ids
    cdef uint64_t body[BODY_WORDS]
    cdef uint32_t likelihoods[MAX_LEGAL]
    cdef uint64_t total
    cdef Py_ssize_t world, i
    found = np.zeros(len(legal_ids), np.int64)
    cdef int64_t[::1] sums = found
    for world in range(packed.shape[0]):
        memcpy(body, &packed[world, sizeof(Header)], game.ops.body_size)
        total = weigh_actions(game.ops, body, &ids[0], ids.shape[0], likelihoods)
        for i in range(ids.shape[0]):
            sums[i] += (<uint64_t> likelihoods[i] << 16) // total
    return found


def sums_of_returns(Game game not None, worlds, legal_ids, seed, first, Cancellation cancellation=None):
    """Play out by the game's playout policy after each action in each world, and return the sums of the returns.

    Args:
        game: The game.
        worlds: uint8 (k, packed_size), drawn for the acting seat, as by `Decisions.worlds`.
        legal_ids: uint16 (n,), actions that are legal in all worlds.
        seed: The seed of chance outcomes. In each world, outcomes are drawn from the stream (seed, number of the
            world).
        first: The number of the first world. The other worlds have the numbers after it.
        cancellation: A handle by which other threads can cancel the playouts. None means that the playouts cannot be
            cancelled.

    Returns:
        float64 (n,): for each action, the sum of the acting seat's returns.

    Raises:
        Cancelled: If the playouts were cancelled.
    """
    cdef const uint8_t[:, ::1] packed = worlds
    cdef const uint16_t[::1] ids = legal_ids
    cdef uint64_t body[BODY_WORDS]
    cdef uint64_t key = seed, number = first
    cdef Stream stream
    cdef Py_ssize_t world
    sums = np.zeros(len(legal_ids))
    cdef double[::1] found = sums
    cancellation = cancellation or Cancellation()
    with nogil:
        for world in range(packed.shape[0]):
            if must_end(&cancellation.control):
                break
            memcpy(body, &packed[world, sizeof(Header)], game.ops.body_size)
            stream = stream_at(key, number + world, 0)
            try_each(game.ops, body, game.ops.actor(body), &ids[0], ids.shape[0], &stream, &found[0])
    cancellation.check()
    return sums
