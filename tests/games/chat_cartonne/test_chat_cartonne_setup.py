"""Tests of the rules in "Components and setup" and "Actions"."""

import pytest

from chatiere.engine import CHANCE_PLAYER, EngineError, Reason
from chatiere.engine.wire import Reader

from ..building import phase, refusal, state_of, view_of
from .building import CODEC, DRAW, GAME, PASS, SKIP, VARIANTS, Board, begun, carton, cell, place, play, typed
from .reference import PATTERNS, walls_of

# Components


@pytest.mark.rules("chat_cartonne", "Components and setup")
def test_names_of_cards_contain_their_walls_and_contents() -> None:
    names = {piece.number: str(piece.name) for piece in GAME.description.pieces if piece.kind == "card"}
    assert len(names) == 81
    assert names[0] == names[1].replace("1", "0") == "carton 0 (no walls)"
    assert names[9 * 1 + 8] == "carton 17 (wall N, sprayer)"
    assert names[9 * 7 + 5] == "carton 68 (walls NES, mouse and ball)"
    assert names[9 * 6 + 6] == "carton 60 (walls NW, ball and fish)"
    assert names[9 * 4 + 7] == "carton 43 (walls EW, fish and mouse)"
    assert names[72] == "toy card (2 mice)"
    assert [names[kind] for kind in (76, 77, 78, 79, 80)] == [
        "starting carton 76 (no walls)",
        "starting carton 77 (wall E)",
        "starting carton 78 (walls EW)",
        "starting carton 79 (wall N)",
        "starting carton 80 (walls NE)",
    ]


@pytest.mark.rules("chat_cartonne", "Components and setup")
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("pattern", range(8))
def test_a_turned_carton_has_its_walls_on_the_other_side(pattern: int, turned: bool) -> None:
    kind = 9 * pattern
    turns = turned and walls_of(kind, True) != walls_of(kind, False)
    board = Board().put(cell(10, 11), PATTERNS[pattern], turned=turns)
    seen = view_of(board.position(), None).table[0]
    shown = {
        side
        for side, wall in zip("NESW", (seen.wall_north, seen.wall_east, seen.wall_south, seen.wall_west), strict=True)
        if wall
    }
    assert shown == walls_of(kind, turns)


@pytest.mark.rules("chat_cartonne", "Components and setup")
def test_contents_are_shown_on_the_card() -> None:
    board = Board().put(cell(10, 11), "N", "fm").put(cell(12, 11), "NES", "!").toy(cell(12, 12), 74)
    first, _, sprayer, _, toy = view_of(board.position(), None).table
    assert (first.mice, first.balls, first.fish, first.sprayers) == (1, 0, 1, 0)
    assert (sprayer.mice, sprayer.balls, sprayer.fish, sprayer.sprayers) == (0, 0, 0, 1)
    assert (toy.mice, toy.balls, toy.fish, toy.sprayers) == (0, 0, 2, 0)


# Setup


@pytest.mark.rules("chat_cartonne", "Components and setup")
def test_the_first_seat_is_a_chance_event_uniform_over_the_seats() -> None:
    position = GAME.new_game(4)
    assert phase(position) == "FIRST_SEAT"
    assert position.chance_outcomes() == [(seat, 1) for seat in range(4)]
    after = position.child(2)
    assert state_of(after).first_seat == state_of(after).active_seat == 2


@pytest.mark.rules("chat_cartonne", "Components and setup")
def test_first_seat_can_be_an_option() -> None:
    assert phase(GAME.new_game(4, {"first_seat": 3})) == "DEAL"
    for wrong in (-1, 4, 5, 255, 1.0, True, "0"):
        with pytest.raises(EngineError) as caught:
            GAME.new_game(4, {"first_seat": wrong})
        assert (caught.value.reason, caught.value.field) == (Reason.INVALID_OPTION, "first_seat")


