"""Bearer tokens of clients.

The tokens file has one line for each token, `NAME SHA256`: a name for the client, and the SHA-256 of the client's token
in hexadecimal. Empty lines and lines that begin with # are ignored. Several tokens may have the same name, so that a
client can change its token without interruption. `chatiere token` creates a token and its line.

A token consists of 256 random bits. They cannot be guessed, so a plain hash is enough to prevent readers of the file
from finding a token. Slow hashes are needed only for passwords.
"""

import hashlib
import hmac
import re
import secrets
from functools import partial
from pathlib import Path

from prometheus_client import Gauge

from chatiere.service.base.files import WatchedFiles, read_entries
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
        """Read the file. For `rejected` see WatchedFiles. Raises SettingError."""
        self._file = WatchedFiles("tokens", partial(_read, path), path, rejected=rejected)
        if not self._file.current():
            raise SettingError("tokens", f"{path} has no tokens, so no client could call")

    def client_of(self, token: str) -> str | None:
        """Return the name of a token, or None if it is not in the file.

        If the file has become unreadable or invalid, the error is logged and the previous tokens remain valid.
        """
        digest = hashlib.sha256(token.encode(errors="surrogateescape")).digest()
        found = None
        # Compare all tokens, each in constant time, so that the duration reveals nothing about them.
        for known, name in self._file.current():
            if hmac.compare_digest(known, digest):
                found = name
        return found


def _read(path: Path) -> list[tuple[bytes, str]]:
    clients = []
    for number, line in read_entries("tokens", path):
        match = _LINE.fullmatch(line)
        if match is None:
            raise SettingError("tokens", f"{path}, line {number}: not a name and a SHA-256 in lower-case hexadecimal")
        clients.append((bytes.fromhex(match[2]), match[1]))
    return clients
