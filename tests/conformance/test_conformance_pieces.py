"""Every game: all fields marked with a kind of pieces, and no other fields, contain numbers of these pieces."""

from collections.abc import Iterator
from typing import Any

from games.building import message, score_of, state_of, view_of
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from chatiere import engine
from chatiere.engine import EventLog, Game, Position, codec
from chatiere.engine.core.game_info import game_info, pieces_info
from chatiere.engine.core.languages import LANGUAGES, catalogue
from chatiere.engine.wire import fill
from chatiere.v1 import annotations_pb2, game_pb2

from .support import Table, moves_of, positions, thinned

INTEGERS = {FieldDescriptor.CPPTYPE_INT32, FieldDescriptor.CPPTYPE_UINT32, FieldDescriptor.CPPTYPE_INT64}
INTEGERS |= {FieldDescriptor.CPPTYPE_UINT64}
# The integer fields of all messages that do not contain numbers of pieces. A new field must be marked with
# (chatiere.v1.piece) in the proto file, or listed here.
AMOUNTS = """
    awake_cats balls birds_beside bonus_group_size cards_dealt cards_drawn cards_left cards_taken cards_to_take
    cats_at_start cats_per_seat columns copies deck deck_size draw_pile_size draws draws_left extra_cards fish
    greatest_load hand_size largest_hand mice min_players most_ones most_ones_known_to_all part_sizes passes
    perfect_sections players princesses princesses_played rounds rows section_limits sleeping_cats sprayers supply
    total_birds total_copies total_princesses trunk_limit unplaced_tokens unseen_princesses whole_pile_size
    winning_group_size woken_cats
"""
POINTS = """
    board_sum bonus_card_points bonus_points branch_points hand_card_points hand_points negative_points perfect_bonus
    pile_card_points pile_points points round_points section_points total trunk_points zero_zone_points
"""
# Fields for times, distances, places, and values printed on pieces.
OTHERS = """
    column dog_steps dog_track last_turn last_turns_left pair_value place round row solidity steps steps_left tens trick
    turn units unplaced_solidity value
"""
PLAIN = {name for names in (AMOUNTS, POINTS, OTHERS) for name in names.split()}


def messages_of(game: Game) -> list[Descriptor]:
    """Return all messages of the game's proto file."""
    pieces: Any = game_pb2.Pieces.DESCRIPTOR.fields_by_name[game.name].message_type
    return list(pieces.file.message_types_by_name.values())


def kind_of(field: Any) -> str:
    """Return the kind of pieces whose numbers a field contains, or "" if it contains none."""
    return str(field.GetOptions().Extensions[annotations_pb2.piece])


def numbers_of_pieces(filled: Any) -> Iterator[tuple[str, str, int]]:
    """Yield the field, kind and number of each piece in a message, at any depth."""
    for field, value in filled.ListFields():
        for each in value if field.is_repeated else [value]:
            if field.message_type is not None:
                yield from numbers_of_pieces(each)
            elif kind := kind_of(field):
                yield f"{filled.DESCRIPTOR.name}.{field.name}", kind, each


def pieces_of(game: Game) -> set[tuple[str, int]]:
    return {(piece.kind, piece.number) for piece in game.description.pieces}


def details_of(game: Game) -> Any:
    return getattr(game_pb2.Pieces(**pieces_info(game)["piece_details"]), game.name)


def test_every_integer_field_is_marked_or_listed_as_a_plain_number(game: Game) -> None:
    for descriptor in messages_of(game):
        for field in descriptor.fields:
            full_name = f"{descriptor.name}.{field.name}"
            if kind_of(field):
                assert field.cpp_type in INTEGERS, full_name
                assert field.name not in PLAIN, full_name
            elif field.cpp_type in INTEGERS:
                assert field.name in PLAIN, f"{full_name}: mark the field with the kind of its pieces, or list it above"


def test_marked_fields_and_pieces_are_of_the_same_kinds(game: Game) -> None:
    marked = {kind_of(field) for descriptor in messages_of(game) for field in descriptor.fields}
    # Labels have an additional kind for the cards of Chat Cartonne in their orientation.
    named = {argument["kind"] for phrase in codec(game.name).phrases.infos("en") for argument in phrase["arguments"]}
    assert (marked | named) - {"", "seat"} == {piece.kind for piece in game.description.pieces}


def test_the_numbers_of_a_kind_are_unique_and_named_in_both_languages(game: Game) -> None:
    assert len(pieces_of(game)) == len(game.description.pieces)
    for piece in game.description.pieces:
        assert piece.kind.isalpha()
        assert piece.kind.islower()
        for language in LANGUAGES:
            assert piece.name.text(catalogue(game.description.package, language))


def everything_at(position: Position) -> Iterator[Any]:
    """Yield all messages of a position and of its first moves."""
    game = position.game
    codec = engine.codec(game.name)
    yield state_of(position)
    yield score_of(position)
    for seat in (None, *range(position.num_players())):
        yield view_of(position, seat)
    for move in moves_of(position)[:4]:
        if position.current_player() >= 0:
            action = message(game, "Action")
            fill(action, codec.put_action, position, move)
            yield action
        events = EventLog()
        position.clone().apply(move, events)
        for event in events:
            filled = message(game, "Event")
            fill(filled, codec.put_event, event, True)
            yield filled


def test_marked_fields_contain_only_numbers_of_pieces(table: Table) -> None:
    game, players = table
    pieces = pieces_of(game) | {("seat", seat) for seat in range(players)}
    seen = set()
    for position in thinned(positions(table), 150):
        for filled in everything_at(position):
            for field, kind, number in numbers_of_pieces(filled):
                assert (kind, number) in pieces, field
                seen.add(field)
    # The random games fill most of the fields.
    assert len(seen) > 10


def test_the_details_describe_the_named_pieces(game: Game) -> None:
    details = details_of(game)
    pieces = pieces_of(game)
    assert all((kind, number) in pieces for _, kind, number in numbers_of_pieces(details))
    # A list of pieces has each piece of its kind once, in the order of the numbers with which its entries start.
    for field, entries in details.ListFields():
        if field.message_type is not None and (kind := kind_of(first := field.message_type.fields[0])):
            numbers = [getattr(entry, first.name) for entry in entries]
            assert numbers == sorted(number for each, number in pieces if each == kind), field.name


def test_each_field_of_the_details_is_set_for_some_piece(game: Game) -> None:
    found = set()

    def walk(filled: Any) -> None:
        for field, value in filled.ListFields():
            found.add(f"{filled.DESCRIPTOR.name}.{field.name}")
            if field.message_type is not None:
                for entry in value:
                    walk(entry)

    def all_fields(descriptor: Descriptor) -> set[str]:
        inner = [all_fields(field.message_type) for field in descriptor.fields if field.message_type is not None]
        return {f"{descriptor.name}.{field.name}" for field in descriptor.fields}.union(*inner)

    details = details_of(game)
    walk(details)
    assert found == all_fields(details.DESCRIPTOR)


def test_options_declare_the_pieces_that_their_numbers_refer_to(game: Game) -> None:
    fields = message(game, "Options").DESCRIPTOR.fields_by_name
    kinds = {option["name"]: option["piece_kind"] for option in game_info(game)["options"]}
    for name, field in fields.items():
        (holds,) = field.message_type.fields if field.message_type is not None else [field]
        assert kinds[name] == ("seat" if name == "first_seat" else kind_of(holds))
