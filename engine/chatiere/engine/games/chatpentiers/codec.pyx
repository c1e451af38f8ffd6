"""Chatpentiers: conversion between packed states and the messages of chatpentiers.proto."""

from collections.abc import Mapping

from chatiere.engine.core.codec import NUMBER, NUMBERS, first_seat_option, seat_or_none
from chatiere.engine.core.errors import EngineError, Reason
from chatiere.engine.core.integers import as_integer, shown
from chatiere.engine.core.options import complete_options, read_number, read_numbers, refuse_option
from chatiere.engine.core.phrases import phrases_of
from .description import DESCRIPTION, RULES

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memset

from chatiere.engine.core.codec cimport (
    LAST_SEAT, UNTIL_FIRST_SEAT, Conversions, EventFields, OptionFields, Scalars, make_codec, number_in, within,
)
from chatiere.engine.core.operations cimport NO_SEAT, Event
from chatiere.engine.core.phrases cimport Said, add_number, say
from chatiere.engine.core.position cimport Position
from chatiere.engine.wire.reader cimport (
    Message, Span, count_of, has_span, list_numbers, next_number, next_of, number_of, open_field, span_of,
)
from chatiere.engine.wire.writer cimport Writer
from .kernel cimport view
from .state cimport (
    CARDS, COLOURS, DEAL, FIRST_SEAT, FIRST_TAKE_ID, MAX_LIMIT, MAX_PLAYERS, MIN_PLAYERS, NO_CARD, NO_COLOUR, PHASES,
    ROUNDS, SECTIONS, ZERO_ZONE, ZONES, BoardScore, ChatpentiersEvent, Options, Phase, State, View, card_bit,
    cards_dealt, cards_of_colour, cards_to_take, colour_of, count_by_colour, limits_of, lowest_card, number_at,
    points_of_zone, rank_seats, score_board, seat_of_play, trick_cards,
)
cimport chatiere.fields.chatpentiers as fields

PHRASES = phrases_of(DESCRIPTION)
DEFAULTS = {players: DESCRIPTION.defaults(players) for players in range(MIN_PLAYERS, MAX_PLAYERS + 1)}

cdef int PLAY_CARD = PHRASES.number("action.play_card")
cdef int TAKE_CARD = PHRASES.number("action.take_card")
cdef int TAKE_CARD_ZERO = PHRASES.number("action.take_card_zero")
cdef int FIRST_SEAT_OUTCOME = PHRASES.number("outcome.first_seat")
cdef int CARD_OUTCOME = PHRASES.number("outcome.card")
cdef int LEAD = PHRASES.number("prompt.lead")
cdef int FOLLOW = PHRASES.number("prompt.follow")
cdef int TAKE_ONE = PHRASES.number("prompt.take")
cdef int TAKE_TWO = PHRASES.number("prompt.take_two")
cdef int CARD_TAKEN_ZERO = PHRASES.number("event.card_taken_zero")

cdef EventFields EVENTS = EventFields(
    {
        "kind": fields.EVENT_KIND,
        "seat": fields.EVENT_SEAT,
        "card": fields.EVENT_CARDS,
        "zone": fields.EVENT_ZONE,
        "colour": fields.EVENT_COLOUR,
        "ranking": fields.EVENT_RANKING,
        "round": fields.EVENT_ROUND,
        "points": fields.EVENT_POINTS,
    },
    DESCRIPTION.event_values(),
    lists=("card", "ranking"),
)


cdef const State* state_of(Position position) noexcept:
    return <const State*> position.body


# Phrases

cdef int say_action(Position position, int action, Said* said) except -1:
    cdef int zone, card = card_and_zone(action, &zone)
    say(said, PLAY_CARD if zone < 0 else TAKE_CARD_ZERO if zone == ZERO_ZONE else TAKE_CARD)
    add_number(said, card)
    if zone >= 0:
        add_number(said, zone)
        if zone != ZERO_ZONE:
            add_number(said, state_of(position).section_limits[zone])


cdef int say_prompt(Position position, Said* said) except -1:
    cdef const State* state = state_of(position)
    if state.phase == Phase.TAKE:
        say(said, TAKE_ONE if cards_to_take(state) == 1 else TAKE_TWO)
    elif state.played == 0:
        say(said, LEAD)
    else:
        say(said, FOLLOW)
        add_number(said, colour_of(state.play[0]))


