"""Discat: the description of the game, with all texts of the game."""

from typing import Any

from chatiere.engine.core.description import ActionKind, Description, EventKind, Name, Option, OptionType, Piece
from chatiere.engine.core.observation_parts import bits, category, count, flag, lay_out
from chatiere.engine.core.rules_file import RulesFile, with_keys

from . import state
from .observation import OBSERVATION_SEAT_NUMBERS, TURNS_BIT
from .state import DiscatEnd as End
from .state import DiscatEvent as Event
from .state import DiscatFault as Fault

RULES = RulesFile("discat.md")
illegal_action, invalid_state = RULES.illegal_action, RULES.invalid_state

# The cards whose arrows point up by default: the odd cards (rules file: Arrows).
_UP_ARROWS = tuple(range(1, state.MAX_CARD, 2))

_PIECES = tuple(Piece(card, Name("{number}", number=card)) for card in range(1, state.MAX_CARD + 1))


def _card_info(card: int) -> dict[str, Any]:
    tens, units = divmod(card, 10)
    return {
        "card": card,
        "tens": tens,
        "units": units,
        "points_up": card in _UP_ARROWS,
        "min_players": next(
            players
            for players in range(state.MIN_PLAYERS, state.MAX_PLAYERS + 1)
            if card <= state.BASE_CARDS + state.CARDS_A_PLAYER * players
        ),
    }


_PIECE_DETAILS = {
    "cards": [_card_info(card) for card in range(1, state.MAX_CARD + 1)],
    "cards_dealt": state.DEALT,
    "largest_hand": state.MAX_HAND,
    "bonus_group_size": state.BONUS_GROUP,
    "winning_group_size": state.WINNING_GROUP,
    "pile_card_points": 1,
    "bonus_card_points": state.BONUS_POINTS,
    "hand_card_points": -1,
}

# Faults, events and other phrases

