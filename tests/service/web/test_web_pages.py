"""The page's files at the web door: it serves all of them and no other files, with strict headers."""

import base64
import hashlib
import json
import re
import shutil
import socket
import struct
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from chatiere.service.base.scripts import without_comments
from chatiere.service.base.settings import SettingError, Settings
from chatiere.service.guards import tokens
from chatiere.service.ports.web import pages, port

from ..support import Running, running
from .client import WebClient

TYPES = {
    ".chatiere": "text/plain; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".json": "application/json",
    ".js": "text/javascript; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml; charset=utf-8",
    ".webmanifest": "application/manifest+json",
}
FILES = sorted(
    path.relative_to(pages.FOLDER).as_posix()
    for path in pages.FOLDER.rglob("*")
    if path.suffix in TYPES and "node_modules" not in path.parts
)
MODULES = [name for name in FILES if name.endswith(".js") and Path(name).name not in ("words.js", "sw.js")]
# The service serves one file for each language of a words.js, and a bundle that is not a file of the folder.
SERVED = sorted(
    [
        "common.js",
        *(name for name in FILES if not name.endswith("/words.js")),
        *(name.replace(".js", f".{each}.js") for name in FILES if name.endswith("/words.js") for each in ("en", "fr")),
    ]
)
EXPORTED = re.compile(r"^export (?:(?:async )?(?:function|class|const) )?(?:\{([^}]*)\}|(\w+))", re.MULTILINE)
POLICY = {
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}
UNKNOWN = {"grpc_type": "unknown", "grpc_service": "unknown", "grpc_method": "unknown"}


def directives(policy: str) -> dict[str, str]:
    """Return the directives of a Content-Security-Policy."""
    return {name: value for name, _, value in (each.strip().partition(" ") for each in policy.split(";"))}


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, WebClient]]:
    """Yield a folder that a server serves, and a client. At each request for /, the server checks the folder."""
    folder = tmp_path / "web"
    folder.mkdir()
    (folder / "index.html").write_text("first")
    monkeypatch.setattr(port, "Pages", lambda **settings: pages.Pages(folder, **settings))
    monkeypatch.setattr(pages, "_LOOK", 0.0)
    with running(door="web") as server, WebClient(server.address) as web:
        yield folder, web


@pytest.mark.parametrize("name", SERVED)
def test_every_file_is_served(web: WebClient, name: str) -> None:
    found = web.http.get(f"/{name}")
    assert found.status_code == 200
    if not name.endswith((".js", ".css")):
        assert found.content == (pages.FOLDER / name).read_bytes()
    assert found.headers["content-type"] == TYPES[Path(name).suffix]
    assert found.headers["cache-control"] == "no-cache"


@pytest.mark.parametrize("name", [*MODULES, "common.js"])
def test_scripts_are_served_without_whole_line_comments(web: WebClient, name: str) -> None:
    sent = web.http.get(f"/{name}").text
    assert not re.search(r"^\s*(?://|/\*\*\n|\* |\*/)", sent, re.MULTILINE)


def exports_of(script: str) -> set[str]:
    found = (name for names in EXPORTED.findall(script) for each in names for name in each.split(","))
    return {name.strip() for name in found} - {""}


@pytest.mark.parametrize("name", [name for name in MODULES if name != "main.js"])
def test_modules_export_the_same_names_as_their_files(web: WebClient, name: str) -> None:
    """Bundles contain the modules of the start page. The files of these modules export the same names."""
    whole, sent = (pages.FOLDER / name).read_text(), web.http.get(f"/{name}").text
    assert exports_of(sent) == exports_of(whole)
    is_bundled = len(sent.splitlines()) == 2
    assert is_bundled or len(sent.splitlines()) == len(whole.splitlines())


def test_bundles_import_no_module(web: WebClient) -> None:
    for name, imported in (("main.js", ["./common.js"]), ("common.js", [])):
        text = web.http.get(f"/{name}").text
        assert re.findall(r'^\s*import .* from "([^"]+)"', text, re.MULTILINE) == imported
        assert len(exports_of(text)) > 10


@pytest.mark.parametrize("name", MODULES)
def test_comments_of_whole_lines_are_removed(name: str) -> None:
    source = (pages.FOLDER / name).read_bytes()
    whole, sent = source.decode().splitlines(), without_comments(source).decode().splitlines()
    assert len(sent) == len(whole)
    code = ""
    for line, found in zip(whole, sent, strict=True):
        if found != line:
            assert found == ""
            assert line.strip().startswith(("//", "/*", "*"))
            # The line is not part of a template literal.
            assert code.count("`") % 2 == 0
        elif line:
            assert not line.strip().startswith(("//", "/**\n", "* ", "*/"))
        code += found


def site_of(worker: str) -> Any:
    """Return the description of the page in its worker: the version, and the files with their hashes."""
    return json.loads(re.findall(r"^const SITE = (\{.*\});$", worker, re.MULTILINE)[0])


