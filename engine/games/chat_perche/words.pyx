"""Chat perché: the words for cards, events and faults."""

from types import SimpleNamespace

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
    LARGEST_SOLIDITY,
    LARGEST_VALUE,
    LONGEST_TRACK,
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
    longest_track=LONGEST_TRACK,
    phases=PHASES,
    seats=PLAYERS,
    solidities=LARGEST_SOLIDITY,
    spaces=SPACES,
    start=START,
    tokens=TOKENS,
    trunk_spaces=TRUNK_SPACES,
    values=LARGEST_VALUE,
)
IDS = SimpleNamespace(
    first_move=FIRST_MOVE_ID, stop=STOP_ID, first_fall=FIRST_FALL_ID, first_bird=FIRST_BIRD_ID, end=NUM_ACTIONS
)

RULES = RulesFile("chat_perche.md")
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
        "every branch has its token: PlaceToken is no longer possible", "Components and setup"
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
    int(ChatPercheFault.NO_CAT_THERE): RULES.illegal(
        "no cat of the colour that the card names stands there", "A turn"
    ),
    int(ChatPercheFault.START_IS_EMPTY): RULES.illegal(
        "no cat of the colour that the card names is at its start", "A turn"
    ),
    int(ChatPercheFault.MOVED_BY_OPPONENT): RULES.illegal(
        "the opponent moved that cat in its last turn: it must not be moved", "Moving a cat"
    ),
    int(ChatPercheFault.MOVED_FIRST): RULES.illegal(
        "the second cat of a two-cat card must be another one than the first", "Moving a cat"
    ),
    int(ChatPercheFault.NO_STEP): RULES.illegal("a moving cat uses at least 1 step", "Moving a cat"),
    int(ChatPercheFault.BRANCH_IS_BROKEN): RULES.illegal(
        "the spaces of a broken branch are out of play", "Moving a cat"
    ),
    int(ChatPercheFault.SPACE_IS_TAKEN): RULES.illegal("another animal is on that space", "Moving a cat"),
    int(ChatPercheFault.TOO_FAR): RULES.illegal("the way is longer than the steps that are left", "Moving a cat"),
    int(ChatPercheFault.ONLY_FORWARD): RULES.illegal("cats move up the trunk and outward only", "Moving a cat"),
    int(ChatPercheFault.TRUNK_IS_FULL): RULES.illegal(
        "two other cats of its colour stand on the trunk", "Moving a cat"
    ),
    int(ChatPercheFault.BAD_PLAYERS): RULES.broken(
        f"Chat perché is for {PLAYERS} players", "seats", "Components and setup"
    ),
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
        f"a deck has more than {DECK_SIZE} cards, or fewer before the first turn", "seats.deck"
    ),
    int(ChatPercheFault.BAD_ORDER_OF_DECK): RULES.broken(
        "of equal cards those left in a deck must be the last ones", "seats.deck"
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
    int(ChatPercheFault.SPACE_TAKEN_TWICE): RULES.broken(
        "two animals are on the same space", "seats.cats", "Moving a cat"
    ),
    int(ChatPercheFault.TRUNK_OVER_LIMIT): RULES.broken(
        "more than two cats of a colour stand on the trunk", "seats.cats"
    ),
    int(ChatPercheFault.BAD_BROKEN): RULES.broken(
        f"a broken branch is not empty, has solidity {LARGEST_SOLIDITY}, does not exist or broke before the first turn",
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

# By kind: the fields of the event that its values are, in order.
EVENT_VALUES = {
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

ENDS = {int(ChatPercheEnd.DOGS_ARRIVED): "dogs_arrived"}

EVENT_LABELS = {
    int(ChatPercheEvent.FIRST_SEAT_CHOSEN): "seat {seat} takes the first turn",
    int(ChatPercheEvent.TOKEN_CHOSEN): "seat {seat} takes a token{solidity}",
    int(ChatPercheEvent.TOKEN_PLACED): "seat {seat} puts it beside {branch}",
    int(ChatPercheEvent.DECK_REFILLED): "seat {seat} shuffles all its cards for a new deck",
    int(ChatPercheEvent.CARD_TURNED_UP): "seat {seat} turns up: {card}",
    int(ChatPercheEvent.DOGS_ADVANCED): "the dogs go {steps} on, to space {dogs}",
    int(ChatPercheEvent.CAT_MOVED): "seat {seat} moves a {colour} cat from {from_space} to {to_space} ({steps})",
    int(ChatPercheEvent.STOPPED): "seat {seat} stops",
    int(ChatPercheEvent.CAT_FELL): "a {colour} cat falls from {space}",
    int(ChatPercheEvent.BIRD_PLACED): "seat {seat} puts a bird on {space}",
    int(ChatPercheEvent.NOTHING_POSSIBLE): "nothing is possible for seat {seat}",
    int(ChatPercheEvent.BRANCH_BROKE): "{branch}{solidity} breaks",
    int(ChatPercheEvent.BIRD_LEFT): "a bird flies away from {space}",
    int(ChatPercheEvent.GAME_ENDED): "the dogs have arrived: the game is over",
}
