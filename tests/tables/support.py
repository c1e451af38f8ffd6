"""TableService, called in process without a port, and games at its tables."""

import hashlib
import random
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from chatiere.clients.sealed_seat import hash_of, header_of, missing_seats
from chatiere.engine import EngineError, Game
from chatiere.engine.core.cancellation import Cancellation
from chatiere.service.base.errors import Refusal
from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import Settings
from chatiere.service.calls.batch_service import hold_nothing
from chatiere.service.calls.table_service import TableService
from chatiere.service.tables.keys import Keyring
from chatiere.service.tables.seal import OpenedTable, open_table
from chatiere.v1 import table_service_pb2 as pb

NONE, NEXT = pb.ACKNOWLEDGEMENT_NONE, pb.ACKNOWLEDGEMENT_NEXT
OVER = 3
_WITH_INFO = (pb.NewTableResponse, pb.LookResponse, pb.MoveResponse, pb.AcknowledgeResponse, pb.AmendResponse)


class Host:
    """A service that is called with messages."""

    def __init__(self, keys: Keyring | None = None, settings: Settings | None = None) -> None:
        self.keys = keys or Keyring(None)
        self._service = TableService(settings or Settings(), Metrics(CollectorRegistry()), self.keys)

    def call(self, name: str, request: Any, response: Any) -> Any:
        pieces = self._service.answer(name, request.SerializeToString(), Cancellation(), hold_nothing)
        found: Any = response.FromString(b"".join(pieces))
        if response in _WITH_INFO:
            # `info` has what a client can read in the table.
            assert found.info == info_of(request.table if isinstance(request, pb.LookRequest) else found.table)
        return found

    def new_table(self, **fields: Any) -> pb.NewTableResponse:
        found: pb.NewTableResponse = self.call("new_table", pb.NewTableRequest(**fields), pb.NewTableResponse)
        return found

    def look(self, table: bytes, secret: bytes | None = None) -> Any:
        return self.call("look", pb.LookRequest(table=table, secret=secret), pb.LookResponse).update

    def move(self, table: bytes, secret: bytes | None = None, action: int | None = None) -> pb.MoveResponse:
        request = pb.MoveRequest(table=table, secret=secret)
        if action is not None:
            request.action.id = action
        found: pb.MoveResponse = self.call("move", request, pb.MoveResponse)
        return found

    def acknowledge(self, table: bytes, *secrets: bytes) -> bytes:
        for secret in secrets:
            request = pb.AcknowledgeRequest(table=table, secret=secret)
            table = self.call("acknowledge", request, pb.AcknowledgeResponse).table
        return table

    def replace(self, table: bytes, secret: bytes | None, seat: int, holder: pb.TableSeat) -> bytes:
        request = pb.AmendRequest(table=table, secret=secret)
        request.replacement.seat = seat
        request.replacement.holder.CopyFrom(holder)
        found: bytes = self.call("amend", request, pb.AmendResponse).table
        return found

    def take_back(self, tables: Sequence[bytes], secret: bytes | None, ply: int | None = None) -> bytes:
        """Go back to the first of the given tables. The request names `ply`, or with None that table's ply."""
        wanted = self.open(tables[0]).header.ply if ply is None else ply
        request = pb.AmendRequest(table=tables[-1], secret=secret, earlier=tables[:-1])
        request.take_back.ply = wanted
        found: bytes = self.call("amend", request, pb.AmendResponse).table
        return found

    def suggest(self, table: bytes, secret: bytes | None, bot: str, seed: int | None = None) -> Any:
        request = pb.SuggestMoveRequest(table=table, secret=secret, bot=bot, seed=seed)
        return self.call("suggest_move", request, pb.SuggestMoveResponse).suggestion

    def get_record(self, tables: Sequence[bytes]) -> pb.TableRecord:
        found: pb.TableRecord = self.call("get_record", pb.GetRecordRequest(tables=tables), pb.GetRecordResponse).record
        return found

    def open(self, table: bytes) -> OpenedTable:
        """Open a table. Only the service can do this."""
        return open_table(self.keys, table)


def info_of(table: bytes) -> pb.TableInfo:
    """Return the info that a client can read in a table."""
    sealed = pb.SealedTable.FromString(table)
    acknowledged = [each.seat for each in sealed.acknowledgements]
    return pb.TableInfo(
        header=header_of(table), hash=hash_of(table), acknowledged=acknowledged, missing=missing_seats(table)
    )


def secret_of(number: int) -> bytes:
    """Return a secret by its number."""
    return hashlib.sha256(f"secret {number}".encode()).digest()[:16]


def human(secret: bytes) -> pb.TableSeat:
    return pb.TableSeat(secret_sha256=hashlib.sha256(secret).digest())


def begun(
    host: Host, game: Game, players: int | None = None, mode: Any = NONE, bots: Sequence[str] = (), **fields: Any
) -> tuple[bytes, list[bytes]]:
    """Return a new table that all have acknowledged, and the secrets by seat. The last seats are the bots'."""
    players = players or game.max_players
    secrets = [secret_of(seat) for seat in range(players - len(bots))]
    seats = [*map(human, secrets), *(pb.TableSeat(bot=bot) for bot in bots)]
    table = host.new_table(game=game.name, players=players, seats=seats, acknowledgement=mode, **fields).table
    return (host.acknowledge(table, *secrets) if mode == NEXT else table), secrets


def played(host: Host, table: bytes, secrets: Sequence[bytes], choices: random.Random) -> Iterator[bytes]:
    """Play to the end at random. Yield the tables of all plies, all of them open."""
    while True:
        yield table
        update = host.look(table)
        if update.view.turn.kind == OVER:
            return
        seat = update.view.turn.seat
        if seat >= len(secrets):
            table = host.move(table).table
        else:
            legal = host.look(table, secrets[seat]).legal_actions
            table = host.move(table, secrets[seat], choices.choice(legal).id).table
        if host.open(table).header.acknowledgement == NEXT:
            table = host.acknowledge(table, *secrets)


def refused(call: Any, *arguments: Any, **fields: Any) -> tuple[str, str]:
    """Return the reason and the field of a call that must be refused."""
    with pytest.raises((Refusal, EngineError)) as found:
        call(*arguments, **fields)
    error: Any = found.value
    return str(error.reason.value), error.field
