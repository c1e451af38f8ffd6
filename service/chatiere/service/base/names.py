"""The check that a person's name is visible to other people."""

import re
import unicodedata

# The Unicode names of letters and symbols that are displayed as blank space.
_BLANK = re.compile(r"HANGUL .*FILLER| BLANK$|NULL NOTEHEAD$")
# Joiners occur in families of emoji and in words of Persian and of languages of India. All other characters of their
# category can change the direction of the text, or are controls.
_JOINERS = str.maketrans("", "", "\u200c\u200d")


def is_visible(name: str) -> bool:
    """Return True if all characters of a name are printable or joiners, and at least one is visible on its own."""
    return name.translate(_JOINERS).isprintable() and any(
        unicodedata.category(each)[0] in "LNPS" and not _BLANK.search(unicodedata.name(each, "")) for each in name
    )
