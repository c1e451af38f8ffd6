"""A game in WebKit, by clicks, to its end."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from service.process import Served

from .webkit import WebKitPlayer, needs_webkit, webkit

pytestmark = needs_webkit


@pytest.fixture
def player(server: Served, tmp_path: Path) -> Iterator[WebKitPlayer]:
    with webkit(tmp_path) as session:
        yield WebKitPlayer(session, server.address)


def test_webkit_plays_a_whole_game(player: WebKitPlayer) -> None:
    player.open("new/discat")
    player.pick(".new-game button.primary")
    player.play_to_the_end()
    (told,) = player.texts(".notice.end h2")
    assert "win" in told
    assert len(player.texts(".notice.end .totals tbody th")) == 2
    assert player.errors() == []
