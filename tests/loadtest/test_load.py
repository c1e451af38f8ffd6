"""The load test: its smoke scenario passes, and budgets detect violations."""

import re
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import grpc
import pytest
import trustme
from click.testing import CliRunner
from service.process import served
from service.support import PATIENCE, game_stub
from tools.needs import require

from chatiere.clients.transport.channel import CHANNEL_OPTIONS
from chatiere.service.guards.tokens import new_token
from chatiere.v1.game_service_pb2 import ListGamesRequest
from loadtest import run
from loadtest.load import budget
from loadtest.load.deployment import Deployment
from loadtest.load.pods import Phase, replacing_one

pytestmark = pytest.mark.long


def entry(kind: str, name: str, requests: int, failures: int = 0, p99: float = 1.0) -> SimpleNamespace:
    """Return the statistics of one kind of call in Locust's form, with only the parts that budgets read."""
    return SimpleNamespace(
        method=kind,
        name=name,
        num_requests=requests,
        num_failures=failures,
        get_response_time_percentile=lambda share: p99,
    )


def environment(*entries: SimpleNamespace, exceptions: dict[str, Any] | None = None) -> Any:
    return SimpleNamespace(
        stats=SimpleNamespace(entries={(e.name, e.method): e for e in entries}),
        runner=SimpleNamespace(exceptions=exceptions or {}),
    )


SCENARIO = budget.Scenario("test", "", {}, 1, 1.0, error_rate=0.01, calls=100, p99_ms={"Apply": 50.0})


def test_the_smoke_scenario_passes_with_a_token_and_mutual_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "REPORTS", tmp_path)
    files = {name: str(tmp_path / name) for name in ("tokens", "ca", "certificate", "key")}
    authority = trustme.CA()
    own = authority.issue_cert("localhost", "127.0.0.1")
    authority.cert_pem.write_to_path(files["ca"])
    own.cert_chain_pems[0].write_to_path(files["certificate"])
    own.private_key_pem.write_to_path(files["key"])
    token, line = new_token("load")
    Path(files["tokens"]).write_text(line)
    tls = ("--tls-certificate", files["certificate"], "--tls-key", files["key"], "--client-ca", files["ca"])
    limits = ("--max-rate-per-client", "0", "--max-calls-per-client", "0")
    rooms = ("--relay", "memory", "--web-address", "127.0.0.1:0")
    with served(*tls, *limits, *rooms, "--tokens", files["tokens"]) as server:
        deployment = Deployment(
            token=token,
            has_tls=True,
            tls_ca=files["ca"],
            tls_certificate=files["certificate"],
            tls_key=files["key"],
            games=("discat", "momistigri"),
            web_address=server.web_address,
        )
        assert run.locust("smoke", server.address, run.Target(server.address, deployment, 1, 2, has_ramp=False)) == 0
    report = (tmp_path / "smoke.html").read_text()
    for user in read_users():
        assert user in report


def read_users() -> list[str]:
    """Return the names of all kinds of users."""
    text = (Path(run.__file__).parent / "locustfile.py").read_text()
    return re.findall(r'^    "(\w+User)",$', text, re.MULTILINE)


@pytest.mark.parametrize("name", budget.scenario_names())
def test_a_scenario_can_be_read(name: str) -> None:
    scenario = budget.read_scenario(name)
    assert scenario.meaning
    assert scenario.users
    assert scenario.seconds > 0


def test_a_run_within_its_budget_passes() -> None:
    assert budget.broken(SCENARIO, environment(entry("grpc", "Apply", 200, 2), entry("check", "right", 10))) == []


@pytest.mark.parametrize(
    ("run_of", "message"),
    [
        ((entry("grpc", "Apply", 200), entry("check", "right", 10, 1)), "1 wrong answers: right"),
        ((entry("grpc", "Apply", 99),), "only 99 of at least 100 calls were made"),
        ((entry("grpc", "Apply", 200, 3),), "3 of 200 calls failed, more than 1.00%"),
        ((entry("grpc", "Apply", 200, p99=51.0),), "99 % of Apply took up to 51 ms, more than 50 ms"),
        ((entry("grpc", "NewGame", 200),), "Apply was never called"),
    ],
)
def test_violations_of_a_budget_are_reported(run_of: tuple[SimpleNamespace, ...], message: str) -> None:
    assert budget.broken(SCENARIO, environment(*run_of)) == [message]


def test_a_user_that_fails_violates_every_budget() -> None:
    failed = environment(entry("grpc", "Apply", 200), exceptions={"key": {"msg": "boom"}})
    assert budget.broken(SCENARIO, failed) == ["a user failed: boom"]


def test_a_server_that_replaces_a_killed_one_gets_its_share() -> None:
    require("libnghttp2")

    told: list[str] = []

    def load(target: str) -> int:
        """Make calls until all phases are reported, and then two hundred more. A lost call raises an error."""
        with grpc.insecure_channel(target, CHANNEL_OPTIONS) as channel:
            rest, end = 200, time.monotonic() + PATIENCE
            while rest and time.monotonic() < end:
                game_stub(channel).ListGames(ListGamesRequest(), timeout=PATIENCE)
                rest -= len(told) == 3
        return rest

    code, phases = replacing_one("fast", 0.5, load, told.append)
    assert code == 0
    assert [phase.name for phase in phases] == ["before a server is killed", "after it is replaced"]
    assert min(phases[0].calls) > 0
    # The two servers are counted one after the other, so their counts may differ.
    assert min(phases[1].calls) > 50


def test_a_server_with_too_small_a_share_violates_the_budget() -> None:
    assert Phase("then", (60, 40)).broken(0.4) == []
    assert Phase("then", (61, 39)).broken(0.4) == ["then: a server had 39.0% of the calls, less than 40.0%"]
    assert Phase("then", (0, 0)).broken(0.4) == ["then: a server had 0.0% of the calls, less than 40.0%"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--token", "x"), "--web-address, --token and --tls-… need --address"),
        (("--address", "x:1", "--scenario", "tables"), "tables needs --web-address"),
        (("--address", "x:1", "--scenario", "siege"), "siege only loads servers that it starts"),
        (("--address", "x:1", "--scenario", "pods"), "pods only loads servers that it starts"),
        (("--address", "x:1", "--tls-key", "KEY"), "--tls-certificate and --tls-key need each other"),
        (("--ramp",), "--ramp needs one --scenario, other than siege"),
        (("--ramp", "--scenario", "smoke"), "--ramp needs limits on durations, and smoke has none"),
        (("--door", "web"), "--attack and --door need --scenario siege"),
    ],
)
def test_incompatible_options_are_refused(
    options: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "REPORTS", tmp_path)
    (tmp_path / "KEY").touch()
    found = CliRunner().invoke(run.main, [str(tmp_path / "KEY") if each == "KEY" else each for each in options])
    assert found.exit_code == 2
    assert message in found.output
