"""Chatpentiers: the playout policy. The weight of an action depends on a few of its features."""

from libc.stdint cimport uint8_t, uint64_t

from .state cimport (
    COLOURS, FIRST_TAKE_ID, PLAY, SECTIONS, ZERO_ZONE, ZONES, State, colour_of, count_by_colour, number_at, value_of,
)

# If the scores of two actions differ by 4, the action with the higher score is twice as likely. The weights were found
# by CMA-ES in paired games (docs/bots.md). examples/tune_playouts.py searches for better weights.
PLAYOUT_WEIGHTS = {
    "decisions": 255,  # the number of decisions of a playout that use the policy; later ones are uniform. 255 means all
    "led_value": -1,  # for every two points of the value of a card led
    "followed_value": 5,  # for every two points of the value of a card that follows the colour led
    "discarded_value": -2,  # for every two points of the value of any other card played
    "gain": 8,  # for each point that the board gains from a card taken
    "opens": -10,  # the card is the first of its colour on the board
    "opened_limit": 6,  # for each card that the zone of such a card may hold
    "zero_zone": -10,  # the zone of such a card is the zero zone
}
cdef Weights WEIGHTS = PLAYOUT_WEIGHTS


def pack_weights(weights):
    """Convert a dict of weights by name to the kernel's struct."""
    cdef Weights packed = weights
    return (<const char*> &packed)[:sizeof(Weights)]


cdef inline int bonus(int perfect) noexcept nogil:
    # Return the bonus for a number of perfect sections.
    return perfect - (0 < perfect < SECTIONS)


cdef int gain(int held, int limit, int perfect) noexcept nogil:
    # Return the points that a zone with `held` cards gains from one more card. `perfect` is the number of perfect
    # sections on the board.
    if held > limit:
        return -1
    if held == limit:
        return -1 - held - (bonus(perfect) - bonus(perfect - 1) if limit else 0)
    return 1 + (bonus(perfect + 1) - bonus(perfect) if held + 1 == limit else 0)


cdef void advise_takes(
    const State* state, const Weights* by, const uint16_t* ids, int count, int16_t* scores
) noexcept nogil:
    cdef const uint8_t* zones = state.zone[state.active]
    cdef uint64_t counts = count_by_colour(state.board[state.active])
    cdef int perfect = 0, colour, zone, limit, held, i
    for colour in range(COLOURS):
        zone = zones[colour] - 1
        perfect += 0 <= zone < SECTIONS and number_at(counts, colour) == state.section_limits[zone]
    for i in range(count):
        colour = colour_of((ids[i] - FIRST_TAKE_ID) // ZONES)
        zone = (ids[i] - FIRST_TAKE_ID) % ZONES
        limit = 0 if zone == ZERO_ZONE else state.section_limits[zone]
        held = number_at(counts, colour)
        scores[i] = by.gain * gain(held, limit, perfect) + (by.zero_zone if zone == ZERO_ZONE else 0)
        if held == 0:
            scores[i] += by.opens + by.opened_limit * limit


cdef void advise(
    const void* body, const void* weights, const uint16_t* ids, int count, int16_t* scores
) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef const Weights* by = <const Weights*> weights
    cdef int weight = by.led_value, i
    if state.phase != PLAY:
        advise_takes(state, by, ids, count, scores)
        return
    if state.played:
        # A seat that can follow must follow, so all ids follow the led colour or no id does.
        weight = by.followed_value if colour_of(ids[0]) == colour_of(state.play[0]) else by.discarded_value
    for i in range(count):
        scores[i] = weight * value_of(ids[i]) // 2
