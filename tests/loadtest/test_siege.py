"""The siege: attacks are as described, and budgets detect violations. Durations are not tested."""

import json
import resource
import socket
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
from click.testing import CliRunner
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import RequestReceived
from tools.needs import require
from tools.over import over

from chatiere.service.rooms.room import MAX_PEOPLE
from chatiere.v1.game_service_pb2 import ListGamesRequest, NewGameRequest
from chatiere.v1.table_service_pb2 import GetRecordRequest
from loadtest import run
from loadtest.load.own_server import OwnServer, own_server
from loadtest.siege import attacks, floods, plan, work
from loadtest.siege import result as results
from loadtest.siege import run as siege

pytestmark = pytest.mark.long

SMALL = plan.Attack("small", "nobody", ("grpcio", "fast", "web"), count=10, seconds=0.6, onset=0.3)
APPLY = "chatiere.v1.GameService/Apply"
GOOD = results.AttackResult(
    attack=replace(SMALL, budget=plan.Budget(1000, 50, 60, 70, peak_mib=500, kept_mib=60)),
    door="fast",
    came={"begun": 10},
    onset_ms=999.0,
    p99_ms={"game": 49.0, "batch": 59.0, "health": 69.0},
    calls={"game": 100, "batch": 40, "health": 40},
    failures={},
    beside_ms=1000.0,
    beside_failures=3,
    idle={"supervisor": 50.0, "worker": 60.0},
    peak={"supervisor": 50.0, "worker": 559.0},
    kept={"supervisor": 50.0, "worker": 119.0},
)


@pytest.fixture(scope="module")
def server() -> Iterator[OwnServer]:
    require("libnghttp2")
    with own_server(doors=plan.DOORS) as server:
        yield server
        assert server.errors() == []


@pytest.fixture(scope="module")
def secured_server() -> Iterator[OwnServer]:
    with own_server(doors=("grpcio", "web"), has_tls=True) as server:
        yield server
        assert server.errors() == []


@pytest.fixture(autouse=True)
def _soon_warm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(siege, "_WARMING", 0.3)


def test_the_plan_can_be_read() -> None:
    read = plan.read_plan()
    assert read.meaning
    assert {attack.kind for attack in read.attacks} == attacks.KINDS.keys()
    assert len({attack.name for attack in read.attacks}) == len(read.attacks)
    assert all(0 < attack.onset < attack.seconds for attack in read.attacks)
    assert {door for attack in read.attacks for door in attack.doors} == plan.TARGETS.keys()


def test_attacks_and_doors_can_be_chosen() -> None:
    read = plan.Plan("", [SMALL, replace(SMALL, name="a flood", doors=("grpcio", "fast"))])
    assert [(attack.name, door) for attack, door in read.entries(("flood",))] == [
        ("a flood", "grpcio"),
        ("a flood", "fast"),
    ]
    assert [(attack.name, door) for attack, door in read.entries((), ("web",))] == [("small", "web")]
    assert len(read.entries()) == 5


@pytest.mark.parametrize(
    ("door", "attack", "came"),
    [
        ("grpcio", replace(SMALL, kind="half_open", connections=2), {"begun": 2 * 10 + 20}),
        ("grpcio", replace(SMALL, kind="half_open", connections=2, addresses=2), {"begun": 2 * 10 + 20}),
        ("fast", replace(SMALL, kind="half_open", connections=2), {"begun": 2 * 10 + 20}),
        ("web", replace(SMALL, kind="half_open", connections=2, addresses=2), {"begun": 2 * 10}),
        ("grpcio", replace(SMALL, kind="half_headers"), {"begun": 10}),
        ("web", replace(SMALL, kind="half_headers"), {"begun": 10}),
        ("grpcio", replace(SMALL, kind="half_sent", method=APPLY), {"begun": 10}),
        ("web", replace(SMALL, kind="half_sent", method=APPLY), {"begun": 10}),
        ("grpcio", replace(SMALL, kind="unread", count=2, method="chatiere.v1.BatchService/NewGames"), {"begun": 2}),
        ("fast", replace(SMALL, kind="unread", count=2, method="chatiere.v1.BatchService/NewGames"), {"begun": 2}),
        ("grpcio", replace(SMALL, kind="unread", count=2, method="chatiere.v1.BatchService/Play"), {"begun": 2}),
        ("grpcio", replace(SMALL, kind="watches"), {"begun": 10}),
        ("grpcio", replace(SMALL, kind="idle_streams"), {"begun": 10}),
        ("fast", replace(SMALL, kind="idle_streams"), {"begun": 10}),
        ("grpcio", replace(SMALL, kind="silent"), {"begun": 10}),
        ("fast", replace(SMALL, kind="silent", addresses=5), {"begun": 10}),
        ("web", replace(SMALL, kind="silent"), {"begun": 10}),
        ("grpcio", replace(SMALL, kind="silent_metrics"), {"begun": 10}),
        ("web", replace(SMALL, kind="web_unread"), {"begun": 10}),
    ],
    ids=lambda value: value.kind if isinstance(value, plan.Attack) else "",
)
def test_an_attack_has_the_documented_effect(
    server: OwnServer, door: str, attack: plan.Attack, came: dict[str, int]
) -> None:
    result = siege.besiege(server, attack, door)
    assert came.items() <= result.came.items()
    assert all(result.calls.values())
    assert result.broken() == []


