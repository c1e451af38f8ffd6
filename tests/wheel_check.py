"""Build a wheel, install it in an environment of its own and use it as somebody else would.

It must play, type check, and let other people's Cython code cimport the engine: `make wheel`.
"""

import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent

PLAYS = """
from chatiere.engine import game
position = game("discat").new_game(2, seed=1)
position.play_out(1)
assert position.is_terminal()
import chatiere.clients, chatiere.command, chatiere.service, chatiere.v1.game_service_pb2
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
    """Run a command; say which one failed."""
    subprocess.run([str(part) for part in command], cwd=cwd, check=True)


def main() -> None:
    """All steps; the first that fails ends it."""
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        pip = ["-m", "pip", "--disable-pip-version-check", "--quiet"]
        run(sys.executable, *pip, "wheel", "--no-deps", "--wheel-dir", work, ROOT, cwd=work)
        (wheel,) = work.glob("chatiere-*.whl")
        names = zipfile.ZipFile(wheel).namelist()
        for wanted in ("chatiere/engine/core/game.pxd", "chatiere/engine/py.typed", "chatiere/v1/game_service_pb2.pyi"):
            assert wanted in names, f"the wheel lacks {wanted}"
        assert all(name.startswith("chatiere") for name in names), "the wheel puts something else at the top level"

        venv.create(work / "env", with_pip=True)
        python = work / "env" / "bin" / "python"
        run(python, *pip, "install", wheel, "mypy", "types-protobuf", "types-grpcio", "Cython", "setuptools", cwd=work)
        run(python, "-c", PLAYS, cwd=work)
        print("the wheel plays")
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


if __name__ == "__main__":
    main()
