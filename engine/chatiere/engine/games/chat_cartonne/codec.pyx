"""Chat Cartonne: conversion between packed states and the messages of chat_cartonne.proto."""

from collections.abc import Mapping

from chatiere.engine.core.codec import FLAG, NUMBER, first_seat_option, seat_or_none
from chatiere.engine.core.errors import EngineError, Reason
from chatiere.engine.core.options import complete_options, refuse_option
from chatiere.engine.core.phrases import phrases_of
from .description import DESCRIPTION, KINDS, RULES

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint64_t
from libc.string cimport memset

from chatiere.engine.core.codec cimport (
    LAST_SEAT, NUM_PLAYERS, UNTIL_FIRST_SEAT, Conversions, EventFields, OptionFields, Scalars, given_number, make_codec,
    number_in, within,
)
from chatiere.engine.core.operations cimport NO_SEAT, Event
from chatiere.engine.core.phrases cimport Said, add_number, say
from chatiere.engine.core.position cimport Position
from chatiere.engine.wire.reader cimport (
    Message, Span, count_of, has_number, has_span, list_numbers, next_number, next_of, number_of, open_field, span_of,
)
from chatiere.engine.wire.writer cimport Writer
from .state cimport (
    ALL_PRINCESSES, AS_CARTON, AWAKE, CARTONS, CATS, CELLS, DEAL, DRAW_ID, EAST, EXCLUDED_BITS, FIRST_CARTON_ID,
    FIRST_SEAT, FIRST_SLEEP_ID, FIRST_START, FIRST_TOY, HALF_SLEEPERS, IDS_OF_SLOT, KIND, MAX_CARDS, MAX_HAND,
    MAX_JOINTS, MAX_LISTED, NORTH, NO_CELL, NO_CROWD_BONUS, NO_DOUBLE_WALLS, ON_JOINT, PARTS, PATTERNS, PHASES,
    PILE_KINDS, PLACE_START, PLAYED_BITS, PRINCESS, PRINCESS_BIT, PRINCESS_THERE, SEATS, SLEEPER, SOUTH, STARTS,
    TOY_THERE, TURNED, WEST, WOKEN, WORDS, Box, ChatCartonneEvent, ChatCartonneFault, Options, Phase, Seat, State, View,
    contents_of, current_part, excluded_of, has_cell, has_kind, is_sleeper, lay_on_joint, lay_on_table, list_filled,
    may_draw, on_joint, owner_of, part_count, part_size, played_of, princess_count, princesses_in_hand, put_kind,
    read_boxes, score, walls_of, ways_to_lay_toy,
)
from .kernel cimport view
cimport chatiere.fields.chat_cartonne as fields

PHRASES = phrases_of(DESCRIPTION)

