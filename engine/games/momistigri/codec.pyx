"""Momistigri: between the packed state and the messages of momistigri.proto."""

from collections import Counter
from collections.abc import Mapping

from chatiere.engine.core.codec import action_number, complete_options, label_words, read_numbers, refuse_option
from chatiere.engine.core.errors import EngineError, Reason
from chatiere.engine.games.momistigri.words import CARD_NAMES, EVENT_LABELS, FAULTS, RULES, card_name

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint64_t
from libc.string cimport memcpy, memset

from chatiere.engine.core.game cimport NO_SEAT, Event, distance_to, seat_at
from chatiere.engine.core.position cimport Position, put_label, wrap_put_action, wrap_put_event
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
    next_of,
    number_of,
    open_field,
)
from chatiere.engine.wire.writer cimport Writer
from chatiere.engine.games.momistigri.cards cimport (
    BOX,
    COLOURED,
    KINDS,
    MOST_PLAYERS,
    USUAL,
    USUAL_BOX,
    VALUES,
    Box,
    bit,
    bits_of,
    count_cards,
    deck_for,
    lowest,
)
from chatiere.engine.games.momistigri.kernel cimport note_copies, view
from chatiere.engine.games.momistigri.legal cimport cards_of_pair, distance_of_gift, forbids_gift, id_of_gift, kind_of_gift
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
    KNOWERS,
    LARGEST_DRAW,
    LAST_TURN,
    MAIN_ID,
    MARKS,
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
    box_of,
    decider,
    drawn_from,
    pile_of,
    sum_of,
)
cimport chatiere.fields.momistigri as fields

DEFAULTS = {"copies": [USUAL.copies[kind] for kind in range(COLOURED)]}

cdef tuple _LABEL_WORDS = label_words(
    EVENT_LABELS,
    {
        "seat": fields.EVENT_SEAT,
        "other_seat": fields.EVENT_OTHER_SEAT,
        "cards": fields.EVENT_CARDS,
        "count": fields.EVENT_COUNT,
    },
)


cdef const State* state_of(Position position) noexcept:
    return <const State*> position.body


cdef put_main_label(Writer out, int effect):
    if effect == 1:
        out.words(b"discard all other 1s")
    elif effect == 2:
        out.words(b"name the card that the next seat must draw")
    else:
        out.words(b"swap a card after the next seat's draw")


cdef int receiver_of(Position position, int action) except -1:
    # The seat that a Give names by its distance from the one that decides.
    cdef const State* state = state_of(position)
    cdef int distance = distance_of_gift(action)
    if distance >= state.players:
        position.refuse_move(forbids_gift(state, box_of(state), distance, kind_of_gift(action)), action)
    return seat_at(decider(state), distance, state.players)


cdef int label_action(Writer out, Position position, int action) except -1:
    # A dense id in plain English, at a decision.
    cdef int low, high, receiver
    position.require_action(action)
    if action < PASS_ID:
        cards_of_pair(action, &low, &high)
        out.words(b"discard ")
        out.string(CARD_NAMES[low])
        out.words(b" and ")
        out.string(CARD_NAMES[high])
    elif action == PASS_ID:
        out.words(b"pass")
    elif action == STOP_ID:
        out.words(b"discard no further pair")
    elif action == MAIN_ID:
        put_main_label(out, state_of(position).effect)
    elif action == REVERSE_ID:
        out.words(b"reverse the direction of play")
    elif action < FIRST_GIVE_ID:
        out.words(b"name ")
        out.string(CARD_NAMES[action - FIRST_NAME_ID])
        out.words(b" for the next seat to draw")
    elif action < FIRST_HAND_OUT_ID:
        receiver = receiver_of(position, action)
        out.words(b"give ")
        out.string(CARD_NAMES[kind_of_gift(action)])
        out.words(b" to seat ")
        out.decimal(receiver)
    elif action < FIRST_SWAP_OUT_ID:
        out.words(b"hand ")
        out.string(CARD_NAMES[action - FIRST_HAND_OUT_ID])
        out.words(b" out to seat ")
        out.decimal(state_of(position).receiver)
    elif action < FIRST_SWAP_IN_ID:
        out.words(b"discard ")
        out.string(CARD_NAMES[action - FIRST_SWAP_OUT_ID])
        out.words(b" for the swap")
    else:
        out.words(b"take ")
        out.string(CARD_NAMES[action - FIRST_SWAP_IN_ID])
        out.words(b" from the pile")


