# Discat: checks of the invariants of every state.
cdef int check(const void* body) noexcept nogil
