"""Every game: what a seat sees does not depend on what it cannot know, and resampling redraws exactly that."""

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
    """Return the refusals of everything that is not legal."""
    legal = set(position.legal_actions())
    errors = []
    for action in range(position.game.num_distinct_actions):
        if action not in legal:
            with pytest.raises(EngineError) as caught:
                position.apply(action)
            error = caught.value
            errors.append((action, error.reason, error.message, error.field, error.rule, error.metadata))
    return errors


def test_resampling_changes_nothing_that_the_seat_sees(table: Table) -> None:
    _, players = table
    for position in thinned(positions(table), 150):
        for seat in range(players):
            for seed in SEEDS:
                drawn = position.resample(seat, seed, 5)
                assert view(drawn, seat) == view(position, seat)
                assert drawn.observation(seat) == position.observation(seat)
                if position.is_terminal():
                    # Until then, hidden hands may count.
                    assert drawn.totals() == position.totals()
                assert drawn.current_player() == position.current_player()
                assert drawn.ranks() == position.ranks()
                assert drawn.options() == position.options()


def test_resampling_keeps_what_the_seat_may_do(table: Table) -> None:
    game, _ = table
    for position in thinned(tuple(p for p in positions(table) if p.legal_actions()), 100):
        seat = position.current_player()
        drawn = position.resample(seat, 3)
        assert drawn.legal_actions() == position.legal_actions()
        for action in position.legal_actions():
            assert drawn.action_label(action) == position.action_label(action)
            # The seat's own action; its consequences may depend on hidden things, and are then seen by all.
            first, first_drawn = events_after(position, action)[:1], events_after(drawn, action)[:1]
            assert shown_to(game, first, seat) == shown_to(game, first_drawn, seat)


def test_what_a_viewer_cannot_tell_apart_gives_it_the_same_update(table: Table) -> None:
    # Byte for byte: the view, the viewer's own legal actions with their labels, and the score as far as it knows it.
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
    # Worlds drawn for other seats too.
    _, players = table
    for position in thinned(positions(table), 60):
        worlds = (position, *(position.resample(seat, 2) for seat in range(players)))
        for viewer in (*range(players), None):
            seen: dict[bytes, set[bytes]] = {}
            for world in worlds:
                seen.setdefault(view(world, viewer), set()).add(update(world, viewer))
            assert all(len(updates) == 1 for updates in seen.values()), (position, viewer)


def test_resampling_keeps_how_the_seat_is_refused(table: Table) -> None:
    for position in thinned(tuple(p for p in positions(table) if p.legal_actions()), 20):
        assert refusals(position.resample(position.current_player(), 3)) == refusals(position)


def test_resampled_positions_are_sound(table: Table) -> None:
    game, players = table
    for position in thinned(positions(table), 100):
        for seat in range(players):
            drawn = position.resample(seat, 4)
            drawn.check()
            assert game.unpack(drawn.pack()) == drawn
            # Resample again from there, for the same seat and for the others.
            for other in range(players):
                drawn.resample(other, 5).check()
            assert drawn.playout(6) >= 0


def test_resampling_is_fixed_by_its_seed_and_really_random(table: Table) -> None:
    _, players = table
    varied = 0
    for position in thinned(positions(table), 60):
        for seat in range(players):
            drawn = [position.resample(seat, seed, number) for seed in range(8) for number in (0, 1)]
            assert drawn == [position.resample(seat, seed, number) for seed in range(8) for number in (0, 1)]
            # Sometimes a seat cannot tell many states apart, sometimes few, and sometimes nothing is hidden.
            varied += len({typed_state(one).SerializeToString(deterministic=True) for one in drawn}) > 1
    assert varied > 10


def test_a_draw_depends_on_what_the_seat_knows_and_its_seed_and_number_alone(table: Table) -> None:
    # A draw must not reveal, even to those who know its seed, which of the worlds that the seat cannot tell apart is
    # real.
    _, players = table
    varied = 0
    for position in thinned(positions(table), 80):
        for seat in range(players):
            worlds = [position, *(position.resample(seat, seed) for seed in SEEDS)]
            varied += len({world.pack() for world in worlds[1:]}) > 1
            for number in range(2):
                assert len({world.resample(seat, 6, number).pack() for world in worlds}) == 1, (position, seat)
    assert varied > 10


def test_resampled_chance_goes_on_with_the_stream_of_the_draw(table: Table) -> None:
    _, players = table
    for position in thinned(positions(table), 60):
        for seat in range(players):
            stream = position.resample(seat, 8, 9).random_stream()
            if position.is_sampled():
                assert stream is not None
                assert stream[:2] == (8, 9)
            else:
                assert stream is None


def test_resampling_refuses_what_is_no_seed(table: Table) -> None:
    position = positions(table)[0]
    seed: Any
    for seed, number, field in ((-1, 0, "seed"), (2**64, 0, "seed"), (1.0, 0, "seed"), (0, 2**64, "game_number")):
        with pytest.raises(EngineError) as caught:
            position.resample(0, seed, number)
        assert caught.value.reason is Reason.INVALID_SEED
        assert caught.value.field == field


def test_a_seat_sees_two_moves_apart_by_its_events_exactly_if_by_its_view(table: Table) -> None:
    # Different moves from one position (another seat's choice, or chance): events that a seat cannot tell apart must
    # lead to views that it cannot tell apart, and vice versa: neither tells more than the other.
    game, players = table
    hidden = open_ = 0
    for position in thinned(positions(table, False, games=4), 150):
        moves = moves_of(position)
        # Some with near numbers, some far apart.
        moves = sorted({*moves[:3], *moves[:: max(1, len(moves) // 6)]})
        for seat in (*range(players), None):
            by_events: dict[object, set[bytes]] = {}
            by_view: dict[bytes, dict[object, Position]] = {}
            for move in moves:
                happened = events_after(position, move)
                after = position.child(move)
                seen = view(after, seat)
                by_events.setdefault(tuple(shown_to(game, happened, seat)), set()).add(seen)
                # Something everybody saw may be in the events alone: a view forgets it at the end of a round.
                private = tuple(shown_to(game, [event for event in happened if event.seen_by is not None], seat))
                by_view.setdefault(seen, {})[private] = after
            assert all(len(views) == 1 for views in by_events.values()), (position, seat)
            # If moves lead to the same position, the events on the way may still differ.
            assert all(len(ends) == 1 or len(set(ends.values())) == 1 for ends in by_view.values()), (position, seat)
            hidden += len(by_view) < len(moves)
            open_ += len(by_view) == len(moves) > 1
    assert hidden
    assert open_


def test_a_view_never_holds_the_stream(table: Table) -> None:
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


def test_a_spectator_sees_what_every_seat_sees_of_it(table: Table) -> None:
    _, players = table
    for position in thinned(positions(table), 80):
        for seat in range(players):
            assert view(position.resample(seat, 1), None) == view(position, None)
