# Discat: the playout policy. PLAYOUT_WEIGHTS explains each weight.
from libc.stdint cimport int8_t, int16_t, uint8_t, uint16_t

ctypedef struct Weights:
    uint8_t decisions
    int8_t pair
    int8_t triple
    int8_t bonus_group
    int8_t winning_group
    int8_t partners
    int8_t room
    int8_t blocks
    int8_t exchange
    int8_t exchanged_partners

cdef Weights WEIGHTS
cdef void advise(
    const void* body, const void* weights, const uint16_t* ids, int count, int16_t* scores
) noexcept nogil
