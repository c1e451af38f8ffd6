"""Chat perché: the description of the game, with all texts of the game."""

from typing import Any

from chatiere.engine.core.description import (
    ActionKind,
    Description,
    EventKind,
    Name,
    Option,
    OptionType,
    Piece,
    Template,
)
from chatiere.engine.core.languages import Plural
from chatiere.engine.core.observation_parts import category, count, flag, lay_out
from chatiere.engine.core.rules_file import RulesFile, with_keys

from . import state
from .state import ChatPercheEnd as End
from .state import ChatPercheEvent as Event
from .state import ChatPercheFault as Fault

RULES = RulesFile("chat_perche.md")
illegal_action, invalid_state = RULES.illegal_action, RULES.invalid_state

# The number of cards of each type ("Components and setup"). The dogs, birds and falls are in the first row. Each other
# row has the values 1-9: for one own cat, one of the opponent's cats, two own cats, and two of the opponent's cats.
_DECK = (
    *(2, 1, 3, 1, 2),
    *(0, 1, 2, 2, 2, 1, 0, 0, 0),
    *(0, 1, 1, 1, 0, 0, 0, 0, 0),
    *(0, 0, 0, 1, 1, 2, 1, 0, 0),
    *(0, 0, 0, 1, 0, 0, 0, 0, 0),
)
_SOLIDITY = (1, 2, 3, 3, 4)
_DOG_TRACK = 10

# Pieces: names, and the fields of ChatPerchePieces


def _with_steps(what: str, steps: int) -> Name:
    return Name(f"{what}, {{steps}} step{'s' if steps > 1 else ''}", steps=steps)


# The cards by number: the name, the kind, the value, and 1 for the active seat's cats or 0 for the opponent's cats.
_CARDS: tuple[tuple[Name, str, int | None, int | None], ...] = (
    (_with_steps("dogs", 1), "DOGS", 1, None),
    (_with_steps("dogs", 2), "DOGS", 2, None),
    (Name("bird"), "BIRD", None, None),
    (Name("own cat falls"), "FALL", None, 1),
    (Name("opponent's cat falls"), "FALL", None, 0),
    *(
        (_with_steps(cats, steps), kind, steps, own)
        for cats, kind, own in (
            ("own cat", "ONE_CAT", 1),
            ("opponent's cat", "ONE_CAT", 0),
            ("two own cats", "TWO_CATS", 1),
            ("two of the opponent's cats", "TWO_CATS", 0),
        )
        for steps in range(1, state.MAX_VALUE + 1)
    ),
)
_BRANCHES = tuple(
    Name(f"{side} branch {{number}}", number=number)
    for side in ("left", "right")
    for number in range(1, state.TRUNK_SPACES + 1)
)
_SPACES = (
    *(Name("trunk {number}", number=number) for number in range(1, state.TRUNK_SPACES + 1)),
    *(
        Name("{branch}, space {number}", branch=branch, number=number)
        for branch in _BRANCHES
        for number in range(1, state.BRANCH_SPACES + 1)
    ),
    Name("start"),
)
_PIECES = tuple(
    Piece(number, name, kind)
    for kind, names in (
        ("card", (name for name, *_ in _CARDS)),
        ("space", _SPACES),
        ("branch", _BRANCHES),
        ("colour", (Name("ginger"), Name("black"))),
    )
    for number, name in enumerate(names)
)


def _card_info(card: int) -> dict[str, Any]:
    _, kind, value, own_cats = _CARDS[card]
    info = {"card": card, "kind": f"CHAT_PERCHE_CARD_KIND_{kind}", "total_copies": _DECK[card]}
    if value is not None:
        info["value"] = value
    if own_cats is not None:
        info["own_cats"] = bool(own_cats)
    return info


def _spaces_of(branch: int) -> list[int]:
    first = state.TRUNK_SPACES + branch * state.BRANCH_SPACES
    return list(range(first, first + state.BRANCH_SPACES))


def _branch_info(branch: int) -> dict[str, Any]:
    return {
        "branch": branch,
        "side": f"CHAT_PERCHE_SIDE_{'LEFT' if branch < state.TRUNK_SPACES else 'RIGHT'}",
        "trunk_space": branch % state.TRUNK_SPACES,
        "spaces": _spaces_of(branch),
    }


