"""The calls of BatchService: each reads its request and puts its response together, columns as they come.

The calls know nothing of gRPC. They raise EngineError and Refusal with field paths from the request on, DecodeError for
a request that cannot be parsed, and Cancelled when their cancellation says so.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
from types import TracebackType
from typing import Any

from google.protobuf.message import DecodeError, Message
from prometheus_client import Histogram

from chatiere import engine
from chatiere.engine import EngineError, Game, Position, Reason
from chatiere.engine.core.batch import Cancellation, Cancelled, Columns, Faults, ItemFault, Positions, Restart, Table
from chatiere.engine.core.wire import Reader, cut, cut_list, written
from chatiere.http2.connection import Buffer
from chatiere.service.calls import conversion
from chatiere.service.calls.batch_messages import Request, put, read, read_whole
from chatiere.service.calls.errors import Refusal, ServiceReason
from chatiere.service.calls.requests import opener, parse
from chatiere.service.guards.metrics import Metrics
from chatiere.service.process.settings import Settings
from chatiere.v1 import batch_service_pb2 as pb
from chatiere.v1 import game_pb2

# How many faults are told in words.
MOST_FAULTS_TOLD = 20
# What steps ask for is kept if it has at most so many bytes.
_LONGEST_KEPT = 512
# The calls by the number of their field in PlayRequest: its name there, and the kind of their requests.
_CALLS: dict[int, tuple[str, type[Message]]] = {
    field.number: (field.name, getattr(pb, field.message_type.name))
    for field in pb.PlayRequest.DESCRIPTOR.oneofs_by_name["request"].fields
    if field.message_type
}
_KINDS = dict(_CALLS.values())
_TYPED_STATES = pb.ConvertRequest.TYPED_STATES_FIELD_NUMBER
_open_state = opener(game_pb2.State)
# Reserves so many bytes for a call, in place of those before. Raises Refusal.
Hold = Callable[[int], None]
# Bytes of an answer are there twice while it is put together.
_COPIES = 2
# Legal ids that an item is reckoned to have, each of two bytes; typed states, beside packed ones.
_LEGAL_BYTES, _TYPED = 2 * 64, 4


def _hold_nothing(size: int) -> None:
    """Reserve nothing, where there is no budget."""


class BatchService:
    """The methods, within the limits of a server's settings."""

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        """`settings`: for its limits. `metrics`: where batches and moves are counted."""
        self._max_items = settings.max_batch_items
        self._max_playouts = settings.max_playouts
        self._max_bytes = settings.max_answer_bytes
        self._metrics = metrics
        # Kept, because to look a figure up by its labels takes longer than to count. By game and method: how long the
        # engine worked, and how many items there were.
        self._figures_of = cache(
            lambda game, method: (metrics.kernel_seconds.labels(game, method), metrics.batch_items.labels(game, method))
        )
        self._moves_of = cache(metrics.moves_applied.labels)
        self._methods: dict[str, Callable[[Request, Cancellation, Hold], list[Buffer]]] = {
            "new_games": self._new_games,
            "step": self._step,
            "playout": self._playout,
            "score": self._score,
            "resample": self._resample,
            "observe": self._observe,
            "convert": self._convert,
        }

    def answer(self, name: str, data: bytes, cancellation: Cancellation, hold: Hold = _hold_nothing) -> bytes:
        """The response to a request, both in wire format.

        `name`: the call's in PlayRequest. `hold`: what reserves memory for the response.
        """
        return b"".join(self._methods[name](read(_KINDS[name], data), cancellation, hold))

    def play(self, data: Buffer, cancellation: Cancellation, hold: Hold = _hold_nothing) -> list[Buffer]:
        """A PlayResponse, in pieces to be joined, to a PlayRequest, both in wire format: a refusal is an answer too."""
        message, name, request = _read_play(data)
        try:
            if name is None or request is None:
                raise Refusal(ServiceReason.MISSING_FIELD, "the message holds no request", field="request", metadata={})
            pieces = put(pb.PlayResponse, [(name, self._methods[name](request, cancellation, hold))])
        except (EngineError, Refusal) as error:
            return [pb.PlayResponse(tag=message.tag, refusal=_refusal(error)).SerializeToString()]
        return [pb.PlayResponse(tag=message.tag).SerializeToString(), *pieces]

    def _new_games(self, request: Request, cancellation: Cancellation, hold: Hold) -> list[Buffer]:
        message, columns = parse(pb.NewGamesRequest, request.rest), request.columns
        table = _table_of(message.table)
        game = table.game
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
                # 0 is as absent.
                count=message.count or None,
                columns=wanted,
                max_bytes=self._max_bytes,
                cancellation=cancellation,
            )
        return put(pb.NewGamesResponse, [("positions", _put_positions(positions))])

    def _step(self, request: Request, cancellation: Cancellation, hold: Hold) -> list[Buffer]:
        # All but the columns is the same again and again, while games are played.
        terms = _kept_terms if len(request.rest) <= _LONGEST_KEPT else _terms_of_step
        game, players, wanted, restart = terms(request.rest)
        # Not kept, because it keeps the states that it has answered.
        table = Table(game, players)
        columns = request.columns
        states = columns["states"]
        before = cancellation.moves
        with self._measured(table, "Step", len(states) // game.packed_size, hold, _size_of(game, players, wanted)):
            positions, faults = table.step(
                states,
                columns["moves"],
                columns=wanted,
                restart=restart,
                overwrite_states=True,
                max_bytes=self._max_bytes,
                cancellation=cancellation,
            )
        self._moves_of(game.name).inc(cancellation.moves - before)
        return put(pb.StepResponse, [("positions", _put_positions(positions)), ("faults", _put_faults(faults))])

    def _playout(self, request: Request, cancellation: Cancellation, hold: Hold) -> list[Buffer]:
        message, columns = parse(pb.PlayoutRequest, request.rest), request.columns
        table = _table_of(message.table)
        states = columns["states"]
        items = len(states) // table.game.packed_size
        self._check_limit(items * message.count, self._max_playouts, "playouts", "count", table.game)
        before = cancellation.moves
        with self._measured(table, "Playout", items, hold, table.players * (8 + 4) + 8):
            playouts, faults = table.playout(
                states,
                message.count,
                seed=message.seed,
                first_game_number=message.first_game_number,
                cancellation=cancellation,
            )
        self._metrics.playout_moves.labels(table.game.name).inc(cancellation.moves - before)
        return put(pb.PlayoutResponse, [*playouts._asdict().items(), ("faults", _put_faults(faults))])

    def _score(self, request: Request, cancellation: Cancellation, hold: Hold) -> list[Buffer]:
        table = _table_of(parse(pb.ScoreRequest, request.rest).table)
        states = request.columns["states"]
        with self._measured(
            table, "Score", len(states) // table.game.packed_size, hold, table.players * (4 + 4 + 1) + 1
        ):
            scores, faults = table.score(states, cancellation=cancellation)
        return put(pb.ScoreResponse, [*scores._asdict().items(), ("faults", _put_faults(faults))])

    def _resample(self, request: Request, cancellation: Cancellation, hold: Hold) -> list[Buffer]:
        message, columns = parse(pb.BatchServiceResampleRequest, request.rest), request.columns
        table = _table_of(message.table)
        states = columns["states"]
        with self._measured(table, "Resample", len(states) // table.game.packed_size, hold, table.game.packed_size):
            drawn, faults = table.resample(
                states,
                columns["seats"],
                seed=message.seed,
                first_game_number=message.first_game_number,
                cancellation=cancellation,
            )
        return put(pb.BatchServiceResampleResponse, [("states", drawn), ("faults", _put_faults(faults))])

    def _observe(self, request: Request, cancellation: Cancellation, hold: Hold) -> list[Buffer]:
        table = _table_of(parse(pb.ObserveRequest, request.rest).table)
        states = request.columns["states"]
        with self._measured(
            table, "Observe", len(states) // table.game.packed_size, hold, table.game.observation_length
        ):
            observations, faults = table.observe(
                states, request.columns["seats"], max_bytes=self._max_bytes, cancellation=cancellation
            )
        return put(pb.ObserveResponse, [("observations", observations), ("faults", _put_faults(faults))])

    def _convert(self, request: Request, cancellation: Cancellation, hold: Hold) -> list[Buffer]:
        # Objects for all of them would take thirty times their bytes.
        try:
            rest, asked, typed_states = cut_list(request.rest, _TYPED_STATES, self._max_items)
        except ValueError as error:
            raise DecodeError(str(error)) from error
        table, states = _table_of(parse(pb.ConvertRequest, rest).table), request.columns["states"]
        if states and asked:
            raise EngineError(
                Reason.INVALID_BATCH,
                "either packed states are converted or typed ones, not both",
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
                _check_cancelled(cancellation)
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
                _check_cancelled(cancellation)
                with faults.caught(item):
                    position = table.position(states, item)
                    typed.append(written(conversion.of(position).put_state, position))
        fields = [("typed_states", typed) for typed in typed_states]
        return put(pb.ConvertResponse, [*fields, ("faults", _put_faults(faults.found()))])

    def _measured(
        self, table: Table, method: str, items: int, hold: Hold, item_bytes: int, field: str = "states"
    ) -> "_Measured":
        """Refuse a batch that is too large, and count and time the others; refusals from inside name the game.

        `item_bytes`: what an item's part of the answer takes, about; memory for it is reserved.
        """
        self._check_limit(items, self._max_items, "items", field, table.game)
        hold(_COPIES * min(items * item_bytes, self._max_bytes))
        return _Measured(table.game, items, *self._figures_of(table.game.name, method))

    def _check_limit(self, asked: int, limit: int, what: str, field: str, game: Game) -> None:
        if asked > limit:
            raise EngineError(
                Reason.BATCH_TOO_LARGE,
                f"this service takes at most {limit} {what} a batch, not {asked}",
                field=field,
                metadata={"game": game.name, "limit": str(limit), "asked": str(asked)},
            )


class _Measured:
    """What BatchService._measured enters; no generator, which would take longer than all the rest of it."""

    def __init__(self, game: Game, items: int, seconds: Histogram, sizes: Histogram) -> None:
        """`seconds`, `sizes`: where a batch of so many `items` is counted if it is done."""
        self._game, self._items, self._seconds, self._sizes = game, items, seconds, sizes

    def __enter__(self) -> None:
        self._start = time.perf_counter()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is None:
            self._seconds.observe(time.perf_counter() - self._start)
            self._sizes.observe(self._items)
        elif isinstance(error, EngineError):
            conversion.name_game(error, self._game)


class FaultCollector:
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
        return Faults(bytes(reasons), tuple(self._failed.values())[:MOST_FAULTS_TOLD])


def _check_cancelled(cancellation: Cancellation) -> None:
    if cancellation.cancelled:
        raise Cancelled("the batch was cancelled")


def _table_of(table: pb.Table) -> Table:
    game = None
    try:
        game = engine.game(table.game)
        return Table(game, table.players)
    except EngineError as error:
        error.lies_below("table")
        if game is not None:
            conversion.name_game(error, game)
        raise


def _read_options(options: game_pb2.Options, table: Table) -> dict[str, object]:
    # Checked here, because the engine's paths do not have the field of the oneof.
    chosen = conversion.read_options(Reader(options), table.game)
    conversion.check_options(chosen, table.game, table.players)
    return chosen


def _terms_of_step(rest: bytes) -> tuple[Game, int, Columns, Restart | None]:
    # What a StepRequest without its columns asks for: the table's game and players, columns and restart.
    message = parse(pb.StepRequest, rest)
    table = _table_of(message.table)
    restart = None
    if message.HasField("restart"):
        try:
            options = _read_options(message.restart.options, table)
        except EngineError as error:
            error.lies_below("restart")
            raise
        restart = Restart(options, message.restart.stride)
    return table.game, table.players, _columns_of(message.columns), restart


_kept_terms = lru_cache(maxsize=256)(_terms_of_step)


def _size_of(game: Game, players: int, columns: Columns) -> int:
    # About what an item of Positions takes.
    size = game.packed_size + 1 + 1
    if columns.legal:
        size += 4 + _LEGAL_BYTES
    if columns.scores:
        size += players * (4 + 4)
    if columns.observations:
        size += game.observation_length
    return size


def _columns_of(columns: pb.Columns) -> Columns:
    return Columns(columns.legal, columns.scores, columns.observations)


def _read_typed_state(data: bytes, item: int, table: Table) -> Position:
    typed = _open_state(data)
    try:
        game = conversion.game_of(typed)
        if game not in (None, table.game):
            raise EngineError(
                Reason.INVALID_STATE,
                f"this is a state of {game.name}; the table's game is {table.game.name}",
                field=game.name,
            )
        position = conversion.read_state(typed)
        table.check_position(position)
    except EngineError as error:
        error.lies_below(f"typed_states[{item}]")
        raise
    return position


def _read_play(data: Buffer) -> tuple[pb.PlayRequest, str | None, Request | None]:
    # A request on the stream: without the call's own message; the call's name and that message.
    try:
        rest, found = cut(data, _CALLS)
    except ValueError:
        # Told by protobuf below.
        found = {}
    if len(found) == 1:
        ((number, inner),) = found.items()
        name, kind = _CALLS[number]
        return pb.PlayRequest.FromString(rest), name, read(kind, inner)
    message = parse(pb.PlayRequest, data)
    name = message.WhichOneof("request")
    return message, name, None if name is None else read_whole(getattr(message, name))


def _put_positions(positions: Positions) -> list[Buffer]:
    return put(pb.Positions, zip(Positions._fields, positions, strict=True))


def _put_faults(faults: Faults) -> list[Buffer] | None:
    """None if no item failed."""
    if not faults.reasons:
        return None
    message = pb.Faults(reasons=faults.reasons)
    for fault in faults.items:
        message.items.add(
            item=fault.item, reason=fault.reason.number, message=fault.message, field=fault.field, rule=fault.rule
        )
    return [message.SerializeToString()]


def _refusal(error: EngineError | Refusal) -> pb.RequestRefusal:
    metadata = error.metadata | ({"rule": error.rule} if error.rule else {})
    return pb.RequestRefusal(
        reason=f"ERROR_REASON_{error.reason.value}", message=error.message, field=error.field, metadata=metadata
    )
