# Discat: the public history, and resampling of the information hidden from a seat.
from chatiere.engine.core.stream cimport Stream
from .state cimport Layout, State

cdef void read_layout(const State* state, Layout* layout) noexcept nogil
cdef int resample(void* body, int seat, Stream* stream) noexcept nogil
