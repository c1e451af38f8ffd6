# Logs of events: what happened in one move or several, kept as the kernel wrote it.
from chatiere.engine.core.game cimport EVERYBODY, Event as KernelEvent, Events

cdef enum:
    HOST = -2  # sees everything; a seat or SPECTATOR does not

cdef inline bint may_see(const KernelEvent* event, int viewer) noexcept nogil:
    # Whether a viewer may see an event's values.
    return event.seen_by == EVERYBODY or viewer == HOST or (viewer >= 0 and event.seen_by >> viewer & 1)


cdef class EventLog:
    cdef KernelEvent* items
    cdef Py_ssize_t count
    cdef Py_ssize_t room
    cdef list listed(self)
    cdef int add(self, const Events* events) except -1
    # An event without its values (a count of 0) unless the viewer may see them.
    cdef KernelEvent shown(self, Py_ssize_t place, int viewer) noexcept


# An Event as the kernel had it.
cdef KernelEvent kernel_event(event) except *
