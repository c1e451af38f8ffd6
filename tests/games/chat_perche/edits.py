"""Edits that make Chat perché states which random play rarely reaches, and the reference at an edited state."""

import random
from typing import Any

from ..building import name_of
from .reference import CARDS, Cat, Game, branch

CARD_PHASES = ("MOVE", "FALL", "PLACE_BIRD")

# For each number of players, the number of edited states from which a test continues to play.
STATES = 500


def edit(state: Any, choices: random.Random) -> None:
    """Change a state in a random way. The changed state may be impossible."""
    seat = choices.choice(state.seats)
    here = choices.choice(state.branches)
    number = list(state.branches).index(here)
    way = choices.randrange(10)
    free = sorted(set(range(45)) - {*state.seats[0].cats, *state.seats[1].cats, *state.birds})
    if way == 0 and seat.cats:
        seat.cats[choices.randrange(len(seat.cats))] = choices.choice(free)
    elif way == 1:
        # Put more cats into the tree, sometimes onto the trunk or one branch.
        near = [space for space in free if space < 5 or space in branch(number)]
        for _ in range(choices.randint(1, 6)):
            seat.cats.append(choices.choice(near if choices.random() < 0.7 else free))
    elif way == 2 and seat.cats:
        seat.cats.pop(choices.randrange(len(seat.cats)))
    elif way == 3:
        state.birds[:] = choices.sample([space for space in {*free, *state.birds} if space > 4], choices.randint(0, 6))
    elif way == 4:
        other = choices.choice(state.branches)
        here.solidity, other.solidity = other.solidity, here.solidity
    elif way == 5:
        here.broken = not here.broken
        here.greatest_load = 0
        spaces = branch(number)
        for cats in (state.seats[0].cats, state.seats[1].cats, state.birds):
            cats[:] = [space for space in cats if space not in spaces]
    elif way == 6:
        here.greatest_load = min(4, here.greatest_load + choices.randrange(3))
    elif way == 7:
        # Leave few cards in the deck, or no cards.
        left = {card for card in seat.draw_pile_cards if choices.random() < 0.2}
        seat.draw_pile_cards[:] = [card for card in seat.draw_pile_cards if card in left]
    elif way == 8:
        track = state.options.dog_track if state.options.HasField("dog_track") else 10
        state.dog_steps = choices.choice((0, max(0, track - 2), track - 1))
    else:
        barred = [space for space in {*seat.cats, *state.barred} if choices.random() < 0.3]
        state.barred[:] = sorted(barred)[:2]
    for cats in (state.seats[0].cats, state.seats[1].cats, state.birds):
        cats[:] = sorted(set(cats))
    for number, there in enumerate(state.branches):
        animals = {*state.seats[0].cats, *state.seats[1].cats, *state.birds}
        if not there.broken:
            there.greatest_load = max(there.greatest_load, len(animals & set(branch(number))))


def resumed(state: Any) -> Game | None:
    """Return the reference at a state, or None unless a card has to be turned up or has just been turned up."""
    phase = name_of(state, "phase")
    if phase != "TURN_UP" and phase not in CARD_PHASES:
        return None
    options: dict[str, Any] = {"first_seat": state.first_seat, "forward_only": state.options.forward_only}
    if state.options.HasField("dog_track"):
        options["dog_track"] = state.options.dog_track
    for name in ("solidity", "deck"):
        if getattr(state.options, name):
            options[name] = list(getattr(state.options, name))
    game = Game(2, options)
    game.seat, game.dogs, game.birds = state.active_seat, state.dog_steps, list(state.birds)
    game.hands = [[], []]
    for seat, held in enumerate(state.seats):
        game.decks[seat] = [CARDS[card] for card in held.draw_pile_cards]
        for space in held.cats:
            cat = game.starts[seat].pop()
            cat.space = space
            game.cats.append(cat)
    for number, there in enumerate(state.branches):
        game.tokens[number] = there.token_owner, there.solidity
        game.loads[number] = [there.greatest_load]
        if there.broken:
            game.broken.add(number)
    game.moved[1 - game.seat] = {cat: space_of(cat) for cat in game.cats if cat.space in state.barred}
    if phase == "TURN_UP":
        game.go_on(game.turns(game.turn()))
    else:
        game.card = CARDS[state.card]
        game.go_on(game.turns(game.apply_card()))
    return game


def space_of(cat: Cat) -> int:
    """Return the space of a cat in the tree."""
    assert cat.space is not None
    return cat.space
