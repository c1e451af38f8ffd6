"""The methods of TableService: each reads its request and returns its response, both in wire format.

They know nothing of gRPC. They raise EngineError and Refusal with field paths that begin in the request, DecodeError
for a request that cannot be parsed, and Cancelled once their cancellation says so.
"""

import hashlib
import secrets
import time
from collections.abc import Callable
from typing import NamedTuple

from google.protobuf.timestamp_pb2 import Timestamp

from chatiere import engine
from chatiere.bots import BOTS_VERSION, Bot
from chatiere.bots.hosting import choose, decisions_at
from chatiere.engine import EngineError, EventLog, Game, Position, Reason
from chatiere.engine.core.batch import Cancellation, Cancelled
from chatiere.engine.wire import Buffer, Reader, fill, written_in
from chatiere.service.base.errors import Refusal, ServiceReason
from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import Settings
from chatiere.service.calls import conversion
from chatiere.service.calls.bot_service import Hold, bot_of, memory_of, registry_of, suggestion
from chatiere.service.calls.requests import listed, parse
from chatiere.service.calls.table_checks import HASH_SIZE, SECRET_SIZE, authentic, missing, seat_of
from chatiere.service.tables import roots
from chatiere.service.tables.keys import Keyring
from chatiere.service.tables.seal import (
    FORMAT,
    NO_PARENT,
    NOBODY,
    Body,
    OpenedTable,
    acknowledged,
    missing_seats,
    seal,
)
from chatiere.v1 import record_pb2
from chatiere.v1 import table_service_pb2 as pb

# Seconds until a table expires.
_MIN_LIFETIME, _DEFAULT_LIFETIME, _MAX_LIFETIME = 60, 30 * 86400, 365 * 86400
# The fewest human seats for each acknowledgement.
_FEWEST_HUMANS = {pb.ACKNOWLEDGEMENT_NONE: 0, pb.ACKNOWLEDGEMENT_NEXT: 2}
_OPTIONS = pb.NewTableRequest.OPTIONS_FIELD_NUMBER
_TABLES = pb.GetRecordRequest.TABLES_FIELD_NUMBER
_LOOK_UPDATE, _MOVE_UPDATE = pb.LookResponse.UPDATE_FIELD_NUMBER, pb.MoveResponse.UPDATE_FIELD_NUMBER


class _Seated(NamedTuple):
    """A table whose caller may see it, not opened yet as a game."""

    table: OpenedTable
    seat: int | None
    """The caller's seat; None: a spectator."""


class _Link(NamedTuple):
    """What the chain of a game's tables is made of."""

    table_id: bytes
    ply: int
    parent: bytes
    hash: bytes
    decision: int | None
    bots_version: int


