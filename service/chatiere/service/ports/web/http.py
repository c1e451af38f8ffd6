"""Parsing of fields of HTTP requests."""

from __future__ import annotations

from collections.abc import Mapping


def takes_gzip(values: Mapping[str, str]) -> bool:
    """Return True if a client accepts responses compressed with gzip."""
    for each in values.get("accept-encoding", "").split(","):
        coding, _, weight = each.partition(";")
        if coding.strip().lower() == "gzip":
            return weight.replace(" ", "").rstrip("0").rstrip(".") != "q="
    return False


def tags_in(values: Mapping[str, str]) -> list[str]:
    """Return the tags (ETag) of the responses that a client has cached."""
    return [tag.strip() for tag in values.get("if-none-match", "").split(",")]
