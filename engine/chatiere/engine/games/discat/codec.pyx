"""Discat: conversion between packed states and the messages of discat.proto."""

from collections.abc import Mapping

from chatiere.engine.core.codec import NUMBER, action_number, first_seat_option, seat_or_none
from chatiere.engine.core.errors import EngineError, Reason
from chatiere.engine.core.integers import as_integer, shown
from chatiere.engine.core.options import complete_options, refuse_option
from chatiere.engine.core.phrases import phrases_of
from .description import DESCRIPTION, RULES

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memset

from chatiere.engine.core.codec cimport (
    LAST_SEAT, NO_FIELD, UNTIL_FIRST_SEAT, Conversions, EventFields, OptionFields, OptionKind, Scalars, given_number,
    make_codec, within,
)
from chatiere.engine.core.operations cimport NO_SEAT, Event
from chatiere.engine.core.phrases cimport Said, add_number, add_numbers, say
from chatiere.engine.core.position cimport Position
from chatiere.engine.wire.reader cimport Message, Span, count_of, has_span, list_numbers, next_of, number_of, open_field
from chatiere.engine.wire.writer cimport Writer
from .kernel cimport count_piles, play_cards, slots_played, view
from .state cimport (
    BONUS_POINTS, FIRST_EXCHANGE_ID, FIRST_SEAT, KEEP_ID, MAX_CARD, MAX_HAND, MAX_PILE, MAX_PLAYERS, MIN_PLAYERS,
    PHASES, PLAY_IDS, REDRAWN_KEPT, TOP_SHIFT, DiscatEvent, DiscatFault, Options, Phase, State, View, card_in_slot,
    card_under, cards_in_use, constraint_of, creator_of, draw_pile_size, exchanged_in, group_winner, has_card,
    next_seat, passes_in_a_row, pile_is_empty, points_up, put_card, put_card_under, turns_in, with_card,
)
cimport chatiere.fields.discat as fields

PHRASES = phrases_of(DESCRIPTION)
# The default of the option `up_arrows` as a set of cards, with bit card - 1 for each card.
_DEFAULTS = {"up_arrows": sum(1 << (card - 1) for card in DESCRIPTION.defaults(MIN_PLAYERS)["up_arrows"])}

cdef EventFields EVENTS = EventFields({"kind": fields.EVENT_KIND, "seat": fields.EVENT_SEAT})
cdef int PLAY = PHRASES.number("action.play")
cdef int PLAY_GROUP = PHRASES.number("action.play_group")
cdef int KEEP = PHRASES.number("action.keep")
cdef int EXCHANGE = PHRASES.number("action.exchange")
cdef int FIRST_SEAT_OUTCOME = PHRASES.number("outcome.first_seat")
cdef int CARD_OUTCOME = PHRASES.number("outcome.card")
cdef int FIRST_PLAY = PHRASES.number("prompt.first_play")
cdef int PLAY_ANY = PHRASES.number("prompt.play_any")
# The prompts for a constraint that lower cards respect, and for one that higher cards respect.
cdef tuple PLAY_BESIDE = (PHRASES.number("prompt.play_lower"), PHRASES.number("prompt.play_higher"))
cdef tuple PASS_BESIDE = (PHRASES.number("prompt.pass_lower"), PHRASES.number("prompt.pass_higher"))
cdef tuple KEEP_BESIDE = (PHRASES.number("prompt.keep_lower"), PHRASES.number("prompt.keep_higher"))
cdef int CARDS_PLAYED_GROUP = PHRASES.number("event.cards_played_group")


cdef const State* state_of(Position position) noexcept:
    return <const State*> position.body


# Phrases

cdef int say_action(Position position, int action, Said* said) except -1:
    # Compute the phrase of a dense id. Its cards must be in the acting seat's hand.
    cdef uint8_t cards[MAX_HAND]
    cdef int count = cards_of_action(position, action, cards)
    if action == KEEP_ID:
        say(said, KEEP)
    elif count > 1:
        say(said, PLAY_GROUP)
        add_numbers(said, cards, count - 1)
        add_number(said, cards[count - 1])
    else:
        say(said, PLAY if action < PLAY_IDS else EXCHANGE)
        add_number(said, cards[0])