@pytest.fixture(scope="module")
def shared_server() -> Iterator[OwnServer]:
    require("libnghttp2")
    with own_server(doors=("grpcio", plan.SHARED)) as server:
        yield server
        assert server.errors() == []


@pytest.mark.parametrize("kind", ["nobody", "shared_deaths", "shared_garbage", "shared_streams", "shared_unread"])
def test_an_attack_on_shared_memory_reaches_the_server(shared_server: OwnServer, kind: str) -> None:
    result = siege.besiege(shared_server, replace(SMALL, kind=kind, seconds=3.0), plan.SHARED)
    assert result.came.get("begun", 0) >= (kind != "nobody")
    assert all(result.calls.values())
    assert result.broken() == []


@over("door", ["grpcio", "fast", "web"])
def test_steady_calls_have_the_given_rate(server: OwnServer, door: str) -> None:
    attack = replace(SMALL, kind="steady", count=1000)
    result = siege.besiege(server, replace(attack, method=APPLY), door)
    assert 0 < result.came["begun"] <= 1000 * attack.seconds / 10
    assert result.broken() == []


@pytest.mark.parametrize(("door", "refused"), [("grpcio", "INVALID_ARGUMENT"), ("web", "HTTP 400")])
def test_failing_calls_fail(server: OwnServer, door: str, refused: str) -> None:
    attack = replace(SMALL, kind="failing", count=1000, method=APPLY, is_refused=True)
    result = siege.besiege(server, attack, door)
    assert 0 < result.came[refused] <= result.came["begun"]
    assert result.broken() == []


@over("door", ["grpcio", "fast", "web"])
def test_large_requests_without_content_are_sent(server: OwnServer, door: str) -> None:
    attack = replace(SMALL, kind="bombs", method="chatiere.v1.TableService/GetRecord", field="tables", size=1000)
    result = siege.besiege(server, replace(attack, count=2, is_refused=True), door)
    refused = result.came["HTTP 400"] if door == "web" else result.came.get("INVALID_ARGUMENT", 0)
    assert result.came["begun"] == 2
    assert refused or door == "fast"
    assert result.broken() == []


@pytest.fixture(scope="module")
def server_of_rooms() -> Iterator[OwnServer]:
    require("libnghttp2")
    with own_server("--relay", "memory", doors=plan.DOORS) as server:
        yield server
        assert server.errors() == []


@over("door", ["grpcio", "fast", "web"])
@pytest.mark.parametrize(
    ("attack", "least"),
    [
        # The followers, and the first names of all people in the room.
        (replace(SMALL, kind="slow_followers"), 10 + MAX_PEOPLE),
        (replace(SMALL, kind="room_floods"), 10),
        (replace(SMALL, kind="giant_rooms", size=3000), 10),
        # The followers, and two people who repeatedly join and leave.
        (replace(SMALL, kind="presence"), 9 + 2),
    ],
    ids=["slow_followers", "room_floods", "giant_rooms", "presence"],
)
def test_attacks_on_rooms_reach_the_server(
    server_of_rooms: OwnServer, door: str, attack: plan.Attack, least: int
) -> None:
    result = siege.besiege(server_of_rooms, replace(attack, seconds=2.0, has_rooms=True), door)
    assert result.came["begun"] >= least
    assert result.broken() == []


@over(("name", "door"), [("Suggest", "fast"), ("Suggest", "web"), *((name, "grpcio") for name in work.DEAR)])
def test_dear_calls_are_valid_and_a_second_client_makes_them_too(server: OwnServer, name: str, door: str) -> None:
    attack = replace(SMALL, kind="work", method=name, count=2, seconds=3.0, budget=plan.Budget(least_share=0.01))
    result = siege.besiege(server, attack, door)
    for came in result.came, result.second:
        assert came["begun"] > 0
        # No call has failed, although a busy machine may not have completed any call.
        assert came.keys() <= {"begun", "bytes sent", "ended", "OK", "HTTP 200", "connection closed"}
    assert result.came["begun"] <= result.came.get("ended", 0) + 2