cdef int say_outcome(Position position, int outcome, Said* said) except -1:
    say(said, FIRST_SEAT_OUTCOME if state_of(position).phase == FIRST_SEAT else CARD_OUTCOME)
    add_number(said, outcome)


cdef bint say_event(const Event* event, Said* said) except -1:
    # Only a card taken into the zero zone needs a phrase that differs from the default phrase of its kind.
    if event.kind != ChatpentiersEvent.CARD_TAKEN or event.values[1] != ZERO_ZONE:
        return False
    say(said, CARD_TAKEN_ZERO)
    add_number(said, event.seat)
    add_number(said, event.values[0])
    add_number(said, ZERO_ZONE)
    return True


# Options

def encode_options(players, options: Mapping):
    """Convert a mapping of options by name to the kernel's struct. Raises INVALID_OPTION."""
    cdef Options encoded
    cdef int section
    options = complete_options("Chatpentiers", options, DEFAULTS[players], players)
    limits = read_numbers("section_limits", options["section_limits"], SECTIONS, 1, MAX_LIMIT)
    removed_colour = options["removed_colour"]
    if players == 3:
        removed_colour = read_number("removed_colour", removed_colour, 0, COLOURS - 1)
    elif as_integer(removed_colour) is None:
        # With 4 or 5 players, any integer is accepted and ignored.
        refuse_option("removed_colour", f"removed_colour must be an integer, not {shown(removed_colour)}")
    memset(&encoded, 0, sizeof(Options))
    encoded.first_seat = seat_or_none(options["first_seat"])
    encoded.removed_colour = removed_colour if players == 3 else NO_COLOUR
    for section in range(SECTIONS):
        encoded.section_limits[section] = limits[section]
    return (<const char*> &encoded)[:sizeof(Options)]


cdef list _limits_of(const State* state):
    cdef int section
    return [state.section_limits[section] for section in range(SECTIONS)]


def options_of(Position position not None):
    """Return the options of a position that differ from their defaults, by name."""
    cdef const State* state = state_of(position)
    limits, defaults = _limits_of(state), DEFAULTS[state.players]
    options = first_seat_option(state.first_seat_option)
    if limits != defaults["section_limits"]:
        options["section_limits"] = limits
    if state.removed_colour not in (NO_COLOUR, defaults["removed_colour"]):
        options["removed_colour"] = state.removed_colour
    return options


cdef OptionFields OPTIONS = OptionFields(
    RULES,
    encode_options,
    options_of,
    {
        "first_seat": (fields.OPTIONS_FIRST_SEAT, NUMBER),
        "section_limits": (fields.OPTIONS_SECTION_LIMITS, NUMBERS),
        "removed_colour": (fields.OPTIONS_REMOVED_COLOUR, NUMBER),
    },
)


# Actions

cdef int card_and_zone(int action, int* zone) noexcept:
    # Return the card of a dense id. Sets `zone` to the zone of a TakeCard, or to -1 for a PlayCard.
    if action < FIRST_TAKE_ID:
        zone[0] = -1
        return action
    zone[0] = (action - FIRST_TAKE_ID) % ZONES
    return (action - FIRST_TAKE_ID) // ZONES


cdef int put_action(Writer out, Position position, int action) except -1:
    cdef int zone, card = card_and_zone(action, &zone)
    cdef size_t begun
    if zone < 0:
        begun = out.begin(fields.ACTION_PLAY_CARD)
        out.present(fields.PLAY_CARD_CARD, card)
    else:
        begun = out.begin(fields.ACTION_TAKE_CARD)
        out.present(fields.TAKE_CARD_CARD, card)
        out.present(fields.TAKE_CARD_ZONE, zone)
    out.end(begun)


cdef int read_action(const Message* action, Position position) except -1:
    # Read a ChatpentiersAction, and return its dense id. Raises INVALID_ACTION.
    cdef Message inner
    cdef int card
    if has_span(action, fields.ACTION_PLAY_CARD):
        open_field(action, fields.ACTION_PLAY_CARD, &inner)
        return number_in(&inner, fields.PLAY_CARD_CARD, 0, CARDS - 1, "play_card.card")
    if not has_span(action, fields.ACTION_TAKE_CARD):
        raise EngineError(Reason.INVALID_ACTION, "the action is empty: no field is set")
    open_field(action, fields.ACTION_TAKE_CARD, &inner)
    card = number_in(&inner, fields.TAKE_CARD_CARD, 0, CARDS - 1, "take_card.card")
    return FIRST_TAKE_ID + ZONES * card + number_in(&inner, fields.TAKE_CARD_ZONE, 0, ZONES - 1, "take_card.zone")


