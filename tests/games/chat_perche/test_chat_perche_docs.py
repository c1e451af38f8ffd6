"""The page for frontend authors shows what the service prints."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from google.protobuf.json_format import MessageToDict

from chatiere.service.calls import game_service
from chatiere.v1.game_pb2 import TURN_KIND_OVER, Action, Include, Position
from chatiere.v1.game_service_pb2 import ApplyRequest, ApplyResponse, NewGameRequest, NewGameResponse

PAGE = (Path(__file__).parents[3] / "docs" / "games" / "chat_perche.md").read_text(encoding="utf-8")
# Lists of which the page shows only the beginning.
SHORTENED = ("deck", "discards")
# The game that the page is about.
MOVES = json.loads(Path(__file__).with_name("docs_game.json").read_text(encoding="utf-8"))


def new_game(include: Include) -> Position:
    """Return the response of NewGame."""
    request = NewGameRequest(game="chat_perche", players=2, seed=7, include=include)
    return NewGameResponse.FromString(game_service.new_game(request.SerializeToString())).position


def apply(request: ApplyRequest) -> Position:
    """Return the response of Apply."""
    response, _ = game_service.apply(request.SerializeToString())
    return ApplyResponse.FromString(response).position


def positions() -> Iterator[Position]:
    """Yield the responses of NewGame and Apply, to the end of the game."""
    include = Include(legal_actions=True, score=True, viewers=[0, 1])
    position = new_game(include)
    yield position
    for move in MOVES:
        position = apply(ApplyRequest(state=position.state, action=Action(id=move), include=include))
        yield position
    assert position.turn.kind == TURN_KIND_OVER


def objects(printed: Any) -> Iterator[dict[str, Any]]:
    """Yield all JSON objects within one."""
    if isinstance(printed, dict):
        yield printed
    for inner in printed.values() if isinstance(printed, dict) else printed if isinstance(printed, list) else ():
        yield from objects(inner)


def shortened(value: Any, shown: Any) -> Any:
    """Return a printed value, with its lists shortened as on the page."""
    if isinstance(value, list) and isinstance(shown, list) and len(value) == len(shown):
        return [shortened(inner, inner_shown) for inner, inner_shown in zip(value, shown, strict=True)]
    if isinstance(value, dict) and isinstance(shown, dict):
        return {
            name: inner[: len(shown.get(name, inner))] if name in SHORTENED else shortened(inner, shown.get(name))
            for name, inner in value.items()
        }
    return value


def examples() -> list[dict[str, Any]]:
    """Return the JSON objects of the page."""
    found = []
    for block in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL):
        rest = block.strip()
        while rest:
            example, end = json.JSONDecoder().raw_decode(rest)
            found.append(example)
            rest = rest[end:].lstrip()
    return found


def test_the_json_of_the_page_is_what_the_service_prints() -> None:
    printed = [found for position in positions() for found in objects(MessageToDict(position))]
    assert len(examples()) >= 12
    for example in examples():
        assert any(shortened(found, example) == example for found in printed if found.keys() == example.keys()), example


def test_the_calls_of_the_page_are_ones() -> None:
    assert new_game(Include()).turn.seat == 0
    action = Action()
    action.chat_perche.place_token.branch = 0
    action.chat_perche.place_token.solidity = 1
    first, second = (position for position, _ in zip(positions(), range(2), strict=False))
    assert apply(ApplyRequest(state=first.state, action=action)).state == second.state