def _space_info(space: int) -> dict[str, Any]:
    info = {"space": space, "neighbours": state.neighbours(space)}
    if space == state.START:
        return {**info, "kind": "CHAT_PERCHE_SPACE_KIND_START"}
    if space < state.TRUNK_SPACES:
        return {**info, "kind": "CHAT_PERCHE_SPACE_KIND_TRUNK", "place": space + 1}
    branch, place = divmod(space - state.TRUNK_SPACES, state.BRANCH_SPACES)
    return {**info, "kind": "CHAT_PERCHE_SPACE_KIND_BRANCH", "branch": branch, "place": place + 1}


_PIECE_DETAILS = {
    "spaces": [_space_info(space) for space in range(state.SPACES + 1)],
    "branches": [_branch_info(branch) for branch in range(state.BRANCHES)],
    "cards": [_card_info(card) for card in range(state.CARD_TYPES)],
    "start_space": state.START,
    "colours": list(range(state.PLAYERS)),
    "cats_per_seat": state.CATS,
    "trunk_limit": state.TRUNK_LIMIT,
    "total_birds": state.BIRDS,
    "deck_size": state.DECK_SIZE,
    "solidity": _SOLIDITY,
    "dog_track": _DOG_TRACK,
}

# Faults, events and other phrases

_FAULTS = {
    Fault.TOKENS_FIRST: illegal_action("all tokens have to be placed first", "Components and setup"),
    Fault.TOKENS_ARE_PLACED: illegal_action("every branch already has its token", "Components and setup"),
    Fault.BRANCH_HAS_TOKEN: illegal_action("that branch already has a token", "Components and setup", "branch"),
    Fault.NO_SUCH_TOKEN_IN_HAND: illegal_action("no token of that value is left", "Components and setup", "solidity"),
    Fault.CARD_MOVES_A_CAT: illegal_action("the card turned up moves a cat: move one, or stop", "A turn"),
    Fault.CARD_FELLS_A_CAT: illegal_action("the card turned up makes a cat fall: choose which one", "A turn"),
    Fault.CARD_PLACES_A_BIRD: illegal_action("the card turned up is a bird: put it on a branch", "A turn"),
    Fault.NO_CAT_THERE: illegal_action("no cat of the card's colour is on that space", "A turn", "from_space", "space"),
    Fault.START_IS_EMPTY: illegal_action("no cat of the card's colour is left at the start", "A turn", "from_space"),
    Fault.MOVED_BY_OPPONENT: illegal_action(
        "the opponent has just moved that cat: it may not be moved this turn", "Moving a cat", "from_space"
    ),
    Fault.MOVED_FIRST: illegal_action("the second cat has to be a different one", "Moving a cat", "from_space"),
    Fault.NO_STEP: illegal_action("a cat has to move by at least 1 step", "Moving a cat", "to_space"),
    Fault.BRANCH_IS_BROKEN: illegal_action(
        "that branch is broken: its spaces are out of play", "Moving a cat", "to_space", "space"
    ),
    Fault.SPACE_IS_TAKEN: illegal_action("another animal is on that space", "Moving a cat", "to_space", "space"),
    Fault.TOO_FAR: illegal_action("that space is too far for the steps that are left", "Moving a cat", "to_space"),
    Fault.ONLY_FORWARD: illegal_action("cats may only move up the trunk and outward", "Moving a cat", "to_space"),
    Fault.TRUNK_IS_FULL: illegal_action(
        "two other cats of its colour are already on the trunk", "Moving a cat", "to_space"
    ),
    Fault.BAD_PLAYERS: invalid_state(f"Chat perché is for {state.PLAYERS} players", "seats", "Components and setup"),
    Fault.BAD_FIRST_SEAT: invalid_state(
        "the first seat is not a seat of the game, differs from the options, or is set before chance has chosen it",
        "first_seat",
        "Components and setup",
    ),
    Fault.BAD_FORWARD_ONLY: invalid_state("forward_only is neither 0 nor 1", "options.forward_only", "Moving a cat"),
    Fault.BAD_DOG_TRACK: invalid_state(
        f"the dogs' track does not have 1 to {state.MAX_TRACK} steps", "options.dog_track", "Components and setup"
    ),
    Fault.BAD_SOLIDITY: invalid_state(
        f"a seat does not have {state.TOKENS} tokens", "options.solidity", "Components and setup"
    ),
    Fault.BAD_DECK_OPTION: invalid_state(
        f"a full deck is not {state.DECK_SIZE} cards in ascending order, at least one of them a dogs card",
        "options.deck",
        "Components and setup",
    ),
    Fault.BAD_PHASE: invalid_state(
        "the phase does not match the card turned up, or the seat has no possible action",
        "phase",
        "When a seat is asked",
    ),
    Fault.BAD_ACTIVE_SEAT: invalid_state(
        "the active seat is not a seat, or is not 0 before chance has chosen who begins", "active_seat", "A turn"
    ),
    Fault.BAD_DOGS: invalid_state(
        "the dogs move only in turns, and the game is over exactly when they are on their last space",
        "dog_steps",
        "End",
    ),
    Fault.BAD_DECK: invalid_state(
        f"a deck has more than {state.DECK_SIZE} cards, or fewer before the first turn", "seats.draw_pile_cards"
    ),
    Fault.BAD_ORDER_OF_DECK: invalid_state(
        "if only some of several equal cards are left in a deck, they must be the ones with the highest numbers",
        "seats.draw_pile_cards",
    ),
    Fault.BAD_PLACEMENT: invalid_state(
        "the seats have not placed their tokens in turn, or not all of them before the first turn",
        "branches.token_owner",
        "Components and setup",
    ),
    Fault.BAD_TOKEN: invalid_state(
        "a token's value is not one that its seat has, or there is a value without a token",
        "branches.solidity",
        "Components and setup",
    ),
    Fault.BAD_CATS: invalid_state(
        f"more than {state.CATS} cats of a colour, a cat outside the tree, or one before the first turn", "seats.cats"
    ),
    Fault.BAD_BIRDS: invalid_state(
        f"more than {state.BIRDS} birds, a bird outside the branches' spaces, or one before the first turn", "birds"
    ),
    Fault.SPACE_TAKEN_TWICE: invalid_state("two animals are on the same space", "seats.cats", "Moving a cat"),
    Fault.TRUNK_OVER_LIMIT: invalid_state("more than two cats of a colour stand on the trunk", "seats.cats"),
    Fault.BAD_BROKEN: invalid_state(
        f"a broken branch is not empty, has solidity {state.MAX_SOLIDITY}, does not exist or broke before the first "
        "turn",
        "branches.broken",
    ),
    Fault.BAD_LOAD: invalid_state(
        "the greatest load of a branch is less than its animals now, more than its token's value, or set where it is 0",
        "branches.greatest_load",
    ),
    Fault.BAD_CARD: invalid_state(
        "the card turned up is not one that a seat decides about, counts as left in the deck, or is set in a phase "
        "without one",
        "card",
        "A turn",
    ),
    Fault.BAD_STEPS: invalid_state(
        "the steps that are left do not match the card and the phase", "steps_left", "Moving a cat"
    ),
    Fault.BAD_BARRED: invalid_state(
        "the cats that the other seat moved in its last turn are more than two, of two colours, not there, or named "
        "where they have no effect",
        "barred",
        "Moving a cat",
    ),
    Fault.BAD_MOVED: invalid_state(
        "the cat that moved first is not there, was not allowed to move, or is named in a phase without one",
        "moved",
        "Moving a cat",
    ),
    Fault.NOT_ZERO: invalid_state("an unused byte is not zero", ""),
}
_EVENTS = {
    Event.FIRST_SEAT_CHOSEN: EventKind("{seat} takes the first turn"),
    Event.TOKEN_CHOSEN: EventKind(
        "{seat} takes a token of solidity {solidity}", ("solidity",), hidden="{seat} takes a token"
    ),
    Event.TOKEN_PLACED: EventKind("{seat} puts it next to {branch}", ("branch",)),
    Event.DECK_REFILLED: EventKind("{seat} shuffles all cards into a new deck"),
    Event.CARD_TURNED_UP: EventKind("{seat} turns up: {card}", ("card",)),
    Event.DOGS_ADVANCED: EventKind(
        Plural(
            "steps",
            "the dogs advance {steps} step, to space {dog_steps}",
            "the dogs advance {steps} steps, to space {dog_steps}",
        ),
        ("steps", "dog_steps"),
    ),
    Event.CAT_MOVED: EventKind(
        Plural(
            "steps",
            "{seat} moves a {colour} cat from {from_space} to {to_space} ({steps} step)",
            "{seat} moves a {colour} cat from {from_space} to {to_space} ({steps} steps)",
        ),
        ("colour", "from_space", "to_space", "steps"),
    ),
    Event.STOPPED: EventKind("{seat} stops"),
    Event.CAT_FELL: EventKind("a {colour} cat falls from {space}", ("space",)),
    Event.BIRD_PLACED: EventKind("{seat} puts a bird on {space}", ("space",)),
    Event.NOTHING_POSSIBLE: EventKind("{seat} has no possible action"),
    Event.BRANCH_BROKE: EventKind("{branch} (solidity {solidity}) breaks", ("branch", "solidity")),
    Event.BIRD_LEFT: EventKind("a bird flies away from {space}", ("space",)),
    Event.GAME_ENDED: EventKind("the dogs have arrived: the game is over"),
}
_PHRASES: dict[str, Template] = {
    "action.move_from_start": "move a {colour} cat from the start to {to_space}",
    "outcome.first_seat": "{seat} begins",
    "outcome.card": "{card}",
    "prompt.place_token": "put a token next to a branch that has none",
    "prompt.move": Plural(
        "steps",
        "move a {colour} cat by up to {steps} step, or stop",
        "move a {colour} cat by up to {steps} steps, or stop",
    ),
    "prompt.second_move": Plural(
        "steps",
        "move another {colour} cat by up to {steps} step, or stop",
        "move another {colour} cat by up to {steps} steps, or stop",
    ),
    "prompt.fall": "choose the {colour} cat that falls",
    "prompt.place_bird": "put a bird on a free space of a branch",
    "event.cat_moved_from_start": Plural(
        "steps",
        "{seat} moves a {colour} cat from the start to {to_space} ({steps} step)",
        "{seat} moves a {colour} cat from the start to {to_space} ({steps} steps)",
    ),
}
_ENDS = {End.DOGS_ARRIVED: "the dogs have reached the last space of their track"}

