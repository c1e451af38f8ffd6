"""Chatpentiers: between the packed state and the messages of chatpentiers.proto, and the words for both.

The functions fill and read the message objects that they are handed; they import nothing of them.
"""

from collections.abc import Mapping

from chatiere.engine.core.codec import (
    RulesFile,
    action_number,
    check_id,
    check_numbers,
    complete_options,
    fill_event_fields,
    fill_fields,
    fill_turn,
    is_number,
    is_whole,
    read_fields,
    refuse_option,
    without_defaults,
)
from chatiere.engine.core.errors import EngineError, Reason

from libc.stdint cimport uint64_t
from libc.string cimport memset

from chatiere.engine.core.position cimport Position
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
    NUM_ACTIONS,
    PHASES,
    ROUNDS,
    SECTIONS,
    VALUES,
    ZERO_ZONE,
    ZONES,
    BoardScore,
    ChatpentiersEvent,
    ChatpentiersFault,
    Options,
    State,
    View,
    card_bit,
    cards_dealt,
    cards_of_colour,
    cards_to_take,
    colour_of,
    count_by_colour,
    limits_of,
    number_at,
    points_of_zone,
    rank_seats,
    score_board,
    seat_of_play,
    trick_cards,
)

RULES = RulesFile("chatpentiers.md")
COLOUR_NAMES = ("grey", "green", "red", "brown", "blue")


# Words

FAULTS = {
    int(ChatpentiersFault.TAKING_NOT_A_CHOICE): RULES.illegal(
        "the seat plays a card of its hand; cards are taken when all have played", "A trick"
    ),
    int(ChatpentiersFault.PLAYING_NOT_A_CHOICE): RULES.illegal(
        "all have played; the seat takes a card from the table: taking is a must", "A trick"
    ),
    int(ChatpentiersFault.CARD_NOT_IN_HAND): RULES.illegal("the hand does not hold that card", "Actions"),
    int(ChatpentiersFault.MUST_FOLLOW): RULES.illegal("the hand holds a card of the led colour and must follow", "A trick"),
    int(ChatpentiersFault.CARD_NOT_ON_TABLE): RULES.illegal("that card does not lie on the table", "Actions"),
    int(ChatpentiersFault.NO_ZERO_ZONE): RULES.illegal("with 3 players boards have no zero zone", "A trick"),
    int(ChatpentiersFault.COLOUR_LIES_ELSEWHERE): RULES.illegal(
        "the colour already lies under the board: the card goes to its zone", "A trick"
    ),
    int(ChatpentiersFault.ZONE_HOLDS_ANOTHER_COLOUR): RULES.illegal("the zone holds another colour", "A trick"),
    int(ChatpentiersFault.BAD_PLAYERS): RULES.broken("Chatpentiers is for 3 to 5 players", "seats", "Components and setup"),
    int(ChatpentiersFault.BAD_PHASE): RULES.broken("an extra card is turned up with 3 players only", "phase", "A trick"),
    int(ChatpentiersFault.BAD_FIRST_SEAT): RULES.broken(
        "the first seat is not a seat, not the one that the options name, or set before chance has chosen it",
        "first_seat",
        "Components and setup",
    ),
    int(ChatpentiersFault.BAD_LIMITS): RULES.broken(
        "the limit of a section is from 1 to 9", "options.section_limits", "Components and setup"
    ),
    int(ChatpentiersFault.BAD_REMOVED_COLOUR): RULES.broken(
        "with 3 players one of the five colours is left out, else none", "options.removed_colour", "Components and setup"
    ),
    int(ChatpentiersFault.BAD_ROUND): RULES.broken(
        "the round is from 1 to 3, the first one before anybody has begun and the third one when the game is over",
        "round",
        "Components and setup",
    ),
    int(ChatpentiersFault.BAD_LEADER): RULES.broken(
        "the leader is not a seat, or not the round's first seat in the deal or the first trick",
        "leader",
        "Components and setup",
    ),
    int(ChatpentiersFault.BAD_ACTIVE_SEAT): RULES.broken(
        "the active seat does not follow from the leader, the cards played and taken, and their rank",
        "active_seat",
        "A trick",
    ),
    int(ChatpentiersFault.CARD_TWICE_OR_MISSING): RULES.broken(
        "a card of the round is in no place or in two, or a card that is left out is in play", "undealt_cards"
    ),
    int(ChatpentiersFault.BAD_HAND): RULES.broken(
        "a hand does not have as many cards as it has at this moment", "seats.hand", "Components and setup"
    ),
    int(ChatpentiersFault.BAD_EXTRA): RULES.broken(
        "with 3 players, and with them only, an extra card lies open while cards are played and taken",
        "extra_card",
        "A trick",
    ),
    int(ChatpentiersFault.BAD_PLAYS): RULES.broken(
        "the cards played to the trick are not different cards, as many as the phase says", "plays", "A trick"
    ),
    int(ChatpentiersFault.BAD_TABLE): RULES.broken(
        "the trick's cards are not on the table, nor under the boards of those whose turn it was to take", "plays", "A trick"
    ),
    int(ChatpentiersFault.BAD_DISCARDS): RULES.broken("every finished trick leaves one card", "discards"),
    int(ChatpentiersFault.BAD_BOARDS): RULES.broken(
        "the cards under the boards are not those taken in the tricks so far: 3 a trick, with 5 players 4", "seats.zones"
    ),
    int(ChatpentiersFault.BAD_ZONES): RULES.broken(
        "a colour lies in one zone of a board, and a zone holds one colour", "seats.zones"
    ),
    int(ChatpentiersFault.BAD_VOIDS): RULES.broken(
        "a colour that a seat has shown not to hold is in its hand, was not led, or is missing",
        "seats.shown_voids",
        "Public and hidden",
    ),
    int(ChatpentiersFault.BAD_POINTS): RULES.broken(
        "there are points of a round that is not finished, or more than a board can give",
        "seats.round_points",
        "Score of a round, a seat",
    ),
    int(ChatpentiersFault.NOT_ZERO): RULES.broken("a byte that means nothing here is not zero", ""),
}

