"""Chat Cartonne: between the packed state and the messages of chat_cartonne.proto."""

from collections.abc import Mapping

from chatiere.engine.core.codec import action_number, complete_options, label_words, refuse_option, value_fields
from chatiere.engine.core.errors import EngineError, Reason
from chatiere.engine.games.chat_cartonne.words import CARD_NAMES, EVENT_LABELS, EVENT_VALUES, RULES, TURNED_CARD_NAMES

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint64_t
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
    next_number,
    next_of,
    number_of,
    open_field,
    span_of,
)
from chatiere.engine.wire.writer cimport Writer
from chatiere.engine.games.chat_cartonne.boxes cimport Box, read_boxes, score
from chatiere.engine.games.chat_cartonne.cells cimport list_filled
from chatiere.engine.games.chat_cartonne.kernel cimport view
from chatiere.engine.games.chat_cartonne.state cimport (
    ALL_PRINCESSES,
    CATS,
    CELLS,
    DEAL,
    DRAW_ID,
    EXCLUDED_BITS,
    FIRST_CARTON_ID,
    FIRST_SEAT,
    FIRST_SLEEP_ID,
    FIRST_START,
    FIRST_TOY,
    HALF_SLEEPERS,
    IDS_OF_SLOT,
    LARGEST_HAND,
    NO_CELL,
    NO_CROWD_BONUS,
    NO_DOUBLE_WALLS,
    PARTS,
    PATTERNS,
    PHASES,
    PILE_KINDS,
    PLACE_START,
    PLAYED_BITS,
    PRINCESS,
    PRINCESS_BIT,
    SEATS,
    SIDE,
    STARTS,
    ChatCartonneFault,
    Options,
    Seat,
    State,
    View,
    current_part,
    excluded_of,
    has_kind,
    part_count,
    part_size,
    played_of,
    princess_count,
    princesses_in_hand,
    put_kind,
)
from chatiere.engine.games.chat_cartonne.table cimport put_card, put_card_view, read_table
cimport chatiere.fields.chat_cartonne as fields

# The bit of each variant, and its field.
_VARIANTS = {
    "all_princesses": (ALL_PRINCESSES, fields.OPTIONS_ALL_PRINCESSES),
    "no_double_walls": (NO_DOUBLE_WALLS, fields.OPTIONS_NO_DOUBLE_WALLS),
    "no_crowd_bonus": (NO_CROWD_BONUS, fields.OPTIONS_NO_CROWD_BONUS),
    "half_sleepers": (HALF_SLEEPERS, fields.OPTIONS_HALF_SLEEPERS),
}
_DEFAULTS = dict.fromkeys(_VARIANTS, False)
# Actions that name nothing, from DRAW_ID on: their field, the words.
_ALONE = (
    (fields.ACTION_DRAW, "draw a card"),
    (fields.ACTION_SKIP, "let no cat follow"),
    (fields.ACTION_PASS_TURN, "pass"),
)
# Actions that name a joint or cell alone, each with as many dense ids as there are cells, from FIRST_SLEEP_ID on: their
# field, the field in that, both by name, the words before the place.
_PLACED = (
    (fields.ACTION_SLEEP, fields.SLEEP_CELL, "sleep.cell", "lay a sleeping cat at "),
    (fields.ACTION_LAY_CAT, fields.LAY_CAT_JOINT, "lay_cat.joint", "lay a cat on the joint at "),
    (
        fields.ACTION_PRINCESS_ON_JOINT,
        fields.PRINCESS_ON_JOINT_JOINT,
        "princess_on_joint.joint",
        "the Princess for the cat on the joint at ",
    ),
    (
        fields.ACTION_PRINCESS_IN_CELL,
        fields.PRINCESS_IN_CELL_CELL,
        "princess_in_cell.cell",
        "the Princess for the sleeping cat at ",
    ),
    (fields.ACTION_TOY_ON_JOINT, fields.TOY_ON_JOINT_JOINT, "toy_on_joint.joint", "lay the toy card on the joint at "),
    (fields.ACTION_TOY_AS_CARTON, fields.TOY_AS_CARTON_CELL, "toy_as_carton.cell", "lay the toy card as a carton at "),
)
_EVENT_FIELDS = {
    "seat": fields.EVENT_SEAT,
    "card": fields.EVENT_CARD,
    "turned": fields.EVENT_TURNED,
    "cell": fields.EVENT_CELL,
    "owner": fields.EVENT_OWNER,
}
cdef tuple _LABEL_WORDS = label_words(EVENT_LABELS, _EVENT_FIELDS)
cdef tuple _VALUE_FIELDS = value_fields(EVENT_VALUES, _EVENT_FIELDS)


