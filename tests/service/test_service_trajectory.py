"""A seeded trajectory of games is the same in process, by single calls, by batches and on the stream of batches."""

import queue
from collections.abc import Iterator
from typing import Any

from chatiere.engine import Game
from chatiere.engine.wire import Reader
from chatiere.service.calls import conversion
from chatiere.v1 import batch_service_pb2 as pb
from chatiere.v1 import game_pb2, game_service_pb2

from .batches import by_batches, choice, digest, in_process, play_request
from .support import PATIENCE, Running


def by_single_calls(stub: Any, game: Game, players: int, seeds: list[int], steps: int) -> Iterator[list[bytes]]:
    include = game_pb2.Include(legal_actions=True)

    def begin(seed: int, number: int) -> game_pb2.Position:
        request = game_service_pb2.NewGameRequest(
            game=game.name, players=players, seed=seed, game_number=number, include=include
        )
        position: game_pb2.Position = stub.NewGame(request).position
        return position

    positions = [begin(seed, 1) for seed in seeds]
    yield [conversion.read_state(Reader(position.state)).pack() for position in positions]
    for step in range(steps):
        for item, position in enumerate(positions):
            request = game_service_pb2.ApplyRequest(state=position.state, include=include)
            request.action.id = choice(step, item, [action.id for action in position.legal_actions])
            positions[item] = stub.Apply(request).position
            if positions[item].turn.kind == game_pb2.TURN_KIND_OVER:
                stream = positions[item].state.stream
                positions[item] = begin(stream.seed, stream.game_number + 1)
        yield [conversion.read_state(Reader(position.state)).pack() for position in positions]


def test_a_seeded_trajectory_is_the_same_four_ways(server: Running, batches: Any, game: Game) -> None:
    players, seeds, steps = game.min_players, [3, 5, 2**64 - 1], 120
    sent: queue.SimpleQueue[pb.PlayRequest | None] = queue.SimpleQueue()
    answers = batches.Play(iter(sent.get, None), timeout=PATIENCE)

    def streamed(name: str) -> Any:
        def ask(request: Any) -> Any:
            sent.put(play_request(name, request))
            return getattr(next(answers), name)

        return ask

    expected = digest(in_process(game, players, seeds, steps))
    assert digest(by_single_calls(server.stub, game, players, seeds, steps)) == expected
    assert digest(by_batches(batches.NewGames, batches.Step, game, players, seeds, steps)) == expected
    assert digest(by_batches(streamed("new_games"), streamed("step"), game, players, seeds, steps)) == expected
    sent.put(None)
    # The size of the batches does not affect the results.
    parts = [list(by_batches(batches.NewGames, batches.Step, game, players, [seed], 40)) for seed in seeds]
    together = list(in_process(game, players, seeds[:1], 40))
    assert parts[0] == together
