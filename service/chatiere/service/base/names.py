"""Names of people, which others have to be able to see."""

import re
import unicodedata

# The Unicode names of letters and symbols without ink.
_BLANK = re.compile(r"HANGUL .*FILLER| BLANK$|NULL NOTEHEAD$")


def is_visible(name: str) -> bool:
    """Return whether a name has only printable characters, and one that is neither a space, a mark nor blank."""
    return name.isprintable() and any(
        unicodedata.category(each)[0] in "LNPS" and not _BLANK.search(unicodedata.name(each, "")) for each in name
    )
