"""Momistigri: conversion between packed states and the messages of momistigri.proto."""

from collections import Counter
from collections.abc import Mapping

from chatiere.engine.core.codec import NUMBER, NUMBERS, action_number, first_seat_option, seat_or_none
from chatiere.engine.core.errors import EngineError, Reason
from chatiere.engine.core.options import complete_options, read_numbers, refuse_option
from chatiere.engine.core.phrases import phrases_of
from .description import DESCRIPTION, RULES

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

from chatiere.engine.core.codec cimport (
    LAST_SEAT, UNTIL_FIRST_SEAT, Conversions, EventFields, OptionFields, Scalars, make_codec, number_in, within,
)
from chatiere.engine.core.operations cimport NO_SEAT, Event, distance_to, seat_at
from chatiere.engine.core.phrases cimport Said, add_number, add_numbers, say
from chatiere.engine.core.position cimport Position
from chatiere.engine.wire.reader cimport (
    Message, Span, count_of, has_number, has_span, list_numbers, listed_numbers, next_of, number_of, open_field,
)
from chatiere.engine.wire.writer cimport Writer
from .state cimport (
    BOX, COLOURED, DEAL, DRAW, FINISHED, FIRST_GIVE_ID, FIRST_HAND_OUT_ID, FIRST_NAME_ID, FIRST_SEAT, FIRST_SWAP_IN_ID,
    FIRST_SWAP_OUT_ID, HAND_OUT, KINDS, KNOWERS, LAST_CHOICE, LAST_TURN, MAIN_ID, MARKS, MAX_DRAW, MAX_PLAYERS,
    MOMISTIGRI_PLACE, ONES, PASS_ID, PHASES, PUBLIC, REVERSE_ID, ROUNDS, STOP_ID, SWAP_IN, USUAL, USUAL_BOX, VALUES,
    Box, MomistigriEvent, MomistigriFault, Options, Phase, State, View, bit, bits_of, box_of, cards_of_pair,
    count_cards, decider, deck_for, distance_of_gift, drawn_from, id_of_gift, kind_of_gift, lowest, pile_of,
    seat_beside, sum_of,
)
from .kernel cimport forbids_gift, last_round_end, note_copies, view
cimport chatiere.fields.momistigri as fields

PHRASES = phrases_of(DESCRIPTION)
DEFAULTS = DESCRIPTION.defaults(MAX_PLAYERS)

cdef int DISCARD_PAIR = PHRASES.number("action.discard_pair")
cdef int PASS_TURN = PHRASES.number("action.pass_turn")
cdef int STOP = PHRASES.number("action.stop")
# The phrases for the main effects of pairs of 1, 2 and 3.
cdef tuple MAIN = (
    PHRASES.number("action.main_ones"), PHRASES.number("action.main_name"), PHRASES.number("action.main_swap")
)
cdef int REVERSE = PHRASES.number("action.reverse")
cdef int NAME_CARD = PHRASES.number("action.name_card")
cdef int GIVE = PHRASES.number("action.give")
cdef int HAND_OUT_CARD = PHRASES.number("action.hand_out")
cdef int SWAP_OUT_CARD = PHRASES.number("action.swap_out")
cdef int SWAP_IN_CARD = PHRASES.number("action.swap_in")
cdef int FIRST_SEAT_OUTCOME = PHRASES.number("outcome.first_seat")
cdef int CARD_OUTCOME = PHRASES.number("outcome.card")
# The prompts of the phases, beginning with SWAP_OUT. The prompt of CHOICE depends on the pair.
cdef tuple PROMPTS = (
    PHRASES.number("prompt.swap_out"),
    PHRASES.number("prompt.swap_in"),
    PHRASES.number("prompt.discard"),
    None,
    PHRASES.number("prompt.name"),
    PHRASES.number("prompt.give"),
    PHRASES.number("prompt.hand_out"),
    PHRASES.number("prompt.again"),
)
cdef tuple CHOICES = (
    PHRASES.number("prompt.choice_ones"), PHRASES.number("prompt.choice_name"), PHRASES.number("prompt.choice_swap")
)
cdef int TURN_BEGUN = PHRASES.number("event.turn_begun")
cdef int CARD_DRAWN = PHRASES.number("event.card_drawn")
cdef int CARD_DRAWN_HIDDEN = PHRASES.number("event.card_drawn_hidden")
cdef int CARD_GIVEN = PHRASES.number("event.card_given")
cdef int CARD_GIVEN_HIDDEN = PHRASES.number("event.card_given_hidden")
cdef int CARD_HANDED_OUT = PHRASES.number("event.card_handed_out")
cdef int ONES_DISCARDED_NONE = PHRASES.number("event.ones_discarded_none")

