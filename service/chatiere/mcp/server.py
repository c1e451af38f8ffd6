"""The server: the tools over stdio or streamable HTTP, by the SDK `mcp`. It keeps no sessions."""

import math
import socket
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import uvicorn
from anyio.to_thread import run_sync
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from starlette.types import ASGIApp, Receive, Scope, Send

from chatiere.mcp.tools import INSTRUCTIONS, TOOLS, Tools
from chatiere.service.base.errors import Refusal
from chatiere.service.base.settings import Settings
from chatiere.service.guards.limits import RETRY_ALL, CallLimit, Limits, origin_of
from chatiere.service.guards.tokens import Tokens

PATH = "/mcp"
"""The path of the server over HTTP."""
_MAX_REQUEST = 256 * 1024


def create_server(tools: Tools, version: str) -> Server[Any]:
    """Return the server of tools."""

    async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_tool(spec) for spec in TOOLS])

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        result = await run_sync(tools.call, params.name, params.arguments or {})
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=result.text)],
            structured_content=None if result.is_error else result.data,
            is_error=result.is_error,
        )

    return Server(
        "chatiere",
        version=version,
        title="Chatière",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def serve_stdio(server: Server[Any]) -> None:
    """Serve one client over standard input and output until it closes them."""

    async def serve() -> None:
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    anyio.run(serve)


def http_app(server: Server[Any], host: str, settings: Settings) -> ASGIApp:
    """Return the server as an ASGI application that applies the settings' tokens and limits for each client.

    Raises SettingError.
    """
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        max_request_body_size=_MAX_REQUEST,
        host=host,
    )
    return _Guarded(app, settings)


def serve_http(
    app: ASGIApp, listening: socket.socket, certificate: Path | None = None, key: Path | None = None
) -> None:
    """Serve an application over HTTP at a listening socket until SIGTERM or Ctrl-C.

    `certificate` and `key` are PEM files for TLS, or None.
    """
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        ssl_certfile=certificate,
        ssl_keyfile=key,
    )
    uvicorn.Server(config).run(sockets=[listening])


class _Guarded:
    """An application that limits each client. If the settings have tokens, each call must have a valid token."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._tokens = None if settings.tokens is None else Tokens(settings.tokens)
        self._limits = Limits(settings.max_calls_per_client, settings.max_rate_per_client)
        self._calls = CallLimit("calls at a time", settings.max_calls)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        client = self._client_of(scope)
        if client is None:
            await _refuse(send, 401, (b"www-authenticate", b"Bearer"))
            return
        if scope["method"] == "GET":
            # A stream of messages from the server would never end, and would count as a call in progress.
            await _refuse(send, 405, (b"allow", b"POST"))
            return
        try:
            self._limits.begin(self._calls, client)
        except Refusal as refusal:
            after = math.ceil(refusal.retry_after or RETRY_ALL)
            await _refuse(send, 429, (b"retry-after", b"%d" % after), refusal.message)
            return
        try:
            await self._app(scope, receive, send)
        finally:
            self._limits.end(self._calls, client)

    def _client_of(self, scope: Scope) -> str | None:
        # Return the name that identifies the client for limits, or None if the client has no valid token.
        if self._tokens is None:
            # The address is None if the client has already closed the connection.
            host, port = scope["client"] or ("unknown", 0)
            return origin_of(f"ipv6:[{host}]:{port}" if ":" in host else f"ipv4:{host}:{port}")
        kind, _, token = dict(scope["headers"]).get(b"authorization", b"").decode("latin-1").partition(" ")
        return self._tokens.client_of(token.strip()) if kind.lower() == "bearer" else None


async def _refuse(send: Send, status: int, header: tuple[bytes, bytes], message: str = "") -> None:
    # Respond without calling the application.
    body = message.encode()
    headers = [header, (b"content-type", b"text/plain; charset=utf-8"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _tool(spec: Any) -> types.Tool:
    return types.Tool(
        name=spec.name,
        title=spec.title,
        description=spec.description,
        input_schema=spec.input_schema,
        output_schema=spec.output_schema,
        annotations=types.ToolAnnotations(
            read_only_hint=not spec.changes,
            destructive_hint=False,
            idempotent_hint=not spec.changes,
            open_world_hint=False,
        ),
    )
