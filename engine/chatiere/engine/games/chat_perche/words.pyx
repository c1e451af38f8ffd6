"""Chat perché: the words for cards, events and faults."""

from types import SimpleNamespace

from chatiere.engine.core.description import Name, Piece
from chatiere.engine.core.languages import Plural
from chatiere.engine.core.phrases import Phrases
from chatiere.engine.core.rules_file import RulesFile

from chatiere.engine.games.chat_perche.state cimport (
    BIRDS,
    BRANCHES,
    BRANCH_SPACES,
    CARD_TYPES,
    CATS,
    DECK_SIZE,
    FIRST_BIRD_ID,
    FIRST_FALL_ID,
    FIRST_MOVE_ID,
    MAX_SOLIDITY,
    MAX_VALUE,
    MAX_TRACK,
    NUM_ACTIONS,
    PHASES,
    PLAYERS,
    SPACES,
    START,
    STOP_ID,
    TOKENS,
    TRUNK_SPACES,
    ChatPercheEnd,
    ChatPercheEvent,
    ChatPercheFault,
)

# The kernel's numbers, for text.py.
SIZES = SimpleNamespace(
    birds=BIRDS,
    branch_spaces=BRANCH_SPACES,
    branches=BRANCHES,
    cards=CARD_TYPES,
    cats=CATS,
    deck=DECK_SIZE,
    max_track=MAX_TRACK,
    phases=PHASES,
    seats=PLAYERS,
    solidities=MAX_SOLIDITY,
    spaces=SPACES,
    start=START,
    tokens=TOKENS,
    trunk_spaces=TRUNK_SPACES,
    values=MAX_VALUE,
)
IDS = SimpleNamespace(
    first_move=FIRST_MOVE_ID, stop=STOP_ID, first_fall=FIRST_FALL_ID, first_bird=FIRST_BIRD_ID, end=NUM_ACTIONS
)

RULES = RulesFile("chat_perche.md")
_BRANCHES = tuple(
    Name(f"{side} branch {{number}}", number=number)
    for side in ("left", "right")
    for number in range(1, TRUNK_SPACES + 1)
)
_SPACES = (
    *(Name("trunk {number}", number=number) for number in range(1, TRUNK_SPACES + 1)),
    *(
        Name("{branch}, space {number}", branch=branch, number=number)
        for branch in _BRANCHES
        for number in range(1, BRANCH_SPACES + 1)
    ),
    Name("start"),
)
_CARDS = (
    Name("dogs {steps}", steps=1),
    Name("dogs {steps}", steps=2),
    Name("bird"),
    Name("own cat falls"),
    Name("opponent's cat falls"),
    *(
        Name(f"{cats} {{steps}}", steps=steps)
        for cats in ("one own cat", "one opponent's cat", "two own cats", "two opponent's cats")
        for steps in range(1, MAX_VALUE + 1)
    ),
)
PIECES = tuple(
    Piece(number, name, kind)
    for kind, names in (
        ("card", _CARDS),
        ("space", _SPACES),
        ("branch", _BRANCHES),
        ("colour", (Name("ginger"), Name("black"))),
    )
    for number, name in enumerate(names)
)

