"""Chatpentiers: between the packed state and the messages of chatpentiers.proto."""

from collections.abc import Mapping

from chatiere.engine.core.codec import (
    action_number,
    complete_options,
    label_words,
    read_number,
    read_numbers,
    refuse_option,
    value_fields,
    whole,
)
from chatiere.engine.core.errors import EngineError, Reason
from chatiere.engine.core.integers import shown
from chatiere.engine.games.chatpentiers.words import (
    CARD_NAMES,
    COLOUR_NAMES,
    EVENT_LABELS,
    EVENT_VALUES,
    RULES,
    card_name,
)

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memset

from chatiere.engine.core.game cimport NO_SEAT, Event
from chatiere.engine.core.position cimport Position, put_label, value_for, wrap_put_action, wrap_put_event
from chatiere.engine.core.codec cimport Turn, read_turn, within
from chatiere.engine.wire.reader cimport (
    Message,
    Reader,
    Span,
    count_of,
    has_number,
    has_span,
    list_numbers,
    listed_numbers,
    next_number,
    next_of,
    number_of,
    open_field,
    span_of,
)
from chatiere.engine.wire.writer cimport Writer
from chatiere.engine.games.chatpentiers.kernel cimport view
from chatiere.engine.games.chatpentiers.state cimport (
    CARDS,
    COLOURS,
    DEAL,
    FIRST_SEAT,
    FIRST_TAKE_ID,
    LARGEST_LIMIT,
    MAX_PLAYERS,
    MIN_PLAYERS,
    NO_CARD,
    NO_COLOUR,
    PHASES,
    ROUNDS,
    SECTIONS,
    ZERO_ZONE,
    ZONES,
    BoardScore,
    ChatpentiersEvent,
    Options,
    State,
    View,
    card_bit,
    cards_dealt,
    cards_of_colour,
    cards_to_take,
    count_by_colour,
    limits_of,
    lowest_card,
    number_at,
    points_of_zone,
    rank_seats,
    score_board,
    seat_of_play,
    trick_cards,
)
cimport chatiere.fields.chatpentiers as fields

_EVENT_FIELDS = {
    "seat": fields.EVENT_SEAT,
    "card": fields.EVENT_CARD,
    "zone": fields.EVENT_ZONE,
    "colour": fields.EVENT_COLOUR,
    "ranking": fields.EVENT_RANKING,
    "round": fields.EVENT_ROUND,
    "points": fields.EVENT_POINTS,
}
cdef tuple _LABEL_WORDS = label_words(EVENT_LABELS, _EVENT_FIELDS)
cdef tuple _VALUE_FIELDS = value_fields(EVENT_VALUES, _EVENT_FIELDS)


cdef const State* state_of(Position position) noexcept:
    return <const State*> position.body


cdef put_zone_name(Writer out, int zone):
    if zone == ZERO_ZONE:
        out.words(b"the zero zone")
    else:
        out.words(b"section ")
        out.decimal(zone)


cdef int label_action(Writer out, Position position, int action) except -1:
    # A dense id in plain English.
    cdef int zone, card = card_and_zone(position, action, &zone)
    if zone < 0:
        out.words(b"play ")
        out.string(CARD_NAMES[card])
        return 0
    out.words(b"take ")
    out.string(CARD_NAMES[card])
    out.words(b" into ")
    put_zone_name(out, zone)
    if zone != ZERO_ZONE:
        out.words(b" (limit ")
        out.decimal(state_of(position).section_limits[zone])
        out.words(b")")


put_action_label = wrap_put_action(label_action)


def outcome_label(Position position not None, outcome):
    """A possible chance outcome in plain English."""
    return f"seat {outcome} begins" if state_of(position).phase == FIRST_SEAT else card_name(outcome)


cdef put_ranking(Writer out, const Event* event):
    cdef int i
    for i in range(event.count):
        out.words(b", seat " if i else b"seat ")
        out.decimal(event.values[i])