@pytest.mark.rules("chat_cartonne", "Components and setup")
def test_variants_are_true_or_false_and_false_is_the_default() -> None:
    options = dict.fromkeys(VARIANTS, True)
    assert GAME.new_game(3, options).options() == options
    assert GAME.new_game(3, dict.fromkeys(VARIANTS, False)).options() == {}
    for name in VARIANTS:
        with pytest.raises(EngineError) as caught:
            GAME.new_game(3, {name: 1})
        assert (caught.value.reason, caught.value.field) == (Reason.INVALID_OPTION, name)
    with pytest.raises(EngineError) as caught:
        GAME.new_game(3, {"all_princess": True})
    assert (caught.value.reason, caught.value.field) == (Reason.INVALID_OPTION, "all_princess")


@pytest.mark.rules("chat_cartonne", "Components and setup")
def test_two_cartons_but_no_toy_cards_are_dealt_to_each_seat_one_at_a_time() -> None:
    position = GAME.new_game(3, {"first_seat": 1})
    order = []
    for number in range(6):
        assert position.chance_outcomes() == [(kind, 1) for kind in range(number, 72)]
        order.append(state_of(position).active_seat)
        position.apply(number)
    assert order == [1, 2, 0, 1, 2, 0]
    assert [list(seat.hand_cards) for seat in state_of(position).seats] == [[2, 5], [0, 3], [1, 4]]
    assert phase(position) == "CHOOSE_START"


@pytest.mark.rules("chat_cartonne", "Components and setup")
@pytest.mark.parametrize(("players", "sizes"), [(2, [37, 36]), (3, [24] * 3), (4, [18, 18, 18, 17]), (5, [14] * 5)])
def test_each_seat_has_a_pile_with_a_princess_and_piles_are_nearly_equal(players: int, sizes: list[int]) -> None:
    view = view_of(begun(players), 0)
    assert [part.cards_left for part in view.parts] == sizes
    assert view.draw_pile_size == 75 - 2 * players + players == sum(sizes)
    assert view.unseen_princesses == players


@pytest.mark.rules("chat_cartonne", "Components and setup")
def test_with_all_princesses_a_single_pile_has_all_five() -> None:
    view = view_of(begun(3, {"all_princesses": True}), 0)
    assert [part.cards_left for part in view.parts] == [75 - 6 + 5]
    assert view.unseen_princesses == 5


@pytest.mark.rules("chat_cartonne", "Components and setup")
def test_the_princess_is_drawn_with_probability_one_in_r() -> None:
    position = play(begun(3), DRAW)
    # There are 24 cards in the upper part, and 69 cartons and toy cards in the pile. The ratio of 1/24 to 23/24/69 is
    # 3.
    assert position.chance_outcomes() == [(kind, 1) for kind in range(6, 75)] + [(75, 3)]


@pytest.mark.rules("chat_cartonne", "Components and setup")
def test_after_its_princess_a_part_has_only_cards() -> None:
    position = play(begun(3), DRAW, 75)
    position = play(position, position.legal_actions()[0])
    if phase(position) == "CAT":
        position = play(position, SKIP)
    position = play(position, DRAW)
    assert position.chance_outcomes() == [(kind, 1) for kind in range(6, 75)]


@pytest.mark.rules("chat_cartonne", "Components and setup")
def test_with_all_princesses_one_is_drawn_with_probability_p_in_r() -> None:
    position = play(begun(3, {"all_princesses": True}), DRAW)
    assert position.chance_outcomes() == [(kind, 1) for kind in range(6, 75)] + [(75, 5)]
    position = play(position, 75)
    position = play(position, position.legal_actions()[0])
    position = play(position, DRAW) if phase(position) == "TURN" else play(position, SKIP, DRAW)
    assert position.chance_outcomes() == [(kind, 1) for kind in range(6, 75)] + [(75, 4)]


