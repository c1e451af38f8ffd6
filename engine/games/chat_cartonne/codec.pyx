"""Chat Cartonne: between the packed state and the messages of chat_cartonne.proto.

The functions fill and read the message objects that they are handed; they import nothing of them.
"""

from collections.abc import Mapping

from chatiere.engine.core.codec import (
    action_number,
    complete_options,
    fill_event_fields,
    fill_fields,
    fill_turn,
    read_fields,
    refuse_option,
    without_defaults,
)
from chatiere.engine.core.errors import EngineError, Reason
from chatiere.engine.games.chat_cartonne.words import EVENT_LABELS, RULES, card_name, cell_name

from libc.stdint cimport uint8_t
from libc.string cimport memset

from chatiere.engine.core.position cimport Position
from chatiere.engine.games.chat_cartonne.boxes cimport Box, contents_of, read_boxes, score
from chatiere.engine.games.chat_cartonne.kernel cimport view
from chatiere.engine.games.chat_cartonne.state cimport (
    ALL_PRINCESSES,
    AWAKE,
    CATS,
    CELLS,
    DEAL,
    DRAW_ID,
    EAST,
    FIRST_CARTON_ID,
    FIRST_CAT_ID,
    FIRST_PRINCESS_IN_CELL_ID,
    FIRST_PRINCESS_ON_JOINT_ID,
    FIRST_SEAT,
    FIRST_SLEEP_ID,
    FIRST_START,
    FIRST_TOY,
    FIRST_TOY_AS_CARTON_ID,
    FIRST_TOY_ON_JOINT_ID,
    HALF_SLEEPERS,
    IDS_OF_SLOT,
    JOINT_SHIFT,
    KIND,
    LARGEST_HAND,
    MOST_CARDS,
    NORTH,
    NO_CELL,
    NO_CROWD_BONUS,
    NO_DOUBLE_WALLS,
    NO_SEAT,
    PARTS,
    PASS_ID,
    PATTERNS,
    PHASES,
    PILE_KINDS,
    PLACE_START,
    PRINCESS,
    PRINCESS_BIT,
    PRINCESS_THERE,
    SEATS,
    SKIP_ID,
    SLEEPER,
    SOUTH,
    STARTS,
    TOY_THERE,
    TURNED,
    WEST,
    ChatCartonneEvent,
    ChatCartonneFault,
    Options,
    State,
    View,
    bit_of,
    cell_of,
    current_part,
    has_kind,
    on_joint,
    part_count,
    part_size,
    princess_count,
    put_kind,
    row_of,
    walls_of,
)

_VARIANTS = {
    "all_princesses": ALL_PRINCESSES,
    "no_double_walls": NO_DOUBLE_WALLS,
    "no_crowd_bonus": NO_CROWD_BONUS,
    "half_sleepers": HALF_SLEEPERS,
}
_DEFAULTS = dict.fromkeys(_VARIANTS, False)
# Actions that name a joint or cell alone: their first dense id, their message field, the field in that, the words.
_PLACED = (
    (FIRST_SLEEP_ID, "sleep", "cell", "lay a sleeping cat at {where}"),
    (FIRST_CAT_ID, "lay_cat", "joint", "lay a cat on the joint at {where}"),
    (FIRST_PRINCESS_ON_JOINT_ID, "princess_on_joint", "joint", "the Princess for the cat on the joint at {where}"),
    (FIRST_PRINCESS_IN_CELL_ID, "princess_in_cell", "cell", "the Princess for the sleeping cat at {where}"),
    (FIRST_TOY_ON_JOINT_ID, "toy_on_joint", "joint", "lay the toy card on the joint at {where}"),
    (FIRST_TOY_AS_CARTON_ID, "toy_as_carton", "cell", "lay the toy card as a carton at {where}"),
)
_ALONE = {DRAW_ID: ("draw", "draw a card"), SKIP_ID: ("skip", "let no cat follow"), PASS_ID: ("pass_turn", "pass")}
_WITHOUT_SEAT = (int(ChatCartonneEvent.FINAL_PHASE_BEGUN), int(ChatCartonneEvent.GAME_ENDED))
# What the values of an event are, in order.
_EVENT_VALUES = {
    int(ChatCartonneEvent.CARD_DEALT): ("card",),
    int(ChatCartonneEvent.START_DRAWN): ("card",),
    int(ChatCartonneEvent.START_PLACED): ("card", "turned", "cell"),
    int(ChatCartonneEvent.CARD_DRAWN): ("card",),
    int(ChatCartonneEvent.TOY_DRAWN): ("card",),
    int(ChatCartonneEvent.CARTON_PLACED): ("card", "turned", "cell"),
    int(ChatCartonneEvent.CAT_ASLEEP): ("cell",),
    int(ChatCartonneEvent.CAT_AWAKE): ("cell",),
    int(ChatCartonneEvent.PRINCESS_ON_JOINT): ("cell", "owner"),
    int(ChatCartonneEvent.PRINCESS_IN_CELL): ("cell", "owner"),
    int(ChatCartonneEvent.TOY_ON_JOINT): ("card", "cell"),
    int(ChatCartonneEvent.TOY_AS_CARTON): ("card", "cell"),
}


