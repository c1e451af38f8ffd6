"""Playouts after some of the legal actions, in the same worlds."""

import numpy as np

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

from chatiere.engine.core.game cimport BODY_WORDS, MAX_LEGAL, MAX_SEATS, OK, Operations, debug_assert
from chatiere.engine.core.moves cimport advised_playout, weigh_actions
from chatiere.engine.core.packed cimport Header
from chatiere.engine.core.position cimport Game
from chatiere.engine.core.stream cimport Stream, stream_at


cdef double return_of(const Operations* ops, const void* body, int seat) noexcept nogil:
    # A seat's return at the end of a game.
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
        # A seat's legal actions are part of what it knows.
        fault = ops.apply(body, ids[i], NULL)
        debug_assert(fault == OK)
        # The same for every action, so that actions differ by less chance.
        drawn = stream[0]
        advised_playout(ops, body, &drawn)
        sums[i] += return_of(ops, body, seat)


def policy_of(Game game not None, worlds, legal_ids):
    """Return how likely the playout policy takes legal actions, on average over worlds: int64 (n,), in proportion.

    `worlds`, `legal_ids`: as in `sums_of_returns`, all legal actions.
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


def sums_of_returns(Game game not None, worlds, legal_ids, seed, first):
    """Play out after each action in each world, by the game's playout policy, and return the sums of the returns.

    `worlds`: uint8 (k, packed_size), drawn for the seat to act, as of `Decisions.worlds`, numbered from `first` on:
    what follows an action in a world is drawn from the stream (seed, its number). `legal_ids`: uint16 (n,), actions
    that are legal in all of them. Returns float64 (n,), the seat's.
    """
    cdef const uint8_t[:, ::1] packed = worlds
    cdef const uint16_t[::1] ids = legal_ids
    cdef uint64_t body[BODY_WORDS]
    cdef uint64_t key = seed, number = first
    cdef Stream stream
    cdef Py_ssize_t world
    sums = np.zeros(len(legal_ids))
    cdef double[::1] found = sums
    with nogil:
        for world in range(packed.shape[0]):
            memcpy(body, &packed[world, sizeof(Header)], game.ops.body_size)
            stream = stream_at(key, number + world, 0)
            try_each(game.ops, body, game.ops.actor(body), &ids[0], ids.shape[0], &stream, &found[0])
    return sums
