"""A game between people and bots that can be taken back, recorded and resumed."""

from collections.abc import Iterator, Mapping, Sequence

from chatiere.bots import Bot, hosting
from chatiere.clients.calls.errors import ChatiereError, TransportError
from chatiere.clients.client import Client
from chatiere.clients.match import choose
from chatiere.v1.bot_service_pb2 import SuggestResponse
from chatiere.v1.game_pb2 import TURN_KIND_DECISION, Action, Event, Include, Position, View
from chatiere.v1.record_pb2 import GameRecord

ADVISER = "ismcts:simulations=1000"
"""The bot that is asked for hints."""


class HumanMatch:
    """A game between people and bots, with all its positions.

    The positions hold all hands. What a person may be shown are `view`, `events`, the legal actions of their own turn,
    a hint for it, and the score of a game that is over.
    """

    def __init__(self, client: Client, record: GameRecord, bots: Mapping[int, Bot]) -> None:
        """Begin the game of a record without actions, or go on where a record ends.

        `record`: with a stream. `bots`: by seat; the other seats are people's. The seed of the stream is also that of
        the bots, who choose as in `match.play`.

        Raises ValueError for a record that the service cannot play again, and TransportError.
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
        """The position reached, whole."""
        return self._positions[-1]

    @property
    def seat(self) -> int | None:
        """The seat to decide; None: the game is over."""
        turn = self.position.turn
        return turn.seat if turn.kind == TURN_KIND_DECISION else None

    def view(self, seat: int) -> View:
        """Return what a person's seat may know."""
        return self.position.updates[self.people.index(seat)].view

    def events(self, seat: int, decisions: int) -> Sequence[Event]:
        """Return what happened between decision number `decisions` and the one before, as a person's seat may know it.

        Those of 0 are the beginning of the game.
        """
        return self._positions[decisions].updates[self.people.index(seat)].events

    def last_decision(self, seat: int) -> int:
        """Return the number of the last decision that a seat made, from 0; -1: none yet."""
        made = (number for number in reversed(range(self.decisions)) if self._positions[number].turn.seat == seat)
        return next(made, -1)

    def record(self) -> GameRecord:
        """Return the game so far as a record. It tells all that is hidden, and what chance will bring."""
        record = GameRecord()
        record.CopyFrom(self._record)
        return record

    def apply(self, action: Action) -> None:
        """Make a move of the seat to decide. Raises ChatiereError; the game then stands as before."""
        self._positions.append(self._client.apply(self.position.state, action.id, include=self._include))
        self._record.actions.append(action.id)

    def play_bot(self) -> None:
        """Make the move of the bot that is to decide. Raises ChatiereError; the game then stands as before."""
        bot = self.bots[self.position.turn.seat]
        self.apply(choose(self._client, self.position, bot, self._record.stream.seed, self.decisions))

    def undo(self) -> bool:
        """Go back to the last decision that was made by the person who is to decide, or, if none is, by any person.

        Returns False if there was none.
        """
        last = max(map(self.last_decision, self.people if self.seat not in self.people else [self.seat]))
        if last < 0:
            return False
        del self._positions[last + 1 :]
        del self._record.actions[last:]
        return True

    def hint(self) -> SuggestResponse:
        """Ask `ADVISER`, who knows what the seat to decide knows. Raises ChatiereError."""
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
