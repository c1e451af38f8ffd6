"""Labels of events: text with placeholders for fields, and the fields of an event's values."""

from libc.stdint cimport uint8_t

from chatiere.engine.wire.reader cimport FIELDS


def label_words(labels, fields):
    """Return the labels of events, by kind from 0, as bytes; a byte below 32 replaces each field in braces.

    `labels`: the labels by kind. `fields`: the fields' numbers by name.
    """
    marks = {name: chr(number) for name, number in fields.items()}
    return tuple(labels.get(kind, "").format(**marks).encode() for kind in range(max(labels) + 1))


def value_fields(values, fields):
    """Return the fields of the values of events, in order, by kind from 0; `values`: the fields' names by kind."""
    return tuple(bytes(fields[name] for name in values.get(kind, ())) for kind in range(max(values, default=0) + 1))


cdef int put_words_before_field(Writer out, const char** rest) except -1:
    cdef const char* begin = rest[0]
    cdef const char* end = begin
    while <uint8_t> end[0] >= FIELDS:
        end += 1
    out.characters(begin, end)
    rest[0] = end + 1
    return end[0]
