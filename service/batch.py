"""The calls of BatchService: each reads its request message and fills its response message, columns as they come.

Responses are filled where they are: every copy of a column counts. The calls know nothing of gRPC. They raise
EngineError and Refusal with field paths from the request on, and Cancelled when their cancellation says so.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from chatiere import engine
from chatiere.engine import EngineError, Game, Position, Reason
from chatiere.engine.core.batch import Cancellation, Cancelled, Columns, Faults, ItemFault, Positions, Restart, Table
from chatiere.engine.core.wire import fill
from chatiere.service import convert
from chatiere.service.config import Settings
from chatiere.service.errors import Refusal, ServiceReason
from chatiere.service.metrics import Metrics
from chatiere.v1 import batch_service_pb2 as pb
from chatiere.v1 import game_pb2

# How many faults are told in words.
_MOST_WORDS = 20


class Batches:
    """The methods, within the limits of a server's settings."""

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        """`settings`: for its limits. `metrics`: where batches and moves are counted."""
        self._max_items = settings.max_batch_items
        self._max_playouts = settings.max_playouts
        self._max_bytes = settings.max_answer_bytes
        self._metrics = metrics
        self._methods: dict[str, Callable[[Any, Any, Cancellation], None]] = {
            "new_games": self.new_games,
            "step": self.step,
            "playout": self.playout,
            "score": self.score,
            "resample": self.resample,
            "observe": self.observe,
            "convert": self.convert,
        }

    def new_games(self, request: pb.NewGamesRequest, response: pb.NewGamesResponse, cancellation: Cancellation) -> None:
        """Begin games."""
        table = _table_of(request.table)
        game = table.game
        count = len(request.seeds) // 8 if request.seeds else request.count
        options = convert.read_options(request.options, game)
        with self._measured(table, "NewGames", count, "seeds" if request.seeds else "count"):
            positions = table.new_games(
                options,
                seeds=request.seeds or None,
                game_numbers=request.game_numbers or None,
                count=request.count,
                columns=_columns_of(request.columns),
                max_bytes=self._max_bytes,
                cancellation=cancellation,
            )
        _fill_positions(response.positions, positions)

    def step(self, request: pb.StepRequest, response: pb.StepResponse, cancellation: Cancellation) -> None:
        """Make a move in each game."""
        table = _table_of(request.table)
        restart = None
        if request.HasField("restart"):
            with _below("restart"):
                options = convert.read_options(request.restart.options, table.game)
            restart = Restart(options, request.restart.stride)
        before = cancellation.moves
        with self._measured(table, "Step", len(request.states) // table.game.packed_size):
            positions, faults = table.step(
                request.states,
                request.moves,
                columns=_columns_of(request.columns),
                restart=restart,
                max_bytes=self._max_bytes,
                cancellation=cancellation,
            )
        self._metrics.moves_applied.labels(table.game.name).inc(cancellation.moves - before)
        _fill_positions(response.positions, positions)
        _fill_faults(response, faults)

    def playout(self, request: pb.PlayoutRequest, response: pb.PlayoutResponse, cancellation: Cancellation) -> None:
        """Play each state to its end, many times, with random moves."""
        table = _table_of(request.table)
        items = len(request.states) // table.game.packed_size
        self._check_limit(items * request.count, self._max_playouts, "playouts", "count", table.game)
        before = cancellation.moves
        with self._measured(table, "Playout", items):
            playouts, faults = table.playout(
                request.states,
                request.count,
                seed=request.seed,
                first_game_number=request.first_game_number,
                cancellation=cancellation,
            )
        self._metrics.playout_moves.labels(table.game.name).inc(cancellation.moves - before)
        response.mean_returns = playouts.mean_returns
        response.wins = playouts.wins
        response.moves = playouts.moves
        _fill_faults(response, faults)

    def score(self, request: pb.ScoreRequest, response: pb.ScoreResponse, cancellation: Cancellation) -> None:
        """The scores at states."""
        table = _table_of(request.table)
        with self._measured(table, "Score", len(request.states) // table.game.packed_size):
            scores, faults = table.score(request.states, cancellation=cancellation)
        response.totals = scores.totals
        response.final = scores.final
        response.ranks = scores.ranks
        response.returns = scores.returns
        _fill_faults(response, faults)

    def resample(
        self,
        request: pb.BatchServiceResampleRequest,
        response: pb.BatchServiceResampleResponse,
        cancellation: Cancellation,
    ) -> None:
        """For each state one that a seat cannot tell from it."""
        table = _table_of(request.table)
        with self._measured(table, "Resample", len(request.states) // table.game.packed_size):
            response.states, faults = table.resample(
                request.states,
                request.seats,
                seed=request.seed,
                first_game_number=request.first_game_number,
                cancellation=cancellation,
            )
        _fill_faults(response, faults)

    def observe(self, request: pb.ObserveRequest, response: pb.ObserveResponse, cancellation: Cancellation) -> None:
        """What seats know, as numbers."""
        table = _table_of(request.table)
        with self._measured(table, "Observe", len(request.states) // table.game.packed_size):
            response.observations, faults = table.observe(
                request.states, request.seats, max_bytes=self._max_bytes, cancellation=cancellation
            )
        _fill_faults(response, faults)

    def convert(self, request: pb.ConvertRequest, response: pb.ConvertResponse, cancellation: Cancellation) -> None:
        """Typed states for packed ones, and the reverse."""
        table = _table_of(request.table)
        if request.states and request.typed_states:
            raise EngineError(
                Reason.INVALID_BATCH,
                "either packed states are converted or typed ones, not both",
                field="typed_states",
                metadata={"game": table.game.name},
            )
        if request.typed_states:
            self._pack(request, response, table, cancellation)
        else:
            self._unpack(request, response, table, cancellation)

    def _pack(
        self, request: pb.ConvertRequest, response: pb.ConvertResponse, table: Table, cancellation: Cancellation
    ) -> None:
        packed = [bytes(table.game.packed_size)] * len(request.typed_states)
        faults = _Faults(len(packed))
        with self._measured(table, "Convert", len(packed), "typed_states"):
            for item, typed in enumerate(request.typed_states):
                _check_cancelled(cancellation)
                with faults.caught(item):
                    packed[item] = _read_typed_state(typed, item, table).pack()
        response.states = b"".join(packed)
        _fill_faults(response, faults.found())

    def _unpack(
        self, request: pb.ConvertRequest, response: pb.ConvertResponse, table: Table, cancellation: Cancellation
    ) -> None:
        states = request.states
        with self._measured(table, "Convert", len(states) // table.game.packed_size):
            faults = _Faults(table.count_states(states))
            for item in range(faults.count):
                _check_cancelled(cancellation)
                typed = response.typed_states.add()
                with faults.caught(item):
                    position = table.position(states, item)
                    fill(typed, convert.of(position).put_state, position)
        _fill_faults(response, faults.found())

    def play(self, request: pb.PlayRequest, response: pb.PlayResponse, cancellation: Cancellation) -> None:
        """Any of these calls, as the stream has them: a refusal is an answer too."""
        response.tag = request.tag
        name = request.WhichOneof("request")
        try:
            if name is None:
                raise Refusal(ServiceReason.MISSING_FIELD, "the message holds no request", field="request", metadata={})
            answer = getattr(response, name)
            answer.SetInParent()
            self._methods[name](getattr(request, name), answer, cancellation)
        except (EngineError, Refusal) as error:
            _fill_refusal(response.refusal, error)

    @contextmanager
    def _measured(self, table: Table, method: str, items: int, field: str = "states") -> Iterator[None]:
        """Refuse a batch that is too large, and count and time the others; refusals from inside name the game."""
        game = table.game
        self._check_limit(items, self._max_items, "items", field, game)
        start = time.perf_counter()
        try:
            yield
        except EngineError as error:
            error.metadata["game"] = game.name
            # The engine knows one game's options by their names alone.
            error.field = error.field.replace("options", f"options.{game.name}", 1)
            raise
        self._metrics.kernel_seconds.labels(game.name, method).observe(time.perf_counter() - start)
        self._metrics.batch_items.labels(game.name, method).observe(items)

    def _check_limit(self, asked: int, limit: int, what: str, field: str, game: Game) -> None:
        if asked > limit:
            raise EngineError(
                Reason.BATCH_TOO_LARGE,
                f"this service takes at most {limit} {what} a batch, not {asked}",
                field=field,
                metadata={"game": game.name, "limit": str(limit), "asked": str(asked)},
            )


class _Faults:
    """Collects the faults of items that are handled one by one."""

    def __init__(self, count: int) -> None:
        """`count`: how many items there are."""
        self.count = count
        self._failed: dict[int, ItemFault] = {}

    @contextmanager
    def caught(self, item: int) -> Iterator[None]:
        """What is refused inside is the item's fault."""
        try:
            yield
        except EngineError as error:
            self._failed[item] = ItemFault(item, error.reason, error.message, error.field, error.rule)

    def found(self) -> Faults:
        """Those that failed."""
        if not self._failed:
            return Faults(b"", ())
        reasons = bytearray(self.count)
        for item, fault in self._failed.items():
            reasons[item] = fault.reason.number
        return Faults(bytes(reasons), tuple(self._failed.values())[:_MOST_WORDS])


def _check_cancelled(cancellation: Cancellation) -> None:
    if cancellation.cancelled:
        raise Cancelled("the batch was cancelled")


@contextmanager
def _below(path: str) -> Iterator[None]:
    """Let the refusals from inside name their field from the request on."""
    try:
        yield
    except EngineError as error:
        error.lies_below(path)
        raise


def _table_of(table: pb.Table) -> Table:
    with _below("table"):
        game = engine.game(table.game)
        try:
            return Table(game, table.players)
        except EngineError as error:
            error.metadata["game"] = game.name
            raise


def _columns_of(columns: pb.Columns) -> Columns:
    return Columns(columns.legal, columns.scores, columns.observations)


def _read_typed_state(typed: game_pb2.State, item: int, table: Table) -> Position:
    name = typed.WhichOneof("game")
    if name not in (None, table.game.name):
        raise EngineError(
            Reason.INVALID_STATE,
            f"this is a state of {name}; the table's game is {table.game.name}",
            field=f"typed_states[{item}].{name}",
        )
    try:
        position = convert.read_state(typed)
        table.check_position(position)
    except EngineError as error:
        error.field = f"typed_states[{item}]{error.field.removeprefix('state')}"
        raise
    return position


def _fill_positions(message: pb.Positions, positions: Positions) -> None:
    message.states = positions.states
    message.actors = positions.actors
    message.legal_offsets = positions.legal_offsets
    message.legal_ids = positions.legal_ids
    message.weights = positions.weights
    message.totals = positions.totals
    message.returns = positions.returns
    message.final = positions.final
    message.observations = positions.observations
    message.final_observations = positions.final_observations


def _fill_faults(response: Any, faults: Faults) -> None:
    """The field stays absent if no item failed."""
    if faults.reasons:
        response.faults.reasons = faults.reasons
    for fault in faults.items:
        response.faults.items.add(
            item=fault.item, reason=fault.reason.number, message=fault.message, field=fault.field, rule=fault.rule
        )


def _fill_refusal(message: pb.RequestRefusal, error: EngineError | Refusal) -> None:
    message.MergeFrom(pb.RequestRefusal(reason=f"ERROR_REASON_{error.reason.value}"))
    message.message = error.message
    message.field = error.field
    message.metadata.update(error.metadata)
    if error.rule:
        message.metadata["rule"] = error.rule
