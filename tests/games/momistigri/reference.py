"""A slow implementation of Momistigri in plain Python, from docs/rules/momistigri.md, independent of the engine.

A game is a generator that yields questions (the seat to act and the possible moves) and receives the moves.
"""

from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from functools import reduce
from math import gcd
from typing import Any

from ..script import CHANCE, OVER, Question, Script

MOMISTIGRI = 45
PASS, STOP, MAIN, REVERSE, NAME, GIVE, HAND_OUT, SWAP_OUT, SWAP_IN = (
    1081,
    1082,
    1083,
    1084,
    1085,
    1131,
    1315,
    1361,
    1407,
)
LAST_TURN = 200
# The knower that represents all seats.
ALL = "all"


Play = Generator[Question, int, Any]


def value(card: int) -> int:
    """Return the value of a card."""
    return 10 if card == MOMISTIGRI else card % 9 + 1


def colour(card: int) -> int:
    """Return a card's colour, 0-4. The Momistigri has a separate colour."""
    return card // 9


def default_copies() -> list[int]:
    """Return the default copies. If cards are sorted by value, card i has colour i mod 5."""
    copies = [0] * 45
    i = 0
    for points in range(1, 10):
        for _ in range(10 - points):
            copies[9 * (i % 5) + points - 1] += 1
            i += 1
    return copies


def pair_id(first: int, second: int) -> int:
    """Return the dense id of DiscardPair."""
    low, high = sorted((first, second))
    return high * (high + 1) // 2 + low


def pair_of(move: int) -> tuple[int, int]:
    """Return the pair of a dense id."""
    return next((a, b) for b in range(46) for a in range(b + 1) if pair_id(a, b) == move)


def gift_id(places: int, card: int) -> int:
    """Return the dense id of Give to the seat `places` places to the left."""
    return GIVE + 46 * (places - 1) + card


def pairs_in(hand: Counter[int]) -> set[int]:
    """Return the ids of all pairs of a hand."""
    cards = sorted(hand.elements())
    return {
        pair_id(cards[i], cards[j])
        for j in range(len(cards))
        for i in range(j)
        if MOMISTIGRI not in (cards[i], cards[j])
        and (value(cards[i]) == value(cards[j]) or colour(cards[i]) == colour(cards[j]))
    }


