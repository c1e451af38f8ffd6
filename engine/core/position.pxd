# The Python face of the engine: a Game and a Position in it.
from libc.stdint cimport uint64_t

from chatiere.engine.core.events cimport EventLog
from chatiere.engine.core.game cimport BODY_WORDS, Operations
from chatiere.engine.core.stream cimport Stream

cdef class OperationTable:
    cdef const Operations* ops

cdef OperationTable wrap_operations(const Operations* ops)


cdef class Game:
    cdef const Operations* ops
    cdef readonly object description
    cdef dict default_options  # by players, as the kernel has them; those that were asked for

    cdef Position empty_position(self)
    cpdef int read_players(self, players) except -1
    # The position of a body that nobody has checked; `stream`: NULL for explicit chance. Raises EngineError: INVALID_STATE.
    cdef Position position_of(self, bytes body, const Stream* stream)
    # `options`: the game's own struct, or NULL for whatever the options.
    cdef limits_of(self, int players, const void* options)


cdef class Position:
    cdef readonly Game game
    cdef bint sampled
    cdef Stream stream
    cdef uint64_t body[BODY_WORDS]

    # Refuses unless a seat has to decide: CHANCE_PENDING, GAME_OVER.
    cpdef int require_decision(self) except -1
    # The same, and for a number that is no dense id: INVALID_ACTION. Whether it is legal is not asked.
    cdef int require_action(self, int action) except -1
    cdef int read_seat(self, seat) except -1
    cdef Stream* stream_in_use(self) noexcept nogil
    cdef run_on(self, EventLog events)
    cdef Position checked(self)
