"""Tests of the rules in "A trick" and "Actions"."""

import pytest
from tools.over import over

from chatiere.engine import EngineError, Reason
from chatiere.engine.wire import Reader, fill
from chatiere.v1.chatpentiers_pb2 import ChatpentiersAction

from ..building import read, state_of, view_of
from .building import CODEC, GAME, Table, card, late_state, names, plain_event, take_id

# 1. The extra card


@pytest.mark.rules("chatpentiers", "A trick")
def test_the_extra_card_is_a_chance_event_uniform_over_the_remaining_cards() -> None:
    table = Table("", "", "")
    for trick in range(11):
        undealt = list(state_of(table.position).draw_pile_cards)
        assert len(undealt) == 15 - trick
        assert (table.actor, table.phase) == (-1, "EXTRA")
        assert table.position.chance_outcomes() == [(number, 1) for number in undealt]
        table.chance(undealt[0])
        assert table.plain_events() == [("EXTRA_CARD_TURNED", undealt[0])]
        assert list(table.view.table_cards) == [table.view.extra_card] == [undealt[0]]
        while table.phase == "PLAY":
            table.apply(table.position.legal_actions()[0])
        table.take_any()
    assert len(state_of(table.position).draw_pile_cards) == 48
    assert state_of(table.position).round == 2


@pytest.mark.rules("chatpentiers", "A trick")
def test_no_seat_has_to_follow_the_extra_card() -> None:
    table = Table("r1 y1", "g1 r2", "b1 r3").turn("y12")
    leads = table.playable().split()
    assert len(leads) == 11
    assert {"r1", "y1"} <= set(leads)
    # Red is led. The grey extra card does not affect the other seats.
    table.play("r1")
    assert all(name[0] == "r" for name in table.playable().split())


@pytest.mark.rules("chatpentiers", "A trick")
def test_the_extra_card_has_no_rank_and_can_be_taken() -> None:
    table = Table("r1", "r2", "r3", undealt="r12").turn("r12").play("r1", "r2", "r3")
    assert table.ranking == [2, 1, 0]
    assert set(table.takes()) == {"r1", "r2", "r3", "r12"}
    table.take("r12", 0)
    assert table.board(2) == {0: "r12"}
    assert names(table.view.table_cards) == "r1 r2 r3"


@pytest.mark.rules("chatpentiers", "A trick")
def test_an_extra_card_that_no_seat_takes_is_discarded() -> None:
    table = Table("r1", "r2", "r3", undealt="r12").turn("r12").play("r1", "r2", "r3")
    table.take("r3", 0).take("r2", 0).take("r1", 0)
    assert ("CARD_DISCARDED", card("r12")) in table.plain_events()
    assert names(state_of(table.position).discards) == "r12"


@pytest.mark.rules("chatpentiers", "A trick")
@over("players", [4, 5])
def test_there_is_no_extra_card_with_4_or_5_players(players: int) -> None:
    table = Table(*[""] * players)
    assert table.phase == "PLAY"
    assert not table.view.HasField("extra_card")
    for _ in range(players):
        table.apply(table.position.legal_actions()[0])
    table.take_any()
    assert table.phase == "PLAY"


# 2. Playing


@pytest.mark.rules("chatpentiers", "A trick")
def test_the_leader_can_play_any_card() -> None:
    table = Table("y1 g1 r1 n1 b1", "", "", "")
    assert len(table.position.legal_actions()) == 14
    assert {"y1", "g1", "r1", "n1", "b1"} <= set(table.playable().split())


@pytest.mark.rules("chatpentiers", "A trick")
def test_seats_play_clockwise_from_the_leader() -> None:
    table = Table("", "", "", "", "", first_seat=3)
    actors = []
    while table.phase == "PLAY":
        actors.append(table.actor)
        table.apply(table.position.legal_actions()[0])
    assert actors == [3, 4, 0, 1, 2]
    assert [play.seat for play in table.view.plays] == actors


@pytest.mark.rules("chatpentiers", "A trick")
def test_a_seat_with_the_led_colour_must_follow() -> None:
    table = Table("r2", "r3 r9 y1", "", "").play("r2")
    assert {"r3", "r9"} <= set(table.playable().split())
    assert all(name[0] == "r" for name in table.playable().split())
    error = table.refusal(card("y1"))
    assert error.reason is Reason.ILLEGAL_ACTION
    assert error.rule == "chatpentiers.md: A trick"
    assert "follow" in error.message