cdef EventFields EVENTS = EventFields(
    {
        "kind": fields.EVENT_KIND,
        "seat": fields.EVENT_SEAT,
        "other_seat": fields.EVENT_OTHER_SEAT,
        "cards": fields.EVENT_CARDS,
    },
)
# The field in which an event has the result of `count_in`, by kind of event.
cdef dict COUNTS = {
    int(MomistigriEvent.ROUND_BEGUN): fields.EVENT_ROUND,
    int(MomistigriEvent.TURN_BEGUN): fields.EVENT_DRAWS,
    int(MomistigriEvent.PENALTY_TAKEN): fields.EVENT_POINTS,
}


cdef const State* state_of(Position position) noexcept:
    return <const State*> position.body


cdef int receiver_of(Position position, int action) except -1:
    # Return the receiver of a Give. A Give identifies the receiver by the distance from the deciding seat.
    cdef const State* state = state_of(position)
    cdef int distance = distance_of_gift(action)
    if distance >= state.players:
        position.refuse_move(forbids_gift(state, box_of(state), distance, kind_of_gift(action)), action)
    return seat_at(decider(state), distance, state.players)


# Phrases

cdef int say_action(Position position, int action, Said* said) except -1:
    cdef uint8_t cards[2]
    cdef int low, high
    if action < PASS_ID:
        cards_of_pair(action, &low, &high)
        cards[0], cards[1] = low, high
        say(said, DISCARD_PAIR)
        add_numbers(said, cards, 2)
    elif action == PASS_ID:
        say(said, PASS_TURN)
    elif action == STOP_ID:
        say(said, STOP)
    elif action == MAIN_ID:
        # Without a pending choice, the action is illegal, and any of the three phrases is acceptable.
        say(said, MAIN[max(state_of(position).effect, 1) - 1])
    elif action == REVERSE_ID:
        say(said, REVERSE)
    elif action < FIRST_GIVE_ID:
        say(said, NAME_CARD)
        add_number(said, action - FIRST_NAME_ID)
    elif action < FIRST_HAND_OUT_ID:
        say(said, GIVE)
        add_number(said, kind_of_gift(action))
        add_number(said, receiver_of(position, action))
    elif action < FIRST_SWAP_OUT_ID:
        say(said, HAND_OUT_CARD)
        add_number(said, action - FIRST_HAND_OUT_ID)
        add_number(said, state_of(position).receiver)
    elif action < FIRST_SWAP_IN_ID:
        say(said, SWAP_OUT_CARD)
        add_number(said, action - FIRST_SWAP_OUT_ID)
    else:
        say(said, SWAP_IN_CARD)
        add_number(said, action - FIRST_SWAP_IN_ID)


cdef int say_prompt(Position position, Said* said) except -1:
    cdef const State* state = state_of(position)
    cdef int phase = state.phase
    say(said, CHOICES[state.effect - 1] if phase == Phase.CHOICE else PROMPTS[phase - Phase.SWAP_OUT])
    if phase == Phase.NAME or (phase == Phase.CHOICE and state.effect == 2):
        add_number(said, seat_beside(state, state.active, False))
    elif phase == HAND_OUT:
        add_number(said, state.receiver)
    elif phase == SWAP_IN:
        add_number(said, state.swapped_out - 1)


cdef int say_outcome(Position position, int outcome, Said* said) except -1:
    say(said, FIRST_SEAT_OUTCOME if state_of(position).phase == FIRST_SEAT else CARD_OUTCOME)
    add_number(said, outcome)


cdef int cards_in(const Event* event) noexcept:
    # Return the number of an event's values that are cards. The cards come first.
    if event.kind in (MomistigriEvent.TURN_BEGUN, MomistigriEvent.ROUND_BEGUN, MomistigriEvent.PENALTY_TAKEN):
        return 0
    return 1 if event.kind == MomistigriEvent.CARD_HANDED_OUT else event.count


