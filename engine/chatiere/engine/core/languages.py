"""The languages of labels, and the catalogues of their words."""

from collections.abc import Callable
from functools import cache
from gettext import GNUTranslations, NullTranslations
from importlib import resources
from typing import NamedTuple

CORE = "chatiere.engine.core"
"""The package of the catalogues of texts that all games share."""
# The first is the language of the templates in the code, and the default. Each other language has a compiled catalogue.
LANGUAGES = ("en", *sorted(each.name[:-3] for each in resources.files(CORE).iterdir() if each.name.endswith(".mo")))

# The text that lists a language's plural categories (of CLDR) in the order of its forms: its key, and the English text.
CATEGORIES = ("plural.categories", "one other")
# The plural category of a number of 200 or more depends only on its remainder by 100.
SMALL_NUMBERS = 200


def language_number(language: str) -> int:
    """Return the place of a language in LANGUAGES. Raises ValueError."""
    try:
        return LANGUAGES.index(language)
    except ValueError:
        raise ValueError(f"labels are in {' or '.join(LANGUAGES)}, not in {language!r}") from None


class Plural(NamedTuple):
    """A text with one form for each plural category of CLDR.

    An argument determines the form: a plain number by its value, pieces and seats by their count.
    """

    argument: str
    """The name of the argument that determines the form."""
    one: str
    """The text for one, in English."""
    other: str
    """The text for other numbers."""


class Catalogue:
    """The texts of a package's folder in a language. Calling it with a key and an English text returns the text."""

    def __init__(self, package: str, language: str) -> None:
        """Read the compiled catalogue.

        Args:
            package: The package of the catalogues.
            language: The language, such as "fr".

        Raises:
            ValueError: If the language is not supported.
            FileNotFoundError: If the catalogue has not been compiled.
        """
        self._translations = _translations(package, language)
        # The header Plural-Forms has the rule for the forms; the core's catalogue has their names.
        self._form: Callable[[int], int] = getattr(self._translations, "plural", lambda number: int(number != 1))
        self._categories = _translations(CORE, language).pgettext(*CATEGORIES).split()
        # For each category, a number that belongs to it.
        self._examples = {self.category(number): number for number in reversed(range(SMALL_NUMBERS))}

    def __call__(self, key: str, english: str) -> str:
        """Return a text in the catalogue's language."""
        return self._translations.pgettext(key, english)

    def category(self, number: int) -> str:
        """Return the plural category of a number, 0 or more."""
        return self._categories[self._form(number)]

    def forms(self, key: str, plural: Plural) -> dict[str, str]:
        """Return the forms of a text, by category."""
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
"""Return a Catalogue; calls with the same arguments return the same object."""