@pytest.mark.rules("chatpentiers", "A trick")
def test_a_seat_without_the_led_colour_can_play_any_card_and_shows_a_void() -> None:
    hand = "y1 y2 y3 y4 g1 g2 g3 n1 n2 n3 n4 b1 b2 b3"
    table = Table("r2", hand, "", "").play("r2")
    assert table.playable() == hand
    table.play("b2")
    assert table.plain_events() == [("CARD_PLAYED", 1, card("b2")), ("VOID_SHOWN", 1, 2)]
    assert list(table.view.seats[1].shown_voids) == [2]


@pytest.mark.rules("chatpentiers", "A trick", "Decisions of the engine")
def test_a_void_is_shown_once_in_a_round_and_kept_until_its_end() -> None:
    table = Table("r2 r3 r4", "y1 y2 y3 y4 y5 y6 y7 y8 y9 y10 y11 y12 g1 g2", "", "")
    table.play("r2", "y1")
    assert ("VOID_SHOWN", 1, 2) in table.plain_events()
    voids = []
    while state_of(table.position).round == 1:
        before = list(table.view.seats[1].shown_voids)
        table.apply(table.position.legal_actions()[0])
        if table.actor >= 0:
            assert set(before) <= set(table.view.seats[1].shown_voids)
            voids += [event for event in table.plain_events() if event[:2] == ("VOID_SHOWN", 1)]
    assert len(voids) == len({colour for _, _, colour in voids})
    assert not table.view.seats[1].shown_voids


@pytest.mark.rules("chatpentiers", "A trick")
def test_following_shows_no_void() -> None:
    table = Table("r2", "r3", "r4", "r5").play("r2", "r3", "r4", "r5")
    assert all(not seat.shown_voids for seat in table.view.seats)


# 3. Rank


@pytest.mark.rules("chatpentiers", "A trick", "Worked cases (from the rulebook)")
def test_worked_case_all_red_led_by_player_3() -> None:
    # Players 1-4 are seats 0-3. The ranks are 10, 9, 8, 2 in this order, regardless of the seats.
    table = Table("r8", "r10", "r2", "r9", first_seat=2).play("r2", "r9", "r8", "r10")
    assert table.ranking == [1, 3, 0, 2]
    assert table.plain_events()[-1] == ("TRICK_RANKED", [1, 3, 0, 2])


@pytest.mark.rules("chatpentiers", "A trick", "Worked cases (from the rulebook)")
def test_worked_case_different_colours_and_equal_values() -> None:
    # Red 2 is led, followed by grey 9, green 9 and grey 12.
    table = Table(
        "r2",
        "y9 y1 y2 y3 y4 y5 y6 y7 y8 b1 b2 b3 b4 b5",
        "g9 g1 g2 g3 g4 g5 g6 g7 g8 n1 n2 n3 n4 n5",
        "y12 y10 y11 b6 b7 b8 b9 n6 n7 n8 n9 n10 n11 n12",
    )
    table.play("r2", "y9", "g9", "y12")
    assert table.ranking == [0, 3, 2, 1]


def ranking(*plays: str) -> list[int]:
    """Return the ranking if seats 0, 1 … play these cards, their last, in the last trick of a round."""
    players = len(plays)
    dealt, taken = {3: (11, 3), 4: (14, 3), 5: (12, 4)}[players]
    extra = {3: "b1"}.get(players)
    played = [*plays, *([extra] if extra else [])]
    colours = "ygrb" if players == 3 else "ygrnb"
    rest = [f"{letter}{value}" for letter in colours for value in range(1, 13) if f"{letter}{value}" not in played]
    # Place the other cards under the boards by colour, then in the discards. The remaining cards are not dealt.
    boarded, rest = rest[: (dealt - 1) * taken], rest[(dealt - 1) * taken :]
    board = {
        zone: " ".join(name for name in boarded if name[0] == letter)
        for zone, letter in enumerate(colours)
        if any(name[0] == letter for name in boarded)
    }
    last = plays[-1]
    state = late_state(
        [*[""] * (players - 1), last],
        [board, *[{}] * (players - 1)],
        discards=" ".join(rest[: dealt - 1]),
        undealt=" ".join(rest[dealt - 1 :]),
        plays=list(enumerate(plays[:-1])),
        extra=extra,
        active=players - 1,
        voids={seat: plays[0][0] for seat in range(1, players - 1) if plays[seat][0] != plays[0][0]},
    )
    return Table.at(read(state)).play(last).ranking


