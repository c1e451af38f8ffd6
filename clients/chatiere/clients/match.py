"""Whole games between bots, move by move."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple, SupportsIndex

from chatiere import engine
from chatiere.bots import Bot, hosting
from chatiere.clients.client import Client
from chatiere.engine.core.messages import Messages
from chatiere.engine.wire import Reader
from chatiere.v1.game_pb2 import TURN_KIND_DECISION, Action, Include, Options, Position, State


class Step(NamedTuple):
    """A move of a match: the position before, the seat and its action, and the position after."""

    before: Position
    seat: int
    action: Action
    after: Position


def _everything(players: SupportsIndex) -> Include:
    # For spectators: every seat's view, the legal actions, the score.
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


def play(client: Client, position: Position, bots: Sequence[Bot], seed: SupportsIndex) -> Iterator[Step]:
    """Play to the end of the game with one bot per seat, yielding each move as it is made.

    `position`: from `begin`, or a step's `after`. `seed`: of the bots, 0 … 2**64 - 1. From the beginning of a game,
    they choose as in `play_many` with that seed. The positions of the steps have the views of all seats, the legal
    actions and the score; the last one has the winners and ranks. Errors as in Client.apply and `choose`.
    """
    include = _everything(len(bots))
    decisions = 0
    while position.turn.kind == TURN_KIND_DECISION:
        seat = position.turn.seat
        action = choose(client, position, bots[seat], seed, decisions)
        after = client.apply(position.state, action, include=include)
        yield Step(position, seat, action, after)
        position, decisions = after, decisions + 1


def choose(client: Client, position: Position, bot: Bot, seed: SupportsIndex, decisions: int) -> Action:
    """Let a bot choose for the seat to decide, by what that seat knows.

    `position`: with its legal actions. `seed`: as of `play`. `decisions`: how many there were in the game so far.
    Raises BotError if it does not choose a legal action.
    """
    luck = int(hosting.luck(seed, [position.state.stream.game_number], [decisions])[0])
    # The bot's host goes by a state that the seat cannot tell from the true one: it has the same legal actions and the
    # same observation.
    world = _unpacked(client.resample(position.state, position.turn.seat, seed=luck))
    (chosen,) = hosting.choose(bot, hosting.decisions_at(world, bot, luck))
    return next(action for action in position.legal_actions if action.id == chosen)


def _unpacked(state: State) -> engine.Position:
    return _messages(state.WhichOneof("game") or "").read_state(Reader(state))


@cache
def _messages(game: str) -> Messages:
    field = State.DESCRIPTOR.fields_by_name[game].number
    return Messages(engine.game(game), engine.codec(game), field)
