"""The methods of BatchService. They read the columns of requests in place.

They are independent of gRPC. They raise EngineError and Refusal with field paths from the request, DecodeError for a
request that cannot be parsed, and Cancelled when they are cancelled.
"""

import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
from types import TracebackType
from typing import Any

from google.protobuf.message import Message

from chatiere import engine
from chatiere.engine import EngineError, Game, Position, Reason
from chatiere.engine.core.batch import Table
from chatiere.engine.core.cancellation import Cancellation
from chatiere.engine.core.columns import MAX_FAULTS_TOLD, Columns, FaultColumns, ItemFault, PositionColumns, Restart
from chatiere.engine.wire import Buffer, Reader, written
from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import Settings
from chatiere.service.calls import conversion
from chatiere.service.calls.batch_messages import Kept, Request, put, read
from chatiere.service.calls.requests import MAX_ELEMENTS, Opener, listed, parse
from chatiere.service.guards.counts import Count, Durations
from chatiere.v1 import batch_service_pb2 as pb
from chatiere.v1 import game_pb2

# The parsed form of a StepRequest is cached if the request without its columns has at most this size in bytes.
_MAX_KEPT = 512
# The type of the request for each field of PlayRequest.
_KINDS: dict[str, type[Message]] = {
    field.name: getattr(pb, field.message_type.name)
    for field in pb.PlayRequest.DESCRIPTOR.oneofs_by_name["request"].fields
    if field.message_type
}
_TYPED_STATES = pb.ConvertRequest.TYPED_STATES_FIELD_NUMBER
_open_state = Opener(game_pb2.State).open
# A function that reserves a number of bytes for a call, in place of the previous reservation. Raises Refusal.
Hold = Callable[[int], None]
# The number of copies of a response in memory while it is assembled.
_COPIES = 2
# Two estimates: the number of an item's legal ids, and the size of a typed state divided by that of a packed state.
_LEGAL, _TYPED = 64, 4


def hold_nothing(size: int) -> None:
    """Reserve no memory. Used by callers without a memory budget."""


