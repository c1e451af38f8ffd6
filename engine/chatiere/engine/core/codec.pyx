"""Codecs between positions and the messages of a game's own protobuf file, with the base class of all games' codecs."""

from chatiere.engine.core.errors import EngineError, Reason
from chatiere.engine.core.languages import language_number

from chatiere.engine.core.events cimport HOST, hide_values, kernel_event, may_see
from chatiere.engine.core.operations cimport EVERY_SEAT, NO_SEAT, SPECTATOR
from chatiere.engine.wire.reader cimport Reader, has_number, has_span, listed_numbers, number_of, open_field


def action_number(value, lowest, highest, field):
    """Check that a number in a typed action is within its range, and return the number.

    Args:
        value: The number.
        lowest: The smallest number allowed.
        highest: The largest number allowed.
        field: The path of the number, for error messages.

    Raises:
        EngineError: INVALID_ACTION if the number is not allowed.
    """
    if not lowest <= value <= highest:
        raise EngineError(Reason.INVALID_ACTION, f"{value} is not from {lowest} to {highest}", field=field)
    return value


cdef int64_t given_number(const Message* message, int field, path) except? -1:
    if not has_number(message, field):
        raise EngineError(Reason.INVALID_ACTION, f"the action has no {path.rpartition('.')[2]}", field=path)
    return number_of(message, field)


cdef int number_in(const Message* message, int field, int lowest, int highest, path) except -1:
    return action_number(given_number(message, field, path), lowest, highest, path)


def seat_or_none(first_seat):
    """Return the option first_seat as stored in packed states. NO_SEAT represents None."""
    return NO_SEAT if first_seat is None else first_seat


def first_seat_option(packed):
    """Return {"first_seat": seat} for the seat in a packed state, or {} if the option has its default."""
    return {} if packed == NO_SEAT else {"first_seat": packed}


cdef int within(rules, int64_t number, int lowest, int highest, str name, int index=-1) except? -1:
    if not lowest <= number <= highest:
        rules.in_range(number, lowest, highest, name if index < 0 else f"{name}[{index}]")
    return <int> number


cdef class Scalars:
    """The numbers that occur both in a game's State and View messages and in its packed state."""

    def __cinit__(self, rules):
        self.rules = rules
        self.names = []

    cdef int begin(self, const void* state) except -1:
        self.state = <const uint8_t*> state
        return 0

    cdef int add(
        self,
        str name,
        int state_field,
        int view_field,
        const void* place,
        int lowest,
        int highest,
        int added=0,
        int absent=ALWAYS,
        int size=1,
    ) except -1:
        cdef Scalar* scalar = &self.items[len(self.names)]
        if len(self.names) == MAX_SCALARS:
            raise ValueError(f"a game has at most {MAX_SCALARS} scalars")  # uncovered: no game has more
        scalar.state_field = state_field
        scalar.view_field = view_field
        scalar.offset = <const uint8_t*> place - self.state
        scalar.size = size
        scalar.lowest = lowest
        scalar.highest = highest
        scalar.added = added
        scalar.absent = absent
        self.names.append(name)
        return 0

    cdef int read(self, const Message* message, void* state, int players) except -1:
        cdef const Scalar* scalar
        cdef int i, highest, number
        cdef bint is_given
        for i in range(len(self.names)):
            scalar = &self.items[i]
            highest = scalar.highest
            if highest < 0:
                highest = players if highest == NUM_PLAYERS else players - 1
            is_given = has_number(message, scalar.state_field)
            if scalar.absent == UNTIL_FIRST_SEAT:
                if is_given != self.has_begun(state):
                    self.rules.refuse_state(self.names[i], "it is absent in the phase FIRST_SEAT, and only there")
            if scalar.absent >= 0 and not is_given:
                number = scalar.absent
            else:
                number = within(
                    self.rules, number_of(message, scalar.state_field), scalar.lowest, highest, self.names[i]
                ) - scalar.added
            if scalar.size == 1:
                (<uint8_t*> state)[scalar.offset] = number
            else:
                (<uint16_t*> (<uint8_t*> state + scalar.offset))[0] = number
        return 0

    cdef int put_state(self, Writer out, const void* state) except -1:
        cdef int i
        for i in range(len(self.names)):
            self.put(out, &self.items[i], self.items[i].state_field, <const uint8_t*> state)
        return 0

    cdef int put_view(self, Writer out, const void* state) except -1:
        cdef int i
        for i in range(len(self.names)):
            if self.items[i].view_field != NO_FIELD:
                self.put(out, &self.items[i], self.items[i].view_field, <const uint8_t*> state)
        return 0

    cdef int put(self, Writer out, const Scalar* scalar, int field, const uint8_t* state) except -1:
        cdef const uint8_t* place = state + scalar.offset
        cdef int number = place[0] if scalar.size == 1 else (<const uint16_t*> place)[0]
        if scalar.absent == ALWAYS:
            out.number(field, number + scalar.added)
        elif self.has_begun(state) if scalar.absent == UNTIL_FIRST_SEAT else number != scalar.absent:
            out.present(field, number + scalar.added)
        return 0

    cdef bint has_begun(self, const void* state) noexcept:
        return (<const uint8_t*> state)[self.items[0].offset] != 0


