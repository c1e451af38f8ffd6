"""Chat Cartonne: the description of the game, with all texts of the game."""

from typing import Any

from chatiere.engine.core.description import ActionKind, Description, EventKind, Name, Option, OptionType, Piece
from chatiere.engine.core.languages import Plural
from chatiere.engine.core.observation_parts import Each, bits, category, count, flag, lay_out
from chatiere.engine.core.rules_file import RulesFile, with_keys

from . import state
from .observation import FIRST_SLEEPER_SHOWN, FIRST_WOKEN_SHOWN, OBSERVATION_SEAT_NUMBERS, PRINCESS_SHOWN
from .state import ChatCartonneEnd as End
from .state import ChatCartonneEvent as Event
from .state import ChatCartonneFault as Fault

RULES = RulesFile("chat_cartonne.md")
illegal_action, invalid_state = RULES.illegal_action, RULES.invalid_state

_CARTONS_A_PATTERN = state.CARTONS // state.PATTERNS
# The content printed on a carton, indexed by its kind modulo 9.
_CONTENTS = (None, None, "mouse", "ball", "fish", "mouse and ball", "ball and fish", "fish and mouse", "sprayer")

_TOYS = ("toy card (2 mice)", "toy card (2 balls)", "toy card (2 fish treats)")


def _wall_name(card: int) -> Name:
    if state.walls(card) == 0:
        return Name("no walls")
    sides = {side: Name(side) if state.walls(card) >> i & 1 else "" for i, side in enumerate("NESW")}
    one = state.walls(card).bit_count() == 1
    return Name("wall {N}{E}{S}{W}" if one else "walls {N}{E}{S}{W}", **sides)


def _name(kind: int, *, turned: bool) -> Name:
    walls = _wall_name(kind | (state.TURNED if turned else 0))
    lies = "{number} turned" if turned else "{number}"
    if kind < state.CARTONS:
        content = _CONTENTS[kind % 9]
        if content is None:
            return Name(f"carton {lies} ({{walls}})", number=kind, walls=walls)
        return Name(f"carton {lies} ({{walls}}, {{content}})", number=kind, walls=walls, content=Name(content))
    if kind < state.PRINCESS:
        return Name(_TOYS[kind - state.FIRST_TOY])
    if kind == state.PRINCESS:
        return Name("the Princess")
    return Name(f"starting carton {lies} ({{walls}})", number=kind, walls=walls)


KINDS = tuple(_name(kind, turned=False) for kind in range(state.SLEEPER))

