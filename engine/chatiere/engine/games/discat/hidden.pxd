# Discat: the public history, and the states that agree with what a seat knows.
from chatiere.engine.core.stream cimport Stream
from chatiere.engine.games.discat.state cimport Layout, State

cdef void read_layout(const State* state, Layout* layout) noexcept nogil
cdef int resample(void* body, int seat, Stream* stream) noexcept nogil
