"""Conversion of the page's scripts for browsers and wheels. The module has no imports, because setup.py imports it."""


def without_comments(script: bytes) -> bytes:
    """Return a script without the comments that fill whole lines. Line numbers do not change.

    Comments are a quarter of the scripts' size. Lines inside template literals must not begin like comments.
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
