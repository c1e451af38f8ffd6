"""Conversion of the page's scripts for browsers and wheels.

setup.py imports this module before the package is built.
"""

import json
from collections.abc import Mapping
from typing import Any

# The text before the JSON in a file words.js.
_EXPORT = "export const words = "


def words_in(script: str) -> Mapping[str, Mapping[str, Any]]:
    """Return the texts in a file words.js. Each language has a map from keys to texts or plural forms."""
    words: dict[str, dict[str, Any]] = json.loads(script.partition(_EXPORT)[2].rstrip().removesuffix(";"))
    return words


def in_each_language(script: bytes) -> dict[str, bytes]:
    """Convert a file words.js to one module for each language. Return the modules by language."""
    return {
        language: f"{_EXPORT}{json.dumps(words, ensure_ascii=False, separators=(',', ':'))};\n".encode()
        for language, words in words_in(script.decode()).items()
    }


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
