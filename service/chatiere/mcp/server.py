"""The server: the tools over stdio or streamable HTTP, by the SDK `mcp`. It keeps no sessions."""

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


def http_app(server: Server[Any], host: str, tokens: Path | None) -> ASGIApp:
    """Return the server as an ASGI application, which requires a bearer token if `tokens` is a file of tokens."""
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        max_request_body_size=_MAX_REQUEST,
        host=host,
    )
    return app if tokens is None else _Guarded(app, Tokens(tokens))


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
    """An application that only clients with a token may call."""

    def __init__(self, app: ASGIApp, tokens: Tokens) -> None:
        self._app, self._tokens = app, tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._is_known(scope):
            headers = [(b"www-authenticate", b"Bearer"), (b"content-length", b"0")]
            await send({"type": "http.response.start", "status": 401, "headers": headers})
            await send({"type": "http.response.body", "body": b""})
            return
        await self._app(scope, receive, send)

    def _is_known(self, scope: Scope) -> bool:
        found = dict(scope["headers"]).get(b"authorization", b"").decode("latin-1")
        kind, _, token = found.partition(" ")
        return kind.lower() == "bearer" and self._tokens.client_of(token.strip()) is not None


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
