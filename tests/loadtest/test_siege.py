"""The siege itself: attacks are as described, and budgets notice what breaks them. Durations are not tested."""

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

sys.path.insert(0, str(Path(__file__).parents[2] / "loadtest"))

import run
from load.own_server import OwnServer, own_server
from siege import attacks, floods, plan
from siege import run as siege

UNBOUND = plan.Budget(*[float("inf")] * 6)
SMALL = plan.Attack("small", "nobody", count=10, seconds=0.6, onset=0.3, budget=UNBOUND)
GOOD = siege.AttackResult(
    attack=replace(SMALL, budget=plan.Budget(1000, 50, 60, 70, peak_mib=500, kept_mib=60)),
    came={"begun": 10},
    onset_ms=999.0,
    p99_ms={"game": 49.0, "batch": 59.0, "health": 69.0},
    calls={"game": 100, "batch": 40, "health": 40},
    failures={},
    idle={"supervisor": 50.0, "worker": 60.0},
    peak={"supervisor": 50.0, "worker": 559.0},
    kept={"supervisor": 50.0, "worker": 119.0},
    errors=[],
    has_metrics=True,
)


@pytest.fixture(scope="module")
def server() -> Iterator[OwnServer]:
    with own_server() as server:
        yield server


@pytest.fixture(scope="module")
def fast_server() -> Iterator[OwnServer]:
    pytest.importorskip("chatiere.http2.server", reason="the fast door was not built: libnghttp2 was not there")
    with own_server("--fast-address", "127.0.0.1:0") as server:
        yield server


@pytest.fixture(scope="module")
def web_server() -> Iterator[OwnServer]:
    pytest.importorskip("connectrpc", reason="the packages of chatiere[web] are not there")
    with own_server("--web-address", "127.0.0.1:0") as server:
        yield server


@pytest.fixture(autouse=True)
def _soon_warm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(siege, "_WARMING", 0.3)


def test_the_plan_can_be_read() -> None:
    read = plan.read_plan()
    assert read.meaning
    assert {attack.kind for attack in read.attacks} == attacks.KINDS.keys()
    assert len({attack.name for attack in read.attacks}) == len(read.attacks)
    assert all(0 < attack.onset < attack.seconds for attack in read.attacks)


@pytest.mark.parametrize(
    ("attack", "came"),
    [
        (replace(SMALL, kind="half_open", connections=2), {"begun": 2 * 10 + 20}),
        (replace(SMALL, kind="half_open", connections=2, addresses=2), {"begun": 2 * 10 + 20}),
        (
            replace(SMALL, kind="half_sent", method="chatiere.v1.GameService/Apply"),
            {"begun": 10, "bytes sent": 10 * (5 + 1_200_000)},
        ),
        (replace(SMALL, kind="unread", count=2, method="chatiere.v1.BatchService/NewGames"), {"begun": 2}),
        (replace(SMALL, kind="unread", count=2, method="chatiere.v1.BatchService/Play"), {"begun": 2}),
        (replace(SMALL, kind="watches"), {"begun": 10}),
        (replace(SMALL, kind="silent"), {"begun": 10}),
    ],
    ids=lambda value: value.kind if isinstance(value, plan.Attack) else "",
)
def test_an_attack_comes_as_it_says(server: OwnServer, attack: plan.Attack, came: dict[str, int]) -> None:
    result = siege.besiege(server, None, attack)
    assert came.items() <= result.came.items()
    assert all(result.calls.values())
    assert result.broken() == []


@pytest.mark.parametrize(
    ("attack", "came"),
    [
        (replace(SMALL, kind="half_open", connections=2), {"begun": 2 * 10 + 20}),
        (replace(SMALL, kind="unread", count=2, method="chatiere.v1.BatchService/NewGames"), {"begun": 2}),
        (replace(SMALL, kind="silent"), {"begun": 10}),
    ],
    ids=lambda value: value.kind if isinstance(value, plan.Attack) else "",
)
def test_an_attack_comes_to_the_fast_door(fast_server: OwnServer, attack: plan.Attack, came: dict[str, int]) -> None:
    result = siege.besiege(fast_server, None, replace(attack, is_fast=True))
    assert came.items() <= result.came.items()
    assert all(result.calls.values())
    assert result.broken() == []


@pytest.mark.parametrize(
    "attack",
    [replace(SMALL, kind=kind) for kind in ("web_half_sent", "web_unread", "silent")],
    ids=lambda attack: attack.kind,
)
def test_an_attack_comes_to_the_door_for_browsers(web_server: OwnServer, attack: plan.Attack) -> None:
    result = siege.besiege(web_server, None, replace(attack, is_web=True))
    assert result.came["begun"] == attack.count
    assert all(result.calls.values())
    assert result.broken() == []


def test_steady_calls_come_as_often_as_they_say(server: OwnServer) -> None:
    attack = replace(SMALL, kind="steady", count=1000, method="chatiere.v1.GameService/Apply")
    result = siege.besiege(server, None, attack)
    assert 0 < result.came["begun"] <= 1000 * attack.seconds / 10
    assert result.broken() == []


def test_floods_come_in_all_kinds(fast_server: OwnServer) -> None:
    attack = replace(SMALL, kind="floods", is_fast=True, count=2)
    result = siege.besiege(fast_server, None, attack)
    # Each kind ends its connection, and the next begins.
    assert {f"{kind}: connection ended" for kind in floods.FLOODS} <= result.came.keys()
    assert result.broken() == []


def test_attackers_have_no_token_and_another_client_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    attack = replace(SMALL, kind="half_open", has_tokens=True)
    assert siege.siege(plan.Plan("", [attack]), tmp_path / "siege.json")
    (reported,) = json.loads((tmp_path / "siege.json").read_text())
    # Health checks need no token.
    assert reported["came"] == {"begun": 40, "UNAUTHENTICATED": 20, "reset": 20}
    assert reported["failures"] == {}
    assert "| small" in capsys.readouterr().out


def test_a_broken_budget_is_told(server: OwnServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    attack = replace(SMALL, budget=replace(UNBOUND, game_p99_ms=0.0))
    assert not siege.siege(plan.Plan("", [attack]), tmp_path / "siege.json")
    assert "budget: small: 99 % of game calls took up to" in capsys.readouterr().out


def test_a_result_within_its_budget() -> None:
    assert GOOD.broken() == []


@pytest.mark.parametrize(
    ("result", "told"),
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
        (replace(GOOD, peak={}, kept={}), "a process of the server has died"),
        (replace(GOOD, failures={"after it: game: INTERNAL: oh": 2}), "2 calls failed after it: game: INTERNAL: oh"),
        (replace(GOOD, errors=["… ERROR … incident"]), "the server logged … ERROR … incident"),
        (replace(GOOD, has_metrics=False), "the metrics did not respond afterwards"),
    ],
)
def test_what_breaks_a_budget(result: siege.AttackResult, told: str) -> None:
    assert result.broken() == [told]


def test_nobody_elses_server_is_besieged() -> None:
    result = CliRunner().invoke(run.main, ["--scenario", "siege", "--address", "127.0.0.1:50051"])
    assert result.exit_code == 2
    assert "omit --address" in result.output
