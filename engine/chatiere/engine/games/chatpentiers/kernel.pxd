# Chatpentiers: the rules as functions on the packed state.
cdef void view(const void* body, int seat, void* out) noexcept nogil
