"""Chat perché: between the packed state and the messages of chat_perche.proto."""

from collections.abc import Mapping

from chatiere.engine.core.codec import (
    action_number,
    complete_options,
    label_words,
    read_number,
    read_numbers,
    refuse_option,
    value_fields,
)
from chatiere.engine.core.errors import EngineError, Reason
from chatiere.engine.games.chat_perche.words import (
    BRANCH_NAMES,
    CARD_NAMES,
    COLOURS,
    EVENT_LABELS,
    EVENT_VALUES,
    RULES,
    SPACE_NAMES,
)

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy, memset

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
    listed_numbers,
    next_of,
    number_of,
    open_field,
)
from chatiere.engine.wire.writer cimport Writer
from chatiere.engine.games.chat_perche.kernel cimport view
from chatiere.engine.games.chat_perche.state cimport (
    BRANCHES,
    BRANCH_SPACES,
    CARD_TYPES,
    DECK_SIZE,
    DOGS_2,
    FALL,
    FIRST_BIRD_ID,
    FIRST_FALL_ID,
    FIRST_MOVE_ID,
    FIRST_SEAT,
    LARGEST_SOLIDITY,
    LARGEST_VALUE,
    LONGEST_TRACK,
    MOVE,
    NO_CARD,
    PHASES,
    PLAYERS,
    SPACES,
    START,
    STOP_ID,
    TOKENS,
    TRUNK_SPACES,
    ChatPercheEvent,
    Options,
    State,
    all_cards,
    at_branch,
    birds_beside,
    branch_spaces,
    card_colour,
    cats_at_start,
    copies_of,
    count_spaces,
    first_space,
    has_branch,
    lowest_space,
    space_bit,
    token_owner,
    tokens_in_hand,
    trunk,
)
cimport chatiere.fields.chat_perche as fields

# Dogs, birds and falls; then by value 1-9 one own, one opponent's, two own, two opponent's ("Components and setup").
_DEFAULT_DECK = [
    *(2, 1, 3, 1, 2),
    *(0, 1, 2, 2, 2, 1, 0, 0, 0),
    *(0, 1, 1, 1, 0, 0, 0, 0, 0),
    *(0, 0, 0, 1, 1, 2, 1, 0, 0),
    *(0, 0, 0, 1, 0, 0, 0, 0, 0),
]
DEFAULTS = {"forward_only": False, "dog_track": 10, "solidity": [1, 2, 3, 3, 4], "deck": _DEFAULT_DECK}
# As a packed state has them.
cdef bytes _DEFAULT_SOLIDITY = bytes(DEFAULTS["solidity"].count(value) for value in range(1, LARGEST_SOLIDITY + 1))
cdef bytes _DEFAULT_FULL_DECK = bytes(card for card, copies in enumerate(_DEFAULT_DECK) for _ in range(copies))

_EVENT_FIELDS = {
    "seat": fields.EVENT_SEAT,
    "branch": fields.EVENT_BRANCH,
    "solidity": fields.EVENT_SOLIDITY,
    "card": fields.EVENT_CARD,
    "steps": fields.EVENT_STEPS,
    "dogs": fields.EVENT_DOGS,
    "colour": fields.EVENT_COLOUR,
    "from_space": fields.EVENT_FROM_SPACE,
    "to_space": fields.EVENT_TO_SPACE,
    "space": fields.EVENT_SPACE,
}
cdef tuple _LABEL_WORDS = label_words(EVENT_LABELS, _EVENT_FIELDS)
cdef tuple _VALUE_FIELDS = value_fields(EVENT_VALUES, _EVENT_FIELDS)


cdef const State* state_of(Position position) noexcept:
    return <const State*> position.body


