"""Helpers of the conformance battery for all games: messages, random options and positions."""

import importlib
import random
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from games.building import message, state_of, update_of, view_of
from google.protobuf.message import Message

from chatiere import engine
from chatiere.engine import CHANCE_PLAYER, EngineError, Event, Game, Position
from chatiere.engine.core.description import Option
from chatiere.engine.core.messages import Messages
from chatiere.engine.wire import Reader, fill, written_text
from chatiere.v1 import game_pb2

Table = tuple[Game, int]
TABLES: list[Table] = [
    (game, players) for game in engine.games() for players in range(game.min_players, game.max_players + 1)
]
TABLE_NAMES = [f"{game.name}-{players}p" for game, players in TABLES]
typed_state = state_of


def reference(game: Game) -> Any:
    """Return the class of the game's slow reference implementation, a subclass of games.script.Script."""
    return importlib.import_module(f"games.{game.name}.reference").Game


def perft_entries(game: Game) -> list[dict[str, Any]]:
    """Return the entries of the game's perft.json (see games/perft_file.py)."""
    entries: list[dict[str, Any]] = importlib.import_module("games.perft_file").read(game.name)
    return entries


def view(position: Position, seat: int | None) -> bytes:
    """Return the view of a seat, or of a spectator, as the bytes of the game's view message."""
    return bytes(view_of(position, seat).SerializeToString(deterministic=True))


def update(position: Position, seat: int | None) -> bytes:
    """Return the bytes of a viewer's update: view, own legal actions and score."""
    return update_of(position, seat).SerializeToString(deterministic=True)


def may_see_whole(event: Event, seat: int | None) -> bool:
    """Return whether a seat, or a spectator, may see the whole event."""
    return event.seen_by is None or seat in event.seen_by


def shown(game: Game, event: Event, whole: bool) -> tuple[bytes, str]:
    """Return an event's message and label as a viewer receives them."""
    codec = engine.codec(game.name)
    filled = message(game, "Event")
    fill(filled, codec.put_event, event, whole)
    return filled.SerializeToString(deterministic=True), written_text(codec.put_event_label, event, whole)


def shown_to(game: Game, events: Sequence[Event], seat: int | None) -> list[tuple[bytes, str]]:
    """Return events as a seat, or a spectator, receives them."""
    return [shown(game, event, may_see_whole(event, seat)) for event in events]


def body_of(position: Position) -> bytes:
    """Return the packed state without its header, as a codec creates it from a message."""
    return engine.codec(position.game.name).read_state(Reader(typed_state(position)), position.rules_version())


@cache
def messages_of(game: Game) -> Messages:
    """Return the reader and writer of a game's messages."""
    return Messages(game, engine.codec(game.name), game_pb2.State.DESCRIPTOR.fields_by_name[game.name].number)


def whole_state(position: Position) -> game_pb2.State:
    """Return a position as the State message that clients have, with ply and stream."""
    return fill(game_pb2.State(), messages_of(position.game).put_state, position)


def options_as(game: Game, fields: dict[str, list[int]]) -> dict[str, Any]:
    """Return the options that a codec reads from a message with these fields. Raises EngineError."""
    filled = message(game, "Options")
    for name, numbers in fields.items():
        _fill_field(filled, name, numbers)
    return engine.codec(game.name).read_options(Reader(filled))


def _fill_field(filled: Message, name: str, numbers: list[int]) -> None:
    # Fill a field: one number, a repeated field, or a message with a repeated field.
    field = filled.DESCRIPTOR.fields_by_name[name]
    if field.message_type is not None:
        value = getattr(filled, name)
        value.SetInParent()
        for inner in field.message_type.fields:
            _fill_field(value, inner.name, numbers)
    elif field.is_repeated:
        getattr(filled, name).extend(numbers)
    else:
        setattr(filled, name, numbers[0])