cdef const State* state_of(Position position) noexcept:
    return <const State*> position.body


# Words

def action_label(Position position not None, action):
    """A dense id in plain English; a carton placed must be in the hand of the seat that is to act."""
    if action < DRAW_ID:
        return f"begin with {card_name(FIRST_START + action // 2, action % 2)}"
    if action in _ALONE:
        return _ALONE[action][1]
    if action < FIRST_SLEEP_ID:
        kind, turned, cell = _carton_of(position, action)
        return f"place {card_name(kind, turned)} at {cell_name(cell)}"
    first, _, _, label = _placed(action)
    return label.format(where=cell_name(action - first))


def outcome_label(Position position not None, outcome):
    """A possible chance outcome in plain English."""
    return f"seat {outcome} begins" if state_of(position).phase == FIRST_SEAT else card_name(outcome, False)


def event_label(event, whole):
    """An event in plain English; `whole`: with what only some seats may see."""
    values = dict(zip(_EVENT_VALUES.get(event.kind, ()), event.values if whole else ()))
    card = card_name(values["card"], values.get("turned", False)) if "card" in values else "a card"
    where = cell_name(values["cell"]) if "cell" in values else "a place"
    owner = values.get("owner", "unknown")
    return EVENT_LABELS[event.kind - 1].format(seat=event.seat, card=card, where=where, owner=owner)


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
    encoded.variants = sum(bit for name, bit in _VARIANTS.items() if options[name])
    return (<const char*> &encoded)[:sizeof(Options)]


def options_of(Position position not None):
    """The options of a position that differ from their defaults, by name."""
    cdef const State* state = state_of(position)
    variants = {name: bool(state.variants & bit) for name, bit in _VARIANTS.items()}
    return without_defaults({"first_seat": state.first_seat_option, **variants}, _DEFAULTS)


def read_options(message):
    """ChatCartonneOptions → options by name; what they may be is for `encode_options` to say."""
    return read_fields(message)


def fill_options(message, options):
    """Options by name → ChatCartonneOptions."""
    fill_fields(message, options)


# Actions

def _placed(action):
    # The entry of _PLACED for a dense id.
    return next(entry for entry in reversed(_PLACED) if action >= entry[0])


cdef tuple _carton_of(Position position, action):
    # Kind, turned and cell of a PlaceCarton by the active seat.
    cdef const State* state = state_of(position)
    slot, place = divmod(action - FIRST_CARTON_ID, IDS_OF_SLOT)
    if state.phase == PLACE_START:
        hand = [state.pending]
    else:
        hand = [state.hand[state.active][i] for i in range(state.hand_size[state.active])]
    if slot >= len(hand):
        position.refuse_move(int(ChatCartonneFault.CARD_NOT_IN_HAND), action)
    return hand[slot], place >= CELLS, place % CELLS


def fill_action(message, Position position not None, action):
    """A dense id at a position → ChatCartonneAction."""
    if action < DRAW_ID:
        message.choose_start.kind = FIRST_START + action // 2
        message.choose_start.turned = action % 2
    elif action in _ALONE:
        getattr(message, _ALONE[action][0]).SetInParent()
    elif action < FIRST_SLEEP_ID:
        kind, turned, cell = _carton_of(position, action)
        message.place_carton.SetInParent()
        message.place_carton.kind = kind
        message.place_carton.turned = turned
        message.place_carton.cell = cell
    else:
        first, name, field, _ = _placed(action)
        setattr(getattr(message, name), field, action - first)
        getattr(message, name).SetInParent()


