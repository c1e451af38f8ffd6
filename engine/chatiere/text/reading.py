"""Actions in words, as people and language models write them."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import groupby

from chatiere.engine import Position
from chatiere.text.obfuscation import Obfuscation

LANGUAGES = ("en", "fr")
"""The languages of the labels that are understood."""
# The longest text that is read. A reader of text may be verbose, but an action has at most a few hundred characters.
MAX_TEXT = 10_000
# The number of legal actions that an error lists.
_MAX_TOLD = 8
# Words without meaning, including those between the items of a list.
_IGNORED = frozenset(["a", "an", "the", "le", "la", "les", "l", "un", "une", "des", "du", "de", "d", "to", "and", "et"])
_TOKEN, _DIGIT, _ACCENT = re.compile(r"\w+"), re.compile(r"\d"), re.compile("[\u0300-\u036f]")
_NUMBER = re.compile(r"[\s#*(]*(id\b[\s:=#]*)?(\d{1,6})[\s.)*]*", re.IGNORECASE)
# A number from the list before the words of the action.
_NUMBERED = re.compile(r"\s*(\d{1,6})[.)]\s+(\S.*)", re.DOTALL)
_ANNOUNCED = re.compile(r"\b(?:action|move|answer|choice|option|coup|choix|réponse)\W*[:=]\s*(.+)", re.IGNORECASE)


class UnclearActionError(ValueError):
    """A text that names no legal action, or several. The message says what to write instead."""


def read_action(text: str, position: Position, obfuscation: Obfuscation | None = None) -> int:
    """Return the dense id of the legal action that a text names.

    The whole text must have one of these forms, or the last line of the form "Move: …", "Action: …" or "Answer: …", or
    the last line that has one of these forms. Case, accents, articles and punctuation do not matter:

    - a number, counted from 1 in the order of the legal actions ("3"), or a dense id ("id 37");
    - the action in words, in English or French ("play 15", "jouer 15"). The items of a list may be in any order;
    - both ("3. play 15").

    Text that says more is refused, because it could mean something else ("play 15 or 16", "I cannot play 15").

    Args:
        text: The text.
        position: A position at which a seat decides.
        obfuscation: The names that the text uses instead of the game's original names.

    Raises:
        UnclearActionError: If the text names no legal action, or several.
        EngineError: CHANCE_PENDING, GAME_OVER.
    """
    position.require_decision()
    labels = {
        each: [position.action_label(each, language) for language in LANGUAGES] for each in position.legal_actions()
    }
    if obfuscation is not None:
        labels = {each: list(map(obfuscation.label, told)) for each, told in labels.items()}
    return read_label(text, labels)


def read_label(text: str, labels: Mapping[int, Sequence[str]]) -> int:
    """Return the dense id of the action that a text names. See `read_action`.

    Args:
        text: The text.
        labels: The labels of each legal action, by ascending dense id. An error quotes the first label.

    Raises:
        UnclearActionError: See `read_action`.
    """
    legal = list(labels)
    if len(text) > MAX_TEXT:
        raise UnclearActionError(f"the text has {len(text)} characters, at most {MAX_TEXT} are read: name one action")
    names: dict[tuple[str, ...], int] = {}
    for each, told in labels.items():
        for label in told:
            names.setdefault(_label_words(label), each)
    lines = [line for line in reversed(text.splitlines()) if line.strip()]
    announced = [match[1] for line in lines if (match := _ANNOUNCED.search(line))]
    for form in announced[:1] or (text, *lines):
        if (action := _read(form, legal, names)) is not None:
            return action
    listed = [f"{number}. {labels[each][0]}" for number, each in enumerate(legal[:_MAX_TOLD], 1)]
    more = "; …" * (len(legal) > _MAX_TOLD)
    start = " ".join(text.split())[:80]
    raise UnclearActionError(
        f"{start!r} names no legal action: write only the number or the words of one of them: {'; '.join(listed)}{more}"
    )


def _read(text: str, legal: Sequence[int], names: Mapping[tuple[str, ...], int]) -> int | None:
    # Return the action that a text names, or None. Raises UnclearActionError for a number that names none.
    if match := _NUMBER.fullmatch(text):
        return _numbered(int(match[2]), legal, is_id=match[1] is not None)
    # Braces are those of a line of the list, which names several actions.
    if "{" in text or "|" in text:
        return None
    if (action := names.get(_words(text))) is not None:
        return action
    if (match := _NUMBERED.fullmatch(text)) and (action := names.get(_words(match[2]))) is not None:
        return action if _numbered(int(match[1]), legal, is_id=False) == action else None
    return None


def _numbered(number: int, legal: Sequence[int], *, is_id: bool) -> int:
    if is_id:
        if number not in legal:
            raise UnclearActionError(f"id {number} is not legal; legal ids: {', '.join(map(str, legal))}")
        return number
    if not 1 <= number <= len(legal):
        raise UnclearActionError(f"there is no action {number}: the legal actions are numbered from 1 to {len(legal)}")
    return legal[number - 1]


def _words(text: str) -> tuple[str, ...]:
    # Return the words of a text, with the items of lists in ascending order. Items contain a digit.
    runs = groupby((word for word in plain_words(text) if word not in _IGNORED), _has_digit)
    return tuple(word for is_item, run in runs for word in (sorted(run) if is_item else run))


def _has_digit(word: str) -> bool:
    return _DIGIT.search(word) is not None


# Cache the words of labels only. Texts of players may be long.
_label_words = lru_cache(2**15)(_words)


def plain_words(text: str) -> list[str]:
    """Return the words of a text in lower case without accents."""
    plain = text.casefold()
    return _TOKEN.findall(plain if plain.isascii() else _ACCENT.sub("", unicodedata.normalize("NFKD", plain)))
