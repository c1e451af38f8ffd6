"""Bearer tokens of clients.

The tokens file has one line per token, `NAME SHA256`: a name for the client and the SHA-256 of its token in
hexadecimal. Empty lines and lines that begin with # are ignored. Several tokens may have the same name, so that a
client can change its token without a pause. `chatiere token` makes a token and its line.

A token is 256 random bits. It cannot be guessed or found by trying, so a plain hash makes the file worthless to its
readers; slow hashes are for passwords.
"""

import hashlib
import hmac
import re
import secrets
from functools import partial
from pathlib import Path

from prometheus_client import Gauge

from chatiere.service.base.files import WatchedFiles
from chatiere.service.base.settings import SettingError

_NAME = r"[A-Za-z0-9._-]{1,64}"
_LINE = re.compile(rf"({_NAME})[ \t]+([0-9a-f]{{64}})")


def new_token(name: str) -> tuple[str, str]:
    """Return a new token for a client, and its line in the tokens file. Raises ValueError for an invalid name."""
    if not re.fullmatch(_NAME, name):
        raise ValueError(f"a name must be 1 to 64 letters, digits and any of . _ -, not {name!r}")
    token = secrets.token_urlsafe(32)
    return token, f"{name} {hashlib.sha256(token.encode()).hexdigest()}"


class Tokens:
    """The tokens of a file, reread when it changes."""

    def __init__(self, path: Path, rejected: Gauge | None = None) -> None:
        """Read the file; `rejected`: see WatchedFiles. Raises SettingError."""
        self._path = path
        self._file = WatchedFiles("tokens", path, rejected=rejected)
        self._clients = _read(path)
        if not self._clients:
            raise SettingError("tokens", f"{path} has no tokens: nobody could call")

    def client_of(self, token: str) -> str | None:
        """Return the name of a token; None if it is not in the file.

        If the file has become unreadable or invalid, that is logged and the tokens stay as they were.
        """
        reread = self._file.reread(partial(_read, self._path))
        if reread is not None:
            self._clients = reread
        digest = hashlib.sha256(token.encode(errors="surrogateescape")).digest()
        found = None
        # All are compared, each in constant time: the duration reveals nothing.
        for known, name in self._clients:
            if hmac.compare_digest(known, digest):
                found = name
        return found


def _read(path: Path) -> list[tuple[bytes, str]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingError("tokens", f"cannot read {path}: {error}") from error
    clients = []
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line.strip())
        if match is None:
            raise SettingError("tokens", f"{path}, line {number}: not a name and a SHA-256 in lower-case hexadecimal")
        clients.append((bytes.fromhex(match[2]), match[1]))
    return clients