def read_action(message, Position position not None):
    """ChatCartonneAction → the dense id at a position; whether it is legal is for `apply` to say.

    Raises EngineError: INVALID_ACTION, ILLEGAL_ACTION (a card that is not in the hand), CHANCE_PENDING, GAME_OVER.
    """
    cdef const State* state = state_of(position)
    position.require_decision()
    kind = message.WhichOneof("action")
    if kind is None:
        raise EngineError(Reason.INVALID_ACTION, "the action is none of those that there are")
    for action, (name, _) in _ALONE.items():
        if kind == name:
            return action
    if kind == "choose_start":
        chosen = message.choose_start
        action_number(chosen.kind, FIRST_START, FIRST_START + STARTS - 1, "choose_start.kind")
        return 2 * (chosen.kind - FIRST_START) + chosen.turned
    if kind != "place_carton":
        first, _, field, _ = next(entry for entry in _PLACED if entry[1] == kind)
        return first + action_number(getattr(getattr(message, kind), field), 0, CELLS - 1, f"{kind}.{field}")
    placed = message.place_carton
    action_number(placed.cell, 0, CELLS - 1, "place_carton.cell")
    if placed.kind >= FIRST_START + STARTS or FIRST_TOY <= placed.kind <= PRINCESS:
        raise EngineError(
            Reason.INVALID_ACTION,
            f"cartons are 0 to 71, starting cartons 76 to 80, not {placed.kind}",
            field="place_carton.kind",
        )
    if state.phase == PLACE_START:
        hand = [state.pending]
    else:
        hand = [state.hand[state.active][slot] for slot in range(state.hand_size[state.active])]
    if placed.kind not in hand:
        RULES.refuse_card(state.active, f"{card_name(placed.kind, False)} to place", "place_carton.kind")
    return FIRST_CARTON_ID + IDS_OF_SLOT * hand.index(placed.kind) + CELLS * placed.turned + placed.cell


# State

cdef _fill_card(card, const State* state, int place):
    cdef int there = on_joint(state, place), kind = state.cards[place] & KIND
    card.cell = cell_of(state, place)
    if kind >= SLEEPER:
        card.sleeping_cat = kind - SLEEPER
    elif kind == PRINCESS:
        card.princess.SetInParent()
    else:
        card.kind = kind
    card.turned = (state.cards[place] & TURNED) != 0
    if there >= TOY_THERE:
        card.on_joint.toy = FIRST_TOY + there - TOY_THERE
    elif there == PRINCESS_THERE:
        card.on_joint.princess.SetInParent()
    elif there:
        card.on_joint.cat = there - AWAKE


cdef _fill_seat(message, const State* state, int seat):
    # What is public of a seat, with the same fields in ChatCartonneSeat and ChatCartonneSeatView.
    cdef int part, slot, pattern, excluded
    message.supply = state.supply[seat]
    for part in range(part_count(state)):
        message.drawn.append(state.drawn[seat][part])
        message.princesses_played.append(state.played[seat][part])
    for slot in range(state.hand_size[seat]):
        excluded = state.excluded[seat][slot]
        if excluded:
            message.shown.add(
                not_patterns=[pattern for pattern in range(PATTERNS) if excluded >> pattern & 1],
                not_princess=bool(excluded >> PRINCESS_BIT & 1),
            )


cdef _fill_turn(message, const State* state):
    # The fields that ChatCartonneState and ChatCartonneView have in common.
    fill_turn(message, state.phase, state.first_seat, state.active)
    message.final_phase = state.final_phase
    message.passes = state.passes
    if state.pending >= FIRST_START:
        message.starting_carton = state.pending
    elif state.pending:
        message.toy = state.pending
    if state.just_played != NO_CELL:
        message.just_played = state.just_played


def fill_state(message, Position position not None):
    """A position → ChatCartonneState."""
    cdef const State* state = state_of(position)
    cdef int seat, slot, place, part
    fill_options(message.options, options_of(position))
    for seat in range(state.players):
        seat_message = message.seats.add(hand=[state.hand[seat][slot] for slot in range(state.hand_size[seat])])
        _fill_seat(seat_message, state, seat)
    _fill_turn(message, state)
    for place in range(state.laid):
        _fill_card(message.table.add(), state, place)
    message.unknown_cards.extend(_kinds_in(state))
    for part in range(part_count(state)):
        part_message = message.parts.add()
        if state.drawer[part] != NO_SEAT:
            part_message.princess_drawn_by = state.drawer[part]


cdef list _kinds_in(const State* state):
    return [kind for kind in range(PILE_KINDS) if has_kind(state.unknown, kind)]


def _as_many(values, count, field):
    if len(values) != count:
        RULES.refuse_state(field, f"there must be {count}, not {len(values)}")
    return values


