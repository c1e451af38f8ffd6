"""The keys that tables are sealed with.

The file of keys has one key per line: 64 hexadecimal digits, which are 32 random bytes (`openssl rand -hex 32`). Empty
lines and lines that begin with # are ignored. The first key seals new tables; a table keeps the key that it was made
with for all its plies, so an old key stays in the file until its last table has expired. Servers that share tables
have the same keys. A new key is first added at the end, everywhere, and then moved to the front: so no server meets a
table whose key it lacks.
"""

import hashlib
import re
import secrets
from functools import partial
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.ciphers.aead import AESGCMSIV
from prometheus_client import Gauge

from chatiere.service.base.files import WatchedFiles
from chatiere.service.base.settings import SettingError
from chatiere.service.tables.hkdf import derived

KEY_SIZE, KEY_ID_SIZE, MAC_SIZE = 32, 8, 16
NONCE_SIZE, TAG_SIZE = 12, 16
_LINE = re.compile(r"[0-9a-fA-F]{64}")


def new_key() -> bytes:
    """Return a new key."""
    return secrets.token_bytes(KEY_SIZE)


class TableKey:
    """A key, with what is derived from it for each purpose."""

    def __init__(self, key: bytes) -> None:
        """Take a key of 32 bytes. Raises SettingError where AES-GCM-SIV is not to be had."""
        self.key_id = derived(key, "chatiere table key id 1", size=KEY_ID_SIZE)
        """Names the key, and tells nothing of it."""
        self._nonces = derived(key, "chatiere table nonce 1")
        self._macs = derived(key, "chatiere table acknowledgement 1")
        try:
            self._cipher = AESGCMSIV(derived(key, "chatiere table seal 1"))
        except UnsupportedAlgorithm as error:
            message = "the package cryptography was built with an OpenSSL before 3.2, which has no AES-GCM-SIV"
            raise SettingError("table_keys", message) from error

    def seal(self, header: bytes, body: bytes) -> bytes:
        """Encrypt a body, and bind the header to it; the same two always give the same bytes."""
        # The header's length comes first, so that no other pair gives the same message.
        message = len(header).to_bytes(8, "little") + header + body
        # Keyed BLAKE2b is a MAC, and takes a third of HMAC's time.
        nonce = hashlib.blake2b(message, key=self._nonces, digest_size=NONCE_SIZE).digest()
        return nonce + self._cipher.encrypt(nonce, body, header)

    def open(self, header: bytes, seal: bytes) -> bytes:
        """Return the body. Raises cryptography's InvalidTag unless both are as this key sealed them."""
        return self._cipher.decrypt(seal[:NONCE_SIZE], seal[NONCE_SIZE:], header)

    def acknowledgement(self, table_hash: bytes, seat: int) -> bytes:
        """Return the code that says that a seat has acknowledged the table with a hash."""
        return hashlib.blake2b(bytes([seat]) + table_hash, key=self._macs, digest_size=MAC_SIZE).digest()


class Keyring:
    """The keys of a server."""

    def __init__(self, path: Path | None, key: bytes | None = None, rejected: Gauge | None = None) -> None:
        """Take the keys of a file or, without one, a single key; None: a new one. Raises SettingError.

        `rejected`: see WatchedFiles.
        """
        self._path = path
        self._keys: list[TableKey]
        if path is None:
            self._keys = [TableKey(key or new_key())]
        else:
            self._file = WatchedFiles("table keys", path, rejected=rejected)
            self._keys = _read(path)

    def newest(self) -> TableKey:
        """Return the key for new tables."""
        self._reread()
        return self._keys[0]

    def find(self, key_id: bytes) -> TableKey | None:
        """Return the key with an id; None if there is none."""
        self._reread()
        return next((key for key in self._keys if key.key_id == key_id), None)

    def _reread(self) -> None:
        # If the file has become unreadable or invalid, the keys stay as they were.
        if self._path is not None:
            reread = self._file.reread(partial(_read, self._path))
            if reread is not None:
                self._keys = reread


def _read(path: Path) -> list[TableKey]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingError("table_keys", f"cannot read {path}: {error}") from error
    keys: list[TableKey] = []
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        # What the line has is not told: it may be most of a key.
        if not _LINE.fullmatch(text):
            raise SettingError("table_keys", f"{path}, line {number}: not a key of 64 hexadecimal digits")
        key = TableKey(bytes.fromhex(text))
        if any(key.key_id == other.key_id for other in keys):
            raise SettingError("table_keys", f"{path}, line {number}: the key is there already")
        keys.append(key)
    if not keys:
        raise SettingError("table_keys", f"{path} has no keys, so that no table could be sealed")
    return keys
