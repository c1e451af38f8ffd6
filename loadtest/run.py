"""Load a service with scenarios, and check the budget of each: `make load`.

Without --address, the command starts a server. With --address, the options --token, --tls-ca and similar options
describe how to call the given server. The report of a run is build/load/<scenario>.html. The siege always starts its
own servers. The siege's report is build/load/siege.json, and its tables are in build/load/siege.md.
"""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import click

from chatiere import engine
from loadtest.load.budget import Scenario, read_scenario, scenario_names
from loadtest.load.deployment import Deployment
from loadtest.load.own_server import own_server
from loadtest.load.pods import replacing_one
from loadtest.siege import plan
from loadtest.siege.run import siege

HERE = Path(__file__).parent
REPORTS = Path("build/load")
_POD_DOORS = ("grpcio", "fast")
_FILE = click.Path(exists=True, dir_okay=False)


@click.command()
@click.option(
    "--scenario",
    "names",
    type=click.Choice([*scenario_names(), plan.NAME]),
    multiple=True,
    help="A scenario; may be repeated. Default: all.",
)
@click.option("--address", default=None, help="HOST:PORT of a running server. Default: start one.")
@click.option("--web-address", default=None, help="HOST:PORT of the running server's web door, if it has one.")
@click.option("--token", envvar="CHATIERE_TOKEN", default=None, help="Bearer token. [env: CHATIERE_TOKEN]")
@click.option("--tls", "has_tls", is_flag=True, help="Encrypt, and trust the system's certificate authorities.")
@click.option("--tls-ca", type=_FILE, default=None, help="Encrypt, and trust the certificate authorities in this file.")
@click.option("--tls-certificate", type=_FILE, default=None, help="Client certificate (mutual TLS).")
@click.option("--tls-key", type=_FILE, default=None, help="Private key of the certificate.")
@click.option(
    "--game", "games", type=click.Choice([game.name for game in engine.games()]), multiple=True, help="A game to play."
)
@click.option("--ramp", "has_ramp", is_flag=True, help="Find the capacity by increasing the number of users in steps.")
@click.option(
    "--processes", type=click.IntRange(1), default=1, show_default=True, help="Processes that generate the load."
)
@click.option("--workers", default=2, show_default=True, help="Workers of the started server.")
@click.option("--attack", "attacks", multiple=True, help="Part of the name of attacks of the siege. Default: all.")
@click.option(
    "--door", "doors", type=click.Choice([*plan.TARGETS]), multiple=True, help="A door to attack. Default: all."
)
def main(
    names: tuple[str, ...],
    address: str | None,
    has_ramp: bool,
    processes: int,
    workers: int,
    attacks: tuple[str, ...],
    doors: tuple[str, ...],
    **deployment: Any,
) -> None:
    """Run scenarios one after another. The exit code is 1 if one exceeds its budget."""
    own = [plan.NAME, *(name for name in scenario_names() if read_scenario(name).min_share)]
    for name in names:
        if address is not None and name in own:
            raise click.UsageError(f"{name} only loads servers that it starts: omit --address")
    if (attacks or doors) and names != (plan.NAME,):
        raise click.UsageError(f"--attack and --door need --scenario {plan.NAME}")
    if address is None and any(value for name, value in deployment.items() if name != "games"):
        raise click.UsageError("--web-address, --token and --tls-… need --address")
    if (deployment["tls_certificate"] is None) != (deployment["tls_key"] is None):
        raise click.UsageError("--tls-certificate and --tls-key need each other")
    if has_ramp and (len(names) != 1 or plan.NAME in names):
        raise click.UsageError(f"--ramp needs one --scenario, other than {plan.NAME}")
    if has_ramp and not read_scenario(names[0]).p99_ms:
        raise click.UsageError(f"--ramp needs limits on durations, and {names[0]} has none")
    entries = plan.read_plan().entries(attacks, doors)
    if not entries:
        raise click.UsageError("no attack has such a name and such a door")
    deployment["has_tls"] |= any(deployment[name] for name in ("tls_ca", "tls_certificate"))
    target = Target(address, Deployment(**deployment), workers, processes, has_ramp)
    REPORTS.mkdir(parents=True, exist_ok=True)
    every = [*scenario_names(), plan.NAME]
    chosen = names or [name for name in every if address is None or name not in own]
    broken = [name for name in chosen if not _is_within_budget(name, target, entries)]
    if broken:
        raise click.ClickException(f"budget broken: {', '.join(broken)}")


class Target(NamedTuple):
    """The service to load, or the parameters with which to start one.

    Attributes:
        address: The address of the service; None to start a service.
        deployment: The other facts about the service, for example the token.
        workers: The number of workers of a service that is started.
        processes: The number of processes that generate the load.
        has_ramp: True to increase the number of users in steps.
    """

    address: str | None
    deployment: Deployment
    workers: int
    processes: int
    has_ramp: bool


def _is_within_budget(name: str, target: Target, entries: list[tuple[plan.Attack, str]]) -> bool:
    if name == plan.NAME:
        click.echo(f"{name}: {plan.read_plan().meaning}")
        kept = siege(entries, REPORTS / f"{name}.json")
    else:
        scenario = read_scenario(name)
        click.echo(f"{name}: {scenario.meaning}")
        if target.address is not None:
            if scenario.uses_web and target.deployment.web_address is None:
                raise click.UsageError(f"{name} needs --web-address")
            kept = locust(name, target.address, target) == 0
        elif scenario.min_share:
            # Load the second door even if the first one exceeds the budget.
            kept = sum(not _is_within_shares(scenario, door, target) for door in _POD_DOORS) == 0
        else:
            # Rooms in memory need a server with a single worker.
            more = ("--relay", "memory") if scenario.has_rooms else ("--workers", str(target.workers))
            with own_server(*more, doors=("grpcio", *(["web"] if scenario.uses_web else []))) as own:
                deployment = replace(target.deployment, web_address=own.addresses.get("web"))
                kept = locust(name, own.address, target._replace(deployment=deployment)) == 0
    if not target.has_ramp:
        click.echo(f"{name}: {'within its budget' if kept else 'budget broken'}\n")
    return kept


def _is_within_shares(scenario: Scenario, door: str, target: Target) -> bool:
    def load(address: str) -> int:
        return locust(scenario.name, address, target, f"{scenario.name}-{door}")

    code, phases = replacing_one(door, scenario.seconds / 3, load, click.echo)
    for phase in phases:
        click.echo(f"{plan.DOORS[door]}, {phase.text()}")
    broken = [line for phase in phases for line in phase.broken(scenario.min_share)]
    for line in broken:
        click.echo(f"budget: {line}")
    return code == 0 and not broken


def locust(name: str, address: str, target: Target, report: str | None = None) -> int:
    """Run a scenario against the servers at a gRPC target, and return Locust's exit code.

    `report` is the name of the report. With None, it is the name of the scenario.
    """
    command: tuple[str | Path, ...] = (
        *(Path(sys.executable).with_name("locust"), "--locustfile", HERE / "locustfile.py", "--headless"),
        *("--scenario", name, "--host", address, "--only-summary", "--html", REPORTS / f"{report or name}.html"),
        *(["--ramp"] if target.has_ramp else []),
        *(["--processes", str(target.processes)] if target.processes > 1 else []),
    )
    return subprocess.run(command, check=False, env=target.deployment.environment()).returncode


if __name__ == "__main__":
    main()
