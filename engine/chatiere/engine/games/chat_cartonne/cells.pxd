# Chat Cartonne: sets of cells, a bit a cell in WORDS words of 64, and the cells beside others.
from libc.stdint cimport uint16_t, uint64_t

from chatiere.engine.core.bits cimport count_bits, lowest_bit, nth_bit
from chatiere.engine.games.chat_cartonne.state cimport CENTRE, MAX_CARDS, WORDS, State

cdef enum:
    MAX_LISTED = MAX_CARDS + 7  # space for cells that are written eight at a time

cdef inline uint64_t word_of(const uint64_t* cells, int word) noexcept nogil:
    # Words beyond the table are empty.
    return cells[word] if word >= 0 and word < WORDS else 0

cdef inline uint64_t first_column(int word) noexcept nogil:
    # Three words are eight rows of 24.
    return <uint64_t> 0x0001000001000001 << 8 * (word % 3)

# One word of a set that is moved by a cell.

cdef inline uint64_t to_north(const uint64_t* cells, int word) noexcept nogil:
    return cells[word] >> 24 | word_of(cells, word + 1) << 40

cdef inline uint64_t to_south(const uint64_t* cells, int word) noexcept nogil:
    return cells[word] << 24 | word_of(cells, word - 1) >> 40

cdef inline uint64_t to_east(const uint64_t* cells, int word) noexcept nogil:
    return (cells[word] << 1 | word_of(cells, word - 1) >> 63) & ~first_column(word)

cdef inline uint64_t to_west(const uint64_t* cells, int word) noexcept nogil:
    return (cells[word] & ~first_column(word)) >> 1 | (word_of(cells, word + 1) & ~first_column(word + 1)) << 63

# Cards hang together, so the words with cards have no gap, around the word of the centre. No card lies in a word before
# `first_word`, or from `end_word` on.

cdef inline int first_word(const State* state) noexcept nogil:
    cdef int word = CENTRE >> 6
    while word > 0 and state.filled[word - 1]:
        word -= 1
    return word

cdef inline int end_word(const State* state) noexcept nogil:
    cdef int word = (CENTRE >> 6) + 1
    while word < WORDS and state.filled[word]:
        word += 1
    return word

cdef inline int lowest_cell(const uint64_t* cells) noexcept nogil:
    # The set must not be empty.
    cdef int word = 0
    while cells[word] == 0:
        word += 1
    return 64 * word + lowest_bit(cells[word])

cdef inline int nth_cell(const uint64_t* cells, int n) noexcept nogil:
    # The cell with n others before it; the set must have more than n.
    cdef int word = 0
    while n >= count_bits(cells[word]):
        n -= count_bits(cells[word])
        word += 1
    return 64 * word + nth_bit(cells[word], n)

cdef inline uint64_t next_column(uint64_t column) noexcept nogil:
    # `first_column` of the next word.
    return column >> 16 | column << 8

cdef inline uint64_t beside(uint64_t before, uint64_t cells, uint64_t after, uint64_t column) noexcept nogil:
    # The empty cells of a word that share an edge with a filled one, of it and the words around it; `column`: its
    # `first_column`.
    cdef uint64_t rows = cells >> 24 | after << 40 | cells << 24 | before >> 40
    cdef uint64_t east = (cells << 1 | before >> 63) & ~column
    cdef uint64_t west = (cells & ~column) >> 1 | (after & ~next_column(column)) << 63
    return (rows | east | west) & ~cells

cdef inline uint64_t free_beside(const State* state, int word) noexcept nogil:
    # Empty cells that share an edge with a card.
    return beside(
        word_of(state.filled, word - 1), state.filled[word], word_of(state.filled, word + 1), first_column(word)
    )

cdef inline int list_word(uint64_t cells, int word, int first_id, uint16_t* ids) noexcept nogil:
    # Write the cells of a word, ascending, as numbers from `first_id`. Returns their number. Eight at a time, as
    # few words have more: up to seven ids beyond the last are written, and ignored.
    cdef int count = count_bits(cells), first = first_id + 64 * word, done, i
    for done in range(0, count, 8):
        for i in range(8):
            ids[done + i] = first + lowest_bit(cells | <uint64_t> 1 << 63)
            cells &= cells - 1
    return count

cdef inline void list_filled(const State* state, uint16_t* cells) noexcept nogil:
    # The cell of each card on the table; there has to be space for MAX_LISTED.
    cdef int count = 0, word
    for word in range(WORDS):
        count += list_word(state.filled[word], word, 0, cells + count)

cdef inline void spread_word(
    uint64_t* cells, const uint64_t* east, const uint64_t* south, int word
) noexcept nogil:
    cdef uint64_t before = word_of(cells, word - 1), after = word_of(cells, word + 1), last = 0
    cdef uint64_t more = cells[word] | after << 63 & east[word] | after << 40 & south[word]
    if word:
        more |= (before & east[word - 1]) >> 63 | (before & south[word - 1]) >> 40
    while more != last:
        last = more
        more |= (more & east[word]) << 1 | more >> 1 & east[word]
        more |= (more & south[word]) << 24 | more >> 24 & south[word]
    cells[word] = more

cdef inline bint spread_further(
    uint64_t* cells, const uint64_t* east, const uint64_t* south, int first, int end
) noexcept nogil:
    # Add cells joined to those of a set: words southwards, then northwards. Returns False if there were none to add.
    # `east` and `south`: the cells joined to their neighbour there; none lie outside the words from `first` to `end`
    # (`first - 1` is read).
    cdef uint64_t changed = 0, before
    cdef int word
    for word in range(first, end):
        before = cells[word]
        spread_word(cells, east, south, word)
        changed |= before ^ cells[word]
    for word in range(end - 2, first - 1, -1):
        before = cells[word]
        spread_word(cells, east, south, word)
        changed |= before ^ cells[word]
    return changed != 0

cdef inline void spread(
    uint64_t* cells, const uint64_t* east, const uint64_t* south, int first, int end
) noexcept nogil:
    # Add all cells that hang together with those of a set.
    while spread_further(cells, east, south, first, end):
        pass
