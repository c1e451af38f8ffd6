"""Reading and writing of the messages that all games share (State, Action, View and others), in wire format.

A game has the same field number in every oneof. The game's codec reads and writes the content of this field.
"""

from struct import pack

from chatiere.engine.core.errors import EngineError, Reason
from chatiere.engine.core.languages import language_number

cimport cython
from libc.stdint cimport int64_t, uint8_t, uint16_t

from chatiere.engine.core.codec cimport Codec
from chatiere.engine.core.events cimport HOST, EventLog
from chatiere.engine.core.game cimport Game
from chatiere.engine.core.operations cimport (
    CHANCE as CHANCE_PLAYER,
    EVERY_SEAT,
    EVERYBODY,
    MAX_LEGAL,
    MAX_SEATS,
    SPECTATOR,
    Event,
    is_played,
    rules_version_of,
)
from chatiere.engine.core.phrases cimport Said
from chatiere.engine.core.position cimport Position, position_of
from chatiere.engine.core.stream cimport Stream, stream_at
from chatiere.engine.wire.reader cimport (
    FIELDS,
    Message,
    Reader,
    Span,
    has_number,
    has_span,
    listed_numbers,
    number_of,
    open_field,
    open_span,
)
from chatiere.engine.wire.writer cimport Writer
cimport chatiere.fields.game as fields

cdef enum TurnKind:
    DECISION = 1
    CHANCE
    OVER


