"""Load a service with scenarios, each judged by its budget: `make load`.

Without --address it starts its own server. The report of a run is build/load/<scenario>.html; that of the siege, which
always starts its own servers, is build/load/siege.json, and its tables are in build/load/siege.md.
"""

import subprocess
import sys
from pathlib import Path

import click

from loadtest.load.budget import read_scenario, scenario_names
from loadtest.load.own_server import own_server
from loadtest.siege import plan
from loadtest.siege.run import siege

HERE = Path(__file__).parent
REPORTS = Path("build/load")


@click.command()
@click.option(
    "--scenario",
    "names",
    type=click.Choice([*scenario_names(), plan.NAME]),
    multiple=True,
    help="A scenario; may be repeated. Default: all.",
)
@click.option("--address", default=None, help="HOST:PORT of a running server. Default: start one.")
@click.option("--workers", default=2, show_default=True, help="Workers of the server that it starts.")
@click.option("--attack", "attacks", multiple=True, help="Part of the name of attacks of the siege. Default: all.")
@click.option(
    "--door", "doors", type=click.Choice([*plan.DOORS]), multiple=True, help="A door to attack. Default: all."
)
def main(
    names: tuple[str, ...], address: str | None, workers: int, attacks: tuple[str, ...], doors: tuple[str, ...]
) -> None:
    """Run scenarios one after the other. The exit code is 1 if one breaks its budget."""
    if address is not None and plan.NAME in names:
        raise click.UsageError(f"{plan.NAME} only attacks servers that it starts: omit --address")
    if (attacks or doors) and names != (plan.NAME,):
        raise click.UsageError(f"--attack and --door need --scenario {plan.NAME}")
    entries = plan.read_plan().entries(attacks, doors)
    if not entries:
        raise click.UsageError("no attack has such a name and such a door")
    REPORTS.mkdir(parents=True, exist_ok=True)
    chosen = names or (*scenario_names(), *([plan.NAME] if address is None else []))
    broken = [name for name in chosen if not _is_within_budget(name, address, workers, entries)]
    if broken:
        raise click.ClickException(f"budget broken: {', '.join(broken)}")


def _is_within_budget(name: str, address: str | None, workers: int, entries: list[tuple[plan.Attack, str]]) -> bool:
    if name == plan.NAME:
        click.echo(f"{name}: {plan.read_plan().meaning}")
        kept = siege(entries, REPORTS / f"{name}.json")
    else:
        click.echo(f"{name}: {read_scenario(name).meaning}")
        if address is None:
            with own_server("--workers", str(workers)) as own:
                kept = locust(name, own.address) == 0
        else:
            kept = locust(name, address) == 0
    click.echo(f"{name}: {'within its budget' if kept else 'budget broken'}\n")
    return kept


def locust(name: str, address: str) -> int:
    """Run a scenario against a server, and return Locust's exit code."""
    command = (
        *(Path(sys.executable).with_name("locust"), "--locustfile", HERE / "locustfile.py", "--headless"),
        *("--scenario", name, "--host", address, "--only-summary", "--html", REPORTS / f"{name}.html"),
    )
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    main()
