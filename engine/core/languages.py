"""The languages of labels, and the catalogues of their words."""

from collections.abc import Callable
from gettext import GNUTranslations, NullTranslations
from importlib import resources

# The first is that of the templates in the code, and of who asks for none that is spoken.
LANGUAGES = ("en", "fr")


def language_number(language: str) -> int:
    """Return the place of a language in LANGUAGES. Raises ValueError."""
    try:
        return LANGUAGES.index(language)
    except ValueError:
        raise ValueError(f"labels are in {' or '.join(LANGUAGES)}, not in {language!r}") from None


def catalogue(package: str, language: str) -> Callable[[str, str], str]:
    """Return what turns (key, English text) into a language: by the compiled catalogue of a package's folder.

    Raises FileNotFoundError if it has not been compiled.
    """
    if language == LANGUAGES[0]:
        return NullTranslations().pgettext
    with resources.files(package).joinpath(f"{language}.mo").open("rb") as file:
        return GNUTranslations(file).pgettext
