"""Edits that make Chatpentiers states which random play rarely reaches, and the reference at an edited state."""

import random
from typing import Any

from .. import editing
from ..building import name_of
from .reference import Game, Trick, card_of

# For each number of players, the number of edited states from which a test continues to play.
STATES = 250


def edit(state: Any, choices: random.Random) -> None:
    """Change a state in a random way. The changed state may be impossible."""
    hands = [seat.hand_cards for seat in state.seats]
    seat = choices.choice(state.seats)
    way = choices.randrange(8)
    if way == 0:
        editing.exchange([*hands, state.draw_pile_cards, state.discards], choices)
    elif way == 1:
        # Give a seat a hand of one or two colours.
        colours = choices.sample(range(5), choices.randint(1, 2))
        hand = choices.choice(hands)
        editing.bring(hand, {card for card in range(60) if card // 12 in colours}, [*hands, state.draw_pile_cards])
    elif way == 2:
        # Put cards of the same value into all hands.
        value = choices.randrange(12)
        for hand in hands:
            card = choices.choice([12 * colour + value for colour in range(5)])
            editing.bring(hand, {card, *hand[1:]}, [*hands, state.draw_pile_cards, state.discards])
    elif way == 3:
        # Move the colours of a board to other zones.
        zones = list(range(4 if len(hands) == 3 else 5))
        others = choices.sample(zones, len(seat.zones))
        found = sorted((zone, list(held.cards)) for zone, held in zip(others, seat.zones, strict=True))
        del seat.zones[:]
        for zone, cards in found:
            seat.zones.add(zone=zone, cards=cards)
    elif way == 4:
        # Give one board all taken cards of a colour.
        for zone in seat.zones:
            for other in state.seats:
                for there in other.zones:
                    if other is not seat and there.cards[0] // 12 == zone.cards[0] // 12:
                        zone.cards.extend(there.cards[1:])
                        del there.cards[1:]
    elif way == 5:
        state.options.section_limits[:] = [choices.randint(1, 9) for _ in range(4)]
    elif way == 6:
        for other in state.seats:
            held = {card // 12 for card in other.hand_cards}
            other.shown_voids[:] = [c for c in range(5) if c not in held and choices.random() < 0.6]
    elif way == 7:
        state.round = choices.randint(1, 3)
        for other in state.seats:
            other.round_points[:] = [choices.randint(0, 8) for _ in range(state.round - 1)]
        if not sum(len(held.cards) for other in state.seats for held in other.zones):
            state.leader = (state.first_seat + state.round - 1) % len(hands)
    places = [*hands, state.draw_pile_cards, state.discards]
    editing.sort([*places, *(zone.cards for other in state.seats for zone in other.zones)])


def resumed(state: Any) -> Game | None:
    """Return the reference at a state if a seat has to act, otherwise None."""
    if name_of(state, "phase") not in ("PLAY", "TAKE"):
        return None
    players = len(state.seats)
    options: dict[str, Any] = {"first_seat": state.first_seat}
    if state.options.section_limits:
        options["section_limits"] = list(state.options.section_limits)
    if state.options.HasField("removed_colour"):
        options["removed_colour"] = state.options.removed_colour
    game = Game(players, options)
    game.round = state.round
    game.pack = {card_of(card) for card in state.draw_pile_cards}
    game.discards = {card_of(card) for card in state.discards}
    game.hands = [{card_of(card) for card in seat.hand_cards} for seat in state.seats]
    game.finished = [list(seat.round_points) for seat in state.seats]
    game.boards = [{zone.zone: [card_of(card) for card in zone.cards] for zone in seat.zones} for seat in state.seats]
    game.voids = {(number, colour) for number, seat in enumerate(state.seats) for colour in seat.shown_voids}
    trick = Trick([(play.seat, card_of(play.card)) for play in state.plays])
    lying = {card for _, card in trick.plays}
    if state.HasField("extra_card"):
        trick.extra = card_of(state.extra_card)
        lying.add(trick.extra)
    on_boards = {card for board in game.boards for cards in board.values() for card in cards}
    game.tricks, game.table = [trick], lying - on_boards
    game.go_on(game.from_trick(game.trick_from(trick, state.leader, len(lying & on_boards))))
    return game