@pytest.mark.rules("chatpentiers", "A trick")
def test_the_led_colour_beats_all_other_colours() -> None:
    assert ranking("r1", "g12", "y12", "r2") == [3, 0, 2, 1]


@pytest.mark.rules("chatpentiers", "A trick")
def test_higher_values_are_stronger_within_the_led_colour_and_outside() -> None:
    assert ranking("r5", "g3", "r7", "b11", "r6") == [2, 4, 0, 3, 1]


@pytest.mark.rules("chatpentiers", "A trick")
def test_the_later_of_equal_values_off_colour_is_stronger() -> None:
    assert ranking("r5", "g9", "y9", "b9", "n9") == [0, 4, 3, 2, 1]
    assert ranking("r5", "g9", "y9") == [0, 2, 1]


@pytest.mark.rules("chatpentiers", "A trick")
def test_an_equal_value_in_the_led_colour_is_still_stronger() -> None:
    assert ranking("r9", "g9", "y9", "n2") == [0, 2, 1, 3]


# 4. Taking


@pytest.mark.rules("chatpentiers", "A trick")
@pytest.mark.parametrize(
    ("players", "takers"), [(3, [2, 1, 1]), (4, [3, 2, 2]), (5, [4, 3, 2, 2])], ids=["3p", "4p", "5p"]
)
def test_seats_take_the_documented_numbers_of_cards_in_rank_order(players: int, takers: list[int]) -> None:
    # Seat s plays red s + 1, so the last seat ranks first.
    table = Table(*[f"r{seat + 1}" for seat in range(players)], undealt="r12" if players == 3 else "")
    if players == 3:
        table.turn("r12")
    table.play(*[f"r{seat + 1}" for seat in range(players)])
    actors, due = [], []
    while table.phase == "TAKE":
        actors.append(table.actor)
        due.append(table.view.cards_to_take)
        table.apply(table.position.legal_actions()[0])
    assert actors == takers
    assert due == ([1, 2, 1] if players < 5 else [1, 1, 2, 1])
    # The seat that took two cards leads.
    assert table.view.leader == takers[-1]
    assert ("LEADER_CHOSEN", takers[-1]) in table.plain_events()


@pytest.mark.rules("chatpentiers", "A trick")
def test_with_5_players_the_third_seat_takes_two_and_leads() -> None:
    table = Table("r10", "r8", "r6", "r4", "r2").play("r10", "r8", "r6", "r4", "r2")
    table.take("r2", 3).take("r4", 3).take("r10", 3).take("r6", 3)
    assert [table.board(seat) for seat in range(5)] == [{3: "r2"}, {3: "r4"}, {3: "r6 r10"}, {}, {}]
    assert (table.actor, table.view.leader) == (2, 2)
    assert names(state_of(table.position).discards) == "r8"


@pytest.mark.rules("chatpentiers", "A trick")
def test_taking_is_mandatory() -> None:
    table = Table("r10", "r8", "r6", "r4").play("r10", "r8", "r6", "r4")
    assert all(action >= 60 for action in table.position.legal_actions())
    error = table.refusal(state_of(table.position).seats[0].hand_cards[0])
    assert error.reason is Reason.ILLEGAL_ACTION
    assert "take a card" in error.message


@pytest.mark.rules("chatpentiers", "A trick")
def test_a_seat_can_take_its_own_card() -> None:
    table = Table("r10", "r8", "r6", "r4").play("r10", "r8", "r6", "r4").take("r10", 0)
    assert table.board(0) == {0: "r10"}
    assert table.plain_events() == [("CARD_TAKEN", 0, card("r10"), 0)]