cdef int label_field(Writer out, const Event* event, int field) except -1:
    # What stands for a field in the label of an event.
    cdef bytes order = _VALUE_FIELDS[event.kind]
    cdef int value = value_for(event, order, field)
    if field == fields.EVENT_SEAT:
        out.decimal(event.seat)
    elif value < 0:
        out.words(b"a card")
    elif field == fields.EVENT_CARD:
        out.string(CARD_NAMES[value])
    elif field == fields.EVENT_COLOUR:
        out.string(COLOUR_NAMES[value])
    elif field == fields.EVENT_RANKING:
        put_ranking(out, event)
    elif field == fields.EVENT_ZONE:
        put_zone_name(out, value)
    else:
        out.decimal(value)

cdef int label_event(Writer out, const Event* event) except -1:
    # An event in plain English.
    return put_label(out, event, _LABEL_WORDS, label_field)


put_event_label = wrap_put_event(label_event)


# Options

_REMOVED_COLOUR = 3  # with 3 players


def _default_limits(players):
    return [1, 2, 3, 5] if players == 3 else [1, 2, 3, 4]


def encode_options(players, options: Mapping):
    """Options by name as the kernel's struct. Raises EngineError: INVALID_OPTION."""
    cdef Options encoded
    cdef int section
    defaults = {"section_limits": _default_limits(players), "removed_colour": _REMOVED_COLOUR}
    options = complete_options("Chatpentiers", options, defaults, players)
    limits = read_numbers("section_limits", options["section_limits"], SECTIONS, 1, LARGEST_LIMIT)
    removed_colour = options["removed_colour"]
    if players == 3:
        removed_colour = read_number("removed_colour", removed_colour, 0, COLOURS - 1)
    elif whole(removed_colour) is None:
        # With 4 or 5 players any number is ignored.
        refuse_option("removed_colour", f"removed_colour must be an integer, not {shown(removed_colour)}")
    memset(&encoded, 0, sizeof(Options))
    encoded.first_seat = options["first_seat"]
    encoded.removed_colour = removed_colour if players == 3 else NO_COLOUR
    for section in range(SECTIONS):
        encoded.section_limits[section] = limits[section]
    return (<const char*> &encoded)[:sizeof(Options)]


cdef list _limits_of(const State* state):
    cdef int section
    return [state.section_limits[section] for section in range(SECTIONS)]


def options_of(Position position not None):
    """The options of a position that differ from their defaults, by name."""
    cdef const State* state = state_of(position)
    limits = _limits_of(state)
    options = {}
    if state.first_seat_option != NO_SEAT:
        options["first_seat"] = state.first_seat_option
    if limits != _default_limits(state.players):
        options["section_limits"] = limits
    if state.removed_colour not in (NO_COLOUR, _REMOVED_COLOUR):
        options["removed_colour"] = state.removed_colour
    return options


def read_options(Reader reader not None):
    """ChatpentiersOptions → options by name. What they may be depends on the number of players: see `encode_options`."""
    cdef const Message* message = &reader.message
    options = {}
    if has_number(message, fields.OPTIONS_FIRST_SEAT):
        options["first_seat"] = number_of(message, fields.OPTIONS_FIRST_SEAT)
    limits = listed_numbers(message, fields.OPTIONS_SECTION_LIMITS)
    if limits:
        options["section_limits"] = limits
    if has_number(message, fields.OPTIONS_REMOVED_COLOUR):
        options["removed_colour"] = number_of(message, fields.OPTIONS_REMOVED_COLOUR)
    return options


def put_options(Writer out not None, options):
    """Options by name → ChatpentiersOptions."""
    if "first_seat" in options:
        out.present(fields.OPTIONS_FIRST_SEAT, options["first_seat"])
    if "section_limits" in options:
        out.numbers(fields.OPTIONS_SECTION_LIMITS, options["section_limits"])
    if "removed_colour" in options:
        out.present(fields.OPTIONS_REMOVED_COLOUR, options["removed_colour"])


# Actions

cdef int card_and_zone(Position position, int action, int* zone) except -1:
    # What a dense id names, the card as the result; the zone of a PlayCard is -1.
    position.require_action(action)
    if action < FIRST_TAKE_ID:
        zone[0] = -1
        return action
    zone[0] = (action - FIRST_TAKE_ID) % ZONES
    return (action - FIRST_TAKE_ID) // ZONES


