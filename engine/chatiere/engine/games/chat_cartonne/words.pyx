"""Chat Cartonne: the words for cards, events and faults."""

from types import SimpleNamespace

from chatiere.engine.core.description import Name, Piece
from chatiere.engine.core.languages import Plural
from chatiere.engine.core.phrases import Phrases
from chatiere.engine.core.rules_file import RulesFile

from chatiere.engine.games.chat_cartonne.observation cimport (
    FIRST_SLEEPER_SHOWN,
    FIRST_WOKEN_SHOWN,
    OBSERVATION_SEAT_NUMBERS,
    PRINCESS_SHOWN,
)
from chatiere.engine.games.chat_cartonne.state cimport (
    AWAKE,
    CARTONS,
    CATS,
    CELLS,
    DEALT,
    DRAW_ID,
    FIRST_CARTON_ID,
    FIRST_CAT_ID,
    FIRST_PRINCESS_IN_CELL_ID,
    FIRST_PRINCESS_ON_JOINT_ID,
    FIRST_SLEEP_ID,
    FIRST_START,
    FIRST_TOY,
    FIRST_TOY_AS_CARTON_ID,
    FIRST_TOY_ON_JOINT_ID,
    IDS_OF_SLOT,
    MAX_HAND,
    LAST_THERE,
    NUM_ACTIONS,
    PARTS,
    PASS_ID,
    PATTERNS,
    PHASES,
    PRINCESS,
    PRINCESS_THERE,
    SEATS,
    SIDE,
    SKIP_ID,
    SLEEPER,
    TOYS,
    TOY_THERE,
    TURNED,
    ChatCartonneEnd,
    ChatCartonneEvent,
    ChatCartonneFault,
    walls_of,
)

RULES = RulesFile("chat_cartonne.md")

# The kernel's numbers, for text.py.
SIZES = SimpleNamespace(
    awake=AWAKE,
    cartons=CARTONS,
    cats=CATS,
    cells=CELLS,
    dealt=DEALT,
    first_sleeper_shown=FIRST_SLEEPER_SHOWN,
    first_start=FIRST_START,
    first_toy=FIRST_TOY,
    first_woken_shown=FIRST_WOKEN_SHOWN,
    last_there=LAST_THERE,
    parts=PARTS,
    patterns=PATTERNS,
    phases=int(PHASES),
    princess=PRINCESS,
    princess_shown=PRINCESS_SHOWN,
    princess_there=PRINCESS_THERE,
    seat_numbers=OBSERVATION_SEAT_NUMBERS,
    seats=SEATS,
    side=SIDE,
    sleeper=SLEEPER,
    slots=MAX_HAND,
    toys=TOYS,
    toy_there=TOY_THERE,
)
# The first dense id of each kind of action; `end` is one past the last.
IDS = SimpleNamespace(
    draw=DRAW_ID,
    skip=SKIP_ID,
    pass_turn=PASS_ID,
    place_carton=FIRST_CARTON_ID,
    of_slot=IDS_OF_SLOT,
    sleep=FIRST_SLEEP_ID,
    lay_cat=FIRST_CAT_ID,
    princess_on_joint=FIRST_PRINCESS_ON_JOINT_ID,
    princess_in_cell=FIRST_PRINCESS_IN_CELL_ID,
    toy_on_joint=FIRST_TOY_ON_JOINT_ID,
    toy_as_carton=FIRST_TOY_AS_CARTON_ID,
    end=NUM_ACTIONS,
)

_CONTENTS = (
    None,
    None,
    "mouse",
    "ball",
    "fish",
    "mouse and ball",
    "ball and fish",
    "fish and mouse",
    "sprayer",
)
_TOYS = ("toy card (2 mice)", "toy card (2 balls)", "toy card (2 fish treats)")


def _wall_name(card):
    if walls_of(card) == 0:
        return Name("no walls")
    sides = {side: Name(side) if walls_of(card) >> i & 1 else "" for i, side in enumerate("NESW")}
    return Name("walls {N}{E}{S}{W}", **sides)