@pytest.mark.rules("chatpentiers", "A trick")
def test_a_seat_that_takes_two_decides_twice_one_card_at_a_time() -> None:
    table = Table("r10", "r8", "r6", "r4").play("r10", "r8", "r6", "r4").take("r10", 0)
    assert (table.actor, table.view.cards_to_take) == (1, 2)
    table.take("r6", 2)
    # The first card is placed before the second is chosen.
    assert (table.actor, table.view.cards_to_take) == (1, 1)
    assert table.takes() == {"r4": [2], "r8": [2]}


# 5. Placing


@pytest.mark.rules("chatpentiers", "A trick")
def test_a_new_colour_can_go_to_any_empty_section_or_the_zero_zone() -> None:
    table = Table("r10", "r8", "r6", "r4").play("r10", "r8", "r6", "r4")
    assert table.takes() == {name: [0, 1, 2, 3, 4] for name in ("r4", "r6", "r8", "r10")}


@pytest.mark.rules("chatpentiers", "A trick")
def test_with_3_players_there_is_no_zero_zone() -> None:
    table = Table("r10", "r8", "r6").turn("y1").play("r10", "r8", "r6")
    assert table.takes() == {name: [0, 1, 2, 3] for name in ("r6", "r8", "r10", "y1")}
    error = table.refusal(take_id("y1", 4))
    assert error.reason is Reason.ILLEGAL_ACTION
    assert "zero zone" in error.message


def five_zones() -> Table:
    """Return a table with red in seat 0's zero zone and seat 3's section 0. Seat 0 ranks first in a blue trick."""
    table = Table("r12 b12", "r1 b1", "r2 b2", "r3 b3")
    table.play("r12", "r1", "r2", "r3").take("r1", 4)
    table.take("r2", 0).take("r3", 0)
    assert table.actor == 3
    return table.play("b3", "b12", "b1", "b2")


@pytest.mark.rules("chatpentiers", "A trick")
def test_a_colour_under_the_board_goes_to_its_zone_including_the_zero_zone() -> None:
    table = Table("r12 r11", "r1 r5", "r2 r6", "r3 r4").play("r12", "r1", "r2", "r3")
    table.take("r1", 4).take("r2", 1).take("r3", 1)
    table.play("r4", "r11", "r5", "r6")
    assert table.actor == 0
    assert table.takes() == {"r4": [4], "r5": [4], "r6": [4], "r11": [4]}
    table.take("r4", 4)
    assert (table.actor, table.board(0)) == (2, {4: "r1 r4"})


@pytest.mark.rules("chatpentiers", "A trick")
def test_a_zone_holds_one_colour_and_a_colour_lies_in_one_zone() -> None:
    table = five_zones()
    # Seat 0 ranks first with blue 12. Red is in its zero zone.
    assert table.actor == 0
    assert table.board(0) == {4: "r1"}
    assert table.takes() == {name: [0, 1, 2, 3] for name in ("b1", "b2", "b3", "b12")}
    refused = table.refusal(take_id("b1", 4))
    assert refused.reason is Reason.ILLEGAL_ACTION
    assert "another colour" in refused.message
    table.take("b1", 2)
    # Seat 3 has red in section 0 and takes two blue cards.
    assert table.actor == 3
    table.take("b2", 1)
    refused = table.refusal(take_id("b12", 3))
    assert refused.reason is Reason.ILLEGAL_ACTION
    assert "in another zone" in refused.message
    assert table.takes() == {"b3": [1], "b12": [1]}


@pytest.mark.rules("chatpentiers", "A trick")
def test_the_zero_zone_can_be_chosen_while_sections_are_empty() -> None:
    table = Table("r10", "r8", "r6", "r4").play("r10", "r8", "r6", "r4").take("r4", 4)
    assert table.board(0) == {4: "r4"}
    assert table.position.totals() == [0, 0, 0, 0]


# 6. The discard and the next leader


@pytest.mark.rules("chatpentiers", "A trick")
@over("players", [3, 4, 5])
def test_one_card_of_every_trick_is_discarded(players: int) -> None:
    table = Table(*[""] * players)
    for trick in range(1, 4):
        if players == 3:
            table.chance(table.position.chance_outcomes()[0][0])
        while table.phase == "PLAY":
            table.apply(table.position.legal_actions()[-1])
        table.take_any()
        assert len(state_of(table.position).discards) == trick
        assert table.view.trick == trick + 1
        assert not table.view.table_cards
        assert not table.view.plays


