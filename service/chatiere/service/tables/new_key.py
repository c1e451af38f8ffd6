"""New keys for sealed tables, in a module that does not import the cryptography library."""

import secrets

KEY_SIZE = 32
"""The size of a key in bytes."""


def new_key() -> bytes:
    """Return a new key."""
    return secrets.token_bytes(KEY_SIZE)
