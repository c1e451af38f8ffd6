# The rules of one game, for Python programs.
from chatiere.engine.core.operations cimport Operations

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

    cpdef int read_players(self, players) except -1
    # Return a version as an int; None means the newest. Raises EngineError: UNSUPPORTED_RULES_VERSION.
    cdef int read_rules_version(self, version) except -1
    # Return the Limits of games. `options` is the game's own struct, or NULL for any options.
    cdef limits_of(self, int players, const void* options)
