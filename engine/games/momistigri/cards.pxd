# Momistigri: sets of cards as bits. The 46 cards of the box have a bit each, in ascending order of kind. Who holds n cards
# of a kind has the first n bits of that kind, whichever copies they are: so equal hands are equal numbers.
from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memset

from chatiere.engine.core.bits cimport bits_by_byte, lowest_bit

cdef enum:
    KINDS = 46
    COLOURED = 45  # kinds with a colour and a value 1-9
    VALUES = 9
    COLOURS = 5
    MOMISTIGRI = 45
    MOMISTIGRI_PLACE = 45  # of its bit: all others come before it
    BOX = 46  # cards

ctypedef struct Box:
    # What is printed on the cards; it follows from the option copies.
    uint8_t kind_at[46]  # of each bit
    uint8_t first_at[47]  # each kind's first bit; then BOX
    uint8_t zero[3]
    uint64_t firsts  # the first bits of all kinds that are there
    uint64_t of_value[9]  # all cards of value 1, 2 ...

cdef inline uint64_t bit(int place) noexcept nogil:
    return <uint64_t> 1 << place

cdef inline int lowest(uint64_t cards) noexcept nogil:
    # The place of the first card.
    return lowest_bit(cards)

cdef inline void lay_out(Box* box, const uint8_t* copies) noexcept nogil:
    # `copies`: of each kind but the Momistigri, 45 in all.
    cdef int place = 0, kind, copy
    memset(box, 0, sizeof(Box))
    for kind in range(KINDS):
        box.first_at[kind] = place
        for copy in range(copies[kind] if kind < COLOURED else 1):
            box.kind_at[place] = kind
            if copy == 0:
                box.firsts |= bit(place)
            if kind < COLOURED:
                box.of_value[kind % VALUES] |= bit(place)
            place += 1
    box.first_at[KINDS] = place

cdef inline uint64_t bits_of(const Box* box, int kind) noexcept nogil:
    # All cards of a kind.
    return bit(box.first_at[kind + 1]) - bit(box.first_at[kind])

cdef inline uint64_t with_card(uint64_t cards, uint64_t kind_bits) noexcept nogil:
    # One card more of a kind that is not there wholly.
    return cards | ((cards & kind_bits) + (kind_bits & -kind_bits))

cdef inline uint64_t without_card(uint64_t cards, uint64_t kind_bits) noexcept nogil:
    # One card fewer of a kind, if there is any.
    return cards & ~(((cards & kind_bits) + (kind_bits & -kind_bits)) >> 1 & kind_bits)

cdef inline uint64_t one_fewer_of_each(const Box* box, uint64_t cards) noexcept nogil:
    return (cards & ~box.firsts) >> 1

cdef inline bint has_single(const Box* box, uint64_t cards) noexcept nogil:
    # Whether there is exactly one card of some kind.
    return (cards & box.firsts & ~one_fewer_of_each(box, cards)) != 0

cdef inline uint64_t running_counts(uint64_t cards) noexcept nogil:
    # Byte i: how many cards there are in the bytes up to i; the last: in all.
    return bits_by_byte(cards) * 0x0101010101010101ULL

cdef inline int count_cards(uint64_t cards) noexcept nogil:
    return running_counts(cards) >> 56

cdef inline int first_above(uint64_t bytes, int number) noexcept nogil:
    # Where the first byte begins that is larger than a number; bytes and number below 128.
    return lowest(((bytes | 0x8080808080808080ULL) - (number + 1) * 0x0101010101010101ULL) & 0x8080808080808080ULL) - 7

cdef inline int nth_card(uint64_t cards, uint64_t counts, int n) noexcept nogil:
    # The place of the card with n others before it; `counts`: running_counts.
    cdef int start = first_above(counts, n)
    cdef uint64_t bits = (cards >> start & 0xFF) * 0x0101010101010101ULL & 0x8040201008040201ULL
    n -= (counts << 8) >> start & 0xFF
    # Byte i: bit i; then how many bits are set up to it.
    bits = (bits + 0x7F7F7F7F7F7F7F7FULL) >> 7 & 0x0101010101010101ULL
    return start + first_above(bits * 0x0101010101010101ULL, n) // 8
