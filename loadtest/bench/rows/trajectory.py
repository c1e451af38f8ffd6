"""The same seeded games in process, by single calls, by batches and on a stream, compared by a hash of the states.

The hash is the SHA-256 of all packed states from the first decision to the end, game after game.
"""

import hashlib
import queue
from collections.abc import Callable

import grpc
import numpy as np

from chatiere.engine import Game
from chatiere.v1.batch_service_pb2 import (
    BatchSetup,
    Columns,
    ConvertRequest,
    NewGamesRequest,
    PlayRequest,
    Positions,
    StepRequest,
)
from chatiere.v1.batch_service_pb2_grpc import BatchServiceStub
from chatiere.v1.game_pb2 import Include
from chatiere.v1.game_service_pb2 import ApplyRequest, NewGameRequest
from chatiere.v1.game_service_pb2_grpc import GameServiceStub
from loadtest.bench.measure import BenchPlan, Result
from loadtest.bench.self_play import SEED, seeds_and_numbers
from loadtest.bench.servers import chatiere

GAMES = 8
_COLUMNS = Columns(legal=True)
# All packed states of a game, in order.
History = list[bytes]


def pick(move: int, game_number: int, count: int) -> int:
    """Return the index of the action chosen at a move of a game, by an arbitrary function of these arguments."""
    return (move * 7919 + game_number * 104729) % count


def in_process(game: Game, players: int) -> list[History]:
    """Play with Position."""
    histories = []
    for number in range(GAMES):
        position = game.new_game(players, seed=SEED, game_number=number)
        history = [position.pack()]
        while not position.is_terminal():
            actions = position.legal_actions()
            position.apply(actions[pick(len(history), number, len(actions))])
            history.append(position.pack())
        histories.append(history)
    return histories


def by_single_calls(channel: grpc.Channel, game: Game, players: int) -> list[History]:
    """Play with GameService; Convert packs the states."""
    games = GameServiceStub(channel)
    batches = BatchServiceStub(channel)
    include = Include(legal_actions=True)
    histories = []
    for number in range(GAMES):
        request = NewGameRequest(game=game.name, players=players, seed=SEED, game_number=number, include=include)
        position = games.NewGame(request).position
        states = [position.state]
        while position.legal_actions:
            action = position.legal_actions[pick(len(states), number, len(position.legal_actions))]
            position = games.Apply(ApplyRequest(state=position.state, action=action, include=include)).position
            states.append(position.state)
        table = BatchSetup(game=game.name, players=players)
        packed = batches.Convert(ConvertRequest(setup=table, typed_states=states)).states
        histories.append(_split(packed, game.packed_size))
    return histories


def by_batches(channel: grpc.Channel, game: Game, players: int) -> list[History]:
    """Play with BatchService, all games in one batch."""
    stub = BatchServiceStub(channel)

    def ask(request: NewGamesRequest | StepRequest) -> Positions:
        method = stub.NewGames if isinstance(request, NewGamesRequest) else stub.Step
        positions: Positions = method(request).positions
        return positions

    return _in_batches(game, players, ask)


def by_stream(channel: grpc.Channel, game: Game, players: int) -> list[History]:
    """Play with BatchService on a stream, all games in one batch."""
    stub = BatchServiceStub(channel)
    requests: queue.SimpleQueue[PlayRequest | None] = queue.SimpleQueue()
    responses = stub.Play(iter(requests.get, None))

    def ask(request: NewGamesRequest | StepRequest) -> Positions:
        if isinstance(request, NewGamesRequest):
            requests.put(PlayRequest(new_games=request))
        else:
            requests.put(PlayRequest(step=request))
        response = next(responses)
        if response.WhichOneof("response") == "refusal":
            raise RuntimeError(str(response.refusal))
        positions: Positions = getattr(response, response.WhichOneof("response")).positions
        return positions

    histories = _in_batches(game, players, ask)
    requests.put(None)
    return histories


def _in_batches(game: Game, players: int, ask: Callable[[NewGamesRequest | StepRequest], Positions]) -> list[History]:
    table = BatchSetup(game=game.name, players=players)
    seeds, numbers = seeds_and_numbers(0, GAMES)
    positions = ask(NewGamesRequest(setup=table, seeds=seeds, game_numbers=numbers, columns=_COLUMNS))
    histories: list[History] = [[state] for state in _split(positions.states, game.packed_size)]
    going = list(range(GAMES))
    while going:
        offsets = np.frombuffer(positions.legal_offsets, "<u4")
        counts = np.diff(offsets).tolist()
        picks = [pick(len(histories[number]), number, count) for number, count in zip(going, counts, strict=True)]
        moves = np.frombuffer(positions.legal_ids, "<u2")[offsets[:-1] + np.array(picks, np.uint32)]
        states = b"".join(histories[number][-1] for number in going)
        positions = ask(StepRequest(setup=table, states=states, moves=moves.tobytes(), columns=_COLUMNS))
        for number, state in zip(going, _split(positions.states, game.packed_size), strict=True):
            histories[number].append(state)
        # Games that are over have no legal ids, so the remaining ids belong to the other games.
        over = np.frombuffer(positions.final, "<u1")
        going = [number for number, final in zip(going, over, strict=True) if not final]
        positions = _without_over(positions, over)
    return histories


def _without_over(positions: Positions, over: np.ndarray) -> Positions:
    """Return the legal actions of the games that are not over."""
    offsets = np.frombuffer(positions.legal_offsets, "<u4")
    kept = np.append(offsets[:-1][over == 0], offsets[-1])
    return Positions(legal_offsets=kept.tobytes(), legal_ids=positions.legal_ids)


def _split(packed: bytes, size: int) -> History:
    return [packed[begin : begin + size] for begin in range(0, len(packed), size)]


def digest(histories: list[History]) -> str:
    """Return the hash of some games."""
    return hashlib.sha256(b"".join(b"".join(history) for history in histories)).hexdigest()


def measure(plan: BenchPlan) -> Result:
    """Compare the four ways to play, and list a hash for each game. Raise RuntimeError if the games differ."""
    result = Result()
    lines = result.tables.setdefault(
        f"{GAMES} seeded games, the same in process, by single calls, batches and stream", []
    )
    with chatiere() as server, server.channel() as channel:
        for game, players in plan.games.items():
            expected = in_process(game, players)
            for way in (by_single_calls, by_batches, by_stream):
                if way(channel, game, players) != expected:
                    raise RuntimeError(f"{game.name}: different games {way.__name__.replace('_', ' ')}")
            moves = sum(len(history) - 1 for history in expected)
            lines.append({"game": game.name, "players": players, "moves": moves, "SHA-256": digest(expected)})
    return result