_FAULTS = {
    Fault.PASSING_NOT_A_CHOICE: illegal_action("passing is not allowed while a card in hand can be played", "A turn"),
    Fault.MUST_PASS: illegal_action(
        "no card in hand respects the constraint: keep the hand or exchange a card", "Cannot respect the constraint"
    ),
    Fault.CARD_NOT_IN_HAND: illegal_action("that card is not in the hand", "Actions", "card"),
    Fault.NOT_A_GROUP: illegal_action(
        "the cards of a group must share the tens digit or the units digit", "A turn", "cards"
    ),
    Fault.WRONG_SIDE: illegal_action("the top card does not respect the constraint", "A turn", "cards"),
    Fault.FIRST_PLAY_IS_ONE_CARD: illegal_action(
        "the first turn of the game is a single card", "Components and setup", "cards"
    ),
    Fault.DRAW_PILE_EMPTY: illegal_action(
        "the draw pile is empty: no card can be exchanged", "Cannot respect the constraint"
    ),
    Fault.BAD_PLAYERS: invalid_state(
        f"Discat is for {state.MIN_PLAYERS} to {state.MAX_PLAYERS} players", "seats", "Components and setup"
    ),
    Fault.BAD_FIRST_SEAT: invalid_state(
        "the first seat is not a seat of the game, differs from the options, or is set before chance has chosen it",
        "first_seat",
    ),
    Fault.BAD_ARROWS: invalid_state(
        f"an arrow is set for a card above {state.MAX_CARD}", "options.up_arrows", "Arrows"
    ),
    Fault.BAD_PHASE: invalid_state(
        "the phase does not match the hand of the active seat, the constraint or the draw pile", "phase", "A turn"
    ),
    Fault.BAD_ACTIVE_SEAT: invalid_state(
        "the active seat does not match the phase and the turns so far", "active_seat", "A turn"
    ),
    Fault.BAD_LAST_TURNS: invalid_state(
        "the last turns need an empty draw pile and a seat with an empty hand, and each other seat has only one",
        "last_turns_left",
        "End",
    ),
    Fault.BAD_WINNER: invalid_state(
        f"a play has at most {state.MAX_HAND} cards, and one of {state.WINNING_GROUP} or more wins and is the last",
        "turns",
        "End",
    ),
    Fault.BAD_HAND: invalid_state(
        f"a hand does not have the number of cards due at this moment, ascending and each from 1 to {state.MAX_CARD}",
        "seats.hand_cards",
    ),
    Fault.BAD_REDRAWN: invalid_state(
        "the redrawn cards are not cards, not as many as have left the queue, or were drawn before the unknown part "
        "of the draw pile was empty",
        "redrawn_cards",
        "Draw pile",
    ),
    Fault.BAD_TURNS: invalid_state("each play is followed by at most players - 1 passes", "turns"),
    Fault.BAD_QUEUE: invalid_state(
        "the queue has more cards than were exchanged, or than the draw pile can hold", "queue_cards", "Draw pile"
    ),
    Fault.CARD_TWICE_OR_MISSING: invalid_state(
        "a card in use is missing or in two places, or a card that is not in use is in play", "draw_pile_cards"
    ),
    Fault.NOT_ZERO: invalid_state("an unused byte is not zero", ""),
    Fault.HISTORY_CONTRADICTS_HANDS: invalid_state(
        "the hidden cards contradict what the turns have shown", "turns", "Public and hidden"
    ),
    Fault.TOO_FEW_DEALS: invalid_state(
        "no distribution of the hidden cards that agrees with the turns was found: the state cannot occur in play",
        "turns",
        "Public and hidden",
    ),
}
_EVENTS = {
    Event.FIRST_SEAT_CHOSEN: EventKind("{seat} begins"),
    Event.CARD_DEALT: EventKind("{seat} is dealt {card}", hidden="{seat} is dealt a card"),
    Event.CARDS_PLAYED: EventKind("{seat} plays {card}"),
    Event.CARD_TO_BONUS_PILE: EventKind("{card} goes to {seat}'s bonus pile"),
    Event.BONUS_CARD_DRAWN: EventKind("{seat} draws {card} as a bonus", hidden="{seat} draws a card as a bonus"),
    Event.TOP_TURNED: EventKind("{seat} turns {card} face down"),
    Event.HAND_KEPT: EventKind("{seat} passes and keeps the hand"),
    Event.CARD_EXCHANGED: EventKind(
        "{seat} passes and puts {card} under the draw pile", hidden="{seat} passes and puts a card under the draw pile"
    ),
    Event.EXCHANGE_DRAWN: EventKind("{seat} draws {card} in exchange", hidden="{seat} draws a card in exchange"),
    Event.CARD_REFILLED: EventKind("{seat} refills the hand with {card}", hidden="{seat} refills the hand with a card"),
    Event.CONSTRAINT_LIFTED: EventKind("all others have passed: {seat} plays without a constraint"),
    Event.LAST_TURNS_BEGUN: EventKind(
        "{seat} has no cards left and the draw pile is empty: the others have one more turn each"
    ),
    Event.GAME_ENDED: EventKind("the game is over"),
}
_PHRASES = {
    "action.play_group": "play {cards} with {top} on top",
    "outcome.first_seat": "{seat} begins",
    "outcome.card": "card {card}",
    "prompt.first_play": "play any one card from your hand",
    "prompt.play_any": "play any card, or a group of cards with the same tens digit or the same units digit",
    "prompt.play_higher": "play a card higher than {card}, or a group with such a card on top",
    "prompt.play_lower": "play a card lower than {card}, or a group with such a card on top",
    "prompt.pass_higher": "no card in hand is higher than {card}: keep your hand, or choose a card to exchange",
    "prompt.pass_lower": "no card in hand is lower than {card}: keep your hand, or choose a card to exchange",
    "prompt.keep_higher": "no card in hand is higher than {card}, and the draw pile is empty: keep your hand",
    "prompt.keep_lower": "no card in hand is lower than {card}, and the draw pile is empty: keep your hand",
    "event.cards_played_group": "{seat} plays {cards} with {top} on top",
}
_ENDS = {
    End.GROUP: "{seat} has played a group of five or more cards and wins immediately",
    End.LAST_TURNS: "{seat} ran out of cards, and the last turns are over",
}

# Parts of the observation

