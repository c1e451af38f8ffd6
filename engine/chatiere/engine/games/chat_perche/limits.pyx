"""Chat perché: how long a game can be (rules file: Components and setup; A turn; End)."""

from libc.stdint cimport uint8_t

from chatiere.engine.core.game cimport NO_SEAT
from chatiere.engine.games.chat_perche.state cimport (
    BRANCHES,
    DECK_SIZE,
    DOGS_1,
    DOGS_2,
    FIRST_TWO_CAT_CARD,
    MAX_TRACK,
    PLAYERS,
    Options,
    card_value,
)


cdef struct Deck:
    int ones  # of dogs cards
    int twos
    int decisions  # that its cards can bring about
    int kinds


cdef inline int most_decisions(int card) noexcept nogil:
    # A second cat can move if the first one leaves it a step.
    if card <= DOGS_2:
        return 0
    return 1 + (card >= FIRST_TWO_CAT_CARD and card_value(card) > 1)


cdef Deck read_deck(const uint8_t* cards) noexcept nogil:
    # Ascending.
    cdef Deck deck = Deck(0, 0, 0, 0)
    cdef int i
    for i in range(DECK_SIZE):
        deck.ones += cards[i] == DOGS_1
        deck.twos += cards[i] == DOGS_2
        deck.decisions += most_decisions(cards[i])
        deck.kinds += i == 0 or cards[i] != cards[i - 1]
    return deck


cdef int fewest_steps(const Deck* deck, int turns) noexcept nogil:
    # The fewest steps of the dogs in a seat's first turns: its dogs cards come last in every pass, 1s before 2s.
    cdef int others = DECK_SIZE - deck.ones - deck.twos, place = turns % DECK_SIZE
    return (
        turns // DECK_SIZE * (deck.ones + 2 * deck.twos)
        + min(max(0, place - others), deck.ones)
        + 2 * max(0, place - others - deck.ones)
    )


cdef void limits(int players, const void* options, Limits* found) noexcept nogil:
    # The seats draw in turn, each all of its own deck before it begins again. So after each turn the dogs have made at
    # least the fewest steps of both seats, and some order of the cards makes exactly that many: the longest game ends
    # with the first turn after which these reach the end of the track.
    #
    # No seat begins a pass through its deck before both have ended the previous one. So each pass brings at most all
    # decisions of both decks, beside a token for each branch. It is a bound: there may be no cat to move or to fall.
    cdef const Options* chosen = <const Options*> options
    cdef bint first_seat_comes = chosen == NULL or chosen.first_seat == NO_SEAT
    # Whatever the options: one dogs card of one step; all others move two cats, and no two are alike.
    cdef Deck deck = Deck(1, 0, 2 * (DECK_SIZE - 1), DECK_SIZE)
    cdef int track = MAX_TRACK, turns = 0, passes
    if chosen != NULL:
        deck = read_deck(chosen.full_deck)
        track = chosen.dog_track
    while fewest_steps(&deck, (turns + 1) // 2) + fewest_steps(&deck, turns // 2) < track:
        turns += 1
    passes = (turns + PLAYERS * DECK_SIZE - 1) // (PLAYERS * DECK_SIZE)
    found.max_game_length = BRANCHES + passes * PLAYERS * deck.decisions
    found.max_chance_nodes = first_seat_comes + turns
    # The first card of a pass; or the first seat.
    found.max_chance_outcomes = max(deck.kinds, PLAYERS if first_seat_comes else 1)