_EVENT_LABELS = {
    int(ChatpentiersEvent.FIRST_SEAT_CHOSEN): "seat {seat} begins",
    int(ChatpentiersEvent.ROUND_BEGUN): "round {round} begins, seat {seat} will lead",
    int(ChatpentiersEvent.CARD_DEALT): "seat {seat} is dealt {card}",
    int(ChatpentiersEvent.EXTRA_CARD_TURNED): "the extra card is {card}",
    int(ChatpentiersEvent.CARD_PLAYED): "seat {seat} plays {card}",
    int(ChatpentiersEvent.VOID_SHOWN): "seat {seat} holds no {colour} card",
    int(ChatpentiersEvent.TRICK_RANKED): "rank: {ranking}",
    int(ChatpentiersEvent.CARD_TAKEN): "seat {seat} takes {card} into {zone}",
    int(ChatpentiersEvent.CARD_DISCARDED): "{card} is discarded",
    int(ChatpentiersEvent.LEADER_CHOSEN): "seat {seat} took two cards and leads",
    int(ChatpentiersEvent.ROUND_SCORED): "round {round}: seat {seat} scores {points}",
    int(ChatpentiersEvent.GAME_ENDED): "the game is over",
}

# What the values of an event are, in order; a ranking is all of them.
_EVENT_VALUES = {
    int(ChatpentiersEvent.ROUND_BEGUN): ("round",),
    int(ChatpentiersEvent.CARD_DEALT): ("card",),
    int(ChatpentiersEvent.EXTRA_CARD_TURNED): ("card",),
    int(ChatpentiersEvent.CARD_PLAYED): ("card",),
    int(ChatpentiersEvent.VOID_SHOWN): ("colour",),
    int(ChatpentiersEvent.CARD_TAKEN): ("card", "zone"),
    int(ChatpentiersEvent.CARD_DISCARDED): ("card",),
    int(ChatpentiersEvent.ROUND_SCORED): ("round", "points"),
}


cdef const State* state_of(Position position) noexcept:
    return <const State*> position.body


def _colour_name(colour):
    return COLOUR_NAMES[colour] if colour < COLOURS else f"colour {colour}"


def card_name(card):
    """A card in plain English, such as "red 10"."""
    return f"{_colour_name(card // VALUES)} {card % VALUES + 1}"


