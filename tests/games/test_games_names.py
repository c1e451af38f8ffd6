"""Names of players in the labels of positions, without a service."""

import re
from typing import Any

from tools.over import over_games

from chatiere import engine
from chatiere.engine import EventLog, Game, Position
from chatiere.engine.core.messages import Messages
from chatiere.engine.wire import Reader, fill
from chatiere.v1 import game_pb2

from .played import played

NAMES = ["Zoé", "D'Artagnan", "Łucja 3", "李小龍", "Noël", "Anne-Sophie"]


def labels(messages: Messages, position: Position, events: EventLog) -> list[str]:
    """Return the labels of a position in all parts that a request can include."""
    wanted = game_pb2.Include(legal_actions=True, viewers=range(position.num_players()), spectator=True)
    filled: Any = fill(game_pb2.Position(), messages.put_position, position, events, Reader(wanted))
    found = [each.label for each in (*filled.events, *filled.legal_actions)]
    for update in filled.updates:
        found += [each.label for each in (*update.events, update.view.prompt)]
    return found


@over_games
def test_names_replace_seats_in_labels(game: Game) -> None:
    field = game_pb2.State.DESCRIPTOR.fields_by_name[game.name].number
    plain = Messages(game, engine.codec(game.name), field)
    naming = plain.saying([name.encode() for name in NAMES])
    named = 0
    for position, events in played(game, game.max_players):
        for label, other in zip(labels(naming, position, events), labels(plain, position, events), strict=True):
            assert label == re.sub(r"seat (\d)", lambda found: NAMES[int(found[1])], other)
            named += label != other
    assert named > game.max_players
