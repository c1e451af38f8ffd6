"""New games, and packed states: headers, sizes, streams."""

import pickle
import struct
from typing import Any

import pytest

from chatiere.engine import EngineError, Event, EventLog, Game, Position, Reason, Table

HEADER = struct.Struct("<BBBBIQQQ")


def refused(call: object, *arguments: object, **named: object) -> EngineError:
    with pytest.raises(EngineError) as caught:
        call(*arguments, **named)  # type: ignore[operator]
    assert str(caught.value) == caught.value.message != ""
    return caught.value


def test_games_survive_pickle(game: Game) -> None:
    assert pickle.loads(pickle.dumps(game)) == game


def test_positions_cannot_be_constructed_without_a_game() -> None:
    with pytest.raises(TypeError):
        Position()


def test_chance_is_explicit_without_a_seed(game: Game) -> None:
    explicit, sampled = game.new_game(game.min_players), game.new_game(game.min_players, seed=0)
    assert explicit.random_stream() is None
    assert not explicit.is_sampled()
    assert sampled.is_sampled()
    assert (sampled.random_stream() or ())[:2] == (0, 0)
    assert (game.new_game(game.min_players, seed=0, game_number=9).random_stream() or ())[:2] == (0, 9)


def test_different_seeds_or_game_numbers_give_different_games(game: Game) -> None:
    bodies = set()
    for seed in (0, 1, 2**64 - 1):
        for number in (0, 1, 2**64 - 1):
            position = game.new_game(game.max_players, seed=seed, game_number=number)
            # Make enough decisions for chance events in every game, because some games have few of them at the start.
            for _ in range(40):
                if not position.is_terminal():
                    position.apply(position.legal_actions()[0])
            bodies.add(position.pack()[HEADER.size :])
    assert len(bodies) == 9


def test_seeds_are_64_bit_numbers(game: Game) -> None:
    for wrong in (-1, 2**64, 1.0, "1"):
        error = refused(game.new_game, game.min_players, seed=wrong)
        assert (error.reason, error.field) == (Reason.INVALID_SEED, "seed")
        error = refused(game.new_game, game.min_players, seed=1, game_number=wrong)
        assert (error.reason, error.field) == (Reason.INVALID_SEED, "game_number")


def test_a_game_number_needs_a_seed(game: Game) -> None:
    error = refused(game.new_game, game.min_players, game_number=1)
    assert (error.reason, error.field) == (Reason.INVALID_SEED, "game_number")


def test_options_are_a_mapping(game: Game) -> None:
    wrong: Any
    for wrong in ([], "first_seat", 1):
        error = refused(game.new_game, game.min_players, wrong)
        assert (error.reason, error.field) == (Reason.INVALID_OPTION, "options")


def test_events_of_a_new_game_are_logged_in_order(game: Game) -> None:
    events = EventLog()
    sampled = game.new_game(game.max_players, seed=1, events=events)
    # Replaying with explicit chance, one outcome at a time, yields the same events.
    explicit, replayed = game.new_game(game.max_players), EventLog()
    while explicit.is_chance_node():
        outcome = next(
            outcome
            for outcome, _ in explicit.chance_outcomes()
            if events[len(replayed) :][:1] == _events_after(explicit, outcome)[:1]
        )
        explicit.apply(outcome, replayed)
    assert list(replayed) == list(events)
    assert explicit.pack()[HEADER.size :] == sampled.pack()[HEADER.size :]


def _events_after(position: Position, move: int) -> list[Event]:
    events = EventLog()
    position.clone().apply(move, events)
    return list(events)


def test_the_header_contains_game_versions_ply_and_stream(game: Game) -> None:
    explicit = game.new_game(game.min_players)
    number, version, sampled, form, ply, *stream = HEADER.unpack_from(explicit.pack())
    assert number > 0
    assert (version, form) == (game.rules_version, game.packed_version)
    assert (sampled, ply, stream) == (0, 0, [0, 0, 0])
    seeded = game.new_game(game.min_players, seed=2**64 - 1, game_number=2**63)
    assert HEADER.unpack_from(seeded.pack()) == (number, version, 1, form, 0, *(seeded.random_stream() or ()))
    for made in range(1, 4):
        seeded.apply(seeded.legal_actions()[0])
        assert HEADER.unpack_from(seeded.pack()) == (number, version, 1, form, made, *(seeded.random_stream() or ()))


def with_header(packed: bytes, place: int, value: int) -> bytes:
    return packed[:place] + bytes([value]) + packed[place + 1 :]


def test_packed_states_of_another_size_are_refused(game: Game) -> None:
    packed = game.new_game(game.min_players).pack()
    for length in (0, 1, 7, 8, 31, 32, 33):
        for wrong in (packed[:length], packed[: len(packed) - 1 - length], packed + bytes(1 + length)):
            error = refused(game.unpack, wrong)
            assert error.reason is Reason.INVALID_STATE
            assert error.metadata == {"expected_size": str(game.packed_size), "size": str(len(wrong))}


def test_packed_states_must_be_bytes(game: Game) -> None:
    wrong: Any
    for wrong in (None, 5, "text"):
        with pytest.raises(TypeError):
            game.unpack(wrong)


