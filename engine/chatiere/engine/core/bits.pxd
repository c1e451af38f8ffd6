# Sets of up to 64 elements, stored as the bits of a word, with operations for which not all processors have
# instructions.
from libc.stdint cimport uint8_t, uint64_t

cdef extern from * nogil:
    """
    #ifndef __GNUC__
    #error "Chatiere's engine is compiled by GCC or Clang, as it needs their vectors and builtins."
    #endif
    #include <stdint.h>
    #include <string.h>

    /* Vectors of 16 bytes. Baseline x86-64 and ARM have instructions for them. */
    typedef uint8_t chatiere_bytes __attribute__((vector_size(16)));
    typedef uint16_t chatiere_pairs __attribute__((vector_size(16)));
    typedef uint32_t chatiere_fours __attribute__((vector_size(16)));
    typedef uint64_t chatiere_eights __attribute__((vector_size(16)));

    /* Clang and GCC before version 12 have no common builtin that selects elements of a vector by index. */
    #if defined(__clang__)
    #define CHATIERE_PICK(type, from, ...) __builtin_shufflevector(from, from, __VA_ARGS__)
    #else
    #define CHATIERE_PICK(type, from, ...) __builtin_shuffle(from, (type) {__VA_ARGS__})
    #endif

    /* Return the lowest four bytes, each repeated four times. */
    static inline chatiere_fours chatiere_four_times(uint64_t bits) {
        chatiere_bytes once = (chatiere_bytes) (chatiere_eights) {bits, 0};
        chatiere_pairs twice = (chatiere_pairs) CHATIERE_PICK(
            chatiere_bytes, once, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
        return (chatiere_fours) CHATIERE_PICK(chatiere_pairs, twice, 0, 0, 1, 1, 2, 2, 3, 3);
    }

    /* Write the bits of two bytes as flags. `bits` has eight copies of each byte; flag i is read from the i-th copy. */
    static inline void chatiere_put_flags(chatiere_fours bits, uint8_t* flags) {
        const chatiere_bytes places = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
        chatiere_bytes set = (chatiere_bytes) (((chatiere_bytes) bits & places) == places) & 1;
        memcpy(flags, &set, sizeof(set));
    }

    static inline void chatiere_spread_16(uint64_t bits, uint8_t* flags) {
        chatiere_fours fours = chatiere_four_times(bits);
        chatiere_put_flags(CHATIERE_PICK(chatiere_fours, fours, 0, 0, 1, 1), flags);
    }

    static inline void chatiere_spread_32(uint64_t bits, uint8_t* flags) {
        chatiere_fours fours = chatiere_four_times(bits);
        chatiere_put_flags(CHATIERE_PICK(chatiere_fours, fours, 0, 0, 1, 1), flags);
        chatiere_put_flags(CHATIERE_PICK(chatiere_fours, fours, 2, 2, 3, 3), flags + 16);
    }
    """
    int __builtin_popcountll(uint64_t word)
    int __builtin_ctzll(uint64_t word)
    int __builtin_clzll(uint64_t word)
    void spread_16 "chatiere_spread_16"(uint64_t bits, uint8_t* flags) noexcept
    void spread_32 "chatiere_spread_32"(uint64_t bits, uint8_t* flags) noexcept

cdef inline uint64_t bits_by_byte(uint64_t bits) noexcept nogil:
    # Return the number of bits set in each byte, stored in that byte.
    bits -= bits >> 1 & <uint64_t> 0x5555555555555555
    bits = (bits & <uint64_t> 0x3333333333333333) + (bits >> 2 & <uint64_t> 0x3333333333333333)
    return bits + (bits >> 4) & <uint64_t> 0x0F0F0F0F0F0F0F0F

cdef inline int count_bits(uint64_t bits) noexcept nogil:
    return __builtin_popcountll(bits)

cdef inline int lowest_bit(uint64_t bits) noexcept nogil:
    # Return the number of the lowest bit that is set. The set must not be empty.
    return __builtin_ctzll(bits)

cdef inline int highest_bit(uint64_t bits) noexcept nogil:
    # Return the number of the highest bit that is set. The set must not be empty.
    return 63 - __builtin_clzll(bits)

cdef inline int nth_bit(uint64_t bits, int n) noexcept nogil:
    # Return the number of the bit that has n set bits below it. The set must have more than n bits. Sebastiano Vigna's
    # "broadword" selection (https://vigna.di.unimi.it/ftp/papers/Broadword.pdf) first finds the byte, then the bit in
    # the byte. Both steps count the sums that are at most n, in all eight bytes of a word in parallel.
    cdef uint64_t ones = 0x0101010101010101
    cdef uint64_t tops = 0x8080808080808080
    cdef uint64_t sums = bits_by_byte(bits) * ones
    cdef int place = <int> (((((n * ones | tops) - sums & tops) >> 7) * ones >> 56) * 8)
    cdef int left = n - <int> (sums << 8 >> place & 0xFF)
    # Byte i of the word becomes bit i of the byte found.
    sums = (bits >> place & 0xFF) * ones & <uint64_t> 0x8040201008040201
    sums = ((sums + <uint64_t> 0x7F7F7F7F7F7F7F7F) >> 7 & ones) * ones
    return place + <int> ((((left * ones | tops) - sums & tops) >> 7) * ones >> 56)

cdef inline uint64_t bit_a_byte(uint64_t bits) noexcept nogil:
    # Return the lowest eight bits as eight bytes with the value 0 or 1.
    bits = (bits & 0xFF) * <uint64_t> 0x0101010101010101 & <uint64_t> 0x8040201008040201
    return bits + <uint64_t> 0x7F7F7F7F7F7F7F7F >> 7 & <uint64_t> 0x0101010101010101

cdef inline void spread_bits(uint64_t bits, int count, uint8_t* flags) noexcept nogil:
    # Write the lowest `count` bits (16 to 64) as flags with the value 0 or 1. Some flags are written twice.
    if count >= 32:
        spread_32(bits, flags)
        spread_32(bits >> (count - 32), flags + count - 32)
    else:
        spread_16(bits, flags)
        spread_16(bits >> (count - 16), flags + count - 16)