cdef int write_action(Writer out, Position position, int action) except -1:
    # A dense id at a position → ChatpentiersAction.
    cdef int zone, card = card_and_zone(position, action, &zone)
    cdef size_t begun
    if zone < 0:
        begun = out.begin(fields.ACTION_PLAY_CARD)
        out.present(fields.PLAY_CARD_CARD, card)
    else:
        begun = out.begin(fields.ACTION_TAKE_CARD)
        out.present(fields.TAKE_CARD_CARD, card)
        out.present(fields.TAKE_CARD_ZONE, zone)
    out.end(begun)


put_action = wrap_put_action(write_action)


cdef int number_in(const Message* message, int field, kind, name, int bound) except -1:
    # A number of a typed action, 0 … bound - 1.
    if not has_number(message, field):
        raise EngineError(Reason.INVALID_ACTION, f"the action names no {name}", field=f"{kind}.{name}")
    return action_number(number_of(message, field), 0, bound - 1, f"{kind}.{name}")


def read_action(Reader reader not None, Position position not None):
    """ChatpentiersAction → the dense id at a position; whether it is legal is for `apply` to say.

    Raises EngineError: INVALID_ACTION, CHANCE_PENDING, GAME_OVER.
    """
    cdef Message inner
    cdef int card
    position.require_decision()
    if has_span(&reader.message, fields.ACTION_PLAY_CARD):
        open_field(&reader.message, fields.ACTION_PLAY_CARD, &inner)
        return number_in(&inner, fields.PLAY_CARD_CARD, "play_card", "card", CARDS)
    if not has_span(&reader.message, fields.ACTION_TAKE_CARD):
        raise EngineError(Reason.INVALID_ACTION, "the action is neither play_card nor take_card")
    open_field(&reader.message, fields.ACTION_TAKE_CARD, &inner)
    card = number_in(&inner, fields.TAKE_CARD_CARD, "take_card", "card", CARDS)
    return FIRST_TAKE_ID + ZONES * card + number_in(&inner, fields.TAKE_CARD_ZONE, "take_card", "zone", ZONES)


# State

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


def put_state(Writer out not None, Position position not None):
    """A position → ChatpentiersState."""
    cdef const State* state = state_of(position)
    cdef int seat
    cdef size_t begun = out.begin(fields.STATE_OPTIONS)
    put_options(out, options_of(position))
    out.end(begun)
    for seat in range(state.players):
        begun = out.begin(fields.STATE_SEATS)
        put_set(out, fields.SEAT_HAND, state.hand[seat])
        put_zones(out, fields.SEAT_ZONES, state, seat)
        put_set(out, fields.SEAT_SHOWN_VOIDS, state.voids[seat])
        out.byte_numbers(fields.SEAT_ROUND_POINTS, state.points[seat], state.round)
        out.end(begun)
    out.number(fields.STATE_PHASE, state.phase + 1)
    if state.first_seat != NO_SEAT:
        out.present(fields.STATE_FIRST_SEAT, state.first_seat)
    out.number(fields.STATE_ROUND, state.round + 1)
    out.number(fields.STATE_LEADER, state.leader)
    out.number(fields.STATE_ACTIVE_SEAT, state.active)
    if state.extra != NO_CARD:
        out.present(fields.STATE_EXTRA_CARD, state.extra)
    put_plays(out, fields.STATE_PLAYS, state)
    put_set(out, fields.STATE_DISCARDS, state.discards)
    put_set(out, fields.STATE_UNDEALT_CARDS, state.undealt)


cdef uint64_t read_cards(const Message* message, int field, str path, int seat=0, int place=0) except? 0:
    # The braces of `path` are seat and place.
    cdef Span rest = span_of(message, field)
    cdef uint64_t read = 0
    cdef int64_t card
    cdef int i = 0
    while next_number(&rest, &card):
        if not 0 <= card < CARDS:
            RULES.in_range(card, 0, CARDS - 1, f"{path.format(seat, place)}[{i}]")
        if read & card_bit(<int> card):
            RULES.refuse_state(f"{path.format(seat, place)}[{i}]", f"{card} is named twice")
        read |= card_bit(<int> card)
        i += 1
    return read


