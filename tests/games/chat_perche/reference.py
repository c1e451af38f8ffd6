"""A slow implementation of Chat perché: the rules file as a plain Python script, for comparison with the kernel.

It shares no code with the kernel and has a different design. The tree is a graph that is searched, every cat is an
object, and a deck is a list of cards. The game is one function, from the choice of the first seat to the end. It stops
(`yield`) whenever a seat or chance has to act. Chance is always explicit.
"""

from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, permutations
from math import gcd
from typing import Any

from ..script import CHANCE, OVER, Question, Script

STOP = 2110
START = 45
TRUNK = range(5)
DEFAULT_DECK = {
    "dogs 1": 2,
    "dogs 2": 1,
    "bird": 3,
    "own falls": 1,
    "other falls": 2,
    **{f"one own {value}": count for value, count in Counter([2, 3, 3, 4, 4, 5, 5, 6]).items()},
    **{f"two own {value}": count for value, count in Counter([4, 5, 6, 6, 7]).items()},
    **{f"one other {value}": 1 for value in (2, 3, 4)},
    "two other 4": 1,
}
CARDS = [
    "dogs 1",
    "dogs 2",
    "bird",
    "own falls",
    "other falls",
    *(f"{cats} {value}" for cats in ("one own", "one other", "two own", "two other") for value in range(1, 10)),
]


def branch(number: int) -> list[int]:
    """Return the spaces of a branch, from the trunk outward."""
    return [5 + 4 * number + place for place in range(4)]


# The steps up the trunk and outward. All other steps are the reverse of these.
FORWARD: dict[int, set[int]] = {space: set() for space in range(45)}
for _lower in range(4):
    FORWARD[_lower].add(_lower + 1)
for _number in range(10):
    _way = [_number % 5, *branch(_number)]
    for _here, _there in pairwise(_way):
        FORWARD[_here].add(_there)


@cache
def steps_from(space: int, forward_only: bool) -> dict[int, int]:
    """Return the distance in steps to each reachable space of the tree."""
    found = {0: 1} if space == START else {space: 0}
    edge = list(found)
    while edge:
        here = edge.pop(0)
        there = set(FORWARD[here])
        if not forward_only:
            there |= {other for other in FORWARD if here in FORWARD[other]}
        for other in sorted(there - found.keys()):
            found[other] = found[here] + 1
            edge.append(other)
    return found


@dataclass(eq=False)
class Cat:
    """A cat. `space` is its space in the tree, or None at its start."""

    colour: int
    space: int | None = None


