"""The random stream of sampled chance: Philox4x64-10, with its words in the same order as in NumPy."""

cdef enum:
    ROUNDS = 10

# The multipliers and key increments of Philox4x64 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
cdef uint64_t MULTIPLIER_0 = 0xD2E7470EE14C6C93
cdef uint64_t MULTIPLIER_1 = 0xCA5A826395121157
cdef uint64_t INCREMENT_0 = 0x9E3779B97F4A7C15
cdef uint64_t INCREMENT_1 = 0xBB67AE8584CAA73B


cdef void philox_block(const uint64_t* key, uint64_t number, uint64_t* block) noexcept nogil:
    # Compute the block `number` of the stream. NumPy increments the counter before its first block, hence number + 1.
    cdef uint64_t c0 = number + 1, c1 = 0, c2 = 0, c3 = 0
    cdef uint64_t k0 = key[0], k1 = key[1]
    cdef uint128_t p0, p1
    cdef int _
    for _ in range(ROUNDS):
        p0 = <uint128_t> MULTIPLIER_0 * c0
        p1 = <uint128_t> MULTIPLIER_1 * c2
        c0 = <uint64_t> (p1 >> 64) ^ c1 ^ k0
        c2 = <uint64_t> (p0 >> 64) ^ c3 ^ k1
        c1 = <uint64_t> p1
        c3 = <uint64_t> p0
        k0 += INCREMENT_0
        k1 += INCREMENT_1
    block[0] = c0
    block[1] = c1
    block[2] = c2
    block[3] = c3


def words(seed, game_number, first, count):
    """Return consecutive words of a random stream.

    The words are equal to `numpy.random.Philox(key=[seed, game_number]).random_raw(first + count)[first:]`.

    Args:
        seed: The seed of the stream, 0 … 2**64 - 1.
        game_number: The game number of the stream, 0 … 2**64 - 1.
        first: The number of the first word, counted from 0.
        count: The number of words.

    Returns:
        The words, each 0 … 2**64 - 1.
    """
    cdef Stream stream = stream_at(seed, game_number, first)
    return [next_word(&stream) for _ in range(count)]


def numbers_below(seed, game_number, bounds):
    """Draw numbers from the start of a random stream.

    Args:
        seed: The seed of the stream, 0 … 2**64 - 1.
        game_number: The game number of the stream, 0 … 2**64 - 1.
        bounds: A bound n, 1 … 2**64 - 1, for each number. The number drawn is 0 … n - 1.

    Returns:
        The numbers in order, and the number of words drawn. A word that would bias the result is drawn again.
    """
    cdef Stream stream = stream_at(seed, game_number, 0)
    return [number_below(&stream, n) for n in bounds], stream.drawn
