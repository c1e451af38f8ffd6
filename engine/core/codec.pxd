# Between positions and a game's own messages: what every room's codec is, and what they share.
from libc.stdint cimport int64_t, uint8_t, uint16_t

from chatiere.engine.core.game cimport Event
from chatiere.engine.core.position cimport Position
from chatiere.engine.wire.reader cimport Message
from chatiere.engine.wire.writer cimport Writer

cdef enum:
    # Bounds of a Scalar that depend on the number of players.
    LAST_SEAT = -1
    NUM_PLAYERS = -2
    # A Scalar's field that a message does not have.
    NO_FIELD = 0
    # A Scalar that is never absent.
    ALWAYS = -1
    MAX_SCALARS = 16

# A number of a state. The RulesFile refuses it unless it is from `lowest` to `highest`; its field is "name", or with
# `index` "name[index]".
cdef int within(rules, int64_t number, int lowest, int highest, str name, int index=*) except? -1


ctypedef struct Scalar:
    # A number that a game's messages have much as the packed state does.
    int state_field  # of the State message
    int view_field  # of the View message, or NO_FIELD
    int offset  # in the packed state, in bytes
    int size  # there: 1 or 2 bytes
    int lowest  # of the messages' number
    int highest  # or LAST_SEAT, NUM_PLAYERS
    int added  # to the packed number, for the messages'
    int absent  # the packed number for which the field is absent, or ALWAYS


cdef class Scalars:
    cdef object rules
    cdef list names
    cdef const uint8_t* state
    cdef Scalar items[MAX_SCALARS]
    # The packed state that the places of `add` are in.
    cdef int begin(self, const void* state) except -1
    # A number's name, its fields, its place, the bounds of the messages' number; see Scalar. `absent`: the fields are optional.
    cdef int add(
        self,
        str name,
        int state_field,
        int view_field,
        const void* place,
        int lowest,
        int highest,
        int added=*,
        int absent=*,
        int size=*,
    ) except -1
    cdef int read(self, const Message* message, void* state, int players) except -1
    cdef int put_state(self, Writer out, const void* state) except -1
    cdef int put_view(self, Writer out, const void* state) except -1


cdef class OptionKind:
    # What the field of an option holds. `read` returns None where the field is absent.
    cdef read(self, const Message* options, int field)
    cdef int put(self, Writer out, int field, value) except -1


cdef class OptionFields:
    cdef object rules
    cdef object encode
    cdef object options_of
    cdef dict fields
    cdef dict encoded_defaults
    cdef dict read(self, const Message* options)
    cdef int put(self, Writer out, options) except -1
    # The options in a field of a state's message, as the kernel's struct. Raises INVALID_STATE.
    cdef bytes encoded(self, const Message* state, int field, int players)
    # A position's options, in a field of its state's or view's message.
    cdef int put_in(self, Writer out, int field, Position position) except -1


ctypedef struct Conversions:
    # A room's conversions, each between the engine and a message of the game's own, or a piece of a text (labels).
    bytes (*read_state)(const Message* state)  # a body that nobody has checked
    int (*put_state)(Writer out, Position position) except -1
    int (*put_view)(Writer out, Position position, int viewer) except -1
    int (*put_score)(Writer out, Position position) except -1
    # At a decision; ids are dense ids, legal or not.
    int (*read_action)(const Message* action, Position position) except -1
    int (*put_action)(Writer out, Position position, int action) except -1
    int (*put_action_label)(Writer out, Position position, int action) except -1
    # A field in the label of an event, its seat apart.
    int (*put_label_field)(Writer out, const Event* event, int field) except -1
    # NULL where an event's values are its fields one by one.
    int (*put_event)(Writer out, const Event* event) except -1
    # Whether it wrote another label than the one for the event's kind; NULL where there is none.
    bint (*put_event_label)(Writer out, const Event* event) except -1


cdef class Codec:
    cdef Conversions room
    cdef OptionFields options
    cdef readonly object encode_options
    cdef readonly object options_of
    cdef readonly object outcome_label
    cdef tuple labels
    cdef tuple values
    cdef int event_kind
    cdef int event_seat
    cdef int write_event(self, Writer out, const Event* event) except -1
    cdef int write_event_label(self, Writer out, const Event* event) except -1

# `labels`: of events by kind, with the names of fields in braces. `event_fields`: the numbers of these fields, kind and seat
# among them. `event_values`: by kind the names of the fields that an event's values are, in order.
cdef Codec make_codec(
    const Conversions* room, OptionFields options, outcome_label, labels, event_fields, event_values=*
)
# Kind and seat of an event, which every game's message has.
cdef int put_event_head(Writer out, const Event* event, int kind_field, int seat_field) except -1
