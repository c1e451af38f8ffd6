# Chat Cartonne: what holds of every state.
cdef int check(const void* body) noexcept nogil
