"""A seat's observation, computed in plain Python."""

from collections.abc import Sequence
from typing import Any

from ..building import name_of
from ..plain import Parts, clockwise, is_set, one_hot, padded

SIDE = 24
SEATS = 5
PARTS = 5
# The printed walls of each pattern, and of the starting cartons from kind 76 on.
PATTERNS = ("", "N", "E", "NS", "EW", "NE", "NW", "NES")
STARTING = ("", "E", "EW", "N", "NE")
TURNED = str.maketrans("NESW", "SWNE")
TOYS = range(72, 75)
PRINCESS = 75
FIRST_STARTING = 76
VARIANTS = ("all_princesses", "no_double_walls", "no_crowd_bonus", "half_sleepers")


def observation(view: Any, _: Sequence[Any], seat: int) -> Parts:
    """Return a mapping from the names of the observation's parts to their numbers."""
    players = len(view.seats)
    order = clockwise(seat, players)
    contents = [[0] * SIDE for _ in range(SIDE)]
    walls = [[0] * SIDE for _ in range(SIDE)]
    for seen in view.table:
        row, column = divmod(seen.laid.cell, SIDE)
        contents[row][column] = contents_of(seen.laid, order)
        walls[row][column] = walls_of(seen.laid) + 16 * on_joint(seen.laid, order)
    unseen = list(view.unseen_cards)
    just_played = divmod(view.just_played, SIDE) if view.HasField("just_played") else None
    return {
        "contents": contents,
        "walls": walls,
        "own_hand": padded([1 + kind for kind in view.seats[seat].hand_cards], 3),
        "unseen": [*(unseen.count(kind) for kind in range(PRINCESS)), view.unseen_princesses],
        "pending": view.starting_carton or view.toy,
        "just_played": [1 + place for place in just_played] if just_played else [0, 0],
        "seats": padded([seat_numbers(view, other) for other in order], SEATS, [0] * 22),
        "parts": padded(
            [[left, int(own)] for left, own in zip(cards_left(view), own_princesses(view), strict=True)], PARTS, [0, 0]
        ),
        "players": players,
        "pile": view.draw_pile_size,
        "final_phase": [int(view.final_phase), view.passes],
        "variants": [int(getattr(view.options, variant)) for variant in VARIANTS],
        "phase": one_hot(view.phase - 1, 11),
    }


def part_sizes(view: Any) -> list[int]:
    """Return the number of cards in each part of the full pile ("Components and setup")."""
    players = len(view.seats)
    cards = 72 + 3 - 2 * players
    if view.options.all_princesses:
        return [cards + 5]
    return [cards // players + (part < cards % players) + 1 for part in range(players)]


def cards_left(view: Any) -> list[int]:
    """Return the cards left in each part. Lower parts are drawn last. Undealt cartons count in the upper part."""
    left: list[int] = []
    for size in reversed(part_sizes(view)[1:]):
        left.insert(0, min(size, view.draw_pile_size - sum(left)))
    return [view.draw_pile_size - sum(left), *left]


def own_princesses(view: Any) -> list[bool]:
    """Return for each part whether the seat drew its Princess. Before the deal is complete, it is False."""
    return [part.own_princess for part in view.parts] or [False] * len(part_sizes(view))


def contents_of(card: Any, order: list[int]) -> int:
    """Return the number of a card on the table in the part `contents`."""
    if card.HasField("sleeping_cat"):
        return (17 if card.woken else 12) + order.index(card.sleeping_cat)
    if card.HasField("princess"):
        return 22
    if card.card in TOYS:
        return 9 + TOYS.index(card.card)
    # Of the nine contents, the first two are empty, and starting cartons have no contents.
    return max(1, card.card % 9) if card.card < TOYS[0] else 1


def walls_of(card: Any) -> int:
    """Return the walls of a card in its orientation: 1 north, 2 east, 4 south, 8 west."""
    printed = ""
    if card.HasField("card"):
        if card.card >= FIRST_STARTING:
            printed = STARTING[card.card - FIRST_STARTING]
        elif card.card not in TOYS:
            printed = PATTERNS[card.card // 9]
    lying = printed.translate(TURNED) if card.turned else printed
    return sum(2 ** "NESW".index(edge) for edge in lying)


def on_joint(card: Any, order: list[int]) -> int:
    """Return the number of the joint with the eastern neighbour in the part `walls`."""
    if not card.HasField("on_joint"):
        return 0
    if card.on_joint.HasField("cat"):
        return 1 + order.index(card.on_joint.cat)
    return 6 if card.on_joint.HasField("princess") else 7 + card.on_joint.toy - TOYS[0]


def seat_numbers(view: Any, other: int) -> list[int]:
    """Return the numbers of a seat in the part `seats`."""
    seen = view.seats[other]
    playing = name_of(view, "phase") not in ("FIRST_SEAT", "OVER")
    shown = [[sum(2**pattern for pattern in known.not_patterns), int(known.not_princess)] for known in seen.shown]
    return [
        1,
        seen.hand_size,
        seen.supply,
        int(playing and view.active_seat == other),
        is_set(view, "first_seat", other),
        int(seen.holds_carton),
        *padded([part.cards_drawn for part in seen.by_part], PARTS),
        *padded([part.princesses_played for part in seen.by_part], PARTS),
        *(number for pair in padded(shown, 3, [0, 0]) for number in pair),
    ]
