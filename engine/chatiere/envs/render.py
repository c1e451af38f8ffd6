"""The table as text, as one seat sees it. Every environment uses it for `render_mode="ansi"`."""

from chatiere import engine
from chatiere.drawing import DRAWINGS
from chatiere.engine import Position
from chatiere.engine.wire import fill
from chatiere.v1.game_pb2 import View


def draw(position: Position, seat: int) -> str:
    """Return the table as text of several lines with ANSI styles, drawn only from a seat's view.

    Cards that the seat does not know are drawn as a question mark.

    Raises:
        EngineError: INVALID_SEAT.
    """
    game = position.game
    view = getattr(View(), game.name)
    fill(view, engine.codec(game.name).put_view, position, seat)
    return "\n".join(DRAWINGS[game.name].draw_table([view] * position.num_players()))