@pytest.mark.rules("chatpentiers", "A trick", "Public and hidden", "Decisions of the engine")
def test_discards_are_listed_in_every_view() -> None:
    table = Table("r10", "r8", "r6", "r4").play("r10", "r8", "r6", "r4").take("r10", 0).take("r8", 0).take("r6", 0)
    for seat in (None, 0, 1, 2, 3):
        assert names(view_of(table.position, seat).discards) == "r4"
    assert [plain_event(event) for event in table.events] == [
        ("CARD_TAKEN", 1, card("r6"), 0),
        ("CARD_DISCARDED", card("r4")),
        ("LEADER_CHOSEN", 1),
    ]


# Actions


@pytest.mark.rules("chatpentiers", "Actions")
@pytest.mark.parametrize("action", [card("y1"), take_id("y1", 0), take_id("b12", 4)])
def test_typed_actions_and_ids_are_equivalent(action: int) -> None:
    table = Table("", "", "", "")
    typed = ChatpentiersAction()
    fill(typed, CODEC.put_action, table.position, action)
    assert CODEC.read_action(Reader(typed), table.position) == action
    assert (
        (typed.play_card.card == action)
        if action < 60
        else (60 + 5 * typed.take_card.card + typed.take_card.zone == action)
    )


@pytest.mark.rules("chatpentiers", "Actions")
@pytest.mark.parametrize(
    ("kind", "fields", "field"),
    [
        ("play_card", {}, "play_card.card"),
        ("play_card", {"card": 60}, "play_card.card"),
        ("take_card", {"zone": 1}, "take_card.card"),
        ("take_card", {"card": 3}, "take_card.zone"),
        ("take_card", {"card": 60, "zone": 1}, "take_card.card"),
        ("take_card", {"card": 3, "zone": 5}, "take_card.zone"),
        ("take_card", {"card": 2**32 - 1, "zone": 2**32 - 1}, "take_card.card"),
    ],
)
def test_typed_actions_with_unknown_cards_or_zones_are_invalid(kind: str, fields: dict[str, int], field: str) -> None:
    typed = ChatpentiersAction()
    getattr(typed, kind).SetInParent()
    for name, value in fields.items():
        setattr(getattr(typed, kind), name, value)
    with pytest.raises(EngineError) as caught:
        CODEC.read_action(Reader(typed), Table("", "", "", "").position)
    assert caught.value.reason is Reason.INVALID_ACTION
    assert caught.value.field == field


@pytest.mark.rules("chatpentiers", "Actions")
def test_a_typed_action_without_a_kind_is_invalid() -> None:
    with pytest.raises(EngineError, match="no field is set") as caught:
        CODEC.read_action(Reader(ChatpentiersAction()), Table("", "", "", "").position)
    assert caught.value.reason is Reason.INVALID_ACTION


@pytest.mark.rules("chatpentiers", "Actions")
def test_ids_beyond_the_range_have_no_label() -> None:
    for action in (-1, 360):
        with pytest.raises(EngineError) as caught:
            Table("", "", "", "").position.action_label(action)
        assert caught.value.reason is Reason.INVALID_ACTION


@pytest.mark.rules("chatpentiers", "Actions")
def test_a_card_that_is_not_in_hand_or_not_on_the_table_is_refused() -> None:
    table = Table("r10", "r8", "r6", "r4")
    assert "not in the hand" in table.refusal(card("r8")).message
    assert "cards are taken once everyone has played" in table.refusal(take_id("r10", 0)).message
    table.play("r10", "r8", "r6", "r4")
    assert "not on the table" in table.refusal(take_id("y1", 0)).message


@pytest.mark.rules("chatpentiers", "Actions")
def test_outcomes_and_actions_are_not_interchangeable() -> None:
    dealing = Table.at(GAME.new_game(3, {"first_seat": 0}))
    assert dealing.refusal(12 * 3).reason is Reason.IMPOSSIBLE_OUTCOME
    assert dealing.refusal(60).reason is Reason.IMPOSSIBLE_OUTCOME
    extra = Table("r1", "", "")
    assert extra.refusal(card("r1")).reason is Reason.IMPOSSIBLE_OUTCOME