cdef int other_seat(const Event* event) noexcept:
    # Return the second seat of an event, or -1 if the event has only one seat.
    if event.kind == MomistigriEvent.TURN_BEGUN:
        return event.values[0]
    if event.kind == MomistigriEvent.CARD_HANDED_OUT:
        return event.values[1]
    # A card that moves between two hands is visible only to their seats, so `seen_by` has both seats.
    if event.kind == MomistigriEvent.CARD_DRAWN or event.kind == MomistigriEvent.CARD_GIVEN:
        return lowest(event.seen_by & ~(1 << event.seat))
    return -1


cdef int count_in(const Event* event) noexcept:
    # Return the round, the number of draws or the points of an event, or -1.
    if event.kind == MomistigriEvent.TURN_BEGUN:
        return event.values[1]
    if event.kind == MomistigriEvent.ROUND_BEGUN or event.kind == MomistigriEvent.PENALTY_TAKEN:
        return event.values[0]
    return -1


cdef bint say_event(const Event* event, Said* said) except -1:
    # Events about another seat, and events in which no 1 was discarded, need a phrase that differs from the default
    # phrase of their kind.
    if event.kind == MomistigriEvent.TURN_BEGUN:
        say(said, TURN_BEGUN)
        add_number(said, event.seat)
        add_number(said, count_in(event))
    elif event.kind == MomistigriEvent.CARD_DRAWN:
        say(said, CARD_DRAWN if event.count else CARD_DRAWN_HIDDEN)
        add_number(said, event.seat)
        if event.count:
            add_number(said, event.values[0])
    elif event.kind == MomistigriEvent.CARD_GIVEN:
        say(said, CARD_GIVEN if event.count else CARD_GIVEN_HIDDEN)
        add_number(said, event.seat)
        if event.count:
            add_number(said, event.values[0])
    elif event.kind == MomistigriEvent.CARD_HANDED_OUT:
        say(said, CARD_HANDED_OUT)
        add_number(said, other_seat(event))
        add_number(said, event.values[0])
        add_number(said, event.seat)
        return True
    elif event.kind == MomistigriEvent.ONES_DISCARDED and event.count == 0:
        say(said, ONES_DISCARDED_NONE)
        add_number(said, event.seat)
        return True
    else:
        return False
    add_number(said, other_seat(event))
    return True


# Options

def _read_copies(copies):
    copies = read_numbers("copies", copies, COLOURED, 0, VALUES)
    for value in range(1, VALUES + 1):
        number = sum(copies[value - 1 :: VALUES])
        if number != VALUES + 1 - value:
            refuse_option("copies", f"the box has {VALUES + 1 - value} cards of value {value}, not {number}")
    return copies


def encode_options(players, options: Mapping):
    """Convert a mapping of options by name to the kernel's struct. Raises INVALID_OPTION."""
    cdef Options encoded
    cdef int kind
    options = complete_options(DESCRIPTION.title, options, DEFAULTS, players)
    copies = options["copies"]
    memset(&encoded, 0, sizeof(Options))
    encoded.first_seat = seat_or_none(options["first_seat"])
    # For speed, the defaults are not checked, because every batch that begins games calls this function.
    if copies is DEFAULTS["copies"]:
        memcpy(encoded.copies, USUAL.copies, sizeof(encoded.copies))
    else:
        copies = _read_copies(copies)
        for kind in range(COLOURED):
            encoded.copies[kind] = copies[kind]
    return (<const char*> &encoded)[:sizeof(Options)]


def options_of(Position position not None):
    """Return the options of a position that differ from their defaults, by name."""
    cdef const State* state = state_of(position)
    cdef const Box* box = box_of(state)
    cdef int kind
    options = first_seat_option(state.first_seat_option)
    if box != &USUAL_BOX:
        options["copies"] = [count_cards(bits_of(box, kind)) for kind in range(COLOURED)]
    return options


cdef OptionFields OPTIONS = OptionFields(
    RULES,
    encode_options,
    options_of,
    {"first_seat": (fields.OPTIONS_FIRST_SEAT, NUMBER), "copies": (fields.OPTIONS_COPIES, NUMBERS)},
)


# Actions

