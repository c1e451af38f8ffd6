"""Compare bots' choices on another processor: aarch64 under qemu-user (`make processors`).

    python tests/tools/other_processor.py

builds the engine for aarch64, runs bots/visits.py with Debian's Python for aarch64, and compares the output with
bots/visits.json. A different last digit hardly ever changes a choice. Therefore it also searches the compiled search
and playouts for code whose rounding depends on processor or library. It ends without a comparison if its tools are
missing: qemu-user, gcc-aarch64-linux-gnu, and apt-get with a Python of this version.
"""

import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "aarch64"
SYSTEM, LIBRARY, PACKAGES = BUILD / "system", BUILD / "lib", BUILD / "packages"
COMPILER = "aarch64-linux-gnu-gcc"
TOOLS = ("qemu-aarch64", COMPILER, "apt-get", "dpkg")
PYTHON = f"python{sys.version_info[0]}.{sys.version_info[1]}"
# Debian's packages for Python on aarch64.
DEBIAN = (
    f"{PYTHON}-minimal",
    f"lib{PYTHON}-minimal",
    f"lib{PYTHON}-stdlib",
    "libc6",
    "libexpat1",
    "libffi8",
    "libgcc-s1",
    "libstdc++6",
    "zlib1g",
)
# Instructions that round a product and a sum in one step, and functions whose last digit depends on the library.
INEXACT = re.compile(r"\bfn?m(?:add|sub)\b|\bfml[as]\b|\b(?:log|log2|log1p|exp|exp2|pow)(?=\s)")
# The platform tags of NumPy's wheels.
PLATFORMS = ("manylinux_2_28_aarch64", "manylinux_2_27_aarch64", "manylinux2014_aarch64")


def run(*command: str | Path, folder: Path = ROOT, **variables: str) -> str:
    """Run a command and return its output. Raises CalledProcessError."""
    return subprocess.run(
        list(map(str, command)), cwd=folder, env=os.environ | variables, stdout=subprocess.PIPE, text=True, check=True
    ).stdout


def get_packages() -> bool:
    """Unpack Python and NumPy for aarch64 unless they exist. Return False if Debian does not have this Python."""
    if (SYSTEM / "usr/bin" / PYTHON).exists() and (LIBRARY / "numpy").exists():
        return True
    PACKAGES.mkdir(parents=True, exist_ok=True)
    # apt's lists for the other architecture are separate from the lists of this machine.
    lists = PACKAGES / "lists"
    lists.mkdir(exist_ok=True)
    apt = ["apt-get", "-q", "-o", "APT::Architecture=arm64", "-o", "APT::Architectures::=arm64"]
    apt += ["-o", f"Dir::State::Lists={lists}", "-o", f"Dir::Cache={PACKAGES}", "-o", "Dir::State::status=/dev/null"]
    apt += ["-o", "APT::Sandbox::User=root"]
    try:
        run(*apt, "update")
        run(*apt, "download", *DEBIAN, folder=PACKAGES)
    except subprocess.CalledProcessError:
        return False
    for package in PACKAGES.glob("*.deb"):
        run("dpkg", "-x", package, SYSTEM)
    platforms = [f"--platform={platform}" for platform in PLATFORMS]
    pip = [sys.executable, "-m", "pip", "--quiet", "install", "--no-deps", "--only-binary=:all:"]
    run(
        *pip,
        "--target",
        LIBRARY,
        *platforms,
        "--python-version",
        PYTHON.removeprefix("python"),
        f"numpy=={version('numpy')}",
    )
    return True


def build() -> None:
    """Build the engine for aarch64."""
    run(
        sys.executable,
        *("setup.py", "-q", "build", "--build-base", BUILD / "build", "--build-lib", LIBRARY),
        # This build compiles in half of the time that a release takes. Its flags have the same effect on rounding as a
        # release's flags.
        CHATIERE_BUILD="trial",
        CFLAGS="-fexpensive-optimizations",
        CC=COMPILER,
        LDSHARED=f"{COMPILER} -shared",
        PKG_CONFIG="false",
        SETUPTOOLS_EXT_SUFFIX=f".{sys.implementation.cache_tag}-aarch64-linux-gnu.so",
        _PYTHON_HOST_PLATFORM="linux-aarch64",
    )


def rounded_otherwise() -> list[str]:
    """Return the parts of the compiled bots and loops whose code has more than one correct result."""
    found = []
    for module in (*LIBRARY.glob("chatiere/bots/*.so"), *LIBRARY.glob("chatiere/engine/core/loops.*.so")):
        code = run("aarch64-linux-gnu-objdump", "--disassemble", "--dynamic-syms", module)
        found += [f"{module.stem}: {word}" for word in sorted(set(INEXACT.findall(code)))]
    return found


def main() -> None:
    """Build, run and compare."""
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing or not get_packages():
        print("nothing compared, missing:", ", ".join(missing) or f"{PYTHON} of Debian")
        return
    build()
    if found := rounded_otherwise():
        sys.exit("\n".join(found))
    python = SYSTEM / "usr/bin" / PYTHON
    tests = ROOT / "tests"
    printed = run("qemu-aarch64", "-L", SYSTEM, python, "-m", "bots.visits", folder=tests, PYTHONPATH=str(LIBRARY))
    if printed != (tests / "bots/visits.json").read_text(encoding="utf-8"):
        (BUILD / "visits.json").write_text(printed, encoding="utf-8")
        sys.exit(f"bots make different choices on aarch64: compare {BUILD}/visits.json with tests/bots/visits.json")
    print(f"bots make the same choices on aarch64 as on this processor: {len(printed.splitlines())} lines are the same")


if __name__ == "__main__":
    main()
