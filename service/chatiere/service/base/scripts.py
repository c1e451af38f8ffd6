"""The page's scripts as browsers and wheels get them. It imports nothing: setup.py reads it, too."""


def without_comments(script: bytes) -> bytes:
    """Return a script without the comments that have lines of their own; all other lines keep their numbers.

    Comments are a quarter of what browsers would load. Lines of texts in backquotes must not begin like comments.
    """
    lines, is_inside = [], False
    for line in script.splitlines(keepends=True):
        text = line.strip()
        if is_inside:
            is_inside = not text.endswith(b"*/")
            lines.append(b"\n")
        elif text.startswith(b"//") or (text.startswith(b"/*") and text.find(b"*/") in (-1, len(text) - 2)):
            is_inside = text.startswith(b"/*") and not text.endswith(b"*/")
            lines.append(b"\n")
        else:
            lines.append(line)
    return b"".join(lines)