FAULTS = {
    int(ChatPercheFault.TOKENS_FIRST): RULES.illegal(
        "tokens_first", "tokens are being placed: only PlaceToken is possible", "Components and setup"
    ),
    int(ChatPercheFault.TOKENS_ARE_PLACED): RULES.illegal(
        "tokens_are_placed", "every branch has its token: PlaceToken is no longer possible", "Components and setup"
    ),
    int(ChatPercheFault.BRANCH_HAS_TOKEN): RULES.illegal(
        "branch_has_token", "that branch has a token already", "Components and setup", "branch"
    ),
    int(ChatPercheFault.NO_SUCH_TOKEN_IN_HAND): RULES.illegal(
        "no_such_token_in_hand", "the seat has no token of that value left", "Components and setup", "solidity"
    ),
    int(ChatPercheFault.CARD_MOVES_A_CAT): RULES.illegal(
        "card_moves_a_cat", "the card that is turned up moves a cat: only Move and Stop are possible", "A turn"
    ),
    int(ChatPercheFault.CARD_FELLS_A_CAT): RULES.illegal(
        "card_fells_a_cat", "the card that is turned up makes a cat fall: only Fall is possible", "A turn"
    ),
    int(ChatPercheFault.CARD_PLACES_A_BIRD): RULES.illegal(
        "card_places_a_bird", "the card that is turned up is a bird: only PlaceBird is possible", "A turn"
    ),
    int(ChatPercheFault.NO_CAT_THERE): RULES.illegal(
        "no_cat_there", "no cat of the colour that the card names stands there", "A turn", "from_space", "space"
    ),
    int(ChatPercheFault.START_IS_EMPTY): RULES.illegal(
        "start_is_empty", "no cat of the colour that the card names is at its start", "A turn", "from_space"
    ),
    int(ChatPercheFault.MOVED_BY_OPPONENT): RULES.illegal(
        "moved_by_opponent",
        "the opponent moved that cat in its last turn: it must not be moved",
        "Moving a cat",
        "from_space",
    ),
    int(ChatPercheFault.MOVED_FIRST): RULES.illegal(
        "moved_first",
        "a two-cat card moves two different cats",
        "Moving a cat",
        "from_space",
    ),
    int(ChatPercheFault.NO_STEP): RULES.illegal(
        "no_step", "a moving cat uses at least 1 step", "Moving a cat", "to_space"
    ),
    int(ChatPercheFault.BRANCH_IS_BROKEN): RULES.illegal(
        "branch_is_broken", "the spaces of a broken branch are out of play", "Moving a cat", "to_space", "space"
    ),
    int(ChatPercheFault.SPACE_IS_TAKEN): RULES.illegal(
        "space_is_taken", "another animal is on that space", "Moving a cat", "to_space", "space"
    ),
    int(ChatPercheFault.TOO_FAR): RULES.illegal(
        "too_far", "the way is longer than the steps that are left", "Moving a cat", "to_space"
    ),
    int(ChatPercheFault.ONLY_FORWARD): RULES.illegal(
        "only_forward", "cats move up the trunk and outward only", "Moving a cat", "to_space"
    ),
    int(ChatPercheFault.TRUNK_IS_FULL): RULES.illegal(
        "trunk_is_full", "two other cats of its colour stand on the trunk", "Moving a cat", "to_space"
    ),
    int(ChatPercheFault.BAD_PLAYERS): RULES.broken(
        "bad_players", f"Chat perché is for {PLAYERS} players", "seats", "Components and setup"
    ),
    int(ChatPercheFault.BAD_FIRST_SEAT): RULES.broken(
        "bad_first_seat",
        "the first seat is not a seat, not the one that the options name, or set before chance has chosen it",
        "first_seat",
        "Components and setup",
    ),
    int(ChatPercheFault.BAD_FORWARD_ONLY): RULES.broken(
        "bad_forward_only", "forward_only is neither 0 nor 1", "options.forward_only", "Moving a cat"
    ),
    int(ChatPercheFault.BAD_DOG_TRACK): RULES.broken(
        "bad_dog_track",
        f"the dogs' track does not have 1 to {MAX_TRACK} steps",
        "options.dog_track",
        "Components and setup",
    ),
    int(ChatPercheFault.BAD_SOLIDITY): RULES.broken(
        "bad_solidity", f"a seat does not have {TOKENS} tokens", "options.solidity", "Components and setup"
    ),
    int(ChatPercheFault.BAD_DECK_OPTION): RULES.broken(
        "bad_deck_option",
        f"a full deck is not {DECK_SIZE} cards in ascending order, at least one of them a dogs card",
        "options.deck",
        "Components and setup",
    ),
    int(ChatPercheFault.BAD_PHASE): RULES.broken(
        "bad_phase",
        "the phase does not fit the card that is turned up, or the seat would not be asked: nothing is possible for it",
        "phase",
        "When a seat is asked",
    ),
    int(ChatPercheFault.BAD_ACTIVE_SEAT): RULES.broken(
        "bad_active_seat",
        "the active seat is not a seat, or not 0 before chance has chosen who begins",
        "active_seat",
        "A turn",
    ),
    int(ChatPercheFault.BAD_DOGS): RULES.broken(
        "bad_dogs",
        "the dogs move only in turns, and the game is over exactly when they are on their last space",
        "dog_steps",
        "End",
    ),
    int(ChatPercheFault.BAD_DECK): RULES.broken(
        "bad_deck", f"a deck has more than {DECK_SIZE} cards, or fewer before the first turn", "seats.draw_pile_cards"
    ),
    int(ChatPercheFault.BAD_ORDER_OF_DECK): RULES.broken(
        "bad_order_of_deck", "of equal cards those left in a deck must be the last ones", "seats.draw_pile_cards"
    ),
    int(ChatPercheFault.BAD_PLACEMENT): RULES.broken(
        "bad_placement",
        "the seats have not placed their tokens in turn, or not all of them before the first turn",
        "branches.token_owner",
        "Components and setup",
    ),
    int(ChatPercheFault.BAD_TOKEN): RULES.broken(
        "bad_token",
        "a token's value is not one that its seat has, or there is a value without a token",
        "branches.solidity",
        "Components and setup",
    ),
    int(ChatPercheFault.BAD_CATS): RULES.broken(
        "bad_cats",
        f"more than {CATS} cats of a colour, a cat outside the tree, or one before the first turn",
        "seats.cats",
    ),
    int(ChatPercheFault.BAD_BIRDS): RULES.broken(
        "bad_birds",
        f"more than {BIRDS} birds, a bird outside the branches' spaces, or one before the first turn",
        "birds",
    ),
    int(ChatPercheFault.SPACE_TAKEN_TWICE): RULES.broken(
        "space_taken_twice", "two animals are on the same space", "seats.cats", "Moving a cat"
    ),
    int(ChatPercheFault.TRUNK_OVER_LIMIT): RULES.broken(
        "trunk_over_limit", "more than two cats of a colour stand on the trunk", "seats.cats"
    ),
    int(ChatPercheFault.BAD_BROKEN): RULES.broken(
        "bad_broken",
        f"a broken branch is not empty, has solidity {MAX_SOLIDITY}, does not exist or broke before the first turn",
        "branches.broken",
    ),
    int(ChatPercheFault.BAD_LOAD): RULES.broken(
        "bad_load",
        "the greatest load of a branch is less than its animals now, more than its token's value, or set where it is 0",
        "branches.greatest_load",
    ),
    int(ChatPercheFault.BAD_CARD): RULES.broken(
        "bad_card",
        "the card that is turned up is not one that a seat decides about, counts as left in the deck, or is set in a "
        "phase without one",
        "card",
        "A turn",
    ),
    int(ChatPercheFault.BAD_STEPS): RULES.broken(
        "bad_steps", "the steps that are left do not fit the card and the phase", "steps_left", "Moving a cat"
    ),
    int(ChatPercheFault.BAD_BARRED): RULES.broken(
        "bad_barred",
        "the cats that the other seat moved in its last turn are more than two, of two colours, not there, or named "
        "where they do not matter",
        "barred",
        "Moving a cat",
    ),
    int(ChatPercheFault.BAD_MOVED): RULES.broken(
        "bad_moved",
        "the cat that moved first does not stand there, must not have been moved, or is named in a phase without one",
        "moved",
        "Moving a cat",
    ),
    int(ChatPercheFault.NOT_ZERO): RULES.broken("not_zero", "an unused byte is not zero", ""),
}

