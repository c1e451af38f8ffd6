# Chat perché: a seat's view as numbers; text.py documents the layout.
from libc.stdint cimport uint8_t

cdef enum:
    OBSERVATION_LENGTH = 423

cdef void observe(const void* view, int seat, uint8_t* values) noexcept nogil
