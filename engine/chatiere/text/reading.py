"""Actions in words, as people and language models write them."""

import re
import unicodedata
from collections.abc import Iterable, Sequence

from chatiere.engine import Position

LANGUAGES = ("en", "fr")
"""The languages of the labels that are understood."""
# The longest text that is read. A reader of text may be verbose, but an action has at most a few hundred characters.
MAX_TEXT = 10_000
# The number of legal actions that an error lists.
_MAX_TOLD = 8
_ARTICLES = frozenset(["a", "an", "the", "le", "la", "les", "l", "un", "une", "des", "du", "de", "d", "to"])
_TOKEN = re.compile(r"\w+")
_NUMBER = re.compile(r"\W*(id\W*)?(\d{1,6})\W*", re.IGNORECASE)
_ANNOUNCED = re.compile(r"(?:action|move|choice|coup|choix)\s*(?:is|est)?\s*[:=]\s*(.+)", re.IGNORECASE)


class UnclearActionError(ValueError):
    """A text that names no legal action, or several. The message says what to write instead."""


def read_action(text: str, position: Position) -> int:
    """Return the dense id of the legal action that a text names.

    These forms are understood, in this order. Case, accents, articles and punctuation do not matter:

    - a number, counted from 1 in the order of the legal actions ("3"), or a dense id ("id 37");
    - the action in words, in English or French ("play 15", "jouer 15"), also with its words in another order;
    - one of these at the end of a line "Move: …", or as the only line of its kind in a longer text;
    - a longer text that contains the words of one legal action.

    Args:
        text: The text.
        position: A position at which a seat decides.

    Raises:
        UnclearActionError: If the text names no legal action, or several.
        EngineError: CHANCE_PENDING, GAME_OVER.
    """
    position.require_decision()
    legal = position.legal_actions()
    if len(text) > MAX_TEXT:
        raise UnclearActionError(f"the text has {len(text)} characters, at most {MAX_TEXT} are read: name one action")
    if (action := _numbered(text, legal)) is not None:
        return action
    names = {language: [_words(position.action_label(each, language)) for each in legal] for language in LANGUAGES}
    lines = [line for line in reversed(text.splitlines()) if line.strip()]
    announced = [match[1] for line in lines if (match := _ANNOUNCED.search(line))]
    for form in (text, *announced[:1], *lines):
        if form is not text and (action := _numbered(form, legal)) is not None:
            return action
        words = _words(form)
        for same in (_equal, _same_words):
            found = {legal[row] for rows in names.values() for row, name in enumerate(rows) if same(name, words)}
            if len(found) == 1:
                return found.pop()
    found = _contained(_words(text), names.values(), legal)
    if len(found) == 1:
        return found.pop()
    raise UnclearActionError(_told(position, text, legal, found))


def _numbered(text: str, legal: Sequence[int]) -> int | None:
    # Return the action that a number names. Raises UnclearActionError for a number that names none.
    if not (match := _NUMBER.fullmatch(text)):
        return None
    number = int(match[2])
    if match[1]:
        if number not in legal:
            raise UnclearActionError(f"id {number} is not legal; legal ids: {', '.join(map(str, legal))}")
        return number
    if not 1 <= number <= len(legal):
        raise UnclearActionError(f"there is no action {number}: the legal actions are numbered from 1 to {len(legal)}")
    return legal[number - 1]


def _words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(each for each in plain if not unicodedata.combining(each))
    return [word for word in _TOKEN.findall(plain) if word not in _ARTICLES]


def _equal(name: list[str], words: list[str]) -> bool:
    return name == words


def _same_words(name: list[str], words: list[str]) -> bool:
    return sorted(name) == sorted(words)


def _contained(words: list[str], languages: Iterable[list[list[str]]], legal: Sequence[int]) -> set[int]:
    # Return the actions whose words follow one another in the text, except for actions whose words are part of another
    # such action's words at the same place.
    spans = [
        (start, start + len(name), legal[row])
        for rows in languages
        for row, name in enumerate(rows)
        for start in range(len(words) - len(name) + 1)
        if words[start : start + len(name)] == name
    ]
    return {
        action
        for start, end, action in spans
        if not any(one <= start and end <= other and (one, other) != (start, end) for one, other, _ in spans)
    }


def _told(position: Position, text: str, legal: Sequence[int], found: set[int]) -> str:
    shown = [each for each in legal if each in found] or legal
    labels = [f"{legal.index(each) + 1}. {position.action_label(each)}" for each in shown[:_MAX_TOLD]]
    more = "; …" * (len(shown) > _MAX_TOLD)
    why = "names several legal actions" if found else "names no legal action"
    start = " ".join(text.split())[:80]
    return f"{start!r} {why}: write the number or the words of one of them: {'; '.join(labels)}{more}"
