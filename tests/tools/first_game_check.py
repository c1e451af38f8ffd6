"""Follow docs/first_game.md with the wheel: without extras and with each extra, each time in an empty environment.

`make first-game PYTHONS="python3.12 python3.13"` builds the wheel for each of these Pythons. The page's blocks run
unchanged, except that pip installs the wheel instead of a release, and that servers listen on free ports. Prints the
time from the empty folder to the end of the game, in seconds. Fails if a block fails.
"""

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

from release.packages import ROOT, build_sdist, build_wheel, epoch, take_generated_c, unpack

PAGE = (ROOT / "docs/first_game.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
SHELL = [block for language, block in BLOCKS if not language]
PYTHON = [block for language, block in BLOCKS if language == "python"]
# The page's first line creates the environment.
ENVIRONMENT = SHELL[0].partition("\n")[0]
# The ports of the page's servers may be in use by other programs.
FREE_PORTS = {
    "chatiere web": "chatiere web --address 127.0.0.1:0 --table-keys keys",
    "chatiere serve --address 127.0.0.1:50051": "chatiere serve --address 127.0.0.1:0 --metrics-address off",
}
# A program for each extra that the page does not install.
USES = {
    "client": "import chatiere.clients",
    "traces": "import chatiere.command.serve, opentelemetry.instrumentation.grpc, opentelemetry.sdk.trace",
    "redis": "import chatiere.command.serve, redis.asyncio",
    "pettingzoo": "from chatiere.envs import pettingzoo; pettingzoo.env('discat', 2).reset(seed=7)",
    "gymnasium": "import chatiere.envs.gymnasium, gymnasium",
    "mcp": "import chatiere.mcp.server",
    "openenv": "from chatiere.envs.openenv import create_app; create_app('discat')",
    "textarena": "import chatiere.envs.textarena, textarena; textarena.make('chatiere/discat-v1').reset(2, seed=7)",
    "verifiers": "import chatiere.envs.verifiers",
    "openspiel": "import chatiere.envs.openspiel, pyspiel; pyspiel.load_game('chatiere_discat').new_initial_state()",
    "data": "from chatiere.command import main; main('selfplay --game discat --games 9 --output games'.split())",
    "ray": "import chatiere.selfplay.cluster, ray",
    "onnx": "import chatiere.bots.network, onnxruntime",
    "arena": "from chatiere.command import main; main('arena --game discat --games 9 --bots random,largest'.split())",
    "train": "import chatiere.command.train, chatiere.training.network",
}


def commands(extra: str | None) -> str:
    """Return the shell commands that install the package with an extra in an empty folder, and play with it."""
    if extra is None:
        return f"{ENVIRONMENT}\npip install chatiere\n"
    for block in SHELL:
        if f"pip install 'chatiere[{extra}]'\n" in block:
            return block if block.startswith(ENVIRONMENT) else f"{ENVIRONMENT}\n{block}"
    return f"{ENVIRONMENT}\npip install 'chatiere[{extra}]'\npython -c \"{USES[extra]}\"\n"


def run(script: str, folder: Path, environment: dict[str, str]) -> None:
    """Run commands. If the last one is a server, connect to the address that it prints, and stop it."""
    for command, free in FREE_PORTS.items():
        script = script.replace(f"\n{command}\n", f"\n{free}\n")
    process = subprocess.Popen(
        ("bash", "-ec", script),
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    is_served = any(free in script for free in FREE_PORTS.values())
    printed = []
    with process:
        assert process.stdout is not None
        for line in process.stdout:
            printed.append(line)
            if is_served and (found := re.search(r"127\.0\.0\.1:(\d+)", line)):
                socket.create_connection(("127.0.0.1", int(found[1]))).close()
                os.killpg(process.pid, signal.SIGTERM)
                return
    if process.returncode != 0 or is_served:
        sys.exit(f"{script}\n{''.join(printed)}")


def check(python: Path, wheel: Path, extra: str | None) -> float:
    """Follow the page with one Python and one extra. Return the time that this took, in seconds."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        constraint = folder / "constraint.txt"
        constraint.write_text("chatiere=={1}\n".format(*wheel.name.split("-")))
        (folder / "python3").symlink_to(python)
        environment = os.environ | {
            "PATH": f"{folder}:{os.environ['PATH']}",
            "PIP_CONSTRAINT": str(constraint),
            "PIP_FIND_LINKS": str(wheel.parent),
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        }
        start = time.monotonic()
        run(commands(extra), folder, environment)
        for program in PYTHON:
            subprocess.run((folder / "cats/bin/python", "-c", program), stdout=subprocess.DEVNULL, check=True)
        return time.monotonic() - start


def main(pythons: list[str]) -> None:
    """Follow the page with each Python, without extras and with each extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    os.environ["SOURCE_DATE_EPOCH"] = str(epoch())
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        source = unpack(build_sdist(ROOT, work / "sdist"), work / "source")
        take_generated_c(source)
        for number, python in enumerate(pythons):
            command = (python, "-c", "import sys; print(sys.executable)")
            path = Path(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip())
            wheel = build_wheel(source, work / f"{number}", path)
            print(f"{python}: {wheel.name}", flush=True)
            for extra in (None, *project["optional-dependencies"]):
                print(f"  {extra or 'no extra':20}{check(path, wheel, extra):6.1f} s", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
