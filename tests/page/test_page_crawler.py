"""Every order of clicks in many positions: each click causes a pick, a move or a sentence in the player's words.

The page's modules decide in Node, without a browser. The service explains the illegal actions.
"""

import json
import os
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest
from service.process import Served
from tools.needs import require
from tools.over import over

from .contexts import caller
from .test_page_games import GAMES

pytestmark = pytest.mark.long

CRAWLER = Path(__file__).parent / "unit/crawler.mjs"
POSITIONS = 200
# The maximum number of positions from one game, so that there are games with all numbers of players.
_FROM_ONE_GAME = 20


def positions_of(address: str, game: str, language: str) -> dict[str, Any]:
    """Return positions of random games in which a seat has to decide, each with the view of this seat."""
    call = caller(address, language)
    (info,) = call("GameService/ListGames", {"games": [game], "phrases": True, "pieces": True})["games"]
    chosen = random.Random(game)
    found: list[Any] = []
    while len(found) < POSITIONS:
        players = chosen.randint(info["minPlayers"], info["maxPlayers"])
        include = {"legalActions": True, "score": True, "viewers": list(range(players))}
        begun = {"game": game, "players": players, "seed": str(len(found)), "include": include}
        position = call("GameService/NewGame", begun)["position"]
        played = []
        while legal := position.get("legalActions"):
            seat = position["turn"].get("seat", 0)
            played.append({"state": position["state"], "update": position["updates"][seat]})
            move = {"state": position["state"], "action": {"id": chosen.choice(legal).get("id", 0)}}
            position = call("GameService/Apply", move | {"include": include})["position"]
        found += chosen.sample(played, min(_FROM_ONE_GAME, len(played), POSITIONS - len(found)))
    return {"address": address, "language": language, "game": game, "info": info, "positions": found}


@pytest.mark.parametrize("language", ["en", pytest.param("fr", marks=pytest.mark.whole_page)])
@over("game", GAMES)
def test_every_click_is_answered(server: Served, tmp_path: Path, game: str, language: str) -> None:
    require("Node")
    path = tmp_path / "positions.json"
    path.write_text(json.dumps(positions_of(server.address, game, language)), "utf-8")
    environment = os.environ | {"CHATIERE_CRAWL": str(path)}
    crawled = subprocess.run(["node", "--test", CRAWLER], env=environment, capture_output=True, text=True, timeout=600)
    assert crawled.returncode == 0, crawled.stdout[-5000:] + crawled.stderr[-2000:]