_OBSERVATION = (
    (
        "own_hand",
        "Per card (index card - 1): 1 if it is in the hand of the observing seat.",
        (state.MAX_CARD,),
        (flag(),),
    ),
    ("laid", "Per card: 1 if it lies on a personal or bonus pile.", (state.MAX_CARD,), (flag(),)),
    (
        "order",
        "Per card: its place, from 1, in the order in which cards were laid, with the top card of a play last; 0 if it "
        "was not laid.",
        (state.MAX_CARD,),
        (count(state.MAX_CARD),),
    ),
    (
        "turns",
        f"Per card that was the top of a play: bits 0-{TURNS_BIT - 1}, where bit i is 1 if the i-th pass after the "
        f"play (from 0) exchanged a card; from bit {TURNS_BIT} on, 1 + the number of passes after the play. 0 for "
        "other cards.",
        (state.MAX_CARD,),
        (bits(TURNS_BIT, "exchanged"), count(state.MAX_PLAYERS, "count", first_bit=TURNS_BIT)),
    ),
    (
        "known",
        "Per card: 1 if the observing seat put it under the draw pile and it is still there; 1 + d if it is known to "
        "be in the hand of the seat d places to the left; else 0.",
        (state.MAX_CARD,),
        (category(state.MAX_PLAYERS),),
    ),
    (
        "queue_place",
        "Per card that the observing seat put under the draw pile and that is still there: its place, from 1 for the "
        "next to be drawn; else 0.",
        (state.MAX_CARD,),
        (count(state.MAX_PILE),),
    ),
    (
        "meets_constraint",
        "Per card in use: 1 if it respects the constraint, or if there is no constraint.",
        (state.MAX_CARD,),
        (flag(),),
    ),
    ("points_up", "Per card in use: 1 if its arrows point up.", (state.MAX_CARD,), (flag(),)),
    (
        "redrawn",
        f"The last {state.REDRAWN_KEPT} cards that were put under the draw pile and drawn since, the latest first: "
        "the card's number if the observing seat put it there or drew it; else 0.",
        (state.REDRAWN_KEPT,),
        (category(state.MAX_CARD),),
    ),
    (
        "seats",
        "Per seat, clockwise from the observing seat (zeros beyond the number of players): 1; hand size; cards on the "
        "personal pile; cards on the bonus pile; number of the top card of the personal pile (0: none); 1 if that card "
        "lies face down; 1 if it is the seat's turn; 1 if the seat created the constraint in force.",
        (state.MAX_PLAYERS, OBSERVATION_SEAT_NUMBERS),
        (
            flag("present"),
            count(state.MAX_HAND, "hand_size"),
            count(state.MAX_CARD, "personal_pile"),
            count(state.MAX_CARD // state.BONUS_GROUP, "bonus_pile"),
            category(state.MAX_CARD, "top"),
            flag("top_face_down"),
            flag("has_turn"),
            flag("creator"),
        ),
    ),
    ("players", "The number of players.", (), (count(state.MAX_PLAYERS),)),
    ("draw_pile", "Cards in the draw pile, including cards put under it.", (), (count(state.MAX_CARD),)),
    ("queue", "Cards that were put under the draw pile and are still there.", (), (count(state.MAX_PILE),)),
    ("passes", "Passes since the last play.", (), (count(state.MAX_PLAYERS - 1),)),
    ("bonus_drawn", "1 if the constraint's creator has drawn its bonus card.", (), (flag(),)),
    (
        "last_turns_left",
        "The number of last turns left, including the present turn; 0 before the last turns.",
        (),
        (count(state.MAX_PLAYERS - 1),),
    ),
    (
        "phase",
        "One-hot: first seat, deal, play, bonus, pass, exchange, refill, over.",
        (int(state.Phase.PHASES),),
        (flag(),),
    ),
)

DESCRIPTION = Description(
    name="discat",
    package=__package__,
    title="Discat",
    options=(
        Option.first_seat("The seat that begins.", state.MAX_PLAYERS),
        Option(
            "up_arrows",
            "Arrows up",
            "The cards whose arrows point up; all others point down.",
            OptionType.PIECES,
            1,
            state.MAX_CARD,
            "odd numbers point up, even numbers down",
            _UP_ARROWS,
            piece_kind="card",
        ),
    ),
    action_kinds=(
        ActionKind(
            "play",
            f"Lay a card or a group: with the hand sorted ascending into slots 0-{state.MAX_HAND - 1}, "
            f"{state.PLAYS_A_TOP} x the top card's slot + a mask of the other cards, with bit k for the k-th slot "
            "other than the top card's.",
            0,
            state.PLAY_IDS - 1,
            "play {card}",
        ),
        ActionKind("keep", "Pass and keep the hand.", state.KEEP_ID, state.KEEP_ID, "keep the hand"),
        ActionKind(
            "exchange",
            f"Pass and put the card in slot id - {state.FIRST_EXCHANGE_ID} under the draw pile.",
            state.FIRST_EXCHANGE_ID,
            state.NUM_ACTIONS - 1,
            "put {card} under the draw pile and draw another card",
        ),
    ),
    outcomes="For the first seat the seat's number; for a card that is dealt or drawn the card's number - 1.",
    pieces=_PIECES,
    piece_details=_PIECE_DETAILS,
    lowest_total_wins=False,
    observation=lay_out(_OBSERVATION),
    faults=with_keys(_FAULTS),
    events=_EVENTS,
    end_phrases=_ENDS,
    phrases=_PHRASES,
    argument_kinds={"seat": "seat", "card": "card", "cards": "card", "top": "card"},
)
