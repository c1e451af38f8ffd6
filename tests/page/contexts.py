"""Positions of all games in the form in which viewers get them, for tests of the page's drawings in Node."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from .test_page_games import GAMES

# The approximate number of positions of each game, for the fewest and for the most players.
_POSITIONS = 12


def caller(address: str, language: str = "en") -> Callable[[str, dict[str, Any]], Any]:
    """Return a function that makes a call in JSON: `call(method, request)`."""
    headers = {"content-type": "application/json", "accept-language": language}

    def call(method: str, request: dict[str, Any]) -> Any:
        url = f"http://{address}/chatiere.v1.{method}"
        with urlopen(Request(url, json.dumps(request).encode(), headers)) as answer:
            return json.load(answer)

    return call


def write_contexts(address: str, path: Path) -> None:
    """Write to a file, as JSON, a service's description of each game, and positions of a random game."""
    call = caller(address)
    found = []
    for game in GAMES:
        (info,) = call("GameService/ListGames", {"games": [game], "phrases": True, "pieces": True})["games"]
        for players in sorted({info["minPlayers"], info["maxPlayers"]}):
            include = {"legalActions": True, "score": True, "viewers": list(range(players)), "spectator": True}
            begun = {"game": game, "players": players, "seed": "7", "include": include}
            positions = [call("GameService/NewGame", begun)["position"]]
            chosen = random.Random(f"{game} {players}")
            while legal := positions[-1].get("legalActions"):
                move = {"state": positions[-1]["state"], "action": {"id": chosen.choice(legal)["id"]}}
                positions.append(call("GameService/Apply", move | {"include": include})["position"])
            step = max(1, len(positions) // _POSITIONS)
            shown = [position["updates"] for position in [*positions[::step], positions[-1]]]
            found.append({"game": game, "info": info, "players": players, "positions": shown})
    path.write_text(json.dumps(found), "utf-8")
