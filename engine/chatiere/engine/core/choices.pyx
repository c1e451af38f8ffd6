"""Choices among the legal actions of many decisions, as NumPy arrays.

In all functions, `legal_offsets`, uint32 (n + 1,), and `legal_ids`, uint16 (legal_offsets[n],), list the legal actions.
Decision i has the legal actions legal_ids[legal_offsets[i]:legal_offsets[i + 1]]: one or more ids, in ascending order.
"""

import numpy as np

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from chatiere.engine.core.bits cimport count_bits, nth_bit
from chatiere.engine.core.masks cimport MaskRows, put_mask
from chatiere.engine.core.output cimport writable_masks

cdef enum:
    WORD = 8  # the size of a word in bytes
    # The number of words of a mask that are read together.
    BLOCK_WORDS = 4
    BLOCK = BLOCK_WORDS * WORD
    # The maximum number of actions, because dense ids have two bytes.
    MAX_ACTIONS = 1 << 16
    MAX_BLOCKS = 1 << 11  # MAX_ACTIONS / BLOCK


ctypedef struct Lists:
    # The legal actions of `count` decisions.
    const uint32_t* offsets
    const uint16_t* ids
    Py_ssize_t count


cdef int read_lists(const uint32_t[::1] offsets, const uint16_t[::1] ids, uint32_t num_actions, Lists* lists) except -1:
    # Raises ValueError unless the arguments are lists of ids below `num_actions`.
    cdef uint32_t last = 0, largest = 0
    cdef bint ascend = offsets.shape[0] > 0 and offsets[0] == 0
    cdef Py_ssize_t i
    lists.count = offsets.shape[0] - 1
    lists.offsets = &offsets[0] if ascend else NULL
    lists.ids = &ids[0] if ids.shape[0] else NULL
    for i in range(1, lists.count + 1 if ascend else 0):
        ascend &= lists.offsets[i] >= last
        last = lists.offsets[i]
    if not ascend or last != ids.shape[0]:
        raise ValueError(f"legal_offsets must ascend from 0 to {ids.shape[0]}, the number of legal_ids")
    for i in range(ids.shape[0]):
        largest = max(largest, lists.ids[i])
    if largest >= num_actions:
        raise ValueError(f"legal_ids must be below {num_actions}, not {largest}")
    return 0


def legal_mask(legal_offsets, legal_ids, num_actions, out=None):
    """Return a mask of the legal actions.

    Args:
        legal_offsets: uint32 (n + 1,), as in PositionColumns.
        legal_ids: uint16 (legal_offsets[n],), as in PositionColumns.
        num_actions: The number of all actions.
        out: The array to fill and return, in any form that the argument `mask` of `Table.new_games` allows. None means
            a new array, bool (n, num_actions).

    Returns:
        The mask, True for legal actions.

    Raises:
        ValueError: If the lists of legal actions are invalid, or `out` has another form.
    """
    cdef const uint32_t[::1] offsets = np.ascontiguousarray(legal_offsets, np.uint32)
    cdef const uint16_t[::1] ids = np.ascontiguousarray(legal_ids, np.uint16)
    cdef Lists lists
    cdef MaskRows masks
    cdef Py_ssize_t i
    read_lists(offsets, ids, num_actions, &lists)
    if out is None:
        out = np.empty((lists.count, num_actions), np.bool_)
    _view = writable_masks(out, lists.count, num_actions, &masks)
    with nogil:
        for i in range(lists.count):
            put_mask(&masks, i, lists.ids + lists.offsets[i], lists.offsets[i + 1] - lists.offsets[i])
    return out


def random_actions(legal_offsets, legal_ids, luck):
    """Choose a legal action for each decision, uniformly to within 2**-32.

    Args:
        legal_offsets: uint32 (n + 1,), as in PositionColumns.
        legal_ids: uint16 (legal_offsets[n],), as in PositionColumns.
        luck: uint64 (n,), a random number for each decision.

    Returns:
        The dense ids of the actions, uint16 (n,).

    Raises:
        ValueError: If the lists of legal actions are invalid, a decision has no legal action, or `luck` has another
            length.
    """
    cdef const uint32_t[::1] offsets = np.ascontiguousarray(legal_offsets, np.uint32)
    cdef const uint16_t[::1] ids = np.ascontiguousarray(legal_ids, np.uint16)
    cdef const uint64_t[::1] lucks = np.ascontiguousarray(luck, np.uint64)
    cdef Lists lists
    cdef const uint64_t* luck_data
    cdef uint16_t[::1] chosen
    cdef uint16_t* actions
    cdef uint32_t count = 1
    cdef Py_ssize_t i
    read_lists(offsets, ids, 1 << 16, &lists)
    array = chosen = np.empty(lists.count, np.uint16)
    luck_data = read_luck(lucks, lists.count)
    if lists.count:
        actions = &chosen[0]
        for i in range(lists.count):
            count = lists.offsets[i + 1] - lists.offsets[i]
            if count == 0:
                raise ValueError(f"decision {i} has no legal action")
            actions[i] = lists.ids[lists.offsets[i] + number_below(luck_data[i], count)]
    return array


