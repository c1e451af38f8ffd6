"""The application behind the port for browsers: calls, health, pages, and access for other origins."""

from __future__ import annotations

import asyncio
import ipaddress
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress

from chatiere.service.base.settings import ANY_ORIGIN
from chatiere.service.ports.web.calls import Door, Exchange, Route, protocols_of
from chatiere.service.ports.web.connection import Connection
from chatiere.service.ports.web.http import Headers, Receive, Scope, Send, has_body, send_whole, value_of
from chatiere.service.ports.web.pages import Pages

HEALTH = "/healthz"

# What a request's body may be; parameters follow a semicolon.
_CONTENT_TYPES = {
    b"application/proto",
    b"application/json",
    b"application/grpc-web",
    b"application/grpc-web+proto",
    b"application/grpc-web+json",
}
# Of preflights: seconds for which browsers keep them (most allow two hours at most), what pages may send and read.
_KEPT = b"7200"
_METHODS = b"GET, POST"
_SENT = (
    b"accept-language, authorization, connect-protocol-version, connect-timeout-ms, content-encoding, content-type, "
    b"grpc-timeout, traceparent, tracestate, x-grpc-web, x-request-id, x-user-agent"
)
_READ = b"content-language, grpc-message, grpc-status, grpc-status-details-bin, x-request-id"
_TEXT = (b"content-type", b"text/plain; charset=utf-8")
# RFC 9110, section 7.2: a host, which a port may follow.
_HOST = re.compile(rb"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]*)?")
# Browsers take responses for what their content-type says.
_NO_GUESS = (b"x-content-type-options", b"nosniff")


class Origins:
    """The other origins whose pages may call."""

    def __init__(self, origins: Collection[str]) -> None:
        """Let in pages of these origins."""
        self._are_all = ANY_ORIGIN in origins
        self._origins = frozenset(origin.encode() for origin in origins)

    def headers_for(self, origin: bytes | None) -> Headers:
        """Return the headers of a response to a page of an origin; None: the browser names none."""
        if self._are_all:
            return [(b"access-control-allow-origin", b"*"), (b"access-control-expose-headers", _READ)]
        if not self._origins:
            return []
        # Caches must not give one origin what was made for another, or for none.
        vary = (b"vary", b"origin")
        if origin not in self._origins or origin is None:
            return [vary]
        return [vary, (b"access-control-allow-origin", origin), (b"access-control-expose-headers", _READ)]

    def preflight(self, origin: bytes | None) -> tuple[int, Headers]:
        """Return status and headers of the response to a preflight."""
        headers = self.headers_for(origin)
        if not any(name == b"access-control-allow-origin" for name, _ in headers):
            return 403, headers
        allowed = [
            (b"access-control-allow-methods", _METHODS),
            (b"access-control-allow-headers", _SENT),
            (b"access-control-max-age", _KEPT),
        ]
        return 204, headers + allowed


class Hosts:
    """The hosts that requests may ask for.

    Whoever owns a name can have it lead to this machine: to a browser, their page's calls would then be of one origin
    with it. Literal addresses and `localhost` lead nowhere else.
    """

    def __init__(self, names: Iterable[str]) -> None:
        """Take requests for these names, too."""
        self._names = frozenset({"localhost", *names})

    def fault_of(self, version: str, headers: Headers) -> tuple[int, bytes]:
        """Return HTTP's status and a text for a request of an HTTP version that is not for this host; 0 if it is."""
        hosts = [value for name, value in headers if name == b"host"]
        if not hosts and version == "1.0":
            # No browser's.
            return 0, b""
        if len(hosts) != 1:
            return 400, b"a request has one Host header\n"
        found = _HOST.fullmatch(hosts[0])
        if found is None:
            return 400, b"not a host: the Host header\n"
        name = found[1].decode().lower()
        if name in self._names or _is_literal(name):
            return 0, b""
        return 421, f"unknown host {name}: to be asked for by this name, it has to be in --web-hosts\n".encode()


