"""Chat perché: conversion between packed states and the messages of chat_perche.proto."""

from collections.abc import Mapping

from chatiere.engine.core.codec import FLAG, NUMBER, NUMBERS, first_seat_option, seat_or_none
from chatiere.engine.core.errors import EngineError, Reason
from chatiere.engine.core.options import complete_options, read_number, read_numbers, refuse_option
from chatiere.engine.core.phrases import phrases_of
from .description import DESCRIPTION, RULES

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy, memset

from chatiere.engine.core.bits cimport highest_bit
from chatiere.engine.core.codec cimport (
    LAST_SEAT, UNTIL_FIRST_SEAT, Conversions, EventFields, OptionFields, Scalars, make_codec, number_in, within,
)
from chatiere.engine.core.operations cimport NO_SEAT, Event
from chatiere.engine.core.phrases cimport Said, add_number, say
from chatiere.engine.core.position cimport Position
from chatiere.engine.wire.reader cimport (
    Message, Span, count_of, has_number, has_span, list_numbers, next_of, number_of, open_field,
)
from chatiere.engine.wire.writer cimport Writer
from .kernel cimport view
from .state cimport (
    BRANCHES, BRANCH_SPACES, CARD_TYPES, DECK_SIZE, DOGS_2, FALL, FIRST_BIRD_ID, FIRST_FALL_ID, FIRST_MOVE_ID,
    FIRST_SEAT, MAX_SOLIDITY, MAX_VALUE, MAX_TRACK, MOVE, NO_CARD, PHASES, PLAYERS, SPACES, START, STOP_ID, TOKENS,
    TRUNK_SPACES, ChatPercheEvent, Options, Phase, State, all_cards, at_branch, birds_beside, branch_spaces,
    card_colour, cats_at_start, copies_of, count_spaces, first_space, has_branch, lowest_space, space_bit, token_owner,
    tokens_in_hand, trunk,
)
cimport chatiere.fields.chat_perche as fields

PHRASES = phrases_of(DESCRIPTION)
DEFAULTS = DESCRIPTION.defaults(PLAYERS)
# The default of the option `solidity`, as packed states store it.
cdef bytes _DEFAULT_SOLIDITY = bytes(DEFAULTS["solidity"].count(value) for value in range(1, MAX_SOLIDITY + 1))
cdef bytes _DEFAULT_FULL_DECK = bytes(card for card, copies in enumerate(DEFAULTS["deck"]) for _ in range(copies))

cdef int PLACE_TOKEN = PHRASES.number("action.place_token")
cdef int MOVE_CAT = PHRASES.number("action.move")
cdef int MOVE_FROM_START = PHRASES.number("action.move_from_start")
cdef int STOP = PHRASES.number("action.stop")
cdef int LET_FALL = PHRASES.number("action.fall")
cdef int PLACE_BIRD = PHRASES.number("action.place_bird")
cdef int FIRST_SEAT_OUTCOME = PHRASES.number("outcome.first_seat")
cdef int CARD_OUTCOME = PHRASES.number("outcome.card")
cdef int PROMPT_PLACE_TOKEN = PHRASES.number("prompt.place_token")
cdef int PROMPT_MOVE = PHRASES.number("prompt.move")
cdef int PROMPT_SECOND_MOVE = PHRASES.number("prompt.second_move")
cdef int PROMPT_FALL = PHRASES.number("prompt.fall")
cdef int PROMPT_PLACE_BIRD = PHRASES.number("prompt.place_bird")
cdef int CAT_MOVED_FROM_START = PHRASES.number("event.cat_moved_from_start")
cdef int CAT_FELL = PHRASES.number("event.cat_fell")

