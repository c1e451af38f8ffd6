"""The paths of the port for browsers (calls, health and pages), and the rules for pages of other origins."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Collection, Iterable, Mapping

from chatiere.service.base.settings import ANY_ORIGIN
from chatiere.service.ports.asyncio_loop import AsyncioLoop
from chatiere.service.ports.web.calls import Route, WebCall
from chatiere.service.ports.web.connection import TEXT, Connection, Fields, Request, Served
from chatiere.service.ports.web.pages import Pages
from chatiere.service.ports.web.protocols import (
    CONNECT,
    STREAMS,
    UNARY,
    Response,
    WebProtocol,
    codec_in_query,
    rejection,
)

HEALTH = "/healthz"

_UNKNOWN = "unknown method: call POST /<service>/<method>, such as POST /chatiere.v1.GameService/NewGame"
_NEEDS_QUERY = "a GET needs its request in the query, such as ?connect=v1&encoding=json&message=%7B%7D"

# The values in responses to preflights. The first is the time in seconds for which browsers may cache the response
# (most browsers limit it to two hours). The others are the methods and headers that pages may send, and the headers
# that pages may read.
_KEPT = "7200"
_METHODS = "GET, POST"
_SENT = (
    "accept-language, authorization, connect-content-encoding, connect-protocol-version, connect-timeout-ms, "
    "content-encoding, content-type, grpc-timeout, traceparent, tracestate, x-grpc-web, x-request-id, x-user-agent"
)
_READ = "content-language, grpc-message, grpc-status, grpc-status-details-bin, x-request-id"
# A host with an optional port (RFC 9110, section 7.2).
_HOST = re.compile(r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]*)?")
# This field makes browsers trust the content-type of responses.
_NO_GUESS = ("x-content-type-options", "nosniff")


class Origins:
    """The origins whose pages may make calls, in addition to the port's own origin."""

    def __init__(self, origins: Collection[str]) -> None:
        """Allow pages of these origins."""
        self._are_all = ANY_ORIGIN in origins
        self._origins = frozenset(origins)

    def fields_for(self, origin: str | None) -> Fields:
        """Return the fields of a response to a page. `origin`: the page's origin, or None if it is unknown."""
        if self._are_all:
            return [("access-control-allow-origin", "*"), ("access-control-expose-headers", _READ)]
        if not self._origins:
            return []
        # Caches must not reuse a response to one origin for another origin.
        vary = ("vary", "origin")
        if origin not in self._origins or origin is None:
            return [vary]
        return [vary, ("access-control-allow-origin", origin), ("access-control-expose-headers", _READ)]

    def preflight(self, origin: str | None) -> tuple[int, Fields]:
        """Return the status and the fields of the response to a preflight."""
        fields = self.fields_for(origin)
        if not any(name == "access-control-allow-origin" for name, _ in fields):
            return 403, [TEXT, *fields]
        allowed = [
            ("access-control-allow-methods", _METHODS),
            ("access-control-allow-headers", _SENT),
            ("access-control-max-age", _KEPT),
        ]
        return 204, fields + allowed


class Hosts:
    """The host names that are allowed in requests.

    Refusing other names prevents DNS rebinding. The owner of a name can make it point to this machine, and a browser
    would then treat calls of the owner's pages as same-origin. IP addresses and `localhost` are always allowed, because
    no one can redirect them.
    """

    def __init__(self, names: Iterable[str]) -> None:
        """Accept requests for these names, and for `localhost`."""
        self._names = frozenset({"localhost", *names})

    def fault_of(self, request: Request) -> tuple[int, str]:
        """Return the HTTP status and the text for a request whose host is not allowed. The status 0 means allowed."""
        host = request.values.get("host")
        # Accept HTTP/1.0 requests without a host, because they do not come from browsers.
        found = _HOST.fullmatch("localhost" if host is None and request.version == "1.0" else host or "")
        if found is None:
            return 400, "a request needs one valid Host header\n"
        # The host in the request target takes precedence (RFC 9112, section 3.2.2).
        name = (request.target_host or found[1]).lower()
        if name in self._names or _is_literal(name):
            return 0, ""
        return 421, f"unknown host {name}: add it to --web-hosts to allow it\n"


