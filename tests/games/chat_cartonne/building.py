"""Positions of Chat Cartonne for tests: tables built card by card, and games continued from them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from chatiere import engine
from chatiere.engine import Event, Position
from chatiere.engine.wire import fill
from chatiere.v1.chat_cartonne_pb2 import (
    CHAT_CARTONNE_PHASE_TURN,
    ChatCartonneAction,
    ChatCartonneState,
)

from ..building import event_of, read
from .reference import CONTENTS, PATTERNS

GAME = engine.game("chat_cartonne")
CODEC = engine.codec("chat_cartonne")
VARIANTS = ("all_princesses", "no_double_walls", "no_crowd_bonus", "half_sleepers")
DRAW, SKIP, PASS, PRINCESS = 10, 11, 12, 75


def carton(walls: str, content: str = "") -> int:
    """Return the carton with these printed walls and contents. Of two cartons without contents, return the first."""
    return 9 * PATTERNS.index(walls) + CONTENTS.index(content)


def cell(column: int, row: int) -> int:
    """Return a cell's number."""
    return 24 * row + column


def place(slot: int, where: int, turned: bool = False) -> int:
    """Return the dense id of a PlaceCarton."""
    return 13 + 1152 * slot + 576 * turned + where


def sleep(where: int) -> int:
    """Return the dense id of a Sleep."""
    return 3469 + where


def cat(joint: int) -> int:
    """Return the dense id of a LayCat."""
    return 4045 + joint


def princess_on(joint: int) -> int:
    """Return the dense id of the Princess on a joint."""
    return 4621 + joint


def princess_in(where: int) -> int:
    """Return the dense id of the Princess in a cell."""
    return 5197 + where


def toy_on(joint: int) -> int:
    """Return the dense id of a toy card on a joint."""
    return 5773 + joint


def toy_as_carton(where: int) -> int:
    """Return the dense id of a toy card as a carton."""
    return 6349 + where


def typed(position: Position, action: int) -> ChatCartonneAction:
    """Return a dense id as a message."""
    message = ChatCartonneAction()
    fill(message, CODEC.put_action, position, action)
    return message


def plain_events(events: Iterable[Event], whole: bool = True) -> list[tuple[str, int | None]]:
    """Return the kind and seat of each event's message."""
    found = []
    for event in events:
        kind, message = event_of(GAME, event, whole)
        found.append((kind, message.seat if message.HasField("seat") else None))
    return found


def play(position: Position, *moves: int) -> Position:
    """Return the position after some moves. Check the invariants after each."""
    position = position.clone()
    for move in moves:
        position.apply(move)
        position.check()
    return position


def begun(players: int = 2, options: Mapping[str, Any] | None = None, hands: Sequence[Sequence[int]] = ()) -> Position:
    """Return a game at the first turn of seat 0. Starting cartons 76, 77 … lie southwards, and `hands` are dealt."""
    position = GAME.new_game(players, {"first_seat": 0, **(options or {})})
    dealt = [list(hand) for hand in hands] or [[2 * seat, 2 * seat + 1] for seat in range(players)]
    for number in range(2):
        for seat in range(players):
            position.apply(dealt[seat][number])
    position.apply(0)
    for number in range(1, players):
        position.apply(76 + number)
        position.apply(place(0, cell(11, 11 + number)))
    return position