put_action_label = wrap_put_action(label_action)


def outcome_label(Position position not None, outcome):
    """A possible chance outcome in plain English."""
    return f"seat {outcome} begins" if state_of(position).phase == FIRST_SEAT else f"card {card_name(outcome)}"


cdef int cards_in(const Event* event) noexcept:
    # How many of the values are cards, which come first.
    if event.kind in (MomistigriEvent.TURN_BEGUN, MomistigriEvent.ROUND_BEGUN, MomistigriEvent.PENALTY_TAKEN):
        return 0
    return 1 if event.kind == MomistigriEvent.CARD_HANDED_OUT else event.count


cdef int other_seat(const Event* event) noexcept:
    # The other seat that it is about, or -1.
    if event.kind == MomistigriEvent.TURN_BEGUN:
        return event.values[0]
    if event.kind == MomistigriEvent.CARD_HANDED_OUT:
        return event.values[1]
    # A card that moved from hand to hand is seen by both seats, which everybody knows.
    if event.kind == MomistigriEvent.CARD_DRAWN or event.kind == MomistigriEvent.CARD_GIVEN:
        return lowest(event.seen_by & ~(1 << event.seat))
    return -1


cdef int number_in(const Event* event) noexcept:
    # The number that it is about, or -1.
    if event.kind == MomistigriEvent.TURN_BEGUN:
        return event.values[1]
    if event.kind == MomistigriEvent.ROUND_BEGUN or event.kind == MomistigriEvent.PENALTY_TAKEN:
        return event.values[0]
    return -1


cdef put_card_names(Writer out, const uint16_t* cards, int count):
    cdef int i
    if count == 0:
        out.words(b"a card")
    for i in range(count):
        if i:
            out.words(b" and ")
        out.string(CARD_NAMES[cards[i]])


cdef int label_field(Writer out, const Event* event, int field) except -1:
    # What stands for a field in the label of an event.
    if field == fields.EVENT_SEAT:
        out.decimal(event.seat)
    elif field == fields.EVENT_OTHER_SEAT:
        out.decimal(other_seat(event))
    elif field == fields.EVENT_CARDS:
        put_card_names(out, event.values, cards_in(event))
    elif event.kind == MomistigriEvent.TURN_BEGUN and number_in(event) == 1:
        out.words(b"a card")
    else:
        out.decimal(number_in(event))
        if event.kind == MomistigriEvent.TURN_BEGUN:
            out.words(b" cards")

cdef int label_event(Writer out, const Event* event) except -1:
    # An event in plain English.
    if event.kind == MomistigriEvent.ONES_DISCARDED and event.count == 0:
        out.words(b"seat ")
        out.decimal(event.seat)
        out.words(b" has no other 1")
        return 0
    return put_label(out, event, _LABEL_WORDS, label_field)


put_event_label = wrap_put_event(label_event)


# Options

def _read_copies(copies):
    copies = read_numbers("copies", copies, COLOURED, 0, VALUES)
    for value in range(1, VALUES + 1):
        number = sum(copies[value - 1 :: VALUES])
        if number != VALUES + 1 - value:
            refuse_option("copies", f"the box has {VALUES + 1 - value} cards of value {value}, not {number}")
    return copies


def encode_options(players, options: Mapping):
    """Options by name as the kernel's struct. Raises EngineError: INVALID_OPTION."""
    cdef Options encoded
    cdef int kind
    options = complete_options("Momistigri", options, DEFAULTS, players)
    copies = options["copies"]
    memset(&encoded, 0, sizeof(Options))
    encoded.first_seat = options["first_seat"]
    # Every batch that begins games comes here: the default ones do not have to be examined.
    if copies is DEFAULTS["copies"]:
        memcpy(encoded.copies, USUAL.copies, sizeof(encoded.copies))
    else:
        copies = _read_copies(copies)
        for kind in range(COLOURED):
            encoded.copies[kind] = copies[kind]
    return (<const char*> &encoded)[:sizeof(Options)]


