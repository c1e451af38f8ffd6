# Momistigri: the playout policy. PLAYOUT_WEIGHTS explains each weight.
from libc.stdint cimport int8_t, int16_t, uint8_t, uint16_t

ctypedef struct Weights:
    uint8_t decisions
    int8_t pair
    int8_t pair_value
    int8_t effect_1
    int8_t effect_2
    int8_t effect_3
    int8_t effect_4
    int8_t effect_5
    int8_t effect_6
    int8_t effect_7
    int8_t effect_8
    int8_t main
    int8_t given_value
    int8_t given_alone
    int8_t handed_value
    int8_t taken_value
    int8_t taken_partners

cdef Weights WEIGHTS
cdef void advise(
    const void* body, const void* weights, const uint16_t* ids, int count, int16_t* scores
) noexcept nogil
