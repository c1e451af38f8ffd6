"""Labels of events: words with places for the event's numbers, and which value of an event is which field."""

from libc.stdint cimport uint8_t

from chatiere.engine.wire.reader cimport FIELDS


def label_words(labels, fields):
    """The labels of events, by kind from 0: bytes in which a byte below 32 stands for each field in braces.

    `labels`: by kind. `fields`: the numbers by name.
    """
    marks = {name: chr(number) for name, number in fields.items()}
    return tuple(labels.get(kind, "").format(**marks).encode() for kind in range(max(labels) + 1))


def value_fields(values, fields):
    """The fields that the values of events are for, in order, by kind from 0; `values`: their names, by kind."""
    return tuple(bytes(fields[name] for name in values.get(kind, ())) for kind in range(max(values, default=0) + 1))


cdef int put_words_before_field(Writer out, const char** rest) except -1:
    cdef const char* begin = rest[0]
    cdef const char* end = begin
    while <uint8_t> end[0] >= FIELDS:
        end += 1
    out.characters(begin, end)
    rest[0] = end + 1
    return end[0]