cdef int put_action(Writer out, Position position, int action) except -1:
    cdef uint8_t cards[2]
    cdef int low, high, receiver
    cdef size_t begun
    if action < PASS_ID:
        cards_of_pair(action, &low, &high)
        cards[0] = low
        cards[1] = high
        begun = out.begin(fields.ACTION_DISCARD_PAIR)
        out.byte_numbers(fields.DISCARD_PAIR_CARDS, cards, 2)
    elif action == PASS_ID:
        begun = out.begin(fields.ACTION_PASS_TURN)
    elif action == STOP_ID:
        begun = out.begin(fields.ACTION_STOP)
    elif action == MAIN_ID:
        begun = out.begin(fields.ACTION_MAIN)
    elif action == REVERSE_ID:
        begun = out.begin(fields.ACTION_REVERSE)
    elif action < FIRST_GIVE_ID:
        begun = out.begin(fields.ACTION_NAME_CARD)
        out.present(fields.NAME_CARD_CARD, action - FIRST_NAME_ID)
    elif action < FIRST_HAND_OUT_ID:
        receiver = receiver_of(position, action)
        begun = out.begin(fields.ACTION_GIVE)
        out.present(fields.GIVE_CARD, kind_of_gift(action))
        out.present(fields.GIVE_SEAT, receiver)
    elif action < FIRST_SWAP_OUT_ID:
        begun = out.begin(fields.ACTION_HAND_OUT)
        out.present(fields.HAND_OUT_CARD, action - FIRST_HAND_OUT_ID)
    elif action < FIRST_SWAP_IN_ID:
        begun = out.begin(fields.ACTION_SWAP_OUT)
        out.present(fields.SWAP_OUT_CARD, action - FIRST_SWAP_OUT_ID)
    else:
        begun = out.begin(fields.ACTION_SWAP_IN)
        out.present(fields.SWAP_IN_CARD, action - FIRST_SWAP_IN_ID)
    out.end(begun)


cdef int pair_id(const Message* pair) except -1:
    cards = listed_numbers(pair, fields.DISCARD_PAIR_CARDS)
    if len(cards) != 2:
        raise EngineError(Reason.INVALID_ACTION, "a pair has two cards", field="discard_pair.cards")
    for i, card in enumerate(cards):
        action_number(card, 0, KINDS - 1, f"discard_pair.cards[{i}]")
    low, high = sorted(cards)
    return high * (high + 1) // 2 + low


cdef card_in(const Message* action, int field, int card_field, name):
    cdef Message inner
    open_field(action, field, &inner)
    return number_in(&inner, card_field, 0, KINDS - 1, f"{name}.card")


cdef int read_action(const Message* action, Position position) except -1:
    # Read a MomistigriAction, and return its dense id. Raises INVALID_ACTION, or ILLEGAL_ACTION if a seat gives a card
    # to itself.
    cdef const State* state = state_of(position)
    cdef Message inner
    cdef int distance
    if has_span(action, fields.ACTION_DISCARD_PAIR):
        open_field(action, fields.ACTION_DISCARD_PAIR, &inner)
        return pair_id(&inner)
    if has_span(action, fields.ACTION_PASS_TURN):
        return PASS_ID
    if has_span(action, fields.ACTION_STOP):
        return STOP_ID
    if has_span(action, fields.ACTION_MAIN):
        return MAIN_ID
    if has_span(action, fields.ACTION_REVERSE):
        return REVERSE_ID
    if has_span(action, fields.ACTION_NAME_CARD):
        return FIRST_NAME_ID + card_in(action, fields.ACTION_NAME_CARD, fields.NAME_CARD_CARD, "name_card")
    if has_span(action, fields.ACTION_GIVE):
        card = card_in(action, fields.ACTION_GIVE, fields.GIVE_CARD, "give")
        open_field(action, fields.ACTION_GIVE, &inner)
        seat = number_in(&inner, fields.GIVE_SEAT, 0, state.players - 1, "give.seat")
        distance = distance_to(decider(state), seat, state.players)
        if distance == 0:
            try:
                position.refuse_move(forbids_gift(state, box_of(state), distance, card), None)
            except EngineError as error:
                error.lies_below(".".join(("give", *(part for part in error.parts if part in ("card", "seat")))))
                raise
        return id_of_gift(distance, card)
    if has_span(action, fields.ACTION_HAND_OUT):
        return FIRST_HAND_OUT_ID + card_in(action, fields.ACTION_HAND_OUT, fields.HAND_OUT_CARD, "hand_out")
    if has_span(action, fields.ACTION_SWAP_OUT):
        return FIRST_SWAP_OUT_ID + card_in(action, fields.ACTION_SWAP_OUT, fields.SWAP_OUT_CARD, "swap_out")
    if has_span(action, fields.ACTION_SWAP_IN):
        return FIRST_SWAP_IN_ID + card_in(action, fields.ACTION_SWAP_IN, fields.SWAP_IN_CARD, "swap_in")
    raise EngineError(Reason.INVALID_ACTION, "the action is empty: no field is set")


