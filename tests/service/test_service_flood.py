"""Requests with millions of empty elements are refused without making any objects. The objects would need 0.5 GB."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from chatiere.engine.wire import head
from chatiere.v1 import batch_service_pb2 as pb
from chatiere.v1 import discat_pb2, game_pb2, game_service_pb2
from chatiere.v1.table_service_pb2 import GetRecordRequest

from .support import PATIENCE, Running, batch_stub, raw, refusal

COUNT = 2**22
# The maximum growth of memory, in megabytes. It is larger than a request of 8 MB and some copies of it.
MAX_MEGABYTES = 48

_MEASURE = """
import re, sys
from pathlib import Path
from prometheus_client import CollectorRegistry
from chatiere.engine import EngineError
from chatiere.engine.core.cancellation import Cancellation
from chatiere.service.calls import game_service
from chatiere.service.calls.batch_service import BatchService
from chatiere.service.calls.play_stream import PlayStream
from chatiere.service.calls.table_service import TableService
from chatiere.service.base.settings import Settings
from chatiere.service.base.errors import Refusal
from chatiere.service.base.metrics import Metrics
from chatiere.service.tables.keys import Keyring
from chatiere.service.guards.memory import KeptBatches, MemoryBudget

def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) // 1024

metrics = Metrics(CollectorRegistry())
batches = BatchService(Settings(), metrics)
tables = TableService(Settings(), metrics, Keyring(None, bytes(32)))
calls = {
    "GetRecord": lambda data: tables.answer("get_record", data, Cancellation(), lambda size: None),
    "ListGames": lambda data: game_service.list_games(data, Settings()),
    "NewTable": lambda data: tables.answer("new_table", data, Cancellation(), lambda size: None),
    "Apply": game_service.apply,
    "Convert": lambda data: batches.answer("convert", data, Cancellation()),
    "Play": lambda data: PlayStream(batches, KeptBatches(MemoryBudget(2**30), "")).answer(data, Cancellation()),
}
data = Path(sys.argv[2]).read_bytes()
before = peak()
try:
    calls[sys.argv[1]](data)
except (EngineError, Refusal):
    pass
print(peak() - before)
"""


def within(field: int, body: bytes) -> bytes:
    return head(field, len(body)) + body


def flood(name: str) -> bytes:
    """Return a request to a method. `name` begins with the method's name and a space."""
    state = within(game_pb2.State.DISCAT_FIELD_NUMBER, head(discat_pb2.DiscatState.SEATS_FIELD_NUMBER, 0) * COUNT)
    table = pb.ConvertRequest(setup=pb.BatchSetup(game="discat", players=2)).SerializeToString()
    empty_states = table + head(pb.ConvertRequest.TYPED_STATES_FIELD_NUMBER, 0) * COUNT
    one_state = table + within(pb.ConvertRequest.TYPED_STATES_FIELD_NUMBER, state)
    column = within(pb.ConvertRequest.STATES_FIELD_NUMBER, b"")
    apply = within(game_service_pb2.ApplyRequest.STATE_FIELD_NUMBER, state)
    # Unknown and repeated fields are left to protobuf.
    return {
        "GetRecord with empty tables": head(GetRecordRequest.TABLES_FIELD_NUMBER, 0) * COUNT,
        "ListGames with empty names": head(game_service_pb2.ListGamesRequest.GAMES_FIELD_NUMBER, 0) * COUNT,
        "NewTable with unknown fields": b"\xf8\x01\x01" * COUNT,
        "Apply plainly": apply,
        "Apply strangely": apply + b"\x98\x06\x07",
        "Convert many states": empty_states,
        "Convert one large state": one_state,
        "Convert one large strange state": one_state + b"\x1a\x05\x52\x03\x98\x06\x07",
        "Convert with a column twice": empty_states + column + column,
        "Play a conversion": within(pb.PlayRequest.CONVERT_FIELD_NUMBER, empty_states),
        "Play a conversion in parts": within(pb.PlayRequest.CONVERT_FIELD_NUMBER, empty_states)
        + within(pb.PlayRequest.CONVERT_FIELD_NUMBER, table),
    }[name]


NAMES = [
    "GetRecord with empty tables",
    "ListGames with empty names",
    "NewTable with unknown fields",
    "Apply plainly",
    "Apply strangely",
    "Convert many states",
    "Convert one large state",
    "Convert one large strange state",
    "Convert with a column twice",
    "Play a conversion",
    "Play a conversion in parts",
]


@pytest.mark.parametrize("name", NAMES)
def test_a_flood_of_empty_messages_takes_no_memory(name: str, tmp_path: Path) -> None:
    file = tmp_path / "request"
    file.write_bytes(flood(name))
    command = (sys.executable, "-c", _MEASURE, name.split()[0], str(file))
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert int(done.stdout) < MAX_MEGABYTES


def test_the_refusal_of_a_flood_names_the_limit(server: Running) -> None:
    batches = batch_stub(server.channel)
    convert: Any = server.channel.unary_unary("/chatiere.v1.BatchService/Convert")
    refused = refusal(convert, flood("Convert many states"))
    assert refused.reason == "MALFORMED_REQUEST"
    assert "more than 116384 elements" in refused.message
    asked = pb.ConvertRequest(setup=pb.BatchSetup(game="discat", players=2), typed_states=[{}] * 20_000)
    (answer,) = batches.Play(iter([pb.PlayRequest(tag=7, convert=asked)]))
    assert (answer.tag, answer.refusal.field, answer.refusal.metadata["asked"]) == (7, "convert.typed_states", "20000")
    refused = refusal(convert, flood("Convert with a column twice"))
    assert refused.reason == "MALFORMED_REQUEST"
    assert "more than 116384 elements" in refused.message
    column = within(pb.ConvertRequest.STATES_FIELD_NUMBER, bytes(5_000_000))
    refused = refusal(convert, column + column)
    assert refused.reason == "MALFORMED_REQUEST"
    assert "more than 8388608 bytes" in refused.message
    refused = refusal(raw(server, "Apply"), flood("Apply strangely"))
    assert (refused.reason, refused.metadata) == (
        "LIMIT_EXCEEDED",
        {"limit": "bytes of a request", "most": "65536"},
    )