def options_of(Position position not None):
    """The options of a position that differ from their defaults, by name."""
    cdef const State* state = state_of(position)
    cdef const Box* box = box_of(state)
    cdef int kind
    options = {}
    if state.first_seat_option != NO_SEAT:
        options["first_seat"] = state.first_seat_option
    if box != &USUAL_BOX:
        options["copies"] = [count_cards(bits_of(box, kind)) for kind in range(COLOURED)]
    return options


def read_options(Reader reader not None):
    """MomistigriOptions → options by name; `encode_options` says whether they are valid."""
    cdef const Message* message = &reader.message
    options = {}
    if has_number(message, fields.OPTIONS_FIRST_SEAT):
        options["first_seat"] = number_of(message, fields.OPTIONS_FIRST_SEAT)
    if has_span(message, fields.OPTIONS_COPIES):
        options["copies"] = listed_numbers(message, fields.OPTIONS_COPIES)
    return options


def put_options(Writer out not None, options):
    """Options by name → MomistigriOptions."""
    if "first_seat" in options:
        out.present(fields.OPTIONS_FIRST_SEAT, options["first_seat"])
    if "copies" in options:
        out.numbers(fields.OPTIONS_COPIES, options["copies"])


# Actions

cdef int write_action(Writer out, Position position, int action) except -1:
    # A dense id → MomistigriAction.
    cdef uint8_t cards[2]
    cdef int low, high, receiver
    cdef size_t begun
    position.require_action(action)
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
        out.number(fields.NAME_CARD_CARD, action - FIRST_NAME_ID)
    elif action < FIRST_HAND_OUT_ID:
        receiver = receiver_of(position, action)
        begun = out.begin(fields.ACTION_GIVE)
        out.number(fields.GIVE_CARD, kind_of_gift(action))
        out.number(fields.GIVE_SEAT, receiver)
    elif action < FIRST_SWAP_OUT_ID:
        begun = out.begin(fields.ACTION_HAND_OUT)
        out.number(fields.HAND_OUT_CARD, action - FIRST_HAND_OUT_ID)
    elif action < FIRST_SWAP_IN_ID:
        begun = out.begin(fields.ACTION_SWAP_OUT)
        out.number(fields.SWAP_OUT_CARD, action - FIRST_SWAP_OUT_ID)
    else:
        begun = out.begin(fields.ACTION_SWAP_IN)
        out.number(fields.SWAP_IN_CARD, action - FIRST_SWAP_IN_ID)
    out.end(begun)


put_action = wrap_put_action(write_action)


def _pair_id(cards):
    if len(cards) != 2:
        raise EngineError(Reason.INVALID_ACTION, "a pair has two cards", field="discard_pair.cards")
    low, high = sorted(action_number(card, 0, KINDS - 1, f"discard_pair.cards[{i}]") for i, card in enumerate(cards))
    return high * (high + 1) // 2 + low


cdef card_in(const Message* action, int field, int card_field, name):
    # The card that an action is about.
    cdef Message inner
    open_field(action, field, &inner)
    return action_number(number_of(&inner, card_field), 0, KINDS - 1, f"{name}.card")


def read_action(Reader reader not None, Position position not None):
    """MomistigriAction → the dense id; whether it is legal is for `apply` to say.

    Raises EngineError: INVALID_ACTION, ILLEGAL_ACTION (a card given to the own seat), CHANCE_PENDING, GAME_OVER.
    """
    cdef const Message* action = &reader.message
    cdef const State* state = state_of(position)
    cdef Message inner
    cdef int distance
    position.require_decision()
    if has_span(action, fields.ACTION_DISCARD_PAIR):
        open_field(action, fields.ACTION_DISCARD_PAIR, &inner)
        return _pair_id(listed_numbers(&inner, fields.DISCARD_PAIR_CARDS))
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
        seat = action_number(number_of(&inner, fields.GIVE_SEAT), 0, position.num_players() - 1, "give.seat")
        distance = distance_to(decider(state), seat, state.players)
        if distance == 0:
            position.refuse_move(forbids_gift(state, box_of(state), distance, card), None)
        return id_of_gift(distance, card)
    if has_span(action, fields.ACTION_HAND_OUT):
        return FIRST_HAND_OUT_ID + card_in(action, fields.ACTION_HAND_OUT, fields.HAND_OUT_CARD, "hand_out")
    if has_span(action, fields.ACTION_SWAP_OUT):
        return FIRST_SWAP_OUT_ID + card_in(action, fields.ACTION_SWAP_OUT, fields.SWAP_OUT_CARD, "swap_out")
    if has_span(action, fields.ACTION_SWAP_IN):
        return FIRST_SWAP_IN_ID + card_in(action, fields.ACTION_SWAP_IN, fields.SWAP_IN_CARD, "swap_in")
    raise EngineError(Reason.INVALID_ACTION, "the action has none of its fields set")