@pytest.mark.rules("chat_cartonne", "Components and setup")
def test_the_last_card_of_a_part_is_the_princess_if_she_was_not_drawn() -> None:
    board = Board(2).put(cell(12, 11), "")
    for number in range(33):
        board.put(
            cell(13 + number % 8, 11 + number // 8),
            PATTERNS[number % 8],
            ("", "m", "b", "f", "mb", "bf", "fm", "!")[number // 8],
        )
    board.hand(0, 71, 70).hand(1, 68, 69)
    position = board.position()
    drawn = sum(part.cards_drawn for seat in state_of(position).seats for part in seat.by_part)
    assert drawn == 34
    assert view_of(position, None).parts[0].cards_left == 37 - 34
    for expected in (2, 1):
        position = play(position, DRAW)
        kinds = [kind for kind, _ in position.chance_outcomes()]
        assert (75 in kinds) == (len(kinds) > 1 or expected == 1)
        position = play(position, kinds[0])
        position = play(position, position.legal_actions()[0])
        if phase(position) == "CAT":
            position = play(position, SKIP)
        assert view_of(position, None).parts[0].cards_left == expected
    assert play(position, DRAW).chance_outcomes() == [(75, 1)]


@pytest.mark.rules("chat_cartonne", "Components and setup")
def test_the_first_seat_chooses_a_starting_carton_and_its_turn() -> None:
    position = GAME.new_game(2, {"first_seat": 0})
    position = play(position, 0, 1, 2, 3)
    assert position.current_player() == 0
    # Turning has no effect on cartons without walls (76) and with walls E and W (78).
    assert position.legal_actions() == [0, 2, 3, 4, 6, 7, 8, 9]
    assert refusal(position, 1).rule == refusal(position, 5).rule == "chat_cartonne.md: Actions"
    assert "choose a starting carton" in refusal(position, DRAW).message
    after = play(position, 9)
    card = state_of(after).table[0]
    assert (card.cell, card.card, card.turned) == (cell(11, 11), 80, True) == (275, 80, True)


@pytest.mark.rules("chat_cartonne", "Components and setup")
def test_each_other_seat_draws_a_starting_carton_and_places_it_at_an_end_of_the_column() -> None:
    position = play(GAME.new_game(3, {"first_seat": 2}), 0, 1, 2, 3, 4, 5, 6)
    assert position.current_player() == CHANCE_PLAYER
    assert position.chance_outcomes() == [(76, 1), (77, 1), (78, 1), (80, 1)]
    position = play(position, 80)
    assert (position.current_player(), state_of(position).starting_carton) == (0, 80)
    north, south = cell(11, 10), cell(11, 12)
    assert position.legal_actions() == [place(0, north), place(0, south), place(0, north, True), place(0, south, True)]
    for move, words in (
        (place(0, cell(10, 11)), "end of the column"),
        (place(0, cell(11, 11)), "end of the column"),
        (place(1, north), "not in the hand"),
        (3, "only once"),
        (DRAW, "starting carton just drawn"),
        (SKIP, "starting carton just drawn"),
        (3469 + north, "starting carton just drawn"),
    ):
        assert words in refusal(position, move).message
    position = play(position, place(0, north, True), 76)
    assert position.current_player() == 1
    assert position.legal_actions() == [place(0, cell(11, 9)), place(0, south)]
    assert "does not change its walls" in refusal(position, place(0, south, True)).message
    position = play(position, place(0, south))
    # Then the first seat begins. The starting carton was not in its hand.
    assert (position.current_player(), phase(position)) == (2, "TURN")
    assert all(len(seat.hand_cards) == 2 for seat in state_of(position).seats)


@pytest.mark.rules("chat_cartonne", "Components and setup")
def test_no_double_walls_applies_to_starting_cartons() -> None:
    position = play(GAME.new_game(2, {"first_seat": 0, "no_double_walls": True}), 0, 1, 2, 3, 6, 80)
    # 79 has a wall in the north, so 80 (N and E) may not be turned there: its wall would be in the south.
    north, south = cell(11, 10), cell(11, 12)
    assert position.legal_actions() == [place(0, north), place(0, south), place(0, south, True)]
    assert "wall may not touch another wall" in refusal(position, place(0, north, True)).message


# Actions


@pytest.mark.rules("chat_cartonne", "Actions")
def test_there_are_6925_ids_without_gaps() -> None:
    assert GAME.num_distinct_actions == 6925
    kinds = GAME.description.action_kinds
    assert kinds[0].first_id == 0
    assert kinds[-1].last_id == 6924
    assert [kind.first_id for kind in kinds[1:]] == [kind.last_id + 1 for kind in kinds[:-1]]


@pytest.mark.rules("chat_cartonne", "Actions")
def test_the_hand_is_sorted_into_slots() -> None:
    position = play(begun(2, hands=[[40, 9], [0, 1]]), DRAW, 20)
    assert list(state_of(position).seats[0].hand_cards) == [9, 20, 40]
    for slot, kind in enumerate((9, 20, 40)):
        assert typed(position, place(slot, cell(12, 11))).place_carton.card == kind
    assert "not in the hand" not in refusal(position, place(2, cell(11, 11))).message


@pytest.mark.rules("chat_cartonne", "Actions")
def test_turn_1_is_legal_only_if_it_changes_the_walls() -> None:
    for walls, changes in (
        ("", False),
        ("N", True),
        ("E", True),
        ("NS", False),
        ("EW", False),
        ("NE", True),
        ("NW", True),
        ("NES", True),
    ):
        kind = carton(walls, "!")
        position = play(begun(2, hands=[[kind, 71 if kind != 71 else 70], [0, 1]]), DRAW, 2)
        slot = list(state_of(position).seats[0].hand_cards).index(kind)
        assert (place(slot, cell(12, 11), True) in position.legal_actions()) == changes


@pytest.mark.rules("chat_cartonne", "Actions")
def test_typed_actions_outside_their_ranges_are_refused() -> None:
    position = play(begun(2), DRAW, 20)
    for field, change in (
        ("place_carton.cell", {"place_carton": {"card": 20, "turned": False, "cell": 576}}),
        ("place_carton.card", {"place_carton": {"card": 75, "turned": False, "cell": 1}}),
        ("place_carton.card", {"place_carton": {"card": 81, "turned": False, "cell": 1}}),
        ("sleep.cell", {"sleep": {"cell": 600}}),
        ("toy_on_joint.joint", {"toy_on_joint": {"joint": 600}}),
        ("choose_start.card", {"choose_start": {"card": 75}}),
        ("choose_start.card", {"choose_start": {"card": 81}}),
        ("", {}),
    ):
        message = type(typed(position, DRAW))(**change)
        with pytest.raises(EngineError) as caught:
            CODEC.read_action(Reader(message), position)
        assert (caught.value.reason, caught.value.field) == (Reason.INVALID_ACTION, field)
    with pytest.raises(EngineError) as caught:
        CODEC.read_action(
            Reader(type(typed(position, DRAW))(place_carton={"card": 50, "turned": False, "cell": 1})), position
        )
    assert (caught.value.reason, caught.value.field) == (Reason.ILLEGAL_ACTION, "place_carton.card")


@pytest.mark.rules("chat_cartonne", "Actions")
@pytest.mark.parametrize(("action", "name"), [(DRAW, "draw"), (SKIP, "skip"), (PASS, "pass_turn")])
def test_actions_without_fields_survive_conversion(action: int, name: str) -> None:
    position = begun()
    message = typed(position, action)
    assert message.WhichOneof("action") == name
    assert CODEC.read_action(Reader(message), position) == action


@pytest.mark.rules("chat_cartonne", "Actions")
def test_a_carton_that_is_not_in_hand_is_refused() -> None:
    with pytest.raises(EngineError) as caught:
        begun().action_label(place(2, cell(12, 11)))
    assert caught.value.reason is Reason.ILLEGAL_ACTION