def _is_literal(host: str) -> bool:
    try:
        ipaddress.ip_address(host.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True


class WebApp:
    """The application; `is_stopping`: health says so."""

    def __init__(
        self,
        door: Door,
        routes: Iterable[Route],
        count_unknown: Callable[[], None],
        pages: Pages,
        hosts: Iterable[str],
    ) -> None:
        """Serve the calls of `routes`, and `pages` at other paths, of hosts with the names in `hosts`.

        `count_unknown`: counts a call of another method.
        """
        self._door = door
        self._routes: Mapping[str, Route] = {route.path: route for route in routes}
        self._protocols = protocols_of(self._routes.values(), door.settings.max_message_bytes)
        self._count_unknown = count_unknown
        self._origins = Origins(door.settings.web_origins)
        self._hosts = Hosts(hosts)
        self._pages = pages
        self.is_stopping = False
        self.exchanges: set[Exchange] = set()
        """The calls in flight."""

    async def __call__(self, connection: Connection, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        headers: Headers = scope["headers"]
        status, text = self._hosts.fault_of(scope["http_version"], headers)
        if status:
            await _respond(receive, send, headers, status, [_NO_GUESS], text)
            return
        origin = value_of(headers, b"origin")
        more = [_NO_GUESS, *self._origins.headers_for(origin)]
        route = self._routes.get(scope["path"])
        method = scope["method"]
        if method == "OPTIONS" and value_of(headers, b"access-control-request-method") is not None:
            status, more = self._origins.preflight(origin)
            await _respond(receive, send, headers, status, more)
        elif route is not None:
            status, why = _fault_of(route, method, headers)
            if status:
                await _respond(receive, send, headers, status, [*why, *more])
            else:
                await self._call(route, connection, scope, receive, send, more)
        elif scope["path"] == HEALTH:
            await self._health(method, headers, receive, send, more)
        elif method in ("GET", "HEAD"):
            await self._pages(scope, receive, send)
        else:
            if method == "POST":
                self._count_unknown()
            await _respond(receive, send, headers, 404, more)

    async def _call(
        self, route: Route, connection: Connection, scope: Scope, receive: Receive, send: Send, more: Headers
    ) -> None:
        exchange = Exchange(self._door, route, connection, scope)
        self.exchanges.add(exchange)
        try:
            # Cancelled at the end of the grace, which uvicorn would log as an error.
            with suppress(asyncio.CancelledError):
                await exchange.run(self._protocols, receive, send, more)
        finally:
            self.exchanges.discard(exchange)

    async def _health(self, method: str, headers: Headers, receive: Receive, send: Send, more: Headers) -> None:
        if method not in ("GET", "HEAD"):
            await _respond(receive, send, headers, 405, [(b"allow", b"GET, HEAD"), *more])
            return
        more = [(b"cache-control", b"no-store"), *more]
        if self.is_stopping:
            await _respond(receive, send, headers, 503, more, b"NOT_SERVING\n")
        else:
            await _respond(receive, send, headers, 200, more, b"SERVING\n")


def _fault_of(route: Route, method: str, headers: Headers) -> tuple[int, Headers]:
    """Return HTTP's status for what is no call of this door, with headers that say what is; 0 for a call."""
    if any(not (name.isascii() and value.isascii()) for name, value in headers):
        return 400, []
    if method == "GET" and route.has_no_side_effects:
        return 0, []
    if method != "POST":
        return 405, [(b"allow", b"GET, POST" if route.has_no_side_effects else b"POST")]
    kind = value_of(headers, b"content-type") or b""
    # application/grpc needs trailers, which HTTP/1.1 has not for it.
    if kind.partition(b";")[0].strip().lower() not in _CONTENT_TYPES:
        return 415, [(b"accept-post", b", ".join(sorted(_CONTENT_TYPES)))]
    return 0, []


async def _respond(
    receive: Receive, send: Send, headers: Headers, status: int, more: Headers, body: bytes = b""
) -> None:
    if body or status >= 400:
        more = [_TEXT, *more]
    await send_whole(send, status, more, body, receive if has_body(headers) else None)
