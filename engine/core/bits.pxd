# Sets of up to 64 things as the bits of a word. Written out, because a plain x86-64 has no instructions for these.
from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcpy

cdef extern from * nogil:
    int __builtin_ctzll(uint64_t word)

cdef inline uint64_t bits_by_byte(uint64_t bits) noexcept nogil:
    # In each byte, how many of its bits are in the set.
    bits -= bits >> 1 & <uint64_t> 0x5555555555555555
    bits = (bits & <uint64_t> 0x3333333333333333) + (bits >> 2 & <uint64_t> 0x3333333333333333)
    return bits + (bits >> 4) & <uint64_t> 0x0F0F0F0F0F0F0F0F

cdef inline int count_bits(uint64_t bits) noexcept nogil:
    return <int> (bits_by_byte(bits) * <uint64_t> 0x0101010101010101 >> 56)

cdef inline int lowest_bit(uint64_t bits) noexcept nogil:
    # The place of the first bit; the set is not empty.
    return __builtin_ctzll(bits)

cdef inline int nth_bit(uint64_t bits, int n) noexcept nogil:
    # The place of the bit with n others below it; the set has more than n. Sebastiano Vigna's "broadword" selection
    # (https://vigna.di.unimi.it/ftp/papers/Broadword.pdf): first the byte, then the bit in it, both by counting in all
    # eight bytes of a word at once how many sums are at most n.
    cdef uint64_t ones = 0x0101010101010101
    cdef uint64_t tops = 0x8080808080808080
    cdef uint64_t sums = bits_by_byte(bits) * ones
    cdef int place = <int> (((((n * ones | tops) - sums & tops) >> 7) * ones >> 56) * 8)
    cdef int left = n - <int> (sums << 8 >> place & 0xFF)
    # Bit i of the byte, as byte i.
    sums = (bits >> place & 0xFF) * ones & <uint64_t> 0x8040201008040201
    sums = ((sums + <uint64_t> 0x7F7F7F7F7F7F7F7F) >> 7 & ones) * ones
    return place + <int> ((((left * ones | tops) - sums & tops) >> 7) * ones >> 56)

cdef inline uint64_t bit_a_byte(uint64_t bits) noexcept nogil:
    # The lowest eight bits, each as a byte that is 0 or 1.
    bits = (bits & 0xFF) * <uint64_t> 0x0101010101010101 & <uint64_t> 0x8040201008040201
    return bits + <uint64_t> 0x7F7F7F7F7F7F7F7F >> 7 & <uint64_t> 0x0101010101010101

cdef inline void spread_bits(uint64_t bits, int count, uint8_t* flags) noexcept nogil:
    # The first `count` (8 to 64) bits, each as a flag that is 0 or 1.
    cdef uint64_t eight
    cdef int first
    for first in range(0, count - 7, 8):
        eight = bit_a_byte(bits >> first)
        memcpy(flags + first, &eight, sizeof(eight))
    if count & 7:
        eight = bit_a_byte(bits >> (count - 8))
        memcpy(flags + count - 8, &eight, sizeof(eight))
