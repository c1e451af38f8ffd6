"""A slow implementation of Chat Cartonne: the rules file as a plain Python script, for comparison with the kernel.

It shares no code with the kernel and has a different design. The game is one function that runs from the deal to the
end, and stops (`yield`) whenever a seat or chance has to act. The table is a dictionary of cells with sets of walls,
and boxes are computed whenever they are needed. Chance is always explicit.
"""

import os
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import gcd, lcm
from typing import Any

from ..script import CHANCE, OVER, Question, Script

SIDES = {"N": (0, -1, "S"), "S": (0, 1, "N"), "E": (1, 0, "W"), "W": (-1, 0, "E")}
PATTERNS = ("", "N", "E", "NS", "EW", "NE", "NW", "NES")
CONTENTS = ("", "", "m", "b", "f", "mb", "bf", "fm", "!")
STARTS = {76: "", 77: "E", 78: "EW", 79: "N", 80: "NE"}
TOYS = {72: "m", 73: "b", 74: "f"}
PRINCESS = 75
HALF_TURN = str.maketrans("NSEW", "SNWE")
Cell = tuple[int, int]


@dataclass
class Card:
    """A card on the table: the walls in the card's orientation, the contents, and the cat or Princess on it."""

    walls: frozenset[str]
    printed: str = ""
    carton: bool = True
    sleeper: int | None = None
    woken: bool = False
    princess: bool = False


@dataclass
class Box:
    """Cells joined by edges that are open on both sides."""

    cells: set[Cell]
    closed: bool
    contents: Counter[str]
    awake: Counter[int]
    woken: Counter[int]
    asleep: Counter[int]
    majority: set[int] = field(default_factory=set)
    points: int = 0
    bonus: Counter[int] = field(default_factory=Counter)
    princess: bool = False

    def taken(self) -> bool:
        """Return whether the box contains a cat of any seat, or a Princess."""
        return bool(self.awake or self.woken or self.asleep) or self.princess


