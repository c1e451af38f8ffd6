# Networks in integers, as the search evaluates them. net.h describes the computation.
from libc.stdint cimport int16_t, int32_t, uint8_t, uint16_t, uint32_t

cdef extern from "net.h" nogil:
    enum:
        NET_ONE
        NET_OUTPUT_ONE
        NET_MAX_FIRST
        NET_MAX_SECOND
        NET_MAX_SLOTS
        NET_OWN_ROW
        NET_SLOT
        NET_PLAY

    ctypedef struct NetField:
        pass

    ctypedef struct NetRun:
        pass

    ctypedef struct Net:
        int32_t length
        const uint32_t* fields_of
        const NetField* fields
        int32_t hand
        int32_t cards
        int32_t num_first
        const int16_t* columns
        const int32_t* first_bias
        int32_t num_second
        const int16_t* second
        const int32_t* second_bias
        int32_t num_runs
        const NetRun* runs
        const int16_t* rows
        const int32_t* rows_bias
        int32_t num_values
        const int16_t* values
        const int32_t* values_bias


cdef class IntegerNetwork:
    cdef Net net
    cdef int num_actions
    # The arrays to which the pointers in `net` refer.
    cdef tuple arrays

cdef double judge(
    const Net* net, const uint8_t* observation, const uint16_t* legal, int count, double* priors, double* values
) noexcept nogil