def test_the_worker_names_every_other_file_with_its_hash(web: WebClient) -> None:
    files = site_of(web.http.get("/sw.js").text)["files"]
    assert sorted(files) == [name for name in SERVED if name != "sw.js" and not name.startswith("icon")]
    for name, found in files.items():
        assert base64.b64decode(found) == hashlib.sha256(web.http.get(f"/{name}").content).digest(), name


def test_any_change_gives_the_worker_another_version(copied: tuple[Path, WebClient]) -> None:
    folder, web = copied
    shutil.copy(pages.FOLDER / "sw.js", folder)

    def version() -> str:
        web.http.get("/")
        found: str = site_of(web.http.get("/sw.js").text)["version"]
        return found

    found = [version()]
    assert version() == found[0]
    (folder / "new.js").write_text("1;")
    found.append(version())
    (folder / "index.html").write_text("second")
    found.append(version())
    (folder / "sw.js").write_text((folder / "sw.js").read_text() + "\n")
    found.append(version())
    (folder / "new.js").unlink()
    found.append(version())
    assert len(set(found)) == len(found)
    (folder / "sw.js").unlink()
    web.http.get("/")
    assert web.http.get("/sw.js").status_code == 404


def test_comments_after_code_are_kept() -> None:
    script = b"/** A. */\n/* B\n c */\nf(/** @type {X} */ (x)); // D\n/** @type {X} */ (y).z = 1;\n  // E\ng();\n"
    kept = b"\n\n\nf(/** @type {X} */ (x)); // D\n/** @type {X} */ (y).z = 1;\n\ng();\n"
    assert without_comments(script) == kept


def test_the_page_is_at_the_root(web: WebClient) -> None:
    assert web.http.get("/").content == (pages.FOLDER / "index.html").read_bytes()
    assert web.http.get("/?table=1").status_code == 200


def test_previews_of_links_have_a_picture_of_the_stated_size(web: WebClient) -> None:
    found = dict(re.findall(r'property="og:([a-z:]+)" content="([^"]+)"', web.http.get("/").text))
    picture = web.http.get(f"/{found['image']}")
    assert picture.headers["content-type"] == "image/png"
    assert struct.unpack(">II", picture.content[16:24]) == (int(found["image:width"]), int(found["image:height"]))


def test_rules_guides_and_samples_are_served(web: WebClient) -> None:
    root = Path(__file__).parents[3] / "docs"
    for folder, suffix, where, kind in (
        ("rules", "md", "rules", "html"),
        ("games", "md", "guide", "html"),
        ("games", "chatiere", "samples", "chatiere"),
    ):
        names = [path.stem.replace("README", "index") for path in (root / folder).glob(f"*.{suffix}")]
        assert names
        for name in names:
            assert web.http.get(f"/{where}/{name}.{kind}").status_code == 200, name


@pytest.mark.parametrize("path", ["/", "/rules/discat.html", "/missing"])
def test_inline_code_and_other_origins_are_forbidden(web: WebClient, path: str) -> None:
    headers = web.http.get(path).headers
    assert POLICY.items() <= headers.items()
    assert "clipboard-write=(self)" in headers["permissions-policy"]
    allowed = directives(headers["content-security-policy"])
    assert allowed["default-src"] == "'none'"
    assert allowed["frame-ancestors"] == "'none'"
    assert set(allowed.values()) == {"'none'", "'self'"}


@pytest.mark.parametrize("ancestors", [(), ("*",), ("https://a.example", "http://localhost:8080")])
def test_only_records_are_shown_in_frames_of_named_origins(ancestors: tuple[str, ...]) -> None:
    settings = Settings(address="127.0.0.1:0", web_address="127.0.0.1:0", web_frame_ancestors=ancestors)
    with running(settings, "web") as server, WebClient(server.address) as web:
        for path in ("/", "/embed.html", "/embed/embed.js", "/rules/discat.html", "/missing"):
            allowed = directives(web.http.get(path).headers["content-security-policy"])
            framed = " ".join(ancestors) if ancestors and path == "/embed.html" else "'none'"
            assert allowed.pop("frame-ancestors") == framed
            assert set(allowed.values()) == {"'none'", "'self'"}


@pytest.mark.parametrize(
    "origin", ["", "a.example", "https://*.example", "https://a.example/", "'self'", "https://a; x"]
)
def test_an_invalid_frame_origin_is_refused(origin: str) -> None:
    with pytest.raises(SettingError, match=r"^web_frame_ancestors: an origin must be SCHEME://HOST"):
        Settings(web_address="127.0.0.1:0", web_frame_ancestors=(origin,))


def test_frames_require_the_door_for_browsers() -> None:
    with pytest.raises(SettingError, match=r"^web_frame_ancestors: needs web_address"):
        Settings(web_frame_ancestors=("https://a.example",))


