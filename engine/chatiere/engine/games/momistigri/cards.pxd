# Momistigri: sets of cards as bits. Each of the 46 cards of the box has a bit (its place), in ascending order of kind.
# Every card is in one hand or in none. Cards of a kind are interchangeable: seat 0 has the first of their places, then
# seat 1 and so on, and those in no hand have the last. So equal positions are equal numbers.
from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcpy

from chatiere.engine.core.bits cimport bits_by_byte, lowest_bit

cdef enum:
    VALUES = 9
    COLOURS = 5
    COLOURED = COLOURS * VALUES  # kinds with a colour and a value 1-9
    MOMISTIGRI = COLOURED
    KINDS = MOMISTIGRI + 1
    BOX = 46  # cards
    MOMISTIGRI_PLACE = BOX - 1  # of its bit: all others come before it
    FEWEST_PLAYERS = 3
    MAX_PLAYERS = 5
    BYTES_OF_BOX = 6  # with a bit a card
    PLACES_OF_BOX = 8 * BYTES_OF_BOX

ctypedef struct Box:
    # The kind of each card, as the option copies gives them.
    uint8_t kind_at[PLACES_OF_BOX]  # of each bit, and beyond them the Momistigri again
    uint64_t firsts  # the first bits of all kinds that are there

ctypedef struct Tables:
    # Sets that follow from a box, looked up because they are often needed.
    uint64_t bits_of[KINDS]  # each kind's cards
    uint64_t kinds_in[BYTES_OF_BOX][256]  # each byte's cards: their kinds, as bits
    uint64_t of_value[VALUES]  # all cards of value 1, 2 ...
    uint64_t decks[MAX_PLAYERS + 1]  # [players]: the cards of a game
    uint8_t copies[COLOURED]  # of each kind, the Momistigri apart

# Written once, when the module is loaded. The box with the default copies:
cdef Box USUAL_BOX
cdef Tables USUAL
# The place in a byte of the bit with n others below it.
cdef uint8_t NTH_BIT[256][8]

cdef void lay_out(Box* box, const uint8_t* copies) noexcept nogil
cdef uint64_t find_value(const Box* box, int value) noexcept nogil

cdef extern from * nogil:
    int __builtin_clzll(unsigned long long bits)

cdef inline uint64_t bit(int place) noexcept nogil:
    return <uint64_t> 1 << place

cdef inline int lowest(uint64_t cards) noexcept nogil:
    # The place of the first card.
    return lowest_bit(cards)

cdef inline int first_at(const Box* box, int kind) noexcept nogil:
    # The number of cards of lower kinds. Kinds are below 128: eight at once are compared by their top bits.
    cdef uint64_t kinds, no_lower = 0
    cdef int i
    for i in range(0, PLACES_OF_BOX, 8):
        memcpy(&kinds, &box.kind_at[i], sizeof(kinds))
        no_lower += ((kinds | 0x8080808080808080ULL) - kind * 0x0101010101010101ULL) >> 7 & 0x0101010101010101ULL
    return PLACES_OF_BOX - <int> (no_lower * 0x0101010101010101ULL >> 56)

cdef inline uint64_t same_kind(const Box* box, int place) noexcept nogil:
    # All cards of the kind of one.
    cdef uint64_t next_first
    if box == &USUAL_BOX:
        return USUAL.bits_of[box.kind_at[place]]
    next_first = box.firsts & -(<uint64_t> 2 << place)
    # The Momistigri is the last.
    return ((next_first & -next_first) - last_bit(box.firsts & (<uint64_t> 2 << place) - 1)) & bit(BOX) - 1

cdef inline uint64_t last_bit(uint64_t cards) noexcept nogil:
    # The last card.
    return <uint64_t> 1 << 63 >> __builtin_clzll(cards)

cdef inline uint64_t bits_of(const Box* box, int kind) noexcept nogil:
    # All cards of a kind.
    cdef int place
    if box == &USUAL_BOX:
        return USUAL.bits_of[kind]
    place = first_at(box, kind)
    return same_kind(box, place) if box.kind_at[place] == kind else 0

cdef inline uint64_t of_value(const Box* box, int value) noexcept nogil:
    # All cards of a value, from 0.
    return USUAL.of_value[value] if box == &USUAL_BOX else find_value(box, value)

cdef inline uint64_t deck_for(const Box* box, int players) noexcept nogil:
    # The cards of a game: 4 players leave out the 1s, 3 players the 1s, the 2s and the 9 (rules file: Components and
    # setup).
    cdef uint64_t cards = bit(BOX) - 1
    if box == &USUAL_BOX:
        return USUAL.decks[players]
    if players <= 4:
        cards &= ~find_value(box, 0)
    if players <= 3:
        cards &= ~(find_value(box, 1) | find_value(box, 8))
    return cards

cdef inline uint64_t first_cards(const Box* box, uint64_t cards) noexcept nogil:
    # One card of each kind in a set; those of a kind lie side by side.
    return cards & (box.firsts | ~(cards << 1))

cdef inline uint64_t kinds_in(const Box* box, uint64_t cards) noexcept nogil:
    # The kinds of cards, as bits.
    cdef uint64_t kinds = 0
    cdef int i
    if box == &USUAL_BOX:
        for i in range(BYTES_OF_BOX):
            kinds |= USUAL.kinds_in[i][cards >> 8 * i & 0xFF]
        return kinds
    while cards:
        kinds |= bit(box.kind_at[lowest(cards)])
        cards &= cards - 1
    return kinds

cdef inline uint64_t further_cards(const Box* box, uint64_t cards) noexcept nogil:
    # All cards but first_cards.
    return cards & cards << 1 & ~box.firsts

cdef inline bint has_single(const Box* box, uint64_t cards) noexcept nogil:
    # True if some kind has exactly one card.
    cdef uint64_t further = further_cards(box, cards)
    return (cards & ~further & ~(further >> 1)) != 0

cdef inline uint64_t to_first_places(const Box* box, uint64_t cards) noexcept nogil:
    # As many cards of each kind, at its first places.
    cdef uint64_t moving = cards & ~box.firsts & ~(cards << 1)
    # Usually no kind has more than two cards.
    cards ^= moving | moving >> 1
    moving = cards & ~box.firsts & ~(cards << 1)
    while moving:
        cards ^= moving | moving >> 1
        moving = cards & ~box.firsts & ~(cards << 1)
    return cards

cdef inline uint64_t running_counts(uint64_t cards) noexcept nogil:
    # Byte i: the number of cards in the bytes up to i; the last byte: of all.
    return bits_by_byte(cards) * 0x0101010101010101ULL

cdef inline int count_cards(uint64_t cards) noexcept nogil:
    return running_counts(cards) >> 56

cdef inline int first_above(uint64_t bytes, int number) noexcept nogil:
    # The bit at which the first byte above `number` begins; bytes and number are below 128.
    return lowest(((bytes | 0x8080808080808080ULL) - (number + 1) * 0x0101010101010101ULL) & 0x8080808080808080ULL) - 7

cdef inline int nth_card(uint64_t cards, uint64_t counts, int n) noexcept nogil:
    # The place of the card with n others before it; `counts`: running_counts.
    cdef int start = first_above(counts, n)
    return start + NTH_BIT[cards >> start & 0xFF][n - ((counts << 8) >> start & 0xFF)]