# State

ctypedef struct Listed:
    # The cards of a message. Each list is an independent set, in which n cards of a kind have the first n of the kind's
    # places.
    uint64_t hands[MAX_PLAYERS]
    uint64_t known[MAX_PLAYERS][KNOWERS]  # indexed by the seat of the hand and the knower
    uint64_t pile


cdef Scalars list_scalars():
    cdef State at
    cdef Scalars scalars = Scalars(RULES)
    scalars.begin(&at)
    scalars.add("phase", fields.STATE_PHASE, fields.VIEW_PHASE, &at.phase, 1, PHASES, 1)
    scalars.add(
        "round_first_seat", fields.STATE_ROUND_FIRST_SEAT, fields.VIEW_ROUND_FIRST_SEAT, &at.first_seat, 0, LAST_SEAT,
        0, NO_SEAT,
    )
    scalars.add(
        "active_seat", fields.STATE_ACTIVE_SEAT, fields.VIEW_ACTIVE_SEAT, &at.active, 0, LAST_SEAT, 0, UNTIL_FIRST_SEAT
    )
    scalars.add("round", fields.STATE_ROUND, fields.VIEW_ROUND, &at.round, 1, ROUNDS, 1)
    scalars.add("turn", fields.STATE_TURN, fields.VIEW_TURN, &at.turn, 0, LAST_TURN)
    scalars.add("reversed", fields.STATE_REVERSED, fields.VIEW_REVERSED, &at.backwards, 0, 1)
    scalars.add("mark", fields.STATE_MARK, fields.VIEW_MARK, &at.mark, 1, MARKS, 1)
    scalars.add("draws_left", fields.STATE_DRAWS_LEFT, fields.VIEW_DRAWS_LEFT, &at.draws_left, 0, MAX_DRAW)
    scalars.add("pair_value", fields.STATE_PAIR_VALUE, fields.VIEW_PAIR_VALUE, &at.effect, 1, LAST_CHOICE, 0, 0)
    # The packed state has 1 + the card, or 0.
    scalars.add("swapped_out", fields.STATE_SWAPPED_OUT, fields.VIEW_SWAPPED_OUT, &at.swapped_out, 0, KINDS - 1, -1, 0)
    return scalars


cdef Scalars SCALARS = list_scalars()


cdef inline int finished_rounds(const State* state) noexcept:
    return state.round + (state.phase == FINISHED)


cdef put_cards(Writer out, int field, const Box* box, uint64_t cards):
    cdef uint8_t kinds[BOX]
    cdef int count = 0
    while cards:
        kinds[count] = box.kind_at[lowest(cards)]
        count += 1
        cards &= cards - 1
    out.byte_numbers(field, kinds, count)


cdef put_penalties(Writer out, int field, const State* state, int seat):
    cdef uint8_t penalties[ROUNDS]
    cdef int round
    for round in range(finished_rounds(state)):
        penalties[round] = state.penalties[round][seat]
    out.byte_numbers(field, penalties, finished_rounds(state))


cdef put_knowledge(Writer out, const State* state, int seat, int knower):
    cdef size_t begun = out.begin(fields.SEAT_KNOWLEDGE)
    if knower != PUBLIC:
        out.present(fields.KNOWLEDGE_SEAT, knower)
    put_cards(out, fields.KNOWLEDGE_CARDS, box_of(state), state.known[knower] & state.hands[seat])
    if state.most_ones[seat][knower]:
        out.present(fields.KNOWLEDGE_MOST_ONES, state.most_ones[seat][knower] - 1)
    out.end(begun)


cdef put_seat(Writer out, const State* state, int seat):
    cdef const uint8_t* most_ones = state.most_ones[seat]
    cdef uint64_t hand = state.hands[seat], public = state.known[PUBLIC] & hand
    cdef int knower
    cdef size_t begun = out.begin(fields.STATE_SEATS)
    put_cards(out, fields.SEAT_HAND_CARDS, box_of(state), hand)
    if public or most_ones[PUBLIC]:
        put_knowledge(out, state, seat, PUBLIC)
    for knower in range(state.players):
        if knower != seat and (state.known[knower] & hand != public or most_ones[knower] != most_ones[PUBLIC]):
            put_knowledge(out, state, seat, knower)
    out.number(fields.SEAT_IN_ROUND, state.in_round >> seat & 1)
    out.number(fields.SEAT_PASS_MARK, state.passed >> seat & 1)
    put_penalties(out, fields.SEAT_ROUND_POINTS, state, seat)
    out.end(begun)


