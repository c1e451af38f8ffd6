"""The drawing of the table as text, as a seat sees it."""

import click
import pytest
from conformance.support import TABLE_NAMES, TABLES, Table, positions, thinned
from games.building import view_of
from tools.over import over, over_games

from chatiere.drawing import DRAWINGS, draw
from chatiere.engine import EngineError, Game, Position, games


def open_table(position: Position) -> list[str]:
    """Return the table with all hands open."""
    views = [view_of(position, seat) for seat in range(position.num_players())]
    return DRAWINGS[position.game.name].draw_table(views)


def test_every_game_has_a_drawing() -> None:
    assert set(DRAWINGS) == {game.name for game in games()}


@over("table", TABLES, ids=TABLE_NAMES)
def test_a_seat_sees_its_own_hand_but_no_hidden_information(table: Table) -> None:
    hidden = 0
    for number, position in enumerate(thinned(positions(table), 40)):
        shown = open_table(position)
        for seat in range(position.num_players()):
            drawn = draw(position, seat)
            own = [line for line in shown if f" seat {seat} " in click.unstyle(line)[:11]]
            assert len(own) == 1
            assert own[0] in drawn.split("\n")
            hidden += drawn != "\n".join(shown)
            for seed in range(3):
                assert draw(position.resample(seat, seed, number), seat) == drawn
    assert hidden > 0


@over_games
def test_an_unknown_seat_is_refused(game: Game) -> None:
    position = game.new_game(game.min_players, seed=1)
    with pytest.raises(EngineError, match="seat must be"):
        draw(position, game.min_players)
