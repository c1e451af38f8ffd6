"""The time of the handler of Move at a sealed table, compared with Apply with the same move and update."""

import random
import statistics
import time
from collections.abc import Callable, Sequence

from prometheus_client import CollectorRegistry

from chatiere.engine import Game
from chatiere.engine.core.cancellation import Cancellation
from chatiere.engine.wire import fill
from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import Settings
from chatiere.service.calls import conversion
from chatiere.service.calls.game_service import apply
from chatiere.service.calls.table_service import TableService
from chatiere.service.tables import roots
from chatiere.service.tables.keys import Keyring
from chatiere.service.tables.seal import open_table
from chatiere.v1 import table_service_pb2 as pb
from chatiere.v1.game_service_pb2 import ApplyRequest
from loadtest.bench.bounds import bound_of
from loadtest.bench.measure import BenchPlan, Result, Row

_NOTHING = Cancellation()


def measure(plan: BenchPlan) -> Result:
    """Measure the row for Move, compared with Apply, for each game."""
    result = Result()
    for game, players in plan.games.items():
        keys = Keyring(None)
        service = TableService(Settings(), Metrics(CollectorRegistry()), keys)
        moves, applies = _requests(service, keys, game, players)

        def move(request: bytes, service: TableService = service) -> object:
            return service.answer("move", request, _NOTHING, lambda size: None)

        ours: list[float] = []
        peers: list[float] = []
        end = time.perf_counter() + plan.rounds * plan.seconds
        while len(ours) < plan.rounds or time.perf_counter() < end:
            ours.append(_microseconds(move, moves))
            peers.append(_microseconds(apply, applies))
        result.rows.append(
            Row(
                row="Move at a sealed table",
                game=game.name,
                unit="µs",
                ours=statistics.median(ours),
                peer=statistics.median(peers),
                bound=bound_of("table_move", game.name).bound,
                peer_name="Apply with the same update",
                at_most=True,
            )
        )
    return result


def _requests(service: TableService, keys: Keyring, game: Game, players: int) -> tuple[list[bytes], list[bytes]]:
    # Return the requests for all moves of a random game, for Move and for Apply.
    new = pb.NewTableRequest(
        game=game.name, players=players, seats=[pb.TableSeat()] * players, acknowledgement=pb.ACKNOWLEDGEMENT_NONE
    )
    (response,) = service.answer("new_table", new.SerializeToString(), _NOTHING, lambda size: None)
    made = pb.NewTableResponse.FromString(bytes(response))
    table, rng = made.table, random.Random(7)
    seed, game_number = roots.stream_of(open_table(keys, table).body.root)
    position = game.new_game(players, seed=seed, game_number=game_number)
    moves, applies = [], []
    while not position.is_terminal():
        seat, action = position.current_player(), rng.choice(position.legal_actions())
        request = ApplyRequest()
        fill(request.state, conversion.of(position).put_state, position)
        request.action.id = action
        request.include.viewers.append(seat)
        applies.append(request.SerializeToString())
        move = pb.MoveRequest(table=table, secret=made.secrets[seat].secret)
        move.action.id = action
        moves.append(move.SerializeToString())
        (response,) = service.answer("move", moves[-1], _NOTHING, lambda size: None)
        table = pb.MoveResponse.FromString(bytes(response)).table
        position.apply(action)
    return moves, applies


def _microseconds(handle: Callable[[bytes], object], requests: Sequence[bytes]) -> float:
    start = time.process_time_ns()
    for request in requests:
        handle(request)
    return (time.process_time_ns() - start) / len(requests) / 1000