_OBSERVATION = (
    ("own_cats", "Per space: 1 if a cat of the observing seat stands there.", (state.SPACES,), (flag(),)),
    ("other_cats", "Per space: 1 if a cat of the other seat stands there.", (state.SPACES,), (flag(),)),
    ("birds", "Per space: 1 if a bird is there.", (state.SPACES,), (flag(),)),
    (
        "barred",
        "Per space: 1 if the cat there must not be moved, because the opponent of the active seat moved it in the "
        "previous turn.",
        (state.SPACES,),
        (flag(),),
    ),
    (
        "moved",
        "Per space: 1 if the cat there was the first to move in this turn, and a second cat may move now.",
        (state.SPACES,),
        (flag(),),
    ),
    (
        "branches",
        "Five rows with a number per branch: the owner of its token (0 no token, 1 the observing seat, 2 the other "
        "seat); the value of its token (0 no token, or not known); 1 if it is broken; the number of animals on it; "
        "the largest number of animals that it has held (0 once it is broken).",
        (5, state.BRANCHES),
        (
            category(2, "owner", (state.BRANCHES,)),
            category(state.MAX_SOLIDITY, "value", (state.BRANCHES,)),
            flag("broken", (state.BRANCHES,)),
            count(state.BRANCH_SPACES, "animals", (state.BRANCHES,)),
            count(state.BRANCH_SPACES, "most_animals", (state.BRANCHES,)),
        ),
    ),
    (
        "tokens",
        f"Three rows with the number of tokens of each value 1-{state.MAX_SOLIDITY}: tokens of the observing seat that "
        "are not placed; tokens of the other seat that the observing seat has not seen; tokens that a seat begins "
        "with.",
        (3, state.MAX_SOLIDITY),
        (
            count(state.TOKENS, "own", (state.MAX_SOLIDITY,)),
            count(state.TOKENS, "other", (state.MAX_SOLIDITY,)),
            count(state.TOKENS, "all", (state.MAX_SOLIDITY,)),
        ),
    ),
    (
        "decks",
        f"Three rows for the {state.DECK_SIZE} cards of a full deck, in the order of their numbers: the card; 1 if it "
        "is left in the observing seat's deck; 1 if it is left in the other seat's deck. If some of several equal "
        "cards are left, they are the last ones.",
        (3, state.DECK_SIZE),
        (
            category(state.CARD_TYPES - 1, "card", (state.DECK_SIZE,)),
            flag("own", (state.DECK_SIZE,)),
            flag("other", (state.DECK_SIZE,)),
        ),
    ),
    (
        "card",
        "One-hot, per card: the card that the active seat has turned up and decides about. The names of cards (own, "
        "opponent's) are from the point of view of the active seat.",
        (state.CARD_TYPES,),
        (flag(),),
    ),
    ("steps_left", "Steps left for the move; else 0.", (), (count(state.MAX_VALUE),)),
    ("own_start", "Cats of the observing seat at their start.", (), (count(state.CATS),)),
    ("other_start", "Cats of the other seat at their start.", (), (count(state.CATS),)),
    ("birds_beside", "Birds next to the board.", (), (count(state.BIRDS),)),
    ("dog_steps", "Steps made by the dogs.", (), (count(state.MAX_TRACK),)),
    ("dog_track", "Steps to the dogs' last space.", (), (count(state.MAX_TRACK),)),
    ("forward_only", "1 if cats move up the trunk and outward only.", (), (flag(),)),
    ("takes_first_turn", "1 if the observing seat takes the first turn.", (), (flag(),)),
    ("own_turn", "1 if it is the observing seat's turn.", (), (flag(),)),
    (
        "phase",
        "One-hot: first seat, place token, turn up, move, second move, fall, place bird, over.",
        (int(state.Phase.PHASES),),
        (flag(),),
    ),
)

