# The work of new_games and step in threads.
from chatiere.engine.core.game cimport Game
from chatiere.engine.core.loops cimport BatchLoop
from chatiere.engine.core.parts cimport Parts
from chatiere.engine.core.threads cimport Crew, Work

cdef enum Kind:
    # The columns of `new_games` and `step`.
    STATES
    FAULTS
    ACTORS
    FINAL
    LEGAL_OFFSETS
    LEGAL_IDS
    TOTALS
    RETURNS
    OBSERVATIONS
    FINAL_OBSERVATIONS
    NUM_KINDS


cdef class Steps:
    # The parts, threads and memory with which a table begins games and makes moves.
    cdef Game game
    cdef int players
    # The memory of columns, by Kind; None if it is not reused.
    cdef list pools
    # The parts of an earlier batch, for the next batch; only if memory is reused.
    cdef Parts parts
    # The threads of an earlier batch, for the next batch.
    cdef Crew crew

    cdef Parts parts_of(self, BatchLoop batch, num_threads)
    cdef Py_ssize_t size_of(self, Py_ssize_t n, columns) except -1
    cdef object column(self, Kind kind, Py_ssize_t size)
    cdef run(self, Work work, Parts parts, states, actors, columns, mask, max_bytes)