def test_large_requests_consist_of_the_named_field() -> None:
    tables = GetRecordRequest.FromString(attacks.bomb("chatiere.v1.TableService/GetRecord", "tables", 1000)).tables
    assert tables == [b""] * 500
    names = ListGamesRequest.FromString(attacks.bomb("chatiere.v1.GameService/ListGames", "games", 300)).games
    assert names == [""] * 150
    bomb = attacks.bomb("chatiere.v1.GameService/NewGame", "include.viewers", 300)
    assert NewGameRequest.FromString(bomb).include.viewers == [0] * 300
    assert len(bomb) == pytest.approx(300, abs=10)


def test_requests_in_json_are_refused_like_binary_requests(server: OwnServer) -> None:
    attack = replace(SMALL, kind="json_bombs", method="chatiere.v1.TableService/GetRecord", field="tables", size=300)
    result = siege.besiege(server, replace(attack, count=2, is_refused=True), "web")
    assert result.came["HTTP 400"] == 2
    assert result.broken() == []


@pytest.mark.parametrize("kind", ["half_handshakes", "idle_by_tls"])
@over("door", ["grpcio", "web"])
def test_an_attack_can_use_tls(secured_server: OwnServer, door: str, kind: str) -> None:
    result = siege.besiege(secured_server, replace(SMALL, kind=kind, seconds=3.0), door)
    assert 0 < result.came["begun"] <= 10
    assert result.broken() == []


@over("door", ["grpcio", "fast", "web"])
def test_a_churn_opens_connections_repeatedly(server: OwnServer, door: str) -> None:
    result = siege.besiege(server, replace(SMALL, kind="churn"), door)
    assert result.came["begun"] > 10
    assert result.broken() == []


def test_all_kinds_of_floods_reach_the_server(server: OwnServer) -> None:
    result = siege.besiege(server, replace(SMALL, kind="floods", count=2, seconds=5.0), "fast")
    # Each kind ends its connection, and the next kind starts.
    assert {f"{kind}: connection ended" for kind in floods.FLOODS} <= result.came.keys()
    assert result.broken() == []


@pytest.mark.parametrize("kind", ["header_bombs", "large_header_bombs", "header_blocks"])
def test_header_bombs_reach_the_fast_door(server: OwnServer, kind: str) -> None:
    result = siege.besiege(server, replace(SMALL, kind=kind, count=1), "fast")
    assert result.came["begun"] > 0
    assert result.broken() == []


def test_header_bombs_are_references_to_one_large_header() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        flooder = floods.Flooder(listening.getsockname(), "127.0.0.2", Counter(), {"few": floods.bombs(10, 20)})
        with flooder.socket, listening.accept()[0] as there:
            http2 = H2Connection(H2Configuration(client_side=False, header_encoding="utf-8"))
            http2.initiate_connection()
            there.sendall(http2.data_to_send())
            flooder.send()
            flooder.socket.setblocking(True)
            flooder.read()
            for _ in range(2):
                flooder.send()
            # Read the first call and a few of the bombs.
            received = there.recv(5000, socket.MSG_WAITALL)
    first, second, *_ = [each for each in http2.receive_data(received) if isinstance(each, RequestReceived)]
    large: Any = floods.LARGE
    assert [*first.headers].count(large) == 1
    assert [*second.headers].count(large) == 10