class Board:
    """Builds a table and the state around it: by default for two seats, with seat 0 to move.

    Cells are numbers. Starting cartons lie from (11, 11) southwards. As in a game, hands hold two cartons, and cards
    that are neither on the table nor in a hand are in the pile.
    """

    def __init__(self, players: int = 2, **options: Any) -> None:
        """Start with only the starting cartons."""
        self.players = players
        self.options = options
        # For each cell, the kind of its card (81 + s for a sleeping cat of seat s), and whether it is turned or woken.
        self.cards: dict[int, Any] = {cell(11, 11 + seat): (76 + seat, False) for seat in range(players)}
        self.joints: dict[int, Any] = {}
        self.hands: list[list[int]] = [[] for _ in range(players)]
        self.princesses: list[int] = []
        self.final = False
        self.active = 0

    def put(self, where: int, walls: str = "", content: str = "", turned: bool = False) -> "Board":
        """Lay the carton with these printed walls and contents."""
        kinds = [kind for kind in range(72) if PATTERNS[kind // 9] == walls and CONTENTS[kind % 9] == content]
        used = {kind for kind, _ in self.cards.values()} | {kind for hand in self.hands for kind in hand}
        self.cards[where] = (next(kind for kind in kinds if kind not in used), turned)
        return self

    def fill(self, *cells: int) -> "Board":
        """Lay unused cartons of the lowest kinds."""
        for where in cells:
            used = {kind for kind, _ in self.cards.values()} | {kind for hand in self.hands for kind in hand}
            self.cards[where] = (next(kind for kind in range(72) if kind not in used), False)
        return self

    def toy(self, where: int, kind: int) -> "Board":
        """Lay a toy card as a carton."""
        self.cards[where] = (kind, False)
        return self

    def asleep(self, where: int, seat: int, woken: bool = False) -> "Board":
        """Lay a sleeping cat, or a cat that has woken up."""
        self.cards[where] = (81 + seat, woken)
        return self

    def awake(self, joint: int, seat: int) -> "Board":
        """Lay a cat on a joint."""
        self.joints[joint] = ("cat", seat)
        return self

    def toy_on(self, joint: int, kind: int) -> "Board":
        """Lay a toy card on a joint."""
        self.joints[joint] = ("toy", kind)
        return self

    def princess(self, where: int, on_joint: bool, seat: int) -> "Board":
        """Lay a Princess played by the seat."""
        if on_joint:
            self.joints[where] = ("princess", None)
        else:
            self.cards[where] = (PRINCESS, False)
        self.princesses.append(seat)
        return self

    def hand(self, seat: int, *kinds: int) -> "Board":
        """Give a seat its hand."""
        self.hands[seat] = sorted(kinds)
        return self

    def state(self, change: Callable[[ChatCartonneState], None] | None = None) -> ChatCartonneState:
        """Return the state. In it, the seats have drawn the cards on the table and in hands in turn."""
        state = ChatCartonneState(first_seat=0, active_seat=self.active, final_phase=self.final)
        state.phase = CHAT_CARTONNE_PHASE_TURN
        fill(state.options, CODEC.put_options, {"first_seat": 0, **self.options})
        used = {kind for kind, _ in self.cards.values()} | {kind for hand in self.hands for kind in hand}
        for hand in self.hands:
            while not self.final and len(hand) < 2:
                hand.append(next(kind for kind in range(71, 0, -1) if kind not in used))
                used.add(hand[-1])
                hand.sort()
        self._play_enough()
        for where in sorted(self.cards):
            kind, turned = self.cards[where]
            card = state.table.add(cell=where, turned=turned and kind <= 80, woken=turned and kind > 80)
            if kind == PRINCESS:
                card.princess.SetInParent()
            elif kind > 80:
                card.sleeping_cat = kind - 81
            else:
                card.card = kind
            what, whose = self.joints.get(where, ("", None))
            if what == "princess":
                card.on_joint.princess.SetInParent()
            elif what:
                setattr(card.on_joint, what, whose)
        used |= {kind for kind, _ in self.cards.values()}
        used |= {whose for what, whose in self.joints.values() if what == "toy"}
        state.draw_pile_cards.extend(kind for kind in range(75) if kind not in used)
        self._fill_seats(state)
        if change is not None:
            change(state)
        return state

    def _drawers(self) -> list[int]:
        return self.princesses + [seat for seat, hand in enumerate(self.hands) for kind in hand if kind == PRINCESS]

    def _play_enough(self) -> None:
        # Each seat was dealt two cartons. Cartons that a seat no longer holds are laid south of the starting cartons,
        # and have walls N and S.
        gone = [2 + self._drawers().count(seat) - self.princesses.count(seat) for seat in range(self.players)]
        wanted = sum(max(0, gone[seat] - len(hand)) for seat, hand in enumerate(self.hands))
        row = 11 + self.players
        while sum(kind < 72 for kind, _ in self.cards.values()) < wanted:
            self.put(cell(11, row), "NS", ("", "m", "b", "f", "mb", "bf")[row - 11 - self.players])
            row += 1

    def _fill_seats(self, state: ChatCartonneState) -> None:
        sizes = self._sizes()
        cats = [whose for what, whose in self.joints.values() if what == "cat"]
        cats += [kind - 81 for kind, _ in self.cards.values() if kind > 80]
        drawers = self._drawers()
        placed = sum(kind < 72 for kind, _ in self.cards.values())
        cards = placed + sum(map(len, self.hands)) + len(self.princesses) - 2 * self.players
        toys = 3 - sum(kind >= 72 for kind in state.draw_pile_cards)
        # Seats that drew Princesses come first, then all seats in turn. Toy cards were the last cards drawn in each
        # part.
        order = [*drawers, *(turn % self.players for turn in range(cards - len(drawers)))]
        drawn = [[0] * len(sizes) for _ in range(self.players)]
        part, left = 0, sizes[0]
        for seat in order:
            if left == 0:
                part, left = part + 1, sizes[part + 1]
            drawn[seat][part] += 1
            left -= 1
        assert toys <= left, "too many toy cards have been drawn"
        for seat in range(self.players):
            message = state.seats.add(hand_cards=self.hands[seat], supply=5 - cats.count(seat))
            played = [0] * len(sizes)
            if seat in self.princesses:
                played[max(i for i, count in enumerate(drawn[seat]) if count)] = self.princesses.count(seat)
            for part, count in enumerate(drawn[seat]):
                message.by_part.add(cards_drawn=count, princesses_played=played[part])
        for i in range(len(sizes)):
            lot = state.parts.add()
            if len(sizes) > 1 and i < len(drawers):
                lot.princess_drawn_by = drawers[i]

    def _sizes(self) -> list[int]:
        cards = 75 - 2 * self.players
        if self.options.get("all_princesses"):
            return [cards + 5]
        return [cards // self.players + (part < cards % self.players) + 1 for part in range(self.players)]

    def position(self, change: Callable[[ChatCartonneState], None] | None = None) -> Position:
        """Return the position, checked."""
        return read(self.state(change))


def late(
    players: int, left: int, hands: Mapping[int, tuple[int, ...]], princesses: tuple[int, ...] = (), **options: Any
) -> Board:
    """Return a board with all cartons, except those in hands and about `left` other cartons."""
    board = Board(players, **options)
    for seat, hand in hands.items():
        board.hand(seat, *hand)
    for number, seat in enumerate(princesses):
        board.princess(cell(2 + number, 10), False, seat)
    free = 72 - sum(kind < 72 for hand in board.hands for kind in hand) - left
    cells = [cell(column, row) for row in (11, 12, 13, 14, 15, 10, 9) for column in range(24)]
    cells = [where for where in cells if where not in board.cards]
    board.fill(*cells[:free])
    return board
