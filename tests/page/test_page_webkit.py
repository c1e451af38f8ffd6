"""Games in WebKit are played by clicks to their end."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from service.process import Served
from tools.needs import needs
from tools.over import over

from chatiere import engine

from .test_page_games import GAMES
from .webkit import WebKitPlayer, webkit

pytestmark = [needs("WebKit"), pytest.mark.long]
# Every run tests one game. `make page` tests all games.
CASES = [pytest.param(game, marks=() if game == "discat" else pytest.mark.whole_page) for game in GAMES]


@pytest.fixture
def player(server: Served, tmp_path: Path) -> Iterator[WebKitPlayer]:
    with webkit(tmp_path) as session:
        yield WebKitPlayer(session, server.address)


@over("game", CASES)
def test_webkit_plays_a_whole_game(player: WebKitPlayer, game: str) -> None:
    player.open(f"new/{game}")
    player.pick(".new-game button.primary")
    player.play_to_the_end()
    (told,) = player.texts(".notice.end h2")
    assert "win" in told
    assert len(player.texts(".notice.end .totals tbody th")) == engine.game(game).min_players
    assert player.errors() == []