def random_options(game: Game, players: int, choices: random.Random) -> dict[str, Any]:
    """Return random options that the game accepts. Each is absent about half of the time."""
    options: dict[str, Any] = {}
    for option in game.description.options:
        numbers = list(option.default_values)
        chosen: dict[str, Any] = {}
        # Try several times, because only the game knows which values can be combined or used with this number of
        # players.
        for _ in range(30 if choices.random() < 0.5 else 0):
            edit = len(numbers) > 1 and choices.random() < 0.8
            tried = _edited(numbers, option, choices) if edit else _any_numbers(option, choices)
            try:
                value = options_as(game, {option.name: tried})
                game.new_game(players, {**options, **value})
            except EngineError:
                continue
            chosen, numbers = value, tried
            if not edit:
                break
        options |= chosen
    return options


def _any_numbers(option: Option, choices: random.Random) -> list[int]:
    possible = range(option.lowest, option.highest + 1)
    return choices.sample(possible, choices.randint(1, min(len(possible), 100)))


def _edited(numbers: list[int], option: Option, choices: random.Random) -> list[int]:
    # Exchange two numbers, or decrease one number and increase another. Both preserve a sum that the game may require.
    edited = numbers.copy()
    one, other = choices.sample(range(len(numbers)), 2)
    if choices.random() < 0.5:
        edited[one], edited[other] = numbers[other], numbers[one]
    elif numbers[one] > option.lowest and numbers[other] < option.highest:
        edited[one] -= 1
        edited[other] += 1
    return edited


def moves_of(position: Position) -> list[int]:
    """Return the legal actions or, at a chance event, the possible outcomes."""
    return position.legal_actions() or [outcome for outcome, _ in position.chance_outcomes()]


def random_move(position: Position, choices: random.Random) -> int:
    """Choose a random legal action, or an outcome by its probability."""
    if position.current_player() == CHANCE_PLAYER:
        outcomes, weights = zip(*position.chance_outcomes(), strict=True)
        return int(choices.choices(outcomes, weights)[0])
    return choices.choice(position.legal_actions())


def random_likings(game: Game, choices: random.Random) -> list[float]:
    """Return random weights for a game's kinds of actions, so that rare kinds also occur."""
    return [10 ** -choices.uniform(0, 3) for _ in game.description.action_kinds]


def liked_move(position: Position, likings: list[float], choices: random.Random) -> int:
    """Choose an outcome by its probability, or an action by the weight of its kind."""
    if position.is_chance_node():
        return random_move(position, choices)
    legal = position.legal_actions()
    kinds = position.game.description.action_kinds
    of_kind = [[action for action in legal if kind.first_id <= action <= kind.last_id] for kind in kinds]
    (actions,) = choices.choices(of_kind, [liking * bool(some) for liking, some in zip(likings, of_kind, strict=True)])
    return choices.choice(actions)


def begin(game: Game, players: int, choices: random.Random, *, sampled: bool) -> Position:
    """Start a new game with random options."""
    options = random_options(game, players, choices)
    return game.new_game(players, options, seed=choices.getrandbits(64) if sampled else None)


def random_game(game: Game, players: int, choices: random.Random, *, sampled: bool) -> Iterator[Position]:
    """Yield the positions of a random game with random options, in order. Each is a separate object."""
    position = begin(game, players, choices, sampled=sampled)
    yield position
    while not position.is_terminal():
        position = position.child(random_move(position, choices))
        yield position


@cache
def positions(table: Table, sampled: bool | None = None, games: int = 2) -> tuple[Position, ...]:
    """Return all positions of a few reproducible random games. Chance is explicit, sampled, or both (None)."""
    game, players = table
    choices = random.Random(f"{game.name} {players}")
    return tuple(
        position
        for is_sampled in ((False, True) if sampled is None else (sampled,))
        for _ in range(games)
        for position in random_game(game, players, choices, sampled=is_sampled)
    )


def thinned(items: tuple[Position, ...], count: int) -> tuple[Position, ...]:
    """Return about `count` of the positions, evenly spaced."""
    return items[:: max(1, len(items) // count)]
