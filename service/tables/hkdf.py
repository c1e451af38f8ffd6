"""HKDF with SHA-256 (RFC 5869), without salt."""

import hmac

_SIZE = 32


def derived(key: bytes, purpose: str, number: int | None = None, *, size: int = _SIZE) -> bytes:
    """Return `size` bytes (1 … 32) that tell nothing of the secret `key`, nor of those for another purpose.

    `purpose`: the label; `number`: 0 … 2**32 - 1, appended to it in 4 bytes, little-endian; None: nothing is.
    """
    info = purpose.encode() + (b"" if number is None else number.to_bytes(4, "little"))
    inner = hmac.digest(bytes(_SIZE), key, "sha256")
    return hmac.digest(inner, info + b"\x01", "sha256")[:size]
