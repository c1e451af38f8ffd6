"""A client of the SDK plays a game with the tools for language models."""

from typing import Any

import anyio
from mcp.client import Client

from chatiere.mcp.backend import LocalBackend
from chatiere.mcp.server import create_server
from chatiere.mcp.tools import Tools
from chatiere.service.base.settings import Settings


async def play() -> None:
    """Play a game to its end, always by the first action."""
    async with Client(create_server(Tools(LocalBackend(Settings(relay="memory"))), "1")) as client:
        tool = "new_table"
        arguments: dict[str, Any] = {"game": "discat", "seats": ["me", "random"]}
        while True:
            told = (await client.call_tool(tool, arguments)).structured_content
            if told["over"]:
                print("winners:", told["winners"])
                return
            tool, arguments = "move", {"handle": told["handle"], "action": 1}


anyio.run(play)
