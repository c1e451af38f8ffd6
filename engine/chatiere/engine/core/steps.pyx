"""The steps of a table: its work in threads, and the columns and memory of the results."""

from libc.stdint cimport int8_t, int32_t, uint8_t, uint16_t, uint32_t

from chatiere.engine.core.columns import PositionColumns

from chatiere.engine.core.arguments cimport check_size, require_done
from chatiere.engine.core.blocks cimport BlockPool
from chatiere.engine.core.loops cimport Described, Part, weigh_all
from chatiere.engine.core.output cimport writable_masks
from chatiere.engine.core.parts cimport data_of, join_part, new_column


cdef class Steps:
    def __init__(self, Game game not None, int players, reuse_memory):
        self.game = game
        self.players = players
        self.pools = [BlockPool() for _ in range(Kind.NUM_KINDS)] if reuse_memory else None

    cdef Parts parts_of(self, BatchLoop batch, num_threads):
        cdef Parts parts = self.parts
        # Another thread that uses the table meanwhile needs its own parts.
        self.parts = None
        if parts is None or not parts.are_for(batch.count, num_threads):
            parts = Parts(batch.count, num_threads)
        parts.batch = batch
        return parts

    cdef Py_ssize_t size_of(self, Py_ssize_t n, columns) except -1:
        # Return the size of PositionColumns in bytes, without the columns whose size is not yet known.
        cdef Py_ssize_t item_size = self.game.packed_size + sizeof(int8_t) + sizeof(uint8_t), size = 0
        if columns.legal:
            item_size += sizeof(uint32_t)
            size = sizeof(uint32_t)
        if columns.scores or columns.final_scores:
            item_size += self.players * (sizeof(int32_t) + sizeof(float))
        if columns.observations:
            item_size += self.game.observation_length
        return size + n * item_size

    cdef object column(self, Kind kind, Py_ssize_t size):
        return new_column(size) if self.pools is None else (<BlockPool> self.pools[kind]).take(size)

    cdef run(self, Work work, Parts parts, states, actors, columns, mask, max_bytes):
        # Do the work in threads, and return PositionColumns. `states` and `actors` are the columns that `parts` fill.
        cdef object masks = None
        cdef Py_ssize_t n = parts.batch.count
        cdef Py_ssize_t observation_size = self.game.observation_length
        cdef Py_ssize_t final_size = self.players * observation_size
        cdef Py_ssize_t size = self.size_of(n, columns)
        cdef object final = self.column(Kind.FINAL, n)
        cdef object legal_offsets = b"", legal_ids = b"", weights = b"", totals = b"", returns = b""
        cdef object observations = b"", final_observations = b""
        cdef Described* described = &parts.described
        cdef uint32_t* weight_data
        cdef bint restarts = parts.parts[0].restarts != NULL
        cdef Crew crew = self.crew or Crew()
        cdef int i
        # As in `parts_of`.
        self.crew = None
        if mask is not None:
            masks = writable_masks(mask, n, self.game.num_distinct_actions, &described.masks)
        described.final = <uint8_t*> data_of(final)
        if columns.scores or columns.final_scores:
            totals = self.column(Kind.TOTALS, n * self.players * sizeof(int32_t))
            returns = self.column(Kind.RETURNS, n * self.players * sizeof(float))
            described.totals = <int32_t*> data_of(totals)
            described.returns = <float*> data_of(returns)
            described.all_totals = bool(columns.scores)
        if columns.observations:
            for i in range(parts.count):
                parts.parts[i].largest_final_observations = n * final_size if max_bytes is None else max_bytes - size
            observations = self.column(Kind.OBSERVATIONS, n * observation_size)
            described.observations = <uint8_t*> data_of(observations)
        if columns.legal:
            legal_offsets = self.column(Kind.LEGAL_OFFSETS, (n + 1) * sizeof(uint32_t))
            described.legal_offsets = <uint32_t*> data_of(legal_offsets)
        if columns.legal or masks is not None:
            parts.reserve_legal_ids()
        crew.run(work, parts.parts, sizeof(Part), parts.count, parts.num_threads)
        parts.add_up()
        if columns.observations and restarts:
            size += parts.ended * final_size
            check_size(size, max_bytes)
        for i in range(parts.count):
            require_done(parts.parts[i].end)
        if columns.observations and restarts:
            final_observations = self.column(Kind.FINAL_OBSERVATIONS, parts.ended * final_size)
            described.final_observations = <uint8_t*> data_of(final_observations)
        if columns.legal:
            size += parts.legal * (sizeof(uint16_t) + parts.any_chance() * sizeof(uint32_t))
            check_size(size, max_bytes)
            legal_ids = self.column(Kind.LEGAL_IDS, parts.legal * sizeof(uint16_t))
            described.legal_ids = <uint16_t*> data_of(legal_ids)
            described.legal_offsets[n] = parts.legal
        crew.run(join_part, parts.parts, sizeof(Part), parts.count, parts.num_threads)
        self.crew = crew
        if parts.any_chance() and columns.legal:
            weights = new_column(parts.legal * sizeof(uint32_t))
            weight_data = <uint32_t*> data_of(weights)
            with nogil:
                weigh_all(&parts.batch, described.states, described.actors, described.legal_offsets, weight_data)
        if self.pools is not None:
            parts.clear()
            self.parts = parts
        return PositionColumns(
            states, actors, legal_offsets, legal_ids, weights, totals, returns, final, observations, final_observations
        )
