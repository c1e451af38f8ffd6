"""Whole games between bots, one call per move."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, SupportsIndex

from chatiere.clients.client import Client
from chatiere.clients.game_support import Bot
from chatiere.v1.game_pb2 import TURN_KIND_DECISION, Action, Include, Options, Position


class Step(NamedTuple):
    """A move of a match: the position before, the seat and its action, and the position after."""

    before: Position
    seat: int
    action: Action
    after: Position


def _everything(players: SupportsIndex) -> Include:
    # For bots and spectators: every seat's view, the legal actions, the score.
    return Include(legal_actions=True, score=True, viewers=range(players))


def begin(
    client: Client,
    game: str,
    players: SupportsIndex,
    *,
    options: Options | None = None,
    seed: SupportsIndex | None = None,
    game_number: SupportsIndex = 0,
) -> Position:
    """Begin a game with sampled chance, for `play`; arguments and errors as in Client.new_game.

    The position has the views of all seats, the legal actions and the score.
    """
    return client.new_game(
        game, players, options=options, seed=seed, game_number=game_number, include=_everything(players)
    )


def play(client: Client, position: Position, bots: Sequence[Bot]) -> Iterator[Step]:
    """Play to the end of the game with one bot per seat, yielding each move as it is made.

    `position`: from `begin`, or a step's `after`. The positions of the steps have the views of all seats, the legal
    actions and the score; the last one has the winners and ranks. Each bot is given only its own seat's view. Errors as
    in Client.apply.
    """
    include = _everything(len(bots))
    while position.turn.kind == TURN_KIND_DECISION:
        seat = position.turn.seat
        action = bots[seat].choose(position.viewers[seat].view, position.legal_actions)
        after = client.apply(position.state, action, include=include)
        yield Step(position, seat, action, after)
        position = after