class BatchService:
    """BatchService, within the limits of a server's settings."""

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        """Create the service with the limits in `settings`. `metrics` count batches and moves."""
        self._settings = settings
        self._max_items = settings.max_batch_items
        self.max_fields = MAX_ELEMENTS + settings.max_batch_items
        """The maximum number of fields in a request: one for each item, and a number of other fields."""
        self._max_playouts = settings.max_playouts
        self._max_bytes = settings.max_answer_bytes
        self._metrics = metrics
        # The metrics of the engine's processor time and of the number of items, for each game and method. They are
        # cached, because looking up a metric by its labels takes longer than counting.
        self._figures_of = cache(
            lambda game, method: (
                Durations(metrics.kernel_seconds.labels(game, method)),
                Durations(metrics.batch_items.labels(game, method)),
            )
        )
        self._moves_of = cache(lambda game: Count(metrics.moves_applied.labels(game)))
        self._methods: dict[str, Callable[[Request, Cancellation, Hold], list[Buffer]]] = {
            "new_games": self._new_games,
            "step": self._step,
            "playout": self._playout,
            "evaluate": self._evaluate,
            "score": self._score,
            "resample_states": self._resample_states,
            "observe": self._observe,
            "convert": self._convert,
        }

    def answer(self, name: str, data: Buffer, cancellation: Cancellation, hold: Hold = hold_nothing) -> list[Buffer]:
        """Handle a request.

        Args:
            name: The method's field in PlayRequest.
            data: The request in wire format.
            cancellation: Cancels the work.
            hold: Reserves memory for the response.

        Returns:
            The response in wire format, as pieces to be joined.
        """
        return self.handle(name, read(_KINDS[name], data, self.max_fields), cancellation, hold)

    def handle(self, name: str, request: Request, cancellation: Cancellation, hold: Hold) -> list[Buffer]:
        """Return the response to a request that has already been read. See `answer`."""
        return self._methods[name](request, cancellation, hold)

    def _new_games(self, request: Request, cancellation: Cancellation, hold: Hold) -> list[Buffer]:
        message, columns = parse(pb.NewGamesRequest, request.rest), request.columns
        game, players = _setup_of(message.setup)
        table = Table(game, players, self._settings.rules_version(game))
        seeds = columns["seeds"]
        count = len(seeds) // 8 if seeds else message.count
        options = _read_options(message.options, table)
        wanted = _columns_of(message.columns)
        with self._measured(
            table, "NewGames", count, hold, _size_of(game, table.players, wanted), "seeds" if seeds else "count"
        ):
            positions = table.new_games(
                options,
                seeds=seeds or None,
                game_numbers=columns["game_numbers"] or None,
                # A count of 0 means that the field is absent.
                count=message.count or None,
                columns=wanted,
                max_bytes=self._max_bytes,
                cancellation=cancellation,
            )
        if request.kept is not None:
            request.kept.table, request.kept.states = table, positions.states
        return put(pb.NewGamesResponse, [("positions", _put_positions(positions, request.kept))])

    def step(self, request: Request, cancellation: Cancellation, hold: Hold) -> tuple[PositionColumns, FaultColumns]:
        """Handle a StepRequest. Return the columns of the response, with states that are kept as well."""
        columns = request.columns
        return self.step_of(request.rest, columns["states"], columns["moves"], request.kept, cancellation, hold)

    def step_of(
        self, rest: bytes, states: Any, moves: Any, kept: Kept | None, cancellation: Cancellation, hold: Hold
    ) -> tuple[PositionColumns, FaultColumns]:
        """Handle a StepRequest that is given in parts (see Request). Return the same as `step`."""
        # Cache the fields other than columns, because usually only the columns differ from step to step.
        terms = _kept_terms if len(rest) <= _MAX_KEPT else _terms_of_step
        game, players, wanted, restart, item_bytes = terms(rest)
        table = None if kept is None else kept.table
        if table is None or table.game is not game or table.players != players:
            # Do not cache the table, because a table refers to the states that it returned.
            table = Table(game, players, self._settings.rules_version(game))
        before = cancellation.moves
        with self._measured(table, "Step", len(states) // game.packed_size, hold, item_bytes):
            positions, faults = table.step(
                states,
                moves,
                columns=wanted,
                restart=restart,
                overwrite_states=kept is None,
                max_bytes=self._max_bytes,
                cancellation=cancellation,
            )
        self._moves_of(game.name).add(cancellation.moves - before)
        if kept is not None and kept.keeps:
            kept.table, kept.states = table, positions.states
        return positions, faults

    def _step(self, request: Request, cancellation: Cancellation, hold: Hold) -> list[Buffer]:
        return put_step(*self.step(request, cancellation, hold), request.kept)

    def _playout(self, request: Request, cancellation: Cancellation, hold: Hold) -> list[Buffer]:
        message, columns = parse(pb.PlayoutRequest, request.rest), request.columns
        table = _opened(request, message.setup)
        states = columns["states"]
        items = len(states) // table.game.packed_size
        self._check_limit(items * message.playouts, self._max_playouts, "playouts", "playouts", table.game)
        before = cancellation.moves
        with self._measured(table, "Playout", items, hold, table.players * (8 + 4) + 8):
            playouts, faults = table.playout(
                states,
                message.playouts,
                seed=_seed_of(message),
                first_game_number=message.first_game_number,
                cancellation=cancellation,
            )
        self._metrics.playout_moves.labels(table.game.name).inc(cancellation.moves - before)
        return put(pb.PlayoutResponse, [*playouts._asdict().items(), ("faults", _put_faults(faults))])

    def _evaluate(self, request: Request, cancellation: Cancellation, hold: Hold) -> list[Buffer]:
        message, columns = parse(pb.EvaluateRequest, request.rest), request.columns
        table = _opened(request, message.setup)
        states = columns["states"]
        before = cancellation.moves
        with self._measured(
            table, "Evaluate", len(states) // table.game.packed_size, hold, 1 + 4 + _LEGAL * (2 + 8 + 4)
        ):
            evaluation, faults = table.evaluate(
                states,
                message.worlds,
                message.playouts,
                seed=_seed_of(message),
                first_game_number=message.first_game_number,
                max_playouts=self._max_playouts,
                max_bytes=self._max_bytes,
                cancellation=cancellation,
            )
        self._metrics.playout_moves.labels(table.game.name).inc(cancellation.moves - before)
        return put(pb.EvaluateResponse, [*evaluation._asdict().items(), ("faults", _put_faults(faults))])

    def _score(self, request: Request, cancellation: Cancellation, hold: Hold) -> list[Buffer]:
        table = _opened(request, parse(pb.ScoreRequest, request.rest).setup)
        states = request.columns["states"]
        with self._measured(
            table, "Score", len(states) // table.game.packed_size, hold, table.players * (4 + 4 + 1) + 1
        ):
            scores, faults = table.score(states, cancellation=cancellation)
        return put(pb.ScoreResponse, [*scores._asdict().items(), ("faults", _put_faults(faults))])

    def _resample_states(self, request: Request, cancellation: Cancellation, hold: Hold) -> list[Buffer]:
        message, columns = parse(pb.ResampleStatesRequest, request.rest), request.columns
        table = _opened(request, message.setup)
        states = columns["states"]
        with self._measured(
            table, "ResampleStates", len(states) // table.game.packed_size, hold, table.game.packed_size
        ):
            drawn, faults = table.resample(
                states,
                columns["seats"],
                seed=_seed_of(message),
                first_game_number=message.first_game_number,
                cancellation=cancellation,
            )
        return put(pb.ResampleStatesResponse, [("states", drawn), ("faults", _put_faults(faults))])

    def _observe(self, request: Request, cancellation: Cancellation, hold: Hold) -> list[Buffer]:
        table = _opened(request, parse(pb.ObserveRequest, request.rest).setup)
        states = request.columns["states"]
        with self._measured(
            table, "Observe", len(states) // table.game.packed_size, hold, table.game.observation_length
        ):
            observations, faults = table.observe(
                states, request.columns["seats"], max_bytes=self._max_bytes, cancellation=cancellation
            )
        return put(pb.ObserveResponse, [("observations", observations), ("faults", _put_faults(faults))])

    def _convert(self, request: Request, cancellation: Cancellation, hold: Hold) -> list[Buffer]:
        # Do not create message objects for all states, because they would need thirty times the memory of the states.
        rest, asked, typed_states = listed(request.rest, _TYPED_STATES, self._max_items, self.max_fields)
        table, states = _opened(request, parse(pb.ConvertRequest, rest).setup), request.columns["states"]
        if states and asked:
            raise EngineError(
                Reason.INVALID_BATCH,
                "send packed states or typed states, not both",
                field="typed_states",
                metadata={"game": table.game.name},
            )
        if asked:
            return self._pack(asked, typed_states, table, cancellation, hold)
        return self._unpack(states, table, cancellation, hold)

    def _pack(
        self, asked: int, typed_states: list[bytes], table: Table, cancellation: Cancellation, hold: Hold
    ) -> list[Buffer]:
        with self._measured(table, "Convert", asked, hold, table.game.packed_size, "typed_states"):
            packed = [bytes(table.game.packed_size)] * asked
            faults = FaultCollector(asked)
            for item, typed in enumerate(typed_states):
                cancellation.check()
                with faults.caught(item):
                    packed[item] = _read_typed_state(typed, item, table).pack()
        return put(pb.ConvertResponse, [("states", b"".join(packed)), ("faults", _put_faults(faults.found()))])

    def _unpack(self, states: Any, table: Table, cancellation: Cancellation, hold: Hold) -> list[Buffer]:
        with self._measured(
            table, "Convert", len(states) // table.game.packed_size, hold, _TYPED * table.game.packed_size
        ):
            faults = FaultCollector(table.count_states(states))
            typed_states: list[list[Buffer]] = [[] for _ in range(faults.count)]
            for item, typed in enumerate(typed_states):
                cancellation.check()
                with faults.caught(item):
                    position = table.position(states, item)
                    typed.append(written(conversion.of(position).put_state, position))
        fields = [("typed_states", typed) for typed in typed_states]
        return put(pb.ConvertResponse, [*fields, ("faults", _put_faults(faults.found()))])

    def _measured(
        self, table: Table, method: str, items: int, hold: Hold, item_bytes: int, field: str = "states"
    ) -> "_Measured":
        """Refuse a batch that is too large. Otherwise return a context that counts and times it.

        The context adds the game to the errors raised in it. Memory is reserved for a response with about `item_bytes`
        bytes for each item.
        """
        if items > self._max_items:
            self._check_limit(items, self._max_items, "items", field, table.game)
        hold(_COPIES * min(items * item_bytes, self._max_bytes))
        return _Measured(table.game, items, *self._figures_of(table.game.name, method))

    def _check_limit(self, asked: int, limit: int, what: str, field: str, game: Game) -> None:
        if asked > limit:
            raise EngineError(
                Reason.BATCH_TOO_LARGE,
                f"this service takes at most {limit} {what} per batch, not {asked}",
                field=field,
                metadata={"game": game.name, "limit": str(limit), "asked": str(asked)},
            )


class _Measured:
    """The context of BatchService._measured. It is a class, because a generator would be much slower."""

    def __init__(self, game: Game, items: int, seconds: Durations, sizes: Durations) -> None:
        """Create a context that records a batch's processor time in `seconds` and its number of items in `sizes`."""
        self._game, self._items, self._seconds, self._sizes = game, items, seconds, sizes

    def __enter__(self) -> None:
        self._start = time.thread_time()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is None:
            self._seconds.add(time.thread_time() - self._start)
            self._sizes.add(self._items)
        elif isinstance(error, EngineError):
            conversion.name_game(error, self._game)


class FaultCollector:
    """Collects the faults of items that are processed one by one."""

    def __init__(self, count: int) -> None:
        """Create a collector for the faults of `count` items."""
        self.count = count
        self._failed: dict[int, ItemFault] = {}

    @contextmanager
    def caught(self, item: int) -> Iterator[None]:
        """Record an EngineError raised in the block as the item's fault."""
        try:
            yield
        except EngineError as error:
            self._failed[item] = ItemFault(item, error.reason, error.message, error.field, error.rule)

    def found(self) -> FaultColumns:
        """Return the faults of the items that failed."""
        if not self._failed:
            return FaultColumns(b"", ())
        reasons = bytearray(self.count)
        for item, fault in self._failed.items():
            reasons[item] = fault.reason.number
        return FaultColumns(bytes(reasons), tuple(self._failed.values())[:MAX_FAULTS_TOLD])


def _opened(request: Request, setup: pb.BatchSetup) -> Table:
    # Return the table of a request that creates no states. Record it as the table of the states that the stream keeps.
    table = Table(*_setup_of(setup))
    if request.kept is not None and request.kept.table is None:
        request.kept.table = table
    return table


def _seed_of(message: pb.PlayoutRequest | pb.EvaluateRequest | pb.ResampleStatesRequest) -> int:
    return message.seed if message.HasField("seed") else secrets.randbits(64)


def _setup_of(setup: pb.BatchSetup) -> tuple[Game, int]:
    game = None
    try:
        game = engine.game(setup.game)
        return game, game.read_players(setup.players)
    except EngineError as error:
        error.lies_below("setup")
        if game is not None:
            conversion.name_game(error, game)
        raise


def _read_options(options: game_pb2.Options, table: Table) -> dict[str, object]:
    # Check the options here, because the paths in the engine's errors lack the field of the oneof.
    chosen = conversion.read_options(Reader(options), table.game)
    conversion.check_options(chosen, table.game, table.players)
    return chosen


def _terms_of_step(rest: bytes) -> tuple[Game, int, Columns, Restart | None, int]:
    # Return the fields of a StepRequest except its columns, and the approximate size of one item of the response.
    message = parse(pb.StepRequest, rest)
    table = Table(*_setup_of(message.setup))
    restart = None
    if message.HasField("restart"):
        try:
            options = _read_options(message.restart.options, table)
        except EngineError as error:
            error.lies_below("restart")
            raise
        restart = Restart(options, message.restart.stride)
    columns = _columns_of(message.columns)
    return table.game, table.players, columns, restart, _size_of(table.game, table.players, columns)


_kept_terms = lru_cache(maxsize=256)(_terms_of_step)


def _size_of(game: Game, players: int, columns: Columns) -> int:
    # Return the approximate size in bytes of an item of Positions.
    size = game.packed_size + 1 + 1
    if columns.legal:
        size += 4 + _LEGAL * 2
    if columns.scores or columns.final_scores:
        size += players * (4 + 4)
    if columns.observations:
        size += game.observation_length
    return size


def _columns_of(columns: pb.Columns) -> Columns:
    return Columns(columns.legal, columns.scores, columns.observations, columns.final_scores)


def _read_typed_state(data: bytes, item: int, table: Table) -> Position:
    typed = _open_state(data)
    try:
        game = conversion.game_of(typed)
        if game not in (None, table.game):
            raise EngineError(
                Reason.INVALID_STATE,
                f"a {game.name} state for a {table.game.name} table",
                field=game.name,
            )
        position = conversion.read_state(typed)
        table.check_position(position)
    except EngineError as error:
        error.lies_below("typed_states", item)
        raise
    return position


def put_step(positions: PositionColumns, faults: FaultColumns, kept: Kept | None) -> list[Buffer]:
    """Return a StepResponse in wire format, without states if the stream keeps them."""
    fields = [("positions", _put_positions(positions, kept)), ("faults", _put_faults(faults))]
    return put(pb.StepResponse, fields)


def _put_positions(positions: PositionColumns, kept: Kept | None) -> list[Buffer]:
    sent = positions if kept is None or not kept.keeps else positions._replace(states=b"")
    return put(pb.Positions, zip(PositionColumns._fields, sent, strict=True))


def _put_faults(faults: FaultColumns) -> list[Buffer] | None:
    """Return a Faults message in wire format, or None if no item failed."""
    if not faults.reasons:
        return None
    message = pb.Faults(reasons=faults.reasons)
    for fault in faults.items:
        message.items.add(
            item=fault.item, reason=fault.reason.number, message=fault.message, field=fault.field, rule=fault.rule
        )
    return [message.SerializeToString()]
