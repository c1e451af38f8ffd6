"""The check that a person's name is visible to other people."""

import re
import unicodedata

# The Unicode names of letters and symbols that are displayed as blank space.
_BLANK = re.compile(r"HANGUL .*FILLER| BLANK$|NULL NOTEHEAD$")


def is_visible(name: str) -> bool:
    """Return True if all characters of a name are printable, and at least one is visible on its own."""
    return name.isprintable() and any(
        unicodedata.category(each)[0] in "LNPS" and not _BLANK.search(unicodedata.name(each, "")) for each in name
    )