# State

cdef Scalars list_scalars():
    cdef State at
    cdef Scalars scalars = Scalars(RULES)
    scalars.begin(&at)
    scalars.add("phase", fields.STATE_PHASE, fields.VIEW_PHASE, &at.phase, 1, PHASES, 1)
    scalars.add("first_seat", fields.STATE_FIRST_SEAT, fields.VIEW_FIRST_SEAT, &at.first_seat, 0, LAST_SEAT, 0, NO_SEAT)
    scalars.add(
        "active_seat", fields.STATE_ACTIVE_SEAT, fields.VIEW_ACTIVE_SEAT, &at.active, 0, LAST_SEAT, 0, UNTIL_FIRST_SEAT
    )
    scalars.add("round", fields.STATE_ROUND, fields.VIEW_ROUND, &at.round, 1, ROUNDS, 1)
    scalars.add("leader", fields.STATE_LEADER, fields.VIEW_LEADER, &at.leader, 0, LAST_SEAT, 0, UNTIL_FIRST_SEAT)
    scalars.add("extra_card", fields.STATE_EXTRA_CARD, fields.VIEW_EXTRA_CARD, &at.extra, 0, CARDS - 1, 0, NO_CARD)
    return scalars


cdef Scalars SCALARS = list_scalars()


cdef put_set(Writer out, int field, uint64_t cards):
    cdef uint8_t listed[CARDS]
    cdef int count = 0
    while cards:
        listed[count] = lowest_card(cards)
        count += 1
        cards &= cards - 1
    out.byte_numbers(field, listed, count)


cdef put_zones(Writer out, int field, const State* state, int seat):
    cdef int zone, colour
    cdef size_t begun
    for zone in range(ZONES):
        for colour in range(COLOURS):
            if state.zone[seat][colour] == 1 + zone:
                begun = out.begin(field)
                out.number(fields.ZONE_ZONE, zone)
                put_set(out, fields.ZONE_CARDS, state.board[seat] & cards_of_colour(colour))
                out.end(begun)


cdef put_plays(Writer out, int field, const State* state):
    cdef int place
    cdef size_t begun
    for place in range(state.played):
        begun = out.begin(field)
        out.number(fields.PLAY_SEAT, seat_of_play(state, place))
        out.number(fields.PLAY_CARD, state.play[place])
        out.end(begun)


cdef int put_state(Writer out, Position position) except -1:
    cdef const State* state = state_of(position)
    cdef int seat
    cdef size_t begun
    OPTIONS.put_in(out, fields.STATE_OPTIONS, position)
    SCALARS.put_state(out, state)
    for seat in range(state.players):
        begun = out.begin(fields.STATE_SEATS)
        put_set(out, fields.SEAT_HAND_CARDS, state.hand[seat])
        put_zones(out, fields.SEAT_ZONES, state, seat)
        put_set(out, fields.SEAT_SHOWN_VOIDS, state.voids[seat])
        out.byte_numbers(fields.SEAT_ROUND_POINTS, state.points[seat], state.round)
        out.end(begun)
    put_plays(out, fields.STATE_PLAYS, state)
    put_set(out, fields.STATE_DISCARDS, state.discards)
    put_set(out, fields.STATE_DRAW_PILE_CARDS, state.undealt)


cdef uint64_t read_cards(const Message* message, int field, str name) except? 0:
    cdef Span rest = span_of(message, field)
    cdef uint64_t read = 0
    cdef int64_t card
    cdef int i = 0
    while next_number(&rest, &card):
        within(RULES, card, 0, CARDS - 1, name, i)
        if read & card_bit(<int> card):
            RULES.refuse_state(f"{name}[{i}]", f"{card} is named twice")
        read |= card_bit(<int> card)
        i += 1
    return read


cdef read_zone(State* state, int seat, const Message* held):
    cdef int zone = within(RULES, number_of(held, fields.ZONE_ZONE), 0, ZONES - 1, "zone"), colour = 0
    cdef uint64_t cards = read_cards(held, fields.ZONE_CARDS, "cards")
    if cards == 0:
        RULES.refuse_state("cards", "an empty zone is not listed")
    while cards & cards_of_colour(colour) == 0:
        colour += 1
    if cards & ~cards_of_colour(colour):
        RULES.refuse_state("cards", "a zone holds one colour")
    if state.zone[seat][colour]:
        RULES.refuse_state("cards", "a colour lies in one zone of a board")
    state.zone[seat][colour] = 1 + zone
    state.board[seat] |= cards


