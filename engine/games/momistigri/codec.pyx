"""Momistigri: between the packed state and the messages of momistigri.proto, and the words for both.

The functions fill and read the message objects that they are handed; they import nothing of them.
"""

from collections import Counter
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
    read_fields,
    refuse_option,
    without_defaults,
)
from chatiere.engine.core.errors import EngineError, Reason

from libc.stdint cimport uint64_t
from libc.string cimport memset

from chatiere.engine.core.position cimport Position
from chatiere.engine.games.momistigri.cards cimport (
    COLOURED,
    COLOURS,
    KINDS,
    MOMISTIGRI,
    VALUES,
    bit,
    bits_of,
    count_cards,
    lay_out,
    lowest,
)
from chatiere.engine.games.momistigri.kernel cimport cards_of_pair, view
from chatiere.engine.games.momistigri.state cimport (
    DEAL,
    DRAW,
    FINISHED,
    FIRST_GIVE_ID,
    FIRST_HAND_OUT_ID,
    FIRST_NAME_ID,
    FIRST_SEAT,
    FIRST_SWAP_IN_ID,
    FIRST_SWAP_OUT_ID,
    HAND_OUT,
    LARGEST_DRAW,
    LAST_TURN,
    MAIN_ID,
    MARKS,
    MOST_PLAYERS,
    NUM_ACTIONS,
    ONES,
    PASS_ID,
    PHASES,
    PUBLIC,
    REVERSE_ID,
    ROUNDS,
    STOP_ID,
    SWAP_IN,
    MomistigriEvent,
    MomistigriFault,
    Options,
    State,
    View,
    deck,
    drawn_from,
    sum_of,
)

RULES = RulesFile("momistigri.md")


def _default_copies():
    # In the order of value card i has colour i mod 5 ("Components and setup").
    copies = [0] * COLOURED
    values = [value for value in range(1, VALUES + 1) for _ in range(VALUES + 1 - value)]
    for i, value in enumerate(values):
        copies[VALUES * (i % COLOURS) + value - 1] += 1
    return copies


DEFAULTS = {"copies": _default_copies()}


# Words

_EFFECTS = "Effects of a pair of one value"

