"""The caller's seat and the bots at the other seats, read from SeatEnv's arguments."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, SupportsIndex

from chatiere import bots, engine
from chatiere.bots import Bot
from chatiere.engine import EngineError, Game, Reason
from chatiere.engine.core.integers import integer_in, must_be

Opponents = str | Bot | Sequence[str | Bot]

_ON_ILLEGAL = ("lose", "raise")


class Seating(NamedTuple):
    """A game, the seat for which the caller decides, and the bots at all other seats."""

    game: Game
    players: int
    """The number of players."""
    options: dict[str, Any] | None
    """The game's valid options, by name."""
    seat: int
    """The seat for which the caller decides."""
    bots: list[Bot]
    """The bots, without duplicates."""
    bot_of: list[int]
    """For each seat, the index of its bot in `bots`. The entry for `seat` has no meaning."""
    illegal_loses: bool
    """True if an illegal action of the seat loses the game, False if it raises EngineError."""
    lowest_return: float
    """The return of a seat that has lost."""


def read_seating(
    game: str,
    players: SupportsIndex | None,
    seat: SupportsIndex,
    opponents: Opponents,
    options: Mapping[str, Any] | None,
    illegal: str,
) -> Seating:
    """Read SeatEnv's arguments.

    Raises:
        EngineError: UNKNOWN_GAME, INVALID_PLAYERS, INVALID_SEAT, INVALID_OPTION.
        ValueError: If another argument is invalid.
    """
    known = engine.game(game)
    number = known.read_players(known.min_players if players is None else players)
    limits = known.limits(number, options)
    own = _read_seat(seat, number)
    different, bot_of = _read_opponents(opponents, known, number, own)
    if illegal not in _ON_ILLEGAL:
        raise ValueError(f"illegal must be {' or '.join(map(repr, _ON_ILLEGAL))}, not {illegal!r}")
    copied = None if options is None else dict(options)
    return Seating(known, number, copied, own, different, bot_of, illegal == "lose", limits.min_utility)


def refusal(error: EngineError, field: str, action: int) -> EngineError:
    """Return the error for an illegal action in a field, based on the error of Position.apply."""
    message = f"{field} {action} is illegal: {error.message} ({error.rule})"
    return EngineError(error.reason, message, field=field, rule=error.rule, metadata=error.metadata)


def _read_seat(seat: SupportsIndex, players: int) -> int:
    number = integer_in(seat, 0, players - 1)
    if number is None:
        raise EngineError(Reason.INVALID_SEAT, must_be("seat", seat, 0, players - 1), field="seat")
    return number


def _read_opponents(opponents: Opponents, game: Game, players: int, seat: int) -> tuple[list[Bot], list[int]]:
    others = players - 1
    if isinstance(opponents, str | Bot):
        given: Sequence[str | Bot] = [opponents] * others
    elif isinstance(opponents, Sequence) and len(opponents) == others:
        given = opponents
    else:
        raise ValueError(f"opponents must be one bot or a list of {others}, one for each other seat, not {opponents!r}")
    for bot in given:
        if not isinstance(bot, str | Bot):
            raise ValueError(f"opponents: a bot must be a name or a Bot, not {bot!r}")
    # Remove duplicates, because a bot decides for all of its seats in one call.
    different = list(dict.fromkeys(given))
    bot_of = [0] * players
    for left, bot in enumerate(given, 1):
        bot_of[(seat + left) % players] = different.index(bot)
    return [bot if isinstance(bot, Bot) else _get_bot(bot, game, players) for bot in different], bot_of


def _get_bot(name: str, game: Game, players: int) -> Bot:
    try:
        return bots.get(name, game, players)
    except ValueError as error:
        raise ValueError(f"opponents: {error}") from None