def random_masked_actions(mask, luck, num_actions):
    """Choose the same actions as `random_actions`, given only a mask.

    Args:
        mask: The mask of the legal actions, in any form that the argument `mask` of `Table.new_games` allows.
        luck: uint64 (n,), a random number for each decision.
        num_actions: The number of all actions.

    Returns:
        The dense ids of the actions, uint16 (n,).

    Raises:
        ValueError: If `num_actions` is out of range, the mask has another form or a row without legal actions, or
            `luck` has another length.
    """
    cdef const uint64_t[::1] lucks = np.ascontiguousarray(luck, np.uint64)
    cdef const uint8_t[:, ::1] rows
    cdef const uint64_t* luck_data
    cdef uint16_t[::1] chosen
    cdef Py_ssize_t count, refused = -1
    cdef bint are_bits
    given = np.ascontiguousarray(mask)
    if not 1 <= num_actions <= MAX_ACTIONS:
        raise ValueError(f"num_actions must be from 1 to {MAX_ACTIONS}, not {num_actions}")
    of_bits = (num_actions + 7) // 8
    if given.dtype not in (np.bool_, np.uint8) or given.ndim != 2 or given.shape[1] not in (num_actions, of_bits):
        raise ValueError(
            f"mask must be bool or uint8 (n, {num_actions}), or as bits uint8 (n, {of_bits}), "
            f"not {given.dtype} {given.shape}"
        )
    are_bits = given.shape[1] == of_bits
    rows = given.view(np.uint8)
    count = rows.shape[0]
    luck_data = read_luck(lucks, count)
    array = chosen = np.empty(count, np.uint16)
    if count:
        with nogil:
            refused = draw_all(&rows[0, 0], count, rows.shape[1], are_bits, luck_data, &chosen[0])
    if refused >= 0:
        raise ValueError(f"decision {refused} has no legal action")
    return array


def best_actions(legal_offsets, legal_ids, values):
    """Return the legal action with the highest value for each decision. Among equals, return the first.

    Args:
        legal_offsets: uint32 (n + 1,), as in PositionColumns.
        legal_ids: uint16 (legal_offsets[n],), as in PositionColumns.
        values: (legal_offsets[n],), a value for each of `legal_ids`.

    Returns:
        The dense ids of the actions, uint16 (n,).
    """
    first = legal_offsets[:-1]
    best = np.maximum.reduceat(values, first)
    places = np.flatnonzero(values == np.repeat(best, np.diff(legal_offsets)))
    return legal_ids[places[np.searchsorted(places, first)]]


def scramble(words):
    """Apply a step of SplitMix64 (https://prng.di.unimi.it/splitmix64.c) to each word. The step is a bijection."""
    found = np.array(words, np.uint64, order="C")
    cdef uint64_t[::1] flat = found.reshape(-1)
    cdef Py_ssize_t i
    for i in range(flat.shape[0]):
        flat[i] = scrambled(flat[i])
    # For a scalar argument, return a scalar instead of an array without axes.
    return found[()]


def luck_of(seed, game_numbers, decisions):
    """Return scramble(scramble(scramble(seed) + game_numbers) + decisions) for each decision.

    Args:
        seed: The seed, 0 … 2**64 - 1.
        game_numbers: uint64 (n,), the number of each game.
        decisions: uint32 (n,), the number of decisions in each game so far.

    Returns:
        uint64 (n,).

    Raises:
        ValueError: If the lengths differ.
    """
    cdef const uint64_t[::1] numbers = np.ascontiguousarray(game_numbers, np.uint64)
    cdef const uint32_t[::1] made = np.ascontiguousarray(decisions, np.uint32)
    cdef uint64_t[::1] words
    cdef uint64_t key = scrambled(seed)
    cdef Py_ssize_t i
    if numbers.shape[0] != made.shape[0]:
        raise ValueError(f"decisions must be uint32 ({numbers.shape[0]},), not ({made.shape[0]},)")
    array = words = np.empty(numbers.shape[0], np.uint64)
    for i in range(numbers.shape[0]):
        words[i] = scrambled(scrambled(key + numbers[i]) + made[i])
    return array


