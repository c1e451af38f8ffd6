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

from chatiere.service.base.scripts import in_each_language, without_comments
from chatiere.service.ports.web.bundles import COMMON, bundled, short_style
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
_INDEX = "/index.html"
# The bundle that the page's first bundle imports. Browsers request both at the same time.
_PRELOAD = ("link", f"<{COMMON}>; rel=modulepreload")
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
    plain: _Form
    compressed: _Form


class Pages:
    """The page's files, for GET and HEAD.

    A request for `/` rereads changed files, so that changes to the page are visible after it is reloaded.
    """

    def __init__(self, folder: Path = FOLDER, frame_ancestors: Collection[str] = ()) -> None:
        """Read the files of a folder. `frame_ancestors`: the origins whose pages may show a record in a frame."""
        self._folder, self._frame_ancestors = folder, " ".join(frame_ancestors) or _NOBODY
        # For each path, the modification time of the file on disk in nanoseconds, and the file as it is served.
        self._times: dict[str, int] = {}
        self._files: dict[str, _File] = {}
        self._read()
        self._looked = time.monotonic()

    def response(self, request: Request) -> tuple[int, Fields, bytes]:
        """Return the status, fields and body of the response to a request."""
        path = request.path
        if path == "/":
            self._look()
            path = _INDEX
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
            # If a file is deleted or half-written while the folder is read, keep the known files until the next check.
            with suppress(OSError, ValueError):
                self._read()

    def _read(self) -> None:
        """Read the folder's files, if one of them has changed."""
        times = {}
        for parent, folders, names in os.walk(self._folder):
            # Skip development files.
            folders[:] = [name for name in folders if name != "node_modules"]
            for source in (Path(parent, name) for name in names):
                if source.suffix in _TYPES:
                    times[f"/{source.relative_to(self._folder).as_posix()}"] = source.stat().st_mtime_ns
        if times != self._times:
            texts = {path: (self._folder / path[1:]).read_bytes() for path in times}
            served = _served(texts)
            worker = served.pop(_WORKER, None)
            files = {path: self._file(path, text) for path, text in served.items()}
            if worker is not None:
                files[_WORKER] = self._file(_WORKER, worker.replace(_SITE, _site(worker, files)))
            self._files, self._times = files, times

    def _file(self, path: str, text: bytes) -> _File:
        """Return a file in plain and compressed form."""
        kind = _TYPES[Path(path).suffix]
        fields = [("content-type", kind), ("cache-control", "no-cache"), ("vary", "accept-encoding")]
        fields += _policy(self._frame_ancestors if path == _EMBED else _NOBODY)
        if path == _INDEX:
            fields.append(_PRELOAD)
        packed = gzip.compress(text, mtime=0)
        return _File(_form(fields, text), _form([*fields, ("content-encoding", "gzip")], packed))


def _served(texts: dict[str, bytes]) -> dict[str, bytes]:
    """Return the files as they are served, by path. Modules are bundled, and each language has its own files."""
    served: dict[str, bytes] = {}
    modules: dict[str, str] = {}
    for path, text in texts.items():
        if path.endswith("/words.js"):
            served |= {path.removesuffix("js") + f"{name}.js": words for name, words in in_each_language(text).items()}
        elif path.endswith(".js"):
            modules[path[1:]] = without_comments(text).decode()
        elif path.endswith(".css"):
            served[path] = short_style(without_comments(text).decode()).encode()
        else:
            served[path] = text
    return served | {f"/{path}": text.encode() for path, text in bundled(modules).items()}


def _site(worker: bytes, files: dict[str, _File]) -> bytes:
    """Return the worker's line with the SHA-256 of each file, and a version derived from hashes and worker."""
    named = {
        path[1:]: base64.b64encode(hashlib.sha256(file.plain.body).digest()).decode()
        for path, file in sorted(files.items())
        if not path.startswith(_ICON)
    }
    version = hashlib.sha256(worker + json.dumps(named).encode()).hexdigest()[:32]
    return f"const SITE = {json.dumps({'version': version, 'files': named})};".encode()


def _form(fields: Fields, body: bytes) -> _Form:
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    return _Form(tag, [*fields, ("etag", tag)], body)


def _policy(frame_ancestors: str) -> Fields:
    return [("content-security-policy", f"{_CONTENT}; frame-ancestors {frame_ancestors}"), *_OTHERS]