DESCRIPTION = Description(
    name="chat_perche",
    package=__package__,
    title="Chat perché",
    options=(
        Option.first_seat("The seat that takes the first turn.", state.PLAYERS),
        Option(
            "forward_only",
            "Forward only",
            "Cats move up the trunk and outward only.",
            OptionType.FLAG,
            0,
            1,
            "cats move in any direction",
            (0,),
        ),
        Option(
            "dog_track",
            "Track of the dogs",
            "The number of steps to the dogs' last space.",
            OptionType.NUMBER,
            1,
            state.MAX_TRACK,
            "10",
            (_DOG_TRACK,),
        ),
        Option(
            "solidity",
            "Tokens",
            "The values of a seat's five tokens.",
            OptionType.NUMBERS,
            1,
            state.MAX_SOLIDITY,
            "1, 2, 3, 3, 4",
            _SOLIDITY,
            length=state.TOKENS,
        ),
        Option(
            "deck",
            "Deck",
            f"How many copies of each card a seat's deck has: {state.DECK_SIZE} cards together, at least one of them "
            "a dogs card.",
            OptionType.NUMBERS,
            0,
            state.DECK_SIZE,
            "dogs 1 x2, dogs 2 x1, bird x3, own cat falls x1, opponent's cat falls x2, own cat 2, 3, 3, 4, 4, 5, 5, "
            "6, two own cats 4, 5, 6, 6, 7, opponent's cat 2, 3, 4, two of the opponent's cats 4",
            _DECK,
            length=state.CARD_TYPES,
            index_kind="card",
        ),
    ),
    action_kinds=(
        ActionKind(
            "place_token",
            f"Put a token next to a branch: {state.MAX_SOLIDITY} x branch + value - 1.",
            0,
            state.FIRST_MOVE_ID - 1,
            "put a token of solidity {solidity} next to {branch}",
        ),
        ActionKind(
            "move",
            f"Move a cat of the card's colour: {state.FIRST_MOVE_ID} + {state.SPACES} x the space where it stands "
            f"({state.START}: its start) + the space where it goes.",
            state.FIRST_MOVE_ID,
            state.STOP_ID - 1,
            "move a {colour} cat from {from_space} to {to_space}",
        ),
        ActionKind("stop", "Move no (further) cat.", state.STOP_ID, state.STOP_ID, "stop"),
        ActionKind(
            "fall",
            f"Let a cat of the card's colour fall: {state.FIRST_FALL_ID} + its space.",
            state.FIRST_FALL_ID,
            state.FIRST_BIRD_ID - 1,
            "make the {colour} cat on {space} fall",
        ),
        ActionKind(
            "place_bird",
            f"Put a bird on a branch: {state.FIRST_BIRD_ID} + the space - {state.TRUNK_SPACES}.",
            state.FIRST_BIRD_ID,
            state.NUM_ACTIONS - 1,
            "put a bird on {space}",
        ),
    ),
    outcomes="For the first seat the seat's number; for a card that is turned up the card's number.",
    pieces=_PIECES,
    piece_details=_PIECE_DETAILS,
    lowest_total_wins=False,
    observation=lay_out(_OBSERVATION),
    faults=with_keys(_FAULTS),
    events=_EVENTS,
    end_phrases=_ENDS,
    phrases=_PHRASES,
    argument_kinds={
        "seat": "seat",
        "card": "card",
        "branch": "branch",
        "space": "space",
        "from_space": "space",
        "to_space": "space",
        "colour": "colour",
    },
)
