# Reduction of the weights of chance outcomes to the smallest integers.
from libc.stdint cimport uint32_t

cdef inline uint32_t common_divisor(uint32_t a, uint32_t b) noexcept nogil:
    # Return the greatest common divisor. For 0 and a number, it is the number.
    cdef uint32_t rest
    while b:
        rest = a % b
        a = b
        b = rest
    return a

cdef inline void reduce_weights(uint32_t* weights, int count) noexcept nogil:
    # Divide the weights by their greatest common divisor. No weight may be 0.
    cdef uint32_t divisor = 0
    cdef int i
    for i in range(count):
        divisor = common_divisor(weights[i], divisor)
        if divisor == 1:
            return
    for i in range(count):
        weights[i] //= divisor