FAULTS = {
    int(MomistigriFault.NO_PAIR_NOW): RULES.illegal("no pair can be discarded at this moment", "A turn"),
    int(MomistigriFault.NO_PASS_NOW): RULES.illegal("a seat passes instead of discarding a pair, at no other moment", "A turn"),
    int(MomistigriFault.NO_STOP_NOW): RULES.illegal("Stop is for a seat that has discarded a pair of 6", _EFFECTS),
    int(MomistigriFault.NO_CHOICE_NOW): RULES.illegal(
        "Main and Reverse are for a seat that has discarded a pair of 1, 2 or 3", _EFFECTS
    ),
    int(MomistigriFault.NO_NAMING_NOW): RULES.illegal("a card is named after the main effect of a pair of 2", _EFFECTS),
    int(MomistigriFault.NO_GIVING_NOW): RULES.illegal("a card is given after a pair of 4", _EFFECTS),
    int(MomistigriFault.NO_HANDING_OUT_NOW): RULES.illegal("cards of the pile are handed out after a pair of 5", _EFFECTS),
    int(MomistigriFault.NO_SWAPPING_OUT_NOW): RULES.illegal("no seat has to discard a card for a swap at this moment", "A turn"),
    int(MomistigriFault.NO_SWAPPING_IN_NOW): RULES.illegal("no seat has to take a card for a swap at this moment", "A turn"),
    int(MomistigriFault.CARD_NOT_IN_HAND): RULES.illegal("the hand does not hold that card, or not twice", "Actions"),
    int(MomistigriFault.NOT_A_PAIR): RULES.illegal(
        "the cards have neither one value nor one colour, or one is the Momistigri", "A turn"
    ),
    int(MomistigriFault.SEAT_NOT_ELIGIBLE): RULES.illegal("the card goes to another seat that is still in the round", _EFFECTS),
    int(MomistigriFault.CARD_NOT_IN_PILE): RULES.illegal("the discard pile does not hold that card", "Actions"),
    int(MomistigriFault.CARD_JUST_SWAPPED_OUT): RULES.illegal(
        "a swap takes a card that lay in the pile before, not the one just discarded", "A turn"
    ),
    int(MomistigriFault.BAD_PLAYERS): RULES.broken("Momistigri is for 3 to 5 players", "seats", "Components and setup"),
    int(MomistigriFault.BAD_FIRST_SEAT): RULES.broken(
        "the first seat is not a seat, not the one that the options name for the first round, not one with the most penalty "
        "points in a later round, or set before chance has chosen it",
        "first_seat",
        "Components and setup",
    ),
    int(MomistigriFault.BAD_COPIES): RULES.broken(
        "the copies of value 1 do not sum to 9, those of value 2 to 8, and so on", "options.copies", "Components and setup"
    ),
    int(MomistigriFault.BAD_PHASE): RULES.broken("the phase needs another seat in the round", "phase", "A turn"),
    int(MomistigriFault.BAD_ACTIVE_SEAT): RULES.broken(
        "the active seat is not a seat in the round, or not the one that the next card is dealt to", "active_seat", "A turn"
    ),
    int(MomistigriFault.BAD_ROUND): RULES.broken(
        "the round is not the first, the second, or a third because the fewest penalty points are tied after two",
        "round",
        "End of the game",
    ),
    int(MomistigriFault.BAD_TURN): RULES.broken(
        "a turn is from 1 to 200, and 0 before the first", "turn", "End of a round"
    ),
    int(MomistigriFault.BAD_DIRECTION): RULES.broken(
        "the direction of play is neither way, or reversed before the first turn", "reversed", "Components and setup"
    ),
    int(MomistigriFault.BAD_IN_ROUND): RULES.broken(
        "a seat out of the round holds cards, one in the round holds none in a moment when it has to, or one is out of the "
        "round during the deal",
        "seats.in_round",
    ),
    int(MomistigriFault.BAD_PASSED): RULES.broken(
        "a pass mark is set of a seat that is not in the round, or during the deal", "seats.passed"
    ),
    int(MomistigriFault.BAD_MARK): RULES.broken("a mark is pending outside of a draw, or is none that can be", "mark", "A turn"),
    int(MomistigriFault.BAD_DRAWS): RULES.broken(
        "the number of cards still to be drawn is more than the mark or the hand allows, or none in a draw, or some outside "
        "of one",
        "draws_left",
        "A turn",
    ),
    int(MomistigriFault.BAD_EFFECT): RULES.broken(
        "the value of the pair is not 1, 2 or 3 when Main or Reverse is to be chosen, or is set otherwise", "effect", _EFFECTS
    ),
    int(MomistigriFault.BAD_RECEIVER): RULES.broken(
        "the receiver is not another seat in the round, or is set when no card is handed out", "receiver", _EFFECTS
    ),
    int(MomistigriFault.BAD_SWAPPED_OUT): RULES.broken(
        "the card just discarded for a swap does not lie in the pile, is missing, or is set outside of a swap",
        "swapped_out",
        "A turn",
    ),
    int(MomistigriFault.BAD_PENALTIES): RULES.broken(
        "penalties are those of finished rounds, the last round's the sums of the hands", "seats.penalties", "End of a round"
    ),
    int(MomistigriFault.BAD_DEAL): RULES.broken(
        "cards are dealt one at a time from the first seat on, nine to each, and the last to its right neighbour; then none "
        "are left",
        "seats.cards",
        "Components and setup",
    ),
    int(MomistigriFault.BAD_HAND): RULES.broken("a hand is no set of cards of the box", "seats.cards"),
    int(MomistigriFault.BAD_PILE): RULES.broken(
        "the pile is no set of cards of the box, is not empty during the deal, or lacks the pair whose effect is under way",
        "pile",
    ),
    int(MomistigriFault.CARD_TWICE_OR_MISSING): RULES.broken(
        "the hands and the pile together are not the cards of the deck, each once", "seats.cards"
    ),
    int(MomistigriFault.BAD_KNOWN): RULES.broken(
        "cards are known of a hand that does not hold them, to its own seat, not to a seat though to all, or outside of a "
        "round",
        "seats.knowledge",
        "Public and hidden",
    ),
    int(MomistigriFault.BAD_MOST_ONES): RULES.broken(
        "a hand holds more 1s than is known that it can, or this is known with a deck without 1s, to its own seat, of a seat "
        "out of the round, not to a seat though to all, or outside of a round",
        "seats.knowledge",
        "Public and hidden",
    ),
    int(MomistigriFault.NOT_ZERO): RULES.broken("a byte that means nothing here is not zero", ""),
}

