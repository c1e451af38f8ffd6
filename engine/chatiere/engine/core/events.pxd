# Logs of events, in the form in which the kernel wrote them.
from libc.string cimport memset

from chatiere.engine.core.operations cimport EVERYBODY, Event as KernelEvent, Events

cdef enum:
    HOST = -2  # a viewer that sees all values, unlike seats and SPECTATOR

cdef inline bint may_see(const KernelEvent* event, int viewer) noexcept nogil:
    # Return True if the viewer may see the event's values.
    return event.seen_by == EVERYBODY or viewer == HOST or (viewer >= 0 and event.seen_by >> viewer & 1)


cdef inline void hide_values(KernelEvent* event) noexcept nogil:
    event.count = 0
    memset(event.values, 0, sizeof(event.values))


cdef class EventLog:
    cdef KernelEvent* items
    cdef Py_ssize_t length
    cdef Py_ssize_t capacity
    cdef list listed(self)
    cdef int add(self, const Events* events) except -1
    # Return the event at a place, but without values (count 0) if the viewer may not see them.
    cdef KernelEvent shown(self, Py_ssize_t place, int viewer) noexcept


# Convert a Python Event to the kernel's struct.
cdef KernelEvent kernel_event(event) except *
