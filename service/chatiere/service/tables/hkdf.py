"""HKDF with SHA-256 (RFC 5869), without salt."""

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF


def derived(key: bytes, purpose: str, number: int | None = None, *, size: int = 32) -> bytes:
    """Return `size` bytes (1 … 32) that tell nothing of the secret `key`, nor of those for another purpose.

    `purpose`: the label; `number`: 0 … 2**32 - 1, appended to it in 4 bytes, little-endian; None: nothing is.
    """
    info = purpose.encode() + (b"" if number is None else number.to_bytes(4, "little"))
    return HKDF(SHA256(), size, salt=None, info=info).derive(key)