cdef read_zones(State* state, int seat, const Message* message):
    cdef Message held
    cdef Span rest = message.span
    cdef int number = 0
    try:
        while next_of(fields.SEAT_ZONES, &rest, &held):
            read_zone(state, seat, &held)
            number += 1
    except EngineError as error:
        error.lies_below("zones", number)
        raise


cdef read_seat(State* state, int seat, const Message* message):
    cdef int64_t points[ROUNDS - 1]
    cdef int64_t colour
    cdef Span rest
    cdef int i = 0
    state.hand[seat] = read_cards(message, fields.SEAT_HAND_CARDS, "hand_cards")
    if has_span(message, fields.SEAT_ZONES):
        read_zones(state, seat, message)
    rest = span_of(message, fields.SEAT_SHOWN_VOIDS)
    while next_number(&rest, &colour):
        state.voids[seat] |= 1 << within(RULES, colour, 0, COLOURS - 1, "shown_voids", i)
        i += 1
    if list_numbers(message, fields.SEAT_ROUND_POINTS, points, ROUNDS - 1) != state.round:
        RULES.refuse_state(
            "round_points",
            f"in round {state.round + 1} there are the points of {state.round} finished rounds",
            "Score of a round, a seat",
        )
    for i in range(state.round):
        state.points[seat][i] = within(RULES, points[i], 0, 255, "round_points", i)


cdef read_play(State* state, const Message* played):
    cdef int seat = seat_of_play(state, state.played)
    if number_of(played, fields.PLAY_SEAT) != seat:
        RULES.refuse_state("seat", f"seat {seat} played that card", "A trick")
    state.play[state.played] = within(RULES, number_of(played, fields.PLAY_CARD), 0, CARDS - 1, "card")
    state.played += 1


cdef read_trick(State* state, const Message* message):
    # Read the trick. The boards must be read first, because they contain the cards taken from the trick.
    cdef Message played
    cdef Span rest = message.span
    cdef int seat
    if count_of(message, fields.STATE_PLAYS) > state.players:
        RULES.refuse_state("plays", "every seat plays one card to a trick", "A trick")
    try:
        while next_of(fields.STATE_PLAYS, &rest, &played):
            read_play(state, &played)
    except EngineError as error:
        error.lies_below("plays", state.played)
        raise
    state.table = trick_cards(state)
    for seat in range(state.players):
        state.table &= ~state.board[seat]


cdef bytes read_state(const Message* read, int rules_version):
    cdef Message inner
    cdef Span rest = read.span
    cdef State state
    cdef int seat = 0
    memset(&state, 0, sizeof(State))
    state.rules_version = rules_version
    state.players = within(RULES, count_of(read, fields.STATE_SEATS), MIN_PLAYERS, MAX_PLAYERS, "seats")
    set_options(&state, OPTIONS.encoded(read, fields.STATE_OPTIONS, state.players))
    SCALARS.read(read, &state, state.players)
    try:
        for seat in range(state.players):
            next_of(fields.STATE_SEATS, &rest, &inner)
            read_seat(&state, seat, &inner)
    except EngineError as error:
        error.lies_below("seats", seat)
        raise
    read_trick(&state, read)
    state.discards = read_cards(read, fields.STATE_DISCARDS, "discards")
    state.undealt = read_cards(read, fields.STATE_DRAW_PILE_CARDS, "draw_pile_cards")
    return (<const char*> &state)[:sizeof(State)]


cdef set_options(State* state, bytes encoded):
    cdef const Options* options = <const Options*> <const char*> encoded
    cdef int section
    state.first_seat_option = options.first_seat
    state.removed_colour = options.removed_colour
    for section in range(SECTIONS):
        state.section_limits[section] = options.section_limits[section]


# View

