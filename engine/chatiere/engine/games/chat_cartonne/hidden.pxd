# Chat Cartonne: resampling of the information hidden from a seat.
from chatiere.engine.core.stream cimport Stream

cdef int resample(void* body, int seat, Stream* stream) noexcept nogil