# State

ctypedef struct Listed:
    # The cards of a message as sets, each for itself: of a kind the first of its places.
    uint64_t hands[MOST_PLAYERS]
    uint64_t known[MOST_PLAYERS][KNOWERS]  # of a seat's hand
    uint64_t pile


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
    # In finished rounds.
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
    put_cards(out, fields.SEAT_CARDS, box_of(state), hand)
    if public or most_ones[PUBLIC]:
        put_knowledge(out, state, seat, PUBLIC)
    for knower in range(state.players):
        if knower != seat and (state.known[knower] & hand != public or most_ones[knower] != most_ones[PUBLIC]):
            put_knowledge(out, state, seat, knower)
    out.number(fields.SEAT_IN_ROUND, state.in_round >> seat & 1)
    out.number(fields.SEAT_PASSED, state.passed >> seat & 1)
    put_penalties(out, fields.SEAT_PENALTIES, state, seat)
    out.end(begun)


def put_state(Writer out not None, Position position not None):
    """A position → MomistigriState."""
    cdef const State* state = state_of(position)
    cdef int seat
    cdef size_t begun = out.begin(fields.STATE_OPTIONS)
    put_options(out, options_of(position))
    out.end(begun)
    for seat in range(state.players):
        put_seat(out, state, seat)
    out.number(fields.STATE_PHASE, state.phase + 1)
    if state.first_seat != NO_SEAT:
        out.present(fields.STATE_FIRST_SEAT, state.first_seat)
    out.number(fields.STATE_ACTIVE_SEAT, state.active)
    out.number(fields.STATE_ROUND, state.round + 1)
    out.number(fields.STATE_TURN, state.turn)
    out.number(fields.STATE_REVERSED, state.backwards)
    put_cards(out, fields.STATE_PILE, box_of(state), pile_of(state))
    out.number(fields.STATE_MARK, state.mark)
    out.number(fields.STATE_DRAWS_LEFT, state.draws_left)
    out.number(fields.STATE_EFFECT, state.effect)
    if state.phase == HAND_OUT:
        out.present(fields.STATE_RECEIVER, state.receiver)
    if state.swapped_out:
        out.present(fields.STATE_SWAPPED_OUT, state.swapped_out - 1)


cdef refuse_cards(const Box* box, const Message* message, int field, name):
    # No card, or more of a kind than the box has.
    kinds = listed_numbers(message, field)
    for i, kind in enumerate(kinds):
        RULES.in_range(kind, 0, KINDS - 1, f"{name}[{i}]")
    for kind, number in Counter(kinds).items():
        copies = count_cards(bits_of(box, kind))
        if number > copies:
            RULES.refuse_state(name, f"of card {kind} the box has {copies}, not {number}", "Components and setup")


cdef bint list_set(const Box* box, const Message* message, int field, uint64_t most, uint64_t* cards) except -1:
    # A list of cards as a set; false if they are more than `most`.
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