def test_packed_states_of_another_game_are_refused(game: Game) -> None:
    error = refused(game.unpack, with_header(game.new_game(game.min_players).pack(), 0, 255))
    assert (error.reason, error.field) == (Reason.INVALID_STATE, "header.game")


def test_packed_states_of_other_rules_are_refused(game: Game) -> None:
    packed = game.new_game(game.min_players).pack()
    for version in {0, 255, game.rules_version + 1, game.rules_version - 1}:
        error = refused(game.unpack, with_header(packed, 1, version))
        assert (error.reason, error.field) == (Reason.UNSUPPORTED_RULES_VERSION, "rules_version")
        assert error.metadata == {"supported": str(game.rules_version)}
        assert refused(game.check_rules_version, version).reason is Reason.UNSUPPORTED_RULES_VERSION
    game.check_rules_version(game.rules_version)


def test_packed_states_of_another_packed_version_are_refused(game: Game) -> None:
    packed = game.new_game(game.min_players).pack()
    for version in {0, 255, game.packed_version + 1, game.packed_version - 1}:
        error = refused(game.unpack, with_header(packed, 3, version))
        assert (error.reason, error.field) == (Reason.INVALID_STATE, "header.packed_version")


def test_a_flag_is_0_or_1(game: Game) -> None:
    packed = game.new_game(game.min_players).pack()
    error = refused(game.unpack, with_header(packed, 2, 2))
    assert (error.reason, error.field) == (Reason.INVALID_STATE, "header.sampled")


def with_ply(packed: bytes, ply: int) -> bytes:
    return packed[:4] + ply.to_bytes(4, "little") + packed[8:]


@pytest.mark.parametrize("sampled", [False, True])
def test_a_ply_that_no_game_reaches_is_refused(game: Game, sampled: bool) -> None:
    for players in range(game.min_players, game.max_players + 1):
        most = game.limits_of_any_options(players).max_game_length
        position = game.new_game(players, seed=1 if sampled else None)
        for ply in (0, 1, most):
            read = game.unpack(with_ply(position.pack(), ply))
            assert read.ply() == ply
            assert read.pack() == with_ply(position.pack(), ply)
        for ply in (most + 1, 2**31, 2**32 - 1):
            error = refused(game.unpack, with_ply(position.pack(), ply))
            assert (error.reason, error.field) == (Reason.INVALID_STATE, "header.ply")
        body = position.pack()[HEADER.size :]
        assert game.position(body, position.random_stream(), most).ply() == most
        for wrong in (-1, most + 1, 2**64, None, "1"):
            error = refused(game.position, body, position.random_stream(), wrong)
            assert (error.reason, error.field) == (Reason.INVALID_STATE, "ply")


def test_a_ply_at_its_limit_stays_there(game: Game) -> None:
    # A received state may have a ply that is too high for this state, although other states of the game can have it.
    for players in range(game.min_players, game.max_players + 1):
        most = game.limits_of_any_options(players).max_game_length
        begun = game.new_game(players, seed=1)
        table = Table(game, players)
        for before, after in ((most, most), (most - 1, most), (most - 2, most - 1)):
            packed = with_ply(begun.pack(), before)
            position = game.unpack(packed)
            move = position.legal_actions()[0]
            position.apply(move)
            assert position.ply() == after
            assert game.unpack(position.pack()) == position
            assert table.step(packed, [move])[0].states == position.pack()
        position.playout(1)
        assert position.ply() == most
        position.check()
        assert game.unpack(position.pack()) == position


def test_explicit_chance_has_no_stream(game: Game) -> None:
    packed = game.new_game(game.min_players).pack()
    for place in range(8, HEADER.size):
        error = refused(game.unpack, with_header(packed, place, 1))
        assert (error.reason, error.field) == (Reason.INVALID_STATE, "header.sampled")


def test_sampled_chance_is_never_pending(game: Game) -> None:
    explicit = game.new_game(game.min_players)
    assert explicit.is_chance_node()
    for read in (
        lambda: game.unpack(with_header(explicit.pack(), 2, 1)),
        lambda: game.position(explicit.pack()[HEADER.size :], (1, 2, 3)),
    ):
        assert refused(read).reason is Reason.INVALID_STATE


def test_a_body_can_be_given_any_stream(game: Game) -> None:
    sampled = game.new_game(game.min_players, seed=1)
    body = sampled.pack()[HEADER.size :]
    assert game.position(body).random_stream() is None
    assert game.position(body, sampled.random_stream()) == sampled
    for stream in ((0, 0, 0), (2**64 - 1,) * 3):
        assert game.position(body, stream).random_stream() == stream
    for place, name in enumerate(("seed", "game_number", "drawn")):
        for wrong in (-1, 2**64, None):
            error = refused(game.position, body, (*(0,) * place, wrong, *(0,) * (2 - place)))
            assert (error.reason, error.field) == (Reason.INVALID_SEED, name)
    for no_stream in ((), (1, 2), (1, 2, 3, 4), 7):
        error = refused(game.position, body, no_stream)
        assert (error.reason, error.field) == (Reason.INVALID_SEED, "stream")
        assert error.message == f"stream must be (seed, game number, words drawn), not {no_stream!r}"
