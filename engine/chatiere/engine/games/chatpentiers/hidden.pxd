# Chatpentiers: the states that agree with what a seat knows.
from chatiere.engine.core.stream cimport Stream

cdef int resample(void* body, int seat, Stream* stream) noexcept nogil
