"""Every game: moves, refusals and scores in random play."""

import math
import random

import pytest
from games.building import message

from chatiere import engine
from chatiere.engine import CHANCE_PLAYER, TERMINAL_PLAYER, EngineError, EventLog, Game, Position, Reason
from chatiere.engine.wire import Reader

from .support import Table, body_of, moves_of, positions, thinned, typed_state


def test_every_position_keeps_the_invariants(table: Table) -> None:
    for position in positions(table):
        position.check()


def test_a_seat_or_chance_is_to_act_or_the_game_is_over(table: Table) -> None:
    for position in positions(table):
        actor = position.current_player()
        assert position.num_players() == table[1]
        assert (actor == CHANCE_PLAYER) == position.is_chance_node() == bool(position.chance_outcomes())
        assert (actor == TERMINAL_PLAYER) == position.is_terminal()
        assert (0 <= actor < table[1]) == bool(position.legal_actions())
        assert actor in (CHANCE_PLAYER, TERMINAL_PLAYER, *range(table[1]))


def test_sampled_games_never_stop_at_chance(table: Table) -> None:
    assert not any(position.is_chance_node() for position in positions(table, True))
    assert all(position.is_sampled() for position in positions(table, True))
    assert not any(position.is_sampled() for position in positions(table, False))


def test_legal_actions_ascend_within_the_games_range(table: Table) -> None:
    for position in positions(table):
        legal = position.legal_actions()
        assert legal == sorted(set(legal))
        assert all(0 <= action < table[0].num_distinct_actions for action in legal)


def test_chance_outcomes_ascend_and_their_weights_are_the_smallest_integers(table: Table) -> None:
    nodes = [position for position in positions(table, False) if position.is_chance_node()]
    assert nodes
    for position in nodes:
        outcomes, weights = zip(*position.chance_outcomes(), strict=True)
        assert list(outcomes) == sorted(set(outcomes))
        assert min(weights) > 0
        assert math.gcd(*weights) == 1


def test_child_leaves_the_position_unchanged(table: Table) -> None:
    for position in thinned(positions(table), 60):
        before = position.pack()
        for move in moves_of(position):
            child = position.child(move)
            copy = position.clone()
            copy.apply(move)
            assert position.pack() == before != child.pack() == copy.pack()


def test_queries_leave_the_position_unchanged(table: Table) -> None:
    for position in thinned(positions(table), 60):
        before = position.pack()
        typed_state(position)
        position.legal_actions(), position.chance_outcomes(), position.totals(), position.ranks(), position.winners()
        position.returns(), position.options(), position.perft(1)
        position.check()
        for seat in range(table[1]):
            position.observation(seat)
            position.resample(seat, 1)
        assert position.pack() == before


def refusal(position: Position, move: int) -> EngineError:
    """Return the error of a move. Assert that the position is unchanged and has no events."""
    before = position.pack()
    events = EventLog()
    with pytest.raises(EngineError) as caught:
        position.apply(move, events)
    assert position.pack() == before
    assert len(events) == 0
    assert caught.value.message
    return caught.value


def test_illegal_actions_are_refused_with_a_rule(table: Table) -> None:
    game, _ = table
    choices = random.Random(1)
    ids = range(game.num_distinct_actions)
    refused = 0
    for position in thinned(tuple(p for p in positions(table) if p.legal_actions()), 60):
        legal = set(position.legal_actions())
        for action in choices.sample(ids, min(len(ids), 400)):
            if action in legal:
                position.child(action)
                continue
            error = refusal(position, action)
            refused += 1
            assert error.reason is Reason.ILLEGAL_ACTION
            assert error.rule.startswith(f"{game.name}.md: ")
            assert error.metadata["actor"] == str(position.current_player())
            assert error.metadata["move"] == str(action)
    assert refused


def test_unknown_actions_are_refused(table: Table) -> None:
    game, _ = table
    for position in thinned(tuple(p for p in positions(table) if p.legal_actions()), 20):
        for action in (-1, game.num_distinct_actions, 2**16, 2**16 + position.legal_actions()[0], 2**70, -(2**70)):
            assert refusal(position, action).reason is Reason.INVALID_ACTION


def test_impossible_outcomes_are_refused(table: Table) -> None:
    for position in thinned(tuple(p for p in positions(table, False) if p.is_chance_node()), 40):
        possible = {outcome for outcome, _ in position.chance_outcomes()}
        for outcome in {-1, *range(max(possible) + 2), 128, 2**16, 2**70} - possible:
            error = refusal(position, outcome)
            assert error.reason is Reason.IMPOSSIBLE_OUTCOME
            assert error.metadata == {"actor": "chance", "move": str(outcome)}


def test_no_move_is_possible_once_the_game_is_over(table: Table) -> None:
    ends = [position for position in positions(table) if position.is_terminal()]
    assert ends
    for position in ends:
        for move in range(table[0].num_distinct_actions):
            error = refusal(position, move)
            assert error.reason is Reason.GAME_OVER
            assert error.metadata["actor"] == "nobody"


def test_typed_actions_are_refused_if_no_seat_is_to_act(table: Table) -> None:
    codec = engine.codec(table[0].name)
    for position in thinned(tuple(p for p in positions(table) if not p.legal_actions()), 20):
        with pytest.raises(EngineError) as caught:
            codec.read_action(Reader(message(table[0], "Action")), position)
        assert caught.value.reason is (Reason.GAME_OVER if position.is_terminal() else Reason.CHANCE_PENDING)


def test_there_are_scores_at_any_time_and_winners_at_the_end(table: Table) -> None:
    players = table[1]
    for position in positions(table):
        assert len(position.totals()) == players
        if not position.is_terminal():
            assert position.ranks() is None
            assert position.winners() is None
            assert position.returns() == [0.0] * players
            continue
        ranks, winners, returns = position.ranks(), position.winners(), position.returns()
        assert winners
        assert ranks
        assert winners == [seat for seat in range(players) if ranks[seat] == 1]
        # A seat's rank is 1 + the number of seats with a smaller rank.
        assert ranks == [1 + sum(other < rank for other in ranks) for rank in ranks]
        assert returns == [players / len(winners) - 1 if seat in winners else -1.0 for seat in range(players)]
        assert sum(returns) == pytest.approx(0, abs=1e-12)


def test_playouts_end_and_depend_only_on_their_seed(table: Table) -> None:
    game, players = table
    for position in thinned(positions(table), 20):
        first, again, other = position.clone(), position.clone(), position.clone()
        decisions = first.playout(5, 6)
        assert first.is_terminal()
        assert again.playout(5, 6) == decisions
        assert again == first
        other.playout(5, 7)
        first.check()
        other.check()
    fresh = [game.new_game(players) for _ in range(4)]
    for number, position in enumerate(fresh):
        position.playout(number)
    assert len({body_of(position) for position in fresh}) == len(fresh)


def test_perft_counts_sequences_of_moves(table: Table) -> None:
    for position in (*thinned(positions(table), 20), positions(table, False)[-2], positions(table, True)[-2]):
        moves = moves_of(position)
        assert position.perft(0) == 1
        assert position.perft(1) == (len(moves) or 1)
        assert position.perft(2) == (sum(position.child(move).perft(1) for move in moves) or 1)


def test_representations_name_the_game(game: Game) -> None:
    assert repr(game) == f"<Game {game.name}>"
    assert game.name in repr(game.new_game(game.min_players))
