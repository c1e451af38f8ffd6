"""Events for Python, and logs of them."""

from collections.abc import Sequence
from typing import NamedTuple

from cpython.mem cimport PyMem_Free, PyMem_Realloc
from libc.string cimport memcpy, memset

from chatiere.engine.core.operations cimport EVERYBODY, MAX_EVENT_VALUES, MAX_SEATS


class Event(NamedTuple):
    """An occurrence in a game.

    Attributes:
        kind: The number of the kind in the game's own numbering.
        seat: The seat that the event concerns, or None.
        seen_by: The seats that may know the values. None means all seats and spectators.
        values: The values. Their meanings depend on the kind.
    """

    kind: int
    seat: int | None
    seen_by: frozenset[int] | None
    values: tuple[int, ...]


# SEATS_OF maps the bits of a set of seats to the set. The second table is the inverse of SEATS_OF.
cdef list SEATS_OF = [
    frozenset(seat for seat in range(MAX_SEATS) if bits >> seat & 1) for bits in range(1 << MAX_SEATS)
]
cdef dict BITS_OF = {seats: bits for bits, seats in enumerate(SEATS_OF)}


cdef class EventLog:
    """A log of events, the oldest first. It is a sequence. Its elements, Event objects, are created on access.

    `Game.new_game` and `Position.apply` append events to a log.
    """

    def __init__(self):
        """Make an empty log."""

    def __dealloc__(self):
        PyMem_Free(self.items)

    def __reduce__(self):
        raise TypeError("a log of events cannot be pickled: pickle its events, list(log)")

    def __len__(self):
        return self.length

    def __getitem__(self, place):
        cdef Py_ssize_t i
        if isinstance(place, slice):
            return self.listed()[place]
        i = place
        if i < 0:
            i += self.length
        if not 0 <= i < self.length:
            raise IndexError("event index out of range")
        return event_of(&self.items[i])

    def __iter__(self):
        return iter(self.listed())

    def __repr__(self):
        return f"EventLog({self.listed()})"

    index = Sequence.index
    count = Sequence.count

    cdef list listed(self):
        cdef Py_ssize_t i
        return [event_of(&self.items[i]) for i in range(self.length)]

    cdef int add(self, const Events* events) except -1:
        cdef Py_ssize_t capacity = 2 * self.length + events.count
        cdef void* items
        if events.count == 0:
            return 0
        if self.length + events.count > self.capacity:
            items = PyMem_Realloc(self.items, capacity * sizeof(KernelEvent))
            if items == NULL:
                raise MemoryError()  # uncovered: memory does not run out in tests
            self.items = <KernelEvent*> items
            self.capacity = capacity
        memcpy(self.items + self.length, events.items, events.count * sizeof(KernelEvent))
        self.length += events.count
        return 0

    cdef KernelEvent shown(self, Py_ssize_t place, int viewer) noexcept:
        cdef KernelEvent event = self.items[place]
        if not may_see(&event, viewer):
            hide_values(&event)
        return event


Sequence.register(EventLog)


cdef event_of(const KernelEvent* event):
    cdef tuple values
    cdef int i
    values = (
        event.kind,
        None if event.seat < 0 else event.seat,
        None if event.seen_by == EVERYBODY else SEATS_OF[event.seen_by],
        tuple([event.values[i] for i in range(event.count)]),
    )
    # Return Event(*values), without calling Python code.
    return tuple.__new__(Event, values)


cdef KernelEvent kernel_event(event) except *:
    cdef KernelEvent found
    cdef tuple values
    cdef int i
    if not isinstance(event, Event):
        raise TypeError(f"expected an Event, not {type(event).__name__}")
    memset(&found, 0, sizeof(KernelEvent))
    kind, seat, seen_by, values = <tuple> event
    if len(values) > MAX_EVENT_VALUES:
        raise ValueError(f"an event has at most {MAX_EVENT_VALUES} values")
    found.kind = kind
    found.seat = -1 if seat is None else seat
    found.seen_by = EVERYBODY if seen_by is None else BITS_OF[seen_by]
    found.count = len(values)
    for i in range(found.count):
        found.values[i] = values[i]
    return found
