"""Load a service with scenarios, each judged by its budget: `make load`.

Without --address it starts a server of its own. The report of a run is build/load/<scenario>.html.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from load.budget import read_scenario, scenario_names

HERE = Path(__file__).parent
REPORTS = Path("build/load")
LONGEST_START = 60.0


@contextmanager
def own_server(workers: int) -> Iterator[str]:
    """`chatiere serve` on a free port, as a process of its own; its address."""
    arguments = ("--address", "127.0.0.1:0", "--metrics-address", "off", "--workers", str(workers))
    with tempfile.TemporaryFile("w+") as log:
        command = (Path(sys.executable).with_name("chatiere"), "serve", *arguments)
        with subprocess.Popen(command, stderr=log) as process:
            try:
                yield _address(process, log.fileno())
            finally:
                process.terminate()


def _address(process: "subprocess.Popen[bytes]", log: int) -> str:
    end = time.monotonic() + LONGEST_START
    while time.monotonic() < end and process.poll() is None:
        text = os.pread(log, 100_000, 0).decode()
        if found := re.search(r"serving chatiere\.v1 on ([^\s,]+)", text):
            return found[1]
        time.sleep(0.05)
    raise click.ClickException(f"the server did not start:\n{os.pread(log, 100_000, 0).decode()}")


@click.command()
@click.option(
    "--scenario",
    "names",
    type=click.Choice(scenario_names()),
    multiple=True,
    help="Which; can be repeated. Default: all.",
)
@click.option("--address", default=None, help="HOST:PORT of a running server. Default: one of its own.")
@click.option("--workers", default=2, show_default=True, help="Workers of its own server.")
def main(names: tuple[str, ...], address: str | None, workers: int) -> None:
    """Run scenarios one after the other; exit code 1 if one has broken its budget."""
    REPORTS.mkdir(parents=True, exist_ok=True)
    broken = []
    for name in names or scenario_names():
        click.echo(f"{name}: {read_scenario(name).meaning}")
        if address is None:
            with own_server(workers) as own:
                code = locust(name, own)
        else:
            code = locust(name, address)
        click.echo(f"{name}: {'within its budget' if code == 0 else 'budget broken'}\n")
        if code:
            broken.append(name)
    if broken:
        raise click.ClickException(f"broken: {', '.join(broken)}")


def locust(name: str, address: str) -> int:
    """Run a scenario against a server; Locust's exit code."""
    command = (
        *(Path(sys.executable).with_name("locust"), "--locustfile", HERE / "locustfile.py", "--headless"),
        *("--scenario", name, "--host", address, "--only-summary", "--html", REPORTS / f"{name}.html"),
    )
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    main()
