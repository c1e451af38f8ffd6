"""Positions of Chat perché for tests: games played by naming pieces, and states given in full."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from chatiere import engine
from chatiere.engine import EventLog, Position
from chatiere.engine.wire import fill
from chatiere.v1.chat_perche_pb2 import (
    ChatPercheState,
)

from .. import building
from ..building import event_of, read

GAME = engine.game("chat_perche")
CODEC = engine.codec("chat_perche")
START = 45
STOP = 2110
GINGER, BLACK = 0, 1
DOGS_1, DOGS_2, BIRD, OWN_FALLS, OTHER_FALLS = range(5)
FIRST_CARD = {"one own": 5, "one other": 14, "two own": 23, "two other": 32}
DEFAULT_DECK = [2, 1, 3, 1, 2] + [0] * 36
for _cats, _value, _count in (
    *(("one own", value, count) for value, count in ((2, 1), (3, 2), (4, 2), (5, 2), (6, 1))),
    *(("two own", value, count) for value, count in ((4, 1), (5, 1), (6, 2), (7, 1))),
    *(("one other", value, 1) for value in (2, 3, 4)),
    ("two other", 4, 1),
):
    DEFAULT_DECK[FIRST_CARD[_cats] + _value - 1] = _count
# Ginger's tokens are at the left branches, black's at the right branches.
PLAIN_TOKENS = [(0, 1), (0, 2), (0, 3), (0, 3), (0, 4), (1, 1), (1, 2), (1, 3), (1, 3), (1, 4)]


def trunk(number: int) -> int:
    """Return the trunk space with a number, from 1 at the bottom."""
    return number - 1


def left(branch: int, space: int) -> int:
    """Return a space of a left branch, both numbered from 1."""
    return 5 + 4 * (branch - 1) + space - 1


def right(branch: int, space: int) -> int:
    """Return a space of a right branch, both numbered from 1."""
    return 20 + left(branch, space)


def card(cats: str, value: int) -> int:
    """Return the card of a kind ("one own", "one other", "two own", "two other") with a value."""
    return FIRST_CARD[cats] + value - 1


def move_id(start: int, end: int) -> int:
    """Return the dense id of a move."""
    return 40 + 45 * start + end


def fall_id(space: int) -> int:
    """Return the dense id of a fall."""
    return 2111 + space


def bird_id(space: int) -> int:
    """Return the dense id of placing a bird on a space."""
    return 2156 + space - 5


def token_id(branch: int, value: int) -> int:
    """Return the dense id of placing a token. Branches are numbered from 0."""
    return 4 * branch + value - 1


def deck_of(cards: Mapping[int, int]) -> list[int]:
    """Return the counts of a deck: the given cards, filled up to 26 with copies of one own cat 1."""
    counts = [cards.get(number, 0) for number in range(41)]
    counts[card("one own", 1)] += 26 - sum(counts)
    return counts


def holding(*cards: int, **options: Any) -> dict[str, Any]:
    """Return options with a deck of one dogs card, the given cards, and copies of one own cat 1."""
    return {"deck": deck_of({DOGS_1: 1} | {number: cards.count(number) for number in cards}), **options}


def score_of(position: Position) -> list[tuple[int, int]]:
    """Return the numbers of each seat's cats on the trunk and on branches."""
    return [(seat.trunk_points, seat.branch_points) for seat in building.score_of(position).seats]


def written(
    *,
    cats: Sequence[Iterable[int]] = ((), ()),
    birds: Iterable[int] = (),
    tokens: Sequence[tuple[int, int]] = PLAIN_TOKENS,
    broken: Iterable[int] = (),
    loads: Mapping[int, int] | None = None,
    decks: Sequence[Sequence[int]] | None = None,
    active: int = 0,
    first_seat: int = 0,
    dogs: int = 0,
    barred: Iterable[int] = (),
    options: Mapping[str, Any] | None = None,
) -> ChatPercheState:
    """Return a state before the active seat turns up a card. `tokens` has the owner and value for each branch."""
    state = ChatPercheState(
        phase="CHAT_PERCHE_PHASE_TURN_UP", first_seat=first_seat, active_seat=active, dog_steps=dogs
    )
    fill(state.options, CODEC.put_options, options or {})
    state.options.SetInParent()
    cats = [sorted(spaces) for spaces in cats]
    state.birds.extend(sorted(birds))
    state.barred.extend(sorted(barred))
    full = (options or {}).get("deck", DEFAULT_DECK)
    for seat in range(2):
        message = state.seats.add(cats=cats[seat])
        for number, count in enumerate((decks or (full, full))[seat]):
            message.draw_pile_cards.extend([number] * count)
    for number, (owner, value) in enumerate(tokens):
        spaces = range(5 + 4 * number, 9 + 4 * number)
        now = sum(space in spaces for space in (*cats[0], *cats[1], *state.birds))
        load = max(now, (loads or {}).get(number, 0))
        state.branches.add(token_owner=owner, solidity=value, broken=number in broken, greatest_load=load)
    return state


class Table(building.Table):
    """A game with explicit chance, played by naming pieces. `events` are the events of the last move."""

    def __init__(self, position: Position | None = None, **what: Any) -> None:
        """Continue from a copy of a position, or from the state that `written` creates from the arguments."""
        self.position = read(written(**what)) if position is None else position.clone()
        self.events = EventLog()

    def turn_up(self, *cards: int) -> "Table":
        """Turn up these cards, with one event each."""
        for number in cards:
            assert self.phase == "TURN_UP"
            self.apply(number)
        return self

    def move(self, start: int, end: int) -> "Table":
        """Move a cat."""
        return self.apply(move_id(start, end))

    def stop(self) -> "Table":
        """Stop moving cats."""
        return self.apply(STOP)

    def fall(self, space: int) -> "Table":
        """Make a cat fall."""
        return self.apply(fall_id(space))

    def bird(self, space: int) -> "Table":
        """Place a bird."""
        return self.apply(bird_id(space))

    def place(self, branch: int, value: int) -> "Table":
        """Place a token. Branches are numbered from 0."""
        return self.apply(token_id(branch, value))

    def cats(self, colour: int) -> list[int]:
        """Return the spaces of a colour's cats."""
        return list(self.state.seats[colour].cats)

    def ends(self, start: int) -> set[int]:
        """Return the spaces to which a cat at `start` can move."""
        ids = (action - 40 for action in self.position.legal_actions() if 40 <= action < STOP)
        return {action % 45 for action in ids if action // 45 == start}

    def movable(self) -> set[int]:
        """Return the spaces of the cats that can move."""
        return {(action - 40) // 45 for action in self.position.legal_actions() if 40 <= action < STOP}

    def plain_events(self, whole: bool = True) -> list[tuple[str, dict[str, Any]]]:
        """Return the events of the last move as (kind, other fields of the message)."""
        found = []
        for event in self.events:
            kind, message = event_of(GAME, event, whole)
            values = {field.name: value for field, value in message.ListFields() if field.name != "kind"}
            found.append((kind, values | ({"cards": list(values["cards"])} if "cards" in values else {})))
        return found
