"""A slow implementation of Chatpentiers: the rules file as a plain Python script, for comparison with the kernel.

It shares no code with the kernel. The game is one function that runs from the first deal to the end, and stops
(`yield`) whenever a seat or chance has to act. Cards are pairs (colour, value). Chance is always explicit.
"""

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..script import CHANCE, OVER, Question, Script

ZERO_ZONE = 4
TAKES = {3: (1, 2, 0), 4: (1, 2, 0, 0), 5: (1, 1, 2, 0, 0)}
DEALT = {3: 11, 4: 14, 5: 12}
BONUS = (0, 0, 1, 2, 4)

Card = tuple[int, int]


def number(card: Card) -> int:
    """Return the number of a card in ids and outcomes."""
    colour, value = card
    return 12 * colour + value - 1


def card_of(card_number: int) -> Card:
    """Return the card with a number."""
    return card_number // 12, card_number % 12 + 1


@dataclass
class Trick:
    """A trick, finished or not: the cards played and their seats, in order."""

    plays: list[tuple[int, Card]] = field(default_factory=list)
    extra: Card | None = None


class Game(Script):
    """Chatpentiers."""

    def __init__(self, players: int, options: Mapping[str, Any] | None = None) -> None:
        """Start a game with the options of the rules file."""
        options = options or {}
        self.players = players
        self.first_seat: int | None = options.get("first_seat")
        limits = options.get("section_limits")
        self.limits: list[int] = limits or ([1, 2, 3, 5] if players == 3 else [1, 2, 3, 4])
        self.colours = [c for c in range(5) if players > 3 or c != options.get("removed_colour", 3)]
        self.finished: list[list[int]] = [[] for _ in range(players)]
        self.round = 1
        self._lay_out()
        self.begin()

    def _lay_out(self) -> None:
        self.pack = {(colour, value) for colour in self.colours for value in range(1, 13)}
        self.hands: list[set[Card]] = [set() for _ in range(self.players)]
        # The cards of each zone.
        self.boards: list[dict[int, list[Card]]] = [{} for _ in range(self.players)]
        self.table: set[Card] = set()
        self.discards: set[Card] = set()
        self.tricks: list[Trick] = []
        self.voids: set[tuple[int, int]] = set()

    # The game

    def _run(self) -> Generator[Question, int, None]:
        if self.first_seat is None:
            self.first_seat = yield Question(CHANCE, tuple(range(self.players)))
            self.tell("FIRST_SEAT_CHOSEN", self.first_seat)
        yield from self._deal()
        yield from self.from_trick(self._trick(self.first_seat))

    def _deal(self) -> Generator[Question, int, None]:
        for _ in range(DEALT[self.players]):
            for distance in range(self.players):
                card = yield from self._draw()
                seat = (self._first_of_round() + distance) % self.players
                self.hands[seat].add(card)
                self.tell("CARD_DEALT", seat, number(card), seen_by={seat})

    def _first_of_round(self) -> int:
        assert self.first_seat is not None
        return (self.first_seat + self.round - 1) % self.players

    def from_trick(self, rest: Generator[Question, int, int]) -> Generator[Question, int, None]:
        """Play the rest of a trick (`rest`), and then all tricks to the end of the game."""
        while True:
            leader = yield from rest
            if self.hands[leader]:
                self.tell("LEADER_CHOSEN", leader)
            else:
                for seat in range(self.players):
                    self.finished[seat].append(self.board_score(seat))
                    self.tell("ROUND_SCORED", seat, self.round, self.board_score(seat))
                if self.round == 3:
                    break
                self.round += 1
                self._lay_out()
                leader = self._first_of_round()
                self.tell("ROUND_BEGUN", leader, self.round)
                yield from self._deal()
            rest = self._trick(leader)
        self.tell("GAME_ENDED", None)
        yield Question(OVER, ())

    def _draw(self) -> Generator[Question, int, Card]:
        card = card_of((yield Question(CHANCE, tuple(sorted(number(card) for card in self.pack)))))
        self.pack.remove(card)
        return card

    def _trick(self, leader: int) -> Generator[Question, int, int]:
        trick = Trick()
        self.tricks.append(trick)
        if self.players == 3:
            trick.extra = yield from self._draw()
            self.table.add(trick.extra)
            self.tell("EXTRA_CARD_TURNED", None, number(trick.extra))
        return (yield from self.trick_from(trick, leader, 0))

    def trick_from(self, trick: Trick, leader: int, taken: int) -> Generator[Question, int, int]:
        """Continue a trick from its plays so far, with `taken` cards taken. Return the next leader."""
        for distance in range(len(trick.plays), self.players):
            seat = (leader + distance) % self.players
            choices = sorted(number(card) for card in self._playable(seat, trick))
            card = card_of((yield Question(seat, tuple(choices))))
            self.hands[seat].remove(card)
            self.table.add(card)
            trick.plays.append((seat, card))
            self.tell("CARD_PLAYED", seat, number(card))
            led = trick.plays[0][1][0]
            if card[0] != led and (seat, led) not in self.voids:
                self.voids.add((seat, led))
                self.tell("VOID_SHOWN", seat, led)
        ranking = self.ranking(trick)
        self.tell("TRICK_RANKED", None, *ranking)
        takers = [seat for seat, cards in zip(ranking, TAKES[self.players], strict=True) for _ in range(cards)]
        for seat in takers[taken:]:
            yield from self._take(seat)
        leader = ranking[TAKES[self.players].index(2)]
        for card in self.table:
            self.tell("CARD_DISCARDED", None, number(card))
        self.discards |= self.table
        self.table = set()
        return leader

    def _playable(self, seat: int, trick: Trick) -> set[Card]:
        hand = self.hands[seat]
        following = {card for card in hand if trick.plays and card[0] == trick.plays[0][1][0]}
        return following or hand

    @staticmethod
    def ranking(trick: Trick) -> list[int]:
        """Return the seats in the order of their cards' strength, strongest first."""
        led = trick.plays[0][1][0]
        order = [(card[0] == led, card[1], time, seat) for time, (seat, card) in enumerate(trick.plays)]
        return [seat for *_, seat in sorted(order, reverse=True)]

    def _take(self, seat: int) -> Generator[Question, int, None]:
        choices = {
            60 + 5 * number(card) + zone: (card, zone) for card in self.table for zone in self._zones_for(seat, card)
        }
        card, zone = choices[(yield Question(seat, tuple(sorted(choices))))]
        self.table.remove(card)
        self.boards[seat].setdefault(zone, []).append(card)
        self.tell("CARD_TAKEN", seat, number(card), zone)

    def _zones_for(self, seat: int, card: Card) -> list[int]:
        board = self.boards[seat]
        for zone, cards in board.items():
            if cards[0][0] == card[0]:
                return [zone]
        return [zone for zone in range(4 if self.players == 3 else 5) if zone not in board]

    # Questions about the game

    def perfect(self, seat: int) -> int:
        """Return the number of perfect sections of a seat's current board."""
        return sum(len(self.boards[seat].get(section, [])) == self.limits[section] for section in range(4))

    def board_sum(self, seat: int) -> int:
        """Return the sum of a seat's current board. It may be negative."""
        points = BONUS[self.perfect(seat)]
        for zone, cards in self.boards[seat].items():
            count = len(cards)
            if zone == ZERO_ZONE:
                points -= count
            else:
                points += count if count <= self.limits[zone] else -(count - self.limits[zone])
        return points

    def board_score(self, seat: int) -> int:
        """Return the points of a seat's current board."""
        return max(0, self.board_sum(seat))

    def totals(self) -> list[int]:
        """Return the score that each seat would have if the game ended now."""
        over = self.question.actor == OVER
        return [sum(self.finished[seat]) + (0 if over else self.board_score(seat)) for seat in range(self.players)]

    def ranks(self) -> list[int]:
        """Return each seat's rank at the end of the game: 1 + the number of seats ahead of it."""
        merits = [(total, self.perfect(seat)) for seat, total in enumerate(self.totals())]
        return [1 + sum(other > merit for other in merits) for merit in merits]
