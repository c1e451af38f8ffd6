"""Small parts of HTTP: what fields of requests say."""

from __future__ import annotations

from collections.abc import Mapping


def takes_gzip(values: Mapping[str, str]) -> bool:
    """Return whether a client takes responses that are compressed with gzip."""
    for each in values.get("accept-encoding", "").split(","):
        coding, _, weight = each.partition(";")
        if coding.strip().lower() == "gzip":
            return weight.replace(" ", "").rstrip("0").rstrip(".") != "q="
    return False


def tags_in(values: Mapping[str, str]) -> list[str]:
    """Return the tags (ETag) of what a client has."""
    return [tag.strip() for tag in values.get("if-none-match", "").split(",")]
