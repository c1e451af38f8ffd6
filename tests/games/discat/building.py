"""Positions of Discat for tests: games played with given cards, and states given in full."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from chatiere import engine
from chatiere.engine import Event, EventLog, Position
from chatiere.engine.wire import Reader, fill
from chatiere.v1.discat_pb2 import DiscatAction, DiscatState

from .. import building
from ..building import event_of, state_of, view_of

GAME = engine.game("discat")
CODEC = engine.codec("discat")
KEEP = 192
EXCHANGE = 193
MAX_CARD = {2: 50, 3: 60, 4: 70, 5: 80, 6: 90}


def play_id(position: Position, *cards: int) -> int:
    """Return the dense id of laying cards. The last card is on top."""
    action = DiscatAction()
    action.play.cards.extend(cards)
    return int(CODEC.read_action(Reader(action), position))


def exchange_id(position: Position, card: int) -> int:
    """Return the dense id of putting a card under the draw pile."""
    action = DiscatAction()
    action.exchange.card = card
    return int(CODEC.read_action(Reader(action), position))


def plain_event(event: Event, whole: bool = True) -> tuple[str, int | None, tuple[int, ...]]:
    """Return the kind, seat and cards of an event's message."""
    kind, message = event_of(GAME, event, whole)
    return kind, message.seat if message.HasField("seat") else None, tuple(message.cards)


class Table(building.Table):
    """A game with explicit chance, in which moves are given as cards.

    `events` contains the events of the last move, and `history` the events of all moves.
    """

    def __init__(self, *hands: Sequence[int], first_seat: int = 0, up_arrows: Iterable[int] | None = None) -> None:
        """Deal the given hands, five cards each."""
        options: dict[str, Any] = {"first_seat": first_seat}
        if up_arrows is not None:
            options["up_arrows"] = sum(1 << (card - 1) for card in up_arrows)
        self.position = GAME.new_game(len(hands), options)
        self.events = EventLog()
        self.history: list[Event] = []
        for number in range(5):
            for distance in range(len(hands)):
                self.draw(hands[(first_seat + distance) % len(hands)][number])

    @classmethod
    def at(cls, position: Position) -> "Table":
        """Continue from a copy of a position."""
        table = super().at(position)
        table.history = []
        return table

    def apply(self, move: int) -> "Table":
        """Apply a dense id or an outcome."""
        super().apply(move)
        self.history += self.events
        return self

    def draw(self, *cards: int) -> "Table":
        """Resolve chance events to these cards, one event each."""
        for card in cards:
            self.apply(card - 1)
        return self

    def play(self, *cards: int) -> "Table":
        """Lay cards. The last card is on top."""
        return self.apply(play_id(self.position, *cards))

    def keep(self) -> "Table":
        """Pass and keep the hand."""
        return self.apply(KEEP)

    def exchange(self, card: int) -> "Table":
        """Pass and put a card under the pile."""
        return self.apply(exchange_id(self.position, card))

    def hand(self, seat: int) -> list[int]:
        """Return a seat's cards."""
        return list(state_of(self.position).seats[seat].hand_cards)

    def pile(self, seat: int) -> list[int]:
        """Return a seat's personal pile, bottom card first."""
        return [card.card for card in view_of(self.position, None).seats[seat].pile]

    def face_down(self, seat: int) -> list[int]:
        """Return the face-down cards of a seat's personal pile."""
        return [card.card for card in view_of(self.position, None).seats[seat].pile if card.face_down]

    def bonus_pile(self, seat: int) -> list[int]:
        """Return a seat's bonus pile."""
        return list(view_of(self.position, None).seats[seat].bonus_pile)

    def queue(self) -> list[int]:
        """Return the cards under the pile, oldest first."""
        return list(state_of(self.position).queue_cards)

    def constraint(self) -> tuple[int, bool] | None:
        """Return the card that makes the constraint, and whether cards must be higher."""
        view = view_of(self.position, None)
        return (view.constraint.card, view.constraint.higher) if view.HasField("constraint") else None

    def legal_plays(self) -> set[tuple[int, ...]]:
        """Return all legal plays as cards, with the top card last."""
        plays = set()
        for action in self.position.legal_actions():
            message = DiscatAction()
            fill(message, CODEC.put_action, self.position, action)
            if message.WhichOneof("action") == "play":
                plays.add(tuple(message.play.cards))
        return plays

    def plain_events(self) -> list[tuple[str, int | None, tuple[int, ...]]]:
        """Return the events of the last move."""
        return [plain_event(event) for event in self.events]


Turn = tuple[str, tuple[int, ...]]


def played(*cards: int) -> Turn:
    """Return a turn for `late_state` in which these cards were laid. The last card is on top."""
    return "played", cards


KEPT: Turn = ("passed", ())
EXCHANGED: Turn = ("passed", (1,))


def late_state(
    hands: Sequence[Sequence[int]],
    turns: Sequence[Turn],
    *,
    first: int = 0,
    active: int,
    unknown: Sequence[int] = (),
    queue: Sequence[int] = (),
    redrawn: Sequence[int] = (),
    phase: str = "PLAY",
    bonus_drawn: bool = False,
    last_turns_left: int = 0,
    up_arrows: Iterable[int] | None = None,
) -> DiscatState:
    """Return a late state, in which all cards that are not given were laid one by one before `turns`.

    `first` is the seat of the first of `turns`.
    """
    players = len(hands)
    placed = {
        *chain(*hands),
        *unknown,
        *queue,
        *chain.from_iterable(cards for kind, cards in turns if kind == "played"),
    }
    fillers = [card for card in range(1, MAX_CARD[players] + 1) if card not in placed]
    state = DiscatState(
        phase=f"DISCAT_PHASE_{phase}",
        first_seat=(first - len(fillers)) % players,
        active_seat=active,
        bonus_drawn=bonus_drawn,
        last_turns_left=last_turns_left,
        draw_pile_cards=sorted(unknown),
        queue_cards=queue,
    )
    state.options.SetInParent()
    if up_arrows is not None:
        state.options.up_arrows.cards.extend(sorted(up_arrows))
    if redrawn:
        state.redrawn_cards.extend(redrawn)
    for hand in hands:
        state.seats.add().hand_cards.extend(sorted(hand))
    for number, (kind, cards) in enumerate([*(played(card) for card in fillers), *turns]):
        turn = state.turns.add(seat=(state.first_seat + number) % players)
        if kind == "played":
            turn.played.cards.extend(cards)
        else:
            turn.passed.exchanged = bool(cards)
    return state