cdef int say_prompt(Position position, Said* said) except -1:
    cdef const State* state = state_of(position)
    cdef int constraint = constraint_of(state)
    cdef tuple beside = PLAY_BESIDE
    if constraint == 0:
        say(said, PLAY_ANY if state.laid else FIRST_PLAY)
        return 0
    if state.phase == Phase.PASS:
        beside = KEEP_BESIDE if pile_is_empty(state) else PASS_BESIDE
    say(said, beside[points_up(state, constraint)])
    add_number(said, constraint)


cdef int say_outcome(Position position, int outcome, Said* said) except -1:
    if state_of(position).phase == FIRST_SEAT:
        say(said, FIRST_SEAT_OUTCOME)
        add_number(said, outcome)
    else:
        say(said, CARD_OUTCOME)
        add_number(said, outcome + 1)


cdef bint say_event(const Event* event, Said* said) except -1:
    # Only the play of a group needs a phrase that differs from the default phrase of its kind.
    if event.kind != DiscatEvent.CARDS_PLAYED or event.count == 1:
        return False
    say(said, CARDS_PLAYED_GROUP)
    add_number(said, event.seat)
    add_numbers(said, event.values, event.count - 1)
    add_number(said, event.values[event.count - 1])
    return True


# Options

def encode_options(players, options: Mapping):
    """Convert a mapping of options by name to the kernel's struct. Raises INVALID_OPTION."""
    cdef Options encoded
    options = complete_options(DESCRIPTION.title, options, _DEFAULTS, players)
    up_arrows = as_integer(options["up_arrows"])
    if up_arrows is None or up_arrows < 0 or up_arrows >> MAX_CARD:
        refuse_option(
            "up_arrows",
            f"up_arrows must be an integer with bits 0 to {MAX_CARD - 1} only, not {shown(options['up_arrows'])}",
        )
    memset(&encoded, 0, sizeof(Options))
    encoded.first_seat = seat_or_none(options["first_seat"])
    encoded.up_arrows[0] = up_arrows & 0xFFFFFFFFFFFFFFFF
    encoded.up_arrows[1] = up_arrows >> 64
    return (<const char*> &encoded)[:sizeof(Options)]


def options_of(Position position not None):
    """Return the options of a position that differ from their defaults, by name."""
    cdef const State* state = state_of(position)
    up_arrows = state.up_arrows[0] | <object> state.up_arrows[1] << 64
    options = first_seat_option(state.first_seat_option)
    if up_arrows != _DEFAULTS["up_arrows"]:
        options["up_arrows"] = up_arrows
    return options


cdef class Arrows(OptionKind):
    """The type of options that are lists of cards. They are stored as sets of cards."""

    cdef read(self, const Message* options, int field):
        cdef Message inner
        cdef int64_t cards[MAX_CARD + 1]
        cdef int count, i
        if not has_span(options, field):
            return None
        up_arrows = 0
        open_field(options, field, &inner)
        # Read at most MAX_CARD + 1 cards: a longer list is invalid, because it has some card twice.
        count = min(list_numbers(&inner, fields.CARDS_CARDS, cards, MAX_CARD + 1), MAX_CARD + 1)
        for i in range(count):
            if not 1 <= cards[i] <= MAX_CARD or up_arrows >> (cards[i] - 1) & 1:
                refuse_option(
                    f"up_arrows.cards[{i}]", f"{cards[i]} is not a card from 1 to {MAX_CARD}, or is named twice"
                )
            up_arrows |= 1 << <object> (cards[i] - 1)
        return up_arrows

    cdef int put(self, Writer out, int field, value) except -1:
        cdef size_t begun = out.begin(field)
        out.numbers(fields.CARDS_CARDS, [card for card in range(1, MAX_CARD + 1) if value >> (card - 1) & 1])
        return out.end(begun)


cdef OptionFields OPTIONS = OptionFields(
    RULES,
    encode_options,
    options_of,
    {"first_seat": (fields.OPTIONS_FIRST_SEAT, NUMBER), "up_arrows": (fields.OPTIONS_UP_ARROWS, Arrows())},
)


# Actions

