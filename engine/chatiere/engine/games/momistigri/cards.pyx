"""Momistigri: what is printed on the cards."""

from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memset


cdef void lay_out(Box* box, const uint8_t* copies) noexcept nogil:
    # The copies of each value sum to what the box has.
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


cdef lay_out_usual_box():
    # In the order of value card i has colour i mod 5.
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
        if kind != MOMISTIGRI:
            USUAL.of_value[kind % VALUES] |= bit(place)
    USUAL.decks[5] = bit(BOX) - 1
    USUAL.decks[4] = USUAL.decks[5] & ~USUAL.of_value[0]
    USUAL.decks[3] = USUAL.decks[4] & ~(USUAL.of_value[1] | USUAL.of_value[8])


cdef list_bits():
    cdef int byte, place, n
    for byte in range(256):
        n = 0
        for place in range(8):
            if byte >> place & 1:
                NTH_BIT[byte][n] = place
                n += 1


lay_out_usual_box()
list_bits()
