"""The languages of labels, and the catalogues of their words."""

from collections.abc import Callable
from functools import cache
from gettext import GNUTranslations, NullTranslations
from importlib import resources
from typing import NamedTuple

CORE = "chatiere.engine.core"
"""The package of the catalogues of what all games share."""
# The first is that of the templates in the code, and of who asks for none that is spoken. The others are those of the
# compiled catalogues.
LANGUAGES = ("en", *sorted(each.name[:-3] for each in resources.files(CORE).iterdir() if each.name.endswith(".mo")))

# The key and the English text of the names of a language's plural categories, CLDR's, in the order of its forms.
CATEGORIES = ("plural.categories", "one other")
# The plural category of a number goes by what remains of it by a hundred, where it is no smaller than twice that.
SMALL_NUMBERS = 200


def language_number(language: str) -> int:
    """Return the place of a language in LANGUAGES. Raises ValueError."""
    try:
        return LANGUAGES.index(language)
    except ValueError:
        raise ValueError(f"labels are in {' or '.join(LANGUAGES)}, not in {language!r}") from None


class Plural(NamedTuple):
    """A text whose form goes by CLDR's plural categories: by a number or, of pieces and seats, by their number."""

    argument: str
    """The name of the argument whose number it is."""
    one: str
    """The text for one, in English."""
    other: str
    """The text for other numbers."""


class Catalogue:
    """The texts of a package's folder in a language; called with a key and the English text, it returns one."""

    def __init__(self, package: str, language: str) -> None:
        """Read the compiled catalogue.

        Raises ValueError for a language that is not spoken, FileNotFoundError if the catalogue has not been compiled.
        """
        self._translations = _translations(package, language)
        # The header Plural-Forms has the rule for the forms, the core's catalogue their names.
        self._form: Callable[[int], int] = getattr(self._translations, "plural", lambda number: int(number != 1))
        self._categories = _translations(CORE, language).pgettext(*CATEGORIES).split()
        # For each category a number that is of it.
        self._examples = {self.category(number): number for number in reversed(range(SMALL_NUMBERS))}

    def __call__(self, key: str, english: str) -> str:
        """Return a text."""
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
"""Return a Catalogue, the same for the same arguments."""
