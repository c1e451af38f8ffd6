# Momistigri: where the cards are, who knows it, and the states that agree with what a seat knows.
from chatiere.engine.core.stream cimport Stream
from chatiere.engine.games.momistigri.state cimport State

cdef void deal_card(State* state, int seat, int kind) noexcept nogil
cdef void lay_down(State* state, int seat, int kind) noexcept nogil
cdef void take_up(State* state, int seat, int kind) noexcept nogil
cdef void hand_over(State* state, int giver, int receiver, int kind) noexcept nogil
cdef void show_no_ones(State* state, int seat) noexcept nogil
cdef void forget_ones(State* state, int seat) noexcept nogil
cdef int resample(void* body, int seat, Stream* stream) noexcept nogil
