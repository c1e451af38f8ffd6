"""Every game: a seat's view does not depend on hidden information, and resampling redraws exactly the hidden part."""

from typing import Any

import pytest

from chatiere import engine
from chatiere.engine import EngineError, Event, EventLog, Position, Reason
from chatiere.engine.wire import Reader

from .support import Table, moves_of, positions, shown_to, thinned, typed_state, update, view

SEEDS = (1, 2, 2**64 - 1)


def events_after(position: Position, move: int) -> list[Event]:
    events = EventLog()
    position.clone().apply(move, events)
    return list(events)


def refusals(position: Position) -> list[tuple[int, Reason, str, str, str, dict[str, str]]]:
    """Return the refusals of all illegal actions."""
    legal = set(position.legal_actions())
    errors = []
    for action in range(position.game.num_distinct_actions):
        if action not in legal:
            with pytest.raises(EngineError) as caught:
                position.apply(action)
            error = caught.value
            errors.append((action, error.reason, error.message, error.field, error.rule, error.metadata))
    return errors


def test_resampling_preserves_everything_that_the_seat_sees(table: Table) -> None:
    _, players = table
    for position in thinned(positions(table), 150):
        for seat in range(players):
            for seed in SEEDS:
                drawn = position.resample(seat, seed, 5)
                assert view(drawn, seat) == view(position, seat)
                assert drawn.observation(seat) == position.observation(seat)
                if position.is_terminal():
                    # Before the end of a game, totals may depend on hidden cards.
                    assert drawn.totals() == position.totals()
                assert drawn.current_player() == position.current_player()
                assert drawn.ranks() == position.ranks()
                assert drawn.options() == position.options()


def test_resampling_preserves_the_seats_legal_actions(table: Table) -> None:
    game, _ = table
    for position in thinned(tuple(p for p in positions(table) if p.legal_actions()), 100):
        seat = position.current_player()
        drawn = position.resample(seat, 3)
        assert drawn.legal_actions() == position.legal_actions()
        for action in position.legal_actions():
            assert drawn.action_label(action) == position.action_label(action)
            # Compare only the event of the action, because later events may depend on hidden information that is then
            # revealed.
            first, first_drawn = events_after(position, action)[:1], events_after(drawn, action)[:1]
            assert shown_to(game, first, seat) == shown_to(game, first_drawn, seat)


def test_positions_that_a_viewer_cannot_distinguish_give_it_the_same_update(table: Table) -> None:
    # The bytes are equal in the view, the viewer's legal actions with labels, and the visible part of the score.
    _, players = table
    different = 0
    for number, position in enumerate(thinned(positions(table), 120)):
        for seat in range(players):
            drawn = position.resample(seat, number)
            different += drawn.pack() != position.pack()
            for viewer in (seat, None):
                assert update(drawn, viewer) == update(position, viewer), (position, seat, viewer)
    assert different


def test_equal_views_give_equal_updates(table: Table) -> None:
    # Positions with equal views are also made by resampling for other seats.
    _, players = table
    for position in thinned(positions(table), 60):
        worlds = (position, *(position.resample(seat, 2) for seat in range(players)))
        for viewer in (*range(players), None):
            seen: dict[bytes, set[bytes]] = {}
            for world in worlds:
                seen.setdefault(view(world, viewer), set()).add(update(world, viewer))
            assert all(len(updates) == 1 for updates in seen.values()), (position, viewer)


def test_resampling_preserves_the_refusals_of_the_seat(table: Table) -> None:
    for position in thinned(tuple(p for p in positions(table) if p.legal_actions()), 20):
        assert refusals(position.resample(position.current_player(), 3)) == refusals(position)


def test_resampled_positions_are_valid(table: Table) -> None:
    game, players = table
    for position in thinned(positions(table), 100):
        for seat in range(players):
            drawn = position.resample(seat, 4)
            drawn.check()
            assert game.unpack(drawn.pack()) == drawn
            # Resample these again, for the same seat and for other seats.
            for other in range(players):
                drawn.resample(other, 5).check()
            assert drawn.playout(6) >= 0