_EVENT_LABELS = {
    int(MomistigriEvent.FIRST_SEAT_CHOSEN): "seat {seat} begins",
    int(MomistigriEvent.ROUND_BEGUN): "round {count} begins with seat {seat}",
    int(MomistigriEvent.CARD_DEALT): "seat {seat} is dealt {cards}",
    int(MomistigriEvent.TURN_BEGUN): "seat {seat} is to draw {number} from seat {other}",
    int(MomistigriEvent.CARD_DRAWN): "seat {seat} draws {cards} from seat {other}",
    int(MomistigriEvent.SEAT_LEFT): "seat {seat} has no cards left and leaves the round",
    int(MomistigriEvent.CARD_SWAPPED_OUT): "seat {seat} discards {cards} for a swap",
    int(MomistigriEvent.CARD_SWAPPED_IN): "seat {seat} takes {cards} from the pile",
    int(MomistigriEvent.PAIR_DISCARDED): "seat {seat} discards {cards}",
    int(MomistigriEvent.PASSED): "seat {seat} passes",
    int(MomistigriEvent.STOPPED): "seat {seat} discards no further pair",
    int(MomistigriEvent.CARD_NAMED): "seat {seat} names {cards}, which the next seat must draw",
    int(MomistigriEvent.ONES_DISCARDED): "seat {seat} discards its other 1s: {cards}",
    int(MomistigriEvent.DIRECTION_REVERSED): "seat {seat} reverses the direction of play",
    int(MomistigriEvent.SWAP_PENDING): "seat {seat} will swap a card with the pile after the next seat's draw",
    int(MomistigriEvent.TWO_PENDING): "the next seat must draw two cards from seat {seat}",
    int(MomistigriEvent.THREE_PENDING): "the next seat must draw three cards from seat {seat}",
    int(MomistigriEvent.CARD_GIVEN): "seat {seat} gives {cards} to seat {other}",
    int(MomistigriEvent.CARD_HANDED_OUT): "seat {other} hands {cards} out to seat {seat}",
    int(MomistigriEvent.ONE_SEAT_LEFT): "the round ends: at most one seat still holds cards",
    int(MomistigriEvent.ALL_PASSED): "the round ends: all seats still in it have passed",
    int(MomistigriEvent.TURN_LIMIT_REACHED): "the round ends: it was its 200th turn",
    int(MomistigriEvent.HAND_SHOWN): "seat {seat} shows {cards}",
    int(MomistigriEvent.PENALTY_TAKEN): "seat {seat} takes {count} penalty points",
    int(MomistigriEvent.GAME_ENDED): "the game is over",
}

# Events whose values are cards, and no more.
_CARD_EVENTS = frozenset(
    int(kind)
    for kind in (
        MomistigriEvent.CARD_DEALT,
        MomistigriEvent.CARD_DRAWN,
        MomistigriEvent.CARD_SWAPPED_OUT,
        MomistigriEvent.CARD_SWAPPED_IN,
        MomistigriEvent.PAIR_DISCARDED,
        MomistigriEvent.ONES_DISCARDED,
        MomistigriEvent.CARD_NAMED,
        MomistigriEvent.CARD_GIVEN,
        MomistigriEvent.HAND_SHOWN,
    )
)


cdef const State* state_of(Position position) noexcept:
    return <const State*> position.body


