"""Edits that make Chat Cartonne states which random play rarely reaches, and the reference at an edited state."""

import random
from typing import Any

from .. import editing
from ..building import name_of
from .building import VARIANTS
from .reference import CONTENTS, PRINCESS, TOYS, Card, Game, at, number, turns, walls_of

SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1))

# For each number of players, the number of edited states from which a test continues to play.
STATES = 70


def edit(state: Any, choices: random.Random) -> None:
    """Change a state in a random way. The changed state may be impossible."""
    hands = [seat.hand_cards for seat in state.seats]
    seat = choices.randrange(len(hands))
    held = state.seats[seat]
    cards = {card.cell: card for card in state.table}
    cartons = [card for card in state.table if card.WhichOneof("lies") == "card" and card.card < 72]
    sleepers = [card for card in state.table if card.WhichOneof("lies") == "sleeping_cat"]
    way = choices.randrange(14)
    if way == 0:
        editing.exchange([*hands, state.draw_pile_cards], choices)
    elif way == 1 and cartons:
        # Replace a carton by another one, often by a carton without walls, so that boxes grow.
        card = choices.choice(cartons)
        places = [place for place in range(len(state.draw_pile_cards)) if state.draw_pile_cards[place] < 72]
        place = min(places, default=None) if choices.random() < 0.5 else choices.choice(places or [None])
        if place is not None:
            card.card, state.draw_pile_cards[place] = state.draw_pile_cards[place], card.card
            card.turned = card.turned and 1 in turns(card.card)
    elif way == 2 and cartons:
        card = choices.choice(cartons)
        card.turned = not card.turned and 1 in turns(card.card)
    elif way == 3 and cartons:
        card = choices.choice(cartons)
        card.cell = choices.choice(free_cells(cards))
    elif way == 4:
        lay_row(state, choices.choice(SIDES), choices.randint(1, 13), choices)
    elif way == 5 and held.supply:
        for _ in range(choices.randint(1, held.supply)):
            taken = {card.cell: card for card in state.table}
            state.table.add(cell=choices.choice(free_cells(taken)), sleeping_cat=seat)
            held.supply -= 1
    elif way == 6 and held.supply:
        free = [
            card
            for cell, card in cards.items()
            if card.WhichOneof("lies") == "card"
            and not card.HasField("on_joint")
            and cell + 1 in cards
            and cards[cell + 1].WhichOneof("lies") == "card"
        ]
        if free:
            choices.choice(free).on_joint.cat = seat
            held.supply -= 1
    elif way == 7 and sleepers:
        choices.choice(sleepers).woken ^= True
    elif way == 8:
        joints = [card for card in state.table if card.on_joint.WhichOneof("lies") == "cat"]
        if joints:
            card = choices.choice(joints)
            state.seats[card.on_joint.cat].supply += 1
            if choices.random() < 0.5:
                card.ClearField("on_joint")
            elif held.supply:
                card.on_joint.cat = seat
                held.supply -= 1
    elif way == 9:
        # Leave only toys and Princesses in the pile, or begin the final phase.
        for _ in range(40 if choices.random() < 0.5 else 0):
            lay_row(state, choices.choice(SIDES), 9, choices)
        state.final_phase |= not any(sum(size) for size in part_sizes(state)) or not held.supply
    elif way == 10:
        name = choices.choice(VARIANTS[1:])
        if getattr(state.options, name):
            state.options.ClearField(name)
        else:
            setattr(state.options, name, True)
    elif way == 11:
        give_princess(state, seat)
    elif way == 12 and state.parts:
        # Give a seat a third card.
        part = next((i for i, size in enumerate(part_sizes(state)) if size[0] > size[1]), None)
        kinds = [kind for kind in state.draw_pile_cards if kind < 72]
        if part is not None and kinds and len(held.hand_cards) == 2:
            kind = choices.choice(kinds)
            state.draw_pile_cards.remove(kind)
            held.hand_cards.append(kind)
            held.by_part[part].cards_drawn += 1
    elif way == 13:
        # Remove all cats from the table, and give a seat only Princesses.
        for card in list(state.table):
            if card in sleepers:
                state.seats[card.sleeping_cat].supply += 1
                state.table.remove(card)
            elif card.on_joint.WhichOneof("lies") == "cat":
                state.seats[card.on_joint.cat].supply += 1
                card.ClearField("on_joint")
        for _ in held.hand_cards:
            give_princess(state, seat)
    editing.sort([*hands, state.draw_pile_cards])
    table = sorted(state.table, key=lambda card: card.cell)
    del state.table[:]
    state.table.extend(table)


