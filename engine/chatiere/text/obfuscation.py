"""Other names for games, cards and colours, so that a reader cannot recognize the game."""

import random
import re
from collections.abc import Iterator
from typing import Any

from chatiere import engine
from chatiere.engine.core.integers import require_integer
from chatiere.engine.core.languages import LANGUAGES, catalogue
from chatiere.v1.game_pb2 import ViewerUpdate

MAX_SEED = 2**31 - 1
"""The largest seed."""
# The words that are replaced, in English and French. All words of a line are replaced by the same name.
_WORDS = """
cat chat
kitten chaton
house appartement
alley gouttière
hunter chasseur
tiger tigre
lynx
ginger roux rousse
black noir noire
grey gris grise
green vert verte
red rouge
brown marron
blue bleu bleue
castle château
carton
box boîte
toy jouet
mouse souris mice
ball balle
fish poisson
treat friandise
sprayer pulvérisateur
princess princesse
animal animaux
bird oiseau
dog chien
tree arbre
trunk tronc
branch branche
"""
_CONSONANTS, _VOWELS = "bdfgklmprtvz", "aeiou"
_NUMBERED, _LETTERED_GAME = "discat", "momistigri"
# The numbers of cards in labels, and the cards in the drawing. The other numbers in labels are those of seats.
_CARD = re.compile(r"(?<!seat )(?<!siège )\b\d+")
_DRAWN, _DRAWN_CARD = re.compile(r"(?<=hand ).*(?=  bonus)|(?<=top )\d+|than \d+"), re.compile(r"(?:^ |(?<= ) )?\b\d+")
_WORD = re.compile(r"[^\W\d_]+")
# The letters that stand for colours.
_LETTERED = re.compile(r"(?<=\b[1-9])[A-E]\b|(?<=colour )[A-E]\b|(?<=couleur )[A-E]\b")
_LETTERS, _OTHER_LETTERS = "ABCDE", "FGHJKLMNPQRTUVWXYZ"
_DIGITS = 10


class Obfuscation:
    """Other names for one game. The names depend only on the seed.

    In Discat, a letter replaces the first digit of each card. The letters are in the order of the digits. In
    Momistigri, another letter replaces the letter of each colour. All other names are words, which are replaced by
    words without a meaning.

    Attributes:
        game: The name of the game, such as "discat".
        seed: The seed.
        note: A text for readers of the rules that explains the names of cards. It may be empty.
    """

    def __init__(self, game: str, seed: int) -> None:
        """Choose the names.

        Raises:
            EngineError: UNKNOWN_GAME.
            ValueError: If the seed is not from 0 to MAX_SEED.
        """
        self.game, self.seed = engine.game(game).name, require_integer("seed", seed)
        if not 0 <= self.seed <= MAX_SEED:
            raise ValueError(f"seed must be from 0 to {MAX_SEED}, not {seed}")
        choices = random.Random(self.seed)
        made = _made_words(choices)
        # Match titles in their exact case, because "if it fits" can also be a part of a sentence.
        self._titles: dict[str, str] = {}
        for each in engine.games():
            own = each.description
            translated = (catalogue(own.package, language)("title", own.title) for language in LANGUAGES)
            name = next(made) + next(made)
            self._titles |= {each.name: name} | dict.fromkeys(translated, name.capitalize())
        self._title = re.compile("|".join(sorted(map(re.escape, self._titles), key=len, reverse=True)))
        self._names: dict[str, str] = {}
        for line in _WORDS.strip().splitlines():
            name = next(made)
            # French articles are elided before a vowel and before an h.
            if any(word[0] in "ao" for word in line.split()):
                name = f"h{name[1:]}"
            for word in line.split():
                self._names |= dict.fromkeys((f"{word}s", f"{word}x", f"{word}es"), f"{name}s") | {word: name}
        self._digits = sorted(choices.sample(_OTHER_LETTERS, _DIGITS))
        self._letters = dict(zip(_LETTERS, choices.sample(_OTHER_LETTERS, len(_LETTERS)), strict=True))

    @property
    def note(self) -> str:
        """The text that explains the names of cards, or ""."""
        if self.game != _NUMBERED:
            return ""
        digits = ", ".join(f"{letter} = {digit}" for digit, letter in enumerate(self._digits))
        return f"The first digit of a card is written as a letter: {digits}. The second digit is the digit itself."

    def text(self, text: str) -> str:
        """Return a text with the replaced names, except those of the cards of Discat."""
        text = self._title.sub(lambda found: self._titles[found[0]], text)
        text = _WORD.sub(self._renamed, text)
        return _LETTERED.sub(lambda found: self._letters[found[0]], text) if self.game == _LETTERED_GAME else text

    def label(self, label: str) -> str:
        """Return the label of an action or event with the replaced names."""
        return self.text(_CARD.sub(self._card, label) if self.game == _NUMBERED else label)

    def table(self, line: str) -> str:
        """Return a line of the drawing of a table with the replaced names."""
        if self.game == _NUMBERED:
            line = _DRAWN.sub(lambda found: _DRAWN_CARD.sub(self._card, found[0]), line)
        return self.text(line)

    def update(self, update: ViewerUpdate) -> None:
        """Replace the names in all labels of a message."""
        named: list[Any] = [*update.events, *update.legal_actions, update.view.prompt, update.view.end]
        for each in named:
            if each.label:
                each.label = self.label(each.label)

    def _renamed(self, found: re.Match[str]) -> str:
        word = found[0]
        name = self._names.get(word.lower())
        if name is None:
            return word
        return name.upper() if word.isupper() else name.capitalize() if word[0].isupper() else name

    def _card(self, found: re.Match[str]) -> str:
        first, second = divmod(int(found[0]), _DIGITS)
        return f"{self._digits[first]}{second}"


def _made_words(choices: random.Random) -> Iterator[str]:
    # Yield words of five letters. No two words, and no word and a replaced word, have the same last four letters.
    seen = {word[1:] for word in _WORDS.split()}
    while True:
        word = "".join(choices.choice(letters) for letters in (_CONSONANTS, _VOWELS, _CONSONANTS, _VOWELS, _CONSONANTS))
        if word[1:] not in seen:
            seen.add(word[1:])
            yield word