_PIECES = (
    *(Piece(kind, name) for kind, name in enumerate(KINDS)),
    *(
        Piece(
            cell,
            Name("column {column}, row {row}", column=cell % state.SIDE + 1, row=cell // state.SIDE + 1),
            "cell",
        )
        for cell in range(state.CELLS)
    ),
    # Turned cards, named by their walls after the turn.
    *(Piece(kind, _name(kind, turned=True), "turned") for kind in range(state.SLEEPER)),
    *(Piece(number, _wall_name(_CARTONS_A_PATTERN * number), "pattern") for number in range(state.PATTERNS)),
)


def _walls(kind: int) -> dict[str, bool]:
    walls = state.walls(kind)
    return {
        "wall_north": bool(walls & state.NORTH),
        "wall_east": bool(walls & state.EAST),
        "wall_south": bool(walls & state.SOUTH),
        "wall_west": bool(walls & state.WEST),
    }


def _role(kind: int) -> str:
    if kind < state.CARTONS:
        return "CARTON"
    if kind < state.PRINCESS:
        return "TOY"
    return "PRINCESS" if kind == state.PRINCESS else "STARTING_CARTON"


def _card_info(kind: int) -> dict[str, Any]:
    return {
        "card": kind,
        "role": f"CHAT_CARTONNE_ROLE_{_role(kind)}",
        **_walls(kind),
        "can_turn": state.walls(kind) != state.walls(kind | state.TURNED),
        **dict(zip(("mice", "balls", "fish", "sprayers"), state.contents(kind), strict=True)),
        "total_copies": state.PARTS if kind == state.PRINCESS else 1,
        "pattern": kind // _CARTONS_A_PATTERN if kind < state.CARTONS else None,
    }


def _cell_info(cell: int) -> dict[str, Any]:
    row, column = divmod(cell, state.SIDE)
    return {"cell": cell, "row": row, "column": column, "east": cell + 1 if column + 1 < state.SIDE else None}


def _players_info(players: int) -> dict[str, Any]:
    return {
        "players": players,
        "princesses": players,
        "part_sizes": state.part_sizes(players, 0),
        "total_princesses": state.PARTS,
        "whole_pile_size": state.part_sizes(players, state.ALL_PRINCESSES)[0],
    }


_PIECE_DETAILS = {
    "cards": [_card_info(kind) for kind in range(state.SLEEPER)],
    # A pattern has the same walls as its first carton.
    "patterns": [{"pattern": pattern, **_walls(_CARTONS_A_PATTERN * pattern)} for pattern in range(state.PATTERNS)],
    "rows": state.SIDE,
    "columns": state.SIDE,
    "cells": [_cell_info(cell) for cell in range(state.CELLS)],
    "first_cell": state.CENTRE,
    "by_players": [_players_info(players) for players in range(state.FEWEST_SEATS, state.SEATS + 1)],
    "cats_per_seat": state.CATS,
    "cards_dealt": state.DEALT,
    "largest_hand": state.MAX_HAND,
}

# Faults, events and other phrases

_FAULTS = {
    Fault.STARTS_ARE_LAID: illegal_action(
        "only the first player chooses a starting carton, and only once", "Components and setup"
    ),
    Fault.MUST_CHOOSE_START: illegal_action("the first player has to choose a starting carton", "Components and setup"),
    Fault.MUST_PLACE_START: illegal_action(
        "the starting carton just drawn has to be placed first", "Components and setup"
    ),
    Fault.MUST_DRAW_OR_SLEEP: illegal_action(
        "a turn begins with drawing a card or laying a sleeping cat", "When a seat is asked"
    ),
    Fault.NO_DRAW_NOW: illegal_action(
        "a card can be drawn only at the start of a turn, with fewer than three cards in hand, and before the final "
        "phase",
        "A turn",
    ),
    Fault.NO_SLEEP_AFTER_DRAW: illegal_action("a sleeping cat is laid instead of drawing and playing", "A turn"),
    Fault.MUST_PLAY_TOY: illegal_action("a toy card must be played as soon as it is drawn", "A turn"),
    Fault.NO_TOY_DRAWN: illegal_action("no toy card was drawn", "A turn"),
    Fault.CAT_OR_SKIP: illegal_action(
        "a carton was just played: lay a cat, or choose to lay none", "When a seat is asked"
    ),
    Fault.NOTHING_TO_FOLLOW: illegal_action(
        "only after playing a carton can a player lay a cat on a joint, or decline to", "A turn"
    ),
    Fault.PASSING_NOT_A_CHOICE: illegal_action("passing is allowed only if nothing can be played", "End"),
    Fault.TURN_CHANGES_NOTHING: illegal_action(
        "turning this card does not change its walls: place it unturned", "Actions", "turned"
    ),
    Fault.NOT_AT_COLUMN_END: illegal_action(
        "a starting carton goes to the north or south end of the column of starting cartons",
        "Components and setup",
        "cell",
    ),
    Fault.CARD_NOT_IN_HAND: illegal_action("that card is not in the hand", "Actions", "card"),
    Fault.NOT_A_CARTON: illegal_action("the Princess is not placed like a carton", "A turn", "card"),
    Fault.CELL_FILLED: illegal_action("a card already lies there", "A turn", "cell"),
    Fault.CELL_NOT_BESIDE: illegal_action("a card must share an edge with a card on the table", "A turn", "cell"),
    Fault.WALL_MEETS_WALL: illegal_action("in this variant, a wall may not touch another wall", "A turn", "cell"),
    Fault.NO_CAT_IN_SUPPLY: illegal_action("all five of the player's cats are on the table", "A turn"),
    Fault.NOT_JUST_PLAYED: illegal_action("that is not a joint of the carton just played", "A turn", "joint"),
    Fault.NO_JOINT_THERE: illegal_action(
        "a joint needs two cartons side by side without a wall between them", "A turn", "joint"
    ),
    Fault.JOINT_TAKEN: illegal_action("that joint is already taken", "A turn", "joint"),
    Fault.BOX_OF_OTHERS: illegal_action("the box holds cats of other players and none of your own", "A turn", "joint"),
    Fault.NO_PRINCESS_IN_HAND: illegal_action("there is no Princess in the hand", "A turn"),
    Fault.NO_CAT_THERE: illegal_action("there is no cat there for the Princess to replace", "A turn", "joint", "cell"),
    Fault.TOY_NEEDS_JOINT: illegal_action(
        "a toy card may be laid as a carton only if no joint is left for it, or if every box holds a cat or a Princess",
        "A turn",
    ),
    Fault.BAD_PLAYERS: invalid_state("Chat Cartonne is for 2 to 5 players", "seats", "Components and setup"),
    Fault.BAD_OPTIONS: invalid_state(
        "the options set a variant that does not exist", "options", "Components and setup"
    ),
    Fault.BAD_FIRST_SEAT: invalid_state(
        "the first seat is not a seat of the game, differs from the options, or is set before chance has chosen it",
        "first_seat",
    ),
    Fault.BAD_PHASE: invalid_state(
        "the phase does not exist, or draws a card after the final phase has begun", "phase", "End"
    ),
    Fault.BAD_ACTIVE_SEAT: invalid_state(
        "the active seat is not a seat, or cannot act at this moment", "active_seat", "When a seat is asked"
    ),
    Fault.BAD_FINAL_PHASE: invalid_state(
        "the final phase begins when the pile is empty or a seat has all five cats on the table, and only then",
        "final_phase",
        "End",
    ),
    Fault.BAD_PASSES: invalid_state(
        "passes are counted in the final phase, up to the number of seats that hold a carton, which ends the game",
        "passes",
        "End",
    ),
    Fault.BAD_HAND: invalid_state(
        "a hand holds cartons and Princesses, ascending, as many as it may have at this moment", "seats.hand_cards"
    ),
    Fault.BAD_SUPPLY: invalid_state("a seat has five cats, in its supply and on the table", "seats.supply"),
    Fault.BAD_TABLE: invalid_state(
        "the table is a list of cards by ascending cell, each sharing an edge with another, turned only where that "
        "changes the walls, and with no_double_walls no wall meets a wall",
        "table",
        "A turn",
    ),
    Fault.BAD_JOINT: invalid_state(
        "something lies on a joint where no two cartons are side by side without a wall between them",
        "table.on_joint",
        "A turn",
    ),
    Fault.BAD_WOKEN: invalid_state(
        "the box of a woken cat contains neither an awake cat of its seat nor a Princess who replaced one",
        "table.woken",
        "A turn",
    ),
    Fault.BAD_STARTS: invalid_state(
        "the starting cartons are not in the column of the first one, are not one for each seat that has placed one, "
        "or are not alone before the first turn",
        "table",
        "Components and setup",
    ),
    Fault.BAD_PENDING: invalid_state(
        "a starting carton or toy card just drawn does not match the phase, or is in another place as well",
        "starting_carton",
        "Components and setup",
    ),
    Fault.BAD_JUST_PLAYED: invalid_state(
        "the carton just played is set outside of the phase CAT, or no cat can be laid beside it",
        "just_played",
        "A turn",
    ),
    Fault.BAD_DRAWS: invalid_state(
        "the cards that the seats have drawn do not match the pile, the toy cards drawn, or the hands",
        "seats.by_part.cards_drawn",
        "Public and hidden",
    ),
    Fault.BAD_PRINCESSES: invalid_state(
        "the Princesses in the hands, on the table and in the pile are not those that were drawn, or one was played "
        "before it was drawn",
        "parts",
    ),
    Fault.BAD_SHOWN: invalid_state(
        "what passes have shown is not in order, or contradicts the hand", "seats.shown", "Public and hidden"
    ),
    Fault.CARD_TWICE_OR_MISSING: invalid_state("a carton or toy card is missing or in two places", "draw_pile_cards"),
    Fault.NOT_ZERO: invalid_state("an unused byte is not zero", ""),
    Fault.TOO_FEW_DEALS: invalid_state(
        "no hands of the other seats that agree with the passes were found: the state cannot occur in play",
        "seats.shown",
        "Public and hidden",
    ),
}
_EVENTS = {
    Event.FIRST_SEAT_CHOSEN: EventKind("{seat} begins"),
    Event.CARD_DEALT: EventKind("{seat} is dealt {card}", ("card",), hidden="{seat} is dealt a card"),
    Event.START_DRAWN: EventKind("{seat} draws {card}", ("card",)),
    Event.START_PLACED: EventKind("{seat} places {card} at {cell}", ("card", "turned", "cell")),
    Event.DRAW_CHOSEN: EventKind("{seat} chooses to draw"),
    Event.CARD_DRAWN: EventKind("{seat} draws {card}", ("card",), hidden="{seat} draws a card"),
    Event.TOY_DRAWN: EventKind("{seat} draws the {card}", ("card",)),
    Event.CARTON_PLACED: EventKind("{seat} places {card} at {cell}", ("card", "turned", "cell")),
    Event.CAT_ASLEEP: EventKind("{seat} lays a sleeping cat at {cell}", ("cell",)),
    Event.CAT_AWAKE: EventKind("{seat} lays a cat on the joint to the right of {joint}", ("joint",)),
    Event.CATS_WOKEN: EventKind(
        Plural("cells", "{seat}'s cat asleep at {cells} wakes up", "{seat}'s cats asleep at {cells} wake up"),
        ("cells",),
    ),
    Event.NO_CAT_FOLLOWED: EventKind("{seat} lays no cat"),
    Event.PRINCESS_ON_JOINT: EventKind(
        "{seat} replaces {cat_owner}'s cat on the joint to the right of {joint} with the Princess",
        ("joint", "cat_owner"),
    ),
    Event.PRINCESS_IN_CELL: EventKind(
        "{seat} replaces {cat_owner}'s cat at {cell} with the Princess", ("cell", "cat_owner")
    ),
    Event.TOY_ON_JOINT: EventKind("{seat} lays the {card} on the joint to the right of {joint}", ("card", "joint")),
    Event.TOY_AS_CARTON: EventKind("{seat} lays the {card} as a carton at {cell}", ("card", "cell")),
    Event.PASSED: EventKind("{seat} cannot play anything and passes"),
    Event.FINAL_PHASE_BEGUN: EventKind("the final phase begins"),
    Event.GAME_ENDED: EventKind("the game is over"),
}
_PHRASES = {
    "action.choose_start_turned": "begin with {turned}",
    "action.place_carton_turned": "place {turned} at {cell}",
    "outcome.first_seat": "{seat} begins",
    "outcome.card": "{card}",
    "prompt.choose_start": "choose the starting carton, and which way it lies",
    "prompt.place_start": "put the starting carton at an end of the column",
    "prompt.draw_or_sleep": "draw a card, or lay a sleeping cat",
    "prompt.play_or_sleep": "play a card from your hand, or lay a sleeping cat",
    "prompt.play": "play a card from your hand, or pass if none can be played",
    "prompt.toy": "lay the toy card on a joint, or as a carton",
    "prompt.toy_on_joint": "lay the toy card on a joint",
    "prompt.toy_as_carton": "no joint is left for the toy card: lay it as a carton",
    "prompt.cat": "lay a cat on a joint of the carton just played, or lay none",
    "event.start_placed_turned": "{seat} places {turned} at {cell}",
    "event.carton_placed_turned": "{seat} places {turned} at {cell}",
}
_ENDS = {
    End.NO_CARTONS: "in the final phase, no player has a carton left",
    End.ALL_PASSED: "in the final phase, all players who hold a carton have passed in succession",
}

# Parts of the observation

# The number of kinds of cards in a pile: cartons, toys, and the Princess as the last kind.
_PILE_KINDS = state.PRINCESS + 1

# The maximum number of Princesses: one for each part of the pile.
_PRINCESSES = state.PARTS

# The maximum size of the pile: the size before the deal.
_MAX_IN_PILE = state.CARTONS + state.TOYS + _PRINCESSES

_OBSERVATION = (
    (
        "contents",
        "Per cell (row, column): 0 empty; a carton or toy card with 1 nothing, 2 a mouse, 3 a ball, 4 a fish, 5 "
        "mouse and ball, 6 ball and fish, 7 fish and mouse, 8 a sprayer, 9 two mice, 10 two balls, 11 two fish; "
        f"{FIRST_SLEEPER_SHOWN} + d a sleeping cat of the seat d seats to the left "
        f"({FIRST_SLEEPER_SHOWN}: of the observing seat); {FIRST_WOKEN_SHOWN} + d such a cat that has woken; "
        f"{PRINCESS_SHOWN} the Princess. One-hot: numpy.eye({PRINCESS_SHOWN + 1})[contents].",
        (state.SIDE, state.SIDE),
        (category(PRINCESS_SHOWN),),
    ),
    (
        "walls",
        "Per cell: 1 for a wall north of it + 2 east + 4 south + 8 west + 16 x what lies on the joint of which it is "
        f"the west cell: 0 nothing; {state.AWAKE} + d an awake cat of the seat d seats to the left ({state.AWAKE}: "
        f"of the observing seat); {state.PRINCESS_THERE} the Princess; {state.TOY_THERE} mice; {state.TOY_THERE + 1} "
        f"balls; {state.LAST_THERE} fish. Planes of walls: walls >> numpy.arange(4)[:, None, None] & 1; of joints, "
        f"one-hot: numpy.eye({state.LAST_THERE + 1})[walls >> 4].",
        (state.SIDE, state.SIDE),
        (bits(4, "sides"), category(state.LAST_THERE, "joint", first_bit=4)),
    ),
    (
        "own_hand",
        f"Per slot of the observing seat's hand: 1 + kind ({_PILE_KINDS}: the Princess); 0 if it is empty. One-hot: "
        f"numpy.eye({_PILE_KINDS + 1})[own_hand].",
        (state.MAX_HAND,),
        (category(_PILE_KINDS),),
    ),
    (
        "unseen",
        f"Per kind of card 0-{state.PRINCESS}: the number of such cards in the pile or in other hands.",
        (_PILE_KINDS,),
        (flag("cards", (_PILE_KINDS - 1,)), count(_PRINCESSES, "princesses")),
    ),
    (
        "pending",
        f"The kind of the toy card ({state.FIRST_TOY}-{state.PRINCESS - 1}) or starting carton "
        f"({state.FIRST_START}-{state.SLEEPER - 1}) that the seat whose turn it is has drawn and has to place "
        "immediately; else 0.",
        (),
        (category(state.SLEEPER - 1),),
    ),
    (
        "just_played",
        "1 + row and 1 + column of the carton that a cat may follow now; else 0.",
        (2,),
        (category(state.SIDE),),
    ),
    (
        "seats",
        "Per seat, clockwise from the observing seat (zeros beyond the number of players): 1; hand size; cats in "
        "supply; 1 if it is the seat's turn; 1 if it began; in the final phase, 1 if it holds a carton; per part of "
        f"the pile ({state.PARTS} parts), the cards drawn from it, except toys; per part, the Princesses played while "
        f"it was the last part drawn from; for each of {state.MAX_HAND} cards in hand, in no particular order, two "
        f"numbers that describe which cards it cannot be, as passes have shown: the sum of 2 ** p over the excluded "
        f"wall patterns p, 0-{state.PATTERNS - 1}, and 1 if it is not the Princess. Flags of patterns: "
        'numpy.unpackbits(seats[:, 16::2, None], axis=2, bitorder="little").',
        (state.SEATS, OBSERVATION_SEAT_NUMBERS),
        (
            flag("present"),
            count(state.MAX_HAND, "hand_size"),
            count(state.CATS, "supply"),
            flag("has_turn"),
            flag("first"),
            flag("holds_carton"),
            count(state.CARTONS - 2 * state.DEALT + _PRINCESSES, "drawn", (state.PARTS,)),
            count(_PRINCESSES, "played", (state.PARTS,)),
            Each(state.MAX_HAND, (bits(state.PATTERNS, "not_patterns"), flag("not_princess"))),
        ),
    ),
    (
        "parts",
        "Per part of the pile, from the top: cards left; 1 if the observing seat drew its Princess.",
        (state.PARTS, 2),
        (count(_MAX_IN_PILE, "left"), flag("own_princess")),
    ),
    ("players", "The number of players.", (), (count(state.SEATS),)),
    ("pile", "Cards in the pile.", (), (count(_MAX_IN_PILE),)),
    (
        "final_phase",
        "1 if the final phase has begun; the number of the latest passes in succession in it.",
        (2,),
        (flag("begun"), count(state.SEATS, "passes")),
    ),
    (
        "variants",
        "1 for each of these options that is in force: all_princesses, no_double_walls, no_crowd_bonus, half_sleepers.",
        (4,),
        (flag(),),
    ),
    (
        "phase",
        "One-hot: first seat, deal, choose start, draw start, place start, turn, draw, play, toy, cat, over.",
        (int(state.Phase.PHASES),),
        (flag(),),
    ),
)


def _variant(name: str, title: str, meaning: str) -> Option:
    return Option(name, title, meaning, OptionType.FLAG, 0, 1, "no", (0,))


DESCRIPTION = Description(
    name="chat_cartonne",
    package=__package__,
    title="If It Fits",
    options=(
        Option.first_seat("The seat that begins.", state.SEATS),
        _variant("all_princesses", "All Princesses", "All five Princesses are shuffled into one pile."),
        _variant("no_double_walls", "No double walls", "Walls may not touch other walls."),
        _variant("no_crowd_bonus", "No bonus for crowds", "Several cats of one player in a box give no bonus."),
        _variant("half_sleepers", "Half sleepers", "A woken cat counts as half a cat for the majority."),
    ),
    action_kinds=(
        ActionKind(
            "choose_start",
            f"Choose the first starting carton: 2 x (kind - {state.FIRST_START}) + turned.",
            0,
            state.DRAW_ID - 1,
            "begin with {card}",
        ),
        ActionKind("draw", "Draw a card.", state.DRAW_ID, state.DRAW_ID, "draw a card"),
        ActionKind("skip", "Lay no cat after the carton just played.", state.SKIP_ID, state.SKIP_ID, "lay no cat"),
        ActionKind("pass_turn", "Pass; possible only if no card can be played.", state.PASS_ID, state.PASS_ID, "pass"),
        ActionKind(
            "place_carton",
            f"Place a carton: {state.FIRST_CARTON_ID} + {state.IDS_OF_SLOT} x slot + {state.CELLS} x turned + cell, "
            f"the hand sorted by kind ascending into slots 0-{state.MAX_HAND - 1}; slot 0 is the starting carton "
            "while that is to be placed.",
            state.FIRST_CARTON_ID,
            state.FIRST_SLEEP_ID - 1,
            "place {card} at {cell}",
        ),
        ActionKind(
            "sleep",
            f"Lay a sleeping cat: {state.FIRST_SLEEP_ID} + cell.",
            state.FIRST_SLEEP_ID,
            state.FIRST_CAT_ID - 1,
            "lay a sleeping cat at {cell}",
        ),
        ActionKind(
            "lay_cat",
            f"Lay an awake cat on a joint of the carton just played: {state.FIRST_CAT_ID} + joint.",
            state.FIRST_CAT_ID,
            state.FIRST_PRINCESS_ON_JOINT_ID - 1,
            "lay a cat on the joint to the right of {joint}",
        ),
        ActionKind(
            "princess_on_joint",
            f"Replace an awake cat with the Princess: {state.FIRST_PRINCESS_ON_JOINT_ID} + joint.",
            state.FIRST_PRINCESS_ON_JOINT_ID,
            state.FIRST_PRINCESS_IN_CELL_ID - 1,
            "replace the cat on the joint to the right of {joint} with the Princess",
        ),
        ActionKind(
            "princess_in_cell",
            f"Replace a cat that sleeps, or has woken, with the Princess: {state.FIRST_PRINCESS_IN_CELL_ID} + cell.",
            state.FIRST_PRINCESS_IN_CELL_ID,
            state.FIRST_TOY_ON_JOINT_ID - 1,
            "replace the cat at {cell} with the Princess",
        ),
        ActionKind(
            "toy_on_joint",
            f"Lay the toy card just drawn on a joint: {state.FIRST_TOY_ON_JOINT_ID} + joint.",
            state.FIRST_TOY_ON_JOINT_ID,
            state.FIRST_TOY_AS_CARTON_ID - 1,
            "lay the toy card on the joint to the right of {joint}",
        ),
        ActionKind(
            "toy_as_carton",
            f"Lay the toy card just drawn as a carton: {state.FIRST_TOY_AS_CARTON_ID} + cell.",
            state.FIRST_TOY_AS_CARTON_ID,
            state.NUM_ACTIONS - 1,
            "lay the toy card as a carton at {cell}",
        ),
    ),
    outcomes=(
        f"For the first seat the seat's number; for a card that is dealt or drawn its kind, 0-{state.SLEEPER - 1}."
    ),
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
        "cat_owner": "seat",
        "card": "card",
        "turned": "turned",
        "cell": "cell",
        "joint": "cell",
        "cells": "cell",
    },
    lists=("cells",),
)
