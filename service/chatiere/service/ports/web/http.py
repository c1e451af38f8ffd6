"""Small parts of HTTP and ASGI."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

# ASGI's: a request's facts, and what receives its parts and sends the response's.
Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]

# Seconds for which the rest of a refused request is read: if its connection were closed at once, the client might not
# read why.
_LINGER = 1.0


def value_of(headers: Headers, name: bytes) -> bytes | None:
    """Return the value of a header that comes at most once; None if there is none. `name`: in lower case."""
    for each, value in headers:
        if each == name:
            return value
    return None


def number_in(headers: Headers, name: bytes) -> int | None:
    """Return the number in a header; None if there is none."""
    value = value_of(headers, name)
    return int(value) if value is not None and value.isdigit() else None


def has_body(headers: Headers) -> bool:
    """Return whether a request with these headers has a body."""
    return bool(number_in(headers, b"content-length")) or value_of(headers, b"transfer-encoding") is not None


def takes_gzip(headers: Headers) -> bool:
    """Return whether a client takes responses that are compressed with gzip."""
    for name, value in headers:
        if name == b"accept-encoding":
            for each in value.split(b","):
                coding, _, weight = each.partition(b";")
                if coding.strip().lower() == b"gzip":
                    return weight.replace(b" ", b"").rstrip(b"0").rstrip(b".") != b"q="
    return False


def tags_in(headers: Headers) -> list[bytes]:
    """Return the tags (ETag) of what a client has."""
    return [tag.strip() for name, value in headers if name == b"if-none-match" for tag in value.split(b",")]


async def send_whole(send: Send, status: int, headers: Headers, body: bytes, rest: Receive | None) -> None:
    """Send a response.

    `rest`: receives what is left of the request, of which some is read before the connection ends; None: nothing is.
    """
    if status != 304:
        headers = [*headers, (b"content-length", str(len(body)).encode())]
    if rest is not None:
        headers = [*headers, (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    if rest is not None and status != 304:
        await send({"type": "http.response.body", "body": body, "more_body": True})
        await _read(rest)
        body = b""
    await send({"type": "http.response.body", "body": body, "more_body": False})


async def _read(rest: Receive) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(_LINGER):
            while (await rest()).get("more_body", False):
                pass
