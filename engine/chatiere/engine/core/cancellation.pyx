"""Requests from other threads to pause or to end work in progress."""

from libc.stdint cimport uint64_t

cdef extern from * nogil:
    uint64_t __atomic_fetch_or(uint64_t* value, uint64_t bits, int order) noexcept
    uint64_t __atomic_fetch_and(uint64_t* value, uint64_t bits, int order) noexcept

cdef enum:
    # The bits of requests.
    GIVE_WAY = 1
    CANCEL = 2


class Cancelled(Exception):
    """Raised by work that was cancelled. Cancelled work has no result."""


cdef class Cancellation:
    """A handle by which other threads can cancel work, or pause it in favour of other work.

    The work checks for requests before each item of a batch, each playout and each simulation.
    """

    def __cinit__(self):
        self.control.owner = <void*> self

    def cancel(self):
        """Make the current and all later work that has this handle end by raising Cancelled."""
        __atomic_fetch_or(&self.control.requests, CANCEL, __ATOMIC_RELAXED)

    def ask_to_give_way(self):
        """Make the working thread call `give_way` soon."""
        __atomic_fetch_or(&self.control.requests, GIVE_WAY, __ATOMIC_RELAXED)

    def give_way(self):
        """Wait until the work may continue. The working thread calls this method.

        This implementation returns immediately. An override in a subclass must not raise exceptions.
        """

    def check(self):
        """Call `give_way` if this was requested. Raises Cancelled if `cancel` was called."""
        if must_end(&self.control):
            raise Cancelled("the work was cancelled")

    @property
    def cancelled(self):
        """True if `cancel` was called."""
        return __atomic_load_n(&self.control.requests, __ATOMIC_RELAXED) & CANCEL != 0

    @property
    def moves(self):
        """The number of moves made so far by the steps, playouts and evaluations that have this handle."""
        return __atomic_load_n(&self.control.moves, __ATOMIC_RELAXED)


cdef bint answer(Control* control) noexcept nogil:
    if __atomic_fetch_and(&control.requests, ~<uint64_t> GIVE_WAY, __ATOMIC_RELAXED) & GIVE_WAY:
        with gil:
            (<Cancellation> control.owner).give_way()
    return __atomic_load_n(&control.requests, __ATOMIC_RELAXED) & CANCEL != 0
