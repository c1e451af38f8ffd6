"""Positions of Momistigri for tests: states given in full, and games continued from them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from chatiere import engine
from chatiere.engine import EngineError, EventLog, Position
from chatiere.v1.momistigri_pb2 import (
    MOMISTIGRI_MARK_NONE,
    MomistigriAction,
    MomistigriState,
)

from .. import building
from ..building import event_of, read, state_of, view_of
from .reference import HAND_OUT, MAIN, MOMISTIGRI, NAME, PASS, REVERSE, STOP, SWAP_IN, SWAP_OUT, gift_id, pair_id
from .reference import Game as Reference

GAME = engine.game("momistigri")
CODEC = engine.codec("momistigri")
PLAYERS = (3, 4, 5)
M = MOMISTIGRI


def card(name: str) -> int:
    """Return the kind of a card named "3B" or "M"."""
    return M if name == "M" else 9 * "ABCDE".index(name[1]) + int(name[0]) - 1


def cards(names: str) -> list[int]:
    """Return the kinds of several cards, in ascending order: "3B 5C M"."""
    return sorted(card(name) for name in names.split())


def name(kind: int) -> str:
    """Return the name of a kind."""
    return "M" if kind == M else f"{kind % 9 + 1}{'ABCDE'[kind // 9]}"


def names(kinds: Iterable[int]) -> str:
    """Return the names of kinds."""
    return " ".join(name(kind) for kind in kinds)


def deck(players: int, copies: Sequence[int] | None = None) -> Counter[int]:
    """Return the cards of a game with the given number of players."""
    return +Reference(players, {} if copies is None else {"copies": list(copies)}).deck


def refused(message: MomistigriState) -> EngineError:
    """Return the error with which a state is refused."""
    try:
        read(message)
    except EngineError as error:
        return error
    raise AssertionError("not refused")


def late_state(
    hands: Sequence[str],
    *,
    active: int = 0,
    phase: str = "DISCARD",
    passed: Iterable[int] = (),
    penalties: Sequence[Sequence[int]] = (),
    round: int = 1,
    turn: int = 20,
    first: int = 0,
    copies: Sequence[int] | None = None,
    known: Mapping[tuple[Any, int], str] | None = None,
    most_ones: Mapping[tuple[Any, int], int] | None = None,
    **fields: Any,
) -> MomistigriState:
    """Return a state late in a round. Cards that are not in a hand are in the pile. Seats without cards have left.

    `known` and `most_ones` map (knower, seat of the hand) to the knowledge. The knower None represents all seats.
    """
    players = len(hands)
    fields.setdefault("mark", MOMISTIGRI_MARK_NONE)
    state = MomistigriState(
        phase=f"MOMISTIGRI_PHASE_{phase}",
        round_first_seat=first,
        active_seat=active,
        round=round,
        turn=turn,
        **fields,
    )
    state.options.SetInParent()
    if copies is not None:
        state.options.copies.extend(copies)
    left = deck(players, copies)
    known, most_ones = known or {}, most_ones or {}
    for seat, hand in enumerate(hands):
        held = state.seats.add(hand_cards=cards(hand), in_round=bool(hand), pass_mark=seat in passed)
        held.round_points.extend(one[seat] for one in penalties)
        left.subtract(held.hand_cards)
        for knower in (None, *range(players)):
            if (knower, seat) in known or (knower, seat) in most_ones:
                entry = held.knowledge.add(
                    cards=cards(known.get((knower, seat), "")), most_ones=most_ones.get((knower, seat))
                )
                if knower is not None:
                    entry.seat = knower
    assert min(left.values()) >= 0, f"too many of these cards: {names(k for k, n in left.items() if n < 0)}"
    state.discards.extend(sorted(left.elements()))
    return state


class Table(building.Table):
    """A position on which moves are made by the names of cards. Every position on the way is checked."""

    def __init__(self, position: Position) -> None:
        self.position = position
        self.events = EventLog()

    @classmethod
    def late(cls, *hands: str, **fields: Any) -> "Table":
        """Start from `late_state`."""
        return cls(read(late_state(hands, **fields)))

    def apply(self, move: int) -> "Table":
        """Apply a dense id or an outcome."""
        super().apply(move)
        assert read(state_of(self.position), self.position.ply()) == self.position
        return self

    def draw(self, *drawn: str) -> "Table":
        """Resolve chance events to these cards, one event each."""
        for one in drawn:
            self.apply(card(one))
        return self

    def pair(self, both: str) -> "Table":
        """Discard a pair, "3B 5B"."""
        return self.apply(pair_id(*cards(both)))

    def pass_turn(self) -> "Table":
        """Pass."""
        return self.apply(PASS)

    def stop(self) -> "Table":
        """Discard no more pairs."""
        return self.apply(STOP)

    def main(self) -> "Table":
        """Use the main effect."""
        return self.apply(MAIN)

    def reverse(self) -> "Table":
        """Reverse the direction."""
        return self.apply(REVERSE)

    def name(self, one: str) -> "Table":
        """Name a card."""
        return self.apply(NAME + card(one))

    def give(self, one: str, seat: int) -> "Table":
        """Give a card to the seat with the number `seat`."""
        return self.apply(gift_id((seat - self.actor) % self.position.num_players(), card(one)))

    def hand_out(self, one: str) -> "Table":
        """Hand out a card to the receiver."""
        return self.apply(HAND_OUT + card(one))

    def swap_out(self, one: str) -> "Table":
        """Discard a card for a swap."""
        return self.apply(SWAP_OUT + card(one))

    def swap_in(self, one: str) -> "Table":
        """Take a card for a swap."""
        return self.apply(SWAP_IN + card(one))

    @property
    def active(self) -> int:
        """The seat to act."""
        return int(self.state.active_seat)

    @property
    def round(self) -> int:
        """The number of the round, counted from 1."""
        return int(self.state.round)

    def hand(self, seat: int) -> str:
        """Return a seat's cards."""
        return names(self.state.seats[seat].hand_cards)

    def in_pile(self, one: str) -> int:
        """Return the number of copies of a card in the pile."""
        return list(self.state.discards).count(card(one))

    def inside(self) -> list[int]:
        """The seats that are in the round."""
        return [seat for seat, held in enumerate(self.state.seats) if held.in_round]

    def passed(self) -> list[int]:
        """The seats with their pass marks set."""
        return [seat for seat, held in enumerate(self.state.seats) if held.pass_mark]

    def penalties(self) -> list[list[int]]:
        """The penalties, as a list for each finished round."""
        return [list(one) for one in zip(*(held.round_points for held in self.state.seats), strict=True)]

    def outcomes(self) -> dict[str, int]:
        """Return the chance outcomes with their weights."""
        return {name(kind): weight for kind, weight in self.position.chance_outcomes()}

    def legal(self) -> list[str]:
        """Return the labels of the legal actions."""
        return [self.position.action_label(action) for action in self.position.legal_actions()]

    def plain_events(self) -> list[tuple[str, int | None, str]]:
        """Return the kind, seat and cards of each event of the last move."""
        found = []
        for event in self.events:
            kind, message = event_of(GAME, event)
            found.append((kind, event.seat, names(message.cards)))
        return found

    def knows(self, knower: int | None, seat: int) -> str:
        """Return the cards in the hand of `seat` that `knower` knows. The knower None represents all seats."""
        return names(view_of(self.position, knower).seats[seat].hand_cards)

    def most_ones(self, knower: int | None, seat: int) -> int | None:
        """Return the limit that `knower` knows for the number of 1s in the hand of `seat`, or None without a limit.

        The knower None represents all seats.
        """
        seen = view_of(self.position, knower).seats[seat]
        return seen.most_ones if seen.HasField("most_ones") else None


def typed(kind: str, **fields: Any) -> MomistigriAction:
    """Return a typed action."""
    message = MomistigriAction()
    part = getattr(message, kind)
    part.SetInParent()
    for field, content in fields.items():
        if isinstance(content, list):
            getattr(part, field).extend(content)
        else:
            setattr(part, field, content)
    return message
