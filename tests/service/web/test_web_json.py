"""JSON at the web door: protobuf's mapping, readable errors, and requests that might crash a parser."""

import json
from typing import Any

import pytest
from google.protobuf import json_format
from hypothesis import given
from hypothesis import strategies as st

from chatiere import engine
from chatiere.engine import Game
from chatiere.service.base.errors import Refusal
from chatiere.service.ports.web.json_form import JsonForm
from chatiere.v1 import game_service_pb2 as pb

from .client import GAME_SERVICE, WebClient

APPLY = JsonForm("chatiere.v1.ApplyRequest", "chatiere.v1.ApplyResponse")


def posted(web: WebClient, method: str, body: Any) -> tuple[int, Any]:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    answer = web.http.post(GAME_SERVICE + method, content=data, headers={"content-type": "application/json"})
    return answer.status_code, answer.json()


def test_a_game_by_plain_json(web: WebClient, game: Game) -> None:
    """The game is played as by a page without generated code, with the ids of actions."""
    request = {"game": game.name, "players": game.min_players, "seed": "7", "include": {"legalActions": True}}
    status, answer = posted(web, "NewGame", request)
    position = answer["position"]
    while position["turn"]["kind"] == "TURN_KIND_DECISION":
        action = {"id": position["legalActions"][-1]["id"]}
        request = {"state": position["state"], "action": action, "include": {"legalActions": True}}
        status, answer = posted(web, "Apply", request)
        assert status == 200
        position = answer["position"]
    assert position["turn"]["kind"] == "TURN_KIND_OVER"
    assert posted(web, "GetScore", {"state": position["state"]})[0] == 200


def test_zeros_are_written_and_large_numbers_are_strings(web: WebClient) -> None:
    _, answer = posted(web, "NewGame", {"game": "discat", "players": 2, "seed": str(2**64 - 1)})
    state = answer["position"]["state"]
    assert (state["ply"], state["stream"]["seed"], state["stream"]["gameNumber"]) == (0, str(2**64 - 1), "0")
    assert state["discat"]["queueCards"] == []


def test_errors_are_readable(web: WebClient) -> None:
    status, error = posted(web, "NewGame", {"game": "chess", "players": 2})
    assert (status, error["code"]) == (400, "invalid_argument")
    details = {each["type"]: each["debug"] for each in error["details"]}
    assert details["google.rpc.ErrorInfo"]["reason"] == "UNKNOWN_GAME"
    assert details["google.rpc.BadRequest"]["fieldViolations"][0]["field"] == "game"
    assert details["google.rpc.RequestInfo"]["requestId"]


@pytest.mark.parametrize(
    ("body", "word"),
    [
        (b"{", "property name"),
        (b"[]", "a list is not an object"),
        (b"\xff", "UTF-8"),
        (b'{"action":{"id":' + b"1" * 5000 + b"}}", "too many digits"),
        (b'{"action":{"id":"x"}}', "id"),
        (b'{"action":{"id":1.5}}', "id"),
        (b'{"action":{"id":5000000000}}', "id"),
        (b'{"action":{"id":-1}}', "id"),
        (b'{"state":{"stream":{"seed":"18446744073709551616"}}}', "seed"),
        (b'{"action":{"id":1},"outcome":NaN}', "JSON"),
    ],
)
def test_an_invalid_request_is_refused_with_a_message(web: WebClient, body: bytes, word: str) -> None:
    status, error = posted(web, "Apply", body)
    assert (status, error["code"]) == (400, "invalid_argument")
    assert word in error["message"]
    assert error["details"][0]["debug"]["reason"] == "MALFORMED_REQUEST"


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 250_000,
        b'{"state":' * 25_000,
        b'{"state":' * 101 + b"{}" + b"}" * 101,
        b'{"x":"' + b'\\"' * 100_000 + b"[" * 200,
        b'"' * 250_000 + b"[" * 101,
        b"[" * 101 + b'"\\',
        b"[]" * 120_000,
    ],
    ids=["lists", "objects", "just too deep", "quotes", "strings", "cut", "many"],
)
def test_requests_that_are_too_deep_or_too_large_are_refused(web: WebClient, body: bytes) -> None:
    # Replay has the largest request of these methods.
    status, error = posted(web, "Replay", body)
    assert (status, error["code"]) == (400, "invalid_argument")
    assert "deep" in error["message"] or "at most" in error["message"]


def test_brackets_in_strings_do_not_count(web: WebClient) -> None:
    status, error = posted(web, "NewGame", {"game": '[{"\\' * 200, "players": 2})
    assert (status, error["details"][0]["debug"]["reason"]) == (400, "UNKNOWN_GAME")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(
                    ["state", "action", "id", "discat", "include", "viewers", "seats", "handCards", "outcome"]
                ),
                inner,
            )
        ),
    )
)
def test_any_json_is_read_or_refused(value: Any) -> None:
    try:
        pb.ApplyRequest.FromString(APPLY.read(json.dumps(value).encode()))
    except Refusal as refusal:
        assert refusal.reason == "MALFORMED_REQUEST"
        assert refusal.field or not isinstance(value, dict) or refusal.message.endswith("is not JSON")


@given(st.binary())
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        pb.ApplyRequest.FromString(APPLY.read(data))
    except Refusal as refusal:
        assert refusal.reason == "MALFORMED_REQUEST"


def test_large_requests_and_responses_are_json_like_small_ones(web: WebClient) -> None:
    """The request has a state of more than 16 KiB. Such a state is read in a thread."""
    status, answer = posted(web, "NewGame", {"game": "discat", "players": 2})
    state = answer["position"]["state"]
    state["discat"]["queueCards"] = [0] * 10_000
    status, error = posted(web, "GetScore", {"state": state})
    assert status == 400
    assert error["message"].startswith("state.discat.queue_cards")
    status, answer = posted(web, "ListGames", {"pieces": True, "observation": True})
    assert len(json.dumps(answer)) > 64 * 1024
    parsed = json_format.ParseDict(answer, pb.ListGamesResponse())
    assert [game.name for game in parsed.games] == [game.name for game in engine.games()]
