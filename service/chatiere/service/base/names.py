"""Names of people, which must be visible to other people."""

import re
import unicodedata

# The Unicode names of letters and symbols without ink.
_BLANK = re.compile(r"HANGUL .*FILLER| BLANK$|NULL NOTEHEAD$")


def is_visible(name: str) -> bool:
    """Return whether all characters of a name are printable, and at least one is not a space, a mark or blank."""
    return name.isprintable() and any(
        unicodedata.category(each)[0] in "LNPS" and not _BLANK.search(unicodedata.name(each, "")) for each in name
    )
