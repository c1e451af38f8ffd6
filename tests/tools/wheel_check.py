"""Build sdist, wheel and a bill of materials into dist/, install the wheel in a separate environment and test it.

The wheel must play, serve the page, contain the API definition, type check, and let third-party Cython code cimport the
engine: `make wheel`. The bill (CycloneDX) lists the wheel and the releases that the image installs with it, with
hashes. On Linux the wheel contains libnghttp2 and a bill for it. Building the sdist from the sdist must give the same
file. A build without libnghttp2 must also play, and report what --fast-address requires.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request
import venv
import zipfile
from pathlib import Path

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from release.packages import (
    CONSTRAINTS,
    PIP,
    ROOT,
    build_sdist,
    build_wheel,
    epoch,
    names_in,
    needs_libraries,
    take_generated_c,
    unpack,
    write_bill,
)

DIST = ROOT / "dist"
# The maximum size of a wheel without its networks, in bytes.
HEAVIEST = 3_450_000

WANTED = (
    "chatiere/__main__.py",
    "chatiere/bots/networks/chat_perche-2.net.gz",
    "chatiere/bots/networks/discat-2.net.gz",
    "chatiere/bots/networks/momistigri-3.net.gz",
    "chatiere/engine/core/fr.mo",
    "chatiere/engine/core/operations.pxd",
    "chatiere/engine/games/discat/rules.md",
    "chatiere/engine/py.typed",
    "chatiere/v1/game_service_pb2.pyi",
    "chatiere/v1/descriptors.binpb",
    "chatiere/v1/game_service.proto",
    "chatiere/web/index.html",
    "chatiere/web/rules/discat.html",
    "chatiere/web/guide/discat.html",
    "chatiere/web/samples/discat.chatiere",
    "chatiere/web/shared/fields.js",
    "chatiere/web/shared/sealed_table.js",
)

# Without extras: the engine, bots and environments, without gRPC and the service's requirements.
BASE = """
from importlib.util import find_spec
from chatiere.engine import game
from chatiere.envs import TableEnv
import chatiere.arena.matches, chatiere.bots, chatiere.drawing.discat, chatiere.v1.game_service_pb2
position = game("discat").new_game(2, seed=1)
position.playout(1)
assert position.is_terminal()
with TableEnv("discat", 2, num_envs=8) as env:
    env.step(env.reset(seed=1).random_actions())
assert not any(map(find_spec, ("grpc", "cryptography", "uvloop", "prometheus_client")))
"""

PLAYS = """
from chatiere.engine import game
position = game("discat").new_game(2, seed=1)
position.playout(1)
assert position.is_terminal()
import chatiere.clients, chatiere.command.serve, chatiere.service, chatiere.v1.game_service_pb2
"""

# Checks that the loaded files of libnghttp2 are the wheel's own files.
BRINGS = """
import sys
from pathlib import Path
import chatiere.http2.client, chatiere.http2.server
loaded = {line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines() if "libnghttp2" in line}
assert loaded and all(path.startswith(sys.prefix) for path in loaded), loaded
"""

TYPED = """
from chatiere.clients import Client
from chatiere.engine import Position, game

position: Position = game("discat").new_game(2, seed=1)
actions: list[int] = position.legal_actions()

def games(client: Client) -> list[str]:
    return [info.name for info in client.list_games()]
"""

CIMPORTS = """
from chatiere.engine.core.stream cimport Stream, next_word, stream_at

def first_word(seed):
    cdef Stream stream = stream_at(seed, 0, 0)
    return next_word(&stream)
"""

CIMPORTS_BUILD = """
from setuptools import Extension, setup
from Cython.Build import cythonize
setup(name="guest", ext_modules=cythonize([Extension("guest", ["guest.pyx"])], language_level=3))
"""


def run(*command: str | Path, cwd: Path) -> None:
    """Run a command. If it fails, the error names it."""
    subprocess.run([str(part) for part in command], cwd=cwd, check=True)


def size_of_networks(wheel: Path) -> int:
    """Return the size of a wheel's networks in bytes."""
    with zipfile.ZipFile(wheel) as opened:
        return sum(each.compress_size for each in opened.infolist() if each.filename.endswith(".net.gz"))


def check_bill(wheel: Path) -> Path:
    """Check that a wheel's bill of materials follows CycloneDX's schema and is complete. Return its path."""
    bill = wheel.with_suffix(".cdx.json")
    error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(bill.read_text())
    assert error is None, error
    document = json.loads(bill.read_text())
    about = document["metadata"]["component"]
    assert wheel.name.startswith(f"{about['name']}-{about['version']}-"), about
    pinned = set(re.findall(r"^([\w.-]+)==(\S+)", CONSTRAINTS.read_text(), re.M))
    assert {(each["name"], each["version"]) for each in document["components"]} == pinned
    for each in document["components"]:
        assert each["purl"] == f"pkg:pypi/{each['name']}@{each['version']}"
        assert each["externalReferences"][0]["hashes"], each["name"]
    return bill


def check_base(python: Path, work: Path) -> None:
    """Play with an installed wheel without extras. Check that commands name the extras that they need."""
    run(python, "-c", BASE, cwd=work)
    chatiere = python.with_name("chatiere")
    run(chatiere, "selfplay", "--game", "discat", "--games", "10", "--bots", "random", cwd=work)
    for command, extra in (("serve", "service"), ("play", "service"), ("web", "web")):
        done = subprocess.run([chatiere, command], cwd=work, capture_output=True, text=True, check=False)
        assert done.returncode == 2, done
        assert done.stderr.endswith(f"is not installed: pip install 'chatiere[{extra}]'\n"), done


