"""Every game has a consistent description. The folders, the messages and the registry have the same games."""

import math
import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from games.building import message

from chatiere import engine
from chatiere.engine import EngineError, Game, Reason
from chatiere.v1 import game_pb2

from .support import TABLES, Table, options_as, positions, random_options

PACKAGES = Path(engine.__file__).parent / "games"
ENVELOPES = ("State", "Action", "Options", "View", "Event", "ScoreDetail", "Pieces")


def test_folders_messages_and_registry_have_the_same_games() -> None:
    names = [game.name for game in engine.games()]
    assert names == sorted(names)
    assert names == sorted(package.name for package in PACKAGES.iterdir() if (package / "__init__.py").exists())
    for envelope in ENVELOPES:
        (oneof,) = (o for o in getattr(game_pb2, envelope).DESCRIPTOR.oneofs if o.name == "game")
        assert sorted(field.name for field in oneof.fields) == names, envelope


def test_a_game_has_the_same_field_number_everywhere(game: Game) -> None:
    numbers = {getattr(game_pb2, envelope).DESCRIPTOR.fields_by_name[game.name].number for envelope in ENVELOPES}
    assert len(numbers) == 1


def test_packed_states_of_different_games_are_distinguished() -> None:
    first_bytes = [game.new_game(game.min_players).pack()[0] for game in engine.games()]
    assert len(set(first_bytes)) == len(first_bytes)


def test_the_registry_finds_games_by_name(game: Game) -> None:
    assert engine.game(game.name) == game
    for find in (engine.game, engine.codec):
        with pytest.raises(EngineError) as caught:
            find(game.name.upper())
        assert caught.value.reason is Reason.UNKNOWN_GAME
        assert caught.value.field == "game"
        assert game.name in caught.value.metadata["games"]


def test_action_kinds_cover_the_dense_ids(game: Game) -> None:
    next_id = 0
    for kind in game.description.action_kinds:
        assert kind.first_id == next_id <= kind.last_id
        assert kind.meaning
        next_id = kind.last_id + 1
    assert next_id == game.num_distinct_actions
    names = [kind.name for kind in game.description.action_kinds]
    (oneof,) = message(game, "Action").DESCRIPTOR.oneofs
    assert names == [field.name for field in oneof.fields]


def test_observation_parts_cover_the_observation(game: Game) -> None:
    offset = 0
    for part in game.description.observation:
        assert part.offset == offset
        assert part.meaning
        assert all(length > 0 for length in part.shape)
        offset += math.prod(part.shape)
    assert offset == game.observation_length
    assert len({part.name for part in game.description.observation}) == len(game.description.observation)


def test_a_description_prints_as_readable_text(game: Game) -> None:
    description = game.description
    text = str(description)
    lines = text.splitlines()
    players = sorted({game.min_players, game.max_players})
    assert lines[0] == f"{description.title} ({game.name}), {' to '.join(map(str, players))} players"
    assert max(map(len, lines)) <= 100
    assert " at 0x" not in text
    words = " ".join(text.split())
    for option in description.options:
        assert (
            f"{option.name}, {option.lowest} to {option.highest}: {option.meaning} Default: {option.default}" in words
        )
    for kind in description.action_kinds:
        ids = sorted({kind.first_id, kind.last_id})
        assert f" {'-'.join(map(str, ids))} {kind.name}: {kind.meaning}" in words
    for part in description.observation:
        assert re.search(rf" {part.offset}(-\d+)? {part.name}( \([\dx ]+\))?: {re.escape(part.meaning)}", words)
    titles = [line for line in lines if not line.startswith(" ")]
    assert [each for each in titles if each.endswith(":")] == ["options:", "action kinds:", "pieces:", "observation:"]


def test_options_are_the_fields_of_the_options_message(game: Game) -> None:
    fields = message(game, "Options").DESCRIPTOR.fields_by_name
    assert sorted(option.name for option in game.description.options) == sorted(fields)
    for option in game.description.options:
        assert option.lowest <= option.highest
        assert option.title
        assert option.meaning
        assert option.default