# Map the name of each variant to its bit in State.variants and its field in the messages.
_VARIANTS = {
    "all_princesses": (ALL_PRINCESSES, fields.OPTIONS_ALL_PRINCESSES),
    "no_double_walls": (NO_DOUBLE_WALLS, fields.OPTIONS_NO_DOUBLE_WALLS),
    "no_crowd_bonus": (NO_CROWD_BONUS, fields.OPTIONS_NO_CROWD_BONUS),
    "half_sleepers": (HALF_SLEEPERS, fields.OPTIONS_HALF_SLEEPERS),
}
_DEFAULTS = DESCRIPTION.defaults(SEATS)
# The fields of the actions without arguments. They are in the order of the ids, which begin with DRAW_ID.
_ALONE = (fields.ACTION_DRAW, fields.ACTION_SKIP, fields.ACTION_PASS_TURN)
# The actions whose only argument is a joint or a cell. They are in the order of the ids, which begin with
# FIRST_SLEEP_ID. Each action has one dense id for every cell. An entry has the field of the action, the field of the
# place within the action, and the path of the place in errors.
_PLACED = (
    (fields.ACTION_SLEEP, fields.SLEEP_CELL, "sleep.cell"),
    (fields.ACTION_LAY_CAT, fields.LAY_CAT_JOINT, "lay_cat.joint"),
    (fields.ACTION_PRINCESS_ON_JOINT, fields.PRINCESS_ON_JOINT_JOINT, "princess_on_joint.joint"),
    (fields.ACTION_PRINCESS_IN_CELL, fields.PRINCESS_IN_CELL_CELL, "princess_in_cell.cell"),
    (fields.ACTION_TOY_ON_JOINT, fields.TOY_ON_JOINT_JOINT, "toy_on_joint.joint"),
    (fields.ACTION_TOY_AS_CARTON, fields.TOY_AS_CARTON_CELL, "toy_as_carton.cell"),
)
cdef int CHOOSE_START = PHRASES.number("action.choose_start")
cdef int CHOOSE_START_TURNED = PHRASES.number("action.choose_start_turned")
# The phrases of _ALONE and _PLACED, in the same order.
cdef tuple ALONE = (PHRASES.number("action.draw"), PHRASES.number("action.skip"), PHRASES.number("action.pass_turn"))
cdef tuple PLACED = (
    PHRASES.number("action.sleep"),
    PHRASES.number("action.lay_cat"),
    PHRASES.number("action.princess_on_joint"),
    PHRASES.number("action.princess_in_cell"),
    PHRASES.number("action.toy_on_joint"),
    PHRASES.number("action.toy_as_carton"),
)
cdef int PLACE_CARTON = PHRASES.number("action.place_carton")
cdef int PLACE_CARTON_TURNED = PHRASES.number("action.place_carton_turned")
cdef int FIRST_SEAT_OUTCOME = PHRASES.number("outcome.first_seat")
cdef int CARD_OUTCOME = PHRASES.number("outcome.card")
cdef int PROMPT_START = PHRASES.number("prompt.choose_start")
cdef int PROMPT_PLACE_START = PHRASES.number("prompt.place_start")
cdef int PROMPT_DRAW_OR_SLEEP = PHRASES.number("prompt.draw_or_sleep")
cdef int PROMPT_PLAY_OR_SLEEP = PHRASES.number("prompt.play_or_sleep")
cdef int PROMPT_PLAY = PHRASES.number("prompt.play")
cdef int PROMPT_TOY = PHRASES.number("prompt.toy")
cdef int PROMPT_TOY_ON_JOINT = PHRASES.number("prompt.toy_on_joint")
cdef int PROMPT_TOY_AS_CARTON = PHRASES.number("prompt.toy_as_carton")
cdef int PROMPT_CAT = PHRASES.number("prompt.cat")
cdef int START_PLACED_TURNED = PHRASES.number("event.start_placed_turned")
cdef int CARTON_PLACED_TURNED = PHRASES.number("event.carton_placed_turned")

cdef EventFields EVENTS = EventFields(
    {
        "kind": fields.EVENT_KIND,
        "seat": fields.EVENT_SEAT,
        "card": fields.EVENT_CARDS,
        "turned": fields.EVENT_TURNED,
        "cell": fields.EVENT_CELL,
        "joint": fields.EVENT_JOINT,
        "cat_owner": fields.EVENT_CAT_OWNER,
        "cells": fields.EVENT_CELLS,
    },
    DESCRIPTION.event_values(),
    lists=("card", "cells"),
)


cdef const State* state_of(Position position) noexcept:
    return <const State*> position.body


# Phrases

