# Phrases, the contents of labels. A phrase is one of the game's templates, with numbers for its arguments.
from libc.stdint cimport int16_t, uint8_t, uint16_t

from chatiere.engine.core.operations cimport MAX_EVENT_VALUES, Event
from chatiere.engine.wire.writer cimport Writer

cdef enum:
    MAX_ARGUMENTS = 6
    MAX_NUMBERS = 2 * MAX_EVENT_VALUES

ctypedef struct Said:
    # A phrase, and the numbers of all its arguments in order.
    int phrase
    int count  # the number of arguments
    uint8_t ends[MAX_ARGUMENTS]  # for each argument, the place where its numbers end
    int16_t numbers[MAX_NUMBERS]


cdef inline void say(Said* said, int phrase) noexcept nogil:
    # Begin a phrase. Its arguments must be added next, in the order of the template.
    said.phrase = phrase
    said.count = 0

cdef inline void add_number(Said* said, int number) noexcept nogil:
    # Add an argument of one number.
    cdef int end = said.ends[said.count - 1] if said.count else 0
    said.numbers[end] = number
    said.ends[said.count] = end + 1
    said.count += 1

ctypedef fused listed_number:
    uint8_t
    uint16_t

cdef inline void add_numbers(Said* said, const listed_number* numbers, int count) noexcept nogil:
    # Add an argument that is a list.
    cdef int i, end = said.ends[said.count - 1] if said.count else 0
    for i in range(count):
        said.numbers[end + i] = numbers[i]
    said.ends[said.count] = end + count
    said.count += 1


cdef class Phrases:
    cdef tuple keys
    cdef tuple arguments
    cdef dict numbers
    cdef dict kinds
    cdef list texts  # for each language, a dict of the templates by key
    # For each language and phrase: `templates` has the template or a tuple of its forms, in which bytes from 1 on
    # represent arguments. `names` has, for each argument, the names of its pieces, or None for a plain number.
    cdef tuple templates
    cdef tuple names
    # For each language: `separators` has the three separators of lists (in a list of two elements, between elements of
    # a longer list, and before its last element). `seats` has the words for seats. `forms` has the form of a template
    # for each number.
    cdef tuple separators
    cdef tuple seats
    cdef tuple forms
    # For each phrase, the argument that determines its form, or ONE_FORM.
    cdef bytes plurals
    # For each phrase, its key and the names of its arguments, encoded as the first fields of the messages.
    cdef tuple heads
    cdef tuple argument_heads
    cdef tuple of_event  # for each kind of event, the phrase and the places of its arguments in the event
    cdef tuple of_hidden_event
    cdef tuple of_end
    # Compute the phrase of an event's kind, or the public variant of the phrase if the event's values are hidden.
    cdef int say_event(self, const Event* event, Said* said) except -1
    cdef int say_end(self, int end, int seat, Said* said) except -1
    # Write a phrase as text. `seats` has the names of the players, or is None to use the seats' numbers.
    cdef int put_text(self, Writer out, const Said* said, int language, tuple seats) except -1
    cdef int put_argument(self, Writer out, const Said* said, int argument, tuple names, int language) except -1
    cdef bytes form_of(self, tuple forms, const Said* said, int argument, int language)
    cdef int put_message(self, Writer out, int field, const Said* said) except -1
