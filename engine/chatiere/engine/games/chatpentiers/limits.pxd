# Chatpentiers: how long a game can be.
from chatiere.engine.core.game cimport Limits

# `options`: NULL for whatever the options.
cdef void limits(int players, const void* options, Limits* found) noexcept nogil
