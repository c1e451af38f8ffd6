"""French typography in the catalogues: narrow spaces before punctuation marks, and typographic apostrophes."""

import re
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

ROOT = Path(__file__).parents[2]
CATALOGUES = sorted(path for room in ("engine", "service", "web") for path in (ROOT / room).rglob("fr.po"))
# A narrow no-break space precedes these marks. Code in backquotes or brackets is exempt.
BEFORE_SIGNS = re.compile(r"(?<!\u202f)[;!?»]|(?<![\u202f\d]):(?!\d)|«(?!\u202f)")
CODE = re.compile(r"`[^`]*`|\[[^]]*\]")


def texts(path: Path) -> list[str]:
    with path.open("rb") as file:
        found = [message.string for message in read_po(file) if message.id]
    return [form for text in found for form in ((text,) if isinstance(text, str) else text or ())]


def test_there_are_catalogues() -> None:
    assert len(CATALOGUES) > 12


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: str(path.relative_to(ROOT)))
def test_spaces_and_apostrophes(path: Path) -> None:
    for text in texts(path):
        assert "'" not in text, text
        assert not BEFORE_SIGNS.search(CODE.sub("", text)), text
