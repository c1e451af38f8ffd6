"""The base class of the games' slow references: a game is a script that stops whenever a decision is needed.

A reference implements its game's rules file in plain Python, for comparison with the kernel. It uses only the kernel's
names of events.
"""

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from chatiere.engine import Event, EventLog, Game, Position

from .building import kind_of

CHANCE = -1
OVER = -4


@dataclass(frozen=True)
class Question:
    """A pending choice: of a seat among dense ids, or of chance among outcomes with weights (1 if not given)."""

    actor: int
    moves: tuple[int, ...]
    weights: tuple[int, ...] = ()

    @property
    def outcomes(self) -> list[tuple[int, int]]:
        """Return a chance event's outcomes with weights."""
        return list(zip(self.moves, self.weights or (1,) * len(self.moves), strict=True))


class Happening(NamedTuple):
    """A complete event: the kind's name, the seat, the seats that see the values (None for all), and the values."""

    kind: str
    seat: int | None
    seen_by: frozenset[int] | None
    values: tuple[int, ...]


class Script(ABC):
    """A game in progress. `question` is the pending choice. `move` answers it. Chance is always explicit.

    `happened` are the events of the last move, in order.
    """

    question: Question
    happened: list[Happening]

    @abstractmethod
    def __init__(self, players: int, options: Mapping[str, Any] | None = None) -> None:
        """Set up a game with the options of the rules file. An override must call `begin` at the end."""

    @abstractmethod
    def _run(self) -> Generator[Question, int, None]:
        """Run the game from its first question to a question whose actor is OVER."""

    @abstractmethod
    def totals(self) -> list[int]:
        """Return the score that each seat would have if the game ended now."""

    @abstractmethod
    def ranks(self) -> list[int]:
        """Return each seat's rank, as if the game were over: 1 + the number of seats ahead of it."""

    def winners(self) -> list[int]:
        """Return the seats of rank 1."""
        return [seat for seat, rank in enumerate(self.ranks()) if rank == 1]

    def begin(self) -> None:
        """Run to the first question."""
        self.go_on(self._run())

    def go_on(self, script: Generator[Question, int, None]) -> None:
        """Run to the first question of a script. The script is for a whole game or for the rest of a game."""
        self.happened = []
        self._script = script
        self.question = next(script)

    def move(self, move: int) -> None:
        """Answer the question."""
        assert move in self.question.moves
        self.happened = []
        self.question = self._script.send(move)

    def tell(self, kind: str, seat: int | None, *values: int, seen_by: Iterable[int] | None = None) -> None:
        """Add an event."""
        self.happened.append(Happening(kind, seat, None if seen_by is None else frozenset(seen_by), values))

    @classmethod
    def replay(cls, players: int, options: Mapping[str, Any], moves: Iterable[int]) -> Self:
        """Return the game after these moves."""
        game = cls(players, options)
        for move in moves:
            game.move(move)
        return game

    @classmethod
    def perft(cls, players: int, options: Mapping[str, Any], moves: Sequence[int], depth: int) -> int:
        """Count sequences of `depth` decisions and outcomes after `moves`. A game that ends earlier counts as one."""
        question = cls.replay(players, options, moves).question
        if depth == 0 or question.actor == OVER:
            return 1
        if depth == 1:
            return len(question.moves)
        return sum(cls.perft(players, options, [*moves, move], depth - 1) for move in question.moves)


def happenings(game: Game, events: Iterable[Event]) -> list[Happening]:
    """Return the kernel's events in the form of a reference."""
    return [Happening(kind_of(game, event), *event[1:]) for event in events]


def move_both(position: Position, game: Script, move: int) -> None:
    """Make a move in the position and in the reference. Assert that both have the same complete events."""
    events = EventLog()
    position.apply(move, events)
    game.move(move)
    assert happenings(position.game, events) == game.happened


def same(position: Position, game: Script) -> None:
    """Assert that actor, possible moves and scores are equal."""
    question = game.question
    assert position.current_player() == question.actor
    assert position.totals() == game.totals()
    if question.actor == CHANCE:
        assert position.chance_outcomes() == question.outcomes
    else:
        assert position.legal_actions() == list(question.moves)
    if question.actor == OVER:
        assert position.ranks() == game.ranks()
        assert position.winners() == game.winners()
