# Chatpentiers: the invariants of states.
cdef int check(const void* body) noexcept nogil
