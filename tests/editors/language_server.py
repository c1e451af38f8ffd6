"""A client for language servers. It sends requests in the Language Server Protocol, as an editor does."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlparse


class Place(NamedTuple):
    """A line of a file. Lines are numbered from 1."""

    file: Path
    line: int


class LanguageServer:
    """A language server that has read a folder's configuration."""

    def __init__(self, process: subprocess.Popen[bytes], root: Path) -> None:
        """Initialize the language server that runs in `process` with a folder."""
        self._process = process
        self._last = 0
        folder = {"uri": root.as_uri(), "name": root.name}
        abilities = {"workspace": {"configuration": True, "workspaceFolders": True}}
        self._ask(
            "initialize", processId=None, rootUri=root.as_uri(), workspaceFolders=[folder], capabilities=abilities
        )
        self._tell("initialized")

    def open(self, file: Path) -> None:
        """Open a file in the editor."""
        document = {"uri": file.as_uri(), "languageId": "python", "version": 1, "text": file.read_text()}
        self._tell("textDocument/didOpen", textDocument=document)

    def definitions(self, file: Path, line: int, column: int) -> set[Place]:
        """Return the definitions of the name at a line and column of an open file, both numbered from 1."""
        return self._places("textDocument/definition", file, line, column)

    def references(self, file: Path, line: int, column: int) -> set[Place]:
        """Return the uses of the name at a line and column of an open file, both numbered from 1."""
        return self._places("textDocument/references", file, line, column, context={"includeDeclaration": True})

    def _places(self, method: str, file: Path, line: int, column: int, **more: Any) -> set[Place]:
        position = {"line": line - 1, "character": column - 1}
        found = self._ask(method, textDocument={"uri": file.as_uri()}, position=position, **more)
        return {
            Place(Path(unquote(urlparse(each["uri"]).path)), each["range"]["start"]["line"] + 1) for each in found or ()
        }

    def _ask(self, method: str, **params: Any) -> Any:
        self._last += 1
        self._send(id=self._last, method=method, params=params)
        while True:
            message = self._receive()
            if "method" in message and "id" in message:
                # The server registers capabilities or requests settings. The client returns empty settings.
                items = message["params"].get("items", ()) if message["method"] == "workspace/configuration" else None
                self._send(id=message["id"], result=None if items is None else [{} for _ in items])
            elif message.get("id") == self._last:
                assert "error" not in message, message
                return message["result"]

    def _tell(self, method: str, **params: Any) -> None:
        self._send(method=method, params=params)

    def _send(self, **message: Any) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self._process.stdin.flush()

    def _receive(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        size = 0
        while (line := self._process.stdout.readline().strip()) or not size:
            assert line, "the language server has ended"
            name, _, value = line.partition(b":")
            size = int(value) if name.lower() == b"content-length" else size
        message: dict[str, Any] = json.loads(self._process.stdout.read(size))
        return message


@contextmanager
def language_server(command: Path, root: Path) -> Iterator[LanguageServer]:
    """Run a language server for a folder."""
    with subprocess.Popen([command, "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            yield LanguageServer(process, root)
        finally:
            process.kill()
