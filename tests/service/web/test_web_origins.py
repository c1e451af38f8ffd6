"""The origins whose pages may make calls at the web door, and caching."""

import dataclasses
from pathlib import Path
from typing import Any

import httpx
import pytest

from chatiere import engine
from chatiere.service.base.settings import SettingError, Settings
from chatiere.v1 import game_service_pb2 as pb

from ..support import running
from .client import GAME_SERVICE, WebClient

PAGE, STRANGER = "https://page.example", "https://stranger.example"
SETTINGS = Settings(address="127.0.0.1:0", web_address="127.0.0.1:0")


def preflight(web: WebClient, origin: str) -> httpx.Response:
    headers = {
        "origin": origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "connect-protocol-version,content-type",
    }
    return web.http.options(GAME_SERVICE + "NewGame", headers=headers)


@pytest.mark.parametrize("origins", [(PAGE,), ("http://localhost:8080", PAGE)])
def test_only_named_origins_may_call(origins: tuple[str, ...]) -> None:
    settings = dataclasses.replace(SETTINGS, web_origins=origins)
    with running(settings, "web") as server, WebClient(server.address) as web:
        allowed = preflight(web, PAGE)
        assert allowed.status_code == 204
        assert allowed.headers["access-control-allow-origin"] == PAGE
        assert "POST" in allowed.headers["access-control-allow-methods"]
        sent = allowed.headers["access-control-allow-headers"].split(", ")
        assert {"authorization", "connect-protocol-version", "connect-timeout-ms", "content-type", "x-grpc-web"} <= {
            *sent
        }
        assert int(allowed.headers["access-control-max-age"]) > 0
        refused = preflight(web, STRANGER)
        assert refused.status_code == 403
        for response in (
            refused,
            web.new_game(headers={"origin": STRANGER}).http,
            web.new_game().http,
            web.http.get(GAME_SERVICE + "ListGames?encoding=json&message={}"),
            web.http.get("/healthz"),
        ):
            assert "access-control-allow-origin" not in response.headers
            # Caches need this field, because the response to the same request from the page's own origin differs.
            assert "origin" in response.headers["vary"]
        for response in (
            web.new_game(headers={"origin": PAGE}).http,
            web.new_game(headers={"origin": PAGE}, game="none").http,
            web.http.post("/nowhere", headers={"origin": PAGE}),
        ):
            assert response.headers["access-control-allow-origin"] == PAGE
            assert "access-control-allow-credentials" not in response.headers
            assert "grpc-status" in response.headers["access-control-expose-headers"]


@pytest.mark.parametrize("origin", [PAGE, "null", "", "https://page.example.evil", "https://page.example:444"])
def test_without_origins_no_page_of_another_may_call(web: WebClient, origin: str) -> None:
    assert preflight(web, origin).status_code == 403
    assert "access-control-allow-origin" not in web.new_game(headers={"origin": origin}).http.headers


def test_all_origins_may_be_admitted() -> None:
    settings = dataclasses.replace(SETTINGS, web_origins=("*",))
    with running(settings, "web") as server, WebClient(server.address) as web:
        assert preflight(web, STRANGER).headers["access-control-allow-origin"] == "*"
        found = web.new_game(headers={"origin": STRANGER}).http
        assert (found.headers["access-control-allow-origin"], found.headers["vary"]) == (
            "*",
            "accept-encoding, accept-language",
        )


@pytest.mark.parametrize(
    ("origin", "words"),
    [
        ("page.example", "SCHEME://HOST"),
        ("https://page.example/", "SCHEME://HOST"),
        ("https://Page.example", "lower case"),
        ("https://page.example/path", "SCHEME://HOST"),
        ("https://*.example", "SCHEME://HOST"),
        ("null", "SCHEME://HOST"),
        ("", "SCHEME://HOST"),
    ],
)
def test_an_invalid_origin_is_refused(origin: str, words: str) -> None:
    with pytest.raises(SettingError, match=f"^web_origins: .*{words}"):
        Settings(web_address="127.0.0.1:0", web_origins=(origin,))


def test_all_origins_are_admitted_only_without_tokens(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"^web_origins: \* is not allowed with tokens"):
        Settings(web_address="127.0.0.1:0", web_origins=("*",), tokens=tmp_path)
    with pytest.raises(SettingError, match=r"^web_origins: needs web_address"):
        Settings(web_origins=(PAGE,))


def test_the_response_to_a_get_may_be_cached_and_revalidated(web: WebClient) -> None:
    request = pb.ListGamesRequest(games=["discat"])
    first = web.get("ListGames", request, pb.ListGamesResponse).http
    assert first.headers["cache-control"] == "public, max-age=3600"
    tag = first.headers["etag"]
    known: dict[str, Any] = {"if-none-match": f'"other", {tag}'}
    again = web.get("ListGames", request, pb.ListGamesResponse, **known).http
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    assert web.get("ListGames", pb.ListGamesRequest(), pb.ListGamesResponse).http.headers["etag"] != tag
    assert "cache-control" not in web.new_game().http.headers
    asked: dict[str, Any] = {"accept-language": "fr", "accept-encoding": "gzip"}
    rules = web.get("GetRules", pb.GetRulesRequest(game="discat"), pb.GetRulesResponse, codec="json", **asked)
    assert rules.message == pb.GetRulesResponse(
        markdown=rules.message.markdown, language="fr", rules_version=engine.game("discat").rules_version
    )
    assert rules.http.headers["cache-control"] == first.headers["cache-control"]
    assert rules.http.headers["content-encoding"] == "gzip"


def test_health_is_not_cached(web: WebClient) -> None:
    found = web.http.get("/healthz")
    assert (found.status_code, found.text, found.headers["cache-control"]) == (200, "SERVING\n", "no-store")
    assert web.http.head("/healthz").status_code == 200
    assert web.http.post("/healthz").status_code == 405