def check_page(python: Path, work: Path) -> None:
    """Load the page that an installed wheel serves."""
    command = (python.with_name("chatiere"), "web", "--address", "127.0.0.1:0", "--table-keys", work / "keys")
    with subprocess.Popen(command, cwd=work, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        match = re.search(r"http://\S+", process.stdout.readline())
        try:
            assert match, "no URL"
            with urllib.request.urlopen(match[0], timeout=30) as answer:
                assert answer.read() == (ROOT / "web/index.html").read_bytes()
        finally:
            process.terminate()
    assert process.returncode == 0, process.returncode


def check_libraries(wheel: Path) -> None:
    """Compare the bill in a wheel with the libraries that the wheel contains."""
    names = names_in(wheel)
    brought = {name.split("/")[-1].split("-")[0] for name in names if name.startswith("chatiere.libs/")}
    (bill,) = (name for name in names if ".dist-info/sboms/" in name)
    with zipfile.ZipFile(wheel) as opened:
        text = opened.read(bill).decode()
    error = JsonStrictValidator(SchemaVersion.V1_4).validate_str(text)
    assert error is None, error
    listed = {each["name"].split("-")[0] for each in json.loads(text)["components"]} - {"chatiere"}
    assert brought == listed == {"libnghttp2"}, (brought, listed)


def check_again(sdist: Path, source: Path, work: Path) -> None:
    """Build the sdist again from its content in another folder, and compare."""
    again = build_sdist(source, work / "again")
    assert again.read_bytes() == sdist.read_bytes(), "the sdist built from the sdist differs"


def check_without_nghttp2(source: Path, work: Path) -> None:
    """Build, install and try a wheel while pkg-config does not find the library."""
    os.environ["PKG_CONFIG"] = "false"
    for built in source.glob("build/lib*/chatiere/http2/*.so"):
        # Setuptools would also add it to this wheel.
        built.unlink()
    wheel = build_wheel(source, work / "without")
    venv.create(work / "plain", with_pip=True)
    python = work / "plain" / "bin" / "python"
    run(python, *PIP, "install", f"{wheel}[service]", cwd=work)
    run(python, "-c", PLAYS, cwd=work)
    command = [
        str(work / "plain" / "bin" / "chatiere"),
        "serve",
        "--address",
        "127.0.0.1:0",
        "--metrics-address",
        "127.0.0.1:0",
        "--fast-address",
        "127.0.0.1:0",
    ]
    result = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False)
    assert result.returncode != 0, result
    assert "built without libnghttp2: install libnghttp2-dev" in result.stderr, result


def main() -> None:
    """Run all steps up to the first step that fails."""
    shutil.rmtree(DIST, ignore_errors=True)
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        # All steps use one time, regardless of commits made in the meantime.
        os.environ["SOURCE_DATE_EPOCH"] = str(epoch())
        sdist = build_sdist(ROOT, DIST)
        source = unpack(sdist, work / "source")
        check_again(sdist, source, work)
        print("building the sdist in another folder gives the same file")
        take_generated_c(source)
        wheel = build_wheel(source, DIST)
        write_bill(wheel)
        size, networks = wheel.stat().st_size, size_of_networks(wheel)
        print(f"{wheel.name} has {size:,} bytes, {networks:,} of them networks")
        assert size - networks <= HEAVIEST
        has_http2 = needs_libraries(wheel)
        names = names_in(wheel)
        for wanted in WANTED:
            assert wanted in names, f"the wheel lacks {wanted}"
        assert all(name.startswith("chatiere") for name in names), "the wheel has other files at the top level"
        page = {name for name in names if name.startswith("chatiere/web/") and not name.endswith("/")}
        served = {Path(name).suffix for name in page - {"chatiere/web/__init__.py"}}
        assert served == {".chatiere", ".css", ".html", ".js", ".json", ".png", ".svg", ".webmanifest"}, served

        print(f"the bill of materials is {check_bill(wheel).relative_to(ROOT)}")
        venv.create(work / "env", with_pip=True)
        python = work / "env" / "bin" / "python"
        run(python, *PIP, "install", wheel, cwd=work)
        check_base(python, work)
        print("the wheel plays without extras")
        tools = ("mypy", "types-protobuf", "types-grpcio", "Cython", "setuptools")
        run(python, *PIP, "install", f"{wheel}[web]", *tools, cwd=work)
        run(python, "-c", PLAYS, cwd=work)
        print("the wheel plays with a service")
        check_page(python, work)
        print("the wheel serves the page")
        run(python.with_name("chatiere"), "protos", work / "api", cwd=work)
        defined = (work / "api" / "chatiere" / "v1" / "game_service.proto").read_bytes()
        assert defined == (ROOT / "proto" / "chatiere" / "v1" / "game_service.proto").read_bytes()
        assert (work / "api" / "google" / "rpc" / "error_details.proto").exists()
        run(Path(sys.executable).with_name("buf"), "build", "api/descriptors.binpb", cwd=work)
        print("the wheel contains the API definition")
        if has_http2:
            check_libraries(wheel)
            run(python, "-c", BRINGS, cwd=work)
            print("the wheel contains libnghttp2 and a bill for it")
        (work / "typed.py").write_text(TYPED)
        run(python, "-m", "mypy", "--strict", "typed.py", cwd=work)
        (work / "guest.pyx").write_text(CIMPORTS)
        (work / "setup.py").write_text(CIMPORTS_BUILD)
        run(python, "setup.py", "--quiet", "build_ext", "--inplace", cwd=work)
        run(
            python,
            "-c",
            "import guest; from chatiere.engine.core.stream import words; "
            "assert guest.first_word(5) == words(5, 0, 0, 1)[0]",
            cwd=work,
        )
        print("the wheel can be cimported")
        check_without_nghttp2(source, work)
        print("a build without libnghttp2 plays")


if __name__ == "__main__":
    main()
