"""Chat perché: between the packed state and the messages of chat_perche.proto, and the words for both.

The functions fill and read the message objects that they are handed; they import nothing of them.
"""

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
    is_number,
    read_fields,
    refuse_option,
    without_defaults,
)
from chatiere.engine.core.errors import EngineError, Reason

from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcpy, memset

from chatiere.engine.core.position cimport Position
from chatiere.engine.games.chat_perche.kernel cimport view
from chatiere.engine.games.chat_perche.state cimport (
    BIRDS,
    BRANCHES,
    BRANCH_SPACES,
    CARD_TYPES,
    CATS,
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
    NUM_ACTIONS,
    PHASES,
    PLAYERS,
    SPACES,
    START,
    STOP_ID,
    TOKENS,
    TRUNK_SPACES,
    ChatPercheEvent,
    ChatPercheFault,
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

RULES = RulesFile("chat_perche.md")
# Dogs, birds and falls; then by value 1-9 one own, one opponent's, two own, two opponent's ("Components and setup").
_DEFAULT_DECK = [
    *(2, 1, 3, 1, 2),
    *(0, 1, 2, 2, 2, 1, 0, 0, 0),
    *(0, 1, 1, 1, 0, 0, 0, 0, 0),
    *(0, 0, 0, 1, 1, 2, 1, 0, 0),
    *(0, 0, 0, 1, 0, 0, 0, 0, 0),
]
DEFAULTS = {"forward_only": False, "dog_track": 10, "solidity": [1, 2, 3, 3, 4], "deck": _DEFAULT_DECK}

# Words

COLOURS = ("ginger", "black")
BRANCH_NAMES = tuple(f"{side} branch {number}" for side in ("left", "right") for number in range(1, TRUNK_SPACES + 1))
SPACE_NAMES = (
    *(f"trunk {number}" for number in range(1, TRUNK_SPACES + 1)),
    *(f"{branch}, space {number}" for branch in BRANCH_NAMES for number in range(1, BRANCH_SPACES + 1)),
    "its start",
)
CARD_NAMES = (
    "dogs 1",
    "dogs 2",
    "bird",
    "own cat falls",
    "opponent's cat falls",
    *(
        f"{cats} {value}"
        for cats in ("one own cat", "one opponent's cat", "two own cats", "two opponent's cats")
        for value in range(1, LARGEST_VALUE + 1)
    ),
)


FAULTS = {
    int(ChatPercheFault.TOKENS_FIRST): RULES.illegal(
        "tokens are being placed: only PlaceToken is possible", "Components and setup"
    ),
    int(ChatPercheFault.TOKENS_ARE_PLACED): RULES.illegal(
        "every branch has its token: PlaceToken is not possible any more", "Components and setup"
    ),
    int(ChatPercheFault.BRANCH_HAS_TOKEN): RULES.illegal("that branch has a token already", "Components and setup"),
    int(ChatPercheFault.NO_SUCH_TOKEN_IN_HAND): RULES.illegal(
        "the seat has no token of that value left", "Components and setup"
    ),
    int(ChatPercheFault.CARD_MOVES_A_CAT): RULES.illegal(
        "the card that is turned up moves a cat: only Move and Stop are possible", "A turn"
    ),
    int(ChatPercheFault.CARD_FELLS_A_CAT): RULES.illegal(
        "the card that is turned up makes a cat fall: only Fall is possible", "A turn"
    ),
    int(ChatPercheFault.CARD_PLACES_A_BIRD): RULES.illegal(
        "the card that is turned up is a bird: only PlaceBird is possible", "A turn"
    ),
    int(ChatPercheFault.NO_CAT_THERE): RULES.illegal("no cat of the colour that the card names stands there", "A turn"),
    int(ChatPercheFault.START_IS_EMPTY): RULES.illegal("no cat of the colour that the card names is at its start", "A turn"),
    int(ChatPercheFault.MOVED_BY_OPPONENT): RULES.illegal(
        "the opponent moved that cat in its last turn: it must not be moved", "Moving a cat"
    ),
    int(ChatPercheFault.MOVED_FIRST): RULES.illegal(
        "the second cat of a two-cat card must be another one than the first", "Moving a cat"
    ),
    int(ChatPercheFault.NO_STEP): RULES.illegal("a moving cat uses at least 1 step", "Moving a cat"),
    int(ChatPercheFault.BRANCH_IS_BROKEN): RULES.illegal("the spaces of a broken branch are out of play", "Moving a cat"),
    int(ChatPercheFault.SPACE_IS_TAKEN): RULES.illegal("another animal is on that space", "Moving a cat"),
    int(ChatPercheFault.TOO_FAR): RULES.illegal("the way is longer than the steps that there are", "Moving a cat"),
    int(ChatPercheFault.ONLY_FORWARD): RULES.illegal("cats move up the trunk and outward only", "Moving a cat"),
    int(ChatPercheFault.TRUNK_IS_FULL): RULES.illegal(
        "two other cats of its colour stand on the trunk", "Moving a cat"
    ),
    int(ChatPercheFault.BAD_PLAYERS): RULES.broken("Chat perché is for 2 players", "seats", "Components and setup"),
    int(ChatPercheFault.BAD_FIRST_SEAT): RULES.broken(
        "the first seat is not a seat, not the one that the options name, or set before chance has chosen it",
        "first_seat",
        "Components and setup",
    ),
    int(ChatPercheFault.BAD_FORWARD_ONLY): RULES.broken(
        "forward_only is neither 0 nor 1", "options.forward_only", "Moving a cat"
    ),
    int(ChatPercheFault.BAD_DOG_TRACK): RULES.broken(
        f"the dogs' track does not have 1 to {LONGEST_TRACK} steps", "options.dog_track", "Components and setup"
    ),
    int(ChatPercheFault.BAD_SOLIDITY): RULES.broken(
        f"a seat does not have {TOKENS} tokens", "options.solidity", "Components and setup"
    ),
    int(ChatPercheFault.BAD_DECK_OPTION): RULES.broken(
        f"a full deck is not {DECK_SIZE} cards in ascending order, at least one of them a dogs card",
        "options.deck",
        "Components and setup",
    ),
    int(ChatPercheFault.BAD_PHASE): RULES.broken(
        "the phase does not fit the card that is turned up, or the seat would not be asked: nothing is possible for it",
        "phase",
        "When a seat is asked",
    ),
    int(ChatPercheFault.BAD_ACTIVE_SEAT): RULES.broken(
        "the active seat is not a seat, or not 0 before chance has chosen who begins", "active_seat", "A turn"
    ),
    int(ChatPercheFault.BAD_DOGS): RULES.broken(
        "the dogs move only in turns, and the game is over exactly when they are on their last space", "dogs", "End"
    ),
    int(ChatPercheFault.BAD_DECK): RULES.broken(
        f"a deck has more than {DECK_SIZE} cards, or less before the first turn", "seats.deck"
    ),
    int(ChatPercheFault.BAD_ORDER_OF_DECK): RULES.broken(
        "what is left of equal cards are not the last ones of them", "seats.deck"
    ),
    int(ChatPercheFault.BAD_PLACEMENT): RULES.broken(
        "the seats have not placed their tokens in turn, or not all of them before the first turn",
        "branches.owner",
        "Components and setup",
    ),
    int(ChatPercheFault.BAD_TOKEN): RULES.broken(
        "a token's value is not one that its seat has, or there is a value without a token",
        "branches.solidity",
        "Components and setup",
    ),
    int(ChatPercheFault.BAD_CATS): RULES.broken(
        f"more than {CATS} cats of a colour, a cat outside the tree, or one before the first turn", "seats.cats"
    ),
    int(ChatPercheFault.BAD_BIRDS): RULES.broken(
        f"more than {BIRDS} birds, a bird outside the branches' spaces, or one before the first turn", "birds"
    ),
    int(ChatPercheFault.SPACE_TAKEN_TWICE): RULES.broken("two animals are on one space", "seats.cats", "Moving a cat"),
    int(ChatPercheFault.TRUNK_OVER_LIMIT): RULES.broken("more than two cats of a colour stand on the trunk", "seats.cats"),
    int(ChatPercheFault.BAD_BROKEN): RULES.broken(
        "a broken branch is not empty, has solidity 4, is none of the ten or broke before the first turn",
        "branches.broken",
    ),
    int(ChatPercheFault.BAD_LOAD): RULES.broken(
        "the greatest load of a branch is less than its animals now, more than its token's value, or set where it is 0",
        "branches.greatest_load",
    ),
    int(ChatPercheFault.BAD_CARD): RULES.broken(
        "the card that is turned up is not one that a seat decides about, counts as left in the deck, or is set in a "
        "phase without one",
        "card",
        "A turn",
    ),
    int(ChatPercheFault.BAD_STEPS): RULES.broken(
        "the steps that are left do not fit the card and the phase", "steps", "Moving a cat"
    ),
    int(ChatPercheFault.BAD_BARRED): RULES.broken(
        "the cats that the other seat moved in its last turn are more than two, of two colours, not there, or named "
        "where they do not matter",
        "barred",
        "Moving a cat",
    ),
    int(ChatPercheFault.BAD_MOVED): RULES.broken(
        "the cat that moved first does not stand there, must not have been moved, or is named in a phase without one",
        "moved",
        "Moving a cat",
    ),
}

_EVENT_FIELDS = {
    int(ChatPercheEvent.FIRST_SEAT_CHOSEN): (),
    int(ChatPercheEvent.TOKEN_CHOSEN): ("solidity",),
    int(ChatPercheEvent.TOKEN_PLACED): ("branch",),
    int(ChatPercheEvent.DECK_REFILLED): (),
    int(ChatPercheEvent.CARD_TURNED_UP): ("card",),
    int(ChatPercheEvent.DOGS_ADVANCED): ("steps", "dogs"),
    int(ChatPercheEvent.CAT_MOVED): ("colour", "from_space", "to_space", "steps"),
    int(ChatPercheEvent.STOPPED): (),
    int(ChatPercheEvent.CAT_FELL): ("space",),
    int(ChatPercheEvent.BIRD_PLACED): ("space",),
    int(ChatPercheEvent.NOTHING_POSSIBLE): (),
    int(ChatPercheEvent.BRANCH_BROKE): ("branch", "solidity"),
    int(ChatPercheEvent.BIRD_LEFT): ("space",),
    int(ChatPercheEvent.GAME_ENDED): (),
}

_EVENT_LABELS = {
    int(ChatPercheEvent.FIRST_SEAT_CHOSEN): "seat {seat} takes the first turn",
    int(ChatPercheEvent.TOKEN_CHOSEN): "seat {seat} takes a token{solidity}",
    int(ChatPercheEvent.TOKEN_PLACED): "seat {seat} puts it beside {branch}",
    int(ChatPercheEvent.DECK_REFILLED): "seat {seat} shuffles all its cards for a new deck",
    int(ChatPercheEvent.CARD_TURNED_UP): "seat {seat} turns up: {card}",
    int(ChatPercheEvent.DOGS_ADVANCED): "the dogs go {steps} on, to space {dogs}",
    int(ChatPercheEvent.CAT_MOVED): "seat {seat} moves a {colour} cat from {from_space} to {to_space} ({steps})",
    int(ChatPercheEvent.STOPPED): "seat {seat} stops",
    int(ChatPercheEvent.CAT_FELL): "a {owner} cat falls from {space}",
    int(ChatPercheEvent.BIRD_PLACED): "seat {seat} puts a bird on {space}",
    int(ChatPercheEvent.NOTHING_POSSIBLE): "nothing is possible for seat {seat}",
    int(ChatPercheEvent.BRANCH_BROKE): "{branch}{solidity} breaks",
    int(ChatPercheEvent.BIRD_LEFT): "a bird flies away from {space}",
    int(ChatPercheEvent.GAME_ENDED): "the dogs have arrived: the game is over",
}

# The names of the numbers that an event's field can have; other fields are numbers in labels too.
_FIELD_NAMES = {
    "branch": BRANCH_NAMES,
    "solidity": ("", *(f" of solidity {value}" for value in range(1, LARGEST_SOLIDITY + 1))),
    "card": CARD_NAMES,
    "steps": ("0 steps", "1 step"),
    "colour": COLOURS,
    "from_space": SPACE_NAMES,
    "to_space": SPACE_NAMES,
    "space": SPACE_NAMES,
}


cdef const State* state_of(Position position) noexcept:
    return <const State*> position.body


def action_label(Position position not None, action):
    """A legal dense id in plain English."""
    cdef const State* state = state_of(position)
    kind, fields = _fields_of(position, action)
    if kind == "stop":
        return "stop"
    if kind == "place_token":
        return f"put a token of solidity {fields['solidity']} beside {BRANCH_NAMES[fields['branch']]}"
    if kind == "place_bird":
        return f"put a bird on {SPACE_NAMES[fields['space']]}"
    colour = COLOURS[card_colour(state.card, state.active)]
    if kind == "fall":
        return f"let the {colour} cat on {SPACE_NAMES[fields['space']]} fall"
    return f"move a {colour} cat from {SPACE_NAMES[fields['from_space']]} to {SPACE_NAMES[fields['to_space']]}"


def outcome_label(Position position not None, outcome):
    """A possible chance outcome in plain English."""
    return f"seat {outcome} begins" if state_of(position).phase == FIRST_SEAT else CARD_NAMES[outcome]


def event_label(event, whole):
    """An event in plain English; `whole`: with what only some seats may see."""
    values = event.values if whole else [None] * len(event.values)
    words = {name: _word(name, value) for name, value in zip(_EVENT_FIELDS[event.kind], values, strict=True)}
    owner = COLOURS[event.seat] if event.seat is not None else ""
    return _EVENT_LABELS[event.kind].format(seat=event.seat, owner=owner, **words)


def _word(field, value):
    # None: not to be seen.
    if value is None:
        return "" if field == "solidity" else "something"
    names = _FIELD_NAMES.get(field, ())
    return names[value] if value < len(names) else f"{value} steps" if field == "steps" else str(value)


# Options

def encode_options(players, options: Mapping):
    """Options by name as the kernel's struct. Raises EngineError: INVALID_OPTION."""
    cdef Options encoded
    cdef int card
    options = complete_options("Chat perché", options, DEFAULTS, players)
    dog_track, solidity, deck = options["dog_track"], options["solidity"], options["deck"]
    if not isinstance(options["forward_only"], bool):
        refuse_option("forward_only", "forward_only must be true or false")
    if not is_number(dog_track, 1, LONGEST_TRACK):
        refuse_option("dog_track", f"the dogs' track must have 1 to {LONGEST_TRACK} steps")
    check_numbers("solidity", solidity, TOKENS, 1, LARGEST_SOLIDITY)
    check_numbers("deck", deck, CARD_TYPES, 0, DECK_SIZE)
    if sum(deck) != DECK_SIZE:
        refuse_option("deck", f"a deck must have {DECK_SIZE} cards, not {sum(deck)}")
    if not any(deck[:DOGS_2 + 1]):
        refuse_option("deck", "a deck must have a dogs card: else the game would not end")
    memset(&encoded, 0, sizeof(Options))
    encoded.first_seat = options["first_seat"]
    encoded.forward_only = options["forward_only"]
    encoded.dog_track = dog_track
    for value in solidity:
        encoded.solidity[<int> value - 1] += 1
    full_deck = [card for card, copies in enumerate(deck) for _ in range(copies)]
    for place, card in enumerate(full_deck):
        encoded.full_deck[place] = card
    return (<const char*> &encoded)[:sizeof(Options)]


cdef list _counts(const State* state, uint32_t cards):
    # The copies of each card, of a deck's places.
    cdef int card
    return [count_spaces(copies_of(state.full_deck, card) & cards) for card in range(CARD_TYPES)]


def options_of(Position position not None):
    """The options of a position that differ from their defaults, by name."""
    cdef const State* state = state_of(position)
    cdef int i
    options = {
        "first_seat": state.first_seat_option,
        "forward_only": bool(state.forward_only),
        "dog_track": state.dog_track,
        "solidity": [i + 1 for i in range(LARGEST_SOLIDITY) for _ in range(state.solidity[i])],
        "deck": _counts(state, all_cards()),
    }
    return without_defaults(options, DEFAULTS)


def read_options(message):
    """ChatPercheOptions → options by name; whether their values are right is for encode_options to say."""
    return read_fields(message)


def fill_options(message, options):
    """Options by name → ChatPercheOptions."""
    fill_fields(message, options)


# Actions

cdef tuple _fields_of(Position position, action):
    # The field of ChatPercheAction that a dense id belongs to, and that message's fields.
    position.require_decision()
    check_id(action, NUM_ACTIONS)
    if action < FIRST_MOVE_ID:
        return "place_token", {"branch": action // LARGEST_SOLIDITY, "solidity": action % LARGEST_SOLIDITY + 1}
    if action < STOP_ID:
        from_space, to_space = divmod(action - FIRST_MOVE_ID, SPACES)
        return "move", {"from_space": from_space, "to_space": to_space}
    if action == STOP_ID:
        return "stop", {}
    if action < FIRST_BIRD_ID:
        return "fall", {"space": action - FIRST_FALL_ID}
    return "place_bird", {"space": action - FIRST_BIRD_ID + TRUNK_SPACES}


def fill_action(message, Position position not None, action):
    """A dense id at a position → ChatPercheAction."""
    kind, fields = _fields_of(position, action)
    typed = getattr(message, kind)
    typed.SetInParent()
    for name, value in fields.items():
        setattr(typed, name, value)


def _field_of(message, kind, name, lowest, highest):
    return action_number(getattr(getattr(message, kind), name), lowest, highest, f"{kind}.{name}")


def read_action(message, Position position not None):
    """ChatPercheAction → its dense id; whether it is legal is for `apply` to say.

    Raises EngineError: INVALID_ACTION, CHANCE_PENDING, GAME_OVER.
    """
    position.require_decision()
    kind = message.WhichOneof("action")
    if kind == "place_token":
        branch = _field_of(message, kind, "branch", 0, BRANCHES - 1)
        return LARGEST_SOLIDITY * branch + _field_of(message, kind, "solidity", 1, LARGEST_SOLIDITY) - 1
    if kind == "move":
        from_space = _field_of(message, kind, "from_space", 0, START)
        return FIRST_MOVE_ID + SPACES * from_space + _field_of(message, kind, "to_space", 0, SPACES - 1)
    if kind == "stop":
        return STOP_ID
    if kind == "fall":
        return FIRST_FALL_ID + _field_of(message, kind, "space", 0, SPACES - 1)
    if kind == "place_bird":
        return FIRST_BIRD_ID - TRUNK_SPACES + _field_of(message, kind, "space", TRUNK_SPACES, SPACES - 1)
    raise EngineError(Reason.INVALID_ACTION, "the action is none of place_token, move, stop, fall and place_bird")


# State

cdef list _spaces(uint64_t spaces):
    return [space for space in range(SPACES) if spaces >> space & 1]


cdef _fill_cards(messages, const State* state, uint32_t cards):
    for card, count in enumerate(_counts(state, cards)):
        if count:
            messages.add(card=card, count=count)


cdef _fill_branches(messages, const State* state):
    cdef int number
    for number in range(BRANCHES):
        branch = messages.add(
            broken=has_branch(state.broken, number), greatest_load=at_branch(state.loads, number)
        )
        if token_owner(state, number) >= 0:
            branch.owner = token_owner(state, number)
        if at_branch(state.values, number):
            branch.solidity = at_branch(state.values, number)


cdef _fill_common(message, const State* state):
    # What a state and a view both have, but for the seats.
    fill_turn(message, state.phase, state.first_seat, state.active)
    message.dogs = state.dogs
    _fill_branches(message.branches, state)
    message.birds.extend(_spaces(state.birds))
    if state.card != NO_CARD:
        message.card = state.card
    message.steps = state.steps
    message.barred.extend(_spaces(state.barred))
    if state.moved:
        message.moved = lowest_space(state.moved)


def fill_state(message, Position position not None):
    """A position → ChatPercheState."""
    cdef const State* state = state_of(position)
    cdef int seat
    fill_options(message.options, options_of(position))
    _fill_common(message, state)
    for seat in range(PLAYERS):
        seat_message = message.seats.add()
        seat_message.cats.extend(_spaces(state.cats[seat]))
        _fill_cards(seat_message.deck, state, state.left[seat])


cdef uint64_t _read_spaces(spaces, field) except? 0:
    cdef uint64_t read = 0
    for i, space in enumerate(spaces):
        if read >> <int> RULES.in_range(space, 0, SPACES - 1, f"{field}[{i}]") & 1:
            RULES.refuse_state(f"{field}[{i}]", f"space {space} is named twice")
        read |= space_bit(space)
    return read


cdef uint32_t _read_deck(const State* state, cards, field) except? 0:
    # Of equal cards the last ones are left.
    cdef uint32_t left = 0, copies
    cdef int card
    for i, entry in enumerate(cards):
        card = RULES.in_range(entry.card, 0, CARD_TYPES - 1, f"{field}[{i}].card")
        copies = copies_of(state.full_deck, card)
        if left & copies:
            RULES.refuse_state(f"{field}[{i}].card", f"card {card} is named twice")
        if not 1 <= entry.count <= count_spaces(copies):
            RULES.refuse_state(
                f"{field}[{i}].count",
                f"{entry.count} is not from 1 to the {count_spaces(copies)} copies that a full deck has",
            )
        while count_spaces(copies) > <int> entry.count:
            copies &= copies - 1
        left |= copies
    return left


cdef _read_branch(State* state, int number, branch):
    cdef uint64_t solidity, load
    field = f"branches[{number}]"
    if branch.HasField("owner") != branch.HasField("solidity"):
        RULES.refuse_state(field, "a token has an owner and a value", "Components and setup")
    if branch.HasField("owner"):
        owner = RULES.in_range(branch.owner, 0, PLAYERS - 1, f"{field}.owner")
        solidity = RULES.in_range(branch.solidity, 1, LARGEST_SOLIDITY, f"{field}.solidity")
        state.placed[<int> owner] |= branch_spaces(number)
        state.values |= solidity << first_space(number)
    if branch.broken:
        state.broken |= branch_spaces(number)
    load = RULES.in_range(branch.greatest_load, 0, BRANCH_SPACES, f"{field}.greatest_load")
    state.loads |= load << first_space(number)


def read_state(message):
    """ChatPercheState → the body of a packed state, for Game.position. Raises EngineError: INVALID_STATE."""
    cdef State state
    cdef int number
    memset(&state, 0, sizeof(State))
    state.players = PLAYERS
    _set_options(&state, RULES.options_of_state(read_options, encode_options, PLAYERS, message.options))
    if len(message.seats) != PLAYERS:
        RULES.refuse_state("seats", f"Chat perché has {PLAYERS} seats", "Components and setup")
    if len(message.branches) != BRANCHES:
        RULES.refuse_state("branches", f"the tree has {BRANCHES} branches", "Components and setup")
    state.phase, state.first_seat, state.active = RULES.read_turn(message, PLAYERS, PHASES)
    state.dogs = RULES.in_range(message.dogs, 0, LONGEST_TRACK, "dogs")
    for number, seat in enumerate(message.seats):
        state.cats[number] = _read_spaces(seat.cats, f"seats[{number}].cats")
        state.left[number] = _read_deck(&state, seat.deck, f"seats[{number}].deck")
    for number, branch in enumerate(message.branches):
        _read_branch(&state, number, branch)
    state.birds = _read_spaces(message.birds, "birds")
    state.card = RULES.in_range(message.card, 0, CARD_TYPES - 1, "card") if message.HasField("card") else NO_CARD
    state.steps = RULES.in_range(message.steps, 0, LARGEST_VALUE, "steps")
    state.barred = _read_spaces(message.barred, "barred")
    if message.HasField("moved"):
        state.moved = space_bit(RULES.in_range(message.moved, 0, SPACES - 1, "moved"))
    return (<const char*> &state)[:sizeof(State)]


cdef _set_options(State* state, bytes encoded):
    cdef const Options* options = <const Options*> <const char*> encoded
    state.first_seat_option = options.first_seat
    state.forward_only = options.forward_only
    state.dog_track = options.dog_track
    memcpy(state.solidity, options.solidity, sizeof(state.solidity))
    memcpy(state.full_deck, options.full_deck, sizeof(state.full_deck))


# View

def fill_view(message, Position position not None, seat):
    """What a seat (None: a spectator) may know → ChatPercheView."""
    cdef State seen
    cdef uint32_t tokens
    cdef int other, i
    view(position.body, -1 if seat is None else seat, &seen)
    fill_options(message.options, options_of(position))
    _fill_common(message, &seen)
    message.dog_track = seen.dog_track
    message.birds_beside = birds_beside(&seen)
    if MOVE <= seen.phase <= FALL:
        message.colour = card_colour(seen.card, seen.active)
    for other in range(PLAYERS):
        seat_message = message.seats.add(
            cats_at_start=cats_at_start(&seen, other),
            tokens_in_hand=TOKENS - count_spaces(seen.placed[other]) // BRANCH_SPACES,
        )
        seat_message.cats.extend(_spaces(seen.cats[other]))
        _fill_cards(seat_message.deck, &seen, seen.left[other])
        _fill_cards(seat_message.discards, &seen, all_cards() & ~seen.left[other])
        if other == seat:
            tokens = tokens_in_hand(&seen, other)
            for i in range(LARGEST_SOLIDITY):
                seat_message.hand.extend([i + 1] * (tokens >> 8 * i & 0xFF))


# Events

def fill_event(message, event, whole):
    """An event → ChatPercheEvent; `whole`: with what only some seats may see."""
    fill_event_fields(message, event, _EVENT_FIELDS[event.kind] if whole else ())


# Score

def fill_score(message, Position position not None):
    """The breakdown of the score → ChatPercheScoreDetail."""
    cdef const State* state = state_of(position)
    cdef int seat
    for seat in range(PLAYERS):
        message.seats.add(
            trunk_cats=count_spaces(state.cats[seat] & trunk()),
            branch_cats=count_spaces(state.cats[seat] & ~trunk()),
        )
