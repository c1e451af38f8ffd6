# Discat: bounds on the length of games.
from chatiere.engine.core.game cimport Limits

# `options`: NULL for any options.
cdef void limits(int players, const void* options, Limits* found) noexcept nogil
