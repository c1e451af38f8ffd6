# Chat perché: the playout policy. PLAYOUT_WEIGHTS explains each weight.
from libc.stdint cimport int8_t, int16_t, uint8_t, uint16_t

ctypedef struct Weights:
    uint8_t decisions
    int8_t enters
    int8_t breaks
    int8_t full
    int8_t nearly_full
    int8_t trunk
    int8_t stop

cdef Weights WEIGHTS
cdef void advise(
    const void* body, const void* weights, const uint16_t* ids, int count, int16_t* scores
) noexcept nogil