cdef inline uint64_t scrambled(uint64_t word) noexcept nogil:
    word = word + <uint64_t> 0x9E3779B97F4A7C15
    word = (word ^ word >> 30) * <uint64_t> 0xBF58476D1CE4E5B9
    word = (word ^ word >> 27) * <uint64_t> 0x94D049BB133111EB
    return word ^ word >> 31


cdef const uint64_t* read_luck(const uint64_t[::1] luck, Py_ssize_t decisions) except? NULL:
    if luck.shape[0] != decisions:
        raise ValueError(f"luck must be uint64 ({decisions},), a number for each decision, not ({luck.shape[0]},)")
    return &luck[0] if decisions else NULL


cdef inline uint32_t number_below(uint64_t luck, uint32_t count) noexcept nogil:
    return (luck >> 32) * count >> 32


cdef inline uint64_t word_at(const uint8_t* block, const uint64_t* flags, int i) noexcept nogil:
    # Return the flag bits of a word in a block.
    cdef uint64_t word
    memcpy(&word, block + WORD * i, WORD)
    return word & flags[i]


cdef inline uint32_t count_in(const uint8_t* block, const uint64_t* flags) noexcept nogil:
    return (
        count_bits(word_at(block, flags, 0))
        + count_bits(word_at(block, flags, 1))
        + count_bits(word_at(block, flags, 2))
        + count_bits(word_at(block, flags, 3))
    )


cdef inline int place_in(const uint8_t* block, const uint64_t* flags, uint32_t left) noexcept nogil:
    # Return the place, in bits, of the flag that has `left` flags before it. The code avoids branches on the flags,
    # because such branches would be hard to predict.
    cdef uint32_t before[BLOCK_WORDS]  # the number of flags before each word
    cdef int i
    before[0] = 0
    for i in range(BLOCK_WORDS - 1):
        before[i + 1] = before[i] + count_bits(word_at(block, flags, i))
    i = (left >= before[1]) + (left >= before[2]) + (left >= before[3])
    return 8 * WORD * i + nth_bit(word_at(block, flags, i), left - before[i])


cdef inline uint32_t count_blocks(
    const uint8_t* row, Py_ssize_t blocks, uint64_t flags, uint32_t* counts
) noexcept nogil:
    # Count the flags of each block. Return their sum.
    cdef uint32_t found, total = 0
    cdef uint64_t word
    cdef Py_ssize_t i
    cdef int j
    for i in range(blocks):
        found = 0
        for j in range(BLOCK_WORDS):
            memcpy(&word, row + BLOCK * i + WORD * j, WORD)
            found += count_bits(word & flags)
        counts[i] = found
        total += found
    return total


cdef Py_ssize_t draw_all(
    const uint8_t* rows, Py_ssize_t count, Py_ssize_t size, bint are_bits, const uint64_t* luck, uint16_t* actions
) noexcept nogil:
    # Draw an action for each row of a mask. Returns the first row without an action, or -1.
    cdef Py_ssize_t blocks = size / BLOCK, rest_size = size % BLOCK, i, j
    cdef uint64_t flags[BLOCK_WORDS]
    cdef uint64_t flags_of_rest[BLOCK_WORDS]
    cdef uint8_t last[BLOCK]
    cdef const uint8_t* row
    cdef const uint8_t* rest
    cdef uint32_t counts[MAX_BLOCKS]
    cdef uint32_t legal, left
    cdef int place
    memset(flags, 0xFF if are_bits else 0x01, BLOCK)
    memset(flags_of_rest, 0, BLOCK)
    memcpy(flags_of_rest, flags, rest_size)
    for i in range(count):
        row = rows + i * size
        rest = row + BLOCK * blocks
        if rest + BLOCK > rows + count * size:
            # Copy the rest of the row, because bytes beyond the array must not be read.
            memcpy(last, rest, rest_size)
            rest = last
        legal = count_in(rest, flags_of_rest)
        # Two calls, because counting all bits needs no mask of flags.
        if are_bits:
            legal += count_blocks(row, blocks, <uint64_t> -1, counts)
        else:
            legal += count_blocks(row, blocks, flags[0], counts)
        if legal == 0:
            return i
        left = number_below(luck[i], legal)
        j = 0
        while j < blocks and left >= counts[j]:
            left -= counts[j]
            j += 1
        if j < blocks:
            place = 8 * BLOCK * j + place_in(row + BLOCK * j, flags, left)
        else:
            place = 8 * BLOCK * blocks + place_in(rest, flags_of_rest, left)
        actions[i] = place if are_bits else place >> 3
    return -1