cdef _read_seat(State* state, int seat, message):
    cdef int part, slot
    field = f"seats[{seat}]"
    if len(message.hand) > LARGEST_HAND:
        RULES.refuse_state(f"{field}.hand", f"a hand has at most {LARGEST_HAND} cards")
    kinds = sorted(RULES.in_range(kind, 0, PRINCESS, f"{field}.hand[{i}]") for i, kind in enumerate(message.hand))
    for slot, kind in enumerate(kinds):
        state.hand[seat][slot] = kind
    state.hand_size[seat] = len(kinds)
    state.supply[seat] = RULES.in_range(message.supply, 0, CATS, f"{field}.supply")
    for name in ("drawn", "princesses_played"):
        numbers = _as_many(getattr(message, name), part_count(state), f"{field}.{name}")
        for part, number in enumerate(numbers):
            RULES.in_range(number, 0, 255, f"{field}.{name}[{part}]")
            if name == "drawn":
                state.drawn[seat][part] = number
            else:
                state.played[seat][part] = number
    if len(message.shown) > len(kinds):
        RULES.refuse_state(f"{field}.shown", "more is shown than there are cards in hand", "Public and hidden")
    for slot, shown in enumerate(message.shown):
        state.excluded[seat][slot] = shown.not_princess << PRINCESS_BIT
        for i, pattern in enumerate(shown.not_patterns):
            state.excluded[seat][slot] |= 1 << RULES.in_range(
                pattern, 0, PATTERNS - 1, f"{field}.shown[{slot}].not_patterns[{i}]"
            )


def _code_on_joint(message, players, field):
    kind = message.WhichOneof("lies")
    if kind == "cat":
        return AWAKE + RULES.in_range(message.cat, 0, players - 1, f"{field}.cat")
    if kind == "toy":
        return TOY_THERE + RULES.in_range(message.toy, FIRST_TOY, PRINCESS - 1, f"{field}.toy") - FIRST_TOY
    if kind == "princess":
        return PRINCESS_THERE
    RULES.refuse_state(field, "what lies there is missing")


def _code_of_card(message, players, field):
    kind = message.WhichOneof("card")
    turned = TURNED if message.turned else 0
    if kind == "kind":
        RULES.in_range(message.kind, 0, FIRST_START + STARTS - 1, f"{field}.kind")
        if message.kind == PRINCESS:
            RULES.refuse_state(f"{field}.kind", "the Princess has a field of her own")
        return message.kind | turned
    if kind == "sleeping_cat":
        return SLEEPER + RULES.in_range(message.sleeping_cat, 0, players - 1, f"{field}.sleeping_cat") | turned
    if kind == "princess":
        return PRINCESS | turned
    RULES.refuse_state(field, "the card is missing")


cdef _read_table(State* state, table):
    cdef int place
    if len(table) > MOST_CARDS:
        RULES.refuse_state("table", f"at most {MOST_CARDS} cards can lie on the table")
    laid = {}
    for i, card in enumerate(table):
        field = f"table[{i}]"
        RULES.in_range(card.cell, 0, CELLS - 1, f"{field}.cell")
        if card.cell in laid:
            RULES.refuse_state(f"{field}.cell", f"there are two cards in cell {card.cell}")
        there = _code_on_joint(card.on_joint, state.players, f"{field}.on_joint") if card.HasField("on_joint") else 0
        laid[card.cell] = (card.cell | there << JOINT_SHIFT, _code_of_card(card, state.players, field))
    for place, cell in enumerate(sorted(laid)):
        state.places[place] = laid[cell][0]
        state.cards[place] = laid[cell][1]
        state.filled[row_of(cell)] |= bit_of(cell)
    state.laid = len(laid)