class TableService:
    """TableService, within the limits of a server's settings."""

    def __init__(self, settings: Settings, metrics: Metrics, keys: Keyring) -> None:
        """Take limits and bots from `settings`; count moves in `metrics`; seal and open tables with `keys`.

        Raises SettingError.
        """
        self._keys = keys
        self._registry = registry_of(settings)
        self._settings = settings
        self._bots_version = settings.bots_version or BOTS_VERSION
        self._max_playouts = min(settings.max_table_playouts, settings.max_playouts)
        self._moves = {game: metrics.moves_applied.labels(game.name) for game in engine.games()}
        self._methods: dict[str, Callable[[Buffer, Cancellation, Hold], bytes]] = {
            "new_table": self._new_table,
            "look": self._look,
            "move": self._move,
            "acknowledge": self._acknowledge,
            "suggest_move": self._suggest_move,
            "get_record": self._get_record,
        }

    def answer(self, name: str, data: Buffer, cancellation: Cancellation, hold: Hold) -> list[Buffer]:
        """Return the response, as a single piece, to a request of a method, whose name is in snake case.

        `hold`: reserves memory for a search.
        """
        return [self._methods[name](data, cancellation, hold)]

    def _new_table(self, data: Buffer, cancellation: Cancellation, hold: Hold) -> bytes:
        request = parse(pb.NewTableRequest, data)
        options = Reader(request).inner(_OPTIONS)
        game = conversion.named_game(request.game, options)
        chosen = conversion.read_options(options, game)
        try:
            players = game.read_players(request.players)
            conversion.check_options(chosen, game, players)
        except EngineError as error:
            conversion.name_game(error, game)
            raise
        lifetime = request.lifetime.seconds if request.HasField("lifetime") else _DEFAULT_LIFETIME
        if request.lifetime.nanos or not _MIN_LIFETIME <= lifetime <= _MAX_LIFETIME:
            raise _invalid_terms(f"a lifetime is {_MIN_LIFETIME} to {_MAX_LIFETIME} whole seconds", "lifetime", game)
        seats, made = self._read_seats(request, game, players)
        root, table_id, key = roots.new_root(), secrets.token_bytes(roots.TABLE_ID_SIZE), self._keys.newest()
        header = pb.TableHeader(
            format=FORMAT,
            key_id=key.key_id,
            table_id=table_id,
            game=game.name,
            players=players,
            rules_version=self._settings.rules_version(game),
            ply=0,
            parent=NO_PARENT,
            mover=NOBODY,
            acknowledgement=request.acknowledgement,
            expires=Timestamp(seconds=int(time.time()) + lifetime),
            commitment=roots.commitment_of(table_id, root),
            seats=seats,
            bots_version=self._bots_version,
        )
        if chosen:
            own = getattr(header.options, game.name)
            own.SetInParent()
            fill(own, engine.codec(game.name).put_options, chosen)
        position = _first_position(header, root, EventLog())
        table = seal(key, header, Body(root, position.pack(), None))
        return pb.NewTableResponse(table=table, secrets=made).SerializeToString()

    def _read_seats(
        self, request: pb.NewTableRequest, game: Game, players: int
    ) -> tuple[list[pb.TableSeat], list[pb.SeatSecret]]:
        # Who sits where, and the secrets that were made.
        if len(request.seats) != players:
            raise _invalid_terms(f"{players} players need as many seats, not {len(request.seats)}", "seats", game)
        seats, made, hashes = [], [], set()
        for number, wanted in enumerate(request.seats):
            holder = wanted.WhichOneof("holder")
            if holder == "bot":
                field = f"seats[{number}].bot"
                bot = self._bot(wanted.bot, game, players, field)
                if bot.budget and ":" not in wanted.bot and not self._registry.is_added(wanted.bot):
                    raise _unfit_bot("a budget of its own", wanted.bot, field, game)
                seats.append(pb.TableSeat(bot=wanted.bot))
                continue
            digest = wanted.secret_sha256
            if holder is None:
                secret = secrets.token_bytes(SECRET_SIZE)
                digest = hashlib.sha256(secret).digest()
                made.append(pb.SeatSecret(seat=number, secret=secret))
            field = f"seats[{number}].secret_sha256"
            if len(digest) != HASH_SIZE:
                raise _invalid_terms(f"a SHA-256 has {HASH_SIZE} bytes, not {len(digest)}", field, game)
            if digest in hashes:
                raise _invalid_terms("two seats have the same secret", field, game)
            hashes.add(digest)
            seats.append(pb.TableSeat(secret_sha256=digest, made_by_service=holder is None))
        fewest = _FEWEST_HUMANS.get(request.acknowledgement)
        if fewest is None or len(hashes) < fewest:
            message = (
                "say when tables are open: ACKNOWLEDGEMENT_NONE or ACKNOWLEDGEMENT_NEXT"
                if fewest is None
                else f"this acknowledgement needs {fewest} human seats"
            )
            raise _invalid_terms(message, "acknowledgement", game)
        return seats, made

    def _bot(self, spec: str, game: Game, players: int, field: str) -> Bot:
        # One whose playouts are counted: the limit says nothing of what a bot does in a time. And one whose choices can
        # be verified.
        bot = bot_of(self._registry, spec, game, players, self._max_playouts, field, self._bots_version)
        if not bot.is_reproducible:
            if self._registry.is_added(spec):
                raise _unfit_bot("to declare itself reproducible", spec, field, game)
            raise _unfit_bot("a budget that does not depend on time", spec, field, game)
        return bot

    def _look(self, data: Buffer, cancellation: Cancellation, hold: Hold) -> bytes:
        request = parse(pb.LookRequest, data)
        table, seat = self._seated(request)
        events = EventLog()
        position = _position_of(table, events)
        return written_in(_LOOK_UPDATE, conversion.of(position).put_viewer_update, position, events, seat)

    def _move(self, data: Buffer, cancellation: Cancellation, hold: Hold) -> bytes:
        request = parse(pb.MoveRequest, data)
        table, seat = self._seated(request)
        header = table.header
        position = _position_of(table)
        before, mover = position.pack(), _actor_of(position)
        events = EventLog()
        if header.seats[mover].bot:
            if request.HasField("action"):
                raise _wrong_turn(f"seat {mover}, a bot, has to decide: call without an action", position)
            decision = self._bot_decision(table, position, cancellation, hold)
            position.apply(decision, events)
            header.bots_version = self._bots_version
        else:
            if seat != mover:
                raise _wrong_turn(f"seat {mover} has to decide", position)
            if not request.HasField("action"):
                raise missing("action", "an action of the seat to decide")
            decision = conversion.apply_action(Reader(request.action), position, events)
        self._moves[position.game].inc()
        header.ply += 1
        header.mover = mover
        header.parent = table.hash
        child = seal(table.key, header, Body(table.body.root, before, decision))
        response = pb.MoveResponse(table=child).SerializeToString()
        if not missing_seats(header, ()):
            response += written_in(_MOVE_UPDATE, conversion.of(position).put_viewer_update, position, events, seat)
        return response

    def _bot_decision(self, table: OpenedTable, position: Position, cancellation: Cancellation, hold: Hold) -> int:
        header = table.header
        spec = header.seats[position.current_player()].bot
        bot = self._bot(spec, position.game, position.num_players(), "table")
        hold(memory_of(bot))
        luck = roots.luck_of(table.body.root, header.ply)
        # Others at the table may see how long it takes.
        return int(choose(bot, decisions_at(position, bot, luck, cancellation, hides_forced=True))[0])

    def _acknowledge(self, data: Buffer, cancellation: Cancellation, hold: Hold) -> bytes:
        request = parse(pb.AcknowledgeRequest, data)
        table = authentic(self._keys, request.table, "table")
        if not request.HasField("secret"):
            raise missing("secret", "the secret of the seat")
        seat = seat_of(table.header, request.secret)
        return pb.AcknowledgeResponse(table=acknowledged(table, seat)).SerializeToString()

    def _suggest_move(self, data: Buffer, cancellation: Cancellation, hold: Hold) -> bytes:
        request = parse(pb.SuggestMoveRequest, data)
        table, seat = self._seated(request)
        if seat is None:
            raise missing("secret", "the secret of the seat to decide")
        position = _position_of(table)
        mover = _actor_of(position)
        if seat != mover:
            raise _wrong_turn(f"seat {mover} has to decide", position)
        bot = self._bot(request.bot, position.game, position.num_players(), "bot")
        seed = request.seed if request.HasField("seed") else secrets.randbits(64)
        found = suggestion(position, bot, seed, cancellation, hold, hides_forced=True)
        return pb.SuggestMoveResponse(suggestion=found).SerializeToString()

    def _get_record(self, data: Buffer, cancellation: Cancellation, hold: Hold) -> bytes:
        # The first tells how many there can be.
        _, count, first = listed(data, _TABLES, 1)
        if not first:
            raise missing("tables", "the tables of all plies")
        _require_possible(count, authentic(self._keys, first[0], "tables[0]").header)
        _, _, tables = listed(data, _TABLES, count)
        links: list[_Link] = []
        for i, table in enumerate(tables):
            if cancellation.cancelled:
                raise Cancelled("the call was cancelled")
            last = authentic(self._keys, table, f"tables[{i}]")
            header = last.header
            body, version = last.body, header.bots_version
            links.append(_Link(header.table_id, header.ply, header.parent, last.hash, body.decision, version))
        _require_acknowledged(last, f"tables[{len(links) - 1}]")
        header, parent = last.header, NO_PARENT
        for ply, link in enumerate(links):
            if link[:3] != (header.table_id, ply, parent):
                raise Refusal(
                    ServiceReason.INVALID_HISTORY,
                    "this is not the table of the next ply",
                    field=f"tables[{ply}]",
                    metadata={"game": header.game},
                )
            parent = link.hash
        if not _position_of(last).is_terminal():
            raise Refusal(
                ServiceReason.GAME_NOT_OVER,
                "the game is not over: its record is not available yet",
                field="tables",
                metadata={"game": header.game},
            )
        root = last.body.root
        seed, game_number = roots.stream_of(root)
        record = record_pb2.GameRecord(
            game=header.game,
            rules_version=header.rules_version,
            players=header.players,
            options=header.options if header.HasField("options") else None,
            stream=record_pb2.RecordStream(seed=seed, game_number=game_number),
            actions=[link.decision for link in links if link.decision is not None],
        )
        return pb.GetRecordResponse(
            record=pb.TableRecord(
                record=record,
                table_id=header.table_id,
                root=root,
                commitment=header.commitment,
                seats=header.seats,
                bots_versions=[link.bots_version for link in links[1:]],
            )
        ).SerializeToString()

    # The checks, in this order: authentic, not expired, the seat's secret, acknowledged

    def _seated(self, request: pb.LookRequest | pb.MoveRequest | pb.SuggestMoveRequest) -> _Seated:
        """Check a table and the caller's secret, if there is one. Raises Refusal."""
        table = authentic(self._keys, request.table, "table")
        seat = seat_of(table.header, request.secret) if request.HasField("secret") else None
        _require_acknowledged(table, "table")
        return _Seated(table, seat)