def card_name(kind):
    """A card's name: its value and the letter of its colour, as in "3B", or "Momistigri"."""
    return "Momistigri" if kind == MOMISTIGRI else f"{kind % VALUES + 1}{chr(ord('A') + kind // VALUES)}"


def _card_names(kinds):
    return " and ".join(card_name(kind) for kind in kinds)


def action_label(Position position not None, action):
    """A dense id in plain English."""
    cdef int low, high
    check_id(action, NUM_ACTIONS)
    if action < PASS_ID:
        cards_of_pair(action, &low, &high)
        return f"discard {_card_names((low, high))}"
    if action == PASS_ID:
        return "pass"
    if action == STOP_ID:
        return "discard no further pair"
    if action == REVERSE_ID:
        return "reverse the direction of play"
    if action == MAIN_ID:
        effect = state_of(position).effect
        if effect == 1:
            return "discard all other 1s"
        return "name the card that the next seat must draw" if effect == 2 else "swap a card after the next seat's draw"
    if action < FIRST_GIVE_ID:
        return f"name {card_name(action - FIRST_NAME_ID)} for the next seat to draw"
    if action < FIRST_HAND_OUT_ID:
        seat, kind = divmod(action - FIRST_GIVE_ID, KINDS)
        return f"give {card_name(kind)} to seat {seat}"
    if action < FIRST_SWAP_OUT_ID:
        return f"hand {card_name(action - FIRST_HAND_OUT_ID)} out to seat {state_of(position).receiver}"
    if action < FIRST_SWAP_IN_ID:
        return f"discard {card_name(action - FIRST_SWAP_OUT_ID)} for the swap"
    return f"take {card_name(action - FIRST_SWAP_IN_ID)} from the pile"


def outcome_label(Position position not None, outcome):
    """A possible chance outcome in plain English."""
    return f"seat {outcome} begins" if state_of(position).phase == FIRST_SEAT else f"card {card_name(outcome)}"


def _other_seat(event):
    # A card that moved from hand to hand is seen by both seats, which everybody knows; else None.
    if event.kind in (int(MomistigriEvent.CARD_DRAWN), int(MomistigriEvent.CARD_GIVEN)):
        return min(event.seen_by - {event.seat})
    return None


def _parts_of(event):
    # What the values of an event are: cards, another seat (or None), a number (or None).
    kind, values = event.kind, event.values
    if kind in _CARD_EVENTS:
        return values, _other_seat(event), None
    if kind == int(MomistigriEvent.CARD_HANDED_OUT):
        return values[:1], values[1], None
    if kind == int(MomistigriEvent.TURN_BEGUN):
        return (), values[0], values[1]
    return (), None, values[0] if values else None


def event_label(event, whole):
    """An event in plain English; `whole`: with what only some seats may see."""
    kind, seat, values = event.kind, event.seat, event.values
    if kind == int(MomistigriEvent.ONES_DISCARDED) and not values:
        return f"seat {seat} has no other 1"
    if not whole:
        return _EVENT_LABELS[kind].format(
            seat=seat, cards="a card" if values else "", other=_other_seat(event), number="some", count="some"
        )
    cards, other, count = _parts_of(event)
    number = "a card" if count == 1 else f"{count} cards"
    return _EVENT_LABELS[kind].format(seat=seat, cards=_card_names(cards), other=other, number=number, count=count)


# Options

def encode_options(players, options: Mapping):
    """Options by name as the kernel's struct. Raises EngineError: INVALID_OPTION."""
    cdef Options encoded
    cdef int kind
    options = complete_options("Momistigri", options, DEFAULTS, players)
    copies = options["copies"]
    check_numbers("copies", copies, COLOURED, 0, VALUES)
    for value in range(1, VALUES + 1):
        number = sum(copies[value - 1 :: VALUES])
        if number != VALUES + 1 - value:
            refuse_option("copies", f"the box has {VALUES + 1 - value} cards of value {value}, not {number}")
    memset(&encoded, 0, sizeof(Options))
    encoded.first_seat = options["first_seat"]
    for kind in range(COLOURED):
        encoded.copies[kind] = copies[kind]
    return (<const char*> &encoded)[:sizeof(Options)]