def _zone_name(zone):
    return "the zero zone" if zone == ZERO_ZONE else f"section {zone}"


_VALUE_WORDS = {"card": card_name, "zone": _zone_name, "colour": _colour_name, "round": str, "points": str}

# Of an event that the viewer may not see whole.
_UNKNOWN = {
    "card": "a card", "zone": "a zone", "colour": "other", "round": "?", "points": "points", "ranking": "unknown"
}


def action_label(Position position not None, action):
    """A dense id in plain English."""
    cdef const State* state = state_of(position)
    card, zone = _card_and_zone(position, action)
    if zone is None:
        return f"play {card_name(card)}"
    limit = f" (limit {state.section_limits[<int> zone]})" if zone < SECTIONS else ""
    return f"take {card_name(card)} into {_zone_name(zone)}{limit}"


def outcome_label(Position position not None, outcome):
    """A possible chance outcome in plain English."""
    return f"seat {outcome} begins" if state_of(position).phase == FIRST_SEAT else card_name(outcome)


def event_label(event, whole):
    """An event in plain English; `whole`: with what only some seats may see."""
    words = dict(_UNKNOWN)
    if whole and event.kind == ChatpentiersEvent.TRICK_RANKED:
        words["ranking"] = ", ".join(f"seat {seat}" for seat in event.values)
    elif whole:
        for name, value in zip(_EVENT_VALUES.get(event.kind, ()), event.values, strict=True):
            words[name] = _VALUE_WORDS[name](value)
    return _EVENT_LABELS[event.kind].format(seat=event.seat, **words)


# Options

def _defaults(players):
    return {"section_limits": [1, 2, 3, 5] if players == 3 else [1, 2, 3, 4], "removed_colour": 3}


def encode_options(players, options: Mapping):
    """Options by name as the kernel's struct. Raises EngineError: INVALID_OPTION."""
    cdef Options encoded
    cdef int section
    options = complete_options("Chatpentiers", options, _defaults(players), players)
    limits, removed_colour = options["section_limits"], options["removed_colour"]
    check_numbers("section_limits", limits, SECTIONS, 1, LARGEST_LIMIT)
    # With 4 or 5 players any number is ignored.
    if not is_whole(removed_colour) or (players == 3 and not is_number(removed_colour, 0, COLOURS - 1)):
        refuse_option("removed_colour", f"the colour that is left out must be 0 to {COLOURS - 1}")
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
    options = {"first_seat": state.first_seat_option, "section_limits": _limits_of(state)}
    if state.removed_colour != NO_COLOUR:
        options["removed_colour"] = state.removed_colour
    return without_defaults(options, _defaults(state.players))


def read_options(message):
    """ChatpentiersOptions → options by name. What they may be depends on the number of players: see `encode_options`."""
    return read_fields(message)


def fill_options(message, options):
    """Options by name → ChatpentiersOptions."""
    fill_fields(message, options)


# Actions

def _card_and_zone(Position position not None, action):
    # What a dense id names; the zone of a PlayCard is None.
    position.require_decision()
    check_id(action, NUM_ACTIONS)
    return (action, None) if action < FIRST_TAKE_ID else divmod(action - FIRST_TAKE_ID, ZONES)


def fill_action(message, Position position not None, action):
    """A dense id at a position → ChatpentiersAction."""
    card, zone = _card_and_zone(position, action)
    if zone is None:
        message.play_card.card = card
    else:
        message.take_card.card = card
        message.take_card.zone = zone


def _number_of(message, kind, name, bound):
    # A field of a typed action, 0 … bound - 1.
    if not message.HasField(name):
        raise EngineError(Reason.INVALID_ACTION, f"the action names no {name}", field=f"{kind}.{name}")
    return action_number(getattr(message, name), 0, bound - 1, f"{kind}.{name}")


def read_action(message, Position position not None):
    """ChatpentiersAction → the dense id at a position; whether it is legal is for `apply` to say.

    Raises EngineError: INVALID_ACTION, CHANCE_PENDING, GAME_OVER.
    """
    position.require_decision()
    kind = message.WhichOneof("action")
    if kind == "play_card":
        return _number_of(message.play_card, kind, "card", CARDS)
    if kind != "take_card":
        raise EngineError(Reason.INVALID_ACTION, "the action is neither play_card nor take_card")
    card = _number_of(message.take_card, kind, "card", CARDS)
    return FIRST_TAKE_ID + ZONES * card + _number_of(message.take_card, kind, "zone", ZONES)