def give_princess(state: Any, seat: int) -> None:
    """Give a seat a Princess in place of its first card, if it can have drawn her."""
    held = state.seats[seat]
    part = next((i for i, one in enumerate(state.parts) if not one.HasField("princess_drawn_by")), None)
    if part is None or not held.hand_cards or held.hand_cards[0] == PRINCESS or not held.by_part[part].cards_drawn:
        return
    state.draw_pile_cards.append(held.hand_cards.pop(0))
    held.hand_cards.append(PRINCESS)
    if not state.options.all_princesses:
        state.parts[part].princess_drawn_by = seat


def free_cells(cards: Any) -> list[int]:
    """Return the empty cells next to cards."""
    near = {(x + dx, y + dy) for x, y in map(at, cards) for dx, dy in SIDES}
    return sorted(number((x, y)) for x, y in near if 0 <= x < 24 and 0 <= y < 24 and number((x, y)) not in cards)


def lay_row(state: Any, side: tuple[int, int], count: int, choices: random.Random) -> None:
    """Lay cartons of the pile in a row, starting next to the outermost card on that side."""
    dx, dy = side
    cells = [at(card.cell) for card in state.table]
    if not cells:
        return
    x, y = max(cells, key=lambda cell: cell[0] * dx + cell[1] * dy)
    for _ in range(count):
        x, y = x + dx, y + dy
        kinds = [kind for kind in state.draw_pile_cards if kind < 72]
        if not (0 <= x < 24 and 0 <= y < 24 and kinds):
            return
        sizes = part_sizes(state)
        part = next((i for i, (cards, princesses) in enumerate(sizes) if cards - princesses), None)
        if part is None or any(cards for cards, _ in sizes[:part]):
            return
        kind = choices.choice(kinds)
        state.draw_pile_cards.remove(kind)
        state.table.add(cell=number((x, y)), card=kind)
        choices.choice(state.seats).by_part[part].cards_drawn += 1


def part_sizes(state: Any) -> list[list[int]]:
    """Return the cards and Princesses left in each part of the pile."""
    players = len(state.seats)
    if state.options.all_princesses:
        gone = sum(kind == PRINCESS for seat in state.seats for kind in seat.hand_cards)
        left = 5 - gone - sum(part.princesses_played for seat in state.seats for part in seat.by_part)
        return [[len(state.draw_pile_cards) + left, left]]
    there = [int(not part.HasField("princess_drawn_by")) for part in state.parts]
    share, over = divmod(75 - 2 * players, players)
    left = len(state.draw_pile_cards) + sum(there)
    sizes = []
    for part in reversed(range(players)):
        size = min(left, share + (part < over) + 1)
        sizes.append([size, there[part]])
        left -= size
    return sizes[::-1]


def resumed(state: Any) -> Game | None:
    """Return the reference at a state, or None if the state is not at the start of a turn."""
    if name_of(state, "phase") != "TURN":
        return None
    options = {name: True for name in VARIANTS if getattr(state.options, name)}
    game = Game(len(state.seats), {**options, "first_seat": state.first_seat})
    game.hands = [list(seat.hand_cards) for seat in state.seats]
    game.supply = [seat.supply for seat in state.seats]
    game.unknown = set(state.draw_pile_cards)
    game.final = state.final_phase
    game.parts = part_sizes(state)
    for card in state.table:
        what = card.WhichOneof("lies")
        if what == "card":
            printed = 2 * TOYS[card.card] if card.card in TOYS else CONTENTS[card.card % 9] if card.card < 72 else ""
            walls = frozenset[str]() if card.card in TOYS else walls_of(card.card, card.turned)
            game.table[at(card.cell)] = Card(walls, printed)
        elif what == "sleeping_cat":
            game.table[at(card.cell)] = Card(frozenset(), carton=False, sleeper=card.sleeping_cat, woken=card.woken)
        else:
            game.table[at(card.cell)] = Card(frozenset(), carton=False, princess=True)
        lies = card.on_joint.WhichOneof("lies")
        if lies == "princess":
            game.joints[at(card.cell)] = ("princess", 0)
        elif lies is not None:
            whose = card.on_joint.cat if lies == "cat" else TOYS[card.on_joint.toy]
            game.joints[at(card.cell)] = (lies, whose)
    game.go_on(game.turns(state.active_seat, state.passes))
    return game