cdef EventFields EVENTS = EventFields(
    {
        "kind": fields.EVENT_KIND,
        "seat": fields.EVENT_SEAT,
        "branch": fields.EVENT_BRANCH,
        "solidity": fields.EVENT_SOLIDITY,
        "card": fields.EVENT_CARDS,
        "steps": fields.EVENT_STEPS,
        "dog_steps": fields.EVENT_DOG_STEPS,
        "colour": fields.EVENT_CAT_OWNER,
        "from_space": fields.EVENT_FROM_SPACE,
        "to_space": fields.EVENT_TO_SPACE,
        "space": fields.EVENT_SPACE,
    },
    DESCRIPTION.event_values(),
    lists=("card",),
)


cdef const State* state_of(Position position) noexcept:
    return <const State*> position.body


# Phrases

cdef int say_action(Position position, int action, Said* said) except -1:
    cdef const State* state = state_of(position)
    cdef int origin
    if action < FIRST_MOVE_ID:
        say(said, PLACE_TOKEN)
        add_number(said, action % MAX_SOLIDITY + 1)
        add_number(said, action // MAX_SOLIDITY)
    elif action < STOP_ID:
        origin = (action - FIRST_MOVE_ID) // SPACES
        say(said, MOVE_FROM_START if origin == START else MOVE_CAT)
        add_number(said, card_colour(state.card, state.active))
        if origin != START:
            add_number(said, origin)
        add_number(said, (action - FIRST_MOVE_ID) % SPACES)
    elif action == STOP_ID:
        say(said, STOP)
    elif action < FIRST_BIRD_ID:
        say(said, LET_FALL)
        add_number(said, card_colour(state.card, state.active))
        add_number(said, action - FIRST_FALL_ID)
    else:
        say(said, PLACE_BIRD)
        add_number(said, action - FIRST_BIRD_ID + TRUNK_SPACES)


cdef int say_prompt(Position position, Said* said) except -1:
    cdef const State* state = state_of(position)
    if state.phase == Phase.PLACE:
        say(said, PROMPT_PLACE_TOKEN)
    elif state.phase == Phase.BIRD:
        say(said, PROMPT_PLACE_BIRD)
    elif state.phase == FALL:
        say(said, PROMPT_FALL)
        add_number(said, card_colour(state.card, state.active))
    else:
        say(said, PROMPT_MOVE if state.phase == MOVE else PROMPT_SECOND_MOVE)
        add_number(said, card_colour(state.card, state.active))
        add_number(said, state.steps)


cdef int say_outcome(Position position, int outcome, Said* said) except -1:
    say(said, FIRST_SEAT_OUTCOME if state_of(position).phase == FIRST_SEAT else CARD_OUTCOME)
    add_number(said, outcome)


cdef bint say_event(const Event* event, Said* said) except -1:
    # Moves from a start, and falls, need phrases that differ from the default phrases of their kinds.
    if event.kind == ChatPercheEvent.CAT_FELL:
        say(said, CAT_FELL)
        # The number of a cat's seat is also the number of its colour.
        add_number(said, event.seat)
        add_number(said, event.values[0])
        return True
    if event.kind == ChatPercheEvent.CAT_MOVED and event.values[1] == START:
        say(said, CAT_MOVED_FROM_START)
        add_number(said, event.seat)
        add_number(said, event.values[0])
        add_number(said, event.values[2])
        add_number(said, event.values[3])
        return True
    return False


# Options

def _read_deck(deck):
    deck = read_numbers("deck", deck, CARD_TYPES, 0, DECK_SIZE)
    if sum(deck) != DECK_SIZE:
        refuse_option("deck", f"a deck must have {DECK_SIZE} cards, not {sum(deck)}")
    if not any(deck[:DOGS_2 + 1]):
        refuse_option("deck", "a deck must have a dogs card, or the game would not end")
    return deck


def encode_options(players, options: Mapping):
    """Convert a mapping of options by name to the kernel's struct. Raises INVALID_OPTION."""
    cdef Options encoded
    cdef int card, place = 0
    options = complete_options(DESCRIPTION.title, options, DEFAULTS, players)
    solidity, deck = options["solidity"], options["deck"]
    if not isinstance(options["forward_only"], bool):
        refuse_option("forward_only", "forward_only must be true or false")
    dog_track = read_number("dog_track", options["dog_track"], 1, MAX_TRACK)
    # For speed, the defaults are not checked, because every batch that begins games calls this function.
    if solidity is not DEFAULTS["solidity"]:
        solidity = read_numbers("solidity", solidity, TOKENS, 1, MAX_SOLIDITY)
    if deck is not DEFAULTS["deck"]:
        deck = _read_deck(deck)
    memset(&encoded, 0, sizeof(Options))
    encoded.first_seat = seat_or_none(options["first_seat"])
    encoded.forward_only = options["forward_only"]
    encoded.dog_track = dog_track
    for value in solidity:
        encoded.solidity[<int> value - 1] += 1
    for card in range(CARD_TYPES):
        for _ in range(<int> deck[card]):
            encoded.full_deck[place] = card
            place += 1
    return (<const char*> &encoded)[:sizeof(Options)]


def options_of(Position position not None):
    """Return the options of a position that differ from their defaults, by name."""
    cdef const State* state = state_of(position)
    cdef int i
    options = first_seat_option(state.first_seat_option)
    if state.forward_only != DEFAULTS["forward_only"]:
        options["forward_only"] = bool(state.forward_only)
    if state.dog_track != DEFAULTS["dog_track"]:
        options["dog_track"] = state.dog_track
    if memcmp(state.solidity, <const char*> _DEFAULT_SOLIDITY, MAX_SOLIDITY) != 0:
        options["solidity"] = [i + 1 for i in range(MAX_SOLIDITY) for _ in range(state.solidity[i])]
    if memcmp(state.full_deck, <const char*> _DEFAULT_FULL_DECK, DECK_SIZE) != 0:
        options["deck"] = [count_spaces(copies_of(state.full_deck, i)) for i in range(CARD_TYPES)]
    return options


cdef OptionFields OPTIONS = OptionFields(
    RULES,
    encode_options,
    options_of,
    {
        "first_seat": (fields.OPTIONS_FIRST_SEAT, NUMBER),
        "forward_only": (fields.OPTIONS_FORWARD_ONLY, FLAG),
        "dog_track": (fields.OPTIONS_DOG_TRACK, NUMBER),
        "solidity": (fields.OPTIONS_SOLIDITY, NUMBERS),
        "deck": (fields.OPTIONS_DECK, NUMBERS),
    },
)


# Actions

cdef int put_action(Writer out, Position position, int action) except -1:
    cdef size_t begun
    if action < FIRST_MOVE_ID:
        begun = out.begin(fields.ACTION_PLACE_TOKEN)
        out.present(fields.PLACE_TOKEN_BRANCH, action // MAX_SOLIDITY)
        out.present(fields.PLACE_TOKEN_SOLIDITY, action % MAX_SOLIDITY + 1)
    elif action < STOP_ID:
        begun = out.begin(fields.ACTION_MOVE)
        out.present(fields.MOVE_FROM_SPACE, (action - FIRST_MOVE_ID) // SPACES)
        out.present(fields.MOVE_TO_SPACE, (action - FIRST_MOVE_ID) % SPACES)
    elif action == STOP_ID:
        begun = out.begin(fields.ACTION_STOP)
    elif action < FIRST_BIRD_ID:
        begun = out.begin(fields.ACTION_FALL)
        out.present(fields.FALL_SPACE, action - FIRST_FALL_ID)
    else:
        begun = out.begin(fields.ACTION_PLACE_BIRD)
        out.present(fields.PLACE_BIRD_SPACE, action - FIRST_BIRD_ID + TRUNK_SPACES)
    out.end(begun)


cdef int read_action(const Message* action, Position position) except -1:
    # Read a ChatPercheAction, and return its dense id. Raises INVALID_ACTION.
    cdef Message inner
    if has_span(action, fields.ACTION_PLACE_TOKEN):
        open_field(action, fields.ACTION_PLACE_TOKEN, &inner)
        branch = number_in(&inner, fields.PLACE_TOKEN_BRANCH, 0, BRANCHES - 1, "place_token.branch")
        solidity = number_in(&inner, fields.PLACE_TOKEN_SOLIDITY, 1, MAX_SOLIDITY, "place_token.solidity")
        return MAX_SOLIDITY * branch + solidity - 1
    if has_span(action, fields.ACTION_MOVE):
        open_field(action, fields.ACTION_MOVE, &inner)
        from_space = number_in(&inner, fields.MOVE_FROM_SPACE, 0, START, "move.from_space")
        to_space = number_in(&inner, fields.MOVE_TO_SPACE, 0, SPACES - 1, "move.to_space")
        return FIRST_MOVE_ID + SPACES * from_space + to_space
    if has_span(action, fields.ACTION_STOP):
        return STOP_ID
    if has_span(action, fields.ACTION_FALL):
        open_field(action, fields.ACTION_FALL, &inner)
        return FIRST_FALL_ID + number_in(&inner, fields.FALL_SPACE, 0, SPACES - 1, "fall.space")
    if has_span(action, fields.ACTION_PLACE_BIRD):
        open_field(action, fields.ACTION_PLACE_BIRD, &inner)
        space = number_in(&inner, fields.PLACE_BIRD_SPACE, TRUNK_SPACES, SPACES - 1, "place_bird.space")
        return FIRST_BIRD_ID - TRUNK_SPACES + space
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
    scalars.add("dog_steps", fields.STATE_DOG_STEPS, fields.VIEW_DOG_STEPS, &at.dogs, 0, MAX_TRACK)
    scalars.add("card", fields.STATE_CARD, fields.VIEW_CARD, &at.card, 0, CARD_TYPES - 1, 0, NO_CARD)
    scalars.add("steps_left", fields.STATE_STEPS_LEFT, fields.VIEW_STEPS_LEFT, &at.steps, 0, MAX_VALUE)
    return scalars


cdef Scalars SCALARS = list_scalars()


cdef put_spaces(Writer out, int field, uint64_t spaces):
    cdef uint8_t listed[SPACES]
    cdef int count = 0
    while spaces:
        listed[count] = lowest_space(spaces)
        count += 1
        spaces &= spaces - 1
    out.byte_numbers(field, listed, count)


cdef put_cards(Writer out, int field, const State* state, uint32_t cards):
    # Write the cards at the given places of a full deck.
    cdef uint8_t listed[DECK_SIZE]
    cdef int place, count = 0
    for place in range(DECK_SIZE):
        listed[count] = state.full_deck[place]
        count += cards >> place & 1
    out.byte_numbers(field, listed, count)


cdef put_branches(Writer out, int field, const State* state):
    cdef int number
    cdef size_t begun
    for number in range(BRANCHES):
        begun = out.begin(field)
        if token_owner(state, number) >= 0:
            out.present(fields.BRANCH_TOKEN_OWNER, token_owner(state, number))
        if at_branch(state.values, number):
            out.present(fields.BRANCH_SOLIDITY, at_branch(state.values, number))
        out.number(fields.BRANCH_BROKEN, has_branch(state.broken, number))
        out.number(fields.BRANCH_GREATEST_LOAD, at_branch(state.loads, number))
        out.end(begun)


cdef int put_state(Writer out, Position position) except -1:
    cdef const State* state = state_of(position)
    cdef int seat
    cdef size_t begun
    OPTIONS.put_in(out, fields.STATE_OPTIONS, position)
    SCALARS.put_state(out, state)
    for seat in range(PLAYERS):
        begun = out.begin(fields.STATE_SEATS)
        put_spaces(out, fields.SEAT_CATS, state.cats[seat])
        put_cards(out, fields.SEAT_DRAW_PILE_CARDS, state, state.left[seat])
        out.end(begun)
    put_branches(out, fields.STATE_BRANCHES, state)
    put_spaces(out, fields.STATE_BIRDS, state.birds)
    put_spaces(out, fields.STATE_BARRED, state.barred)
    if state.moved:
        out.present(fields.STATE_MOVED, lowest_space(state.moved))


cdef uint64_t read_spaces(const Message* message, int field, str name) except? 0:
    cdef int64_t spaces[SPACES + 1]
    cdef uint64_t found = 0
    # Read at most SPACES + 1 numbers: a longer list is invalid, because some number is not a space or occurs twice.
    cdef int count = min(list_numbers(message, field, spaces, SPACES + 1), SPACES + 1), i
    for i in range(count):
        within(RULES, spaces[i], 0, SPACES - 1, name, i)
        if found >> spaces[i] & 1:
            RULES.refuse_state(f"{name}[{i}]", f"space {spaces[i]} is named twice")
        found |= space_bit(<int> spaces[i])
    return found


cdef uint32_t read_deck(const State* state, const Message* message) except? 0:
    # Read the cards that are left, and return their places in a full deck.
    cdef int64_t cards[DECK_SIZE + 1]
    cdef uint32_t left = 0, copies
    # Read at most DECK_SIZE + 1 cards: a longer list is invalid, because it has too many copies of some card.
    cdef int count = min(list_numbers(message, fields.SEAT_DRAW_PILE_CARDS, cards, DECK_SIZE + 1), DECK_SIZE + 1), i
    for i in range(count):
        within(RULES, cards[i], 0, CARD_TYPES - 1, "draw_pile_cards", i)
        copies = copies_of(state.full_deck, <int> cards[i])
        if copies & ~left == 0:
            RULES.refuse_state(
                f"draw_pile_cards[{i}]", f"a full deck has {count_spaces(copies)} copies of card {cards[i]}, no more"
            )
        # By convention, the last of several identical cards are left.
        left |= <uint32_t> 1 << highest_bit(copies & ~left)
    return left


cdef read_seats(State* state, const Message* message):
    cdef Message inner
    cdef Span rest = message.span
    cdef int seat = 0
    try:
        for seat in range(PLAYERS):
            next_of(fields.STATE_SEATS, &rest, &inner)
            state.cats[seat] = read_spaces(&inner, fields.SEAT_CATS, "cats")
            state.left[seat] = read_deck(state, &inner)
    except EngineError as error:
        error.lies_below("seats", seat)
        raise


cdef read_branch(State* state, int number, const Message* branch):
    cdef uint64_t solidity
    cdef int owner
    if has_number(branch, fields.BRANCH_TOKEN_OWNER) != has_number(branch, fields.BRANCH_SOLIDITY):
        RULES.refuse_state("", "a token has an owner and a value", "Components and setup")
    if has_number(branch, fields.BRANCH_TOKEN_OWNER):
        owner = within(RULES, number_of(branch, fields.BRANCH_TOKEN_OWNER), 0, PLAYERS - 1, "token_owner")
        solidity = within(RULES, number_of(branch, fields.BRANCH_SOLIDITY), 1, MAX_SOLIDITY, "solidity")
        state.placed[owner] |= branch_spaces(number)
        state.values |= solidity << first_space(number)
    if number_of(branch, fields.BRANCH_BROKEN):
        state.broken |= branch_spaces(number)
    state.loads |= <uint64_t> within(
        RULES, number_of(branch, fields.BRANCH_GREATEST_LOAD), 0, BRANCH_SPACES, "greatest_load"
    ) << first_space(number)


cdef read_branches(State* state, const Message* message):
    cdef Message inner
    cdef Span rest = message.span
    cdef int number = 0
    try:
        for number in range(BRANCHES):
            next_of(fields.STATE_BRANCHES, &rest, &inner)
            read_branch(state, number, &inner)
    except EngineError as error:
        error.lies_below("branches", number)
        raise


cdef bytes read_state(const Message* read, int rules_version):
    cdef State state
    memset(&state, 0, sizeof(State))
    state.rules_version = rules_version
    state.players = PLAYERS
    set_options(&state, OPTIONS.encoded(read, fields.STATE_OPTIONS, PLAYERS))
    if count_of(read, fields.STATE_SEATS) != PLAYERS:
        RULES.refuse_state("seats", f"Chat perché has {PLAYERS} seats", "Components and setup")
    if count_of(read, fields.STATE_BRANCHES) != BRANCHES:
        RULES.refuse_state("branches", f"the tree has {BRANCHES} branches", "Components and setup")
    SCALARS.read(read, &state, PLAYERS)
    read_seats(&state, read)
    read_branches(&state, read)
    state.birds = read_spaces(read, fields.STATE_BIRDS, "birds")
    state.barred = read_spaces(read, fields.STATE_BARRED, "barred")
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

cdef put_unplaced(Writer out, const State* seen, int seat):
    cdef uint32_t tokens = tokens_in_hand(seen, seat)
    cdef uint8_t values[TOKENS]
    cdef int count = 0, i, _copy
    for i in range(MAX_SOLIDITY):
        for _copy in range(tokens >> 8 * i & 0xFF):
            values[count] = i + 1
            count += 1
    out.byte_numbers(fields.SEAT_VIEW_UNPLACED_SOLIDITY, values, count)


cdef put_tokens_and_deck(Writer out, const State* state):
    # Write the tokens and the deck with which a seat begins.
    cdef uint8_t tokens[TOKENS]
    cdef uint8_t copies[CARD_TYPES]
    cdef int value, place, count = 0
    for value in range(1, MAX_SOLIDITY + 1):
        memset(&tokens[count], value, state.solidity[value - 1])
        count += state.solidity[value - 1]
    memset(copies, 0, sizeof(copies))
    for place in range(DECK_SIZE):
        copies[state.full_deck[place]] += 1
    out.byte_numbers(fields.VIEW_SOLIDITY, tokens, TOKENS)
    out.byte_numbers(fields.VIEW_DECK, copies, CARD_TYPES)


cdef int put_view(Writer out, Position position, int viewer) except -1:
    cdef State seen
    cdef int other
    cdef size_t begun
    view(position.body, viewer, &seen)
    OPTIONS.put_in(out, fields.VIEW_OPTIONS, position)
    SCALARS.put_view(out, &seen)
    out.number(fields.VIEW_DOG_TRACK, seen.dog_track)
    for other in range(PLAYERS):
        begun = out.begin(fields.VIEW_SEATS)
        put_spaces(out, fields.SEAT_VIEW_CATS, seen.cats[other])
        out.number(fields.SEAT_VIEW_CATS_AT_START, cats_at_start(&seen, other))
        put_cards(out, fields.SEAT_VIEW_DRAW_PILE_CARDS, &seen, seen.left[other])
        put_cards(out, fields.SEAT_VIEW_DISCARDS, &seen, all_cards() & ~seen.left[other])
        out.number(fields.SEAT_VIEW_UNPLACED_TOKENS, TOKENS - count_spaces(seen.placed[other]) // BRANCH_SPACES)
        if other == viewer:
            put_unplaced(out, &seen, other)
        out.end(begun)
    put_branches(out, fields.VIEW_BRANCHES, &seen)
    put_spaces(out, fields.VIEW_BIRDS, seen.birds)
    out.number(fields.VIEW_BIRDS_BESIDE, birds_beside(&seen))
    if MOVE <= seen.phase <= FALL:
        out.present(fields.VIEW_CAT_OWNER, card_colour(seen.card, seen.active))
    put_spaces(out, fields.VIEW_BARRED, seen.barred)
    if seen.moved:
        out.present(fields.VIEW_MOVED, lowest_space(seen.moved))
    put_tokens_and_deck(out, &seen)


# Score

cdef int put_score(Writer out, Position position, int known) except -1:
    cdef const State* state = state_of(position)
    cdef int seat
    cdef size_t begun
    for seat in range(PLAYERS):
        begun = out.begin(fields.SCORE_DETAIL_SEATS)
        out.number(fields.SEAT_SCORE_TRUNK_POINTS, count_spaces(state.cats[seat] & trunk()))
        out.number(fields.SEAT_SCORE_BRANCH_POINTS, count_spaces(state.cats[seat] & ~trunk()))
        out.end(begun)


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
