"""The page's files. The port for browsers serves them at paths that are not calls.

The files are kept in memory, so no other file can be requested.
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
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from chatiere.service.base.scripts import without_comments
from chatiere.service.ports.web.connection import TEXT, Fields, Request
from chatiere.service.ports.web.http import tags_in, takes_gzip

FOLDER = Path(str(resources.files("chatiere.web")))
"""The folder of the page's files."""

# The content types of files, by suffix. Files with other suffixes are not served.
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
# The page that shows a record. Pages of the origins in `web_frame_ancestors` may show it in a frame.
_EMBED = "/embed.html"
# Allow only content of this origin, and no inline content.
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
    # Links may contain sealed tables, so they must not be sent as referrers.
    ("referrer-policy", "no-referrer"),
    ("x-content-type-options", "nosniff"),
]
_NOBODY = "'none'"
_MISSING = b"page not found\n"
# The service worker. It caches the page for use without a connection. Its line SITE lists the cached files.
_WORKER = "/sw.js"
_SITE = b'const SITE = { version: "", files: {} };'
# The service worker does not cache icons, because browsers cache them. If the page changes the tab's icon while the
# icon loads, Firefox aborts the request and reports a failure of the worker.
_ICON = "/icon"
# The minimum number of seconds between two checks of the files on disk for changes. Requests for `/` start the checks.
_LOOK = 1.0


class _Form(NamedTuple):
    """A file in the form of a plain or a compressed response."""

    tag: str
    fields: Fields
    body: bytes


class _File(NamedTuple):
    changed: int
    """The modification time of the file on disk, in nanoseconds."""
    plain: _Form
    compressed: _Form


class Pages:
    """The page's files, for GET and HEAD.

    A request for `/` rereads changed files, so that changes to the page are visible after it is reloaded.
    """

    def __init__(self, folder: Path = FOLDER, frame_ancestors: Collection[str] = ()) -> None:
        """Read the files of a folder. `frame_ancestors`: the origins whose pages may show a record in a frame."""
        self._folder, self._frame_ancestors = folder, " ".join(frame_ancestors) or _NOBODY
        self._files: dict[str, _File] = self._read({})
        self._looked = time.monotonic()

    def response(self, request: Request) -> tuple[int, Fields, bytes]:
        """Return the status, fields and body of the response to a request."""
        path = request.path
        if path == "/":
            self._look()
            path = "/index.html"
        file = self._files.get(path)
        if file is None:
            return 404, [TEXT, *_policy(_NOBODY)], _MISSING
        form = file.compressed if takes_gzip(request.values) else file.plain
        # Ignore the prefix of weak tags, because a proxy that compresses responses makes their tags weak.
        is_known = form.tag in (tag.removeprefix("W/") for tag in tags_in(request.values))
        return (304, form.fields, b"") if is_known else (200, form.fields, form.body)

    def _look(self) -> None:
        now = time.monotonic()
        if now - self._looked >= _LOOK:
            self._looked = now
            # If a file is deleted while the folder is read, keep the known files until the next check.
            with suppress(OSError):
                self._files = self._read(self._files)

    def _read(self, known: dict[str, _File]) -> dict[str, _File]:
        """Return the folder's files by path. Files in `known` are read again only if they have changed."""
        files = {}
        for parent, folders, names in os.walk(self._folder):
            # Skip development files.
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
    """Return the worker's line with the SHA-256 of each file, and a version derived from hashes and worker."""
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
