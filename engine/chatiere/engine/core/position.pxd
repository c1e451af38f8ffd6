# The engine's Python interface: Game and Position.
from libc.stdint cimport uint32_t, uint64_t

from chatiere.engine.core.events cimport EventLog
from chatiere.engine.core.game cimport BODY_WORDS, Operations
from chatiere.engine.core.stream cimport Stream

cdef class Kernel:
    cdef const Operations* ops
    # The default weights of the playout policy, by name, and a function that converts weights to the kernel's struct.
    cdef dict weights
    cdef object pack_weights

cdef Kernel wrap_operations(const Operations* ops, dict weights, pack_weights)


cdef class Game:
    cdef const Operations* ops
    cdef readonly object description
    cdef Kernel kernel
    # If the playout weights were replaced: the weights by name, the weights as the kernel's struct, and the operations
    # that refer to this struct.
    cdef dict other_weights
    cdef bytes packed_weights
    cdef Operations own_ops
    cdef dict default_options  # a cache of the kernel's structs for default options, by number of players

    cdef Position empty_position(self)
    cpdef int read_players(self, players) except -1
    # Return a version as an int; None means the newest. Raises EngineError: UNSUPPORTED_RULES_VERSION.
    cdef int read_rules_version(self, version) except -1
    # Check a body, and return its position. `stream` is NULL for explicit chance. Raises EngineError: INVALID_STATE.
    cdef Position position_of(self, bytes body, const Stream* stream)
    # Return the Limits of games. `options` is the game's own struct, or NULL for any options.
    cdef limits_of(self, int players, const void* options)


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
