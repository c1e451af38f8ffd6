# Chatpentiers: the playout policy. PLAYOUT_WEIGHTS explains each weight.
from libc.stdint cimport int8_t, int16_t, uint8_t, uint16_t

ctypedef struct Weights:
    uint8_t decisions
    int8_t led_value
    int8_t followed_value
    int8_t discarded_value
    int8_t gain
    int8_t opens
    int8_t opened_limit
    int8_t zero_zone

cdef Weights WEIGHTS
cdef void advise(
    const void* body, const void* weights, const uint16_t* ids, int count, int16_t* scores
) noexcept nogil
