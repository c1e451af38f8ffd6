"""A slow implementation of Discat: the rules file as a plain Python script, for comparison with the kernel.

It shares no code with the kernel and has a different design. The game is one function that runs from the deal to the
end, and stops (`yield`) whenever a seat or chance has to act. Chance is always explicit.
"""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from itertools import combinations

from ..script import CHANCE, OVER, Question, Script

MAX_CARD = {2: 50, 3: 60, 4: 70, 5: 80, 6: 90}
KEEP = 192
EXCHANGE = 193


@dataclass(frozen=True)
class Fact:
    """A past event that reveals information. `seers` are the seats that know its cards, or None if all seats do.

    The kinds are draw (a card of the unknown part of the pile), draw_queue (the oldest card under the pile), able and
    unable (the hand has, or does not have, a card on the right side of `cards[0]`), exchange and play.
    """

    kind: str
    seat: int
    cards: tuple[int, ...]
    seers: frozenset[int] | None


def play_id(hand: set[int], cards: tuple[int, ...]) -> int:
    """Return the dense id of laying `cards`, the top last: 32 × the top's slot + a mask of the remaining slots."""
    slots = sorted(hand)
    top = cards[-1]
    rest = [card for card in slots if card != top]
    return 32 * slots.index(top) + sum(1 << rest.index(card) for card in cards[:-1])


def is_group(cards: tuple[int, ...]) -> bool:
    """Return whether two or more cards share the first digit (0 for 1-9), or share the second digit."""
    return len({f"{card:02}"[0] for card in cards}) == 1 or len({f"{card:02}"[1] for card in cards}) == 1