def options_of(Position position not None):
    """The options of a position that differ from their defaults, by name."""
    cdef const State* state = state_of(position)
    cdef int kind
    copies = [count_cards(bits_of(&state.box, kind)) for kind in range(COLOURED)]
    return without_defaults({"first_seat": state.first_seat_option, "copies": copies}, DEFAULTS)


def read_options(message):
    """MomistigriOptions → options by name; `encode_options` says whether they are valid."""
    return read_fields(message)


def fill_options(message, options):
    """Options by name → MomistigriOptions."""
    fill_fields(message, options)


# Actions

# The field of MomistigriAction that holds a card alone → the first of its dense ids.
_CARD_ACTIONS = {
    "name_card": FIRST_NAME_ID,
    "hand_out": FIRST_HAND_OUT_ID,
    "swap_out": FIRST_SWAP_OUT_ID,
    "swap_in": FIRST_SWAP_IN_ID,
}
_PLAIN_ACTIONS = {"pass_turn": PASS_ID, "stop": STOP_ID, "main": MAIN_ID, "reverse": REVERSE_ID}


def fill_action(message, Position position not None, action):
    """A dense id → MomistigriAction."""
    cdef int low, high
    check_id(action, NUM_ACTIONS)
    if action < PASS_ID:
        cards_of_pair(action, &low, &high)
        message.discard_pair.cards.extend((low, high))
        return
    for field, number in _PLAIN_ACTIONS.items():
        if action == number:
            getattr(message, field).SetInParent()
            return
    if FIRST_GIVE_ID <= action < FIRST_HAND_OUT_ID:
        message.give.seat, message.give.card = divmod(action - FIRST_GIVE_ID, KINDS)
        return
    for field, first_id in _CARD_ACTIONS.items():
        if first_id <= action < first_id + KINDS:
            # Setting the field, even to 0, is what chooses the kind of action.
            getattr(message, field).card = action - first_id
            getattr(message, field).SetInParent()


def read_action(message, Position position not None):
    """MomistigriAction → the dense id; whether it is legal is for `apply` to say.

    Raises EngineError: INVALID_ACTION, CHANCE_PENDING, GAME_OVER.
    """
    position.require_decision()
    kind = message.WhichOneof("action")
    if kind is None:
        raise EngineError(Reason.INVALID_ACTION, "the action has none of its fields set")
    if kind in _PLAIN_ACTIONS:
        return _PLAIN_ACTIONS[kind]
    if kind == "discard_pair":
        if len(message.discard_pair.cards) != 2:
            raise EngineError(Reason.INVALID_ACTION, "a pair has two cards", field="discard_pair.cards")
        cards = message.discard_pair.cards
        low, high = sorted(action_number(card, 0, KINDS - 1, f"discard_pair.cards[{i}]") for i, card in enumerate(cards))
        return high * (high + 1) // 2 + low
    card = action_number(getattr(message, kind).card, 0, KINDS - 1, f"{kind}.card")
    if kind != "give":
        return _CARD_ACTIONS[kind] + card
    seat = action_number(message.give.seat, 0, position.num_players() - 1, "give.seat")
    return FIRST_GIVE_ID + KINDS * seat + card


# State

cdef list _kinds_of(const State* state, uint64_t cards):
    kinds = []
    while cards:
        kinds.append(state.box.kind_at[lowest(cards)])
        cards &= cards - 1
    return kinds


cdef list _penalties_of(const State* state, int seat):
    # In finished rounds.
    cdef int finished = state.round + (state.phase == FINISHED), round
    return [state.penalties[round][seat] for round in range(finished)]


cdef list _known_to(const State* state, int knower, int seat):
    # What a knower knows of a seat's hand: [cards, most ones or None].
    most_ones = state.most_ones[seat][knower]
    return [_kinds_of(state, state.known[seat][knower]), most_ones - 1 if most_ones else None]


