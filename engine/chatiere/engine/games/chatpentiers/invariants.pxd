# Chatpentiers: what holds in every state.
cdef int check(const void* body) noexcept nogil