def test_resampling_is_determined_by_its_seed_and_random(table: Table) -> None:
    _, players = table
    varied = 0
    for position in thinned(positions(table), 60):
        for seat in range(players):
            drawn = [position.resample(seat, seed, number) for seed in range(8) for number in (0, 1)]
            assert drawn == [position.resample(seat, seed, number) for seed in range(8) for number in (0, 1)]
            # The number of states that a seat cannot distinguish may be small, and is 1 if no information is hidden.
            varied += len({typed_state(one).SerializeToString(deterministic=True) for one in drawn}) > 1
    assert varied > 10


def test_resampling_depends_only_on_the_seats_information_seed_and_number(table: Table) -> None:
    # A draw and its seed must not reveal which of the indistinguishable worlds is the real one.
    _, players = table
    varied = 0
    for position in thinned(positions(table), 80):
        for seat in range(players):
            worlds = [position, *(position.resample(seat, seed) for seed in SEEDS)]
            varied += len({world.pack() for world in worlds[1:]}) > 1
            for number in range(2):
                assert len({world.resample(seat, 6, number).pack() for world in worlds}) == 1, (position, seat)
    assert varied > 10


def test_chance_in_a_resampled_state_uses_the_stream_of_the_draw(table: Table) -> None:
    _, players = table
    for position in thinned(positions(table), 60):
        for seat in range(players):
            stream = position.resample(seat, 8, 9).random_stream()
            if position.is_sampled():
                assert stream is not None
                assert stream[:2] == (8, 9)
            else:
                assert stream is None


def test_resampling_refuses_invalid_seeds(table: Table) -> None:
    position = positions(table)[0]
    seed: Any
    for seed, number, field in ((-1, 0, "seed"), (2**64, 0, "seed"), (1.0, 0, "seed"), (0, 2**64, "game_number")):
        with pytest.raises(EngineError) as caught:
            position.resample(0, seed, number)
        assert caught.value.reason is Reason.INVALID_SEED
        assert caught.value.field == field


def test_events_distinguish_two_moves_exactly_if_views_do(table: Table) -> None:
    # Compare different moves from one position, by another seat or by chance. The events look the same to a seat if and
    # only if the views look the same, so neither reveals more than the other.
    game, players = table
    hidden = open_ = 0
    for position in thinned(positions(table, False, games=4), 150):
        moves = moves_of(position)
        # Choose moves with close numbers and moves with distant numbers.
        moves = sorted({*moves[:3], *moves[:: max(1, len(moves) // 6)]})
        for seat in (*range(players), None):
            by_events: dict[object, set[bytes]] = {}
            by_view: dict[bytes, dict[object, Position]] = {}
            for move in moves:
                happened = events_after(position, move)
                after = position.child(move)
                seen = view(after, seat)
                by_events.setdefault(tuple(shown_to(game, happened, seat)), set()).add(seen)
                # Compare only private events, because a view may no longer show a public event after the end of a
                # round.
                private = tuple(shown_to(game, [event for event in happened if event.seen_by is not None], seat))
                by_view.setdefault(seen, {})[private] = after
            assert all(len(views) == 1 for views in by_events.values()), (position, seat)
            # If moves lead to the same position, the events on the way may still differ.
            assert all(len(ends) == 1 or len(set(ends.values())) == 1 for ends in by_view.values()), (position, seat)
            hidden += len(by_view) < len(moves)
            open_ += len(by_view) == len(moves) > 1
    assert hidden
    assert open_


def test_a_view_never_contains_the_stream(table: Table) -> None:
    game, players = table
    for position in thinned(positions(table, True), 30):
        state = typed_state(position)
        body = engine.codec(game.name).read_state(Reader(state), game.rules_version)
        for seat in (*range(players), None):
            for stream in (None, (1, 2, 3), (4, 5, 6)):
                assert view(game.position(body, stream), seat) == view(position, seat)


def test_equal_views_give_equal_observations(table: Table) -> None:
    _, players = table
    for position in thinned(positions(table), 80):
        for seat in range(players):
            seen: dict[bytes, set[bytes]] = {}
            for other in (position, position.resample(seat, 1), *(position.resample(s, 2) for s in range(players))):
                seen.setdefault(view(other, seat), set()).add(other.observation(seat))
            assert all(len(observations) == 1 for observations in seen.values())


def test_a_spectator_sees_only_information_that_every_seat_sees(table: Table) -> None:
    _, players = table
    for position in thinned(positions(table), 80):
        for seat in range(players):
            assert view(position.resample(seat, 1), None) == view(position, None)