cdef read_zones(State* state, int seat, const Message* message):
    cdef Message held
    cdef Span rest = message.span
    cdef uint64_t cards
    cdef int i = 0, zone, colour
    while next_of(fields.SEAT_ZONES, &rest, &held):
        zone = within(RULES, number_of(&held, fields.ZONE_ZONE), 0, ZONES - 1, "seats[{}].zones[{}].zone", seat, i)
        cards = read_cards(&held, fields.ZONE_CARDS, "seats[{}].zones[{}].cards", seat, i)
        if cards == 0:
            RULES.refuse_state(f"seats[{seat}].zones[{i}].cards", "a zone is listed if cards lie in it")
        colour = 0
        while cards & cards_of_colour(colour) == 0:
            colour += 1
        if cards & ~cards_of_colour(colour):
            RULES.refuse_state(f"seats[{seat}].zones[{i}].cards", "a zone holds one colour")
        if state.zone[seat][colour]:
            RULES.refuse_state(f"seats[{seat}].zones[{i}].cards", "a colour lies in one zone of a board")
        state.zone[seat][colour] = 1 + zone
        state.board[seat] |= cards
        i += 1


cdef read_seat(State* state, int seat, const Message* message):
    cdef int64_t points[ROUNDS - 1]
    cdef int64_t colour
    cdef Span rest
    cdef int i = 0
    state.hand[seat] = read_cards(message, fields.SEAT_HAND, "seats[{}].hand", seat)
    if has_span(message, fields.SEAT_ZONES):
        read_zones(state, seat, message)
    rest = span_of(message, fields.SEAT_SHOWN_VOIDS)
    while next_number(&rest, &colour):
        state.voids[seat] |= 1 << within(RULES, colour, 0, COLOURS - 1, "seats[{}].shown_voids[{}]", seat, i)
        i += 1
    if list_numbers(message, fields.SEAT_ROUND_POINTS, points, ROUNDS - 1) != state.round:
        RULES.refuse_state(
            f"seats[{seat}].round_points",
            f"in round {state.round + 1} there are the points of {state.round} finished rounds",
            "Score of a round, a seat",
        )
    for i in range(state.round):
        state.points[seat][i] = within(RULES, points[i], 0, 255, "seats[{}].round_points[{}]", seat, i)


cdef read_trick(State* state, const Message* message):
    # What was taken lies under a board already.
    cdef Message played
    cdef Span rest = message.span
    cdef int seat
    state.extra = NO_CARD
    if has_number(message, fields.STATE_EXTRA_CARD):
        state.extra = within(RULES, number_of(message, fields.STATE_EXTRA_CARD), 0, CARDS - 1, "extra_card")
    if count_of(message, fields.STATE_PLAYS) > state.players:
        RULES.refuse_state("plays", "every seat plays one card to a trick", "A trick")
    while next_of(fields.STATE_PLAYS, &rest, &played):
        seat = seat_of_play(state, state.played)
        if number_of(&played, fields.PLAY_SEAT) != seat:
            RULES.refuse_state(f"plays[{state.played}].seat", f"seat {seat} played that card", "A trick")
        state.play[state.played] = within(
            RULES, number_of(&played, fields.PLAY_CARD), 0, CARDS - 1, "plays[{}].card", state.played
        )
        state.played += 1
    state.table = trick_cards(state)
    for seat in range(state.players):
        state.table &= ~state.board[seat]


def read_state(Reader reader not None):
    """ChatpentiersState → the body of a packed state, for Game.position. Raises EngineError: INVALID_STATE."""
    cdef const Message* read = &reader.message
    cdef Message inner
    cdef Span rest = read.span
    cdef State state
    cdef Turn turn
    cdef int seat
    memset(&state, 0, sizeof(State))
    state.players = within(RULES, count_of(read, fields.STATE_SEATS), MIN_PLAYERS, MAX_PLAYERS, "seats")
    set_options(&state, RULES.read_options(reader.inner(fields.STATE_OPTIONS), read_options, encode_options, state.players))
    read_turn(
        RULES, read, fields.STATE_PHASE, fields.STATE_FIRST_SEAT, fields.STATE_ACTIVE_SEAT, state.players, PHASES, &turn
    )
    state.phase, state.first_seat, state.active = turn.phase, turn.first_seat, turn.active_seat
    state.round = within(RULES, number_of(read, fields.STATE_ROUND), 1, ROUNDS, "round") - 1
    state.leader = within(RULES, number_of(read, fields.STATE_LEADER), 0, state.players - 1, "leader")
    for seat in range(state.players):
        next_of(fields.STATE_SEATS, &rest, &inner)
        read_seat(&state, seat, &inner)
    read_trick(&state, read)
    state.discards = read_cards(read, fields.STATE_DISCARDS, "discards")
    state.undealt = read_cards(read, fields.STATE_UNDEALT_CARDS, "undealt_cards")
    return (<const char*> &state)[:sizeof(State)]


