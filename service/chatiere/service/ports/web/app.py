"""The paths of the port for browsers: calls, health, pages, and access for other origins."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Collection, Iterable, Mapping

from chatiere.service.base.settings import ANY_ORIGIN
from chatiere.service.ports.asyncio_loop import AsyncioLoop
from chatiere.service.ports.web.calls import Route, WebCall
from chatiere.service.ports.web.connection import TEXT, Connection, Fields, Request, Served
from chatiere.service.ports.web.pages import Pages
from chatiere.service.ports.web.protocols import CONNECT, STREAMS, UNARY, WebProtocol, codec_in_query

HEALTH = "/healthz"

# Of preflights: seconds for which browsers keep them (most allow two hours at most), what pages may send and read.
_KEPT = "7200"
_METHODS = "GET, POST"
_SENT = (
    "accept-language, authorization, connect-content-encoding, connect-protocol-version, connect-timeout-ms, "
    "content-encoding, content-type, grpc-timeout, traceparent, tracestate, x-grpc-web, x-request-id, x-user-agent"
)
_READ = "content-language, grpc-message, grpc-status, grpc-status-details-bin, x-request-id"
# RFC 9110, section 7.2: a host, which a port may follow.
_HOST = re.compile(r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]*)?")
# Browsers take responses for what their content-type says.
_NO_GUESS = ("x-content-type-options", "nosniff")


class Origins:
    """The other origins whose pages may call."""

    def __init__(self, origins: Collection[str]) -> None:
        """Let in pages of these origins."""
        self._are_all = ANY_ORIGIN in origins
        self._origins = frozenset(origins)

    def fields_for(self, origin: str | None) -> Fields:
        """Return the fields of a response to a page of an origin; None: the browser names none."""
        if self._are_all:
            return [("access-control-allow-origin", "*"), ("access-control-expose-headers", _READ)]
        if not self._origins:
            return []
        # Caches must not give one origin what was made for another, or for none.
        vary = ("vary", "origin")
        if origin not in self._origins or origin is None:
            return [vary]
        return [vary, ("access-control-allow-origin", origin), ("access-control-expose-headers", _READ)]

    def preflight(self, origin: str | None) -> tuple[int, Fields]:
        """Return status and fields of the response to a preflight."""
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
    """The hosts that requests may ask for.

    Whoever owns a name can have it lead to this machine: to a browser, their page's calls would then be of one origin
    with it. Literal addresses and `localhost` lead nowhere else.
    """

    def __init__(self, names: Iterable[str]) -> None:
        """Take requests for these names, too."""
        self._names = frozenset({"localhost", *names})

    def fault_of(self, request: Request) -> tuple[int, str]:
        """Return HTTP's status and a text for a request that is not for this host; 0 if it is."""
        host = request.values.get("host")
        if host is None and request.version == "1.0":
            # No browser's.
            return 0, ""
        found = None if host is None else _HOST.fullmatch(host)
        if found is None:
            return 400, "a request has one Host header, with a host\n"
        name = found[1].lower()
        if name in self._names or _is_literal(name):
            return 0, ""
        return 421, f"unknown host {name}: to be asked for by this name, it has to be in --web-hosts\n"


def _is_literal(host: str) -> bool:
    try:
        ipaddress.ip_address(host.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True


class WebApp:
    """Serves requests; `is_stopping`: health says so."""

    def __init__(
        self,
        loop: AsyncioLoop,
        routes: Mapping[str, Route],
        count_unknown: Callable[[], None],
        pages: Pages,
        hosts: Iterable[str],
        origins: Collection[str],
    ) -> None:
        """Serve the calls of `routes`, by path, and `pages` at other paths, of hosts with the names in `hosts`.

        `count_unknown`: counts a call of another method. `origins`: of other pages that may call.
        """
        self._loop, self._routes, self._count_unknown, self._pages = loop, routes, count_unknown, pages
        self._hosts, self._origins = Hosts(hosts), Origins(origins)
        self.is_stopping = False

    def serve(self, connection: Connection, request: Request, body: bytes) -> Served | None:
        """Serve a request, of whose body a first part has come; return None if there is a response."""
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
                self._count_unknown()
            connection.respond(404, [TEXT, *more])
        return None

    def _call(self, route: Route, connection: Connection, request: Request, body: bytes, more: Fields) -> Served | None:
        protocol, status, fields = _protocol_of(route, request)
        if protocol is None:
            connection.respond(status, [TEXT, *fields, *more])
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
            connection.respond(405, [TEXT, ("allow", "GET, HEAD"), *more])
            return
        fields = [TEXT, ("cache-control", "no-store"), *more]
        if self.is_stopping:
            connection.respond(503, fields, b"NOT_SERVING\n")
        else:
            connection.respond(200, fields, b"SERVING\n")


def _protocol_of(route: Route, request: Request) -> tuple[WebProtocol | None, int, Fields]:
    """Return the protocol of a call; or None, with HTTP's status and fields that say what is none of this door."""
    if not all(value.isascii() for _, value in request.fields):
        return None, 400, []
    known: Mapping[str, WebProtocol] = STREAMS if route.threads is None else UNARY
    unread = (None, 415, [("accept-post", ", ".join(sorted(known)))])
    if request.method == "GET" and route.kept:
        codec = CONNECT.get(codec_in_query(request.query))
        return unread if codec is None else (codec, 0, [])
    if request.method != "POST":
        return None, 405, [("allow", "GET, POST" if route.kept else "POST")]
    # application/grpc needs trailers, which HTTP/1.1 has not for it.
    kind = request.values.get("content-type", "").partition(";")[0].strip().lower()
    found = known.get(kind)
    return unread if found is None else (found, 0, [])
