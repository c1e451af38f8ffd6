"""The languages of labels, and the catalogues of their words."""

from collections.abc import Callable
from gettext import GNUTranslations, NullTranslations
from importlib import resources

CORE = "chatiere.engine.core"
"""The package of the catalogues of what all games share."""
# The first is that of the templates in the code, and of who asks for none that is spoken. The others are those of the
# compiled catalogues.
LANGUAGES = ("en", *sorted(each.name[:-3] for each in resources.files(CORE).iterdir() if each.name.endswith(".mo")))


def language_number(language: str) -> int:
    """Return the place of a language in LANGUAGES. Raises ValueError."""
    try:
        return LANGUAGES.index(language)
    except ValueError:
        raise ValueError(f"labels are in {' or '.join(LANGUAGES)}, not in {language!r}") from None


def catalogue(package: str, language: str) -> Callable[[str, str], str]:
    """Return what turns (key, English text) into a language: by the compiled catalogue of a package's folder.

    Raises ValueError for a language that is not spoken, FileNotFoundError if the catalogue has not been compiled.
    """
    if language_number(language) == 0:
        return NullTranslations().pgettext
    with resources.files(package).joinpath(f"{language}.mo").open("rb") as file:
        return GNUTranslations(file).pgettext
