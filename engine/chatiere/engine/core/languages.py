"""The languages of labels, and the catalogues that contain their texts."""

from collections.abc import Callable
from functools import cache
from gettext import GNUTranslations, NullTranslations
from importlib import resources
from typing import NamedTuple

CORE = "chatiere.engine.core"
"""The package with the catalogues of texts that all games share."""
# The first language is the default, and the language of the templates in the code. The other languages have compiled
# catalogues.
LANGUAGES = ("en", *sorted(each.name[:-3] for each in resources.files(CORE).iterdir() if each.name.endswith(".mo")))

# The key and the English version of the text that lists a language's plural categories (of CLDR) in the order of forms.
CATEGORIES = ("plural.categories", "one other")
# The plural category of a number from 200 on depends only on the number modulo 100.
SMALL_NUMBERS = 200


def language_number(language: str) -> int:
    """Return the index of a language in LANGUAGES. Raises ValueError."""
    try:
        return LANGUAGES.index(language)
    except ValueError:
        raise ValueError(f"labels are in {' or '.join(LANGUAGES)}, not in {language!r}") from None


class Plural(NamedTuple):
    """Text with one form for each plural category of CLDR.

    An argument determines the form. The value of a plain number is used, or the length of a list of pieces or seats.
    """

    argument: str
    """The name of the argument that determines the form."""
    one: str
    """The text for the category `one`, in English."""
    other: str
    """The text for the category `other`, in English."""


class Catalogue:
    """The texts of a package in a language. Calling a Catalogue with a key and an English text returns the text."""

    def __init__(self, package: str, language: str) -> None:
        """Read the compiled catalogue.

        Args:
            package: The package that contains the catalogue.
            language: The language, for example "fr".

        Raises:
            ValueError: If the language is not supported.
            FileNotFoundError: If the catalogue was not compiled.
        """
        self._translations = _translations(package, language)
        # The header Plural-Forms has the rule for the forms. The core's catalogue has the names of the categories.
        self._form: Callable[[int], int] = getattr(self._translations, "plural", lambda number: int(number != 1))
        self._categories = _translations(CORE, language).pgettext(*CATEGORIES).split()
        # For each category, a number that belongs to it.
        self._examples = {self.category(number): number for number in reversed(range(SMALL_NUMBERS))}

    def __call__(self, key: str, english: str) -> str:
        """Return the text of a key in the catalogue's language."""
        return self._translations.pgettext(key, english)

    def category(self, number: int) -> str:
        """Return the plural category of a number, 0 or more."""
        return self._categories[self._form(number)]

    def forms(self, key: str, plural: Plural) -> dict[str, str]:
        """Return a dict that maps each plural category to the form of the text."""
        return {
            category: self._translations.npgettext(key, plural.one, plural.other, number)
            for category, number in self._examples.items()
        }


def _translations(package: str, language: str) -> NullTranslations:
    if language_number(language) == 0:
        return NullTranslations()
    with resources.files(package).joinpath(f"{language}.mo").open("rb") as file:
        return GNUTranslations(file)


catalogue = cache(Catalogue)
"""Return a Catalogue. Calls with the same arguments return the same object."""
