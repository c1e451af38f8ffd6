"""A simulated person at a pseudo-terminal. The person types at each prompt."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
from collections.abc import Sequence
from typing import Self

# The output of prompt_toolkit when it begins to read a line: a mode, the prompt, and the cursor.
_PROMPT = re.compile(r"\x1b\[\?2004h.*?>.*?\x1b\[\?25h", re.DOTALL)
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[78=>]|[\r\b]")
# Let Ctrl-C interrupt the program as in a terminal. It is ignored by default if a shell runs the tests in the
# background.
_PROGRAM = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from chatiere.command import main
main()
"""
# A timeout in seconds. Only failing tests reach it.
_PATIENCE = 60.0


class Person:
    """A context manager that runs the command line in a terminal of 80 columns and 40 lines."""

    def __init__(self, *arguments: object, environment: dict[str, str] | None = None) -> None:
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 80, 0, 0))
        kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")}
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, *map(str, arguments)],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=kept | {"TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"} | (environment or {}),
            start_new_session=True,
        )
        os.close(theirs)
        self._terminal = ours
        self._buffer = ""
        self.screen = ""
        """The output so far, including escape sequences."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._terminal)

    @property
    def pid(self) -> int:
        return self._process.pid

    def _read(self) -> bool:
        """Read the available output. Return False at the end."""
        ready, _, _ = select.select([self._terminal], [], [], _PATIENCE)
        assert ready, f"no more output after {self.screen[-500:]!r}"
        try:
            data = os.read(self._terminal, 65536)
        except OSError:  # On Linux, the other end is closed.
            return False
        # A read may end within a character. This is harmless, because tests search only for ASCII text.
        text = data.decode("utf-8", "replace")
        self._buffer += text
        self.screen += text
        return bool(data)

    def prompt(self) -> str:
        """Wait for the next prompt. Return the output before it, and the prompt, without escape sequences."""
        while (found := _PROMPT.search(self._buffer)) is None:
            assert self._read(), f"it ended: {self.screen[-2000:]}"
        shown, self._buffer = self._buffer[: found.end()], self._buffer[found.end() :]
        return plain(shown).rstrip()

    def shows(self, text: str) -> None:
        """Wait until the terminal shows `text`."""
        while text not in plain(self._buffer):
            assert self._read(), f"it ended: {self.screen[-2000:]}"

    def types(self, keys: str) -> None:
        os.write(self._terminal, keys.encode())

    def enters(self, line: str) -> str:
        """Type a line. Return the output up to the next prompt."""
        self.types(f"{line}\r")
        return self.prompt()

    def leaves(self, keys: str) -> str:
        """Type keys that end the command. The command must succeed. Return its last output."""
        self.types(keys)
        return self.ends()

    def ends(self) -> str:
        """Wait until the command ends. The command must succeed. Return its last output."""
        while self._read():
            pass
        assert self._process.wait(_PATIENCE) == 0, self.screen[-2000:]
        return plain(self._buffer)


def plain(shown: str) -> str:
    return _ESCAPES.sub("", shown)


def numbers(shown: str) -> Sequence[int]:
    """Return the numbers of the moves offered last, or an empty sequence if the game is over."""
    if shown.endswith("Game over>"):
        return []
    *_, line = re.findall("^Moves: (.*)$", shown, re.M)
    return range(1, int(re.findall(r"(\d+) [a-z_]+", line)[-1]) + 1)