@cython.final  # the methods of a final class call each other directly
cdef class Messages:
    """A reader and writer of the messages of one game."""

    cdef readonly Game game
    cdef Codec codec
    cdef int field
    cdef int language
    cdef tuple seats
    cdef bint omits_labels
    cdef bint omits_phrases

    def __init__(self, Game game not None, Codec codec not None, int field, language="en"):
        """Initialize the reader and writer of a game's messages.

        Args:
            game: The game.
            codec: The codec of the game.
            field: The number of the game's field in every oneof.
            language: The language of labels, "en" or "fr".

        Raises:
            ValueError: If the language is not supported.
        """
        self.language = language_number(language)
        self.game = game
        self.codec = codec
        self.field = field

    def saying(self, names, *, bint labels=True, bint phrases=True):
        """Return a writer that uses names for the seats in labels, and that writes labels and phrases or omits them.

        Args:
            names: The names in the order of the seats, in UTF-8. If empty, labels contain the seats' numbers.
            labels: True to write labels.
            phrases: True to write phrases.
        """
        cdef Messages changed = Messages.__new__(Messages)
        changed.language, changed.game, changed.codec, changed.field = self.language, self.game, self.codec, self.field
        changed.seats = tuple(names) or None
        changed.omits_labels, changed.omits_phrases = not labels, not phrases
        return changed

    def read_state(self, Reader state not None):
        """Return the position of a State.

        Args:
            state: The State message.

        Raises:
            EngineError: UNSUPPORTED_RULES_VERSION, INVALID_STATE.
        """
        cdef Message random, body
        cdef Stream stream
        cdef Position position
        cdef int64_t rules_version = number_of(&state.message, fields.STATE_RULES_VERSION)
        if not is_played(self.game.ops, rules_version):
            self.game.check_rules_version(rules_version)
        open_field(&state.message, fields.STATE_STREAM, &random)
        stream = stream_at(
            number_of(&random, fields.RANDOM_STREAM_SEED),
            number_of(&random, fields.RANDOM_STREAM_GAME_NUMBER),
            number_of(&random, fields.RANDOM_STREAM_DRAWN),
        )
        open_field(&state.message, self.field, &body)
        try:
            position = position_of(
                self.game,
                self.codec.conversions.read_state(&body, rules_version),
                &stream if has_span(&state.message, fields.STATE_STREAM) else NULL,
            )
            self.check_end(&body, position)
        except EngineError as error:
            error.lies_below(self.game.name)
            raise
        position.set_ply(number_of(&state.message, fields.STATE_PLY))
        return position

    cdef int check_end(self, const Message* body, Position position) except -1:
        # Check the end in a State message. A request may omit the end, or any fields of the end. A field that is set
        # has to agree with the rest of the state.
        cdef int field = self.codec.conversions.end_field, number
        cdef Message given, found
        cdef Writer out = Writer()
        cdef Span own
        if not has_span(body, field):
            return 0
        if not position.is_terminal():
            raise EngineError(Reason.INVALID_STATE, "the state has an end, but the game is not over", field="end")
        self.codec.conversions.put_end(out, position)
        own.at = out.data
        own.end = out.data + out.size
        open_span(own, &found)
        open_field(body, field, &given)
        for number in range(1, FIELDS):
            # Unknown fields belong to later versions of the API, and are ignored.
            if has_number(&given, number) and has_number(&found, number):
                if number_of(&given, number) != number_of(&found, number):
                    raise EngineError(
                        Reason.INVALID_STATE, "the end is not what follows from the rest of the state", field="end"
                    )
        return 0

    def read_action(self, Reader action not None, Position position not None):
        """Return the dense id of a typed Action at a position.

        Args:
            action: The Action message.
            position: The position.

        Raises:
            EngineError: As for `Codec.read_action`.
        """
        cdef Message typed
        open_field(&action.message, self.field, &typed)
        try:
            position.require_decision()
            return self.codec.conversions.read_action(&typed, position)
        except EngineError as error:
            error.lies_below(self.game.name)
            raise

    cpdef put_state(self, Writer out, Position position):
        """Write a State."""
        cdef size_t begun
        out.number(fields.STATE_RULES_VERSION, rules_version_of(position.body))
        out.number(fields.STATE_PLY, position.plies)
        if position.sampled:
            begun = out.begin(fields.STATE_STREAM)
            out.number(fields.RANDOM_STREAM_SEED, position.stream.key[0])
            out.number(fields.RANDOM_STREAM_GAME_NUMBER, position.stream.key[1])
            out.number(fields.RANDOM_STREAM_DRAWN, position.stream.drawn)
            out.end(begun)
        begun = out.begin(self.field)
        self.codec.write_state(out, position)
        out.end(begun)

    cpdef put_turn(self, Writer out, Position position):
        """Write a Turn: the kind of a position's turn, and the seat to act."""
        cdef int player = position.game.ops.actor(position.body)
        if player >= 0:
            out.number(fields.TURN_KIND, DECISION)
            out.present(fields.TURN_SEAT, player)
        else:
            out.number(fields.TURN_KIND, CHANCE if player == CHANCE_PLAYER else OVER)

    cpdef put_end(self, Writer out, int field, Position position):
        """Write the reason why the game is over as an End in `field`. Write nothing if the game is not over."""
        cdef int end = self.game.ops.end(position.body)
        cdef Said said
        cdef size_t begun
        if end:
            self.codec.phrases.say_end(end, self.game.ops.ended_by(position.body), &said)
            begun = out.begin(field)
            self.put_said(out, fields.END_LABEL, fields.END_PHRASE, &said)
            self.codec.write_end(out, self.field, position)
            out.end(begun)

    cpdef put_prompt(self, Writer out, int field, Position position):
        """Write the acting seat's decision as a Prompt in `field`. Write nothing unless a seat has to act."""
        cdef Said said
        cdef size_t begun
        if position.game.ops.actor(position.body) >= 0:
            self.codec.conversions.say_prompt(position, &said)
            begun = out.begin(field)
            self.put_said(out, fields.PROMPT_LABEL, fields.PROMPT_PHRASE, &said)
            out.end(begun)

    cpdef put_legal_actions(self, Writer out, int field, Position position):
        """Write the legal actions by ascending id as Actions in `field`. Write nothing unless a seat has to act."""
        cdef uint16_t ids[MAX_LEGAL]
        cdef int i, action, count = 0
        cdef size_t begun, inner
        cdef Said said
        if position.game.ops.actor(position.body) >= 0:
            count = position.game.ops.legal_actions(position.body, ids)
        for i in range(count):
            action = ids[i]
            begun = out.begin(field)
            out.present(fields.ACTION_ID, action)
            self.codec.conversions.say_action(position, action, &said)
            self.put_said(out, fields.ACTION_LABEL, fields.ACTION_PHRASE, &said)
            inner = out.begin(self.field)
            self.codec.conversions.put_action(out, position, action)
            out.end(inner)
            out.end(begun)

    cpdef put_chance_outcomes(self, Writer out, int field, Position position):
        """Write the outcomes of the pending chance event, if any, as ChanceOutcomes in `field`, in ascending order."""
        cdef size_t begun
        cdef Said said
        if position.game.ops.actor(position.body) != CHANCE_PLAYER:
            return
        for outcome, weight in position.chance_outcomes():
            begun = out.begin(field)
            out.number(fields.CHANCE_OUTCOME_OUTCOME, outcome)
            out.number(fields.CHANCE_OUTCOME_WEIGHT, weight)
            self.codec.conversions.say_outcome(position, outcome, &said)
            self.put_said(out, fields.CHANCE_OUTCOME_LABEL, fields.CHANCE_OUTCOME_PHRASE, &said)
            out.end(begun)

    cpdef put_events(self, Writer out, int field, EventLog events, seat, bint whole=False):
        """Write events, each as an Event in a field.

        Args:
            out: The Writer of the message.
            field: The number of the field.
            events: The events.
            seat: The seat for which the events are written. None means a spectator.
            whole: True to write the events as the host may see them, regardless of `seat`.
        """
        cdef int other, count, viewer = HOST if whole else SPECTATOR if seat is None else seat
        cdef uint8_t seats[MAX_SEATS]
        cdef Event event
        cdef Said said
        cdef Py_ssize_t place
        cdef size_t begun, inner
        for place in range(events.length):
            event = events.shown(place, viewer)
            begun = out.begin(field)
            if event.seen_by == EVERYBODY:
                out.number(fields.EVENT_EVERYBODY, True)
            else:
                count = 0
                for other in range(MAX_SEATS):
                    if event.seen_by >> other & 1:
                        seats[count] = other
                        count += 1
                out.byte_numbers(fields.EVENT_SEEN_WHOLE_BY, seats, count)
            self.codec.say_event(&event, &said)
            self.put_said(out, fields.EVENT_LABEL, fields.EVENT_PHRASE, &said)
            inner = out.begin(self.field)
            self.codec.write_event(out, &event)
            out.end(inner)
            out.end(begun)

    cdef int put_said(self, Writer out, int label, int phrase, const Said* said) except -1:
        # Write a phrase as a label, a Phrase message, or both.
        cdef size_t begun
        if not self.omits_labels:
            begun = out.begin(label)
            self.codec.phrases.put_text(out, said, self.language, self.seats)
            out.end(begun)
        if not self.omits_phrases:
            self.codec.phrases.put_message(out, phrase, said)
        return 0

    cpdef put_view(self, Writer out, Position position, seat):
        """Write the View of a position for a seat, or for a spectator if `seat` is None."""
        cdef size_t begun
        out.number(fields.VIEW_RULES_VERSION, rules_version_of(position.body))
        if seat is not None:
            out.present(fields.VIEW_SEAT, seat)
        begun = out.begin(fields.VIEW_TURN)
        self.put_turn(out, position)
        out.end(begun)
        out.number(fields.VIEW_PLY, position.plies)
        self.put_end(out, fields.VIEW_END, position)
        self.put_prompt(out, fields.VIEW_PROMPT, position)
        begun = out.begin(self.field)
        self.codec.put_view(out, position, seat)
        out.end(begun)

    cpdef put_score(self, Writer out, Position position):
        """Write the Score. Before the end, it is the score as if the game ended now."""
        out.numbers(fields.SCORE_TOTALS, [complement(total) for total in position.totals()])
        self.put_result(out, position, EVERY_SEAT)

    cpdef put_viewer_score(self, Writer out, Position position, seat):
        """Write the ViewerScore: the part of the score that a seat may know, or a spectator if `seat` is None."""
        cdef int other, known = self.codec.known_totals(position, SPECTATOR if seat is None else seat)
        cdef size_t begun
        for other, total in enumerate(position.totals()):
            begun = out.begin(fields.VIEWER_SCORE_TOTALS)
            if known >> other & 1:
                out.present(fields.VIEWER_TOTAL_TOTAL, complement(total))
            out.end(begun)
        self.put_result(out, position, known)

    cdef int put_result(self, Writer out, Position position, int known) except -1:
        # Write the fields that a Score and a ViewerScore share. `known` is the set of seats whose totals may be shown.
        cdef size_t begun, inner
        if position.is_terminal():
            out.number(fields.SCORE_FINAL, True)
            out.numbers(fields.SCORE_WINNERS, position.winners())
            out.numbers(fields.SCORE_RANKS, position.ranks())
            returns = position.returns()
            begun = out.begin(fields.SCORE_RETURNS)
            out.fields(pack(f"<{len(returns)}d", *returns))
            out.end(begun)
        begun = out.begin(fields.SCORE_DETAIL)
        inner = out.begin(self.field)
        self.codec.conversions.put_score(out, position, known)
        out.end(inner)
        out.end(begun)
        return 0

    def put_position(
        self, Writer out not None, Position position not None, EventLog events not None, Reader wanted not None
    ):
        """Write a Position with the parts that `wanted`, an Include, requests."""
        cdef size_t begun
        begun = out.begin(fields.POSITION_STATE)
        self.put_state(out, position)
        out.end(begun)
        begun = out.begin(fields.POSITION_TURN)
        self.put_turn(out, position)
        out.end(begun)
        out.number(fields.POSITION_PLY, position.plies)
        self.put_end(out, fields.POSITION_END, position)
        self.put_events(out, fields.POSITION_EVENTS, events, None, True)
        if number_of(&wanted.message, fields.INCLUDE_LEGAL_ACTIONS):
            self.put_legal_actions(out, fields.POSITION_LEGAL_ACTIONS, position)
            self.put_chance_outcomes(out, fields.POSITION_CHANCE_OUTCOMES, position)
        if number_of(&wanted.message, fields.INCLUDE_SCORE):
            begun = out.begin(fields.POSITION_SCORE)
            self.put_score(out, position)
            out.end(begun)
        viewers = listed_numbers(&wanted.message, fields.INCLUDE_VIEWERS)
        if number_of(&wanted.message, fields.INCLUDE_SPECTATOR):
            viewers.append(None)
        for seat in viewers:
            begun = out.begin(fields.POSITION_UPDATES)
            self.put_viewer_update(out, position, events, seat)
            out.end(begun)

    cpdef put_viewer_update(self, Writer out, Position position, EventLog events, seat):
        """Write the ViewerUpdate of a seat, or of a spectator if `seat` is None."""
        cdef size_t begun
        if seat is not None:
            out.present(fields.VIEWER_UPDATE_SEAT, seat)
        begun = out.begin(fields.VIEWER_UPDATE_VIEW)
        self.put_view(out, position, seat)
        out.end(begun)
        self.put_events(out, fields.VIEWER_UPDATE_EVENTS, events, seat)
        if seat is not None and seat == position.current_player():
            self.put_legal_actions(out, fields.VIEWER_UPDATE_LEGAL_ACTIONS, position)
        begun = out.begin(fields.VIEWER_UPDATE_SCORE)
        self.put_viewer_score(out, position, seat)
        out.end(begun)


def complement(number):
    """Return a number as protobuf writes it, that is, modulo 2**64."""
    return number & 0xFFFFFFFFFFFFFFFF
