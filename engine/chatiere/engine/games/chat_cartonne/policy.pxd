# Chat Cartonne: the playout policy. PLAYOUT_WEIGHTS explains each weight.
from libc.stdint cimport int8_t, int16_t, uint8_t, uint16_t

ctypedef struct Weights:
    uint8_t decisions
    int8_t draw
    int8_t sleep
    int8_t joint
    int8_t own
    int8_t others
    int8_t own_toys
    int8_t own_sprayers
    int8_t others_toys
    int8_t others_sprayers
    int8_t cat
    int8_t cat_points
    int8_t crowd
    int8_t princess
    int8_t own_princess
    int8_t toy

cdef Weights WEIGHTS
cdef void advise(
    const void* body, const void* weights, const uint16_t* ids, int count, int16_t* scores
) noexcept nogil