def test_only_clients_other_than_attackers_have_a_token(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    attack = replace(SMALL, kind="half_open", has_tokens=True)
    assert siege.siege([(attack, "grpcio")], tmp_path / "siege.json")
    (reported,) = json.loads((tmp_path / "siege.json").read_text())
    # Health checks need no token.
    assert reported["came"] == {"begun": 40, "UNAUTHENTICATED": 20, "ended": 20, "reset": 20}
    assert reported["failures"] == {}
    written = (tmp_path / "siege.md").read_text()
    assert "| small    | " in written
    assert written.splitlines()[0] in capsys.readouterr().out


def test_an_exceeded_budget_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    attack = replace(SMALL, budget=plan.Budget(game_p99_ms=0.0))
    assert not siege.siege([(attack, "grpcio")], tmp_path / "siege.json")
    assert "budget: small, grpcio: 99 % of game calls took up to" in capsys.readouterr().out


def test_an_impossible_attack_does_not_stop_other_attacks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    unknown = replace(SMALL, name="unknown", kind="half_sent", method="a/b", field="c", size=-1, addresses=0)
    assert not siege.siege([(unknown, "grpcio"), (SMALL, "grpcio")], tmp_path / "siege.json")
    assert [bool(each["broken"]) for each in json.loads((tmp_path / "siege.json").read_text())] == [True, False]
    assert "budget: unknown, grpcio: 1 calls failed as the attack could not be made" in capsys.readouterr().out


def test_a_server_has_the_descriptors_of_its_attack() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    with own_server(descriptors=512) as server:
        assert psutil.Process(server.pid).rlimit(psutil.RLIMIT_NOFILE) == (512, 512)
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == before


def test_an_unread_log_is_read_at_the_end() -> None:
    with own_server(has_unread_log=True) as server:
        assert server.stop()
        assert server.errors() == []


def test_a_result_within_its_budget_passes() -> None:
    assert GOOD.broken() == []
    assert GOOD.cell() == "69 ms, +499 MiB"


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (replace(GOOD, onset_ms=1001.0), "at the onset a call took 1001 ms, more than 1000 ms"),
        (replace(GOOD, p99_ms={"game": 51.0}), "99 % of game calls took up to 51 ms, more than 50 ms"),
        (replace(GOOD, p99_ms={"batch": 61.0}), "99 % of batch calls took up to 61 ms, more than 60 ms"),
        (replace(GOOD, p99_ms={"health": 71.0}), "99 % of health calls took up to 71 ms, more than 70 ms"),
        (
            replace(GOOD, peak={"worker": 561.0}),
            "worker was 501 MiB larger at its peak than idle, more than 500 MiB",
        ),
        (
            replace(GOOD, kept={"supervisor": 111.0}),
            "supervisor was 61 MiB larger after than idle, more than 60 MiB",
        ),
        (
            replace(GOOD, attack=replace(GOOD.attack, budget=plan.Budget(own_p99_ms=999))),
            "99 % of a kind of calls at the attackers' address took up to 1000 ms, more than 999 ms",
        ),
        (
            replace(
                GOOD, attack=replace(GOOD.attack, budget=plan.Budget(least_share=0.3)), came={"OK": 3}, second={"OK": 1}
            ),
            "a second client completed 25% of the calls, less than 30%",
        ),
        (replace(GOOD, peak={}, kept={}), "a process of the server has died"),
        (replace(GOOD, failures={"after it: game: INTERNAL: oh": 2}), "2 calls failed after it: game: INTERNAL: oh"),
        (
            replace(GOOD, attack=replace(GOOD.attack, is_refused=True), came={"OK": 1, "HTTP 200": 2}),
            "3 calls of the attackers succeeded",
        ),
        (replace(GOOD, errors=["… ERROR … incident"]), "the server logged … ERROR … incident"),
        (replace(GOOD, has_metrics=False), "the metrics did not respond afterwards"),
        (replace(GOOD, has_stopped=False), "the server did not stop when requested"),
    ],
)
def test_violations_of_a_budget_are_reported(result: results.AttackResult, message: str) -> None:
    assert result.broken() == [message]


def test_the_table_of_attacks_and_doors_marks_violations_and_dead_processes() -> None:
    died = replace(GOOD, attack=replace(GOOD.attack, name="bomb", doors=("grpcio", "fast")), peak={}, kept={})
    slow = replace(GOOD, door="grpcio", onset_ms=1001.0)
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]] for line in results.matrix([GOOD, slow, died]).splitlines()
    ]
    assert rows[0] == ["attack", *plan.TARGETS.values()]
    assert rows[2:] == [
        ["small", "69 ms, +499 MiB **over**", "69 ms, +499 MiB", "", "–"],
        ["bomb", "", "**died**", "–", "–"],
    ]


def test_only_servers_of_the_siege_are_attacked() -> None:
    result = CliRunner().invoke(run.main, ["--scenario", "siege", "--address", "127.0.0.1:50051"])
    assert result.exit_code == 2
    assert "omit --address" in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--attack", "flood"), "need --scenario siege"),
        (("--scenario", "siege", "--attack", "nothing of the kind"), "no attack has such a name"),
    ],
)
def test_an_empty_choice_is_refused(arguments: tuple[str, ...], message: str) -> None:
    result = CliRunner().invoke(run.main, arguments)
    assert result.exit_code == 2
    assert message in result.output
