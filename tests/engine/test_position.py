"""Operations on positions of all games: copies, comparison, playouts and perft."""

import copy
import pickle

import pytest
from conformance.documented_stream import DocumentedStream

from chatiere.engine import CHANCE_PLAYER, INVALID_PLAYER, TERMINAL_PLAYER, EngineError, Game, Position, Reason


@pytest.fixture
def position(game: Game) -> Position:
    """Return a position at the first decision, with sampled chance."""
    return game.new_game(game.min_players, seed=7)


def test_chance_and_terminal_players_have_openspiels_numbers() -> None:
    # They are kChancePlayerId, kInvalidPlayer and kTerminalPlayerId in spiel_globals.h; -2 is kSimultaneousPlayerId.
    assert (CHANCE_PLAYER, INVALID_PLAYER, TERMINAL_PLAYER) == (-1, -3, -4)


def test_copies_are_equal_and_independent(position: Position) -> None:
    packed = position.pack()
    for other in (position.clone(), pickle.loads(pickle.dumps(position)), copy.copy(position), copy.deepcopy(position)):
        assert other == position
        assert hash(other) == hash(position)
        other.apply(other.legal_actions()[0])
        assert other != position
        assert position.pack() == packed


def test_a_position_does_not_equal_other_objects(position: Position) -> None:
    packed: object = position.pack()
    assert position != packed
    assert len({position, position.clone(), position.child(position.legal_actions()[0])}) == 2


def test_the_stream_is_part_of_a_position(game: Game) -> None:
    sampled = game.new_game(game.min_players, seed=7)
    explicit = game.position(sampled.pack()[-(game.packed_size - 32) :])
    assert sampled != explicit
    assert sampled.legal_actions() == explicit.legal_actions()


def test_the_refusal_of_a_move_names_the_seat_to_act(position: Position) -> None:
    for call in (position.apply, position.child):
        with pytest.raises(EngineError) as caught:
            call(position.game.num_distinct_actions)
        assert caught.value.reason is Reason.INVALID_ACTION
        assert caught.value.metadata == {
            "actor": str(position.current_player()),
            "move": str(position.game.num_distinct_actions),
        }
        assert f"seat {position.current_player()} is to act" in caught.value.message


def test_require_decision_refuses_chance_nodes_and_games_that_are_over(game: Game) -> None:
    position = game.new_game(game.min_players, seed=7)
    position.require_decision()
    chance = game.new_game(game.min_players)
    assert chance.current_player() == CHANCE_PLAYER
    with pytest.raises(EngineError) as caught:
        chance.require_decision()
    assert caught.value.reason is Reason.CHANCE_PENDING
    assert caught.value.metadata == {"actor": "chance"}
    position.playout(1)
    assert position.current_player() == TERMINAL_PLAYER
    with pytest.raises(EngineError) as caught:
        position.require_decision()
    assert caught.value.reason is Reason.GAME_OVER
    assert caught.value.metadata == {"actor": "nobody"}


def test_a_playout_draws_chance_and_choices_from_its_stream(game: Game) -> None:
    for seed in range(5):
        sampled = game.new_game(game.max_players, seed=3)
        by_hand = game.position(sampled.pack()[32:])
        stream = DocumentedStream(seed, 2)
        decisions = 0
        while not by_hand.is_terminal():
            if by_hand.is_chance_node():
                outcomes = [outcome for outcome, weight in by_hand.chance_outcomes() for _ in range(weight)]
                by_hand.apply(outcomes[stream.number_below(len(outcomes))])
            else:
                legal = by_hand.legal_actions()
                by_hand.apply(legal[stream.number_below(len(legal))])
                decisions += 1
        before = sampled.random_stream()
        assert sampled.playout(seed, 2) == decisions > 0
        assert sampled.pack()[32:] == by_hand.pack()[32:]
        # The position's own stream is unchanged, and a game that is over has no decisions.
        assert sampled.random_stream() == before
        assert sampled.playout(seed, 2) == 0


def test_playouts_refuse_invalid_seeds(position: Position) -> None:
    for arguments, field in (((-1,), "seed"), ((2**64,), "seed"), ((0, -1), "game_number"), ((0, 1.5), "game_number")):
        with pytest.raises(EngineError) as caught:
            position.playout(*arguments)
        assert (caught.value.reason, caught.value.field) == (Reason.INVALID_SEED, field)


def test_perft_of_sampled_chance_counts_only_decisions(position: Position) -> None:
    def count(position: Position, depth: int) -> int:
        if depth == 0 or position.is_terminal():
            return 1
        return sum(count(position.child(action), depth - 1) for action in position.legal_actions())

    assert [position.perft(depth) for depth in range(4)] == [count(position, depth) for depth in range(4)]


def test_perft_past_the_end_counts_one(position: Position) -> None:
    position.playout(1)
    assert [position.perft(depth) for depth in (0, 1, 50)] == [1, 1, 1]


def test_perft_leaves_the_position_unchanged(position: Position) -> None:
    packed = position.pack()
    position.perft(3)
    assert position.pack() == packed


@pytest.mark.parametrize("depth", [-1, -(2**31)])
def test_perft_refuses_a_negative_depth(position: Position, depth: int) -> None:
    with pytest.raises(ValueError, match="depth"):
        position.perft(depth)