class Game(Script):
    """Discat."""

    def __init__(self, players: int, options: Mapping[str, int] | None = None) -> None:
        """Start a game with the options of the rules file."""
        options = options or {}
        self.players = players
        self.first_seat: int | None = options.get("first_seat")
        cards = range(1, MAX_CARD[players] + 1)
        up_arrows = options.get("up_arrows")
        self.up = {card for card in cards if (card % 2 if up_arrows is None else up_arrows & 2 ** (card - 1))}
        self.unknown = set(cards)
        self.queue: list[int] = []
        self.queue_seats: list[int] = []
        self.hands: list[set[int]] = [set() for _ in range(players)]
        self.piles: list[list[int]] = [[] for _ in range(players)]
        self.bonus: list[list[int]] = [[] for _ in range(players)]
        self.face_down: set[int] = set()
        self.constraint: int | None = None
        self.creator: int | None = None
        self.bonus_drawn = False
        self.group_winner: int | None = None
        self.facts: list[Fact] = []
        self.begin()

    # The game

    def _run(self) -> Generator[Question, int, None]:
        if self.first_seat is None:
            self.first_seat = yield Question(CHANCE, tuple(range(self.players)))
            self.tell("FIRST_SEAT_CHOSEN", self.first_seat)
        for _ in range(5):
            for distance in range(self.players):
                yield from self._draw((self.first_seat + distance) % self.players, "CARD_DEALT")
        seat = self.first_seat
        yield from self.turns(seat, None)

    def turns(self, seat: int, turns_left: int | None) -> Generator[Question, int, None]:
        """Continue from the start of a seat's turn. `turns_left` is the number of last turns with this one, or None."""
        while True:
            yield from self._turn(seat)
            if turns_left is not None:
                turns_left -= 1
            elif not self.hands[seat] and not self._pile_size() and self.group_winner is None:
                turns_left = self.players - 1
                self.tell("LAST_TURNS_BEGUN", seat)
            if self.group_winner is not None or turns_left == 0:
                break
            seat = (seat + 1) % self.players
        self.tell("GAME_ENDED", None)
        yield Question(OVER, ())

    def _turn(self, seat: int) -> Generator[Question, int, None]:
        if seat == self.creator:
            self._turn_top(seat)
            self.constraint = None
            self.tell("CONSTRAINT_LIFTED", seat)
        able = any(self.respects(card) for card in self.hands[seat])
        if self.constraint is not None:
            self._note("able" if able else "unable", seat, (self.constraint,), None)
        if able:
            yield from self._play(seat)
            if self.group_winner is not None:
                return
        else:
            if self.creator is not None and not self.bonus_drawn and self._pile_size():
                yield from self._draw(self.creator, "BONUS_CARD_DRAWN")
                self.bonus_drawn = True
            self._turn_top(seat)
            yield from self._pass(seat)
        yield from self._refill(seat)

    def _play(self, seat: int) -> Generator[Question, int, None]:
        hand = self.hands[seat]
        choices = {play_id(hand, cards): cards for cards in self.plays(seat)}
        cards = choices[(yield Question(seat, tuple(sorted(choices))))]
        self._note("play", seat, cards, None)
        hand.difference_update(cards)
        laid = [*sorted(cards[:-1]), cards[-1]]
        self.tell("CARDS_PLAYED", seat, *laid)
        if len(laid) == 4:
            self.tell("CARD_TO_BONUS_PILE", seat, laid[0])
            self.bonus[seat].append(laid.pop(0))
        self.piles[seat] += laid
        self.constraint = cards[-1]
        self.creator = seat
        self.bonus_drawn = False
        if len(cards) >= 5:
            self.group_winner = seat

    def _pass(self, seat: int) -> Generator[Question, int, None]:
        hand = sorted(self.hands[seat])
        moves = [KEEP]
        if self._pile_size():
            moves += [EXCHANGE + slot for slot in range(len(hand))]
        move = yield Question(seat, tuple(moves))
        if move == KEEP:
            self.tell("HAND_KEPT", seat)
        else:
            card = hand[move - EXCHANGE]
            self.tell("CARD_EXCHANGED", seat, card, seen_by={seat})
            self.hands[seat].remove(card)
            self.queue.append(card)
            self.queue_seats.append(seat)
            self._note("exchange", seat, (card,), {seat})
            yield from self._draw(seat, "EXCHANGE_DRAWN")

    def _refill(self, seat: int) -> Generator[Question, int, None]:
        while self.group_winner is None and len(self.hands[seat]) < 5 and self._pile_size():
            yield from self._draw(seat, "CARD_REFILLED")

    def _draw(self, seat: int, event: str) -> Generator[Question, int, None]:
        seers = {seat}
        if self.unknown:
            card = 1 + (yield Question(CHANCE, tuple(card - 1 for card in sorted(self.unknown))))
            self.unknown.remove(card)
            self._note("draw", seat, (card,), seers)
        else:
            card = self.queue.pop(0)
            seers.add(self.queue_seats.pop(0))
            self._note("draw_queue", seat, (card,), seers)
        self.hands[seat].add(card)
        self.tell(event, seat, card, seen_by=seers)

    def _turn_top(self, seat: int) -> None:
        for top in self.piles[seat][-1:]:
            if top not in self.face_down:
                self.face_down.add(top)
                self.tell("TOP_TURNED", seat, top)

    def _pile_size(self) -> int:
        return len(self.unknown) + len(self.queue)

    def _note(self, kind: str, seat: int, cards: tuple[int, ...], seers: set[int] | None) -> None:
        self.facts.append(Fact(kind, seat, cards, None if seers is None else frozenset(seers)))

    # Questions about the game

    def respects(self, card: int) -> bool:
        """Return whether a card respects the constraint, or True if there is no constraint."""
        if self.constraint is None:
            return True
        return card > self.constraint if self.constraint in self.up else card < self.constraint

    def plays(self, seat: int) -> list[tuple[int, ...]]:
        """Return all legal plays of a seat, the top card last."""
        hand = sorted(self.hands[seat])
        largest = len(hand) if self.creator is not None else 1
        return [
            (*(card for card in cards if card != top), top)
            for size in range(1, largest + 1)
            for cards in combinations(hand, size)
            if is_group(cards)
            for top in cards
            if self.respects(top)
        ]

    def totals(self) -> list[int]:
        """Return the score that each seat would have if the game ended now."""
        return [
            len(self.piles[seat]) + 4 * len(self.bonus[seat]) - len(self.hands[seat]) for seat in range(self.players)
        ]

    def ranks(self) -> list[int]:
        """Return each seat's rank, as if the game were over: 1 + the number of seats ahead of it."""
        seats = range(self.players)
        if self.group_winner is not None:
            return [1 if seat == self.group_winner else 2 for seat in seats]
        merits = [(total, len(self.bonus[seat])) for seat, total in enumerate(self.totals())]
        return [1 + sum(other > merit for other in merits) for merit in merits]