cdef int put_state(Writer out, Position position) except -1:
    cdef const State* state = state_of(position)
    cdef int seat
    OPTIONS.put_in(out, fields.STATE_OPTIONS, position)
    SCALARS.put_state(out, state)
    for seat in range(state.players):
        put_seat(out, state, seat)
    put_cards(out, fields.STATE_DISCARDS, box_of(state), pile_of(state))
    if state.phase == HAND_OUT:
        out.present(fields.STATE_RECEIVER, state.receiver)


cdef refuse_cards(const Box* box, const Message* message, int field, name):
    # Raise an error for a number that is not a card, or for more cards of a kind than the box has.
    kinds = listed_numbers(message, field)
    for i, kind in enumerate(kinds):
        RULES.in_range(kind, 0, KINDS - 1, f"{name}[{i}]")
    for kind, number in Counter(kinds).items():
        copies = count_cards(bits_of(box, kind))
        if number > copies:
            RULES.refuse_state(name, f"of card {kind} the box has {copies}, not {number}", "Components and setup")


cdef bint list_set(const Box* box, const Message* message, int field, uint64_t most, uint64_t* cards) except -1:
    # Read a list of cards as a set. Returns False if a number is not a card, or the card is not in `most`.
    cdef int64_t kinds[BOX]
    cdef int count = list_numbers(message, field, kinds, BOX), i
    cdef uint64_t bits
    cards[0] = 0
    if count > BOX:
        return False
    for i in range(count):
        if not 0 <= kinds[i] < KINDS:
            return False
        bits = bits_of(box, <int> kinds[i])
        if cards[0] & bits == most & bits:
            return False
        cards[0] |= (cards[0] & bits) << 1 | bits & -bits
    return True


cdef int read_knower(const State* state, int seat, int found, const Message* entry) except -1:
    # Read the knower of an entry about a seat's hand. `found` is the set of knowers of earlier entries.
    cdef int knower = PUBLIC
    if has_number(entry, fields.KNOWLEDGE_SEAT):
        knower = within(RULES, number_of(entry, fields.KNOWLEDGE_SEAT), 0, state.players - 1, "seat")
    if found >> knower & 1:
        RULES.refuse_state("seat", "there are two entries for the same seat, or for all", "Public and hidden")
    if knower == seat:
        RULES.refuse_state("seat", "a seat knows its own hand anyway", "Public and hidden")
    return knower


cdef read_known(const Box* box, const Message* entry, uint64_t hand, uint64_t* cards, uint8_t* most_ones):
    # Read an entry. An entry has one knower's knowledge about a hand.
    if not list_set(box, entry, fields.KNOWLEDGE_CARDS, hand, cards):
        RULES.refuse_state("cards", "the hand does not hold all of these", "Public and hidden")
    if has_number(entry, fields.KNOWLEDGE_MOST_ONES):
        most_ones[0] = 1 + within(RULES, number_of(entry, fields.KNOWLEDGE_MOST_ONES), 0, ONES - 1, "most_ones")


cdef read_knowledge(State* state, Listed* listed, int seat, const Message* message):
    # Read the knowledge about a seat's hand. Seats without an entry have only the public knowledge.
    cdef Message entry
    cdef Span rest = message.span
    cdef uint64_t* known = listed.known[seat]
    cdef uint8_t* most_ones = state.most_ones[seat]
    cdef int found = 0, number = 0, knower
    try:
        while next_of(fields.SEAT_KNOWLEDGE, &rest, &entry):
            knower = read_knower(state, seat, found, &entry)
            read_known(box_of(state), &entry, listed.hands[seat], &known[knower], &most_ones[knower])
            found |= 1 << knower
            number += 1
    except EngineError as error:
        error.lies_below("knowledge", number)
        raise
    for knower in range(state.players):
        if knower != seat and not found >> knower & 1:
            known[knower] = known[PUBLIC]
            most_ones[knower] = most_ones[PUBLIC]


