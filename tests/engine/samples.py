"""Valid requests to every method, at positions of random games."""

import random
from functools import cache
from typing import Any

from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from chatiere import engine
from chatiere.engine import Game, Position
from chatiere.engine.wire import fill
from chatiere.service.calls import conversion
from chatiere.v1 import game_service_pb2

KINDS: list[type[Message]] = [
    GetMessageClass(method.input_type) for method in game_service_pb2.DESCRIPTOR.services_by_name["GameService"].methods
]


@cache
def positions(game: Game) -> list[Position]:
    """Return positions of random games, with sampled and with explicit chance."""
    choices = random.Random(game.name)
    found = []
    for seed in (2**64 - 1, None, 5, None):
        options = {"first_seat": 1} if seed == 5 else None
        position = game.new_game(choices.randint(game.min_players, game.max_players), options, seed=seed, game_number=0)
        while not position.is_terminal():
            found.append(position.clone())
            position.apply(choices.choice(_moves(position)))
        found.append(position)
    return found


def request(kind: type[Message], game: Game, choices: random.Random) -> Any:
    """Return a request of the given kind, valid except perhaps for the seats that it names."""
    filled: Any = kind()
    position = choices.choice(positions(game))
    for field in kind.DESCRIPTOR.fields:
        if field.name == "state":
            fill(filled.state, conversion.of(position).put_state, position)
        elif field.name == "names":
            filled.names.extend(choices.choice(([], [], [game.name], [game.name, "chess"])))
        elif field.name in ("pieces", "observation", "words"):
            setattr(filled, field.name, choices.random() < 0.3)
        elif field.name == "game":
            filled.game = choices.choice((game.name, game.name, ""))
        elif field.name == "players":
            filled.players = choices.randint(game.min_players, game.max_players)
        elif field.name == "options":
            options = getattr(filled.options, game.name)
            options.SetInParent()
            if choices.random() < 0.5:
                options.first_seat = choices.randint(0, game.min_players)
        elif field.name == "explicit_chance":
            filled.explicit_chance = choices.random() < 0.3
        elif field.name in ("seed", "game_number") and not getattr(filled, "explicit_chance", False):
            setattr(filled, field.name, choices.choice((0, 1, 7, 2**64 - 1)))
        elif field.name == "seat":
            filled.seat = choices.randint(0, position.num_players())
        elif field.name == "include":
            for name in ("legal_actions", "score", "spectator"):
                setattr(filled.include, name, choices.random() < 0.3)
            filled.include.viewers.extend(choices.choice(([], [], [0], [1, 0], [0, 0], [99])))
        elif field.name == "action":
            _fill_move(filled, position, choices)
        elif field.name == "record":
            _fill_record(filled.record, game, choices)
        elif field.name == "from_ply":
            filled.from_ply = choices.choice((0, 0, 1, 2, 9))
    return filled


def _moves(position: Position) -> list[int]:
    return position.legal_actions() or [outcome for outcome, _ in position.chance_outcomes()]


def _fill_record(record: Any, game: Game, choices: random.Random) -> None:
    record.game, record.rules_version, record.players = game.name, game.rules_version, game.min_players
    position = game.new_game(game.min_players, seed=3)
    record.stream.seed = 3
    for _ in range(3):
        record.actions.append(choices.choice(position.legal_actions()))
        position.apply(record.actions[-1])


def _fill_move(filled: Any, position: Position, choices: random.Random) -> None:
    if position.is_terminal():
        return
    move = choices.choice(_moves(position))
    if position.is_chance_node():
        filled.outcome = move
        return
    how = choices.randrange(4)
    if how != 1:
        filled.action.id = move
    if how != 0:
        fill(
            getattr(filled.action, position.game.name),
            engine.codec(position.game.name).put_action,
            position,
            choices.choice((move, move, move, _moves(position)[0])),
        )
    if how == 3:
        filled.action.label = "as the service sends it"
