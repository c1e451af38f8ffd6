"""The check of prose (tools/english.py)."""

import pytest

from .english import construction, faults

AVOID = [construction("of its own", "'its own …'", ["docs/kept.md"])]


@pytest.mark.parametrize(
    ("path", "text", "lines"),
    [
        ("a.py", '"""A folder\n\nof its own."""\nx = 1  # of its own\n', [3, 4]),
        ("a.pxd", "# One of\n# its own.\n", [1]),
        ("a.js", "/** A folder of\n * its own. */\nconst text = 'of its own'; // Of its own\n", [1, 3]),
        ("docs/a.md", "One.\n\nOf its own, `of its own`.\n```\nof its own\n```\nof its own\n", [3, 7]),
        ("docs/kept.md", "Of its own.", []),
    ],
)
def test_constructions_are_found_in_prose_only(path: str, text: str, lines: list[int]) -> None:
    found = [fault.split(": ")[0] for fault in faults(path, text, AVOID)]
    assert found == [f"{path}:{line}" for line in lines]