def _require_acknowledged(table: OpenedTable, field: str) -> None:
    if missing := missing_seats(table.header, table.acknowledged):
        seats = ", ".join(map(str, missing))
        raise Refusal(
            ServiceReason.NOT_ACKNOWLEDGED,
            f"the table is not open: seats that have still to acknowledge it: {seats}",
            field=field,
            metadata={"seats": seats},
        )


def _first_position(header: pb.TableHeader, root: bytes, events: EventLog) -> Position:
    game = engine.game(header.game)
    seed, game_number = roots.stream_of(root)
    return game.new_game(
        header.players,
        conversion.read_options(Reader(header.options), game),
        seed=seed,
        game_number=game_number,
        rules_version=header.rules_version,
        events=events,
    )


def _position_of(table: OpenedTable, events: EventLog | None = None) -> Position:
    """Open the game of a table that was checked, with the events of its last decision."""
    header, body = table.header, table.body
    game = engine.game(header.game)
    try:
        game.check_rules_version(header.rules_version)
        if body.decision is None:
            # Begun anew, for its events.
            return _first_position(header, body.root, EventLog() if events is None else events)
        position = game.unpack(body.state)
    except EngineError as error:
        # The paths below it are of no field that the caller could see.
        error.field = "table"
        conversion.name_game(error, game)
        raise
    position.apply(body.decision, events)
    return position