cdef const State* state_of(Position position) noexcept:
    return <const State*> position.body


# Words

cdef put_card_name(Writer out, int kind, bint turned):
    out.string(TURNED_CARD_NAMES[kind] if turned else CARD_NAMES[kind])


cdef put_cell_name(Writer out, int cell):
    # Of a joint too.
    out.decimal(cell)
    out.words(b" (column ")
    out.decimal(cell % SIDE)
    out.words(b", row ")
    out.decimal(cell // SIDE)
    out.words(b")")


cdef int label_action(Writer out, Position position, int action) except -1:
    # A dense id in plain English, at a decision; a carton placed must be in the hand of the seat that is to act.
    cdef Carton carton
    position.require_action(action)
    if action < DRAW_ID:
        out.words(b"begin with ")
        put_card_name(out, FIRST_START + action // 2, action % 2)
    elif action < FIRST_CARTON_ID:
        out.string(_ALONE[action - DRAW_ID][1])
    elif action < FIRST_SLEEP_ID:
        carton = carton_of(position, action)
        out.words(b"place ")
        put_card_name(out, carton.kind, carton.turned)
        out.words(b" at ")
        put_cell_name(out, carton.cell)
    else:
        out.string(_PLACED[(action - FIRST_SLEEP_ID) // CELLS][3])
        put_cell_name(out, (action - FIRST_SLEEP_ID) % CELLS)


put_action_label = wrap_put_action(label_action)


def outcome_label(Position position not None, outcome):
    """A possible chance outcome in plain English."""
    return f"seat {outcome} begins" if state_of(position).phase == FIRST_SEAT else CARD_NAMES[outcome]


cdef int label_field(Writer out, const Event* event, int field) except -1:
    # What stands for a field in the label of an event.
    cdef bytes order = _VALUE_FIELDS[event.kind]
    cdef int value = value_for(event, order, field)
    if field == fields.EVENT_SEAT:
        out.decimal(event.seat)
    elif value < 0:
        out.words(b"a card")
    elif field == fields.EVENT_CARD:
        put_card_name(out, value, value_for(event, order, fields.EVENT_TURNED) == 1)
    elif field == fields.EVENT_CELL:
        put_cell_name(out, value)
    else:
        out.decimal(value)

cdef int label_event(Writer out, const Event* event) except -1:
    # An event in plain English.
    return put_label(out, event, _LABEL_WORDS, label_field)


put_event_label = wrap_put_event(label_event)


# Options

def encode_options(players, options: Mapping):
    """Options by name as the kernel's struct. Raises EngineError: INVALID_OPTION."""
    cdef Options encoded
    options = complete_options("Chat Cartonne", options, _DEFAULTS, players)
    for name in _VARIANTS:
        if not isinstance(options[name], bool):
            refuse_option(name, f"{name} must be true or false")
    memset(&encoded, 0, sizeof(Options))
    encoded.first_seat = options["first_seat"]
    encoded.variants = sum(bit for name, (bit, _) in _VARIANTS.items() if options[name])
    return (<const char*> &encoded)[:sizeof(Options)]


def options_of(Position position not None):
    """The options of a position that differ from their defaults, by name."""
    cdef const State* state = state_of(position)
    options = {}
    if state.first_seat_option != NO_SEAT:
        options["first_seat"] = state.first_seat_option
    for name, (bit, _) in _VARIANTS.items():
        if state.variants & <int> bit:
            options[name] = True
    return options


def read_options(Reader reader not None):
    """ChatCartonneOptions → options by name; what they may be is for `encode_options` to say."""
    cdef const Message* message = &reader.message
    options = {}
    if has_number(message, fields.OPTIONS_FIRST_SEAT):
        options["first_seat"] = number_of(message, fields.OPTIONS_FIRST_SEAT)
    for name, (_, field) in _VARIANTS.items():
        if has_number(message, field):
            options[name] = number_of(message, field) != 0
    return options


def put_options(Writer out not None, options):
    """Options by name → ChatCartonneOptions."""
    if "first_seat" in options:
        out.present(fields.OPTIONS_FIRST_SEAT, options["first_seat"])
    for name, (_, field) in _VARIANTS.items():
        if name in options:
            out.present(field, options[name])


# Actions

ctypedef struct Carton:
    # What a PlaceCarton names.
    int kind
    bint turned
    int cell


cdef const uint8_t* cartons_to_place(const State* state, int* count) noexcept:
    # Those that the slots of a PlaceCarton stand for.
    if state.phase == PLACE_START:
        count[0] = 1
        return &state.pending
    count[0] = state.seats[state.active].hand_size
    return state.seats[state.active].hand


cdef Carton carton_of(Position position, int action) except *:
    # For a PlaceCarton of the active seat.
    cdef int count, slot = (action - FIRST_CARTON_ID) // IDS_OF_SLOT, place = (action - FIRST_CARTON_ID) % IDS_OF_SLOT
    cdef const uint8_t* cartons = cartons_to_place(state_of(position), &count)
    cdef Carton carton
    if slot >= count:
        position.refuse_move(int(ChatCartonneFault.CARD_NOT_IN_HAND), action)
    carton.kind = cartons[slot]
    carton.turned = place >= CELLS
    carton.cell = place % CELLS
    return carton


cdef int write_action(Writer out, Position position, int action) except -1:
    # A dense id at a position → ChatCartonneAction.
    cdef Carton carton
    cdef size_t begun
    position.require_action(action)
    if action < DRAW_ID:
        begun = out.begin(fields.ACTION_CHOOSE_START)
        out.number(fields.CHOOSE_START_KIND, FIRST_START + action // 2)
        out.number(fields.CHOOSE_START_TURNED, action % 2)
    elif action < FIRST_CARTON_ID:
        begun = out.begin(_ALONE[action - DRAW_ID][0])
    elif action < FIRST_SLEEP_ID:
        carton = carton_of(position, action)
        begun = out.begin(fields.ACTION_PLACE_CARTON)
        out.number(fields.PLACE_CARTON_KIND, carton.kind)
        out.number(fields.PLACE_CARTON_TURNED, carton.turned)
        out.number(fields.PLACE_CARTON_CELL, carton.cell)
    else:
        placed = _PLACED[(action - FIRST_SLEEP_ID) // CELLS]
        begun = out.begin(placed[0])
        out.number(placed[1], (action - FIRST_SLEEP_ID) % CELLS)
    out.end(begun)


put_action = wrap_put_action(write_action)


def _carton_id(Position position, kind, turned, cell):
    cdef const State* state = state_of(position)
    cdef int count, slot
    cdef const uint8_t* cartons = cartons_to_place(state, &count)
    action_number(cell, 0, CELLS - 1, "place_carton.cell")
    if kind >= FIRST_START + STARTS or FIRST_TOY <= kind <= PRINCESS:
        raise EngineError(
            Reason.INVALID_ACTION,
            f"cartons are 0 to 71, starting cartons 76 to 80, not {kind}",
            field="place_carton.kind",
        )
    for slot in range(count):
        if cartons[slot] == kind:
            return FIRST_CARTON_ID + IDS_OF_SLOT * slot + CELLS * turned + cell
    RULES.refuse_card(state.active, f"{CARD_NAMES[kind]} to place", "place_carton.kind")


def read_action(Reader reader not None, Position position not None):
    """ChatCartonneAction → the dense id at a position; whether it is legal is for `apply` to say.

    Raises EngineError: INVALID_ACTION, ILLEGAL_ACTION (a card that is not in the hand), CHANCE_PENDING, GAME_OVER.
    """
    cdef Message inner
    position.require_decision()
    for i, (field, _) in enumerate(_ALONE):
        if has_span(&reader.message, field):
            return DRAW_ID + i
    if has_span(&reader.message, fields.ACTION_CHOOSE_START):
        open_field(&reader.message, fields.ACTION_CHOOSE_START, &inner)
        kind = action_number(
            number_of(&inner, fields.CHOOSE_START_KIND), FIRST_START, FIRST_START + STARTS - 1, "choose_start.kind"
        )
        return 2 * (kind - FIRST_START) + number_of(&inner, fields.CHOOSE_START_TURNED)
    if has_span(&reader.message, fields.ACTION_PLACE_CARTON):
        open_field(&reader.message, fields.ACTION_PLACE_CARTON, &inner)
        return _carton_id(
            position,
            number_of(&inner, fields.PLACE_CARTON_KIND),
            number_of(&inner, fields.PLACE_CARTON_TURNED),
            number_of(&inner, fields.PLACE_CARTON_CELL),
        )
    for i, (field, place, path, _) in enumerate(_PLACED):
        if has_span(&reader.message, field):
            open_field(&reader.message, field, &inner)
            return FIRST_SLEEP_ID + CELLS * i + action_number(number_of(&inner, place), 0, CELLS - 1, path)
    raise EngineError(Reason.INVALID_ACTION, "the action is none of those that there are")


# State

cdef put_kinds(Writer out, int field, const uint64_t* kinds):
    cdef uint8_t listed[PILE_KINDS]
    cdef int count = 0, kind
    for kind in range(PILE_KINDS):
        if has_kind(kinds, kind):
            listed[count] = kind
            count += 1
    out.byte_numbers(field, listed, count)


cdef put_played(Writer out, int field, const State* state, const Seat* held):
    cdef uint8_t played[PARTS]
    cdef int part
    for part in range(part_count(state)):
        played[part] = played_of(held, part)
    out.byte_numbers(field, played, part_count(state))


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


def put_state(Writer out not None, Position position not None):
    """A position → ChatCartonneState."""
    cdef const State* state = state_of(position)
    cdef const Seat* held
    cdef uint16_t cells[110]
    cdef int seat, place, part
    cdef size_t begun = out.begin(fields.STATE_OPTIONS)
    put_options(out, options_of(position))
    out.end(begun)
    for seat in range(state.players):
        held = &state.seats[seat]
        begun = out.begin(fields.STATE_SEATS)
        out.byte_numbers(fields.SEAT_HAND, held.hand, held.hand_size)
        out.number(fields.SEAT_SUPPLY, held.supply)
        out.byte_numbers(fields.SEAT_DRAWN, held.drawn, part_count(state))
        put_played(out, fields.SEAT_PRINCESSES_PLAYED, state, held)
        put_shown(out, fields.SEAT_SHOWN, held)
        out.end(begun)
    out.number(fields.STATE_PHASE, state.phase + 1)
    if state.first_seat != NO_SEAT:
        out.present(fields.STATE_FIRST_SEAT, state.first_seat)
    out.number(fields.STATE_ACTIVE_SEAT, state.active)
    out.number(fields.STATE_FINAL_PHASE, state.final_phase)
    out.number(fields.STATE_PASSES, state.passes)
    list_filled(state, cells)
    for place in range(state.laid):
        put_card(out, fields.STATE_TABLE, state, place, cells[place])
    put_kinds(out, fields.STATE_UNKNOWN_CARDS, state.unknown)
    for part in range(part_count(state)):
        begun = out.begin(fields.STATE_PARTS)
        if state.drawer[part] != NO_SEAT:
            out.present(fields.PART_PRINCESS_DRAWN_BY, state.drawer[part])
        out.end(begun)
    if state.pending:
        out.present(
            fields.STATE_STARTING_CARTON if state.pending >= FIRST_START else fields.STATE_TOY, state.pending
        )
    if state.just_played != NO_CELL:
        out.present(fields.STATE_JUST_PLAYED, state.just_played)


cdef read_hand(Seat* held, int seat, const Message* message):
    cdef int64_t kinds[LARGEST_HAND]
    cdef int count = list_numbers(message, fields.SEAT_HAND, kinds, LARGEST_HAND), i, kind, slot
    if count > LARGEST_HAND:
        RULES.refuse_state(f"seats[{seat}].hand", f"a hand has at most {LARGEST_HAND} cards")
    for i in range(count):
        kind = within(RULES, kinds[i], 0, PRINCESS, "seats[{}].hand[{}]", seat, i)
        slot = i
        while slot and held.hand[slot - 1] > kind:
            held.hand[slot] = held.hand[slot - 1]
            slot -= 1
        held.hand[slot] = kind
    held.hand_size = count


cdef read_part_numbers(
    const State* state, const Message* message, int field, int highest, str path, int seat, uint8_t* read
):
    # A number for each part of the pile. The first braces of `path` are the seat.
    cdef int64_t numbers[PARTS]
    cdef int count = list_numbers(message, field, numbers, PARTS), part
    check_part_count(state, count, path, seat)
    for part in range(count):
        if not 0 <= numbers[part] <= highest:
            RULES.in_range(numbers[part], 0, highest, f"{path.format(seat)}[{part}]")
        read[part] = <uint8_t> numbers[part]


cdef check_part_count(const State* state, int count, str path, int seat=0):
    if count != part_count(state):
        RULES.refuse_state(path.format(seat), f"there must be {part_count(state)}, not {count}")


cdef read_shown(Seat* held, int seat, const Message* message):
    cdef Message shown
    cdef Span rest = message.span, patterns
    cdef int64_t pattern
    cdef int slot = 0, i, excluded
    if count_of(message, fields.SEAT_SHOWN) > held.hand_size:
        RULES.refuse_state(f"seats[{seat}].shown", "more is shown than there are cards in hand", "Public and hidden")
    while next_of(fields.SEAT_SHOWN, &rest, &shown):
        excluded = number_of(&shown, fields.SHOWN_NOT_PRINCESS) << PRINCESS_BIT
        patterns = span_of(&shown, fields.SHOWN_NOT_PATTERNS)
        i = 0
        while next_number(&patterns, &pattern):
            if not 0 <= pattern < PATTERNS:
                RULES.in_range(pattern, 0, PATTERNS - 1, f"seats[{seat}].shown[{slot}].not_patterns[{i}]")
            excluded |= 1 << <int> pattern
            i += 1
        held.excluded |= excluded << EXCLUDED_BITS * slot
        slot += 1


cdef read_seat(State* state, int seat, const Message* message):
    cdef Seat* held = &state.seats[seat]
    cdef uint8_t played[PARTS]
    cdef int part
    read_hand(held, seat, message)
    held.supply = within(RULES, number_of(message, fields.SEAT_SUPPLY), 0, CATS, "seats[{}].supply", seat)
    read_part_numbers(state, message, fields.SEAT_DRAWN, 255, "seats[{}].drawn", seat, held.drawn)
    read_part_numbers(
        state, message, fields.SEAT_PRINCESSES_PLAYED, PARTS, "seats[{}].princesses_played", seat, played
    )
    for part in range(part_count(state)):
        held.played |= played[part] << PLAYED_BITS * part
    if has_span(message, fields.SEAT_SHOWN):
        read_shown(held, seat, message)


cdef read_pile(State* state, const Message* message):
    cdef Message part
    cdef Span rest = span_of(message, fields.STATE_UNKNOWN_CARDS)
    cdef int64_t kind
    cdef int i = 0
    while next_number(&rest, &kind):
        within(RULES, kind, 0, PILE_KINDS - 1, "unknown_cards[{}]", i)
        if has_kind(state.unknown, <int> kind):
            RULES.refuse_state(f"unknown_cards[{i}]", f"{kind} is named twice")
        put_kind(state.unknown, <int> kind)
        i += 1
    check_part_count(state, count_of(message, fields.STATE_PARTS), "parts")
    memset(state.drawer, NO_SEAT, PARTS)
    rest = message.span
    i = 0
    while next_of(fields.STATE_PARTS, &rest, &part):
        if has_number(&part, fields.PART_PRINCESS_DRAWN_BY):
            state.drawer[i] = within(
                RULES,
                number_of(&part, fields.PART_PRINCESS_DRAWN_BY),
                0,
                state.players - 1,
                "parts[{}].princess_drawn_by",
                i,
            )
        i += 1


cdef read_pending(State* state, const Message* message):
    # The card that was drawn and has to be placed.
    if has_number(message, fields.STATE_STARTING_CARTON):
        state.pending = within(
            RULES,
            number_of(message, fields.STATE_STARTING_CARTON),
            FIRST_START,
            FIRST_START + STARTS - 1,
            "starting_carton",
        )
    if has_number(message, fields.STATE_TOY):
        if state.pending:
            RULES.refuse_state("toy", "no seat has a starting carton and a toy card to play")
        state.pending = within(RULES, number_of(message, fields.STATE_TOY), FIRST_TOY, PRINCESS - 1, "toy")


def read_state(Reader reader not None):
    """ChatCartonneState → the body of a packed state, for Game.position. Raises EngineError: INVALID_STATE."""
    cdef const Message* read = &reader.message
    cdef Message inner
    cdef Span rest = read.span
    cdef State state
    cdef Turn turn
    cdef int seat
    memset(&state, 0, sizeof(State))
    state.players = within(RULES, count_of(read, fields.STATE_SEATS), 2, SEATS, "seats")
    set_options(&state, RULES.read_options(reader.inner(fields.STATE_OPTIONS), read_options, encode_options, state.players))
    for seat in range(state.players):
        next_of(fields.STATE_SEATS, &rest, &inner)
        read_seat(&state, seat, &inner)
    read_turn(
        RULES, read, fields.STATE_PHASE, fields.STATE_FIRST_SEAT, fields.STATE_ACTIVE_SEAT, state.players, PHASES, &turn
    )
    state.phase, state.first_seat, state.active = turn.phase, turn.first_seat, turn.active_seat
    state.final_phase = number_of(read, fields.STATE_FINAL_PHASE)
    state.passes = within(RULES, number_of(read, fields.STATE_PASSES), 0, state.players, "passes")
    read_table(&state, read)
    read_pile(&state, read)
    read_pending(&state, read)
    state.just_played = NO_CELL
    if has_number(read, fields.STATE_JUST_PLAYED):
        state.just_played = within(RULES, number_of(read, fields.STATE_JUST_PLAYED), 0, CELLS - 1, "just_played")
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
            out.number(fields.PART_VIEW_LEFT, left if part == current else part_size(state, part))
        out.number(fields.PART_VIEW_OWN_PRINCESS, viewer >= 0 and state.drawer[part] == viewer)
        out.end(begun)


def put_view(Writer out not None, Position position not None, seat):
    """What a seat (None: a spectator) may know → ChatCartonneView."""
    cdef View seen
    cdef const State* state = &seen.state
    cdef const Seat* held
    cdef uint16_t cells[110]
    cdef int viewer = -1 if seat is None else seat
    cdef int other, place, part, princesses
    cdef size_t begun
    view(position.body, viewer, &seen)
    begun = out.begin(fields.VIEW_OPTIONS)
    put_options(out, options_of(position))
    out.end(begun)
    princesses = princess_count(state)
    for other in range(state.players):
        held = &state.seats[other]
        begun = out.begin(fields.VIEW_SEATS)
        out.number(fields.SEAT_VIEW_HAND_SIZE, held.hand_size)
        if other == viewer:
            out.byte_numbers(fields.SEAT_VIEW_HAND, held.hand, held.hand_size)
            princesses -= princesses_in_hand(state, other)
        out.number(fields.SEAT_VIEW_SUPPLY, held.supply)
        if state.final_phase:
            out.present(fields.SEAT_VIEW_HOLDS_CARTON, seen.holders >> other & 1)
        out.byte_numbers(fields.SEAT_VIEW_DRAWN, held.drawn, part_count(state))
        put_played(out, fields.SEAT_VIEW_PRINCESSES_PLAYED, state, held)
        put_shown(out, fields.SEAT_VIEW_SHOWN, held)
        out.end(begun)
        for part in range(part_count(state)):
            princesses -= played_of(held, part)
    out.number(fields.VIEW_PHASE, state.phase + 1)
    if state.first_seat != NO_SEAT:
        out.present(fields.VIEW_FIRST_SEAT, state.first_seat)
    out.number(fields.VIEW_ACTIVE_SEAT, state.active)
    out.number(fields.VIEW_FINAL_PHASE, state.final_phase)
    out.number(fields.VIEW_PASSES, state.passes)
    list_filled(state, cells)
    for place in range(state.laid):
        put_card_view(out, state, place, cells[place])
    out.number(fields.VIEW_PILE_SIZE, seen.pile_size)
    if state.phase > DEAL:
        put_part_views(out, &seen, viewer)
    put_kinds(out, fields.VIEW_UNSEEN_CARDS, state.unknown)
    out.number(fields.VIEW_UNSEEN_PRINCESSES, princesses)
    if state.pending:
        out.present(fields.VIEW_STARTING_CARTON if state.pending >= FIRST_START else fields.VIEW_TOY, state.pending)
    if state.just_played != NO_CELL:
        out.present(fields.VIEW_JUST_PLAYED, state.just_played)


# Events

cdef int write_event(Writer out, const Event* event) except -1:
    # An event → ChatCartonneEvent.
    cdef bytes order = _VALUE_FIELDS[event.kind]
    cdef int i
    out.number(fields.EVENT_KIND, event.kind)
    if event.seat >= 0:
        out.present(fields.EVENT_SEAT, event.seat)
    for i in range(min(event.count, len(order))):
        if order[i] == fields.EVENT_TURNED:
            out.number(fields.EVENT_TURNED, event.values[i])
        else:
            out.present(order[i], event.values[i])


put_event = wrap_put_event(write_event)


# Score

cdef put_box(Writer out, const State* state, const Box* box, const uint8_t* box_of, int number):
    cdef uint8_t majority[SEATS]
    cdef uint16_t cells[110]
    cdef int place, seat, count = 0
    cdef size_t begun = out.begin(fields.SCORE_DETAIL_BOXES)
    list_filled(state, cells)
    out.numbers(fields.BOX_CELLS, [cells[place] for place in range(state.laid) if box_of[place] == number])
    out.number(fields.BOX_CLOSED, box.closed != 0)
    out.number(fields.BOX_MICE, box.toys[0])
    out.number(fields.BOX_BALLS, box.toys[1])
    out.number(fields.BOX_FISH, box.toys[2])
    out.number(fields.BOX_SPRAYERS, box.sprayers)
    out.byte_numbers(fields.BOX_AWAKE, box.awake, state.players)
    out.byte_numbers(fields.BOX_ASLEEP, box.asleep, state.players)
    for seat in range(state.players):
        if box.majority >> seat & 1:
            majority[count] = seat
            count += 1
    out.byte_numbers(fields.BOX_MAJORITY, majority, count)
    out.number(fields.BOX_POINTS, <uint64_t> <int64_t> box.points)
    out.numbers(fields.BOX_BONUS, [box.bonus[seat] for seat in range(state.players)])
    out.end(begun)


def put_score(Writer out not None, Position position not None):
    """The breakdown of the score → ChatCartonneScoreDetail."""
    cdef const State* state = state_of(position)
    cdef Box boxes[110]
    cdef uint8_t box_of[110]
    cdef int totals[5]
    cdef int negative[5]
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