cdef read_knowledge(State* state, Listed* listed, int seat, const Message* message):
    # Who is not named knows what all know.
    cdef Message entry
    cdef Span rest = message.span
    cdef uint64_t* known = listed.known[seat]
    cdef int found = 0, number = 0, knower
    cdef int64_t other, most_ones
    while next_of(fields.SEAT_KNOWLEDGE, &rest, &entry):
        knower = PUBLIC
        if has_number(&entry, fields.KNOWLEDGE_SEAT):
            other = number_of(&entry, fields.KNOWLEDGE_SEAT)
            knower = within(RULES, other, 0, state.players - 1, "seats[{}].knowledge[{}].seat", seat, number)
        if found >> knower & 1:
            RULES.refuse_state(
                f"seats[{seat}].knowledge[{number}].seat",
                "what one seat, or all, know of a hand is said once",
                "Public and hidden",
            )
        if knower == seat:
            RULES.refuse_state(
                f"seats[{seat}].knowledge[{number}].seat", "a seat knows its own hand anyway", "Public and hidden"
            )
        if not list_set(box_of(state), &entry, fields.KNOWLEDGE_CARDS, listed.hands[seat], &known[knower]):
            RULES.refuse_state(
                f"seats[{seat}].knowledge[{number}].cards", "the hand does not hold all of these", "Public and hidden"
            )
        if has_number(&entry, fields.KNOWLEDGE_MOST_ONES):
            most_ones = number_of(&entry, fields.KNOWLEDGE_MOST_ONES)
            state.most_ones[seat][knower] = 1 + within(
                RULES, most_ones, 0, ONES - 1, "seats[{}].knowledge[{}].most_ones", seat, number
            )
        found |= 1 << knower
        number += 1
    for knower in range(state.players):
        if knower != seat and not found >> knower & 1:
            known[knower] = known[PUBLIC]
            state.most_ones[seat][knower] = state.most_ones[seat][PUBLIC]


cdef read_penalties(State* state, int seat, const Message* message):
    cdef int64_t penalties[ROUNDS]
    cdef int finished = finished_rounds(state), round
    if list_numbers(message, fields.SEAT_PENALTIES, penalties, ROUNDS) != finished:
        RULES.refuse_state(f"seats[{seat}].penalties", f"{finished} rounds are finished", "End of a round")
    for round in range(finished):
        state.penalties[round][seat] = within(RULES, penalties[round], 0, 255, "seats[{}].penalties[{}]", seat, round)


cdef lay_cards(State* state, const Listed* listed):
    # The cards where a state has them: each in one hand or left.
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
        # Before the first turn nothing lies in the pile; later all that is left does.
        if count_cards(listed.pile & bits) != (count - held if dealt else 0):
            refuse_deck()
        state.left |= bits & deck & bits << held


cdef refuse_deck():
    fault = FAULTS[MomistigriFault.CARD_TWICE_OR_MISSING]
    raise EngineError(fault.reason, fault.message, field=fault.field, rule=fault.rule)


def read_state(Reader reader not None):
    """MomistigriState → the body of a packed state, for Game.position. Raises EngineError: INVALID_STATE."""
    cdef const Message* read = &reader.message
    cdef Message inner
    cdef Span rest = read.span
    cdef State state
    cdef Turn turn
    cdef Listed listed
    cdef const Box* box
    cdef int seat
    memset(&state, 0, sizeof(State))
    memset(&listed, 0, sizeof(Listed))
    state.players = within(RULES, count_of(read, fields.STATE_SEATS), 3, MOST_PLAYERS, "seats")
    set_options(&state, RULES.read_options(reader.inner(fields.STATE_OPTIONS), read_options, encode_options, state.players))
    box = box_of(&state)
    read_turn(
        RULES, read, fields.STATE_PHASE, fields.STATE_FIRST_SEAT, fields.STATE_ACTIVE_SEAT, state.players, PHASES, &turn
    )
    state.phase, state.first_seat, state.active = turn.phase, turn.first_seat, turn.active_seat
    state.round = within(RULES, number_of(read, fields.STATE_ROUND), 1, ROUNDS, "round") - 1
    state.turn = within(RULES, number_of(read, fields.STATE_TURN), 0, LAST_TURN, "turn")
    state.backwards = number_of(read, fields.STATE_REVERSED)
    state.mark = within(RULES, number_of(read, fields.STATE_MARK), 0, MARKS - 1, "mark")
    state.draws_left = within(RULES, number_of(read, fields.STATE_DRAWS_LEFT), 0, LARGEST_DRAW, "draws_left")
    state.effect = within(RULES, number_of(read, fields.STATE_EFFECT), 0, 3, "effect")
    if has_number(read, fields.STATE_RECEIVER) != (state.phase == HAND_OUT):
        RULES.refuse_state("receiver", "there is a receiver when cards of the pile are handed out, and only then")
    state.receiver = within(RULES, number_of(read, fields.STATE_RECEIVER), 0, state.players - 1, "receiver")
    if has_number(read, fields.STATE_SWAPPED_OUT):
        state.swapped_out = 1 + within(RULES, number_of(read, fields.STATE_SWAPPED_OUT), 0, KINDS - 1, "swapped_out")
    for seat in range(state.players):
        next_of(fields.STATE_SEATS, &rest, &inner)
        if not list_set(box, &inner, fields.SEAT_CARDS, bit(BOX) - 1, &listed.hands[seat]):
            refuse_cards(box, &inner, fields.SEAT_CARDS, f"seats[{seat}].cards")
        read_knowledge(&state, &listed, seat, &inner)
        read_penalties(&state, seat, &inner)
        state.in_round |= number_of(&inner, fields.SEAT_IN_ROUND) << seat
        state.passed |= number_of(&inner, fields.SEAT_PASSED) << seat
    if not list_set(box, read, fields.STATE_PILE, bit(BOX) - 1, &listed.pile):
        refuse_cards(box, read, fields.STATE_PILE, "pile")
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
    put_cards(out, fields.SEAT_VIEW_KNOWN_CARDS, box_of(state), state.hands[seat])
    if seen.most_ones[seat]:
        out.present(fields.SEAT_VIEW_MOST_ONES, seen.most_ones[seat] - 1)
    out.number(fields.SEAT_VIEW_IN_ROUND, state.in_round >> seat & 1)
    out.number(fields.SEAT_VIEW_PASSED, state.passed >> seat & 1)
    put_penalties(out, fields.SEAT_VIEW_PENALTIES, state, seat)
    out.end(begun)


