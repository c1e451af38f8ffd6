"""The formats of the files that subcommands read."""

import json
import re
from enum import StrEnum
from pathlib import Path
from typing import Any

from chatiere.clients.records import SUFFIX, MalformedRecordError, read_record
from chatiere.clients.sealed_seat import header_of, table_of
from chatiere.command.common import CommandError
from chatiere.v1.record_pb2 import GameRecord

# The number of bytes that are read to recognise a format. No record of a sealed table is larger.
_MAX_BYTES = 2_000_000
_TAG_OF_RECORD = re.compile(r"^game: ", re.MULTILINE)


class Format(StrEnum):
    """A format. Its value is a description, with the commands that read the format."""

    RECORD = f"a record, which chatiere replay and chatiere analyse read from a file NAME{SUFFIX}"
    SAMPLE = f"a sample game, which chatiere replay reads from a file that is not named *{SUFFIX}"
    SEALED_TABLES = "sealed tables as text, which chatiere verify reads with --table"
    TABLE_RECORD = "the record of a game at a sealed table, which chatiere verify reads"


def unreadable(path: Path, wanted: Format, error: Exception) -> CommandError:
    """Return the error to report: it names the file's actual format if that differs, and otherwise quotes `error`.

    Args:
        path: The file.
        wanted: The format that the command reads.
        error: The error that occurred when the file was read in this format.
    """
    found = _format_of(path)
    return CommandError(str(error) if found in (None, wanted) else f"{path} contains {found}")


def record_in(path: Path) -> GameRecord:
    """Read a record from a file. Raises CommandError."""
    try:
        return read_record(path)
    except (MalformedRecordError, OSError) as error:
        raise unreadable(path, Format.RECORD, error) from error


def table_from(text: str) -> bytes:
    """Return a sealed table from text: base64url, or base64 as in JSON.

    Raises:
        ValueError: The text is in neither form.
    """
    return table_of(text.translate(str.maketrans("+/", "-_")).rstrip("="))


def _format_of(path: Path) -> Format | None:
    try:
        with path.open("rb") as file:
            text = file.read(_MAX_BYTES).decode("utf-8-sig")
    except (OSError, ValueError):
        return None
    if _TAG_OF_RECORD.search(text):
        return Format.RECORD
    words = text.split(maxsplit=1)
    try:
        header_of(table_from(words[0] if words else ""))
        return Format.SEALED_TABLES
    except ValueError:
        pass
    whole = _object_in(text)
    if "record" in whole:
        return Format.TABLE_RECORD
    first = _object_in(text.lstrip().partition("\n")[0])
    return Format.SAMPLE if "game" in first and "players" in first else None


def _object_in(text: str) -> dict[str, Any]:
    # Return the JSON object in a string, or an empty object if the string is not a JSON object.
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
