"""Find the placements of the hidden cards consistent with a seat's information, by search, for small positions.

The search plays the game backwards from a placement. A draw that the seat did not see returns any card of the hand that
drew. The search ends at the first pass, before which every placement is possible. This module shares no code with the
kernel.
"""

from bisect import bisect_left
from collections.abc import Iterator
from itertools import combinations, permutations
from math import comb, perm

from games.discat.reference import Fact, Game

Hands = tuple[frozenset[int], ...]
# The hands, and the cards under the pile, the oldest first. All other cards are laid or in the unknown part of the
# pile.
Placement = tuple[Hands, tuple[int, ...]]


class Knowledge:
    """A seat's information in a game of the reference."""

    def __init__(self, game: Game, seat: int) -> None:
        """Record the seat's information so far."""
        self.game = game
        self.seat = seat
        first_pass = next((i for i, fact in enumerate(game.facts) if fact.kind == "unable"), len(game.facts))
        self.facts = [
            fact if fact.seers is None or seat in fact.seers else Fact(fact.kind, fact.seat, (), fact.seers)
            for fact in game.facts[first_pass:]
        ]
        # A moment is identified by the number of facts before it. For each moment: the constraints that hands met
        # before, and the cards that earlier facts name. Cards that neither distinguishes are equivalent at earlier
        # moments.
        self._constraints: list[list[int]] = [[]]
        self._named: list[set[int]] = [set()]
        for fact in self.facts:
            of_hands = fact.kind in ("able", "unable")
            self._constraints.append(sorted({*self._constraints[-1], *(fact.cards if of_hands else ())}))
            self._named.append(self._named[-1] | set(() if of_hands else fact.cards))
        self._possible: dict[tuple[int, tuple[tuple[int, ...], ...], tuple[int, ...]], bool] = {}

    def hidden_cards(self) -> list[int]:
        """Return the cards in other hands, put under the pile by other seats, or in the unknown part of the pile."""
        game = self.game
        own_queue = [card for card, seat in zip(game.queue, game.queue_seats, strict=True) if seat == self.seat]
        return sorted(set().union(game.unknown, game.queue, *game.hands) - game.hands[self.seat] - set(own_queue))

    def card_passed_unseen(self) -> bool:
        """Return whether other seats put a card under the pile and drew it. Resampling treats it as any card."""
        return any(
            fact.kind == "draw_queue" and fact.seers is not None and self.seat not in fact.seers
            for fact in self.game.facts
        )

    def num_candidates(self) -> int:
        """Return the number of ways to place the hidden cards, regardless of the seat's information."""
        game = self.game
        left, ways = len(self.hidden_cards()), 1
        for seat, hand in enumerate(game.hands):
            if seat != self.seat:
                ways *= comb(left, len(hand))
                left -= len(hand)
        return ways * perm(left, sum(seat != self.seat for seat in game.queue_seats))

    def placements(self) -> set[Placement]:
        """Return the placements consistent with the seat's information."""
        return {placement for placement in self._candidates() if self.agrees(placement)}

    def agrees(self, placement: Placement) -> bool:
        """Return whether play consistent with the seat's information can lead to a placement."""
        return self._can_precede(len(self.facts), placement)

    def _candidates(self) -> Iterator[Placement]:
        game = self.game

        def hands(seat: int, cards: frozenset[int], so_far: Hands) -> Iterator[Placement]:
            if seat == game.players:
                places = [i for i, owner in enumerate(game.queue_seats) if owner != self.seat]
                for chosen in permutations(cards, len(places)):
                    queue = list(game.queue)
                    for place, card in zip(places, chosen, strict=True):
                        queue[place] = card
                    yield so_far, tuple(queue)
            elif seat == self.seat:
                yield from hands(seat + 1, cards, (*so_far, frozenset(game.hands[seat])))
            else:
                for chosen in combinations(sorted(cards), len(game.hands[seat])):
                    yield from hands(seat + 1, cards - set(chosen), (*so_far, frozenset(chosen)))

        yield from hands(0, frozenset(self.hidden_cards()), ())

    def _kind_of(self, moment: int, card: int) -> int:
        # Return a number that is equal for cards that no fact before the moment distinguishes.
        return card if card in self._named[moment] else -1 - bisect_left(self._constraints[moment], card)

    def _can_precede(self, moment: int, placement: Placement) -> bool:
        # Return True if the facts before `moment` can have led to the placement.
        if moment == 0:
            return True
        hands, queue = placement
        kinds = (
            tuple(tuple(sorted(self._kind_of(moment, card) for card in hand)) for hand in hands),
            tuple(self._kind_of(moment, card) for card in queue),
        )
        key = moment, *kinds
        if key not in self._possible:
            self._possible[key] = self._drawn_since_passes(moment, hands) and any(
                self._can_precede(moment - 1, earlier) for earlier in self._undo(moment, placement)
            )
        return self._possible[key]

    def _drawn_since_passes(self, moment: int, hands: Hands) -> bool:
        # Return False for impossible placements: a hand must have drawn the cards that its last pass excluded.
        drawn = [0] * len(hands)
        for fact in reversed(self.facts[:moment]):
            if fact.kind in ("draw", "draw_queue"):
                drawn[fact.seat] += 1
            elif fact.kind == "unable":
                held = sum(self._respects(card, fact.cards[0]) for card in hands[fact.seat])
                if held > drawn[fact.seat]:
                    return False
        return True

    def _respects(self, card: int, constraint: int) -> bool:
        return card > constraint if constraint in self.game.up else card < constraint

    def _undo(self, moment: int, placement: Placement) -> Iterator[Placement]:
        # Yield the placements that were possible just before the last fact before the moment.
        fact = self.facts[moment - 1]
        hands, queue = placement
        hand = hands[fact.seat]

        def with_hand(cards: frozenset[int]) -> Hands:
            return (*hands[: fact.seat], cards, *hands[fact.seat + 1 :])

        if fact.kind == "play":
            yield with_hand(hand | set(fact.cards)), queue
        elif fact.kind in ("able", "unable"):
            constraint = fact.cards[0]
            if any(self._respects(card, constraint) for card in hand) == (fact.kind == "able"):
                yield placement
        elif fact.kind == "exchange":
            if fact.cards in ((), queue[-1:]):
                yield with_hand(hand | {queue[-1]}), queue[:-1]
        else:
            for card in fact.cards or {self._kind_of(moment - 1, card): card for card in hand}.values():
                if card in hand:
                    under = queue if fact.kind == "draw" else (card, *queue)
                    yield with_hand(hand - {card}), under
