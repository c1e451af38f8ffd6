"""ChatCartonnePieces has the numbers of the rules file. The kernel uses the same numbers."""

from collections import Counter
from typing import Any

import pytest
from tools.over import over

from ..building import name_of, state_of, view_of
from ..played import details_of, played
from .building import GAME, PRINCESS
from .reference import CONTENTS, PATTERNS

pytestmark = pytest.mark.rules("chat_cartonne", "Components and setup")

DETAILS = details_of(GAME)
KINDS = {info.card: info for info in DETAILS.cards}
CELLS = {info.cell: info for info in DETAILS.cells}
SIDES = {"N": "north", "E": "east", "S": "south", "W": "west"}
OPPOSITE = {"N": "S", "E": "W", "S": "N", "W": "E"}
SYMBOLS = ("mice", "balls", "fish", "sprayers")
PLAYERS = (2, 3, 4, 5)


def walls(info: Any, turned: bool = False) -> set[str]:
    """Return the edges with a wall: N, E, S, W."""
    return {OPPOSITE[letter] if turned else letter for letter, side in SIDES.items() if getattr(info, f"wall_{side}")}


def symbols(info: Any) -> dict[str, int]:
    return {name: getattr(info, name) for name in SYMBOLS}


def test_walls_and_symbols_of_cartons_are_those_of_the_rules_file() -> None:
    letters = dict(zip("mbf!", SYMBOLS, strict=True))
    for kind in range(72):
        info = KINDS[kind]
        assert name_of(info, "role") == "CARTON"
        assert info.pattern == kind // 9
        assert walls(info) == walls(DETAILS.patterns[info.pattern]) == set(PATTERNS[kind // 9])
        wanted = {letters[letter] for letter in CONTENTS[kind % 9]}
        assert symbols(info) == {name: int(name in wanted) for name in SYMBOLS}
        assert info.can_turn == (walls(info) != walls(info, turned=True))
    assert [info.pattern for info in DETAILS.patterns] == list(range(8))


def test_the_other_cards_are_those_of_the_rules_file() -> None:
    for kind, name in zip((72, 73, 74), SYMBOLS, strict=False):
        assert name_of(KINDS[kind], "role") == "TOY"
        assert symbols(KINDS[kind]) == {each: 2 * (each == name) for each in SYMBOLS}
        assert not walls(KINDS[kind])
    assert name_of(KINDS[PRINCESS], "role") == "PRINCESS"
    assert (KINDS[PRINCESS].total_copies, walls(KINDS[PRINCESS])) == (5, set())
    for kind, letters in zip(range(76, 81), ("", "E", "EW", "N", "NE"), strict=True):
        assert name_of(KINDS[kind], "role") == "STARTING_CARTON"
        assert walls(KINDS[kind]) == set(letters)
    assert not any(KINDS[kind].HasField("pattern") for kind in range(72, 81))
    assert {info.total_copies for info in DETAILS.cards if info.card != PRINCESS} == {1}


def test_cells_are_numbered_by_rows_and_share_a_joint_with_their_eastern_neighbour() -> None:
    assert (DETAILS.rows, DETAILS.columns) == (24, 24)
    for info in DETAILS.cells:
        assert info.cell == DETAILS.columns * info.row + info.column
        assert info.HasField("east") == (info.column < DETAILS.columns - 1)
        if info.HasField("east"):
            assert (CELLS[info.east].row, CELLS[info.east].column) == (info.row, info.column + 1)
    assert (CELLS[DETAILS.first_cell].column, CELLS[DETAILS.first_cell].row) == (11, 11)


def test_the_numbers_are_those_of_the_rules_file() -> None:
    assert (DETAILS.cats_per_seat, DETAILS.cards_dealt, DETAILS.largest_hand) == (5, 2, 3)
    assert [table.players for table in DETAILS.by_players] == list(PLAYERS)
    assert [table.princesses for table in DETAILS.by_players] == list(PLAYERS)
    assert {table.total_princesses for table in DETAILS.by_players} == {5}
    for table in DETAILS.by_players:
        cards = 72 + 3 - 2 * table.players
        assert sum(table.part_sizes) == cards + table.princesses
        assert table.part_sizes[0] - table.part_sizes[-1] in (0, 1)
        assert sorted(table.part_sizes, reverse=True) == list(table.part_sizes)
        assert table.whole_pile_size == cards + 5


@pytest.mark.parametrize("all_princesses", [False, True])
@over("players", PLAYERS)
def test_the_copies_are_all_cards_of_a_game(players: int, all_princesses: bool) -> None:
    table = DETAILS.by_players[players - 2]
    princesses = table.total_princesses if all_princesses else table.princesses
    options = {"all_princesses": True} if all_princesses else {}
    position, _ = next(played(GAME, players, options))
    state = state_of(position)
    found = Counter(state.draw_pile_cards)
    for seat in state.seats:
        found.update(seat.hand_cards)
        assert (len(seat.hand_cards), seat.supply) == (DETAILS.cards_dealt, DETAILS.cats_per_seat)
    wanted = Counter({info.card: info.total_copies for info in DETAILS.cards if info.card < PRINCESS})
    assert found == wanted
    view = view_of(position, None)
    assert view.unseen_princesses == princesses
    assert [part.cards_left for part in view.parts] == (
        [table.whole_pile_size] if all_princesses else list(table.part_sizes)
    )
    assert view.draw_pile_size == sum(part.cards_left for part in view.parts)


@over("players", PLAYERS)
def test_cards_on_the_table_have_these_walls_and_symbols(players: int) -> None:
    roles, turned, largest = set(), set(), 0
    for position, _ in played(GAME, players, games=4):
        view = view_of(position, None)
        largest = max(largest, *(seat.hand_size for seat in view.seats))
        for seen in view.table:
            card = seen.laid
            assert card.HasField("on_joint") <= CELLS[card.cell].HasField("east")
            if card.WhichOneof("lies") != "card":
                assert not walls(seen)
                assert not any(symbols(seen).values())
                continue
            info = KINDS[card.card]
            assert walls(seen) == walls(info, card.turned)
            assert symbols(seen) == symbols(info)
            assert card.turned <= info.can_turn
            roles.add(name_of(info, "role"))
            turned.add(card.turned)
    assert {"CARTON", "STARTING_CARTON"} <= roles
    assert turned == {False, True}
    assert largest == DETAILS.largest_hand
