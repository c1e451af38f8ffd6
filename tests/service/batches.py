"""Batches for tests: requests, and one trajectory of games played in process or in batches."""

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from google.protobuf.message import Message

from chatiere.engine import Game, Position
from chatiere.v1 import batch_service_pb2 as pb

MOST_PLAYOUTS = 2**32 - 1


def play_request(name: str, request: Message, tag: int = 0) -> pb.PlayRequest:
    play = pb.PlayRequest(tag=tag)
    getattr(play, name).CopyFrom(request)
    return play


def endless(game: Game, table: pb.BatchSetup) -> pb.PlayoutRequest:
    """Return a request for playouts that do not finish while a test waits."""
    return pb.PlayoutRequest(setup=table, states=game.new_game(game.max_players, seed=1).pack(), playouts=MOST_PLAYOUTS)


def endless_evaluation(game: Game, table: pb.BatchSetup) -> pb.EvaluateRequest:
    """Return a request to evaluate a few worlds with playouts that do not finish while a test waits."""
    position = game.new_game(game.max_players, seed=1)
    playouts = MOST_PLAYOUTS // (3 * len(position.legal_actions()))
    return pb.EvaluateRequest(setup=table, states=position.pack(), worlds=3, playouts=playouts)


def choice(step: int, item: int, legal: list[int]) -> int:
    """Choose an action by a fixed function of the step and of the item's number."""
    return legal[(7 * step + 3 * item) % len(legal)]


def digest(trajectory: Iterator[list[bytes]]) -> str:
    found = hashlib.sha256()
    for states in trajectory:
        for state in states:
            found.update(state)
    return found.hexdigest()


def in_process(game: Game, players: int, seeds: list[int], steps: int) -> Iterator[list[bytes]]:
    positions: list[Position] = [game.new_game(players, seed=seed, game_number=1) for seed in seeds]
    yield [position.pack() for position in positions]
    for step in range(steps):
        for item, position in enumerate(positions):
            position.apply(choice(step, item, position.legal_actions()))
            if position.is_terminal():
                seed, number, _ = position.random_stream() or (0, 0, 0)
                positions[item] = game.new_game(players, seed=seed, game_number=number + 1)
        yield [position.pack() for position in positions]


def by_batches(
    new_games: Any, step_games: Any, game: Game, players: int, seeds: list[int], steps: int
) -> Iterator[list[bytes]]:
    table = pb.BatchSetup(game=game.name, players=players)
    columns = pb.Columns(legal=True)
    numbers = np.ones(len(seeds), "<u8").tobytes()
    request = pb.NewGamesRequest(
        setup=table, seeds=np.array(seeds, "<u8").tobytes(), game_numbers=numbers, columns=columns
    )
    positions = new_games(request).positions
    size = game.packed_size
    for step in range(steps + 1):
        yield [positions.states[i * size : (i + 1) * size] for i in range(len(seeds))]
        if step == steps:
            return
        ids, offsets = np.frombuffer(positions.legal_ids, "<u2"), np.frombuffer(positions.legal_offsets, "<u4")
        moves = [choice(step, i, ids[offsets[i] : offsets[i + 1]].tolist()) for i in range(len(seeds))]
        positions = step_games(
            pb.StepRequest(
                setup=table,
                states=positions.states,
                moves=np.array(moves, "<u2").tobytes(),
                columns=columns,
                restart=pb.Restart(stride=1),
            )
        ).positions
