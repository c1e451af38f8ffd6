"""ChatpentiersPieces has the numbers of the rules file. The kernel uses the same numbers."""

from collections import Counter

import pytest
from tools.over import over

from ..building import event_of, score_of, view_of
from ..played import details_of, played
from .building import GAME

pytestmark = pytest.mark.rules("chatpentiers", "Components and setup")

DETAILS = details_of(GAME)
TABLES = {table.players: table for table in DETAILS.by_players}
NAMES = {(piece.kind, piece.number): str(piece.name) for piece in GAME.description.pieces}


def test_cards_have_the_colours_and_values_of_their_names() -> None:
    for card in DETAILS.cards:
        assert card.card == 12 * card.colour + card.value - 1
        assert NAMES["card", card.card] == f"{NAMES['colour', card.colour]} {card.value}"
    assert Counter(card.colour for card in DETAILS.cards) == dict.fromkeys(range(5), 12)


def test_the_numbers_are_those_of_the_rules_file() -> None:
    assert [table.players for table in DETAILS.by_players] == [3, 4, 5]
    assert [table.cards_dealt for table in DETAILS.by_players] == [11, 14, 12]
    assert [list(table.cards_taken) for table in DETAILS.by_players] == [[1, 2, 0], [1, 2, 0, 0], [1, 1, 2, 0, 0]]
    assert [table.extra_cards for table in DETAILS.by_players] == [1, 0, 0]
    assert [list(table.section_limits) for table in DETAILS.by_players] == [[1, 2, 3, 5], [1, 2, 3, 4], [1, 2, 3, 4]]
    assert [table.HasField("removed_colour") for table in DETAILS.by_players] == [True, False, False]
    assert TABLES[3].removed_colour == 3
    assert list(DETAILS.perfect_bonus) == [0, 0, 1, 2, 4]
    assert DETAILS.rounds == 3
    assert [(zone.zone, zone.section, zone.min_players) for zone in DETAILS.zones] == [
        *((section, True, 3) for section in range(4)),
        (4, False, 4),
    ]


@over("players", [3, 4, 5])
def test_play_uses_these_numbers(players: int) -> None:
    table = TABLES[players]
    zones = {zone.zone: zone for zone in DETAILS.zones if zone.min_players <= players}
    used, rounds, ranking = set(), set(), []
    taken: Counter[int] = Counter()
    for position, events in played(GAME, players, games=3):
        view = view_of(position, None)
        assert list(view.section_limits) == list(table.section_limits)
        assert view.HasField("removed_colour") == table.HasField("removed_colour")
        assert view.removed_colour == table.removed_colour
        rounds.add(view.round)
        if view.phase and not view.plays and not position.is_terminal():
            assert view.HasField("extra_card") == (table.extra_cards == 1)
        for event in events:
            kind, message = event_of(GAME, event)
            if kind == "TRICK_RANKED":
                ranking, taken = list(message.ranking), Counter()
            elif kind == "CARD_TAKEN":
                taken[message.seat] += 1
                used.add(message.zone)
            elif kind == "CARD_DISCARDED":
                assert [taken[seat] for seat in ranking] == list(table.cards_taken)
        for seat, score in zip(view.seats, score_of(position).seats, strict=True):
            assert score.bonus_points == DETAILS.perfect_bonus[score.perfect_sections]
            cards = {zone.zone: len(zone.cards) for zone in seat.zones}
            for section, points in enumerate(score.section_points):
                held, limit = cards.get(section, 0), table.section_limits[section]
                assert points == (held if held <= limit else limit - held)
            assert score.zero_zone_points == -cards.get(4, 0)
        assert max(seat.hand_size for seat in view.seats) <= table.cards_dealt
    assert used == set(zones)
    assert rounds == set(range(1, DETAILS.rounds + 1))
