"""The calls of BatchService: request message → response message, with the columns as they come.

They know nothing of gRPC. They raise EngineError and Refusal with field paths from the request on, and Cancelled when
their cancellation says so.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from chatiere import engine
from chatiere.engine import EngineError, Game, Position, Reason
from chatiere.engine.core.batch import Cancellation, Cancelled, Columns, Faults, ItemFault, Positions, Restart, Table
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
        self._methods: dict[str, Callable[[Any, Cancellation], Any]] = {
            "new_games": self.new_games,
            "step": self.step,
            "playout": self.playout,
            "score": self.score,
            "resample": self.resample,
            "observe": self.observe,
            "convert": self.convert,
        }

    def new_games(self, request: pb.NewGamesRequest, cancellation: Cancellation) -> pb.NewGamesResponse:
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
        return pb.NewGamesResponse(positions=_write_positions(positions))

    def step(self, request: pb.StepRequest, cancellation: Cancellation) -> pb.StepResponse:
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
        return pb.StepResponse(positions=_write_positions(positions), faults=_write_faults(faults))

    def playout(self, request: pb.PlayoutRequest, cancellation: Cancellation) -> pb.PlayoutResponse:
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
        return pb.PlayoutResponse(
            mean_returns=playouts.mean_returns,
            wins=playouts.wins,
            moves=playouts.moves,
            faults=_write_faults(faults),
        )

    def score(self, request: pb.ScoreRequest, cancellation: Cancellation) -> pb.ScoreResponse:
        """The scores at states."""
        table = _table_of(request.table)
        with self._measured(table, "Score", len(request.states) // table.game.packed_size):
            scores, faults = table.score(request.states, cancellation=cancellation)
        return pb.ScoreResponse(
            totals=scores.totals,
            final=scores.final,
            ranks=scores.ranks,
            returns=scores.returns,
            faults=_write_faults(faults),
        )

    def resample(
        self, request: pb.BatchServiceResampleRequest, cancellation: Cancellation
    ) -> pb.BatchServiceResampleResponse:
        """For each state one that a seat cannot tell from it."""
        table = _table_of(request.table)
        with self._measured(table, "Resample", len(request.states) // table.game.packed_size):
            states, faults = table.resample(
                request.states,
                request.seats,
                seed=request.seed,
                first_game_number=request.first_game_number,
                cancellation=cancellation,
            )
        return pb.BatchServiceResampleResponse(states=states, faults=_write_faults(faults))

    def observe(self, request: pb.ObserveRequest, cancellation: Cancellation) -> pb.ObserveResponse:
        """What seats know, as numbers."""
        table = _table_of(request.table)
        with self._measured(table, "Observe", len(request.states) // table.game.packed_size):
            observations, faults = table.observe(
                request.states, request.seats, max_bytes=self._max_bytes, cancellation=cancellation
            )
        return pb.ObserveResponse(observations=observations, faults=_write_faults(faults))

    def convert(self, request: pb.ConvertRequest, cancellation: Cancellation) -> pb.ConvertResponse:
        """Typed states for packed ones, and the reverse."""
        table = _table_of(request.table)
        if request.states and request.typed_states:
            raise EngineError(
                Reason.INVALID_BATCH,
                "either packed states are converted or typed ones, not both",
                field="typed_states",
                metadata={"game": table.game.name},
            )
        return (
            self._pack(request, table, cancellation)
            if request.typed_states
            else self._unpack(request, table, cancellation)
        )

    def _pack(self, request: pb.ConvertRequest, table: Table, cancellation: Cancellation) -> pb.ConvertResponse:
        packed = [bytes(table.game.packed_size)] * len(request.typed_states)
        faults = _Faults()
        with self._measured(table, "Convert", len(packed), "typed_states"):
            for item, typed in enumerate(request.typed_states):
                _check_cancelled(cancellation)
                with faults.caught(item):
                    packed[item] = _read_typed_state(typed, item, table).pack()
        return pb.ConvertResponse(states=b"".join(packed), faults=_write_faults(faults.of(len(packed))))

    def _unpack(self, request: pb.ConvertRequest, table: Table, cancellation: Cancellation) -> pb.ConvertResponse:
        typed = [game_pb2.State() for _ in range(table.count_states(request.states))]
        faults = _Faults()
        with self._measured(table, "Convert", len(typed)):
            for item in range(len(typed)):
                _check_cancelled(cancellation)
                with faults.caught(item):
                    typed[item] = convert.write_state(table.position(request.states, item))
        return pb.ConvertResponse(typed_states=typed, faults=_write_faults(faults.of(len(typed))))

    def play(self, request: pb.PlayRequest, cancellation: Cancellation) -> pb.PlayResponse:
        """Any of these calls, as the stream has them: a refusal is an answer too."""
        response = pb.PlayResponse(tag=request.tag)
        name = request.WhichOneof("request")
        try:
            if name is None:
                raise Refusal(ServiceReason.MISSING_FIELD, "the message holds no request", field="request", metadata={})
            getattr(response, name).MergeFrom(self._methods[name](getattr(request, name), cancellation))
        except (EngineError, Refusal) as error:
            response.refusal.CopyFrom(_write_refusal(error))
        return response

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

    def __init__(self) -> None:
        self._failed: dict[int, ItemFault] = {}

    @contextmanager
    def caught(self, item: int) -> Iterator[None]:
        """What is refused inside is the item's fault."""
        try:
            yield
        except EngineError as error:
            self._failed[item] = ItemFault(item, error.reason, error.message, error.field, error.rule)

    def of(self, count: int) -> Faults:
        """The faults of so many items."""
        if not self._failed:
            return Faults(b"", ())
        reasons = bytearray(count)
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
        error.field = f"{path}.{error.field}"
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


def _write_positions(positions: Positions) -> pb.Positions:
    return pb.Positions(**positions._asdict())


def _write_faults(faults: Faults) -> pb.Faults | None:
    """None if no item failed: the field is then absent."""
    if not faults.reasons:
        return None
    return pb.Faults(
        reasons=faults.reasons,
        items=[
            pb.ItemFault(
                item=fault.item,
                reason=fault.reason.number,  # type: ignore[arg-type]
                message=fault.message,
                field=fault.field,
                rule=fault.rule,
            )
            for fault in faults.items
        ],
    )


def _write_refusal(error: EngineError | Refusal) -> pb.RequestRefusal:
    return pb.RequestRefusal(
        reason=f"ERROR_REASON_{error.reason.value}",  # type: ignore[arg-type]
        message=error.message,
        field=error.field,
        metadata=error.metadata | ({"rule": error.rule} if error.rule else {}),
    )