cdef set_options(State* state, bytes encoded):
    cdef const Options* options = <const Options*> <const char*> encoded
    cdef int section
    state.first_seat_option = options.first_seat
    state.removed_colour = options.removed_colour
    for section in range(SECTIONS):
        state.section_limits[section] = options.section_limits[section]


# View

def put_view(Writer out not None, Position position not None, seat):
    """What a seat (None: a spectator) may know → ChatpentiersView."""
    cdef View seen
    cdef const State* state = &seen.state
    cdef uint8_t ranked[MAX_PLAYERS]
    cdef int other, trick = 1
    cdef size_t begun
    view(position.body, -1 if seat is None else seat, &seen)
    if state.phase > DEAL:
        # The leader has played as many cards as there were tricks, and one more if it has played to this one.
        trick += cards_dealt(state.players) - seen.hand_size[state.leader] - (state.played > 0)
    begun = out.begin(fields.VIEW_OPTIONS)
    put_options(out, options_of(position))
    out.end(begun)
    for other in range(state.players):
        begun = out.begin(fields.VIEW_SEATS)
        out.number(fields.SEAT_VIEW_HAND_SIZE, seen.hand_size[other])
        put_set(out, fields.SEAT_VIEW_HAND, state.hand[other])
        put_zones(out, fields.SEAT_VIEW_ZONES, state, other)
        put_set(out, fields.SEAT_VIEW_SHOWN_VOIDS, state.voids[other])
        out.byte_numbers(fields.SEAT_VIEW_ROUND_POINTS, state.points[other], state.round)
        out.end(begun)
    out.number(fields.VIEW_PHASE, state.phase + 1)
    if state.first_seat != NO_SEAT:
        out.present(fields.VIEW_FIRST_SEAT, state.first_seat)
    out.number(fields.VIEW_ROUND, state.round + 1)
    out.number(fields.VIEW_TRICK, trick)
    out.number(fields.VIEW_LEADER, state.leader)
    out.number(fields.VIEW_ACTIVE_SEAT, state.active)
    if state.extra != NO_CARD:
        out.present(fields.VIEW_EXTRA_CARD, state.extra)
    put_plays(out, fields.VIEW_PLAYS, state)
    put_set(out, fields.VIEW_TABLE, state.table)
    if state.played == state.players:
        rank_seats(state, ranked)
        out.byte_numbers(fields.VIEW_RANKING, ranked, state.players)
    out.number(fields.VIEW_CARDS_TO_TAKE, cards_to_take(state))
    put_set(out, fields.VIEW_DISCARDS, state.discards)
    put_set(out, fields.VIEW_UNSEEN_CARDS, state.undealt)
    out.number(fields.VIEW_UNDEALT_SIZE, seen.undealt_size)
    out.byte_numbers(fields.VIEW_SECTION_LIMITS, state.section_limits, SECTIONS)
    if state.removed_colour != NO_COLOUR:
        out.present(fields.VIEW_REMOVED_COLOUR, state.removed_colour)


# Events

cdef int write_event(Writer out, const Event* event) except -1:
    # An event → ChatpentiersEvent.
    cdef bytes order = _VALUE_FIELDS[event.kind]
    cdef int i
    out.number(fields.EVENT_KIND, event.kind)
    if event.seat >= 0:
        out.present(fields.EVENT_SEAT, event.seat)
    if event.kind == ChatpentiersEvent.TRICK_RANKED:
        out.short_numbers(fields.EVENT_RANKING, event.values, event.count)
        return 0
    for i in range(min(event.count, len(order))):
        out.present(order[i], event.values[i])


put_event = wrap_put_event(write_event)


# Score

def put_score(Writer out not None, Position position not None):
    """The breakdown of the score → ChatpentiersScoreDetail."""
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