# State

cdef list _cards_in(uint64_t cards):
    cdef int card
    return [card for card in range(CARDS) if cards & card_bit(card)]


cdef _fill_seat(message, const State* state, int seat):
    # What a seat's message has in a state and in a view.
    cdef int zone, colour, finished
    message.hand.extend(_cards_in(state.hand[seat]))
    for zone in range(ZONES):
        for colour in range(COLOURS):
            if state.zone[seat][colour] == 1 + zone:
                message.zones.add(zone=zone, cards=_cards_in(state.board[seat] & cards_of_colour(colour)))
    message.shown_voids.extend([colour for colour in range(COLOURS) if state.voids[seat] >> colour & 1])
    message.round_points.extend([state.points[seat][finished] for finished in range(state.round)])


cdef _fill_table(message, const State* state):
    # The fields that states and views share.
    cdef int place
    fill_turn(message, state.phase, state.first_seat, state.active)
    message.round = state.round + 1
    message.leader = state.leader
    if state.extra != NO_CARD:
        message.extra_card = state.extra
    for place in range(state.played):
        message.plays.add(seat=seat_of_play(state, place), card=state.play[place])
    message.discards.extend(_cards_in(state.discards))


def fill_state(message, Position position not None):
    """A position → ChatpentiersState."""
    cdef const State* state = state_of(position)
    cdef int seat
    fill_options(message.options, options_of(position))
    for seat in range(state.players):
        _fill_seat(message.seats.add(), state, seat)
    _fill_table(message, state)
    message.undealt_cards.extend(_cards_in(state.undealt))


cdef uint64_t _read_cards(cards, field) except? 0:
    cdef uint64_t read = 0
    for i, card in enumerate(cards):
        if read & card_bit(RULES.in_range(card, 0, CARDS - 1, f"{field}[{i}]")):
            RULES.refuse_state(f"{field}[{i}]", f"{card} is named twice")
        read |= card_bit(card)
    return read


cdef _read_seat(State* state, int seat, message):
    cdef int zone, colour
    cdef uint64_t cards
    field = f"seats[{seat}]"
    state.hand[seat] = _read_cards(message.hand, f"{field}.hand")
    for i, held in enumerate(message.zones):
        path = f"{field}.zones[{i}]"
        zone = RULES.in_range(held.zone, 0, ZONES - 1, f"{path}.zone")
        cards = _read_cards(held.cards, f"{path}.cards")
        if cards == 0:
            RULES.refuse_state(f"{path}.cards", "a zone is listed if cards lie in it")
        colour = colour_of(held.cards[0])
        if cards & ~cards_of_colour(colour):
            RULES.refuse_state(f"{path}.cards", "a zone holds one colour")
        if state.zone[seat][colour]:
            RULES.refuse_state(f"{path}.cards", "a colour lies in one zone of a board")
        state.zone[seat][colour] = 1 + zone
        state.board[seat] |= cards
    for i, shown in enumerate(message.shown_voids):
        state.voids[seat] |= 1 << <int> RULES.in_range(shown, 0, COLOURS - 1, f"{field}.shown_voids[{i}]")
    if len(message.round_points) != state.round:
        RULES.refuse_state(
            f"{field}.round_points",
            f"in round {state.round + 1} there are the points of {state.round} finished rounds",
            "Score of a round, a seat",
        )
    for i, points in enumerate(message.round_points):
        state.points[seat][<int> i] = RULES.in_range(points, 0, 255, f"{field}.round_points[{i}]")


cdef _read_trick(State* state, message):
    # What was taken lies under a board already.
    cdef int seat
    state.extra = NO_CARD
    if message.HasField("extra_card"):
        state.extra = RULES.in_range(message.extra_card, 0, CARDS - 1, "extra_card")
    if len(message.plays) > state.players:
        RULES.refuse_state("plays", "every seat plays one card to a trick", "A trick")
    for i, played in enumerate(message.plays):
        if played.seat != seat_of_play(state, i):
            RULES.refuse_state(f"plays[{i}].seat", f"seat {seat_of_play(state, i)} played that card", "A trick")
        state.play[<int> i] = RULES.in_range(played.card, 0, CARDS - 1, f"plays[{i}].card")
        state.played += 1
    state.table = trick_cards(state)
    for seat in range(state.players):
        state.table &= ~state.board[seat]


