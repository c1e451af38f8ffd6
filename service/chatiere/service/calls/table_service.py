"""The methods of TableService. They convert requests to responses, both in wire format.

They are independent of gRPC. They raise EngineError and Refusal with field paths from the request, DecodeError for a
request that cannot be parsed, and Cancelled when they are cancelled.
"""

import hashlib
import secrets
import time
from collections.abc import Callable, Collection
from typing import NamedTuple

from google.protobuf.timestamp_pb2 import Timestamp

from chatiere import engine
from chatiere.bots import BOTS_VERSION, Bot
from chatiere.bots.hosting import choose, decisions_at
from chatiere.engine import EngineError, EventLog, Game, Position, Reason
from chatiere.engine.core.cancellation import Cancellation
from chatiere.engine.wire import Buffer, Reader, fill, written_in
from chatiere.service.base.errors import Refusal, ServiceReason
from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import Settings
from chatiere.service.calls import conversion
from chatiere.service.calls.bot_service import Hold, bot_of, bounds_of, registry_of, suggestion
from chatiere.service.calls.requests import MAX_ELEMENTS, listed, parse
from chatiere.service.calls.searches import Searches
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
    decisions_of,
    info_of,
    missing_seats,
    open_table,
    seal,
)
from chatiere.v1 import record_pb2
from chatiere.v1 import table_service_pb2 as pb

# The minimum, the default and the maximum lifetime of tables, in seconds.
_MIN_LIFETIME, _DEFAULT_LIFETIME, _MAX_LIFETIME = 60, 30 * 86400, 365 * 86400
# The maximum number of tables that a take-back may undo.
_MAX_TAKEN_BACK = 128
# The minimum number of human seats for each kind of acknowledgement.
_FEWEST_HUMANS = {pb.ACKNOWLEDGEMENT_NONE: 0, pb.ACKNOWLEDGEMENT_NEXT: 2}
_OPTIONS = pb.NewTableRequest.OPTIONS_FIELD_NUMBER
_TABLES = pb.GetRecordRequest.TABLES_FIELD_NUMBER
_LOOK_UPDATE, _MOVE_UPDATE = pb.LookResponse.UPDATE_FIELD_NUMBER, pb.MoveResponse.UPDATE_FIELD_NUMBER


class _Seated(NamedTuple):
    """A checked table and the caller's seat. The game in the table is not opened yet."""

    table: OpenedTable
    seat: int | None
    """The caller's seat, or None for a spectator."""


class _Link(NamedTuple):
    """A table's decision, and the part of the table that links it to the other tables of the game."""

    table_id: bytes
    ply: int
    parent: bytes
    hash: bytes
    decision: int | None
    bots_version: int
    amendment: pb.TableAmendment | None