class Game(Script):
    """Chat perché."""

    def __init__(self, players: int, options: Mapping[str, Any] | None = None) -> None:
        """Start a game with the options of the rules file."""
        options = options or {}
        assert players == 2
        self.first_seat: int | None = options.get("first_seat")
        self.forward_only: bool = options.get("forward_only", False)
        self.dog_track: int = options.get("dog_track", 10)
        counts = options.get("deck") or [DEFAULT_DECK.get(card, 0) for card in CARDS]
        self.full_deck = [card for card, count in zip(CARDS, counts, strict=True) for _ in range(count)]
        self.decks = [list(self.full_deck), list(self.full_deck)]
        self.hands = [sorted(options.get("solidity") or (1, 2, 3, 3, 4)) for _ in range(2)]
        self.tokens: dict[int, tuple[int, int]] = {}
        self.broken: set[int] = set()
        self.loads: dict[int, list[int]] = {number: [0] for number in range(10)}
        # The top cat of a start space is the last one in its list.
        self.starts = [[Cat(colour) for _ in range(12)] for colour in range(2)]
        self.cats: list[Cat] = []
        self.birds: list[int] = []
        self.dogs = 0
        self.seat = 0
        self.phase = ""
        self.card: str | None = None
        self.steps = 0
        # The cats that each seat moved in its last turn, with their target spaces.
        self.moved: list[dict[Cat, int]] = [{}, {}]
        self.begin()

    # The game

    def _run(self) -> Generator[Question, int, None]:
        if self.first_seat is None:
            self.phase = "FIRST_SEAT"
            self.first_seat = yield Question(CHANCE, (0, 1), (1, 1))
            self.tell("FIRST_SEAT_CHOSEN", self.first_seat)
        self.seat = self.first_seat
        self.phase = "PLACE_TOKEN"
        while len(self.tokens) < 10:
            self.seat = 1 - self.seat
            ids = {4 * b + s - 1 for b in range(10) if b not in self.tokens for s in self.hands[self.seat]}
            chosen = yield Question(self.seat, tuple(sorted(ids)))
            value = chosen % 4 + 1
            self.hands[self.seat].remove(value)
            self.tokens[chosen // 4] = self.seat, value
            self.tell("TOKEN_CHOSEN", self.seat, value, seen_by={self.seat})
            self.tell("TOKEN_PLACED", self.seat, chosen // 4)
        yield from self.turns(self.turn())

    def turns(self, rest: Generator[Question, int, None]) -> Generator[Question, int, None]:
        """Play the rest of the active seat's turn (`rest`), and then all turns to the end of the game."""
        while True:
            yield from rest
            if self.dogs == self.dog_track:
                break
            self.seat = 1 - self.seat
            rest = self.turn()
        self.tell("GAME_ENDED", None)
        self.phase = "OVER"
        self.card = None
        yield Question(OVER, ())

    def turn(self) -> Generator[Question, int, None]:
        """Turn up a card and apply it."""
        self.phase, self.card, self.steps = "TURN_UP", None, 0
        copies = Counter(CARDS.index(card) for card in self.decks[self.seat] or self.full_deck)
        types = sorted(copies)
        divisor = gcd(*copies.values())
        outcome = yield Question(CHANCE, tuple(types), tuple(copies[t] // divisor for t in types))
        if not self.decks[self.seat]:
            self.decks[self.seat] = list(self.full_deck)
            self.tell("DECK_REFILLED", self.seat)
        self.tell("CARD_TURNED_UP", self.seat, outcome)
        self.card = CARDS[outcome]
        self.decks[self.seat].remove(self.card)
        self.moved[self.seat] = {}
        yield from self.apply_card()

    def apply_card(self) -> Generator[Question, int, None]:
        """Continue a turn from the effect of the card that was turned up."""
        assert self.card is not None
        words = self.card.split()
        if words[0] == "dogs":
            steps = min(int(words[1]), self.dog_track - self.dogs)
            self.dogs += steps
            self.tell("DOGS_ADVANCED", self.seat, steps, self.dogs)
        elif words == ["bird"]:
            yield from self._place_bird()
        elif words[1] == "falls":
            yield from self._fall(self.seat if words[0] == "own" else 1 - self.seat)
        else:
            yield from self._move_cats(self.seat if words[1] == "own" else 1 - self.seat, words[0], int(words[2]))

    def _place_bird(self) -> Generator[Question, int, None]:
        self.phase = "PLACE_BIRD"
        spaces = [space for space in self._spaces_in_play() if space not in TRUNK and space not in self._animals()]
        if spaces and len(self.birds) < 6:
            chosen = yield Question(self.seat, tuple(2156 + space - 5 for space in spaces))
            self.birds.append(chosen - 2156 + 5)
            self.tell("BIRD_PLACED", self.seat, self.birds[-1])
            self._look_for_breaking()
        else:
            self.tell("NOTHING_POSSIBLE", self.seat)

    def _fall(self, colour: int) -> Generator[Question, int, None]:
        self.phase = "FALL"
        cats = {2111 + cat.space: cat for cat in self.cats if cat.colour == colour and cat.space is not None}
        if cats:
            self._let_fall(cats[(yield Question(self.seat, tuple(sorted(cats))))])
        else:
            self.tell("NOTHING_POSSIBLE", self.seat)

    def _move_cats(self, colour: int, cats: str, value: int) -> Generator[Question, int, None]:
        self.steps = value
        for self.phase in ("MOVE", "SECOND_MOVE") if cats == "two" else ("MOVE",):
            moves = self._moves(colour)
            if not moves:
                if self.steps:
                    self.tell("NOTHING_POSSIBLE", self.seat)
                return
            chosen = yield Question(self.seat, (*sorted(moves), STOP))
            if chosen == STOP:
                self.tell("STOPPED", self.seat)
                return
            cat, space, steps = moves[chosen]
            self.tell("CAT_MOVED", self.seat, colour, START if cat.space is None else cat.space, space, steps)
            if cat in self.starts[colour]:
                self.starts[colour].remove(cat)
                self.cats.append(cat)
            cat.space = space
            self.steps -= steps
            self.moved[self.seat][cat] = space
            self._look_for_breaking()

    # Questions about the game

    def _spaces_in_play(self) -> Iterator[int]:
        yield from (space for space in range(45) if space in TRUNK or (space - 5) // 4 not in self.broken)

    def _animals(self) -> list[int]:
        return [*self.birds, *(cat.space for cat in self.cats if cat.space is not None)]

    def stands_barred(self, cat: Cat) -> bool:
        """Return whether the other seat moved the cat in that seat's last turn and the cat is still there."""
        return cat.space is not None and self.moved[1 - self.seat].get(cat) == cat.space

    def _moves(self, colour: int) -> dict[int, tuple[Cat, int, int]]:
        """Return a dict that maps each dense id to the cat, its target space and the number of steps."""
        candidates = [cat for cat in self.cats if cat.colour == colour]
        candidates += self.starts[colour][-1:]
        free = set(self._spaces_in_play()) - set(self._animals())
        moves = {}
        for cat in candidates:
            if self.stands_barred(cat) or cat in self.moved[self.seat]:
                continue
            others_on_trunk = [c for c in self.cats if c is not cat and c.colour == colour and c.space in TRUNK]
            start = START if cat.space is None else cat.space
            for space, steps in steps_from(start, self.forward_only).items():
                trunk_is_full = space in TRUNK and len(others_on_trunk) >= 2
                if 1 <= steps <= self.steps and space in free and not trunk_is_full:
                    moves[40 + 45 * start + space] = cat, space, steps
        return moves

    def _let_fall(self, cat: Cat) -> None:
        assert cat.space is not None
        self.tell("CAT_FELL", cat.colour, cat.space)
        self.cats.remove(cat)
        cat.space = None
        self.starts[cat.colour].insert(0, cat)

    def _look_for_breaking(self) -> None:
        for number in range(10):
            load = sum(space in branch(number) for space in self._animals())
            if load > self.tokens[number][1]:
                self.broken.add(number)
                owner, value = self.tokens[number]
                self.tell("BRANCH_BROKE", owner, number, value)
                # Go from the trunk outward.
                for space in branch(number):
                    for cat in [cat for cat in self.cats if cat.space == space]:
                        self._let_fall(cat)
                    if space in self.birds:
                        self.birds.remove(space)
                        self.tell("BIRD_LEFT", None, space)
            else:
                self.loads[number].append(load)

    def totals(self) -> list[int]:
        """Return each seat's cats in the tree."""
        return [sum(cat.colour == seat for cat in self.cats) for seat in range(2)]

    def ranks(self) -> list[int]:
        """Return each seat's rank by cats in the tree."""
        return [1 + sum(other > total for other in self.totals()) for total in self.totals()]

    def spreads(self, seat: int) -> Counter[tuple[tuple[int, int], ...]]:
        """Return the possible values of the other seat's hidden tokens, given the seat's information.

        The result maps (branch, value) of all placed tokens to a number of ways. Equal tokens are distinct.
        """
        other = 1 - seat
        hidden = [b for b, (owner, _) in sorted(self.tokens.items()) if owner == other and b not in self.broken]
        unseen = self.hands[other] + [self.tokens[b][1] for b in hidden]
        return Counter(
            tuple(zip(hidden, values, strict=True))
            for values in permutations(unseen, len(hidden))
            if all(max(self.loads[b]) <= value for b, value in zip(hidden, values, strict=True))
        )
