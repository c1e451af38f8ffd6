"""Chat Cartonne: how long a game can be (rules file: Components and setup; A turn; End)."""

from chatiere.engine.core.game cimport NO_SEAT
from chatiere.engine.games.chat_cartonne.state cimport (
    ALL_PRINCESSES,
    CARTONS,
    CATS,
    DEALT,
    EAST,
    FIRST_START,
    MAX_HAND,
    NO_DOUBLE_WALLS,
    PARTS,
    PILE_KINDS,
    PRINCESS,
    STARTS,
    WEST,
    Options,
    walls_of,
)


cdef int count_joints() noexcept nogil:
    # The most joints without walls: each takes two open long edges, of cartons, toys or starting cartons.
    cdef int edges = 0, kind
    for kind in range(FIRST_START + STARTS):
        if kind != PRINCESS:
            edges += (walls_of(kind) & EAST == 0) + (walls_of(kind) & WEST == 0)
    return edges // 2


cdef void limits(int players, const void* options, Limits* found) noexcept nogil:
    # Decisions: each seat places a starting carton; Draw, once for each card of the pile; the play of each card, once;
    # Cat or Skip, once for each joint without walls, when the second of its cards is laid; Sleep, once for each cat,
    # and once more for each that a Princess gives back; and passes. This is an upper bound: a seat that sleeps with its
    # last cat is not asked again.
    #
    # A pass in the main phase follows a draw: at a turn's start every seat has a cat left, which may sleep. Where wall
    # may meet wall a carton can always be placed: so a seat passes with three Princesses in its hand and no cat on the
    # table, again only after one that it has played was replaced by another, and never in the final phase, where it
    # holds a carton. With `no_double_walls` each draw may be followed by a pass, each other play of the final phase by
    # one of every other seat, and the last play by one of every seat. In the final phase hands and cats are played.
    cdef const Options* chosen = <const Options*> options
    cdef bint first_seat_comes = chosen == NULL or chosen.first_seat == NO_SEAT
    cdef int variants = chosen.variants if chosen != NULL else ALL_PRINCESSES | NO_DOUBLE_WALLS
    cdef int princesses = PARTS if variants & ALL_PRINCESSES else players
    cdef int pile = PILE_KINDS - DEALT * players + princesses
    cdef int sleeps = CATS * players + princesses
    cdef int passes = max(0, princesses - MAX_HAND + 1)
    if variants & NO_DOUBLE_WALLS:
        passes = pile + (players - 1) * (MAX_HAND * players + sleeps) + players
    found.max_game_length = players + pile + PILE_KINDS + princesses + count_joints() + sleeps + passes
    # The first seat, the deal, the starting cartons of the others, the draws.
    found.max_chance_nodes = first_seat_comes + DEALT * players + players - 1 + pile
    # The first card of the deal. From the pile fewer can come: four kinds or more are dealt, one is the Princess.
    found.max_chance_outcomes = CARTONS