def _name(kind, turned):
    walls = _wall_name(kind | (TURNED if turned else 0))
    if kind < CARTONS:
        content = _CONTENTS[kind % 9]
        if content is None:
            return Name("carton {number} ({walls})", number=kind, walls=walls)
        return Name("carton {number} ({walls}, {content})", number=kind, walls=walls, content=Name(content))
    if kind < PRINCESS:
        return Name(_TOYS[kind - FIRST_TOY])
    if kind == PRINCESS:
        return Name("Princess")
    return Name("starting carton {number} ({walls})", number=kind, walls=walls)


KINDS = tuple(_name(kind, False) for kind in range(SLEEPER))

PIECES = (
    *(Piece(kind, name) for kind, name in enumerate(KINDS)),
    *(
        Piece(
            cell,
            Name("{number} (column {column}, row {row})", number=cell, column=cell % SIDE, row=cell // SIDE),
            "cell",
        )
        for cell in range(CELLS)
    ),
    # A card that lies turned, with the walls as they then are.
    *(Piece(kind, Name("{card}, turned", card=_name(kind, True)), "turned") for kind in range(SLEEPER)),
    *(Piece(number, _wall_name(CARTONS // PATTERNS * number), "pattern") for number in range(PATTERNS)),
)

# The fields that the values of an event fill, in order.
EVENT_VALUES = {
    int(ChatCartonneEvent.FIRST_SEAT_CHOSEN): (),
    int(ChatCartonneEvent.CARD_DEALT): ("card",),
    int(ChatCartonneEvent.START_DRAWN): ("card",),
    int(ChatCartonneEvent.START_PLACED): ("card", "turned", "cell"),
    int(ChatCartonneEvent.DRAW_CHOSEN): (),
    int(ChatCartonneEvent.CARD_DRAWN): ("card",),
    int(ChatCartonneEvent.TOY_DRAWN): ("card",),
    int(ChatCartonneEvent.CARTON_PLACED): ("card", "turned", "cell"),
    int(ChatCartonneEvent.CAT_ASLEEP): ("cell",),
    int(ChatCartonneEvent.CAT_AWAKE): ("joint",),
    int(ChatCartonneEvent.CATS_WOKEN): ("cells",),
    int(ChatCartonneEvent.NO_CAT_FOLLOWED): (),
    int(ChatCartonneEvent.PRINCESS_ON_JOINT): ("joint", "cat_owner"),
    int(ChatCartonneEvent.PRINCESS_IN_CELL): ("cell", "cat_owner"),
    int(ChatCartonneEvent.TOY_ON_JOINT): ("card", "joint"),
    int(ChatCartonneEvent.TOY_AS_CARTON): ("card", "cell"),
    int(ChatCartonneEvent.PASSED): (),
    int(ChatCartonneEvent.FINAL_PHASE_BEGUN): (),
    int(ChatCartonneEvent.GAME_ENDED): (),
}

ENDS = {int(ChatCartonneEnd.NO_CARTONS): "no_cartons", int(ChatCartonneEnd.ALL_PASSED): "all_passed"}
FAULTS = {
    int(ChatCartonneFault.STARTS_ARE_LAID): RULES.illegal(
        "starts_are_laid", "a starting carton is chosen once, by the first seat", "Components and setup"
    ),
    int(ChatCartonneFault.MUST_CHOOSE_START): RULES.illegal(
        "must_choose_start", "the first seat has to choose a starting carton", "Components and setup"
    ),
    int(ChatCartonneFault.MUST_PLACE_START): RULES.illegal(
        "must_place_start", "the seat has to place the starting carton that it has drawn", "Components and setup"
    ),
    int(ChatCartonneFault.MUST_DRAW_OR_SLEEP): RULES.illegal(
        "must_draw_or_sleep", "a turn begins with Draw or a sleeping cat", "When a seat is asked"
    ),
    int(ChatCartonneFault.NO_DRAW_NOW): RULES.illegal(
        "no_draw_now",
        "a card is drawn only at the start of a turn, not with three cards in hand, and not in the final phase",
        "A turn",
    ),
    int(ChatCartonneFault.NO_SLEEP_AFTER_DRAW): RULES.illegal(
        "no_sleep_after_draw", "a sleeping cat is laid instead of drawing and playing", "A turn"
    ),
    int(ChatCartonneFault.MUST_PLAY_TOY): RULES.illegal(
        "must_play_toy", "a toy card that was drawn is played at once", "A turn"
    ),
    int(ChatCartonneFault.NO_TOY_DRAWN): RULES.illegal("no_toy_drawn", "no toy card was drawn", "A turn"),
    int(ChatCartonneFault.CAT_OR_SKIP): RULES.illegal(
        "cat_or_skip", "a carton was just played: a cat follows, or Skip", "When a seat is asked"
    ),
    int(ChatCartonneFault.NOTHING_TO_FOLLOW): RULES.illegal(
        "nothing_to_follow", "a cat is laid, or not, only after a carton of the same turn", "A turn"
    ),
    int(ChatCartonneFault.PASSING_NOT_A_CHOICE): RULES.illegal(
        "passing_not_a_choice", "Pass is legal only if nothing can be played", "End"
    ),
    int(ChatCartonneFault.TURN_CHANGES_NOTHING): RULES.illegal(
        "turn_changes_nothing", "turning this card does not change its walls: only turn 0 is legal", "Actions", "turned"
    ),
    int(ChatCartonneFault.NOT_AT_COLUMN_END): RULES.illegal(
        "not_at_column_end",
        "a starting carton is put at the north or south end of the column of them",
        "Components and setup",
        "cell",
    ),
    int(ChatCartonneFault.CARD_NOT_IN_HAND): RULES.illegal(
        "card_not_in_hand", "the hand has no card in that slot", "Actions", "card"
    ),
    int(ChatCartonneFault.NOT_A_CARTON): RULES.illegal(
        "not_a_carton", "the Princess is not placed like a carton", "A turn", "card"
    ),
    int(ChatCartonneFault.CELL_FILLED): RULES.illegal("cell_filled", "there is a card in that cell", "A turn", "cell"),
    int(ChatCartonneFault.CELL_NOT_BESIDE): RULES.illegal(
        "cell_not_beside", "that cell shares an edge with no card on the table", "A turn", "cell"
    ),
    int(ChatCartonneFault.WALL_MEETS_WALL): RULES.illegal(
        "wall_meets_wall", "with no_double_walls a wall may not meet a wall", "A turn", "cell"
    ),
    int(ChatCartonneFault.NO_CAT_IN_SUPPLY): RULES.illegal(
        "no_cat_in_supply", "all five cats of the seat are on the table", "A turn"
    ),
    int(ChatCartonneFault.NOT_JUST_PLAYED): RULES.illegal(
        "not_just_played", "that is not a joint of the carton just played", "A turn", "joint"
    ),
    int(ChatCartonneFault.NO_JOINT_THERE): RULES.illegal(
        "no_joint_there", "there are not two cartons side by side there without a wall between them", "A turn", "joint"
    ),
    int(ChatCartonneFault.JOINT_TAKEN): RULES.illegal("joint_taken", "something lies on that joint", "A turn", "joint"),
    int(ChatCartonneFault.BOX_OF_OTHERS): RULES.illegal(
        "box_of_others", "the box holds cats of other seats and none of the own", "A turn", "joint"
    ),
    int(ChatCartonneFault.NO_PRINCESS_IN_HAND): RULES.illegal(
        "no_princess_in_hand", "the hand has no Princess", "A turn"
    ),
    int(ChatCartonneFault.NO_CAT_THERE): RULES.illegal(
        "no_cat_there", "no cat lies there that the Princess could replace", "A turn", "joint", "cell"
    ),
    int(ChatCartonneFault.TOY_NEEDS_JOINT): RULES.illegal(
        "toy_needs_joint", "a toy card is laid as a carton only if it can lie on no joint", "A turn"
    ),
    int(ChatCartonneFault.BAD_PLAYERS): RULES.broken(
        "bad_players", "Chat Cartonne is for 2 to 5 players", "seats", "Components and setup"
    ),
    int(ChatCartonneFault.BAD_OPTIONS): RULES.broken(
        "bad_options", "there are four variants", "options", "Components and setup"
    ),
    int(ChatCartonneFault.BAD_FIRST_SEAT): RULES.broken(
        "bad_first_seat",
        "the first seat is not a seat, not the one that the options name, or set before chance has chosen it",
        "first_seat",
    ),
    int(ChatCartonneFault.BAD_PHASE): RULES.broken(
        "bad_phase", "the phase does not exist, or draws a card after the final phase has begun", "phase", "End"
    ),
    int(ChatCartonneFault.BAD_ACTIVE_SEAT): RULES.broken(
        "bad_active_seat",
        "the active seat is not a seat, or cannot be asked at this moment",
        "active_seat",
        "When a seat is asked",
    ),
    int(ChatCartonneFault.BAD_FINAL_PHASE): RULES.broken(
        "bad_final_phase",
        "the final phase begins when the pile is empty or a seat has all five cats on the table, and only then",
        "final_phase",
        "End",
    ),
    int(ChatCartonneFault.BAD_PASSES): RULES.broken(
        "bad_passes",
        "passes are counted in the final phase, up to the number of seats that hold a carton, which ends the game",
        "passes",
        "End",
    ),
    int(ChatCartonneFault.BAD_HAND): RULES.broken(
        "bad_hand",
        "a hand holds cartons and Princesses, ascending, as many as it may have at this moment",
        "seats.hand_cards",
    ),
    int(ChatCartonneFault.BAD_SUPPLY): RULES.broken(
        "bad_supply", "a seat has five cats, in its supply and on the table", "seats.supply"
    ),
    int(ChatCartonneFault.BAD_TABLE): RULES.broken(
        "bad_table",
        "the table is a list of cards by ascending cell, each sharing an edge with another, turned only where that "
        "changes the walls, and with no_double_walls no wall meets a wall",
        "table",
        "A turn",
    ),
    int(ChatCartonneFault.BAD_JOINT): RULES.broken(
        "bad_joint",
        "something lies on a joint where no two cartons are side by side without a wall between them",
        "table.on_joint",
        "A turn",
    ),
    int(ChatCartonneFault.BAD_WOKEN): RULES.broken(
        "bad_woken",
        "in the box of a woken cat there is neither an awake cat of its seat nor a Princess who took that one's place",
        "table.woken",
        "A turn",
    ),
    int(ChatCartonneFault.BAD_STARTS): RULES.broken(
        "bad_starts",
        "the starting cartons lie in the column of the first one, one for each seat that has placed one, and before "
        "the first turn nothing else does",
        "table",
        "Components and setup",
    ),
    int(ChatCartonneFault.BAD_PENDING): RULES.broken(
        "bad_pending",
        "a starting carton or toy card that was drawn goes with the phase in which it is placed, and is nowhere else",
        "starting_carton",
        "Components and setup",
    ),
    int(ChatCartonneFault.BAD_JUST_PLAYED): RULES.broken(
        "bad_just_played",
        "the carton just played goes with the phase CAT, and then a cat can be laid beside it",
        "just_played",
        "A turn",
    ),
    int(ChatCartonneFault.BAD_DRAWS): RULES.broken(
        "bad_draws",
        "what the seats have drawn does not fit the pile, the toy cards that have come, or what they hold",
        "seats.by_part.cards_drawn",
        "Public and hidden",
    ),
    int(ChatCartonneFault.BAD_PRINCESSES): RULES.broken(
        "bad_princesses",
        "the Princesses in hands, on the table and in the pile are not those that were drawn, or were played "
        "before that",
        "parts",
    ),
    int(ChatCartonneFault.BAD_SHOWN): RULES.broken(
        "bad_shown",
        "what passes have shown is not in order, or contradicts the hand",
        "seats.shown",
        "Public and hidden",
    ),
    int(ChatCartonneFault.CARD_TWICE_OR_MISSING): RULES.broken(
        "card_twice_or_missing", "a carton or toy card is in no place or in two", "draw_pile_cards"
    ),
    int(ChatCartonneFault.NOT_ZERO): RULES.broken("not_zero", "an unused byte is not zero", ""),
    int(ChatCartonneFault.TOO_FEW_DEALS): RULES.broken(
        "too_few_deals",
        "no hands of the other seats were found that agree with what passes have shown; the state cannot come up in "
        "play",
        "seats.shown",
        "Public and hidden",
    ),
}

PHRASES = Phrases(
    __package__,
    {
        "action.choose_start": "begin with {card}",
        "action.choose_start_turned": "begin with {turned}",
        "action.draw": "draw a card",
        "action.skip": "let no cat follow",
        "action.pass_turn": "pass",
        "action.place_carton": "place {card} at {cell}",
        "action.place_carton_turned": "place {turned} at {cell}",
        "action.sleep": "lay a sleeping cat at {cell}",
        "action.lay_cat": "lay a cat on the joint at {joint}",
        "action.princess_on_joint": "the Princess for the cat on the joint at {joint}",
        "action.princess_in_cell": "the Princess for the cat at {cell}",
        "action.toy_on_joint": "lay the toy card on the joint at {joint}",
        "action.toy_as_carton": "lay the toy card as a carton at {cell}",
        "outcome.first_seat": "{seat} begins",
        "outcome.card": "{card}",
        "prompt.choose_start": "choose the starting carton, and which way it lies",
        "prompt.place_start": "put the starting carton at an end of the column",
        "prompt.draw_or_sleep": "draw a card, or lay a sleeping cat",
        "prompt.play_or_sleep": "play a card from the hand, or lay a sleeping cat",
        "prompt.play": "play a card from the hand, or pass if none can be played",
        "prompt.toy_on_joint": "lay the toy card on a joint",
        "prompt.toy_as_carton": "no joint is left for the toy card: lay it as a carton",
        "prompt.cat": "lay a cat on a joint of the carton just played, or none",
        "event.start_placed_turned": "{seat} places {turned} at {cell}",
        "event.carton_placed_turned": "{seat} places {turned} at {cell}",
    },
    {
        int(ChatCartonneEvent.FIRST_SEAT_CHOSEN): ("first_seat_chosen", "{seat} begins"),
        int(ChatCartonneEvent.CARD_DEALT): ("card_dealt", "{seat} is dealt {card}", "{seat} is dealt a card"),
        int(ChatCartonneEvent.START_DRAWN): ("start_drawn", "{seat} draws {card}"),
        int(ChatCartonneEvent.START_PLACED): ("start_placed", "{seat} places {card} at {cell}"),
        int(ChatCartonneEvent.DRAW_CHOSEN): ("draw_chosen", "{seat} chooses to draw"),
        int(ChatCartonneEvent.CARD_DRAWN): ("card_drawn", "{seat} draws {card}", "{seat} draws a card"),
        int(ChatCartonneEvent.TOY_DRAWN): ("toy_drawn", "{seat} draws {card}"),
        int(ChatCartonneEvent.CARTON_PLACED): ("carton_placed", "{seat} places {card} at {cell}"),
        int(ChatCartonneEvent.CAT_ASLEEP): ("cat_asleep", "{seat} lays a sleeping cat at {cell}"),
        int(ChatCartonneEvent.CAT_AWAKE): ("cat_awake", "{seat} lays a cat on the joint at {joint}"),
        int(ChatCartonneEvent.CATS_WOKEN): (
            "cats_woken",
            Plural(
                "cells",
                "the cat of {seat} that sleeps at {cells} wakes",
                "the cats of {seat} that sleep at {cells} wake",
            ),
        ),
        int(ChatCartonneEvent.NO_CAT_FOLLOWED): ("no_cat_followed", "{seat} lays no cat beside it"),
        int(ChatCartonneEvent.PRINCESS_ON_JOINT): (
            "princess_on_joint",
            "the Princess of {seat} takes the place of the cat of {cat_owner} on the joint at {joint}",
        ),
        int(ChatCartonneEvent.PRINCESS_IN_CELL): (
            "princess_in_cell",
            "the Princess of {seat} takes the place of the cat of {cat_owner} at {cell}",
        ),
        int(ChatCartonneEvent.TOY_ON_JOINT): ("toy_on_joint", "{seat} lays the {card} on the joint at {joint}"),
        int(ChatCartonneEvent.TOY_AS_CARTON): ("toy_as_carton", "{seat} lays the {card} as a carton at {cell}"),
        int(ChatCartonneEvent.PASSED): ("passed", "{seat} has nothing to play and passes"),
        int(ChatCartonneEvent.FINAL_PHASE_BEGUN): ("final_phase_begun", "the final phase begins"),
        int(ChatCartonneEvent.GAME_ENDED): ("game_ended", "the game is over"),
    },
    (
        ("no_cartons", "nobody holds a carton any more in the final phase"),
        ("all_passed", "in the final phase every seat that holds a carton has passed in succession"),
    ),
    FAULTS.values(),
    {
        "seat": "seat",
        "cat_owner": "seat",
        "card": "card",
        "turned": "turned",
        "cell": "cell",
        "joint": "cell",
        "cells": "cell",
    },
    PIECES,
    EVENT_VALUES,
    ("cells",),
)