cdef int cards_of_action(Position position, int action, uint8_t* cards) except -1:
    # Write the cards of a dense id, with the top of a play last. Returns the number of cards (0 for Keep).
    cdef const State* state = state_of(position)
    cdef int slots
    if action == KEEP_ID:
        return 0
    slots = slots_played(action) if action < PLAY_IDS else 1 << (action - FIRST_EXCHANGE_ID)
    if slots >> state.hand_size[state.active]:
        position.refuse_move(int(DiscatFault.CARD_NOT_IN_HAND), action)
    if action < PLAY_IDS:
        return play_cards(state, action, cards)
    cards[0] = card_in_slot(state.hand[state.active], action - FIRST_EXCHANGE_ID)
    return 1


cdef int put_action(Writer out, Position position, int action) except -1:
    cdef uint8_t cards[MAX_HAND]
    cdef int count = cards_of_action(position, action, cards)
    cdef size_t begun
    if action < PLAY_IDS:
        begun = out.begin(fields.ACTION_PLAY)
        out.byte_numbers(fields.PLAY_CARDS, cards, count)
    elif action == KEEP_ID:
        begun = out.begin(fields.ACTION_KEEP)
    else:
        begun = out.begin(fields.ACTION_EXCHANGE)
        out.present(fields.EXCHANGE_CARD, cards[0])
    out.end(begun)


def _slot_of(Position position, card, field):
    cdef const State* state = state_of(position)
    cdef int slot
    action_number(card, 1, MAX_CARD, field)
    for slot in range(state.hand_size[state.active]):
        if card_in_slot(state.hand[state.active], slot) == card:
            return slot
    RULES.refuse_card(state.active, f"card {card} in hand", field)


cdef int read_action(const Message* action, Position position) except -1:
    # Read a DiscatAction, and return its dense id. Raises INVALID_ACTION, or ILLEGAL_ACTION if a card is not in the
    # hand.
    cdef Message inner
    cdef int64_t cards[MAX_HAND]
    cdef int count, i, top, slot, others = 0
    if has_span(action, fields.ACTION_KEEP):
        return KEEP_ID
    if has_span(action, fields.ACTION_EXCHANGE):
        open_field(action, fields.ACTION_EXCHANGE, &inner)
        return FIRST_EXCHANGE_ID + _slot_of(
            position, given_number(&inner, fields.EXCHANGE_CARD, "exchange.card"), "exchange.card"
        )
    if not has_span(action, fields.ACTION_PLAY):
        raise EngineError(Reason.INVALID_ACTION, "the action is not a play, keep or exchange")
    open_field(action, fields.ACTION_PLAY, &inner)
    count = list_numbers(&inner, fields.PLAY_CARDS, cards, MAX_HAND)
    if not 1 <= count <= MAX_HAND or len({cards[i] for i in range(count)}) != count:
        raise EngineError(
            Reason.INVALID_ACTION,
            f"a play has 1 to {MAX_HAND} different cards, the top one last",
            field="play.cards",
        )
    slots = [_slot_of(position, cards[i], f"play.cards[{i}]") for i in range(count)]
    top = slots.pop()
    for slot in slots:
        others |= 1 << (slot - (slot > top))
    return top << TOP_SHIFT | others


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
    scalars.add("bonus_drawn", fields.STATE_BONUS_DRAWN, NO_FIELD, &at.bonus_drawn, 0, 1)
    scalars.add(
        "last_turns_left", fields.STATE_LAST_TURNS_LEFT, fields.VIEW_LAST_TURNS_LEFT, &at.last_turns, 0, LAST_SEAT
    )
    return scalars


cdef Scalars SCALARS = list_scalars()


cdef put_set(Writer out, int field, const uint64_t* cards):
    cdef uint8_t listed[MAX_CARD]
    cdef int count = 0, card
    for card in range(1, MAX_CARD + 1):
        if has_card(cards, card):
            listed[count] = card
            count += 1
    out.byte_numbers(field, listed, count)