cdef class OptionKind:
    """The type of the field of an option. This class is for numbers, and subclasses are for other values."""

    cdef read(self, const Message* options, int field):
        return number_of(options, field) if has_number(options, field) else None

    cdef int put(self, Writer out, int field, value) except -1:
        return out.present(field, value)


cdef class FlagKind(OptionKind):
    """The type of flags."""

    cdef read(self, const Message* options, int field):
        return number_of(options, field) != 0 if has_number(options, field) else None


cdef class NumbersKind(OptionKind):
    """The type of lists of numbers."""

    cdef read(self, const Message* options, int field):
        return listed_numbers(options, field) if has_span(options, field) else None

    cdef int put(self, Writer out, int field, value) except -1:
        return out.numbers(field, value)


NUMBER, FLAG, NUMBERS = OptionKind(), FlagKind(), NumbersKind()


cdef class OptionFields:
    """The fields of a game's Options message, with the names of the options in the rules file."""

    def __init__(self, rules, encode, options_of, dict fields not None):
        """Initialize the options of a game.

        Args:
            rules: The RulesFile.
            encode: A function that converts a number of players, and options by name, to the kernel's struct.
            options_of: A function that returns a position's options by name.
            fields: A dict that maps the name of each option to its field number and OptionKind.
        """
        self.rules = rules
        self.encode = encode
        self.options_of = options_of
        self.fields = fields
        self.encoded_defaults = {}

    cdef dict read(self, const Message* options):
        cdef dict found = {}
        cdef OptionKind kind
        for name, (field, each) in self.fields.items():
            kind = each
            value = kind.read(options, field)
            if value is not None:
                found[name] = value
        return found

    cdef int put(self, Writer out, options) except -1:
        cdef OptionKind kind
        for name, (field, each) in self.fields.items():
            kind = each
            if name in options:
                kind.put(out, field, options[name])
        return 0

    cdef bytes encoded(self, const Message* state, int field, int players):
        cdef Message options
        open_field(state, field, &options)
        # Cache the result for states without options. Most states have no options, and every call reads a state.
        if options.span.at == options.span.end:
            if players not in self.encoded_defaults:
                self.encoded_defaults[players] = self.encode(players, {})
            return self.encoded_defaults[players]
        try:
            return self.encode(players, self.read(&options))
        except EngineError as error:
            error.lies_below("options")
            self.rules.refuse_state(error.field, error.message, "Components and setup")

    cdef int put_in(self, Writer out, int field, Position position) except -1:
        cdef size_t begun = out.begin(field)
        self.put(out, self.options_of(position))
        return out.end(begun)


cdef class EventFields:
    """The fields of a game's Event message."""

    def __init__(self, fields, values=None, lists=()):
        """Describe the fields of events.

        Args:
            fields: A dict that maps the name of each field of the message to its number.
            values: A dict that maps each kind of event to the names of its values' fields. None means that the game's
                codec writes events itself.
            lists: The names of the fields that are lists. A list in the last field has all remaining values. Any other
                list has one value.
        """
        values = values or {}
        kinds = range(max(values, default=-1) + 1)
        self.values = tuple(bytes(fields[name] for name in values.get(kind, ())) for kind in kinds)
        self.lists = frozenset(fields[name] for name in lists)
        self.kind = fields["kind"]
        self.seat = fields["seat"]

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
                out.short_numbers(order[i], &event.values[i], event.count - i if i == len(order) - 1 else 1)
            else:
                out.present(order[i], event.values[i])
        return 0