class Game(Script):
    """Momistigri."""

    def __init__(self, players: int, options: Mapping[str, Any] | None = None) -> None:
        options = options or {}
        self.players = players
        self.copies: Sequence[int] = options.get("copies") or default_copies()
        without = {5: (), 4: (1,), 3: (1, 2, 9)}[players]
        self.deck = Counter({card: n for card, n in enumerate(self.copies) if n and value(card) not in without})
        self.deck[MOMISTIGRI] = 1
        self.first_seat: int | None = options.get("first_seat")
        self.hands: list[Counter[int]] = [Counter() for _ in range(players)]
        self.pile: Counter[int] = Counter()
        self.penalties: list[list[int]] = []
        self.direction = 1
        self.turn = 0
        self.inside = set(range(players))
        self.passed: set[int] = set()
        self.over = False
        # Map (knower, seat of the hand) to the hand's minimum number of cards of each kind, and to its maximum number
        # of 1s.
        self.known: dict[tuple[Any, int], Counter[int]] = {}
        self.most_ones: dict[tuple[Any, int], int] = {}
        self.begin()

    # Score

    def totals(self) -> list[int]:
        """Return the penalty points that each seat would have if the game ended now."""
        return [
            sum(penalties[seat] for penalties in self.penalties) + (0 if self.over else self.hand_sum(seat))
            for seat in range(self.players)
        ]

    def hand_sum(self, seat: int) -> int:
        """Return the points of a hand."""
        return sum(value(card) for card in self.hands[seat].elements())

    def ranks(self) -> list[int]:
        """Return each seat's rank, as if the game were over."""
        totals = self.totals()
        return [1 + sum(other < total for other in totals) for total in totals]

    # The game

    def _chance(self, cards: Counter[int]) -> Play:
        present = sorted(card for card, n in cards.items() if n)
        divisor = reduce(gcd, (cards[card] for card in present))
        return (yield Question(CHANCE, tuple(present), tuple(cards[card] // divisor for card in present)))

    def _ask(self, seat: int, moves: set[int]) -> Play:
        return (yield Question(seat, tuple(sorted(moves))))

    def _run(self) -> Play:
        if self.first_seat is None:
            self.first_seat = yield Question(CHANCE, tuple(range(self.players)), (1,) * self.players)
            self.tell("FIRST_SEAT_CHOSEN", self.first_seat)
        yield from self.rounds(self.first_seat, self._round(self.first_seat))

    def rounds(self, first: int, rest: Play) -> Play:
        """Play the rest of a round that `first` began (`rest`), and then all rounds to the end of the game."""
        while True:
            yield from rest
            totals = [sum(penalties[seat] for penalties in self.penalties) for seat in range(self.players)]
            fewest_tied = totals.count(min(totals)) > 1
            if len(self.penalties) == 3 or (len(self.penalties) == 2 and not fewest_tied):
                break
            clockwise = [(first + i) % self.players for i in range(self.players)]
            first = next(seat for seat in clockwise if totals[seat] == max(totals))
            self.tell("ROUND_BEGUN", first, len(self.penalties) + 1)
            rest = self._round(first)
        self.tell("GAME_ENDED", None)
        self.over = True
        self.known, self.most_ones = {}, {}
        yield Question(OVER, ())

    def _round(self, first: int) -> Play:
        self.hands = [Counter() for _ in range(self.players)]
        self.pile = Counter()
        self.direction, self.turn = 1, 0
        self.inside, self.passed = set(range(self.players)), set()
        self.known, self.most_ones = {}, {}
        left = self.deck.copy()
        order = [(first + i) % self.players for i in range(9 * self.players)] + [(first - 1) % self.players]
        for seat in order:
            card = yield from self._chance(left)
            left[card] -= 1
            self.hands[seat][card] += 1
            self.tell("CARD_DEALT", seat, card, seen_by={seat})
        self.turn = 1
        yield from self.turns(first, self._turn(first, (None, None)))

    def turns(self, active: int, rest: Play) -> Play:
        """Play the rest of a seat's turn (`rest`), and then all turns to the end of the round."""
        while True:
            mark = yield from rest
            if self.size(active) == 0:
                self._leave(active)
            if len(self.inside) <= 1 or self.inside == self.passed or self.turn == LAST_TURN:
                break
            active = self.beside(active, 1)
            self.turn += 1
            rest = self._turn(active, mark)
        alone, all_passed = len(self.inside) <= 1, self.inside == self.passed
        self.tell("ONE_SEAT_LEFT" if alone else "ALL_PASSED" if all_passed else "TURN_LIMIT_REACHED", None)
        for seat in range(self.players):
            shown = sorted(self.hands[seat].elements())
            # An event has at most eight cards.
            for i in range(0, len(shown), 8):
                self.tell("HAND_SHOWN", seat, *shown[i : i + 8])
            self.tell("PENALTY_TAKEN", seat, self.hand_sum(seat))
        self.penalties.append([self.hand_sum(seat) for seat in range(self.players)])

    def size(self, seat: int) -> int:
        """Return the number of cards that a seat holds."""
        return self.hands[seat].total()

    def beside(self, seat: int, sense: int) -> int:
        """Return the nearest other seat in the round, in the direction of play (1) or against it (-1)."""
        for i in range(1, self.players):
            other = (seat + i * sense * self.direction) % self.players
            if other in self.inside:
                return other
        raise AssertionError("no other seat is in the round")

    def _leave(self, seat: int) -> None:
        self.tell("SEAT_LEFT", seat)
        self.inside.discard(seat)
        self.passed.discard(seat)
        for key in [key for key in self.most_ones if key[1] == seat]:
            del self.most_ones[key]

    def _turn(self, seat: int, mark: tuple[Any, Any]) -> Play:
        # Returns the pending mark for the next draw.
        kind, named = mark
        previous = self.beside(seat, -1)
        wanted = min({"two": 2, "three": 3}.get(kind, 1), self.size(previous))
        self.tell("TURN_BEGUN", seat, previous, wanted)
        return (yield from self.draw(seat, kind, wanted, named))

    def draw(self, seat: int, kind: str | None, wanted: int, named: int = -1) -> Play:
        """Continue a turn from its draw of `wanted` cards. Return the pending mark for the next draw."""
        previous = self.beside(seat, -1)
        for _ in range(wanted):
            card = named if kind == "chosen" else (yield from self._chance(self.hands[previous]))
            self._move_card(previous, seat, card)
            self.tell("CARD_DRAWN", seat, card, seen_by={previous, seat})
        if self.size(previous) == 0:
            self._leave(previous)
        elif kind == "swap":
            yield from self.swap(previous)
        return (yield from self.discard(seat, PASS))

    def discard(self, seat: int, instead: int) -> Play:
        """Continue a turn from the discard of a pair or `instead`: PASS, or STOP after 6s. Returns as `draw`."""
        hand = self.hands[seat]
        move = yield from self._ask(seat, pairs_in(hand) | {instead})
        if move == PASS:
            self.tell("PASSED", seat)
            self.passed.add(seat)
            return None, None
        while move != STOP:
            first, second = pair_of(move)
            self.tell("PAIR_DISCARDED", seat, first, second)
            self._discard(seat, first)
            self._discard(seat, second)
            self.passed.discard(seat)
            if value(first) != value(second):
                break
            if value(first) != 6:
                return (yield from self.effect(seat, value(first)))
            move = yield from self._ask(seat, pairs_in(hand) | {STOP})
        if move == STOP:
            self.tell("STOPPED", seat)
        return None, None

    def swap(self, seat: int) -> Play:
        """Swap a card of the seat from which cards are drawn."""
        before = self.pile.copy()
        out = (yield from self._ask(seat, {SWAP_OUT + card for card, n in self.hands[seat].items() if n})) - SWAP_OUT
        self._discard(seat, out)
        self.tell("CARD_SWAPPED_OUT", seat, out)
        card = (yield from self._ask(seat, {SWAP_IN + card for card, n in before.items() if n})) - SWAP_IN
        self._take(seat, card)
        self.tell("CARD_SWAPPED_IN", seat, card)

    def effect(self, seat: int, points: int) -> Play:
        """Continue a turn from the effect of a pair. The result is as in `draw`."""
        others = self.inside - {seat}
        nothing = (None, None)
        targets = bool(others) and self.size(seat) > 0
        if points in (1, 2, 3):
            if (yield from self._ask(seat, {MAIN, REVERSE})) == REVERSE:
                self.direction *= -1
                self.tell("DIRECTION_REVERSED", seat)
                return nothing
            if points == 1:
                ones = sorted(card for card in self.hands[seat].elements() if value(card) == 1)
                for card in ones:
                    self._discard(seat, card)
                self.tell("ONES_DISCARDED", seat, *ones)
                for knower in (*range(self.players), ALL):
                    if knower != seat:
                        self.most_ones[knower, seat] = 0
            elif points == 2 and targets:
                name = yield from self._ask(seat, {NAME + card for card, n in self.hands[seat].items() if n})
                self.tell("CARD_NAMED", seat, name - NAME, seen_by={seat})
                return "chosen", name - NAME
            elif points == 3 and targets:
                self.tell("SWAP_PENDING", seat)
                return "swap", None
        elif points == 4 and targets:
            cards = [card for card, n in self.hands[seat].items() if n]
            places = {(other - seat) % self.players for other in others}
            gift = yield from self._ask(seat, {gift_id(place, card) for place in places for card in cards})
            place, card = 1 + (gift - GIVE) // 46, (gift - GIVE) % 46
            receiver = (seat + place) % self.players
            self._move_card(seat, receiver, card)
            self.tell("CARD_GIVEN", seat, card, seen_by={seat, receiver})
        elif points == 5 and others:
            receiver = self.beside(seat, 1)
            while receiver != seat and self.pile.total():
                card = (yield from self._ask(seat, {HAND_OUT + card for card, n in self.pile.items() if n})) - HAND_OUT
                self._take(receiver, card)
                self.tell("CARD_HANDED_OUT", receiver, card, seat)
                receiver = self.beside(receiver, 1)
        elif points == 7 and targets:
            self.tell("TWO_PENDING", seat)
            return "two", None
        elif points == 8 and targets:
            self.tell("THREE_PENDING", seat)
            return "three", None
        return nothing

    # Moves of cards, and knowledge of them

    def _knowers(self, seat: int) -> list[Any]:
        return [knower for knower in (*range(self.players), ALL) if knower != seat]

    def knows(self, knower: Any, seat: int) -> Counter[int]:
        """Return the cards that the knower knows to be in a hand."""
        return self.known.setdefault((knower, seat), Counter())

    def _expect_ones(self, knower: Any, seat: int, more: int) -> None:
        if (knower, seat) in self.most_ones:
            self.most_ones[knower, seat] += more
            if self.most_ones[knower, seat] >= 9:
                del self.most_ones[knower, seat]

    def _discard(self, seat: int, card: int) -> None:
        self.hands[seat][card] -= 1
        self.pile[card] += 1
        for knower in self._knowers(seat):
            self.known[knower, seat] = self.knows(knower, seat) - Counter([card])
            if value(card) == 1:
                self._expect_ones(knower, seat, -1)

    def _take(self, seat: int, card: int) -> None:
        self.pile[card] -= 1
        self.hands[seat][card] += 1
        for knower in self._knowers(seat):
            self.knows(knower, seat)[card] += 1
            if value(card) == 1:
                self._expect_ones(knower, seat, 1)

    def _move_card(self, giver: int, receiver: int, card: int) -> None:
        before = +self.hands[giver]
        aware = {
            knower
            for knower in (*range(self.players), ALL)
            if knower in (giver, receiver) or (len(before) == 1 and self.knows(knower, giver) == before)
        }
        # A 1 cannot come from a hand that has no 1s.
        may_be_one = {knower: self.most_ones.get((knower, giver)) != 0 for knower in (*range(self.players), ALL)}
        self.hands[giver][card] -= 1
        self.hands[receiver][card] += 1
        for knower in self._knowers(giver):
            known = self.knows(knower, giver)
            self.known[knower, giver] = known - Counter([card] if knower in aware else list(known.keys()))
            if knower in aware and value(card) == 1:
                self._expect_ones(knower, giver, -1)
        for knower in self._knowers(receiver):
            if knower in aware:
                self.knows(knower, receiver)[card] += 1
            if value(card) == 1 if knower in aware else may_be_one[knower]:
                self._expect_ones(knower, receiver, 1)