def _actor_of(position: Position) -> int:
    # The seat to decide.
    try:
        position.require_decision()
    except EngineError as error:
        error.lies_below("table")
        conversion.name_game(error, position.game)
        raise
    return position.current_player()


def _invalid_terms(message: str, field: str, game: Game) -> Refusal:
    return Refusal(ServiceReason.INVALID_TERMS, message, field=field, metadata={"game": game.name})


def _unfit_bot(needed: str, spec: str, field: str, game: Game) -> Refusal:
    return Refusal(
        ServiceReason.INVALID_BOT,
        f"a bot at a table needs {needed}, not {spec!r}",
        field=field,
        metadata={"game": game.name},
    )


def _require_possible(count: int, header: pb.TableHeader) -> None:
    # Before all of them are opened.
    most = engine.game(header.game).limits_of_any_options(header.players).max_game_length + 1
    if count > most:
        raise Refusal(
            ServiceReason.INVALID_HISTORY,
            f"a game with {header.players} players has at most {most} tables, not {count}",
            field="tables",
            metadata={"game": header.game, "limit": str(most)},
        )


def _wrong_turn(message: str, position: Position) -> EngineError:
    return EngineError(
        Reason.WRONG_TURN,
        message,
        field="secret",
        metadata={"game": position.game.name, "actor": str(position.current_player())},
        key="rule.not_your_turn",
    )
