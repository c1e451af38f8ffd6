"""The siege: it makes each attack on a door of a new server, and reports figures and violations of the budget."""

import json
import time
import urllib.request
from collections import Counter
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import click

from loadtest.load.own_server import OwnServer, own_server
from loadtest.siege.attacks import Attackers
from loadtest.siege.good_client import KINDS, STREAM, GoodClient, Measured
from loadtest.siege.memory import Memory
from loadtest.siege.plan import SHARED, Attack
from loadtest.siege.relay import relayed
from loadtest.siege.result import AttackResult, matrix, table

# How long calls are made before memory is first measured, in seconds. The idle size includes these calls' allocations.
_WARMING = 1.5
# The time in seconds within which the server must release memory, and within which the metrics must respond again.
_SETTLING = 60.0
_RESPONDING = 10.0
_PAUSE = 0.1
# The call frequency of the client at the attackers' address, relative to the well-behaved clients at other addresses.
_SLOWER = 0.25
# The second client makes the same calls as the attackers: its address, and its number of calls in flight.
_SECOND, _IN_FLIGHT = "127.0.1.2", 8


def siege(entries: list[tuple[Attack, str]], report: Path) -> bool:
    """Make attacks on doors, print tables, and write them and a JSON report. Return True if all budgets were kept."""
    results: list[AttackResult] = []
    report.parent.mkdir(parents=True, exist_ok=True)
    for attack, door in entries:
        results.append(one(attack, door))
        result = results[-1]
        click.echo(f"  {attack.name}, {door}: {result.cell()}")
        # Write the report after each attack, so that an interrupted siege also has a report.
        report.write_text(json.dumps([each.as_json() for each in results], indent=2))
        report.with_suffix(".md").write_text(f"{matrix(results)}\n\n{table(results)}\n")
    click.echo(f"\n{table(results)}\n\n{matrix(results)}\n")
    for result in results:
        for line in result.broken():
            click.echo(f"budget: {result.attack.name}, {result.door}: {line}")
    return not any(result.broken() for result in results)


def one(attack: Attack, door: str) -> AttackResult:
    """Attack a door of a separate server, and stop the server. An attack that cannot be made exceeds its budget."""
    doors = dict.fromkeys(("grpcio", door))
    try:
        with own_server(
            *(("--relay", "memory") if attack.has_rooms else ()),
            doors=doors,
            has_tokens=attack.has_tokens,
            has_tls=attack.has_tls,
            descriptors=attack.descriptors,
            has_unread_log=attack.has_unread_log,
        ) as server:
            result = besiege(server, attack, door)
            # Stop the server before its log is read. If the attack has an unread log, this also tests shutdown.
            has_stopped = server.stop()
            return replace(result, errors=server.errors(), has_stopped=has_stopped)
    except Exception as error:
        return AttackResult(attack, door, failures={f"as the attack could not be made: {error!r}": 1})


def besiege(server: OwnServer, attack: Attack, door: str) -> AttackResult:
    """Attack a door of a server, and measure before, during and after the attack."""
    memory = Memory(server.pid)
    with ExitStack() as stack:

        def client(at: str, address: str, pace: float = 1.0, *, has_rooms: bool = False) -> GoodClient:
            made = GoodClient(at, address, server.token, server.authority, pace=pace, has_rooms=has_rooms)
            return stack.enter_context(made)

        others = {
            at: client(at, server.addresses[at], has_rooms=attack.has_rooms) for at in dict.fromkeys((door, "grpcio"))
        }
        address = server.addresses[door]
        # At a Unix socket, all clients of a user share an address.
        near = address if door == SHARED else stack.enter_context(relayed(address, attack.source))
        beside = client(door, near, _SLOWER)
        clients = [*others.values(), beside]
        attackers = Attackers(attack, door, server.addresses)
        second = replace(attack, count=_IN_FLIGHT, source=_SECOND)
        competitors = [Attackers(second, door, server.addresses)] if attack.budget.least_share else []
        time.sleep(_WARMING)
        idle = memory.now()
        memory.forget_peak()
        onset = [each.measure() for each in clients]
        for attacking in (attackers, *competitors):
            attacking.begin()
        time.sleep(attack.onset)
        during = [each.measure() for each in clients]
        came = attackers.wait()
        theirs = [competing.wait() for competing in competitors]
        _await_calls(clients, during)
        after = [each.measure() for each in clients]
        try:
            peak = memory.peak()
            kept = _settled(memory, {who: mib + attack.budget.kept_mib for who, mib in idle.items()})
        except FileNotFoundError:
            peak = kept = {}
        has_metrics = _metrics_respond(server.addresses["metrics"])
    times = {"at the onset": onset, "during the attack": during, "after it": after}
    failures: Counter[str] = Counter()
    beside_failures = 0
    for when, (*measured, ours) in times.items():
        for at, each in zip(others, measured, strict=True):
            for what, count in each.failures.items():
                failures[f"{when}, {at}: {what}"] += count
        for what, count in ours.failures.items():
            beside_failures += count
            # An open stream must survive, even if its client shares the attackers' address.
            if what.startswith(STREAM):
                failures[f"{when}, at the attackers' address: {what}"] += count
    judged = list(zip(clients[:-1], during[:-1], strict=True))
    return AttackResult(
        attack=attack,
        door=door,
        came=dict(came),
        second=dict(theirs[0]) if theirs else {},
        onset_ms=max(each.longest_ms() for each in onset[:-1]),
        p99_ms={kind: max(each.p99_ms(kind) for client, each in judged if kind in client.kinds) for kind in KINDS},
        calls={kind: min(len(each.seconds[kind]) for client, each in judged if kind in client.kinds) for kind in KINDS},
        failures=dict(failures),
        beside_ms=max(during[-1].p99_ms(kind) for kind in beside.kinds),
        beside_failures=beside_failures,
        idle=idle,
        peak=peak,
        kept=kept,
        has_metrics=has_metrics,
    )


def _await_calls(clients: list[GoodClient], measured: list[Measured]) -> None:
    # On an overloaded machine, a short attack may end before every kind of call was made.
    end = time.monotonic() + _RESPONDING
    while time.monotonic() < end:
        if all(each.seconds[kind] for client, each in zip(clients, measured, strict=True) for kind in client.kinds):
            return
        time.sleep(_PAUSE)


def _settled(memory: Memory, wanted: dict[str, float]) -> dict[str, float]:
    # Return the sizes as soon as they are at most the wanted sizes, or after _SETTLING seconds.
    end = time.monotonic() + _SETTLING
    while True:
        now = memory.now()
        if time.monotonic() > end or all(now[who] <= wanted[who] for who in now):
            return now
        time.sleep(_PAUSE)


def _metrics_respond(address: str) -> bool:
    end = time.monotonic() + _RESPONDING
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(f"http://{address}/metrics", timeout=1.0) as response:
                return b"grpc_server_handled_total" in response.read()
        except OSError:
            time.sleep(_PAUSE)
    return False