cdef read_penalties(State* state, int seat, const Message* message):
    cdef int64_t penalties[ROUNDS]
    cdef int finished = finished_rounds(state), round
    if list_numbers(message, fields.SEAT_ROUND_POINTS, penalties, ROUNDS) != finished:
        RULES.refuse_state("round_points", f"{finished} rounds are finished", "End of a round")
    for round in range(finished):
        state.penalties[round][seat] = within(RULES, penalties[round], 0, 255, "round_points", round)


cdef read_seat(State* state, Listed* listed, int seat, const Message* message):
    if not list_set(box_of(state), message, fields.SEAT_HAND_CARDS, bit(BOX) - 1, &listed.hands[seat]):
        refuse_cards(box_of(state), message, fields.SEAT_HAND_CARDS, "hand_cards")
    read_knowledge(state, listed, seat, message)
    read_penalties(state, seat, message)
    state.in_round |= number_of(message, fields.SEAT_IN_ROUND) << seat
    state.passed |= number_of(message, fields.SEAT_PASS_MARK) << seat


cdef lay_cards(State* state, const Listed* listed):
    # Put each card into one hand or into `left`, in the order of packed states.
    cdef const Box* box = box_of(state)
    cdef bint dealt = state.phase > DEAL
    cdef uint64_t deck = deck_for(box, state.players), bits, mine
    cdef int kind, seat, knower, count, held
    for kind in range(KINDS):
        bits = bits_of(box, kind)
        count = count_cards(bits & deck)
        held = 0
        for seat in range(state.players):
            mine = listed.hands[seat] & bits
            if mine == 0:
                continue
            if held + count_cards(mine) > count:
                refuse_deck()
            state.hands[seat] |= mine << held
            for knower in range(KNOWERS):
                state.known[knower] |= (listed.known[seat][knower] & bits) << held
            held += count_cards(mine)
        # Before the first turn, the pile must be empty. From then on, it must have all cards that are not in hands.
        if count_cards(listed.pile & bits) != (count - held if dealt else 0):
            refuse_deck()
        state.left |= bits & deck & bits << held


cdef refuse_deck():
    fault = DESCRIPTION.faults[MomistigriFault.CARD_TWICE_OR_MISSING]
    raise EngineError(fault.reason, fault.message, field=fault.field, rule=fault.rule, key=fault.key)


cdef bytes read_state(const Message* read, int rules_version):
    cdef Message inner
    cdef Span rest = read.span
    cdef State state
    cdef Listed listed
    cdef int seat = 0
    memset(&state, 0, sizeof(State))
    state.rules_version = rules_version
    memset(&listed, 0, sizeof(Listed))
    state.players = within(RULES, count_of(read, fields.STATE_SEATS), 3, MAX_PLAYERS, "seats")
    set_options(&state, OPTIONS.encoded(read, fields.STATE_OPTIONS, state.players))
    SCALARS.read(read, &state, state.players)
    if has_number(read, fields.STATE_RECEIVER) != (state.phase == HAND_OUT):
        RULES.refuse_state("receiver", "there is a receiver when cards of the pile are handed out, and only then")
    state.receiver = within(RULES, number_of(read, fields.STATE_RECEIVER), 0, state.players - 1, "receiver")
    try:
        for seat in range(state.players):
            next_of(fields.STATE_SEATS, &rest, &inner)
            read_seat(&state, &listed, seat, &inner)
    except EngineError as error:
        error.lies_below("seats", seat)
        raise
    if not list_set(box_of(&state), read, fields.STATE_DISCARDS, bit(BOX) - 1, &listed.pile):
        refuse_cards(box_of(&state), read, fields.STATE_DISCARDS, "discards")
    lay_cards(&state, &listed)
    return (<const char*> &state)[:sizeof(State)]


cdef set_options(State* state, bytes encoded):
    cdef const Options* options = <const Options*> <const char*> encoded
    state.first_seat_option = options.first_seat
    note_copies(state, options.copies)


# View

