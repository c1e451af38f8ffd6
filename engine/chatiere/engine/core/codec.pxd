# Codecs between positions and a game's own messages: the base class of all games' codecs, and shared parts.
from libc.stdint cimport int64_t, uint8_t, uint16_t

from chatiere.engine.core.operations cimport Event
from chatiere.engine.core.phrases cimport Phrases, Said
from chatiere.engine.core.position cimport Position
from chatiere.engine.wire.reader cimport Message
from chatiere.engine.wire.writer cimport Writer

cdef enum:
    # Bounds of a Scalar that represent players - 1 and players.
    LAST_SEAT = -1
    NUM_PLAYERS = -2
    # The field number of a Scalar that is not in the message.
    NO_FIELD = 0
    # Special values of Scalar.absent. ALWAYS means that the field is never absent. UNTIL_FIRST_SEAT means that the
    # field is a seat that is absent only in the phase FIRST_SEAT. The state then has 0. The phase must then be the
    # first Scalar, and FIRST_SEAT its lowest value.
    ALWAYS = -1
    UNTIL_FIRST_SEAT = -2
    MAX_SCALARS = 16

# Return a number of a state if it is from `lowest` to `highest`. Otherwise, raise the error of the RulesFile. The
# error's field is "name", or "name[index]" if `index` is given.
cdef int within(rules, int64_t number, int lowest, int highest, str name, int index=*) except? -1
# Return the number in a field of a typed action. `path` is "kind.field". Raise INVALID_ACTION if the number is absent.
# number_in also raises INVALID_ACTION if the number is not from `lowest` to `highest`.
cdef int number_in(const Message* message, int field, int lowest, int highest, path) except -1
cdef int64_t given_number(const Message* message, int field, path) except? -1


ctypedef struct Scalar:
    # A number that occurs both in a game's messages and in its packed state.
    int state_field  # the field number in the State message
    int view_field  # the field number in the View message, or NO_FIELD
    int offset  # the offset in the packed state, in bytes
    int size  # the size in the packed state, 1 or 2 bytes
    int lowest  # the smallest value in messages
    int highest  # the largest value in messages, or LAST_SEAT or NUM_PLAYERS
    int added  # the number in messages minus the packed number
    int absent  # the packed number for which the field is absent, or ALWAYS, UNTIL_FIRST_SEAT


cdef class Scalars:
    cdef object rules
    cdef list names
    cdef const uint8_t* state
    cdef Scalar items[MAX_SCALARS]
    # Begin a new list of Scalars. The places passed to `add` must be in `state`.
    cdef int begin(self, const void* state) except -1
    # Add a Scalar that is stored at `place` in the state passed to `begin`. Its fields are optional if `absent` is
    # given.
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
    cdef int put(self, Writer out, const Scalar* scalar, int field, const uint8_t* state) except -1
    # Return True unless the phase is FIRST_SEAT.
    cdef bint has_begun(self, const void* state) noexcept


cdef class OptionKind:
    # The type of the field of an option. `read` returns None if the field is absent.
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
    # Return the options in a field of a State message as the kernel's struct. Raises INVALID_STATE.
    cdef bytes encoded(self, const Message* state, int field, int players)
    # Write a position's options into a field of its State or View message.
    cdef int put_in(self, Writer out, int field, Position position) except -1


cdef class EventFields:
    cdef tuple values
    cdef frozenset lists
    cdef int kind
    cdef int seat
    # put_head writes an event's kind and seat. put also writes the event's values, each into its own field.
    cdef int put_head(self, Writer out, const Event* event) except -1
    cdef int put(self, Writer out, const Event* event) except -1


ctypedef struct Conversions:
    # A game package's conversions between the engine and the game's own messages or phrases.
    int end_field  # the number of the State field with the reason why the game is over
    int (*put_end)(Writer out, Position position) except -1  # called only when the game is over
    # Returns an unchecked body that is played under the rules version. Raises INVALID_STATE.
    bytes (*read_state)(const Message* state, int rules_version)
    int (*put_state)(Writer out, Position position) except -1
    int (*put_view)(Writer out, Position position, int viewer) except -1
    # Returns the set of seats whose totals a viewer may know before the end. NULL if all viewers may know all totals.
    int (*known_totals)(Position position, int viewer) except -1
    # `known` is the set of seats whose totals the score may contain.
    int (*put_score)(Writer out, Position position, int known) except -1
    # These functions are called only at decisions. `action` is a dense id. The action may be illegal.
    int (*read_action)(const Message* action, Position position) except -1
    int (*put_action)(Writer out, Position position, int action) except -1
    int (*say_action)(Position position, int action, Said* said) except -1
    # These functions are called only at chance events. `outcome` may be any number.
    int (*say_outcome)(Position position, int outcome, Said* said) except -1
    # Describes the acting seat's decision by public information. Called only at decisions.
    int (*say_prompt)(Position position, Said* said) except -1
    # NULL if each value of an event is one field.
    int (*put_event)(Writer out, const Event* event) except -1
    # Returns True if the event needs a phrase that differs from the phrase of its kind. NULL if no event needs one.
    bint (*say_event)(const Event* event, Said* said) except -1


cdef class Codec:
    cdef Conversions conversions
    cdef OptionFields options
    cdef readonly object encode_options
    cdef readonly object options_of
    cdef EventFields events
    # Return the set of seats whose totals a viewer may know.
    cdef int known_totals(self, Position position, int viewer) except -1
    cdef int write_state(self, Writer out, Position position) except -1
    # If the game is over, write the reason into a field.
    cdef int write_end(self, Writer out, int field, Position position) except -1
    cdef readonly Phrases phrases
    cdef int write_event(self, Writer out, const Event* event) except -1
    cdef int say_event(self, const Event* event, Said* said) except -1

cdef Codec make_codec(const Conversions* conversions, OptionFields options, EventFields events, Phrases phrases)