class TableService:
    """TableService, within the limits of a server's settings."""

    def __init__(self, settings: Settings, metrics: Metrics, keys: Keyring) -> None:
        """Create the service with the limits and bots in `settings`, and with `keys`. `metrics` count moves.

        Raises:
            SettingError: If a bot cannot be loaded.
        """
        self._keys = keys
        self._registry = registry_of(settings)
        self._settings = settings
        self._bots_version = settings.bots_version or BOTS_VERSION
        most = min(settings.max_table_playouts, settings.max_playouts)
        self._bounds = bounds_of(settings)._replace(playouts=most)
        self._searches = Searches(metrics)
        self._moves = {game: metrics.moves_applied.labels(game.name) for game in engine.games()}
        self._methods: dict[str, Callable[[Buffer, Cancellation], bytes]] = {
            "new_table": self._new_table,
            "look": self._look,
            "move": self._move,
            "acknowledge": self._acknowledge,
            "amend": self._amend,
            "suggest_move": self._suggest_move,
            "get_record": self._get_record,
        }

    def answer(self, name: str, data: Buffer, cancellation: Cancellation, hold: Hold) -> list[Buffer]:
        """Handle a request.

        Args:
            name: The name of the method in snake case.
            data: The request in wire format.
            cancellation: Cancels the work.
            hold: Not used, because the trees of searches have separate limits.

        Returns:
            The response as a single piece.
        """
        return [self._methods[name](data, cancellation)]

    def _new_table(self, data: Buffer, cancellation: Cancellation) -> bytes:
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
            allows_replacement=request.allows_replacement,
        )
        if chosen:
            own = getattr(header.options, game.name)
            own.SetInParent()
            fill(own, engine.codec(game.name).put_options, chosen)
        position = _first_position(header, root, EventLog())
        table = seal(key, header, Body(root, position.pack(), None))
        return pb.NewTableResponse(table=table, secrets=made, info=info_of(table)).SerializeToString()

    def _read_seats(
        self, request: pb.NewTableRequest, game: Game, players: int
    ) -> tuple[list[pb.TableSeat], list[pb.SeatSecret]]:
        # Return the holders of the seats, and the secrets that were generated.
        if len(request.seats) != players:
            raise _invalid_terms(f"{players} players need as many seats, not {len(request.seats)}", "seats", game)
        seats, made, hashes = [], [], set[bytes]()
        for number, wanted in enumerate(request.seats):
            holder = wanted.WhichOneof("holder")
            if holder == "bot":
                self._check_holder(wanted.bot, game, players, f"seats[{number}].bot")
                seats.append(pb.TableSeat(bot=wanted.bot))
                continue
            digest = wanted.secret_sha256
            if holder is None:
                secret = secrets.token_bytes(SECRET_SIZE)
                digest = hashlib.sha256(secret).digest()
                made.append(pb.SeatSecret(seat=number, secret=secret))
            _check_hash(digest, hashes, f"seats[{number}].secret_sha256", game)
            hashes.add(digest)
            seats.append(pb.TableSeat(secret_sha256=digest, made_by_service=holder is None))
        fewest = _FEWEST_HUMANS.get(request.acknowledgement)
        if fewest is None or len(hashes) < fewest:
            message = (
                "must be ACKNOWLEDGEMENT_NONE or ACKNOWLEDGEMENT_NEXT"
                if fewest is None
                else f"this acknowledgement needs {fewest} human seats"
            )
            raise _invalid_terms(message, "acknowledgement", game)
        return seats, made

    def _check_holder(self, spec: str, game: Game, players: int, field: str) -> None:
        # Check a bot that will hold a seat.
        bot = self._bot(spec, game, players, field)
        if bot.budget and ":" not in spec and not self._registry.is_added(spec):
            raise _unfit_bot("an explicit budget", spec, field, game)

    def _bot(self, spec: str, game: Game, players: int, field: str) -> Bot:
        # Return a bot whose number of playouts is limited and whose choices can be verified. A bot with a time limit is
        # refused, because the limit on playouts does not apply to it.
        bot = bot_of(self._registry, spec, game, players, self._bounds, field, self._bots_version)
        if not bot.is_reproducible:
            if self._registry.is_added(spec):
                raise _unfit_bot("to declare itself reproducible", spec, field, game)
            raise _unfit_bot("a budget that does not depend on time", spec, field, game)
        return bot

    def _look(self, data: Buffer, cancellation: Cancellation) -> bytes:
        request = parse(pb.LookRequest, data)
        table, seat = self._seated(request)
        events = EventLog()
        position = position_of(table, events)
        info = pb.LookResponse(info=info_of(request.table)).SerializeToString()
        return info + written_in(_LOOK_UPDATE, conversion.of(position).put_viewer_update, position, events, seat)

    def _move(self, data: Buffer, cancellation: Cancellation) -> bytes:
        request = parse(pb.MoveRequest, data)
        table, seat = self._seated(request)
        header = table.header
        position = position_of(table)
        before, mover = position.pack(), _actor_of(position)
        events = EventLog()
        if header.seats[mover].bot:
            if request.HasField("action"):
                raise _wrong_turn(f"seat {mover}, a bot, has to decide: call without an action", position)
            decision = self._bot_decision(table, position, cancellation)
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
        header.ClearField("amendment")
        if header.HasField("decisions"):
            header.decisions += 1
        child = seal(table.key, header, Body(table.body.root, before, decision))
        response = pb.MoveResponse(table=child, info=info_of(child)).SerializeToString()
        if not missing_seats(header, ()):
            response += written_in(_MOVE_UPDATE, conversion.of(position).put_viewer_update, position, events, seat)
        return response

    def _bot_decision(self, table: OpenedTable, position: Position, cancellation: Cancellation) -> int:
        header = table.header
        spec = header.seats[position.current_player()].bot
        bot = self._bot(spec, position.game, position.num_players(), "table")
        luck = roots.luck_of(table.body.root, decisions_of(header))
        # Let a forced decision take as long as any other decision, because other players may observe the bot's time.
        with self._searches.measured(position.game):
            return int(choose(bot, decisions_at(position, bot, luck, cancellation, hides_forced=True))[0])

    def _acknowledge(self, data: Buffer, cancellation: Cancellation) -> bytes:
        request = parse(pb.AcknowledgeRequest, data)
        table = authentic(self._keys, request.table, "table")
        if not request.HasField("secret"):
            raise missing("secret", "the secret of the seat")
        seat = seat_of(table.header, request.secret)
        made = acknowledged(table, seat)
        return pb.AcknowledgeResponse(table=made, info=info_of(made)).SerializeToString()

    def _amend(self, data: Buffer, cancellation: Cancellation) -> bytes:
        request = parse(pb.AmendRequest, data)
        table = authentic(self._keys, request.table, "table")
        if not request.HasField("secret"):
            raise missing("secret", "the secret of the seat that requests the amendment")
        asker, kind = seat_of(table.header, request.secret), request.WhichOneof("amendment")
        if kind is None:
            raise missing("amendment", "replacement or take_back")
        # The seat to be replaced may still have to acknowledge the table, unless the table itself is an amendment.
        excused = {request.replacement.seat} if kind == "replacement" and not table.header.HasField("amendment") else ()
        _require_acknowledged(table, "table", excused)
        header, body = pb.TableHeader(), table.body
        header.CopyFrom(table.header)
        header.ply += 1
        header.mover = NOBODY
        header.parent = table.hash
        header.decisions = decisions_of(table.header)
        header.amendment.Clear()
        if kind == "replacement":
            header.amendment.replacement.CopyFrom(self._read_replacement(request.replacement, header, asker))
            header.seats[request.replacement.seat].CopyFrom(header.amendment.replacement.holder)
        else:
            earlier = self._read_earlier(request, table, cancellation)
            header.decisions, body = decisions_of(earlier.header), earlier.body
            taken_back = pb.TableTakeBack(ply=earlier.header.ply, decisions=header.decisions)
            header.amendment.take_back.CopyFrom(taken_back)
        header.amendment.asker = asker
        made = seal(table.key, header, body)
        if header.seats[asker] == table.header.seats[asker]:
            made = acknowledged(open_table(self._keys, made), asker)
        return pb.AmendResponse(table=made, info=info_of(made)).SerializeToString()

    def _read_replacement(self, wanted: pb.TableReplacement, header: pb.TableHeader, asker: int) -> pb.TableReplacement:
        game, seat = engine.game(header.game), wanted.seat
        if seat >= header.players:
            raise _invalid_terms(f"seats are 0 to {header.players - 1}", "replacement.seat", game)
        if seat != asker and not header.allows_replacement:
            message = "at this table only the holder of a seat can have it replaced"
            raise _invalid_terms(message, "replacement.seat", game)
        holder = wanted.holder.WhichOneof("holder")
        if holder is None:
            raise missing("replacement.holder", "a bot, or the SHA-256 of a person's secret")
        field = f"replacement.holder.{holder}"
        if holder == "bot":
            self._check_holder(wanted.holder.bot, game, header.players, field)
            new = pb.TableSeat(bot=wanted.holder.bot)
        else:
            _check_hash(wanted.holder.secret_sha256, {each.secret_sha256 for each in header.seats}, field, game)
            new = pb.TableSeat(secret_sha256=wanted.holder.secret_sha256)
        return pb.TableReplacement(seat=seat, holder=new, before=header.seats[seat])

    def _read_earlier(self, request: pb.AmendRequest, table: OpenedTable, cancellation: Cancellation) -> OpenedTable:
        # Return the table whose position the take-back restores.
        header, ply = table.header, request.take_back.ply
        game = engine.game(header.game)
        if header.acknowledgement != pb.ACKNOWLEDGEMENT_NONE:
            raise _invalid_terms("a take-back requires ACKNOWLEDGEMENT_NONE", "take_back", game)
        _actor_of(position_of(table))
        if ply >= header.ply or header.ply - ply > _MAX_TAKEN_BACK:
            message = f"the position of one of the {min(_MAX_TAKEN_BACK, header.ply)} tables before this one"
            raise _invalid_terms(message, "take_back.ply", game)
        if len(request.earlier) != header.ply - ply:
            raise _invalid_history("earlier", f"the {header.ply - ply} tables from that ply on", header)
        later = table
        for i in reversed(range(len(request.earlier))):
            cancellation.check()
            field = f"earlier[{i}]"
            found = authentic(self._keys, request.earlier[i], field)
            if (found.header.table_id, found.hash) != (header.table_id, later.header.parent):
                raise _invalid_history(field, "the next table does not follow this one", header)
            later = found
        return later

    def _suggest_move(self, data: Buffer, cancellation: Cancellation) -> bytes:
        request = parse(pb.SuggestMoveRequest, data)
        table, seat = self._seated(request)
        if seat is None:
            raise missing("secret", "the secret of the seat to decide")
        position = position_of(table)
        mover = _actor_of(position)
        if seat != mover:
            raise _wrong_turn(f"seat {mover} has to decide", position)
        bot = self._bot(request.bot, position.game, position.num_players(), "bot")
        seed = request.seed if request.HasField("seed") else secrets.randbits(64)
        found = suggestion(self._searches, position, bot, seed, cancellation, hides_forced=True)
        return pb.SuggestMoveResponse(suggestion=found).SerializeToString()

    def _get_record(self, data: Buffer, cancellation: Cancellation) -> bytes:
        _, _, tables = listed(data, _TABLES, MAX_ELEMENTS)
        if not tables:
            raise missing("tables", "the tables of all plies")
        self._require_possible(tables)
        links: list[_Link] = []
        for i, table in enumerate(tables):
            cancellation.check()
            last = authentic(self._keys, table, f"tables[{i}]")
            header = last.header
            body, version = last.body, header.bots_version
            amendment = header.amendment if header.HasField("amendment") else None
            links.append(
                _Link(header.table_id, header.ply, header.parent, last.hash, body.decision, version, amendment)
            )
        _require_acknowledged(last, f"tables[{len(links) - 1}]")
        header, parent = last.header, NO_PARENT
        for ply, link in enumerate(links):
            if link[:3] != (header.table_id, ply, parent):
                raise _invalid_history(f"tables[{ply}]", "this is not the table of the next ply", header)
            parent = link.hash
        if not position_of(last).is_terminal():
            raise Refusal(
                ServiceReason.GAME_NOT_OVER,
                "the game is not over: its record is not available yet",
                field="tables",
                metadata={"game": header.game},
            )
        counted: list[_Link] = []
        amendments = []
        for link in links[1:]:
            if link.amendment is None:
                counted.append(link)
                continue
            amendments.append(pb.RecordedAmendment(ply=link.ply, amendment=link.amendment))
            if link.amendment.HasField("take_back"):
                del counted[link.amendment.take_back.decisions :]
        root = last.body.root
        seed, game_number = roots.stream_of(root)
        record = record_pb2.GameRecord(
            game=header.game,
            rules_version=header.rules_version,
            players=header.players,
            options=header.options if header.HasField("options") else None,
            stream=record_pb2.RecordStream(seed=seed, game_number=game_number),
            actions=[link.decision for link in counted if link.decision is not None],
        )
        return pb.GetRecordResponse(
            record=pb.TableRecord(
                record=record,
                table_id=header.table_id,
                root=root,
                commitment=header.commitment,
                seats=header.seats,
                bots_versions=[link.bots_version for link in counted],
                amendments=amendments,
            )
        ).SerializeToString()

    def _require_possible(self, tables: list[bytes]) -> None:
        # Check the number of tables before opening all of them. The limit is the maximum number of tables of the game
        # plus the number of amendments up to the last table.
        count, header = len(tables), authentic(self._keys, tables[0], "tables[0]").header
        most = engine.game(header.game).limits_of_any_options(header.players).max_game_length + 1
        if count > most:
            last = authentic(self._keys, tables[-1], f"tables[{count - 1}]").header
            most += last.ply - decisions_of(last)
        if count > most:
            raise Refusal(
                ServiceReason.INVALID_HISTORY,
                f"a game with {header.players} players has at most {most} tables, not {count}",
                field="tables",
                metadata={"game": header.game, "limit": str(most)},
            )

    # The order of the checks: the table is authentic, has not expired, has a seat with the secret, and is acknowledged

    def _seated(self, request: pb.LookRequest | pb.MoveRequest | pb.SuggestMoveRequest) -> _Seated:
        """Check a table, and the caller's secret if the request has one. Raises Refusal."""
        table = authentic(self._keys, request.table, "table")
        seat = seat_of(table.header, request.secret) if request.HasField("secret") else None
        _require_acknowledged(table, "table")
        return _Seated(table, seat)