cdef put_seat_view(Writer out, const View* seen, int seat):
    cdef const State* state = &seen.state
    cdef size_t begun = out.begin(fields.VIEW_SEATS)
    out.number(fields.SEAT_VIEW_HAND_SIZE, seen.sizes[seat])
    put_cards(out, fields.SEAT_VIEW_HAND_CARDS, box_of(state), state.hands[seat])
    if seen.most_ones[seat]:
        out.present(fields.SEAT_VIEW_MOST_ONES, seen.most_ones[seat] - 1)
    put_cards(out, fields.SEAT_VIEW_KNOWN_TO_ALL, box_of(state), seen.known_to_all[seat])
    if seen.most_ones_known_to_all[seat]:
        out.present(fields.SEAT_VIEW_MOST_ONES_KNOWN_TO_ALL, seen.most_ones_known_to_all[seat] - 1)
    out.number(fields.SEAT_VIEW_IN_ROUND, state.in_round >> seat & 1)
    out.number(fields.SEAT_VIEW_PASS_MARK, state.passed >> seat & 1)
    put_penalties(out, fields.SEAT_VIEW_ROUND_POINTS, state, seat)
    out.end(begun)


cdef put_copies(Writer out, const Box* box):
    # Write the number of cards of each kind in the whole box, except the Momistigri.
    cdef uint8_t copies[COLOURED]
    cdef int place
    memset(copies, 0, sizeof(copies))
    for place in range(MOMISTIGRI_PLACE):
        copies[box.kind_at[place]] += 1
    out.byte_numbers(fields.VIEW_COPIES, copies, COLOURED)


cdef int put_view(Writer out, Position position, int viewer) except -1:
    cdef View seen
    cdef const State* state = &seen.state
    cdef int other
    view(position.body, viewer, &seen)
    OPTIONS.put_in(out, fields.VIEW_OPTIONS, position)
    SCALARS.put_view(out, state)
    for other in range(state.players):
        put_seat_view(out, &seen, other)
    if DRAW <= state.phase <= SWAP_IN:
        out.present(fields.VIEW_DRAWN_FROM, drawn_from(state))
    put_cards(out, fields.VIEW_DISCARDS, box_of(state), seen.pile)
    if state.phase == HAND_OUT:
        out.present(fields.VIEW_RECEIVER, state.receiver)
    put_cards(out, fields.VIEW_UNSEEN_CARDS, box_of(state), seen.unseen)
    put_copies(out, box_of(state))


# Events

cdef int put_event(Writer out, const Event* event) except -1:
    cdef int other = other_seat(event), number = count_in(event)
    EVENTS.put_head(out, event)
    if other >= 0:
        out.present(fields.EVENT_OTHER_SEAT, other)
    out.short_numbers(fields.EVENT_CARDS, event.values, cards_in(event))
    if number >= 0:
        out.present(COUNTS[event.kind], number)


# Score

cdef int known_totals(Position position, int viewer) except -1:
    # Return the set of seats whose totals a viewer knows. A total includes the hand, so every card of the hand must be
    # known.
    cdef View seen
    cdef int seat, known = 0
    view(position.body, viewer, &seen)
    for seat in range(seen.state.players):
        known |= (count_cards(seen.state.hands[seat]) == seen.sizes[seat]) << seat
    return known


cdef int put_score(Writer out, Position position, int known) except -1:
    cdef const State* state = state_of(position)
    cdef int seat
    cdef size_t begun
    for seat in range(state.players):
        begun = out.begin(fields.SCORE_DETAIL_SEATS)
        put_penalties(out, fields.SEAT_SCORE_ROUND_POINTS, state, seat)
        if known >> seat & 1:
            out.present(
                fields.SEAT_SCORE_HAND_POINTS,
                0 if state.phase == FINISHED else sum_of(box_of(state), state.hands[seat]),
            )
        out.end(begun)


# End

cdef int put_end(Writer out, Position position) except -1:
    out.number(fields.END_KIND, position.game.ops.end(position.body))
    out.present(fields.END_SEAT, position.game.ops.ended_by(position.body))
    out.number(fields.END_LAST_ROUND, last_round_end(state_of(position)))


cdef Conversions CONVERSIONS
CONVERSIONS.end_field = fields.STATE_END
CONVERSIONS.put_end = put_end
CONVERSIONS.read_state = read_state
CONVERSIONS.put_state = put_state
CONVERSIONS.put_view = put_view
CONVERSIONS.known_totals = known_totals
CONVERSIONS.put_score = put_score
CONVERSIONS.read_action = read_action
CONVERSIONS.put_action = put_action
CONVERSIONS.say_action = say_action
CONVERSIONS.say_outcome = say_outcome
CONVERSIONS.say_prompt = say_prompt
CONVERSIONS.put_event = put_event
CONVERSIONS.say_event = say_event

CODEC = make_codec(&CONVERSIONS, OPTIONS, EVENTS, PHRASES)