# By kind: the fields of the event that its values are, in order.
EVENT_VALUES = {
    int(ChatPercheEvent.FIRST_SEAT_CHOSEN): (),
    int(ChatPercheEvent.TOKEN_CHOSEN): ("solidity",),
    int(ChatPercheEvent.TOKEN_PLACED): ("branch",),
    int(ChatPercheEvent.DECK_REFILLED): (),
    int(ChatPercheEvent.CARD_TURNED_UP): ("card",),
    int(ChatPercheEvent.DOGS_ADVANCED): ("steps", "dog_steps"),
    int(ChatPercheEvent.CAT_MOVED): ("colour", "from_space", "to_space", "steps"),
    int(ChatPercheEvent.STOPPED): (),
    int(ChatPercheEvent.CAT_FELL): ("space",),
    int(ChatPercheEvent.BIRD_PLACED): ("space",),
    int(ChatPercheEvent.NOTHING_POSSIBLE): (),
    int(ChatPercheEvent.BRANCH_BROKE): ("branch", "solidity"),
    int(ChatPercheEvent.BIRD_LEFT): ("space",),
    int(ChatPercheEvent.GAME_ENDED): (),
}

ENDS = {int(ChatPercheEnd.DOGS_ARRIVED): "dogs_arrived"}

PHRASES = Phrases(
    __package__,
    {
        "action.place_token": "put a token of solidity {solidity} beside {branch}",
        "action.move": "move a {colour} cat from {from_space} to {to_space}",
        "action.move_from_start": "move a {colour} cat from the start to {to_space}",
        "action.stop": "stop",
        "action.fall": "let the {colour} cat on {space} fall",
        "action.place_bird": "put a bird on {space}",
        "outcome.first_seat": "{seat} begins",
        "outcome.card": "{card}",
        "prompt.place_token": "put a token beside a branch that has none",
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
    },
    {
        int(ChatPercheEvent.FIRST_SEAT_CHOSEN): ("first_seat_chosen", "{seat} takes the first turn"),
        int(ChatPercheEvent.TOKEN_CHOSEN): (
            "token_chosen", "{seat} takes a token of solidity {solidity}", "{seat} takes a token"
        ),
        int(ChatPercheEvent.TOKEN_PLACED): ("token_placed", "{seat} puts it beside {branch}"),
        int(ChatPercheEvent.DECK_REFILLED): ("deck_refilled", "{seat} shuffles all cards for a new deck"),
        int(ChatPercheEvent.CARD_TURNED_UP): ("card_turned_up", "{seat} turns up: {card}"),
        int(ChatPercheEvent.DOGS_ADVANCED): (
            "dogs_advanced",
            Plural(
                "steps",
                "the dogs go {steps} step on, to space {dog_steps}",
                "the dogs go {steps} steps on, to space {dog_steps}",
            ),
        ),
        int(ChatPercheEvent.CAT_MOVED): (
            "cat_moved",
            Plural(
                "steps",
                "{seat} moves a {colour} cat from {from_space} to {to_space} ({steps} step)",
                "{seat} moves a {colour} cat from {from_space} to {to_space} ({steps} steps)",
            ),
        ),
        int(ChatPercheEvent.STOPPED): ("stopped", "{seat} stops"),
        int(ChatPercheEvent.CAT_FELL): ("cat_fell", "a {colour} cat falls from {space}"),
        int(ChatPercheEvent.BIRD_PLACED): ("bird_placed", "{seat} puts a bird on {space}"),
        int(ChatPercheEvent.NOTHING_POSSIBLE): ("nothing_possible", "nothing is possible for {seat}"),
        int(ChatPercheEvent.BRANCH_BROKE): ("branch_broke", "{branch} of solidity {solidity} breaks"),
        int(ChatPercheEvent.BIRD_LEFT): ("bird_left", "a bird flies away from {space}"),
        int(ChatPercheEvent.GAME_ENDED): ("game_ended", "the dogs have arrived: the game is over"),
    },
    (("dogs_arrived", "the dogs have reached the last space of their track"),),
    FAULTS.values(),
    {
        "seat": "seat",
        "card": "card",
        "branch": "branch",
        "space": "space",
        "from_space": "space",
        "to_space": "space",
        "colour": "colour",
    },
    PIECES,
    EVENT_VALUES,
)