def test_an_absent_option_means_its_default(table: Table) -> None:
    game, players = table
    for option in game.description.options:
        if option.default_values:
            given = options_as(game, {option.name: list(option.default_values)})
            assert game.new_game(players, given) == game.new_game(players)


def test_the_battery_uses_other_values_of_every_option(game: Game) -> None:
    choices = random.Random(4)
    changed: set[str] = set()
    for players in range(game.min_players, game.max_players + 1):
        for _ in range(40):
            changed |= set(game.new_game(players, random_options(game, players, choices)).options())
    assert changed == {option.name for option in game.description.options}


def test_unknown_options_and_values_of_another_type_are_refused(table: Table) -> None:
    game, players = table
    for name, value in (("no_such_option", 1), *((o.name, "1") for o in game.description.options)):
        with pytest.raises(EngineError) as caught:
            game.new_game(players, {name: value})
        assert caught.value.reason is Reason.INVALID_OPTION
        assert caught.value.field == name


def test_pieces_are_numbered_and_named(game: Game) -> None:
    kinds = list(dict.fromkeys(piece.kind for piece in game.description.pieces))
    pieces = [(kinds.index(piece.kind), piece.number) for piece in game.description.pieces]
    assert pieces == sorted(set(pieces))
    assert all(str(piece.name) for piece in game.description.pieces)


def test_a_game_has_titles_versions_and_sizes(game: Game) -> None:
    assert game.description.title
    assert game.description.outcomes
    assert 1 <= game.rules_version <= 255
    assert 1 <= game.packed_version <= 255
    assert 2 <= game.min_players <= game.max_players
    assert game.packed_size % 8 == 0


def test_every_fault_has_a_text(game: Game) -> None:
    for fault in game.description.faults.values():
        assert fault.message
        assert fault.reason in (Reason.ILLEGAL_ACTION, Reason.INVALID_STATE)
        if fault.reason is Reason.ILLEGAL_ACTION:
            assert fault.rule.startswith(f"{game.name}.md: ")


def test_other_numbers_of_players_are_refused(game: Game) -> None:
    players: Any
    for players in (-1, 0, game.min_players - 1, game.max_players + 1, 2**40, 2.0, "2", None):
        with pytest.raises(EngineError) as caught:
            game.new_game(players)
        assert caught.value.reason is Reason.INVALID_PLAYERS
        assert caught.value.metadata == {"min_players": str(game.min_players), "max_players": str(game.max_players)}


def test_observations_have_the_described_length(table: Table) -> None:
    game, players = table
    kinds = set()
    for position in positions(table):
        for seat in range(players):
            observation = position.observation(seat)
            assert len(np.frombuffer(observation, "u1")) == game.observation_length
            kinds.add(observation)
    # Observations are not the same at all positions.
    assert len(kinds) > len(positions(table))


def test_every_number_of_an_observation_is_used(game: Game) -> None:
    varied = np.zeros(game.observation_length, bool)
    first: np.ndarray | None = None
    for table in TABLES:
        if table[0] is game:
            for position in positions(table, games=8):
                for seat in range(table[1]):
                    observation = np.frombuffer(position.observation(seat), "u1")
                    first = observation if first is None else first
                    varied |= observation != first
    unused = [
        part.name
        for part in game.description.observation
        if not varied[part.offset : part.offset + math.prod(part.shape)].any()
    ]
    assert unused == []


def test_views_and_observations_of_unknown_seats_are_refused(table: Table) -> None:
    position = positions(table)[0]
    seat: Any
    for seat in (-1, table[1], 2**40, None, 0.0):
        for question in (position.observation, lambda seat: position.resample(seat, 1)):
            with pytest.raises(EngineError) as caught:
                question(seat)
            assert caught.value.reason is Reason.INVALID_SEAT
            assert caught.value.metadata == {"players": str(table[1])}