cdef int label_action(Writer out, Position position, int action) except -1:
    # A legal dense id in plain English.
    cdef const State* state = state_of(position)
    position.require_action(action)
    if action < FIRST_MOVE_ID:
        out.words(b"put a token of solidity ")
        out.decimal(action % LARGEST_SOLIDITY + 1)
        out.words(b" beside ")
        out.string(BRANCH_NAMES[action // LARGEST_SOLIDITY])
    elif action < STOP_ID:
        out.words(b"move a ")
        out.string(COLOURS[card_colour(state.card, state.active)])
        out.words(b" cat from ")
        out.string(SPACE_NAMES[(action - FIRST_MOVE_ID) // SPACES])
        out.words(b" to ")
        out.string(SPACE_NAMES[(action - FIRST_MOVE_ID) % SPACES])
    elif action == STOP_ID:
        out.words(b"stop")
    elif action < FIRST_BIRD_ID:
        out.words(b"let the ")
        out.string(COLOURS[card_colour(state.card, state.active)])
        out.words(b" cat on ")
        out.string(SPACE_NAMES[action - FIRST_FALL_ID])
        out.words(b" fall")
    else:
        out.words(b"put a bird on ")
        out.string(SPACE_NAMES[action - FIRST_BIRD_ID + TRUNK_SPACES])


put_action_label = wrap_put_action(label_action)


def outcome_label(Position position not None, outcome):
    """A possible chance outcome in plain English."""
    return f"seat {outcome} begins" if state_of(position).phase == FIRST_SEAT else CARD_NAMES[outcome]


cdef put_value_words(Writer out, int field, int value):
    # A value of an event.
    if field == fields.EVENT_BRANCH:
        out.string(BRANCH_NAMES[value])
    elif field == fields.EVENT_SOLIDITY:
        out.words(b" of solidity ")
        out.decimal(value)
    elif field == fields.EVENT_CARD:
        out.string(CARD_NAMES[value])
    elif field == fields.EVENT_STEPS:
        out.decimal(value)
        out.words(b" step" if value == 1 else b" steps")
    elif field == fields.EVENT_COLOUR:
        out.string(COLOURS[value])
    elif field == fields.EVENT_DOGS:
        out.decimal(value)
    else:
        out.string(SPACE_NAMES[value])


cdef int label_field(Writer out, const Event* event, int field) except -1:
    # What stands for a field in the label of an event.
    cdef bytes order = _VALUE_FIELDS[event.kind]
    cdef int value = value_for(event, order, field)
    if field == fields.EVENT_SEAT:
        out.decimal(event.seat)
    elif event.kind == ChatPercheEvent.CAT_FELL and field == fields.EVENT_COLOUR:
        out.string(COLOURS[event.seat])
    elif value >= 0:
        put_value_words(out, field, value)
    # Else the solidity, which only the seat knows.

cdef int label_event(Writer out, const Event* event) except -1:
    # An event in plain English.
    return put_label(out, event, _LABEL_WORDS, label_field)


put_event_label = wrap_put_event(label_event)


# Options

def _read_deck(deck):
    deck = read_numbers("deck", deck, CARD_TYPES, 0, DECK_SIZE)
    if sum(deck) != DECK_SIZE:
        refuse_option("deck", f"a deck must have {DECK_SIZE} cards, not {sum(deck)}")
    if not any(deck[:DOGS_2 + 1]):
        refuse_option("deck", "a deck must have a dogs card: else the game would not end")
    return deck


def encode_options(players, options: Mapping):
    """Options by name as the kernel's struct. Raises EngineError: INVALID_OPTION."""
    cdef Options encoded
    cdef int card, copy, place = 0
    options = complete_options("Chat perché", options, DEFAULTS, players)
    solidity, deck = options["solidity"], options["deck"]
    if not isinstance(options["forward_only"], bool):
        refuse_option("forward_only", "forward_only must be true or false")
    dog_track = read_number("dog_track", options["dog_track"], 1, LONGEST_TRACK)
    # Every batch that begins games comes here: the default ones do not have to be examined.
    if solidity is not DEFAULTS["solidity"]:
        solidity = read_numbers("solidity", solidity, TOKENS, 1, LARGEST_SOLIDITY)
    if deck is not DEFAULTS["deck"]:
        deck = _read_deck(deck)
    memset(&encoded, 0, sizeof(Options))
    encoded.first_seat = options["first_seat"]
    encoded.forward_only = options["forward_only"]
    encoded.dog_track = dog_track
    for value in solidity:
        encoded.solidity[<int> value - 1] += 1
    for card in range(CARD_TYPES):
        for copy in range(<int> deck[card]):
            encoded.full_deck[place] = card
            place += 1
    return (<const char*> &encoded)[:sizeof(Options)]


def options_of(Position position not None):
    """The options of a position that differ from their defaults, by name."""
    cdef const State* state = state_of(position)
    cdef int i
    options = {}
    if state.first_seat_option != NO_SEAT:
        options["first_seat"] = state.first_seat_option
    if state.forward_only != DEFAULTS["forward_only"]:
        options["forward_only"] = bool(state.forward_only)
    if state.dog_track != DEFAULTS["dog_track"]:
        options["dog_track"] = state.dog_track
    if memcmp(state.solidity, <const char*> _DEFAULT_SOLIDITY, LARGEST_SOLIDITY) != 0:
        options["solidity"] = [i + 1 for i in range(LARGEST_SOLIDITY) for _ in range(state.solidity[i])]
    if memcmp(state.full_deck, <const char*> _DEFAULT_FULL_DECK, DECK_SIZE) != 0:
        options["deck"] = [count_spaces(copies_of(state.full_deck, i)) for i in range(CARD_TYPES)]
    return options


def read_options(Reader reader not None):
    """ChatPercheOptions → options by name; whether their values are right is for encode_options to say."""
    cdef const Message* message = &reader.message
    options = {}
    if has_number(message, fields.OPTIONS_FIRST_SEAT):
        options["first_seat"] = number_of(message, fields.OPTIONS_FIRST_SEAT)
    if number_of(message, fields.OPTIONS_FORWARD_ONLY):
        options["forward_only"] = True
    if has_number(message, fields.OPTIONS_DOG_TRACK):
        options["dog_track"] = number_of(message, fields.OPTIONS_DOG_TRACK)
    if has_span(message, fields.OPTIONS_SOLIDITY):
        options["solidity"] = listed_numbers(message, fields.OPTIONS_SOLIDITY)
    if has_span(message, fields.OPTIONS_DECK):
        options["deck"] = listed_numbers(message, fields.OPTIONS_DECK)
    return options


def put_options(Writer out not None, options):
    """Options by name → ChatPercheOptions."""
    if "first_seat" in options:
        out.present(fields.OPTIONS_FIRST_SEAT, options["first_seat"])
    if "forward_only" in options:
        out.number(fields.OPTIONS_FORWARD_ONLY, options["forward_only"])
    if "dog_track" in options:
        out.present(fields.OPTIONS_DOG_TRACK, options["dog_track"])
    if "solidity" in options:
        out.numbers(fields.OPTIONS_SOLIDITY, options["solidity"])
    if "deck" in options:
        out.numbers(fields.OPTIONS_DECK, options["deck"])


# Actions

cdef int write_action(Writer out, Position position, int action) except -1:
    # A dense id at a position → ChatPercheAction.
    cdef size_t begun
    position.require_action(action)
    if action < FIRST_MOVE_ID:
        begun = out.begin(fields.ACTION_PLACE_TOKEN)
        out.number(fields.PLACE_TOKEN_BRANCH, action // LARGEST_SOLIDITY)
        out.number(fields.PLACE_TOKEN_SOLIDITY, action % LARGEST_SOLIDITY + 1)
    elif action < STOP_ID:
        begun = out.begin(fields.ACTION_MOVE)
        out.number(fields.MOVE_FROM_SPACE, (action - FIRST_MOVE_ID) // SPACES)
        out.number(fields.MOVE_TO_SPACE, (action - FIRST_MOVE_ID) % SPACES)
    elif action == STOP_ID:
        begun = out.begin(fields.ACTION_STOP)
    elif action < FIRST_BIRD_ID:
        begun = out.begin(fields.ACTION_FALL)
        out.number(fields.FALL_SPACE, action - FIRST_FALL_ID)
    else:
        begun = out.begin(fields.ACTION_PLACE_BIRD)
        out.number(fields.PLACE_BIRD_SPACE, action - FIRST_BIRD_ID + TRUNK_SPACES)
    out.end(begun)


put_action = wrap_put_action(write_action)


def read_action(Reader reader not None, Position position not None):
    """ChatPercheAction → its dense id; whether it is legal is for `apply` to say.

    Raises EngineError: INVALID_ACTION, CHANCE_PENDING, GAME_OVER.
    """
    cdef const Message* action = &reader.message
    cdef Message inner
    position.require_decision()
    if has_span(action, fields.ACTION_PLACE_TOKEN):
        open_field(action, fields.ACTION_PLACE_TOKEN, &inner)
        branch = action_number(number_of(&inner, fields.PLACE_TOKEN_BRANCH), 0, BRANCHES - 1, "place_token.branch")
        solidity = action_number(
            number_of(&inner, fields.PLACE_TOKEN_SOLIDITY), 1, LARGEST_SOLIDITY, "place_token.solidity"
        )
        return LARGEST_SOLIDITY * branch + solidity - 1
    if has_span(action, fields.ACTION_MOVE):
        open_field(action, fields.ACTION_MOVE, &inner)
        from_space = action_number(number_of(&inner, fields.MOVE_FROM_SPACE), 0, START, "move.from_space")
        to_space = action_number(number_of(&inner, fields.MOVE_TO_SPACE), 0, SPACES - 1, "move.to_space")
        return FIRST_MOVE_ID + SPACES * from_space + to_space
    if has_span(action, fields.ACTION_STOP):
        return STOP_ID
    if has_span(action, fields.ACTION_FALL):
        open_field(action, fields.ACTION_FALL, &inner)
        return FIRST_FALL_ID + action_number(number_of(&inner, fields.FALL_SPACE), 0, SPACES - 1, "fall.space")
    if has_span(action, fields.ACTION_PLACE_BIRD):
        open_field(action, fields.ACTION_PLACE_BIRD, &inner)
        space = action_number(number_of(&inner, fields.PLACE_BIRD_SPACE), TRUNK_SPACES, SPACES - 1, "place_bird.space")
        return FIRST_BIRD_ID - TRUNK_SPACES + space
    raise EngineError(Reason.INVALID_ACTION, "the action is none of place_token, move, stop, fall and place_bird")


# State

cdef put_spaces(Writer out, int field, uint64_t spaces):
    cdef uint8_t listed[SPACES]
    cdef int count = 0
    while spaces:
        listed[count] = lowest_space(spaces)
        count += 1
        spaces &= spaces - 1
    out.byte_numbers(field, listed, count)


cdef put_cards(Writer out, int field, const State* state, uint32_t cards):
    # How many of each card, of a deck's places.
    cdef int place = 0, card, count
    cdef size_t begun
    while place < DECK_SIZE:
        card = state.full_deck[place]
        count = 0
        while place < DECK_SIZE and state.full_deck[place] == card:
            count += cards >> place & 1
            place += 1
        if count:
            begun = out.begin(field)
            out.number(fields.CARD_COUNT_CARD, card)
            out.number(fields.CARD_COUNT_COUNT, count)
            out.end(begun)


cdef put_branches(Writer out, int field, const State* state):
    cdef int number
    cdef size_t begun
    for number in range(BRANCHES):
        begun = out.begin(field)
        if token_owner(state, number) >= 0:
            out.present(fields.BRANCH_OWNER, token_owner(state, number))
        if at_branch(state.values, number):
            out.present(fields.BRANCH_SOLIDITY, at_branch(state.values, number))
        out.number(fields.BRANCH_BROKEN, has_branch(state.broken, number))
        out.number(fields.BRANCH_GREATEST_LOAD, at_branch(state.loads, number))
        out.end(begun)


def put_state(Writer out not None, Position position not None):
    """A position → ChatPercheState."""
    cdef const State* state = state_of(position)
    cdef int seat
    cdef size_t begun = out.begin(fields.STATE_OPTIONS)
    put_options(out, options_of(position))
    out.end(begun)
    out.number(fields.STATE_PHASE, state.phase + 1)
    if state.first_seat != NO_SEAT:
        out.present(fields.STATE_FIRST_SEAT, state.first_seat)
    out.number(fields.STATE_ACTIVE_SEAT, state.active)
    out.number(fields.STATE_DOGS, state.dogs)
    for seat in range(PLAYERS):
        begun = out.begin(fields.STATE_SEATS)
        put_spaces(out, fields.SEAT_CATS, state.cats[seat])
        put_cards(out, fields.SEAT_DECK, state, state.left[seat])
        out.end(begun)
    put_branches(out, fields.STATE_BRANCHES, state)
    put_spaces(out, fields.STATE_BIRDS, state.birds)
    if state.card != NO_CARD:
        out.present(fields.STATE_CARD, state.card)
    out.number(fields.STATE_STEPS, state.steps)
    put_spaces(out, fields.STATE_BARRED, state.barred)
    if state.moved:
        out.present(fields.STATE_MOVED, lowest_space(state.moved))


cdef uint64_t read_spaces(const Message* message, int field, name, int seat) except? 0:
    # `seat`: whose they are; -1: the game's.
    cdef int64_t spaces[SPACES + 1]
    cdef uint64_t found = 0
    # Of more than there are one is named twice.
    cdef int count = min(list_numbers(message, field, spaces, SPACES + 1), SPACES + 1), i
    for i in range(count):
        if not 0 <= spaces[i] < SPACES or found >> spaces[i] & 1:
            path = f"{name}[{i}]" if seat < 0 else f"seats[{seat}].{name}[{i}]"
            RULES.in_range(spaces[i], 0, SPACES - 1, path)
            RULES.refuse_state(path, f"space {spaces[i]} is named twice")
        found |= space_bit(<int> spaces[i])
    return found


cdef uint32_t read_deck(const State* state, int seat, const Message* message) except? 0:
    # Of equal cards the last ones are left.
    cdef Message entry
    cdef Span rest = message.span
    cdef uint32_t left = 0, copies
    cdef int64_t card, count
    cdef int i = 0
    while next_of(fields.SEAT_DECK, &rest, &entry):
        card = number_of(&entry, fields.CARD_COUNT_CARD)
        count = number_of(&entry, fields.CARD_COUNT_COUNT)
        within(RULES, card, 0, CARD_TYPES - 1, "seats[{}].deck[{}].card", seat, i)
        copies = copies_of(state.full_deck, <int> card)
        if left & copies:
            RULES.refuse_state(f"seats[{seat}].deck[{i}].card", f"card {card} is named twice")
        if not 1 <= count <= count_spaces(copies):
            RULES.refuse_state(
                f"seats[{seat}].deck[{i}].count",
                f"{count} is not from 1 to the {count_spaces(copies)} copies that a full deck has",
            )
        while count_spaces(copies) > count:
            copies &= copies - 1
        left |= copies
        i += 1
    return left


cdef read_branch(State* state, int number, const Message* branch):
    cdef int64_t owner = number_of(branch, fields.BRANCH_OWNER)
    cdef int64_t solidity = number_of(branch, fields.BRANCH_SOLIDITY)
    cdef int64_t load = number_of(branch, fields.BRANCH_GREATEST_LOAD)
    if has_number(branch, fields.BRANCH_OWNER) != has_number(branch, fields.BRANCH_SOLIDITY):
        RULES.refuse_state(f"branches[{number}]", "a token has an owner and a value", "Components and setup")
    if has_number(branch, fields.BRANCH_OWNER):
        within(RULES, owner, 0, PLAYERS - 1, "branches[{}].owner", number)
        within(RULES, solidity, 1, LARGEST_SOLIDITY, "branches[{}].solidity", number)
        state.placed[owner] |= branch_spaces(number)
        state.values |= <uint64_t> solidity << first_space(number)
    if number_of(branch, fields.BRANCH_BROKEN):
        state.broken |= branch_spaces(number)
    within(RULES, load, 0, BRANCH_SPACES, "branches[{}].greatest_load", number)
    state.loads |= <uint64_t> load << first_space(number)


def read_state(Reader reader not None):
    """ChatPercheState → the body of a packed state, for Game.position. Raises EngineError: INVALID_STATE."""
    cdef const Message* read = &reader.message
    cdef Message inner
    cdef Span seats = read.span, branches = read.span
    cdef State state
    cdef Turn turn
    cdef int number
    memset(&state, 0, sizeof(State))
    state.players = PLAYERS
    set_options(&state, RULES.read_options(reader.inner(fields.STATE_OPTIONS), read_options, encode_options, PLAYERS))
    if count_of(read, fields.STATE_SEATS) != PLAYERS:
        RULES.refuse_state("seats", f"Chat perché has {PLAYERS} seats", "Components and setup")
    if count_of(read, fields.STATE_BRANCHES) != BRANCHES:
        RULES.refuse_state("branches", f"the tree has {BRANCHES} branches", "Components and setup")
    read_turn(
        RULES, read, fields.STATE_PHASE, fields.STATE_FIRST_SEAT, fields.STATE_ACTIVE_SEAT, PLAYERS, PHASES, &turn
    )
    state.phase, state.first_seat, state.active = turn.phase, turn.first_seat, turn.active_seat
    state.dogs = within(RULES, number_of(read, fields.STATE_DOGS), 0, LONGEST_TRACK, "dogs")
    for number in range(PLAYERS):
        next_of(fields.STATE_SEATS, &seats, &inner)
        state.cats[number] = read_spaces(&inner, fields.SEAT_CATS, "cats", number)
        state.left[number] = read_deck(&state, number, &inner)
    for number in range(BRANCHES):
        next_of(fields.STATE_BRANCHES, &branches, &inner)
        read_branch(&state, number, &inner)
    state.birds = read_spaces(read, fields.STATE_BIRDS, "birds", -1)
    state.card = NO_CARD
    if has_number(read, fields.STATE_CARD):
        state.card = within(RULES, number_of(read, fields.STATE_CARD), 0, CARD_TYPES - 1, "card")
    state.steps = within(RULES, number_of(read, fields.STATE_STEPS), 0, LARGEST_VALUE, "steps")
    state.barred = read_spaces(read, fields.STATE_BARRED, "barred", -1)
    if has_number(read, fields.STATE_MOVED):
        state.moved = space_bit(within(RULES, number_of(read, fields.STATE_MOVED), 0, SPACES - 1, "moved"))
    return (<const char*> &state)[:sizeof(State)]


cdef set_options(State* state, bytes encoded):
    cdef const Options* options = <const Options*> <const char*> encoded
    state.first_seat_option = options.first_seat
    state.forward_only = options.forward_only
    state.dog_track = options.dog_track
    memcpy(state.solidity, options.solidity, sizeof(state.solidity))
    memcpy(state.full_deck, options.full_deck, sizeof(state.full_deck))


# View

cdef put_hand(Writer out, const State* seen, int seat):
    # The values of the tokens that the viewer has not placed.
    cdef uint32_t tokens = tokens_in_hand(seen, seat)
    cdef uint8_t values[TOKENS]
    cdef int count = 0, i, copy
    for i in range(LARGEST_SOLIDITY):
        for copy in range(tokens >> 8 * i & 0xFF):
            values[count] = i + 1
            count += 1
    out.byte_numbers(fields.SEAT_VIEW_HAND, values, count)


def put_view(Writer out not None, Position position not None, seat):
    """What a seat (None: a spectator) may know → ChatPercheView."""
    cdef State seen
    cdef int viewer = -1 if seat is None else seat, other
    cdef size_t begun
    view(position.body, viewer, &seen)
    begun = out.begin(fields.VIEW_OPTIONS)
    put_options(out, options_of(position))
    out.end(begun)
    out.number(fields.VIEW_PHASE, seen.phase + 1)
    if seen.first_seat != NO_SEAT:
        out.present(fields.VIEW_FIRST_SEAT, seen.first_seat)
    out.number(fields.VIEW_ACTIVE_SEAT, seen.active)
    out.number(fields.VIEW_DOGS, seen.dogs)
    out.number(fields.VIEW_DOG_TRACK, seen.dog_track)
    for other in range(PLAYERS):
        begun = out.begin(fields.VIEW_SEATS)
        put_spaces(out, fields.SEAT_VIEW_CATS, seen.cats[other])
        out.number(fields.SEAT_VIEW_CATS_AT_START, cats_at_start(&seen, other))
        put_cards(out, fields.SEAT_VIEW_DECK, &seen, seen.left[other])
        put_cards(out, fields.SEAT_VIEW_DISCARDS, &seen, all_cards() & ~seen.left[other])
        out.number(fields.SEAT_VIEW_TOKENS_IN_HAND, TOKENS - count_spaces(seen.placed[other]) // BRANCH_SPACES)
        if other == viewer:
            put_hand(out, &seen, other)
        out.end(begun)
    put_branches(out, fields.VIEW_BRANCHES, &seen)
    put_spaces(out, fields.VIEW_BIRDS, seen.birds)
    out.number(fields.VIEW_BIRDS_BESIDE, birds_beside(&seen))
    if seen.card != NO_CARD:
        out.present(fields.VIEW_CARD, seen.card)
    out.number(fields.VIEW_STEPS, seen.steps)
    if MOVE <= seen.phase <= FALL:
        out.present(fields.VIEW_COLOUR, card_colour(seen.card, seen.active))
    put_spaces(out, fields.VIEW_BARRED, seen.barred)
    if seen.moved:
        out.present(fields.VIEW_MOVED, lowest_space(seen.moved))


# Events

cdef int write_event(Writer out, const Event* event) except -1:
    # An event → ChatPercheEvent.
    cdef bytes order = _VALUE_FIELDS[event.kind]
    cdef int i
    out.number(fields.EVENT_KIND, event.kind)
    if event.seat >= 0:
        out.present(fields.EVENT_SEAT, event.seat)
    for i in range(min(event.count, len(order))):
        out.present(order[i], event.values[i])


put_event = wrap_put_event(write_event)


# Score

def put_score(Writer out not None, Position position not None):
    """The breakdown of the score → ChatPercheScoreDetail."""
    cdef const State* state = state_of(position)
    cdef int seat
    cdef size_t begun
    for seat in range(PLAYERS):
        begun = out.begin(fields.SCORE_DETAIL_SEATS)
        out.number(fields.SEAT_SCORE_TRUNK_CATS, count_spaces(state.cats[seat] & trunk()))
        out.number(fields.SEAT_SCORE_BRANCH_CATS, count_spaces(state.cats[seat] & ~trunk()))
        out.end(begun)
