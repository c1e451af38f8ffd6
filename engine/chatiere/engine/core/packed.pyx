"""Packed states: the bounds for their plies."""

from chatiere.engine.core.operations cimport Limits


cdef void note_max_plies(const Operations* ops) noexcept:
    cdef Limits limits
    cdef int players
    for players in range(ops.min_players, ops.max_players + 1):
        ops.limits(players, NULL, &limits)
        MAX_PLIES[ops.number][players] = limits.max_game_length
