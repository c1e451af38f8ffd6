"""The text of a position, as one seat sees it."""

import re
from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import NamedTuple

from chatiere import engine
from chatiere.drawing import DRAWINGS
from chatiere.engine import EventLog, Position
from chatiere.engine.core.languages import catalogue
from chatiere.engine.core.messages import Messages
from chatiere.engine.wire import fill
from chatiere.text.obfuscation import Obfuscation
from chatiere.v1.game_pb2 import State, ViewerUpdate

# The codes that style text in a terminal.
_STYLE = re.compile("\x1b\\[[0-9;]*m")
# The least numbers of words that lines must share, and of such lines, to be listed below these words.
_MIN_SHARED, _MIN_LINES = 4, 3
# The number of characters above which a list of legal actions is dense.
_MAX_LIST = 1500
# The games whose drawing shows only the numbers of the cards in a hand. Their texts also list the names of the cards.
_NUMBERED_HANDS = frozenset(["chat_cartonne"])

# The texts around the labels in French.
_FRENCH = {
    "{title}, {players} players, decision {decision}. You are seat {seat}.": (
        "{title}, {players} joueurs, décision {decision}. Vous avez le siège {seat}."
    ),
    "Your hand: {cards}": "Votre main : {cards}",
    "Totals by seat: {totals}": "Totaux par siège : {totals}",
    "The game is over: {end}": "La partie est finie : {end}",
    "Seat {seat} decides.": "Le siège {seat} décide.",
    "You decide: {prompt}.": "À vous de décider : {prompt}.",
}


def describe(
    position: Position,
    seat: int,
    events: Iterable[str] = (),
    language: str = "en",
    *,
    numbered: bool = True,
    obfuscation: Obfuscation | None = None,
) -> str:
    """Return a position as text: the events, the table, the totals, and the decision to make.

    Args:
        position: The position.
        seat: The seat that reads the text. The text contains only the information of this seat.
        events: The events since the seat's last decision, a text for each (see `event_labels`).
        language: The language of labels: "en" or "fr".
        numbered: True to list the legal actions, numbered from 1. They are listed only for the seat that decides.
        obfuscation: The names to use instead of the game's original names.

    Raises:
        EngineError: INVALID_SEAT.
    """
    update = update_of(position, seat, EventLog(), language, obfuscation)
    return describe_update(update, position.num_players(), events, language, numbered=numbered, obfuscation=obfuscation)


def describe_update(
    update: ViewerUpdate,
    players: int,
    events: Iterable[str] = (),
    language: str = "en",
    *,
    numbered: bool = True,
    obfuscation: Obfuscation | None = None,
) -> str:
    """Return the view of a seat as text, given the API's message. The labels are not changed. See `describe`."""
    view, seat = update.view, update.seat
    name = view.WhichOneof("game")
    assert name is not None
    description = engine.game(name).description
    title = catalogue(description.package, language)("title", description.title)
    table = [_STYLE.sub("", line) for line in DRAWINGS[name].draw_table([getattr(view, name)] * players)]
    if name in _NUMBERED_HANDS and (cards := getattr(view, name).seats[seat].hand_cards):
        table.append(_said("Your hand: {cards}", language, cards="; ".join(_card_names(name, cards, language))))
    if obfuscation is not None:
        title, table = obfuscation.text(title), list(map(obfuscation.table, table))
    first = "{title}, {players} players, decision {decision}. You are seat {seat}."
    lines = [_said(first, language, title=title, players=players, decision=view.ply + 1, seat=seat)]
    lines += [f"- {event}" for event in events]
    lines += table
    totals = [str(each.total) if each.HasField("total") else "?" for each in update.score.totals]
    lines.append(_said("Totals by seat: {totals}", language, totals=", ".join(totals)))
    if view.HasField("end"):
        lines.append(_said("The game is over: {end}", language, end=view.end.label))
    elif view.turn.HasField("seat") and view.turn.seat != seat:
        lines.append(_said("Seat {seat} decides.", language, seat=view.turn.seat))
    else:
        lines.append(_said("You decide: {prompt}.", language, prompt=view.prompt.label))
    if numbered and update.legal_actions:
        labels = [action.label for action in update.legal_actions]
        listed = legal_lines(labels)
        lines += listed if sum(map(len, listed)) <= _MAX_LIST else legal_lines(labels, dense=True)
    return "\n".join(lines)


def _said(english: str, language: str, **values: object) -> str:
    return (english if language == "en" else _FRENCH[english]).format(**values)


