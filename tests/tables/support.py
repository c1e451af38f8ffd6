"""TableService called in process, without a port, and games at its tables."""

import hashlib
import random
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from google.protobuf.message import Message
from prometheus_client import CollectorRegistry

from chatiere.engine import EngineError, Game
from chatiere.engine.core.batch import Cancellation
from chatiere.service.base.errors import Refusal
from chatiere.service.base.metrics import Metrics
from chatiere.service.base.settings import Settings
from chatiere.service.calls.table_service import TableService
from chatiere.service.tables.keys import Keyring
from chatiere.service.tables.seal import OpenedTable, open_table
from chatiere.v1 import table_service_pb2 as pb

NONE, NEXT = pb.ACKNOWLEDGEMENT_NONE, pb.ACKNOWLEDGEMENT_NEXT
OVER = 3


class Host:
    """A service, to be called with messages."""

    def __init__(self, keys: Keyring | None = None, settings: Settings | None = None) -> None:
        self.keys = keys or Keyring(None)
        self._service = TableService(settings or Settings(), Metrics(CollectorRegistry()), self.keys)
        self.held: list[int] = []

    def call(self, name: str, request: Message, response: Any) -> Any:
        pieces = self._service.answer(name, request.SerializeToString(), Cancellation(), self.held.append)
        return response.FromString(b"".join(pieces))

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

    def suggest(self, table: bytes, secret: bytes | None, bot: str, seed: int | None = None) -> Any:
        request = pb.SuggestMoveRequest(table=table, secret=secret, bot=bot, seed=seed)
        return self.call("suggest_move", request, pb.SuggestMoveResponse).suggestion

    def get_record(self, tables: Sequence[bytes]) -> pb.TableRecord:
        found: pb.TableRecord = self.call("get_record", pb.GetRecordRequest(tables=tables), pb.GetRecordResponse).record
        return found

    def open(self, table: bytes) -> OpenedTable:
        """Open a table as only the service can."""
        return open_table(self.keys, table)


def secret_of(number: int) -> bytes:
    """Return a secret that a test knows."""
    return hashlib.sha256(f"secret {number}".encode()).digest()[:16]


def human(secret: bytes) -> pb.TableSeat:
    return pb.TableSeat(secret_sha256=hashlib.sha256(secret).digest())


def begun(
    host: Host, game: Game, players: int | None = None, mode: Any = NONE, bots: Sequence[str] = (), **fields: Any
) -> tuple[bytes, list[bytes]]:
    """Return a new table, acknowledged by all, and the secrets by seat; the last seats are those of the bots."""
    players = players or game.max_players
    secrets = [secret_of(seat) for seat in range(players - len(bots))]
    seats = [*map(human, secrets), *(pb.TableSeat(bot=bot) for bot in bots)]
    table = host.new_table(game=game.name, players=players, seats=seats, acknowledgement=mode, **fields).table
    return (host.acknowledge(table, *secrets) if mode == NEXT else table), secrets


def played(host: Host, table: bytes, secrets: Sequence[bytes], choices: random.Random) -> Iterator[bytes]:
    """Play to the end at random; yield the tables of all plies, each open."""
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