def read_state(message):
    """ChatCartonneState → the body of a packed state, for Game.position. Raises EngineError: INVALID_STATE."""
    cdef State state
    cdef const Options* options
    cdef bytes encoded
    cdef int seat, part
    memset(&state, 0, sizeof(State))
    state.players = RULES.in_range(len(message.seats), 2, SEATS, "seats")
    encoded = RULES.options_of_state(read_options, encode_options, state.players, message.options)
    options = <const Options*> <const char*> encoded
    state.first_seat_option = options.first_seat
    state.variants = options.variants
    for seat, seat_message in enumerate(message.seats):
        _read_seat(&state, seat, seat_message)
    state.phase, state.first_seat, state.active = RULES.read_turn(message, state.players, PHASES)
    state.final_phase = message.final_phase
    state.passes = RULES.in_range(message.passes, 0, state.players, "passes")
    _read_table(&state, message.table)
    for i, kind in enumerate(message.unknown_cards):
        if has_kind(state.unknown, RULES.in_range(kind, 0, PILE_KINDS - 1, f"unknown_cards[{i}]")):
            RULES.refuse_state(f"unknown_cards[{i}]", f"{kind} is named twice")
        put_kind(state.unknown, kind)
    memset(state.drawer, NO_SEAT, PARTS)
    for part, part_message in enumerate(_as_many(message.parts, part_count(&state), "parts")):
        if part_message.HasField("princess_drawn_by"):
            state.drawer[part] = RULES.in_range(
                part_message.princess_drawn_by, 0, state.players - 1, f"parts[{part}].princess_drawn_by"
            )
    if message.HasField("starting_carton"):
        state.pending = RULES.in_range(message.starting_carton, FIRST_START, FIRST_START + STARTS - 1, "starting_carton")
    if message.HasField("toy"):
        if state.pending:
            RULES.refuse_state("toy", "no seat has a starting carton and a toy card to play")
        state.pending = RULES.in_range(message.toy, FIRST_TOY, PRINCESS - 1, "toy")
    state.just_played = NO_CELL
    if message.HasField("just_played"):
        state.just_played = RULES.in_range(message.just_played, 0, CELLS - 1, "just_played")
    return (<const char*> &state)[:sizeof(State)]


# View

def fill_view(message, Position position not None, seat):
    """What a seat (None: a spectator) may know → ChatCartonneView."""
    cdef View seen
    cdef const State* state = &seen.state
    cdef int contents[4]
    cdef int viewer = -1 if seat is None else seat
    cdef int other, slot, place, part, current, left, walls
    view(position.body, viewer, &seen)
    fill_options(message.options, options_of(position))
    princesses = princess_count(state)
    for other in range(state.players):
        seat_message = message.seats.add(hand_size=state.hand_size[other])
        _fill_seat(seat_message, state, other)
        princesses -= sum(seat_message.princesses_played)
        if other == viewer:
            hand = [state.hand[other][slot] for slot in range(state.hand_size[other])]
            seat_message.hand.extend(hand)
            princesses -= hand.count(PRINCESS)
        if state.final_phase:
            seat_message.holds_carton = bool(seen.holders >> other & 1)
    _fill_turn(message, state)
    for place in range(state.laid):
        walls = walls_of(state.cards[place])
        contents_of(state.cards[place], contents)
        card = message.table.add(
            wall_north=bool(walls & NORTH),
            wall_east=bool(walls & EAST),
            wall_south=bool(walls & SOUTH),
            wall_west=bool(walls & WEST),
            mice=contents[0],
            balls=contents[1],
            fish=contents[2],
            sprayers=contents[3],
        )
        _fill_card(card.card, state, place)
    message.pile_size = seen.pile_size
    if state.phase > DEAL:
        current = current_part(state, seen.pile_size, &left)
        for part in range(part_count(state)):
            message.parts.add(
                left=0 if part < current else left if part == current else part_size(state, part),
                own_princess=viewer >= 0 and state.drawer[part] == viewer,
            )
    message.unseen_cards.extend(_kinds_in(state))
    message.unseen_princesses = princesses


# Events

def fill_event(message, event, whole):
    """An event → ChatCartonneEvent; `whole`: with what only some seats may see."""
    fill_event_fields(message, event, _EVENT_VALUES.get(event.kind, ()) if whole else ())


# Score

def fill_score(message, Position position not None):
    """The breakdown of the score → ChatCartonneScoreDetail."""
    cdef const State* state = state_of(position)
    cdef Box boxes[110]
    cdef uint8_t box_of[110]
    cdef int totals[5]
    cdef int negative[5]
    cdef int seat, i, place, count = read_boxes(state, boxes, box_of)
    score(state, totals, negative)
    for seat in range(state.players):
        message.seats.add(total=totals[seat], negative_points=negative[seat])
    for i in range(count):
        message.boxes.add(
            cells=[cell_of(state, place) for place in range(state.laid) if box_of[place] == i],
            closed=bool(boxes[i].closed),
            mice=boxes[i].toys[0],
            balls=boxes[i].toys[1],
            fish=boxes[i].toys[2],
            sprayers=boxes[i].sprayers,
            awake=[boxes[i].awake[seat] for seat in range(state.players)],
            asleep=[boxes[i].asleep[seat] for seat in range(state.players)],
            majority=[seat for seat in range(state.players) if boxes[i].majority >> seat & 1],
            points=boxes[i].points,
            bonus=[boxes[i].bonus[seat] for seat in range(state.players)],
        )
