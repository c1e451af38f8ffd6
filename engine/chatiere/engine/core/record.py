"""Records of games as they were played: the beginning, and the moves in order."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date as day
from enum import Enum
from typing import Any, NamedTuple

from chatiere.engine.core.errors import EngineError, Reason
from chatiere.engine.core.events import EventLog
from chatiere.engine.core.game import Game
from chatiere.engine.core.integers import shown
from chatiere.engine.core.position import Position

MAX_NAME_LENGTH = 100
"""The maximum number of characters in a player's name."""

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class Kind(Enum):
    """The kind of a move. The value is the path of the list of these moves in a GameRecord."""

    ACTION = "actions"
    OUTCOME = "outcomes.outcomes"


class Record(NamedTuple):
    """A game as it was played, completely or up to some move.

    Attributes:
        game: The game.
        rules_version: The version of the rules under which the game was played.
        players: The number of players.
        options: The game's options, by the names in the rules file. Options that are not set have their defaults.
        stream: The seed and the game number of the stream from which chance was sampled. None means explicit chance.
        outcomes: The outcomes of chance events in order, if chance was explicit.
        actions: The dense ids of the actions in order.
    """

    game: Game
    rules_version: int
    players: int
    options: Mapping[str, Any]
    stream: tuple[int, int] | None
    outcomes: Sequence[int]
    actions: Sequence[int]

    def begin(self, events: EventLog | None = None) -> Position:
        """Return the position at the beginning.

        Args:
            events: An EventLog to which events are appended. None means no log.

        Raises:
            EngineError: INVALID_PLAYERS, INVALID_OPTION, INVALID_SEED, UNSUPPORTED_RULES_VERSION.
        """
        seed, game_number = (None, 0) if self.stream is None else self.stream
        return self.game.new_game(
            self.players,
            self.options,
            seed=seed,
            game_number=game_number,
            rules_version=self.rules_version,
            events=events,
        )

    def moves(self, position: Position) -> Iterator[tuple[Kind, int, int]]:
        """Yield the moves of the game.

        Args:
            position: The position returned by `begin`. The caller has to make each move on this position before
                requesting the next move.

        Yields:
            The kind of the move, the index in the list of moves of this kind, and the number of the move.

        Raises:
            EngineError: INVALID_RECORD if moves are missing, or if there are more moves than the game has.
        """
        action = outcome = 0
        while True:
            if position.is_chance_node() and outcome < len(self.outcomes):
                yield Kind.OUTCOME, outcome, self.outcomes[outcome]
                outcome += 1
            elif position.current_player() >= 0 and action < len(self.actions):
                yield Kind.ACTION, action, self.actions[action]
                action += 1
            else:
                break
        if action < len(self.actions):
            why = "the outcome of a chance event is missing before this action" if position.is_chance_node() else _OVER
            raise self._refusal(Kind.ACTION, action, why)
        if outcome < len(self.outcomes):
            why = _OVER if position.is_terminal() else "there is no chance event left for this outcome"
            raise self._refusal(Kind.OUTCOME, outcome, why)

    def _refusal(self, kind: Kind, index: int, why: str) -> EngineError:
        return EngineError(
            Reason.INVALID_RECORD, why, field=f"{kind.value}[{index}]", metadata={"game": self.game.name}
        )


_OVER = "the game is over before this move"


def check_lengths(game: Game, players: int, actions: int, outcomes: int) -> None:
    """Raise EngineError (INVALID_RECORD) for more moves of a kind than any game with that number of players has."""
    limits = game.limits_of_any_options(players)
    for kind, count, most in (
        (Kind.ACTION, actions, limits.max_game_length),
        (Kind.OUTCOME, outcomes, limits.max_chance_nodes_in_history),
    ):
        if count > most:
            raise EngineError(
                Reason.INVALID_RECORD,
                f"{count} {kind.name.lower()}s, but no game with {players} players has more than {most}",
                field=kind.value,
                metadata={"game": game.name, "limit": str(most)},
            )


def check_names(names: Sequence[str], players: int) -> None:
    """Raise EngineError (INVALID_RECORD) unless `names` is empty or has a name of valid length for each seat."""
    if names and len(names) != players:
        raise EngineError(
            Reason.INVALID_RECORD, f"a record of {players} players has {players} names, or none", field="seat_names"
        )
    for seat, name in enumerate(names):
        if len(name) > MAX_NAME_LENGTH:
            raise EngineError(
                Reason.INVALID_RECORD,
                f"a name has at most {MAX_NAME_LENGTH} characters, not {len(name)}",
                field=f"seat_names[{seat}]",
            )


def check_date(date: str) -> None:
    """Raise EngineError (INVALID_RECORD) unless `date` is a date in the form YYYY-MM-DD, or empty."""
    if not date:
        return
    try:
        if not _DATE.fullmatch(date):
            raise ValueError
        day.fromisoformat(date)
    except ValueError:
        raise EngineError(
            Reason.INVALID_RECORD, f"a date is a day as YYYY-MM-DD, not {shown(date)}", field="date"
        ) from None
