# Momistigri: what a state from outside has to be.
cdef int check(const void* body) noexcept nogil
