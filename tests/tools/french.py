"""French typography."""

import re

# Finds marks without a narrow no-break space. Times, such as 14:05, need no space.
BEFORE_SIGNS = re.compile(r"(?<=[^\u202f])[;!?»]|(?<=[^\u202f\d]):(?!\d)|«(?!\u202f)")
CODE = re.compile(r"`[^`]*`|\[[^]]*\]")


def misplaced(text: str) -> str:
    """Return the first mark without its narrow no-break space, with the text around it, or "". Code is exempt."""
    text = CODE.sub("", text)
    found = BEFORE_SIGNS.search(text)
    return text[max(found.start() - 10, 0) : found.end() + 5] if found else ""