def _require_acknowledged(table: OpenedTable, field: str, excused: Collection[int] = ()) -> None:
    # Raise Refusal unless all seats except `excused` have acknowledged the table.
    missing = [seat for seat in missing_seats(table.header, table.acknowledged) if seat not in excused]
    if missing:
        seats = ", ".join(map(str, missing))
        raise Refusal(
            ServiceReason.NOT_ACKNOWLEDGED,
            f"the table is not open; seats that must still acknowledge it: {seats}",
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


def position_of(table: OpenedTable, events: EventLog | None = None) -> Position:
    """Return the position of a checked table. The events of its last decision are added to `events`."""
    header, body = table.header, table.body
    game = engine.game(header.game)
    try:
        game.check_rules_version(header.rules_version)
        if body.decision is None:
            # Start the game again, to obtain its first events.
            return _first_position(header, body.root, EventLog() if events is None else events)
        position = game.unpack(body.state)
    except EngineError as error:
        # The caller cannot see fields inside the table, so the path ends with the table.
        error.field = "table"
        conversion.name_game(error, game)
        raise
    position.apply(body.decision, events)
    return position


def _actor_of(position: Position) -> int:
    # Return the seat whose turn it is. Raises EngineError if it is not the turn of any seat.
    try:
        position.require_decision()
    except EngineError as error:
        error.lies_below("table")
        conversion.name_game(error, position.game)
        raise
    return position.current_player()


def _check_hash(digest: bytes, known: Collection[bytes], field: str, game: Game) -> None:
    # Check the hash of the secret of a seat's new holder.
    if len(digest) != HASH_SIZE:
        raise _invalid_terms(f"a SHA-256 has {HASH_SIZE} bytes, not {len(digest)}", field, game)
    if digest in known:
        raise _invalid_terms("two seats have the same secret", field, game)


def _invalid_history(field: str, message: str, header: pb.TableHeader) -> Refusal:
    return Refusal(ServiceReason.INVALID_HISTORY, message, field=field, metadata={"game": header.game})


def _invalid_terms(message: str, field: str, game: Game) -> Refusal:
    return Refusal(ServiceReason.INVALID_TERMS, message, field=field, metadata={"game": game.name})


def _unfit_bot(needed: str, spec: str, field: str, game: Game) -> Refusal:
    return Refusal(
        ServiceReason.INVALID_BOT,
        f"a bot at a table needs {needed}, not {spec!r}",
        field=field,
        metadata={"game": game.name},
    )


def _wrong_turn(message: str, position: Position) -> EngineError:
    return EngineError(
        Reason.WRONG_TURN,
        message,
        field="secret",
        metadata={"game": position.game.name, "actor": str(position.current_player())},
        key="rule.not_your_turn",
    )
