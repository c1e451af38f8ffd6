"""Discat: between the packed state and the messages of discat.proto, and the words for both.

The functions fill and read the message objects that they are handed; they import nothing of them.
"""

from collections.abc import Mapping

from chatiere.engine.core.codec import (
    RulesFile,
    action_number,
    check_id,
    complete_options,
    fill_event_fields,
    fill_turn,
    is_whole,
    refuse_option,
    without_defaults,
)
from chatiere.engine.core.errors import EngineError, Reason

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

RULES = RulesFile("discat.md")
# Odd cards, that is the even bits ("Arrows").
_DEFAULTS = {"up_arrows": int("01" * (LARGEST_CARD // 2), 2)}


# Words

FAULTS = {
    int(DiscatFault.PASSING_NOT_A_CHOICE): RULES.illegal(
        "a hand card respects the constraint, or there is none: passing is not a choice", "A turn: play"
    ),
    int(DiscatFault.MUST_PASS): RULES.illegal(
        "no hand card respects the constraint: only Keep or Exchange is possible", "Cannot respect the constraint"
    ),
    int(DiscatFault.CARD_NOT_IN_HAND): RULES.illegal("the hand has no card in that slot", "Actions"),
    int(DiscatFault.NOT_A_GROUP): RULES.illegal(
        "the cards do not all share the tens digit, nor all the units digit", "A turn: play"
    ),
    int(DiscatFault.WRONG_SIDE): RULES.illegal("the top card does not respect the constraint", "A turn: play"),
    int(DiscatFault.FIRST_PLAY_IS_ONE_CARD): RULES.illegal(
        "the first turn of the game is exactly one card", "Components and setup"
    ),
    int(DiscatFault.DRAW_PILE_EMPTY): RULES.illegal(
        "the draw pile is empty: only Keep is possible", "Cannot respect the constraint"
    ),
    int(DiscatFault.BAD_PLAYERS): RULES.broken("Discat is for 2 to 6 players", "hands", "Components and setup"),
    int(DiscatFault.BAD_FIRST_SEAT): RULES.broken(
        "the first seat is not a seat, not the one that the options name, or set before chance has chosen it", "first_seat"
    ),
    int(DiscatFault.BAD_ARROWS): RULES.broken("an arrow is set for a card above 90", "options.up_arrows", "Arrows"),
    int(DiscatFault.BAD_PHASE): RULES.broken(
        "the phase does not fit the hand of the active seat, the constraint or the draw pile", "phase", "A turn: play"
    ),
    int(DiscatFault.BAD_ACTIVE_SEAT): RULES.broken(
        "the active seat does not follow from the turns so far and the phase", "active_seat", "A turn: play"
    ),
    int(DiscatFault.BAD_LAST_TURNS): RULES.broken(
        "last turns go with an empty draw pile and an empty hand of the seat that began them, and only once round",
        "last_turns",
        "End",
    ),
    int(DiscatFault.BAD_WINNER): RULES.broken(
        "a play has at most six cards, and one of five or six is the last and wins", "turns", "End"
    ),
    int(DiscatFault.BAD_HAND): RULES.broken(
        "a hand does not have as many cards as it may have at this moment, ascending and each from 1 to 90", "hands"
    ),
    int(DiscatFault.BAD_REDRAWN): RULES.broken(
        "the cards drawn from the queue are not as many as were put under the draw pile and lie there no more, or were "
        "drawn before the unknown part of the pile was empty, or are no cards",
        "redrawn",
        "Draw pile",
    ),
    int(DiscatFault.BAD_TURNS): RULES.broken(
        "the turns are not plays each followed by at most players - 1 passes", "turns"
    ),
    int(DiscatFault.BAD_QUEUE): RULES.broken(
        "the queue under the draw pile has more cards than were exchanged, or than the pile ever has", "queue", "Draw pile"
    ),
    int(DiscatFault.CARD_TWICE_OR_MISSING): RULES.broken(
        "a card in use is in no place or in two, or a card that is not in use is in play", "unknown_cards"
    ),
    int(DiscatFault.NOT_ZERO): RULES.broken("a byte that means nothing here is not zero", ""),
    int(DiscatFault.HISTORY_CONTRADICTS_HANDS): RULES.broken(
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

def encode_options(players, options: Mapping):
    """Options by name as the kernel's struct. Raises EngineError: INVALID_OPTION."""
    cdef Options encoded
    options = complete_options("Discat", options, _DEFAULTS, players)
    up_arrows = options["up_arrows"]
    if not is_whole(up_arrows) or up_arrows < 0 or up_arrows >> LARGEST_CARD:
        refuse_option("up_arrows", "up_arrows must be a whole number with bits 0 to 89 only")
    memset(&encoded, 0, sizeof(Options))
    encoded.first_seat = options["first_seat"]
    encoded.up_arrows[0] = up_arrows & 0xFFFFFFFFFFFFFFFF
    encoded.up_arrows[1] = up_arrows >> 64
    return (<const char*> &encoded)[:sizeof(Options)]


def options_of(Position position not None):
    """The options of a position that differ from their defaults, by name."""
    cdef const State* state = state_of(position)
    up_arrows = state.up_arrows[0] | <object> state.up_arrows[1] << 64
    return without_defaults({"first_seat": state.first_seat_option, "up_arrows": up_arrows}, _DEFAULTS)


def read_options(message):
    """DiscatOptions → options by name. Raises EngineError: INVALID_OPTION."""
    options = {}
    if message.HasField("first_seat"):
        options["first_seat"] = message.first_seat
    if message.HasField("up_arrows"):
        up_arrows = 0
        for i, card in enumerate(message.up_arrows.cards):
            if not 1 <= card <= LARGEST_CARD or up_arrows >> (card - 1) & 1:
                refuse_option(f"up_arrows.cards[{i}]", f"{card} is not a card from 1 to 90, or is named twice")
            up_arrows |= 1 << (card - 1)
        options["up_arrows"] = up_arrows
    return options


def fill_options(message, options):
    """Options by name → DiscatOptions."""
    message.SetInParent()
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
    check_id(action, NUM_ACTIONS)
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
    action_number(card, 1, LARGEST_CARD, field)
    for slot in range(state.hand_size[state.active]):
        if card_in_slot(state.hand[state.active], slot) == card:
            return slot
    RULES.refuse_card(state.active, f"card {card} in hand", field)


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
    fill_options(message.options, options_of(position))
    for seat in range(state.players):
        hand = message.hands.add()
        hand.cards.extend([card_in_slot(state.hand[seat], slot) for slot in range(state.hand_size[seat])])
    fill_turn(message, state.phase, state.first_seat, state.active)
    message.bonus_drawn = bool(state.bonus_drawn)
    message.last_turns = state.last_turns
    _fill_turns(message.turns, state)
    message.unknown_cards.extend(_cards_in(state.unknown))
    message.queue.extend([state.under[state.redrawn_count + place] for place in range(state.queue_length)])
    message.redrawn.extend([state.under[place] for place in range(state.redrawn_count)])


cdef _read_hand(State* state, int seat, hand):
    cdef int slot
    field = f"hands[{seat}]"
    if len(hand.cards) > LARGEST_HAND:
        RULES.refuse_state(f"{field}.cards", f"a hand has at most {LARGEST_HAND} cards")
    cards = sorted(RULES.in_range(card, 1, LARGEST_CARD, f"{field}.cards[{i}]") for i, card in enumerate(hand.cards))
    for slot, card in enumerate(cards):
        state.hand[seat] |= <uint64_t> card << 8 * slot
    state.hand_size[seat] = len(cards)


cdef _read_turns(State* state, turns):
    # The plays with the passes after each.
    cdef int seat = state.first_seat, passes, count
    cdef uint8_t* record
    if len(turns) and seat == NO_SEAT:
        RULES.refuse_state("first_seat", "there are turns, but nobody has begun")
    for i, turn in enumerate(turns):
        field = f"turns[{i}]"
        if turn.seat != seat:
            RULES.refuse_state(f"{field}.seat", f"it is the turn of seat {seat}, not {turn.seat}", "A turn: play")
        kind = turn.WhichOneof("turn")
        if kind == "played":
            cards = turn.played.cards
            count = len(cards)
            if not 1 <= count <= LARGEST_HAND:
                RULES.refuse_state(f"{field}.played.cards", f"a play has 1 to {LARGEST_HAND} cards", "A turn: play")
            if state.laid + count > LARGEST_CARD:
                RULES.refuse_state(f"{field}.played.cards", "more cards have been laid than there are")
            for j, card in enumerate(cards):
                RULES.in_range(card, 1, LARGEST_CARD, f"{field}.played.cards[{j}]")
            for card in [*sorted(cards[:-1]), cards[-1] | TOP]:
                state.cards[state.laid] = card
                state.laid += 1
        elif kind == "passed":
            if state.laid == 0:
                RULES.refuse_state(field, "nobody passes before the first play", "Components and setup")
            record = &state.passes[state.laid - 1]
            passes = record[0] & 7
            if passes == state.players - 1:
                RULES.refuse_state(field, "all others have passed: the creator plays", "Back to the creator")
            record[0] = (record[0] & ~7) | (passes + 1) | (1 if turn.passed.exchanged else 0) << (3 + passes)
        else:
            RULES.refuse_state(field, "the turn is neither a play nor a pass")
        seat = (seat + 1) % state.players


def read_state(message):
    """DiscatState → the body of a packed state, for Game.position. Raises EngineError: INVALID_STATE."""
    cdef State state
    cdef int seat, place
    memset(&state, 0, sizeof(State))
    state.players = RULES.in_range(len(message.hands), 2, 6, "hands")
    options = RULES.options_of_state(read_options, encode_options, state.players, message.options)
    _set_options(&state, options)
    for seat, hand in enumerate(message.hands):
        _read_hand(&state, seat, hand)
    state.phase, state.first_seat, state.active = RULES.read_turn(message, state.players, PHASES)
    state.bonus_drawn = message.bonus_drawn
    state.last_turns = RULES.in_range(message.last_turns, 0, state.players - 1, "last_turns")
    _read_turns(&state, message.turns)
    for i, card in enumerate(message.unknown_cards):
        if has_card(state.unknown, RULES.in_range(card, 1, LARGEST_CARD, f"unknown_cards[{i}]")):
            RULES.refuse_state(f"unknown_cards[{i}]", f"{card} is named twice")
        put_card(state.unknown, card)
    if len(message.redrawn) > REDRAWN_KEPT:
        RULES.refuse_state("redrawn", f"only the last {REDRAWN_KEPT} cards drawn from the queue are kept")
    for place, card in enumerate(message.redrawn):
        state.under[place] = RULES.in_range(card, 0, LARGEST_CARD, f"redrawn[{place}]")
    state.redrawn_count = len(message.redrawn)
    if len(message.queue) > LARGEST_PILE:
        RULES.refuse_state("queue", f"the draw pile never has more than {LARGEST_PILE} cards", "Draw pile")
    for place, card in enumerate(message.queue):
        state.under[state.redrawn_count + place] = RULES.in_range(card, 1, LARGEST_CARD, f"queue[{place}]")
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
    fill_options(message.options, options_of(position))
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
    fill_turn(message, state.phase, state.first_seat, state.active)
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
    fill_event_fields(message, event)
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
