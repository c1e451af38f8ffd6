"""The fields of a game's events, and their labels: text with placeholders for fields."""

from libc.stdint cimport uint8_t

from chatiere.engine.wire.reader cimport FIELDS


cdef class EventFields:
    """The fields of a game's Event message."""

    def __init__(self, labels, fields, values=None, lists=(), implicit=()):
        """Describe events by kind: `labels` with names of fields in braces, `values` the names of their values' fields.

        `fields`: the numbers of all these fields by name, and of kind and seat. `lists`: the names of those that hold
        all values of an event; `implicit`: of those without presence, which leave out a 0. Without `values` the codec
        writes events itself.
        """
        # In a label a byte below FIELDS stands for each field.
        marks = {name: chr(number) for name, number in fields.items()}
        kinds = range(max(labels) + 1)
        self.labels = tuple(labels.get(kind, "").format(**marks).encode() for kind in kinds)
        self.values = tuple(bytes(fields[name] for name in (values or {}).get(kind, ())) for kind in kinds)
        self.lists = frozenset(fields[name] for name in lists)
        self.implicit = frozenset(fields[name] for name in implicit)
        self.kind = fields["kind"]
        self.seat = fields["seat"]

    cdef int value(self, const Event* event, int field) except -2:
        cdef bytes order = self.values[event.kind]
        cdef int i
        for i in range(min(event.count, len(order))):
            if order[i] == field:
                return event.values[i]
        return -1

    cdef int put_head(self, Writer out, const Event* event) except -1:
        out.number(self.kind, event.kind)
        if event.seat >= 0:
            out.present(self.seat, event.seat)
        return 0

    cdef int put(self, Writer out, const Event* event) except -1:
        cdef bytes order = self.values[event.kind]
        cdef int i
        self.put_head(out, event)
        for i in range(min(event.count, len(order))):
            if order[i] in self.lists:
                return out.short_numbers(order[i], event.values, event.count)
            if order[i] in self.implicit:
                out.number(order[i], event.values[i])
            else:
                out.present(order[i], event.values[i])
        return 0


cdef int put_words_before_field(Writer out, const char** rest) except -1:
    cdef const char* begin = rest[0]
    cdef const char* end = begin
    while <uint8_t> end[0] >= FIELDS:
        end += 1
    out.characters(begin, end)
    rest[0] = end + 1
    return end[0]
