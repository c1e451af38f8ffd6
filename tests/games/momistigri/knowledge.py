"""Find a seat's possible knowledge by search: worlds consistent with its observations, and worlds that its view allows.

`Witness` plays every world that is possible for the seat, and keeps the worlds in which the seat would have observed
the same events. It uses the rules, but not the knowledge that the state records.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from chatiere.engine import CHANCE_PLAYER, Event, EventLog, Position
from chatiere.engine.wire import fill
from chatiere.v1.momistigri_pb2 import MomistigriEvent

from ..building import read, state_of, view_of
from .building import CODEC
from .reference import value

Hands = tuple[tuple[int, ...], ...]


def hands_of(position: Position) -> Hands:
    """Return all hands."""
    return tuple(tuple(held.hand_cards) for held in state_of(position).seats)


def shown(events: Sequence[Event], seat: int) -> list[bytes]:
    """Return events in the form that a seat receives."""
    found = []
    for event in events:
        message = MomistigriEvent()
        fill(message, CODEC.put_event, event, event.seen_by is None or seat in event.seen_by)
        found.append(message.SerializeToString(deterministic=True))
    return found


def allowed(position: Position, seat: int) -> Counter[Hands]:
    """Return all hands consistent with a seat's view, each with the number of ways to place the hidden cards."""
    view = view_of(position, seat)
    known = [list(held.hand_cards) for held in view.seats]
    room = [held.hand_size - len(cards) for held, cards in zip(view.seats, known, strict=True)]
    most = [held.most_ones if held.HasField("most_ones") else 99 for held in view.seats]
    found: Counter[Hands] = Counter()
    for spread in spreads(list(view.unseen_cards), room):
        hands = [sorted(cards + more) for cards, more in zip(known, spread, strict=True)]
        if all(sum(value(card) == 1 for card in hand) <= limit for hand, limit in zip(hands, most, strict=True)):
            found[tuple(map(tuple, hands))] += 1
    return found


def spreads(cards: list[int], room: list[int]) -> Iterator[list[list[int]]]:
    """Yield all ways to fill places of the given sizes with distinct cards."""
    assert sum(room) == len(cards)
    if not cards:
        yield [[] for _ in room]
        return
    for place, left in enumerate(room):
        if left:
            for spread in spreads(cards[1:], [r - (i == place) for i, r in enumerate(room)]):
                spread[place].append(cards[0])
                yield spread


def with_hands(position: Position, hands: Hands) -> Position:
    """Return the position with other hands and without any recorded knowledge."""
    state = state_of(position)
    for held, cards in zip(state.seats, hands, strict=True):
        held.hand_cards[:] = cards
        del held.knowledge[:]
    return read(state)


class Witness:
    """A seat that remembers everything, starting from a position without any knowledge."""

    def __init__(self, position: Position, seat: int) -> None:
        self.seat = seat
        self.worlds = {hands: with_hands(position, hands) for hands in allowed(position, seat)}

    def see(self, position: Position, move: int) -> None:
        """Observe a move made at a position."""
        events = EventLog()
        position.clone().apply(move, events)
        seen = shown(events, self.seat)
        after: dict[Hands, Position] = {}
        for world in self.worlds.values():
            # The seat knows its own decisions. Chance and other seats can have made any move that looks the same.
            moves = [move]
            if position.current_player() != self.seat:
                moves = world.legal_actions()
                if world.current_player() == CHANCE_PLAYER:
                    moves = [outcome for outcome, _ in world.chance_outcomes()]
            for other in moves:
                follow = world.clone()
                other_events = EventLog()
                follow.apply(other, other_events)
                if shown(other_events, self.seat) == seen:
                    after[hands_of(follow)] = follow
        self.worlds = after