class Inline(HTMLParser):
    """Collects inline code of a document, and its links."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = dict(attrs)
        if tag == "style" or (tag == "script" and not names.get("src")):
            self.found.append(tag)
        self.found += [name for name in names if name == "style" or name.startswith("on")]
        self.links += [value for name, value in attrs if name in ("href", "src") and value]


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith(".html")])
def test_documents_have_no_inline_code_and_no_dead_links(web: WebClient, name: str) -> None:
    document = Inline((pages.FOLDER / name).read_text())
    assert not document.found
    for link in document.links:
        if not link.startswith(("#", "https://")):
            assert web.http.get(web.http.base_url.join(f"/{name}").join(link)).status_code == 200, link


@pytest.mark.parametrize("encoding", ["gzip", "identity"])
def test_an_unchanged_file_is_not_sent_again(web: WebClient, encoding: str) -> None:
    first = web.http.get("/", headers={"accept-encoding": encoding})
    tag = first.headers["etag"]
    assert re.fullmatch('"[0-9a-f]+"', tag)
    for known in (tag, f'"other", {tag}', f"W/{tag}"):
        again = web.http.get("/", headers={"accept-encoding": encoding, "if-none-match": known})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == tag
        assert POLICY.items() <= again.headers.items()
    assert web.http.get("/", headers={"if-none-match": '"other"'}).status_code == 200


def test_files_are_compressed_for_clients_that_accept_it(web: WebClient) -> None:
    plain, packed = (web.http.get("/rules/discat.html", headers={"accept-encoding": each}) for each in ("", "gzip, br"))
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert plain.headers["vary"] == packed.headers["vary"] == "accept-encoding"
    assert plain.headers["etag"] != packed.headers["etag"]
    assert int(packed.headers["content-length"]) < int(plain.headers["content-length"]) / 2
    assert plain.content == packed.content
    refused = web.http.get("/rules/discat.html", headers={"accept-encoding": "gzip;q=0"})
    assert "content-encoding" not in refused.headers


def test_head_has_the_headers_of_get(web: WebClient) -> None:
    for path in ("/", "/rules/discat.html", "/missing"):
        head, get = web.http.head(path), web.http.get(path)
        assert head.status_code == get.status_code
        assert head.content == b""
        assert {**head.headers, "date": ""} == {**get.headers, "date": ""}


@pytest.mark.parametrize(
    "path",
    [
        "/missing",
        "/rules",
        "/rules/",
        "/../setup.py",
        "/%2e%2e/setup.py",
        "/rules/../../setup.py",
        "/..%2fsetup.py",
        "/..\\setup.py",
        "//etc/passwd",
        "//index.html",
        "/./index.html",
        "/index.html/",
        "/index.html%00",
        "/INDEX.HTML",
        "/package.json",
        "/tsconfig.json",
    ],
)
def test_other_paths_are_not_found(server: Running, path: str) -> None:
    # The request is written by hand, because clients would normalise the path.
    host, _, number = server.address.rpartition(":")
    with socket.create_connection((host, int(number))) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n".encode())
        with connection.makefile("rb") as answer:
            assert b" 404 " in answer.readline()
            assert answer.read().endswith(b"page not found\n")


def test_files_cannot_be_written(web: WebClient) -> None:
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        assert web.http.request(method, "/").status_code == 404


def test_health_and_calls_work_next_to_the_page(web: WebClient) -> None:
    assert web.http.get("/healthz").text == "SERVING\n"
    made = web.new_game()
    assert made.message
    assert made.http.headers["x-content-type-options"] == "nosniff"


def test_calls_need_a_token_and_files_do_not(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_text(tokens.new_token("somebody")[1] + "\n")
    with running(Settings(address="127.0.0.1:0", tokens=file), "web") as server, WebClient(server.address) as web:
        assert web.http.get("/").status_code == 200
        assert web.new_game().code == "unauthenticated"


def test_files_are_not_counted_as_calls() -> None:
    with running(door="web") as server, WebClient(server.address) as web:
        for path in ("/", "/missing"):
            web.http.get(path)
        assert not server.sample("grpc_server_handled_total", grpc_code="Unimplemented", **UNKNOWN)
        web.http.post("/")
        assert server.sample("grpc_server_handled_total", grpc_code="Unimplemented", **UNKNOWN) == 1


def test_an_edited_file_is_served_after_a_reload(copied: tuple[Path, WebClient]) -> None:
    folder, web = copied
    assert web.http.get("/").text == "first"
    (folder / "index.html").write_text("second")
    (folder / "new.js").write_text("1;")
    assert web.http.get("/new.js").status_code == 404
    assert web.http.get("/").text == "second"
    assert web.http.get("/new.js").text == "1;"
    (folder / "new.js").unlink()
    # A file that cannot be read leaves the served files unchanged.
    (folder / "gone.js").symlink_to(folder / "nowhere")
    web.http.get("/")
    assert web.http.get("/new.js").text == "1;"
    (folder / "gone.js").unlink()
    (folder / "words.js").write_text('export const words = {"en": ')
    assert web.http.get("/").text == "second"
    assert web.http.get("/new.js").text == "1;"


def test_npm_s_packages_are_not_served(copied: tuple[Path, WebClient]) -> None:
    folder, web = copied
    (folder / "node_modules" / "some").mkdir(parents=True)
    shutil.copy(folder / "index.html", folder / "node_modules" / "some" / "index.js")
    web.http.get("/")
    assert web.http.get("/node_modules/some/index.js").status_code == 404