cdef _fill_turn(message, const State* state):
    # What states and views have alike.
    fill_turn(message, state.phase, state.first_seat, state.active)
    message.round = state.round + 1
    message.turn = state.turn
    message.reversed = bool(state.backwards)
    message.pile.extend(_kinds_of(state, state.pile))
    message.mark = state.mark
    message.draws_left = state.draws_left
    message.effect = state.effect
    if state.phase == HAND_OUT:
        message.receiver = state.receiver
    if state.swapped_out:
        message.swapped_out = state.swapped_out - 1


def fill_state(message, Position position not None):
    """A position → MomistigriState."""
    cdef const State* state = state_of(position)
    cdef int seat, knower
    fill_options(message.options, options_of(position))
    for seat in range(state.players):
        held = message.seats.add(in_round=state.in_round >> seat & 1, passed=state.passed >> seat & 1)
        held.cards.extend(_kinds_of(state, state.hands[seat]))
        held.penalties.extend(_penalties_of(state, seat))
        public = _known_to(state, PUBLIC, seat)
        if public != [[], None]:
            held.knowledge.add(cards=public[0], most_ones=public[1])
        for knower in range(state.players):
            known = _known_to(state, knower, seat)
            if knower != seat and known != public:
                held.knowledge.add(seat=knower, cards=known[0], most_ones=known[1])
    _fill_turn(message, state)


cdef uint64_t _set_of(const State* state, kinds) except? 0:
    # No more of a kind than the box has; the kinds are ones that there are.
    cdef uint64_t cards = 0
    for kind, number in Counter(kinds).items():
        cards |= bit(state.box.first_at[kind] + number) - bit(state.box.first_at[kind])
    return cards


cdef uint64_t _read_cards(const State* state, kinds, field) except? 0:
    for i, kind in enumerate(kinds):
        RULES.in_range(kind, 0, KINDS - 1, f"{field}[{i}]")
    for kind, number in Counter(kinds).items():
        copies = count_cards(bits_of(&state.box, kind))
        if number > copies:
            RULES.refuse_state(field, f"of card {kind} the box has {copies}, not {number}", "Components and setup")
    return _set_of(state, kinds)


cdef uint64_t _left_of_deck(const State* state) except? 0:
    # What no hand holds; in the pile lies nothing yet.
    left = Counter(_kinds_of(state, deck(state)))
    for seat in range(state.players):
        left.subtract(_kinds_of(state, state.hands[seat]))
    if min(left.values()) < 0:
        fault = FAULTS[MomistigriFault.CARD_TWICE_OR_MISSING]
        raise EngineError(fault.reason, fault.message, field=fault.field, rule=fault.rule)
    return _set_of(state, left.elements())


cdef _read_knowledge(State* state, int seat, entries, field):
    # Who is not named knows what all know.
    held = Counter(_kinds_of(state, state.hands[seat]))
    found = {}
    for number, entry in enumerate(entries):
        path = f"{field}[{number}]"
        knower = RULES.in_range(entry.seat, 0, state.players - 1, f"{path}.seat") if entry.HasField("seat") else PUBLIC
        if knower in found:
            RULES.refuse_state(f"{path}.seat", "what one seat, or all, know of a hand is said once", "Public and hidden")
        if knower == seat:
            RULES.refuse_state(f"{path}.seat", "a seat knows its own hand anyway", "Public and hidden")
        if Counter(entry.cards) - held:
            RULES.refuse_state(f"{path}.cards", "the hand does not hold all of these", "Public and hidden")
        most_ones = 0
        if entry.HasField("most_ones"):
            most_ones = 1 + RULES.in_range(entry.most_ones, 0, ONES - 1, f"{path}.most_ones")
        found[knower] = (_set_of(state, entry.cards), most_ones)
    public = found.get(PUBLIC, (0, 0))
    for knower in (*range(state.players), PUBLIC):
        if knower != seat:
            state.known[seat][knower], state.most_ones[seat][knower] = found.get(knower, public)


