"""Games between people and bots. They can be undone, recorded and resumed."""

from collections.abc import Iterator, Mapping, Sequence

from chatiere.bots import Bot, hosting
from chatiere.clients.calls.errors import ChatiereError, TransportError
from chatiere.clients.client import Client
from chatiere.clients.match import choose
from chatiere.v1.bot_service_pb2 import SuggestResponse
from chatiere.v1.game_pb2 import TURN_KIND_DECISION, Action, Event, Include, Position, View
from chatiere.v1.record_pb2 import GameRecord

ADVISER = "ismcts:simulations=1000"
"""The bot that gives hints."""


class HumanMatch:
    """A game between people and bots, with all its positions.

    The positions contain all hands. Show a person only `view` and `events`. On the person's own turn, you may also show
    the legal actions and a hint. After the game, you may show the score.
    """

    def __init__(self, client: Client, record: GameRecord, bots: Mapping[int, Bot]) -> None:
        """Start the game of a record without actions, or continue where a record ends.

        Args:
            client: The client.
            record: A record with a stream. The bots choose as in `match.play`, with the stream's seed.
            bots: The bot at each bot's seat. People play the other seats.

        Raises:
            ValueError: The service cannot replay the record.
            TransportError: The service did not respond.
        """
        self.bots = bots
        self.people = [seat for seat in range(record.players) if seat not in bots]
        self._client = client
        self._record = GameRecord()
        self._record.CopyFrom(record)
        self._include = Include(legal_actions=True, score=True, viewers=self.people)
        self._positions = list(_replay(client, record, self._include))

    @property
    def decisions(self) -> int:
        """The number of decisions made so far."""
        return len(self._positions) - 1

    @property
    def position(self) -> Position:
        """The current position, including hidden information."""
        return self._positions[-1]

    @property
    def seat(self) -> int | None:
        """The deciding seat, or None if the game is over."""
        turn = self.position.turn
        return turn.seat if turn.kind == TURN_KIND_DECISION else None

    def view(self, seat: int) -> View:
        """Return the view of a person's seat."""
        return self.position.updates[self.people.index(seat)].view

    def events(self, seat: int, decisions: int) -> Sequence[Event]:
        """Return those events of a decision that a person's seat may know.

        `decisions` is the decision's number, from 1. For 0, return the events at the start of the game.
        """
        return self._positions[decisions].updates[self.people.index(seat)].events

    def last_decision(self, seat: int) -> int:
        """Return the number of the last decision that a seat made, from 0, or -1 if it has made no decision."""
        made = (number for number in reversed(range(self.decisions)) if self._positions[number].turn.seat == seat)
        return next(made, -1)

    def record(self) -> GameRecord:
        """Return the record of the game so far. It reveals all hidden information and future chance events."""
        record = GameRecord()
        record.CopyFrom(self._record)
        return record

    def apply(self, action: Action) -> None:
        """Make a move for the seat whose turn it is. If the move raises ChatiereError, the game is unchanged."""
        self._positions.append(self._client.apply(self.position.state, action.id, include=self._include))
        self._record.actions.append(action.id)

    def play_bot(self) -> None:
        """Make a move for the bot whose turn it is. If the move raises ChatiereError, the game is unchanged."""
        bot = self.bots[self.position.turn.seat]
        self.apply(choose(self._client, self.position, bot, self._record.stream.seed, self.decisions))

    def undo(self) -> bool:
        """Take back the last decision of the person whose turn it is, and all later decisions.

        At a bot's turn, take back the last decision made by any person, and all later decisions.

        Returns:
            False if there is no decision to take back.
        """
        last = max(map(self.last_decision, self.people if self.seat not in self.people else [self.seat]))
        if last < 0:
            return False
        del self._positions[last + 1 :]
        del self._record.actions[last:]
        return True

    def hint(self) -> SuggestResponse:
        """Return the suggestion of `ADVISER`, based only on the deciding seat's knowledge. Raises ChatiereError."""
        luck = int(hosting.luck(self._record.stream.seed, [self._record.stream.game_number], [self.decisions])[0])
        return self._client.suggest(self.position.state, ADVISER, seed=luck)


def _replay(client: Client, record: GameRecord, include: Include) -> Iterator[Position]:
    stream = record.stream
    field = "its beginning"
    try:
        position = client.new_game(
            record.game,
            record.players,
            options=record.options if record.HasField("options") else None,
            seed=stream.seed,
            game_number=stream.game_number,
            include=include,
        )
        yield position
        for number, action in enumerate(record.actions):
            field = f"actions[{number}]"
            position = client.apply(position.state, action, include=include)
            yield position
    except TransportError:
        raise
    except ChatiereError as error:
        raise ValueError(f"{field}: {error}") from error
