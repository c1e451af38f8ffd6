"""Discat: between the packed state and the messages of discat.proto, and the words for both.

The functions fill and read the message objects that they are handed; they import nothing of them.
"""

from collections.abc import Mapping

from chatiere.engine.core.errors import EngineError, FaultText, Reason

from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memset

from chatiere.engine.core.position cimport Position
from chatiere.engine.games.discat.kernel cimport count_piles, play_cards, slots_played, view
from chatiere.engine.games.discat.state cimport (
    CARD,
    FIRST_EXCHANGE_ID,
    FIRST_SEAT,
    KEEP_ID,
    LARGEST_CARD,
    LARGEST_HAND,
    LARGEST_PILE,
    NO_SEAT,
    NUM_ACTIONS,
    PHASES,
    PLAY_IDS,
    REDRAWN_KEPT,
    TOP,
    DiscatEvent,
    DiscatFault,
    Options,
    State,
    View,
    card_in_slot,
    constraint_of,
    creator_of,
    draw_pile_size,
    group_winner,
    has_card,
    passes_in_a_row,
    points_up,
    put_card,
)

_RULES = "discat.md"
# Odd cards, that is the even bits ("Arrows").
_DEFAULT_UP_ARROWS = int("01" * (LARGEST_CARD // 2), 2)


# Words

def _illegal(message, heading):
    return FaultText(Reason.ILLEGAL_ACTION, message, rule=f"{_RULES}: {heading}")


def _broken(message, field, heading="Invariants"):
    return FaultText(Reason.INVALID_STATE, message, field=field, rule=f"{_RULES}: {heading}")


FAULTS = {
    int(DiscatFault.PASSING_NOT_A_CHOICE): _illegal(
        "a hand card respects the constraint, or there is none: passing is not a choice", "A turn: play"
    ),
    int(DiscatFault.MUST_PASS): _illegal(
        "no hand card respects the constraint: only Keep or Exchange is possible", "Cannot respect the constraint"
    ),
    int(DiscatFault.CARD_NOT_IN_HAND): _illegal("the hand has no card in that slot", "Actions"),
    int(DiscatFault.NOT_A_GROUP): _illegal(
        "the cards do not all share the tens digit, nor all the units digit", "A turn: play"
    ),
    int(DiscatFault.WRONG_SIDE): _illegal("the top card does not respect the constraint", "A turn: play"),
    int(DiscatFault.FIRST_PLAY_IS_ONE_CARD): _illegal(
        "the first turn of the game is exactly one card", "Components and setup"
    ),
    int(DiscatFault.DRAW_PILE_EMPTY): _illegal(
        "the draw pile is empty: only Keep is possible", "Cannot respect the constraint"
    ),
    int(DiscatFault.BAD_PLAYERS): _broken("Discat is for 2 to 6 players", "hands", "Components and setup"),
    int(DiscatFault.BAD_FIRST_SEAT): _broken(
        "the first seat is not a seat, not the one that the options name, or set before chance has chosen it", "first_seat"
    ),
    int(DiscatFault.BAD_ARROWS): _broken("an arrow is set for a card above 90", "options.up_arrows", "Arrows"),
    int(DiscatFault.BAD_PHASE): _broken(
        "the phase does not fit the hand of the active seat, the constraint or the draw pile", "phase", "A turn: play"
    ),
    int(DiscatFault.BAD_ACTIVE_SEAT): _broken(
        "the active seat does not follow from the turns so far and the phase", "active_seat", "A turn: play"
    ),
    int(DiscatFault.BAD_LAST_TURNS): _broken(
        "last turns go with an empty draw pile and an empty hand of the seat that began them, and only once round",
        "last_turns",
        "End",
    ),
    int(DiscatFault.BAD_WINNER): _broken(
        "a play has at most six cards, and one of five or six is the last and wins", "turns", "End"
    ),
    int(DiscatFault.BAD_HAND): _broken(
        "a hand does not have as many cards as it may have at this moment, ascending and each from 1 to 90", "hands"
    ),
    int(DiscatFault.BAD_REDRAWN): _broken(
        "the cards drawn from the queue are not as many as were put under the draw pile and lie there no more, or were "
        "drawn before the unknown part of the pile was empty, or are no cards",
        "redrawn",
        "Draw pile",
    ),
    int(DiscatFault.BAD_TURNS): _broken(
        "the turns are not plays each followed by at most players - 1 passes", "turns"
    ),
    int(DiscatFault.BAD_QUEUE): _broken(
        "the queue under the draw pile has more cards than were exchanged, or than the pile ever has", "queue", "Draw pile"
    ),
    int(DiscatFault.CARD_TWICE_OR_MISSING): _broken(
        "a card in use is in no place or in two, or a card that is not in use is in play", "unknown_cards"
    ),
    int(DiscatFault.NOT_ZERO): _broken("a byte that means nothing here is not zero", ""),
    int(DiscatFault.HISTORY_CONTRADICTS_HANDS): _broken(
        "what the turns have shown and the hidden cards contradict each other", "turns", "Public and hidden"
    ),
}

_EVENT_LABELS = {
    int(DiscatEvent.FIRST_SEAT_CHOSEN): "seat {seat} begins",
    int(DiscatEvent.CARD_DEALT): "seat {seat} is dealt {cards}",
    int(DiscatEvent.CARDS_PLAYED): "seat {seat} plays {cards}",
    int(DiscatEvent.CARD_TO_BONUS_PILE): "{cards} goes to the bonus pile of seat {seat}",
    int(DiscatEvent.BONUS_CARD_DRAWN): "seat {seat} draws {cards} as a bonus",
    int(DiscatEvent.TOP_TURNED): "seat {seat} turns {cards} face down",
    int(DiscatEvent.HAND_KEPT): "seat {seat} passes and keeps its hand",
    int(DiscatEvent.CARD_EXCHANGED): "seat {seat} passes and puts {cards} under the draw pile",
    int(DiscatEvent.EXCHANGE_DRAWN): "seat {seat} draws {cards} for it",
    int(DiscatEvent.CARD_REFILLED): "seat {seat} refills with {cards}",
    int(DiscatEvent.CONSTRAINT_LIFTED): "all others have passed: seat {seat} plays without a constraint",
    int(DiscatEvent.LAST_TURNS_BEGUN): "seat {seat} has no card left and the draw pile is empty: one more turn for the others",
    int(DiscatEvent.GAME_ENDED): "the game is over",
}


cdef const State* state_of(Position position) noexcept:
    return <const State*> position.body


def _play_label(cards):
    if len(cards) == 1:
        return f"{cards[0]}"
    return f"{' '.join(str(card) for card in cards[:-1])} with {cards[-1]} on top"


def action_label(Position position not None, action):
    """A dense id in plain English; its cards must be in the hand of the seat that is to act."""
    cards = _cards_of(position, action)
    if action < PLAY_IDS:
        return f"play {_play_label(cards)}"
    return "keep the hand" if action == KEEP_ID else f"put {cards[0]} under the draw pile and draw"


def outcome_label(Position position not None, outcome):
    """A possible chance outcome in plain English."""
    return f"seat {outcome} begins" if state_of(position).phase == FIRST_SEAT else f"card {outcome + 1}"


def event_label(event, whole):
    """An event in plain English; `whole`: with what only some seats may see."""
    cards = _play_label(event.values) if whole and event.values else "a card"
    return _EVENT_LABELS[event.kind].format(seat=event.seat, cards=cards)


# Options

def _refuse_option(name, message):
    raise EngineError(Reason.INVALID_OPTION, message, field=name)


def _whole_number(value):
    return isinstance(value, int) and not isinstance(value, bool)


def encode_options(players, options: Mapping):
    """Options by name as the kernel's struct. Raises EngineError: INVALID_OPTION."""
    cdef Options encoded
    for name in options:
        if name not in ("first_seat", "up_arrows"):
            _refuse_option(str(name), f"Discat has no option {name!r}; it has first_seat and up_arrows")
    first_seat = options.get("first_seat")
    if first_seat is not None and not (_whole_number(first_seat) and 0 <= first_seat < players):
        _refuse_option("first_seat", f"the first seat must be 0 to {players - 1}")
    up_arrows = options.get("up_arrows")
    if up_arrows is None:
        up_arrows = _DEFAULT_UP_ARROWS
    if not _whole_number(up_arrows) or up_arrows < 0 or up_arrows >> LARGEST_CARD:
        _refuse_option("up_arrows", "up_arrows must be a whole number with bits 0 to 89 only")
    memset(&encoded, 0, sizeof(Options))
    encoded.first_seat = NO_SEAT if first_seat is None else first_seat
    encoded.up_arrows[0] = up_arrows & 0xFFFFFFFFFFFFFFFF
    encoded.up_arrows[1] = up_arrows >> 64
    return (<const char*> &encoded)[:sizeof(Options)]


def options_of(Position position not None):
    """The options of a position that differ from their defaults, by name."""
    cdef const State* state = state_of(position)
    options = {}
    if state.first_seat_option != NO_SEAT:
        options["first_seat"] = state.first_seat_option
    up_arrows = state.up_arrows[0] | <object> state.up_arrows[1] << 64
    if up_arrows != _DEFAULT_UP_ARROWS:
        options["up_arrows"] = up_arrows
    return options


def read_options(message):
    """DiscatOptions → options by name. Raises EngineError: INVALID_OPTION."""
    options = {}
    if message.HasField("first_seat"):
        options["first_seat"] = message.first_seat
    if message.HasField("up_arrows"):
        up_arrows = 0
        for i, card in enumerate(message.up_arrows.cards):
            if not 1 <= card <= LARGEST_CARD or up_arrows >> (card - 1) & 1:
                _refuse_option(f"up_arrows.cards[{i}]", f"{card} is not a card from 1 to 90, or is named twice")
            up_arrows |= 1 << (card - 1)
        options["up_arrows"] = up_arrows
    return options


def fill_options(message, options):
    """Options by name → DiscatOptions."""
    if "first_seat" in options:
        message.first_seat = options["first_seat"]
    if "up_arrows" in options:
        message.up_arrows.SetInParent()
        message.up_arrows.cards.extend(card for card in range(1, LARGEST_CARD + 1) if options["up_arrows"] >> (card - 1) & 1)


# Actions

cdef list _cards_of(Position position, action):
    # The cards that a dense id names, a play's top last; none for Keep.
    cdef const State* state = state_of(position)
    cdef uint8_t cards[LARGEST_HAND]
    cdef int slots, count, i
    position.require_decision()
    if not 0 <= action < NUM_ACTIONS:
        raise EngineError(Reason.INVALID_ACTION, f"dense ids are 0 to {NUM_ACTIONS - 1}")
    if action == KEEP_ID:
        return []
    slots = slots_played(action) if action < PLAY_IDS else 1 << <int> (action - FIRST_EXCHANGE_ID)
    if slots >> state.hand_size[state.active]:
        position.refuse_move(int(DiscatFault.CARD_NOT_IN_HAND), action)
    if action >= PLAY_IDS:
        return [card_in_slot(state.hand[state.active], action - FIRST_EXCHANGE_ID)]
    count = play_cards(state, action, cards)
    return [cards[i] for i in range(count)]


def fill_action(message, Position position not None, action):
    """A dense id at a position → DiscatAction."""
    cards = _cards_of(position, action)
    if action < PLAY_IDS:
        message.play.cards.extend(cards)
    elif action == KEEP_ID:
        message.keep.SetInParent()
    else:
        message.exchange.card = cards[0]


def _slot_of(Position position, card, field):
    cdef const State* state = state_of(position)
    cdef int slot
    if not 1 <= card <= LARGEST_CARD:
        raise EngineError(Reason.INVALID_ACTION, f"{card} is not a card: cards are 1 to 90", field=field)
    for slot in range(state.hand_size[state.active]):
        if card_in_slot(state.hand[state.active], slot) == card:
            return slot
    raise EngineError(
        Reason.ILLEGAL_ACTION,
        f"seat {state.active} has no card {card} in hand",
        field=field,
        rule=f"{_RULES}: Actions",
        metadata={"actor": str(state.active)},
    )


def read_action(message, Position position not None):
    """DiscatAction → the dense id at a position; whether it is legal is for `apply` to say.

    Raises EngineError: INVALID_ACTION, ILLEGAL_ACTION (a card that is not in the hand), CHANCE_PENDING, GAME_OVER.
    """
    position.require_decision()
    kind = message.WhichOneof("action")
    if kind == "keep":
        return KEEP_ID
    if kind == "exchange":
        return FIRST_EXCHANGE_ID + _slot_of(position, message.exchange.card, "exchange.card")
    if kind != "play":
        raise EngineError(Reason.INVALID_ACTION, "the action is none of play, keep and exchange")
    cards = message.play.cards
    if not 1 <= len(cards) <= LARGEST_HAND or len(set(cards)) != len(cards):
        raise EngineError(Reason.INVALID_ACTION, "a play is of 1 to 6 different cards, the top one last", field="play.cards")
    slots = [_slot_of(position, card, f"play.cards[{i}]") for i, card in enumerate(cards)]
    top = slots.pop()
    return top << 5 | sum(1 << (slot - (slot > top)) for slot in slots)


# State

cdef list _cards_in(const uint64_t* cards):
    return [card for card in range(1, LARGEST_CARD + 1) if has_card(cards, card)]


cdef _fill_options_of(message, Position position):
    message.SetInParent()
    fill_options(message, options_of(position))


cdef _fill_turns(messages, const State* state):
    cdef int place, start = 0, number, seat = state.first_seat, i
    for place in range(state.laid):
        if state.cards[place] & TOP == 0:
            continue
        messages.add(seat=seat).played.cards.extend([state.cards[i] & CARD for i in range(start, place + 1)])
        start = place + 1
        for number in range(state.passes[place] & 7):
            seat = (seat + 1) % state.players
            # Setting the field, even to false, is what makes the turn a pass.
            messages.add(seat=seat).passed.exchanged = bool(state.passes[place] >> (3 + number) & 1)
        seat = (seat + 1) % state.players


def fill_state(message, Position position not None):
    """A position → DiscatState."""
    cdef const State* state = state_of(position)
    cdef int seat, slot, place
    _fill_options_of(message.options, position)
    for seat in range(state.players):
        hand = message.hands.add()
        hand.cards.extend([card_in_slot(state.hand[seat], slot) for slot in range(state.hand_size[seat])])
    message.phase = state.phase + 1
    if state.first_seat != NO_SEAT:
        message.first_seat = state.first_seat
    message.active_seat = state.active
    message.bonus_drawn = bool(state.bonus_drawn)
    message.last_turns = state.last_turns
    _fill_turns(message.turns, state)
    message.unknown_cards.extend(_cards_in(state.unknown))
    message.queue.extend([state.under[state.redrawn_count + place] for place in range(state.queue_length)])
    message.redrawn.extend([state.under[place] for place in range(state.redrawn_count)])


def _refuse_state(field, message, heading="Invariants"):
    raise EngineError(Reason.INVALID_STATE, message, field=field, rule=f"{_RULES}: {heading}")


def _in_range(value, lowest, highest, field):
    if not lowest <= value <= highest:
        _refuse_state(field, f"{value} is not from {lowest} to {highest}")
    return value


cdef _read_hand(State* state, int seat, hand):
    cdef int slot
    field = f"hands[{seat}]"
    if len(hand.cards) > LARGEST_HAND:
        _refuse_state(f"{field}.cards", f"a hand has at most {LARGEST_HAND} cards")
    cards = sorted(_in_range(card, 1, LARGEST_CARD, f"{field}.cards[{i}]") for i, card in enumerate(hand.cards))
    for slot, card in enumerate(cards):
        state.hand[seat] |= <uint64_t> card << 8 * slot
    state.hand_size[seat] = len(cards)


cdef _read_turns(State* state, turns):
    # The plays with the passes after each.
    cdef int seat = state.first_seat, passes, count
    cdef uint8_t* record
    if len(turns) and seat == NO_SEAT:
        _refuse_state("first_seat", "there are turns, but nobody has begun")
    for i, turn in enumerate(turns):
        field = f"turns[{i}]"
        if turn.seat != seat:
            _refuse_state(f"{field}.seat", f"it is the turn of seat {seat}, not {turn.seat}", "A turn: play")
        kind = turn.WhichOneof("turn")
        if kind == "played":
            cards = turn.played.cards
            count = len(cards)
            if not 1 <= count <= LARGEST_HAND:
                _refuse_state(f"{field}.played.cards", f"a play has 1 to {LARGEST_HAND} cards", "A turn: play")
            if state.laid + count > LARGEST_CARD:
                _refuse_state(f"{field}.played.cards", "more cards have been laid than there are")
            for j, card in enumerate(cards):
                _in_range(card, 1, LARGEST_CARD, f"{field}.played.cards[{j}]")
            for card in [*sorted(cards[:-1]), cards[-1] | TOP]:
                state.cards[state.laid] = card
                state.laid += 1
        elif kind == "passed":
            if state.laid == 0:
                _refuse_state(field, "nobody passes before the first play", "Components and setup")
            record = &state.passes[state.laid - 1]
            passes = record[0] & 7
            if passes == state.players - 1:
                _refuse_state(field, "all others have passed: the creator plays", "Back to the creator")
            record[0] = (record[0] & ~7) | (passes + 1) | (1 if turn.passed.exchanged else 0) << (3 + passes)
        else:
            _refuse_state(field, "the turn is neither a play nor a pass")
        seat = (seat + 1) % state.players


def read_state(message):
    """DiscatState → the body of a packed state, for Game.position. Raises EngineError: INVALID_STATE."""
    cdef State state
    cdef int seat, place
    memset(&state, 0, sizeof(State))
    state.players = _in_range(len(message.hands), 2, 6, "hands")
    try:
        options = encode_options(state.players, read_options(message.options))
    except EngineError as error:
        _refuse_state(f"options.{error.field}", error.message, "Components and setup")
    _set_options(&state, options)
    for seat, hand in enumerate(message.hands):
        _read_hand(&state, seat, hand)
    state.phase = _in_range(message.phase, 1, PHASES, "phase") - 1
    state.first_seat = NO_SEAT
    if message.HasField("first_seat"):
        state.first_seat = _in_range(message.first_seat, 0, state.players - 1, "first_seat")
    state.active = _in_range(message.active_seat, 0, state.players - 1, "active_seat")
    state.bonus_drawn = message.bonus_drawn
    state.last_turns = _in_range(message.last_turns, 0, state.players - 1, "last_turns")
    _read_turns(&state, message.turns)
    for i, card in enumerate(message.unknown_cards):
        if has_card(state.unknown, _in_range(card, 1, LARGEST_CARD, f"unknown_cards[{i}]")):
            _refuse_state(f"unknown_cards[{i}]", f"{card} is named twice")
        put_card(state.unknown, card)
    if len(message.redrawn) > REDRAWN_KEPT:
        _refuse_state("redrawn", f"only the last {REDRAWN_KEPT} cards drawn from the queue are kept")
    for place, card in enumerate(message.redrawn):
        state.under[place] = _in_range(card, 0, LARGEST_CARD, f"redrawn[{place}]")
    state.redrawn_count = len(message.redrawn)
    if len(message.queue) > LARGEST_PILE:
        _refuse_state("queue", f"the draw pile never has more than {LARGEST_PILE} cards", "Draw pile")
    for place, card in enumerate(message.queue):
        state.under[state.redrawn_count + place] = _in_range(card, 1, LARGEST_CARD, f"queue[{place}]")
    state.queue_length = len(message.queue)
    return (<const char*> &state)[:sizeof(State)]


cdef _set_options(State* state, bytes encoded):
    cdef const Options* options = <const Options*> <const char*> encoded
    state.first_seat_option = options.first_seat
    state.up_arrows[0] = options.up_arrows[0]
    state.up_arrows[1] = options.up_arrows[1]


# View

def fill_view(message, Position position not None, seat):
    """What a seat (None: a spectator) may know → DiscatView."""
    cdef View seen
    cdef const State* state = &seen.state
    cdef int other, place, constraint, card, slot
    view(position.body, -1 if seat is None else seat, &seen)
    constraint = constraint_of(state)
    _fill_options_of(message.options, position)
    for other in range(state.players):
        messages = message.seats.add(hand_size=state.hand_size[other])
        messages.known_cards.extend(
            [card for slot in range(state.hand_size[other]) if (card := card_in_slot(state.hand[other], slot))]
        )
    for place in range(state.laid):
        card = state.cards[place] & CARD
        owner = message.seats[seen.table.owner[place]]
        if seen.table.in_bonus_pile[place]:
            owner.bonus_pile.append(card)
        else:
            owner.pile.add(card=card, face_down=bool(seen.table.face_down[place]))
    message.phase = state.phase + 1
    if state.first_seat != NO_SEAT:
        message.first_seat = state.first_seat
    message.active_seat = state.active
    if constraint:
        message.constraint.card = constraint
        message.constraint.higher = points_up(state, constraint)
        message.constraint.creator = creator_of(state)
        message.constraint.bonus_drawn = bool(state.bonus_drawn)
    message.passes = passes_in_a_row(state)
    message.last_turns = state.last_turns
    message.draw_pile_size = draw_pile_size(state_of(position))
    for place in range(state.queue_length):
        queued = message.queue.add(seat=seen.table.queue_seat[place])
        if state.under[state.redrawn_count + place]:
            queued.card = state.under[state.redrawn_count + place]
    _fill_turns(message.turns, state)
    message.unseen_cards.extend(_cards_in(state.unknown))
    if group_winner(state) != NO_SEAT:
        message.group_winner = group_winner(state)


# Events

def fill_event(message, event, whole):
    """An event → DiscatEvent; `whole`: with what only some seats may see."""
    message.kind = event.kind
    if event.seat is not None:
        message.seat = event.seat
    if whole:
        message.cards.extend(event.values)


# Score

def fill_score(message, Position position not None):
    """The breakdown of the score → DiscatScoreDetail."""
    cdef const State* state = state_of(position)
    cdef int piles[6]
    cdef int bonuses[6]
    cdef int seat
    count_piles(state, piles, bonuses)
    for seat in range(state.players):
        message.seats.add(
            pile_points=piles[seat],
            bonus_points=4 * bonuses[seat],
            hand_points=-<int> state.hand_size[seat],
        )
    if group_winner(state) != NO_SEAT:
        message.group_winner = group_winner(state)
