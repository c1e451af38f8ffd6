"""Edits that make Discat states which random play rarely reaches, and the reference at an edited state."""

import random
from typing import Any

from .. import editing
from ..building import name_of
from .reference import Game

# For each number of players, the number of edited states from which a test continues to play.
STATES = 300


def edit(state: Any, choices: random.Random) -> None:
    """Change a state in a random way. The changed state may be impossible."""
    hands = [seat.hand_cards for seat in state.seats]
    places = [*hands, state.draw_pile_cards, state.queue_cards]
    way = choices.randrange(9)
    if way == 0:
        editing.exchange(places, choices)
    elif way == 1:
        editing.shift([*hands, state.draw_pile_cards], choices)
    elif way == 2:
        # Give a seat a hand that is a group.
        digit, by_tens = choices.randrange(10), choices.random() < 0.5
        group = {card for card in range(1, 91) if (card // 10 if by_tens else card % 10) == digit}
        editing.bring(max(hands, key=len) if choices.random() < 0.5 else choices.choice(hands), group, places)
    elif way == 3:
        flipped = set(choices.sample(range(1, 91), choices.choice((1, 10, 45))))
        arrows = set(state.options.up_arrows.cards) or set(range(1, 91, 2))
        state.options.up_arrows.SetInParent()
        state.options.up_arrows.cards[:] = sorted(arrows ^ flipped)
    elif way == 4 and state.turns:
        # Add earlier rounds of plays, so that the draw pile is smaller.
        for _ in range(choices.randint(1, 8)):
            add_round(state, choices)
    elif way == 5 and state.turns:
        use_up(state, choices)
    elif way == 6 and state.turns:
        # Leave few cards in a hand, and empty the draw pile, because it would have refilled the hand.
        hand = choices.choice(hands)
        while len(hand) > choices.randint(0, 2):
            state.draw_pile_cards.append(hand.pop())
        use_up(state, choices)
    elif way == 7 and state.turns:
        # Bring the last turns near, and give another seat a group.
        hand, others = hands[state.active_seat], hands[: state.active_seat] + hands[state.active_seat + 1 :]
        use_up(state, choices)
        while len(hand) > 1:
            min(others, key=len).append(hand.pop())
        digit = choices.randrange(10)
        editing.bring(choices.choice(others), {card for card in range(1, 91) if card % 10 == digit}, places)
    elif way == 8 and state.bonus_drawn:
        # Give the constraint's creator a group of six.
        creator = next(turn.seat for turn in reversed(state.turns) if turn.HasField("played"))
        while len(hands[creator]) < 6 and state.draw_pile_cards:
            hands[creator].append(state.draw_pile_cards.pop())
        digit = choices.randrange(10)
        editing.bring(hands[creator], {card for card in range(1, 91) if card % 10 == digit}, places)
    editing.sort([*hands, state.draw_pile_cards])


def use_up(state: Any, choices: random.Random) -> None:
    """Move the draw pile's cards to hands and to plays in additional earlier rounds."""
    while len(state.draw_pile_cards) >= len(state.seats):
        add_round(state, choices)
    for card in list(state.draw_pile_cards):
        min(state.seats, key=lambda seat: len(seat.hand_cards)).hand_cards.append(card)
    del state.draw_pile_cards[:]


def add_round(state: Any, choices: random.Random) -> None:
    """Before all turns, insert a play of every seat with cards from the draw pile."""
    players = len(state.seats)
    if len(state.draw_pile_cards) < players:
        return
    rest = list(state.turns)
    del state.turns[:]
    for distance in range(players):
        turn = state.turns.add(seat=(state.first_seat + distance) % players)
        size = 1 if distance == 0 else choices.choice((1, 1, 2, 4))
        spare = len(state.draw_pile_cards) - (players - 1 - distance)
        cards = [
            state.draw_pile_cards.pop(choices.randrange(len(state.draw_pile_cards)))
            for _ in range(max(1, min(size, spare)))
        ]
        turn.played.cards[:] = [*sorted(cards[:-1]), cards[-1]]
    state.turns.extend(rest)


def resumed(state: Any) -> Game | None:
    """Return the reference at a state, or None if the state is not at the start of a turn."""
    if name_of(state, "phase") not in ("PLAY", "BONUS", "PASS"):
        return None
    players = len(state.seats)
    options: dict[str, Any] = {"first_seat": state.first_seat}
    if state.options.HasField("up_arrows"):
        options["up_arrows"] = sum(2 ** (card - 1) for card in state.options.up_arrows.cards)
    game = Game(players, options)
    game.hands = [set(seat.hand_cards) for seat in state.seats]
    game.unknown = set(state.draw_pile_cards)
    game.queue = list(state.queue_cards)
    exchanged = []
    for turn in state.turns:
        seat = turn.seat
        if turn.WhichOneof("turn") == "passed" or seat == game.creator:
            game.face_down |= set(game.piles[seat][-1:])
        if turn.WhichOneof("turn") == "passed":
            exchanged += [seat] * turn.passed.exchanged
            continue
        laid = list(turn.played.cards)
        if len(laid) == 4:
            game.bonus[seat].append(laid.pop(0))
        game.piles[seat] += laid
        game.constraint, game.creator = laid[-1], seat
    game.queue_seats = exchanged[len(exchanged) - len(game.queue) :]
    game.bonus_drawn = state.bonus_drawn
    game.go_on(game.turns(state.active_seat, state.last_turns_left or None))
    return game