cdef put_turns(Writer out, int field, const State* state):
    cdef uint8_t cards[MAX_HAND]
    cdef int place, count = 0, number, code, seat = state.first_seat
    cdef size_t begun, inner
    for place in range(state.laid):
        cards[count] = state.cards[place]
        count += 1
        code = state.codes[place]
        if code == 0:
            continue
        begun = out.begin(field)
        out.number(fields.TURN_SEAT, seat)
        inner = out.begin(fields.TURN_PLAYED)
        out.byte_numbers(fields.PLAY_CARDS, cards, count)
        out.end(inner)
        out.end(begun)
        count = 0
        for number in range(turns_in(code) - 1):
            seat = next_seat(state, seat)
            begun = out.begin(field)
            out.number(fields.TURN_SEAT, seat)
            inner = out.begin(fields.TURN_PASSED)
            out.number(fields.PASS_EXCHANGED, exchanged_in(code, number))
            out.end(inner)
            out.end(begun)
        seat = next_seat(state, seat)


cdef put_under(Writer out, int field, const State* state, int first, int count):
    cdef uint8_t cards[MAX_PILE]
    cdef int i
    for i in range(count):
        cards[i] = card_under(state, first + i)
    out.byte_numbers(field, cards, count)


cdef int put_state(Writer out, Position position) except -1:
    cdef const State* state = state_of(position)
    cdef uint8_t cards[MAX_HAND]
    cdef int seat, slot
    cdef size_t begun
    OPTIONS.put_in(out, fields.STATE_OPTIONS, position)
    SCALARS.put_state(out, state)
    for seat in range(state.players):
        for slot in range(state.hand_size[seat]):
            cards[slot] = card_in_slot(state.hand[seat], slot)
        begun = out.begin(fields.STATE_SEATS)
        out.byte_numbers(fields.SEAT_HAND_CARDS, cards, state.hand_size[seat])
        out.end(begun)
    put_turns(out, fields.STATE_TURNS, state)
    put_set(out, fields.STATE_DRAW_PILE_CARDS, state.unknown)
    put_under(out, fields.STATE_QUEUE_CARDS, state, state.redrawn_count, state.queue_length)
    put_under(out, fields.STATE_REDRAWN_CARDS, state, 0, state.redrawn_count)


cdef read_hand(State* state, int seat, const Message* hand):
    cdef int64_t cards[MAX_HAND]
    cdef int count = list_numbers(hand, fields.SEAT_HAND_CARDS, cards, MAX_HAND), size
    if count > MAX_HAND:
        RULES.refuse_state("hand_cards", f"a hand has at most {MAX_HAND} cards")
    for size in range(count):
        within(RULES, cards[size], 1, MAX_CARD, "hand_cards", size)
        # Duplicate cards need no check here, because the invariants refuse them.
        state.hand[seat] = with_card(state.hand[seat], size, <int> cards[size])
    state.hand_size[seat] = count


cdef read_play(State* state, const Message* play):
    cdef int64_t cards[MAX_HAND]
    cdef int count = list_numbers(play, fields.PLAY_CARDS, cards, MAX_HAND), i, place
    if not 1 <= count <= MAX_HAND:
        RULES.refuse_state("played.cards", f"a play has 1 to {MAX_HAND} cards", "A turn")
    if state.laid + count > MAX_CARD:
        RULES.refuse_state("played.cards", "the turns lay more cards than there are")
    for i in range(count):
        within(RULES, cards[i], 1, MAX_CARD, "played.cards", i)
    for i in range(count):
        place = state.laid + i
        # Keep the cards in ascending order, with the top last.
        while i < count - 1 and place > state.laid and state.cards[place - 1] > cards[i]:
            state.cards[place] = state.cards[place - 1]
            place -= 1
        state.cards[place] = <uint8_t> cards[i]
    state.laid += count
    state.codes[state.laid - 1] ^= 1


cdef read_pass(State* state, bint exchanged):
    cdef int passes
    if state.laid == 0:
        RULES.refuse_state("", "nobody passes before the first play", "Components and setup")
    passes = passes_in_a_row(state)
    if passes == state.players - 1:
        RULES.refuse_state("", "all others have passed: the creator plays", "Back to the creator")
    state.codes[state.laid - 1] ^= (2 if exchanged else 3) << passes


cdef read_turn(State* state, int seat, const Message* turn):
    # Read a turn of `seat`: a play or a pass.
    cdef Message inner
    if number_of(turn, fields.TURN_SEAT) != seat:
        RULES.refuse_state(
            "seat", f"it is the turn of seat {seat}, not {number_of(turn, fields.TURN_SEAT)}", "A turn"
        )
    if has_span(turn, fields.TURN_PLAYED):
        open_field(turn, fields.TURN_PLAYED, &inner)
        read_play(state, &inner)
    elif has_span(turn, fields.TURN_PASSED):
        open_field(turn, fields.TURN_PASSED, &inner)
        read_pass(state, number_of(&inner, fields.PASS_EXCHANGED))
    else:
        RULES.refuse_state("", "the turn is neither a play nor a pass")