def _is_literal(host: str) -> bool:
    try:
        ipaddress.ip_address(host.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True


class WebApp:
    """The application that handles requests. Its health check reports NOT_SERVING while `is_stopping` is true."""

    def __init__(
        self,
        loop: AsyncioLoop,
        routes: Mapping[str, Route],
        count_unknown: Callable[[str, Fields], None],
        pages: Pages,
        hosts: Iterable[str],
        origins: Collection[str],
    ) -> None:
        """Create the application.

        Args:
            loop: The serving loop.
            routes: The methods, by their paths.
            count_unknown: A function that counts a call to an unknown method, given its peer and its header fields.
            pages: The files at other paths.
            hosts: The accepted host names.
            origins: The origins whose pages may make calls, in addition to the port's own origin.
        """
        self._loop, self._routes, self._count_unknown, self._pages = loop, routes, count_unknown, pages
        self._hosts, self._origins = Hosts(hosts), Origins(origins)
        self.is_stopping = False

    def serve(self, connection: Connection, request: Request, body: bytes) -> Served | None:
        """Handle a request and the first part of its body. Return None if the response was sent immediately."""
        status, text = self._hosts.fault_of(request)
        if status:
            connection.respond(status, [TEXT, _NO_GUESS], text.encode())
            return None
        method, origin = request.method, request.values.get("origin")
        more = [_NO_GUESS, *self._origins.fields_for(origin)]
        if method == "OPTIONS" and "access-control-request-method" in request.values:
            status, fields = self._origins.preflight(origin)
            connection.respond(status, [_NO_GUESS, *fields])
        elif (route := self._routes.get(request.path)) is not None:
            return self._call(route, connection, request, body, more)
        elif request.path == HEALTH:
            self._health(connection, method, more)
        elif method in ("GET", "HEAD"):
            connection.respond(*self._pages.response(request))
        else:
            if method == "POST":
                self._count_unknown(connection.peer, request.fields)
            _reject(connection, rejection(404, _UNKNOWN), more)
        return None

    def _call(self, route: Route, connection: Connection, request: Request, body: bytes, more: Fields) -> Served | None:
        protocol = _protocol_of(route, request)
        if isinstance(protocol, Response):
            _reject(connection, protocol, more)
            return None
        call = WebCall(self._loop, connection, request, protocol, route, more)
        if body:
            call.add(body)
        if connection.is_whole or request.method == "GET":
            call.read()
        call.exchange = route.make(call, route.form if protocol.is_json else None)
        call.exchange.begin()
        return call

    def _health(self, connection: Connection, method: str, more: Fields) -> None:
        if method not in ("GET", "HEAD"):
            connection.respond(405, [TEXT, ("allow", "GET, HEAD"), *more], b"use GET or HEAD\n")
            return
        fields = [TEXT, ("cache-control", "no-store"), *more]
        if self.is_stopping:
            connection.respond(503, fields, b"NOT_SERVING\n")
        else:
            connection.respond(200, fields, b"SERVING\n")


def _reject(connection: Connection, response: Response, more: Fields) -> None:
    connection.respond(response.status, [*response.fields, *more], response.body)


def _protocol_of(route: Route, request: Request) -> WebProtocol | Response:
    """Return the protocol of a call, or the response to a request that is not a call."""
    if not all(value.isascii() for _, value in request.fields):
        return rejection(400, "the header fields must be ASCII")
    known: Mapping[str, WebProtocol] = STREAMS if route.pool is None else UNARY
    names = ", ".join(sorted(known))
    if request.method == "GET" and route.kept:
        return CONNECT.get(codec_in_query(request.query)) or rejection(415, _NEEDS_QUERY, ("accept-post", names))
    if request.method != "POST":
        allowed = "GET, POST" if route.kept else "POST"
        return rejection(405, f"this method cannot be called by {request.method}: use {allowed}", ("allow", allowed))
    # application/grpc is not supported: it needs trailers, and browsers cannot read trailers over HTTP/1.1.
    kind = request.values.get("content-type", "").partition(";")[0].strip().lower()
    return known.get(kind) or rejection(415, f"the content-type must be one of {names}", ("accept-post", names))