def read_state(message):
    """ChatpentiersState → the body of a packed state, for Game.position. Raises EngineError: INVALID_STATE."""
    cdef State state
    cdef int seat
    memset(&state, 0, sizeof(State))
    state.players = RULES.in_range(len(message.seats), MIN_PLAYERS, MAX_PLAYERS, "seats")
    options = RULES.options_of_state(read_options, encode_options, state.players, message.options)
    _set_options(&state, options)
    state.phase, state.first_seat, state.active = RULES.read_turn(message, state.players, PHASES)
    state.round = RULES.in_range(message.round, 1, ROUNDS, "round") - 1
    state.leader = RULES.in_range(message.leader, 0, state.players - 1, "leader")
    for seat, held in enumerate(message.seats):
        _read_seat(&state, seat, held)
    _read_trick(&state, message)
    state.discards = _read_cards(message.discards, "discards")
    state.undealt = _read_cards(message.undealt_cards, "undealt_cards")
    return (<const char*> &state)[:sizeof(State)]


cdef _set_options(State* state, bytes encoded):
    cdef const Options* options = <const Options*> <const char*> encoded
    cdef int section
    state.first_seat_option = options.first_seat
    state.removed_colour = options.removed_colour
    for section in range(SECTIONS):
        state.section_limits[section] = options.section_limits[section]


# View

def fill_view(message, Position position not None, seat):
    """What a seat (None: a spectator) may know → ChatpentiersView."""
    cdef View seen
    cdef const State* state = &seen.state
    cdef unsigned char ranked[MAX_PLAYERS]
    cdef int other, place
    view(position.body, -1 if seat is None else seat, &seen)
    fill_options(message.options, options_of(position))
    for other in range(state.players):
        held = message.seats.add(hand_size=seen.hand_size[other])
        _fill_seat(held, state, other)
    _fill_table(message, state)
    message.trick = 1
    if state.phase > DEAL:
        # The leader has played as many cards as there were tricks, and one more if it has played to this one.
        message.trick += cards_dealt(state.players) - seen.hand_size[state.leader] - (state.played > 0)
    message.table.extend(_cards_in(state.table))
    if state.played == state.players:
        rank_seats(state, ranked)
        message.ranking.extend([ranked[place] for place in range(state.players)])
    message.cards_to_take = cards_to_take(state)
    message.unseen_cards.extend(_cards_in(state.undealt))
    message.undealt_size = seen.undealt_size
    message.section_limits.extend(_limits_of(state))
    if state.removed_colour != NO_COLOUR:
        message.removed_colour = state.removed_colour


# Events

def fill_event(message, event, whole):
    """An event → ChatpentiersEvent; `whole`: with what only some seats may see."""
    fill_event_fields(message, event, _EVENT_VALUES.get(event.kind, ()) if whole else ())
    if whole and event.kind == ChatpentiersEvent.TRICK_RANKED:
        message.ranking.extend(event.values)


# Score

def fill_score(message, Position position not None):
    """The breakdown of the score → ChatpentiersScoreDetail."""
    cdef const State* state = state_of(position)
    cdef BoardScore score
    cdef uint64_t counts, limits = limits_of(state)
    cdef int seat, colour, zone, finished
    for seat in range(state.players):
        score_board(state, seat, &score)
        counts = count_by_colour(state.board[seat])
        zone_points = [0] * (1 + ZONES)
        for colour in range(COLOURS):
            zone = state.zone[seat][colour]
            zone_points[zone] = points_of_zone(number_at(counts, colour), limits >> 8 * zone & 0xFF)
        message.seats.add(
            round_points=[*[state.points[seat][finished] for finished in range(state.round)], score.points],
            section_points=zone_points[1 : 1 + SECTIONS],
            zero_zone_points=zone_points[1 + ZERO_ZONE],
            perfect_sections=score.perfect_sections,
            bonus_points=score.bonus,
            board_sum=score.sum,
        )
