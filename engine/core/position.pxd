# The Python face of the engine: a Game and a Position in it.
from libc.stdint cimport uint8_t, uint64_t

from chatiere.engine.core.game cimport BODY_WORDS, Event as KernelEvent, Operations
from chatiere.engine.core.stream cimport Stream
from chatiere.engine.core.wire cimport Writer

ctypedef struct Header:
    # The first bytes of every packed state, little-endian; the game's body follows.
    uint8_t game
    uint8_t rules_version
    uint8_t sampled  # 1: the stream below is in use; 0: chance is explicit and the rest is 0
    uint8_t zero[5]
    uint64_t seed
    uint64_t game_number
    uint64_t drawn


cdef int check_header(const Operations* ops, const Header* header) noexcept nogil
cdef int check_body(const Operations* ops, const void* body, bint sampled) noexcept nogil


cdef class OperationTable:
    cdef const Operations* ops

cdef OperationTable wrap_operations(const Operations* ops)


cdef enum:
    HOST = -2  # sees everything; a seat or SPECTATOR does not

# An Event as the kernel had it; without values (a count of 0) unless the viewer may see them.
cdef KernelEvent event_of(event, int viewer) except *

# The value of an event for a field, -1 without one. `order`: the fields of its values, as codec.value_fields has them.
cdef inline int value_for(const KernelEvent* event, const char* order, int field) noexcept nogil:
    cdef int i = 0
    while i < event.count and order[i]:
        if order[i] == field:
            return event.values[i]
        i += 1
    return -1


cdef class Game:
    cdef const Operations* ops
    cdef readonly object description
    cdef dict default_options  # by players, as the kernel has them; those that were asked for

    cdef Position empty_position(self)
    cpdef int read_players(self, players) except -1
    # The position of a body that nobody has checked; `stream`: NULL for explicit chance. Raises EngineError: INVALID_STATE.
    cdef Position position_of(self, bytes body, const Stream* stream)
    # `options`: the game's own struct, or NULL for whatever the options.
    cdef limits_of(self, int players, const void* options)


cdef class Position:
    cdef readonly Game game
    cdef bint sampled
    cdef Stream stream
    cdef uint64_t body[BODY_WORDS]

    # Refuses unless a seat has to decide: CHANCE_PENDING, GAME_OVER.
    cpdef int require_decision(self) except -1
    # The same, and for a number that is no dense id: INVALID_ACTION. Whether it is legal is not asked.
    cdef int require_action(self, int action) except -1
    cdef int read_seat(self, seat) except -1
    cdef Stream* stream_in_use(self) noexcept nogil
    cdef run_on(self, events)
    cdef Position checked(self)


# A codec's functions for actions and events, which every single call needs many times: for C, and callable from Python.

ctypedef int (*ActionFunction)(Writer out, Position position, int action) except -1
ctypedef int (*EventFunction)(Writer out, const KernelEvent* event) except -1

# Writes what stands for a field in an event's label.
ctypedef int (*EventFieldFunction)(Writer out, const KernelEvent* event, int field) except -1

# An event's label by codec.label_words, its fields written by that function.
cdef int put_label(Writer out, const KernelEvent* event, tuple labels, EventFieldFunction put_field) except -1

cdef class PutAction:
    cdef ActionFunction put

cdef class PutEvent:
    cdef EventFunction put

cdef PutAction wrap_put_action(ActionFunction put)
cdef PutEvent wrap_put_event(EventFunction put)
