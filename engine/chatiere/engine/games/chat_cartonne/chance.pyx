"""Chat Cartonne: chance outcomes (rules file: "Components and setup", "Actions")."""

from libc.stdint cimport uint16_t, uint32_t

from chatiere.engine.core.game cimport NO_SEAT
from chatiere.engine.core.stream cimport Stream, number_below
from chatiere.engine.core.weights cimport common_divisor
from chatiere.engine.games.chat_cartonne.state cimport (
    ALL_PRINCESSES,
    DEAL,
    DRAW,
    DRAW_START,
    FIRST_SEAT,
    FIRST_START,
    FIRST_TOY,
    PILE_KINDS,
    PRINCESS,
    STARTS,
    TOYS,
    State,
    count_kinds,
    current_part,
    has_kind,
    nth_kind,
    pile_size,
)


cdef void weigh_draw(const State* state, int* other, int* princess) noexcept nogil:
    # At a draw: the weight of each carton and toy still in the pile, and that of the Princess.
    cdef int left, part = current_part(state, pile_size(state), &left), cards = count_kinds(state.unknown), common
    other[0] = 1
    princess[0] = 0
    if state.variants & ALL_PRINCESSES:
        princess[0] = left - cards if cards else 1
    elif state.drawer[part] == NO_SEAT:
        # She comes with probability 1 / left, else any other card of the pile, all equally likely.
        princess[0] = max(1, cards)
        other[0] = left - 1
        common = common_divisor(princess[0], other[0])
        princess[0] //= common
        other[0] //= common


cdef int chance_outcomes(const void* body, uint16_t* outcomes, uint32_t* weights) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef int count = 0, kind, other = 1, princess = 0
    if state.phase == FIRST_SEAT:
        for count in range(state.players):
            outcomes[count] = count
            weights[count] = 1
        return state.players
    if state.phase == DRAW_START:
        for kind in range(FIRST_START, FIRST_START + STARTS):
            outcomes[count] = kind
            weights[count] = 1
            count += start_is_left(state, kind)
        return count
    if state.phase == DRAW:
        weigh_draw(state, &other, &princess)
    for kind in range(PILE_KINDS if state.phase == DRAW else FIRST_TOY):
        outcomes[count] = kind
        weights[count] = other
        count += has_kind(state.unknown, kind) and other > 0
    if princess > 0:
        outcomes[count] = PRINCESS
        weights[count] = princess
        count += 1
    return count


cdef int sample_outcome(const void* body, Stream* stream) noexcept nogil:
    cdef const State* state = <const State*> body
    cdef int cards = count_kinds(state.unknown), kind, number, other, princess
    if state.phase == FIRST_SEAT:
        return number_below(stream, state.players)
    if state.phase == DEAL:
        # Below FIRST_TOY: all toys are in the pile.
        return nth_kind(state.unknown, number_below(stream, cards - TOYS))
    if state.phase == DRAW_START:
        number = number_below(stream, STARTS - state.laid)
        kind = FIRST_START
        while number or not start_is_left(state, kind):
            number -= start_is_left(state, kind)
            kind += 1
        return kind
    weigh_draw(state, &other, &princess)
    number = number_below(stream, cards * other + princess)
    return nth_kind(state.unknown, number // other) if number < cards * other else PRINCESS
