# The fields of a game's events, and their labels: plain English with the event's numbers.
from chatiere.engine.core.game cimport Event
from chatiere.engine.wire.writer cimport Writer

cdef class EventFields:
    cdef tuple labels
    cdef tuple values
    cdef frozenset lists
    cdef frozenset implicit
    cdef int kind
    cdef int seat
    # The value of an event for a field, of a list its first; -1 if it is hidden, or the event has none.
    cdef int value(self, const Event* event, int field) except -2
    # Write an event's kind and seat; the same and its values, as the fields that they are for.
    cdef int put_head(self, Writer out, const Event* event) except -1
    cdef int put(self, Writer out, const Event* event) except -1

# Write a label up to the next field. Returns the field, 0 at the end.
cdef int put_words_before_field(Writer out, const char** rest) except -1