def put_view(Writer out not None, Position position not None, seat):
    """What a seat (None: a spectator) may know → MomistigriView."""
    cdef View seen
    cdef const State* state = &seen.state
    cdef int other
    cdef size_t begun
    view(position.body, -1 if seat is None else seat, &seen)
    begun = out.begin(fields.VIEW_OPTIONS)
    put_options(out, options_of(position))
    out.end(begun)
    for other in range(state.players):
        put_seat_view(out, &seen, other)
    out.number(fields.VIEW_PHASE, state.phase + 1)
    if state.first_seat != NO_SEAT:
        out.present(fields.VIEW_FIRST_SEAT, state.first_seat)
    out.number(fields.VIEW_ACTIVE_SEAT, state.active)
    if DRAW <= state.phase <= SWAP_IN:
        out.present(fields.VIEW_DRAWN_FROM, drawn_from(state))
    out.number(fields.VIEW_ROUND, state.round + 1)
    out.number(fields.VIEW_TURN, state.turn)
    out.number(fields.VIEW_REVERSED, state.backwards)
    put_cards(out, fields.VIEW_PILE, box_of(state), seen.pile)
    out.number(fields.VIEW_MARK, state.mark)
    out.number(fields.VIEW_DRAWS_LEFT, state.draws_left)
    out.number(fields.VIEW_EFFECT, state.effect)
    if state.phase == HAND_OUT:
        out.present(fields.VIEW_RECEIVER, state.receiver)
    if state.swapped_out:
        out.present(fields.VIEW_SWAPPED_OUT, state.swapped_out - 1)
    put_cards(out, fields.VIEW_UNSEEN_CARDS, box_of(state), seen.unseen)


# Events

cdef int write_event(Writer out, const Event* event) except -1:
    # An event → MomistigriEvent.
    cdef int other = other_seat(event), number = number_in(event)
    out.number(fields.EVENT_KIND, event.kind)
    if event.seat >= 0:
        out.present(fields.EVENT_SEAT, event.seat)
    if other >= 0:
        out.present(fields.EVENT_OTHER_SEAT, other)
    out.short_numbers(fields.EVENT_CARDS, event.values, cards_in(event))
    if number >= 0:
        out.present(fields.EVENT_COUNT, number)


put_event = wrap_put_event(write_event)


# Score

def put_score(Writer out not None, Position position not None):
    """The breakdown of the score → MomistigriScoreDetail."""
    cdef const State* state = state_of(position)
    cdef int seat
    cdef size_t begun
    for seat in range(state.players):
        begun = out.begin(fields.SCORE_DETAIL_SEATS)
        put_penalties(out, fields.SEAT_SCORE_PENALTIES, state, seat)
        if state.phase != FINISHED:
            out.number(fields.SEAT_SCORE_HAND_POINTS, sum_of(box_of(state), state.hands[seat]))
        out.end(begun)
