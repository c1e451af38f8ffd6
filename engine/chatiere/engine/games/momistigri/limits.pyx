"""Momistigri: how long a game can be (rules file: A turn; Effects of a pair of one value; End of a round)."""

from libc.stdint cimport uint8_t

from chatiere.engine.core.game cimport NO_SEAT
from chatiere.engine.games.momistigri.cards cimport COLOURED, COLOURS, VALUES
from chatiere.engine.games.momistigri.state cimport (
    DEALT,
    LAST_TURN,
    ROUNDS,
    Options,
    value_of,
)


cdef inline bint is_played_with(int value, int players) noexcept nogil:
    # 4 players leave out the 1s, 3 players the 2s and the 9 too.
    return players == 5 or (value > 1 if players == 4 else 2 < value < 9)


cdef int count_kinds(int players, const uint8_t* copies) noexcept nogil:
    # The kinds in the deck; without `copies` the most possible: value v has 10 - v cards in five colours.
    cdef int count = 1, kind, value
    for kind in range(COLOURED):
        value = value_of(kind)
        if is_played_with(value, players):
            count += copies[kind] > 0 if copies != NULL else kind // VALUES < min(10 - value, <int> COLOURS)
    return count


cdef void limits(int players, const void* options, Limits* found) noexcept nogil:
    # Decisions of a round: pairs, and one or more others in each of at most 200 turns. A turn that ends with a pair of
    # 3 has three others, Main and the two of the swap; with a pair of 5 one for each card handed out, at most n - 1;
    # any other turn at most two: Main and NameCard, Give, Pass, Stop. Each pair takes two cards out of the hands, which
    # get cards back only by handing out (a swap replaces one by one): with C cards dealt and h handed out there are at
    # most (C + h) / 2 pairs. So each card handed out brings one and a half decisions: a turn brings at most
    # 3 (n - 1) / 2, or 3 by a swap. This is an upper bound: the four 6s and five 5s never lie so that every
    # turn has that many.
    #
    # Draws of a round: one a turn, one more after a pair of 7, two more after a pair of 8. Between two pairs of 7, and
    # between two pairs of 8, the pile has given back a card: there was a turn with a pair of 5 or 3. With t such turns
    # there are at most t + 1 turns with a pair of 8, and at most 200 - t with a pair of 7 or 8: (t + 1) + (200 - t)
    # more draws.
    cdef const Options* chosen = <const Options*> options
    cdef bint first_seat_comes = chosen == NULL or chosen.first_seat == NO_SEAT
    cdef int deck = DEALT * players + 1
    found.max_game_length = ROUNDS * ((deck + LAST_TURN * max(6, 3 * (players - 1))) // 2)
    found.max_chance_nodes = first_seat_comes + ROUNDS * (deck + 2 * LAST_TURN + 1)
    # The first card of a deal: all kinds of the deck.
    found.max_chance_outcomes = count_kinds(players, chosen.copies if chosen != NULL else NULL)
