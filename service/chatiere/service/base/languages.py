"""The language of a call's labels and errors, negotiated by `accept-language`, and the translations of errors."""

import re
from collections.abc import Callable
from contextvars import ContextVar
from functools import cache, lru_cache
from typing import ParamSpec, TypeVar

from chatiere import engine
from chatiere.engine.core.languages import LANGUAGES, catalogue

ACCEPT_LANGUAGE, CONTENT_LANGUAGE = "accept-language", "content-language"
# A language range with an optional weight (RFC 9110, sections 12.5.4 and 12.4.2). Some programs send a locale's name,
# such as fr_FR.UTF-8 or de_DE@euro (POSIX.1-2024, Base Definitions, 8.2).
_RANGE = re.compile(
    r"(?:\*|(?P<language>[a-z]{1,8})(?:[-_][a-z0-9]{1,8})*(?:\.[a-z0-9_-]+)?(?:@[a-z0-9_-]+)?)"
    r"(?:[ \t]*;[ \t]*q=(?P<weight>0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?",
    re.I | re.A,
)
_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")
_SPOKEN: ContextVar[str] = ContextVar("language", default=LANGUAGES[0])

# The maximum length of the value. It is limited because the value is parsed before the client is authenticated.
# Browsers send a tenth of this length.
_MAX_LENGTH = 500

# For each reason, the translatable text of errors for which the game has no phrase.
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
    """Return the supported language with the highest weight in an `accept-language` value. The default is English.

    Unknown languages are ignored (RFC 9110, 12.5.4).

    Raises:
        LanguageError: If the value is malformed or too long.
    """
    if len(accepted) > _MAX_LENGTH:
        raise LanguageError(f"longer than {_MAX_LENGTH} characters")
    wanted = [_read_range(each.strip(" \t")) for each in accepted.split(",") if each.strip(" \t")]
    named = {language for language, _ in wanted}
    # The sort is stable, so the first of several ranges with the same weight is preferred.
    for language, weight in sorted(wanted, key=lambda each: -each[1]):
        if weight == 0:
            break
        if language == "*":
            language = next((each for each in LANGUAGES if each not in named), "")
        if language in LANGUAGES:
            return language
    return LANGUAGES[0]


def _read_range(text: str) -> tuple[str, float]:
    # Return the primary language, or "*", and the weight.
    found = _RANGE.fullmatch(text)
    if found is None:
        raise LanguageError("not a list of language ranges, as in `fr-CA, fr;q=0.8, en;q=0.5`")
    return (found["language"] or "*").lower(), float(found["weight"] or 1)


def spoken() -> str:
    """Return the language of the call being handled."""
    return _SPOKEN.get()


def speaking(language: str, handle: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Return a function that calls `handle` with labels in a language ("" for English). It may run in any thread."""
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
    """Return the text of an error in a language.

    Args:
        language: The language.
        reason: The error's ErrorReason.
        message: The text in English.
        game: The game to whose phrases `key` belongs, or "" if there is no phrase.
        key: The key of the phrase, or "" if there is no phrase.
    """
    if game and key:
        # Return only the phrase. The message also names the seat to act, by its number.
        return engine.codec(game).phrases.text(key, language)
    if language == LANGUAGES[0]:
        return message
    return _translate(language)(reason, WORDS[reason])


@cache
def _translate(language: str) -> Callable[[str, str], str]:
    return catalogue(__package__, language)
