"""Whole games between bots, one move at a time."""

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
    """A move in a match: the position before, the seat and its action, and the position after."""

    before: Position
    seat: int
    action: Action
    after: Position


def _everything(players: SupportsIndex) -> Include:
    # Request the views of all seats, the legal actions and the score.
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
    """Start a game with sampled chance, for `play`. For arguments and errors see Client.new_game.

    The position includes the views of all seats, the legal actions and the score.
    """
    return client.new_game(
        game, players, options=options, seed=seed, game_number=game_number, include=_everything(players)
    )


def play(client: Client, position: Position, bots: Sequence[Bot], seed: SupportsIndex) -> Iterator[Step]:
    """Play a game to its end with one bot per seat. Yield each move when it is made.

    From the start of a game, the bots choose as in `play_many` with the same seed. The positions in the steps include
    the views of all seats, the legal actions and the score. The last position also includes the winners and ranks.

    Args:
        client: The client.
        position: A position from `begin`, or `after` of a step.
        bots: One bot per seat.
        seed: The seed of the bots, 0 … 2**64 - 1.

    Raises:
        ChatiereError: See Client.apply.
        BotError: A bot does not choose a legal action.
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
    """Let a bot choose an action for the deciding seat, based on that seat's knowledge.

    Args:
        client: The client.
        position: A position with its legal actions.
        bot: The bot.
        seed: The seed of the bots, as for `play`.
        decisions: The number of decisions made so far in the game.

    Raises:
        BotError: The bot does not choose a legal action.
    """
    luck = int(hosting.luck(seed, [position.state.stream.game_number], [decisions])[0])
    # The bot gets a state that its seat cannot distinguish from the true state, with the same legal actions and
    # observation.
    world = _unpacked(client.resample(position.state, position.turn.seat, seed=luck))
    (chosen,) = hosting.choose(bot, hosting.decisions_at(world, bot, luck))
    return next(action for action in position.legal_actions if action.id == chosen)


def _unpacked(state: State) -> engine.Position:
    return _messages(state.WhichOneof("game") or "").read_state(Reader(state))


@cache
def _messages(game: str) -> Messages:
    field = State.DESCRIPTOR.fields_by_name[game].number
    return Messages(engine.game(game), engine.codec(game), field)