cdef read_turns(State* state, const Message* message):
    # Read the plays and the passes after each play.
    cdef Message turn
    cdef Span rest = message.span
    cdef int seat = state.first_seat, number = 0
    if has_span(message, fields.STATE_TURNS) and seat == NO_SEAT:
        RULES.refuse_state("first_seat", "there are turns, but no first seat")
    try:
        while next_of(fields.STATE_TURNS, &rest, &turn):
            read_turn(state, seat, &turn)
            seat = next_seat(state, seat)
            number += 1
    except EngineError as error:
        error.lies_below("turns", number)
        raise


cdef int read_cards(const Message* message, int field, str name, int lowest, int most, uint8_t* cards) except -1:
    # Read a list of cards. Returns their number.
    cdef int64_t listed[MAX_CARD]
    cdef int count = list_numbers(message, field, listed, MAX_CARD), i
    if count > most:
        RULES.refuse_state(name, f"{count} cards, but at most {most} are possible", "Draw pile")
    for i in range(count):
        cards[i] = within(RULES, listed[i], lowest, MAX_CARD, name, i)
    return count


cdef bytes read_state(const Message* read, int rules_version):
    cdef Message inner
    cdef Span rest = read.span
    cdef State state
    cdef uint8_t cards[MAX_CARD]
    cdef int seat = 0, count, i
    memset(&state, 0, sizeof(State))
    state.rules_version = rules_version
    state.players = within(RULES, count_of(read, fields.STATE_SEATS), MIN_PLAYERS, MAX_PLAYERS, "seats")
    set_options(&state, OPTIONS.encoded(read, fields.STATE_OPTIONS, state.players))
    try:
        for seat in range(state.players):
            next_of(fields.STATE_SEATS, &rest, &inner)
            read_hand(&state, seat, &inner)
    except EngineError as error:
        error.lies_below("seats", seat)
        raise
    SCALARS.read(read, &state, state.players)
    read_turns(&state, read)
    count = read_cards(read, fields.STATE_DRAW_PILE_CARDS, "draw_pile_cards", 1, MAX_CARD, cards)
    for i in range(count):
        if has_card(state.unknown, cards[i]):
            RULES.refuse_state(f"draw_pile_cards[{i}]", f"{cards[i]} is named twice")
        put_card(state.unknown, cards[i])
    state.redrawn_count = read_cards(read, fields.STATE_REDRAWN_CARDS, "redrawn_cards", 0, REDRAWN_KEPT, cards)
    for i in range(state.redrawn_count):
        put_card_under(&state, i, cards[i])
    state.queue_length = read_cards(read, fields.STATE_QUEUE_CARDS, "queue_cards", 1, MAX_PILE, cards)
    for i in range(state.queue_length):
        put_card_under(&state, state.redrawn_count + i, cards[i])
    return (<const char*> &state)[:sizeof(State)]


cdef set_options(State* state, bytes encoded):
    cdef const Options* options = <const Options*> <const char*> encoded
    state.first_seat_option = options.first_seat
    state.up_arrows[0] = options.up_arrows[0]
    state.up_arrows[1] = options.up_arrows[1]


# View

cdef put_seat_view(Writer out, const View* seen, int seat):
    cdef const State* state = &seen.state
    cdef uint8_t cards[MAX_CARD]
    cdef int slot, place, count = 0
    cdef size_t begun = out.begin(fields.VIEW_SEATS), inner
    out.number(fields.SEAT_VIEW_HAND_SIZE, state.hand_size[seat])
    for slot in range(state.hand_size[seat]):
        cards[count] = card_in_slot(state.hand[seat], slot)
        count += cards[count] != 0
    out.byte_numbers(fields.SEAT_VIEW_HAND_CARDS, cards, count)
    count = 0
    for place in range(state.laid):
        if seen.layout.owner[place] != seat:
            continue
        if seen.layout.in_bonus_pile[place]:
            cards[count] = state.cards[place]
            count += 1
            continue
        inner = out.begin(fields.SEAT_VIEW_PILE)
        out.number(fields.PILE_CARD_CARD, state.cards[place])
        out.number(fields.PILE_CARD_FACE_DOWN, seen.layout.face_down[place])
        out.end(inner)
    out.byte_numbers(fields.SEAT_VIEW_BONUS_PILE, cards, count)
    out.end(begun)


