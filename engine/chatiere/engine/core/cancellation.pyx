"""Requests from other threads for work in progress to give way or to end."""

from libc.stdint cimport uint64_t

cdef extern from * nogil:
    uint64_t __atomic_fetch_or(uint64_t* value, uint64_t bits, int order) noexcept
    uint64_t __atomic_fetch_and(uint64_t* value, uint64_t bits, int order) noexcept

cdef enum:
    # The bits of requests.
    GIVE_WAY = 1
    CANCEL = 2


class Cancelled(Exception):
    """Raised by work that was cancelled; it has no result."""


cdef class Cancellation:
    """A handle for other threads to cancel work, or to make it give way.

    The work reacts before each item of a batch, each playout and each simulation.
    """

    def __cinit__(self):
        self.control.owner = <void*> self

    def cancel(self):
        """End the work that was given this handle, and all later work, by raising Cancelled."""
        __atomic_fetch_or(&self.control.requests, CANCEL, __ATOMIC_RELAXED)

    def ask_to_give_way(self):
        """Make the working thread call `give_way` soon."""
        __atomic_fetch_or(&self.control.requests, GIVE_WAY, __ATOMIC_RELAXED)

    def give_way(self):
        """Wait until the work may continue; called in the working thread.

        This implementation returns immediately. Subclasses override it; an override must not raise exceptions.
        """

    def check(self):
        """Give way if requested. Raises Cancelled if `cancel` was called."""
        if must_end(&self.control):
            raise Cancelled("the work was cancelled")

    @property
    def cancelled(self):
        """True if `cancel` was called."""
        return __atomic_load_n(&self.control.requests, __ATOMIC_RELAXED) & CANCEL != 0

    @property
    def moves(self):
        """The number of moves made so far by the steps, playouts and evaluations that were given this handle."""
        return __atomic_load_n(&self.control.moves, __ATOMIC_RELAXED)


cdef bint answer(Control* control) noexcept nogil:
    if __atomic_fetch_and(&control.requests, ~<uint64_t> GIVE_WAY, __ATOMIC_RELAXED) & GIVE_WAY:
        with gil:
            (<Cancellation> control.owner).give_way()
    return __atomic_load_n(&control.requests, __ATOMIC_RELAXED) & CANCEL != 0
