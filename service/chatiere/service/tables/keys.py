"""The keys that seal tables.

The key file has one key per line: 32 random bytes as 64 hexadecimal digits (`openssl rand -hex 32`). Empty lines and
lines that begin with # are ignored. The first key seals new tables. All plies of a game use the key of its first table,
so an old key must stay in the file until the last table of these games has expired. Servers that share tables have the
same keys. First add a new key at the end of the file on every server. Then move it to the front. In this way, no server
receives a table whose key it does not have.
"""

import hashlib
import re
from functools import cached_property, partial
from pathlib import Path

from prometheus_client import Gauge

from chatiere.service.base.files import WatchedFiles, read_entries
from chatiere.service.base.settings import SettingError
from chatiere.service.tables.new_key import new_key

KEY_ID_SIZE, MAC_SIZE = 8, 16
NONCE_SIZE, TAG_SIZE = 12, 16
_LINE = re.compile(r"[0-9a-fA-F]{64}")


class TableKey:
    """A key of the key file, and the keys derived from it, one for each purpose."""

    def __init__(self, key: bytes) -> None:
        """Derive the keys from a key of 32 bytes. Raises SettingError if AES-GCM-SIV is not available."""
        # The library is imported here, because a worker without sealed tables does not need it.
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.ciphers.aead import AESGCMSIV

        from chatiere.service.tables.hkdf import derived

        self.key_id = derived(key, "chatiere table key id 1", size=KEY_ID_SIZE)
        """The identifier of the key. It reveals nothing about the key."""
        self._nonces = derived(key, "chatiere table nonce 1")
        self._macs = derived(key, "chatiere table acknowledgement 1")
        try:
            self._cipher = AESGCMSIV(derived(key, "chatiere table seal 1"))
        except UnsupportedAlgorithm as error:
            message = "the package cryptography was built with an OpenSSL before 3.2, which has no AES-GCM-SIV"
            raise SettingError("table_keys", message) from error

    def seal(self, header: bytes, body: bytes) -> bytes:
        """Encrypt and authenticate a body, and authenticate its header. Equal arguments give equal bytes."""
        # Put the header's length first, so that no other pair of header and body gives the same message.
        message = len(header).to_bytes(8, "little") + header + body
        # Keyed BLAKE2b is a MAC, and needs a third of the time of HMAC.
        nonce = hashlib.blake2b(message, key=self._nonces, digest_size=NONCE_SIZE).digest()
        return nonce + self._cipher.encrypt(nonce, body, header)

    def open(self, header: bytes, seal: bytes) -> bytes:
        """Return the decrypted body. Raises cryptography's InvalidTag if the header or seal was modified."""
        return self._cipher.decrypt(seal[:NONCE_SIZE], seal[NONCE_SIZE:], header)

    def acknowledgement(self, table_hash: bytes, seat: int) -> bytes:
        """Return the authentication code which proves that a seat has acknowledged the table with this hash."""
        return hashlib.blake2b(bytes([seat]) + table_hash, key=self._macs, digest_size=MAC_SIZE).digest()


class Keyring:
    """The keys of a server."""

    def __init__(self, path: Path | None, key: bytes | None = None, rejected: Gauge | None = None) -> None:
        """Load the keys.

        Args:
            path: The key file; None to use a single key.
            key: The single key; None to generate one.
            rejected: See WatchedFiles.

        Raises:
            SettingError: If the file cannot be read, or is invalid.
        """
        self._file: WatchedFiles[list[TableKey]] | None = None
        self._key = key or new_key()
        if path is not None:
            self._file = WatchedFiles("table keys", partial(_read, path), path, rejected=rejected)

    def newest(self) -> TableKey:
        """Return the key for new tables."""
        return self._keys()[0]

    def find(self, key_id: bytes) -> TableKey | None:
        """Return the key with an id, or None if it is unknown."""
        return next((key for key in self._keys() if key.key_id == key_id), None)

    @cached_property
    def _single(self) -> list[TableKey]:
        return [TableKey(self._key)]

    def _keys(self) -> list[TableKey]:
        # If the file has become unreadable or invalid, the previous keys remain in use.
        return self._single if self._file is None else self._file.current()


def _read(path: Path) -> list[TableKey]:
    keys: list[TableKey] = []
    for number, line in read_entries("table_keys", path):
        # Do not quote the line in the message, because it may contain most of a key.
        if not _LINE.fullmatch(line):
            raise SettingError("table_keys", f"{path}, line {number}: not a key of 64 hexadecimal digits")
        key = TableKey(bytes.fromhex(line))
        if any(key.key_id == other.key_id for other in keys):
            raise SettingError("table_keys", f"{path}, line {number}: duplicate key")
        keys.append(key)
    if not keys:
        raise SettingError("table_keys", f"{path} has no keys")
    return keys