cdef _read_penalties(State* state, int seat, penalties, field):
    cdef int finished = state.round + (state.phase == FINISHED), round
    if len(penalties) != finished:
        RULES.refuse_state(field, f"{finished} rounds are finished", "End of a round")
    for round in range(finished):
        state.penalties[round][seat] = RULES.in_range(penalties[round], 0, 255, f"{field}[{round}]")


def read_state(message):
    """MomistigriState → the body of a packed state, for Game.position. Raises EngineError: INVALID_STATE."""
    cdef State state
    cdef int seat
    cdef const Options* chosen
    memset(&state, 0, sizeof(State))
    state.players = RULES.in_range(len(message.seats), 3, MOST_PLAYERS, "seats")
    options = RULES.options_of_state(read_options, encode_options, state.players, message.options)
    chosen = <const Options*> <const char*> options
    state.first_seat_option = chosen.first_seat
    lay_out(&state.box, chosen.copies)
    state.phase, state.first_seat, state.active = RULES.read_turn(message, state.players, PHASES)
    state.round = RULES.in_range(message.round, 1, ROUNDS, "round") - 1
    state.turn = RULES.in_range(message.turn, 0, LAST_TURN, "turn")
    state.backwards = message.reversed
    state.mark = RULES.in_range(message.mark, 0, MARKS - 1, "mark")
    state.draws_left = RULES.in_range(message.draws_left, 0, LARGEST_DRAW, "draws_left")
    state.effect = RULES.in_range(message.effect, 0, 3, "effect")
    if message.HasField("receiver") != (state.phase == HAND_OUT):
        RULES.refuse_state("receiver", "there is a receiver when cards of the pile are handed out, and only then")
    state.receiver = RULES.in_range(message.receiver, 0, state.players - 1, "receiver")
    if message.HasField("swapped_out"):
        state.swapped_out = 1 + RULES.in_range(message.swapped_out, 0, KINDS - 1, "swapped_out")
    for seat, held in enumerate(message.seats):
        state.hands[seat] = _read_cards(&state, held.cards, f"seats[{seat}].cards")
        _read_knowledge(&state, seat, held.knowledge, f"seats[{seat}].knowledge")
        _read_penalties(&state, seat, held.penalties, f"seats[{seat}].penalties")
        state.in_round |= held.in_round << seat
        state.passed |= held.passed << seat
    state.pile = _read_cards(&state, message.pile, "pile")
    if state.phase <= DEAL:
        state.undealt = _left_of_deck(&state)
    return (<const char*> &state)[:sizeof(State)]


# View

def fill_view(message, Position position not None, seat):
    """What a seat (None: a spectator) may know → MomistigriView."""
    cdef View seen
    cdef const State* state = &seen.state
    cdef int other, kind
    view(position.body, -1 if seat is None else seat, &seen)
    fill_options(message.options, options_of(position))
    for other in range(state.players):
        held = message.seats.add(
            hand_size=seen.sizes[other], in_round=state.in_round >> other & 1, passed=state.passed >> other & 1
        )
        held.known_cards.extend(_kinds_of(state, state.hands[other]))
        if seen.most_ones[other]:
            held.most_ones = seen.most_ones[other] - 1
        held.penalties.extend(_penalties_of(state, other))
    _fill_turn(message, state)
    if DRAW <= state.phase <= SWAP_IN:
        message.drawn_from = drawn_from(state)
    for kind in range(KINDS):
        message.unseen_cards.extend([kind] * seen.unseen[kind])


# Events

def fill_event(message, event, whole):
    """An event → MomistigriEvent; `whole`: with what only some seats may see."""
    fill_event_fields(message, event)
    cards, other, count = _parts_of(event) if whole else ((), _other_seat(event), None)
    message.cards.extend(cards)
    if other is not None:
        message.other_seat = other
    if count is not None:
        message.count = count


# Score

def fill_score(message, Position position not None):
    """The breakdown of the score → MomistigriScoreDetail."""
    cdef const State* state = state_of(position)
    cdef int seat
    for seat in range(state.players):
        message.seats.add(
            penalties=_penalties_of(state, seat),
            hand_points=0 if state.phase == FINISHED else sum_of(state, state.hands[seat]),
        )