cdef int say_action(Position position, int action, Said* said) except -1:
    # Compute the phrase of a dense id. A carton that is placed must be in the acting seat's hand.
    cdef Carton carton
    if action < DRAW_ID:
        say(said, CHOOSE_START_TURNED if action % 2 else CHOOSE_START)
        add_number(said, FIRST_START + action // 2)
    elif action < FIRST_CARTON_ID:
        say(said, ALONE[action - DRAW_ID])
    elif action < FIRST_SLEEP_ID:
        carton = carton_of(position, action)
        say(said, PLACE_CARTON_TURNED if carton.turned else PLACE_CARTON)
        add_number(said, carton.kind)
        add_number(said, carton.cell)
    else:
        say(said, PLACED[(action - FIRST_SLEEP_ID) // CELLS])
        add_number(said, (action - FIRST_SLEEP_ID) % CELLS)


cdef int say_prompt(Position position, Said* said) except -1:
    cdef const State* state = state_of(position)
    cdef uint64_t joints[WORDS]
    cdef int phase = state.phase, ways
    if phase == Phase.CHOOSE_START:
        say(said, PROMPT_START)
    elif phase == Phase.PLACE_START:
        say(said, PROMPT_PLACE_START)
    elif phase == Phase.TOY:
        ways = ways_to_lay_toy(state, joints)
        say(
            said,
            PROMPT_TOY_ON_JOINT if ways == ON_JOINT else PROMPT_TOY_AS_CARTON if ways == AS_CARTON else PROMPT_TOY,
        )
    elif phase == Phase.CAT:
        say(said, PROMPT_CAT)
    elif phase == Phase.TURN and may_draw(state):
        say(said, PROMPT_DRAW_OR_SLEEP)
    elif phase == Phase.TURN and state.seats[state.active].supply:
        say(said, PROMPT_PLAY_OR_SLEEP)
    else:
        say(said, PROMPT_PLAY)


cdef int say_outcome(Position position, int outcome, Said* said) except -1:
    say(said, FIRST_SEAT_OUTCOME if state_of(position).phase == FIRST_SEAT else CARD_OUTCOME)
    add_number(said, outcome)


cdef bint say_event(const Event* event, Said* said) except -1:
    # Only events about turned cards need a phrase that differs from the default phrase of their kind.
    if event.kind != ChatCartonneEvent.START_PLACED and event.kind != ChatCartonneEvent.CARTON_PLACED:
        return False
    if not event.values[1]:
        return False
    say(said, START_PLACED_TURNED if event.kind == ChatCartonneEvent.START_PLACED else CARTON_PLACED_TURNED)
    add_number(said, event.seat)
    add_number(said, event.values[0])
    add_number(said, event.values[2])
    return True


# Cards on the table

cdef put_card(Writer out, int field, const State* state, int place, int cell):
    cdef int there = on_joint(state, cell), card = state.cards[place], kind = card & KIND
    cdef size_t begun = out.begin(field), inner
    out.number(fields.CARD_CELL, cell)
    if is_sleeper(card):
        out.present(fields.CARD_SLEEPING_CAT, owner_of(card))
    elif kind == PRINCESS:
        out.end(out.begin(fields.CARD_PRINCESS))
    else:
        out.present(fields.CARD_CARD, kind)
    out.number(fields.CARD_TURNED, card & TURNED and not is_sleeper(card))
    if there:
        inner = out.begin(fields.CARD_ON_JOINT)
        if there >= TOY_THERE:
            out.present(fields.ON_JOINT_TOY, FIRST_TOY + there - TOY_THERE)
        elif there == PRINCESS_THERE:
            out.end(out.begin(fields.ON_JOINT_PRINCESS))
        else:
            out.present(fields.ON_JOINT_CAT, there - AWAKE)
        out.end(inner)
    out.number(fields.CARD_WOKEN, card & WOKEN and is_sleeper(card))
    out.end(begun)


# Write a card with its visible walls and contents.
cdef put_card_view(Writer out, const State* state, int place, int cell):
    cdef int contents[4]
    cdef int walls = walls_of(state.cards[place])
    cdef size_t begun = out.begin(fields.VIEW_TABLE)
    contents_of(state.cards[place], contents)
    put_card(out, fields.CARD_VIEW_LAID, state, place, cell)
    out.number(fields.CARD_VIEW_WALL_NORTH, (walls & NORTH) != 0)
    out.number(fields.CARD_VIEW_WALL_EAST, (walls & EAST) != 0)
    out.number(fields.CARD_VIEW_WALL_SOUTH, (walls & SOUTH) != 0)
    out.number(fields.CARD_VIEW_WALL_WEST, (walls & WEST) != 0)
    out.number(fields.CARD_VIEW_MICE, contents[0])
    out.number(fields.CARD_VIEW_BALLS, contents[1])
    out.number(fields.CARD_VIEW_FISH, contents[2])
    out.number(fields.CARD_VIEW_SPRAYERS, contents[3])
    out.end(begun)


cdef int read_on_joint(const State* state, const Message* there) except -1:
    # Read the item on a joint, and return it as encoded in State.joints.
    if has_number(there, fields.ON_JOINT_CAT):
        return AWAKE + within(RULES, number_of(there, fields.ON_JOINT_CAT), 0, state.players - 1, "on_joint.cat")
    if has_number(there, fields.ON_JOINT_TOY):
        return TOY_THERE - FIRST_TOY + within(
            RULES, number_of(there, fields.ON_JOINT_TOY), FIRST_TOY, PRINCESS - 1, "on_joint.toy"
        )
    if not has_span(there, fields.ON_JOINT_PRINCESS):
        RULES.refuse_state("on_joint", "no cat, toy or Princess is given")
    return PRINCESS_THERE


cdef int read_card(const State* state, const Message* message) except -1:
    # Read a card, and return it as encoded in State.cards.
    cdef int turned = TURNED if number_of(message, fields.CARD_TURNED) else 0, kind
    cdef bint woken = number_of(message, fields.CARD_WOKEN)
    if woken and not has_number(message, fields.CARD_SLEEPING_CAT):
        RULES.refuse_state("woken", "only a sleeping cat can wake", "A turn")
    if has_number(message, fields.CARD_CARD):
        kind = within(RULES, number_of(message, fields.CARD_CARD), 0, FIRST_START + STARTS - 1, "card")
        if kind == PRINCESS:
            RULES.refuse_state("card", "the Princess has a field of her own")
        return kind | turned
    if has_number(message, fields.CARD_SLEEPING_CAT):
        if turned:
            RULES.refuse_state("turned", "a sleeping cat is not turned", "A turn")
        return (WOKEN if woken else 0) | SLEEPER + within(
            RULES, number_of(message, fields.CARD_SLEEPING_CAT), 0, state.players - 1, "sleeping_cat"
        )
    if not has_span(message, fields.CARD_PRINCESS):
        RULES.refuse_state("", "no card, sleeping cat or Princess is given")
    return PRINCESS | turned


cdef read_place(State* state, const Message* card):
    # Lay a card from a message in its cell, and the card's item on its joint.
    cdef Message there
    cdef int cell = within(RULES, number_of(card, fields.CARD_CELL), 0, CELLS - 1, "cell")
    if has_cell(state.filled, cell):
        RULES.refuse_state("cell", f"there are two cards in cell {cell}")
    if has_span(card, fields.CARD_ON_JOINT):
        open_field(card, fields.CARD_ON_JOINT, &there)
        lay_on_joint(state, cell, read_on_joint(state, &there))
    lay_on_table(state, cell, read_card(state, card))


cdef read_table(State* state, const Message* message):
    # The cards may be listed in any order.
    cdef Message card
    cdef Span rest = message.span
    cdef int joints = 0
    if count_of(message, fields.STATE_TABLE) > MAX_CARDS:
        RULES.refuse_state("table", f"at most {MAX_CARDS} cards can lie on the table")
    try:
        while next_of(fields.STATE_TABLE, &rest, &card):
            joints += has_span(&card, fields.CARD_ON_JOINT)
            if joints > MAX_JOINTS:
                break
            read_place(state, &card)
    except EngineError as error:
        error.lies_below("table", state.laid)
        raise
    if joints > MAX_JOINTS:
        RULES.refuse_state("table.on_joint", f"at most {MAX_JOINTS} things can lie on joints")


# Options

def encode_options(players, options: Mapping):
    """Convert a mapping of options by name to the kernel's struct. Raises INVALID_OPTION."""
    cdef Options encoded
    options = complete_options("Chat Cartonne", options, _DEFAULTS, players)
    for name in _VARIANTS:
        if not isinstance(options[name], bool):
            refuse_option(name, f"{name} must be true or false")
    memset(&encoded, 0, sizeof(Options))
    encoded.first_seat = seat_or_none(options["first_seat"])
    encoded.variants = sum(bit for name, (bit, _) in _VARIANTS.items() if options[name])
    return (<const char*> &encoded)[:sizeof(Options)]


def options_of(Position position not None):
    """Return the options of a position that differ from their defaults, by name."""
    cdef const State* state = state_of(position)
    options = first_seat_option(state.first_seat_option)
    for name, (bit, _) in _VARIANTS.items():
        if state.variants & <int> bit:
            options[name] = True
    return options


cdef OptionFields OPTIONS = OptionFields(
    RULES,
    encode_options,
    options_of,
    {
        "first_seat": (fields.OPTIONS_FIRST_SEAT, NUMBER),
        **{name: (field, FLAG) for name, (_, field) in _VARIANTS.items()},
    },
)


# Actions

ctypedef struct Carton:
    # The fields of a PlaceCarton.
    int kind
    bint turned
    int cell


cdef const uint8_t* cartons_to_place(const State* state, int* count) noexcept:
    # Return the cards to which the slots of a PlaceCarton refer.
    if state.phase == PLACE_START:
        count[0] = 1
        return &state.pending
    count[0] = state.seats[state.active].hand_size
    return state.seats[state.active].hand


cdef Carton carton_of(Position position, int action) except *:
    # Return the carton to which a PlaceCarton of the active seat refers.
    cdef int count, slot = (action - FIRST_CARTON_ID) // IDS_OF_SLOT, place = (action - FIRST_CARTON_ID) % IDS_OF_SLOT
    cdef const uint8_t* cartons = cartons_to_place(state_of(position), &count)
    cdef Carton carton
    if slot >= count:
        position.refuse_move(int(ChatCartonneFault.CARD_NOT_IN_HAND), action)
    carton.kind = cartons[slot]
    carton.turned = place >= CELLS
    carton.cell = place % CELLS
    return carton


cdef int put_action(Writer out, Position position, int action) except -1:
    cdef Carton carton
    cdef size_t begun
    if action < DRAW_ID:
        begun = out.begin(fields.ACTION_CHOOSE_START)
        out.present(fields.CHOOSE_START_CARD, FIRST_START + action // 2)
        out.present(fields.CHOOSE_START_TURNED, action % 2)
    elif action < FIRST_CARTON_ID:
        begun = out.begin(_ALONE[action - DRAW_ID])
    elif action < FIRST_SLEEP_ID:
        carton = carton_of(position, action)
        begun = out.begin(fields.ACTION_PLACE_CARTON)
        out.present(fields.PLACE_CARTON_CARD, carton.kind)
        out.present(fields.PLACE_CARTON_TURNED, carton.turned)
        out.present(fields.PLACE_CARTON_CELL, carton.cell)
    else:
        placed = _PLACED[(action - FIRST_SLEEP_ID) // CELLS]
        begun = out.begin(placed[0])
        out.present(placed[1], (action - FIRST_SLEEP_ID) % CELLS)
    out.end(begun)


def _carton_id(Position position, kind, turned, cell):
    cdef const State* state = state_of(position)
    cdef int count, slot
    cdef const uint8_t* cartons = cartons_to_place(state, &count)
    if kind >= FIRST_START + STARTS or FIRST_TOY <= kind <= PRINCESS:
        raise EngineError(
            Reason.INVALID_ACTION,
            f"cartons are 0 to {CARTONS - 1}, starting cartons {FIRST_START} to {FIRST_START + STARTS - 1}, not {kind}",
            field="place_carton.card",
        )
    for slot in range(count):
        if cartons[slot] == kind:
            return FIRST_CARTON_ID + IDS_OF_SLOT * slot + CELLS * turned + cell
    RULES.refuse_card(state.active, f"{KINDS[kind]} to place", "place_carton.card")


cdef int read_action(const Message* action, Position position) except -1:
    # Read a ChatCartonneAction, and return its dense id. Raises INVALID_ACTION, or ILLEGAL_ACTION if the card is not in
    # hand.
    cdef Message inner
    for i, field in enumerate(_ALONE):
        if has_span(action, field):
            return DRAW_ID + i
    if has_span(action, fields.ACTION_CHOOSE_START):
        open_field(action, fields.ACTION_CHOOSE_START, &inner)
        kind = number_in(
            &inner, fields.CHOOSE_START_CARD, FIRST_START, FIRST_START + STARTS - 1, "choose_start.card"
        )
        return 2 * (kind - FIRST_START) + number_in(&inner, fields.CHOOSE_START_TURNED, 0, 1, "choose_start.turned")
    if has_span(action, fields.ACTION_PLACE_CARTON):
        open_field(action, fields.ACTION_PLACE_CARTON, &inner)
        return _carton_id(
            position,
            given_number(&inner, fields.PLACE_CARTON_CARD, "place_carton.card"),
            number_in(&inner, fields.PLACE_CARTON_TURNED, 0, 1, "place_carton.turned"),
            number_in(&inner, fields.PLACE_CARTON_CELL, 0, CELLS - 1, "place_carton.cell"),
        )
    for i, (field, place, path) in enumerate(_PLACED):
        if has_span(action, field):
            open_field(action, field, &inner)
            return FIRST_SLEEP_ID + CELLS * i + number_in(&inner, place, 0, CELLS - 1, path)
    raise EngineError(Reason.INVALID_ACTION, "the action is empty: no field is set")


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
    scalars.add("final_phase", fields.STATE_FINAL_PHASE, fields.VIEW_FINAL_PHASE, &at.final_phase, 0, 1)
    scalars.add("passes", fields.STATE_PASSES, fields.VIEW_PASSES, &at.passes, 0, NUM_PLAYERS)
    scalars.add(
        "just_played", fields.STATE_JUST_PLAYED, fields.VIEW_JUST_PLAYED, &at.just_played, 0, CELLS - 1, 0, NO_CELL,
        sizeof(at.just_played),
    )
    return scalars


cdef Scalars SCALARS = list_scalars()


cdef put_kinds(Writer out, int field, const uint64_t* kinds):
    cdef uint8_t listed[PILE_KINDS]
    cdef int count = 0, kind
    for kind in range(PILE_KINDS):
        if has_kind(kinds, kind):
            listed[count] = kind
            count += 1
    out.byte_numbers(field, listed, count)


cdef put_by_part(Writer out, int field, const State* state, const Seat* held):
    cdef int part
    cdef size_t begun
    for part in range(part_count(state)):
        begun = out.begin(field)
        out.number(fields.SEAT_PART_CARDS_DRAWN, held.drawn[part])
        out.number(fields.SEAT_PART_PRINCESSES_PLAYED, played_of(held, part))
        out.end(begun)


cdef put_shown(Writer out, int field, const Seat* held):
    cdef uint8_t patterns[PATTERNS]
    cdef int slot, pattern, count, excluded
    cdef size_t begun
    for slot in range(held.hand_size):
        excluded = excluded_of(held, slot)
        if excluded == 0:
            continue
        count = 0
        for pattern in range(PATTERNS):
            if excluded >> pattern & 1:
                patterns[count] = pattern
                count += 1
        begun = out.begin(field)
        out.byte_numbers(fields.SHOWN_NOT_PATTERNS, patterns, count)
        out.number(fields.SHOWN_NOT_PRINCESS, excluded >> PRINCESS_BIT)
        out.end(begun)


cdef int put_state(Writer out, Position position) except -1:
    cdef const State* state = state_of(position)
    cdef const Seat* held
    cdef uint16_t cells[MAX_LISTED]
    cdef int seat, place, part
    cdef size_t begun
    OPTIONS.put_in(out, fields.STATE_OPTIONS, position)
    SCALARS.put_state(out, state)
    for seat in range(state.players):
        held = &state.seats[seat]
        begun = out.begin(fields.STATE_SEATS)
        out.byte_numbers(fields.SEAT_HAND_CARDS, held.hand, held.hand_size)
        out.number(fields.SEAT_SUPPLY, held.supply)
        put_by_part(out, fields.SEAT_BY_PART, state, held)
        put_shown(out, fields.SEAT_SHOWN, held)
        out.end(begun)
    list_filled(state, cells)
    for place in range(state.laid):
        put_card(out, fields.STATE_TABLE, state, place, cells[place])
    put_kinds(out, fields.STATE_DRAW_PILE_CARDS, state.unknown)
    for part in range(part_count(state)):
        begun = out.begin(fields.STATE_PARTS)
        if state.drawer[part] != NO_SEAT:
            out.present(fields.PART_PRINCESS_DRAWN_BY, state.drawer[part])
        out.end(begun)
    if state.pending:
        out.present(
            fields.STATE_STARTING_CARTON if state.pending >= FIRST_START else fields.STATE_TOY, state.pending
        )


cdef read_hand(Seat* held, const Message* message):
    cdef int64_t kinds[MAX_HAND]
    cdef int count = list_numbers(message, fields.SEAT_HAND_CARDS, kinds, MAX_HAND), i, kind, slot
    if count > MAX_HAND:
        RULES.refuse_state("hand_cards", f"a hand has at most {MAX_HAND} cards")
    for i in range(count):
        kind = within(RULES, kinds[i], 0, PRINCESS, "hand_cards", i)
        slot = i
        while slot and held.hand[slot - 1] > kind:
            held.hand[slot] = held.hand[slot - 1]
            slot -= 1
        held.hand[slot] = kind
    held.hand_size = count


cdef check_part_count(const State* state, int count, str name):
    if count != part_count(state):
        RULES.refuse_state(name, f"there must be {part_count(state)}, not {count}")


cdef read_by_part(const State* state, Seat* held, const Message* message):
    cdef Message part
    cdef Span rest = message.span
    cdef int i = 0
    check_part_count(state, count_of(message, fields.SEAT_BY_PART), "by_part")
    try:
        while next_of(fields.SEAT_BY_PART, &rest, &part):
            held.drawn[i] = within(RULES, number_of(&part, fields.SEAT_PART_CARDS_DRAWN), 0, 255, "cards_drawn")
            held.played |= within(
                RULES, number_of(&part, fields.SEAT_PART_PRINCESSES_PLAYED), 0, PARTS, "princesses_played"
            ) << PLAYED_BITS * i
            i += 1
    except EngineError as error:
        error.lies_below("by_part", i)
        raise


cdef int read_excluded(const Message* shown) except -1:
    # Read a set of card types that some card in hand cannot have, and return it as in Seat.excluded.
    cdef Span patterns = span_of(shown, fields.SHOWN_NOT_PATTERNS)
    cdef int64_t pattern
    cdef int excluded = number_of(shown, fields.SHOWN_NOT_PRINCESS) << PRINCESS_BIT, i = 0
    while next_number(&patterns, &pattern):
        excluded |= 1 << within(RULES, pattern, 0, PATTERNS - 1, "not_patterns", i)
        i += 1
    return excluded


cdef read_shown(Seat* held, const Message* message):
    cdef Message shown
    cdef Span rest = message.span
    cdef int slot = 0
    if count_of(message, fields.SEAT_SHOWN) > held.hand_size:
        RULES.refuse_state("shown", "more is shown than there are cards in hand", "Public and hidden")
    try:
        while next_of(fields.SEAT_SHOWN, &rest, &shown):
            held.excluded |= read_excluded(&shown) << EXCLUDED_BITS * slot
            slot += 1
    except EngineError as error:
        error.lies_below("shown", slot)
        raise


cdef read_seat(State* state, int seat, const Message* message):
    cdef Seat* held = &state.seats[seat]
    read_hand(held, message)
    held.supply = within(RULES, number_of(message, fields.SEAT_SUPPLY), 0, CATS, "supply")
    read_by_part(state, held, message)
    if has_span(message, fields.SEAT_SHOWN):
        read_shown(held, message)


cdef read_unknown(State* state, const Message* message):
    cdef Span rest = span_of(message, fields.STATE_DRAW_PILE_CARDS)
    cdef int64_t kind
    cdef int i = 0
    while next_number(&rest, &kind):
        within(RULES, kind, 0, PILE_KINDS - 1, "draw_pile_cards", i)
        if has_kind(state.unknown, <int> kind):
            RULES.refuse_state(f"draw_pile_cards[{i}]", f"{kind} is named twice")
        put_kind(state.unknown, <int> kind)
        i += 1


cdef read_parts(State* state, const Message* message):
    cdef Message part
    cdef Span rest = message.span
    cdef int i = 0
    check_part_count(state, count_of(message, fields.STATE_PARTS), "parts")
    memset(state.drawer, NO_SEAT, PARTS)
    try:
        while next_of(fields.STATE_PARTS, &rest, &part):
            if has_number(&part, fields.PART_PRINCESS_DRAWN_BY):
                state.drawer[i] = within(
                    RULES, number_of(&part, fields.PART_PRINCESS_DRAWN_BY), 0, state.players - 1, "princess_drawn_by"
                )
            i += 1
    except EngineError as error:
        error.lies_below("parts", i)
        raise


cdef read_pending(State* state, const Message* message):
    if has_number(message, fields.STATE_STARTING_CARTON):
        state.pending = within(
            RULES, number_of(message, fields.STATE_STARTING_CARTON), FIRST_START, FIRST_START + STARTS - 1,
            "starting_carton",
        )
    if has_number(message, fields.STATE_TOY):
        if state.pending:
            RULES.refuse_state("toy", "no seat has a starting carton and a toy card to play")
        state.pending = within(RULES, number_of(message, fields.STATE_TOY), FIRST_TOY, PRINCESS - 1, "toy")


cdef bytes read_state(const Message* read, int rules_version):
    cdef Message inner
    cdef Span rest = read.span
    cdef State state
    cdef int seat = 0
    memset(&state, 0, sizeof(State))
    state.rules_version = rules_version
    state.players = within(RULES, count_of(read, fields.STATE_SEATS), 2, SEATS, "seats")
    set_options(&state, OPTIONS.encoded(read, fields.STATE_OPTIONS, state.players))
    try:
        for seat in range(state.players):
            next_of(fields.STATE_SEATS, &rest, &inner)
            read_seat(&state, seat, &inner)
    except EngineError as error:
        error.lies_below("seats", seat)
        raise
    SCALARS.read(read, &state, state.players)
    read_table(&state, read)
    read_unknown(&state, read)
    read_parts(&state, read)
    read_pending(&state, read)
    return (<const char*> &state)[:sizeof(State)]


cdef set_options(State* state, bytes encoded):
    cdef const Options* options = <const Options*> <const char*> encoded
    state.first_seat_option = options.first_seat
    state.variants = options.variants


# View

cdef put_part_views(Writer out, const View* seen, int viewer):
    cdef const State* state = &seen.state
    cdef int part, left, current = current_part(state, seen.pile_size, &left)
    cdef size_t begun
    for part in range(part_count(state)):
        begun = out.begin(fields.VIEW_PARTS)
        if part >= current:
            out.number(fields.PART_VIEW_CARDS_LEFT, left if part == current else part_size(state, part))
        out.number(fields.PART_VIEW_OWN_PRINCESS, viewer >= 0 and state.drawer[part] == viewer)
        out.end(begun)


cdef int put_view(Writer out, Position position, int viewer) except -1:
    cdef View seen
    cdef const State* state = &seen.state
    cdef const Seat* held
    cdef uint16_t cells[MAX_LISTED]
    cdef int other, place, part, princesses
    cdef size_t begun
    view(position.body, viewer, &seen)
    OPTIONS.put_in(out, fields.VIEW_OPTIONS, position)
    SCALARS.put_view(out, state)
    princesses = princess_count(state)
    for other in range(state.players):
        held = &state.seats[other]
        begun = out.begin(fields.VIEW_SEATS)
        out.number(fields.SEAT_VIEW_HAND_SIZE, held.hand_size)
        if other == viewer:
            out.byte_numbers(fields.SEAT_VIEW_HAND_CARDS, held.hand, held.hand_size)
            princesses -= princesses_in_hand(state, other)
        out.number(fields.SEAT_VIEW_SUPPLY, held.supply)
        if state.final_phase:
            out.present(fields.SEAT_VIEW_HOLDS_CARTON, seen.holders >> other & 1)
        put_by_part(out, fields.SEAT_VIEW_BY_PART, state, held)
        put_shown(out, fields.SEAT_VIEW_SHOWN, held)
        out.end(begun)
        for part in range(part_count(state)):
            princesses -= played_of(held, part)
    list_filled(state, cells)
    for place in range(state.laid):
        put_card_view(out, state, place, cells[place])
    out.number(fields.VIEW_DRAW_PILE_SIZE, seen.pile_size)
    if state.phase > DEAL:
        put_part_views(out, &seen, viewer)
    put_kinds(out, fields.VIEW_UNSEEN_CARDS, state.unknown)
    out.number(fields.VIEW_UNSEEN_PRINCESSES, princesses)
    if state.pending:
        out.present(fields.VIEW_STARTING_CARTON if state.pending >= FIRST_START else fields.VIEW_TOY, state.pending)


# Score

cdef put_box(Writer out, const State* state, const Box* box, const uint8_t* box_of, int number):
    cdef uint8_t majority[SEATS]
    cdef uint16_t cells[MAX_LISTED]
    cdef int place, seat, count = 0
    cdef size_t begun = out.begin(fields.SCORE_DETAIL_BOXES), inner
    list_filled(state, cells)
    out.numbers(fields.BOX_CELLS, [cells[place] for place in range(state.laid) if box_of[place] == number])
    out.number(fields.BOX_CLOSED, box.closed != 0)
    out.number(fields.BOX_MICE, box.toys[0])
    out.number(fields.BOX_BALLS, box.toys[1])
    out.number(fields.BOX_FISH, box.toys[2])
    out.number(fields.BOX_SPRAYERS, box.sprayers)
    for seat in range(state.players):
        inner = out.begin(fields.BOX_BY_SEAT)
        out.number(fields.BOX_SEAT_AWAKE_CATS, box.awake[seat])
        out.number(fields.BOX_SEAT_WOKEN_CATS, box.woken[seat])
        out.number(fields.BOX_SEAT_SLEEPING_CATS, box.asleep[seat])
        out.number(fields.BOX_SEAT_BONUS_POINTS, box.bonus[seat])
        out.end(inner)
        if box.majority >> seat & 1:
            majority[count] = seat
            count += 1
    out.byte_numbers(fields.BOX_MAJORITY, majority, count)
    out.number(fields.BOX_POINTS, <uint64_t> <int64_t> box.points)
    out.end(begun)


cdef int put_score(Writer out, Position position, int known) except -1:
    cdef const State* state = state_of(position)
    cdef Box boxes[MAX_CARDS]
    cdef uint8_t box_of[MAX_CARDS]
    cdef int totals[SEATS]
    cdef int negative[SEATS]
    cdef int seat, i, count = read_boxes(state, boxes, box_of)
    cdef size_t begun
    score(state, totals, negative)
    for seat in range(state.players):
        begun = out.begin(fields.SCORE_DETAIL_SEATS)
        out.number(fields.SEAT_SCORE_TOTAL, <uint64_t> <int64_t> totals[seat])
        out.number(fields.SEAT_SCORE_NEGATIVE_POINTS, negative[seat])
        out.end(begun)
    for i in range(count):
        put_box(out, state, &boxes[i], box_of, i)


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
