"""Momistigri: who is beside whom."""


cdef list_neighbours():
    cdef int in_round, seat, distance
    for in_round in range(1 << MAX_PLAYERS):
        for seat in range(MAX_PLAYERS):
            # The nearest comes last; at the distance of all seats, first, each meets itself.
            for distance in range(MAX_PLAYERS, 0, -1):
                note_neighbour(0, in_round, seat, (seat + distance) % MAX_PLAYERS)
                note_neighbour(1, in_round, seat, (seat + MAX_PLAYERS - distance) % MAX_PLAYERS)


cdef note_neighbour(int way, int in_round, int seat, int other):
    if other == seat or in_round >> other & 1:
        BESIDE[way][in_round][seat] = other


list_neighbours()
