# Labels of events: plain English with the event's numbers.
from chatiere.engine.core.game cimport Event
from chatiere.engine.wire.writer cimport Writer

# The value of an event for a field, or -1. `order`: the fields of its values in order, as from labels.value_fields.
cdef inline int value_for(const Event* event, const char* order, int field) noexcept nogil:
    cdef int i = 0
    while i < event.count and order[i]:
        if order[i] == field:
            return event.values[i]
        i += 1
    return -1

# Write a label made by labels.label_words up to the next field. Returns the field, 0 at the end.
cdef int put_words_before_field(Writer out, const char** rest) except -1