cdef int put_view(Writer out, Position position, int viewer) except -1:
    cdef View seen
    cdef const State* state = &seen.state
    cdef uint8_t ranked[MAX_PLAYERS]
    cdef int other, trick = 1
    cdef size_t begun
    view(position.body, viewer, &seen)
    if state.phase > DEAL:
        # The leader has played one card in each earlier trick, and one card in this trick unless it has yet to play.
        trick += cards_dealt(state.players) - seen.hand_size[state.leader] - (state.played > 0)
    OPTIONS.put_in(out, fields.VIEW_OPTIONS, position)
    SCALARS.put_view(out, state)
    for other in range(state.players):
        begun = out.begin(fields.VIEW_SEATS)
        out.number(fields.SEAT_VIEW_HAND_SIZE, seen.hand_size[other])
        put_set(out, fields.SEAT_VIEW_HAND_CARDS, state.hand[other])
        put_zones(out, fields.SEAT_VIEW_ZONES, state, other)
        put_set(out, fields.SEAT_VIEW_SHOWN_VOIDS, state.voids[other])
        out.byte_numbers(fields.SEAT_VIEW_ROUND_POINTS, state.points[other], state.round)
        out.end(begun)
    out.number(fields.VIEW_TRICK, trick)
    put_plays(out, fields.VIEW_PLAYS, state)
    put_set(out, fields.VIEW_TABLE_CARDS, state.table)
    if state.played == state.players:
        rank_seats(state, ranked)
        out.byte_numbers(fields.VIEW_RANKING, ranked, state.players)
    out.number(fields.VIEW_CARDS_TO_TAKE, cards_to_take(state))
    put_set(out, fields.VIEW_DISCARDS, state.discards)
    put_set(out, fields.VIEW_UNSEEN_CARDS, state.undealt)
    out.number(fields.VIEW_DRAW_PILE_SIZE, seen.undealt_size)
    out.byte_numbers(fields.VIEW_SECTION_LIMITS, state.section_limits, SECTIONS)
    if state.removed_colour != NO_COLOUR:
        out.present(fields.VIEW_REMOVED_COLOUR, state.removed_colour)


# Score

cdef int put_score(Writer out, Position position, int known) except -1:
    cdef const State* state = state_of(position)
    cdef BoardScore score
    cdef uint64_t counts, limits = limits_of(state)
    cdef uint8_t points[ROUNDS]
    cdef int zone_points[1 + ZONES]
    cdef int seat, colour, zone, i
    cdef size_t begun
    for seat in range(state.players):
        score_board(state, seat, &score)
        counts = count_by_colour(state.board[seat])
        memset(zone_points, 0, sizeof(zone_points))
        for colour in range(COLOURS):
            zone = state.zone[seat][colour]
            zone_points[zone] = points_of_zone(number_at(counts, colour), limits >> 8 * zone & 0xFF)
        for i in range(state.round):
            points[i] = state.points[seat][i]
        points[state.round] = score.points
        begun = out.begin(fields.SCORE_DETAIL_SEATS)
        out.byte_numbers(fields.SEAT_SCORE_ROUND_POINTS, points, state.round + 1)
        out.numbers(
            fields.SEAT_SCORE_SECTION_POINTS, [<uint64_t> <int64_t> zone_points[1 + i] for i in range(SECTIONS)]
        )
        out.number(fields.SEAT_SCORE_ZERO_ZONE_POINTS, <uint64_t> <int64_t> zone_points[1 + ZERO_ZONE])
        out.number(fields.SEAT_SCORE_PERFECT_SECTIONS, score.perfect_sections)
        out.number(fields.SEAT_SCORE_BONUS_POINTS, score.bonus)
        out.number(fields.SEAT_SCORE_BOARD_SUM, <uint64_t> <int64_t> score.sum)
        out.end(begun)


# End

cdef int put_end(Writer out, Position position) except -1:
    out.number(fields.END_KIND, position.game.ops.end(position.body))
    out.present(fields.END_SEAT, position.game.ops.ended_by(position.body))


cdef Conversions CONVERSIONS
CONVERSIONS.end_field = fields.STATE_END
CONVERSIONS.put_end = put_end
CONVERSIONS.read_state = read_state
CONVERSIONS.put_state = put_state
CONVERSIONS.put_view = put_view
CONVERSIONS.put_score = put_score
CONVERSIONS.read_action = read_action
CONVERSIONS.put_action = put_action
CONVERSIONS.say_action = say_action
CONVERSIONS.say_outcome = say_outcome
CONVERSIONS.say_prompt = say_prompt
CONVERSIONS.say_event = say_event

CODEC = make_codec(&CONVERSIONS, OPTIONS, EVENTS, PHRASES)
