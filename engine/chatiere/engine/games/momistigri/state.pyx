"""Momistigri: the constants of the packed state, and tables of cards, neighbours and pairs."""

from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memset


cdef void lay_out(Box* box, const uint8_t* copies) noexcept nogil:
    # Fill in a box. The copies of each value must add up to the number of cards with this value in the box.
    cdef int place = 0, kind
    box.firsts = bit(MOMISTIGRI_PLACE)
    for kind in range(COLOURED):
        if copies[kind]:
            box.firsts |= bit(place)
            memset(&box.kind_at[place], kind, copies[kind])
            place += copies[kind]
    memset(&box.kind_at[place], MOMISTIGRI, PLACES_OF_BOX - place)


cdef uint64_t find_value(const Box* box, int value) noexcept nogil:
    cdef uint64_t cards = 0
    cdef int colour
    for colour in range(COLOURS):
        cards |= bits_of(box, VALUES * colour + value)
    return cards


cdef void lay_out_usual_box() noexcept:
    # Fill in the default box and its tables. If cards are sorted by value, card i has colour i mod 5.
    cdef int value, i = 0, kind, place = 0, byte
    for value in range(VALUES):
        for _ in range(VALUES - value):
            USUAL.copies[VALUES * (i % COLOURS) + value] += 1
            i += 1
    lay_out(&USUAL_BOX, USUAL.copies)
    for place in range(BOX):
        kind = USUAL_BOX.kind_at[place]
        USUAL.bits_of[kind] |= bit(place)
        for byte in range(256):
            if byte >> (place & 7) & 1:
                USUAL.kinds_in[place >> 3][byte] |= bit(kind)
    for value in range(VALUES):
        USUAL.of_value[value] = find_value(&USUAL_BOX, value)
    USUAL.decks[5] = bit(BOX) - 1
    USUAL.decks[4] = USUAL.decks[5] & ~USUAL.of_value[0]
    USUAL.decks[3] = USUAL.decks[4] & ~(USUAL.of_value[1] | USUAL.of_value[8])


cdef void list_bits() noexcept:
    cdef int byte, place, n
    for byte in range(256):
        n = 0
        for place in range(8):
            if byte >> place & 1:
                NTH_BIT[byte][n] = place
                n += 1


lay_out_usual_box()
list_bits()


cdef void list_neighbours() noexcept:
    cdef int in_round, seat, distance
    for in_round in range(1 << MAX_PLAYERS):
        for seat in range(MAX_PLAYERS):
            # Later entries overwrite earlier entries, so the loop begins with the seat itself and ends with the
            # nearest.
            for distance in range(MAX_PLAYERS, 0, -1):
                note_neighbour(0, in_round, seat, (seat + distance) % MAX_PLAYERS)
                note_neighbour(1, in_round, seat, (seat + MAX_PLAYERS - distance) % MAX_PLAYERS)


cdef void note_neighbour(int way, int in_round, int seat, int other) noexcept:
    if other == seat or in_round >> other & 1:
        BESIDE[way][in_round][seat] = other


list_neighbours()


cdef void list_ids_of_pairs() noexcept:
    cdef int low, high
    for high in range(KINDS):
        for low in range(high + 1):
            PAIRS[high * (high + 1) // 2 + low][0] = low
            PAIRS[high * (high + 1) // 2 + low][1] = high


list_ids_of_pairs()

cdef void list_partners() noexcept:
    cdef int low, high
    for high in range(KINDS):
        for low in range(high + 1):
            if form_pair(low, high):
                PARTNERS[high] |= bit(low)


list_partners()


cdef bint form_pair(int low, int high) noexcept nogil:
    # Return True for two kinds that form a pair: they have the same value or colour. The Momistigri forms no pairs.
    return low != MOMISTIGRI and high != MOMISTIGRI and (
        low // VALUES == high // VALUES or low % VALUES == high % VALUES
    )
