# Requests to pause or to end work in progress.
from libc.stdint cimport uint64_t

cdef extern from * nogil:
    uint64_t __atomic_load_n(const uint64_t* value, int order) noexcept
    uint64_t __atomic_fetch_add(uint64_t* value, uint64_t more, int order) noexcept
    int __ATOMIC_RELAXED

ctypedef struct Control:
    # The part of a Cancellation that working threads share with threads that make requests or read the progress.
    uint64_t requests
    uint64_t moves
    void* owner  # the Cancellation; the caller of the work holds a reference to it

cdef bint answer(Control* control) noexcept nogil

cdef inline bint must_end(Control* control) noexcept nogil:
    # Pause if this was requested. Returns True if the work was cancelled.
    return __atomic_load_n(&control.requests, __ATOMIC_RELAXED) != 0 and answer(control)

cdef inline void count_moves(Control* control, uint64_t moves) noexcept nogil:
    __atomic_fetch_add(&control.moves, moves, __ATOMIC_RELAXED)

cdef class Cancellation:
    cdef Control control
