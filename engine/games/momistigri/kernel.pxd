# Momistigri: the rules, as functions over the packed state.
cdef void cards_of_pair(int action, int* low, int* high) noexcept nogil
cdef void view(const void* body, int seat, void* out) noexcept nogil
