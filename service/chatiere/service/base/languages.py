"""The language of a call's labels and refusals: what `accept-language` asks for, and refusals in that language."""

import re
from collections.abc import Callable
from contextvars import ContextVar
from functools import cache, lru_cache
from typing import ParamSpec, TypeVar

from chatiere import engine
from chatiere.engine.core.languages import LANGUAGES, catalogue

ACCEPT_LANGUAGE, CONTENT_LANGUAGE = "accept-language", "content-language"
# RFC 9110, 12.5.4 and 12.4.2: a language range, perhaps with a weight.
_RANGE = re.compile(
    r"(\*|[a-z]{1,8}(?:-[a-z0-9]{1,8})*)(?:[ \t]*;[ \t]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?", re.I | re.A
)
_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")
_SPOKEN: ContextVar[str] = ContextVar("language", default=LANGUAGES[0])

# The most characters of the value, which is read before a client is known; browsers send a tenth of that.
_MAX_LENGTH = 500

# What refusals without a phrase of a game say in other languages, by reason.
WORDS = {
    "UNKNOWN_GAME": "the service does not know this game",
    "INVALID_PLAYERS": "the game cannot be played by this number of players",
    "INVALID_OPTION": "an option is unknown or out of range",
    "INVALID_SEED": "this seed or game number is not valid here",
    "INVALID_SEAT": "unknown seat, seat named twice, or invalid seat names",
    "INVALID_STATE": "not a state of a game, or one that its rules do not allow",
    "UNSUPPORTED_RULES_VERSION": "the state was made under another version of the rules",
    "INVALID_ACTION": "not an action of the game",
    "ILLEGAL_ACTION": "the rules do not allow this action now",
    "ACTION_MISMATCH": "the action and its number do not match",
    "IMPOSSIBLE_OUTCOME": "the pending chance event cannot have this outcome",
    "CHANCE_PENDING": "a chance event has to be resolved first",
    "NO_CHANCE_PENDING": "no chance event is pending: a seat has to decide",
    "GAME_OVER": "the game is over",
    "MISSING_FIELD": "the request is incomplete",
    "INTERNAL": "the service failed because of an internal error",
    "MALFORMED_REQUEST": "the request cannot be read",
    "INVALID_BATCH": "the columns of the batch do not match",
    "BATCH_TOO_LARGE": "the batch asks for too much at once",
    "UNAUTHENTICATED": "the service requires a valid token",
    "LIMIT_EXCEEDED": "a limit is exceeded: try again later",
    "TIME_LIMIT": "the call took too long",
    "REQUEST_TIMEOUT": "the request did not arrive in time",
    "INVALID_BOT": "unknown bot for the game, or invalid parameters",
    "INVALID_RECORD": "the record cannot be played again",
    "INVALID_RANGE": "the record has no such part",
    "INVALID_LANGUAGE": "the list of preferred languages cannot be read",
    "INVALID_TABLE": "not a table that the service sealed",
    "TABLE_EXPIRED": "the table has expired",
    "WRONG_SECRET": "the secret belongs to no seat at the table",
    "NOT_ACKNOWLEDGED": "some seats still have to acknowledge the table",
    "WRONG_TURN": "another seat has to decide",
    "INVALID_TERMS": "a table cannot have these terms",
    "INVALID_HISTORY": "the tables do not form one whole game, in order",
    "GAME_NOT_OVER": "the game is not over yet",
    "INVALID_ROOM": "not a room, or not something that a room accepts",
}


class LanguageError(ValueError):
    """`accept-language` is malformed or too long."""


@lru_cache(maxsize=256)
def language_for(accepted: str) -> str:
    """Return the language for the value of `accept-language`: the most wanted one that is spoken, or else English.

    Languages that are not known count for nothing (RFC 9110, 12.5.4). Raises LanguageError.
    """
    if len(accepted) > _MAX_LENGTH:
        raise LanguageError(f"longer than {_MAX_LENGTH} characters")
    wanted = [_read_range(each.strip(" \t")) for each in accepted.split(",") if each.strip(" \t")]
    named = {language for language, _ in wanted}
    # The sort is stable: of equal weights the first counts.
    for language, weight in sorted(wanted, key=lambda each: -each[1]):
        if weight == 0:
            break
        if language == "*":
            language = next((each for each in LANGUAGES if each not in named), "")
        if language in LANGUAGES:
            return language
    return LANGUAGES[0]


def _read_range(text: str) -> tuple[str, float]:
    # The primary language, or "*", and the weight.
    found = _RANGE.fullmatch(text)
    if found is None:
        raise LanguageError("not a list of language ranges, as in `fr-CA, fr;q=0.8, en;q=0.5`")
    return found[1].partition("-")[0].lower(), float(found[2] or 1)


def spoken() -> str:
    """Return the language of the call that is being handled."""
    return _SPOKEN.get()


def speaking(language: str, handle: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Return `handle`, with labels in that language ("": in English), whatever thread calls it."""
    if language in ("", LANGUAGES[0]):
        return handle

    def handled(*arguments: _Arguments.args, **named: _Arguments.kwargs) -> _Result:
        token = _SPOKEN.set(language)
        try:
            return handle(*arguments, **named)
        finally:
            _SPOKEN.reset(token)

    return handled


def localized(language: str, reason: str, message: str, game: str, key: str) -> str:
    """Return a refusal in a language.

    `message`: it in English. `game`, `key`: of the phrase that says it; "" if it has none.
    """
    if game and key:
        # Without whose turn it is, which the message tells by the number of a seat.
        return engine.codec(game).phrases.text(key, language)
    if language == LANGUAGES[0]:
        return message
    return _translate(language)(reason, WORDS[reason])


@cache
def _translate(language: str) -> Callable[[str, str], str]:
    return catalogue(__package__, language)