def _card_names(game: str, cards: Iterable[int], language: str) -> list[str]:
    description = engine.game(game).description
    say = catalogue(description.package, language)
    names = {piece.number: piece.name for piece in description.pieces if piece.kind == "card"}
    return [names[card].text(say) for card in cards]


def event_labels(
    position: Position,
    seat: int,
    events: EventLog,
    language: str = "en",
    obfuscation: Obfuscation | None = None,
) -> list[str]:
    """Return the text of each event that a seat may know, without the values that are hidden from it."""
    return [event.label for event in update_of(position, seat, events, language, obfuscation).events]


def update_of(
    position: Position, seat: int, events: EventLog, language: str, obfuscation: Obfuscation | None = None
) -> ViewerUpdate:
    """Return a seat's view of a position, as the API's message. Raises EngineError (INVALID_SEAT)."""
    game = position.game
    messages = Messages(game, engine.codec(game.name), State.DESCRIPTOR.fields_by_name[game.name].number, language)
    update = fill(ViewerUpdate(), messages.put_viewer_update, position, events, seat)
    if obfuscation is not None:
        obfuscation.update(update)
    return update


class _Line(NamedTuple):
    # A line of the list: consecutive labels that differ at most in one word, the one at `place`.
    first: int
    words: list[str]
    place: int
    alternatives: list[str]

    @property
    def last(self) -> int:
        return self.first + max(1, len(self.alternatives)) - 1

    @property
    def numbers(self) -> str:
        return f"{self.first}." if self.last == self.first else f"{self.first}-{self.last}."

    def with_label(self, words: list[str]) -> "_Line | None":
        """Return the line with another label, or None if that label differs in another word."""
        if len(words) != len(self.words):
            return None
        places = [place for place, pair in enumerate(zip(words, self.words, strict=True)) if pair[0] != pair[1]]
        if len(places) != 1 or (self.alternatives and places[0] != self.place):
            return None
        place = places[0]
        return self._replace(place=place, alternatives=[*(self.alternatives or [self.words[place]]), words[place]])

    def joined(self) -> list[str]:
        """Return the words, with the alternatives in braces as a single word."""
        if not self.alternatives:
            return self.words
        mark = self.alternatives[0][-1] if all(each[-1] in ",;:" for each in self.alternatives) else ""
        braces = f"{{{' | '.join(each.removesuffix(mark) for each in self.alternatives)}}}{mark}"
        return [*self.words[: self.place], braces, *self.words[self.place + 1 :]]


def legal_lines(labels: Sequence[str], *, dense: bool = False) -> list[str]:
    """Return a short list of legal actions, which are numbered from 1.

    Consecutive actions that differ in one word share a line, with their words in braces: "4-6. play {12 | 15 | 40}".
    Consecutive lines that begin with the same words are indented below these words. If the same lines are already below
    other words, they are left out: "11-14. lay a cat at column …, as in 1-4". If the list is dense, indented lines are
    joined, and only the line above them has numbers.
    """
    lines: list[_Line] = []
    for number, label in enumerate(labels, 1):
        words = label.split(" ")
        longer = lines[-1].with_label(words) if lines else None
        if longer is None:
            lines.append(_Line(number, words, 0, []))
        else:
            lines[-1] = longer
    numbers, texts = [line.numbers for line in lines], [line.joined() for line in lines]
    found: list[str] = []
    # The numbers of the actions of each indented list.
    lists: dict[tuple[str, ...], str] = {}
    first = 0
    while first < len(texts):
        last, shared = first + 1, 0
        if last < len(texts):
            shared = _shared(texts[first], texts[last])
            while last < len(texts) and shared >= _MIN_SHARED and _shared(texts[first], texts[last]) >= shared:
                last += 1
        if last - first >= _MIN_LINES:
            above = " ".join(texts[first][:shared])
            below = tuple(" ".join(text[shared:]) for text in texts[first:last])
            whole = f"{lines[first].first}-{lines[last - 1].last}"
            earlier = lists.setdefault(below, whole)
            if earlier != whole:
                found.append(f"{whole}. {above} …, as in {earlier}")
            elif dense:
                found += [f"{whole}. {above} …", f"  {'; '.join(below)}"]
            else:
                found.append(f"{above} …")
                found += [f"  {number} {text}" for number, text in zip(numbers[first:last], below, strict=True)]
        else:
            last = first + 1
            found.append(f"{numbers[first]} {' '.join(texts[first])}")
        first = last
    return found


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    # Return the number of words with which two texts begin, without alternatives, and never all of the words.
    pairs = zip(one[:-1], other[:-1], strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1] and not pair[0].startswith("{"), pairs))
