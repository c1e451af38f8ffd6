# The random stream: Philox4x64-10, a counter-based generator. The place in the stream is a single number.
from libc.stdint cimport uint32_t, uint64_t

cdef extern from *:
    ctypedef unsigned long long uint128_t "unsigned __int128"

ctypedef struct Stream:
    uint64_t key[2]  # seed, game number
    uint64_t drawn  # the number of 64-bit words drawn so far
    uint64_t block[4]  # the block with word drawn - 1, if drawn % 4 != 0
    bint has_block

cdef inline Stream stream_at(uint64_t seed, uint64_t game_number, uint64_t drawn) noexcept nogil:
    cdef Stream stream
    stream.key[0] = seed
    stream.key[1] = game_number
    stream.drawn = drawn
    stream.block[0] = stream.block[1] = stream.block[2] = stream.block[3] = 0
    stream.has_block = False
    return stream

cdef void philox_block(const uint64_t* key, uint64_t number, uint64_t* block) noexcept nogil

cdef inline uint64_t next_word(Stream* stream) noexcept nogil:
    cdef int place = stream.drawn & 3
    if place == 0 or not stream.has_block:
        philox_block(stream.key, stream.drawn >> 2, stream.block)
        stream.has_block = True
    stream.drawn += 1
    return stream.block[place]

cdef inline uint64_t number_below(Stream* stream, uint64_t n) noexcept nogil:
    # Draw a number uniformly from 0 … n - 1, for n ≥ 1, by Lemire's method (https://arxiv.org/abs/1805.10941).
    cdef uint128_t product = <uint128_t> next_word(stream) * n
    cdef uint64_t threshold
    if <uint64_t> product < n:
        threshold = (0 - n) % n
        while <uint64_t> product < threshold:
            product = <uint128_t> next_word(stream) * n
    return <uint64_t> (product >> 64)

cdef inline int walk_weights(Stream* stream, const uint32_t* weights, int count) noexcept nogil:
    # Draw an index below `count` by weight: draw a number below the sum of the weights, and go through them in order.
    cdef uint64_t total = 0, number
    cdef int i
    for i in range(count):
        total += weights[i]
    number = number_below(stream, total)
    i = 0
    while number >= weights[i]:
        number -= weights[i]
        i += 1
    return i
