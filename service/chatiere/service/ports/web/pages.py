"""The page's files: what the port for browsers serves at the paths that are no calls.

They are in memory: what is not one of them cannot be asked for.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import os
import time
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import chatiere.web
from chatiere.service.base.scripts import without_comments
from chatiere.service.ports.web.connection import TEXT, Fields, Request
from chatiere.service.ports.web.http import tags_in, takes_gzip

FOLDER = Path(chatiere.web.__file__).parent
"""The folder of the page's files."""

# Other files are not served.
_TYPES = {
    ".chatiere": TEXT[1],
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".json": "application/json",
    ".js": "text/javascript; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml; charset=utf-8",
    ".webmanifest": "application/manifest+json",
}
# The record that other pages may have in a frame, if a setting names them.
_EMBED = "/embed.html"
# Nothing inline, nothing of other origins. Links hold tables: other sites do not learn of them.
_CONTENT = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; manifest-src 'self'; "
    "base-uri 'none'; form-action 'none'"
)
_OTHERS: Fields = [
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    (
        "permissions-policy",
        "accelerometer=(), camera=(), clipboard-read=(), clipboard-write=(self), display-capture=(), geolocation=(), "
        "gyroscope=(), magnetometer=(), microphone=(), midi=(), payment=(), usb=()",
    ),
    ("referrer-policy", "no-referrer"),
    ("x-content-type-options", "nosniff"),
]
_NOBODY = "'none'"
_MISSING = b"page not found\n"
# The worker that keeps the page for when there is no connection, and its line that names what it keeps.
_WORKER = "/sw.js"
_SITE = b'const SITE = { version: "", files: {} };'
# Not kept by it: browsers keep icons themselves. When a turn changes the tab's icon in mid-load, Firefox stops the
# load, and calls that a fault of the worker.
_ICON = "/icon"
# Seconds between two looks at the files on disk, at requests for the page itself.
_LOOK = 1.0


class _Form(NamedTuple):
    """A file as a response: plain, or compressed."""

    tag: str
    fields: Fields
    body: bytes


class _File(NamedTuple):
    changed: int
    """Its time of change on disk, in nanoseconds."""
    plain: _Form
    compressed: _Form


class Pages:
    """The page's files, for GET and HEAD.

    Whoever changes a file sees that after a reload of the page: a request for `/` reads anew what has changed.
    """

    def __init__(self, folder: Path = FOLDER, frame_ancestors: Collection[str] = ()) -> None:
        """Read the files of a folder; pages of the origins `frame_ancestors` may have a record in a frame."""
        self._folder, self._frame_ancestors = folder, " ".join(frame_ancestors) or _NOBODY
        self._files: dict[str, _File] = self._read({})
        self._looked = time.monotonic()

    def response(self, request: Request) -> tuple[int, Fields, bytes]:
        """Return status, fields and body of the response to a request."""
        path = request.path
        if path == "/":
            self._look()
            path = "/index.html"
        file = self._files.get(path)
        if file is None:
            return 404, [TEXT, *_policy(_NOBODY)], _MISSING
        form = file.compressed if takes_gzip(request.values) else file.plain
        # A proxy that compresses makes the tag a weak one.
        is_known = form.tag in (tag.removeprefix("W/") for tag in tags_in(request.values))
        return (304, form.fields, b"") if is_known else (200, form.fields, form.body)

    def _look(self) -> None:
        now = time.monotonic()
        if now - self._looked >= _LOOK:
            self._looked = now
            # A file may go while they are read: the next look finds the others.
            with suppress(OSError):
                self._files = self._read(self._files)

    def _read(self, known: dict[str, _File]) -> dict[str, _File]:
        """Return the folder's files by path. `known`: those that are read only if they have changed since."""
        files = {}
        for parent, folders, names in os.walk(self._folder):
            # Of those who work on the page.
            folders[:] = [name for name in folders if name != "node_modules"]
            for source in (Path(parent, name) for name in names):
                kind = _TYPES.get(source.suffix)
                if kind is not None:
                    path = f"/{source.relative_to(self._folder).as_posix()}"
                    changed = source.stat().st_mtime_ns
                    before = known.get(path)
                    if before is not None and before.changed == changed:
                        files[path] = before
                    else:
                        ancestors = self._frame_ancestors if path == _EMBED else _NOBODY
                        files[path] = _file(changed, kind, source.read_bytes(), ancestors)
        if files.keys() == known.keys() and all(file is known[path] for path, file in files.items()):
            return known
        if (worker := files.pop(_WORKER, None)) is not None:
            script = (self._folder / _WORKER[1:]).read_bytes()
            files[_WORKER] = _file(worker.changed, _TYPES[".js"], script.replace(_SITE, _site(script, files)))
        return files


def _site(worker: bytes, files: dict[str, _File]) -> bytes:
    """Return the worker's line that names files, with their SHA-256, and the version that they and the worker make."""
    named = {
        path[1:]: base64.b64encode(hashlib.sha256(file.plain.body).digest()).decode()
        for path, file in sorted(files.items())
        if not path.startswith(_ICON)
    }
    version = hashlib.sha256(worker + json.dumps(named).encode()).hexdigest()[:32]
    return f"const SITE = {json.dumps({'version': version, 'files': named})};".encode()


def _file(changed: int, kind: str, text: bytes, frame_ancestors: str = _NOBODY) -> _File:
    if kind == _TYPES[".js"]:
        text = without_comments(text)
    fields = [("content-type", kind), ("cache-control", "no-cache"), ("vary", "accept-encoding")]
    fields += _policy(frame_ancestors)
    packed = gzip.compress(text, mtime=0)
    return _File(changed, _form(fields, text), _form([*fields, ("content-encoding", "gzip")], packed))


def _form(fields: Fields, body: bytes) -> _Form:
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    return _Form(tag, [*fields, ("etag", tag)], body)


def _policy(frame_ancestors: str) -> Fields:
    return [("content-security-policy", f"{_CONTENT}; frame-ancestors {frame_ancestors}"), *_OTHERS]