cdef put_constraint(Writer out, const State* state, int constraint):
    cdef size_t begun = out.begin(fields.VIEW_CONSTRAINT)
    out.number(fields.CONSTRAINT_CARD, constraint)
    out.number(fields.CONSTRAINT_HIGHER, points_up(state, constraint))
    out.number(fields.CONSTRAINT_CREATOR, creator_of(state))
    out.number(fields.CONSTRAINT_BONUS_DRAWN, state.bonus_drawn)
    out.end(begun)


cdef put_queued(Writer out, int field, int seat, int card):
    # Write an entry of the queue. `card` is 0 if it is hidden from the viewer.
    cdef size_t begun = out.begin(field)
    out.number(fields.QUEUED_CARD_SEAT, seat)
    if card:
        out.present(fields.QUEUED_CARD_CARD, card)
    out.end(begun)


cdef put_up_arrows(Writer out, const State* state):
    cdef uint8_t cards[MAX_CARD]
    cdef int count = 0, card
    cdef size_t begun = out.begin(fields.VIEW_UP_ARROWS)
    for card in range(1, cards_in_use(state.players) + 1):
        if points_up(state, card):
            cards[count] = card
            count += 1
    out.byte_numbers(fields.CARDS_CARDS, cards, count)
    out.end(begun)


cdef int put_view(Writer out, Position position, int viewer) except -1:
    cdef View seen
    cdef const State* state = &seen.state
    cdef int other, place, constraint
    view(position.body, viewer, &seen)
    constraint = constraint_of(state)
    OPTIONS.put_in(out, fields.VIEW_OPTIONS, position)
    SCALARS.put_view(out, state)
    for other in range(state.players):
        put_seat_view(out, &seen, other)
    if constraint:
        put_constraint(out, state, constraint)
    out.number(fields.VIEW_PASSES, passes_in_a_row(state))
    out.number(fields.VIEW_DRAW_PILE_SIZE, draw_pile_size(state_of(position)))
    for place in range(state.queue_length):
        put_queued(
            out, fields.VIEW_QUEUE, seen.layout.queue_seat[place], card_under(state, state.redrawn_count + place)
        )
    for place in range(state.redrawn_count):
        put_queued(out, fields.VIEW_REDRAWN, seen.layout.redraws[place].giver, card_under(state, place))
    put_turns(out, fields.VIEW_TURNS, state)
    put_set(out, fields.VIEW_UNSEEN_CARDS, state.unknown)
    if group_winner(state) != NO_SEAT:
        out.present(fields.VIEW_GROUP_WINNER, group_winner(state))
    put_up_arrows(out, state)


# Events

cdef int put_event(Writer out, const Event* event) except -1:
    EVENTS.put_head(out, event)
    return out.short_numbers(fields.EVENT_CARDS, event.values, event.count)


# Score

cdef int put_score(Writer out, Position position, int known) except -1:
    cdef const State* state = state_of(position)
    cdef int piles[MAX_PLAYERS]
    cdef int bonuses[MAX_PLAYERS]
    cdef int seat
    cdef size_t begun
    count_piles(state, piles, bonuses)
    for seat in range(state.players):
        begun = out.begin(fields.SCORE_DETAIL_SEATS)
        out.number(fields.SEAT_SCORE_PILE_POINTS, piles[seat])
        out.number(fields.SEAT_SCORE_BONUS_POINTS, BONUS_POINTS * bonuses[seat])
        out.number(fields.SEAT_SCORE_HAND_POINTS, <uint64_t> -<int64_t> state.hand_size[seat])
        out.end(begun)
    if group_winner(state) != NO_SEAT:
        out.present(fields.SCORE_DETAIL_GROUP_WINNER, group_winner(state))


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
CONVERSIONS.put_event = put_event

CODEC = make_codec(&CONVERSIONS, OPTIONS, EVENTS, PHRASES)