def walls_of(kind: int, turned: bool) -> frozenset[str]:
    """Return the walls of a carton or starting carton."""
    walls = STARTS[kind] if kind in STARTS else PATTERNS[kind // 9]
    return frozenset(walls.translate(HALF_TURN) if turned else walls)


def turns(kind: int) -> list[int]:
    """Return the possible turns: 0, and 1 if turning changes the walls."""
    return [0] if walls_of(kind, False) == walls_of(kind, True) else [0, 1]


def number(cell: Cell) -> int:
    """Return a cell's number."""
    return 24 * cell[1] + cell[0]


def at(cell: int) -> Cell:
    """Return the column and row of a cell's number."""
    return cell % 24, cell // 24


class Game(Script):
    """Chat Cartonne."""

    def __init__(self, players: int, options: Mapping[str, Any] | None = None) -> None:
        """Start a game with the options of the rules file."""
        self.players = players
        self.options = dict(options or {})
        self.hands: list[list[int]] = [[] for _ in range(players)]
        self.supply = [5] * players
        self.unknown = set(range(75))
        self.table: dict[Cell, Card] = {}
        # Map the western cell of each joint to ("cat", seat), ("toy", letter) or ("princess", 0).
        self.joints: dict[Cell, tuple[str, Any]] = {}
        self.final = False
        # [cards, Princesses] left in each part of the pile, beginning with the top part.
        self.parts: list[list[int]] = []
        # The kernel's position. Tests set it if their greedy player looks ahead.
        self.position: Any = None
        self.begin()

    # Setup

    def _run(self) -> Generator[Question, int, None]:
        first = self.options.get("first_seat")
        if first is None:
            first = yield self._chance(dict.fromkeys(range(self.players), Fraction(1)))
            self.tell("FIRST_SEAT_CHOSEN", first)
        order = [(first + distance) % self.players for distance in range(self.players)]
        for seat in order * 2:
            card = yield self._chance(dict.fromkeys((k for k in self.unknown if k < 72), Fraction(1)))
            self.unknown.remove(card)
            self.hands[seat] = sorted([*self.hands[seat], card])
            self.tell("CARD_DEALT", seat, card, seen_by={seat})
        if self.options.get("all_princesses"):
            self.parts = [[len(self.unknown) + 5, 5]]
        else:
            share, over = divmod(len(self.unknown), self.players)
            self.parts = [[share + (part < over) + 1, 1] for part in range(self.players)]
        starts = sorted(STARTS)
        choice = yield Question(first, tuple(2 * (kind - 76) + turn for kind in starts for turn in turns(kind)))
        kind, turn = 76 + choice // 2, choice % 2
        starts.remove(kind)
        self.table[11, 11] = Card(walls_of(kind, bool(turn)))
        self.tell("START_PLACED", first, kind, turn, number((11, 11)))
        for seat in order[1:]:
            kind = yield self._chance(dict.fromkeys(starts, Fraction(1)))
            starts.remove(kind)
            self.tell("START_DRAWN", seat, kind)
            rows = [row for _, row in self.table]
            ids = [
                13 + 576 * turn + number((11, row))
                for turn in turns(kind)
                for row in (min(rows) - 1, max(rows) + 1)
                if self._may_lie((11, row), walls_of(kind, bool(turn)))
            ]
            choice = yield Question(seat, tuple(sorted(ids)))
            turn, cell = divmod(choice - 13, 576)
            self.table[at(cell)] = Card(walls_of(kind, bool(turn)))
            self.tell("START_PLACED", seat, kind, turn, cell)
        yield from self.turns(first, 0)

    def _chance(self, outcomes: Mapping[int, Fraction]) -> Question:
        # The weights are the smallest integers in the same proportions.
        scale = lcm(*(share.denominator for share in outcomes.values()))
        whole = {outcome: int(share * scale) for outcome, share in outcomes.items()}
        common = gcd(*whole.values())
        ordered = sorted(whole)
        return Question(CHANCE, tuple(ordered), tuple(whole[outcome] // common for outcome in ordered))

    # Turns

    def turns(self, seat: int, passed: int) -> Generator[Question, int, None]:
        """Continue from the start of a seat's turn, after the last `passed` seats have passed in the final phase."""
        while True:
            was_final = self.final
            played = yield from self._turn(seat)
            passed = passed + 1 if was_final and not played else 0
            self.final |= sum(part[0] for part in self.parts) == 0 or 0 in self.supply
            if self.final and not was_final:
                self.tell("FINAL_PHASE_BEGUN", None)
            holding = [s for s in range(self.players) if any(card != PRINCESS for card in self.hands[s])]
            if self.final and (not holding or passed == len(holding)):
                self.tell("GAME_ENDED", None)
                yield Question(OVER, ())
            seat = (seat + 1) % self.players
            while self.final and seat not in holding:
                seat = (seat + 1) % self.players

    def _turn(self, seat: int) -> Generator[Question, int, bool]:
        # Returns True if a card was played, False for a Pass.
        hand = self.hands[seat]
        may_sleep = [3469 + number(cell) for cell in self._free_cells()] if self.supply[seat] else []
        drew = False
        if not self.final and len(hand) < 3:
            choice = yield Question(seat, (10, *sorted(may_sleep)))
            if choice != 10:
                self._sleep(seat, at(choice - 3469))
                return True
            self.tell("DRAW_CHOSEN", seat)
            card = yield self._next_card()
            self._draw(card)
            if card in TOYS:
                self.tell("TOY_DRAWN", seat, card)
                yield from self._toy(seat, card)
                return True
            self.tell("CARD_DRAWN", seat, card, seen_by={seat})
            hand.append(card)
            hand.sort()
            drew = True
        ids = self._carton_ids(hand) + ([] if drew else may_sleep)
        if PRINCESS in hand:
            ids += [4621 + number(joint) for joint, (what, _) in self.joints.items() if what == "cat"]
            ids += [5197 + number(cell) for cell, card in self.table.items() if card.sleeper is not None]
        choice = yield Question(seat, tuple(sorted(ids)) or (12,))
        if choice == 12:
            self.tell("PASSED", seat)
            return False
        if choice < 3469:
            slot, place = divmod(choice - 13, 1152)
            turn, cell = divmod(place, 576)
            kind = hand.pop(slot)
            self.table[at(cell)] = Card(walls_of(kind, bool(turn)), CONTENTS[kind % 9])
            self.tell("CARTON_PLACED", seat, kind, turn, cell)
            yield from self._cat(seat, at(cell))
        elif choice < 4045:
            self._sleep(seat, at(choice - 3469))
        else:
            hand.remove(PRINCESS)
            if choice < 5197:
                owner = self.joints[at(choice - 4621)][1]
                self.joints[at(choice - 4621)] = ("princess", 0)
                self.tell("PRINCESS_ON_JOINT", seat, choice - 4621, owner)
            else:
                owner = self.table[at(choice - 5197)].sleeper
                self.table[at(choice - 5197)] = Card(frozenset(), carton=False, princess=True)
                assert owner is not None
                self.tell("PRINCESS_IN_CELL", seat, choice - 5197, owner)
            self.supply[owner] += 1
        return True

    def _next_card(self) -> Question:
        part = next(part for part in self.parts if part[0])
        princess = Fraction(part[1], part[0])
        outcomes = {kind: (1 - princess) / len(self.unknown) for kind in self.unknown}
        outcomes[PRINCESS] = princess
        return self._chance({kind: share for kind, share in outcomes.items() if share})

    def _draw(self, card: int) -> None:
        part = next(part for part in self.parts if part[0])
        part[0] -= 1
        if card == PRINCESS:
            part[1] -= 1
        else:
            self.unknown.remove(card)

    def _carton_ids(self, hand: list[int]) -> list[int]:
        return [
            13 + 1152 * slot + 576 * turn + number(cell)
            for slot, kind in enumerate(hand)
            if kind != PRINCESS
            for turn in turns(kind)
            for cell in self._free_cells()
            if self._may_lie(cell, walls_of(kind, bool(turn)))
        ]

    def _sleep(self, seat: int, cell: Cell) -> None:
        self.supply[seat] -= 1
        self.table[cell] = Card(frozenset(), carton=False, sleeper=seat)
        self.tell("CAT_ASLEEP", seat, number(cell))

    def _toy(self, seat: int, kind: int) -> Generator[Question, int, None]:
        ids = [5773 + number(joint) for joint in self.table if self._is_joint(joint) and self._welcome(seat, joint)]
        if not ids or all(self._box(cell).taken() for cell in self.table):
            ids += [6349 + number(cell) for cell in self._free_cells()]
        choice = yield Question(seat, tuple(sorted(ids)))
        if choice < 6349:
            self.joints[at(choice - 5773)] = ("toy", TOYS[kind])
            self.tell("TOY_ON_JOINT", seat, kind, choice - 5773)
            return
        self.table[at(choice - 6349)] = Card(frozenset(), 2 * TOYS[kind])
        self.tell("TOY_AS_CARTON", seat, kind, choice - 6349)
        yield from self._cat(seat, at(choice - 6349))

    def _cat(self, seat: int, cell: Cell) -> Generator[Question, int, None]:
        near = [cell, (cell[0] - 1, cell[1])]
        joints = [4045 + number(joint) for joint in near if self._is_joint(joint) and self._welcome(seat, joint)]
        if not joints or not self.supply[seat]:
            return
        choice = yield Question(seat, (11, *sorted(joints)))
        if choice == 11:
            self.tell("NO_CAT_FOLLOWED", seat)
        else:
            self.supply[seat] -= 1
            self.joints[at(choice - 4045)] = ("cat", seat)
            self.tell("CAT_AWAKE", seat, choice - 4045)
            self._wake(seat, at(choice - 4045))

    def _wake(self, seat: int, joint: Cell) -> None:
        beside = [cell for cell in self._box(joint).cells if self.table[cell].sleeper == seat]
        woken = sorted((cell for cell in beside if not self.table[cell].woken), key=number)
        for cell in woken:
            self.table[cell].woken = True
        if woken:
            self.tell("CATS_WOKEN", seat, *map(number, woken))

    # The table

    def _free_cells(self) -> list[Cell]:
        near = {(x + dx, y + dy) for x, y in self.table for dx, dy, _ in SIDES.values()}
        return [(x, y) for x, y in near if 0 <= x < 24 and 0 <= y < 24 and (x, y) not in self.table]

    def _may_lie(self, cell: Cell, walls: frozenset[str]) -> bool:
        if not self.options.get("no_double_walls"):
            return True
        for side in walls:
            dx, dy, opposite = SIDES[side]
            other = self.table.get((cell[0] + dx, cell[1] + dy))
            if other is not None and opposite in other.walls:
                return False
        return True

    def _is_joint(self, joint: Cell) -> bool:
        west, east = self.table.get(joint), self.table.get((joint[0] + 1, joint[1]))
        if west is None or east is None or not west.carton or not east.carton or joint in self.joints:
            return False
        return "E" not in west.walls and "W" not in east.walls

    def _welcome(self, seat: int, joint: Cell) -> bool:
        box = self._box(joint)
        cats = box.awake + box.woken + box.asleep
        return seat in cats or not cats

    def _box(self, start: Cell) -> Box:
        box = Box({start}, True, Counter(), Counter(), Counter(), Counter())
        waiting = [start]
        while waiting:
            cell = waiting.pop()
            for side, (dx, dy, opposite) in SIDES.items():
                if side in self.table[cell].walls:
                    continue
                other = (cell[0] + dx, cell[1] + dy)
                if other not in self.table:
                    box.closed = False
                elif opposite not in self.table[other].walls and other not in box.cells:
                    box.cells.add(other)
                    waiting.append(other)
        for cell in box.cells:
            card = self.table[cell]
            box.contents.update(card.printed)
            if card.sleeper is not None:
                (box.woken if card.woken else box.asleep)[card.sleeper] += 1
            what, whose = self.joints.get(cell, ("", 0))
            box.princess |= card.princess or what == "princess"
            if what == "cat":
                box.awake[whose] += 1
            elif what == "toy":
                box.contents[whose] += 2
        return box

    # Score

    def boxes(self) -> list[Box]:
        """Return all boxes, ordered by their lowest cell, with their points."""
        boxes: list[Box] = []
        for cell in sorted(self.table, key=number):
            if any(cell in box.cells for box in boxes):
                continue
            box = self._box(cell)
            boxes.append(box)
            cats = box.awake + box.woken
            if not cats:
                continue
            weight = Fraction(1, 2) if self.options.get("half_sleepers") else 1
            strength = {seat: box.awake[seat] + weight * box.woken[seat] for seat in cats}
            box.majority = {seat for seat in cats if strength[seat] == max(strength.values())}
            box.points = max(box.contents[toy] for toy in "mbf") - box.contents["!"]
            if box.closed:
                box.points *= 2
            if not self.options.get("no_crowd_bonus"):
                box.bonus = Counter({seat: k - 1 for seat, k in cats.items() if k > 1})
        return boxes

    def totals(self) -> list[int]:
        """Return each seat's current points."""
        return [
            sum(box.points * (seat in box.majority) + box.bonus[seat] for box in self.boxes())
            for seat in range(self.players)
        ]

    def negative(self) -> list[int]:
        """Return each seat's negative points, the first tie-break."""
        return [
            sum(box.contents["!"] * (2 if box.closed else 1) for box in self.boxes() if seat in box.majority)
            for seat in range(self.players)
        ]

    def ranks(self) -> list[int]:
        """Return each seat's rank: 1 + the number of seats ahead of it."""
        keys = [(-total, negative) for total, negative in zip(self.totals(), self.negative(), strict=True)]
        return [1 + sum(other < key for other in keys) for key in keys]

    @classmethod
    def perft(cls, players: int, options: Mapping[str, Any], moves: Sequence[int], depth: int) -> int:
        """Return the result of Script.perft, without replaying these long games from the start for every sequence."""
        return cls.replay(players, options, moves).count(depth)

    def count(self, depth: int) -> int:
        """Count the sequences of `depth` moves from this position. A game that ends earlier counts as one sequence."""
        if depth == 0 or self.question.actor == OVER:
            return 1
        if depth == 1:
            return len(self.question.moves)
        return sum(self._count_after(move, depth - 1) for move in self.question.moves)

    def _count_after(self, move: int, depth: int) -> int:
        # A running generator cannot be copied, but a child process has a copy of it.
        answer, to_parent = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                self.move(move)
                os.write(to_parent, str(self.count(depth)).encode())
            finally:
                os._exit(0)
        os.close(to_parent)
        with os.fdopen(answer) as count:
            found = int(count.read())
        os.waitpid(child, 0)
        return found