cdef class Codec:
    """A codec between positions and the messages of a game's own protobuf file.

    The argument of the read methods is a Reader of a message. They raise EngineError with a `field` that is a path
    within this message. The put methods write fields to a Writer, and `wire.fill` turns these fields into a message
    object.

    `encode_options` converts options by name to the kernel's struct. `options_of` returns the options of a position
    that differ from their defaults. `phrases` has the texts of labels. The argument `language` is "en" or "fr". Other
    values raise ValueError.
    """

    def __init__(self):
        """Raise TypeError, because only the games' packages make codecs."""
        raise TypeError("get a codec from chatiere.engine.codec")

    def read_options(self, Reader options not None):
        """Return the options that are present, by the names in the rules file.

        Args:
            options: The game's Options message.

        Raises:
            EngineError: INVALID_OPTION.
        """
        return self.options.read(&options.message)

    def put_options(self, Writer out not None, options):
        """Write options by name."""
        self.options.put(out, options)

    def read_state(self, Reader state not None, int rules_version):
        """Return the body of a state. `Game.position` has to check this body.

        Args:
            state: The game's State message.
            rules_version: The version of the rules under which the state is played.

        Raises:
            EngineError: INVALID_STATE.
        """
        return self.conversions.read_state(&state.message, rules_version)

    def put_state(self, Writer out not None, Position position not None):
        """Write a position's state."""
        self.write_state(out, position)

    cdef int write_state(self, Writer out, Position position) except -1:
        self.conversions.put_state(out, position)
        return self.write_end(out, self.conversions.end_field, position)

    cdef int write_end(self, Writer out, int field, Position position) except -1:
        cdef size_t begun
        if position.game.ops.end(position.body):
            begun = out.begin(field)
            self.conversions.put_end(out, position)
            out.end(begun)
        return 0

    def read_action(self, Reader action not None, Position position not None):
        """Return the dense id of a typed action at a position. The action may be illegal.

        Args:
            action: The game's Action message.
            position: The position.

        Raises:
            EngineError: INVALID_ACTION, CHANCE_PENDING, GAME_OVER, ILLEGAL_ACTION (the action has no id at this
                position).
        """
        position.require_decision()
        return self.conversions.read_action(&action.message, position)

    def put_action(self, Writer out not None, Position position not None, int action):
        """Write the typed action of a legal dense id.

        Args:
            out: The Writer of the game's Action message.
            position: The position.
            action: The dense id of the action.

        Raises:
            EngineError: INVALID_ACTION, CHANCE_PENDING, GAME_OVER.
        """
        position.require_action(action)
        self.conversions.put_action(out, position, action)

    def action_label(self, Position position not None, int action, language="en"):
        """Return the label of a legal dense id.

        Args:
            position: The position.
            action: The dense id of the action.
            language: The language of the label, "en" or "fr".

        Raises:
            ValueError: If the language is not supported.
            EngineError: As for `put_action`.
        """
        cdef Said said
        position.require_action(action)
        self.conversions.say_action(position, action, &said)
        return label_of(self.phrases, &said, language)

    def outcome_label(self, Position position not None, int outcome, language="en"):
        """Return the label of a possible chance outcome.

        Args:
            position: The position.
            outcome: The outcome.
            language: The language of the label, "en" or "fr".

        Raises:
            ValueError: If the language is not supported.
        """
        cdef Said said
        self.conversions.say_outcome(position, outcome, &said)
        return label_of(self.phrases, &said, language)

    def put_view(self, Writer out not None, Position position not None, seat):
        """Write the view of a seat.

        Args:
            out: The Writer of the game's View message.
            position: The position.
            seat: The seat. None means a spectator.

        Raises:
            EngineError: INVALID_SEAT.
        """
        self.conversions.put_view(out, position, SPECTATOR if seat is None else position.read_seat(seat))

    def put_event(self, Writer out not None, event, bint whole):
        """Write an event.

        Args:
            out: The Writer of the game's Event message.
            event: The event.
            whole: True to write values that only some seats may see; False to write the event as a spectator sees it.
        """
        cdef Event found = as_seen(event, whole)
        self.write_event(out, &found)

    cdef int write_event(self, Writer out, const Event* event) except -1:
        if self.conversions.put_event != NULL:
            return self.conversions.put_event(out, event)
        return self.events.put(out, event)

    def put_event_label(self, Writer out not None, event, bint whole, language="en"):
        """Write the label of an event as text.

        Args:
            out: The Writer of a text.
            event: The event.
            whole: True to write values that only some seats may see; False to write the event as a spectator sees it.
            language: The language of the label, "en" or "fr".

        Raises:
            ValueError: If the language is not supported.
        """
        cdef Event found = as_seen(event, whole)
        cdef Said said
        self.say_event(&found, &said)
        self.phrases.put_text(out, &said, language_number(language), None)

    cdef int say_event(self, const Event* event, Said* said) except -1:
        if self.conversions.say_event != NULL and self.conversions.say_event(event, said):
            return 0
        return self.phrases.say_event(event, said)

    def put_score(self, Writer out not None, Position position not None):
        """Write the breakdown of the whole score. Only the host may see this breakdown."""
        self.conversions.put_score(out, position, EVERY_SEAT)

    cdef int known_totals(self, Position position, int viewer) except -1:
        if self.conversions.known_totals == NULL:
            return EVERY_SEAT
        return self.conversions.known_totals(position, viewer)


cdef Codec make_codec(const Conversions* conversions, OptionFields options, EventFields events, Phrases phrases):
    cdef Codec codec = Codec.__new__(Codec)
    codec.conversions = conversions[0]
    codec.options = options
    codec.events = events
    codec.encode_options = options.encode
    codec.options_of = options.options_of
    codec.phrases = phrases
    return codec


cdef label_of(Phrases phrases, const Said* said, language):
    cdef Writer out = Writer()
    phrases.put_text(out, said, language_number(language), None)
    return bytes(out).decode()


cdef Event as_seen(event, bint whole) except *:
    # Return an event as the host sees it if `whole`, otherwise as a spectator sees it.
    cdef Event found = kernel_event(event)
    if not may_see(&found, HOST if whole else SPECTATOR):
        hide_values(&found)
    return found
