# A state of a game, for Python programs.
from libc.stdint cimport uint32_t, uint64_t

from chatiere.engine.core.events cimport EventLog
from chatiere.engine.core.game cimport Game
from chatiere.engine.core.operations cimport BODY_WORDS
from chatiere.engine.core.stream cimport Stream

cdef class Position:
    cdef readonly Game game
    cdef bint sampled
    cdef Stream stream
    cdef uint32_t plies
    cdef uint64_t body[BODY_WORDS]

    # Raise CHANCE_PENDING or GAME_OVER unless a seat has to act.
    cpdef int require_decision(self) except -1
    # Raise the same errors as require_decision, and INVALID_ACTION for a number that is not a dense id of the game.
    cdef int require_action(self, int action) except -1
    cdef int read_seat(self, seat) except -1
    cdef Stream* stream_in_use(self) noexcept nogil
    cdef run_on(self, EventLog events)
    cdef Position checked(self)
    # Set the ply. None, or a number out of range, raises EngineError: INVALID_STATE.
    cdef int set_ply(self, ply) except -1


# Return the stream of a seed and a game number. Raises EngineError: INVALID_SEED.
cdef Stream read_stream(seed, game_number) except *
# Return a position with a body that is not set yet.
cdef Position empty_position(Game game)
# Check a body, and return its position. `stream` is NULL for explicit chance. Raises EngineError: INVALID_STATE.
cdef Position position_of(Game game, bytes body, const Stream* stream)
# Check a packed state, and return its position. Raises EngineError: INVALID_STATE, UNSUPPORTED_RULES_VERSION.
cdef Position unpacked(Game game, packed)
