# Labels of events: plain English, with the event's numbers in it.
from chatiere.engine.core.game cimport Event
from chatiere.engine.wire.writer cimport Writer

# The value of an event for a field, -1 without one. `order`: the fields of its values, as labels.value_fields has them.
cdef inline int value_for(const Event* event, const char* order, int field) noexcept nogil:
    cdef int i = 0
    while i < event.count and order[i]:
        if order[i] == field:
            return event.values[i]
        i += 1
    return -1

# Write a piece of a label made by labels.label_words, up to the next field; returns that, 0 at the end.
cdef int put_words_before_field(Writer out, const char** rest) except -1
