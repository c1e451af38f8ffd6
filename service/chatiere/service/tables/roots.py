"""The root of a game, 256 random bits from which all its randomness is derived, and the commitment to the root."""

import hashlib
import secrets

from chatiere.service.tables.hkdf import derived

ROOT_SIZE, TABLE_ID_SIZE = 32, 16
_COMMITMENT = b"chatiere table root 1"
_STREAM, _BOT = "chatiere table stream 1", "chatiere table bot 1"


def new_root() -> bytes:
    """Return a new root."""
    return secrets.token_bytes(ROOT_SIZE)


def commitment_of(table_id: bytes, root: bytes) -> bytes:
    """Return the commitment to the root of a table (32 bytes). It reveals nothing about the root."""
    return hashlib.sha256(_COMMITMENT + table_id + root).digest()


def stream_of(root: bytes) -> tuple[int, int]:
    """Return the seed and the game number of the game's random stream."""
    words = derived(root, _STREAM, size=16)
    return int.from_bytes(words[:8], "little"), int.from_bytes(words[8:], "little")


def luck_of(root: bytes, ply: int) -> int:
    """Return the random number for the bot that decides after `ply` decisions (see `Decisions.luck`)."""
    return int.from_bytes(derived(root, _BOT, ply, size=8), "little")
