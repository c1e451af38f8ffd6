"""HKDF with SHA-256 (RFC 5869), without salt."""

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF


def derived(key: bytes, purpose: str, number: int | None = None, *, size: int = 32) -> bytes:
    """Derive an independent secret from a key.

    The result reveals nothing about the key, or about secrets derived for another purpose.

    Args:
        key: The secret key.
        purpose: The label of the purpose.
        number: A number from 0 to 2**32 - 1, appended to the label in 4 bytes, little-endian; None to append no number.
        size: The size of the result in bytes, from 1 to 32.
    """
    info = purpose.encode() + (b"" if number is None else number.to_bytes(4, "little"))
    return HKDF(SHA256(), size, salt=None, info=info).derive(key)
